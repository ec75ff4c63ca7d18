package api

import "testing"

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"@ada@acme.example": true, "See @Ada@Acme.example.": true, "(@ada@acme.example) please": true, "ada@acme.example": false,
		"@ada@acme.example.org": false, "@ada@acme.examples": false, "@ada@acme.example-x": false,
		"@ada@acme.examples and @ada@acme.example": true, "": false,
	} {
		if c := (&Comment{Text: text}); c.Mentions("ada@acme.example") != want {
			t.Errorf("%q: not %t", text, want)
		}
	}
}

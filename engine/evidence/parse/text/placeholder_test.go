package text

import "testing"

// A blank to be filled in is kept in the text; an HTML tag is removed.
func TestBlanksAreNoTags(t *testing.T) {
	for tag, want := range map[string]bool{
		"<organization>": true, "<name of the company>": true, "<date>": true, "<Title>": true,
		"<b>": false, "</b>": false, "<br/>": false, "<span class=\"x\">": false, "<!-- note -->": false,
		"<a href=x>": false, "<EM>": false, "<>": false,
	} {
		if got := isPlaceholderTag(tag); got != want {
			t.Errorf("%s: %v", tag, got)
		}
	}
}

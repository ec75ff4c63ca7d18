package docx

import "testing"

func TestCloseDirectionMarks(t *testing.T) {
	for s, want := range map[string]string{
		"a\u202eb":      "a\u202eb\u202c",
		"\u2067x\u2069": "\u2067x\u2069",
		"\u2066\u202dx": "\u2066\u202dx\u202c\u2069",
		"plain":         "plain",
	} {
		if got := closeDirectionMarks(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

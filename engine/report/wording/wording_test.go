package wording

import "testing"

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain\ttext\n": "plain\ttext\n", "a\r\nb\rc": "a\nb\nc", "\x00\x07\x1b\x7f": "␀␇␛␡",
		"a\u0085b": "a\ufffdb", "bad \xff end": "bad \ufffd end",
		"Łódź ελ 漢字": "Łódź ελ 漢字",
	} {
		if got := ReplaceControlCharacters(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

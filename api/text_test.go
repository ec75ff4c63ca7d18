package api_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/scf-service/service/api"
)

// TestCheckName checks that names with invisible characters are rejected, and that names in scripts that need joiners
// are accepted.
func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"", "Acme 2026", "Ångström", "שלום", "İstanbul", "東京", "한국어", "Zo\u0301e", "a\u00a0b",
		"می\u200cخواهم",    // Persian: two parts of one word, not connected
		"بَه\u200cخوبی",    // after a vowel sign
		"ക\u0d4d\u200dഷ",   // Malayalam: another form of the letter
		"മോഹന\u0d4d\u200d", // at the end of a word
		"क\u094d\u200cष",   // Hindi: the letters stay apart
		"ක\u0dca\u200dර",   // Sinhala
		"ᠰ\u180bᠠ",         // Mongolian
		"👩\u200d💻", "👩🏽\u200d🚀", "❤\ufe0f", "🏳\ufe0f\u200d🌈",
		"\u0600123", // an Arabic number sign, which can be seen
	} {
		if err := api.CheckName("name", name); err != nil {
			t.Errorf("%q (%+q): %v", name, name, err)
		}
		if got := api.RemoveHidden(name); got != name {
			t.Errorf("%+q became %+q", name, got)
		}
	}
	for _, name := range []string{
		"a\x1b[31mb", "a\nb", "a\tb", "a\x7f", "a\u009b31m", "a\u2028b", "a\u2029b", // lines and terminals
		"a\u202egpj.exe", "a\u2067b", "a\u200eb", "ש\u200f", "ع\u061cb", // direction
		"Ac\u200bme", "Ac\u2060me", "\ufeffAcme", "Acme\u200c", "Ac\u200dme", // without width
		"Ac\u00adme", "Ac\u034fme", "Acme\u2062", "Acme\u206f", // hyphens, joiners, operators
		"Acme\ufe0f", "Acme\ufe00", "東\U000e0100京", "1\ufe0f\u20e3", // variation selectors
		"Acme\U000e0061\U000e007f", "🏴\U000e0067\U000e007f", // tags
		"Acme\u3164", "\u115fAcme", "Acme\u1160", "Acme\uffa0", // Hangul fillers
		"Acme\u17b4", "Acme\u180b", "Acme\u180e", "Ac\u2800me", "Acme\ufff9", "Acme\U0001d173",
		"Acme\U0001d159", "Acme\U00013430", "Acme\ufdd0", "Acme\U0010ffff",
		"کار\u200cخانه",  // a non-joiner after a letter that doesn't join
		"سل\u200dام",     // a joiner between letters that join anyway
		"می\u200c",       // at the end
		"ᠰ\u180b\u180bᠠ", // a selector selects only once
		"می\u200c Acme", "क\u200dष", "क\u094dष\u200d", "\u200d💻", "👩\u200d", "a\u200d💻",
	} {
		err := api.CheckName("name", name)
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), "U+") {
			t.Errorf("%+q: %v", name, err)
		}
		if cleaned := api.RemoveHidden(name); api.CheckName("name", cleaned) != nil {
			t.Errorf("%+q becomes %+q", name, cleaned)
		}
	}
	// No character that is ignorable by default in Unicode is allowed between two letters.
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cc) &&
			api.CheckName("name", "a"+string(r)+"b") == nil {
			t.Errorf("%U is allowed", r)
		}
	}
}

// FuzzRemoveHidden checks that the result contains nothing that names can't contain, and that nothing is added.
func FuzzRemoveHidden(f *testing.F) {
	for _, s := range []string{"Acme", "می\u200cخواهم", "a\u200d\u200d💻\ufe0f", "\u094d\u200d\u200c", "\xff\u200b", "a\ufe0f\u200d💻"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := api.RemoveHidden(text)
		if err := api.CheckName("name", out); err != nil {
			t.Errorf("%+q becomes %+q: %v", text, out, err)
		}
		if len([]rune(out)) > len([]rune(text)) {
			t.Errorf("%+q becomes %+q", text, out)
		}
	})
}

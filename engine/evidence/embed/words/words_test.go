package words

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // stems; codes in <>, stop words in (), numbers in #
	}{
		{"plain", "Reviewing the access rights", []string{"review", "(the)", "access", "right"}},
		{"code with dash", "see IAC-06.", []string{"see", "<iac-06>", "iac", "#06"}},
		{"code with dots", "A.5.17 and 164.308", []string{"<a.5.17>", "(a)", "#5", "#17", "(and)", "<164.308>", "#164", "#308"}},
		{"code without joiner", "AES256", []string{"<aes256>"}},
		{"typographic dash", "IAC‑06", []string{"<iac-06>", "iac", "#06"}},
		{"hyphened words are words", "multi-factor", []string{"multi", "factor"}},
		{"number", "30 days", []string{"#30", "day"}},
		{"apostrophes", "the vendor’s don't", []string{"(the)", "vendor", "(dont)"}},
		{"accents", "Résumé naïve", []string{"resum", "naiv"}},
		{"signs", "日本", []string{"日", "本"}},
		{"broken", "log\xff\x00file", []string{"log", "file"}},
		{"nothing", " \t.,", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, u := range Split(c.text) {
				s := u.Stem
				switch u.Kind {
				case Code:
					s = "<" + s + ">"
				case Stop:
					s = "(" + s + ")"
				case Number:
					s = "#" + s
				}
				got = append(got, s)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("Split(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestSpellingsShareStems(t *testing.T) {
	for _, c := range [][2]string{
		{"authorisation", "authorization"},
		{"organisations", "organizations"},
		{"behaviour", "behavior"},
		{"programme", "program"},
		{"licence", "license"},
		{"analysing", "analyzing"},
		{"centre", "center"},
		{"artefacts", "artifacts"},
		{"cancelled", "canceled"},
		{"anonymised", "anonymized"},
		{"supervise", "supervision"},
		{"revised", "revision"},
		{"encrypting", "encrypted"},
		{"POLICIES", "policy"},
	} {
		a, b := ContentWordStems(c[0]), ContentWordStems(c[1])
		if len(a) != 1 || !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %q, %s is %q; want one stem", c[0], a, c[1], b)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"IAC-06 “quoted”", "a'b''c", "ﬁle ①②", "\xff\xfe", "x" + strings.Repeat("-1", 60), "日本語 text", "İstanbul"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		units := Split(text)
		last := 0
		for _, u := range units {
			if u.Start < last || u.End <= u.Start || u.End > len(text) {
				t.Fatalf("unit %+v after %d in %d bytes", u, last, len(text))
			}
			last = u.Start
			if u.Stem == "" || !utf8.ValidString(u.Stem) || len(u.Stem) > 4*maxWord {
				t.Fatalf("stem %q", u.Stem)
			}
		}
		if again := Split(text); !reflect.DeepEqual(again, units) {
			t.Fatalf("not the same twice: %v, %v", units, again)
		}
	})
}

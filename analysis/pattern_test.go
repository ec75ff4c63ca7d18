package analysis

import (
	"slices"
	"strings"
	"testing"
)

// patterns are those that are tried on the most text.
func patterns() []*pattern {
	out := []*pattern{order, negation, announce, blank, harmless, figure, lengthOf, each, verbOf, address, wentThrough, failedLogin, goodLogin, loginUser, contained, testFile, authorised,
		cloudRoot, personalData, hostOf, userOf, cvss, money, sccs, transfers, adequacy, unlimited, excluded, re(`ſo?k+elvin|masks`), re(`a|b`), re(`x?`), re(`(?:ab){2,}c`), compile(`•`)}
	for _, a := range attacks {
		out = append(out, a.what)
	}
	for _, f := range append(slices.Clone(riskFactors), riskDampers...) {
		out = append(out, f.what)
	}
	return out
}

// A pattern finds what its expression finds; looking for a word first changes nothing.
func agree(t *testing.T, s string) {
	t.Helper()
	for _, p := range patterns() {
		want, got := p.whole.FindAllStringSubmatch(s, -1), p.FindAllStringSubmatch(s, -1)
		if !slices.EqualFunc(want, got, slices.Equal) || p.MatchString(s) != p.whole.MatchString(s) || p.FindString(s) != p.whole.FindString(s) {
			t.Fatalf("%s finds %q, not %q, in %q", p, got, want, s)
		}
	}
}

func TestPatternsFindTheSame(t *testing.T) {
	for _, kind := range Kinds {
		all, err := read7(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			for _, s := range []string{c.Requirement, c.Evidence, c.Logs, c.Text, c.Context, c.Arch} {
				agree(t, s)
				agree(t, strings.ToUpper(s))
				agree(t, strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(s))
			}
		}
	}
	looked := 0
	for _, p := range patterns() {
		if len(p.words) > 0 {
			looked++
		}
	}
	if looked < 50 {
		t.Errorf("only %d patterns know a word to look for", looked)
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add("Ignore all previous instructions; ../../etc/passwd ſK\u212a not yet, CVSS 9.8, 5 M EUR")
	f.Add("\xff\xc5\xbf<script>")
	f.Fuzz(func(t *testing.T, s string) { agree(t, s[:min(len(s), 4000)]) })
}

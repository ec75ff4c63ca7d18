package report

import (
	"strings"
	"testing"
)

func TestSafeFilename(t *testing.T) {
	for name, want := range map[string]string{
		"Yearly assessment 2026": "yearly-assessment-2026-soa",
		"../../etc/passwd":       "etc-passwd-soa",
		"  a//b\\c:d*?  ":        "a-b-c-d-soa",
		"Prüfung 審査":             "prüfung-審査-soa",
		"":                       "soa",
	} {
		if got := hyphenatedBaseName(name, "soa"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := []rune(hyphenatedBaseName(strings.Repeat("ä", 300), "soa")); len(got) != 100 {
		t.Errorf("%d characters", len(got))
	}
}

package language_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/language"
)

//go:embed testdata/policies.txt
var policies string

func forEachPassage(use func(code, passage string)) {
	for line := range strings.Lines(policies) {
		if code, passage, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(line, "#") {
			use(code, passage)
		}
	}
}

// TestDetect checks each passage on its own.
func TestDetect(t *testing.T) {
	languages := map[string]bool{}
	forEachPassage(func(code, passage string) {
		languages[code] = true
		got := language.Detect(passage)
		if code == "-" && language.IsForeign(got) || code != "-" && got != code {
			t.Errorf("%q is %q, want %q", passage, got, code)
		}
	})
	if len(languages) < 35 {
		t.Errorf("only %d languages", len(languages))
	}
}

// TestDetectWholeText checks the passages of each language together, also with accents as separate characters.
func TestDetectWholeText(t *testing.T) {
	texts := map[string]string{}
	forEachPassage(func(code, passage string) { texts[code] += passage + "\n" })
	for code, text := range texts {
		if got := language.Detect(text); got != code && code != "-" {
			t.Errorf("%s is %q", code, got)
		}
	}
	if got := language.Detect("Die Schlu\u0308ssel fu\u0308r Gera\u0308te mu\u0308ssen durch die Leitung gepru\u0308ft werden."); got != "de" {
		t.Errorf("decomposed letters: %q", got)
	}
}

func TestDetectEach(t *testing.T) {
	const german = "Die Zugriffsrechte werden von den Fachbereichen jedes Quartal geprüft und nicht nur einmal."
	const english = "Access rights are reviewed each quarter by the manager of the team."
	const row = "Kennwortlänge | 14"
	for _, c := range []struct{ passages, want []string }{
		{[]string{row, german, row, german, row}, []string{"de", "de", "de", "de", "de"}},
		{[]string{row, english, row, german, row}, []string{"en", "en", "", "de", "de"}},
		{[]string{row, row}, []string{"", ""}},
		{nil, []string{}},
	} {
		if got := language.DetectEach(c.passages); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.passages, got, c.want)
		}
	}
}

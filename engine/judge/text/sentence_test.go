package text

import (
	"testing"
)

func TestCheckboxesAreItems(t *testing.T) {
	a := Analyze("Leaving\n[ ] Badge handed in   IT\n[x] Account disabled   IT\n☐ Keys back", 2026)
	if n := len(a.Sentences); n != 4 || !a.Sentences[1].Item || !a.Sentences[3].Item {
		t.Errorf("%d sentences: %+v", n, a.Sentences)
	}
}

// A statement beside an unticked box isn't asserted, even if an earlier box on the line is ticked.
func TestCheckboxesOnOneLine(t *testing.T) {
	for text, want := range map[string]int{
		"☒ Restores are tested every quarter ☐ Penetration tests are done":          2,
		"[x] Restores are tested monthly [ ] Penetration tests are done [ ] Nobody": 2,
		"☐ Yes ☒ No":                 1,
		"☒ Restores are tested ☐ No": 1,
	} {
		a := Analyze(text, 2026)
		if len(a.Sentences) != want || want > 1 && (a.Sentences[0].Placeholder != "" || a.Sentences[1].Placeholder == "") {
			t.Errorf("%q: %+v", text, a.Sentences)
		}
	}
}

func TestShortQuestionIsCondition(t *testing.T) {
	for _, tc := range []struct {
		text      string
		sentences int
		condition bool
	}{
		{"Lost it? Tell security straight away.", 1, true},
		{"Personal data involved? The counsel decides the same day.", 1, true},
		{"Do we screen new people? Not yet, but soon.", 2, false},
		{"What is logged? All sign-ins are.", 2, false},
		{"Encrypted? Yes, all of them are.", 2, false},
		{"Lost it?\nTell security straight away.", 2, false},
	} {
		spans := splitSentences(tc.text)
		words := splitWords(tc.text[spans[0].start:spans[0].end])
		s := parseStanceAndClauses(tc.text[spans[0].start:spans[0].end], words, 2026)
		if len(spans) != tc.sentences || (s.Conditional&1 != 0) != tc.condition || tc.condition && s.Question {
			t.Errorf("%q: %d sentences, conditional %b, question %v", tc.text, len(spans), s.Conditional, s.Question)
		}
	}
}

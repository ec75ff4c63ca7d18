package judge

import "testing"

// A question without its verb in front is a condition of what follows.
func TestSupposingQuestions(t *testing.T) {
	for _, tc := range []struct {
		text      string
		sentences int
		supposed  bool
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
		s := parseStance(tc.text[spans[0].start:spans[0].end], words, 2026)
		if len(spans) != tc.sentences || (s.conditional&1 != 0) != tc.supposed || tc.supposed && s.question {
			t.Errorf("%q: %d sentences, conditional %b, question %v", tc.text, len(spans), s.conditional, s.question)
		}
	}
}

// "Who have no part in it" says who, and denies nothing.
func TestUninvolved(t *testing.T) {
	for text, denies := range map[string]bool{
		"Two testers, who have no part in running the platform, tested the network.": false,
		"Two servers, which have no firewall, run the platform.":                     true,
	} {
		words := splitWords(text)
		if s := parseStance(text, words, 2026); (s.denied != 0) != denies {
			t.Errorf("%q: denied %b", text, s.denied)
		}
	}
}

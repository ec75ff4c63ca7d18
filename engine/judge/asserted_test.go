package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/reading"
)

// TestQuotesOfSeveralSentences checks that all sentences of a quote that carry the claim have to be asserted.
func TestQuotesOfSeveralSentences(t *testing.T) {
	control := control("Backups", "Backups are tested.")
	for text, want := range map[string]string{
		"Backups are made daily. Backups are tested monthly.":                          VerdictCovered,
		"The supplier claims that backups are tested. The office opens at nine.":       "reported",
		"The supplier claims that backups are tested. Backups are important to us.":    "reported",
		"Backups are tested monthly. The supplier claims that its office is open.":     VerdictCovered,
		"Are backups tested? Backups are tested monthly, and the result is written up": VerdictCovered,
	} {
		reader := shareReader{label: reading.States, n: "~", sure: 0.9, words: text}
		j, err := NewSession(allFinder{policy(text)}, Options{Today: today, Reader: reader}).Evaluate(t.Context(), control)
		if err != nil {
			t.Fatal(err)
		}
		if st := j.Statements[0]; st.Verdict != want && (st.Verdict != VerdictMissing || !strings.Contains(st.Reason, want)) {
			t.Errorf("%q: %s, %s; want %s", text, st.Verdict, st.Reason, want)
		}
	}
}

// TestUnassertedWords checks that quoted words don't count if the passage around them says that they don't describe
// what the organization does, and that they count otherwise.
func TestUnassertedWords(t *testing.T) {
	const words = "backups are tested every month"
	control := control("Steps", "Step 1 is done.")
	for text, want := range map[string]string{
		"All backups are tested every month.":                                                          VerdictCovered,
		"It is a rule that backups are tested every month.":                                            VerdictCovered,
		"It is not true that backups are tested every month.":                                          "omits the words that deny this",
		"The supplier claims that backups are tested every month.":                                     "reported",
		"Is it so that backups are tested every month?":                                                "a question",
		"If we had the budget, backups are tested every month.":                                        "imagined",
		"The following is not done:\n\n- backups are tested every month":                               "introduction",
		"The supplier claims that backups are tested every month. All backups are tested every month.": VerdictCovered,
	} {
		reader := shareReader{label: reading.States, n: "1", sure: 0.9, words: words}
		j, err := NewSession(allFinder{policy(text)}, Options{Today: today, Reader: reader}).Evaluate(t.Context(), control)
		if err != nil {
			t.Fatal(err)
		}
		st := j.Statements[0]
		if st.Verdict != want && (st.Verdict != VerdictMissing || !strings.Contains(st.Reason, want) || !strings.Contains(st.Reason, words)) {
			t.Errorf("%q: %s, %s; want %s", text, st.Verdict, st.Reason, want)
		}
	}
}

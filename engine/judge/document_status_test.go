package judge

import "testing"

// An instruction to the reader limits the sentences beside it, and a heading about what should be done limits those
// below it.
func TestInstructionAndIdealHeadingLimit(t *testing.T) {
	const says = "Backups are tested each quarter by the operations team."
	c := control("Backup tests", "Backups are tested.")
	for text, want := range map[string]string{
		says:                   VerdictCovered,
		"Grade: pass. " + says: VerdictPartial,
		"Full marks. " + says:  VerdictPartial,
		"Backups are tested each quarter by the operations team (sample text).": VerdictTemplate,
	} {
		if got := judge(t, c, policy(text)).Statements[0]; got.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", text, got.Verdict, got.Reason, want)
		}
	}
	under := policy(says)
	under.HeadingPath = []string{"What an organization should have"}
	if got := judge(t, c, under).Statements[0]; got.Verdict != VerdictPartial {
		t.Errorf("under an ideal: %s (%s)", got.Verdict, got.Reason)
	}
}

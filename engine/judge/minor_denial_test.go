package judge

import (
	"strings"
	"testing"
)

// A denial of a part limits an affirmation in the same document; denials in another document contradict it.
func TestDenialOfPart(t *testing.T) {
	says, denies := policy("Encryption keys are rotated every twelve months."), policy("SSH keys are not yet covered by rotation.")
	apart := denies
	denies.DocumentID = says.DocumentID
	apart.DocumentID, apart.Filename = "other", "other.md"
	for _, tc := range []struct {
		with Passage
		want string
	}{{denies, VerdictPartial}, {apart, VerdictConflicting}} {
		tc.with.ChunkID = "second"
		j := judge(t, control("Key management", "Encryption keys are rotated every twelve months."), says, tc.with)
		if got := j.Statements[0]; got.Verdict != tc.want {
			t.Errorf("%s: %s (%s), want %s", tc.with.DocumentID, got.Verdict, got.Reason, tc.want)
		} else if tc.want == VerdictPartial && !strings.Contains(got.Reason, "part of it, or something related") {
			t.Errorf("reason: %s", got.Reason)
		}
	}
}

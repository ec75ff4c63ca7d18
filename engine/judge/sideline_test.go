package judge

import (
	"strings"
	"testing"
)

// What reads like a denial and is none: rules, contrasts, meanings of words, harm that was not done.
func TestNoDenials(t *testing.T) {
	for _, text := range []string{
		"A guardrail refuses the creation of an unencrypted volume.",
		"There is no network path from development to production.",
		"The main branch is protected: no direct pushes, signed commits only.",
		"Engineers have broad rights in test, and none in production except through the broker.",
		"It names the root cause, what went well, what did not, and actions with an owner.",
		"She reports directly to the chief executive and does not report to engineering.",
		"The result is a recommendation: go, go with conditions, or no.",
		"Data under legal hold is not deleted until counsel lifts the hold.",
		"Suppliers do not receive VPN access.",
		"Nobody closes it by hand.",
		"Nobody has access by default beyond mail and the wiki.",
		"No customer data was read.",
		"Libraries are not vendors in the sense of this policy.",
		"Our search covers repositories of the company, and not private accounts of engineers.",
		"Fields that hold absence notes are encrypted by the application.",
	} {
		if s := parseStance(text, splitWords(text), 2026); s.denied != 0 {
			t.Errorf("%q denies", text)
		}
	}
}

// And what denies all the same.
func TestDenialsBesideThem(t *testing.T) {
	for _, text := range []string{
		"Volumes are unencrypted.",
		"There is no path for complaints and no owner.",
		"Log review: no schedule, no owner.",
		"None of the servers is scanned.",
		"Backups are taken and are not tested.",
		"We have no firewall, or none that works.",
		"Backups are not tested.",
		"We do not have access reviews.",
		"Nobody reviews the logs.",
		"No customer was told.",
		"Servers are not patched.",
		"There is an absence of rules.",
	} {
		if s := parseStance(text, splitWords(text), 2026); s.denied == 0 {
			t.Errorf("%q denies nothing", text)
		}
	}
}

// A document that says it and denies a part limits what it says; two documents contradict each other.
func TestSideline(t *testing.T) {
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

// The boxes of a list stand on lines of their own.
func TestBoxesAreItems(t *testing.T) {
	a := analyzeText("Leaving\n[ ] Badge handed in   IT\n[x] Account disabled   IT\n☐ Keys back", 2026)
	if n := len(a.sentences); n != 4 || !a.sentences[1].item || !a.sentences[3].item {
		t.Errorf("%d sentences: %+v", n, a.sentences)
	}
}

package judge

import (
	"testing"

	"github.com/scf-service/service/engine/judge/text"
)

// A document's imprint is evidence only of statements about documents.
func TestImprintIsNoEvidence(t *testing.T) {
	owners := control("System owners", "System owners are named.")
	line := policy("Owner: Control Systems Manager.")
	if j := judge(t, owners, line); len(j.Evidence) > 0 {
		t.Errorf("an imprint is evidence of %q: %+v", owners.Title, j.Evidence)
	}
	if !newPreparedStatement("The security policy has an owner.", text.Concepts("Policy")).isAboutDocuments() ||
		newPreparedStatement(
			"Exceptions are documented by owners.",
			text.Concepts("Exceptions"),
		).isAboutDocuments() {
		t.Error("a policy is a document; what is documented is none")
	}
}

func TestEmptyCellIsNoEvidence(t *testing.T) {
	c := control("Root cause analysis", "The root cause of incidents is documented.")
	if j := judge(t, c, policy("Incident: Phishing mail; Root cause: –; Reported by: Sales")); len(j.Evidence) > 0 {
		t.Errorf("an empty cell is evidence: %+v", j.Evidence)
	}
}

// A planned row plans its own subject, not its column names.
func TestPlannedRowPlansItsOwnSubject(t *testing.T) {
	c := control("Threats", "Threats are identified.")
	if j := judge(t, c, policy("Threat identified: Flooding of the cellar; Measure: Pumps; Status: Not started")); len(j.Evidence) > 0 {
		t.Errorf("the name of a column announces the control: %+v", j.Evidence)
	}
	mfa := control("Multi-factor authentication", "Multi-factor authentication is used for remote access.")
	if j := judge(
		t,
		mfa,
		policy("Measure: Multi-factor authentication is used for remote access; Status: Not started; Due: Q3 2027"),
	); j.Statements[0].Verdict != VerdictPlanned {
		t.Errorf("a row that announces it: %s", j.Statements[0].Verdict)
	}
}

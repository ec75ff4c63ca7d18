package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/text"
)

// A denial for a specific subset denies neither the control as a whole nor other things.
func TestDenialForSubset(t *testing.T) {
	malware := newPreparedStatement(
		"Anti-malware is installed on all endpoints and servers.",
		text.Concepts("malware protection"),
	)
	backup := newPreparedStatement("A backup copy is stored at a separate site.", text.Concepts("backup"))
	for sentence, want := range map[string]struct {
		of   *preparedStatement
		part bool
	}{
		"The microscopes have no antivirus, as the maker forbids it.": {malware, true},
		"The endpoints have no antivirus.":                            {malware, false},
		"The company has no antivirus.":                               {malware, false},
		"The Tallgrass Group has no antivirus.":                       {malware, false},
		"Laptops have no antivirus.":                                  {malware, false},
		"We have no antivirus.":                                       {malware, false},
		"There is no backup of the microscopes.":                      {backup, true},
		"There is no backup of the backup server.":                    {backup, false},
		"There is no backup of the systems.":                          {backup, false},
		"There is no backup.":                                         {backup, false},
	} {
		if got := text.Analyze(sentence, 2026).Sentences[0].DeniesOnlyForThingsOutside(want.of.concepts, want.of.topic); got != want.part {
			t.Errorf("%q: of a part %v", sentence, got)
		}
	}
	j := judge(
		t,
		control("Malware protection", "Anti-malware is installed on all endpoints."),
		policy("The microscopes have no antivirus, as the maker forbids it."),
	)
	if strings.Contains(j.Reason, "not done") {
		t.Errorf("denied: %s", j.Reason)
	}
}

// A denial for a specific subset in one document limits the affirmation in another.
func TestSubsetDenialInOtherDocumentLimits(t *testing.T) {
	says, denies := policy(
		"A backup copy is stored at a separate site.",
	), policy(
		"There is no backup copy of the microscopes at a separate site.",
	)
	denies.ChunkID, denies.DocumentID, denies.Filename = "second", "other", "other.md"
	if got := judge(
		t,
		control("Backup", "A backup copy is stored at a separate site."),
		says,
		denies,
	).Statements[0]; got.Verdict != VerdictPartial {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

// Rights that were withdrawn no longer exist.
func TestRightsTakenAway(t *testing.T) {
	c := control("Least privilege", "Standard users have no local administrator rights.")
	if got := judge(
		t,
		c,
		policy("Local administrator rights were taken away from all users in June."),
	).Statements[0]; got.Verdict != VerdictCovered {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

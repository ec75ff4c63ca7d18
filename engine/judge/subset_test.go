package judge

import (
	"strings"
	"testing"
)

// What certain things lack denies no control as a whole, nor what is said of others.
func TestOfCertainThings(t *testing.T) {
	malware := newPreparedStatement(
		"Anti-malware is installed on all endpoints and servers.",
		requiredConcepts("malware protection", splitWords("malware protection")),
	)
	backup := newPreparedStatement("A backup copy is stored at a separate site.", requiredConcepts("backup", splitWords("backup")))
	for text, want := range map[string]struct {
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
		if got := want.of.deniesSubset(&analyzeText(text, 2026).sentences[0], text); got != want.part {
			t.Errorf("%q: of a part %v", text, got)
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

// Of two documents, one that denies certain things alone limits what the other says.
func TestCertainThingsOfTwoDocuments(t *testing.T) {
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

// What is said of words without a verb, or of "it", takes these back.
func TestWordsTakenBack(t *testing.T) {
	for text, want := range map[string]bool{
		"Encryption of mail to owners. Rejected for now, owners will not install anything.": true,
		"Encryption of mail to owners. Postponed.":                                          true,
		"Mail to owners is encrypted. Rejected mail is kept for a week.":                    false,
		"Encryption of mail to owners. Agreed.":                                             false,
		"People work from home on Fridays, but there are no rules for it so far.":           true,
		"People work from home on Fridays, but there are no rules for this.":                true,
		"What key lengths are allowed is not laid down anywhere.":                           true,
		"The report says what went well and what did not.":                                  false,
		"Visitors are told what is not allowed.":                                            false,
	} {
		if s := analyzeText(text, 2026).sentences[0]; (s.denied&1 != 0) != want {
			t.Errorf("%q: denied %b", text, s.denied)
		}
	}
}

// A list of what is to come knows more states than "not started".
func TestStatesOfPlans(t *testing.T) {
	for text, want := range map[string]bool{
		"Work: Data leakage prevention; State: idea":   true,
		"Work: Monthly scans; State: offers received":  true,
		"Work: Policy on cloud; State: first notes":    true,
		"Work: Firewall; State: three offers received": true,
		"Work: Web filter; State: done":                false,
		"System: Mail; Status: ideal":                  false,
	} {
		if s := analyzeText(text, 2026).sentences[0]; (s.planWords != "") != want {
			t.Errorf("%q: plan %q", text, s.planWords)
		}
	}
}

// Rights that were taken away are none.
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

// What stands apart is not left out.
func TestApartLimitsNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"Development, test and live systems are apart from one another.": false,
		"Production is kept apart from test.":                            false,
		"All servers are patched, apart from the old ones.":              true,
	} {
		if s := analyzeText(text, 2026).sentences[0]; (s.limit != "") != want {
			t.Errorf("%q: limit %q", text, s.limit)
		}
	}
}

package judge

import "testing"

// A line of a document's imprint tells of the document alone.
func TestImprint(t *testing.T) {
	for text, want := range map[string]bool{
		"Owner: Control Systems Manager.":                               true,
		"Owner: Head of IT · Approved: 2026-03-01 by the board":         true,
		"**Version** 2.1 | Status: Approved | Classification: Internal": true,
		"| Next review | March 2027 |":                                  true,
		"Version 2, approved by the managing director on 2026-02-01.":   true,
		"Owners decide who may use their systems.":                      false,
		"Owner: the owner must approve each right.":                     false,
		"Risk: Fire; Owner: Head of IT; Status: Open":                   false,
		"Approval: Changes are approved by the board.":                  false,
	} {
		if got := isImprint(text, false); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if isImprint("Approved by: Ada Lovelace", true) || !isImprint("Author: Ada; Version: 2", true) {
		t.Error("in a record, an approval may be that of what it records; an author and a version are the document's")
	}
	owners := control("System owners", "System owners are named.")
	line := policy("Owner: Control Systems Manager.")
	if j := judge(t, owners, line); len(j.Evidence) > 0 {
		t.Errorf("an imprint is evidence of %q: %+v", owners.Title, j.Evidence)
	}
	if !newPreparedStatement("The security policy has an owner.", requiredConcepts("Policy", splitWords("Policy"))).concernsDocuments() ||
		newPreparedStatement(
			"Exceptions are documented by owners.",
			requiredConcepts("Exceptions", splitWords("Exceptions")),
		).concernsDocuments() {
		t.Error("a policy is a document; what is documented is none")
	}
}

// A column whose cell nobody filled in says nothing; all else of the row stays.
func TestUnfilledCells(t *testing.T) {
	for text, want := range map[string]string{
		"Incident: Phishing; Root cause: –; State: Closed":    "Incident: Phishing;              ; State: Closed",
		"Incident: Phishing; Root cause: n/a":                 "Incident: Phishing;                ",
		"Incident: Phishing; Root cause: none yet; Cost: TBD": "Incident: Phishing;                     ;          ",
		"Root cause: -":                          "             ",
		"Root cause: expired key; State: Closed": "Root cause: expired key; State: Closed",
		"Owners:":                                "Owners:",
		"These are to be named: -; nothing else is to be done.": "These are to be named: -; nothing else is to be done.",
	} {
		if got := blankEmptyCells(text); CollapseSpace(got) != CollapseSpace(want) || len(got) < len(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
	c := control("Root cause analysis", "The root cause of incidents is documented.")
	if j := judge(t, c, policy("Incident: Phishing mail; Root cause: –; Reported by: Sales")); len(j.Evidence) > 0 {
		t.Errorf("an empty cell is evidence: %+v", j.Evidence)
	}
}

// What a row announces is its own subject, and not what its columns are called.
func TestRowAnnouncesItsOwn(t *testing.T) {
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

package text

import (
	"testing"
)

func TestLateActionsAndOtherThingsLimit(t *testing.T) {
	for text, want := range map[string]bool{
		"Of 30 leavers, the accounts of 4 were closed late.":                               true,
		"In two cases access had been withdrawn too late.":                                 true,
		"Software changes are tried on a test system; other changes are not tried at all.": true,
		"Servers are backed up every night, the rest is not backed up.":                    true,
		"No account was closed late.":                                                      false,
		"The report was sent by the late shift.":                                           false,
		"Accounts are closed no later than the last working day.":                          false,
		"Laptops are encrypted; other media are kept in a safe.":                           false,
	} {
		if s := Analyze(text, 2026).Sentences[0]; (s.Limit != "") != want {
			t.Errorf("%q: limit %q", text, s.Limit)
		}
	}
}

// A document still to be written is a plan; one written for each case is a rule.
func TestFutureDocumentsArePlans(t *testing.T) {
	for text, want := range map[string]bool{
		"Instructions for the handling of evidence will be prepared together with the police.": true,
		"A playbook for ransomware is still to be drawn up.":                                   true,
		"A report will be written after each incident.":                                        false,
		"Where a risk is high, a plan will be drawn up with the owner.":                        false,
		"Minutes have to be written.":                                                          false,
		"An inventory is to be drawn up and kept current by the owner.":                        false,
	} {
		if s := Analyze(text, 2026).Sentences[0]; (s.PlanWords != "") != want {
			t.Errorf("%q: plan %q", text, s.PlanWords)
		}
	}
}

func TestPlannedStatuses(t *testing.T) {
	for text, want := range map[string]bool{
		"Work: Data leakage prevention; State: idea":   true,
		"Work: Monthly scans; State: offers received":  true,
		"Work: Policy on cloud; State: first notes":    true,
		"Work: Firewall; State: three offers received": true,
		"Work: Web filter; State: done":                false,
		"System: Mail; Status: ideal":                  false,
	} {
		if s := Analyze(text, 2026).Sentences[0]; (s.PlanWords != "") != want {
			t.Errorf("%q: plan %q", text, s.PlanWords)
		}
	}
}

func TestSeparationIsNoLimit(t *testing.T) {
	for text, want := range map[string]bool{
		"Development, test and live systems are apart from one another.": false,
		"Production is kept apart from test.":                            false,
		"All servers are patched, apart from the old ones.":              true,
	} {
		if s := Analyze(text, 2026).Sentences[0]; (s.Limit != "") != want {
			t.Errorf("%q: limit %q", text, s.Limit)
		}
	}
}

func TestPlaceholdersAndTickedBoxes(t *testing.T) {
	for text, want := range map[string]string{
		"Passwords have at least [x] characters.":                                  "[x]",
		"Passwords have at least [x] characters and are checked on [insert list].": "[x]",
		"[x] Passwords are checked on [insert list].":                              "[insert list]",
		"[x] Passwords are checked.":                                               "",
	} {
		if got := Analyze(text, 2026).Sentences[0].Placeholder; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPastDueDateIsNoPlan(t *testing.T) {
	for text, want := range map[string]bool{
		"151 did not complete it by the due date of 30 June 2026.": false,
		"MFA for suppliers. Due date: 30 June 2027.":               true,
	} {
		s := Analyze(text, 2026).Sentences
		if got := s[len(s)-1].PlanWords != ""; got != want {
			t.Errorf("%q: plan %q", text, s[len(s)-1].PlanWords)
		}
	}
}

func TestNumberedImperativesProhibit(t *testing.T) {
	s := Analyze("Rules:\niii. Do not use the browser to keep passwords.\niv) Do not share them.", 2026).Sentences
	for _, one := range s[1:] {
		if one.Denied != 0 || one.Prohibited == 0 || !one.Item {
			t.Errorf("%+v", one)
		}
	}
}

func TestMannerOfPlanningIsNoPlan(t *testing.T) {
	for text, plan := range map[string]bool{
		"Changes are properly planned and tested.": false,
		"Changes are currently planned for 2027.":  true,
	} {
		if got := Analyze(text, 2026).Sentences[0].PlanWords != ""; got != plan {
			t.Errorf("%q: plan %v", text, got)
		}
	}
}

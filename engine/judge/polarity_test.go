package judge

import (
	"strings"
	"testing"
)

// What only says which things are meant, or keeps them apart, denies nothing.
func TestRulesWithANo(t *testing.T) {
	for text, want := range map[string]bool{
		"Accounts which have not been used for 45 days are closed by a nightly job.":              false,
		"Visitors who have not been announced must wait at the gate.":                             false,
		"Accounts of leavers, which had not been closed, were found.":                             true,
		"An urgent change, one without which the plant would stop, is written up afterwards.":     false,
		"No employee has more permissions than the post needs.":                                   false,
		"No more permissions are granted than the task needs.":                                    false,
		"The auditors have no operational duties and report to the supervisory board.":            false,
		"Machines that are no longer supported are isolated in a segment of their own.":           false,
		"What is no longer patched stands behind a firewall of its own.":                          false,
		"The old controllers are no longer isolated.":                                             true,
		"The auditors have no operational plan.":                                                  true,
		"The policy is read again each spring, or earlier should the law change.":                 false,
		"The tests of the control network were deferred.":                                         true,
		"The tests are deferred where the plant can't be stopped and are made good within a week": true,
	} {
		s := analyzeText(text, 2026).sentences[0]
		if got := s.denied|s.discontinued != 0; got != want {
			t.Errorf("%q: denied %b, over %b", text, s.denied, s.discontinued)
		}
		if s.hedge != "" {
			t.Errorf("%q: a wish: %q", text, s.hedge)
		}
	}
}

// What others don't get, and what came late, limits what is said.
func TestLateAndOthers(t *testing.T) {
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
		if s := analyzeText(text, 2026).sentences[0]; (s.limit != "") != want {
			t.Errorf("%q: limit %q", text, s.limit)
		}
	}
}

// What is still to be written is announced; what is written for each case is a rule.
func TestStillToBeWritten(t *testing.T) {
	for text, want := range map[string]bool{
		"Instructions for the handling of evidence will be prepared together with the police.": true,
		"A playbook for ransomware is still to be drawn up.":                                   true,
		"A report will be written after each incident.":                                        false,
		"Where a risk is high, a plan will be drawn up with the owner.":                        false,
		"Minutes have to be written.":                                                          false,
		"An inventory is to be drawn up and kept current by the owner.":                        false,
	} {
		if s := analyzeText(text, 2026).sentences[0]; (s.planWords != "") != want {
			t.Errorf("%q: plan %q", text, s.planWords)
		}
	}
}

// That ordinary users have no such rights bears a rule on what rights there are.
func TestOnlyWhatIsNeeded(t *testing.T) {
	c := control("Least privilege", "Users have only the rights that their tasks need.")
	for _, text := range []string{"No user has more rights than the task needs.", "Ordinary users have no administrative rights."} {
		if got := judge(t, c, policy(text)).Statements[0]; got.Verdict == VerdictDenied {
			t.Errorf("%q: %s (%s)", text, got.Verdict, got.Reason)
		}
	}
}

// What is not done later denies nothing of what is done before.
func TestLaterIsNotBefore(t *testing.T) {
	c := control("Supplier assessment", "Suppliers are assessed before a contract is signed.")
	first := "Each supplier is assessed before the contract is signed."
	for later, want := range map[string]string{
		"Suppliers are not assessed again after the contract is signed.": VerdictCovered,
		"Suppliers are not assessed before the contract is signed.":      VerdictConflicting,
	} {
		j := judge(t, c, policy(first), passage("record", later))
		if got := j.Statements[0]; got.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", later, got.Verdict, got.Reason, want)
		}
	}
}

// What was announced although the date has passed says so.
func TestPassedPromises(t *testing.T) {
	c := control("Device encryption", "Laptops are encrypted.")
	for text, want := range map[string]bool{
		"Laptops will be encrypted by 30 September 2026.": true,
		"Encryption of laptops is planned for Q2 2026.":   true,
		"Laptops will be encrypted by December 2099.":     false,
		"Laptops will be encrypted by 1 January 2099.":    false,
		"Encryption of laptops is planned.":               false,
	} {
		got := judge(t, c, policy(text)).Statements[0]
		if got.Verdict != VerdictPlanned || strings.Contains(got.Reason, "the date has passed") != want {
			t.Errorf("%q: %s (%s)", text, got.Verdict, got.Reason)
		}
	}
}

package judge

import (
	"strings"
	"testing"
)

// A sentence that users have no excess rights does not deny a rule on needed rights.
func TestNoExcessRightsIsNoDenial(t *testing.T) {
	c := control("Least privilege", "Users have only the rights that their tasks need.")
	for _, text := range []string{"No user has more rights than the task needs.", "Ordinary users have no administrative rights."} {
		if got := judge(t, c, policy(text)).Statements[0]; got.Verdict == VerdictDenied {
			t.Errorf("%q: %s (%s)", text, got.Verdict, got.Reason)
		}
	}
}

// A denial of a later action does not deny the action required before it.
func TestDenialOfLaterActionIsNoDenial(t *testing.T) {
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

// The reason of a plan whose date has passed says so.
func TestOverduePlansSaySo(t *testing.T) {
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

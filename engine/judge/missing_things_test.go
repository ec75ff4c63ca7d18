package judge

import (
	"testing"

	"github.com/scf-service/service/api"
)

// A brief statement that something is missing is a denial, even if the control title names what it is about.
func TestBriefDenials(t *testing.T) {
	logs := control("Central collection of logs", "Logs are forwarded to a central log server or SIEM.")
	holds(t, logs, map[string]string{
		"There is no central log server yet.":                           VerdictDenied,
		"We do not have a table tennis room.":                           VerdictMissing,
		"Logs are forwarded to a central log server, which was no rush": VerdictCovered,
	})
	reviews := control("Recertification of access rights", "Access rights are reviewed by owners every quarter.")
	rule := policy("Owners review access rights every quarter.")
	for text, want := range map[string]string{
		"The review of Q2 2026 was not held either, because the owner was on leave": VerdictConflicting,
		"The review of Q1 2026 was held on 31 March 2026.":                          VerdictCovered,
		"The minutes of Q1 2026 were not signed.":                                   VerdictCovered,
	} {
		record := passage("record", text)
		record.DocumentTitle = "Access rights: reviews 2026"
		if v := judge(t, reviews, rule, record).Statements[0]; v.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", text, v.Verdict, v.Reason, want)
		}
	}
}

// A record of something that should have been removed contradicts the rule. A record that the rule was followed in only
// a share of the cases limits it.
func TestRecordsOfFailure(t *testing.T) {
	leavers := control("Withdrawal of access", "Access of leavers is revoked on the last day.")
	rule := policy("Access of leavers is revoked on their last day.")
	for text, want := range map[string]string{
		"In September 2026 the accounts and access of 14 leavers were still active.": VerdictConflicting,
		"No accounts or access of leavers were still active in September 2026.":      VerdictCovered,
		"In September 2026 the access of 14 leavers was revoked on their last day.":  VerdictCovered,
	} {
		if v := judge(t, leavers, rule, passage("record", text)).Statements[0]; v.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", text, v.Verdict, v.Reason, want)
		}
	}
	training := control("Security awareness", "All employees complete security awareness training.")
	rule = policy("All employees complete security awareness training every year.")
	for text, want := range map[string]string{
		"Of 212 employees, 61 completed the security awareness training.":             VerdictPartial,
		"48 % of the employees completed the security awareness training.":            VerdictPartial,
		"61 of the 212 employees completed the security awareness training in 2026.":  VerdictPartial,
		"Of 212 employees, 209 completed the security awareness training.":            VerdictCovered,
		"99 % of the employees completed the security awareness training by 30 June.": VerdictCovered,
	} {
		j := judge(t, training, rule, passage("record", text))
		if v := j.Statements[0]; v.Verdict != want {
			t.Errorf("%q: %s (%s), want %s", text, v.Verdict, v.Reason, want)
		}
		if want == VerdictPartial && j.Implementation == api.Implemented {
			t.Errorf("%q: implemented: %s", text, j.Reason)
		}
	}
}

// A bare "no" denies in a column about actions; in a column about properties it does not.
func TestBareNoDependsOnColumn(t *testing.T) {
	holds(t, control("Supplier contracts", "Suppliers are audited."), map[string]string{
		"Supplier: Nimbus; Contract: C-12; Audited: No":  VerdictDenied,
		"Supplier: Nimbus; Contract: C-12; Audited: Yes": VerdictCovered,
	})
	holds(t, control("Tests of restoring", "Restore tests are held every quarter."), map[string]string{
		"Restore test: Q1 2026; System: ERP; Held on: not held": VerdictDenied,
	})
	// A failure shows nothing about how failures are handled; a row stating that they are not handled does.
	holds(t, control("Reporting of performance", "Missed targets lead to corrective measures."), map[string]string{
		"Test: failover; Targets: corrective measures; Result: Target missed":              VerdictMissing,
		"Control: Missed targets lead to corrective measures; Implemented: No; Owner: Ada": VerdictDenied,
	})
	holds(t, control("Internet-facing systems", "Internet-facing systems are listed with their owner."), map[string]string{
		"System: Wiki; Owner: J. Noor; Internet-facing: no": VerdictMissing,
	})
}

// A record of a failed safeguard contradicts the rule, unless the failure was corrected.
func TestSafeguardsThatFailed(t *testing.T) {
	for text, want := range map[string]bool{
		"The restore test of the finance database aborted after 40 minutes because the tape was unreadable.":  true,
		"The access review for the ERP system was skipped in Q2 2026.":                                        true,
		"The patch was installed 47 days after release, against a target of 14 days.":                         true,
		"Three intrusion alarms at the depot went unanswered over the weekend.":                               true,
		"Of the joiners in May, eight had started work before their check came back.":                         true,
		"The badge opened the door four weeks after his contract ended.":                                      true,
		"Eleven laptops were resold with the data still on the disks.":                                        true,
		"The corrective action is overdue by five months.":                                                    true,
		"The backup failed on nine of thirty nights. The jobs were corrected and have run every night since.": false,
		"The review was skipped in July and made up for on 4 August.":                                         false,
		"All overdue actions were closed.":                                                                    false,
		"Sampled changes: not one had gone live before approval.":                                             false,
		"Patches were installed 5 days after release, against a target of 14 days.":                           false,
		"Patches were installed 5 days after release.":                                                        false,
		"74 % of the patches were in time, against a target of 95 %.":                                         true,
		"The safeguard is still in force.":                                                                    false,
		"Laptops must not be left unattended in vehicles.":                                                    false,
		"Where an alarm went unanswered, the guard calls the police.":                                         false,
	} {
		c := (&Session{}).analyzePassage(passage("record", text))
		if got := c.DescribesUnremediedFailure(0, isRecordCategory(c.facts.category)); got != want {
			t.Errorf("%q: failed %t", text, got)
		}
	}
	c := control("Access reviews", "Access rights are reviewed every quarter.")
	rule := policy("Access rights are reviewed every quarter by the owners.")
	j := judge(t, c, rule, passage("record", "The quarterly review of access rights was skipped in Q2 2026."))
	if v := j.Statements[0]; v.Verdict != VerdictConflicting || j.Implementation == api.Implemented {
		t.Errorf("%s, %s: %s", j.Implementation, v.Verdict, v.Reason)
	}
	shown := false
	for _, e := range j.Evidence {
		shown = shown || e.Stance == "conflicts"
	}
	if !shown {
		t.Errorf("the record isn't quoted: %+v", j.Evidence)
	}
}

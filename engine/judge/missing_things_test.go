package judge

import (
	"testing"

	"github.com/scf-service/service/api"
)

// That there is none of a thing denies only where the thing guards against something.
func TestNothingIsLacking(t *testing.T) {
	for text, lacks := range map[string]bool{
		"There were no incidents in the third quarter.":                   false,
		"No vulnerabilities were found in the scan of September.":         false,
		"No exceptions to the policy have been requested.":                false,
		"No deviations from the baseline were found.":                     false,
		"No changes were made to the firewall.":                           false,
		"We had no complaints.":                                           false,
		"We have no visitors, no branch offices and no wireless network.": false,
		"We do not use removable media.":                                  false,
		"We don't develop any applications.":                              false,
		"There is no personal data in the test environment.":              false,
		"No test failed.":                                                        false,
		"No training is overdue.":                                                false,
		"No access right had to be removed.":                                     false,
		"No accounts were compromised.":                                          false,
		"Nothing unusual was noted on the guard's round.":                        false,
		"The scan did not reveal any critical vulnerabilities.":                  false,
		"We have never suffered a ransomware attack.":                            false,
		"Generic or shared accounts do not exist in the system.":                 false,
		"Our consultants do not work with classified information.":               false,
		"The storm caused no damage to the cabling.":                             false,
		"No breaches had to be reported to the authority.":                       false,
		"The simulation ended with a click rate of 2 %, and no one entered it.":  false,
		"Without a valid badge, no one is admitted to the laboratory.":           false,
		"Visitors who fail to show identification are refused entry.":            false,
		"Staff who do not complete the training lose their network access.":      false,
		"The audit did not find evidence of access reviews.":                     true,
		"We have staff who do not complete the training.":                        true,
		"The logs are not read.":                                                 true,
		"Not a single server has been patched since May.":                        true,
		"None of the logs is read.":                                              true,
		"Customers were not affected.":                                           false,
		"None of the laptops was lost or stolen.":                                false,
		"Not a single suspicious transaction was recorded.":                      false,
		"The test revealed no critical or high-risk vulnerabilities.":            false,
		"No personal data leaves the European Economic Area.":                    false,
		"The scan came back without any findings.":                               false,
		"Analysis found no evidence that data had been stolen.":                  false,
		"There is no evidence of a review.":                                      true,
		"There are no outstanding actions.":                                      false,
		"The gap in logging is no longer present.":                               false,
		"The reviews are no longer held.":                                        true,
		"Two intrusions were stopped by the firewall.":                           false,
		"There is no incident register.":                                         true,
		"No incidents are followed up.":                                          true,
		"No changes are tested before they go live.":                             true,
		"No vulnerabilities were fixed in time.":                                 true,
		"We have no SIEM.":                                                       true,
		"We have no visitors and no visitor log.":                                true,
		"We do not use encryption.":                                              true,
		"There is no separate network for guests.":                               true,
		"There is no server to which logs are sent.":                             true,
		"We do not keep a backup server.":                                        true,
		"No test has been held.":                                                 true,
		"No laptops are encrypted.":                                              true,
		"No suppliers were assessed.":                                            true,
		"No account is closed when somebody leaves.":                             true,
		"We have no data on who was trained and no list of those who were not.":  true,
		"There are no alarms in the archive.":                                    true,
		"There is no one who looks at the alerts.":                               true,
		"The firewall is not switched on.":                                       true,
		"We don't review the rights of our suppliers.":                           true,
		"No owner has been named for the systems that hold personal data so far": true,
	} {
		s := analyzeText(text, 2026).sentences[0]
		if got := s.denied&^s.harmless != 0; got != lacks {
			t.Errorf("%q: denied %b, absent %b", text, s.denied, s.harmless)
		}
	}
}

// A plain lack denies in few words, also where a title names what it is of.
func TestPlainLacks(t *testing.T) {
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

// A record that tells of what should be gone contradicts the rule; that it tells of a share limits it.
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

// What was to be done by a due date is not announced by it.
func TestDueDates(t *testing.T) {
	for text, want := range map[string]bool{
		"151 did not complete it by the due date of 30 June 2026.": false,
		"MFA for suppliers. Due date: 30 June 2027.":               true,
	} {
		s := analyzeText(text, 2026).sentences
		if got := s[len(s)-1].planWords != ""; got != want {
			t.Errorf("%q: plan %q", text, s[len(s)-1].planWords)
		}
	}
}

// A bare "no" denies in a column of what is done; in another it says of which kind a thing is not, and nothing else.
func TestColumnsOfKinds(t *testing.T) {
	holds(t, control("Supplier contracts", "Suppliers are audited."), map[string]string{
		"Supplier: Nimbus; Contract: C-12; Audited: No":  VerdictDenied,
		"Supplier: Nimbus; Contract: C-12; Audited: Yes": VerdictCovered,
	})
	holds(t, control("Tests of restoring", "Restore tests are held every quarter."), map[string]string{
		"Restore test: Q1 2026; System: ERP; Held on: not held": VerdictDenied,
	})
	// What failed tells nothing of what is done then; that it is not done does.
	holds(t, control("Reporting of performance", "Missed targets lead to corrective measures."), map[string]string{
		"Test: failover; Targets: corrective measures; Result: Target missed":              VerdictMissing,
		"Control: Missed targets lead to corrective measures; Implemented: No; Owner: Ada": VerdictDenied,
	})
	holds(t, control("Internet-facing systems", "Internet-facing systems are listed with their owner."), map[string]string{
		"System: Wiki; Owner: J. Noor; Internet-facing: no": VerdictMissing,
	})
}

// A record that tells that a safeguard failed contradicts the rule, unless it was made good.
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
		if got := (&analyzedPassage{passageAnalysis: c}).recordsFailureAt(0); got != want {
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

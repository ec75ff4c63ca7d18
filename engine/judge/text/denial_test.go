package text

import (
	"testing"
)

func TestNegatedRulesAreNotDenials(t *testing.T) {
	for text, want := range map[string]bool{
		"Data is kept no longer than the retention list says.":               false,
		"Nobody approves a request for themselves.":                          false,
		"No one approves their own request.":                                 false,
		"Nobody who runs production has rights in the backup account.":       false,
		"A new account has no rights beyond the base role.":                  false,
		"An account without an owner is disabled.":                           false,
		"Servers without an agent are automatically blocked.":                false,
		"Backups are encrypted with keys that the provider does not hold.":   false,
		"Backups are encrypted with keys that Northpier does not hold.":      false,
		"A laptop that leaves does not get encrypted.":                       true,
		"Physical access to offices is not covered here.":                    false,
		"Nobody approves requests.":                                          true,
		"No one reviews the logs.":                                           true,
		"Accounts are created without approval and disabled by chance.":      true,
		"Servers run without an agent.":                                      true,
		"Backups of the office are not covered by any plan.":                 true,
		"The service is no longer in use.":                                   true,
		"We found that the provider does not hold keys.":                     true,
		"Laptops that consultants bring are not encrypted.":                  true,
		"Systems that staff use do not have backups.":                        true,
		"Nobody who joined this year was trained.":                           true,
		"Nobody who works here has been trained.":                            true,
		"Servers without an agent are ignored.":                              true,
		"Backups are not covered this year.":                                 true,
		"Backups have no encryption.":                                        true,
		"There are no exercises beyond those that the provider talks about.": false,
	} {
		s := Analyze(text, 2026).Sentences[0]
		if got := s.Denied != 0; got != want {
			t.Errorf("%q: denied %v", text, got)
		}
	}
}

func TestNegationThatIdentifiesIsNoDenial(t *testing.T) {
	for text, denies := range map[string]bool{
		"The firewalls refuse everything, in and out, that no rule allows.": false,
		"Anything which nobody ordered is sent back.":                       false,
		"We found that no rule is reviewed.":                                true,
	} {
		if s := parseStanceAndClauses(text, splitWords(text), 2026); (s.Denied != 0) != denies {
			t.Errorf("%q denies: %v", text, s.Denied != 0)
		}
	}
	if s := parseStanceAndClauses(
		"Owners ought to look over access rights.",
		splitWords("Owners ought to look over access rights."),
		2026,
	); s.Hedge == "" {
		t.Error("no hedge for \"ought to\"")
	}
}

// Rules, contrasts, definitions and absent harm are no denials.
func TestApparentDenials(t *testing.T) {
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
		"No passwords are stored in source code.",
		"Access isn't granted until the agreement has been signed.",
		"Rights were not reviewed in 2024; owners now review them every quarter.",
		"Analysis found no evidence that data had been stolen.",
		"0 of 12 systems failed the scan.",
		"Kitchen staff are exempt from the course.",
	} {
		if s := parseStanceAndClauses(text, splitWords(text), 2026); s.Denied != 0 {
			t.Errorf("%q denies", text)
		}
	}
}

// These resemble the apparent denials but are denials.
func TestRealDenials(t *testing.T) {
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
		"What was restored is recorded nowhere.",
		"Key rotation: never.",
		"All administrators are exempt from multi-factor authentication.",
		"It isn't defined where data may be stored.",
		"We found no evidence that fixes are verified.",
		"Management could not demonstrate that failover had been tested.",
		"Callers are not told that they talk to a machine.",
		"Laptop sent for repair, data not removed or protected.",
		"0 of 12 sample files were restored.",
	} {
		if s := parseStanceAndClauses(text, splitWords(text), 2026); s.Denied == 0 {
			t.Errorf("%q denies nothing", text)
		}
	}
}

func TestUninvolvedPeopleAreNoDenial(t *testing.T) {
	for text, denies := range map[string]bool{
		"Two testers, who have no part in running the platform, tested the network.": false,
		"Two servers, which have no firewall, run the platform.":                     true,
	} {
		words := splitWords(text)
		if s := parseStanceAndClauses(text, words, 2026); (s.Denied != 0) != denies {
			t.Errorf("%q: denied %b", text, s.Denied)
		}
	}
}

func TestQualifiersAreNotDenials(t *testing.T) {
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
		s := Analyze(text, 2026).Sentences[0]
		if got := s.Denied|s.Discontinued != 0; got != want {
			t.Errorf("%q: denied %b, discontinued %b", text, s.Denied, s.Discontinued)
		}
		if s.Hedge != "" {
			t.Errorf("%q: hedge %q", text, s.Hedge)
		}
	}
}

func TestRetractionsDenyTheirSubject(t *testing.T) {
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
		if s := Analyze(text, 2026).Sentences[0]; (s.Denied&1 != 0) != want {
			t.Errorf("%q: denied %b", text, s.Denied)
		}
	}
}

// A negation in a relative clause says which things are meant, unless the sentence only says that there are such things.
func TestNegationInRelativeClause(t *testing.T) {
	for text, denies := range map[string]bool{
		"Weaknesses that have not yet led to an incident are reported in the same way.":     false,
		"Managers must report any concern that the policy is not followed.":                 false,
		"A printed copy is kept for those who cannot log in.":                               false,
		"Do not plug in a stick whose owner isn't known.":                                   false,
		"Fork-lift: only with a certificate that has not run out.":                          false,
		"A system that doesn't meet the baseline needs the approval of the architect.":      false,
		"Devices that are not enrolled don't connect to our services.":                      false,
		"We have servers that are not patched.":                                             true,
		"There are accounts that nobody owns.":                                              true,
		"The auditor noted the concern that the policy is not followed.":                    true,
		"Deletion at the end of that time is not yet carried out.":                          true,
		"Attendance was so poor that it lacked a quorum.":                                   true,
		"Staff who had not been trained ran the plant.":                                     true,
		"New personnel get no account until they have taken the course.":                    false,
		"Nothing is kept for longer than it is needed.":                                     false,
		"Key rotation was not done until the auditor complained.":                           true,
		"The equipment room is without a smoke detector.":                                   true,
		"An incident response plan? We don't have one.":                                     true,
		"The recommendation is go, go with conditions, or no. Suppliers may not decide it.": false,
	} {
		if s := Analyze(text, 2026).Sentences[0]; (s.Denied&^s.harmless != 0) != denies {
			t.Errorf("%q: denied %b", text, s.Denied)
		}
	}
}

func TestAffirmedStemsOmitDeniedClauses(t *testing.T) {
	c := Analyze("Water pipes cross the ceiling; there is no leak sensor.", 2026)
	s := &c.Sentences[0]
	if s.Denied == 0 || len(s.affirmedStems.hashes) >= len(s.stems.hashes) {
		t.Errorf("%d of %d stems remain", len(s.affirmedStems.hashes), len(s.stems.hashes))
	}
}

// A denial by a pronoun concerns what the sentence before names, unless its subject is something particular.
func TestDenialsThatPointBack(t *testing.T) {
	for text, want := range map[string]uint64{
		"Nobody looks at them.": 1,
		"There is none.":        1,
		"The door logs are kept, but nobody reviews them.":      2,
		"Laboratory workstations do not require it.":            0,
		"None of the servers is scanned.":                       0,
		"It isn't defined where data may be stored.":            0,
		"Backups are taken; the plant's machines don't have it": 0,
	} {
		if s := parseStanceAndClauses(text, splitWords(text), 2026); s.PointsBack != want {
			t.Errorf("%q points back in %b, want %b", text, s.PointsBack, want)
		}
	}
}

// Minutes assign tasks in sentences without a verb, which announce what is to be done.
func TestAssignedTasksAreAnnounced(t *testing.T) {
	for text, planned := range map[string]bool{
		"Action: purchasing to set up a register of all service providers by the end of June.": true,
		"Next steps: IT to introduce a second factor.":                                         true,
		"Actions: move script to the vault (Marek, 30 April, done).":                           false,
		"Tasks: review the rights, report to the board.":                                       false,
	} {
		if s := parseStanceAndClauses(text, splitWords(text), 2026); (s.PlanWords != "") != planned {
			t.Errorf("%q announces %q", text, s.PlanWords)
		}
	}
}

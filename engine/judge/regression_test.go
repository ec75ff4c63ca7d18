package judge

import (
	"strings"
	"testing"
)

// A rule for a particular case counts as a rule, with or without a comma.
func TestConditionalRules(t *testing.T) {
	c := control("Alerts", "An alert is raised when a source of logs stops sending.")
	holds(t, c, map[string]string{
		"An alert is raised when a source of logs stops sending.": VerdictCovered,
		"If a source of logs stops sending an alert is raised.":   VerdictCovered,
	})
}

// A denial applies to what the sentence names, not to everything under its heading.
func TestDenialIsLimitedToNamedThing(t *testing.T) {
	holds(t, control("Malware protection", "Malware protection reports to a console."), map[string]string{
		"Malware protection reports to a console. Laboratory workstations do not require it.": VerdictCovered,
	})
	holds(t, control("Multi-factor authentication", "Administrators use multi-factor authentication."), map[string]string{
		"Remote access without multi-factor authentication is possible for board members.": VerdictMissing,
		"Administrators don't use multi-factor authentication.":                            VerdictDenied,
	})
	holds(t, control("Custody", "A chain of custody is recorded."), map[string]string{
		"It is not the case that evidence may be altered: a chain of custody is recorded for each item.": VerdictCovered,
		"It is not the case that a chain of custody is recorded.":                                        VerdictDenied,
		"A chain of custody has never been attempted.":                                                   VerdictDenied,
	})
}

// Documents state draft status and review dates in several ways.
func TestDraftAndReviewDueWordings(t *testing.T) {
	for text, want := range map[string]bool{
		"DRAFT v0.3 - not approved - for comment until 2026-12-15": true,
		"**DRAFT 0.4 for comment**":                                true,
		"DRAFT. 20 October 2026.":                                  true,
		"Draft":                                                    true,
		"Draft policies are read by the board.":                    false,
		"Draft reports go to the auditor.":                         false,
	} {
		var f documentStatus
		f.addPassage(Passage{Text: "Key management\n" + text + "\nKeys are kept in a vault."})
		if got := f.draftWords != ""; got != want {
			t.Errorf("%q: a draft: %v", text, got)
		}
	}
	for name, want := range map[string]bool{
		"DRAFT-crypto.md":        true,
		"retention (draft).docx": true,
		"overdraft.md":           false,
		"drafting-rules.md":      false,
	} {
		if got := (&foundPassage{Passage: Passage{Filename: name}}).notInForceWords() != ""; got != want {
			t.Errorf("%s: a draft: %v", name, got)
		}
	}
	var f documentStatus
	f.addPassage(Passage{Text: "Issued September 2019. To be renewed not later than September 2021."})
	if f.reviewDue.Year() != 2021 {
		t.Errorf("due %v", f.reviewDue)
	}
}

// Unticked steps of a checklist are partial support; an unfilled form is none.
func TestUntickedChecklist(t *testing.T) {
	c := control("Secrecy", "New staff sign a secrecy agreement.")
	list := passage("procedure", "Before the first day:\n\n- [ ] New staff sign a secrecy agreement.\n- [ ] A laptop is ordered.")
	list.Filename, list.DocumentTitle = "onboarding-checklist.md", "Onboarding checklist"
	if v := judge(t, c, list).Statements[0]; v.Verdict != VerdictPartial {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	list.Text = "New staff sign a secrecy agreement: [ ] yes [ ] no"
	if v := judge(t, c, list).Statements[0]; v.Verdict == VerdictPartial || v.Verdict == VerdictCovered {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// A TODO note does not affect the other sentences of its page.
func TestToDoNoteIsNoBlank(t *testing.T) {
	holds(t, control("Local rights", "Users have no local administrator rights."), map[string]string{
		"Users have no local administrator rights.\n\nTODO: write down who owns which server.": VerdictCovered,
	})
}

// The versions of two documents do not conflict, and several wordings mean "once a year".
func TestImprintsDoNotConflictAndYearlyWordings(t *testing.T) {
	c := control("Document control", "Documents carry a version, an owner and an approval date.")
	a, b := policy(
		"Version 1.4, owner: Jo Field, approved every 12 months, next review 2027-01-01.",
	), policy(
		"Version 2.0, owner: Jo Field, approved every 6 months, next review 2027-02-02.",
	)
	b.DocumentID, b.ChunkID = "other", "other-1"
	if v := judge(t, c, a, b).Statements[0]; v.Verdict == VerdictConflicting {
		t.Error(v.Reason)
	}
	holds(t, control("Risk assessment", "A risk assessment is carried out at least once a year."), map[string]string{
		"A risk assessment is carried out every October.":                                   VerdictCovered,
		"A risk assessment is carried out each calendar year.":                              VerdictCovered,
		"A risk assessment is carried out not less than once in every financial year.":      VerdictCovered,
		"A risk assessment is carried out every business year.":                             VerdictCovered,
		"A risk assessment is carried out within ten business days after each acquisition.": VerdictPartial,
	})
}

// Sentences from a lift maker's documents that were once misjudged.
func TestFormerlyMisjudgedSentences(t *testing.T) {
	for _, tc := range []struct{ category, ask, text, want string }{
		{
			"policy",
			"Suppliers return a questionnaire before signing.",
			"No supplier is signed before Purchasing has sent the questionnaire.",
			VerdictPartial,
		},
		{"policy", "Production data is masked before it is used for testing.", "Production data is never used for testing.", VerdictPartial},
		{
			"policy",
			"Suppliers return a questionnaire before signing.",
			"No supplier who holds our data, or who connects to our network, is signed before Purchasing has sent the questionnaire.",
			VerdictPartial,
		},
		{"policy", "Restricted documents are sent encrypted.", "They are never sent by mail or chat.", VerdictMissing},
		{"policy", "Access rights no longer needed are withdrawn.", "Access rights no longer needed are not withdrawn.", VerdictDenied},
		{"policy", "Personal data is deleted.", "Personal data is not deleted.", VerdictDenied},
		{"record", "Changes are approved before they are made.", "All 30 had an approval before the change was made.", VerdictCovered},
		{"record", "Changes are approved before they are made.", "Three had started before they were approved.", VerdictPartial},
		{
			"record",
			"Accounts of leavers are disabled on their last working day.",
			"The accounts of leavers were switched off on their last working day.",
			VerdictCovered,
		},
		{
			"policy",
			"A data protection officer is appointed.",
			"Graham Penhallow was appointed in writing as data protection officer in 2019.",
			VerdictCovered,
		},
		{"policy", "Backups are tested.", "Backups were tested in 2019.", VerdictPartial},
		{"record", "Water leak sensors are installed.", "A water leak sensor was talked about and put off.", VerdictDenied},
		{
			"policy",
			"Firewall rules are reviewed at least every six months.",
			"Firewall rules were meant to be reviewed every six months; the last time was in September 2024.",
			VerdictMissing,
		},
		{"record", "Exceptions expire.", "The exception was approved by Ines on 2 March 2026 and runs out on 31 March 2026.", VerdictPartial},
		{"record", "Exceptions expire.", "The exception was approved by Ines on 2 March 2026 and runs out on 31 March 2031.", VerdictCovered},
		{"policy", "Input is validated.", "Input is validated everywhere except the export function.", VerdictPartial},
		{"policy", "Ports are closed by default.", "Ports are closed by default except the one of the web server.", VerdictCovered},
		{"policy", "Data loss prevention is in use.", "There's no DLP.", VerdictDenied},
		{"policy", "Deviations of time are monitored.", "We've no 24/7 monitoring.", VerdictMissing},
		{
			"report",
			"Critical patches are installed within 14 days.",
			"Critical patches were installed within 14 days: 71 % (target 95).",
			VerdictPartial,
		},
	} {
		j := judge(t, control("Control", tc.ask), passage(tc.category, tc.text))
		if got := j.Statements[0]; got.Verdict != tc.want {
			t.Errorf("%q for %q: %s (%s), want %s", tc.text, tc.ask, got.Verdict, got.Reason, tc.want)
		}
	}
}

// Denying a possession denies a trait; denying another action on it does not.
func TestDeniesTrait(t *testing.T) {
	for text, want := range map[string]bool{
		"We do not store personal data.":                   true,
		"We don't delete personal data from our backups.":  false,
		"We never shred paper with personal data at home.": false,
	} {
		at := strings.Index(text, "personal data")
		if got := deniesTrait(text, []int{at, at + len("personal data")}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

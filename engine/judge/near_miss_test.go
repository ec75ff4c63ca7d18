package judge

import (
	"testing"

	"github.com/scf-service/service/api"
)

// A document that excludes a subject from its scope neither denies it nor supports it.
func TestScopeExclusionIsNoDenial(t *testing.T) {
	for _, tc := range []struct{ title, statement, text, want string }{
		{
			"Network segmentation",
			"Guest networks are separated from the internal network.",
			"This policy does not apply to guest networks.",
			VerdictMissing,
		},
		{
			"Incident response plan",
			"The plan covers incidents of customers.",
			"This plan does not cover incidents that affect customers.",
			VerdictMissing,
		},
		{"Backups", "Backups cover laptops.", "Our backups do not cover laptops.", VerdictDenied},
		{
			"Multi-factor authentication",
			"Multi-factor authentication is required for all remote access.",
			"Multi-factor authentication does not apply to anyone with remote access.",
			VerdictDenied,
		},
		{
			"Multi-factor authentication",
			"Multi-factor authentication is required for all remote access.",
			"Multi-factor authentication is no longer required for remote access.",
			VerdictDenied,
		},
		{"Leavers", "Access that is no longer needed is removed.", "Access that is no longer needed is removed.", VerdictCovered},
		{"Patching", "Servers are patched.", "We do not apply patches to servers.", VerdictDenied},
		{
			"Multi-factor authentication",
			"Multi-factor authentication is required for all remote access.",
			"Multi-factor authentication is required for all remote access; this does not apply to guests.",
			VerdictPartial,
		},
	} {
		if v := judge(t, control(tc.title, tc.statement), policy(tc.text)).Statements[0]; v.Verdict != tc.want {
			t.Errorf("%q: %s (%s), want %s", tc.text, v.Verdict, v.Reason, tc.want)
		}
	}
}

// A related measure done instead of the required one supports the statement in part.
func TestRelatedMeasureInsteadIsPartial(t *testing.T) {
	c := control("Background checks", "Background checks of candidates are done before they start.")
	holds(t, c, map[string]string{
		"We do not do criminal background checks of candidates, but we carry out reference checks before they start.": VerdictPartial,
		"We do not do background checks of candidates, but we like people.":                                           VerdictDenied,
		"Background checks of candidates are not done.":                                                               VerdictDenied,
	})
}

// A sentence about doing something without the required thing is no support.
func TestDoneWithoutRequiredThing(t *testing.T) {
	c := control("Releases", "Every release is archived with its source code.")
	if v := judge(t, c, policy("Every release is archived without any source code.")).Statements[0]; v.Verdict == VerdictCovered ||
		v.Verdict == VerdictPartial {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// A sentence that forbids something without a safeguard requires the safeguard.
func TestRefusalWithoutThingRequiresIt(t *testing.T) {
	c := control("Multi-factor authentication", "Multi-factor authentication is required for remote access.")
	for _, text := range []string{
		"No remote access is allowed without multi-factor authentication.",
		"Remote access requires multi-factor authentication, and sign-in without multi-factor authentication is blocked.",
	} {
		if v := judge(t, c, policy(text)).Statements[0]; v.Verdict != VerdictCovered {
			t.Errorf("%q: %s (%s)", text, v.Verdict, v.Reason)
		}
	}
}

// A document's status line and license terms are no evidence.
func TestDocumentStatusAndLicenseAreNoEvidence(t *testing.T) {
	c := control("Status of approval", "The status of approval is recorded.")
	if v := judge(t, c, policy("Document status: Approved")).Statements[0]; v.Verdict != VerdictMissing {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	text := "All laptops must be encrypted by the IT team with BitLocker. Recovery keys are stored by the IT team."
	for name, want := range map[string]api.Implementation{
		"LICENSE":          api.NotEvidenced,
		"docs/LICENCE.txt": api.NotEvidenced,
		"licences.md":      api.Implemented,
		"NOTICE.txt":       api.Implemented,
	} {
		p := policy(text + " Copyright of the authors.")
		if name == "NOTICE.txt" {
			p = policy(text) // a policy by that name
		}
		p.Filename = name
		if j := judge(t, encryption, p); j.Implementation != want {
			t.Errorf("%s: %s", name, j.Implementation)
		}
		if got := GuessCategory(name, "Security policy", p.Text); (got == "other") != (want == api.NotEvidenced) {
			t.Errorf("%s is of the kind %s", name, got)
		}
	}
}

// An item in a list of prohibitions denies nothing and supports its statement only in part.
func TestProhibitionListIsNoDenial(t *testing.T) {
	c := control("Access to devices", "Access to devices is approved by the owner.")
	holds(t, c, map[string]string{
		"It is prohibited to:\n- allow access to devices that is not approved by the owner\n- lend devices": VerdictPartial,
		"It is not done to:\n- have access to devices approved by the owner":                                VerdictDenied,
	})
}

// Text that is crossed out, unticked or about something discontinued is no support.
func TestCrossedOutUntickedAndDiscontinued(t *testing.T) {
	c := control("Multi-factor authentication", "Multi-factor authentication is required for all remote access.")
	holds(t, c, map[string]string{
		"Multi-factor authentication is required for all remote access.":                                   VerdictCovered,
		"- [x] Multi-factor authentication is required for all remote access.":                             VerdictCovered,
		"- [ ] Multi-factor authentication is required for all remote access.":                             VerdictTemplate,
		"☐ Multi-factor authentication is required for all remote access.":                                 VerdictTemplate,
		"~~Multi-factor authentication is required for all remote access.~~":                               VerdictMissing,
		"~~Tokens are handed out.~~ Multi-factor authentication is required for all remote access.":        VerdictCovered,
		"System: VPN; Purpose: remote access; Owner: IT; Multi-factor authentication: FALSE":               VerdictMissing,
		"System: VPN; Multi-factor authentication required for remote access: yes; Backed up: no":          VerdictCovered,
		"System: VPN; Multi-factor authentication required for remote access: yes; Enabled: n/a":           VerdictCovered,
		"We stopped using multi-factor authentication for remote access.":                                  VerdictDenied,
		"Multi-factor authentication for remote access has been discontinued.":                             VerdictDenied,
		"Multi-factor authentication for all remote access is on hold.":                                    VerdictDenied,
		"Multi-factor authentication is rarely required for all remote access.":                            VerdictPartial,
		"For few users multi-factor authentication is required for all remote access.":                     VerdictPartial,
		"Multi-factor authentication is required for all remote access to a few systems.":                  VerdictPartial,
		"Multi-factor authentication is required for all remote access after a few minutes.":               VerdictCovered,
		"We decided against multi-factor authentication for remote access.":                                VerdictDenied,
		"In practice multi-factor authentication for remote access is often ignored.":                      VerdictDenied,
		"Multi-factor authentication is required for all remote access and alarms are not ignored.":        VerdictCovered,
		"Multi-factor authentication isn´t required for remote access.":                                    VerdictDenied,
		"Multi-factor authentication, MFA, remote access, required, all, tokens, VPN, sign-in, passwords.": VerdictMissing,
		"Use multi-factor authentication for all remote access, VPN, jump hosts, consoles, mail and chat.": VerdictCovered,
	})
}

// A sentence about what would happen states no fact.
func TestHypotheticalIsNoFact(t *testing.T) {
	holds(t, control("Asset management", "Hardware and software are managed from purchase to disposal."), map[string]string{
		"Hardware and software systems: compromise would have no adverse impact on how they are managed.": VerdictMissing,
		"Hardware and software: nobody manages them from purchase to disposal.":                           VerdictDenied,
	})
}

// A negation applies to its own predicate only, not to the clauses joined to it.
func TestScopeOfNegation(t *testing.T) {
	mfa := control("Multi-factor authentication", "Multi-factor authentication is required for remote access.")
	holds(t, mfa, map[string]string{
		"Multi-factor authentication is required for remote access and for privileged accounts and no user is exempt.": VerdictCovered,
		"Multi-factor authentication is required for remote access so that nobody can sign in with a stolen password.": VerdictCovered,
		"Remote access and privileged accounts are not protected by multi-factor authentication.":                      VerdictDenied,
	})
	holds(t, control("Patching", "Critical security patches are installed within one month of release."), map[string]string{
		"IT installs critical security patches within one month of release and unpatched systems " +
			"are isolated.": VerdictCovered,
		"Critical security patches are installed within one month of release and products that have been discontinued are " +
			"replaced.": VerdictCovered,
		"Critical security patches are not installed within one month " +
			"of release.": VerdictDenied,
	})
	holds(t, control("Locking of devices", "Devices lock automatically after 10 minutes."), map[string]string{
		"Devices not used for 10 minutes lock automatically.": VerdictCovered,
		"Devices do not lock automatically after 10 minutes.": VerdictDenied,
	})
	holds(t, control("Host firewall", "A host firewall is enabled on laptops."), map[string]string{
		"The host firewall is not switched on on laptops.": VerdictDenied,
		"The host firewall is switched on on laptops.":     VerdictCovered,
	})
	holds(t, control("Host firewall", "Users cannot turn off the host firewall."), map[string]string{
		"The host firewall is not turned on for users.":  VerdictDenied,
		"Users cannot turn off the host firewall.":       VerdictCovered,
		"The host firewall was turned off by all users.": VerdictDenied,
	})
	holds(t, control("Privacy requests", "Refused requests are explained and the right to complain is stated."), map[string]string{
		"When a privacy request is refused, we explain it and name the authority to which the person may complain.": VerdictCovered,
	})
	holds(t, control("Flaws", "Flaws in software are found and fixed."), map[string]string{
		"We do not tell users of flaws in software.": VerdictMissing,
		"We do not fix flaws in software.":           VerdictDenied,
	})
}

// A bare "no" in a row applies to its column; in a status column it applies to the whole row.
func TestNoInRowAppliesToItsColumn(t *testing.T) {
	holds(t, control("Access reviews", "Access rights are reviewed by owners every quarter."), map[string]string{
		"System: CRM; Access rights reviewed by owner every quarter: yes; Patched: no":        VerdictCovered,
		"System: CRM; Access rights reviewed by owner every quarter: yes; Approved: N. Patel": VerdictCovered,
		"System: CRM; Access rights reviewed by owner every quarter: yes; Result: None":       VerdictCovered,
		"System: CRM; Access rights reviewed by owner every quarter: yes; Privileged: no":     VerdictCovered,
		"Control: Access rights are reviewed by owners every quarter; Implemented (Y/N): N":   VerdictDenied,
		"Control: Access rights are reviewed by owners every quarter; Status: On hold":        VerdictDenied,
		"Control: Access rights are reviewed by owners every quarter; Done: ☐":                VerdictTemplate,
	})
}

// Short words are read in context: "May" as a month, initials, "after" versus "before", "expected to".
func TestAmbiguousShortWords(t *testing.T) {
	holds(t, control("Penetration testing", "Penetration tests are performed every year."), map[string]string{
		"A penetration test is performed every year in May.":                  VerdictCovered,
		"Penetration tests may be performed every year.":                      VerdictPartial,
		"A penetration test by A. Smith and B. Jones is performed each year.": VerdictCovered,
	})
	holds(t, control("Background checks", "Candidates are screened before they receive access."), map[string]string{
		"Candidates are screened before they receive access.": VerdictCovered,
		"Candidates are screened after they receive access.":  VerdictPartial,
	})
	holds(t, control("Support of investigations", "Employees cooperate in risk assessments."), map[string]string{
		"Employees are expected to cooperate in risk assessments.":      VerdictCovered,
		"Cooperation in risk assessments is expected to start in 2027.": VerdictPlanned,
	})
}

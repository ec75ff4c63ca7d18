package judge

import (
	"context"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// likeness is an embedder that returns the same vector for all texts, so it ignores negation.
func likeness(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1}
	}
	return out, nil
}

// A denied sentence supports nothing, however similar its words or meaning.
func TestDenialSupportsNothing(t *testing.T) {
	for _, tc := range []struct{ title, statement, text string }{
		{"Central logging", "Logs are forwarded to a central log server or SIEM.", "Logging: we do not collect logs centrally."},
		{"Central logging", "Logs are forwarded to a central log server or SIEM.", "There is no SIEM."},
		{"Central logging", "Logs are forwarded to a central log server.", "Logs aren't forwarded to a central log server."},
		{"Log review", "Logs are reviewed every week.", "No one reviews logs."},
		{"Log review", "Logs are reviewed every week.", "Nobody reviews the logs."},
		{"Log review", "Logs are reviewed every week.", "We do not collect logs and nobody reviews them each week."},
		{"Log review", "Logs are reviewed every week.", "Log review: none."},
		{
			"Vulnerability scans",
			"Scans run with credentials and with current vulnerability data.",
			"Vulnerability scans: we do not run vulnerability scans.",
		},
		{"Vulnerability scans", "Systems are scanned for vulnerabilities.", "Vulnerability scans of servers, laptops and phones are not run."},
		{"Penetration tests", "Penetration tests are performed at least annually.", "Penetration test: never done."},
		{
			"Penetration testing",
			"Penetration tests are performed at least annually.",
			"3. **Penetration test.** None has ever been performed on the portal.",
		},
		{"Background checks", "Candidates are screened before they start.", "**Do we screen new people?** Not yet."},
		{"Controlled changes", "Changes are approved before they go live.", "Changes still go live without approval at weekends."},
		{"Penetration tests", "Penetration tests are performed at least annually.", "We never perform penetration tests."},
		{"Device encryption", "Phones are encrypted.", "We do not encrypt laptops, tablets, phones."},
		{
			"Security tests",
			"Security testing is performed before release.",
			"Nothing is written: no rules for coding, no security testing before release.",
		},
		{"Backups", "Restores are tested.", "Backups are taken daily, but restores have not been tested."},
	} {
		for _, m := range []*Embedder{nil, {Embed: likeness, Mean: 0.1, Deviation: 0.1}} {
			j, err := Evaluate(
				context.Background(),
				control(tc.title, tc.statement),
				fixed{withScore(policy(tc.text))},
				Options{Today: today, Embedder: m},
			)
			if err != nil {
				t.Fatal(err)
			}
			if v := j.Statements[0]; v.Verdict != VerdictDenied && v.Verdict != VerdictMissing {
				t.Errorf("embedder %v: %q says of %q: %s (%s)", m != nil, tc.text, tc.statement, v.Verdict, v.Reason)
			}
		}
	}
}

// A denial in one clause does not weaken an affirmed clause of the same sentence.
func TestAffirmedClauseBesideDenialCounts(t *testing.T) {
	for _, tc := range []struct{ statement, text string }{
		{"Backups are taken every day.", "Backups are taken daily, but restores have not been tested."},
		{"Laptops are encrypted.", "Devices: laptops are encrypted, phones are not encrypted."},
	} {
		j := judge(t, control("Backups and devices", tc.statement), policy(tc.text))
		if v := j.Statements[0]; v.Verdict != VerdictCovered {
			t.Errorf("%q says of %q: %s (%s)", tc.text, tc.statement, v.Verdict, v.Reason)
		}
	}
}

func TestNothingFoundClaimsNoMore(t *testing.T) {
	if j := judge(t, encryption); !strings.HasPrefix(j.Statements[0].Reason, "No supporting passage was found") ||
		!strings.HasPrefix(j.Reason, "No supporting evidence was found") {
		t.Errorf("%q, %q", j.Statements[0].Reason, j.Reason)
	}
}

// A denial of the whole subject denies every statement about it; a denial of something else does not.
func TestDenialOfSubject(t *testing.T) {
	c := control("Penetration testing", "Penetration tests are performed at least annually and after significant changes.")
	holds(t, c, map[string]string{
		"Penetration test: never done.":                         VerdictDenied,
		"There is no penetration test.":                         VerdictDenied,
		"We have never done penetration tests.":                 VerdictDenied,
		"No penetration test found critical holes in the wiki.": VerdictMissing,
	})
}

// A sentence that describes, instructs or prohibits does not deny a control.
func TestApparentDenialsDenyNoControl(t *testing.T) {
	for _, tc := range []struct{ title, statement, text string }{
		{"Locking of idle accounts", "Idle accounts are disabled.", "Accounts nobody used for 45 days are disabled by a nightly job."},
		{
			"Privacy of calls",
			"Calls about customers are kept private.",
			"Take the laptop with you, use a privacy filter, and don't take calls about customers there.",
		},
		{
			"Restricted rights to production",
			"Rights to production are restricted to authorized roles.",
			"Production access: engineers have none standing.",
		},
		{
			"Network tests",
			"The network is tested at least annually.",
			"In May two certified testers, who have no part in running the platform, performed the yearly test of the external network.",
		},
		{
			"Data processing agreements",
			"A data processing agreement is in place with every processor before data is shared.",
			"No supplier receives personal data before a data processing agreement has been signed.",
		},
		{
			"Encryption in transit",
			"Certificates of the other side are validated before data is sent.",
			"No data is sent and no account is opened before the contract is signed.",
		},
		{
			"Technical enforcement of access",
			"Access is denied by default.",
			"Nobody has access by default: unless it has been granted, a request is refused by the system.",
		},
		{
			"Access reviews",
			"Access rights are reviewed by owners at defined intervals.",
			"Every quarter the owner reviews the access rights and strikes off whoever no longer needs them.",
		},
		{"Key storage", "Keys are stored in a hardware module.", "They never leave the hardware module that stores the keys."},
		{
			"Review of privileged logs",
			"Someone reviews the logs of administrators.",
			"The partner, not our administrators, goes through the administrators' logs every day.",
		},
		{
			"Software installed by users",
			"Installation of software is done by administrators.",
			"Users are not local administrators and can't install programs.",
		},
		{
			"Access to source code",
			"Access to source code is restricted by role.",
			"The rules are in one file: validate every input, use the query builder, no secrets in the source code.",
		},
	} {
		j := judge(t, control(tc.title, tc.statement), policy(tc.text))
		if v := j.Statements[0]; v.Verdict == VerdictDenied || v.Verdict == VerdictConflicting {
			t.Errorf("%q says of %q: %s (%s)", tc.text, tc.statement, v.Verdict, v.Reason)
		}
	}
}

// A rule is no evidence of how exceptions from it are handled.
func TestRuleIsNoEvidenceOfExceptionHandling(t *testing.T) {
	const statement = "Exceptions from multi-factor authentication are documented and approved."
	holds(t, control("Multi-factor authentication", statement), map[string]string{
		"Multi-factor authentication is required for all remote access and is documented.":    VerdictMissing,
		"Exceptions from multi-factor authentication are documented and approved.":            VerdictCovered,
		"MFA is required for remote access, this is documented, and no contractor is exempt.": VerdictMissing,
	})
}

// A plan counts for a control that it names or a statement that it covers; a plan for something else does not.
func TestPlansOfSomethingElse(t *testing.T) {
	for _, tc := range []struct {
		title, statement, text string
		want                   api.Implementation
	}{
		{
			"Web application firewall",
			"Public web applications are protected by a web application firewall.",
			"We will put a web application firewall in front of the public web applications in 2027.",
			api.Planned,
		},
		{
			"Policies and controlled documents",
			"Topic-specific policies exist for the areas that need rules.",
			"AI: write a policy for models, keep a list of them, train people in their limits. Planned for 2027.",
			api.NotEvidenced,
		},
	} {
		if j := judge(t, control(tc.title, tc.statement), policy(tc.text)); j.Implementation != tc.want {
			t.Errorf("%q: %s, want %s: %s", tc.text, j.Implementation, tc.want, j.Reason)
		}
	}
}

// A control title may consist of actions only, whose denial is recognized.
func TestDenialOfAction(t *testing.T) {
	for _, text := range []string{
		"No screening of new employees takes place.",
		"No background checks are done.",
		"- NC-3. No screening of new employees takes place. Owner: Personnel.",
	} {
		j := judge(t, control("Background checks", "Candidates are screened before they start."), policy(text))
		if v := j.Statements[0]; v.Verdict != VerdictDenied {
			t.Errorf("%q: %s (%s)", text, v.Verdict, v.Reason)
		}
	}
}

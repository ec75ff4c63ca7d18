package text

import (
	"strings"
	"testing"
)

func TestMissesTarget(t *testing.T) {
	for text, want := range map[string]bool{
		"Patched after 47 days, against a target of 14.":                                  true,
		"Patched after 11 days, against a target of 14.":                                  false,
		"96 % attended, against a target of 90.":                                          false,
		"System: Second data centre; Target: 8 h; Measured: 31 h; Result: below":          true,
		"System: Second data centre; Target: 8 h; Measured: 6.5 h; Result: fine":          false,
		"Test: generator; Target: 15 s; Measured: 11 s":                                   false,
		"Target: 30 minutes; Time needed: 2 hours":                                        true,
		"The restore took 31 hours; the RTO is 8 hours.":                                  true,
		"The restore took 5 hours; the RTO is 8 hours.":                                   false,
		"Target: 100 % of staff by 30 June. Reached: 57 % (311 of 546).":                  true,
		"Target: 95 % of staff. Reached: 97 %.":                                           false,
		"Phishing test: target at most 5 %, reached 12 %.":                                true,
		"Phishing test: target at most 5 %, reached 3 %.":                                 false,
		"Logs are kept for 400 days; the required retention is 365 days.":                 false,
		"Uptime target 99.5 %, reached 99.9 %.":                                           false,
		"Uptime target 99.5 %, reached 97,2 %.":                                           true,
		"Item: Restore time; Target: 4 h; Measured: 1,040 h":                              true,
		"Item: Restore time; Target: 4 h; Measured: 1e400 h":                              true,
		"Item: Restore time; Target: 1,040 h; Measured: 31 h":                             false,
		"Item: Patches; Target: ≤ 14 days; Measured: > 40 days":                           true,
		"Item: Log retention; Target: ≥ 365 days; Measured: 200 days":                     true,
		"Item: Log retention; Target: ≥ 365 days; Measured: 400 days":                     false,
		"Patches within 14 days: 91 % (target 95)":                                        true,
		"Patches within 14 days: 96 % (target 95)":                                        false,
		"Staff who clicked: 7 % (target 5)":                                               true,
		"The target is 8 hours.":                                                          false,
		"Target 8 h, first test 4 h, second test 9 h.":                                    false, // ambiguous value
		"The limit of 10 working days was kept: tickets were closed after 4 working days": false,
		"The agreed limit is 10 working days; the median was 3 weeks.":                    true,
	} {
		if got := isTargetMissed(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestFindFailedColumns(t *testing.T) {
	for row, want := range map[string]struct {
		columns string
		wrong   bool
	}{
		"System: CRM; Owner: S. Voss; Accounts: 530; Reviewed by due date: No; Outcome: owner did not answer": {"Reviewed by due date", true},
		"System: Billing; Owner: R. Amadi; Accounts: 412; Reviewed by due date: Yes, 28 June; Outcome: none":  {"", false},
		"Month: April; Critical patches due: 61; Installed within 14 days: 23 (38 %); Median days: 33":        {"Installed within 14 days", true},
		"Month: April; Critical patches due: 61; Installed within 14 days: 60 (98 %); Median days: 9":         {"", false},
		"Date: 2026-01-22; Test: restore; Result: Failed; Remark: tape unreadable":                            {"", true},
		"Date: 2026-01-22; Test: restore; Result: Passed; Remark: the first tape failed":                      {"", false},
		"Date: 2026-07-15; Test: restore; Result: Not carried out; Remark: operator on leave":                 {"", true},
		"No.: INC-101; What: Ransomware; Contained after: 53 h; Lessons learned review: none held":            {"Lessons learned review", true},
		"Host: srv-1; Internet-facing: No; Owner: IT":                                                         {"", false},
		"Supplier: Franking; Tier: 3; Security clauses: No; Audit clause: none":                               {"", false}, // an attribute
		"System: Scales; Information: Internal; Encrypted at rest: No; Backed up: No":                         {"", false},
		"Incident: phishing; Is incident: no; Notified: none":                                                 {"", false},
		"Person: T. Oyelaran; Left: 2026-03-31; Laptop returned: no":                                          {"Laptop returned", true},
	} {
		if columns, wrong := findFailedColumns(row); strings.Join(columns, ", ") != want.columns || wrong != want.wrong {
			t.Errorf("%q: %q, %v", row, columns, wrong)
		}
	}
}

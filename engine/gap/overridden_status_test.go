package gap

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// A status set by a user as not in place counts as entirely missing, and the finding names the user.
func TestFindingOfOverriddenStatus(t *testing.T) {
	weight, name := 8, "Ann"
	c := api.Control{Code: "VPM-07", Title: "Penetration testing", DomainCode: "VPM", Weight: &weight}
	for _, test := range []struct {
		status  api.Implementation
		percent string
	}{
		{api.NotImplemented, "100% missing"},
		{api.NotEvidenced, "100% missing"},
		{api.Planned, "100% missing"},
		{api.PartiallyImplemented, "30% missing"},
		{api.Implemented, "30% missing"},
	} {
		item := api.SoAItem{
			Applicability:        api.Applicable,
			ImplementationStatus: test.status,
			EvidenceCoverage:     api.CoveragePartial,
			CoverageRatio:        0.7,
			Reason:               judge.StatusSetByReason(name),
		}
		item.ControlCode, item.EditedBy, item.EditedFields = c.Code, &[]string{"Ben"}[0], []string{"implementation_status"}
		f, falls := DraftFinding(c, item, nil, nil)
		if !falls || f.StatusSetBy != name || !strings.Contains(f.SeverityReason, test.percent) {
			t.Errorf("%s: falls %t, set by %q, severity %s", test.status, falls, f.StatusSetBy, f.SeverityReason)
		}
		if told := strings.Contains(f.Cause, name); told != (test.status != api.Implemented) {
			t.Errorf("%s: cause %s", test.status, f.Cause)
		}
		item.EditedFields = nil
		if f, _ := DraftFinding(c, item, nil, nil); f.StatusSetBy != "" || !strings.Contains(f.SeverityReason, "30% missing") ||
			strings.Contains(f.Cause, name) {
			t.Errorf("%s by the rules: set by %q, %s %s", test.status, f.StatusSetBy, f.SeverityReason, f.Cause)
		}
	}
	item := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: api.NotAssessed}
	if _, falls := DraftFinding(c, item, nil, nil); falls || judge.IsAssessed(&item) {
		t.Error("a line that nobody judged is a gap, or counts as assessed")
	}
}

// A finding whose status a user set to differ from its line names the user; one that agrees with the line keeps
// its reasons.
func TestApplyStatusOverride(t *testing.T) {
	weight := 8
	c := api.Control{Code: "END-04", Title: "Malware", DomainCode: "END", Weight: &weight}
	item := api.SoAItem{
		Applicability: api.Applicable, ImplementationStatus: api.NotImplemented, Reason: "The documents state that this is not done.",
		MissingElements: []string{"Users cannot disable it (the documents state the opposite)"},
	}
	f, _ := DraftFinding(c, item, nil, nil)
	drafted := f
	f.Status = api.PartiallyImplemented
	RewriteForStatusOverride(&f, item, "Ann")
	if f.Condition != "This status was set by a person: partially implemented." || ParseOverridingUser(f.Cause) != "Ann" ||
		f.MissingElements[0] != "Users cannot disable it" {
		t.Errorf("condition %q, cause %q, missing %q", f.Condition, f.Cause, f.MissingElements)
	}
	if f.SeverityPoints >= drafted.SeverityPoints || !strings.Contains(f.SeverityReason, "for partially implemented") {
		t.Errorf("drafted with %v points, now %v: %s", drafted.SeverityPoints, f.SeverityPoints, f.SeverityReason)
	}
	f.Status = api.NotImplemented
	RewriteForStatusOverride(&f, item, "Ann")
	if f.Condition != drafted.Condition || f.Cause != drafted.Cause || f.MissingElements[0] != drafted.MissingElements[0] ||
		ParseOverridingUser(f.Cause) != "" {
		t.Errorf("set back: condition %q, cause %q, missing %q", f.Condition, f.Cause, f.MissingElements)
	}
	if f.Severity != drafted.Severity || f.SeverityReason != drafted.SeverityReason {
		t.Errorf("set back: %s, %s", f.Severity, f.SeverityReason)
	}
	f.Status, f.Condition, f.Severity, f.EditedFields = api.Planned, "As told on the phone.", api.SeverityLow, []string{
		"condition",
		"severity",
	}
	if RewriteForStatusOverride(&f, item, "Ann"); f.Severity != api.SeverityLow || f.Condition != "As told on the phone." ||
		ParseOverridingUser(f.Cause) != "Ann" {
		t.Errorf("edited: condition %q, cause %q", f.Condition, f.Cause)
	}
}

package analyst

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/api"
)

// What a person says is not there is missing whole, whatever was read of it, and the finding tells
// whose word it is.
func TestFindingByAPerson(t *testing.T) {
	weight, name := 8, "Ann"
	c := api.Control{Code: "VPM-07", Title: "Penetration testing", DomainCode: "VPM", Weight: &weight}
	for _, test := range []struct {
		status  api.Implementation
		percent string
	}{{api.NotImplemented, "100 % missing"}, {api.NotEvidenced, "100 % missing"}, {api.Planned, "100 % missing"}, {api.PartiallyImplemented, "30 % missing"}, {api.Implemented, "30 % missing"}} {
		item := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: test.status, EvidenceCoverage: api.CoveragePartial, CoverageRatio: 0.7, Reason: ByPerson(name)}
		item.ControlCode, item.EditedBy, item.EditedFields = c.Code, &[]string{"Ben"}[0], []string{"implementation_status"}
		f, falls := Finding(c, item, nil)
		if !falls || f.StatusSetBy != name || !strings.Contains(f.SeverityReason, test.percent) {
			t.Errorf("%s: falls %t, set by %q, severity %s", test.status, falls, f.StatusSetBy, f.SeverityReason)
		}
		if told := strings.Contains(f.Cause, name); told != (test.status != api.Implemented) {
			t.Errorf("%s: cause %s", test.status, f.Cause)
		}
		item.EditedFields = nil
		if f, _ := Finding(c, item, nil); f.StatusSetBy != "" || !strings.Contains(f.SeverityReason, "30 % missing") || strings.Contains(f.Cause, name) {
			t.Errorf("%s by the rules: set by %q, %s %s", test.status, f.StatusSetBy, f.SeverityReason, f.Cause)
		}
	}
	item := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: api.NotAssessed}
	if _, falls := Finding(c, item, nil); falls || Assessed(&item) {
		t.Error("a line that nobody judged is a gap, or counts as assessed")
	}
}

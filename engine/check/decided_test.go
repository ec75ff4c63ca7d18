package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestCorrectionsAreNoRegressions checks that gaps about which a user made a decision on one side only are listed
// separately and don't fail a check.
func TestCorrectionsAreNoRegressions(t *testing.T) {
	before := NewBaseline(&Facts{Controls: []Control{{Code: "BCD-11", Decided: true}, {Code: "IAC-06"}}})
	after := NewBaseline(&Facts{Findings: []Finding{
		{Control: "BCD-11", Severity: api.SeverityHigh, Status: api.NotImplemented},
		{Control: "GOV-01", Severity: api.SeverityCritical, Status: api.NotImplemented, Decided: true},
	}})
	d, err := CompareBaselines(before, after, "2026", "2027")
	if err != nil || d.Opened != 0 || len(d.Decided) != 2 || d.Same != 0 || d.HasRegressions(api.SeverityLow) {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, format := range DiffFormats {
		text, err := d.Render(format)
		if err != nil || !strings.Contains(string(text), "BCD-11") {
			t.Errorf("%s: %s, %v", format, text, err)
		}
	}
	after.Gaps = append(after.Gaps, KnownGap{Control: "IAC-06", Severity: api.SeverityHigh})
	if d, err = CompareBaselines(before, after, "2026", "2027"); err != nil || d.Opened != 1 || !d.HasRegressions(api.SeverityHigh) {
		t.Errorf("%+v, %v", d, err)
	}
	if !slices.Equal(after.Decided, []string{"GOV-01"}) {
		t.Errorf("%v", after.Decided)
	}
}

package plan

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestCompliance(t *testing.T) {
	items := []api.SoAItem{
		soaItem(api.Implemented, 1), soaItem(api.PartiallyImplemented, 0.5), soaItem(api.NotEvidenced, 0),
		soaItem(api.NotAssessed, 0),
		{Applicability: api.NotApplicable, ImplementationStatus: api.NotImplemented},
	}
	if pct, formula := CompliancePercent(items); pct == nil || *pct != 50 || !strings.Contains(formula, "1 implemented + ½ × 1") {
		t.Errorf("%v %q", pct, formula)
	}
	if pct, formula := CompliancePercent(nil); pct != nil || formula == "" {
		t.Errorf("%v %q", pct, formula)
	}
}

func TestConformity(t *testing.T) {
	many := func(good, bad int) []api.SoAItem {
		var items []api.SoAItem
		for range good {
			items = append(items, soaItem(api.Implemented, 1))
		}
		for range bad {
			it := soaItem(api.PartiallyImplemented, 0.9)
			it.ControlCode = "BAD-01"
			items = append(items, it)
		}
		return items
	}
	for _, tc := range []struct {
		good, bad, weight int
		want              string
	}{
		{10, 0, 9, StrictlyConforms},
		{8, 2, 9, Conforms},
		{79, 21, 9, SignificantDeficiency},
		{7, 3, 9, SignificantDeficiency},
		{69, 31, 9, MaterialWeakness},
		{99, 1, 10, MaterialWeakness},
		{0, 0, 9, ""},
	} {
		weight := func(code string) int {
			if code == "BAD-01" {
				return tc.weight
			}
			return 10
		}
		if r := RateConformity(many(tc.good, tc.bad), weight); r.Level != tc.want || r.Formula == "" {
			t.Errorf("%+v: %+v", tc, r)
		}
	}
}

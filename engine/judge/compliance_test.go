package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestCompliance(t *testing.T) {
	items := []api.SoAItem{
		applicableItem(api.Implemented), applicableItem(api.PartiallyImplemented), applicableItem(api.NotEvidenced),
		applicableItem(api.NotAssessed),
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
			items = append(items, applicableItem(api.Implemented))
		}
		for range bad {
			it := applicableItem(api.PartiallyImplemented)
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

func applicableItem(status api.Implementation) api.SoAItem {
	return api.SoAItem{Applicability: api.Applicable, ImplementationStatus: status}
}

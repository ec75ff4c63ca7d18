package gap

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestSeverity(t *testing.T) {
	for _, tc := range []struct {
		weight       int
		missing      float64
		requirements int
		status       api.Implementation
		want         api.Severity
	}{
		{10, 1, 0, api.NotImplemented, api.SeverityCritical},
		{10, 1, 0, api.NotEvidenced, api.SeverityHigh},
		{10, 0.2, 0, api.PartiallyImplemented, api.SeverityMedium},
		{10, 0.5, 0, api.PartiallyImplemented, api.SeverityHigh},
		{8, 1, 0, api.NotEvidenced, api.SeverityMedium},
		{5, 1, 0, api.NotImplemented, api.SeverityMedium},
		{3, 1, 0, api.NotEvidenced, api.SeverityLow},
		{0, 1, 0, api.NotImplemented, api.SeverityInformational},
		{10, 1, 50, api.NotAssessed, api.SeverityInformational},
	} {
		got, _, why := RateSeverity(tc.weight, tc.missing, tc.requirements, tc.status)
		if got != tc.want {
			t.Errorf("%+v: %s (%s)", tc, got, why)
		}
	}
	if _, _, why := RateSeverity(9, 0.25, 3, api.PartiallyImplemented); !strings.Contains(
		why,
		"weight 9 × (0.4 + 0.6 × 25% missing) × 0.80 for partially implemented + 0.3 for 3 requirements = 4.26",
	) {
		t.Errorf("formula %q", why)
	}
	// The points can be recomputed from the printed factors.
	for parts := 1; parts <= 12; parts++ {
		for missing := range parts + 1 {
			for weight := range 11 {
				for status, factor := range statusFactors {
					_, points, why := RateSeverity(weight, float64(missing)/float64(parts), 3, status)
					_, after, _ := strings.Cut(why, "0.6 × ")
					share, _, _ := strings.Cut(after, "% missing")
					pct, err := strconv.ParseFloat(share, 64)
					if again := float64(weight)*(0.4+0.6*pct/100)*factor + 0.3; err != nil || math.Abs(again-points) > 0.0055 {
						t.Fatalf("%d/%d missing: %.4f, stated %.2f (%s, %v)", missing, parts, again, points, why, err)
					}
				}
			}
		}
	}
	// More weight, more missing or more requirements never lowers the severity.
	for w := range 10 {
		for m := range 10 {
			for status := range statusFactors {
				here, _, _ := RateSeverity(w, float64(m)/10, m, status)
				for _, s := range []struct {
					w int
					m float64
					r int
				}{{w + 1, float64(m) / 10, m}, {w, float64(m+1) / 10, m}, {w, float64(m) / 10, m + 1}} {
					if worse, _, _ := RateSeverity(s.w, s.m, s.r, status); worse.Rank() > here.Rank() {
						t.Fatalf("%d %d %s: %s became %s", w, m, status, here, worse)
					}
				}
			}
		}
	}
}

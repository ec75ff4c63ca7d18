package gap

import (
	"fmt"
	"math"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// statusFactors holds the weight of each status in a severity rating. A control without evidence may still be in
// place, so its weight is lower than that of a control known to be missing.
var statusFactors = map[api.Implementation]float64{
	api.NotImplemented: 1, api.Planned: 0.9, api.NotEvidenced: 0.85, api.PartiallyImplemented: 0.8, api.Implemented: 0.4,
}

// Minimum points for each severity.
const (
	minCriticalPoints = 9.0
	minHighPoints     = 7.0
	minMediumPoints   = 4.5
	minLowPoints      = 2.0
)

// RateSeverity rates a gap:
//
//	points = weight × (0.4 + 0.6 × share missing) × status factor + ¹⁄₁₀ for each requirement, 1 at most
//
// A material control (weight 10) is at least medium, and at least high if half of it or more is
// missing. The points are rounded to hundredths; the last result explains the rating with all
// numbers.
func RateSeverity(
	weight int, missingShare float64, requirements int, status api.Implementation,
) (rating api.Severity, pointSum float64, explanation string) {
	weight = min(10, max(0, weight))
	if math.IsNaN(missingShare) {
		missingShare = 1
	}
	missingShare = min(1, max(0, missingShare))
	factor, ok := statusFactors[status]
	if !ok {
		return api.SeverityInformational, 0, fmt.Sprintf("A control with the status %q has no gap.", status)
	}
	extra := min(1, float64(max(0, requirements))/10)
	points := float64(weight)*(0.4+0.6*missingShare)*factor + extra
	severity := api.SeverityInformational
	for _, step := range []struct {
		from float64
		is   api.Severity
	}{
		{minLowPoints, api.SeverityLow},
		{minMediumPoints, api.SeverityMedium},
		{minHighPoints, api.SeverityHigh},
		{minCriticalPoints, api.SeverityCritical},
	} {
		if points >= step.from-1e-9 {
			severity = step.is
		}
	}
	reason := fmt.Sprintf(
		"weight %d × (0.4 + 0.6 × %s%% missing) × %.2f for %s + %.1f for %s = %.2f; critical from %.0f, high from %.0f, "+
			"medium from %.1f, low from %.0f",
		weight,
		formatShare(missingShare),
		factor,
		prose.Humanize(status),
		extra,
		prose.Count(max(0, requirements), "requirement", "requirements"),
		points,
		minCriticalPoints,
		minHighPoints,
		minMediumPoints,
		minLowPoints,
	)
	if weight == 10 && status != api.Implemented {
		floor := api.SeverityMedium
		if missingShare >= 0.5 {
			floor = api.SeverityHigh
		}
		if severity.Rank() > floor.Rank() {
			severity = floor
			reason += fmt.Sprintf("; raised to %s because the control is material (weight 10)", floor)
		}
	}
	return severity, math.Round(points*100) / 100, reason + "."
}

// formatShare returns a share as a percentage without its sign, exact enough for readers to recompute the points from it.
func formatShare(share float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", 100*share), "0"), ".")
}

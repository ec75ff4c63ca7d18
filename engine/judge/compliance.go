package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// IsAssessed reports whether a control applies and has been judged, either by the rules or by a user.
func IsAssessed(item *api.SoAItem) bool {
	return item.Applicability.IsApplicable() && item.ImplementationStatus != api.NotAssessed && item.ImplementationStatus != ""
}

// CompliancePercent returns the percentage of applicable and assessed items that are implemented, counting
// partly implemented ones as half, and the formula used. The percentage is nil if there are no such items. Items
// without evidence count as assessed.
func CompliancePercent(items []api.SoAItem) (pct *float64, formula string) {
	var all, full, half int
	for _, it := range items {
		if !IsAssessed(&it) {
			continue
		}
		all++
		switch it.ImplementationStatus {
		case api.Implemented:
			full++
		case api.PartiallyImplemented:
			half++
		}
	}
	return CompliancePercentOf(all, full, half)
}

// CompliancePercentOf is like CompliancePercent, but is given the number of assessed items (all),
// implemented items (full) and partly implemented items (half).
func CompliancePercentOf(all, full, half int) (pct *float64, formula string) {
	if all == 0 {
		return nil, "No control is both applicable and assessed, so no percentage can be calculated."
	}
	v := math.Round((float64(full)+float64(half)/2)/float64(all)*1e4) / 100
	return &v, fmt.Sprintf("(%d implemented + ½ × %d partially implemented) ÷ %d applicable and assessed = %.2f%%", full, half, all, v)
}

// Conformity levels.
const (
	StrictlyConforms      = "strictly_conforms"
	Conforms              = "conforms"
	SignificantDeficiency = "significant_deficiency"
	MaterialWeakness      = "material_weakness"
)

// ConformityResult is the level of conformity according to the SCF's thresholds. Only implemented controls are
// satisfactory; partly implemented ones are deficient.
type ConformityResult struct {
	Level             string   // empty if nothing was assessed
	Percent           *float64 // satisfactory over assessed, 0 to 100
	DeficientMaterial []string // codes of material controls that are deficient
	Formula           string
}

// RateConformity rates items by the SCF's thresholds. If all are satisfactory, the result is strict
// conformity. If no material control is deficient, the result is conformity at 80% or more, and a
// significant deficiency at 70% or more. Otherwise, it is a material weakness. weight returns the
// weight of a control by its code; controls of weight 10 are material.
func RateConformity(items []api.SoAItem, weight func(code string) int) ConformityResult {
	var r ConformityResult
	all, good := 0, 0
	for _, it := range items {
		if !IsAssessed(&it) {
			continue
		}
		all++
		if it.ImplementationStatus == api.Implemented {
			good++
		} else if weight(it.ControlCode) == 10 {
			r.DeficientMaterial = append(r.DeficientMaterial, it.ControlCode)
		}
	}
	slices.Sort(r.DeficientMaterial)
	if all == 0 {
		r.Formula = "No control is both applicable and assessed, so conformity can't be calculated."
		return r
	}
	v := float64(good) / float64(all) * 100
	switch {
	case good == all:
		r.Level = StrictlyConforms
	case len(r.DeficientMaterial) > 0 || good*10 < all*7:
		r.Level = MaterialWeakness
	case good*10 < all*8:
		r.Level = SignificantDeficiency
	default:
		r.Level = Conforms
	}
	r.Formula = fmt.Sprintf(
		"%d satisfactory ÷ %d applicable and assessed = %.2f%%; %s deficient (weight 10). 100%% is “strictly conforms”, at least "+
			"80%% is “conforms”, at least 70%% is “significant deficiency”. Anything lower, or any deficient material control, is “material weakness”.",
		good,
		all,
		v,
		prose.Count(len(r.DeficientMaterial), "material control", "material controls"),
	)
	v = math.Round(v*100) / 100
	r.Percent = &v
	return r
}

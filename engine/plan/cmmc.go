package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// requirementCounts holds the number of NIST SP 800-171 (revision 2) requirements in each family,
// 3.1 to 3.14.
var requirementCounts = [...]int{22, 3, 9, 9, 11, 3, 6, 9, 2, 6, 3, 4, 16, 7}

// requirementCodePattern matches a requirement code of NIST SP 800-171 ("3.1.1"), of its objectives
// ("3.1.1[a]") or of CMMC level 2 ("AC.L2-3.1.1").
var requirementCodePattern = lazyregexp.New(`^(?:[A-Z]{2}\.?L2\.?-)?3\.(\d{1,2})\.(\d{1,2})(?:\[[a-z]+\])?$`)

// parseCMMCLevel2Requirement returns the CMMC level 2 requirement for a code of a framework, or "" if there is
// none. Revision 3 of NIST SP 800-171 is excluded because its numbering differs, and CMMC level 1 because it
// doesn't allow plans of action.
func parseCMMCLevel2Requirement(framework, code string) string {
	level2 := strings.Contains(framework, "cmmc") && strings.Contains(framework, "level-2")
	if !level2 && (!strings.HasPrefix(framework, "nist-800-171") || strings.HasSuffix(framework, "-r3")) {
		return ""
	}
	m := requirementCodePattern.FindStringSubmatch(code)
	if m == nil {
		return ""
	}
	family, _ := strconv.Atoi(m[1])
	n, _ := strconv.Atoi(m[2])
	if family < 1 || family > len(requirementCounts) || n < 1 || n > requirementCounts[family-1] {
		return ""
	}
	return fmt.Sprintf("3.%d.%d", family, n)
}

// Requirements by the points deducted if they are not met; all others cost 1. The system security plan (3.12.4) has no
// points, because an assessment is impossible without it.
var (
	fivePointRequirements = requirementSet(
		`3.1.1 3.1.2 3.1.12 3.1.13 3.1.16 3.1.17 3.1.18 3.2.1 3.2.2 3.3.1 3.3.5 3.4.1 3.4.2 3.4.5 3.4.6 3.4.7 3.4.8
		3.5.1 3.5.2 3.5.3 3.5.10 3.6.1 3.6.2 3.7.2 3.7.5 3.8.3 3.8.7 3.9.2 3.10.1 3.10.2 3.11.2 3.12.1 3.12.3
		3.13.1 3.13.2 3.13.5 3.13.6 3.13.11 3.13.15 3.14.1 3.14.2 3.14.3 3.14.4 3.14.6`,
	)
	threePointRequirements = requirementSet(`3.1.5 3.1.19 3.3.2 3.7.1 3.7.4 3.8.1 3.8.2 3.8.8 3.9.1 3.11.1 3.12.2 3.13.8 3.14.5 3.14.7`)
	// neverDeferrable lists the requirements that must not be deferred to a plan of action,
	// whatever their points (32 CFR 170.21(a)(2)(iii)).
	neverDeferrable = requirementSet(`3.1.20 3.1.22 3.10.3 3.10.4 3.10.5 3.12.4`)
)

const (
	cmmcRequirementCount     = 110
	minCMMCScore             = 0.8 // share of all points
	cmmcCloseDays            = 180 // days in which to close the plan of action
	securityPlanRequirement  = "3.12.4"
	cuiEncryptionRequirement = "3.13.11"
)

func requirementSet(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// CMMCRequirementCost returns the points deducted if a requirement of NIST SP 800-171 isn't met. The encryption of CUI
// costs 5 points, or 3 if partlyMet is set, which means that data is encrypted, but not with a validated module.
func CMMCRequirementCost(requirement string, partlyMet bool) int {
	switch {
	case requirement == securityPlanRequirement:
		return 0
	case requirement == cuiEncryptionRequirement && partlyMet:
		return 3
	case fivePointRequirements[requirement]:
		return 5
	case threePointRequirements[requirement]:
		return 3
	}
	return 1
}

// CheckCMMCEligibility checks whether a plan of action allows a conditional CMMC level 2 status (32
// CFR 170.21). At least 80% of the points must be achieved. A deferred requirement may not be worth
// more than one point, except for CUI encryption at three points, and must not be one of those
// excluded by name. Every deferred requirement must be on the plan and due within 180 days.
//
// A requirement is met if every applicable control for it is implemented, or if none of its
// controls is applicable. Requirements without a control, or only with controls out of scope, don't
// count as met. CheckCMMCEligibility returns nil if no item has a requirement of NIST SP 800-171
// revision 2 or CMMC level 2.
func CheckCMMCEligibility(items []api.SoAItem, plan []api.POAMItem, today api.Date) *api.CMMCEligibility {
	statuses := map[string]*requirementStatus{}
	for n := range items {
		for framework, codes := range items[n].RequirementCodes {
			for _, code := range codes {
				if code := parseCMMCLevel2Requirement(framework, code); code != "" {
					if statuses[code] == nil {
						statuses[code] = &requirementStatus{}
					}
					statuses[code].add(&items[n])
				}
			}
		}
	}
	if len(statuses) == 0 {
		return nil
	}
	e := &api.CMMCEligibility{
		Points:          cmmcRequirementCount,
		MaxPoints:       cmmcRequirementCount,
		CloseWithinDays: cmmcCloseDays,
		NotMet:          []string{},
		NotAssessed:     []string{},
		Blocking:        []string{},
	}
	waits := map[string]bool{} // unmet requirements that may be deferred
	for family, n := range requirementCounts {
		for i := range n {
			code := fmt.Sprintf("3.%d.%d", family+1, i+1)
			st := statuses[code]
			switch {
			case st == nil || !st.applies && (st.excluded || code == securityPlanRequirement):
				e.NotAssessed = append(e.NotAssessed, code)
				continue
			case len(st.unmetControls) == 0:
				continue
			}
			cost := CMMCRequirementCost(code, st.partlyMet)
			e.Points -= cost
			e.NotMet = append(e.NotMet, code)
			switch {
			case code == securityPlanRequirement:
				e.Blocking = append(e.Blocking, code+": the assessment requires a system security plan")
			case neverDeferrable[code]:
				e.Blocking = append(e.Blocking, code+": this requirement can't be deferred to a plan of action")
			case cost > 1 && (code != cuiEncryptionRequirement || cost != 3): // the only exception above one point
				e.Blocking = append(e.Blocking,
					fmt.Sprintf("%s: this requirement is worth %d points; only one-point requirements can be deferred", code, cost))
			default:
				waits[code] = true
				e.Blocking = append(e.Blocking, unplannedReasons(code, st.unmetControls, plan)...)
			}
		}
	}
	if n := len(e.NotAssessed); n > 0 {
		e.Blocking = append(
			e.Blocking,
			fmt.Sprintf(
				"%d of %d requirements have no control in the scope of this assessment and must be assessed first: %s",
				n,
				cmmcRequirementCount,
				text.JoinSome(e.NotAssessed),
			),
		)
	}
	e.Score = float64(int(float64(e.Points)/float64(e.MaxPoints)*1000+0.5)) / 1000
	if e.Points < 0 {
		e.Score = 0
	}
	if e.Score < minCMMCScore {
		e.Blocking = append(
			e.Blocking,
			fmt.Sprintf("the score is %d of %d points; a plan of action requires at least %.0f%%", e.Points, e.MaxPoints, minCMMCScore*100),
		)
	}
	if t, err := today.Time(); err == nil {
		last := api.DateOf(t.AddDate(0, 0, cmmcCloseDays))
		for n := range plan {
			if p := &plan[n]; p.CurrentDueDate() > last && p.IsOpen() && hasRequirement(p.RequirementCodes, waits) {
				e.Blocking = append(
					e.Blocking,
					fmt.Sprintf("%s: the due date %s is more than %d days from today", p.POAMCode, p.CurrentDueDate(), cmmcCloseDays),
				)
			}
		}
	}
	e.Eligible = len(e.Blocking) == 0
	e.Formula = fmt.Sprintf(
		"%d − points of %s not met = %d; %d ÷ %d = %.1f%%",
		e.MaxPoints,
		prose.Count(len(e.NotMet), "requirement", "requirements"),
		e.Points,
		e.Points,
		e.MaxPoints,
		100*float64(e.Points)/float64(e.MaxPoints),
	)
	if e.Points < 0 {
		e.Formula += ", which counts as 0"
	}
	return e
}

// requirementStatus summarizes the status of the controls for a requirement.
type requirementStatus struct {
	applies       bool     // at least one control applies
	excluded      bool     // at least one control is excluded without being marked as not applicable, so it may still be needed
	partlyMet     bool     // an applicable control is at least partly implemented
	unmetControls []string // applicable controls that aren't implemented
}

func (st *requirementStatus) add(it *api.SoAItem) {
	if !it.Applicability.IsApplicable() {
		st.excluded = st.excluded || it.Applicability != api.NotApplicable
		return
	}
	st.applies = true
	st.partlyMet = st.partlyMet || it.ImplementationStatus == api.Implemented || it.ImplementationStatus == api.PartiallyImplemented
	if it.ImplementationStatus != api.Implemented {
		st.unmetControls = append(st.unmetControls, it.ControlCode)
	}
}

// unplannedReasons returns the reasons why no open plan item closes the unmet controls of a requirement.
func unplannedReasons(requirement string, controls []string, plan []api.POAMItem) (out []string) {
	for _, control := range controls {
		planned, why := false, ""
		for n := range plan {
			if p := &plan[n]; ClosesControl(p, control) {
				planned = planned || p.IsOpen()
				why = fmt.Sprintf("; %s is %s", p.POAMCode, prose.Humanize(p.Status))
			}
		}
		if !planned {
			out = append(out, fmt.Sprintf("%s: %s is not implemented, and no open plan item closes it%s", requirement, control, why))
		}
	}
	return out
}

func hasRequirement(codes api.RequirementCodes, requirements map[string]bool) bool {
	for framework, list := range codes {
		if slices.ContainsFunc(list, func(c string) bool { return requirements[parseCMMCLevel2Requirement(framework, c)] }) {
			return true
		}
	}
	return false
}

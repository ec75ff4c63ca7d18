// Package maturity rates the maturity of controls from 0 to 5, based on the lines of a Statement of Applicability.
package maturity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/lazyregexp"
)

// genericLevelCriteria describes each maturity level for controls without criteria in the catalog.
var genericLevelCriteria = [6]string{
	"The practice is not performed, and there is no evidence of due care.",
	"The practice is performed ad hoc by individuals, without a consistent approach.",
	"The practice is required and followed in some areas, but not consistently.",
	"One documented approach applies to everything in scope; it is followed, and deviations are recorded with reasons.",
	"Level 3 is met, and management reviews metrics of the practice and acts on them.",
	"Levels 3 and 4 are met, and the practice is continuously improved through lessons learned, prediction and automation.",
}

var (
	noCriteriaPattern = lazyregexp.NewPrefiltered(
		`(?i)criteria definitions are not available|^utilize .* criteria definitions|no defined level \d criteria`,
	)
	metricPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:metrics?|kpis?|kris?|measured|measurements?|dashboards?|percentage|mean time|average|trend|scorecard|target value|threshold|statistics|service level (?:reports?|targets?|figures?|achievement))\b`,
	)
	percentPattern   = lazyregexp.New(`\d ?%`)
	oversightPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:management|board|committee|executive|leadership|ciso|director|reported|reviewed|review)\b`,
	)
	improvementPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:continual(?:ly)? improv\w*|continuous(?:ly)? improv\w*|lessons learned|root cause|automat(?:ed|ically|ion)|predictive|optimi[sz]\w+|benchmark(?:ed|ing))\b`,
	)
)

// Rate rates the maturity of a control from 0 to 5. Levels are cumulative: level 4 requires everything in level 3
// plus metrics that management reviews, and level 5 requires everything in level 4 plus continuous improvement.
// Controls without evidence aren't rated: Assessed is false and the level is 0.
func Rate(c api.Control, item api.SoAItem, target int) api.MaturityScore {
	m := api.MaturityScore{
		Item:        judge.NewItem(c, item.RequirementCodes),
		TargetLevel: min(5, max(0, target)),
		Weight:      judge.ControlWeight(c),
		Evidence:    []api.Evidence{},
		Confidence:  item.Confidence,
		Assessed:    true,
	}
	if !judge.IsAssessed(&item) {
		m.Assessed = false
		m.Rationale = "Not rated, because the control was not assessed."
		SetCurrentAndNextCriteria(&m, c)
		return m
	}
	switch item.ImplementationStatus {
	case api.NotEvidenced:
		m.Assessed = false
		m.Confidence = 0
		found := "no evidence was found"
		if len(item.Evidence) > 0 {
			found = "too little evidence was found"
		}
		m.Rationale = "Not rated: " + found + ". The practice itself may be in place, so the control is not counted as level 0."
	case api.NotImplemented:
		m.Rationale = "Level 0: the evidence states that the control is not implemented."
		if who := judge.UserWhoSetStatus(item); who != "" {
			m.Rationale = "Level 0: " + who + " stated that the control is not implemented."
		}
	case api.Planned:
		m.Rationale = "Level 0: the control is planned but not yet performed."
	case api.PartiallyImplemented:
		m.Level = 1
		m.Rationale = fmt.Sprintf(
			"Level 1: %.0f%% of the requirements are evidenced, without a consistent approach.",
			item.CoverageRatio*100,
		)
		if item.CoverageRatio >= 0.5 {
			m.Level = 2
			m.Rationale = fmt.Sprintf(
				"Level 2: %.0f%% of the requirements are evidenced; level 3 requires consistent application. %s",
				item.CoverageRatio*100,
				item.Reason,
			)
		}
	case api.Implemented:
		m.Level, m.Rationale = rateImplementedMaturity(item)
	}
	if who := judge.UserWhoSetStatus(item); who != "" {
		m.Confidence = 0 // the status wasn't derived from evidence
		if item.ImplementationStatus != api.NotImplemented {
			m.Rationale += " The status was set by " + who + "."
		}
	}
	if m.Assessed {
		m.Evidence = append(m.Evidence, item.Evidence...)
		if m.Level >= 4 {
			m.Confidence = judge.RoundToThousandths(m.Confidence * 0.9) // based on mentions of metrics, not on the metrics themselves
		}
	}
	SetCurrentAndNextCriteria(&m, c)
	return m
}

// mentionsMetrics reports whether a quote mentions metrics.
func mentionsMetrics(quote string) bool {
	return metricPattern.MatchString(quote) || strings.Contains(quote, "%") && percentPattern.MatchString(quote)
}

func rateImplementedMaturity(item api.SoAItem) (level int, rationale string) {
	if item.EvidenceCoverage != api.CoverageStrong {
		return 2, fmt.Sprintf(
			"Level 2: the control is implemented, but the evidence is %s; level 3 requires evidence for the whole control.",
			item.EvidenceCoverage,
		)
	}
	var figures, better bool
	for _, e := range item.Evidence {
		if e.Stance != "supports" && e.Stance != "limits" {
			continue
		}
		figures = figures || mentionsMetrics(e.Quote) && oversightPattern.MatchString(e.Quote)
		better = better || improvementPattern.MatchString(e.Quote)
	}
	holds := "the practice is documented, and records show that it is followed"
	if !item.InOperation {
		holds = "the practice is documented, but no record shows that it is followed; request one"
	}
	switch {
	case figures && better:
		return 5, "Level 5: " + holds + ". Management reviews metrics, and lessons learned are used to improve the practice."
	case figures:
		return 4, "Level 4: " + holds + ". The evidence mentions metrics that management reviews. For level 5, nothing shows " +
			"continuous improvement."
	}
	return 3, "Level 3: " + holds + ". Level 4 requires metrics reviewed by management, but none were found."
}

// SetCurrentAndNextCriteria sets the criteria for the current level of a score and for the next one.
func SetCurrentAndNextCriteria(m *api.MaturityScore, c api.Control) {
	m.Criteria = levelCriteria(c, m.Level)
	m.NextCriteria = levelCriteria(c, m.Level+1)
}

// levelCriteria returns the catalog's criteria for a maturity level, or generic criteria if it has none.
func levelCriteria(c api.Control, level int) string {
	if level > 5 {
		return ""
	}
	text := strings.TrimSpace(c.Maturity[strconv.Itoa(level)])
	if text == "" || len(text) < 400 && LacksCriteria(text) {
		return genericLevelCriteria[level]
	}
	return text
}

// LacksCriteria reports whether a catalog's text for a level only states that the level has no criteria.
func LacksCriteria(text string) bool { return noCriteriaPattern.MatchString(text) }

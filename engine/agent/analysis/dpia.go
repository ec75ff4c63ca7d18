package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// measure is a safeguard that lowers the risk of a processing activity.
type measure struct {
	name           string
	pattern        *pattern
	reduction      float64
	recommendation string // what to request if it is missing
	controlCode    string // the corresponding control
}

var measures = []measure{
	{"encryption", compileIgnoringCase(`encrypt\w*`), 1, "Encrypt the data in transit and at rest", "CRY-05"},
	{
		"access control",
		compileIgnoringCase(
			`(?:access|rights?)[^.]{0,40}(?:by role|limited|restricted|by two persons)|role-based|mfa\b|access by role|locked away|aggregates only|only aggregates`,
		),
		1,
		"Limit access by role, with multi-factor authentication",
		"IAC-08",
	},
	{
		"retention",
		compileIgnoringCase(`delet\w+|retention (?:is|of)|shredded|eras\w+`),
		1,
		"Set a retention period and delete data when it ends",
		"PRI-05",
	},
	{
		"data minimization",
		compileIgnoringCase(
			`pseudonymi\w+|anonym\w+|minimal data|coarse|redacted|daily totals|totals only|own card|only aggregates|pin instead|on the user's own`,
		),
		1.2,
		"Collect less data, or pseudonymize it",
		"PRI-05.3",
	},
	{
		"choice",
		compileIgnoringCase(`consent|opt-?in|opt-?out|voluntary|can object|unsubscribe|withdrawn|works council agreed|anonymous reports`),
		0.8,
		"Offer people a choice or an alternative",
		"PRI-03",
	},
	{"notice", compileIgnoringCase(`notice given|signs posted|informed|get reasons|transparen\w+`), 0.5, "Inform people about the processing", "PRI-02"},
	{
		"human review",
		compileIgnoringCase(`reviewed by a person|human (?:review|oversight)|can contest|appeal`),
		1.6,
		"Have a person review each decision, and allow people to contest it",
		"AAT-22.1",
	},
	{"bias tests", compileIgnoringCase(`tested for bias|bias tests?`), 0.6, "Test the model for bias", "AAT-10"},
	{
		"processor contract",
		compileIgnoringCase(`\bdpa\b|data processing agreement|hosted in the eu|in our own data centre|in the eu\b|host in the eu`),
		0.6,
		"Sign a data processing agreement and establish where the data is stored",
		"TPM-05",
	},
	{"access logs", compileIgnoringCase(`logs? (?:are|is) reviewed|access is logged|audit log|logged`), 0.4, "Log access and review the logs", "MON-03"},
	{"limited monitoring", compileIgnoringCase(`working hours only|car park|short`), 1.2, "Limit monitoring to what the purpose requires", "PRI-04"},
}

// blockers are the problems that keep the residual risk high regardless of any measures.
var blockers = []criterion{
	{"unlimited retention", compileIgnoringCase(`kept for ?ever|retention unknown|kept ten years|indefinitely`)},
	{"transfer without a legal mechanism", compileIgnoringCase(`no transfer mechanism|no dpa\b`)},
	{"no way to contest decisions", compileIgnoringCase(`without human review|no appeal|no explanation`)},
	{"data shared or sold for other purposes", compileIgnoringCase(`\bsells?\b|published openly|ad partners`)},
	{"prediction of emotions or crime", compileIgnoringCase(`emotion recognition|predictive policing|ethnicity`)},
	{"monitoring that goes beyond the purpose", compileIgnoringCase(`also after work|with sound|no minimisation|no notice`)},
	{
		"safeguards only planned",
		compileIgnoringCase(`(?:encryption|access controls?)[^.]{0,40}(?:is planned|are planned|to be defined|to be decided)`),
	},
}

// AssessDPIA assesses the risk that remains in a project after the measures it names, and whether
// it may proceed from a technical point of view. The result is a draft; the decision is left to
// people.
func AssessDPIA(
	_ context.Context, description string, ropa map[string]any, controls Controls,
) (assessment *api.DPIAAssessment, indicators Indicators) {
	var signs Indicators
	t := parseText(description)
	out := &api.DPIAAssessment{AnalysisMetadata: newAnalysisMetadata(), IsDraft: true, MitigatingControlsRequired: []string{}}
	marks, points := findRiskMarks(t, &signs)
	inherent := 1.0 + float64(points)*1.1
	if marks[specialCategories.name] {
		inherent += 1.2
	}
	if marks[automatedDecisions.name] || marks[systematicMonitoring.name] || marks[vulnerablePeople.name] {
		inherent += 0.8
	}
	if level, ok := ropa["suggested_risk_level"].(string); ok {
		inherent = max(inherent, map[string]float64{"low": 0, "medium": 2, "high": 3.2}[strings.ToLower(level)])
		signs.add("ropa_context", level, "the risk before measures is at least as high as in the record of processing")
	}
	if points == 0 {
		if _, harmless := t.findAffirmedClause(compileIgnoringCase(`anonymous|anonymised|paper`)); harmless {
			inherent = 0.8
		}
	}
	reduction, missing := 0.0, []measure{}
	for _, m := range measures {
		if where, ok := t.findAffirmedClause(m.pattern); ok {
			reduction += m.reduction
			signs.add("measure", where, fmt.Sprintf("%s: −%.1f", m.name, m.reduction))
			continue
		}
		missing = append(missing, m)
	}
	residual := inherent - min(reduction, 0.75*inherent)
	var stop []string
	for _, b := range blockers {
		if m, ok := t.findMention(b.pattern); ok {
			stop = append(stop, b.name)
			signs.add("blocker", m, b.name)
		}
	}
	switch {
	case len(stop) > 0 || residual >= 2.6:
		out.ResidualRiskLevel = "high"
	case residual >= 1 || marks[specialCategories.name] && inherent >= 3 || points >= 2 || marks[vulnerablePeople.name] ||
		marks[systematicMonitoring.name]:
		out.ResidualRiskLevel = "medium"
	default:
		out.ResidualRiskLevel = "low"
	}
	if out.ResidualRiskLevel == "medium" && residual < 0.8 && points <= 1 && !marks[specialCategories.name] &&
		!marks[vulnerablePeople.name] &&
		!marks[systematicMonitoring.name] {
		out.ResidualRiskLevel = "low"
	}
	out.IsApprovedTechnically = out.ResidualRiskLevel != "high"
	out.MitigatingControlsRequired = measuresToRequest(missing, stop, out.ResidualRiskLevel, marks, controls)
	out.Justification = fmt.Sprintf(
		"The risk before measures is %.1f (%s). Measures reduce it by %.1f to %.1f, which is a %s residual risk.",
		inherent,
		formatRiskCriteria(sortedKeys(marks)),
		min(reduction, 0.75*inherent),
		residual,
		out.ResidualRiskLevel,
	)
	if len(stop) > 0 {
		out.Justification += " The project can't proceed as described: " + strings.Join(stop, ", ") + "."
	}
	if addNonEnglishLimitation(&out.Limitations, &signs, description) {
		out.IsApprovedTechnically = false
		if out.ResidualRiskLevel == "low" {
			out.ResidualRiskLevel = "medium"
		}
		out.Justification += " " + UnreadableNotice
	}
	out.Justification += " This is a rule-based draft; the controller decides, advised by the data protection officer."
	return out, signs
}

func formatRiskCriteria(names []string) string {
	if len(names) == 0 {
		return "no high-risk criteria"
	}
	return strings.Join(names, ", ")
}

// measuresToRequest returns the measures to request: the removal of each blocker, and the missing
// measures. At medium and low risk, only the more effective measures are included. Human review and
// bias tests are omitted if nothing is decided or scored automatically, and limited monitoring if
// nobody is monitored.
func measuresToRequest(missing []measure, stopReasons []string, level string, marks map[string]bool, controls Controls) []string {
	out := []string{}
	for _, s := range stopReasons {
		out = append(out, "Resolve the blocker: "+s)
	}
	for _, m := range missing {
		switch {
		case (m.name == "human review" || m.name == "bias tests") && !marks[automatedDecisions.name] && !marks[evaluationOrScoring.name]:
			continue
		case m.name == "limited monitoring" && !marks[systematicMonitoring.name]:
			continue
		case level == "medium" && m.reduction < 0.8, level == "low" && m.reduction < 1:
			continue
		}
		line := m.recommendation
		if controls != nil {
			if c, err := controls.Control(m.controlCode); err == nil {
				line += " (" + c.Code + " " + c.Title + ")"
			}
		}
		out = append(out, line)
	}
	return firstUnique(out, 20)
}

package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// measure lowers the risk of a processing.
type measure struct {
	name string
	what *pattern
	by   float64
	ask  string // what to ask for where it is missing
	code string // the control that stands for it
}

var measures = []measure{
	{"encryption", re(`encrypt\w*`), 1, "Encrypt the data in transit and at rest", "CRY-05"},
	{"limited access", re(`(?:access|rights?)[^.]{0,40}(?:by role|limited|restricted|by two persons)|role-based|mfa\b|access by role|locked away|aggregates only|only aggregates`), 1, "Limit access by role, with multi-factor authentication", "IAC-08"},
	{"retention", re(`delet\w+|retention (?:is|of)|shredded|eras\w+`), 1, "Fix a time after which data is deleted, and delete it", "PRI-05"},
	{"less data", re(`pseudonymi\w+|anonym\w+|minimal data|coarse|redacted|daily totals|totals only|own card|only aggregates|pin instead|on the user's own`), 1.2, "Collect less, or take names out", "PRI-05.3"},
	{"choice", re(`consent|opt-?in|opt-?out|voluntary|can object|unsubscribe|withdrawn|works council agreed|anonymous reports`), 0.8, "Give people a choice, or an alternative", "PRI-03"},
	{"notice", re(`notice given|signs posted|informed|get reasons|transparen\w+`), 0.5, "Tell people what is done", "PRI-02"},
	{"human review", re(`reviewed by a person|human (?:review|oversight)|can contest|appeal`), 1.6, "Let a person review each decision, and let people contest it", "AAT-22.1"},
	{"tests for bias", re(`tested for bias|bias tests?`), 0.6, "Test the model for bias", "AAT-10"},
	{"processor bound", re(`\bdpa\b|data processing agreement|hosted in the eu|in our own data centre|in the eu\b|host in the eu`), 0.6, "Bind the processor by contract, and know where data lies", "TPM-05"},
	{"logs", re(`logs? (?:are|is) reviewed|access is logged|audit log|logged`), 0.4, "Log access and look at the logs", "MON-03"},
	{"bounded watching", re(`working hours only|car park|short`), 1.2, "Watch no more than the purpose needs", "PRI-04"},
}

// blockers leave the residual risk high whatever else is done.
var blockers = []criterion{
	{"kept without end", re(`kept for ?ever|retention unknown|kept ten years|indefinitely`)},
	{"transfer without a mechanism", re(`no transfer mechanism|no dpa\b`)},
	{"no way to contest", re(`without human review|no appeal|no explanation`)},
	{"shared or sold for others' purposes", re(`\bsells?\b|published openly|ad partners`)},
	{"emotions or crime are predicted", re(`emotion recognition|predictive policing|ethnicity`)},
	{"watched beyond the purpose", re(`also after work|with sound|no minimisation|no notice`)},
	{"measures are only planned", re(`(?:encryption|access controls?)[^.]{0,40}(?:is planned|are planned|to be defined|to be decided)`)},
}

// DPIA says which risk remains in a project after the measures it names, and whether it
// may go on from a technical point of view. The decision stays with people: it is a draft.
func DPIA(_ context.Context, description string, ropa map[string]any, controls Controls) (*api.DPIAAssessment, Signs) {
	var signs Signs
	t := read(description)
	out := &api.DPIAAssessment{Analysed: answered(), IsDraft: true, MitigatingControlsRequired: []string{}}
	marks, points := markOf(t, &signs)
	inherent := 1.0 + float64(points)*1.1
	if marks[special.name] {
		inherent += 1.2
	}
	if marks[decided.name] || marks[watched.name] || marks[children.name] {
		inherent += 0.8
	}
	if level, ok := ropa["suggested_risk_level"].(string); ok {
		inherent = max(inherent, map[string]float64{"low": 0, "medium": 2, "high": 3.2}[strings.ToLower(level)])
		signs.add("ropa_context", level, "the risk before measures is no lower")
	}
	if points == 0 {
		if _, harmless := t.says(re(`anonymous|anonymised|paper`)); harmless {
			inherent = 0.8
		}
	}
	eased, lacking := 0.0, []measure{}
	for _, m := range measures {
		if where, ok := t.says(m.what); ok {
			eased += m.by
			signs.add("measure", where, fmt.Sprintf("%s: −%.1f", m.name, m.by))
			continue
		}
		lacking = append(lacking, m)
	}
	residual := inherent - min(eased, 0.75*inherent)
	var stop []string
	for _, b := range blockers {
		if m, ok := t.mentions(b.what); ok {
			stop = append(stop, b.name)
			signs.add("blocker", m, b.name)
		}
	}
	switch {
	case len(stop) > 0 || residual >= 2.6:
		out.ResidualRiskLevel = "high"
	case residual >= 1 || marks[special.name] && inherent >= 3 || points >= 2 || marks[children.name] || marks[watched.name]:
		out.ResidualRiskLevel = "medium"
	default:
		out.ResidualRiskLevel = "low"
	}
	if out.ResidualRiskLevel == "medium" && residual < 0.8 && points <= 1 && !marks[special.name] && !marks[children.name] && !marks[watched.name] {
		out.ResidualRiskLevel = "low"
	}
	out.IsApprovedTechnically = out.ResidualRiskLevel != "high"
	out.MitigatingControlsRequired = asked(lacking, stop, out.ResidualRiskLevel, marks, controls)
	out.Justification = fmt.Sprintf("Risk before measures %.1f (%s), eased by %.1f, so %.1f remains: %s.", inherent, orNone(sorted(marks)), min(eased, 0.75*inherent), residual, out.ResidualRiskLevel)
	if len(stop) > 0 {
		out.Justification += " It cannot go on as described: " + strings.Join(stop, ", ") + "."
	}
	if notRead(&out.Limitations, &signs, description) {
		out.IsApprovedTechnically = false
		if out.ResidualRiskLevel == "low" {
			out.ResidualRiskLevel = "medium"
		}
		out.Justification += " " + Unread
	}
	out.Justification += " A draft by rules; the controller decides, with the advice of the data protection officer."
	return out, signs
}

func orNone(of []string) string {
	if len(of) == 0 {
		return "no mark of risky processing"
	}
	return strings.Join(of, ", ")
}

// asked are the measures that are missing: all where the risk is high, those that weigh
// most where it is medium, none of the human review where no machine decides.
func asked(lacking []measure, stop []string, level string, marks map[string]bool, controls Controls) []string {
	out := []string{}
	for _, s := range stop {
		out = append(out, "Remove the obstacle: "+s)
	}
	for _, m := range lacking {
		switch {
		case (m.name == "human review" || m.name == "tests for bias") && !marks[decided.name] && !marks[scoring.name]:
			continue
		case m.name == "bounded watching" && !marks[watched.name]:
			continue
		case level == "medium" && m.by < 0.8, level == "low" && m.by < 1:
			continue
		}
		line := m.ask
		if controls != nil {
			if c, err := controls.Control(m.code); err == nil {
				line += " (" + c.Code + " " + c.Title + ")"
			}
		}
		out = append(out, line)
	}
	return once(out, 20)
}

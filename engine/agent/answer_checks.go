package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/agent/analysis"
	"github.com/scf-service/service/internal/lazyregexp"
)

// A model's answer is checked against the text and the catalog. It may be stricter than the rules
// but never more lenient, so a text that argues for a good verdict gains nothing. If a text
// contains instructions to its reader, only the rules' verdict counts.

// keepQuotedLines returns the lines that occur in the texts, ignoring case and white space, and counts the
// others in d as rejected.
func keepQuotedLines(d *rejectedAnswers, label string, lines []string, texts ...string) []string {
	hay := normalizeText(strings.Join(texts, "\n"))
	out := []string{}
	for _, l := range lines {
		d.claims++
		if strings.Contains(hay, normalizeText(l)) {
			out = append(out, l)
			continue
		}
		d.reject("%s %q is not in the text", label, l)
	}
	return out
}

func normalizeText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// higherLevel returns the higher of two levels.
func higherLevel(order []string, a, b string) string {
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

var (
	severityLevels = []string{"low", "medium", "high", "critical"}
	figurePattern  = lazyregexp.New(`\d+(?:[.,]\d+)*`)
)

// inventedFigures returns the figures in an answer that the texts don't contain.
func inventedFigures(s string, texts ...string) []string {
	hay := strings.Join(texts, "\n")
	var out []string
	for _, f := range figurePattern.FindAllString(s, -1) {
		if len(f) > 1 && !strings.Contains(hay, f) && !slices.Contains(commonFigures, f) {
			out = append(out, f)
		}
	}
	return out
}

// commonFigures are figures from laws and standards. An answer may contain these even if the texts don't.
var commonFigures = []string{"24", "30", "72", "90", "27001", "2022", "2016", "679", "800", "53", "28", "32", "33", "34", "35"}

// newEvidenceCorrector returns a function that corrects a model's evaluation m, given that of the rules, r. It
// rejects missing elements that are not required, and compliance that the rules don't find.
func newEvidenceCorrector(requirement, description string) func(m, r *api.EvidenceEvaluation, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.EvidenceEvaluation, _ analysis.Controls) (d rejectedAnswers) {
		kept := []string{}
		for _, e := range m.MissingElements {
			d.claims++
			if !sharesLongWord(e, requirement) && (figurePattern.FindString(e) == "" || len(inventedFigures(e, requirement)) > 0) {
				d.reject("the missing element %q is not required", e)
				continue
			}
			kept = append(kept, e)
		}
		if analysis.CountInstructions(description) > 0 {
			m.IsCompliant, m.ConfidenceScore, m.MissingElements = r.IsCompliant, r.ConfidenceScore, r.MissingElements
			m.AuditorNotes = r.AuditorNotes
			return d
		}
		d.claims++
		if m.IsCompliant && !r.IsCompliant {
			d.reject("the answer reports compliance, although the built-in rules find missing elements")
			m.IsCompliant, kept = false, r.MissingElements
			m.AuditorNotes, m.ConfidenceScore = r.AuditorNotes, r.ConfidenceScore
		}
		if !m.IsCompliant && len(kept) == 0 {
			kept = r.MissingElements
			if len(kept) == 0 { // neither the model nor the rules name a missing element
				m.IsCompliant = r.IsCompliant
			}
		}
		if m.IsCompliant {
			kept = []string{}
		}
		m.MissingElements = kept
		if bad := inventedFigures(m.AuditorNotes, requirement, description); len(bad) > 0 {
			d.reject("the notes contain figures that are not in the text: %s", strings.Join(bad, ", "))
			m.AuditorNotes = r.AuditorNotes
		}
		return d
	}
}

var longWordPattern = lazyregexp.New(`[\pL]{4,}`)

// sharesLongWord reports whether two texts share a word of at least four letters.
func sharesLongWord(a, b string) bool {
	b = normalizeText(b)
	for _, w := range longWordPattern.FindAllString(normalizeText(a), -1) {
		if strings.Contains(b, w[:min(len(w), 6)]) {
			return true
		}
	}
	return false
}

func newIncidentCorrector(module, logs string) func(m, r *api.IncidentTriage, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.IncidentTriage, _ analysis.Controls) (d rejectedAnswers) {
		m.AffectedAssetsIdentified = keepQuotedLines(&d, "the asset", m.AffectedAssetsIdentified, module, logs)
		for _, a := range r.AffectedAssetsIdentified {
			if !slices.Contains(m.AffectedAssetsIdentified, a) {
				m.AffectedAssetsIdentified = append(m.AffectedAssetsIdentified, a)
			}
		}
		d.claims++
		if slices.Index(severityLevels, m.SeverityLevel) < slices.Index(severityLevels, r.SeverityLevel) ||
			m.IsFalsePositive && !r.IsFalsePositive {
			d.reject("the answer rates the log as less severe than the built-in rules do")
		}
		if analysis.CountInstructions(logs) > 0 || !r.IsFalsePositive {
			m.IsFalsePositive, m.AttackVectorGuessed = r.IsFalsePositive, r.AttackVectorGuessed
		}
		if analysis.CountInstructions(logs) > 0 {
			m.SeverityLevel, m.RequiresDPOBreachNotification = r.SeverityLevel, r.RequiresDPOBreachNotification
		}
		m.SeverityLevel = higherLevel(severityLevels, m.SeverityLevel, r.SeverityLevel)
		m.RequiresDPOBreachNotification = m.RequiresDPOBreachNotification || r.RequiresDPOBreachNotification
		if m.IsFalsePositive {
			m.SeverityLevel, m.AttackVectorGuessed = "low", "none"
		}
		m.ImmediateContainmentActions = append(
			slices.Clone(r.ImmediateContainmentActions),
			dropDangerousLines(&d, m.ImmediateContainmentActions)...)
		return d
	}
}

func newRiskCorrector(texts ...string) func(m, r *api.RiskTranslation, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.RiskTranslation, _ analysis.Controls) (d rejectedAnswers) {
		all := strings.Join(texts, "\n")
		for _, f := range []struct{ model, rules *string }{
			{&m.ExecutiveSummary, &r.ExecutiveSummary},
			{&m.FinancialImpactEstimate, &r.FinancialImpactEstimate},
			{&m.RegulatoryImpact, &r.RegulatoryImpact},
			{&m.BoardLevelRecommendation, &r.BoardLevelRecommendation},
		} {
			d.claims++
			if bad := inventedFigures(*f.model, all); len(bad) > 0 || strings.TrimSpace(*f.model) == "" ||
				analysis.CountInstructions(all) > 0 {
				d.reject("figures that are not in the text: %s", strings.Join(bad, ", "))
				*f.model = *f.rules
			}
		}
		if analysis.CountInstructions(all) > 0 {
			d = rejectedAnswers{}
			m.UrgencyMetric = r.UrgencyMetric
		}
		m.UrgencyMetric = max(m.UrgencyMetric, r.UrgencyMetric)
		return d
	}
}

func newVendorCorrector(vendor, contract string) func(m, r *api.VendorScan, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.VendorScan, _ analysis.Controls) (d rejectedAnswers) {
		m.DataSubprocessorsListed = keepQuotedLines(&d, "the sub-processor", m.DataSubprocessorsListed, contract)
		for _, s := range r.DataSubprocessorsListed {
			if !slices.ContainsFunc(m.DataSubprocessorsListed, func(x string) bool {
				return strings.Contains(normalizeText(x), normalizeText(s)) || strings.Contains(normalizeText(s), normalizeText(x))
			}) {
				m.DataSubprocessorsListed = append(m.DataSubprocessorsListed, s)
			}
		}
		d.claims++
		if m.LiabilityCapIdentified == "" || !strings.Contains(normalizeText(contract), normalizeText(m.LiabilityCapIdentified)) {
			if m.LiabilityCapIdentified != r.LiabilityCapIdentified {
				d.reject("the liability cap %q is not in the contract", m.LiabilityCapIdentified)
			}
			m.LiabilityCapIdentified = r.LiabilityCapIdentified
		}
		if analysis.CountInstructions(contract) > 0 {
			m.RedFlagsForNegotiation = nil
		}
		m.HasStandardContractualClauses = r.HasStandardContractualClauses &&
			(m.HasStandardContractualClauses || analysis.CountInstructions(contract) > 0)
		m.IsDPACompliant = r.IsDPACompliant && (m.IsDPACompliant || analysis.CountInstructions(contract) > 0)
		flags := slices.Clone(r.RedFlagsForNegotiation)
		for _, f := range m.RedFlagsForNegotiation {
			d.claims++
			if !sharesLongWord(f, contract+" liability breach audit transfer processor deletion instruction security confidentiality "+vendor) {
				d.reject("the flag %q is unrelated to the contract", f)
				continue
			}
			flags = append(flags, f)
		}
		m.RedFlagsForNegotiation = flags
		return d
	}
}

// dangerousPattern matches commands and actions that are always removed from a model's answer.
var dangerousPattern = lazyregexp.New(
	`(?i)rm\s+-[a-z]*[rf]|mkfs|dd\s+if=|:\(\)\s*\{|\|\s*(?:ba|z)?sh\b|drop\s+(?:table|database)|format\s+c:|chmod\s+-?R?\s*777|base64\s+-d|delete-bucket\b|terminate-instances|--no-verify|disable.{0,20}(?:log|audit|mfa|firewall)`,
)

func dropDangerousLines(d *rejectedAnswers, lines []string) []string {
	out := []string{}
	for _, l := range lines {
		d.claims++
		if dangerousPattern.MatchString(l) || strings.ContainsAny(l, "\n\x00") {
			d.reject("%q could cause damage", l)
			continue
		}
		out = append(out, l)
	}
	return out
}

// destructivePattern matches commands that delete something. A plan may tell users to delete
// something, but must not contain such shell commands to paste.
var destructivePattern = lazyregexp.New(
	`(?i)\b(?:rm|rb|rmdir|del|delete|destroy|purge|wipe|truncate|drop|shred|terminate|deregister)\b|--(?:recursive|force|purge)\b|\b(?:delete|remove|terminate|destroy|drop)-[a-z]|\||\$\(`,
)

// newRemediationCorrector returns a function that adds a model's suggestions to the rules' plan.
// Suggestions have to relate to the gap or the platforms; nothing in the rules' plan is removed.
func newRemediationCorrector(gap map[string]any, architecture string) func(m, r *api.RemediationPlan, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.RemediationPlan, _ analysis.Controls) (d rejectedAnswers) {
		about := fmt.Sprint(gap["missing_elements"], " ", gap["auditor_notes"], " ", architecture)
		add := func(what string, to, lines []string, fits func(string) bool) []string {
			to = slices.Clone(to)
			for _, l := range dropDangerousLines(&d, lines) {
				switch {
				case !fits(l):
					d.reject("the %s %q is unrelated to the gap", what, l)
				case !slices.ContainsFunc(to, func(x string) bool { return normalizeText(x) == normalizeText(l) }):
					to = append(to, l)
				}
			}
			return to
		}
		if analysis.CountInstructions(about) > 0 {
			m.SprintActionItems, m.DevopsCommandsSuggested = nil, nil
			m.PriorityLevel, m.EstimatedEffort = r.PriorityLevel, r.EstimatedEffort
		}
		m.SprintActionItems = add("action", r.SprintActionItems, m.SprintActionItems, func(l string) bool { return sharesLongWord(l, about) })
		m.DevopsCommandsSuggested = add("command", r.DevopsCommandsSuggested, m.DevopsCommandsSuggested, func(l string) bool {
			return strings.TrimSpace(architecture) != "" && !destructivePattern.MatchString(l)
		})
		m.PriorityLevel = higherLevel(severityLevels, m.PriorityLevel, r.PriorityLevel)
		if strings.TrimSpace(m.EstimatedEffort) == "" {
			m.EstimatedEffort = r.EstimatedEffort
		}
		return d
	}
}

func newRoPACorrector(text string) func(m, r *api.RoPAAnalysis, c analysis.Controls) rejectedAnswers {
	return func(m, r *api.RoPAAnalysis, c analysis.Controls) (d rejectedAnswers) {
		kept := slices.Clone(r.RequiredControls)
		for _, x := range m.RequiredControls {
			d.claims++
			known, err := c.Control(x.ControlID)
			switch {
			case err != nil:
				d.reject("the catalog has no control %q", x.ControlID)
			case !slices.ContainsFunc(kept, func(k api.RequiredControl) bool { return k.ControlID == known.Code }):
				kept = append(kept, api.RequiredControl{ControlID: known.Code, Name: known.Title, Reason: x.Reason})
			}
		}
		m.RequiredControls = kept
		if analysis.CountInstructions(text) > 0 {
			m.SuggestedRiskLevel, m.IsDPIARequired = r.SuggestedRiskLevel, r.IsDPIARequired
			m.SuggestedLegalBasis, m.RequiredControls = r.SuggestedLegalBasis, r.RequiredControls
		}
		m.SuggestedRiskLevel = higherLevel(severityLevels, m.SuggestedRiskLevel, r.SuggestedRiskLevel)
		m.IsDPIARequired = m.IsDPIARequired || r.IsDPIARequired
		return d
	}
}

func newDPIACorrector(text string) func(m, r *api.DPIAAssessment, _ analysis.Controls) rejectedAnswers {
	return func(m, r *api.DPIAAssessment, _ analysis.Controls) (d rejectedAnswers) {
		d.claims++
		if slices.Index(severityLevels, m.ResidualRiskLevel) < slices.Index(severityLevels, r.ResidualRiskLevel) {
			d.reject("the answer finds less risk than the built-in rules do")
		}
		if analysis.CountInstructions(text) > 0 {
			m.ResidualRiskLevel, m.IsApprovedTechnically = r.ResidualRiskLevel, r.IsApprovedTechnically
			m.MitigatingControlsRequired, m.Justification = nil, r.Justification
		}
		m.ResidualRiskLevel = higherLevel(severityLevels, m.ResidualRiskLevel, r.ResidualRiskLevel)
		m.IsApprovedTechnically = m.IsApprovedTechnically && r.IsApprovedTechnically && m.ResidualRiskLevel != "high"
		for _, x := range r.MitigatingControlsRequired {
			if !slices.Contains(m.MitigatingControlsRequired, x) {
				m.MitigatingControlsRequired = append(m.MitigatingControlsRequired, x)
			}
		}
		m.IsDraft = true
		if bad := inventedFigures(m.Justification, text); len(bad) > 0 || strings.TrimSpace(m.Justification) == "" {
			m.Justification = r.Justification
		}
		return d
	}
}

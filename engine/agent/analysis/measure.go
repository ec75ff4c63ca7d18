package analysis

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

//go:embed cases/*.jsonl
var cases embed.FS

// Kinds lists the seven analyses in the order of the API.
var Kinds = []string{"evidence", "incident", "risk", "vendor", "remediation", "ropa", "dpia"}

// labeledCase is a test case of any of the seven analyses: the input, and the labels assigned by people.
type labeledCase struct {
	Requirement, Evidence, Module, Logs, Text, Category, Context, Vendor, Arch string
	Held                                                                       bool
	Confidence                                                                 float64

	Compliant     bool     `json:"compliant"`
	Missing       []string `json:"missing"`
	FalsePositive bool     `json:"false_positive"`
	Severity      string   `json:"severity"`
	Vector        string   `json:"vector"`
	DPO           bool     `json:"dpo"`
	Urgency       string   `json:"urgency"`
	SCC           bool     `json:"scc"`
	DPA           bool     `json:"dpa"`
	Cap           string   `json:"cap"`
	Subs          []string `json:"subs"`
	Flags         []string `json:"flags"`
	Risk          string   `json:"risk"`
	Basis         string   `json:"basis"`
	DPIA          bool     `json:"dpia"`
	Residual      string   `json:"residual"`
	Approved      bool     `json:"approved"`
	Priority      string   `json:"priority"`
	Actions       []string `json:"actions"`
	Commands      []string `json:"commands"`
}

// Score is the number of labels matched in one analysis.
type Score struct {
	Analysis   string   `json:"analysis"`
	Cases      int      `json:"cases"`
	FullyMet   int      `json:"fully_met"` // cases with all labels matched
	Labels     int      `json:"labels"`    // single judgements
	Met        int      `json:"met"`
	HeldOut    int      `json:"held_out"` // cases held out of tuning
	HeldOutMet int      `json:"held_out_met"`
	Missed     []string `json:"missed,omitempty"` // case and label of each mismatch, for tuning the rules
}

// MeasureBuiltin runs the built-in rules on the labeled cases.
func MeasureBuiltin(ctx context.Context, controls Controls) ([]Score, error) {
	return MeasureAnswerer(ctx, builtin{controls}, func(map[string]any) {})
}

// MeasureAnswerer runs any answerer on the labeled cases. Before each case, it calls beforeCase with the answer key,
// which is the answer that a model without errors would give.
func MeasureAnswerer(ctx context.Context, by Answerer, beforeCase func(key map[string]any)) ([]Score, error) {
	var out []Score
	for _, kind := range Kinds {
		of, err := readCases(kind)
		if err != nil {
			return nil, err
		}
		s := Score{Analysis: kind, Cases: len(of)}
		for i, c := range of {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			beforeCase(c.answerKey(kind))
			checks, err := c.checkLabels(ctx, kind, by)
			if err != nil {
				return nil, fmt.Errorf("%s, case %d: %w", kind, i+1, err)
			}
			met := 0
			for _, name := range sortedKeys(checks) {
				if checks[name] {
					met++
					continue
				}
				s.Missed = append(s.Missed, fmt.Sprintf("%d %s", i+1, name))
			}
			s.Labels += len(checks)
			s.Met += met
			if c.Held {
				s.HeldOut++
			}
			if met == len(checks) {
				s.FullyMet++
				if c.Held {
					s.HeldOutMet++
				}
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func readCases(kind string) ([]labeledCase, error) {
	f, err := cases.Open("cases/" + kind + ".jsonl")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []labeledCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c labeledCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s.jsonl, case %d: %w", kind, len(out)+1, err)
		}
		out = append(out, c)
	}
	return out, lines.Err()
}

// Answerer answers the seven analyses' questions by rules, a model or other means.
type Answerer interface {
	EvaluateEvidence(context.Context, *api.EvaluateEvidenceInput) (*api.EvidenceEvaluation, error)
	TriageIncident(context.Context, *api.TriageIncidentInput) (*api.IncidentTriage, error)
	TranslateRisk(context.Context, *api.TranslateRiskInput) (*api.RiskTranslation, error)
	ScanVendorContract(context.Context, *api.ScanVendorContractInput) (*api.VendorScan, error)
	ArchitectRemediation(context.Context, *api.ArchitectRemediationInput) (*api.RemediationPlan, error)
	AnalyzeRoPA(context.Context, *api.AnalyzeRoPAInput) (*api.RoPAAnalysis, error)
	AssessDPIA(context.Context, *api.AssessDPIAInput) (*api.DPIAAssessment, error)
}

// checkLabels asks by for an answer and returns which labels the answer matches.
func (c labeledCase) checkLabels(ctx context.Context, kind string, by Answerer) (map[string]bool, error) {
	switch kind {
	case "evidence":
		in := &api.EvaluateEvidenceInput{}
		in.Body.ControlRequirement, in.Body.EvidenceDescription = c.Requirement, c.Evidence
		a, err := by.EvaluateEvidence(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{
			"compliant": a.IsCompliant == c.Compliant,
			"missing":   containsAll(c.Missing, a.MissingElements) && (len(c.Missing) == 0) == (len(a.MissingElements) == 0),
		}, nil
	case "incident":
		in := &api.TriageIncidentInput{}
		in.Body.SystemModuleName, in.Body.RawLogsExcerpt = c.Module, c.Logs
		a, err := by.TriageIncident(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{
			"false_positive": a.IsFalsePositive == c.FalsePositive,
			"severity":       a.SeverityLevel == c.Severity,
			"vector":         a.AttackVectorGuessed == c.Vector,
			"dpo":            a.RequiresDPOBreachNotification == c.DPO,
		}, nil
	case "risk":
		in := &api.TranslateRiskInput{}
		in.Body.TechnicalRiskDescription, in.Body.RiskCategory, in.Body.BusinessContext = c.Text, c.Category, c.Context
		a, err := by.TranslateRisk(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{"urgency": UrgencyBand(a.UrgencyMetric) == c.Urgency}, nil
	case "vendor":
		in := &api.ScanVendorContractInput{}
		in.Body.VendorName, in.Body.ContractExcerpt = c.Vendor, c.Text
		a, err := by.ScanVendorContract(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{
			"scc": a.HasStandardContractualClauses == c.SCC,
			"dpa": a.IsDPACompliant == c.DPA,
			"cap": strings.Contains(strings.ToLower(a.LiabilityCapIdentified), c.Cap),
			"subs": containsAll(c.Subs, a.DataSubprocessorsListed) &&
				len(c.Subs) == len(a.DataSubprocessorsListed),
			"flags": containsAll(c.Flags, a.RedFlagsForNegotiation),
		}, nil
	case "remediation":
		in := &api.ArchitectRemediationInput{}
		in.Body.EvidenceContext, in.Body.SystemArchitectureDescription = c.evaluationInput(), c.Arch
		a, err := by.ArchitectRemediation(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{
			"priority": isOneOfAlternatives(a.PriorityLevel, c.Priority),
			"actions":  containsAll(c.Actions, a.SprintActionItems),
			"commands": containsAll(c.Commands, a.DevopsCommandsSuggested),
		}, nil
	case "ropa":
		in := &api.AnalyzeRoPAInput{}
		in.Body.Text = c.Text
		a, err := by.AnalyzeRoPA(ctx, in)
		if err != nil {
			return nil, err
		}
		return map[string]bool{
			"risk":  a.SuggestedRiskLevel == c.Risk,
			"basis": isOneOfAlternatives(a.SuggestedLegalBasis, c.Basis),
			"dpia":  a.IsDPIARequired == c.DPIA,
		}, nil
	}
	in := &api.AssessDPIAInput{}
	in.Body.ProjectDescription = c.Text
	a, err := by.AssessDPIA(ctx, in)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"residual": a.ResidualRiskLevel == c.Residual, "approved": a.IsApprovedTechnically == c.Approved}, nil
}

// answerKey returns an answer that matches every label, in the form of a model's answer.
func (c labeledCase) answerKey(kind string) map[string]any {
	first := func(of []string) []string {
		out := []string{}
		for _, s := range of {
			s, _, _ = strings.Cut(s, "|")
			out = append(out, s)
		}
		return out
	}
	one := func(s string) string { return first([]string{s})[0] }
	const said = "As stated in the text."
	switch kind {
	case "evidence":
		return map[string]any{
			"is_compliant":     c.Compliant,
			"confidence_score": 90,
			"missing_elements": first(c.Missing),
			"auditor_notes":    said,
		}
	case "incident":
		return map[string]any{
			"is_false_positive":                c.FalsePositive,
			"severity_level":                   c.Severity,
			"attack_vector_guessed":            c.Vector,
			"affected_assets_identified":       []string{},
			"immediate_containment_actions":    []string{},
			"requires_dpo_breach_notification": c.DPO,
		}
	case "risk":
		urgency := map[string]int{"critical": 90, "high": 68, "medium": 45, "low": 15}[c.Urgency]
		return map[string]any{
			"executive_summary":          said,
			"urgency_metric":             urgency,
			"financial_impact_estimate":  said,
			"regulatory_impact":          said,
			"board_level_recommendation": said,
		}
	case "vendor":
		return map[string]any{
			"has_standard_contractual_clauses": c.SCC,
			"is_dpa_compliant":                 c.DPA,
			"liability_cap_identified":         c.Cap,
			"data_subprocessors_listed":        first(c.Subs),
			"red_flags_for_negotiation":        first(c.Flags),
		}
	case "remediation":
		return map[string]any{
			"sprint_action_items":       first(c.Actions),
			"devops_commands_suggested": first(c.Commands),
			"priority_level":            one(c.Priority),
			"estimated_effort":          "a sprint",
		}
	case "ropa":
		return map[string]any{
			"suggested_risk_level":  c.Risk,
			"required_controls":     []any{},
			"suggested_legal_basis": one(c.Basis),
			"is_dpia_required":      c.DPIA,
		}
	}
	return map[string]any{
		"residual_risk_level":          c.Residual,
		"is_approved_technically":      c.Approved,
		"mitigating_controls_required": []string{},
		"is_draft":                     true,
		"justification":                said,
	}
}

func (c labeledCase) evaluationInput() map[string]any {
	missing := []any{}
	for _, m := range c.Missing {
		missing = append(missing, m)
	}
	return map[string]any{"is_compliant": len(missing) == 0, "confidence_score": c.Confidence, "missing_elements": missing}
}

// containsAll reports whether each of the words occurs in one of the lines, ignoring case; "a|b"
// matches either word.
func containsAll(words, lines []string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(lines, func(l string) bool {
			return slices.ContainsFunc(
				strings.Split(w, "|"),
				func(one string) bool { return strings.Contains(strings.ToLower(l), strings.ToLower(one)) },
			)
		}) {
			return false
		}
	}
	return true
}

// isOneOfAlternatives reports whether got is one of the alternatives, which are separated by "|".
func isOneOfAlternatives(got, alternatives string) bool {
	return slices.Contains(strings.Split(alternatives, "|"), got)
}

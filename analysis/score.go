package analysis

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed cases/*.jsonl
var cases embed.FS

// Kinds are the seven analyses, in the order of the contract.
var Kinds = []string{"evidence", "incident", "risk", "vendor", "remediation", "ropa", "dpia"}

// labelled is one case of any of the seven: what is given, and what people say of it.
type labelled struct {
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

// Score is how many of the labels of one analysis were met.
type Score struct {
	Analysis string   `json:"analysis"`
	Cases    int      `json:"cases"`
	Whole    int      `json:"whole"`  // cases of which every label was met
	Labels   int      `json:"labels"` // single judgements
	Met      int      `json:"met"`
	Held     int      `json:"held"` // cases held out of tuning
	HeldMet  int      `json:"held_met"`
	Wrong    []string `json:"wrong,omitempty"` // case and label, for those who tune
}

// Measure runs the built-in rules over the labelled cases.
func Measure(ctx context.Context, controls Controls) ([]Score, error) {
	var out []Score
	for _, kind := range Kinds {
		of, err := read7(kind)
		if err != nil {
			return nil, err
		}
		s := Score{Analysis: kind, Cases: len(of)}
		for i, c := range of {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			checks := c.check(ctx, kind, controls)
			met := 0
			for _, name := range sorted(checks) {
				if checks[name] {
					met++
					continue
				}
				s.Wrong = append(s.Wrong, fmt.Sprintf("%d %s", i+1, name))
			}
			s.Labels += len(checks)
			s.Met += met
			if c.Held {
				s.Held++
			}
			if met == len(checks) {
				s.Whole++
				if c.Held {
					s.HeldMet++
				}
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func read7(kind string) ([]labelled, error) {
	f, err := cases.Open("cases/" + kind + ".jsonl")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// The answer to "missing" of a remediation is what is given there.
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s.jsonl, case %d: %w", kind, len(out)+1, err)
		}
		out = append(out, c)
	}
	return out, lines.Err()
}

// check asks the rules, and tells of each label whether it was met.
func (c labelled) check(ctx context.Context, kind string, controls Controls) map[string]bool {
	switch kind {
	case "evidence":
		a, _ := Evidence(ctx, c.Requirement, c.Evidence)
		return map[string]bool{"compliant": a.IsCompliant == c.Compliant, "missing": allIn(c.Missing, a.MissingElements) && (len(c.Missing) == 0) == (len(a.MissingElements) == 0)}
	case "incident":
		a, _ := Incident(ctx, c.Module, c.Logs)
		return map[string]bool{"false_positive": a.IsFalsePositive == c.FalsePositive, "severity": a.SeverityLevel == c.Severity, "vector": a.AttackVectorGuessed == c.Vector, "dpo": a.RequiresDPOBreachNotification == c.DPO}
	case "risk":
		a, _ := Risk(ctx, c.Text, c.Category, c.Context)
		return map[string]bool{"urgency": Band(a.UrgencyMetric) == c.Urgency}
	case "vendor":
		a, _ := Vendor(ctx, c.Vendor, c.Text)
		capped := strings.Contains(strings.ToLower(a.LiabilityCapIdentified), c.Cap)
		return map[string]bool{"scc": a.HasStandardContractualClauses == c.SCC, "dpa": a.IsDPACompliant == c.DPA, "cap": capped,
			"subs": allIn(c.Subs, a.DataSubprocessorsListed) && len(c.Subs) == len(a.DataSubprocessorsListed), "flags": allIn(c.Flags, a.RedFlagsForNegotiation)}
	case "remediation":
		a, _ := Remediation(ctx, c.evaluation(), c.Arch, controls)
		return map[string]bool{"priority": oneOf(a.PriorityLevel, c.Priority), "actions": allIn(c.Actions, a.SprintActionItems), "commands": allIn(c.Commands, a.DevopsCommandsSuggested)}
	case "ropa":
		a, _ := RoPA(ctx, c.Text, controls)
		return map[string]bool{"risk": a.SuggestedRiskLevel == c.Risk, "basis": oneOf(a.SuggestedLegalBasis, c.Basis), "dpia": a.IsDPIARequired == c.DPIA}
	}
	a, _ := DPIA(ctx, c.Text, nil, controls)
	return map[string]bool{"residual": a.ResidualRiskLevel == c.Residual, "approved": a.IsApprovedTechnically == c.Approved}
}

func (c labelled) evaluation() map[string]any {
	missing := []any{}
	for _, m := range c.Missing {
		missing = append(missing, m)
	}
	return map[string]any{"is_compliant": len(missing) == 0, "confidence_score": c.Confidence, "missing_elements": missing}
}

// allIn: each word stands in one of the lines; a|b asks for either.
func allIn(words, lines []string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(lines, func(l string) bool {
			return slices.ContainsFunc(strings.Split(w, "|"), func(one string) bool { return strings.Contains(strings.ToLower(l), strings.ToLower(one)) })
		}) {
			return false
		}
	}
	return true
}

func oneOf(got, want string) bool { return slices.Contains(strings.Split(want, "|"), got) }

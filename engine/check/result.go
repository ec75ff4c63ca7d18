package check

import (
	"github.com/scf-service/service/api"
)

// Verdict is how a check came out.
type Verdict string

// The verdicts. Approval says that nothing is left but for a person to decide.
const (
	Pass            Verdict = "pass"
	Fail            Verdict = "fail"
	ApprovalMissing Verdict = "approval"
)

// Outcome is how one thing came out.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "pass"
	Failed Outcome = "fail"
	Warned Outcome = "warn"
	Waived Outcome = "waived"
	Noted  Outcome = "note"
)

var outcomes = []Outcome{Failed, Warned, Waived, Noted, Passed}

// Result is a check's result. It is written as JSON, and read back as a baseline.
type Result struct {
	Format  string  `json:"format"`
	Verdict Verdict `json:"verdict"`
	Tool    string  `json:"tool"`
	Subject Subject `json:"subject"`
	comparisonScope
	Starter bool         `json:"is_starter"`
	AsOf    api.Date     `json:"as_of"`
	Policy  *Policy      `json:"policy"`
	Figures Figures      `json:"figures"`
	Rules   []RuleResult `json:"rules"`
	Issues  []Issue      `json:"issues"`
	Closed  []string     `json:"closed" doc:"Controls whose gap in the baseline is no more."`

	controls []Control
}

// Figures are an assessment's totals.
type Figures struct {
	Controls        int                  `json:"controls"`
	Applicable      int                  `json:"applicable"`
	Coverage        *float64             `json:"coverage"`
	Formula         string               `json:"coverage_formula"`
	Maturity        *float64             `json:"maturity"`
	Gaps            map[api.Severity]int `json:"gaps"`
	NotWaived       map[api.Severity]int `json:"gaps_not_waived"`
	Documents       int                  `json:"documents"`
	UnreadDocuments int                  `json:"documents_unread"`
}

// RuleResult is how one rule that is in force came out.
type RuleResult struct {
	Rule    string  `json:"rule"`
	Subject string  `json:"about,omitempty"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
}

// Issue is one thing to look at: a gap, or what else does not hold.
type Issue struct {
	Rule    string  `json:"rule"`
	Outcome Outcome `json:"outcome"`
	// FailedRules names the rules that a gap fails by.
	FailedRules []string           `json:"because,omitempty"`
	Control     string             `json:"control,omitempty"`
	Title       string             `json:"title,omitempty"`
	Domain      string             `json:"domain,omitempty"`
	Severity    api.Severity       `json:"severity,omitempty"`
	Status      api.Implementation `json:"status,omitempty"`
	Result      api.Result         `json:"result,omitempty"`
	Message     string             `json:"message"`
	Missing     []string           `json:"missing,omitempty"`
	Fix         string             `json:"fix,omitempty"`
	Place       Place              `json:"place"`
	Change      api.GapChangeKind  `json:"change,omitempty"`
	Waiver      *Waiver            `json:"waiver,omitempty"`
	Fingerprint string             `json:"fingerprint"`
}

// ID is the rule as results name it: each control's gap is a rule of its own.
func (i *Issue) ID() string {
	if i.Rule == ruleGap {
		return ruleGap + "/" + i.Control
	}
	return i.Rule
}

// CountIssues is how many issues came out so.
func (r *Result) CountIssues(o Outcome) (n int) {
	for i := range r.Issues {
		if r.Issues[i].Outcome == o {
			n++
		}
	}
	return n
}

// MissingAnalysis tells whether there was nothing that the policy could be held against:
// that is no verdict on the evidence.
func (r *Result) MissingAnalysis() (string, bool) {
	for _, one := range r.Rules {
		if one.Rule == ruleNoAnalysis && one.Outcome == Failed {
			return one.Message, true
		}
	}
	return "", false
}

// Baseline is the result's gaps as a baseline.
func (r *Result) Baseline() *Baseline {
	f := &Facts{Catalog: Catalog{Label: r.Catalog}, Frameworks: r.Frameworks, Domains: r.Domains}
	for i := range r.Issues {
		if one := &r.Issues[i]; one.Rule == ruleGap {
			f.Findings = append(
				f.Findings,
				Finding{Control: one.Control, Title: one.Title, Severity: one.Severity, Status: one.Status, Result: one.Result},
			)
		}
	}
	return NewBaseline(f)
}

// Threshold is the result's figures as a threshold.
func (r *Result) Threshold() *Threshold {
	t := &Threshold{
		Format:          thresholdFormat,
		comparisonScope: r.comparisonScope,
		Coverage:        r.Figures.Coverage,
		Maturity:        r.Figures.Maturity,
		Gaps:            map[api.Severity]int{},
	}
	for _, s := range api.Severities {
		t.Gaps[s] = r.Figures.NotWaived[s]
	}
	return t
}

// EncodeJSON is the result as a record.
func (r *Result) EncodeJSON() ([]byte, error) { return encodeIndented(r) }

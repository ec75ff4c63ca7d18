package check

import (
	"github.com/scf-service/service/api"
)

// Verdict is the overall outcome of a check.
type Verdict string

// Verdicts. Approval means that nothing but an approval decision is missing.
const (
	Pass            Verdict = "pass"
	Fail            Verdict = "fail"
	ApprovalMissing Verdict = "approval"
)

// Outcome is the outcome of a single rule or issue.
type Outcome string

// Outcomes of a rule or issue.
const (
	Passed Outcome = "pass"
	Failed Outcome = "fail"
	Warned Outcome = "warn"
	Waived Outcome = "waived"
	Noted  Outcome = "note"
)

var outcomes = []Outcome{Failed, Warned, Waived, Noted, Passed}

// Result is the result of a check. It is written as JSON and can be read back as a baseline.
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
	Closed  []string     `json:"closed" doc:"Controls whose gap in the baseline no longer exists."`
	Decided []string     `json:"decided,omitempty" doc:"Controls whose status, applicability or gap a person has set."`

	controls []Control
}

// Figures holds an assessment's totals.
type Figures struct {
	Controls        int                  `json:"controls"`
	Applicable      int                  `json:"applicable"`
	Coverage        *float64             `json:"coverage"`
	Formula         string               `json:"coverage_formula"`
	Maturity        *float64             `json:"maturity"`
	Gaps            map[api.Severity]int `json:"gaps"`
	NotWaived       map[api.Severity]int `json:"gaps_not_waived"`
	Documents       int                  `json:"documents"`
	UnreadDocuments int                  `json:"unread_documents"`
	// NotRead counts the unread contents of documents that were otherwise read, and
	// IncompleteDocuments counts those documents.
	NotRead             []api.NotRead `json:"not_read"`
	IncompleteDocuments int           `json:"incomplete_documents"`
	api.Reliance
}

// RuleResult is the outcome of a rule that is in force.
type RuleResult struct {
	Rule    string  `json:"rule"`
	Subject string  `json:"subject,omitempty"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message"`
}

// Issue is a finding of a check: a gap, or another violation of the policy.
type Issue struct {
	Rule    string  `json:"rule"`
	Outcome Outcome `json:"outcome"`
	// FailedRules names the rules that the gap violates.
	FailedRules []string           `json:"failed_rules,omitempty"`
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

// RuleID returns the rule ID used in results: each control with a gap has its own rule.
func (i *Issue) RuleID() string {
	if i.Rule == ruleGap {
		return ruleGap + "/" + i.Control
	}
	return i.Rule
}

// CountIssues returns the number of issues with an outcome.
func (r *Result) CountIssues(o Outcome) (n int) {
	for i := range r.Issues {
		if r.Issues[i].Outcome == o {
			n++
		}
	}
	return n
}

// MissingAnalysisMessage returns a message and true if an analysis that the policy refers to does
// not exist yet. In that case, there is no verdict on the evidence.
func (r *Result) MissingAnalysisMessage() (message string, isMissing bool) {
	for _, one := range r.Rules {
		if one.Rule == ruleNoAnalysis && one.Outcome == Failed {
			return one.Message, true
		}
	}
	return "", false
}

// Baseline returns the result's gaps as a baseline.
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
	b := NewBaseline(f)
	b.Decided = r.Decided
	return b
}

// Threshold returns the result's figures as a threshold.
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

// EncodeJSON returns the result as JSON.
func (r *Result) EncodeJSON() ([]byte, error) { return encodeIndented(r) }

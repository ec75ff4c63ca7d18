package check

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/prose"
)

// Input holds everything a verdict is based on.
type Input struct {
	Facts     *Facts
	Policy    *Policy
	Baseline  *Baseline // nil if there is none
	Threshold *Threshold
	Waivers   []Waiver
	// Today is the date used for waiver expiry and document age.
	Today api.Date
	// Tool is the program and its version.
	Tool string
}

// evaluation is a check in progress, whose verdict is not complete yet.
type evaluation struct {
	Input
	result          *Result
	changeByControl map[string]api.GapChangeKind
	activeWaivers   map[string]*Waiver
}

// Evaluate checks facts against a policy.
func Evaluate(in Input) (*Result, error) {
	j := &evaluation{Input: in, activeWaivers: map[string]*Waiver{}, changeByControl: map[string]api.GapChangeKind{}}
	f := in.Facts
	j.result = &Result{
		Format:          resultFormat,
		Tool:            in.Tool,
		Subject:         f.Subject,
		comparisonScope: f.scopeForComparison(),
		Starter:         f.Catalog.Starter,
		AsOf:            in.Today,
		Policy:          in.Policy,
		Rules:           []RuleResult{},
		Decided:         NewBaseline(j.Facts).Decided,
		Issues:          []Issue{},
		Closed:          []string{},
		controls:        f.Controls,
	}
	if err := j.compareWithBaseline(); err != nil {
		return nil, err
	}
	for i := range in.Waivers {
		if w := &in.Waivers[i]; !w.isExpired(in.Today) {
			j.activeWaivers[w.Control] = w
		}
	}
	j.computeFigures()
	j.checkApprovals()
	j.checkRequiredAnalysesExist()
	j.checkGaps()
	j.checkRequiredFigures()
	j.checkUnreadAndStaleDocuments()
	j.checkExpiredAndUnusedWaivers()
	j.warnOfInputsInEvidence()
	j.sortIssuesAndDecideVerdict()
	return j.result, nil
}

// compareWithBaseline determines what has changed since the baseline.
func (j *evaluation) compareWithBaseline() error {
	now := j.Facts.scopeForComparison()
	if j.Baseline != nil && j.Facts.HasGapAnalysis {
		hint := " with --write-baseline (to compare results across catalogs, use `service check diff`)"
		if err := j.Baseline.checkComparable(now, j.Policy.Baseline, "baseline", hint); err != nil {
			return err
		}
		for _, c := range compareGaps(j.Baseline, NewBaseline(j.Facts)) {
			j.changeByControl[c.ControlCode] = c.Change
			if c.Change == api.GapClosed {
				j.result.Closed = append(j.result.Closed, c.ControlCode)
			}
		}
		slices.Sort(j.result.Closed)
	}
	if j.Threshold != nil {
		return j.Threshold.checkComparable(now, j.Policy.Threshold, "threshold file", " with --write-threshold")
	}
	return nil
}

func (j *evaluation) computeFigures() {
	f := &j.result.Figures
	f.Gaps, f.NotWaived = map[api.Severity]int{}, map[api.Severity]int{}
	f.Controls = len(j.Facts.Controls)
	for _, c := range j.Facts.Controls {
		if c.Applicability.IsApplicable() {
			f.Applicable++
		}
	}
	items := j.Facts.soaItems()
	f.Coverage, f.Formula = judge.CompliancePercent(items) // not rounded
	f.Reliance = judge.CountReliance(items)
	f.Maturity = j.Facts.meanMaturity()
	for _, g := range j.Facts.Findings {
		f.Gaps[g.Severity]++
		if j.activeWaivers[strings.ToUpper(g.Control)] == nil {
			f.NotWaived[g.Severity]++
		}
	}
	for _, d := range j.Facts.Documents {
		f.Documents++
		if d.ReadError != "" {
			f.UnreadDocuments++
		}
		if len(d.NotRead) > 0 {
			f.NotRead, f.IncompleteDocuments = append(f.NotRead, d.NotRead...), f.IncompleteDocuments+1
		}
	}
	f.NotRead = api.SumNotRead(f.NotRead)
}

// addRuleResult adds the outcome of a rule.
func (j *evaluation) addRuleResult(id, subject string, outcome Outcome, format string, args ...any) {
	r := RuleResult{Rule: id, Subject: subject, Outcome: outcome, Message: fmt.Sprintf(format, args...)}
	j.result.Rules = append(j.result.Rules, r)
}

// addIssue adds an issue that is not a gap.
func (j *evaluation) addIssue(id, subject string, outcome Outcome, place Place, format string, args ...any) {
	j.result.Issues = append(j.result.Issues, Issue{
		Rule: id, Outcome: outcome, Title: findRule(id).Title, Message: fmt.Sprintf(format, args...), Fix: findRule(id).Fix,
		Place: place, Fingerprint: fingerprint(id, subject),
	})
}

// addRuleAndIssue adds the result of a rule that either passed or failed and, if it failed, an issue.
func (j *evaluation) addRuleAndIssue(id, subject string, ok bool, format string, args ...any) {
	if ok {
		j.addRuleResult(id, subject, Passed, format, args...)
		return
	}
	j.addRuleResult(id, subject, Failed, format, args...)
	j.addIssue(id, subject, Failed, Place{}, format, args...)
}

func (j *evaluation) checkApprovals() {
	for _, g := range j.Policy.RequireApproved {
		at := slices.IndexFunc(j.Facts.Approvals, func(a Approval) bool { return a.Gate == g })
		a := Approval{Gate: g, State: NotDrafted}
		if at >= 0 {
			a = j.Facts.Approvals[at]
		}
		words := map[ApprovalState]string{
			Approved:     "is approved",
			Pending:      "is awaiting a decision",
			Rejected:     "was rejected and has not been resubmitted",
			Void:         "was changed after it was approved, so the approval is void",
			NotSubmitted: "has not been submitted for approval",
			NotDrafted:   "has not been drafted yet",
		}[a.State]
		if a.Version > 0 {
			words = fmt.Sprintf("(version %d) %s", a.Version, words)
		}
		if a.By != "" {
			words += " by " + a.By
		}
		if j.Facts.Subject.Kind == Folder {
			words = "can't be approved for a folder: check an assessment instead, by its name or ID"
			a.State = NotDrafted
		}
		j.addRuleAndIssue(ruleApproval, string(g), a.State == Approved, "the %s %s", g.Title(), words)
	}
}

// checkRequiredAnalysesExist adds an issue if the policy requires an analysis that does not exist.
// The issue is a failure, or only a warning if an approval is also missing, because the approval
// has to come first.
func (j *evaluation) checkRequiredAnalysesExist() {
	var lacks []string
	p := j.Policy
	if !j.Facts.HasGapAnalysis && (p.FailOn != "" || p.FailOnNew != "" || p.Threshold != "") {
		lacks = append(lacks, "gap analysis")
	}
	if !j.Facts.HasMaturity && p.MinMaturity != nil {
		lacks = append(lacks, "maturity assessment")
	}
	if len(lacks) == 0 {
		return
	}
	out := Failed
	if slices.ContainsFunc(j.result.Rules, func(r RuleResult) bool { return r.Rule == ruleApproval && r.Outcome == Failed }) {
		out = Warned
	}
	message := "there is no " + strings.Join(lacks, " and no ") + " yet"
	j.addRuleResult(ruleNoAnalysis, "", out, "%s", message)
	j.addIssue(ruleNoAnalysis, "", out, Place{}, "%s", message)
}

func (j *evaluation) checkGaps() {
	p := j.Policy
	failed, fresh := 0, 0
	for i := range j.Facts.Findings {
		g := &j.Facts.Findings[i]
		one := Issue{
			Rule:     ruleGap,
			Outcome:  Noted,
			Control:  g.Control,
			Title:    g.Title,
			Domain:   g.Domain,
			Severity: g.Severity,
			Status:   g.Status,
			Result:   g.Result,
			Message: firstNonEmpty(
				g.Condition,
				"The control has a gap.",
			),
			Missing:     g.Missing,
			Fix:         g.Fix,
			Place:       g.Place,
			Change:      j.changeByControl[g.Control],
			Waiver:      j.activeWaivers[strings.ToUpper(g.Control)],
			Fingerprint: g.Fingerprint,
		}
		if isAtLeast(g.Severity, p.FailOn) {
			one.FailedRules = append(one.FailedRules, ruleGap)
		}
		if (one.Change == api.GapOpened || one.Change == api.GapWorse) && isAtLeast(g.Severity, p.FailOnNew) {
			one.FailedRules = append(one.FailedRules, ruleNewGap)
		}
		switch {
		case one.Waiver != nil:
			one.Outcome, one.FailedRules = Waived, nil
		case len(one.FailedRules) > 0:
			one.Outcome = Failed
		}
		if slices.Contains(one.FailedRules, ruleGap) {
			failed++
		}
		if slices.Contains(one.FailedRules, ruleNewGap) {
			fresh++
		}
		j.result.Issues = append(j.result.Issues, one)
	}
	verdict := func(n int) Outcome {
		if n > 0 {
			return Failed
		}
		return Passed
	}
	if p.FailOn != "" && j.Facts.HasGapAnalysis {
		j.addRuleResult(ruleGap, "", verdict(failed), "%s not waived, %s", prose.Count(failed, "gap", "gaps"), orWorse(p.FailOn))
	}
	if p.FailOnNew != "" && j.Facts.HasGapAnalysis {
		bar := ""
		if p.FailOnNew != api.SeverityInformational {
			bar = ", " + orWorse(p.FailOnNew)
		}
		j.addRuleResult(ruleNewGap, "", verdict(fresh), "%s new or worse than in the baseline%s", prose.Count(fresh, "gap", "gaps"), bar)
	}
}

// orWorse returns a severity followed by "or worse", unless it is the worst one.
func orWorse(s api.Severity) string {
	if s == api.SeverityCritical {
		return string(s)
	}
	return string(s) + " or worse"
}

// checkRequiredFigures checks the required coverage and maturity and the thresholds.
func (j *evaluation) checkRequiredFigures() {
	p, f := j.Policy, &j.result.Figures
	if p.MinCoverage != nil {
		if f.Coverage == nil {
			j.addRuleAndIssue(
				ruleCoverage,
				"",
				false,
				"coverage can't be computed because no applicable control has been assessed; the required coverage is %s%%",
				formatNumber(*p.MinCoverage),
			)
		} else {
			j.addRuleAndIssue(
				ruleCoverage,
				"",
				*f.Coverage >= *p.MinCoverage,
				"coverage is %s%%; %s%% is required",
				formatNumber(*f.Coverage),
				formatNumber(*p.MinCoverage),
			)
		}
	}
	if p.MinMaturity != nil && j.Facts.HasMaturity {
		if f.Maturity == nil {
			j.addRuleAndIssue(
				ruleMaturity,
				"",
				false,
				"maturity can't be computed because no control could be rated; the required maturity is %s",
				formatNumber(*p.MinMaturity),
			)
		} else {
			j.addRuleAndIssue(
				ruleMaturity,
				"",
				*f.Maturity >= *p.MinMaturity,
				"average maturity is %s of 5; %s is required",
				formatNumber(*f.Maturity),
				formatNumber(*p.MinMaturity),
			)
		}
	}
	t := j.Threshold
	if t == nil {
		return
	}
	figure := func(about, name string, was, is *float64) {
		switch {
		case was == nil:
		case is == nil:
			j.addRuleAndIssue(ruleThreshold, about, false, "%s is no longer available; the previous value was %s", name, formatNumber(*was))
		default:
			j.addRuleAndIssue(ruleThreshold, about, *is >= *was, "%s is %s; the previous value was %s", name, formatNumber(*is), formatNumber(*was))
		}
	}
	figure("coverage", "coverage", t.Coverage, f.Coverage)
	figure("maturity", "average maturity", t.Maturity, f.Maturity)
	// Each severity also counts the worse gaps, so that a critical gap that becomes high is not a regression.
	is, was := 0, 0
	for _, s := range api.Severities {
		is, was = is+f.NotWaived[s], was+t.Gaps[s]
		j.addRuleAndIssue(ruleThreshold, string(s), is <= was, "unwaived gaps, %s: %d (previously %d)", orWorse(s), is, was)
	}
}

func (j *evaluation) checkUnreadAndStaleDocuments() {
	stale, undated := 0, 0
	for i := range j.Facts.Documents {
		d := &j.Facts.Documents[i]
		place := Place{Path: d.Path}
		if d.ReadError != "" {
			j.addIssue(ruleUnread, d.Path, Warned, place, "%s could not be read: %s", d.Path, d.ReadError)
			continue
		}
		if j.Policy.MaxStaleDays == nil {
			continue
		}
		days, known := daysBetween(d.EffectiveDate, j.Today)
		switch {
		case !known:
			undated++
			j.addIssue(ruleUndated, d.Path, Warned, place, "%s doesn't state a date, so its age can't be checked", d.Path)
		case days > *j.Policy.MaxStaleDays:
			stale++
			j.addIssue(
				ruleStale,
				d.Path,
				Failed,
				place,
				"%s is dated %s, %s ago; the maximum is %s",
				d.Path,
				d.EffectiveDate,
				prose.Count(days, "day", "days"),
				prose.Count(*j.Policy.MaxStaleDays, "day", "days"),
			)
		}
	}
	if n := j.result.Figures.UnreadDocuments; n > 0 {
		j.addRuleResult(ruleUnread, "", Warned, "%s could not be read", prose.Count(n, "document", "documents"))
	}
	if j.Policy.MaxStaleDays != nil {
		out := Passed
		if stale > 0 {
			out = Failed
		}
		j.addRuleResult(
			ruleStale,
			"",
			out,
			"%s older than %s",
			prose.Count(stale, "document", "documents"),
			prose.Count(*j.Policy.MaxStaleDays, "day", "days"),
		)
		if undated > 0 {
			j.addRuleResult(ruleUndated, "", Warned, "%s without a date", prose.Count(undated, "document", "documents"))
		}
	}
}

func daysBetween(from, to api.Date) (int, bool) {
	a, errA := time.Parse(time.DateOnly, string(from))
	b, errB := time.Parse(time.DateOnly, string(to))
	if errA != nil || errB != nil {
		return 0, false
	}
	return int(b.Sub(a).Hours() / 24), true
}

func (j *evaluation) checkExpiredAndUnusedWaivers() {
	if j.Policy.Waivers == "" {
		return
	}
	has, codes := map[string]bool{}, []string{}
	for _, f := range j.Facts.Findings {
		has[strings.ToUpper(f.Control)] = true
	}
	for _, c := range j.Facts.Controls {
		codes = append(codes, c.Code)
	}
	expired, unused := 0, 0
	for i := range j.Waivers {
		w := &j.Waivers[i]
		if j.Facts.excludedControls[w.Control] {
			continue // this control is outside the check
		}
		place := Place{Path: replaceControlCharacters(w.file), Line: w.line, End: w.line}
		switch {
		case w.isExpired(j.Today):
			expired++
			message := "the gap still exists"
			if !has[w.Control] {
				message = "the gap no longer exists: remove the waiver"
			}
			j.addIssue(
				ruleExpired,
				w.Control,
				Failed,
				place,
				"the waiver for %s, approved by %s, expired on %s; %s",
				w.Control,
				w.Approver,
				w.Expiry,
				message,
			)
		case !has[w.Control]:
			unused++
			hint := ""
			if !slices.Contains(codes, w.Control) {
				hint = "; this control is not part of the assessment" + didYouMean(w.Control, codes)
			}
			j.addIssue(ruleUnused, w.Control, Warned, place, "the waiver for %s doesn't match any gap%s", w.Control, hint)
		}
	}
	out := Passed
	if expired > 0 {
		out = Failed
	}
	j.addRuleResult(ruleExpired, "", out, "%s expired", prose.Count(expired, "waiver", "waivers"))
	if unused > 0 {
		j.addRuleResult(ruleUnused, "", Warned, "%s without a matching gap", prose.Count(unused, "waiver", "waivers"))
	}
}

// warnOfInputsInEvidence warns of input files, such as the policy, that anyone who delivers evidence can change.
func (j *evaluation) warnOfInputsInEvidence() {
	for _, f := range j.Policy.InEvidence {
		path := replaceControlCharacters(filepath.ToSlash(f.Path))
		j.addRuleResult(ruleInEvidence, path, Warned, "%s", f.Warning())
		j.addIssue(ruleInEvidence, path, Warned, Place{Path: path}, "%s", f.Warning())
	}
}

// sortIssuesAndDecideVerdict sorts the issues and sets the verdict. Failures in the evidence take precedence
// over missing approvals.
func (j *evaluation) sortIssuesAndDecideVerdict() {
	slices.SortStableFunc(j.result.Issues, func(a, b Issue) int {
		return cmp.Or(
			cmp.Compare(slices.Index(outcomes, a.Outcome), slices.Index(outcomes, b.Outcome)),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Control, b.Control),
			cmp.Compare(a.Place.Path, b.Place.Path),
		)
	})
	j.result.Verdict = Pass
	for _, r := range j.result.Rules {
		switch {
		case r.Outcome != Failed:
		case r.Rule == ruleApproval && j.result.Verdict == Pass:
			j.result.Verdict = ApprovalMissing
		case r.Rule != ruleApproval:
			j.result.Verdict = Fail
		}
	}
}

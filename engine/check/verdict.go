package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// Input is all that a verdict rests on.
type Input struct {
	Facts     *Facts
	Policy    *Policy
	Baseline  *Baseline // nil for none
	Threshold *Threshold
	Waivers   []Waiver
	// Today is the day that waivers and documents are held against.
	Today api.Date
	// Tool is the program with its version.
	Tool string
}

// evaluation is a verdict in the making.
type evaluation struct {
	Input
	out     *Result
	changed map[string]api.GapChangeKind
	waivers map[string]*Waiver
}

// Judge holds facts against a policy.
func Judge(in Input) (*Result, error) {
	j := &evaluation{Input: in, waivers: map[string]*Waiver{}, changed: map[string]api.GapChangeKind{}}
	f := in.Facts
	j.out = &Result{Format: resultForm, Tool: in.Tool, Subject: f.Subject, basis: f.basis(), Starter: f.Catalog.Starter, AsOf: in.Today, Policy: in.Policy,
		Rules: []Ruling{}, Issues: []Issue{}, Closed: []string{}, controls: f.Controls}
	if err := j.compare(); err != nil {
		return nil, err
	}
	for i := range in.Waivers {
		if w := &in.Waivers[i]; !w.expired(in.Today) {
			j.waivers[w.Control] = w
		}
	}
	j.figures()
	j.approvals()
	j.analysis()
	j.gaps()
	j.bars()
	j.documents()
	j.judgeWaivers()
	j.settle()
	return j.out, nil
}

// compare reads what moved since the baseline.
func (j *evaluation) compare() error {
	now := j.Facts.basis()
	if j.Baseline != nil && j.Facts.Analysed {
		if err := j.Baseline.holds(now, j.Policy.Baseline, "baseline", " with --write-baseline"); err != nil {
			return err
		}
		for _, c := range changes(j.Baseline, BaselineOf(j.Facts)) {
			j.changed[c.ControlCode] = c.Change
			if c.Change == api.GapClosed {
				j.out.Closed = append(j.out.Closed, c.ControlCode)
			}
		}
		slices.Sort(j.out.Closed)
	}
	if j.Threshold != nil {
		return j.Threshold.holds(now, j.Policy.Threshold, "threshold file", " with --write-threshold")
	}
	return nil
}

func (j *evaluation) figures() {
	f := &j.out.Figures
	f.Gaps, f.Open = map[api.Severity]int{}, map[api.Severity]int{}
	f.Controls = len(j.Facts.Controls)
	for _, c := range j.Facts.Controls {
		if c.Applicability.In() {
			f.Applicable++
		}
	}
	f.Coverage, f.Formula = j.Facts.coverage()
	f.Maturity = j.Facts.maturity()
	for _, g := range j.Facts.Findings {
		f.Gaps[g.Severity]++
		if j.waivers[strings.ToUpper(g.Control)] == nil {
			f.Open[g.Severity]++
		}
	}
	for _, d := range j.Facts.Documents {
		f.Documents++
		if d.Unread != "" {
			f.Unread++
		}
	}
}

// rule tells how a rule came out; where it did not pass, that is an issue too.
func (j *evaluation) rule(id, about string, out Outcome, format string, args ...any) {
	r := Ruling{id, about, out, fmt.Sprintf(format, args...)}
	j.out.Rules = append(j.out.Rules, r)
}

// issue is something to look at that is no gap.
func (j *evaluation) issue(id, about string, out Outcome, place Place, format string, args ...any) {
	j.out.Issues = append(j.out.Issues, Issue{Rule: id, Outcome: out, Title: ruleOf(id).Title, Message: fmt.Sprintf(format, args...), Fix: ruleOf(id).Fix,
		Place: place, Fingerprint: fingerprint(id, about)})
}

// both is a rule that is about one thing.
func (j *evaluation) both(id, about string, ok bool, format string, args ...any) {
	if ok {
		j.rule(id, about, Passed, format, args...)
		return
	}
	j.rule(id, about, Failed, format, args...)
	j.issue(id, about, Failed, Place{}, format, args...)
}

func (j *evaluation) approvals() {
	for _, g := range j.Policy.RequireApproved {
		at := slices.IndexFunc(j.Facts.Approvals, func(a Approval) bool { return a.Gate == g })
		a := Approval{Gate: g, State: NotDrafted}
		if at >= 0 {
			a = j.Facts.Approvals[at]
		}
		words := map[ApprovalState]string{
			Approved: "is approved", Pending: "waits for a decision", Rejected: "was rejected, and not submitted again",
			Void: "was changed after its approval, which is void", Unasked: "was not submitted for approval", NotDrafted: "is not drafted yet",
		}[a.State]
		if a.Version > 0 {
			words = fmt.Sprintf("(version %d) %s", a.Version, words)
		}
		if a.By != "" {
			words += " by " + a.By
		}
		if j.Facts.Subject.Kind == Folder {
			words = "of a folder can't be approved: check the assessment instead, by its name or id"
			a.State = NotDrafted
		}
		j.both(ruleApproval, string(g), a.State == Approved, "the %s %s", g.Title(), words)
	}
}

// analysis fails where the policy asks about what is not there. Where an approval is
// missing too, that is why, and a person decides first.
func (j *evaluation) analysis() {
	var lacks []string
	p := j.Policy
	if !j.Facts.Analysed && (p.FailOn != "" || p.FailOnNew != "" || p.Threshold != "") {
		lacks = append(lacks, "gap analysis")
	}
	if !j.Facts.Rated && p.MinMaturity != nil {
		lacks = append(lacks, "maturity assessment")
	}
	if len(lacks) == 0 {
		return
	}
	out := Failed
	if slices.ContainsFunc(j.out.Rules, func(r Ruling) bool { return r.Rule == ruleApproval && r.Outcome == Failed }) {
		out = Warned
	}
	message := "there is no " + strings.Join(lacks, " and no ") + " yet"
	j.rule(ruleNoAnalysis, "", out, "%s", message)
	j.issue(ruleNoAnalysis, "", out, Place{}, "%s", message)
}

func (j *evaluation) gaps() {
	p := j.Policy
	failed, fresh := 0, 0
	for i := range j.Facts.Findings {
		g := &j.Facts.Findings[i]
		one := Issue{Rule: ruleGap, Outcome: Noted, Control: g.Control, Title: g.Title, Domain: g.Domain, Severity: g.Severity, Status: g.Status, Result: g.Result,
			Message: or(g.Condition, "The control has a gap."), Missing: g.Missing, Fix: g.Fix, Place: g.Place, Change: j.changed[g.Control], Waiver: j.waivers[strings.ToUpper(g.Control)], Fingerprint: g.Fingerprint}
		if reaches(g.Severity, p.FailOn) {
			one.Because = append(one.Because, ruleGap)
		}
		if (one.Change == api.GapOpened || one.Change == api.GapWorse) && reaches(g.Severity, p.FailOnNew) {
			one.Because = append(one.Because, ruleNewGap)
		}
		switch {
		case one.Waiver != nil:
			one.Outcome, one.Because = Waived, nil
		case len(one.Because) > 0:
			one.Outcome = Failed
		}
		if slices.Contains(one.Because, ruleGap) {
			failed++
		}
		if slices.Contains(one.Because, ruleNewGap) {
			fresh++
		}
		j.out.Issues = append(j.out.Issues, one)
	}
	verdict := func(n int) Outcome {
		if n > 0 {
			return Failed
		}
		return Passed
	}
	if p.FailOn != "" && j.Facts.Analysed {
		j.rule(ruleGap, "", verdict(failed), "%s not waived, %s", count(failed, "gap", "gaps"), barWords(p.FailOn))
	}
	if p.FailOnNew != "" && j.Facts.Analysed {
		bar := ""
		if p.FailOnNew != api.SeverityInformational {
			bar = ", " + barWords(p.FailOnNew)
		}
		j.rule(ruleNewGap, "", verdict(fresh), "%s new or worse than in the baseline%s", count(fresh, "gap", "gaps"), bar)
	}
}

// barWords are a severity and what is worse.
func barWords(s api.Severity) string {
	if s == api.SeverityCritical {
		return string(s)
	}
	return string(s) + " or worse"
}

// bars are the figures that are asked for.
func (j *evaluation) bars() {
	p, f := j.Policy, &j.out.Figures
	if p.MinCoverage != nil {
		if f.Coverage == nil {
			j.both(ruleCoverage, "", false, "there is no coverage: no control is both applicable and assessed; %s %% is asked for", number(*p.MinCoverage))
		} else {
			j.both(ruleCoverage, "", *f.Coverage >= *p.MinCoverage, "coverage is %s %%, and %s %% is asked for", number(*f.Coverage), number(*p.MinCoverage))
		}
	}
	if p.MinMaturity != nil && j.Facts.Rated {
		if f.Maturity == nil {
			j.both(ruleMaturity, "", false, "there is no maturity: no control could be rated; %s is asked for", number(*p.MinMaturity))
		} else {
			j.both(ruleMaturity, "", *f.Maturity >= *p.MinMaturity, "the mean maturity is %s of 5, and %s is asked for", number(*f.Maturity), number(*p.MinMaturity))
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
			j.both(ruleThreshold, about, false, "there is no %s any more; it was %s", name, number(*was))
		default:
			j.both(ruleThreshold, about, *is >= *was, "%s is %s; it was %s", name, number(*is), number(*was))
		}
	}
	figure("coverage", "coverage", t.Coverage, f.Coverage)
	figure("maturity", "mean maturity", t.Maturity, f.Maturity)
	// Counted with what is worse: a critical gap that becomes a high one is no step back.
	is, was := 0, 0
	for _, s := range api.Severities {
		is, was = is+f.Open[s], was+t.Gaps[s]
		j.both(ruleThreshold, string(s), is <= was, "gaps not waived, %s: %d; they were %d", barWords(s), is, was)
	}
}

func (j *evaluation) documents() {
	stale, undated := 0, 0
	for i := range j.Facts.Documents {
		d := &j.Facts.Documents[i]
		place := Place{Path: d.Path}
		if d.Unread != "" {
			j.issue(ruleUnread, d.Path, Warned, place, "%s could not be read: %s", d.Path, d.Unread)
			continue
		}
		if j.Policy.MaxStaleDays == nil {
			continue
		}
		days, known := daysBetween(d.Dated, j.Today)
		switch {
		case !known:
			undated++
			j.issue(ruleUndated, d.Path, Warned, place, "%s states no date, so there is no telling whether it is stale", d.Path)
		case days > *j.Policy.MaxStaleDays:
			stale++
			j.issue(ruleStale, d.Path, Failed, place, "%s is dated %s, %s ago; at most %d are allowed", d.Path, d.Dated, count(days, "day", "days"), *j.Policy.MaxStaleDays)
		}
	}
	if n := j.out.Figures.Unread; n > 0 {
		j.rule(ruleUnread, "", Warned, "%s could not be read", count(n, "document", "documents"))
	}
	if j.Policy.MaxStaleDays != nil {
		out := Passed
		if stale > 0 {
			out = Failed
		}
		j.rule(ruleStale, "", out, "%s older than %s", count(stale, "document", "documents"), count(*j.Policy.MaxStaleDays, "day", "days"))
		if undated > 0 {
			j.rule(ruleUndated, "", Warned, "%s without a date", count(undated, "document", "documents"))
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

func (j *evaluation) judgeWaivers() {
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
		if j.Facts.outside[w.Control] {
			continue // this check does not look there
		}
		place := Place{Path: safe(w.file), Line: w.line, End: w.line}
		switch {
		case w.expired(j.Today):
			expired++
			still := "its gap is still there"
			if !has[w.Control] {
				still = "its gap is no more: remove the waiver"
			}
			j.issue(ruleExpired, w.Control, Failed, place, "the waiver of %s, approved by %s, expired on %s; %s", w.Control, w.Approver, w.Expiry, still)
		case !has[w.Control]:
			unused++
			hint := ""
			if !slices.Contains(codes, w.Control) {
				hint = "; no such control is assessed here" + nearest(w.Control, codes)
			}
			j.issue(ruleUnused, w.Control, Warned, place, "the waiver of %s is for no gap%s", w.Control, hint)
		}
	}
	out := Passed
	if expired > 0 {
		out = Failed
	}
	j.rule(ruleExpired, "", out, "%s expired", count(expired, "waiver", "waivers"))
	if unused > 0 {
		j.rule(ruleUnused, "", Warned, "%s for no gap", count(unused, "waiver", "waivers"))
	}
}

// settle orders what was found and gives the verdict. What the evidence shows stands
// before what a person has to decide.
func (j *evaluation) settle() {
	slices.SortStableFunc(j.out.Issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(slices.Index(outcomes, a.Outcome), slices.Index(outcomes, b.Outcome)), cmp.Compare(rank(a.Severity), rank(b.Severity)),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Control, b.Control), cmp.Compare(a.Place.Path, b.Place.Path))
	})
	j.out.Verdict = Pass
	for _, r := range j.out.Rules {
		switch {
		case r.Outcome != Failed:
		case r.Rule == ruleApproval && j.out.Verdict == Pass:
			j.out.Verdict = ApprovalMissing
		case r.Rule != ruleApproval:
			j.out.Verdict = Fail
		}
	}
}

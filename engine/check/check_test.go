package check

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// ruleOutcome returns the outcome of a rule, or "" if it is not in force.
func ruleOutcome(r *Result, rule, about string) Outcome {
	for _, one := range r.Rules {
		if one.Rule == rule && one.Subject == about {
			return one.Outcome
		}
	}
	return ""
}

func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		settings []string
		rule     string
		about    string
		outcome  Outcome
		verdict  Verdict
	}{
		"a critical gap":             {[]string{"fail-on=critical"}, ruleGap, "", Failed, Fail},
		"enough coverage":            {[]string{"min-coverage=50"}, ruleCoverage, "", Passed, Pass},
		"exactly enough coverage":    {[]string{"min-coverage=50%"}, ruleCoverage, "", Passed, Pass},
		"too little coverage":        {[]string{"min-coverage=50.01"}, ruleCoverage, "", Failed, Fail},
		"exactly mature enough":      {[]string{"min-maturity=2.5"}, ruleMaturity, "", Passed, Pass},
		"not mature enough":          {[]string{"min-maturity=2.51"}, ruleMaturity, "", Failed, Fail},
		"a document is old":          {[]string{"max-stale-days=1025"}, ruleStale, "", Failed, Fail},
		"a document is as old":       {[]string{"max-stale-days=1026"}, ruleStale, "", Passed, Pass},
		"a document without a date":  {[]string{"max-stale-days=2000"}, ruleUndated, "", Warned, Pass},
		"a document can't be read":   {[]string{"max-stale-days=2000"}, ruleUnread, "", Warned, Pass},
		"approved":                   {[]string{"require-approved=soa,gap_analysis"}, ruleApproval, "gap_analysis", Passed, Pass},
		"approval missing":           {[]string{"require-approved=soa,maturity"}, ruleApproval, "maturity", Failed, ApprovalMissing},
		"not drafted":                {[]string{"require-approved=poam"}, ruleApproval, "poam", Failed, ApprovalMissing},
		"a failure before a missing": {[]string{"require-approved=poam", "min-coverage=90"}, ruleApproval, "poam", Failed, Fail},
	} {
		r := mustEvaluate(t, sampleFacts(), tc.settings...)
		if got := ruleOutcome(r, tc.rule, tc.about); got != tc.outcome || r.Verdict != tc.verdict {
			t.Errorf("%s: %s is %q and the verdict %q, want %q and %q", name, tc.rule, got, r.Verdict, tc.outcome, tc.verdict)
		}
	}
}

// TestEmptyPolicyUsesDefault checks that a policy without requirements uses the default: a check
// that cannot fail would be useless.
func TestEmptyPolicyUsesDefault(t *testing.T) {
	p := &Policy{}
	if err := p.ValidateAndSetDefaults(); err != nil || p.FailOn != api.SeverityHigh || !p.IsDefault {
		t.Errorf("%+v, %v", p, err)
	}
	p = &Policy{RequireApproved: []api.Gate{api.GateSoA}}
	if err := p.ValidateAndSetDefaults(); err != nil || p.FailOn != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if err := (&Policy{FailOnNew: api.SeverityLow}).ValidateAndSetDefaults(); err == nil {
		t.Error("fail-on-new without a baseline compares with nothing")
	}
}

func TestFailOnIncludesWorseSeverities(t *testing.T) {
	for bar, want := range map[string]int{"critical": 1, "high": 2, "medium": 3, "low": 4} {
		if got := mustEvaluate(t, sampleFacts(), "fail-on="+bar).CountIssues(Failed); got != want {
			t.Errorf("%s: %d fail, want %d", bar, got, want)
		}
	}
}

func TestBaselineIdentifiesNewGaps(t *testing.T) {
	in := input(t, sampleFacts(), "fail-on-new=any", "baseline=b.json")
	in.Baseline = NewBaseline(sampleFacts())
	if r := must[*Result](t)(Evaluate(in)); r.Verdict != Pass || len(r.Closed) != 0 {
		t.Errorf("the same is new: %s %v", r.Verdict, r.Closed)
	}
	was := sampleFacts()
	was.Findings = slices.DeleteFunc(was.Findings, func(f Finding) bool { return f.Control == "OWN 1" })
	for i := range was.Findings {
		switch was.Findings[i].Control {
		case "IAC-06":
			was.Findings[i].Severity = api.SeverityLow // is worse now
		case "IAC-17":
			was.Findings[i].Severity = api.SeverityHigh // is better
		}
	}
	was.Findings = append(was.Findings, Finding{Control: "BCD-11", Severity: api.SeverityLow})
	in.Baseline = NewBaseline(was)
	r := must[*Result](t)(Evaluate(in))
	got := map[string]api.GapChangeKind{}
	for _, i := range r.Issues {
		got[i.Control] = i.Change
	}
	delete(got, "")
	want := map[string]api.GapChangeKind{"OWN 1": api.GapOpened, "IAC-06": api.GapWorse, "IAC-17": api.GapBetter, "END-04": ""}
	if !reflect.DeepEqual(got, want) || !slices.Equal(r.Closed, []string{"BCD-11"}) {
		t.Errorf("%v, closed %v", got, r.Closed)
	}
	if n := r.CountIssues(Failed); n != 2 || r.Verdict != Fail {
		t.Errorf("%d fail, %s", n, r.Verdict)
	}
	in.Policy.FailOnNew = api.SeverityHigh // the new gap is low, so it is allowed
	if n := must[*Result](t)(Evaluate(in)).CountIssues(Failed); n != 1 {
		t.Errorf("%d high ones fail, want the one that is worse", n)
	}
}

func TestIncomparableBaselines(t *testing.T) {
	for name, other := range map[string]func(*Facts){
		"catalog":   func(f *Facts) { f.Catalog.Label = "2026.1.1" },
		"framework": func(f *Facts) { f.Frameworks = f.Frameworks[:1] },
		"domain":    func(f *Facts) { f.Domains = []string{"IAC"} },
	} {
		f := sampleFacts()
		other(f)
		in := input(t, sampleFacts(), "baseline=b.json")
		in.Baseline = NewBaseline(f)
		_, err := Evaluate(in)
		var m *InputError
		if !errors.As(err, &m) || m.File != "b.json" || !strings.Contains(m.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
		in.Baseline, in.Threshold = nil, mustEvaluate(t, f, "fail-on=low").Threshold()
		in.Policy.Threshold = "t.json"
		if _, err := Evaluate(in); !errors.As(err, &m) || m.File != "t.json" {
			t.Errorf("%s: a threshold: %v", name, err)
		}
	}
}

func TestWaivers(t *testing.T) {
	waived := func(expiry, control string) *Result {
		in := input(t, sampleFacts(), "fail-on=critical", "waivers=w.yaml")
		in.Waivers = must[[]Waiver](
			t,
		)(
			ParseWaivers([]byte("waivers:\n- control: "+control+"\n  reason: r\n  approver: a\n  expiry: "+expiry), "w.yaml"),
		)
		return must[*Result](t)(Evaluate(in))
	}
	if r := waived("2026-11-22", "iac-06"); r.Verdict != Pass || r.CountIssues(Waived) != 1 ||
		r.Figures.NotWaived[api.SeverityCritical] != 0 ||
		r.Figures.Gaps[api.SeverityCritical] != 1 {
		t.Errorf("a waiver holds on its last day: %s, %d waived", r.Verdict, r.CountIssues(Waived))
	}
	if r := waived("2026-11-21", "IAC-06"); r.Verdict != Fail || ruleOutcome(r, ruleGap, "") != Failed ||
		ruleOutcome(r, ruleExpired, "") != Failed {
		t.Errorf("an expired waiver: %+v", r.Rules)
	}
	if r := waived("2026-11-21", "BCD-11"); ruleOutcome(r, ruleExpired, "") != Failed {
		t.Errorf("an expired waiver of no gap: %+v", r.Rules)
	}
	r := waived("2027-01-01", "IAC-60")
	if r.Verdict != Fail || ruleOutcome(r, ruleUnused, "") != Warned {
		t.Errorf("an unused waiver: %+v", r.Rules)
	}
	in := input(t, sampleFacts(), "min-coverage=1", "waivers=w.yaml")
	in.Waivers = []Waiver{{Control: "IAC-17", Expiry: "2020-01-01"}, {Control: "BCD-11", Expiry: "2999-01-01"}}
	if err := in.Facts.Filter(nil, []string{"END"}); err != nil {
		t.Fatal(err)
	}
	if r := must[*Result](t)(Evaluate(in)); ruleOutcome(r, ruleExpired, "") != Passed || ruleOutcome(r, ruleUnused, "") != "" {
		t.Errorf("waivers of what is not looked at: %+v", r.Rules)
	}
	at := slices.IndexFunc(r.Issues, func(i Issue) bool { return i.Rule == ruleUnused })
	if one := r.Issues[at]; !strings.Contains(one.Message, `did you mean "IAC-06"`) || one.Place.Path != "w.yaml" || one.Place.Line != 2 {
		t.Errorf("%+v", one)
	}
}

func TestThresholdIsARatchet(t *testing.T) {
	in := input(t, sampleFacts(), "threshold=t.json")
	in.Threshold = must[*Threshold](t)(
		ParseThreshold(must[[]byte](t)(mustEvaluate(t, sampleFacts(), "fail-on=low").Threshold().Encode()), "t.json"),
	)
	if r := must[*Result](t)(Evaluate(in)); r.Verdict != Pass {
		t.Errorf("the same is worse: %+v", r.Rules)
	}
	in.Facts.Findings = append(in.Facts.Findings, Finding{Control: "NEW-01", Severity: api.SeverityLow})
	if r := must[*Result](t)(Evaluate(in)); r.Verdict != Fail || ruleOutcome(r, ruleThreshold, "low") != Failed ||
		ruleOutcome(r, ruleThreshold, "coverage") != Passed {
		t.Errorf("one gap more: %+v", r.Rules)
	}
	in.Facts = sampleFacts()
	for i := range in.Facts.Findings {
		if f := &in.Facts.Findings[i]; f.Severity == api.SeverityCritical {
			f.Severity = api.SeverityHigh
		}
	}
	if r := must[*Result](t)(Evaluate(in)); r.Verdict != Pass {
		t.Errorf("a gap that is less severe: %+v", r.Rules)
	}
	for i := range in.Facts.Controls {
		in.Facts.Controls[i].Status, in.Facts.Controls[i].Level = api.NotEvidenced, nil
	}
	if r := must[*Result](t)(Evaluate(in)); ruleOutcome(r, ruleThreshold, "coverage") != Failed ||
		ruleOutcome(r, ruleThreshold, "maturity") != Failed {
		t.Errorf("figures that are gone: %+v", r.Rules)
	}
}

func TestApprovalAppliesToDecidedContent(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Records)
		want   ApprovalState
	}{
		"as approved":     {func(*Records) {}, Approved},
		"changed content": {func(r *Records) { r.Versions[api.GateSoA].ContentSHA256 = "other" }, Void},
		"a void approval": {func(r *Records) { r.Approvals[0].Status, r.Approvals[0].Void = api.ApprovalRejected, true }, Void},
		"a new draft": {func(r *Records) {
			r.Versions[api.GateSoA].ID, r.Versions[api.GateSoA].Status, r.Versions[api.GateSoA].ContentSHA256 = "soa2", api.VersionDraft, "other"
		}, Void},
		"a new draft with the same content": {func(r *Records) {
			r.Versions[api.GateSoA].ID, r.Versions[api.GateSoA].Status = "soa2", api.VersionDraft
		}, Approved},
		"a draft with content rejected since": {func(r *Records) {
			r.Versions[api.GateSoA].ID, r.Versions[api.GateSoA].Status = "soa3", api.VersionDraft
			later, rejected := r.Approvals[0].DecidedAt.Add(time.Hour), r.Approvals[0]
			rejected.TargetID, rejected.Status, rejected.DecidedAt, rejected.RequestedAt = "soa2", api.ApprovalRejected, &later, later
			r.Approvals = append(r.Approvals, rejected)
		}, Rejected},
		"submitted again":    {func(r *Records) { r.Versions[api.GateSoA].Status = api.VersionUnderReview }, Pending},
		"another's approval": {func(r *Records) { r.Approvals[0].Gate = api.GatePOAM }, Void},
		"rejected": {func(r *Records) {
			r.Versions[api.GateSoA].Status, r.Approvals[0].Status = api.VersionRejected, api.ApprovalRejected
		}, Rejected},
		"never submitted":  {func(r *Records) { r.Versions[api.GateSoA].Status, r.Approvals = api.VersionDraft, nil }, NotSubmitted},
		"nothing there":    {func(r *Records) { r.Versions[api.GateSoA] = nil }, NotDrafted},
		"moved to another": {func(r *Records) { at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC); r.Assessment.MigratedAt = &at }, Void},
		"moved before drafted": {
			func(r *Records) { at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC); r.Assessment.MigratedAt = &at },
			Approved,
		},
	} {
		r := sampleRecords()
		tc.change(r)
		f := NewFacts(r)
		if got := f.Approvals[0]; got.State != tc.want {
			t.Errorf("%s: %+v, want %s", name, got, tc.want)
		}
		if out := mustEvaluate(t, f, "require-approved=soa"); (out.Verdict == Pass) != (tc.want == Approved) {
			t.Errorf("%s: %s", name, out.Verdict)
		}
	}
	f := sampleFacts()
	f.Subject.Kind = Folder
	if r := mustEvaluate(t, f, "require-approved=soa"); r.Verdict != ApprovalMissing {
		t.Errorf("nobody approves a folder: %s", r.Verdict)
	}
}

func TestMissingAnalysis(t *testing.T) {
	f := sampleFacts()
	f.HasGapAnalysis, f.HasMaturity, f.Findings = false, false, nil
	if why, nothing := mustEvaluate(t, f, "fail-on=high", "min-maturity=1").MissingAnalysisMessage(); !nothing ||
		!strings.Contains(why, "gap analysis and no maturity") {
		t.Errorf("%q, %v", why, nothing)
	}
	// A missing approval takes precedence as the reason.
	r := mustEvaluate(t, f, "fail-on=high", "require-approved=maturity")
	if _, nothing := r.MissingAnalysisMessage(); nothing || r.Verdict != ApprovalMissing {
		t.Errorf("%s, %+v", r.Verdict, r.Rules)
	}
}

func TestFilter(t *testing.T) {
	f := sampleFacts()
	if err := f.Filter([]string{"SOC2-TSC"}, nil); err != nil || len(f.Controls) != 1 || len(f.Findings) != 1 ||
		f.Findings[0].Control != "OWN 1" {
		t.Errorf("%v: %d controls, %+v", err, len(f.Controls), f.Findings)
	}
	f = sampleFacts()
	if err := f.Filter(nil, []string{"iac"}); err != nil || len(f.Controls) != 2 || len(f.Findings) != 2 ||
		!slices.Equal(f.Domains, []string{"IAC"}) {
		t.Errorf("%v: %+v", err, f)
	}
	for _, tc := range [][2][]string{{{"iso-27001-2202"}, nil}, {nil, {"IAK"}}} {
		if err := sampleFacts().Filter(tc[0], tc[1]); err == nil || !strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%v: %v", tc, err)
		}
	}
}

func TestOrderAndFingerprintsAreStable(t *testing.T) {
	a := must[[]byte](t)(mustEvaluate(t, sampleFacts(), "fail-on=low", "max-stale-days=1").EncodeJSON())
	r := sampleRecords()
	slices.Reverse(r.Findings)
	slices.Reverse(r.Items)
	slices.Reverse(r.Documents)
	slices.Reverse(r.Scores)
	if b := must[[]byte](t)(mustEvaluate(t, NewFacts(r), "fail-on=low", "max-stale-days=1").EncodeJSON()); string(a) != string(b) {
		t.Error("another order of the records is another result")
	}
	seen := map[string]bool{}
	for _, i := range mustEvaluate(t, sampleFacts(), "fail-on=low", "max-stale-days=1", "require-approved=poam,maturity").Issues {
		if seen[i.Fingerprint] {
			t.Errorf("%+v has another's fingerprint", i)
		}
		seen[i.Fingerprint] = true
	}
	moved := sampleRecords()
	moved.Findings[0].Evidence[0].Locator = api.Locator{LineStart: 99}
	moved.Findings[0].Condition, moved.Findings[0].Severity = "Other words.", api.SeverityHigh
	was := sampleFacts().Findings
	for i, f := range NewFacts(moved).Findings {
		if f.Fingerprint != was[i].Fingerprint {
			t.Errorf("%s moved and is another", f.Control)
		}
	}
}

func TestFactsRoundTrip(t *testing.T) {
	f := sampleFacts()
	f.ReplaceFolderPath("evidence", "sub/dir")
	f.AddUnreadFile("sub/dir/link", "a link")
	back := must[*Facts](t)(DecodeFacts(must[[]byte](t)(f.Encode())))
	if !reflect.DeepEqual(f, back) {
		t.Errorf("%+v\nis not\n%+v", back, f)
	}
	if f.Documents[1].Path != "sub/dir/access.md" || f.CountReadDocuments() != 2 {
		t.Errorf("%+v", f.Documents)
	}
}

func TestResultIsABaseline(t *testing.T) {
	r := mustEvaluate(t, sampleFacts(), "fail-on=low")
	b := must[*Baseline](t)(ParseBaseline(must[[]byte](t)(r.EncodeJSON()), "r.json"))
	want := NewBaseline(sampleFacts())
	want.Controls = nil // a result lists only what is amiss
	if !reflect.DeepEqual(b, want) {
		t.Errorf("%+v, want %+v", b, want)
	}
	if again := must[*Baseline](t)(ParseBaseline(must[[]byte](t)(b.Encode()), "b.json")); !reflect.DeepEqual(again, b) {
		t.Errorf("%+v, want %+v", again, b)
	}
}

func TestDiff(t *testing.T) {
	was := sampleFacts()
	was.Findings[0].Severity = api.SeverityInformational
	was.Findings = append(was.Findings[:2], Finding{Control: "BCD-11", Title: hostileText, Severity: api.SeverityLow, Status: api.Planned})
	d := must[*Diff](t)(CompareBaselines(NewBaseline(was), NewBaseline(sampleFacts()), "a", "b"))
	if d.Opened != 1 || len(d.Decided) != 1 || d.Worse != 1 || d.Closed != 1 || d.Better != 0 || d.Same != 1 {
		t.Errorf("%+v", d)
	}
	if !d.HasRegressions(api.SeverityHigh) || d.HasRegressions("") {
		t.Errorf("%+v", d)
	}
	for _, f := range DiffFormats {
		if text := must[[]byte](t)(d.Render(f)); !strings.Contains(strings.ReplaceAll(string(text), "&#45;", "-"), "BCD-11") {
			t.Errorf("%s: %s", f, text)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, r := range Rules {
		page := must[string](t)(ExplainRule(r.ID))
		if !strings.Contains(page, r.Title) || !strings.Contains(page, "What to do") {
			t.Errorf("%s: %s", r.ID, page)
		}
		if r.Setting != "" && !slices.ContainsFunc(Settings, func(s Setting) bool { return s.Key == r.Setting && s.IsFlag }) {
			t.Errorf("%s is asked for by %s, which is no setting", r.ID, r.Setting)
		}
	}
	if page := must[string](t)(ExplainRule("gap/IAC-06")); !strings.Contains(page, "catalog show IAC-06") {
		t.Error(page)
	}
	if page := must[string](t)(ExplainRule("fail-on-new")); !strings.Contains(page, "new-gap") {
		t.Error(page)
	}
	if _, err := ExplainRule("stale-documnet"); err == nil || !strings.Contains(err.Error(), `did you mean "stale-document"`) {
		t.Error(err)
	}
}

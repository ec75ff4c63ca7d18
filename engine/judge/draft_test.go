package judge

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func soaItem(status api.Implementation, ratio float64) api.SoAItem {
	return api.SoAItem{
		Item:                 api.Item{ControlCode: "IAC-06", RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.8.5"}}},
		Applicability:        api.Applicable,
		ImplementationStatus: status,
		CoverageRatio:        ratio,
		EvidenceCoverage:     coverageLevel(ratio),
		Reason:               "Because.",
	}
}

func weighted(w int) api.Control {
	c := control("Multi-factor authentication", "MFA is required.")
	c.Weight = &w
	c.IsMaterial = w == 10
	return c
}

func TestApplicability(t *testing.T) {
	person := func(v string) api.Trait { return api.Trait{Value: v, Source: "person"} }
	for _, tc := range []struct {
		name   string
		c      api.Control
		traits map[string]api.Trait
		want   api.Applicability
		says   string
	}{
		{"no traits", api.Control{}, nil, api.Applicable, "every organization"},
		{"unknown", api.Control{Traits: []string{"handles_cards"}}, nil, api.Applicable, "known whether"},
		{
			"true",
			api.Control{Traits: []string{"handles_cards", "uses_ai"}},
			map[string]api.Trait{"uses_ai": {Value: "true", Source: "evidence"}, "handles_cards": person("false")},
			api.Applicable,
			"artificial",
		},
		{
			"person says no",
			api.Control{Traits: []string{"handles_cards"}},
			map[string]api.Trait{"handles_cards": person("false")},
			api.NotApplicable,
			"user stated",
		},
		{
			"documents say no",
			api.Control{Traits: []string{"handles_cards"}},
			map[string]api.Trait{"handles_cards": {Value: "false", Source: "evidence"}},
			api.Applicable,
			"confirmed",
		},
		{
			"one no, one unknown",
			api.Control{Traits: []string{"handles_cards", "has_ot"}},
			map[string]api.Trait{"handles_cards": person("false")},
			api.Applicable,
			"known whether",
		},
		{
			"facility",
			api.Control{Applicability: []string{"facility"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.NotApplicable,
			"premises",
		},
		{
			"facility and process",
			api.Control{Applicability: []string{"facility", "process"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.PartiallyApplicable,
			"premises",
		},
		{
			"a site to fall back on",
			api.Control{DomainCode: "BCD", Applicability: []string{"facility"}},
			map[string]api.Trait{"has_facilities": person("false")},
			api.PartiallyApplicable,
			"providers",
		},
		{"facility unknown", api.Control{Applicability: []string{"facility"}}, nil, api.Applicable, "every"},
		{"deprecated", api.Control{IsDeprecated: true}, nil, api.NotApplicable, "deprecated"},
	} {
		if got, why := DetermineApplicability(tc.c, tc.traits); got != tc.want || !strings.Contains(why, tc.says) {
			t.Errorf("%s: %s, %q", tc.name, got, why)
		}
	}
}

func TestSeverity(t *testing.T) {
	for _, tc := range []struct {
		weight       int
		missing      float64
		requirements int
		status       api.Implementation
		want         api.Severity
	}{
		{10, 1, 0, api.NotImplemented, api.SeverityCritical},
		{10, 1, 0, api.NotEvidenced, api.SeverityHigh},
		{10, 0.2, 0, api.PartiallyImplemented, api.SeverityMedium},
		{10, 0.5, 0, api.PartiallyImplemented, api.SeverityHigh},
		{8, 1, 0, api.NotEvidenced, api.SeverityMedium},
		{5, 1, 0, api.NotImplemented, api.SeverityMedium},
		{3, 1, 0, api.NotEvidenced, api.SeverityLow},
		{0, 1, 0, api.NotImplemented, api.SeverityInformational},
		{10, 1, 50, api.NotAssessed, api.SeverityInformational},
	} {
		got, _, why := RateSeverity(tc.weight, tc.missing, tc.requirements, tc.status)
		if got != tc.want {
			t.Errorf("%+v: %s (%s)", tc, got, why)
		}
	}
	if _, _, why := RateSeverity(9, 0.25, 3, api.PartiallyImplemented); !strings.Contains(
		why,
		"weight 9 × (0.4 + 0.6 × 25 % missing) × 0.80 for partially implemented + 0.3 for 3 requirements = 4.26",
	) {
		t.Errorf("formula %q", why)
	}
	// More weight, more missing or more requirements is never milder.
	for w := range 10 {
		for m := range 10 {
			for status := range statusFactors {
				here, _, _ := RateSeverity(w, float64(m)/10, m, status)
				for _, s := range []struct {
					w int
					m float64
					r int
				}{{w + 1, float64(m) / 10, m}, {w, float64(m+1) / 10, m}, {w, float64(m) / 10, m + 1}} {
					if worse, _, _ := RateSeverity(s.w, s.m, s.r, status); severityRank(worse) > severityRank(here) {
						t.Fatalf("%d %d %s: %s became %s", w, m, status, here, worse)
					}
				}
			}
		}
	}
}

func TestFinding(t *testing.T) {
	for _, tc := range []struct {
		item   api.SoAItem
		gap    bool
		result api.Result
	}{
		{soaItem(api.Implemented, 1), false, ""},
		{soaItem(api.Implemented, 0.5), true, api.Met},
		{soaItem(api.PartiallyImplemented, 0.5), true, api.PartiallyMet},
		{soaItem(api.NotEvidenced, 0), true, api.ResultNoEvid},
		{soaItem(api.NotImplemented, 0), true, api.NotMet},
		{soaItem(api.Planned, 0), true, api.NotMet},
		{soaItem(api.NotAssessed, 0), false, ""},
		{api.SoAItem{Applicability: api.NotApplicable, ImplementationStatus: api.NotImplemented}, false, ""},
		{api.SoAItem{Applicability: api.Undecided, ImplementationStatus: api.NotEvidenced}, false, ""},
	} {
		f, ok := DraftFinding(weighted(9), tc.item, nil)
		if ok != tc.gap || f.Result != tc.result {
			t.Fatalf("%s, %s: %v %s", tc.item.Applicability, tc.item.ImplementationStatus, ok, f.Result)
		}
		if ok &&
			(f.Condition == "" || f.Criteria == "" || f.Cause == "" || f.Effect == "" || f.Recommendation == "" || f.GapType == "" ||
				f.SeverityReason == "" || f.Source != "analysis" || !f.InCatalog) {
			t.Errorf("a field is empty: %+v", f)
		}
	}
}

func TestNotEvidencedIsNeverNotImplemented(t *testing.T) {
	c := weighted(9)
	item := DraftSoAItem(c, nil, judge(t, c), Inclusion{Applicability: api.Applicable})
	f, _ := DraftFinding(c, item, nil)
	all := strings.ToLower(
		strings.Join(
			[]string{
				item.Reason,
				f.Condition,
				f.Criteria,
				f.Cause,
				f.Effect,
				f.Recommendation,
				string(f.Status),
				string(f.Result),
				f.SeverityReason,
			},
			" ",
		),
	)
	if strings.Contains(all, "not implemented") || strings.Contains(all, "not_implemented") {
		t.Errorf("said of what is only not evidenced: %s", all)
	}
}

func TestCompensatingControls(t *testing.T) {
	name := "Session limits"
	for w, offered := range map[int]bool{9: true, 10: false} {
		c := weighted(w)
		c.CompensatingControls = []api.CompensatingControl{{ControlCode: "IAC-25", Name: &name}}
		f, _ := DraftFinding(c, soaItem(api.NotImplemented, 0), nil)
		if got := strings.Contains(f.Recommendation, "IAC-25 (Session limits; not in this assessment)"); got != offered {
			t.Errorf("weight %d: %q", w, f.Recommendation)
		}
	}
}

// Of those that may compensate, the ones in scope are named, with how far they are done.
func TestCompensatingControlsInScope(t *testing.T) {
	c := weighted(5)
	c.CompensatingControls = []api.CompensatingControl{{ControlCode: "IAC-25"}, {ControlCode: "MON-02"}, {ControlCode: "MON-02"}}
	f, _ := DraftFinding(c, soaItem(api.NotImplemented, 0), map[string]api.Implementation{"MON-02": api.PartiallyImplemented})
	if want := "possible compensating controls: MON-02 (partially implemented)."; !strings.HasSuffix(f.Recommendation, want) {
		t.Errorf("%q, want %q", f.Recommendation, want)
	}
}

func TestMaturity(t *testing.T) {
	with := func(it api.SoAItem, quotes ...string) api.SoAItem {
		for _, q := range quotes {
			it.Evidence = append(it.Evidence, api.Evidence{Quote: q, Stance: "supports"})
		}
		return it
	}
	figures := "The dashboard with the percentage of accounts with MFA is reviewed by the board each month."
	better := "Root causes are analysed and the process is continuously improved."
	for _, tc := range []struct {
		name     string
		item     api.SoAItem
		level    int
		assessed bool
	}{
		{"nothing", soaItem(api.NotEvidenced, 0), 0, false},
		{"out", api.SoAItem{Applicability: api.NotApplicable, ImplementationStatus: api.NotAssessed}, 0, false},
		{"denied", soaItem(api.NotImplemented, 0), 0, true},
		{"planned", soaItem(api.Planned, 0), 0, true},
		{"some", soaItem(api.PartiallyImplemented, 0.3), 1, true},
		{"half", soaItem(api.PartiallyImplemented, 0.6), 2, true},
		{"half with figures", with(soaItem(api.PartiallyImplemented, 0.6), figures, better), 2, true},
		{"whole", soaItem(api.Implemented, 1), 3, true},
		{"set by hand", soaItem(api.Implemented, 0), 2, true},
		{"improved without figures", with(soaItem(api.Implemented, 1), better), 3, true},
		{"figures", with(soaItem(api.Implemented, 1), figures), 4, true},
		{"both", with(soaItem(api.Implemented, 1), figures, better), 5, true},
	} {
		m := RateMaturity(weighted(9), tc.item, 3)
		if m.Level != tc.level || m.Assessed != tc.assessed || m.Rationale == "" || m.Criteria == "" ||
			(m.NextCriteria == "") != (m.Level == 5) {
			t.Errorf("%s: %+v", tc.name, m)
		}
	}
	c := weighted(9)
	c.Maturity = map[string]string{"3": "Everyone uses a token.", "4": "Utilize level 3 criteria definitions: none."}
	if m := RateMaturity(c, soaItem(api.Implemented, 1), 9); m.Criteria != "Everyone uses a token." ||
		m.NextCriteria != genericLevelCriteria[4] ||
		m.TargetLevel != 5 {
		t.Errorf("criteria %q, %q, target %d", m.Criteria, m.NextCriteria, m.TargetLevel)
	}
}

// A plan aims at the level that people want, and says its text; what has it already needs none.
func TestRemediationAims(t *testing.T) {
	c := weighted(9)
	c.Maturity = map[string]string{"3": "One way holds everywhere.", "4": "Figures are watched."}
	f := api.Finding{Status: api.PartiallyImplemented, Severity: api.SeverityHigh}
	for aim, want := range map[MaturityGoal]string{
		{}: "Level 3 is reached: One way holds everywhere.", {Target: 4, Current: 2, Rated: true}: "Level 4 is reached: Figures are watched.",
		{Target: 3, Current: 3, Rated: true}: "", {Rated: true}: "",
	} {
		p := DraftPOAMItem(c, f, aim, Options{Today: today})
		if got := strings.Join(p.AcceptanceCriteria, "\n"); want != "" && !strings.Contains(got, want) ||
			want == "" && strings.Contains(got, "Level") {
			t.Errorf("%+v: %q", aim, got)
		}
		if aim.Rated && p.TargetLevel != aim.Target {
			t.Errorf("%+v: aims at %d", aim, p.TargetLevel)
		}
	}
}

// A control that the catalog lacks is named by its code, once.
func TestRemediationOfAnotherCode(t *testing.T) {
	p := DraftPOAMItem(
		api.Control{Code: "SITE-1", Title: "SITE-1"},
		api.Finding{Status: api.NotImplemented, Condition: "No fence."},
		MaturityGoal{},
		Options{Today: today},
	)
	if p.Weakness != "SITE-1 is not implemented. No fence." || !strings.Contains(p.CorrectiveAction, "“SITE-1”") ||
		!strings.Contains(p.AcceptanceCriteria[0], "SITE-1") {
		t.Errorf("%q, %q, %q", p.Weakness, p.CorrectiveAction, p.AcceptanceCriteria)
	}
}

func TestRemediation(t *testing.T) {
	for severity, due := range map[api.Severity]api.Date{
		api.SeverityCritical: "2026-12-18", // the 20th is a Sunday
		api.SeverityHigh:     "2027-01-19", api.SeverityMedium: "2027-02-18", api.SeverityLow: "2027-05-19",
	} {
		f, _ := DraftFinding(weighted(9), soaItem(api.NotImplemented, 0), nil)
		f.Severity = severity
		p := DraftPOAMItem(weighted(9), f, MaturityGoal{}, Options{Today: today})
		if p.DueDate != due || len(p.Milestones) == 0 || p.Milestones[len(p.Milestones)-1].DueDate != due {
			t.Errorf("%s: due %s, %+v", severity, p.DueDate, p.Milestones)
		}
		if !slices.IsSortedFunc(
			p.Milestones,
			func(a, b api.Milestone) int { return strings.Compare(string(a.DueDate), string(b.DueDate)) },
		) {
			t.Errorf("milestones out of order: %+v", p.Milestones)
		}
		if p.OwnerRole == "" || p.Status != "open" || len(p.AcceptanceCriteria) == 0 || len(p.ExpectedEvidence) == 0 ||
			p.ActionType != "implement" {
			t.Errorf("%+v", p)
		}
	}
}

func TestOrder(t *testing.T) {
	item := func(code string, s api.Severity, action string, due api.Date) api.POAMItem {
		return api.POAMItem{
			Item:       api.Item{ControlCode: code},
			Severity:   s,
			ActionType: action,
			DueDate:    due,
			Milestones: []api.Milestone{{Title: "m", DueDate: due}},
		}
	}
	items := []api.POAMItem{
		item("IAC-10", api.SeverityLow, "implement", "2027-05-19"),
		item("IAC-06.1", api.SeverityCritical, "implement", "2026-12-18"),
		item("IAC-06", api.SeverityLow, "implement", "2027-05-19"),
		item("IAC-01", api.SeverityMedium, "document", "2027-02-18"),
		item("GOV-01", api.SeverityHigh, "document", "2027-01-19"),
		item("MON-02", api.SeverityCritical, "collect_evidence", "2026-12-18"),
	}
	out := OrderItems(items, today)
	var codes []string
	place := make(map[string]int)
	for i, it := range out {
		codes = append(codes, it.ControlCode)
		place[it.POAMCode] = i
		if it.Priority != i+1 {
			t.Errorf("%s has priority %d at %d", it.ControlCode, it.Priority, i)
		}
	}
	if want := []string{"IAC-06", "GOV-01", "IAC-01", "IAC-06.1", "MON-02", "IAC-10"}; !sameSet(codes, want) {
		t.Errorf("order %v", codes)
	}
	for i, it := range out {
		for _, d := range it.Dependencies {
			before, ok := place[d]
			if !ok || before >= i {
				t.Errorf("%s waits for %s, which doesn't come before it", it.POAMCode, d)
			}
			if out[before].DueDate > it.DueDate {
				t.Errorf("%s is due %s, before %s that it waits for", it.POAMCode, it.DueDate, d)
			}
			for _, m := range out[before].Milestones {
				if m.DueDate > out[before].DueDate {
					t.Errorf("milestone %s after the due date %s", m.DueDate, out[before].DueDate)
				}
			}
		}
	}
	if out[0].POAMCode != "POAM-001" {
		t.Errorf("first code %s", out[0].POAMCode)
	}
	if items[2].Milestones[0].DueDate != "2027-05-19" {
		t.Error("the caller's items were changed")
	}
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	if !reflect.DeepEqual(out, OrderItems(reversed, today)) {
		t.Error("the order of the input matters")
	}
}

// An item that is brought forward keeps its milestones apart.
func TestMilestonesAreSpreadAnew(t *testing.T) {
	first := api.POAMItem{
		Item:     api.Item{ControlCode: "IAC-01"},
		Severity: api.SeverityLow,
		DueDate:  "2027-05-19",
		Milestones: []api.Milestone{
			{Title: "draft", DueDate: "2027-02-01"}, {Title: "review", DueDate: "2027-03-26"}, {Title: "approved", DueDate: "2027-05-19"},
		},
	}
	out := OrderItems(
		[]api.POAMItem{first, {Item: api.Item{ControlCode: "IAC-02"}, Severity: api.SeverityHigh, DueDate: "2027-01-19"}},
		"2026-11-20",
	)
	m := out[0].Milestones
	if out[0].ControlCode != "IAC-01" || out[0].DueDate != "2027-01-19" || m[0].DueDate >= m[1].DueDate || m[1].DueDate >= m[2].DueDate ||
		m[2].DueDate != "2027-01-19" {
		t.Errorf("due %s, %+v", out[0].DueDate, m)
	}
	if first.Milestones[0].DueDate != "2027-02-01" {
		t.Error("the caller's milestones were changed")
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func TestCompliance(t *testing.T) {
	items := []api.SoAItem{
		soaItem(api.Implemented, 1), soaItem(api.PartiallyImplemented, 0.5), soaItem(api.NotEvidenced, 0),
		soaItem(api.NotAssessed, 0),
		{Applicability: api.NotApplicable, ImplementationStatus: api.NotImplemented},
	}
	if pct, formula := CompliancePercent(items); pct == nil || *pct != 50 || !strings.Contains(formula, "1 implemented + ½ × 1") {
		t.Errorf("%v %q", pct, formula)
	}
	if pct, formula := CompliancePercent(nil); pct != nil || formula == "" {
		t.Errorf("%v %q", pct, formula)
	}
}

func TestConformity(t *testing.T) {
	many := func(good, bad int) []api.SoAItem {
		var items []api.SoAItem
		for range good {
			items = append(items, soaItem(api.Implemented, 1))
		}
		for range bad {
			it := soaItem(api.PartiallyImplemented, 0.9)
			it.ControlCode = "BAD-01"
			items = append(items, it)
		}
		return items
	}
	for _, tc := range []struct {
		good, bad, weight int
		want              string
	}{
		{10, 0, 9, StrictlyConforms},
		{8, 2, 9, Conforms},
		{79, 21, 9, SignificantDeficiency},
		{7, 3, 9, SignificantDeficiency},
		{69, 31, 9, MaterialWeakness},
		{99, 1, 10, MaterialWeakness},
		{0, 0, 9, ""},
	} {
		weight := func(code string) int {
			if code == "BAD-01" {
				return tc.weight
			}
			return 10
		}
		if r := RateConformity(many(tc.good, tc.bad), weight); r.Level != tc.want || r.Formula == "" {
			t.Errorf("%+v: %+v", tc, r)
		}
	}
}

func TestTraits(t *testing.T) {
	ps := shelf{
		policy("Our developers write source code that is reviewed before it is merged."),
		policy("Laptops are enrolled in Intune."),
		policy("We do not process payment card data."),
		policy("If artificial intelligence is used, the owner must approve it."),
		policy("Visitors sign in at the reception of our main office."),
		policy("We do not use mobile devices."), passage("register", "The register lists smartphones and tablets of the staff."),
		policy("[Company] runs operational technology."),
	}
	got, err := DetectTraits(context.Background(), ps)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"develops_software": "true", "uses_cloud": "true", "handles_cards": "false", "uses_ai": "unknown",
		"has_facilities": "true", "has_mobile_devices": "unknown", "has_ot": "unknown", "processes_personal_data": "unknown",
	} {
		if got[name].Value != want || got[name].Reason == "" {
			t.Errorf("%s: %+v, want %s", name, got[name], want)
		}
	}
	if len(got) != len(api.TraitNames) {
		t.Errorf("%d traits", len(got))
	}
}

func TestSameOwners(t *testing.T) {
	owners := map[string]string{
		"a": "Jonas Wexley",
		"b": "Jonas Wexley, Infrastructure Lead",
		"c": "Ana Roe (CISO)",
		"d": "Head of IT",
		"e": "Head of IT, Paris",
		"f": "Head of IT, Rome",
		"g": "Jonas Wexley, Infrastructure Lead",
	}
	NormalizeOwners(owners)
	want := map[string]string{
		"a": "Jonas Wexley",
		"b": "Jonas Wexley",
		"c": "Ana Roe (CISO)",
		"d": "Head of IT",
		"e": "Head of IT, Paris",
		"f": "Head of IT, Rome",
		"g": "Jonas Wexley",
	}
	if !maps.Equal(owners, want) {
		t.Errorf("%v", owners)
	}
	for owner, name := range map[string]string{"Ana Roe (CISO)": "Ana Roe", "Head of IT, Paris": "Head of IT", "Ana Roe": "Ana Roe", "": ""} {
		if got := OwnerName(owner); got != name {
			t.Errorf("%q is %q", owner, got)
		}
	}
}

func TestSoA(t *testing.T) {
	c := weighted(10)
	c.Risks = []string{"R-1"}
	p := policy("MFA is required for all users by the IT team.")
	j := judge(t, c, p)
	item := DraftSoAItem(c, api.RequirementCodes{"gdpr": {"Art 32"}, "pci-dss-4.0.1": {"8.4.2"}, "iso-27001-2022": {"A.8.5"}}, j,
		Inclusion{Applicability: api.Applicable, Rationale: "It applies.", Owners: map[string]string{p.DocumentID: "CISO"}})
	if !slices.Equal(item.InclusionReasons, []string{"legal", "contractual", "framework", "risk"}) {
		t.Errorf("reasons %v", item.InclusionReasons)
	}
	if item.Owner == nil || *item.Owner != "CISO" || !strings.Contains(item.Rationale, "gdpr, iso-27001-2022 and pci-dss-4.0.1") ||
		!item.NeedsReview {
		t.Errorf("%+v", item)
	}
	out := DraftSoAItem(c, nil, j, Inclusion{Applicability: api.NotApplicable, Rationale: "No."})
	if out.ImplementationStatus != api.NotAssessed || len(out.Evidence) != 0 || !out.NeedsReview || out.Rationale != "No." {
		t.Errorf("%+v", out)
	}
}

func TestCategory(t *testing.T) {
	for _, tc := range []struct{ file, title, text, want string }{
		{"access-control.md", "Access control policy", "", "policy"},
		{"log.pdf", "Log management policy", "", "policy"},
		{"asset_register_2026.xlsx", "", "", "register"},
		{"restore-test-log.csv", "", "", "log"},
		{"pentest-report-2026.pdf", "", "", "report"},
		{"IR_Plan.docx", "Incident response plan", "", "plan"},
		{"onboarding-procedure.md", "", "", "procedure"},
		{"dpa.pdf", "Data processing agreement", "", "contract"},
		{"x.docx", "", "[Company name] owns this. [Insert date]. Approved by [name].", "template"},
		{"policy-template.docx", "", "", "template"},
		{"app.txt", "", "2026-01-01 10:00:01 a\n2026-01-01 10:00:02 b\n2026-01-01 10:00:03 c\n", "log"},
		{"a.md", "", "Users must sign. Keys must rotate. Doors shall close.", "policy"},
		{"photo.md", "", "A walk in the park.", "other"},
	} {
		if got := GuessCategory(tc.file, tc.title, tc.text); got != tc.want {
			t.Errorf("%s, %q: %s, want %s", tc.file, tc.title, got, tc.want)
		}
		if !slices.Contains(Categories, tc.want) {
			t.Errorf("%s is no category", tc.want)
		}
	}
}

// Where a person sets a status and says why, the finding speaks as they do.
func TestFindingOfAnEdit(t *testing.T) {
	note := "Seen at the data centre on 3 March."
	item := soaItem(api.PartiallyImplemented, 0.5)
	item.MissingElements = []string{"Networks are separated (the documents state the opposite)", "Links are encrypted"}
	item.Note = &note
	f, _ := DraftFinding(weighted(5), item, nil)
	if f.MissingElements[0] != item.MissingElements[0] || !strings.Contains(f.Condition, "Note: “Seen at the data centre on 3 March”.") {
		t.Errorf("%q, %q", f.MissingElements, f.Condition)
	}
	item.EditedFields = []string{"implementation_status"}
	if f, _ = DraftFinding(weighted(5), item, nil); f.MissingElements[0] != "Networks are separated" ||
		item.MissingElements[0] == f.MissingElements[0] {
		t.Errorf("%q of %q", f.MissingElements, item.MissingElements)
	}
}

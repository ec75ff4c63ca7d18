package enginetest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
)

func word(s string) *string { return &s }

// rules returns a custom framework with one requirement per control.
func rules(code string, controls ...string) api.CustomFrameworkBody {
	f := api.CustomFrameworkBody{Code: code, Name: "Rules of " + code}
	for n, c := range controls {
		f.Requirements = append(
			f.Requirements,
			api.CustomRequirement{Code: fmt.Sprint("R-", n+1), Title: word("Rule about " + c), Controls: []string{c}},
		)
	}
	return f
}

func (b *bench) addFramework(t *testing.T, by api.Caller, f api.CustomFrameworkBody) {
	t.Helper()
	if _, err := b.Catalog.CreateCustomFramework(t.Context(), by, &api.CreateCustomFrameworkInput{Body: f}); err != nil {
		t.Fatal(err)
	}
}

var whistle = api.CustomControlBody{
	Code:        "YARD-01",
	Title:       "Whistles",
	Description: "Whistles are blown before a crane moves.",
	Controls:    []string{"IAC-06"},
}

// TestCustomIsTheOrganizationsAlone checks that an organization sees its additions, marked as such,
// and that no other organization can reach them.
func TestCustomIsTheOrganizationsAlone(t *testing.T) {
	b := newBench(t)
	ctx, ours, theirs := t.Context(), b.by, b.by
	theirs.OrganizationID = "01890000-0000-7000-8000-0000000000ff"
	if _, err := b.Catalog.CreateCustomControl(ctx, ours, &api.CreateCustomControlInput{Body: whistle}); err != nil {
		t.Fatal(err)
	}
	b.addFramework(t, ours, rules("yard-rules", "YARD-01", "IAC-06"))

	f, err := b.Catalog.GetFramework(ctx, ours, &api.FrameworkInput{FrameworkID: "yard-rules"})
	if err != nil || !f.IsCustom || f.OrganizationID == nil || *f.OrganizationID != ours.OrganizationID || f.RequirementCount != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	c, err := b.Catalog.GetControl(ctx, ours, &api.ControlInput{ControlID: "yard-01"})
	if err != nil || !c.IsCustom || c.DomainCode != "YARD" {
		t.Fatalf("%+v, %v", c, err)
	}
	maps, err := b.Catalog.ListControlMappings(ctx, ours, &api.ControlMappingsInput{ControlInput: api.ControlInput{ControlID: c.ID}})
	if err != nil || !slices.ContainsFunc(maps.Data, func(m api.Mapping) bool {
		return m.FrameworkCode == "iso-27001-2022" && m.Source == "custom" && !m.IsOfficial
	}) {
		t.Errorf("what stands beside IAC-06 does not answer what IAC-06 does: %v", err)
	}

	for what, try := range map[string]func() error{
		"framework by code": func() error {
			_, err := b.Catalog.GetFramework(ctx, theirs, &api.FrameworkInput{FrameworkID: "yard-rules"})
			return err
		},
		"framework by id": func() error {
			_, err := b.Catalog.GetFramework(ctx, theirs, &api.FrameworkInput{FrameworkID: f.ID})
			return err
		},
		"control by id": func() error {
			_, err := b.Catalog.GetControl(ctx, theirs, &api.ControlInput{ControlID: c.ID})
			return err
		},
		"control by code": func() error {
			_, err := b.Catalog.GetControlByCode(ctx, theirs, &api.ControlByCodeInput{ControlCode: "YARD-01"})
			return err
		},
		"requirements": func() error {
			_, err := b.Catalog.ListRequirements(ctx, theirs, &api.RequirementsInput{FrameworkInput: api.FrameworkInput{FrameworkID: f.ID}})
			return err
		},
		"coverage": func() error {
			_, err := b.Catalog.GetCoverage(ctx, theirs, &api.CoverageInput{FrameworkID: "yard-rules"})
			return err
		},
		"crosswalk": func() error {
			_, err := b.Catalog.GetCrosswalk(ctx, theirs, &api.CrosswalkInput{Framework: "iso-27001-2022", Target: "yard-rules"})
			return err
		},
		"the framework as written": func() error {
			_, err := b.Catalog.GetCustomFramework(ctx, theirs, &api.CustomFrameworkInput{FrameworkCode: "yard-rules"})
			return err
		},
		"deleting the framework": func() error {
			gone := api.DeleteCustomFrameworkInput{CustomFrameworkInput: api.CustomFrameworkInput{FrameworkCode: "yard-rules"}}
			_, err := b.Catalog.DeleteCustomFramework(ctx, theirs, &gone)
			return err
		},
		"deleting the control": func() error {
			gone := api.DeleteCustomControlInput{CustomControlInput: api.CustomControlInput{ControlCode: "YARD-01"}}
			_, err := b.Catalog.DeleteCustomControl(ctx, theirs, &gone)
			return err
		},
	} {
		wantCode(t, what, try(), api.CodeNotFound)
	}
	for _, ref := range []string{"yard-rules", f.ID} {
		in := &api.CreateAssessmentInput{}
		in.Body.Name, in.Body.FrameworkID = "Theirs", ref
		_, err := b.Assessments.Create(ctx, theirs, in)
		wantCode(t, "assessing "+ref, err, api.CodeValidation)
	}
	for what, n := range map[string]func() (int, error){
		"controls": func() (int, error) {
			l, err := b.Catalog.ListControls(ctx, theirs, &api.ControlsInput{Q: "whistles", Paging: api.Paging{Limit: 200}})
			return len(slices.DeleteFunc(l.Data, func(c api.Control) bool { return !c.IsCustom })), err
		},
		"frameworks": func() (int, error) {
			l, err := b.Catalog.ListFrameworks(ctx, theirs, &api.FrameworksInput{Q: "yard"})
			return len(l.Data), err
		},
		"domains": func() (int, error) {
			l, err := b.Catalog.ListDomains(ctx, theirs, &api.DomainsInput{Paging: api.Paging{Limit: 200}})
			return len(slices.DeleteFunc(l.Data, func(d api.Domain) bool { return d.Code != "YARD" })), err
		},
		"custom frameworks": func() (int, error) {
			l, err := b.Catalog.ListCustomFrameworks(ctx, theirs, &api.Paging{})
			return len(l.Data), err
		},
	} {
		if got, err := n(); got != 0 || err != nil {
			t.Errorf("another organization sees %d %s, %v", got, what, err)
		}
	}

	// The same codes in another organization are different records.
	b.addFramework(t, theirs, rules("yard-rules", "GOV-01"))
	g, err := b.Catalog.GetFramework(ctx, theirs, &api.FrameworkInput{FrameworkID: "yard-rules"})
	if err != nil || g.ID == f.ID || g.RequirementCount != 1 {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestCustomFrameworkIsAssessed checks the assessment of a custom framework with a control that has
// only a title and a description, and that later changes to the framework don't affect the
// assessment.
func TestCustomFrameworkIsAssessed(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	if _, err := b.Catalog.CreateCustomControl(ctx, b.by, &api.CreateCustomControlInput{Body: whistle}); err != nil {
		t.Fatal(err)
	}
	b.addFramework(t, b.by, rules("yard-rules", "YARD-01", "GOV-01"))
	docs := fstest.MapFS{
		"yard.md": {
			Data: []byte("# Yard policy\n\nWhistles are blown before a crane moves. The shift lead checks every whistle each morning.\n"),
		},
	}
	a := b.assess(t, "yard-rules", docs, api.StateSoAUnderReview)
	codes := func() (out []string) {
		for _, i := range b.soaItems(t, a.ID) {
			out = append(out, i.ControlCode)
		}
		return out
	}
	if got := strings.Join(codes(), " "); got != "GOV-01 YARD-01" {
		t.Fatalf("the SoA has %s", got)
	}
	items := b.soaItems(t, a.ID)
	if i := items[1]; len(i.Evidence) == 0 || i.RequirementCodes["yard-rules"][0] != "R-1" {
		t.Errorf("YARD-01 has no evidence: %+v", i)
	}
	_, err := b.Catalog.PutCustomFramework(
		ctx,
		b.by,
		&api.PutCustomFrameworkInput{
			CustomFrameworkInput: api.CustomFrameworkInput{FrameworkCode: "yard-rules"},
			Body:                 rules("yard-rules", "IAC-06"),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	gone := api.DeleteCustomControlInput{CustomControlInput: api.CustomControlInput{ControlCode: "YARD-01"}}
	if _, err := b.Catalog.DeleteCustomControl(ctx, b.by, &gone); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(codes(), " "); got != "GOV-01 YARD-01" {
		t.Errorf("the assessment lost what it began with: %s", got)
	}
}

// TestCustomChangesAtTheSameTime checks that no concurrent change is lost.
func TestCustomChangesAtTheSameTime(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		wg.Go(func() {
			_, errs[n] = b.Catalog.CreateCustomFramework(
				t.Context(),
				b.by,
				&api.CreateCustomFrameworkInput{Body: rules(fmt.Sprint("rules-", n), "GOV-01")},
			)
		})
	}
	wg.Wait()
	l, err := b.Catalog.ListCustomFrameworks(t.Context(), b.by, &api.Paging{})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, err := range errs {
		if err == nil {
			kept++
		} else if !api.IsCode(err, api.CodeInvalidState) {
			t.Error(err)
		}
	}
	if kept == 0 || len(l.Data) != kept {
		t.Errorf("%d were taken and %d are there", kept, len(l.Data))
	}
}

func TestCustomRefused(t *testing.T) {
	b := newBench(t)
	long := rules("long", "GOV-01")
	long.Requirements = slices.Repeat(long.Requirements, 10_001)
	for name, f := range map[string]api.CustomFrameworkBody{
		"the code of an official one":  rules("pci-dss-4.0.1", "GOV-01"),
		"another spelling of its code": rules("PCI DSS v4.0.1", "GOV-01"),
		"a code with blanks":           rules("my rules", "GOV-01"),
		"no requirement":               rules("empty"),
		"a control that is not there":  rules("ghosts", "GOV-99"),
		"a requirement twice":          {Code: "twice", Name: "Twice", Requirements: []api.CustomRequirement{{Code: "1"}, {Code: "1"}}},
		"too many requirements":        long,
	} {
		_, err := b.Catalog.CreateCustomFramework(t.Context(), b.by, &api.CreateCustomFrameworkInput{Body: f})
		wantCode(t, name, err, api.CodeValidation)
	}
	for name, c := range map[string]api.CustomControlBody{
		"a code of the SCF's form": {Code: "YRD-01", Title: "T", Description: "D"},
		"no code":                  {Code: "whistle", Title: "T", Description: "D"},
		"no description":           {Code: "YARD-01", Title: "T"},
		"beside what is not there": {Code: "YARD-01", Title: "T", Description: "D", Controls: []string{"GOV-99"}},
		"no such requirement": {
			Code:         "YARD-01",
			Title:        "T",
			Description:  "D",
			Requirements: map[string][]string{"iso-27001-2022": {"A.99.1"}},
		},
		"no such framework": {Code: "YARD-01", Title: "T", Description: "D", Requirements: map[string][]string{"nowhere": {"1"}}},
		"no such trait":     {Code: "YARD-01", Title: "T", Description: "D", Traits: []string{"has_cranes"}},
		"maturity beyond 5": {Code: "YARD-01", Title: "T", Description: "D", Maturity: map[string]string{"6": "more"}},
	} {
		_, err := b.Catalog.CreateCustomControl(t.Context(), b.by, &api.CreateCustomControlInput{Body: c})
		wantCode(t, name, err, api.CodeValidation)
	}
}

// TestCustomFileWithACodeTwice checks that a duplicate code in a file is rejected even with replace, because the
// second record would silently replace the first.
func TestCustomFileWithACodeTwice(t *testing.T) {
	b := newBench(t)
	for name, file := range map[string]string{
		"frameworks": "frameworks:\n- {code: yard, name: Yard, requirements: [{code: '1'}]}\n" +
			"- {code: yard, name: Other, requirements: [{code: '2'}]}\n",
		"controls": "controls:\n- {code: YARD-01, title: T, description: D}\n- {code: YARD-01, title: T, description: D}\n",
	} {
		_, err := b.Catalog.ImportCustom(t.Context(), b.by, &api.ImportCustomInput{
			File: api.UploadFile{Filename: "x.yaml", Content: strings.NewReader(file)}, Replace: "true",
		})
		wantCode(t, name, err, api.CodeValidation)
	}
}

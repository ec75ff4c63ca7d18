package render

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/longtest"
)

func writtenOSCAL(t testing.TB, s *content.Source, template string) (doc models.OscalModels) {
	t.Helper()
	if err := json.Unmarshal(write(t, s, template, FormatOSCAL), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// hasRequiredItems reports whether the source has the items that the OSCAL model requires at least one of.
func hasRequiredItems(s *content.Source, template string) bool {
	switch template {
	case content.TemplatePOAM:
		return len(s.POAMItems) > 0
	case content.TemplateSoA, content.TemplateAssessmentPlan:
		return len(s.SoAItems) > 0
	}
	return len(s.SoAItems)+len(s.Findings) > 0
}

// TestOSCALIsWhole checks that every document matches the official schema, that UUIDs are unique,
// and that references resolve within the document.
func TestOSCALIsWhole(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for template, model := range map[string]string{
			content.TemplateFull:           "assessment-results",
			content.TemplateGapAnalysis:    "assessment-results",
			content.TemplateSoA:            "component-definition",
			content.TemplatePOAM:           "plan-of-action-and-milestones",
			content.TemplateAssessmentPlan: "assessment-plan",
		} {
			if !hasRequiredItems(s, template) {
				continue
			}
			text := write(t, s, template, FormatOSCAL)
			if err := oscal.Validate(text, model); err != nil {
				t.Errorf("%s, %s: %v", name, template, err)
			}
			var tree any
			if err := json.Unmarshal(text, &tree); err != nil {
				t.Fatal(err)
			}
			named, used := map[string]int{}, map[string]bool{}
			uuids(tree, named, used)
			for id, n := range named {
				if n > 1 {
					t.Errorf("%s, %s: %s is named %d times", name, template, id, n)
				}
			}
			for id := range used {
				if named[id] == 0 && !strings.Contains(string(text), `"id": "`+id) {
					t.Errorf("%s, %s: %s is used and not named", name, template, id)
				}
			}
		}
	}
}

// uuids collects the UUIDs that a document defines and uses.
func uuids(tree any, named map[string]int, used map[string]bool) {
	switch x := tree.(type) {
	case []any:
		for _, one := range x {
			uuids(one, named, used)
		}
	case map[string]any:
		for k, v := range x {
			s, _ := v.(string)
			switch {
			case k == "uuid":
				named[s]++
			case strings.HasSuffix(k, "-uuid"):
				used[s] = true
			case k == "href" && strings.HasPrefix(s, "#"):
				used[s[1:]] = true
			case k == "party-uuids":
				for _, id := range v.([]any) {
					used[id.(string)] = true
				}
			}
			uuids(v, named, used)
		}
	}
}

func TestOSCALResultsTellTheAssessment(t *testing.T) {
	s := reporttest.SampleSource(66)
	r := writtenOSCAL(t, s, content.TemplateFull).AssessmentResults
	result := r.Results[0]
	in, met := 0, 0
	for i := range s.SoAItems {
		if s.SoAItems[i].Applicability.IsApplicable() {
			in++
			if s.SoAItems[i].ImplementationStatus == api.Implemented {
				met++
			}
		}
	}
	if got := len(*result.ReviewedControls.ControlSelections[0].IncludeControls); got != in {
		t.Errorf("%d controls reviewed, want %d", got, in)
	}
	if len(*result.Findings) != len(s.Findings)+met || len(*result.Risks) != len(s.Findings) || len(*result.Observations) != in {
		t.Errorf("%d findings, %d risks, %d observations", len(*result.Findings), len(*result.Risks), len(*result.Observations))
	}
	quotes := map[string]bool{}
	for _, o := range *result.Observations {
		if o.RelevantEvidence != nil {
			for _, e := range *o.RelevantEvidence {
				quotes[e.Description] = true
			}
		}
	}
	for i := range s.Findings {
		for _, e := range s.Findings[i].Evidence {
			if !quotes[e.Quote] {
				t.Errorf("the passage %q is not quoted", e.Quote)
			}
		}
	}
	if result.Attestations == nil || len(*result.Attestations) != 4 ||
		r.Metadata.Title != "Ardent Freight Ltd" && !strings.HasPrefix(r.Metadata.Title, "Yearly assessment 2026") {
		t.Errorf("attestations %v, title %q", result.Attestations, r.Metadata.Title)
	}
	planned := 0
	for _, risk := range *result.Risks {
		for _, todo := range *risk.Remediations {
			if todo.Lifecycle == "planned" || todo.Lifecycle == "completed" {
				planned++
			}
		}
	}
	if planned != len(s.POAMItems) {
		t.Errorf("%d remediations, want %d", planned, len(s.POAMItems))
	}
	// The results include the plan that they refer to.
	for _, res := range *r.BackMatter.Resources {
		if "#"+res.UUID == r.ImportAp.Href {
			plan, err := base64.StdEncoding.DecodeString(res.Base64.Value)
			if err != nil {
				t.Fatal(err)
			}
			if err := oscal.Validate(plan, "assessment-plan"); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("the results refer to no plan in them")
}

func TestOSCALPlanAndComponentTellEveryItem(t *testing.T) {
	s := reporttest.SampleSource(66)
	plan := writtenOSCAL(t, s, content.TemplatePOAM).PlanOfActionAndMilestones
	if len(plan.PoamItems) != len(s.POAMItems) || len(*plan.Risks) != len(s.POAMItems) || len(*plan.Findings) == 0 {
		t.Errorf("%d items, %d risks", len(plan.PoamItems), len(*plan.Risks))
	}
	if tasks := (*(*plan.Risks)[0].Remediations)[0].Tasks; tasks == nil || len(*tasks) != 2 || (*tasks)[0].Timing == nil {
		t.Errorf("milestones: %+v", tasks)
	}
	soa := (*(*writtenOSCAL(t, s, content.TemplateSoA).ComponentDefinition.Components)[0].ControlImplementations)[0]
	if len(soa.ImplementedRequirements) != len(s.SoAItems) {
		t.Errorf("%d requirements, want %d", len(soa.ImplementedRequirements), len(s.SoAItems))
	}
	left := 0
	for _, r := range soa.ImplementedRequirements {
		for _, p := range *r.Props {
			if p.Name == "implementation-status" && p.Value == "not-applicable" {
				left++
			}
		}
	}
	if left == 0 {
		t.Error("the controls that are left out are not told")
	}
}

// TestOSCALKeepsHostileText checks that multi-line text is kept in full, and that control
// characters are removed.
func TestOSCALKeepsHostileText(t *testing.T) {
	text := write(t, reporttest.HostileSource(), content.TemplateFull, FormatOSCAL)
	for _, want := range []string{strings.Repeat("x", 10000), `<script>alert(1)</script>`, "نص عربي"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%.40q is missing", want)
		}
	}
	if bytes.ContainsAny(text, "\x00\x07") || bytes.Contains(text, []byte(`\u0000`)) {
		t.Error("a control character came through")
	}
}

func TestOSCALDraftsSaySo(t *testing.T) {
	s := reporttest.SampleSource(5)
	s.Gap.Status = api.VersionUnderReview
	m := writtenOSCAL(t, s, content.TemplateGapAnalysis).AssessmentResults.Metadata
	if !strings.HasPrefix(m.Title, "DRAFT: ") || !strings.Contains(m.Remarks, "under review") {
		t.Errorf("%q, %q", m.Title, m.Remarks)
	}
}

func TestOSCALRefusals(t *testing.T) {
	for _, template := range []string{content.TemplateFull, content.TemplateGapAnalysis, content.TemplateSoA, content.TemplatePOAM} {
		err := Write(context.Background(), io.Discard, &content.Source{}, Request{Template: template, Format: FormatOSCAL})
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), "can't be written as OSCAL yet") {
			t.Errorf("%s of nothing: %v", template, err)
		}
	}
	for _, template := range []string{content.TemplateExecutiveSummary, content.TemplateMaturity} {
		if err := CheckSupported(template, FormatOSCAL); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%s: %v", template, err)
		}
	}
}

func BenchmarkOSCAL(b *testing.B) {
	s := reporttest.SampleSource(1468)
	for _, template := range []string{content.TemplateFull, content.TemplatePOAM, content.TemplateSoA} {
		b.Run(template, func(b *testing.B) {
			for b.Loop() {
				b.SetBytes(int64(len(write(b, s, template, FormatOSCAL))))
			}
		})
	}
}

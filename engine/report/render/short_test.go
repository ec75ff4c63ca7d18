package render

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
)

// TestFullReportSaysEachThingOnce checks that a control without evidence is a single row stating what to
// request, that a control with evidence or a note is described in full, and that a passage appears once per
// control.
func TestFullReportSaysEachThingOnce(t *testing.T) {
	item := func(code string) api.Item {
		return api.Item{
			ControlCode:      code,
			ControlTitle:     "Title of " + code,
			DomainCode:       "AST",
			RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.5.9"}},
		}
	}
	s := reporttest.SampleSource(3)
	s.SoAItems, s.Findings, s.Scores, s.POAMItems = nil, nil, nil, nil
	for i, code := range []string{"AST-01", "AST-02", "AST-03", "AST-04"} {
		said := []api.Evidence{
			{
				Quote:         "Passage of " + code + ".",
				Filename:      "a.md",
				DocumentTitle: "Asset policy",
				Locator:       api.Locator{LineStart: 7, LineEnd: 7},
				SHA256:        reporttest.FakeSHA256(i),
				Stance:        "limits",
			},
		}
		it := api.SoAItem{
			Item:                 item(code),
			Applicability:        api.Applicable,
			ImplementationStatus: api.NotEvidenced,
			Evidence:             said,
			MissingElements:      []string{"Element of " + code + "."},
		}
		f := api.Finding{
			Item: item(
				code,
			),
			InCatalog:       true,
			Result:          api.ResultNoEvid,
			Status:          api.NotEvidenced,
			Severity:        api.SeverityHigh,
			SeverityPoints:  8 - float64(i)/10,
			Cause:           "Cause of " + code + ".",
			MissingElements: it.MissingElements,
			Evidence:        said,
			Source:          "analysis",
		}
		switch code {
		case "AST-03":
			f.EditedBy, f.Note = reporttest.Ptr("u-2"), reporttest.Ptr("Seen on site.")
		case "AST-04":
			it.ImplementationStatus, f.Status, f.Result = api.PartiallyImplemented, api.PartiallyImplemented, api.PartiallyMet
		}
		s.SoAItems, s.Findings = append(s.SoAItems, it), append(s.Findings, f)
		s.Scores = append(
			s.Scores,
			api.MaturityScore{
				Item:     item(code),
				Assessed: code == "AST-04",
				Level:    1,
				Criteria: "Criteria of " + code + ".",
				Evidence: said,
			},
		)
	}
	text := string(write(t, s, content.TemplateFull, FormatMarkdown))
	for code, full := range map[string]bool{"AST-01": false, "AST-02": false, "AST-03": true, "AST-04": true} {
		if !strings.Contains(text, "Element of "+code) {
			t.Errorf("%s: what is missing is not told", code)
		}
		if got := strings.Contains(text, "Cause of "+code); got != full {
			t.Errorf("%s told in full: %v, want %v", code, got, full)
		}
		want := 0
		if full {
			want = 1
		}
		if n := strings.Count(text, "Passage of "+code); n != want {
			t.Errorf("%s: its passage stands %d times, want %d", code, n, want)
		}
	}
	if !strings.Contains(text, "Related: Asset policy") {
		t.Error("where a passage comes near is not named")
	}
	if strings.Contains(text, "Criteria of AST-01") || !strings.Contains(text, "Criteria of AST-04") {
		t.Error("a level's criteria stand where none was rated, or don't where one was")
	}
	// Alone, each report has its passages, except for a Statement of Applicability in the order of Annex A.
	for template, want := range map[string]bool{content.TemplateSoA: false, content.TemplateMaturity: true} {
		if alone := string(write(t, s, template, FormatMarkdown)); strings.Contains(alone, "Passage of AST-04") != want {
			t.Errorf("%s alone has the passage: %v, want %v", template, !want, want)
		}
	}
	v := content.New(s, content.TemplateFull, "", false)
	var order []string
	for _, f := range v.Findings {
		order = append(order, f.ControlCode)
	}
	if got := strings.Join(order, " "); got != "AST-04 AST-01 AST-02 AST-03" {
		t.Errorf("findings of a severity are not what is known first, then by their points: %s", got)
	}
}

// TestFindingsNameTheirPlan checks that a finding shows the planned action, owner and date, also if
// one item closes several findings.
func TestFindingsNameTheirPlan(t *testing.T) {
	s := reporttest.SampleSource(3)
	s.Findings, s.POAMItems = nil, []api.POAMItem{
		{
			Item:       api.Item{ControlCode: "AST-01"},
			AlsoCloses: []string{"AST-02"},
			POAMCode:   "POAM-007",
			DueDate:    "2027-01-22",
			OwnerRole:  "Head of IT",
			Status:     "open",
		},
	}
	for _, code := range []string{"AST-01", "AST-02", "AST-03"} {
		s.Findings = append(
			s.Findings,
			api.Finding{
				Item:      api.Item{ControlCode: code},
				InCatalog: true,
				Result:    api.PartiallyMet,
				Status:    api.PartiallyImplemented,
				Severity:  api.SeverityHigh,
				Source:    "analysis",
			},
		)
	}
	text := string(write(t, s, content.TemplateGapAnalysis, FormatMarkdown))
	if n := strings.Count(text, "POAM-007, due 2027-01-22, Head of IT (suggested role)"); n != 2 {
		t.Errorf("the plan stands with %d findings, want 2:\n%s", n, text)
	}
	if n := strings.Count(text, "| Head of IT (suggested role) | 2027-01-22 |"); n != 2 {
		t.Errorf("owner and date of the plan stand in %d rows of the index, want 2", n)
	}
}

package render

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
)

// pdfPage matches once on each page of a PDF report.
var pdfPage = regexp.MustCompile(`/StructParents \d`)

// TestClientReportMergesAndCounts checks that a client's report has at most 40 pages and ten risks whatever its size,
// that an executive summary has two pages, and that nothing is lost: every open action is in a quarter, and every
// finding that needs action is in a risk.
func TestClientReportMergesAndCounts(t *testing.T) {
	for _, controls := range []int{5, 66, 400} {
		s := reporttest.SampleSource(controls)
		if n := len(pdfPage.FindAll(write(t, s, content.TemplateExecutiveSummary, FormatPDF), -1)); n != 2 {
			t.Errorf("%d controls: an executive summary of %d pages", controls, n)
		}
		if n := len(pdfPage.FindAll(write(t, s, content.TemplateClient, FormatPDF), -1)); n > 40 {
			t.Errorf("%d controls: a client's report of %d pages", controls, n)
		}
		v := content.New(s, content.TemplateClient, "", false)
		story := v.Story()
		items, open, merged, needed := 0, 0, 0, 0
		for _, q := range story.Roadmap {
			items += q.Items
			if len(q.Actions)+q.More != q.Items {
				t.Errorf("%d controls: %s lists %d actions and counts %d more, of %d", controls, q.Name, len(q.Actions), q.More, q.Items)
			}
		}
		if story.Weakest != "" && story.Domains[0].Name != story.Weakest {
			t.Errorf("%d controls: %s is weakest, but %s comes first", controls, story.Weakest, story.Domains[0].Name)
		}
		for i := range v.POAMItems {
			if v.POAMItems[i].IsOpen() {
				open++
			}
		}
		for _, r := range story.Risks {
			merged += len(r.Controls)
			if r.Shown+r.Unknown != len(r.Controls) || r.Cause == "" || r.Event == "" || r.Consequence == "" {
				t.Errorf("%d controls: %+v", controls, r)
			}
		}
		for i := range v.Findings {
			if f := &v.Findings[i]; f.Result != "met" && f.Result != "not_applicable" {
				needed++
			}
		}
		if items != open || len(story.Risks) > 10 || len(story.Answer) != 3 || len(story.MinorRisks) == 0 && merged != needed {
			t.Errorf("%d controls: %d of %d actions, %d of %d findings in %d risks",
				controls, items, open, merged, needed, len(story.Risks))
		}
	}
}

// allBanners returns a source whose executive summary has all marks and notices.
func allBanners(controls int) *content.Source {
	s := reporttest.SampleSource(controls)
	s.Catalog.IsStarter, s.Assessment.ClientName = true, "Northern Freight and Warehousing Holdings (Europe) Limited"
	for _, v := range []*api.DeliverableVersion{
		&s.SoA.DeliverableVersion, &s.Gap.DeliverableVersion, &s.Maturity.DeliverableVersion, &s.POAM.DeliverableVersion,
	} {
		v.Status = api.VersionUnderReview
	}
	for _, g := range api.Gates {
		s.Outdated = append(s.Outdated, api.Outdated{Gate: g, Message: "Documents were added after this version was drafted."})
	}
	s.Summary.UnreadEvidence = api.UnreadEvidence{
		DocumentsRead: 30, DocumentsInOtherLanguages: 3,
		UnreadLanguages: []api.UnreadLanguage{{Language: "de", Name: "German", Documents: 3, Passages: 41}},
	}
	return s
}

// TestExecutiveSummaryHasTwoPagesWithAllBanners checks that marks and notices don't push an executive summary to a third
// page, on either paper. TestOtherProgramsOpenReports checks the same in Word's format.
func TestExecutiveSummaryHasTwoPagesWithAllBanners(t *testing.T) {
	for _, paper := range []string{"a4", "letter"} {
		var b bytes.Buffer
		r := Request{Template: content.TemplateExecutiveSummary, Format: FormatPDF, Paper: paper}
		if err := Write(t.Context(), &b, allBanners(195), r); err != nil {
			t.Fatal(err)
		}
		if n := len(pdfPage.FindAll(b.Bytes(), -1)); n != 2 {
			t.Errorf("%s: %d pages", paper, n)
		}
	}
}

// TestReportOfUnnamedOrganization checks that a single user's report that names no client prints the assessment's
// name once above the text, and that it states how many verdicts a person has reviewed.
func TestReportOfUnnamedOrganization(t *testing.T) {
	s := reporttest.SampleSource(5)
	s.Organization.Slug, s.Assessment.ClientName, s.Assessment.Name = api.LocalOrganizationSlug, "", "Acme 2026"
	for reviewed, want := range map[int]string{
		0: "None of the 5 verdicts have been reviewed by a person.",
		2: "A person reviewed 2 of 5 verdicts.",
	} {
		s.SoA.LinesNotReviewed = 5 - reviewed
		text := string(write(t, s, content.TemplateClient, FormatMarkdown))
		top, _, _ := strings.Cut(text, "As of ")
		if strings.Count(top, "Acme 2026") != 1 || !strings.Contains(text, "The organization can demonstrate") || !strings.Contains(text, want) {
			t.Errorf("%q is missing in, or the name is not once above\n%s", want, text)
		}
	}
	page := string(write(t, s, content.TemplateClient, FormatHTML))
	head, _, _ := strings.Cut(page, "As of ")
	if strings.Contains(head, `class="org"`) || !strings.Contains(head, "<title>Assessment report: Acme 2026") {
		t.Error(head[strings.Index(head, "<body>"):])
	}
}

// TestNothingIsSaidOfGapsBeforeTheAnalysis checks that a report created before the gap analysis states no results of
// it.
func TestNothingIsSaidOfGapsBeforeTheAnalysis(t *testing.T) {
	s := reporttest.SampleSource(5)
	s.Gap, s.Findings, s.POAM, s.POAMItems = nil, nil, nil, nil
	for _, format := range []string{FormatMarkdown, FormatHTML} {
		text := string(write(t, s, content.TemplateClient, format))
		for _, claim := range []string{"shows no gap", "Critical and high findings", "Open actions"} {
			if strings.Contains(text, claim) {
				t.Errorf("%s: %s", format, claim)
			}
		}
		if !strings.Contains(text, "so the risks are not known") {
			t.Errorf("%s doesn't say that the gap analysis is missing", format)
		}
	}
}

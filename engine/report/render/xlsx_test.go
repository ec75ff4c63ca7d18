package render

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/testutil/longtest"
)

func renderWorkbook(t testing.TB, s *content.Source, template string) []byte {
	t.Helper()
	return write(t, s, template, FormatXLSX)
}

func openWorkbook(t testing.TB, b []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWorkbookIsSound checks that no text becomes a formula, that each part is well-formed XML, and
// that no date is the current time.
func TestWorkbookIsSound(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatXLSX) {
				continue
			}
			b := renderWorkbook(t, s, k.Name)
			z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatalf("%s: %s: %v", name, k.Name, err)
			}
			for _, f := range z.File {
				if f.Modified.Year() > 1980 || f.ModifiedDate != 33 || f.ModifiedTime != 0 {
					t.Errorf("%s: %s: %s is dated %v", name, k.Name, f.Name, f.Modified)
				}
				in, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				dec := xml.NewDecoder(in)
				for {
					token, err := dec.Token()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatalf("%s: %s: %s: %v", name, k.Name, f.Name, err)
					}
					if e, ok := token.(xml.StartElement); ok && e.Name.Local == "f" && strings.HasPrefix(f.Name, "xl/worksheets/") {
						t.Errorf("%s: %s: %s has a formula", name, k.Name, f.Name)
					}
				}
				in.Close()
			}
		}
	}
}

// TestUntouchedWorkbookChangesNothing checks that importing an unchanged export finds no edits, in
// every layout.
func TestUntouchedWorkbookChangesNothing(t *testing.T) {
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatXLSX) {
				continue
			}
			b := renderWorkbook(t, s, k.Name)
			book, err := workbook.Read(t.Context(), bytes.NewReader(b), int64(len(b)), workbook.DefaultLimits)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, k.Name, err)
			}
			from, err := book.ReadExportInfo()
			if err != nil {
				if len(s.SoAItems) > 0 && k.Name != content.TemplateExecutiveSummary && k.Name != content.TemplateClient {
					t.Errorf("%s: %s: %v", name, k.Name, err)
				}
				continue
			}
			for _, l := range from.Layouts {
				layout, ok := workbook.FindLayout(l)
				if !ok {
					t.Fatalf("no layout %q", l)
				}
				if name == "hostile" && layout.Key == "poam_code" {
					continue // all its items have the same code
				}
				rows, problems, notes := book.FindEdits(from, layout)
				if len(rows)+len(problems)+len(notes) > 0 {
					t.Errorf("%s: %s: %s: %d rows, %v, %v", name, k.Name, l, len(rows), problems, notes)
				}
			}
		}
	}
}

func TestWorkbookSaysWhatItRestsOn(t *testing.T) {
	s := reporttest.SampleSource(66)
	f := openWorkbook(t, renderWorkbook(t, s, content.TemplateFull))
	want := []string{
		"Cover",
		"Figures",
		"Executive summary",
		"Coverage",
		"Scope",
		"Statement of Applicability",
		"Gap analysis",
		"Maturity",
		"Plan of action",
		"Documents",
		"Approvals",
		"Passages",
		"Source",
	}
	if got := f.GetSheetList(); !slices.Equal(got, want) {
		t.Errorf("sheets %q, want %q", got, want)
	}
	if visible, _ := f.GetSheetVisible("Source"); visible {
		t.Error("the sheet for the import is in sight")
	}
	cover := cells(t, f, "Cover")
	for _, want := range []string{
		"Ardent Freight Ltd", s.SoA.ContentSHA256, s.POAM.ContentSHA256, "Ana Roe",
		"Everything in this workbook has been approved", "service gap import FILE --dry-run",
		"No systems were tested",
	} {
		if !strings.Contains(cover, want) {
			t.Errorf("the cover lacks %q", want)
		}
	}
	props, err := f.GetDocProps()
	if err != nil || props.Created != reporttest.AsOf.Format(time.RFC3339) || props.Modified != props.Created {
		t.Errorf("properties %+v, %v", props, err)
	}
	s.Gap.Status = "under_review"
	s.Catalog.IsStarter = true
	cover = cells(t, openWorkbook(t, renderWorkbook(t, s, content.TemplateFull)), "Cover")
	for _, want := range []string{"DRAFT. The gap analysis (version 2) is under review", "STARTER CATALOG"} {
		if !strings.Contains(cover, want) {
			t.Errorf("the cover of a draft lacks %q", want)
		}
	}
}

func cells(t testing.TB, f *excelize.File, name string) string {
	t.Helper()
	rows, err := f.GetRows(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(r, "\t") + "\n")
	}
	return b.String()
}

// TestWorkbookCanBeWorkedIn checks that the header is frozen and has filters, and that editable
// cells have their list of choices.
func TestWorkbookCanBeWorkedIn(t *testing.T) {
	f := openWorkbook(t, renderWorkbook(t, reporttest.SampleSource(30), content.TemplateSoA))
	const name = "Statement of Applicability"
	panes, err := f.GetPanes(name)
	if err != nil || !panes.Freeze || panes.YSplit != 1 || panes.XSplit != 2 {
		t.Errorf("panes %+v, %v", panes, err)
	}
	lists := map[string]bool{}
	rules, err := f.GetDataValidations(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		lists[r.Formula1] = true
	}
	if !lists[`"Implemented,Partially implemented,Planned,Not implemented,Not evidenced,Not assessed"`] ||
		!lists[`"Applicable,Partially applicable,Not applicable,Out of scope,Undecided"`] {
		t.Errorf("lists of choices: %v", lists)
	}
	fills, err := f.GetConditionalFormats(name)
	if err != nil || len(fills) < 3 {
		t.Errorf("fills: %v, %v", fills, err)
	}
	raw, _ := f.Pkg.Load("xl/charts/chart1.xml")
	if b, _ := raw.([]byte); !bytes.Contains(b, []byte("barChart")) {
		t.Error("no chart")
	}
}

var fedrampColumns = []string{
	"POAM ID", "Controls", "Weakness Name", "Weakness Description", "Weakness Detector Source",
	"Weakness Source Identifier", "Asset Identifier", "Point of Contact",
	"Resources Required", "Overall Remediation Plan", "Original Detection Date", "Scheduled Completion Date",
	"Planned Milestones", "Milestone Changes", "Status Date",
	"Vendor Dependency", "Last Vendor Check-in Date", "Vendor Dependent Product Name", "Original Risk Rating",
	"Adjusted Risk Rating", "Risk Adjustment", "False Positive",
	"Operational Requirement", "Deviation Rationale", "Supporting Documents", "Comments", "Auto-Approve",
	"Binding Operational Directive 22-01 tracking",
	"Binding Operational Directive 22-01 Due Date", "CVE", "Service Name",
}

func TestFedRAMPWorkbook(t *testing.T) {
	s := reporttest.SampleSource(66)
	s.POAMItems[0].RequirementCodes = map[string][]string{"nist-800-53-r5": {"AC-2", "AC-3"}}
	s.POAMItems[0].VendorDependency = reporttest.Ptr("ERP 7")
	f := openWorkbook(t, renderWorkbook(t, s, content.TemplateFedRAMPPOAM))
	if got := f.GetSheetList(); !slices.Equal(got, []string{"Open POA&M Items", "Closed POA&M Items", "Cover", "Source"}) {
		t.Fatalf("sheets %q", got)
	}
	open, closed := 0, 0
	for i := range s.POAMItems {
		if s.POAMItems[i].IsOpen() {
			open++
		} else {
			closed++
		}
	}
	for name, n := range map[string]int{"Open POA&M Items": open, "Closed POA&M Items": closed} {
		rows, err := f.GetRows(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 5+n || !slices.Equal(rows[4], fedrampColumns) {
			t.Errorf("%s: %d rows, want %d; head %q", name, len(rows), 5+n, rows[4])
		}
		if last, _ := excelize.CoordinatesToCellName(len(fedrampColumns), 5); last != "AE5" {
			t.Errorf("the columns end at %s", last)
		}
	}
	all := cells(t, f, "Open POA&M Items") + cells(t, f, "Closed POA&M Items")
	for _, want := range []string{
		"AC-2\nAC-3",
		"ERP 7",
		"Moderate",
		"(2) 2027-02-01: First review signed [open]",
		"(2) 2026-11-10 by u-2: moved to 2027-03-01: The auditor is not available.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q", want)
		}
	}
	if !strings.Contains(cells(t, f, "Cover"), "because this program doesn't record their content: Asset Identifier, ") {
		t.Error("the cover does not say what is not held")
	}
}

// TestLongTextsGoOn checks that a text too long for a cell continues elsewhere.
func TestLongTextsGoOn(t *testing.T) {
	s := reporttest.SampleSource(3)
	long := strings.Repeat("Ωμέγα 𝔸 ", 9000)
	s.SoAItems[0].Reason = long
	f := openWorkbook(t, renderWorkbook(t, s, content.TemplateSoA))
	if !strings.Contains(cells(t, f, "Statement of Applicability"), `[part 1 of 3; continued in the sheet "Long texts", rows 3 to 4]`) {
		t.Fatal("the cell does not say where it goes on")
	}
	rows, err := f.GetRows("Long texts")
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at, err := f.GetCellValue(rows[2][0], rows[2][1])
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(at, "\n[part 1")
	if first+rows[2][3]+rows[3][3] != long {
		t.Error("the parts are not the text")
	}
}

// BenchmarkWorkbook writes the full workbook of the largest catalog.
func BenchmarkWorkbook(b *testing.B) {
	s := reporttest.SampleSource(1468)
	b.ReportAllocs()
	for b.Loop() {
		renderWorkbook(b, s, content.TemplateFull)
	}
}

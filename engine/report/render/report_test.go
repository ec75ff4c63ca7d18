package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func write(t testing.TB, s *Source, template, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, s, Request{Template: template, Format: format}); err != nil {
		t.Fatalf("%s as %s: %v", template, format, err)
	}
	return b.Bytes()
}

// each runs f over every template and format there is.
func each(f func(template, format string)) {
	for _, k := range templates {
		for _, format := range k.formatNames() {
			f(k.name, format)
		}
	}
}

func sources() map[string]*Source {
	one := sample(1)
	size, reviewed := 24, 12
	if longtest.Enabled() {
		size, reviewed = 66, 40
	}
	review := sample(reviewed)
	review.Gap.Status, review.Catalog.IsStarter, review.Catalog.SourceSHA256 = api.VersionUnderReview, true, nil
	return map[string]*Source{"nothing": {}, "one control": one, "many": sample(size), "under review": review, "hostile": hostile()}
}

func TestSupported(t *testing.T) {
	for _, tc := range []struct{ template, format, want string }{
		{TemplateFull, FormatHTML, ""},
		{TemplateExecutiveSummary, FormatJSON, ""},
		{TemplateSoA, FormatCSV, ""},
		{TemplatePOAM, FormatMarkdown, ""},
		{TemplateFull, FormatPDF, ""},
		{TemplateGapAnalysis, FormatXLSX, ""},
		{TemplateFedRAMPPOAM, FormatXLSX, ""},
		{TemplateFull, FormatCSV, "pdf, html, docx, xlsx, md, json"},
		{TemplateExecutiveSummary, "rtf", "pdf, html, docx, xlsx, md, json"},
		{TemplateGapAnalysis, "odt", "pdf, html, docx, xlsx, md, csv, json, oscal"},
		{TemplateFull, "", "choose one of"},
		{TemplateFedRAMPPOAM, FormatHTML, "choose one of xlsx"},
		{"none", FormatXLSX, "executive_summary, full, soa"},
		{"", FormatHTML, "choose one of"},
	} {
		err := CheckSupported(tc.template, tc.format)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s as %s: %v", tc.template, tc.format, err)
			}
			continue
		}
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s as %s: %v; want a validation error with %q", tc.template, tc.format, err, tc.want)
		}
		if got := Write(context.Background(), io.Discard, sample(1), Request{Template: tc.template, Format: tc.format}); !api.IsCode(
			got,
			api.CodeValidation,
		) {
			t.Errorf("writing %s as %s: %v", tc.template, tc.format, got)
		}
	}
}

func TestEveryFormatHasATypeAndAnExtension(t *testing.T) {
	each(func(_, format string) {
		want := "." + format
		if format == FormatOSCAL {
			want += ".json"
		}
		if ContentType(format) == ContentType("nothing") || Extension(format) != want {
			t.Errorf("%s: %q, %q", format, ContentType(format), Extension(format))
		}
	})
}

// The same source gives the same bytes, in whatever order its items come, and stays as it was.
func TestDeterministicAndReadOnly(t *testing.T) {
	for name, s := range sources() {
		if name != "many" && name != "nothing" && !longtest.Enabled() {
			continue
		}
		before := deepCopy(*s, func(x string) string { return x })
		nils := s.SoAItems == nil
		each(func(template, format string) {
			if format == FormatOSCAL && !tellable(s, template) {
				return
			}
			// The second time from the same in another order: what differs from one time to the
			// next shows too. The hostile ones have no order: their codes are one and the same.
			again := deepCopy(*s, func(x string) string { return x })
			if name != "hostile" {
				slices.Reverse(again.SoAItems)
				slices.Reverse(again.Findings)
				slices.Reverse(again.Scores)
				slices.Reverse(again.POAMItems)
				slices.Reverse(again.Documents)
				slices.Reverse(again.Approvals)
			}
			if !bytes.Equal(write(t, s, template, format), write(t, &again, template, format)) {
				t.Errorf("%s: %s as %s differs from one time to the next, or depends on the order of the items", name, template, format)
			}
		})
		if after := deepCopy(*s, func(x string) string { return x }); !reflect.DeepEqual(before, after) || nils != (s.SoAItems == nil) {
			t.Errorf("%s: the source was changed", name)
		}
	}
}

func TestDraft(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Source)
		draft  []string
	}{
		{"all approved", func(*Source) {}, nil},
		{
			"gap under review",
			func(s *Source) { s.Gap.Status = api.VersionUnderReview },
			[]string{TemplateExecutiveSummary, TemplateFull, TemplateGapAnalysis},
		},
		{
			"no plan",
			func(s *Source) { s.POAM = nil },
			[]string{TemplateExecutiveSummary, TemplateFull, TemplatePOAM, TemplateFedRAMPPOAM, TemplateEMASSPOAM},
		},
		{
			"SoA changed since",
			func(s *Source) { s.SoA.ContentSHA256 = sha(1) },
			[]string{TemplateExecutiveSummary, TemplateFull, TemplateSoA, TemplateAssessmentPlan},
		},
		{
			"maturity superseded",
			func(s *Source) { s.Maturity.Status = api.VersionSuperseded },
			[]string{TemplateExecutiveSummary, TemplateFull, TemplateMaturity},
		},
		{"scope has no gate", func(s *Source) { s.Scope.Status = api.VersionDraft }, nil},
		{
			"nothing",
			func(s *Source) { *s = Source{} },
			[]string{
				TemplateExecutiveSummary, TemplateFull, TemplateSoA, TemplateGapAnalysis, TemplateMaturity,
				TemplatePOAM, TemplateFedRAMPPOAM, TemplateEMASSPOAM, TemplateAssessmentPlan,
			},
		},
	} {
		s := sample(5)
		tc.change(s)
		for _, k := range templates {
			want := slices.Contains(tc.draft, k.name)
			if got := IsDraft(s, k.name); got != want {
				t.Errorf("%s: %s is draft: %v, want %v", tc.name, k.name, got, want)
			}
			if !slices.Contains(k.formatNames(), FormatHTML) {
				continue // a workbook; its cover has the mark
			}
			page := string(write(t, s, k.name, FormatHTML))
			if strings.Contains(page, `<div class="watermark"`) != want {
				t.Errorf("%s: %s has the wrong watermark", tc.name, k.name)
			}
			md := string(write(t, s, k.name, FormatMarkdown))
			if strings.Contains(md, "**DRAFT.**") != want {
				t.Errorf("%s: %s in Markdown has the wrong mark", tc.name, k.name)
			}
		}
	}
}

// A section is marked by its own deliverable: an approved one is no draft beside another that is.
func TestSectionsAreMarkedByTheirOwnSource(t *testing.T) {
	s := sample(5)
	s.Gap.Status = api.VersionRejected
	page := parse(t, write(t, s, TemplateFull, FormatHTML))
	for id, draft := range map[string]bool{
		"soa": false, "coverage": false, "gap-analysis": true,
		"maturity": false, "poam": false, "summary": true, "documents": true, "basis": true,
	} {
		section := page.byID(id)
		if section == nil {
			t.Fatalf("no section %s", id)
		}
		if got := attribute(section, "class") == "is-draft"; got != draft {
			t.Errorf("section %s marked as draft: %v", id, got)
		}
	}
}

func TestSources(t *testing.T) {
	s := sample(3)
	full := Provenance(s, TemplateFull)
	for _, g := range api.Gates {
		if full[string(g)+"_content_sha256"] != s.deliverable(g).ContentSHA256 || full[string(g)+"_version_id"] != s.deliverable(g).ID {
			t.Errorf("the full report does not name its %s", g)
		}
	}
	only := Provenance(s, TemplateGapAnalysis)
	if only["gap_analysis_version_id"] == "" || only["soa_version_id"] != "" || only["scf_source_sha256"] != *s.Catalog.SourceSHA256 {
		t.Errorf("sources of a gap analysis: %v", only)
	}
	slices.Reverse(s.Documents)
	if Provenance(s, TemplateFull)["documents_sha256"] != full["documents_sha256"] {
		t.Error("the documents' hash depends on their order")
	}
	s.Documents[0].SHA256 = sha(1)
	if Provenance(s, TemplateFull)["documents_sha256"] == full["documents_sha256"] {
		t.Error("the documents' hash does not depend on their content")
	}
	if got := Provenance(&Source{}, "no such"); got["soa_version_id"] != "" {
		t.Errorf("sources of nothing: %v", got)
	}
}

func TestExecutiveText(t *testing.T) {
	s := sample(66)
	text := ExecutiveText(s)
	golden(t, "executive.txt", []byte(text))
	for _, want := range []string{
		"Yearly assessment 2026",
		"20 November 2026",
		"46.2%",
		"1 more could not be considered",
		"have each been approved",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	s.Catalog.IsStarter = true
	if text := ExecutiveText(s); strings.Contains(text, "controls of the Secure Controls Framework") ||
		!strings.Contains(text, "not the Secure Controls Framework") {
		t.Errorf("the starter is taken for the framework:\n%s", text)
	}
	golden(t, "executive-nothing.txt", []byte(ExecutiveText(&Source{})))
}

func TestEmptyPartsAreSaidInWords(t *testing.T) {
	page := string(write(t, &Source{}, TemplateFull, FormatHTML))
	md := string(write(t, &Source{}, TemplateFull, FormatMarkdown))
	for _, want := range []string{
		"No scope has been drafted yet.", "No Statement of Applicability has been drafted yet.", "No gap analysis has been drafted yet.",
		"No maturity assessment has been drafted yet.", "No plan of action and milestones has been drafted yet.",
		"No documents have been provided as evidence.", "No approval has been requested yet.",
	} {
		if !strings.Contains(page, want) || !strings.Contains(md, want) {
			t.Errorf("nowhere: %q", want)
		}
	}
}

func TestRequirementOutcome(t *testing.T) {
	item := func(a api.Applicability, s api.Implementation) *api.SoAItem {
		return &api.SoAItem{Applicability: a, ImplementationStatus: s}
	}
	in := func(s api.Implementation) *api.SoAItem { return item(api.Applicable, s) }
	out, open := item(api.NotApplicable, api.NotAssessed), item(api.Undecided, api.NotAssessed)
	for _, tc := range []struct {
		name  string
		items []*api.SoAItem
		want  coverageStatus
	}{
		{"no control", nil, statusUnmapped},
		{"all excluded", []*api.SoAItem{out, item(api.OutOfScope, api.NotAssessed)}, statusExcluded},
		{"excluded ones do not count", []*api.SoAItem{out, in(api.Implemented)}, statusImplemented},
		{"one of two", []*api.SoAItem{in(api.Implemented), in(api.NotEvidenced)}, statusPartly},
		{"an undecided one keeps it from being whole", []*api.SoAItem{in(api.Implemented), open}, statusPartly},
		{"planned before missing", []*api.SoAItem{in(api.NotImplemented), in(api.Planned)}, statusPlanned},
		{"missing before not evidenced", []*api.SoAItem{in(api.NotEvidenced), in(api.NotImplemented)}, statusMissing},
		{"not evidenced is never missing", []*api.SoAItem{in(api.NotEvidenced), open}, statusNotEvidenced},
		{"undecided", []*api.SoAItem{open}, statusNotAssessed},
		{"unknown values", []*api.SoAItem{item("maybe", "sort of")}, statusNotAssessed},
	} {
		if got := requirementStatus(tc.items); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestAnnexA(t *testing.T) {
	s := sample(60)
	rows, ok := annexAControls(computeCoverage(s))
	if !ok || len(rows) != 93 || rows[0].code != "A.5.1" || rows[36].code != "A.5.37" || rows[37].code != "A.6.1" ||
		rows[92].code != "A.8.34" {
		t.Fatalf("Annex A: %v, %d rows", ok, len(rows))
	}
	page := string(write(t, s, TemplateSoA, FormatHTML))
	for _, r := range rows {
		if !strings.Contains(page, "<strong><bdi>"+r.code+"</bdi></strong>") {
			t.Errorf("%s is not in the SoA", r.code)
		}
	}
	// Where ISO 27001 holds only its clauses, ISO 27002 has the controls.
	s = sample(3)
	s.SoAItems = nil
	s.Frameworks = []api.Framework{{Code: "iso-27001-2022"}, {Code: "iso-27002-2022"}}
	s.Requirements = map[string][]api.Requirement{
		"iso-27001-2022": {{Code: "4.1"}},
		"iso-27002-2022": {{Code: "5.10", SortOrder: 2}, {Code: "5.2", SortOrder: 1}},
	}
	rows, ok = annexAControls(computeCoverage(s))
	if !ok || len(rows) != 2 || rows[0].code != "A.5.2" || rows[1].code != "A.5.10" {
		t.Errorf("Annex A by ISO 27002: %v %v", ok, rows)
	}
	if _, ok := annexAControls(nil); ok {
		t.Error("Annex A without ISO 27001")
	}
}

func TestJSON(t *testing.T) {
	s := sample(66)
	s.SoAItems[0].Evidence[0].Quote = "kept to the byte: <b>\u0007</b> & \u202e"
	raw := write(t, s, TemplateFull, FormatJSON)
	var r jsonReport
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.SchemaVersion != SchemaVersion || r.Draft || len(r.SoA.Items) != 66 || len(r.GapAnalysis.Items) != len(s.Findings) ||
		len(r.Maturity.Items) != len(s.Scores) ||
		len(r.POAM.Items) != len(s.POAMItems) {
		t.Errorf("the full report lacks something: %s", raw[:300])
	}
	if r.SoA.Items[0].Evidence[0].Quote != s.SoAItems[0].Evidence[0].Quote {
		t.Errorf("a quote was changed: %q", r.SoA.Items[0].Evidence[0].Quote)
	}
	if len((*r.Coverage)[0].Requirements) != 100 || len(r.ExecutiveSummary) == 0 || len(r.Documents) != len(s.Documents) || r.Scope == nil {
		t.Error("coverage, executive summary, documents or scope are missing")
	}
	only := write(t, s, TemplateMaturity, FormatJSON)
	if bytes.Contains(only, []byte(`"soa": {`)) || bytes.Contains(only, []byte(`"executive_summary": `)) {
		t.Error("a maturity report tells more than maturity")
	}
	golden(t, "nothing.json", write(t, &Source{}, TemplateFull, FormatJSON))
}

// Lists are never null in JSON, however they came.
func TestJSONListsAreNeverNull(t *testing.T) {
	s := sample(2)
	s.SoAItems[0].Evidence, s.SoAItems[0].InclusionReasons, s.Documents[0].Warnings, s.Frameworks[0].Includes = nil, nil, nil, nil
	raw := string(write(t, s, TemplateFull, FormatJSON))
	for _, field := range []string{
		"evidence", "inclusion_reasons", "warnings", "includes", "missing_elements",
		"edited_fields", "dependencies", "heading_path",
	} {
		if strings.Contains(raw, `"`+field+`": null`) {
			t.Errorf("%s is null", field)
		}
	}
	if s.SoAItems[0].Evidence != nil {
		t.Error("the source was changed")
	}
}

type fullDisk struct{ left int }

var errDisk = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		return d.left, errDisk
	}
	d.left -= len(p)
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	s := sample(12)
	each(func(template, format string) {
		if err := Write(context.Background(), &fullDisk{1000}, s, Request{Template: template, Format: format}); !errors.Is(err, errDisk) {
			t.Errorf("%s as %s on a full disk: %v", template, format, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := Write(ctx, io.Discard, s, Request{Template: template, Format: format}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s as %s, cancelled: %v", template, format, err)
		}
	})
	if err := Write(context.Background(), io.Discard, nil, Request{Template: TemplateFull, Format: FormatHTML}); err == nil {
		t.Error("a report was made of no source")
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain\ttext\n": "plain\ttext\n", "a\r\nb\rc": "a\nb\nc", "\x00\x07\x1b\x7f": "␀␇␛␡",
		"a\u0085b": "a\ufffdb", "bad \xff end": "bad \ufffd end",
		"Łódź ελ 漢字": "Łódź ελ 漢字",
	} {
		if got := sanitize(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// golden compares with testdata/name, which -update writes.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; it is now:\n%s", name, got)
	}
}

// BenchmarkWrite writes the full report of 1,468 controls. What it takes of processors is told
// beside the time, since a machine that does other work too says little by the clock.
func BenchmarkWrite(b *testing.B) {
	s := sample(1468)
	for _, format := range []string{FormatHTML, FormatPDF, FormatDOCX, FormatXLSX, FormatOSCAL, FormatJSON, FormatMarkdown} {
		b.Run(format, func(b *testing.B) {
			var n countingWriter
			before := cpuTime()
			for b.Loop() {
				n = 0
				if err := Write(context.Background(), &n, s, Request{Template: TemplateFull, Format: format}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(n)/1e6, "MB")
		})
	}
}

type countingWriter int64

func (c *countingWriter) Write(p []byte) (int, error) {
	*c += countingWriter(len(p))
	return len(p), nil
}

func TestOverdueIsByTheDatasDate(t *testing.T) {
	it := &api.POAMItem{Status: "open", DueDate: "2026-11-19"}
	v := newReportData(&Source{AsOf: sampleTime}, Request{Template: TemplatePOAM})
	if !v.isOverdue(it) {
		t.Error("an open item of yesterday is not overdue")
	}
	for _, other := range []api.POAMItem{
		{Status: "open", DueDate: "2026-11-20"},
		{Status: "completed", DueDate: "2020-01-01"},
		{Status: "open"},
	} {
		if v.isOverdue(&other) {
			t.Errorf("overdue: %+v", other)
		}
	}
	v.AsOf = time.Time{}
	if v.isOverdue(it) {
		t.Error("overdue without a date")
	}
}

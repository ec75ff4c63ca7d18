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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/longtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func write(t testing.TB, s *content.Source, template, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, s, Request{Template: template, Format: format}); err != nil {
		t.Fatalf("%s as %s: %v", template, format, err)
	}
	return b.Bytes()
}

// eachFormat calls f with every template and format.
func eachFormat(f func(template, format string)) {
	for _, k := range content.Templates {
		for _, format := range supportedFormatNames(k) {
			f(k.Name, format)
		}
	}
}

func TestSupported(t *testing.T) {
	for _, tc := range []struct{ template, format, want string }{
		{content.TemplateFull, FormatHTML, ""},
		{content.TemplateExecutiveSummary, FormatJSON, ""},
		{content.TemplateSoA, FormatCSV, ""},
		{content.TemplatePOAM, FormatMarkdown, ""},
		{content.TemplateFull, FormatPDF, ""},
		{content.TemplateGapAnalysis, FormatXLSX, ""},
		{content.TemplateFedRAMPPOAM, FormatXLSX, ""},
		{content.TemplateFull, FormatCSV, "pdf, html, docx, pptx, xlsx, md, json"},
		{content.TemplateExecutiveSummary, "rtf", "pdf, html, docx, pptx, xlsx, md, json"},
		{content.TemplateGapAnalysis, "odt", "pdf, html, docx, xlsx, md, csv, json, oscal"},
		{content.TemplateFull, "", "choose one of"},
		{content.TemplateFedRAMPPOAM, FormatHTML, "choose one of xlsx"},
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
		if got := Write(
			context.Background(),
			io.Discard,
			reporttest.SampleSource(1),
			Request{Template: tc.template, Format: tc.format},
		); !api.IsCode(got, api.CodeValidation) {
			t.Errorf("writing %s as %s: %v", tc.template, tc.format, got)
		}
	}
}

func TestEveryFormatHasATypeAndAnExtension(t *testing.T) {
	eachFormat(func(_, format string) {
		want := "." + format
		if format == FormatOSCAL {
			want += ".json"
		}
		if ContentType(format) == ContentType("nothing") || Extension(format) != want {
			t.Errorf("%s: %q, %q", format, ContentType(format), Extension(format))
		}
	})
}

// TestDeterministicAndReadOnly checks that the same source gives the same bytes, whatever the order
// of its items, and is not changed.
func TestDeterministicAndReadOnly(t *testing.T) {
	before, others := reporttest.Sources(longtest.Enabled()), reporttest.Sources(longtest.Enabled())
	for name, s := range reporttest.Sources(longtest.Enabled()) {
		if name != "many" && name != "nothing" && !longtest.Enabled() {
			continue
		}
		// The second run uses another order, which also shows any other difference between runs.
		other := others[name]
		if name != "hostile" {
			slices.Reverse(other.SoAItems)
			slices.Reverse(other.Findings)
			slices.Reverse(other.Scores)
			slices.Reverse(other.POAMItems)
			slices.Reverse(other.Documents)
			slices.Reverse(other.Approvals)
		}
		eachFormat(func(template, format string) {
			if format == FormatOSCAL && !hasRequiredItems(s, template) {
				return
			}
			if !bytes.Equal(write(t, s, template, format), write(t, other, template, format)) {
				t.Errorf("%s: %s as %s differs from one time to the next, or depends on the order of the items", name, template, format)
			}
		})
		if !reflect.DeepEqual(before[name], s) {
			t.Errorf("%s: the source was changed", name)
		}
	}
}

func TestDraft(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*content.Source)
		draft  []string
	}{
		{"all approved", func(*content.Source) {}, nil},
		{
			"gap under review",
			func(s *content.Source) { s.Gap.Status = api.VersionUnderReview },
			[]string{content.TemplateClient, content.TemplateExecutiveSummary, content.TemplateFull, content.TemplateGapAnalysis},
		},
		{
			"no plan",
			func(s *content.Source) { s.POAM = nil },
			[]string{
				content.TemplateClient, content.TemplateExecutiveSummary, content.TemplateFull, content.TemplatePOAM,
				content.TemplateFedRAMPPOAM, content.TemplateEMASSPOAM,
			},
		},
		{
			"SoA changed since",
			func(s *content.Source) { s.SoA.ContentSHA256 = reporttest.FakeSHA256(1) },
			[]string{
				content.TemplateClient, content.TemplateExecutiveSummary, content.TemplateFull, content.TemplateSoA,
				content.TemplateAssessmentPlan,
			},
		},
		{
			"maturity superseded",
			func(s *content.Source) { s.Maturity.Status = api.VersionSuperseded },
			[]string{content.TemplateClient, content.TemplateExecutiveSummary, content.TemplateFull, content.TemplateMaturity},
		},
		{"scope has no gate", func(s *content.Source) { s.Scope.Status = api.VersionDraft }, nil},
		{
			"nothing",
			func(s *content.Source) { *s = content.Source{} },
			[]string{
				content.TemplateClient, content.TemplateExecutiveSummary, content.TemplateFull, content.TemplateSoA,
				content.TemplateGapAnalysis, content.TemplateMaturity, content.TemplatePOAM,
				content.TemplateFedRAMPPOAM, content.TemplateEMASSPOAM, content.TemplateAssessmentPlan,
			},
		},
	} {
		s := reporttest.SampleSource(5)
		tc.change(s)
		for _, k := range content.Templates {
			want := slices.Contains(tc.draft, k.Name)
			if got := content.IsDraft(s, k.Name); got != want {
				t.Errorf("%s: %s is draft: %v, want %v", tc.name, k.Name, got, want)
			}
			if !slices.Contains(supportedFormatNames(k), FormatHTML) {
				continue // a workbook; its cover has the mark
			}
			page := string(write(t, s, k.Name, FormatHTML))
			if strings.Contains(page, `<div class="watermark"`) != want {
				t.Errorf("%s: %s has the wrong watermark", tc.name, k.Name)
			}
			md := string(write(t, s, k.Name, FormatMarkdown))
			if strings.Contains(md, "**DRAFT.**") != want {
				t.Errorf("%s: %s in Markdown has the wrong mark", tc.name, k.Name)
			}
		}
	}
}

// TestSectionsAreMarkedByTheirOwnSource checks that a section's draft mark depends on its own
// deliverable, not on the others.
func TestSectionsAreMarkedByTheirOwnSource(t *testing.T) {
	s := reporttest.SampleSource(5)
	s.Gap.Status = api.VersionRejected
	page := parse(t, write(t, s, content.TemplateFull, FormatHTML))
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
	s := reporttest.SampleSource(3)
	full := content.Provenance(s, content.TemplateFull)
	for _, g := range api.Gates {
		if full[string(g)+"_content_sha256"] != s.Deliverable(g).ContentSHA256 || full[string(g)+"_version_id"] != s.Deliverable(g).ID {
			t.Errorf("the full report does not name its %s", g)
		}
	}
	only := content.Provenance(s, content.TemplateGapAnalysis)
	if only["gap_analysis_version_id"] == "" || only["soa_version_id"] != "" || only["scf_source_sha256"] != *s.Catalog.SourceSHA256 {
		t.Errorf("sources of a gap analysis: %v", only)
	}
	slices.Reverse(s.Documents)
	if content.Provenance(s, content.TemplateFull)["documents_sha256"] != full["documents_sha256"] {
		t.Error("the documents' hash depends on their order")
	}
	s.Documents[0].SHA256 = reporttest.FakeSHA256(1)
	if content.Provenance(s, content.TemplateFull)["documents_sha256"] == full["documents_sha256"] {
		t.Error("the documents' hash does not depend on their content")
	}
	if got := content.Provenance(&content.Source{}, "no such"); got["soa_version_id"] != "" {
		t.Errorf("sources of nothing: %v", got)
	}
}

func TestExecutiveText(t *testing.T) {
	s := reporttest.SampleSource(66)
	text := content.ExecutiveText(s)
	golden(t, "executive.txt", []byte(text))
	for _, want := range []string{
		"Yearly assessment 2026",
		"2026-11-20",
		"46.2%",
		"1 more could not be considered",
		"have each been approved",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	s.Catalog.IsStarter = true
	if text := content.ExecutiveText(s); strings.Contains(text, "controls of the Secure Controls Framework") ||
		!strings.Contains(text, "not the Secure Controls Framework") {
		t.Errorf("the starter is taken for the framework:\n%s", text)
	}
	golden(t, "executive-nothing.txt", []byte(content.ExecutiveText(&content.Source{})))
}

func TestEmptyPartsAreSaidInWords(t *testing.T) {
	page := string(write(t, &content.Source{}, content.TemplateFull, FormatHTML))
	md := string(write(t, &content.Source{}, content.TemplateFull, FormatMarkdown))
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

func TestSoAListsAllOfAnnexA(t *testing.T) {
	page := write(t, reporttest.SampleSource(60), content.TemplateSoA, FormatHTML)
	codes := map[string]bool{}
	for _, m := range regexp.MustCompile(`<strong><bdi>(A\.[5-8]\.[0-9]+)</bdi></strong>`).FindAllSubmatch(page, -1) {
		codes[string(m[1])] = true
	}
	if len(codes) != 93 || !codes["A.5.37"] || !codes["A.8.34"] {
		t.Errorf("%d controls of Annex A: %v", len(codes), codes)
	}
}

func TestJSON(t *testing.T) {
	s := reporttest.SampleSource(66)
	s.SoAItems[0].Evidence[0].Quote = "kept to the byte: <b>\u0007</b> & \u202e"
	raw := write(t, s, content.TemplateFull, FormatJSON)
	var r content.Data
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.SchemaVersion != content.SchemaVersion || r.Draft || len(r.SoA.Items) != 66 || len(r.GapAnalysis.Items) != len(s.Findings) ||
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
	only := write(t, s, content.TemplateMaturity, FormatJSON)
	if bytes.Contains(only, []byte(`"soa": {`)) || bytes.Contains(only, []byte(`"executive_summary": `)) {
		t.Error("a maturity report tells more than maturity")
	}
	golden(t, "nothing.json", write(t, &content.Source{}, content.TemplateFull, FormatJSON))
}

// TestJSONListsAreNeverNull checks that nil lists are written as empty lists.
func TestJSONListsAreNeverNull(t *testing.T) {
	s := reporttest.SampleSource(2)
	s.SoAItems[0].Evidence, s.SoAItems[0].InclusionReasons, s.Documents[0].Warnings, s.Frameworks[0].Includes = nil, nil, nil, nil
	raw := string(write(t, s, content.TemplateFull, FormatJSON))
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
	s := reporttest.SampleSource(12)
	eachFormat(func(template, format string) {
		if err := Write(context.Background(), &fullDisk{1000}, s, Request{Template: template, Format: format}); !errors.Is(err, errDisk) {
			t.Errorf("%s as %s on a full disk: %v", template, format, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := Write(ctx, io.Discard, s, Request{Template: template, Format: format}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s as %s, cancelled: %v", template, format, err)
		}
	})
	if err := Write(context.Background(), io.Discard, nil, Request{Template: content.TemplateFull, Format: FormatHTML}); err == nil {
		t.Error("a report was made of no source")
	}
}

// golden compares got with testdata/name; with -update, it writes the file first.
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

// BenchmarkWrite writes the full report of 1,468 controls. It also reports CPU time, since elapsed
// time depends on the machine's load.
func BenchmarkWrite(b *testing.B) {
	s := reporttest.SampleSource(1468)
	for _, format := range []string{FormatHTML, FormatPDF, FormatDOCX, FormatXLSX, FormatOSCAL, FormatJSON, FormatMarkdown} {
		b.Run(format, func(b *testing.B) {
			var n countingWriter
			before := cpuTime()
			for b.Loop() {
				n = 0
				if err := Write(context.Background(), &n, s, Request{Template: content.TemplateFull, Format: format}); err != nil {
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

// TestQuotesShowPassageNumbers checks that readable reports show the hash of a quoted passage only in the table at
// their end, under the number shown at the quote.
func TestQuotesShowPassageNumbers(t *testing.T) {
	s := reporttest.SampleSource(24)
	for _, template := range []string{content.TemplateFull, content.TemplateSoA, content.TemplateGapAnalysis} {
		report := string(write(t, s, template, FormatMarkdown))
		body, end, found := strings.Cut(report, "Quoted passages")
		if !found {
			t.Errorf("%s: no table of passages", template)
			continue
		}
		numbers := map[string]bool{}
		for _, m := range regexp.MustCompile(`Passage (\d+)\.`).FindAllStringSubmatch(body, -1) {
			numbers[m[1]] = true
		}
		rows := regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(end, -1)
		if len(rows) == 0 || len(rows) != len(numbers) {
			t.Errorf("%s: %d passages, %d of them quoted", template, len(rows), len(numbers))
		}
		for _, row := range rows {
			if !numbers[row[1]] {
				t.Errorf("%s: passage %s is not quoted", template, row[1])
			}
			if strings.Contains(body, row[2]) {
				t.Errorf("%s: the hash of passage %s is shown before the end", template, row[1])
			}
		}
	}
}

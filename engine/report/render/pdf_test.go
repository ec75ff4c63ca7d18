package render

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/gomedium"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/pdf"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// poppler runs one of Poppler's programs on a PDF, or skips the test if it is not installed.
func poppler(t *testing.T, pdf []byte, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programtest.FindOrSkip(t, program), args...)
	cmd.Stdin = bytes.NewReader(pdf)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v\n%s", program, err, complaints.String())
	}
	return string(out)
}

// TestPDFSaysWhatMarkdownSays checks that Poppler opens each report without complaint and reads the
// words of the Markdown.
func TestPDFSaysWhatMarkdownSays(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z]{2,7}`) // longer ones may be broken in a narrow column
	all := reporttest.Sources(longtest.Enabled())
	for _, name := range []string{"nothing", "one control", "many"} {
		for _, k := range content.Templates {
			if !slices.Contains(supportedFormatNames(k), FormatPDF) {
				continue
			}
			got := word.FindAllString(poppler(t, write(t, all[name], k.Name, FormatPDF), "pdftotext", "-", "-"), -1)
			slices.Sort(got)
			got = slices.Compact(got)
			if len(got) < 20 {
				t.Errorf("%s, %s: only %d words", name, k.Name, len(got))
			}
			markdown := strings.NewReplacer(
				"<br>",
				" ",
				"&nbsp;",
				" ",
				"\\",
				"",
			).Replace(
				string(write(t, all[name], k.Name, FormatMarkdown)),
			)
			markdown = regexp.MustCompile(`<a id="[^"]*"></a>|\(#[^)]*\)`).ReplaceAllString(markdown, " ")
			var lost []string
			for _, w := range word.FindAllString(markdown, -1) {
				if _, there := slices.BinarySearch(got, w); !there && !slices.Contains(lost, w) {
					lost = append(lost, w)
				}
			}
			if len(lost) > 0 {
				t.Errorf("%s, %s: not in the PDF: %q", name, k.Name, lost)
			}
		}
	}
}

// TestPDFDraft checks that each page of a draft, and no page of a final report, is marked as a
// draft.
func TestPDFDraft(t *testing.T) {
	all := reporttest.Sources(longtest.Enabled())
	pages := strings.Split(
		strings.TrimSuffix(poppler(t, write(t, all["under review"], content.TemplateFull, FormatPDF), "pdftotext", "-", "-"), "\f"),
		"\f",
	)
	for n, p := range pages {
		if !strings.Contains(p, "DRAFT") {
			t.Errorf("page %d of %d is not marked", n+1, len(pages))
		}
	}
	if len(pages) < 10 {
		t.Errorf("%d pages", len(pages))
	}
	if strings.Contains(poppler(t, write(t, all["many"], content.TemplateFull, FormatPDF), "pdftotext", "-", "-"), "DRAFT") {
		t.Error("a final report is called a draft")
	}
}

// TestPDFFonts checks that characters missing from all fonts are reported, and that a given font is
// used for them.
func TestPDFFonts(t *testing.T) {
	s := reporttest.SampleSource(1)
	s.Assessment.Name = "監査 Ω Ж"
	text := poppler(t, write(t, s, content.TemplateExecutiveSummary, FormatPDF), "pdftotext", "-", "-")
	if !strings.Contains(text, "U+67FB, U+76E3") || !strings.Contains(text, "Ω Ж") {
		t.Errorf("what is missing is not named:\n%s", text)
	}
	var b bytes.Buffer
	if err := Write(
		context.Background(),
		&b,
		s,
		Request{Template: content.TemplateExecutiveSummary, Format: FormatPDF, Fonts: pdf.Fonts{Named: gomedium.TTF}},
	); err != nil {
		t.Fatal(err)
	}
	// Installed fonts are tried in order; those that can't be used, or lack the character, are passed over.
	loads := 0
	load := func(data []byte, err error) func() ([]byte, error) {
		return func() ([]byte, error) { loads++; return data, err }
	}
	s.Assessment.Name = "a \u2191" // an arrow, which no built-in font of these tests lacks
	request := Request{Template: content.TemplateExecutiveSummary, Format: FormatPDF, Fonts: pdf.Fonts{Installed: []func() ([]byte, error){
		load(nil, errors.New("not installed")), load([]byte("hello"), nil), load(gomedium.TTF, nil),
	}}}
	b.Reset()
	if err := Write(t.Context(), &b, s, request); err != nil || loads != 0 {
		t.Errorf("%d fonts were loaded although none was needed: %v", loads, err)
	}
	s.Assessment.Name = "監査"
	b.Reset()
	if err := Write(t.Context(), &b, s, request); err != nil || loads != 3 {
		t.Errorf("%d fonts were tried, want 3: %v", loads, err)
	}
	for name, font := range map[string][]byte{
		"no font":             []byte("hello, I am no font"),
		"PostScript outlines": append([]byte("OTTO"), gomedium.TTF[4:]...),
		"cut":                 gomedium.TTF[:len(gomedium.TTF)/3],
	} {
		if err := Write(
			context.Background(),
			&b,
			s,
			Request{Template: content.TemplateExecutiveSummary, Format: FormatPDF, Fonts: pdf.Fonts{Named: font}},
		); err == nil || !strings.Contains(err.Error(), "font") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPDFIsTagged checks that pieces of pages belong to elements, and that pictures are described.
func TestPDFIsTagged(t *testing.T) {
	file := write(t, reporttest.Sources(longtest.Enabled())["one control"], content.TemplateClient, FormatPDF)
	info := poppler(t, file, "pdfinfo", "-") + poppler(t, file, "pdfinfo", "-struct-text", "-")
	for _, want := range []string{"Tagged:          yes", "H1 (block)\n    \"Key risks", "Table (block)", "TH", "TD", "Figure"} {
		if !strings.Contains(info, want) {
			t.Errorf("%q is missing in the structure:\n%.2000s", want, info)
		}
	}
	if n := bytes.Count(file, []byte("startxref")); n != 1 {
		t.Errorf("%d tables of cross-references, want 1", n)
	}
}

// TestPagesAreFilled checks that every page is filled to a third at least, unless a chapter ends on it.
func TestPagesAreFilled(t *testing.T) {
	const top, bottom, titleHeight = 62.0, 841.89 - 54, 18.0 // of the text area of A4, and of a chapter's title
	line := regexp.MustCompile(`<line xMin="[0-9.]+" yMin="([0-9.]+)" xMax="[0-9.]+" yMax="([0-9.]+)"`)
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, template := range []string{content.TemplateClient, content.TemplateFull, content.TemplateSoA} {
		var b bytes.Buffer
		r := Request{Template: template, Format: FormatPDF, WithAppendices: template == content.TemplateClient}
		if err := Write(t.Context(), &b, reporttest.SampleSource(24), r); err != nil {
			t.Fatal(err)
		}
		pages := strings.Split(poppler(t, b.Bytes(), "pdftotext", "-bbox-layout", "-", "-"), "<page ")[1:]
		filled, chapterStarts := make([]float64, len(pages)+1), make([]bool, len(pages)+1)
		for i, p := range pages {
			first := bottom
			for _, m := range line.FindAllStringSubmatch(p, -1) {
				from, to := number(m[1]), number(m[2])
				if from < top-6 || to > bottom+2 {
					continue // of the header or footer
				}
				filled[i] = max(filled[i], (to-top)/(bottom-top))
				if from < first {
					first, chapterStarts[i] = from, to-from > titleHeight
				}
			}
		}
		chapterStarts[len(pages)] = true
		for i := range pages {
			if filled[i] < 1.0/3 && !chapterStarts[i+1] {
				t.Errorf("%s: page %d of %d is filled to %.0f %%", template, i+1, len(pages), 100*filled[i])
			}
		}
		if len(pages) < 10 {
			t.Errorf("%s: only %d pages", template, len(pages))
		}
	}
}

package render

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/gomedium"

	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// poppler runs one of Poppler's programs on a PDF, or skips the test if it is not installed.
func poppler(t *testing.T, pdf []byte, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programtest.Find(t, program), args...)
	cmd.Stdin = bytes.NewReader(pdf)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v\n%s", program, err, complaints.String())
	}
	return string(out)
}

// Another program opens each report without complaint and reads the same words in it as
// stand in the Markdown.
func TestPDFSaysWhatMarkdownSays(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z]{2,7}`) // longer ones may be broken in a narrow column
	all := sources()
	for _, name := range []string{"nothing", "one control", "many"} {
		for _, k := range templates {
			if !slices.Contains(k.formatNames(), FormatPDF) {
				continue
			}
			got := word.FindAllString(poppler(t, write(t, all[name], k.name, FormatPDF), "pdftotext", "-", "-"), -1)
			slices.Sort(got)
			got = slices.Compact(got)
			if len(got) < 20 {
				t.Errorf("%s, %s: only %d words", name, k.name, len(got))
			}
			markdown := strings.NewReplacer(
				"<br>",
				" ",
				"&nbsp;",
				" ",
				"\\",
				"",
			).Replace(
				string(write(t, all[name], k.name, FormatMarkdown)),
			)
			markdown = regexp.MustCompile(`<a id="[^"]*"></a>|\(#[^)]*\)`).ReplaceAllString(markdown, " ")
			var lost []string
			for _, w := range word.FindAllString(markdown, -1) {
				if _, there := slices.BinarySearch(got, w); !there && !slices.Contains(lost, w) {
					lost = append(lost, w)
				}
			}
			if len(lost) > 0 {
				t.Errorf("%s, %s: not in the PDF: %q", name, k.name, lost)
			}
		}
	}
}

// A draft is called one on each page; a final report nowhere.
func TestPDFDraft(t *testing.T) {
	all := sources()
	pages := strings.Split(
		strings.TrimSuffix(poppler(t, write(t, all["under review"], TemplateFull, FormatPDF), "pdftotext", "-", "-"), "\f"),
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
	if strings.Contains(poppler(t, write(t, all["many"], TemplateFull, FormatPDF), "pdftotext", "-", "-"), "DRAFT") {
		t.Error("a final report is called a draft")
	}
}

// All links lead somewhere, and the contents name the pages.
func TestPDFLinks(t *testing.T) {
	for name, s := range sources() {
		for _, k := range templates {
			if !slices.Contains(k.formatNames(), FormatPDF) {
				continue
			}
			v := newReportData(s, Request{Template: k.name, Format: FormatPDF})
			d := v.buildDocument()
			p, err := layOutPDF(d, v.AsOf, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range p.links {
				if _, known := p.anchors[l.ref]; !known {
					t.Errorf("%s, %s: page %d links to %q, which is nowhere", name, k.name, l.page, l.ref)
				}
			}
			for _, e := range p.contentsEntries {
				if to := p.anchors[e.ref]; to.page == 0 || to.page > p.file.PageCount() {
					t.Errorf("%s, %s: the contents send to page %d for %q", name, k.name, to.page, e.ref)
				}
			}
		}
	}
}

// Nothing is written outside the margins, whatever the texts.
func TestPDFStaysOnThePage(t *testing.T) {
	p, err := layOutPDF(document{}, hostile().AsOf, nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 10_000)
	for _, width := range []float64{6, 40, 200} {
		for _, c := range []cell{
			proseCell(long),
			proseCell("a b\n\n  c\td"),
			badgeCell("high", "Very "+long),
			userCell("日本語のテキスト" + strings.Repeat("長", 400)),
			plainCell("").with(span{Text: long, Mono: true}),
			proseCell("👍🏽 \u202eabc\u0301"),
		} {
			var all strings.Builder
			for _, l := range p.breakLines(p.splitWords(c, textStyle{p.fonts.regular, 8, drawing.Ink}), width) {
				if l.width > width+1 && width > 2*badgePad+8 {
					t.Errorf("a line of %.0f points in %.0f: %+v", l.width, width, l.runs)
				}
				for _, r := range l.runs {
					all.WriteString(r.text)
				}
			}
			squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if want := squeeze(c[len(c)-1].Text); len(p.missing) == 0 && squeeze(all.String()) != want {
				t.Errorf("%d bytes of text became %d", len(want), len(squeeze(all.String())))
			}
		}
	}
}

// Characters that no font has are named, and a font that is given is used for them.
func TestPDFFonts(t *testing.T) {
	s := sample(1)
	s.Assessment.Name = "監査 Ω Ж"
	text := poppler(t, write(t, s, TemplateExecutiveSummary, FormatPDF), "pdftotext", "-", "-")
	if !strings.Contains(text, "U+67FB, U+76E3") || !strings.Contains(text, "Ω Ж") {
		t.Errorf("what is missing is not named:\n%s", text)
	}
	var b bytes.Buffer
	if err := Write(
		context.Background(),
		&b,
		s,
		Request{Template: TemplateExecutiveSummary, Format: FormatPDF, Font: gomedium.TTF},
	); err != nil {
		t.Fatal(err)
	}
	for name, font := range map[string][]byte{
		"no font":             []byte("hello, I am no font"),
		"PostScript outlines": append([]byte("OTTO"), gomedium.TTF[4:]...),
		"cut":                 gomedium.TTF[:len(gomedium.TTF)/3],
	} {
		if err := Write(context.Background(), &b, s, Request{Template: TemplateExecutiveSummary, Format: FormatPDF, Font: font}); err == nil ||
			!strings.Contains(err.Error(), "font") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package render

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
)

// TestBrandedReports checks that every format with a layout shows the branding, and that reports
// with the same branding are equal.
func TestBrandedReports(t *testing.T) {
	s := reporttest.SampleSource(4)
	logo, err := content.NormalizeLogo(reporttest.PNG(t, 120, 60))
	if err != nil {
		t.Fatal(err)
	}
	s.Brand = content.Brand{
		Accent: "#7A1F5C",
		Band:   "#00AA88",
		Line:   "Prepared by Nord Consulting",
		Footer: "Nord Consulting <confidential> & co",
		Logo:   logo,
	}
	page := string(write(t, s, content.TemplateExecutiveSummary, FormatHTML))
	for _, want := range []string{
		"--accent:#7a1f5c",
		"--band:#00aa88",
		"Nord Consulting &lt;confidential&gt;",
		"Prepared by Nord",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(logo)[:40],
		"img-src data:",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	parts := reporttest.UnzipParts(t, write(t, s, content.TemplateExecutiveSummary, FormatDOCX))
	if !strings.Contains(parts["word/styles.xml"], "7A1F5C") || strings.Contains(parts["word/styles.xml"], "{") ||
		!strings.Contains(parts["word/footer1.xml"], "Nord Consulting &lt;") ||
		parts["word/media/image1.png"] != string(logo) {
		t.Error("the DOCX has not the brand's look")
	}
	book := openWorkbook(t, write(t, s, content.TemplateExecutiveSummary, FormatXLSX))
	if all, err := book.GetPictures("Cover", "A1"); err != nil || len(all) != 1 || !bytes.Equal(all[0].File, logo) {
		t.Errorf("the workbook's cover has %d logos, %v", len(all), err)
	}
	if !bytes.Equal(write(t, s, content.TemplateSoA, FormatXLSX), write(t, s, content.TemplateSoA, FormatXLSX)) {
		t.Error("two workbooks of the same brand differ")
	}
	pdf := write(t, s, content.TemplateExecutiveSummary, FormatPDF)
	if !bytes.Equal(pdf, write(t, s, content.TemplateExecutiveSummary, FormatPDF)) {
		t.Error("two PDFs of the same brand differ")
	}
	if text := poppler(t, pdf, "pdftotext", "-", "-"); !strings.Contains(text, "Nord Consulting <confidential> & co") ||
		!strings.Contains(text, "Prepared by Nord") {
		t.Error("the PDF has not the brand's lines")
	}
	if a, b := content.Provenance(s, content.TemplateFull)["branding_sha256"], s.Brand.SHA256(); a == "" || a != b {
		t.Errorf("the sources name the brand as %q", a)
	}
	if content.Provenance(reporttest.SampleSource(1), content.TemplateFull)["branding_sha256"] != "" {
		t.Error("the program's own look is among the sources")
	}
}

// FuzzBrand checks that any branding is rejected or only adds text and colors to a report: the elements stay the
// same, the XML is valid, and no control characters are added.
func FuzzBrand(f *testing.F) {
	f.Add("#7A1F5C", "#00AA88", "Prepared by Nord", "confidential & <b>")
	f.Add("#123456;}body{background:url(//x)", "", "{{.}}", "</style><script>alert(1)</script>")
	f.Add("", "#12345g", "a\x00\x1b[31m\u202eb\ufffe", "\xff ]]> &amp; {color}")
	s := reporttest.SampleSource(1)
	elements := func(page []byte) int { return bytes.Count(page, []byte("<")) }
	brand := func(t testing.TB, b content.Brand, format string) ([]byte, error) {
		s.Brand = b
		var out bytes.Buffer
		err := Write(t.Context(), &out, s, Request{Template: content.TemplateSoA, Format: format})
		return out.Bytes(), err
	}
	plain, err := brand(f, content.Brand{Line: "x", Footer: "x"}, FormatHTML)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, accent, band, line, footer string) {
		b := content.Brand{Accent: accent, Band: band, Line: line, Footer: footer}
		if err := b.Validate(); err != nil {
			if !api.IsCode(err, api.CodeValidation) {
				t.Fatal(err)
			}
			return
		}
		// An empty line has no element of its own.
		b.Line, b.Footer = cmp.Or(strings.TrimSpace(line), "x"), cmp.Or(strings.TrimSpace(footer), "x")
		page, err := brand(t, b, FormatHTML)
		if err != nil || elements(page) != elements(plain) || bytes.ContainsAny(page, "\x00\x1b\u202e\ufffe") {
			t.Fatalf("%+v: %v, %d elements, want %d", b, err, elements(page), elements(plain))
		}
		docx, err := brand(t, b, FormatDOCX)
		if err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		for name, part := range reporttest.UnzipParts(t, docx) {
			if !strings.HasSuffix(name, ".xml") {
				continue
			}
			for d := xml.NewDecoder(strings.NewReader(part)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%+v: %s: %v", b, name, err)
				}
			}
		}
	})
}

//go:build unipdf

package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"github.com/unidoc/unipdf/v3/extractor"
	"github.com/unidoc/unipdf/v3/model"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
)

func testEngines() []testEngine {
	own := testEngine{name: "unipdf", start: startUnipdf}
	if _, err := startUnipdf(Options{}); err != nil {
		own.missing = "no key: " + err.Error()
	}
	return []testEngine{pdfiumTest, own}
}

// Without a key nothing is read, the error names the setting, and unipdf prints nothing.
func TestUnipdfWithoutKey(t *testing.T) {
	if _, err := startUnipdf(Options{}); err == nil {
		t.Skip("there is a key")
	}
	stdout := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	reader := New(testOptions)
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.Text(20, 20, "words") })
	_, err = read(t.Context(), reader, document.Options{}, raw)
	os.Stdout = stdout
	w.Close()
	said, _ := io.ReadAll(r)
	if err == nil || !strings.Contains(err.Error(), "UNIPDF_LICENSE_PATH") || !strings.Contains(err.Error(), "UNIPDF_CUSTOMER_NAME") {
		t.Errorf("got %v", err)
	}
	if len(said) > 0 {
		t.Errorf("printed %q", said)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

// opened opens a document in unipdf, which without a key provides everything except the words.
func opened(t *testing.T, raw []byte) *unipdfDocument {
	t.Helper()
	d := &unipdfDocument{ctx: t.Context()}
	if err := d.load(bytes.NewReader(raw), int64(len(raw))); err != nil {
		t.Fatal(err)
	}
	return d
}

// Pages, titles, bookmarks, rules and images are the same as in PDFium.
func TestUnipdfSeesWhatPDFiumSees(t *testing.T) {
	var img bytes.Buffer
	if err := png.Encode(&img, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.SetTitle("Access Policy", true)
		form := p.CreateTemplate(func(tp *fpdf.Tpl) {
			tp.SetFont("Helvetica", "", 11)
			for range 3 {
				tp.CellFormat(50, 8, "cell", "1", 1, "L", false, 0, "")
			}
		})
		p.AddPage()
		p.Bookmark("Scope", 0, -1)
		p.Bookmark("Of users", 1, -1)
		for range 3 {
			for range 3 {
				p.CellFormat(40, 8, "cell", "1", 0, "L", false, 0, "")
			}
			p.Ln(8)
		}
		p.AddPage()
		p.RegisterImageOptionsReader("x", fpdf.ImageOptions{ImageType: "png"}, bytes.NewReader(img.Bytes()))
		p.ImageOptions("x", 10, 10, 100, 100, false, fpdf.ImageOptions{ImageType: "png"}, 0, "")
		p.AddPage()
		p.UseTemplate(form)
	})
	turned := bytes.Replace(raw, []byte("/Type /Page\n"), []byte("/Type /Page\n/Rotate 90\n"), 1)
	for name, raw := range map[string][]byte{"upright": raw, "turned": turned} {
		t.Run(name, func(t *testing.T) {
			d := opened(t, raw)
			err := shared().openDocument(document.NewBuilder(t.Context(), document.Options{}), bytes.NewReader(raw), int64(len(raw)), func(other engineDocument) error {
				n, err := d.pageCount()
				if m, err2 := other.pageCount(); err != nil || err2 != nil || n != m || n != 3 {
					t.Errorf("%d pages, PDFium has %d: %v %v", n, m, err, err2)
				}
				if d.title() != other.title() || d.title() == "" {
					t.Errorf("title %q, PDFium has %q", d.title(), other.title())
				}
				levels, err := d.outlineLevels()
				theirs, err2 := other.outlineLevels()
				if err != nil || err2 != nil || fmt.Sprint(levels) != fmt.Sprint(theirs) || len(levels) != 2 {
					t.Errorf("bookmarks %v, PDFium has %v: %v %v", levels, theirs, err, err2)
				}
				for i := 1; i <= n; i++ {
					page, err := d.reader.GetPage(i)
					if err != nil {
						return err
					}
					r, err := newUnipdfPage(page, i)
					if err != nil {
						return err
					}
					r.readObjects()
					theirs, err := other.readPage(i)
					if err != nil {
						return err
					}
					if shapeOf(r.out) != shapeOf(theirs) {
						t.Errorf("page %d: %s\nPDFium: %s", i, shapeOf(r.out), shapeOf(theirs))
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// shapeOf formats the content of a page other than its words, rounded to points.
func shapeOf(p *pageContent) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%.0f×%.0f turned %d pictured %.2f", p.w, p.h, p.rotation, p.pictureShare)
	seen := map[string]bool{}
	for _, r := range p.rules {
		if s := fmt.Sprintf(" %v %.0f:%.0f–%.0f", r.horizontal, r.at, r.from, r.to); !seen[s] {
			seen[s] = true
			sb.WriteString(s)
		}
	}
	return sb.String()
}

// Marks, as described in unipdf's documentation, are combined into words.
func TestUnipdfWords(t *testing.T) {
	d := opened(t, documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage() }))
	page, err := d.reader.GetPage(1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newUnipdfPage(page, 1)
	if err != nil {
		t.Fatal(err)
	}
	var marks []extractor.TextMark
	line := func(text string, x, y, size, dx, dy float64) {
		for _, c := range text {
			marks = append(marks, extractor.TextMark{
				Text: string(c), Meta: c == ' ', FontSize: size,
				BBox: model.PdfRectangle{Llx: x, Lly: y, Urx: x + dx, Ury: y + size},
			})
			x, y = x+dx, y+dy
		}
		marks = append(marks, extractor.TextMark{Text: "\n", Meta: true})
	}
	line("Access is", 50, 700, 10, 5, 0)
	line("DRAFT", 50, 400, 60, 30, 30)
	line("m²", 50, 600, 10, 5, 3)
	line("ten\u00adfold", 50, 500, 10, 5, 0)
	if err := r.buildWords(marks); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range r.out.words {
		got = append(got, w.text)
	}
	if strings.Join(got, "|") != "Access|is|m²|ten-fold" {
		t.Errorf("words %q", got)
	}
	if w := r.out.words[0]; w.x0 != 50 || w.x1 != 80 || w.height() != 10 {
		t.Errorf("place %+v", w.box)
	}
}

// A password-protected document and a damaged one are rejected with the matching error.
func TestUnipdfRefuses(t *testing.T) {
	locked := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "user", "owner"); p.AddPage() })
	for want, raw := range map[string][]byte{document.ErrEncrypted.Error(): locked, document.ErrDamaged.Error(): []byte("%PDF-1.7\n%%EOF")} {
		d := &unipdfDocument{ctx: t.Context()}
		if err := d.load(bytes.NewReader(raw), int64(len(raw))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	opened(t, documenttest.PDF(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "", "owner"); p.AddPage() }))
}

// A call that hangs is abandoned when the document's time is up, and keeps its slot until it ends.
func TestUnipdfGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	slots := make(chan struct{}, 1)
	slots <- struct{}{}
	d := &unipdfDocument{ctx: ctx}
	hang := make(chan struct{})
	err := d.runCancelable("page 1", func() error { cancel(); <-hang; return nil })
	if err == nil || !d.isStopped() {
		t.Errorf("got %v", err)
	}
	d.releaseSlotWhenIdle(slots)
	if len(slots) != 1 {
		t.Error("the slot is free while the call goes on")
	}
	close(hang)
	slots <- struct{}{} // waits until the slot is released
	if err := (&unipdfDocument{ctx: t.Context()}).runCancelable("page 2", func() error { panic("broken") }); err == nil ||
		!strings.Contains(err.Error(), "page 2") {
		t.Errorf("a panic: %v", err)
	}
}

package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/evidence/ocr"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// eye is a fake OCR program that returns the result of say.
type eye struct{ say func([]byte) (string, error) }

func (e eye) RecognizeText(ctx context.Context, picture []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return e.say(picture)
}

// scan returns a PNG image of a page with text.
func scan(t testing.TB, text string) []byte {
	t.Helper()
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.MultiCell(0, 7, text, "", "L", false) })
	var out bytes.Buffer
	b := document.NewBuilder(context.Background(), document.Options{})
	err := shared().openDocument(b, bytes.NewReader(raw), int64(len(raw)), func(doc engineDocument) error {
		pnm, err := doc.renderPage(1)
		if err != nil {
			return err
		}
		var w, h int
		if _, err := fmt.Sscanf(string(pnm[:20]), "P5\n%d %d\n255\n", &w, &h); err != nil {
			return err
		}
		img := image.NewGray(image.Rect(0, 0, w, h))
		copy(img.Pix, pnm[len(pnm)-w*h:])
		return png.Encode(&out, img)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// blankPNG returns an image for tests in which the recognized text doesn't depend on it.
func blankPNG(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// scannedPDF returns a page of text, one that is an image, and another one of text.
func scannedPDF(t testing.TB, picture []byte) []byte {
	return documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.MultiCell(0, 7, "The first page has words.", "", "L", false)
		p.AddPage()
		p.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(picture))
		p.ImageOptions("scan", 0, 0, 210, 297, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
		p.AddPage()
		p.MultiCell(0, 7, "The third page has words again.", "", "L", false)
	})
}

func TestScannedPDF(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	raw := scannedPDF(t, blankPNG(t))
	var size int
	doc, err := readWith(
		t,
		eye{func(p []byte) (string, error) { size = len(p); return "The second page was recognised.", nil }},
		raw,
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"The first page", "The second page", "The third page"} {
		if b := doc.Blocks[i]; !strings.HasPrefix(b.Text, want) || b.Locator.Page != i+1 {
			t.Errorf("block %d: %q on page %d", i, b.Text, b.Locator.Page)
		}
	}
	if size < 2000*3000 {
		t.Errorf("the page was drawn in %d bytes", size)
	}
	// Without an OCR program there is a warning about the page, and a PDF of scans only is an error.
	if doc, err = readWith(t, nil, raw); err != nil {
		t.Fatal(err)
	}
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "Page 2: there is no text layer, so OCR is needed: install Tesseract") {
		t.Errorf("warnings %q", doc.Warnings)
	}
	only := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(blankPNG(t)))
		p.ImageOptions("scan", 0, 0, 210, 297, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	})
	if _, err := readWith(t, nil, only); !errors.Is(err, document.ErrNoTextLayer) || !strings.Contains(err.Error(), "install Tesseract") {
		t.Errorf("without a program: %v", err)
	}
	if _, err := readWith(t, eye{func([]byte) (string, error) { return "", nil }}, only); !errors.Is(err, document.ErrEmpty) {
		t.Errorf("nothing recognised: %v", err)
	}
	if _, err := readWith(t, eye{func([]byte) (string, error) { return "", errors.New("no memory") }}, only); err == nil {
		t.Error("an empty success")
	}
}

// TestStampedScan checks that OCR is also applied to a scan whose text layer is only a stamp or a page number, and
// that the recognized text replaces the stamp if it is clearly longer.
func TestStampedScan(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	picture := blankPNG(t)
	page := func(p *fpdf.Fpdf, w, h float64, words string) {
		p.AddPage()
		p.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(picture))
		p.ImageOptions("scan", 0, 0, w, h, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
		p.SetY(270)
		p.MultiCell(0, 4, words, "", "L", false)
	}
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.SetAutoPageBreak(false, 0)
		page(p, 210, 297, "Received 3 May, page 1 of 4")
		page(p, 210, 297, strings.Repeat("word ", stampWords+1)) // its text layer is more than a stamp
		page(p, 100, 100, "A figure and what it shows")          // an image in a text
	})
	long := strings.Repeat("Access is reviewed each quarter. ", 8) + "Received 3 May, page 1 of 4"
	const figure = 2 << 20 // bytes: the figure takes less, a page takes more
	drawn := 0
	doc, err := readWith(t, eye{func(p []byte) (string, error) {
		if drawn++; len(p) < figure {
			return "Camera at gate nine", nil
		}
		return long, nil
	}}, raw)
	if err != nil {
		t.Fatal(err)
	}
	text := documenttest.Outline(doc.Blocks)
	if drawn != 2 || !strings.Contains(text, "Access is reviewed") || strings.Count(text, "Received") != 1 ||
		!strings.Contains(text, "word word") ||
		!strings.Contains(text, "A figure") || !strings.Contains(text, "Camera at gate nine") || len(doc.NotRead) > 0 {
		t.Errorf("%d pages and figures were recognised:\n%s%v", drawn, text, doc.NotRead)
	}
	if len(doc.Warnings) != 1 || doc.Warnings[0] != document.RecognizedWarning {
		t.Errorf("warnings %q", doc.Warnings)
	}
	for name, tt := range map[string]struct {
		o    document.OCR
		warn string
	}{
		"no more to it": {eye{func(p []byte) (string, error) {
			if len(p) < figure {
				return "", nil
			}
			return "Rcceived 3 May, page l of 4 and a title", nil
		}}, ""},
		"fails": {
			eye{func([]byte) (string, error) { return "", errors.New("no memory") }},
			"Page 1: no memory. Page 1: only a few words of text were read, because everything else is an image.",
		},
		"no program": {nil, "Page 1: only a few words of text were read, because everything else is an image: " + document.InstallOCRHint + "."},
	} {
		doc, err := readWith(t, tt.o, raw)
		if err != nil {
			t.Fatal(name, err)
		}
		if text := documenttest.Outline(doc.Blocks); !strings.Contains(text, "Received 3 May") || strings.Contains(text, "Rcceived") {
			t.Errorf("%s: %s", name, text)
		}
		if got := strings.Join(doc.Warnings, " "); got != tt.warn {
			t.Errorf("%s: warnings %q", name, got)
		}
	}
}

// With the real program, the text recognized on a scanned page is that of the original page.
func TestTesseract(t *testing.T) {
	programtest.FindOrSkip(t, "tesseract")
	tess, err := ocr.FindTesseract("eng", os.Getenv)
	if err != nil || tess == nil {
		t.Fatalf("%v, %v", tess, err)
	}
	const text = "Access Control Policy\n\nAccess to systems is granted by role and reviewed each quarter by the owner of " +
		"the system. Accounts of leavers are disabled on the day they leave."
	doc, err := readWith(t, tess, scannedPDF(t, scan(t, text)))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, b := range doc.Blocks {
		if b.Locator.Page == 2 {
			got.WriteString(b.Text + " ")
		}
	}
	if score := documenttest.WordF1(got.String(), text); score < 0.95 {
		t.Errorf("F1 %.3f: %q", score, got.String())
	}
}

package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/programtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

func TestPDF(t *testing.T) { onEachEngine(t, testPDF) }

func testPDF(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.SetHeaderFunc(func() {
			p.SetFont("Helvetica", "", 8)
			p.CellFormat(0, 5, "Example Ltd  Version: 1.3  Owner: CISO", "", 1, "L", false, 0, "")
			p.Ln(4)
		})
		p.SetFooterFunc(func() {
			p.SetY(-15)
			p.SetFont("Helvetica", "", 8)
			p.CellFormat(0, 5, fmt.Sprintf("Page %d of 2", p.PageNo()), "", 0, "C", false, 0, "")
		})
		p.AddPage()
		p.SetFont("Helvetica", "B", 20)
		p.CellFormat(0, 12, "Access Control Policy", "", 1, "L", false, 0, "")
		p.SetFont("Helvetica", "B", 14)
		p.CellFormat(0, 10, "1. Purpose", "", 1, "L", false, 0, "")
		p.SetFont("Helvetica", "", 11)
		p.MultiCell(0, 5, strings.Repeat(documenttest.Lorem, 2), "", "L", false)
		p.Ln(4)
		p.MultiCell(0, 5, "A second paragraph that is short.", "", "L", false)
		p.Ln(4)
		for _, s := range []string{"first thing to do", "second thing to do"} {
			p.CellFormat(8, 6, "-", "", 0, "L", false, 0, "")
			p.CellFormat(0, 6, s, "", 1, "L", false, 0, "")
		}
		p.AddPage()
		p.SetFont("Helvetica", "B", 14)
		p.CellFormat(0, 10, "2. Roles", "", 1, "L", false, 0, "")
		p.SetFont("Helvetica", "", 11)
		for _, row := range [][]string{{"Role", "Right", "Reviewed"}, {"Admin", "all systems", "monthly"}, {"User", "own data", "yearly"}} {
			for _, c := range row {
				p.CellFormat(50, 8, c, "1", 0, "L", false, 0, "")
			}
			p.Ln(8)
		}
	})
	doc := e.read(t, raw)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Access Control Policy
	## 1. Purpose  {Access Control Policy}
	¶ `+strings.TrimSpace(strings.Repeat(documenttest.Lorem, 2))+`  {Access Control Policy > 1. Purpose}
	¶ A second paragraph that is short.  {Access Control Policy > 1. Purpose}
	- first thing to do  {Access Control Policy > 1. Purpose}
	- second thing to do  {Access Control Policy > 1. Purpose}
	## 2. Roles  {Access Control Policy}
	| Role: Admin; Right: all systems; Reviewed: monthly  {Access Control Policy > 2. Roles}
	| Role: User; Right: own data; Reviewed: yearly  {Access Control Policy > 2. Roles}
	`)
	if doc.Version != "1.3" || doc.Owner != "CISO" || doc.PageCount != 2 || doc.Title != "Access Control Policy" {
		t.Errorf("%q %q %d %q", doc.Version, doc.Owner, doc.PageCount, doc.Title)
	}
	if doc.Blocks[8].Locator.Page != 2 || doc.Blocks[2].Locator.Page != 1 {
		t.Errorf("pages %+v %+v", doc.Blocks[2].Locator, doc.Blocks[8].Locator)
	}
}

func TestPDFColumns(t *testing.T) { onEachEngine(t, testPDFColumns) }

func testPDFColumns(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		for i, word := range []string{"alpha", "omega"} {
			p.SetLeftMargin(10 + float64(i)*100)
			p.SetXY(10+float64(i)*100, 30)
			p.MultiCell(
				85,
				5,
				strings.Repeat("Every "+word+" line of this column is read before the other one begins here. ", 8),
				"",
				"L",
				false,
			)
		}
	})
	text := documenttest.Outline(e.read(t, raw).Blocks)
	if a, o := strings.LastIndex(text, "alpha"), strings.Index(text, "omega"); a < 0 || o < a {
		t.Errorf("columns are mixed:\n%s", text)
	}
}

func TestPDFLooseTable(t *testing.T) { onEachEngine(t, testPDFLooseTable) }

func testPDFLooseTable(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.MultiCell(0, 6, documenttest.Lorem, "", "L", false)
		p.Ln(5)
		for _, row := range [][]string{
			{"Asset", "Owner", "Class"},
			{"Mail", "IT", "high"},
			{"Laptop", "Staff", "low"},
			{"Door", "Facility", "low"},
		} {
			for _, c := range row {
				p.CellFormat(45, 7, c, "", 0, "L", false, 0, "")
			}
			p.Ln(7)
		}
	})
	text := documenttest.Outline(e.read(t, raw).Blocks)
	if !strings.HasSuffix(
		text,
		"| Asset: Mail; Owner: IT; Class: high\n| Asset: Laptop; Owner: Staff; Class: low\n| Asset: Door; Owner: Facility; Class: low\n",
	) {
		t.Errorf("got\n%s", text)
	}
}

func TestPDFTableOverPages(t *testing.T) { onEachEngine(t, testPDFTableOverPages) }

func testPDFTableOverPages(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.SetAutoPageBreak(false, 0)
		for page := range 3 {
			p.AddPage()
			p.SetY(60)
			for i := range 4 {
				row := []string{fmt.Sprintf("C-%d", page*3+i), "does a thing"}
				if i == 0 {
					row = []string{"Control", "What"}
				}
				for _, c := range row {
					p.CellFormat(50, 8, c, "1", 0, "L", false, 0, "")
				}
				p.Ln(8)
			}
		}
	})
	doc := e.read(t, raw)
	if len(doc.Blocks) != 9 {
		t.Fatalf("got\n%s", documenttest.Outline(doc.Blocks))
	}
	for _, b := range doc.Blocks {
		if b.Table != 1 || !reflect.DeepEqual(b.Header, []string{"Control", "What"}) {
			t.Errorf("row %+v", b)
		}
	}
}

func TestPDFOutlineAndRotation(t *testing.T) { onEachEngine(t, testPDFOutlineAndRotation) }

func testPDFOutlineAndRotation(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPageFormat("P", fpdf.SizeType{Wd: 210, Ht: 297})
		p.Bookmark("Scope", 0, -1)
		p.SetFont("Helvetica", "B", 11)
		p.CellFormat(0, 8, "Scope", "", 1, "L", false, 0, "")
		p.SetFont("Helvetica", "", 11)
		p.MultiCell(0, 5, documenttest.Lorem, "", "L", false)
		p.TransformBegin()
		p.TransformRotate(45, 100, 150)
		p.SetFont("Helvetica", "B", 60)
		p.Text(60, 150, "DRAFT")
		p.TransformEnd()
	})
	documenttest.Compare(t, documenttest.Outline(e.read(t, raw).Blocks), "# Scope\n¶ "+strings.TrimSpace(documenttest.Lorem)+"  {Scope}\n")
	for _, turn := range []string{"90", "180", "270"} {
		turned := bytes.Replace(raw, []byte("/Type /Page\n"), []byte("/Type /Page\n/Rotate "+turn+"\n"), 1)
		if bytes.Equal(turned, raw) {
			t.Fatal("the page was not turned")
		}
		// Words stay whole however the page is rotated.
		if text := documenttest.Outline(e.read(t, turned).Blocks); turn == "180" && !strings.Contains(text, "quarter") || text == "" {
			t.Errorf("turned by %s: %s", turn, text)
		}
	}
}

func TestPDFPictures(t *testing.T) { onEachEngine(t, testPDFPictures) }

func testPDFPictures(t *testing.T, e testEngine) {
	var img bytes.Buffer
	if err := png.Encode(&img, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	picture := func(p *fpdf.Fpdf) {
		p.AddPage()
		p.RegisterImageOptionsReader("x", fpdf.ImageOptions{ImageType: "png"}, bytes.NewReader(img.Bytes()))
		p.ImageOptions("x", 10, 10, 100, 0, false, fpdf.ImageOptions{ImageType: "png"}, 0, "")
	}
	if _, err := read(t.Context(), e.reader(t), document.Options{}, documenttest.PDF(t, picture)); !errors.Is(
		err,
		document.ErrNoTextLayer,
	) {
		t.Errorf("got %v", err)
	}
	doc := e.read(t, documenttest.PDF(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.MultiCell(0, 5, documenttest.Lorem, "", "L", false)
		picture(p)
		picture(p)
		p.AddPage() // blank, so no warning
	}))
	if want := []string{"Pages 2–3: there is no text layer, so OCR is needed: " + document.InstallOCRHint + "."}; !reflect.DeepEqual(doc.Warnings, want) {
		t.Errorf("warnings %q", doc.Warnings)
	}
}

func TestPDFRefuses(t *testing.T) { onEachEngine(t, testPDFRefuses) }

func testPDFRefuses(t *testing.T, e testEngine) {
	plain := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.MultiCell(0, 5, documenttest.Lorem, "", "L", false) })
	locked := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "user", "owner"); p.AddPage(); p.Text(20, 20, "secret") })
	many := documenttest.PDF(t, func(p *fpdf.Fpdf) {
		for range 30 {
			p.AddPage()
		}
	})
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"locked":    {locked, document.ErrEncrypted},
		"head only": {[]byte("%PDF-1.7\n%%EOF"), document.ErrDamaged},
		"a quarter": {plain[:len(plain)/4], document.ErrDamaged},
		"blank":     {many, document.ErrEmpty},
		"ring":      {documenttest.CyclicPDF(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t.Context(), e.reader(t), document.Options{}, tt.raw)
			if tt.want == nil {
				if err == nil || errors.Is(err, document.ErrTimeout) {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	few := e.newReader(Options{MaxPages: 29, CacheDir: testOptions.CacheDir})
	defer few.Close()
	if _, err := read(t.Context(), few, document.Options{}, many); !errors.Is(err, document.ErrTooLarge) {
		t.Errorf("many pages: %v", err)
	}
	if _, err := read(t.Context(), e.reader(t), document.Options{MaxText: 100}, plain); !errors.Is(err, document.ErrTooLarge) {
		t.Errorf("much text: %v", err)
	}
	// A document that is only protected against changes opens without a password.
	if doc := e.read(
		t,
		documenttest.PDF(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "", "owner"); p.AddPage(); p.Text(20, 20, "readable words") }),
	); doc.Blocks[0].Text != "readable words" {
		t.Errorf("got %s", documenttest.Outline(doc.Blocks))
	}
}

// The bombs are a form that draws itself, and a chain of forms, each of which draws the next twice, forty deep.
func TestPDFBombs(t *testing.T) { onEachEngine(t, testPDFBombs) }

func testPDFBombs(t *testing.T, e testEngine) {
	var sb strings.Builder
	sb.WriteString("%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n")
	sb.WriteString(
		"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</F 10 0 R>>>>/Contents 4 0 R>> endobj\n" +
			"4 0 obj <</Length 5>> stream\n/F Do\nendstream endobj\n",
	)
	for i := 10; i < 50; i++ {
		fmt.Fprintf(
			&sb,
			"%d 0 obj <</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</F %d 0 R>>>>/Length 11>> stream\n/F Do /F Do\n"+
				"endstream endobj\n",
			i,
			i+1,
		)
	}
	sb.WriteString(
		"50 0 obj <</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</F 50 0 R>>>>/Length 5>> stream\n/F Do\n" +
			"endstream endobj\ntrailer <</Root 1 0 R/Size 51>>\n%%EOF",
	)
	r := e.newReader(testOptions)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := read(ctx, r, document.Options{}, []byte(sb.String())); err == nil {
		t.Error("a bomb was read")
	}
	// The reader still works after a document that had to be stopped.
	good := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.Text(20, 20, "still alive") })
	doc, err := read(t.Context(), r, document.Options{}, good)
	if err != nil || doc.Blocks[0].Text != "still alive" {
		t.Errorf("after it: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := read(t.Context(), r, document.Options{}, good); err == nil {
		t.Error("a closed reader read")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestPDFAgreesWithPoppler(t *testing.T) { onEachEngine(t, testPDFAgreesWithPoppler) }

func testPDFAgreesWithPoppler(t *testing.T, e testEngine) {
	if testing.Short() {
		t.Skip("reads every PDF of the shared data")
	}
	programtest.FindOrSkip(t, "pdftotext")
	pdfs := append(
		documenttest.Files(t, shareddata.PathOrSkip(t, "strm"), "*.pdf"),
		documenttest.Files(t, shareddata.PathOrSkip(t, "evidence"), "mixed/*.pdf")...)
	for _, f := range pdfs {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		doc := e.read(t, raw)
		ours := make([]string, doc.PageCount+1)
		for _, b := range append(doc.Blocks, doc.Furniture...) {
			ours[b.Locator.Page] += b.DisplayText() + "\n"
		}
		all := documenttest.RunTool(t, "pdftotext", f, "-")
		theirs := strings.Split(all, "\f")
		whole := documenttest.WordF1(strings.Join(ours, ""), all)
		sum, worst, at := 0.0, 1.0, 0
		for n := 1; n <= doc.PageCount; n++ {
			score := documenttest.WordF1(ours[n], theirs[n-1])
			if sum += score; score < worst {
				worst, at = score, n
			}
		}
		t.Logf(
			"%s: F1 %.4f, mean of pages %.4f, worst %.4f on page %d of %d",
			filepath.Base(f),
			whole,
			sum/float64(doc.PageCount),
			worst,
			at,
			doc.PageCount,
		)
		// A paragraph that continues on the next page counts for the page it begins on, so only the tables,
		// whose rows don't, can be compared page by page.
		if whole < 0.98 || strings.Contains(f, "strm") && worst < 0.98 {
			t.Errorf("%s: F1 %.4f, worst page %.4f", filepath.Base(f), whole, worst)
		}
	}
}

// The rows of a mapping document stay complete: each has an element, a relationship and a control.
func TestPDFRows(t *testing.T) { onEachEngine(t, testPDFRows) }

func testPDFRows(t *testing.T, e testEngine) {
	if testing.Short() {
		t.Skip("reads every mapping of the shared data")
	}
	control := regexp.MustCompile(`^([A-Z]{3}-\d\d(\.\d+)?|N/A)$`)
	all := documenttest.Files(t, shareddata.PathOrSkip(t, "strm"), "*.pdf")
	if !longtest.Enabled() {
		all = all[max(0, len(all)-1):]
	}
	for _, f := range all {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		good, rows := 0, 0
		for _, b := range e.read(t, raw).Blocks {
			if b.Kind != document.TableRow || len(b.Header) < 8 {
				continue
			}
			rows++
			for i, h := range b.Header {
				if h == "SCF #" && control.MatchString(b.Cells[i]) {
					good++
				}
			}
		}
		t.Logf("%s: %d of %d rows have their control", filepath.Base(f), good, rows)
		if rows < 30 || good*100 < rows*95 {
			t.Errorf("%s: %d of %d rows have their control", filepath.Base(f), good, rows)
		}
	}
}

// If more documents are read at once than there are instances of PDFium, each waits its turn.
func TestConcurrentReads(t *testing.T) { onEachEngine(t, testConcurrentReads) }

func testConcurrentReads(t *testing.T, e testEngine) {
	raw := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.MultiCell(0, 5, documenttest.Lorem, "", "L", false) })
	reader := e.reader(t)
	errs := make(chan error)
	for range 4 * pdfWorkers {
		go func() {
			doc, err := read(t.Context(), reader, document.Options{}, raw)
			if err == nil && doc.Blocks[0].Text != strings.TrimSpace(documenttest.Lorem) {
				err = fmt.Errorf("got %s", documenttest.Outline(doc.Blocks))
			}
			errs <- err
		}()
	}
	for range 4 * pdfWorkers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(documenttest.PDF(f, func(p *fpdf.Fpdf) {
		p.SetCompression(false)
		p.AddPage()
		p.MultiCell(0, 5, "Some text to read.", "1", "L", false)
	}))
	f.Add(documenttest.CyclicPDF())
	// A form field, typed text, an attached file, a layer that is off, and a glyph named by its letters.
	f.Add(documenttest.RawPDF(
		"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R] >> /OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >> >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [5 0 R "+
			"<< /Type /Annot /Subtype /FreeText /Rect [0 0 600 800] /AP << /N 7 0 R >> >> "+
			"<< /Type /Annot /Subtype /FileAttachment /FS << /Type /Filespec /F (a.txt) /EF << /F 4 0 R >> >> >>] "+
			"/Resources << /Properties << /Off 6 0 R >> /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica "+
			"/Encoding << /Differences [1 /f_f_i] >> >> >> >> >>",
		documenttest.PDFStream("", "/OC /Off BDC 1 g BT /F1 12 Tf 72 500 Td (o\\001ce) Tj ET EMC "+
			"q 0 0 9 9 re W n BT 3 Tr (a) Tj ET Q 72 504 m 90 504 l S"),
		"<< /Type /Annot /Subtype /Widget /FT /Btn /T (a) /AS /On /Rect [300 500 312 512] >>",
		"<< /Type /OCG /Name (Off) >>",
		documenttest.PDFStream("/Type /XObject /Subtype /Form /BBox [0 0 600 800]", "0 0 100 100 re f"),
	))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := read(t.Context(), shared(), document.Options{}, raw)
		if err != nil {
			var own *document.Error
			if !errors.As(err, &own) {
				t.Fatalf("%T %v is no *Error", err, err)
			}
			return
		}
		again, err := read(t.Context(), shared(), document.Options{}, raw)
		if err != nil || documenttest.Outline(again.Blocks) != documenttest.Outline(doc.Blocks) {
			t.Fatal("a second reading differs")
		}
	})
}

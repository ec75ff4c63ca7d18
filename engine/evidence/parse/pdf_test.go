package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/programtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

func pdf(t testing.TB, fill func(*fpdf.Fpdf)) []byte {
	t.Helper()
	p := fpdf.New("P", "mm", "A4", "")
	p.SetCreationDate(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p.SetFont("Helvetica", "", 11)
	fill(p)
	var buf bytes.Buffer
	if err := p.Output(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const lorem = "The owner of a system reviews the rights of its users every quarter and removes what is no longer " +
	"needed. The review is recorded with its date and its result, and kept for two years. "

func TestPDF(t *testing.T) { onEachEngine(t, testPDF) }

func testPDF(t *testing.T, e testEngine) {
	raw := pdf(t, func(p *fpdf.Fpdf) {
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
		p.MultiCell(0, 5, strings.Repeat(lorem, 2), "", "L", false)
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
	doc := e.read(t, "p.pdf", raw)
	same(t, outline(doc.Blocks), `
	# Access Control Policy
	## 1. Purpose  {Access Control Policy}
	¶ `+strings.TrimSpace(strings.Repeat(lorem, 2))+`  {Access Control Policy > 1. Purpose}
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
	raw := pdf(t, func(p *fpdf.Fpdf) {
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
	text := outline(e.read(t, "p.pdf", raw).Blocks)
	if a, o := strings.LastIndex(text, "alpha"), strings.Index(text, "omega"); a < 0 || o < a {
		t.Errorf("columns are mixed:\n%s", text)
	}
}

func TestPDFLooseTable(t *testing.T) { onEachEngine(t, testPDFLooseTable) }

func testPDFLooseTable(t *testing.T, e testEngine) {
	raw := pdf(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.MultiCell(0, 6, lorem, "", "L", false)
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
	text := outline(e.read(t, "p.pdf", raw).Blocks)
	if !strings.HasSuffix(
		text,
		"| Asset: Mail; Owner: IT; Class: high\n| Asset: Laptop; Owner: Staff; Class: low\n| Asset: Door; Owner: Facility; Class: low\n",
	) {
		t.Errorf("got\n%s", text)
	}
}

func TestPDFTableOverPages(t *testing.T) { onEachEngine(t, testPDFTableOverPages) }

func testPDFTableOverPages(t *testing.T, e testEngine) {
	raw := pdf(t, func(p *fpdf.Fpdf) {
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
	doc := e.read(t, "p.pdf", raw)
	if len(doc.Blocks) != 9 {
		t.Fatalf("got\n%s", outline(doc.Blocks))
	}
	for _, b := range doc.Blocks {
		if b.Table != 1 || !reflect.DeepEqual(b.Header, []string{"Control", "What"}) {
			t.Errorf("row %+v", b)
		}
	}
}

func TestPDFOutlineAndRotation(t *testing.T) { onEachEngine(t, testPDFOutlineAndRotation) }

func testPDFOutlineAndRotation(t *testing.T, e testEngine) {
	raw := pdf(t, func(p *fpdf.Fpdf) {
		p.AddPageFormat("P", fpdf.SizeType{Wd: 210, Ht: 297})
		p.Bookmark("Scope", 0, -1)
		p.SetFont("Helvetica", "B", 11)
		p.CellFormat(0, 8, "Scope", "", 1, "L", false, 0, "")
		p.SetFont("Helvetica", "", 11)
		p.MultiCell(0, 5, lorem, "", "L", false)
		p.TransformBegin()
		p.TransformRotate(45, 100, 150)
		p.SetFont("Helvetica", "B", 60)
		p.Text(60, 150, "DRAFT")
		p.TransformEnd()
	})
	same(t, outline(e.read(t, "p.pdf", raw).Blocks), "# Scope\n¶ "+strings.TrimSpace(lorem)+"  {Scope}\n")
	for _, turn := range []string{"90", "180", "270"} {
		turned := bytes.Replace(raw, []byte("/Type /Page\n"), []byte("/Type /Page\n/Rotate "+turn+"\n"), 1)
		if bytes.Equal(turned, raw) {
			t.Fatal("the page was not turned")
		}
		// The words stay whole however the page is turned.
		if text := outline(e.read(t, "p.pdf", turned).Blocks); turn == "180" && !strings.Contains(text, "quarter") || text == "" {
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
	if err := e.readErr(t, Options{}, "scan.pdf", pdf(t, picture)); !errors.Is(err, ErrNoTextLayer) {
		t.Errorf("got %v", err)
	}
	doc := e.read(t, "half.pdf", pdf(t, func(p *fpdf.Fpdf) {
		p.AddPage()
		p.MultiCell(0, 5, lorem, "", "L", false)
		picture(p)
		picture(p)
		p.AddPage() // blank: nothing to tell
	}))
	if want := []string{"Pages 2–3: no text layer, needs OCR: " + installOCRHint + "."}; !reflect.DeepEqual(doc.Warnings, want) {
		t.Errorf("warnings %q", doc.Warnings)
	}
}

func TestPDFRefuses(t *testing.T) { onEachEngine(t, testPDFRefuses) }

func testPDFRefuses(t *testing.T, e testEngine) {
	plain := pdf(t, func(p *fpdf.Fpdf) { p.AddPage(); p.MultiCell(0, 5, lorem, "", "L", false) })
	locked := pdf(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "user", "owner"); p.AddPage(); p.Text(20, 20, "secret") })
	many := pdf(t, func(p *fpdf.Fpdf) {
		for range 30 {
			p.AddPage()
		}
	})
	for name, tt := range map[string]struct {
		raw  []byte
		opt  Options
		want error
	}{
		"locked":     {locked, Options{}, ErrEncrypted},
		"head only":  {[]byte("%PDF-1.7\n%%EOF"), Options{}, ErrDamaged},
		"a quarter":  {plain[:len(plain)/4], Options{}, ErrDamaged},
		"blank":      {many, Options{}, ErrEmpty},
		"many pages": {many, Options{MaxPages: 29}, ErrTooLarge},
		"much text":  {plain, Options{MaxText: 100}, ErrTooLarge},
		"ring":       {ringPDF(), Options{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := e.readErr(t, tt.opt, "a.pdf", tt.raw)
			if tt.want == nil {
				if err == nil || errors.Is(err, ErrTimeout) {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	// Protected against change only: it opens for everyone.
	if doc := e.read(
		t,
		"a.pdf",
		pdf(t, func(p *fpdf.Fpdf) { p.SetProtection(0, "", "owner"); p.AddPage(); p.Text(20, 20, "readable words") }),
	); doc.Blocks[0].Text != "readable words" {
		t.Errorf("got %s", outline(doc.Blocks))
	}
}

// ringPDF has a page tree that points to itself and bookmarks that do.
func ringPDF() []byte {
	return []byte(`%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Outlines 3 0 R>> endobj
2 0 obj <</Type/Pages/Kids[2 0 R]/Count 1>> endobj
3 0 obj <</First 4 0 R/Last 4 0 R/Count 1>> endobj
4 0 obj <</Title(x)/Next 4 0 R/First 4 0 R/Parent 3 0 R>> endobj
trailer <</Root 1 0 R/Size 5>>
%%EOF`)
}

// A form that draws itself, and one that draws the next twice, forty deep.
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
	r := e.reader(t, Options{Timeout: 5 * time.Second})
	raw := []byte(sb.String())
	if _, err := r.Read(context.Background(), "a.pdf", bytes.NewReader(raw), int64(len(raw))); err == nil {
		t.Error("a bomb was read")
	}
	// The reader works after a document that had to be stopped.
	good := pdf(t, func(p *fpdf.Fpdf) { p.AddPage(); p.Text(20, 20, "still alive") })
	doc, err := r.Read(context.Background(), "b.pdf", bytes.NewReader(good), int64(len(good)))
	if err != nil || doc.Blocks[0].Text != "still alive" {
		t.Errorf("after it: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(context.Background(), "b.pdf", bytes.NewReader(good), int64(len(good))); err == nil {
		t.Error("a closed reader read")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

var wordOf = regexp.MustCompile(`[\p{L}\p{N}]+`)

// f1 compares two texts as bags of words.
func f1(a, b string) float64 {
	count := map[string]int{}
	as, bs := wordOf.FindAllString(strings.ToLower(cleanText(a)), -1), wordOf.FindAllString(strings.ToLower(cleanText(b)), -1)
	for _, w := range as {
		count[w]++
	}
	both := 0
	for _, w := range bs {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	if len(as)+len(bs) == 0 {
		return 1
	}
	return 2 * float64(both) / float64(len(as)+len(bs))
}

func tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(programtest.Find(t, name), args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out)
}

func TestPDFAgreesWithPoppler(t *testing.T) { onEachEngine(t, testPDFAgreesWithPoppler) }

func testPDFAgreesWithPoppler(t *testing.T, e testEngine) {
	if testing.Short() {
		t.Skip("reads every PDF of the shared data")
	}
	programtest.Find(t, "pdftotext")
	pdfs := append(files(t, shareddata.Path(t, "strm"), "*.pdf"), files(t, shareddata.Path(t, "evidence"), "mixed/*.pdf")...)
	for _, f := range pdfs {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		doc := e.read(t, f, raw)
		ours := make([]string, doc.PageCount+1)
		for _, b := range append(doc.Blocks, doc.Furniture...) {
			ours[b.Locator.Page] += b.DisplayText() + "\n"
		}
		all := tool(t, "pdftotext", f, "-")
		theirs := strings.Split(all, "\f")
		whole := f1(strings.Join(ours, ""), all)
		sum, worst, at := 0.0, 1.0, 0
		for n := 1; n <= doc.PageCount; n++ {
			score := f1(ours[n], theirs[n-1])
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
		// A paragraph that runs over a page counts for the page it begins on, so only the
		// tables, whose rows don't, can be compared page by page.
		if whole < 0.98 || strings.Contains(f, "strm") && worst < 0.98 {
			t.Errorf("%s: F1 %.4f, worst page %.4f", filepath.Base(f), whole, worst)
		}
	}
}

func TestDocxAgreesWithPandoc(t *testing.T) {
	programtest.Find(t, "pandoc")
	for _, f := range files(t, shareddata.Path(t, "evidence"), "mixed/*.docx") {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var ours strings.Builder
		for _, b := range read(t, f, raw).Blocks {
			ours.WriteString(strings.Join(append(b.Header, b.DisplayText()), " ") + "\n")
		}
		score := f1(ours.String(), tool(t, "pandoc", "-t", "plain", "--wrap=none", f))
		t.Logf("%s: F1 %.4f", filepath.Base(f), score)
		if score < 0.97 {
			t.Errorf("%s: F1 %.4f", filepath.Base(f), score)
		}
	}
}

// The rows of a mapping document come out whole: an element, a relationship and a control in each.
func TestPDFRows(t *testing.T) { onEachEngine(t, testPDFRows) }

func testPDFRows(t *testing.T, e testEngine) {
	if testing.Short() {
		t.Skip("reads every mapping of the shared data")
	}
	control := regexp.MustCompile(`^([A-Z]{3}-\d\d(\.\d+)?|N/A)$`)
	all := files(t, shareddata.Path(t, "strm"), "*.pdf")
	if !longtest.Enabled() {
		all = all[max(0, len(all)-1):]
	}
	for _, f := range all {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		good, rows := 0, 0
		for _, b := range e.read(t, f, raw).Blocks {
			if b.Kind != TableRow || len(b.Header) < 8 {
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

// More documents at once than there are instances of PDFium: each waits its turn.
func TestConcurrentReads(t *testing.T) { onEachEngine(t, testConcurrentReads) }

func testConcurrentReads(t *testing.T, e testEngine) {
	raw := pdf(t, func(p *fpdf.Fpdf) { p.AddPage(); p.MultiCell(0, 5, lorem, "", "L", false) })
	reader := e.reader(t, Options{})
	errs := make(chan error)
	for range 4 * pdfWorkers {
		go func() {
			doc, err := reader.Read(context.Background(), "a.pdf", bytes.NewReader(raw), int64(len(raw)))
			if err == nil && doc.Blocks[0].Text != strings.TrimSpace(lorem) {
				err = fmt.Errorf("got %s", outline(doc.Blocks))
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

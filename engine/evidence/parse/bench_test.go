package parse_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

func benchmark(b *testing.B, name string, raw []byte) {
	b.Helper()
	r := parsetest.New(b, parse.Options{})
	ctx := context.Background()
	if _, err := r.Read(ctx, name, bytes.NewReader(raw), int64(len(raw))); err != nil { // PDFium starts here
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(ctx, name, bytes.NewReader(raw), int64(len(raw))); err != nil {
			b.Fatal(err)
		}
	}
}

// 41 dense pages, mostly one table.
func BenchmarkPDFTables(b *testing.B) {
	raw, err := os.ReadFile(shareddata.PathOrSkip(b, "strm", "scf-strm-apac-aus-ism-2024-june.pdf"))
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, "a.pdf", raw)
}

// 300 pages of prose with a table on every tenth; the limit is 15 s and 300 MB on 2 cores.
func BenchmarkPDF300Pages(b *testing.B) {
	raw := documenttest.PDF(b, func(p *fpdf.Fpdf) {
		for n := range 300 {
			p.AddPage()
			p.SetFont("Helvetica", "B", 14)
			p.MultiCell(0, 9, fmt.Sprintf("%d. Section", n+1), "", "L", false)
			p.SetFont("Helvetica", "", 10)
			for range 8 {
				p.MultiCell(0, 5, strings.Repeat(documenttest.Lorem, 2), "", "L", false)
				p.Ln(3)
			}
			if n%10 == 0 {
				for row := range 10 {
					for c := range 4 {
						p.CellFormat(45, 6, fmt.Sprintf("row %d cell %d", row, c), "1", 0, "L", false, 0, "")
					}
					p.Ln(-1)
				}
			}
		}
	})
	benchmark(b, "a.pdf", raw)
}

// 7 pages of prose.
func BenchmarkPDFProse(b *testing.B) {
	raw, err := os.ReadFile(shareddata.PathOrSkip(b, "evidence", "mixed", "development.pdf"))
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, "a.pdf", raw)
}

func BenchmarkDocx(b *testing.B) {
	benchmark(
		b,
		"a.docx",
		documenttest.Docx(
			b,
			strings.Repeat(documenttest.DocxParagraph("b1", "Heading")+documenttest.DocxParagraph("", documenttest.Lorem), 2000),
			nil,
		),
	)
}

func BenchmarkMarkdown(b *testing.B) {
	benchmark(b, "a.md", []byte(strings.Repeat("## Heading\n\n"+documenttest.Lorem+"\n\n- item\n- item\n\n", 4000)))
}

func BenchmarkHTML(b *testing.B) {
	benchmark(
		b,
		"a.html",
		[]byte("<!doctype html><html><body>"+strings.Repeat("<h2>Heading</h2><p>"+documenttest.Lorem+"</p><ul><li>item</li></ul>", 4000)),
	)
}

func BenchmarkCSV(b *testing.B) {
	var sb strings.Builder
	sb.WriteString("id,name,owner,state\n")
	for i := range 20000 {
		fmt.Fprintf(&sb, "%d,asset %d,team %d,live\n", i, i, i%7)
	}
	benchmark(b, "a.csv", []byte(sb.String()))
}

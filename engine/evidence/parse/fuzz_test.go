package parse

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"github.com/xuri/excelize/v2"
)

// check reads anything and holds the promises that every format makes.
func check(t *testing.T, name string, raw []byte) {
	r := shared()
	doc, err := r.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		var own *Error
		if !errors.As(err, &own) {
			t.Fatalf("%T %v is no *Error", err, err)
		}
		if errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		if errors.Is(own.Kind, ErrDamaged) && own.Detail != "" && own.Place == "" &&
			bytes.Contains([]byte(own.Detail), []byte("unexpectedly")) {
			t.Fatalf("a panic was caught: %v", err)
		}
		return
	}
	if len(doc.Blocks)+len(doc.Furniture) == 0 || doc.MIME == "" || doc.Language == "" {
		t.Fatalf("an empty success: %+v", doc)
	}
	for _, b := range doc.Blocks {
		if b.Text == "" || !utf8.ValidString(b.Text) || b.Kind == "" || b.Kind == Heading && b.Level < 1 {
			t.Fatalf("block %+v", b)
		}
	}
	again, err := r.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
	if err != nil || outline(again.Blocks) != outline(doc.Blocks) {
		t.Fatal("a second reading differs")
	}
}

func fuzzText(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, name, raw) })
}

func FuzzMarkdown(f *testing.F) {
	fuzzText(
		f,
		"a.md",
		"---\ntitle: x\n---\n# A\n\n- b\n  1. c\n\n| a | b |\n|-|-|\n| 1 | 2 |\n",
		"> - ```\nx\n\n<div>\n",
		"a\n===\n[b]: c\n",
		"\xff\xfea\x00",
	)
}

func FuzzHTML(f *testing.F) {
	fuzzText(
		f,
		"a.html",
		"<!doctype html><html><table><tr><th rowspan=3 colspan=9>a<td>b</table><ul><li>x<p>y</ul>",
		"<html><pre>a\nb</pre><nav>c</nav><h1>d",
		"<html><table><caption>x<tr></table>",
	)
}

func FuzzCSV(f *testing.F) {
	fuzzText(f, "a.csv", "a,b\n1,2\n3,4\n", "a;b\n\"x\ny\";2\n", "Version,1\nOwner,CISO\n", "a\tb\n\"")
}

func FuzzJSON(f *testing.F) {
	fuzzText(f, "a.json", `{"a":[1,{"b":null}],"version":"2"}`, "{\"a\":1}\n[2]", `[[],[[{}]]]`)
}

func FuzzPlain(f *testing.F) {
	fuzzText(
		f,
		"a.txt",
		"Policy\n======\n\nVersion: 1.2 Owner: me\n\n1. SCOPE\n\n- a\n  b-\nc\n",
		"2026-01-01T00:00:00 x\n2026-01-01T00:00:00 y\n",
		"Effective date: 3. März 2026 | Stand: 01.02.2025",
	)
}

func FuzzDocx(f *testing.F) {
	f.Add(para("", "x") + `<w:tbl><w:tr><w:tc>` + para("b1", "y") + `</w:tc></w:tr></w:tbl>`)
	f.Add(
		`<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>` + para(
			"",
			"toc",
		) + `</w:sdt>` + para(
			"",
			"x",
		),
	)
	f.Add(`<w:tc/><w:tr/><w:t>x</w:t><w:p><w:p><w:r><w:t>y</w:t></w:r></w:p><w:footnoteReference w:id="9"/></w:p>`)
	f.Fuzz(func(t *testing.T, body string) { check(t, "a.docx", docx(t, body, nil)) })
}

func FuzzXlsx(f *testing.F) {
	f.Add(workbook(f, func(x *excelize.File) { x.SetSheetRow("Sheet1", "B2", &[]any{"a", 2, "c"}) }))
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, "a.xlsx", raw) })
}

func FuzzPDF(f *testing.F) {
	f.Add(pdf(f, func(p *fpdf.Fpdf) {
		p.SetCompression(false)
		p.AddPage()
		p.MultiCell(0, 5, "Some text to read.", "1", "L", false)
	}))
	f.Add(ringPDF())
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, "a.pdf", raw) })
}

func FuzzDate(f *testing.F) {
	f.Add("effective 1st of March, 2026")
	f.Add("3/4/2026 2026-02-30 31.12.2199")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok, ambiguous := parseDate(s)
		if ok && (ambiguous || got.Location() != time.UTC || got.Year() < 1970 || got.Hour() != 0) {
			t.Errorf("%q: %v %v", s, got, ambiguous)
		}
	})
}

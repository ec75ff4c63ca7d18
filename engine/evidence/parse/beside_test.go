package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestRuby checks that ruby annotations, which show the pronunciation above letters, are counted but not read as part
// of the text.
func TestRuby(t *testing.T) {
	for file, raw := range map[string][]byte{
		"a.docx": documenttest.Docx(t, `<w:p><w:r><w:t>規程の</w:t></w:r><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>しんさ</w:t></w:r></w:rt>`+
			`<w:rubyBase><w:r><w:t>審査</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>は毎年</w:t></w:r></w:p>`, nil),
		"a.html": []byte(`<!doctype html><meta charset=utf-8><p>規程の<ruby>審査<rp>(</rp><rt>しんさ</rt><rp>)</rp></ruby>は毎年</p>`),
		"a.md":   []byte("# R\n\n規程の<ruby>審査<rp>(</rp><rt>しんさ</rt><rp>)</rp></ruby>は毎年\n"),
		"a.odt": documenttest.ODF(t, "text", `<text:p>規程の<text:ruby><text:ruby-base>審査</text:ruby-base><text:ruby-text>しんさ</text:ruby-text></text:ruby>`+
			`は毎年</text:p>`, nil),
	} {
		addExample(kindBeside, file, "ruby")
		doc := parsetest.Read(t, file, raw)
		if got := allText(doc); !strings.Contains(got, "規程の審査は毎年\n") {
			t.Errorf("%s: %q", file, got)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != "1 pronunciation above letters" {
			t.Errorf("%s: not read %q", file, got)
		}
	}
}

// TestBesideText checks that text outside the main text is read: charts, alternative texts, running headers,
// watermarks and embedded documents. Parts without text are counted.
func TestBesideText(t *testing.T) {
	const (
		rels  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
		chart = `<c:chart><c:title><a:p><a:r><a:t>Failed </a:t></a:r><a:r><a:t>logins</a:t></a:r></a:p></c:title><c:ser><c:tx><c:strCache><c:pt><c:v>Zebra</c:v></c:pt>` +
			`</c:strCache></c:tx><c:cat><c:strCache><c:pt><c:v>May</c:v></c:pt><c:pt><c:v>June</c:v></c:pt></c:strCache></c:cat>` +
			`<c:val><c:numCache><c:pt><c:v>12</c:v></c:pt></c:numCache></c:val></c:ser></c:chart>`
	)
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://x/relationships/` + kind + `" Target="` + target + `"/>`
	}
	inner := string(documenttest.Docx(t, documenttest.DocxParagraph("", "Embedded zebra."), nil))
	word := func(content string, parts map[string]string) []byte {
		all := map[string]string{
			"word/_rels/document.xml.rels": `<Relationships>` + rel("c1", "chart", "chart.xml") + rel("o1", "package", "e.docx") +
				rel("o2", "oleObject", "e.bin") +
				rel("h1", "header", "header1.xml") + `</Relationships>`,
		}
		for name, part := range parts {
			all[name] = part
		}
		return documenttest.Docx(t, `<w:p><w:r><w:t>Before</w:t></w:r>`+content+`</w:p>`, all)
	}
	sheet := func(tail string, parts map[string]string) []byte {
		return workbookParts(t, `<sheetData>`+before+`</sheetData>`+tail, "", "", parts)
	}
	anchor := func(content string) map[string]string {
		return map[string]string{
			"xl/drawings/drawing1.xml":            `<x:wsDr NS>` + content + `</x:wsDr>`,
			"xl/drawings/_rels/drawing1.xml.rels": rels + rel("r1", "chart", "../chart.xml") + `</Relationships>`, "xl/chart.xml": chart,
		}
	}
	shape := slideShape("", "", "", "", `<a:p><a:r><a:t>Before</a:t></a:r></a:p>`)
	slideRels := func(list string) map[string]string {
		return map[string]string{"ppt/_rels/slide1.xml.rels": `<Relationships>` + list + `</Relationships>`, "ppt/chart.xml": chart, "e.docx": inner, "ppt/e.bin": "x"}
	}
	// Each workbook made by workbookParts has an embedded file, unless it defines its own relationships.
	for _, tt := range []struct {
		name, file   string
		raw          []byte
		want, unread string
	}{
		{
			"chart", "a.docx", word(`<w:r><w:drawing><c:chart r:id="c1"/></w:drawing></w:r>`, map[string]string{"word/chart.xml": chart}),
			"Failed logins\nZebra, May, June", "1 chart",
		},
		{
			"watermark", "a.docx",
			word("", map[string]string{"word/header1.xml": `<w:hdr ` + documenttest.WordNS + `><w:p><w:r><w:pict><v:shape><v:textpath string="ZEBRA DRAFT"/></v:shape></w:pict></w:r></w:p></w:hdr>`}),
			"ZEBRA DRAFT", "",
		},
		{
			"embedded document", "a.docx", word(`<w:r><w:object><o:OLEObject r:id="o1"/></w:object></w:r>`, map[string]string{"word/e.docx": inner}),
			"Embedded zebra.", "",
		},
		{
			"other object", "a.docx", word(`<w:r><w:object><o:OLEObject r:id="o2"/></w:object></w:r>`, map[string]string{"word/e.bin": "x"}),
			"Before", "1 embedded file",
		},
		{"missing object", "a.docx", word(`<w:r><w:object><o:OLEObject r:id="o1"/></w:object></w:r>`, nil), "Before", "1 embedded file"},

		{
			"header", "a.xlsx",
			sheet(`<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Zebra register&amp;RVersion 3</oddHeader><oddFooter>&amp;CPage &amp;P of &amp;N</oddFooter></headerFooter>`, nil),
			"Zebra register\nVersion 3\nPage of", "1 embedded file",
		},
		{
			"chart", "a.xlsx", sheet(`<drawing r:id="r1"/>`, anchor(`<x:graphicFrame><c:chart r:id="r1"/></x:graphicFrame>`)),
			"Failed logins\nZebra, May, June", "1 chart, 1 embedded file",
		},
		{
			"alternative text", "a.xlsx",
			sheet(`<drawing r:id="r1"/>`, anchor(`<x:pic><x:cNvPr name="p" descr="Zebra settings"/><a:blip r:embed="r1"/></x:pic>`)),
			"Zebra settings", "1 picture, 1 embedded file",
		},
		{
			"embedded document", "a.xlsx",
			sheet("", map[string]string{"xl/worksheets/_rels/sheet1.xml.rels": rels + rel("r1", "package", "../e.docx") + `</Relationships>`, "xl/e.docx": inner}),
			"Embedded zebra.", "",
		},

		{
			"chart", "a.pptx",
			presentation(t, shape+`<p:graphicFrame><c:chart r:id="c1"/></p:graphicFrame>`, slideRels(rel("c1", "chart", "chart.xml"))),
			"Failed logins\nZebra, May, June", "1 chart",
		},
		{
			"alternative text", "a.pptx", presentation(t, shape+`<p:pic><p:cNvPr name="p" descr="Zebra settings"/><a:blip/></p:pic>`, nil),
			"Zebra settings", "1 picture",
		},
		{
			"hidden picture", "a.pptx", presentation(t, shape+`<p:pic><p:cNvPr name="p" descr="Zebra settings" hidden="1"/><a:blip/></p:pic>`, nil),
			"Before", "",
		},
		{
			"embedded document", "a.pptx",
			presentation(t, shape+`<p:graphicFrame><p:oleObj r:id="o1"/></p:graphicFrame>`, slideRels(rel("o1", "package", "../e.docx"))),
			"Embedded zebra.", "",
		},
		{
			"other object", "a.pptx",
			presentation(t, shape+`<p:graphicFrame><p:oleObj r:id="o1"/></p:graphicFrame>`, slideRels(rel("o1", "oleObject", "e.bin"))), "Before",
			"1 embedded file",
		},
	} {
		addExample(kindBeside, tt.file, tt.name)
		doc := parsetest.Read(t, tt.file, tt.raw)
		got := allText(doc)
		if !strings.Contains(got, "Before") || !strings.Contains(got, tt.want) || api.DescribeNotRead(doc.NotRead) != tt.unread ||
			tt.want == "Before" && strings.Contains(strings.ToLower(got), "zebra") {
			t.Errorf("%s, %s: %q, not read: %q", tt.file, tt.name, got, api.DescribeNotRead(doc.NotRead))
		}
	}
}

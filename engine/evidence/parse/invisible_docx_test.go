package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func wordStyle(kind, id, attrs, content string) string {
	return `<w:style w:type="` + kind + `" w:styleId="` + id + `" ` + attrs + `><w:name w:val="` + id + `"/>` + content + `</w:style>`
}

// wordDocument makes a document with styles and with the parts that its containers need.
func wordDocument(t testing.TB, body, styles string, parts map[string]string) []byte {
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind +
			`" Target="` + target + `"/>`
	}
	all := map[string]string{
		"word/styles.xml": `<w:styles ` + documenttest.WordNS + `>` + styles + `</w:styles>`,
		"word/_rels/document.xml.rels": `<Relationships>` + rel("r1", "footnotes", "footnotes.xml") + rel("r2", "styles", "styles.xml") +
			rel("r3", "header", "header1.xml") + rel("r4", "endnotes", "endnotes.xml") + rel("r5", "footer", "footer1.xml") +
			rel("c1", "aFChunk", "chunk.html") + rel("d1", "diagramData", "data.xml") + rel("k1", "comments", "comments.xml") + `</Relationships>`,
	}
	for name, content := range parts {
		all[name] = content
	}
	return documenttest.Docx(t, body, all)
}

func TestInvisibleDOCX(t *testing.T) {
	const (
		hidden = `<w:rPr><w:vanish/></w:rPr>`
		struck = `<w:rPr><w:strike/></w:rPr>`
	)
	styles := wordStyle("character", "Cv", "", hidden) +
		wordStyle("character", "Cs", "", struck) +
		wordStyle("character", "Cd", "", `<w:rPr><w:dstrike/></w:rPr>`) +
		wordStyle("character", "Csub", "", `<w:basedOn w:val="Cs"/>`) +
		wordStyle("paragraph", "Pv", "", hidden) +
		wordStyle("paragraph", "Ps", "", struck) +
		wordStyle("paragraph", "Psub2", "", `<w:basedOn w:val="Psub"/>`) +
		wordStyle("paragraph", "Psub", "", `<w:basedOn w:val="Ps"/>`) +
		wordStyle("paragraph", "Pdark", "", `<w:pPr><w:shd w:val="clear" w:fill="101010"/></w:pPr>`) +
		wordStyle("character", "Cwhite", "", `<w:rPr><w:color w:val="FFFFFF"/></w:rPr>`)
	run := func(properties string) string {
		return `<w:r><w:rPr>` + properties + `</w:rPr><w:t>quagga</w:t></w:r>`
	}
	// Each way consists of the paragraph's properties, "|", and a run with the hidden text.
	m := matrix{file: "a.docx", containers: []string{
		"body", "table", "nested table", "text box", "header", "footer", "footnote",
		"endnote", "control",
	}, ways: map[string]string{
		"vanish":                 "|" + run(`<w:vanish/>`),
		"specVanish":             "|" + run(`<w:specVanish/>`),
		"strike":                 "|" + run(`<w:strike w:val="true"/>`),
		"dstrike":                "|" + run(`<w:dstrike/>`),
		"character style":        "|" + run(`<w:rStyle w:val="Cv"/>`),
		"struck character style": "|" + run(`<w:rStyle w:val="Cs"/>`),
		"double struck style":    "|" + run(`<w:rStyle w:val="Cd"/>`),
		"based on style":         "|" + run(`<w:rStyle w:val="Csub"/>`),
		"paragraph style":        `<w:pStyle w:val="Ps"/>|<w:r><w:rPr><w:strike w:val="0"/></w:rPr><w:t>seen</w:t></w:r><w:r><w:t>quagga</w:t></w:r>`,
		"hidden paragraph style": `<w:pStyle w:val="Pv"/>|<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>seen</w:t></w:r><w:r><w:t>quagga</w:t></w:r>`,
		"style chain":            `<w:pStyle w:val="Psub2"/>|<w:r><w:rPr><w:strike w:val="false"/></w:rPr><w:t>seen</w:t></w:r><w:r><w:t>quagga</w:t></w:r>`,
		"deletion":               `|<w:del><w:r><w:delText>quagga</w:delText><w:t>quagga</w:t></w:r></w:del>`,
		"moved away":             `|<w:moveFrom><w:r><w:t>quagga</w:t></w:r></w:moveFrom>`,
		"white":                  "|" + run(`<w:color w:val="FFFFFF"/>`),
		"white style":            "|" + run(`<w:rStyle w:val="Cwhite"/>`),
		"in its shading":         "|" + run(`<w:color w:val="123456"/><w:shd w:val="clear" w:fill="123456"/>`),
		"in its highlight":       "|" + run(`<w:color w:val="000000"/><w:highlight w:val="black"/>`),
		"in the paragraph's":     `<w:shd w:val="clear" w:fill="202020"/>|` + run(`<w:color w:val="202020"/>`),
		"in the style's":         `<w:pStyle w:val="Pdark"/>|` + run(`<w:color w:val="111111"/>`),
		"tiny":                   "|" + run(`<w:sz w:val="2"/>`),
		"hyperlink":              `|<w:hyperlink>` + run(`<w:vanish/>`) + `</w:hyperlink>`,
	}}
	m.build = func(t *testing.T, container, _, way string) []byte {
		properties, text, _ := strings.Cut(way, "|")
		if !strings.Contains(text, "seen") {
			text += `<w:r><w:t>seen</w:t></w:r>`
		}
		p := `<w:p><w:pPr>` + properties + `</w:pPr>` + text + `</w:p>`
		body, parts := p, map[string]string{}
		row := func(cells string) string { return `<w:tbl><w:tr><w:tc>` + cells + `</w:tc></w:tr></w:tbl>` }
		switch container {
		case "table":
			body = row(p)
		case "nested table":
			body = row(row(p) + documenttest.DocxParagraph("", "x"))
		case "control":
			body = `<w:sdt><w:sdtContent>` + p + `</w:sdtContent></w:sdt>`
		case "text box":
			body = `<w:p><w:r><w:drawing><wp:docPr/><wps:spPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></wps:spPr><w:txbxContent>` +
				p + `</w:txbxContent></w:drawing></w:r></w:p>`
		case "header":
			body, parts["word/header1.xml"] = "", `<w:hdr `+documenttest.WordNS+`>`+p+`</w:hdr>`
		case "footer":
			body, parts["word/footer1.xml"] = "", `<w:ftr `+documenttest.WordNS+`>`+row(p)+`</w:ftr>`
		case "footnote", "endnote":
			body = `<w:p><w:r><w:` + container + `Reference w:id="2"/><w:t>x</w:t></w:r></w:p>`
			parts["word/"+container+"s.xml"] = `<w:notes ` + documenttest.WordNS + `><w:` + container + ` w:id="2">` + p + `</w:` + container +
				`></w:notes>`
		}
		return wordDocument(t, documenttest.DocxParagraph("", "Before")+body+documenttest.DocxParagraph("", "After"), styles, parts)
	}
	m.check(t)

	p := documenttest.DocxParagraph
	cell := func(properties, text string) string {
		return `<w:tc><w:tcPr>` + properties + `</w:tcPr><w:p><w:r>` + text + `</w:r></w:p></w:tc>`
	}
	const (
		plain = `<w:t>quagga</w:t>`
		other = `<w:tr><w:tc><w:p><w:r><w:t>seen</w:t></w:r></w:p></w:tc></w:tr>`
	)
	// The key "*" holds styles for the whole document.
	whole := matrix{file: "a.docx", containers: []string{"document"}, ways: map[string]string{
		"hidden row": `|<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr>` + cell("", plain) + cell("", plain) + `</w:tr>` + other + `</w:tbl>`,
		"flat row": `|<w:tbl><w:tr><w:trPr><w:trHeight w:val="1" w:hRule="exact"/></w:trPr>` + cell("", plain) + `</w:tr>` + other +
			`</w:tbl>`,
		"deleted row":  `|<w:tbl><w:tr><w:trPr><w:del w:id="1"/></w:trPr>` + cell("", plain) + `</w:tr>` + other + `</w:tbl>`,
		"deleted cell": `|<w:tbl><w:tr>` + cell(`<w:cellDel/>`, plain) + `</w:tr>` + other + `</w:tbl>`,
		"cell shading": `|<w:tbl><w:tr>` + cell(`<w:shd w:val="clear" w:fill="404040"/>`,
			`<w:rPr><w:color w:val="404040"/></w:rPr>`+plain) + `</w:tr>` + other + `</w:tbl>`,
		"table shading": `|<w:tbl><w:tblPr><w:shd w:fill="00FF00"/></w:tblPr><w:tr>` + cell("",
			`<w:rPr><w:color w:val="00ff00"/></w:rPr>`+plain) + `</w:tr>` + other + `</w:tbl>`,
		"table style": wordStyle("table", "T", "", struck) + `|<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr><w:tr>` + cell("", plain) +
			cell("", `<w:rPr><w:strike w:val="0"/></w:rPr><w:t>seen</w:t>`) + `</w:tr></w:tbl>`,
		"hidden drawing": `|<w:p><w:r><w:drawing><wp:docPr hidden="1" descr="quagga"/><w:txbxContent>` + p("", "quagga") +
			`</w:txbxContent></w:drawing></w:r></w:p>` + p("", "seen"),
		"hidden shape": `|<w:p><w:r><w:pict><v:shape style="position:absolute; visibility: hidden"><w:txbxContent>` + p("", "quagga") +
			`</w:txbxContent></v:shape></w:pict></w:r></w:p>` + p("", "seen"),
		"drawing's run": `|<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:drawing><w:txbxContent>` + p("", "quagga") +
			`</w:txbxContent></w:drawing></w:r></w:p>` + p("", "seen"),
		"page color": `|<w:background w:color="0000A0"/><w:p><w:r><w:rPr><w:color w:val="0000A0"/></w:rPr>` + plain + `</w:r></w:p>` +
			p("", "seen"),
		"double toggle": wordStyle("paragraph", "A", "", struck) + wordStyle("character", "B", "", struck) +
			`|<w:p><w:pPr><w:pStyle w:val="A"/></w:pPr><w:r>` + plain + `</w:r><w:r><w:rPr><w:rStyle w:val="B"/></w:rPr><w:t>seen</w:t></w:r></w:p>`,
	}}
	styled := func(kind, properties, look, rows string) string {
		return wordStyle("table", "B", "", `<w:tblStylePr w:type="`+kind+`">`+properties+`</w:tblStylePr>`) +
			wordStyle("table", "T", "", `<w:basedOn w:val="B"/>`) + `|<w:tbl><w:tblPr><w:tblStyle w:val="T"/><w:tblLook w:val="` + look + `"/></w:tblPr>` +
			rows + `</w:tbl>`
	}
	const vanished = `<w:rPr><w:vanish/></w:rPr>`
	last := `<w:tr>` + cell("", plain) + `</w:tr>`
	whole.ways["last row of style"] = styled("lastRow", vanished, "0640", other+other+last)
	whole.ways["first column of style"] = styled("firstCol", vanished, "0680", `<w:tr>`+cell("", plain)+cell("", `<w:t>seen</w:t>`)+`</w:tr>`)
	whole.ways["corner of style"] = styled("seCell", struck, "0740", other+`<w:tr>`+cell("", `<w:t>seen</w:t>`)+cell("", plain)+`</w:tr>`)
	whole.ways["white band of style"] = styled("band2Horz", `<w:rPr><w:color w:val="FFFFFF"/></w:rPr>`, "0420", other+other+last)
	whole.build = func(t *testing.T, _, _, way string) []byte {
		styles, body, _ := strings.Cut(way, "|")
		return wordDocument(t, p("", "Before")+body+p("", "After"), styles, nil)
	}
	whole.check(t)
	for name, styles := range map[string]string{
		"defaults": `<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>`,
		"default":  wordStyle("paragraph", "N", `w:default="1"`, struck),
	} {
		doc := parsetest.Read(t, "a.docx", wordDocument(t, p("",
			"quagga")+`<w:p><w:r><w:rPr><w:vanish w:val="0"/><w:strike w:val="0"/></w:rPr><w:t>seen</w:t></w:r></w:p>`, styles, nil))
		if got := allText(doc); got != "seen\n" || len(doc.NotRead) != 1 {
			t.Errorf("%s: read %q, %v", name, got, doc.NotRead)
		}
	}

	white := `<w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>zebra</w:t>`
	shown(t, "a.docx", map[string][]byte{
		"web hidden":         wordDocument(t, `<w:p><w:r><w:rPr><w:webHidden/></w:rPr><w:t>zebra</w:t></w:r></w:p>`, "", nil),
		"white on dark cell": wordDocument(t, `<w:tbl><w:tr>`+cell(`<w:shd w:val="clear" w:fill="1F3864"/>`, white)+`</w:tr></w:tbl>`, "", nil),
		"header of style": wordDocument(t, `<w:tbl><w:tblPr><w:tblStyle w:val="T"/></w:tblPr><w:tr>`+cell("", white)+`</w:tr></w:tbl>`,
			wordStyle("table", "T", "", `<w:tblStylePr w:type="firstRow"/>`), nil),
		"white on dark header of style": wordDocument(t, `<w:tbl><w:tblPr><w:tblStyle w:val="T"/><w:tblLook w:firstRow="1"/></w:tblPr><w:tr>`+
			cell("", `<w:t>zebra</w:t>`)+`</w:tr></w:tbl>`, wordStyle("table", "T", "", `<w:tblStylePr w:type="firstRow"><w:rPr><w:color w:val="FFFFFF"/></w:rPr>`+
			`<w:tcPr><w:shd w:val="clear" w:fill="1F3864"/></w:tcPr></w:tblStylePr>`), nil),
		"last row of style not applied": wordDocument(t, `<w:tbl><w:tblPr><w:tblStyle w:val="T"/><w:tblLook w:val="0600"/></w:tblPr><w:tr>`+
			cell("", `<w:t>zebra</w:t>`)+`</w:tr></w:tbl>`, wordStyle("table", "T", "", `<w:tblStylePr w:type="lastRow">`+vanished+`</w:tblStylePr>`), nil),
		"white on a shape": wordDocument(t, `<w:p><w:r><w:drawing><w:txbxContent><w:p><w:r>`+white+`</w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>`, "", nil),
		"hidden mark": wordDocument(t, `<w:p><w:pPr><w:rPr><w:vanish/><w:strike/></w:rPr></w:pPr><w:r><w:t>zebra</w:t></w:r></w:p>`,
			"", nil),
		"deleted mark": wordDocument(t, `<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>zebra</w:t></w:r></w:p>`, "", nil),
		"circular styles": wordDocument(t, p("A", "zebra"), wordStyle("paragraph", "A", "",
			`<w:basedOn w:val="B"/>`)+wordStyle("paragraph", "B", "", `<w:basedOn w:val="A"/>`), nil),
	})
}

// TestBesideTextDOCX checks that text outside the main text of a Word document is read or counted.
func TestBesideTextDOCX(t *testing.T) {
	doc := parsetest.Read(t, "a.docx", wordDocument(t, documenttest.DocxParagraph("", "Before")+
		`<w:altChunk r:id="c1"/><w:altChunk r:id="none"/><w:p><w:r><w:drawing><wp:docPr descr="The settings page"/><a:blip r:embed="x"/></w:drawing></w:r></w:p>`+
		`<w:p><w:r><w:drawing><dgm:relIds r:dm="d1"/></w:drawing></w:r></w:p><w:p><w:r><w:object><v:imagedata/><o:OLEObject/></w:object><c:chart/></w:r></w:p>`, "", map[string]string{
		"word/chunk.html":   `<html><body><h2>Logs</h2><p>Logs are kept.</p><p hidden>quagga</p></body></html>`,
		"word/data.xml":     `<m><a:p xmlns:a="a"><a:r><a:t>Report it</a:t></a:r></a:p></m>`,
		"word/comments.xml": `<w:comments><w:comment/><w:comment/></w:comments>`,
	}))
	if got := allText(doc); got != "Before\nLogs\nLogs are kept.\nThe settings page\nReport it\n" {
		t.Errorf("read %q", got)
	}
	if got := api.DescribeNotRead(doc.NotRead); got != "2 comments, 1 hidden text, 1 inserted part, 1 picture, 1 chart, 1 embedded file" {
		t.Errorf("not read: %s", got)
	}
}

package main

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// Numbering instances in numbering.xml: 1 is the bullet; each numbered list gets its own from 2 on,
// so that it restarts at 1.
const bulletNumberingID = 1

// writeDOCX returns a Word document with heading styles, lists, tables and a footer with page
// numbers.
func writeDOCX(doc *document) ([]byte, error) {
	body, lists := renderBody(doc)
	parts := []archivePart{
		{"[Content_Types].xml", []byte(docxTypes)},
		{"_rels/.rels", []byte(docxRels)},
		{"docProps/app.xml", []byte(docxApp)},
		{"docProps/core.xml", []byte(renderCoreProperties(doc))},
		{"word/_rels/document.xml.rels", []byte(docxDocumentRels)},
		{"word/document.xml", []byte(body)},
		{"word/footer1.xml", []byte(renderFooter(doc))},
		{"word/numbering.xml", []byte(renderNumbering(lists))},
		{"word/settings.xml", []byte(docxSettings)},
		{"word/styles.xml", []byte(docxStyles)},
	}
	for _, p := range parts {
		if err := checkXML(p.data); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return writeArchive(parts, doc.date)
}

// renderBody returns document.xml and the number of numbered lists.
func renderBody(doc *document) (body string, lists int) {
	var b strings.Builder
	b.WriteString(xml.Header + `<w:document ` + docxNamespaces + `><w:body>`)
	for _, bl := range doc.blocks {
		switch bl.kind {
		case kindHeading:
			style := "Title"
			if bl.level > 1 {
				style = fmt.Sprintf("Heading%d", bl.level-1)
			}
			writeParagraph(&b, `<w:pStyle w:val="`+style+`"/>`, bl.text)
		case kindParagraph:
			writeParagraph(&b, "", bl.text)
		case kindBullets:
			for _, item := range bl.items {
				writeListItem(&b, "ListBullet", bulletNumberingID, item)
			}
		case kindNumbers:
			lists++
			for _, item := range bl.items {
				writeListItem(&b, "ListNumber", bulletNumberingID+lists, item)
			}
		case kindTable:
			writeTable(&b, bl.rows)
		}
	}
	b.WriteString(`<w:sectPr><w:footerReference w:type="default" r:id="rId4"/><w:pgSz w:w="11906" w:h="16838"/>` +
		`<w:pgMar w:top="1247" w:right="1247" w:bottom="1247" w:left="1247" w:header="709" w:footer="567" w:gutter="0"/>` +
		`</w:sectPr></w:body></w:document>`)
	return b.String(), lists
}

func writeParagraph(b *strings.Builder, properties, text string) {
	b.WriteString("<w:p>")
	if properties != "" {
		b.WriteString("<w:pPr>" + properties + "</w:pPr>")
	}
	for _, s := range splitSpans(text) {
		b.WriteString("<w:r>")
		if s.bold {
			b.WriteString("<w:rPr><w:b/></w:rPr>")
		}
		b.WriteString(`<w:t xml:space="preserve">` + escapeXML(s.text) + "</w:t></w:r>")
	}
	b.WriteString("</w:p>")
}

func writeListItem(b *strings.Builder, style string, num int, text string) {
	writeParagraph(b, fmt.Sprintf(`<w:pStyle w:val="%s"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="%d"/></w:numPr>`, style, num), text)
}

func writeTable(b *strings.Builder, rows [][]string) {
	const textWidth = 9412 // twentieths of a point between the margins
	widths := columnWidths(rows, textWidth)
	b.WriteString(`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/>` +
		`<w:tblLook w:val="0020" w:firstRow="1"/></w:tblPr><w:tblGrid>`)
	for _, w := range widths {
		fmt.Fprintf(b, `<w:gridCol w:w="%d"/>`, int(w))
	}
	b.WriteString("</w:tblGrid>")
	for i, cells := range rows {
		b.WriteString("<w:tr><w:trPr><w:cantSplit/>")
		if i == 0 {
			b.WriteString("<w:tblHeader/>")
		}
		b.WriteString("</w:trPr>")
		for col, text := range cells {
			fmt.Fprintf(b, `<w:tc><w:tcPr><w:tcW w:w="%d" w:type="dxa"/>`, int(widths[col]))
			if i == 0 {
				b.WriteString(`<w:shd w:val="clear" w:color="auto" w:fill="DCE4EC"/>`)
				text = "**" + stripMarks(text) + "**"
			}
			b.WriteString("</w:tcPr>")
			writeParagraph(b, `<w:pStyle w:val="TableText"/>`, text)
			b.WriteString("</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	b.WriteString("</w:tbl><w:p/>")
}

func renderFooter(doc *document) string {
	field := func(code string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> ` + code +
			` </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r>` +
			`<w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	text := func(s string) string { return `<w:r><w:t xml:space="preserve">` + escapeXML(s) + `</w:t></w:r>` }
	return xml.Header + `<w:ftr ` + docxNamespaces + `><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>` +
		text(doc.footer) + `<w:r><w:tab/></w:r>` + text("Page ") + field("PAGE") + text(" of ") + field("NUMPAGES") + `</w:p></w:ftr>`
}

func renderNumbering(lists int) string {
	var b strings.Builder
	b.WriteString(xml.Header + `<w:numbering ` + docxNamespaces + `>`)
	for id, level := range []string{
		`<w:numFmt w:val="bullet"/><w:lvlText w:val="•"/>`,
		`<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>`,
	} {
		fmt.Fprintf(
			&b,
			`<w:abstractNum w:abstractNumId="%d"><w:multiLevelType w:val="singleLevel"/><w:lvl w:ilvl="0"><w:start w:val="1"/>%s`+
				`<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="510" w:hanging="340"/></w:pPr></w:lvl></w:abstractNum>`,
			id,
			level,
		)
	}
	fmt.Fprintf(&b, `<w:num w:numId="%d"><w:abstractNumId w:val="0"/></w:num>`, bulletNumberingID)
	for i := 1; i <= lists; i++ {
		fmt.Fprintf(
			&b,
			`<w:num w:numId="%d"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>`,
			bulletNumberingID+i,
		)
	}
	b.WriteString(`</w:numbering>`)
	return b.String()
}

func renderCoreProperties(doc *document) string {
	stamp := doc.date.Format(time.RFC3339)
	return xml.Header + `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		`<dc:title>` + escapeXML(doc.title) + `</dc:title><dc:creator>` + escapeXML(doc.author) + `</dc:creator>` +
		`<cp:lastModifiedBy>` + escapeXML(doc.author) + `</cp:lastModifiedBy>` +
		`<dcterms:created xsi:type="dcterms:W3CDTF">` + stamp + `</dcterms:created>` +
		`<dcterms:modified xsi:type="dcterms:W3CDTF">` + stamp + `</dcterms:modified></cp:coreProperties>`
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

func checkXML(data []byte) error {
	var any struct{}
	return xml.Unmarshal(data, &any)
}

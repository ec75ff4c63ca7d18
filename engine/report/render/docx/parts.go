package docx

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
)

const (
	xmlHead             = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	nsWord              = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
	nsRelations         = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	nsPackage           = "http://schemas.openxmlformats.org/package/2006/relationships"
	wordMediaTypePrefix = "application/vnd.openxmlformats-officedocument.wordprocessingml."

	docxContentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="jpeg" ContentType="image/jpeg"/>` +
		`<Override PartName="/word/document.xml" ContentType="` + wordMediaTypePrefix + `document.main+xml"/><Override PartName="/word/styles.xml" ContentType="` + wordMediaTypePrefix + `styles+xml"/>` +
		`<Override PartName="/word/numbering.xml" ContentType="` + wordMediaTypePrefix + `numbering+xml"/><Override PartName="/word/settings.xml" ContentType="` + wordMediaTypePrefix + `settings+xml"/>` +
		`<Override PartName="/word/header1.xml" ContentType="` + wordMediaTypePrefix + `header+xml"/><Override PartName="/word/footer1.xml" ContentType="` + wordMediaTypePrefix + `footer+xml"/>` +
		`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
		`<Override PartName="/docProps/app.xml" ContentType="application/vnd.openxmlformats-officedocument.extended-properties+xml"/></Types>`

	docxRootRelations = `<Relationships xmlns="` + nsPackage + `"><Relationship Id="rId1" Type="` + nsRelations + `/officeDocument" Target="word/document.xml"/>` +
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>` +
		`<Relationship Id="rId3" Type="` + nsRelations + `/extended-properties" Target="docProps/app.xml"/></Relationships>`

	docxRelations = `<Relationships xmlns="` + nsPackage + `"><Relationship Id="rId1" Type="` + nsRelations + `/styles" Target="styles.xml"/>` +
		`<Relationship Id="rId2" Type="` + nsRelations + `/numbering" Target="numbering.xml"/><Relationship Id="rId3" Type="` + nsRelations + `/settings" Target="settings.xml"/>` +
		`<Relationship Id="rId4" Type="` + nsRelations + `/header" Target="header1.xml"/><Relationship Id="rId5" Type="` + nsRelations + `/footer" Target="footer1.xml"/>`

	docxApp = `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Application>service</Application></Properties>`

	docxNumbering = `<w:numbering xmlns:w="` + nsWord + `"><w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="singleLevel"/>` +
		`<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="454" w:hanging="227"/></w:pPr></w:lvl></w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`

	docxSettings = `<w:settings xmlns:w="` + nsWord + `"><w:zoom w:percent="100"/><w:defaultTabStop w:val="720"/><w:characterSpacingControl w:val="doNotCompress"/>` +
		`<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat><w:themeFontLang w:val="en-GB"/></w:settings>`
)

// writeCoreProperties writes the document's metadata, which file managers show.
func writeCoreProperties(b *bufio.Writer, d *block.Document) {
	field := func(name, value string) {
		if value == "" {
			return
		}
		_, _ = b.WriteString("<" + name + ">")
		writeEscapedXML(b, value)
		_, _ = b.WriteString("</" + name + ">")
	}
	_, _ = b.WriteString(
		xmlHead + `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
			`xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`,
	)
	field("dc:title", d.Title)
	field("dc:subject", d.Assessment)
	field("dc:creator", wording.OrDefault(d.Organization, d.Tool))
	field("cp:keywords", d.Provenance)
	field("cp:lastModifiedBy", d.Tool)
	if len(d.Draft) > 0 {
		field("cp:contentStatus", "Draft")
	} else {
		field("cp:contentStatus", "Final")
	}
	if d.Time.Year() > 1900 {
		at := d.Time.UTC().Format(time.RFC3339)
		_, _ = fmt.Fprintf(
			b,
			`<dcterms:created xsi:type="dcterms:W3CDTF">%s</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">%s</dcterms:modified>`,
			at,
			at,
		)
	}
	_, _ = b.WriteString(`</cp:coreProperties>`)
}

// writeTabbedLine writes a paragraph with some text at the left end and some at the right end.
func writeTabbedLine(b *bufio.Writer, style string, left, right func(x *docxWriter)) {
	x := &docxWriter{w: b, bookmarks: map[string]string{}}
	x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="`, style, `"/></w:pPr>`)
	left(x)
	x.writeRawXML(`<w:r><w:tab/></w:r>`)
	right(x)
	x.writeRawXML(`</w:p>`)
}

// collapseSpacesAndTruncate shortens text so that it fits into a header or footer.
func collapseSpacesAndTruncate(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

func writeDOCXHeader(b *bufio.Writer, d *block.Document) {
	_, _ = b.WriteString(xmlHead + `<w:hdr xmlns:w="` + nsWord + `">`)
	writeTabbedLine(
		b,
		"Header",
		func(x *docxWriter) { x.writeRun(block.Span{Text: collapseSpacesAndTruncate(d.Title)}) },
		func(x *docxWriter) {
			if len(d.Draft) > 0 {
				x.writeRun(block.Span{Text: "DRAFT", Badge: "draft", Strong: true})
				return
			}
			x.writeRun(block.Span{Text: collapseSpacesAndTruncate(d.Organization)})
		},
	)
	_, _ = b.WriteString(`</w:hdr>`)
}

func writeDOCXFooter(b *bufio.Writer, d *block.Document) {
	_, _ = b.WriteString(xmlHead + `<w:ftr xmlns:w="` + nsWord + `">`)
	writeTabbedLine(
		b,
		"Footer",
		func(x *docxWriter) {
			x.writeRun(block.Span{Text: collapseSpacesAndTruncate(d.Assessment + ", as of " + d.AsOf)})
		},
		func(x *docxWriter) {
			x.writeRun(block.Span{Text: "Page "})
			x.writeRawXML(`<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>`)
			x.writeRun(block.Span{Text: " of "})
			x.writeRawXML(`<w:fldSimple w:instr=" NUMPAGES "><w:r><w:t>1</w:t></w:r></w:fldSimple>`)
		},
	)
	if d.Footer != "" {
		x := &docxWriter{w: b, bookmarks: map[string]string{}}
		x.writeParagraph("Footer", block.UserText(d.Footer))
	}
	_, _ = b.WriteString(`</w:ftr>`)
}

// docxStyle holds a style's paragraph and run properties as XML. The XML elements must be in the order that the
// schema requires.
type docxStyle struct{ id, name, based, next, para, run string }

var docxParagraphStyles = []docxStyle{
	{
		"Title",
		"Title",
		"Normal",
		"Normal",
		`<w:keepNext/><w:spacing w:before="1200" w:after="120" w:line="240" w:lineRule="auto"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="56"/><w:szCs w:val="56"/>`,
	},
	{
		"Subtitle",
		"Subtitle",
		"Normal",
		"Normal",
		`<w:spacing w:after="60"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="28"/><w:szCs w:val="28"/>`,
	},
	{"Date", "Date", "Normal", "Normal", `<w:spacing w:after="360"/>`, `<w:color w:val="{soft}"/>`},
	{
		"Heading1",
		"heading 1",
		"Normal",
		"Normal",
		`<w:keepNext/><w:keepLines/><w:pBdr><w:bottom w:val="single" w:sz="8" w:space="2" w:color="{accent}"/></w:pBdr><w:spacing w:before="360" w:after="160"/><w:outlineLvl w:val="0"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="34"/><w:szCs w:val="34"/>`,
	},
	{
		"Heading2",
		"heading 2",
		"Normal",
		"Normal",
		`<w:keepNext/><w:keepLines/><w:spacing w:before="300" w:after="100"/><w:outlineLvl w:val="1"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="26"/><w:szCs w:val="26"/>`,
	},
	{
		"Heading3",
		"heading 3",
		"Normal",
		"Normal",
		`<w:keepNext/><w:keepLines/><w:spacing w:before="260" w:after="80"/><w:outlineLvl w:val="2"/>`,
		`<w:b/><w:bCs/><w:sz w:val="22"/><w:szCs w:val="22"/>`,
	},
	{
		"Heading4",
		"heading 4",
		"Normal",
		"Normal",
		`<w:keepNext/><w:keepLines/><w:spacing w:before="220" w:after="60"/><w:outlineLvl w:val="3"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="20"/><w:szCs w:val="20"/>`,
	},
	{
		"ContentsHeading",
		"Contents Heading",
		"Normal",
		"Normal",
		`<w:keepNext/><w:spacing w:before="360" w:after="120"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="26"/><w:szCs w:val="26"/>`,
	},
	{
		"TOC1",
		"toc 1",
		"Normal",
		"Normal",
		`<w:tabs><w:tab w:val="right" w:leader="dot" w:pos="9638"/></w:tabs><w:spacing w:after="60"/>`,
		"",
	},
	{
		"TOC2",
		"toc 2",
		"Normal",
		"Normal",
		`<w:tabs><w:tab w:val="right" w:leader="dot" w:pos="9638"/></w:tabs><w:spacing w:after="40"/><w:ind w:left="284"/>`,
		"",
	},
	{
		"Caption",
		"caption",
		"Normal",
		"Normal",
		`<w:keepNext/><w:keepLines/><w:spacing w:before="240" w:after="80"/>`,
		`<w:b/><w:bCs/><w:sz w:val="18"/><w:szCs w:val="18"/>`,
	},
	{
		"Quote",
		"Quote",
		"Normal",
		"Normal",
		`<w:keepLines/><w:pBdr><w:left w:val="single" w:sz="18" w:space="8" w:color="{accent}"/></w:pBdr><w:shd w:val="clear" w:color="auto" w:fill="{panel}"/><w:spacing w:before="120" w:after="0"/><w:ind w:left="284" w:right="284"/>`,
		`<w:i/><w:iCs/>`,
	},
	{
		"QuoteSource",
		"Quote Source",
		"Normal",
		"Normal",
		`<w:pBdr><w:left w:val="single" w:sz="18" w:space="8" w:color="{accent}"/></w:pBdr><w:shd w:val="clear" w:color="auto" w:fill="{panel}"/><w:spacing w:after="160"/><w:ind w:left="284" w:right="284"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
	{
		"Lead",
		"Lead",
		"Normal",
		"Normal",
		`<w:spacing w:after="160" w:line="288" w:lineRule="auto"/>`,
		`<w:sz w:val="22"/><w:szCs w:val="22"/>`,
	},
	{"Empty", "Empty", "Normal", "Normal", "", `<w:i/><w:iCs/><w:color w:val="{soft}"/>`},
	{
		"Notice",
		"Notice",
		"Normal",
		"Normal",
		`<w:pBdr><w:left w:val="single" w:sz="24" w:space="8" w:color="{bad}"/></w:pBdr><w:shd w:val="clear" w:color="auto" w:fill="{bad-bg}"/><w:spacing w:before="120" w:after="120"/><w:ind w:left="170"/>`,
		"",
	},
	{
		"Decision",
		"Decision",
		"Normal",
		"Normal",
		`<w:pBdr><w:left w:val="single" w:sz="24" w:space="8" w:color="{accent}"/></w:pBdr><w:shd w:val="clear" w:color="auto" w:fill="{info-bg}"/><w:spacing w:before="120" w:after="120"/><w:ind w:left="170"/>`,
		"",
	},
	{"Standing", "Standing", "Normal", "Normal", `<w:spacing w:after="160"/>`, ""},
	{
		"Fact",
		"Fact",
		"Normal",
		"Fact",
		`<w:tabs><w:tab w:val="left" w:pos="2268"/></w:tabs><w:spacing w:after="50"/><w:ind w:left="2268" w:hanging="2268"/>`,
		"",
	},
	{"FactText", "Fact Text", "Normal", "Fact", `<w:spacing w:after="50"/><w:ind w:left="2268"/>`, ""},
	{
		"FactList",
		"Fact List",
		"Normal",
		"Fact",
		`<w:numPr><w:numId w:val="1"/></w:numPr><w:spacing w:after="40"/><w:ind w:left="2495" w:hanging="227"/>`,
		"",
	},
	{"ListBullet", "List Bullet", "Normal", "ListBullet", `<w:numPr><w:numId w:val="1"/></w:numPr><w:spacing w:after="40"/>`, ""},
	{
		"TableHead",
		"Table Head",
		"Normal",
		"TableText",
		`<w:keepNext/><w:spacing w:before="40" w:after="40" w:line="240" w:lineRule="auto"/>`,
		`<w:b/><w:bCs/><w:sz w:val="15"/><w:szCs w:val="15"/>`,
	},
	{
		"TableText",
		"Table Text",
		"Normal",
		"TableText",
		`<w:spacing w:before="30" w:after="30" w:line="240" w:lineRule="auto"/>`,
		`<w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
	{
		"TileName",
		"Tile Name",
		"Normal",
		"Normal",
		`<w:keepNext/><w:spacing w:before="60" w:after="0"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
	{
		"TileFigure",
		"Tile Figure",
		"Normal",
		"Normal",
		`<w:spacing w:after="60"/>`,
		`<w:b/><w:bCs/><w:color w:val="{accent}"/><w:sz w:val="26"/><w:szCs w:val="26"/>`,
	},
	{"Picture", "Picture", "Normal", "Normal", `<w:keepLines/><w:spacing w:before="80" w:after="200" w:line="240" w:lineRule="auto"/>`, ""},
	{"Gap", "Gap", "Normal", "Normal", `<w:spacing w:after="0" w:line="160" w:lineRule="exact"/>`, `<w:sz w:val="8"/><w:szCs w:val="8"/>`},
	{
		"Colophon",
		"Colophon",
		"Normal",
		"Normal",
		`<w:spacing w:before="120"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
	{
		"Header",
		"header",
		"Normal",
		"Header",
		`<w:pBdr><w:bottom w:val="single" w:sz="4" w:space="3" w:color="{rule}"/></w:pBdr><w:tabs><w:tab w:val="right" w:pos="9638"/></w:tabs><w:spacing w:after="0"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
	{
		"Footer",
		"footer",
		"Normal",
		"Footer",
		`<w:tabs><w:tab w:val="right" w:pos="9638"/></w:tabs><w:spacing w:after="0"/>`,
		`<w:color w:val="{soft}"/><w:sz w:val="16"/><w:szCs w:val="16"/>`,
	},
}

const (
	docxDefaults = `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Arial"/><w:sz w:val="20"/><w:szCs w:val="20"/><w:lang w:val="en-GB" w:eastAsia="ja-JP" w:bidi="ar-SA"/></w:rPr></w:rPrDefault>` +
		`<w:pPrDefault><w:pPr><w:spacing w:after="100" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>` +
		`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/><w:rPr><w:color w:val="{ink}"/></w:rPr></w:style>` +
		`<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/></w:style>` +
		`<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="60" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="60" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>`

	docxOtherStyles = `<w:style w:type="character" w:styleId="Mono"><w:name w:val="Mono"/><w:rPr><w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Consolas"/><w:sz w:val="14"/><w:szCs w:val="14"/></w:rPr></w:style>` +
		`<w:style w:type="character" w:styleId="Badge"><w:name w:val="Badge"/><w:rPr><w:b/><w:bCs/></w:rPr></w:style>` +
		`<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/><w:rPr><w:color w:val="{link}"/><w:u w:val="single"/></w:rPr></w:style>` +
		`<w:style w:type="table" w:customStyle="1" w:styleId="ReportTable"><w:name w:val="Report Table"/><w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders>` +
		`<w:top w:val="single" w:sz="6" w:space="0" w:color="{accent}"/><w:bottom w:val="single" w:sz="6" w:space="0" w:color="{accent}"/><w:insideH w:val="single" w:sz="4" w:space="0" w:color="{rule}"/></w:tblBorders></w:tblPr></w:style>` +
		`<w:style w:type="table" w:customStyle="1" w:styleId="Tiles"><w:name w:val="Tiles"/><w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders>` +
		`<w:top w:val="single" w:sz="18" w:space="0" w:color="{accent}"/><w:insideV w:val="single" w:sz="24" w:space="0" w:color="{paper}"/></w:tblBorders></w:tblPr></w:style>`
)

func docxStylesXML(t drawing.Theme) string {
	var b strings.Builder
	b.WriteString(`<w:styles xmlns:w="` + nsWord + `">` + docxDefaults)
	for _, s := range docxParagraphStyles {
		fmt.Fprintf(
			&b,
			`<w:style w:type="paragraph" w:styleId="%s"><w:name w:val="%s"/><w:basedOn w:val="%s"/><w:next w:val="%s"/><w:qFormat/><w:pPr>%s</w:pPr><w:rPr>%s</w:rPr></w:style>`,
			s.id,
			s.name,
			s.based,
			s.next,
			s.para,
			s.run,
		)
	}
	b.WriteString(docxOtherStyles + `</w:styles>`)
	return t.ReplaceColorPlaceholders(b.String())
}

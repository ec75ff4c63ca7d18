package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// workbookParts makes a workbook from the contents of <cols> and <sheetData> and the elements after them, the
// contents of the styles, the shared strings, and further parts.
func workbookParts(t testing.TB, sheet, styles, texts string, parts map[string]string) []byte {
	const ns = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind +
			`" Target="` + target + `"/>`
	}
	const relNS = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	all := map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels":     relNS + rel("r1", "officeDocument", "xl/workbook.xml") + `</Relationships>`,
		"xl/workbook.xml": `<workbook` + ns + `<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": relNS + rel("r1", "worksheet", "worksheets/sheet1.xml") + rel("r2", "styles", "styles.xml") + rel("r3",
			"sharedStrings", "sharedStrings.xml") + rel("r4", "worksheet", "worksheets/sheet2.xml") + `</Relationships>`,
		"xl/styles.xml":            `<styleSheet` + ns + styles + `</styleSheet>`,
		"xl/sharedStrings.xml":     `<sst` + ns + texts + `</sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet` + ns + sheet + `</worksheet>`,
	}
	rels := relNS + rel("r1", "drawing", "../drawings/drawing1.xml") + rel("r3", "comments", "../comments1.xml") + rel("r4", "oleObject",
		"../x.bin")
	if parts["xl/tables/table1.xml"] != "" {
		rels += rel("r2", "table", "../tables/table1.xml")
	}
	all["xl/worksheets/_rels/sheet1.xml.rels"] = rels + `</Relationships>`
	for name, content := range parts {
		all[name] = strings.Replace(content, "NS>", ns, 1)
	}
	return documenttest.Zip(t, all)
}

func cellText(at, style, text string) string {
	return `<c r="` + at + `" s="` + style + `" t="inlineStr"><is><t>` + text + `</t></is></c>`
}

const (
	before = `<row r="1">` + `<c r="A1" t="inlineStr"><is><t>Before</t></is></c></row>`
	after  = `<row r="9">` + `<c r="A9" t="inlineStr"><is><t>After</t></is></c></row>`
)

func TestInvisibleXLSX(t *testing.T) {
	fonts := func(f string) string {
		return `<fonts><font/><font>` + f + `</font></fonts><fills><fill/><fill/><fill><patternFill patternType="solid"><fgColor rgb="FF202020"/></patternFill></fill></fills>`
	}
	const own = `<cellXfs><xf/><xf fontId="1"/></cellXfs>`
	// Each way consists of the styles of the cell with style 1, or of a whole row.
	ways := map[string]string{
		"struck": fonts(`<strike/>`) + own,
		"struck by parent": fonts(`<strike val="1"/>`) +
			`<cellStyleXfs><xf/><xf fontId="1"/></cellStyleXfs><cellXfs><xf/><xf xfId="1" applyFont="0"/></cellXfs>`,
		"struck by parent, no font": fonts(`<strike/>`) +
			`<cellStyleXfs><xf/><xf fontId="1"/></cellStyleXfs><cellXfs><xf/><xf xfId="1"/></cellXfs>`,
		"white":            fonts(`<color rgb="FFFFFFFF"/>`) + own,
		"white of theme":   fonts(`<color theme="0"/>`) + own,
		"white of palette": fonts(`<color indexed="9"/>`) + own,
		"dark on dark":     fonts(`<color rgb="FF202020"/>`) + `<cellXfs><xf/><xf fontId="1" fillId="2"/></cellXfs>`,
		"number format": fonts(``) +
			`<numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs>`,
		"size": fonts(`<sz val="1"/>`) + own,
	}
	m := matrix{
		file: "a.xlsx", ways: ways, containers: []string{"cell", "shared string", "shared run", "inline run", "formula"},
		absent: []string{
			// A formatted run has no number format, and the font of its cell doesn't apply to it.
			"number format in shared run", "number format in inline run", "struck by parent in shared run", "struck by parent in inline run",
			"struck by parent, no font in shared run", "struck by parent, no font in inline run", "dark on dark in shared run",
			"dark on dark in inline run",
		},
	}
	m.build = func(t *testing.T, container, way, styles string) []byte {
		format := map[string]string{
			"struck": `<strike/>`, "white": `<color rgb="FFFFFFFF"/>`, "white of theme": `<color theme="0"/>`,
			"white of palette": `<color indexed="9"/>`, "size": `<sz val="1"/>`,
		}[way]
		run := `<r><t>seen </t></r><r><rPr>` + format + `</rPr><t>quagga</t></r>`
		texts, cell := "", ""
		switch container {
		case "cell":
			cell = cellText("B2", "1", "quagga")
		case "shared string":
			texts, cell = `<si><t>other</t></si><si><t>quagga</t></si>`, `<c r="B2" s="1" t="s"><v>1</v></c>`
		case "shared run":
			texts, cell = `<si><t>other</t></si><si>`+run+`</si>`, `<c r="B2" t="s"><v>1</v></c>`
		case "inline run":
			cell = `<c r="B2" t="inlineStr"><is>` + run + `</is></c>`
		case "formula":
			cell = `<c r="B2" s="1" t="str"><f>A1</f><v>quagga</v></c>`
		}
		return workbookParts(t, `<sheetData>`+before+`<row r="2">`+cellText("A2", "0", "seen")+cell+`</row>`+after+`</sheetData>`, styles,
			texts, nil)
	}
	m.check(t)

	testConditionalXLSX(t)

	row := func(attrs string) string {
		return `<row r="2" ` + attrs + `>` + cellText("A2", "0", "quagga") + `</row>`
	}
	seen := `<row r="3">` + cellText("A3", "0", "seen") + cellText("C3", "0", "quagga") + `</row>`
	seenOnly := `<row r="3">` + cellText("A3", "0", "seen") + `</row>`
	sheets := matrix{file: "a.xlsx", containers: []string{"sheet"}, ways: map[string]string{
		"hidden row":    `<sheetData>` + before + row(`hidden="1"`) + seenOnly + after + `</sheetData>`,
		"row of height": `<sheetData>` + before + row(`ht="0" customHeight="1"`) + seenOnly + after + `</sheetData>`,
		"hidden column": `<cols><col min="3" max="5" hidden="true"/></cols><sheetData>` + before + seen + after + `</sheetData>`,
		"column width":  `<cols><col min="3" max="3" width="0"/></cols><sheetData>` + before + seen + after + `</sheetData>`,
		"row beside filter": `<sheetData>` + before + row(`hidden="1"`) + seenOnly + after +
			`</sheetData><autoFilter ref="A3:B9"><filterColumn colId="0"/></autoFilter>`,
	}}
	sheets.build = func(t *testing.T, _, _, sheet string) []byte { return workbookParts(t, sheet, "", "", nil) }
	sheets.check(t)

	zebra := func(attrs string) string {
		return `<sheetData>` + before + `<row r="2" ` + attrs + `>` + cellText("A2", "1", "zebra") + `</row>` + after + `</sheetData>`
	}
	shown(t, "a.xlsx", map[string][]byte{
		"filtered": workbookParts(t, zebra(`hidden="1"`)+`<autoFilter ref="$A$1:$A$9"><filterColumn colId="0"/></autoFilter>`, "",
			"", nil),
		"advanced filter": workbookParts(t, `<sheetPr filterMode="1"/>`+zebra(`hidden="1"`), "", "", nil),
		"filtered table": workbookParts(t, zebra(`hidden="1"`), "", "",
			map[string]string{"xl/tables/table1.xml": `<table ref="A1:A9"NS><autoFilter ref="A1:A9"/></table>`}),
		"white in a table": workbookParts(t, zebra(""), fonts(`<color rgb="FFFFFFFF"/>`)+own, "",
			map[string]string{"xl/tables/table1.xml": `<table ref="A1:A9"NS></table>`}),
		"white on dark": workbookParts(t, zebra(""),
			fonts(`<color rgb="FFFFFFFF"/>`)+`<cellXfs><xf/><xf fontId="1" fillId="2"/></cellXfs>`, "", nil),
		"struck turned off": workbookParts(t, zebra(""), fonts(`<strike val="0"/>`)+own, "", nil),
		"run of struck cell": workbookParts(t, `<sheetData><row r="1"><c r="A1" s="1" t="s"><v>0</v></c></row></sheetData>`,
			fonts(`<strike/>`)+own, `<si><r><t>x</t></r><r><rPr><b/></rPr><t>zebra</t></r></si>`, nil),
		"text under ;;": workbookParts(t, zebra(""),
			fonts(``)+`<numFmts><numFmt numFmtId="170" formatCode=";;"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs>`, "", nil),
		"text box on a sheet": workbookParts(t, zebra(""), "", "",
			map[string]string{"xl/drawings/drawing1.xml": `<d xmlns:a="a"><sp><txBody><a:p><a:r><a:t>zebra</a:t></a:r></a:p></txBody></sp></d>`}),
	})
}

// testConditionalXLSX checks that text hidden by a conditional format is not read.
func testConditionalXLSX(t *testing.T) {
	const (
		white = `<fonts><font><color rgb="FF000000"/></font><font><color rgb="FFFFFFFF"/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs><dxfs>` +
			`<dxf><font><color rgb="FFFFFFFF"/></font></dxf><dxf><numFmt numFmtId="170" formatCode=";;;"/></dxf><dxf><font><strike/></font></dxf>` +
			`<dxf><fill><patternFill><bgColor rgb="FF000000"/></patternFill></fill></dxf></dxfs>`
	)
	build := func(styles, cell, rules string) []byte {
		return workbookParts(t, `<sheetData>`+before+
			`<row r="2">`+cellText("A2", "0", "Name")+cellText("B2", "0", "State")+cellText("C2", "0", "Note")+cellText("D2", "0", "Done")+`</row>`+
			`<row r="3">`+cellText("A3", "0", "seen")+cell+cellText("D3", "0", "Yes")+`</row>`+after+
			`</sheetData><conditionalFormatting sqref="B3:B8">`+rules+`</conditionalFormatting>`, styles, "", nil)
	}
	rule := func(change, attrs, formula string) string {
		return `<cfRule dxfId="` + change + `" priority="1" ` + attrs + `><formula>` + formula + `</formula></cfRule>`
	}
	m := matrix{file: "a.xlsx", containers: []string{"cell", "run"}, ways: map[string]string{
		"conditional: always":      rule("0", `type="expression"`, "TRUE()"),
		"conditional: format":      rule("1", `type="expression"`, "1"),
		"conditional: fill":        rule("3", `type="notContainsBlanks"`, "LEN(TRIM(B3))&gt;0"),
		"conditional: equal":       rule("2", `type="cellIs" operator="equal"`, "&quot;seen QUAGGA&quot;"),
		"conditional: contains":    rule("0", `type="containsText" operator="containsText" text="quagga"`, `NOT(ISERROR(SEARCH("quagga",B3)))`),
		"conditional: not empty":   rule("0", `type="expression"`, "B3&lt;&gt;&quot;&quot;"),
		"conditional: in the row":  rule("2", `type="expression"`, `$D3="yes"`),
		"conditional: beside":      rule("2", `type="expression"`, `D3="yes"`),
		"conditional: second rule": rule("2", `type="cellIs" operator="lessThan"`, "5") + rule("0", `type="cellIs" operator="notEqual"`, "5"),
	}}
	m.build = func(t *testing.T, container, _, rules string) []byte {
		cell := cellText("B3", "0", "seen quagga")
		if container == "run" {
			cell = `<c r="B3" s="0" t="inlineStr"><is><r><t>seen </t></r><r><rPr><color rgb="FF000000"/></rPr><t>quagga</t></r></is></c>`
		}
		return build(white, cell, rules)
	}
	m.check(t)

	zebra := cellText("B3", "0", "zebra")
	shown(t, "a.xlsx", map[string][]byte{
		"conditional: not met":    build(white, zebra, rule("0", `type="cellIs" operator="equal"`, "&quot;quagga&quot;")),
		"conditional: outside":    build(white, cellText("C3", "0", "zebra"), rule("0", `type="expression"`, "TRUE")),
		"conditional: dark fill":  build(white, cellText("B3", "1", "zebra"), rule("3", `type="expression"`, "TRUE")),
		"conditional: precedence": build(white, zebra, rule("2", `type="expression" stopIfTrue="1"`, "FALSE")+rule("0", `type="expression"`, "0")),
		"conditional: not now":    build(white, zebra, rule("2", `type="expression"`, `$D3="No"`)),
	})
	doc := parsetest.Read(t, "a.xlsx", build(white, zebra, rule("0", `type="expression"`, "COUNTIF(A:A,B3)&gt;1")))
	if got := allText(doc); !strings.Contains(got, "zebra") || !strings.Contains(strings.Join(doc.Warnings, " "), "not evaluated") {
		t.Errorf("read %q, warnings %q", got, doc.Warnings)
	}
}

// TestUnreadXLSX checks that unread parts of a workbook are counted, with their locations.
func TestUnreadXLSX(t *testing.T) {
	doc := parsetest.Read(t, "a.xlsx", workbookParts(t,
		`<sheetData>`+before+`<row r="2"><c r="B2"><f>1+1</f></c><c r="C2" t="str"><f>A5</f><v></v></c><c r="D2"><f>2</f><v/></c></row></sheetData>`, "", "",
		map[string]string{
			"xl/comments1.xml":         `<comments><commentList><comment ref="A1"/><comment ref="A2"/></commentList></comments>`,
			"xl/drawings/drawing1.xml": `<d xmlns:c="c"><pic><blip/></pic><pic><blip/></pic><graphicFrame><c:chart/></graphicFrame></d>`,
			"xl/workbook.xml":          `<workbook xmlns:x="r"NS><sheets><sheet name="S" sheetId="1" r:id="r1"/><sheet name="H" sheetId="2" state="veryHidden" r:id="r4"/></sheets></workbook>`,
			"xl/worksheets/sheet2.xml": `<worksheetNS><sheetData/></worksheet>`,
		}))
	var got []string
	for _, n := range doc.NotRead {
		got = append(got, n.Kind+" "+strings.Repeat("i", n.Count)+" "+n.Locator.Sheet+"!"+n.Locator.CellRange)
	}
	want := "formula_without_value ii S!B2|picture ii S!|chart i S!|comment ii S!|embedded_file i S!|hidden_sheet i H!"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

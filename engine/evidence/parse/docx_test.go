package parse

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
)

const (
	docxTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	wordNS    = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`
)

// docx makes a Word document of the content of its body and further parts.
func docx(t testing.TB, body string, parts map[string]string) []byte {
	rel := func(id int, kind, target string) string {
		return fmt.Sprintf(
			`<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`,
			id,
			kind,
			target,
		)
	}
	all := map[string]string{
		"[Content_Types].xml": docxTypes,
		"_rels/.rels":         `<Relationships>` + rel(1, "officeDocument", "word/document.xml") + `</Relationships>`,
		"word/_rels/document.xml.rels": `<Relationships>` + rel(
			1,
			"styles",
			"styles.xml",
		) + rel(
			2,
			"footnotes",
			"footnotes.xml",
		) + rel(
			3,
			"header",
			"header1.xml",
		) + rel(
			4,
			"numbering",
			"numbering.xml",
		) + `</Relationships>`,
		"word/document.xml": `<w:document ` + wordNS + `><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml": `<w:styles ` + wordNS + `>
			<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
			<w:style w:type="paragraph" w:styleId="b1"><w:name w:val="heading 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="b1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Out"><w:name w:val="Other"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
			<w:style w:type="paragraph" w:styleId="Ring1"><w:name w:val="R1"/><w:basedOn w:val="Ring2"/></w:style>
			<w:style w:type="paragraph" w:styleId="Ring2"><w:name w:val="R2"/><w:basedOn w:val="Ring1"/></w:style>
			<w:style w:type="paragraph" w:styleId="V1"><w:name w:val="toc 1"/></w:style></w:styles>`,
	}
	for k, v := range parts {
		all[k] = v
	}
	return zipOf(t, all)
}

func para(style, text string) string {
	if style != "" {
		style = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
	}
	return `<w:p>` + style + `<w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func TestDocx(t *testing.T) {
	item := func(level int, text string) string {
		return fmt.Sprintf(
			`<w:p><w:pPr><w:numPr><w:ilvl w:val="%d"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`,
			level,
			text,
		)
	}
	cell := func(inner string) string { return `<w:tc>` + inner + `</w:tc>` }
	row := func(cells ...string) string { return `<w:tr>` + strings.Join(cells, "") + `</w:tr>` }
	body := para("Titel", "Access Policy") + para("V1", "Purpose 3") + para("Mine", "Purpose") +
		`<w:p><w:r><w:t xml:space="preserve">Rights </w:t></w:r><w:ins><w:r><w:t>are</w:t></w:r></w:ins><w:del><w:r><w:delText>were</w:delText><w:t>X</w:t></w:r></w:del>` +
		`<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:fldChar/><w:instrText>HYPERLINK "http://evil"</w:instrText></w:r>` +
		`<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>struck</w:t></w:r><w:r><w:rPr><w:dstrike/><w:vanish w:val="0"/></w:rPr><w:t>twice</w:t></w:r><w:r><w:tab/><w:t>given&amp;taken.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
		para("Out", "Details") + item(0, "first") + item(1, "inner") + para("Ring1", "Ring text.") +
		`<w:tbl>` + row(cell(para("", "Version")), cell(para("", "1.4"))) + row(cell(para("", "Owner")), cell(para("", "CISO"))) + `</w:tbl>` +
		`<w:tbl>` + row(cell(para("", "Role")), cell(para("", "Right"))) +
		row(
			cell(para("", "Admin")+para("", "root")),
			cell(para("", "all")+`<w:tbl>`+row(cell(para("", "in")), cell(para("", "ner")))+`</w:tbl>`),
		) + `</w:tbl>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + para(
		"",
		"Boxed.",
	) + `</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>` + para(
		"",
		"Twice.",
	) + `</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:lastRenderedPageBreak/><w:t>After.</w:t></w:r></w:p>`
	doc := read(t, "a.docx", docx(t, body, map[string]string{
		"word/footnotes.xml": `<w:footnotes ` + wordNS + `><w:footnote w:id="2">` + para(
			"",
			"By the board.",
		) + `</w:footnote></w:footnotes>`,
		"word/header1.xml": `<w:hdr ` + wordNS + `>` + para("", "Effective date: 2026-03-01") + `</w:hdr>`,
	}))
	same(t, outline(doc.Blocks), `
	# Access Policy
	# Purpose
	¶ Rights are given&taken.  {Purpose}
	¶ By the board.  {Purpose}
	## Details  {Purpose}
	- first  {Purpose > Details}
	-- inner  {Purpose > Details}
	¶ Ring text.  {Purpose > Details}
	| Version: 1.4  {Purpose > Details}
	| Owner: CISO  {Purpose > Details}
	| Role: Admin root; Right: all in | ner  {Purpose > Details}
	¶ Boxed.  {Purpose > Details}
	¶ After.  {Purpose > Details}
	`)
	if doc.Title != "Access Policy" || doc.Version != "1.4" || doc.Owner != "CISO" ||
		!reflect.DeepEqual(doc.EffectiveDate, date(2026, 3, 1)) {
		t.Errorf("facts %q %q %q %v", doc.Title, doc.Version, doc.Owner, doc.EffectiveDate)
	}
	if doc.PageCount != 2 || doc.Blocks[0].Locator.Page != 1 || doc.Blocks[12].Locator.Page != 2 {
		t.Errorf("pages %d, %+v", doc.PageCount, doc.Blocks[12].Locator)
	}
}

func TestDocxNumbers(t *testing.T) {
	level := func(i int, format, text string) string {
		return fmt.Sprintf(`<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%s"/></w:lvl>`, i, format, text)
	}
	item := func(id, level int, text string) string {
		return fmt.Sprintf(
			`<w:p><w:pPr><w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`,
			level,
			id,
			text,
		)
	}
	body := para(
		"H1",
		"Scope",
	) + para(
		"H2",
		"Sites",
	) + item(
		1,
		0,
		"one",
	) + item(
		1,
		1,
		"sub",
	) + item(
		1,
		1,
		"sub",
	) + item(
		1,
		0,
		"two",
	) + para(
		"H1",
		"Rules",
	) + para(
		"H2",
		"Keys",
	) +
		item(
			1,
			0,
			"three",
		) + item(
		2,
		0,
		"afresh",
	) + item(
		3,
		0,
		"dot",
	) + item(
		9,
		0,
		"unknown",
	) + item(
		0,
		0,
		"none",
	)
	doc := read(t, "a.docx", docx(t, body, map[string]string{
		"word/styles.xml": `<w:styles ` + wordNS + `>
			<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
			<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="4"/></w:numPr></w:pPr></w:style></w:styles>`,
		"word/numbering.xml": `<w:numbering ` + wordNS + `>
			<w:abstractNum w:abstractNumId="0">` + level(0, "lowerLetter", "(%1)") + level(1, "lowerRoman", "%2.") + `</w:abstractNum>
			<w:abstractNum w:abstractNumId="1">` + level(0, "bullet", "•") + `</w:abstractNum>
			<w:abstractNum w:abstractNumId="2">` + level(0, "decimal", "%1") + level(1, "decimal", "%1.%2") + `</w:abstractNum>
			<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
			<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
			<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>
			<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num></w:numbering>`,
	}))
	same(t, outline(doc.Blocks), `
	# 1 Scope
	## 1.1 Sites  {1 Scope}
	- (a) one  {1 Scope > 1.1 Sites}
	-- i. sub  {1 Scope > 1.1 Sites}
	-- ii. sub  {1 Scope > 1.1 Sites}
	- (b) two  {1 Scope > 1.1 Sites}
	# 2 Rules
	## 2.1 Keys  {2 Rules}
	- (c) three  {2 Rules > 2.1 Keys}
	- (a) afresh  {2 Rules > 2.1 Keys}
	- dot  {2 Rules > 2.1 Keys}
	- unknown  {2 Rules > 2.1 Keys}
	¶ none  {2 Rules > 2.1 Keys}
	`)
}

func TestDocxBoldHeadings(t *testing.T) {
	bold := `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Scope</w:t></w:r></w:p>`
	doc := read(t, "a.docx", docx(t, para("", "Intro.")+bold+para("", "All staff.")+para("", "All sites."), nil))
	same(t, outline(doc.Blocks), "¶ Intro.\n# Scope\n¶ All staff.  {Scope}\n¶ All sites.  {Scope}\n")
}

func TestDocxRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"half":          {docx(t, para("", "x"), nil)[:700], ErrDamaged},
		"broken xml":    {docx(t, "<w:p><w:r></w:p>", nil), ErrDamaged},
		"deep xml":      {docx(t, strings.Repeat("<w:sdt>", 5000)+para("", "x")+strings.Repeat("</w:sdt>", 5000), nil), ErrDamaged},
		"deep deletion": {docx(t, strings.Repeat("<w:del>", 5000)+strings.Repeat("</w:del>", 5000), nil), ErrDamaged},
		"own entities": {
			docx(
				t,
				"",
				map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document ` + wordNS + `><w:body>` + para(
					"",
					"&b;",
				) + `</w:body></w:document>`},
			),
			ErrDamaged,
		},
		"outside file": {
			docx(
				t,
				"",
				map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document ` + wordNS + `><w:body>` + para(
					"",
					"&a;",
				) + `</w:body></w:document>`},
			),
			ErrDamaged,
		},
		"no text":    {docx(t, para("", ""), nil), ErrEmpty},
		"bomb":       {bomb(t, 300<<20), ErrTooLarge},
		"dense bomb": {bomb(t, 64<<20), ErrTooLarge},
		"lying size": {lyingZip(t), ErrDamaged},
		"many parts": {manyParts(t), ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readErr(t, Options{}, "a.docx", tt.raw); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// bomb is a document whose main part unpacks to size bytes of one letter.
func bomb(t testing.TB, size int64) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	p, _ := w.Create("[Content_Types].xml")
	io.WriteString(p, docxTypes)
	p, _ = w.Create("word/document.xml")
	io.WriteString(p, `<w:document `+wordNS+`><w:body><w:p><w:r><w:t>`)
	if _, err := io.CopyN(p, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	io.WriteString(p, `</w:t></w:r></w:p></w:body></w:document>`)
	w.Close()
	return buf.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// lyingZip says that its main part is small; it unpacks to more.
func lyingZip(t testing.TB) []byte {
	raw := bomb(t, 8<<20)
	// The size unpacked stands in the last directory entry, 24 bytes in.
	at := bytes.LastIndex(raw, []byte("PK\x01\x02"))
	copy(raw[at+24:], []byte{0x10, 0x10, 0, 0})
	return raw
}

func manyParts(t testing.TB) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := range maxParts + 1 {
		w.Create(fmt.Sprintf("p%d", i))
	}
	w.Close()
	return buf.Bytes()
}

func workbook(t testing.TB, fill func(*excelize.File)) []byte {
	x := excelize.NewFile()
	fill(x)
	var buf bytes.Buffer
	if err := x.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestXlsx(t *testing.T) {
	raw := workbook(t, func(x *excelize.File) {
		x.SetSheetName("Sheet1", "Risks")
		x.SetSheetRow("Risks", "B1", &[]any{"Risk register"})
		x.SetSheetRow("Risks", "B3", &[]any{"ID", "Risk", "Score"})
		x.SetSheetRow("Risks", "B4", &[]any{"R-1", "Loss of\nkeys", 12})
		x.SetSheetRow("Risks", "B5", &[]any{"R-2", "", 3.5})
		x.SetCellFormula("Risks", "E4", `WEBSERVICE("http://evil")`)
		x.NewSheet("Info")
		x.SetSheetRow("Info", "A1", &[]any{"Version", "2.0"})
		x.SetSheetRow("Info", "A2", &[]any{"Owner", "Risk officer"})
		x.NewSheet("Empty")
	})
	doc := read(t, "r.xlsx", raw)
	same(t, outline(doc.Blocks), `
	# Risks
	¶ Risk register  {Risks}
	| ID: R-1; Risk: Loss of keys; Score: 12  {Risks}
	| ID: R-2; Score: 3.5  {Risks}
	# Info
	| Version: 2.0  {Info}
	| Owner: Risk officer  {Info}
	# Empty
	`)
	if got := doc.Blocks[2].Locator; got != (api.Locator{Sheet: "Risks", CellRange: "B4:D4"}) {
		t.Errorf("locator %+v", got)
	}
	if doc.PageCount != 3 || doc.Version != "2.0" || doc.Owner != "Risk officer" {
		t.Errorf("%d %q %q", doc.PageCount, doc.Version, doc.Owner)
	}
}

func TestXlsxRefuses(t *testing.T) {
	locked := func() []byte {
		x := excelize.NewFile()
		x.SetCellStr("Sheet1", "A1", "secret")
		var buf bytes.Buffer
		if err := x.Write(&buf, excelize.Options{Password: "p"}); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	raw := workbook(t, func(x *excelize.File) { x.SetCellStr("Sheet1", "A1", "text") })
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"locked":    {locked(), ErrEncrypted},
		"cut short": {raw[:len(raw)/2], ErrDamaged},
	} {
		if err := readErr(t, Options{}, "a.xlsx", tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

package office_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/programtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

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
	body := documenttest.DocxParagraph(
		"Titel",
		"Access Policy",
	) + documenttest.DocxParagraph(
		"V1",
		"Purpose 3",
	) + documenttest.DocxParagraph(
		"Mine",
		"Purpose",
	) +
		`<w:p><w:r><w:t xml:space="preserve">Rights </w:t></w:r><w:ins><w:r><w:t>are</w:t></w:r></w:ins><w:del><w:r><w:delText>were</w:delText><w:t>X</w:t></w:r></w:del>` +
		`<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:fldChar/><w:instrText>HYPERLINK "http://evil"</w:instrText></w:r>` +
		`<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>struck</w:t></w:r><w:r><w:rPr><w:dstrike/><w:vanish w:val="0"/></w:rPr><w:t>twice</w:t></w:r><w:r><w:tab/><w:t>given&amp;taken.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
		documenttest.DocxParagraph(
			"Out",
			"Details",
		) + item(
		0,
		"first",
	) + item(
		1,
		"inner",
	) + documenttest.DocxParagraph(
		"Ring1",
		"Ring text.",
	) +
		`<w:tbl>` + row(
		cell(documenttest.DocxParagraph("", "Version")),
		cell(documenttest.DocxParagraph("", "1.4")),
	) + row(
		cell(documenttest.DocxParagraph("", "Owner")),
		cell(documenttest.DocxParagraph("", "CISO")),
	) + `</w:tbl>` +
		`<w:tbl>` + row(
		cell(documenttest.DocxParagraph("", "Role")),
		cell(documenttest.DocxParagraph("", "Right")),
	) +
		row(
			cell(documenttest.DocxParagraph("", "Admin")+documenttest.DocxParagraph("", "root")),
			cell(
				documenttest.DocxParagraph(
					"",
					"all",
				)+`<w:tbl>`+row(
					cell(documenttest.DocxParagraph("", "in")),
					cell(documenttest.DocxParagraph("", "ner")),
				)+`</w:tbl>`,
			),
		) + `</w:tbl>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + documenttest.DocxParagraph(
		"",
		"Boxed.",
	) + `</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>` + documenttest.DocxParagraph(
		"",
		"Twice.",
	) + `</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:lastRenderedPageBreak/><w:t>After.</w:t></w:r></w:p>`
	doc := parsetest.Read(t, "a.docx", documenttest.Docx(t, body, map[string]string{
		"word/footnotes.xml": `<w:footnotes ` + documenttest.WordNS + `><w:footnote w:id="2">` + documenttest.DocxParagraph(
			"",
			"By the board.",
		) + `</w:footnote></w:footnotes>`,
		"word/header1.xml": `<w:hdr ` + documenttest.WordNS + `>` + documenttest.DocxParagraph(
			"",
			"Effective date: 2026-03-01",
		) + `</w:hdr>`,
	}))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
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
		!reflect.DeepEqual(doc.EffectiveDate, documenttest.Date(2026, 3, 1)) {
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
	body := documenttest.DocxParagraph(
		"H1",
		"Scope",
	) + documenttest.DocxParagraph(
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
	) + documenttest.DocxParagraph(
		"H1",
		"Rules",
	) + documenttest.DocxParagraph(
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
	doc := parsetest.Read(t, "a.docx", documenttest.Docx(t, body, map[string]string{
		"word/styles.xml": `<w:styles ` + documenttest.WordNS + `>
			<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
			<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="4"/></w:numPr></w:pPr></w:style></w:styles>`,
		"word/numbering.xml": `<w:numbering ` + documenttest.WordNS + `>
			<w:abstractNum w:abstractNumId="0">` + level(0, "lowerLetter", "(%1)") + level(1, "lowerRoman", "%2.") + `</w:abstractNum>
			<w:abstractNum w:abstractNumId="1">` + level(0, "bullet", "•") + `</w:abstractNum>
			<w:abstractNum w:abstractNumId="2">` + level(0, "decimal", "%1") + level(1, "decimal", "%1.%2") + `</w:abstractNum>
			<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
			<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
			<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>
			<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num></w:numbering>`,
	}))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
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
	doc := parsetest.Read(
		t,
		"a.docx",
		documenttest.Docx(
			t,
			documenttest.DocxParagraph(
				"",
				"Intro.",
			)+bold+documenttest.DocxParagraph(
				"",
				"All staff.",
			)+documenttest.DocxParagraph(
				"",
				"All sites.",
			),
			nil,
		),
	)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), "¶ Intro.\n# Scope\n¶ All staff.  {Scope}\n¶ All sites.  {Scope}\n")
}

func TestDocxRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"half":          {documenttest.Docx(t, documenttest.DocxParagraph("", "x"), nil)[:700], document.ErrDamaged},
		"broken xml":    {documenttest.Docx(t, "<w:p><w:r></w:p>", nil), document.ErrDamaged},
		"deep xml":      {documenttest.Docx(t, strings.Repeat("<w:sdt>", 5000)+documenttest.DocxParagraph("", "x")+strings.Repeat("</w:sdt>", 5000), nil), document.ErrDamaged},
		"deep deletion": {documenttest.Docx(t, strings.Repeat("<w:del>", 5000)+strings.Repeat("</w:del>", 5000), nil), document.ErrDamaged},
		"own entities": {
			documenttest.Docx(
				t,
				"",
				map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><w:document ` + documenttest.WordNS + `><w:body>` + documenttest.DocxParagraph(
					"",
					"&b;",
				) + `</w:body></w:document>`},
			),
			document.ErrDamaged,
		},
		"outside file": {
			documenttest.Docx(
				t,
				"",
				map[string]string{"word/document.xml": `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document ` + documenttest.WordNS + `><w:body>` + documenttest.DocxParagraph(
					"",
					"&a;",
				) + `</w:body></w:document>`},
			),
			document.ErrDamaged,
		},
		"no text":    {documenttest.Docx(t, documenttest.DocxParagraph("", ""), nil), document.ErrEmpty},
		"bomb":       {withSize(bomb(t, 1<<20), 300<<20), document.ErrTooLarge},
		"dense bomb": {withSize(bomb(t, 1<<20), 64<<20), document.ErrTooLarge},
		"lying size": {lyingZip(t), document.ErrDamaged},
		"many parts": {manyParts(t), document.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if err := parsetest.ReadError(t, parse.Options{}, "a.docx", tt.raw); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// bomb returns a document whose main part unpacks to size bytes of one letter.
func bomb(t testing.TB, size int64) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	p, _ := w.Create("[Content_Types].xml")
	io.WriteString(p, documenttest.DocxTypes)
	p, _ = w.Create("word/document.xml")
	io.WriteString(p, `<w:document `+documenttest.WordNS+`><w:body><w:p><w:r><w:t>`)
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

// lyingZip returns an archive whose main part unpacks to more than its directory states.
func lyingZip(t testing.TB) []byte { return withSize(bomb(t, 8<<20), 0x1010) }

// withSize changes the unpacked size that the last directory entry of an archive states.
func withSize(raw []byte, size uint32) []byte {
	at := bytes.LastIndex(raw, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(raw[at+24:], size)
	return raw
}

func manyParts(t testing.TB) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := range zipfile.MaxParts + 1 {
		w.Create(fmt.Sprintf("p%d", i))
	}
	w.Close()
	return buf.Bytes()
}

func FuzzDocx(f *testing.F) {
	f.Add(documenttest.DocxParagraph("", "x") + `<w:tbl><w:tr><w:tc>` + documenttest.DocxParagraph("b1", "y") + `</w:tc></w:tr></w:tbl>`)
	f.Add(
		`<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>` + documenttest.DocxParagraph(
			"",
			"toc",
		) + `</w:sdt>` + documenttest.DocxParagraph(
			"",
			"x",
		),
	)
	f.Add(
		`<w:p><w:sdt><w:showingPlcHdr/></w:p><w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="-1"/><w:checked/></w:ffData><w:sym w:char="F0FE"/></w:r>`,
	)
	f.Add(`<wp:anchor><wp:positionV><wp:posOffset>9e99</wp:posOffset></wp:positionV><wp:extent/><w:p><a:blip r:embed="x"/></w:p><w:pgSz w:w="1"/>`)
	f.Add(`<w:tbl><w:tr><w:tc><w:vMerge/><w:gridSpan w:val="3"/></w:tc></w:tr><w:tr><w:tc><w:tbl><w:tr/></w:tbl></w:tc></w:tr></w:tbl>`)
	f.Add(`<w:tc/><w:tr/><w:t>x</w:t><w:p><w:p><w:r><w:t>y</w:t></w:r></w:p><w:footnoteReference w:id="9"/></w:p>`)
	f.Fuzz(func(t *testing.T, body string) {
		parsetest.CheckReadInvariants(t, "a.docx", documenttest.Docx(t, body, nil))
	})
}

func TestDocxAgreesWithPandoc(t *testing.T) {
	programtest.FindOrSkip(t, "pandoc")
	for _, f := range documenttest.Files(t, shareddata.PathOrSkip(t, "evidence"), "mixed/*.docx") {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var ours strings.Builder
		for _, b := range parsetest.Read(t, f, raw).Blocks {
			ours.WriteString(strings.Join(append(b.Header, b.DisplayText()), " ") + "\n")
		}
		score := documenttest.WordF1(ours.String(), documenttest.RunTool(t, "pandoc", "-t", "plain", "--wrap=none", f))
		t.Logf("%s: F1 %.4f", filepath.Base(f), score)
		if score < 0.97 {
			t.Errorf("%s: F1 %.4f", filepath.Base(f), score)
		}
	}
}

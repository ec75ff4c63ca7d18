package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestDrawingsOffPage checks that drawings outside the page aren't read, in formats that state where a drawing is,
// and that drawings on the page are.
func TestDrawingsOffPage(t *testing.T) {
	box := `<wp:docPr id="1" name="b"/><wps:txbx><w:txbxContent><w:p><w:r><w:t>quagga</w:t></w:r></w:p></w:txbxContent></wps:txbx>`
	section := `<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:left="1417" w:top="1417"/></w:sectPr>`
	word := func(drawing string) []byte {
		return documenttest.Docx(t, `<w:p><w:r><w:t>Before</w:t></w:r><w:r>`+drawing+`</w:r></w:p>`+section, nil)
	}
	anchor := func(fromH, x, fromV, y string) []byte {
		return word(`<w:drawing><wp:anchor><wp:simplePos x="0" y="0"/><wp:positionH relativeFrom="` + fromH + `"><wp:posOffset>` + x +
			`</wp:posOffset></wp:positionH><wp:positionV relativeFrom="` + fromV + `"><wp:posOffset>` + y +
			`</wp:posOffset></wp:positionV><wp:extent cx="914400" cy="914400"/>` + box + `</wp:anchor></w:drawing>`)
	}
	vml := func(style string) []byte {
		return word(`<w:pict><v:shape style="` + style + `"><v:textbox><w:txbxContent><w:p><w:r><w:t>quagga</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>`)
	}
	odf := func(kind, place string) []byte {
		frame := `<draw:frame svg:width="3cm" svg:height="3cm" ` + place + `><draw:text-box><text:p>quagga</text:p></draw:text-box></draw:frame>`
		body := `<text:p>Before</text:p>` + frame
		if kind == "presentation" {
			body = `<draw:page><draw:frame><draw:text-box><text:p>Before</text:p></draw:text-box></draw:frame>` + frame + `</draw:page>`
		}
		return documenttest.ODF(t, kind, body, map[string]string{"styles.xml": `<office:document-styles ` + documenttest.ODFNS +
			`><style:page-layout><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"/></style:page-layout></office:document-styles>`})
	}
	rtf := func(place string) []byte {
		return []byte(`{\rtf1 Before{\shp{\*\shpinst` + place + `{\shptxt quagga}}}\par}`)
	}
	for name, tt := range map[string]struct {
		file   string
		raw    []byte
		isSeen bool
	}{
		"left of the page":    {"a.docx", anchor("page", "-914400", "page", "0"), false},
		"left of the margin":  {"a.docx", anchor("margin", "-914400", "page", "0"), true},
		"far left":            {"a.docx", anchor("column", "-9144000", "paragraph", "0"), false},
		"below the page":      {"a.docx", anchor("page", "0", "page", "10700000"), false},
		"above the paragraph": {"a.docx", anchor("page", "0", "paragraph", "-2000000"), true},
		"on the page":         {"a.docx", anchor("page", "914400", "page", "914400"), true},
		"old, far left":       {"a.docx", vml("position:absolute;margin-left:-2000pt;width:100pt;height:10pt"), false},
		"old, right of it":    {"a.docx", vml("position: absolute; left: 30in; mso-position-horizontal-relative: page"), false},
		"old, on the page":    {"a.docx", vml("position:absolute;margin-left:-20pt;width:100pt"), true},
		"text, left":          {"a.odt", odf("text", `svg:x="-40cm" svg:y="0cm"`), false},
		"text, on the page":   {"a.odt", odf("text", `svg:x="-4cm" svg:y="0cm"`), true},
		"slide, left":         {"a.odp", odf("presentation", `svg:x="-3cm" svg:y="0cm"`), false},
		"slide, below":        {"a.odp", odf("presentation", `svg:x="0cm" svg:y="30cm"`), false},
		"slide, on it":        {"a.odp", odf("presentation", `svg:x="-2cm" svg:y="0cm"`), true},
		"rich text, left":     {"a.rtf", rtf(`\shpleft-40000\shpright-38000 `), false},
		"rich text, hidden":   {"a.rtf", rtf(`\shpleft0\shpright900{\sp{\sn fHidden}{\sv 1}}`), false},
		"rich text, on it":    {"a.rtf", rtf(`\shpleft-900\shpright900{\sp{\sn fHidden}{\sv 0}}`), true},
	} {
		doc := parsetest.Read(t, tt.file, tt.raw)
		text := allText(doc)
		if strings.Contains(text, "quagga") != tt.isSeen || !strings.Contains(text, "Before") || (len(doc.NotRead) > 0) == tt.isSeen {
			t.Errorf("%s: read %q, not read %v", name, text, doc.NotRead)
		}
	}
}

// TestBesideTextInOtherPlaces checks charts, alternative texts and embedded documents of OpenDocument and Rich Text
// files, and text outside the cells of a Word table.
func TestBesideTextInOtherPlaces(t *testing.T) {
	chart := `<office:document-content ` + documenttest.ODFNS + ` xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0"><office:body><office:chart>` +
		`<chart:chart><chart:title><text:p>Failed <text:span>logins</text:span></text:p></chart:title><table:table><table:table-row>` +
		`<table:table-cell office:value-type="string"><text:p>May</text:p></table:table-cell>` +
		`<table:table-cell office:value-type="float" office:value="12"><text:p>12</text:p></table:table-cell></table:table-row></table:table>` +
		`</chart:chart></office:chart></office:body></office:document-content>`
	inner := `<office:document-content ` + documenttest.ODFNS + `><office:body><office:text><text:p>Embedded zebra.</text:p></office:text></office:body></office:document-content>`
	frame := func(content string) string {
		return `<text:p>Before<draw:frame>` + content + `</draw:frame></text:p><text:p>After</text:p>`
	}
	object := `<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>`
	parts := func(content string) map[string]string { return map[string]string{"Object 1/content.xml": content} }
	wordChart := `<c:chart><c:title><a:p><a:r><a:t>Failed logins</a:t></a:r></a:p></c:title></c:chart>`
	for name, tt := range map[string]struct {
		file         string
		raw          []byte
		want, unread string
	}{
		"chart":        {"a.odt", documenttest.ODF(t, "text", frame(object), parts(chart)), "Before Failed logins May After", "1 chart"},
		"document":     {"a.odt", documenttest.ODF(t, "text", frame(object), parts(inner)), "Before Embedded zebra. After", ""},
		"itself":       {"a.odt", documenttest.ODF(t, "text", frame(`<draw:object xlink:href="./"/>`), nil), "", ""},
		"other object": {"a.odt", documenttest.ODF(t, "text", frame(object), nil), "Before After", "1 embedded file"},
		"alternative":  {"a.odt", documenttest.ODF(t, "text", frame(`<draw:image/><svg:desc>MFA is on</svg:desc>`), nil), "Before MFA is on After", "1 picture"},
		"in a cell":    {"a.ods", documenttest.ODF(t, "spreadsheet", `<table:table table:name="S"><table:table-row><table:table-cell><text:p>Before</text:p><draw:frame>`+object+`</draw:frame></table:table-cell></table:table-row></table:table>`, parts(chart)), "S Before Failed logins May", "1 chart"},
		"on a slide":   {"a.odp", documenttest.ODF(t, "presentation", `<draw:page><draw:frame>`+object+`</draw:frame></draw:page>`, parts(inner)), "Embedded zebra.", ""},
		"rtf":          {"a.rtf", []byte(`{\rtf1 Before{\pict{\*\picprop{\sp{\sn wzDescription}{\sv MFA is on}}}\pngblip 00}\par After\par}`), "Before MFA is on After", "1 picture"},
		"html":         {"a.html", []byte(`<!doctype html><p>Before<img src=x.png alt="MFA is on">After`), "Before MFA is on After", "1 picture"},
		"word in table": {"a.docx", documenttest.Docx(t, `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Before</w:t></w:r><w:r><w:drawing><c:chart r:id="c1"/></w:drawing></w:r></w:p></w:tc></w:tr></w:tbl>`, map[string]string{
			"word/chart.xml": wordChart, "word/_rels/document.xml.rels": `<Relationships><Relationship Id="c1" Type="http://x/chart" Target="chart.xml"/></Relationships>`,
		}), "Before Failed logins", "1 chart"},
	} {
		addExample(kindBeside, tt.file, name)
		doc := parsetest.Read(t, tt.file, tt.raw)
		if got := strings.Join(strings.Fields(allText(doc)), " "); got != tt.want && name != "itself" {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != tt.unread && name != "itself" {
			t.Errorf("%s: not read %q, want %q", name, got, tt.unread)
		}
	}
}

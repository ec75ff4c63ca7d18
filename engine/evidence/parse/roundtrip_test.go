package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// TestLibreOfficeKeepsWords checks that documents keep their words when LibreOffice saves them in other formats, and
// that hidden text stays unread.
func TestLibreOfficeKeepsWords(t *testing.T) {
	programtest.FindOrSkip(t, "soffice")
	const marked = `<style:style style:name="hid" style:family="text"><style:text-properties text:display="none"/></style:style>` +
		`<style:style style:name="strk" style:family="text"><style:text-properties style:text-line-through-style="solid" ` +
		`style:text-line-through-type="single"/></style:style>` +
		`<style:style style:name="white" style:family="text"><style:text-properties fo:color="#ffffff"/></style:style>` +
		`<style:style style:name="cell" style:family="table-cell"><style:text-properties style:text-line-through-style="solid" ` +
		`style:text-line-through-type="single"/></style:style>` +
		`<style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style>` +
		`<style:style style:name="hidp" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>` +
		`<style:page-layout style:name="PL"><style:page-layout-properties fo:page-width="28cm" fo:page-height="21cm"/></style:page-layout>`
	namespaces := `xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" ` +
		`xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" `
	for _, name := range []string{"office", "text", "table", "style", "presentation"} {
		namespaces += `xmlns:` + name + `="urn:oasis:names:tc:opendocument:xmlns:` + name + `:1.0" `
	}
	span := func(style string) string { return `<text:span text:style-name="` + style + `">quagga</text:span>` }
	cell := func(text string) string { return `<table:table-cell><text:p>` + text + `</text:p></table:table-cell>` }
	down := func(text string) string {
		return strings.Replace(cell(text), ">", ` table:number-rows-spanned="2">`, 1)
	}
	row := func(cells ...string) string {
		return `<table:table-row>` + strings.Join(cells, "") + `</table:table-row>`
	}
	box := func(x, text string) string {
		return `<draw:frame text:anchor-type="paragraph" svg:x="` + x + `" svg:y="5cm" svg:width="12cm" svg:height="4cm"><draw:text-box>` + text +
			`</draw:text-box></draw:frame>`
	}
	table := row(cell("System"), cell("Reviewer"), cell("Result")) + row(down("Payroll"), cell("Ann Roe"), cell("two removed")) +
		row(`<table:covered-table-cell/>`, cell("Bo Lind"), cell("none removed"))
	rows := "System: Payroll; Reviewer: Ann Roe; Result: two removed\nSystem: Payroll; Reviewer: Bo Lind; Result: none removed\n"

	for kind, tt := range map[string]struct {
		name, body string
		formats    []string
		want       []string
	}{
		"text": {
			"a.fodt", `<text:tracked-changes><text:changed-region text:id="c"><text:deletion><office:change-info><dc:creator>x</dc:creator>` +
				`<dc:date>2026-01-01T00:00:00</dc:date></office:change-info><text:p>quagga</text:p></text:deletion>` +
				`</text:changed-region></text:tracked-changes><text:h text:outline-level="1">Access policy</text:h>` +
				`<text:p>Rights are reviewed` + span("hid") + span("strk") + span("white") + `<text:change text:change-id="c"/> each quarter.` +
				`<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>By the owner.</text:p>` +
				`</text:note-body></text:note><office:annotation><text:p>quagga</text:p></office:annotation></text:p>` +
				`<text:p>Beside it.` + box("0cm", `<text:p>Boxed words.</text:p>`) + `</text:p><table:table><table:table-column table:number-columns-repeated="3"/>` +
				table + `</table:table>`,
			[]string{"odt", "docx", "rtf"},
			[]string{"Access policy\n", "Rights are reviewed each quarter.\nBy the owner.\n", "Boxed words.\n", rows},
		},
		"spreadsheet": {
			"b.fods", `<table:table table:name="S"><table:table-column table:number-columns-repeated="3"/><table:table-column table:visibility="collapse"/>` +
				table + row(cell("Orders"), cell("Cy Moe"), cell("gone"), cell("quagga")) +
				`<table:table-row table:visibility="collapse">` + cell("quagga") + `</table:table-row>` +
				row(strings.Replace(cell("quagga"), ">", ` table:style-name="cell">`, 1), cell("total")) +
				`</table:table><table:table table:name="H" table:style-name="off"><table:table-column/>` + row(cell("quagga")) + `</table:table>`,
			[]string{"ods", "xlsx"},
			[]string{rows, "System: Orders; Reviewer: Cy Moe; Result: gone\n", "total"},
		},
		"presentation": {
			"c.fodp", `<draw:page draw:master-page-name="M">` + box("2cm", `<text:list><text:list-item><text:p>Call the desk</text:p></text:list-item></text:list>`+
				`<text:p>within one hour `+span("strk")+`</text:p>`) + box("-25cm", `<text:p>quagga</text:p>`) +
				`<presentation:notes>` + strings.Replace(box("2cm", `<text:p>Day and night.</text:p>`), "<draw:frame", `<draw:frame presentation:class="notes"`, 1) +
				`</presentation:notes></draw:page><draw:page draw:style-name="hidp" draw:master-page-name="M">` + box("2cm", `<text:p>quagga</text:p>`) + `</draw:page>`,
			[]string{"odp", "pptx"},
			[]string{"Call the desk\nwithin one hour\n", "Day and night.\n"},
		},
	} {
		folder := t.TempDir()
		source := filepath.Join(folder, tt.name)
		if err := os.WriteFile(source, []byte(`<?xml version="1.0"?><office:document `+namespaces+
			`office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.`+
			kind+`"><office:automatic-styles>`+marked+`</office:automatic-styles><office:master-styles><style:master-page style:name="M" `+
			`style:page-layout-name="PL"/></office:master-styles><office:body><office:`+kind+`>`+tt.body+
			`</office:`+kind+`></office:body></office:document>`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range tt.formats {
			documenttest.RunTool(t, "soffice", "-env:UserInstallation=file://"+filepath.Join(folder, "profile"), "--headless",
				"--convert-to", format, "--outdir", folder, source)
			file := strings.TrimSuffix(source, filepath.Ext(source)) + "." + format
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc := parsetest.Read(t, filepath.Base(file), raw)
			text := allText(doc)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in %q", format, want, text)
				}
			}
			if strings.Contains(text, "quagga") || len(doc.NotRead) < 2 {
				t.Errorf("%s: read %q, not read %v", format, text, doc.NotRead)
			}
		}
	}
}

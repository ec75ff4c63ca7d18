package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func odfStyle(family, name, parent, properties string) string {
	if name != "" {
		name = ` style:name="` + name + `"`
	}
	return `<style:style` + name + ` style:family="` + family + `" style:parent-style-name="` + parent + `">` + properties + `</style:style>`
}

func TestInvisibleODF(t *testing.T) {
	const (
		none   = `<style:text-properties text:display="none"/>`
		struck = `<style:text-properties style:text-line-through-style="solid"/>`
		white  = `<style:text-properties fo:color="#ffffff"/>`
	)
	common := odfStyle("paragraph", "Struck", "", struck) + odfStyle("paragraph", "Sub", "Struck", "") + odfStyle("text", "Old", "", struck)
	automatic := odfStyle("text", "T0", "", `<style:text-properties style:text-line-through-style="none" text:display="true"/>`) +
		odfStyle("text", "Tn", "", none) + odfStyle("text", "Ts", "", struck) +
		odfStyle("text", "Tt", "", `<style:text-properties style:text-line-through-type="double"/>`) + odfStyle("text", "To", "Old", "") +
		odfStyle("text", "Tw", "", `<style:text-properties fo:color="#333333" fo:background-color="#333333"/>`) + odfStyle("text", "T1", "",
		`<style:text-properties fo:font-size="1pt"/>`) +
		odfStyle("paragraph", "Pn", "", none) + odfStyle("paragraph", "Ps", "Sub", "")
	span := func(style, text string) string {
		return `<text:span text:style-name="` + style + `">` + text + `</text:span>`
	}
	p := func(style, text string) string {
		return `<text:p text:style-name="` + style + `">` + text + `</text:p>`
	}
	seen := p("", "seen")
	ways := map[string]string{
		"display none":     p("", span("Tn", "quagga")+"seen"),
		"line-through":     p("", span("Ts", "quagga")+"seen"),
		"double line":      p("", span("Tt", "quagga")+"seen"),
		"common style":     p("", span("Old", "quagga")+"seen"),
		"parent style":     p("", span("To", "quagga")+"seen"),
		"own background":   p("", span("Tw", "quagga")+"seen"),
		"tiny":             p("", span("T1", "quagga")+"seen"),
		"span in a span":   p("", span("Ts", "a"+span("Tn", "quagga"))+"seen"),
		"paragraph":        p("Pn", "quagga"+span("T0", "seen")),
		"parents":          p("Ps", "quagga"+span("T0", "seen")),
		"heading":          `<text:h text:style-name="Sub">quagga` + span("T0", "seen") + `</text:h>`,
		"section":          `<text:section text:display="none">` + p("", "quagga") + `</text:section>` + seen,
		"section by field": `<text:section text:display="condition" text:is-hidden="true">` + p("", "quagga") + `</text:section>` + seen,
		"hidden paragraph": p("", `quagga<text:hidden-paragraph text:is-hidden="true"/>quagga`) + seen,
		"hidden text":      p("", `<text:hidden-text text:is-hidden="true">quagga</text:hidden-text>seen`),
		"tracked deletion": `<text:tracked-changes><text:changed-region><text:deletion>` + p("", "quagga") +
			`</text:deletion></text:changed-region></text:tracked-changes>` + seen,
		"comment": p("", `<office:annotation>`+p("", "quagga")+`</office:annotation>seen`),
	}
	m := matrix{ways: ways, absent: []string{
		"section in cell of a sheet", "section by field in cell of a sheet",
		"heading in cell of a sheet", "heading in shape",
	}}
	styles := map[string]string{"styles.xml": `<office:document-styles ` + documenttest.ODFNS + ` xmlns:fo="f"><office:styles>` + common +
		`</office:styles></office:document-styles>`}
	document := func(t testing.TB, kind, body string) []byte {
		return documenttest.ODF(t, kind, `<office:automatic-styles xmlns:fo="f">`+automatic+`</office:automatic-styles><BODY>`+body, styles)
	}
	cell := func(s string) string { return `<table:table-cell>` + s + `</table:table-cell>` }
	row := func(attrs, cells string) string {
		return `<table:table-row ` + attrs + `>` + cells + `</table:table-row>`
	}
	m.build = func(t *testing.T, container, _, text string) []byte {
		switch container {
		case "cell of a sheet":
			return document(t, "spreadsheet", `<table:table table:name="S">`+row("", cell(p("", "Before"))+cell(text)+cell(p("",
				"After")))+`</table:table>`)
		case "shape":
			return document(t, "presentation", `<draw:page><draw:custom-shape>`+p("", "Before")+text+p("",
				"After")+`</draw:custom-shape></draw:page>`)
		case "notes":
			return document(t, "presentation", `<draw:page><draw:frame><draw:text-box>`+p("",
				"Before")+`</draw:text-box></draw:frame><presentation:notes>`+text+p("", "After")+`</presentation:notes></draw:page>`)
		case "header":
			return documenttest.ODF(t, "text", p("", "Before")+p("", "After"), map[string]string{"styles.xml": `<office:document-styles ` +
				documenttest.ODFNS + ` xmlns:fo="f"><office:styles>` + common +
				`</office:styles><office:automatic-styles>` + automatic + `</office:automatic-styles><style:master-page><style:header>` + text +
				`</style:header></style:master-page></office:document-styles>`})
		}
		return document(t, "text", p("", "Before")+map[string]string{
			"body": text, "table": `<table:table>` + row("", cell(text)+cell(seen)) + `</table:table>`, "text box": p("",
				`<draw:frame><draw:text-box>`+text+`</draw:text-box></draw:frame>`),
			"footnote": p("", `x<text:note><text:note-body>`+text+`</text:note-body></text:note>`), "list": `<text:list><text:list-item>` +
				text + `</text:list-item></text:list>`,
		}[container]+p("", "After"))
	}
	for file, containers := range map[string][]string{
		"a.odt": {"body", "table", "text box", "footnote", "list", "header"}, "a.ods": {"cell of a sheet"}, "a.odp": {"shape", "notes"},
	} {
		m.file, m.containers = file, containers
		m.check(t)
	}

	around := func(inner string) string {
		return `<table:table table:name="S">` + inner + row("", cell(p("", "Before seen After"))+cell(p("", ""))) + `</table:table>`
	}
	hidden := p("", "quagga")
	automatic += odfStyle("table-cell", "Cs", "", struck) + odfStyle("table-cell", "Cw", "",
		`<style:table-cell-properties fo:background-color="#123456"/><style:text-properties fo:color="#123456"/>`) +
		odfStyle("table-cell", "Cd", "", `<style:table-cell-properties fo:background-color="#000000"/>`+white) + odfStyle("table", "Th", "",
		`<style:table-properties table:display="false"/>`) +
		odfStyle("drawing-page", "Dh", "", `<style:drawing-page-properties presentation:visibility="hidden"/>`) + odfStyle("graphic", "Gs",
		"", struck) +
		odfStyle("graphic", "Gw", "", `<style:graphic-properties draw:fill="solid" draw:fill-color="#ffffff"/>`+white) + odfStyle("graphic",
		"Gn", "", white) +
		odfStyle("drawing-page", "Db", "", `<style:drawing-page-properties draw:fill="solid" draw:fill-color="#000000"/>`) +
		odfStyle("graphic", "Gb", "", `<style:graphic-properties draw:fill="none"/><style:text-properties fo:color="#000000"/>`)
	sheets := matrix{file: "a.ods", containers: []string{"sheet"}, ways: map[string]string{
		"row": around(row(`table:visibility="collapse"`, cell(hidden))),
		"column": around(`<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>` +
			row("", cell(p("", "x"))+cell(hidden))),
		"cell style": around(row("", `<table:table-cell table:style-name="Cs">`+hidden+`</table:table-cell>`)),
		"cell color": around(row("", `<table:table-cell table:style-name="Cw">`+hidden+`</table:table-cell>`)),
		"column style": around(`<table:table-column/><table:table-column table:default-cell-style-name="Cs"/>` + row("", cell(p("",
			"x"))+cell(hidden))),
		"row style": around(row(`table:default-cell-style-name="Cs"`, cell(hidden))),
		"sheet":     around("") + `<table:table table:name="H" table:style-name="Th">` + row("", cell(hidden)) + `</table:table>`,
	}}
	sheets.build = func(t *testing.T, _, _, body string) []byte { return document(t, "spreadsheet", body) }
	sheets.check(t)
	all := `<draw:page>` + p("", "Before seen After") + `</draw:page>`
	slides := matrix{file: "a.odp", containers: []string{"slide"}, ways: map[string]string{
		"slide":       all + `<draw:page draw:style-name="Dh"><draw:frame>` + hidden + `</draw:frame></draw:page>`,
		"shape":       all + `<draw:page><draw:frame draw:display="none">` + hidden + `</draw:frame></draw:page>`,
		"shape style": all + `<draw:page><draw:custom-shape draw:style-name="Gs">` + hidden + `</draw:custom-shape></draw:page>`,
		"white shape": all + `<draw:page><draw:custom-shape draw:style-name="Gw">` + hidden + `</draw:custom-shape></draw:page>`,
	}}
	const onPage = `<draw:custom-shape draw:style-name="Gb">`
	slides.ways["page color"] = all + `<draw:page draw:style-name="Db">` + onPage + hidden + `</draw:custom-shape></draw:page>`
	slides.build = func(t *testing.T, _, _, body string) []byte { return document(t, "presentation", body) }
	slides.check(t)

	zebra := p("", "zebra")
	shown(t, "a.ods", map[string][]byte{
		"filtered row":  document(t, "spreadsheet", around(row(`table:visibility="filter"`, cell(zebra)))),
		"white on dark": document(t, "spreadsheet", around(row("", `<table:table-cell table:style-name="Cd">`+zebra+`</table:table-cell>`))),
	})
	shown(t, "a.odp", map[string][]byte{
		"white on no fill": document(t, "presentation", `<draw:page><draw:custom-shape draw:style-name="Gn">`+zebra+`</draw:custom-shape></draw:page>`),
		"black on a white shape": document(t, "presentation", `<draw:page draw:style-name="Db"><draw:custom-shape draw:style-name="Gw"/>`+
			onPage+zebra+`</draw:custom-shape></draw:page>`),
	})
	shown(t, "a.odt", map[string][]byte{"circular styles": documenttest.ODF(t, "text", `<office:automatic-styles>`+odfStyle("paragraph",
		"A", "B", "")+odfStyle("paragraph", "B", "A", "")+`</office:automatic-styles><BODY>`+p("A", "zebra"), nil)})

	doc := parsetest.Read(t, "a.ods", document(t, "spreadsheet", around(row("",
		`<table:table-cell table:formula="of:=1+1"/>`+cell(`<draw:frame><draw:image/></draw:frame>`+seen)))))
	if got := api.DescribeNotRead(doc.NotRead); got != "1 formula without a stored value, 1 picture" || !strings.Contains(allText(doc),
		"seen") {
		t.Errorf("not read: %s", got)
	}
}

package office_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestODT(t *testing.T) {
	doc := parsetest.Read(t, "a.odt", documenttest.ODF(t, "text", `<office:automatic-styles>
	<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
	<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>
	<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style></office:automatic-styles><BODY>
	<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted words</text:p></text:deletion></text:changed-region></text:tracked-changes>
	<text:p text:style-name="P1">Access Policy</text:p>
	<text:table-of-content><text:index-body><text:p>1 Rules 3</text:p></text:index-body></text:table-of-content>
	<text:h text:outline-level="1">Rules</text:h>
	<text:p>Access is <text:span>given</text:span><text:s text:c="2"/>by<text:tab/>role<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See the matrix.</text:p></text:note-body></text:note>.<office:annotation><text:p>is this so?</text:p></office:annotation></text:p>
	<text:list text:style-name="L1"><text:list-item><text:p>First</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Second</text:p></text:list-item></text:list>
	<text:list text:style-name="L2"><text:list-item><text:p>dot</text:p></text:list-item></text:list>
	<table:table table:name="T"><table:table-header-rows><table:table-row><table:table-cell><text:p>Role</text:p></table:table-cell><table:table-cell><text:p>Right</text:p></table:table-cell></table:table-row></table:table-header-rows>
	<table:table-row><table:table-cell><text:p>Admin</text:p></table:table-cell><table:table-cell><text:p>all</text:p></table:table-cell></table:table-row></table:table>
	<text:h text:outline-level="2">Exceptions</text:h><text:p>None.</text:p>`, map[string]string{
		"styles.xml": `<office:document-styles ` + documenttest.ODFNS + `><style:master-page><style:header><text:p>Acme – Version: 2.1 – Owner: CISO</text:p></style:header><style:footer><text:p>Page <text:page-number>3</text:page-number></text:p></style:footer></style:master-page></office:document-styles>`,
		"meta.xml":   `<office:document-meta ` + documenttest.ODFNS + `><office:meta><meta:user-defined meta:name="Effective date">2026-02-01</meta:user-defined></office:meta></office:document-meta>`,
	}))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Access Policy
	# Rules
	¶ Access is given by role.  {Rules}
	¶ See the matrix.  {Rules}
	- 1. First  {Rules}
	-- 1. inner  {Rules}
	- 2. Second  {Rules}
	- dot  {Rules}
	| Role: Admin; Right: all  {Rules}
	## Exceptions  {Rules}
	¶ None.  {Rules > Exceptions}
	`)
	if doc.Title != "Access Policy" || doc.Version != "2.1" || doc.Owner != "CISO" ||
		!reflect.DeepEqual(doc.EffectiveDate, documenttest.Date(2026, 2, 1)) {
		t.Errorf("title %q, version %q, owner %q, effective %v", doc.Title, doc.Version, doc.Owner, doc.EffectiveDate)
	}
}

func TestODS(t *testing.T) {
	cell := func(s string) string { return `<table:table-cell><text:p>` + s + `</text:p></table:table-cell>` }
	doc := parsetest.Read(t, "a.ods", documenttest.ODF(t, "spreadsheet", `<table:table table:name="Assets">
	<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
	<table:table-row><table:table-cell/>`+cell("Name")+cell("Owner")+`<table:table-cell table:number-columns-repeated="16000"/></table:table-row>
	<table:table-row><table:table-cell/>`+cell("Mail")+`<table:table-cell table:formula="of:=WEBSERVICE(&quot;https://example.com&quot;)"><text:p>IT</text:p></table:table-cell></table:table-row>
	<table:table-row table:number-rows-repeated="2"><table:table-cell/>`+cell("Spare")+cell("Stock")+`</table:table-row>
	<table:table-row table:number-rows-repeated="1048571"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
	<table:table table:name="Notes"><table:table-row>`+cell("Only this.")+`</table:table-row></table:table>`, nil))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Assets
	| Name: Mail; Owner: IT  {Assets}
	| Name: Spare; Owner: Stock  {Assets}
	| Name: Spare; Owner: Stock  {Assets}
	# Notes
	| Only this.  {Notes}
	`)
	if got, want := doc.Blocks[1].Locator, (api.Locator{Sheet: "Assets", CellRange: "B4:C4"}); got != want {
		t.Errorf("place %+v, want %+v", got, want)
	}
	if got := doc.Blocks[3].Locator.CellRange; got != "B6:C6" || doc.PageCount != 2 {
		t.Errorf("place %s, %d sheets", got, doc.PageCount)
	}
}

func TestODP(t *testing.T) {
	frame := func(class, inner string) string {
		return `<draw:frame presentation:class="` + class + `"><draw:text-box>` + inner + `</draw:text-box></draw:frame>`
	}
	doc := parsetest.Read(
		t,
		"a.odp",
		documenttest.ODF(
			t,
			"presentation",
			`<draw:page>`+frame("outline", `<text:list><text:list-item><text:p>Report at once</text:p></text:list-item></text:list>`)+
				`<draw:frame><table:table><table:table-row><table:table-cell><text:p>Role</text:p></table:table-cell><table:table-cell><text:p>Right</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Admin</text:p></table:table-cell><table:table-cell><text:p>all</text:p></table:table-cell></table:table-row></table:table></draw:frame>`+
				frame(
					"title",
					`<text:p>Incidents</text:p>`,
				)+`<presentation:notes>`+frame("notes", `<text:p>Tell of Q3.</text:p>`)+`</presentation:notes></draw:page>
	<draw:page>`+frame("title", `<text:p>End</text:p>`)+`</draw:page>`,
			nil,
		),
	)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Incidents
	- Report at once  {Incidents}
	| Role: Admin; Right: all  {Incidents}
	## Speaker notes  {Incidents}
	¶ Tell of Q3.  {Incidents > Speaker notes}
	# End
	`)
	if doc.PageCount != 2 || doc.Blocks[2].Locator.Slide != 1 || doc.Blocks[5].Locator.Slide != 2 {
		t.Errorf("%d slides, places %+v %+v", doc.PageCount, doc.Blocks[2].Locator, doc.Blocks[5].Locator)
	}
}

func TestODFRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"encrypted": {
			documenttest.ODF(t, "text", "", map[string]string{"META-INF/manifest.xml": `<manifest:encryption-data/>`, "content.xml": "\x01\x02"}),
			document.ErrEncrypted,
		},
		"no content": {documenttest.Zip(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.text"}), document.ErrDamaged},
		"a drawing":  {documenttest.Zip(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.graphics"}), document.ErrUnsupported},
		"a book":     {documenttest.Zip(t, map[string]string{"mimetype": "application/epub+zip"}), document.ErrUnsupported},
		"no text":    {documenttest.ODF(t, "text", "<text:p/>", nil), document.ErrEmpty},
		"broken":     {documenttest.ODF(t, "text", "<text:p></text:h>", nil), document.ErrDamaged},
		"deep":       {documenttest.ODF(t, "text", strings.Repeat("<text:list>", 3000)+strings.Repeat("</text:list>", 3000), nil), document.ErrDamaged},
		"entities":   {documenttest.ODF(t, "text", "<text:p>&lol;</text:p>", nil), document.ErrDamaged},
		"many filled": {
			documenttest.ODF(
				t,
				"spreadsheet",
				strings.Repeat(
					`<table:table table:name="x"><table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"><text:p>full of words to fill</text:p></table:table-cell></table:table-row></table:table>`,
					20,
				),
				nil,
			),
			document.ErrTooLarge,
		},
	} {
		if err := parsetest.ReadError(t, parse.Options{}, "a.odt", tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzODF(f *testing.F) {
	for _, kind := range []string{"text", "spreadsheet", "presentation"} {
		f.Add(
			kind,
			`<office:forms><form:listbox><form:option/></office:forms><draw:control/><text:p><field:fieldmark><text:placeholder>x</text:placeholder></text:p>`,
		)
		f.Add(
			kind,
			`<text:p>a<draw:frame svg:x="-1cm"><draw:object xlink:href="./"/><draw:image/><svg:desc>b</svg:desc></draw:frame></text:p><svg:desc>c`,
		)
		f.Add(
			kind,
			`<text:h>a</text:h><text:p>b<text:note><text:note-body><text:p>c</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>d</text:p></text:list-item></text:list>`,
		)
		f.Add(
			kind,
			fmt.Sprintf(
				`<draw:page><draw:frame presentation:class="title"><text:p>t</text:p></draw:frame></draw:page><table:table table:name="s"><table:table-row table:number-rows-repeated="%d"><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>`,
				1<<30,
			),
		)
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		parsetest.CheckReadInvariants(t, "a.odt", documenttest.ODF(t, kind, body, nil))
	})
}

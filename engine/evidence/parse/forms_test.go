package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestForms checks that the answers in forms are read, and that unread parts are counted.
func TestForms(t *testing.T) {
	word := func(content string) []byte {
		return documenttest.Docx(t, `<w:p><w:r><w:t xml:space="preserve">Locked? </w:t></w:r>`+content+`</w:p>`, nil)
	}
	run := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
	sym := func(font, char string) string {
		return `<w:r><w:sym w:font="` + font + `" w:char="` + char + `"/></w:r>`
	}
	field := func(data string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="x"/>` + data + `</w:ffData></w:fldChar></w:r>` +
			`<w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	check := func(data string) string { return field(`<w:checkBox><w:sizeAuto/>` + data + `</w:checkBox>`) }
	control := func(properties, text string) string {
		return `<w:sdt><w:sdtPr>` + properties + `</w:sdtPr><w:sdtContent>` + run(text) + `</w:sdtContent></w:sdt>`
	}
	page := func(content string) []byte {
		return []byte("<!doctype html><html><body><p>Locked? " + content + "</p></body></html>")
	}
	rich := func(content string) []byte {
		return []byte(`{\rtf1\ansi{\fonttbl{\f0 Arial;}{\f3\fnil\fcharset2 Wingdings;}}Locked? ` + content + `\par}`)
	}
	odt := func(forms, content string) []byte {
		return documenttest.ODF(t, "text", `<office:forms>`+forms+`</office:forms><text:p>Locked? `+content+`</text:p>`, nil)
	}
	mark := func(kind, params string) string {
		return `<field:fieldmark field:type="vnd.oasis.opendocument.field.` + kind + `">` + params + `</field:fieldmark>`
	}
	param := func(name, value string) string {
		return `<field:param field:name="` + name + `" field:value="` + value + `"/>`
	}
	slide := func(content string) []byte {
		return presentation(t, slideShape("", "", "", "", `<a:p><a:r><a:t>Locked? </a:t></a:r>`+content+`</a:p>`), nil)
	}
	slideRun := func(font, text string) string {
		return `<a:r><a:rPr><a:latin typeface="` + font + `"/></a:rPr><a:t>` + text + `</a:t></a:r>`
	}
	for _, tt := range []struct {
		name, file   string
		raw          []byte
		want, unread string
	}{
		{"symbols", "a.docx", word(sym("Wingdings", "F0FE") + run(" Yes ") + sym("Wingdings", "F0A8") + run(" No")), "Locked? ☑ Yes ☐ No", ""},
		{
			"symbols of another font", "a.docx", word(sym("Wingdings 2", "F0A3") + run(" Yes ") + sym("Wingdings 2", "54") + run(" No")),
			"Locked? ☐ Yes ☒ No", "",
		},
		{
			"letters in a symbol font", "a.docx",
			word(`<w:r><w:rPr><w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/></w:rPr><w:t>o</w:t></w:r>` + run(" Yes")), "Locked? ☐ Yes", "",
		},
		{"private characters", "a.docx", word(run("\uf0fe Yes \uf0a8 No")), "Locked? ☑ Yes ☐ No", ""},
		{
			"fields", "a.docx",
			word(check(`<w:default w:val="0"/><w:checked/>`) + run(" Yes ") + check(`<w:default w:val="1"/><w:checked w:val="0"/>`) + run(" No")),
			"Locked? ☒ Yes ☐ No", "",
		},
		{"default", "a.docx", word(check(`<w:default w:val="1"/>`) + run(" Yes")), "Locked? ☒ Yes", ""},
		{
			"list", "a.docx", word(field(`<w:ddList><w:result w:val="1"/><w:listEntry w:val="Never"/><w:listEntry w:val="Always"/></w:ddList>`)),
			"Locked? Always", "",
		},
		{
			"first entry", "a.docx", word(field(`<w:ddList><w:listEntry w:val="Never"/><w:listEntry w:val="Always"/></w:ddList>`)), "Locked? Never",
			"",
		},
		{
			"hidden field", "a.docx",
			word(`<w:r><w:rPr><w:vanish/></w:rPr><w:fldChar><w:ffData><w:checkBox/></w:ffData></w:fldChar></w:r>` + run("Yes")), "Locked? Yes",
			"1 hidden text",
		},
		{
			"content controls", "a.docx", word(control(`<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>`, "☒") + run(" Yes")),
			"Locked? ☒ Yes", "",
		},
		{
			"prompt", "a.docx", word(control(`<w:showingPlcHdr/><w:text/>`, "Click or tap here to enter text.") + run(" so")), "Locked? so",
			"1 empty form field",
		},
		{"filled", "a.docx", word(control(`<w:showingPlcHdr w:val="0"/><w:dropDownList/>`, "Always")), "Locked? Always", ""},
		{
			"prompt around", "a.docx", word(control(`<w:showingPlcHdr/>`, "Choose") + control(`<w:text/>`, "own")), "Locked? own",
			"1 empty form field",
		},
		{"other control", "a.docx", word(`<w:r><w:object><w:control r:id="x" w:name="Box1"/></w:object></w:r>` + run("Yes")), "Locked? Yes", "1 form field"},

		{"boxes", "a.html", page(`<label><input type=radio checked> Yes</label> <label><input type=radio> No</label>`), "Locked? ☒ Yes ☐ No", ""},
		{
			"checkbox of its own look", "a.html", page(`<input type="checkbox" style="opacity:0" checked=""><span></span> Yes`), "Locked? ☒ Yes", "",
		},
		{
			"text", "a.html",
			page(`<input value="by Ann" placeholder="Who"><input placeholder="When"><input type=hidden value=x><input type=submit value=Send>`),
			"Locked? by Ann", "",
		},
		{"select", "a.html", page(`<select><option>Never<option selected>Always</select>`), "Locked? Always", ""},
		{
			"select several", "a.html", page(`<select multiple><option selected>Doors<option>Gates<option selected>Vaults</select>`),
			"Locked? Doors, Vaults", "",
		},
		{"select prompt", "a.html", page(`<select><option value="">Choose<option>Always</select>`), "Locked?", "1 empty form field"},
		{"disabled prompt", "a.html", page(`<select><option disabled selected>Choose<option>Always</select>`), "Locked?", "1 empty form field"},
		{
			"disabled prompt on a line", "a.html", page("<select>\n<option disabled selected>Choose\n<option>Always</select>"),
			"Locked?", "1 empty form field",
		},
		{
			"drawn boxes", "a.html", page(`<span role=radio aria-checked=false>Yes</span> <span role="radio" aria-checked="true">No</span>`),
			"Locked? ☐ Yes ☒ No", "",
		},
		{"textarea", "a.html", page(`<textarea>Since 2020</textarea>`), "Locked? Since 2020", ""},
		{"hidden input", "a.html", page(`<input value="zebra" style="display:none">`), "Locked?", "1 hidden text"},
		{"hidden form", "a.html", page(`<span hidden><input type=checkbox checked> Yes</span>`), "Locked?", "1 hidden text"},
		{
			"symbol font", "a.html", page(`<span style='font-family:Wingdings'>þ</span> Yes <font face="Wingdings">o</font> No`),
			"Locked? ☑ Yes ☐ No", "",
		},

		{
			"checkbox", "a.rtf", rich(`{\field{\*\fldinst{ FORMCHECKBOX }{\*\formfield{\fftype1\ffres1\ffdefres0{\*\ffname a}}}}{\fldrslt}} Yes`),
			"Locked? ☒ Yes", "",
		},
		{
			"default", "a.rtf", rich(`{\field{\*\fldinst FORMCHECKBOX {\*\formfield{\fftype1\ffres25\ffdefres0}}}{\fldrslt}} Yes`), "Locked? ☐ Yes",
			"",
		},
		{
			"list", "a.rtf", rich(`{\field{\*\fldinst FORMDROPDOWN {\*\formfield{\fftype2\ffres1{\*\ffl Never}{\*\ffl Always}}}}{\fldrslt}}`),
			"Locked? Always", "",
		},
		{
			"symbol field", "a.rtf",
			rich(`{\field{\*\fldinst SYMBOL 254 \\f "Wingdings" \\s 12}{\fldrslt\f3}} Yes {\field{\*\fldinst SYMBOL 168 \\f "Wingdings"}{\fldrslt\f3\'a8}} No`),
			"Locked? ☑ Yes ☐ No", "",
		},
		{"symbol letters", "a.rtf", rich(`{\f3\'fd} Yes {\f3 o} No \u-3842? all`), "Locked? ☒ Yes ☐ No ☑ all", ""},

		{
			"checkbox", "a.odt",
			odt(`<form:form><form:checkbox form:id="c1" form:label="Yes" form:current-state="checked"/></form:form>`, `<draw:control draw:control="c1"/>`),
			"Locked? ☒ Yes", "",
		},
		{
			"radio", "a.odt",
			odt(`<form:radio form:id="c1" form:label="Yes"/><form:radio form:id="c2" form:label="No" form:current-selected="true"/>`, `<draw:control draw:control="c1"/><draw:control draw:control="c2"/>`),
			"Locked? ☐ Yes ☒ No", "",
		},
		{
			"text", "a.odt", odt(`<form:text form:id="t" form:value="a" form:current-value="by Ann"/>`, `<draw:control draw:control="t"/>`),
			"Locked? by Ann", "",
		},
		{
			"list", "a.odt",
			odt(`<form:listbox form:id="l"><form:option form:label="Never"/><form:option form:label="Always" form:current-selected="true"/></form:listbox>`, `<draw:control draw:control="l"/>`),
			"Locked? Always", "",
		},
		{
			"field marks", "a.odt", odt("", mark("FORMCHECKBOX", param("Checkbox_Checked", "true"))+" Yes "+mark("FORMCHECKBOX", "")+" No"),
			"Locked? ☒ Yes ☐ No", "",
		},
		{
			"list field", "a.odt",
			odt("", mark(
				"FORMDROPDOWN",
				param("Dropdown_ListEntry", "Never")+param("Dropdown_ListEntry", "Always")+param("Dropdown_Selected", "1"),
			)),
			"Locked? Always", "",
		},
		{"placeholder", "a.odt", odt("", `<text:placeholder>&lt;name&gt;</text:placeholder> so`), "Locked? so", "1 empty form field"},
		{
			"prompt", "a.odt", odt("", `<loext:content-control loext:showing-place-holder="true">Choose</loext:content-control> so`), "Locked? so",
			"1 empty form field",
		},
		{"cell", "a.ods", documenttest.ODF(t, "spreadsheet", `<table:table table:name="S"><office:forms><form:checkbox form:id="c" form:label="Yes" form:current-state="checked"/></office:forms>`+
			`<table:table-row><table:table-cell><text:p>Locked?</text:p></table:table-cell><table:table-cell><draw:control draw:control="c"/></table:table-cell></table:table-row></table:table>`, nil), "S\nLocked? ☒ Yes", ""},

		{
			"symbols", "a.pptx", slide(slideRun("Wingdings", "\uf0fe") + `<a:r><a:t> Yes</a:t></a:r>` + slideRun("Wingdings", "o")),
			"Locked? ☑ Yes☐", "",
		},
		{"private characters", "a.pptx", slide(`<a:r><a:t>` + "\uf0a8" + ` Yes</a:t></a:r>`), "Locked? ☐ Yes", ""},
		{"symbol of the text", "a.pptx", slide(`<a:r><a:rPr><a:sym typeface="Wingdings 2"/></a:rPr><a:t>R</a:t></a:r>`), "Locked? ☑", ""},
		{
			"control", "a.pptx",
			presentation(t, slideShape("", "", "", "", `<a:p><a:r><a:t>Locked?</a:t></a:r></a:p>`)+`<p:controls><p:control name="x"/></p:controls>`, nil),
			"Locked?", "1 form field",
		},
	} {
		addExample(kindForms, tt.file, tt.name)
		doc := parsetest.Read(t, tt.file, tt.raw)
		if got := strings.TrimSpace(allText(doc)); got != tt.want || api.DescribeNotRead(doc.NotRead) != tt.unread {
			t.Errorf("%s, %s: %q, not read: %q", tt.file, tt.name, got, api.DescribeNotRead(doc.NotRead))
		}
	}
}

// TestSheetControls checks that form controls of a sheet are read as part of the cells that they cover.
func TestSheetControls(t *testing.T) {
	control := func(id, kind, anchor, label, data string) string {
		return `<v:shape id="_x0000_s` + id + `"><v:textbox><div style='text-align:left'><font>` + label + `</font></div></v:textbox>` +
			`<x:ClientData ObjectType="` + kind + `"><x:Anchor>` + anchor + `</x:Anchor>` + data + `</x:ClientData></v:shape>`
	}
	cell := func(at, text string) string { return cellText(at, "0", text) }
	sheet := `<sheetData><row r="1">` + cell("A1", "Question") + cell("B1", "Answer") + `</row><row r="2">` + cell("A2", "Is it locked?") +
		`</row><row r="3">` + cell("A3", "Is it tested?") + `</row><row r="4">` + cell("A4", "How often?") + `</row>` +
		`<row r="20">` + cell("H20", "Never") + `</row><row r="21">` + cell("H21", "Always") + `</row></sheetData>`
	shapes := control("1025", "Checkbox", "1, 5, 1, 2, 2, 9, 2, 1", "Yes", `<x:Checked>1</x:Checked>`) +
		control("1026", "Checkbox", "2, 5, 1, 2, 3, 9, 2, 1", "No", "") +
		control("1027", "Radio", "1, 5, 1, 18, 2, 9, 2, 17", "Yes", "") +
		control("1028", "Radio", "2, 5, 1, 18, 3, 9, 2, 17", "No", `<x:Checked>1</x:Checked>`) +
		control("1029", "Drop", "1, 5, 3, 2, 2, 9, 4, 1", "", `<x:FmlaRange>$H$20:$H$21</x:FmlaRange><x:Sel>2</x:Sel>`) +
		control("1030", "Checkbox", "0, 5, 5, 2, 2, 9, 6, 1", "Signed<br>today", `<x:Checked>1</x:Checked>`) +
		control("1031", "Button", "0,0,0,0,1,1,1,1", "Send", "") +
		control("1032", "Note", "0,0,0,0,1,1,1,1", "", "")
	doc := parsetest.Read(t, "a.xlsx", workbookParts(t, sheet, "", "", map[string]string{
		"xl/worksheets/_rels/sheet1.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/relationships/vmlDrawing" Target="../v.vml"/></Relationships>`,
		"xl/v.vml":                            `<xml xmlns:v="v" xmlns:x="x">` + shapes + `</xml>`,
	}))
	got := allText(doc)
	for _, want := range []string{
		"Question: Is it locked?; Answer: ☒ Yes; ☐ No\n", "Question: Is it tested?; Answer: ☐ Yes; ☒ No\n", "Question: How often?; Answer: Always\n",
		"☒ Signed today\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	values := parsetest.Read(t, "a.xlsx", workbookParts(t,
		sheet+`<controls><control shapeId="1025" r:id="p1"/></controls>`, "", "", map[string]string{
			"xl/worksheets/_rels/sheet1.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/relationships/vmlDrawing" Target="../v.vml"/>` +
				`<Relationship Id="p1" Type="http://x/relationships/ctrlProp" Target="../p.xml"/><Relationship Id="a1" Type="http://x/relationships/control" Target="../a.xml"/></Relationships>`,
			"xl/v.vml": `<xml xmlns:v="v" xmlns:x="x">` + control("1025", "Checkbox", "1, 5, 1, 2, 2, 9, 2, 1", "Yes", "") + `</xml>`,
			"xl/p.xml": `<formControlPr objectType="CheckBox" checked="Checked"/>`,
		}))
	if got := allText(values); !strings.Contains(got, "Answer: ☒ Yes") || api.DescribeNotRead(values.NotRead) != "1 form field" {
		t.Errorf("%q, not read: %s", got, api.DescribeNotRead(values.NotRead))
	}
}

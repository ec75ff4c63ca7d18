package parse_test

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// The kinds of difficulties that documents cause. The variable examples counts the documents of each kind and format
// that the tests read.
const (
	kindUnseen  = "unseen"  // text that is invisible or struck through
	kindForms   = "forms"   // answers in forms
	kindBeside  = "beside"  // text outside the main text: pictures, notes, embedded files
	kindTables  = "tables"  // tables that are not a plain grid
	kindFormat  = "format"  // files whose name doesn't match their format
	kindLetters = "letters" // letters that are stored differently from how they are read
	kindFacts   = "facts"   // what a document states about itself

	minExamples = 4
)

// exampleFormats lists the formats. absentExamples lists the kinds of difficulties that a format can't have.
var (
	exampleFormats = []string{"csv", "docx", "eml", "html", "json", "md", "odp", "ods", "odt", "pdf", "pptx", "rtf", "txt", "xlsx", "xml"}
	absentExamples = map[string][]string{
		kindUnseen:  {"csv", "json", "txt", "xml", "eml"}, // these show everything they contain; the body of an email is HTML
		kindForms:   {"csv", "json", "txt", "xml", "eml"},
		kindBeside:  {"csv", "json", "txt", "xml"},
		kindTables:  {"json", "xml", "txt", "odp", "eml"}, // no merged cells, or the same as in Microsoft presentations
		kindFormat:  nil,
		kindLetters: nil,
		kindFacts:   {"csv", "json", "xml", "odp"}, // data rather than documents; slides are the same as in Microsoft presentations
	}
	examples = struct {
		sync.Mutex
		names map[string]map[string]bool // by kind and format
	}{names: map[string]map[string]bool{}}
)

// addExample records that a test reads a document of a kind.
func addExample(kind, file, name string) {
	examples.Lock()
	defer examples.Unlock()
	cell := kind + " " + strings.TrimPrefix(path.Ext(file), ".")
	if examples.names[cell] == nil {
		examples.names[cell] = map[string]bool{}
	}
	examples.names[cell][name] = true
}

// TestMain checks, after all tests, that each kind of difficulty is tested in each format that can have it.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	isPart := false
	for _, name := range []string{"test.run", "test.skip", "test.fuzz", "test.list", "test.bench"} {
		isPart = isPart || flag.Lookup(name).Value.String() != ""
	}
	if code == 0 && !isPart && !checkExamples() {
		code = 1
	}
	os.Exit(code)
}

// checkExamples prints the number of examples by kind and format, and reports whether there are enough.
func checkExamples() bool {
	enough := true
	var sb strings.Builder
	fmt.Fprintf(&sb, "%-8s", "examples")
	for _, format := range exampleFormats {
		fmt.Fprintf(&sb, "%5s", format)
	}
	for _, kind := range slices.Sorted(maps.Keys(absentExamples)) {
		fmt.Fprintf(&sb, "\n%-8s", kind)
		for _, format := range exampleFormats {
			n := len(examples.names[kind+" "+format])
			switch {
			case n == 0 && slices.Contains(absentExamples[kind], format):
				sb.WriteString("    -")
			case n < minExamples && !slices.Contains(absentExamples[kind], format):
				enough = false
				fmt.Fprintf(&sb, " %3d!", n)
			default:
				fmt.Fprintf(&sb, "%5d", n)
			}
		}
	}
	if !enough || testing.Verbose() {
		fmt.Println(sb.String())
	}
	if !enough {
		fmt.Printf("at !, there are fewer than %d examples of a kind of trouble in a format\n", minExamples)
	}
	return enough
}

// textFormats has a function for each format that writes lines of text as the paragraphs or cells of a document.
var textFormats = map[string]func(t *testing.T, lines []string) []byte{
	"a.docx": func(t *testing.T, lines []string) []byte {
		return documenttest.Docx(t, joinEach(lines, func(s string) string { return documenttest.DocxParagraph("", s) }), nil)
	},
	"a.xlsx": func(t *testing.T, lines []string) []byte {
		return documenttest.Workbook(t, func(x *excelize.File) {
			for i, line := range lines {
				if err := x.SetCellStr("Sheet1", fmt.Sprintf("A%d", 2*i+1), line); err != nil {
					t.Fatal(err)
				}
			}
		})
	},
	"a.pptx": func(t *testing.T, lines []string) []byte {
		return presentation(t, slideShape("", "", "", "", joinEach(lines, func(s string) string { return `<a:p><a:r><a:t>` + s + `</a:t></a:r></a:p>` })), nil)
	},
	"a.odt": func(t *testing.T, lines []string) []byte {
		return documenttest.ODF(t, "text", odfParagraphs(lines), nil)
	},
	"a.ods": func(t *testing.T, lines []string) []byte {
		return documenttest.ODF(t, "spreadsheet", `<table:table table:name="S">`+joinEach(lines, func(s string) string {
			return `<table:table-row><table:table-cell>` + odfParagraphs([]string{s}) + `</table:table-cell></table:table-row><table:table-row/>`
		})+`</table:table>`, nil)
	},
	"a.odp": func(t *testing.T, lines []string) []byte {
		return documenttest.ODF(t, "presentation", `<draw:page><draw:frame><draw:text-box>`+odfParagraphs(lines)+`</draw:text-box></draw:frame></draw:page>`, nil)
	},
	"a.rtf": func(_ *testing.T, lines []string) []byte {
		var sb strings.Builder
		for _, r := range strings.Join(lines, "\\par\n") {
			if r < 0x80 {
				sb.WriteRune(r)
			} else {
				fmt.Fprintf(&sb, `\u%d?`, int16(r))
			}
		}
		return []byte(`{\rtf1\ansi ` + sb.String() + `\par}`)
	},
	"a.html": func(_ *testing.T, lines []string) []byte {
		return []byte(`<!doctype html><meta charset=utf-8><body>` + joinEach(lines, func(s string) string { return "<p>" + html.EscapeString(s) + "</p>" }))
	},
	"a.md":  func(_ *testing.T, lines []string) []byte { return []byte(strings.Join(lines, "\n\n") + "\n") },
	"a.txt": func(_ *testing.T, lines []string) []byte { return []byte(strings.Join(lines, "\n\n") + "\n") },
	"a.csv": func(_ *testing.T, lines []string) []byte {
		return []byte("Number,Text\n" + joinEach(lines, func(s string) string { return `1,"` + s + "\"\n" }))
	},
	"a.json": func(_ *testing.T, lines []string) []byte {
		return []byte(`{"texts": ["` + strings.Join(lines, `", "`) + `"]}`)
	},
	"a.xml": func(_ *testing.T, lines []string) []byte {
		return []byte(`<?xml version="1.0"?><texts>` + joinEach(lines, func(s string) string { return "<text>" + html.EscapeString(s) + "</text>" }) + `</texts>`)
	},
	"a.eml": func(_ *testing.T, lines []string) []byte {
		return []byte("From: a@example.com\r\nTo: b@example.com\r\nSubject: Text\r\nDate: Mon, 4 May 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			base64.StdEncoding.EncodeToString([]byte(strings.Join(lines, "\n\n"))) + "\r\n")
	},
	"a.pdf": func(_ *testing.T, lines []string) []byte { // in a font with a character map, as used for other scripts
		content, codes, letters := "", map[rune]int{}, ""
		for i, line := range lines {
			code := ""
			for _, r := range line {
				if codes[r] == 0 {
					codes[r] = len(codes) + 1
					letters += fmt.Sprintf("<%02X> <%04X> ", codes[r], r)
				}
				code += fmt.Sprintf("%02X", codes[r])
			}
			content += fmt.Sprintf("BT /F1 10 Tf 40 %d Td <%s> Tj ET ", 700-40*i, code)
		}
		return pdfWithFont(content, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
			documenttest.PDFStream("", fmt.Sprintf("1 begincodespacerange <00> <FF> endcodespacerange %d beginbfchar %sendbfchar", len(codes), letters)))
	},
}

func joinEach(lines []string, format func(string) string) (out string) {
	for _, line := range lines {
		out += format(line)
	}
	return out
}

func odfParagraphs(lines []string) string {
	return joinEach(lines, func(s string) string { return "<text:p>" + s + "</text:p>" })
}

// TestLetters checks that letters are read as a person would read them, however they are stored.
func TestLetters(t *testing.T) {
	for name, tt := range map[string]struct{ stored, read string }{
		"ligatures":    {"The o\ufb03ce re\ufb02ects it.", "The office reflects it."},
		"soft hyphens": {"Ac\u00adcess is re\u00adviewed.", "Access is reviewed."},
		"zero width":   {"Access\u200b is\ufeff reviewed.", "Access is reviewed."},
		"composed":     {"Zugriff fu\u0308r Cafe\u0301s.", "Zugriff für Cafés."},
		"Japanese":     {"アクセス権を見直す。", "アクセス権を見直す。"},
	} {
		for file, write := range textFormats {
			if file == "a.pdf" && name == "soft hyphens" { // drawn as hyphens
				continue
			}
			addExample(kindLetters, file, name)
			if got := allText(parsetest.Read(t, file, write(t, []string{tt.stored}))); !strings.Contains(got, tt.read) {
				t.Errorf("%s in %s: read %q", name, file, got)
			}
		}
	}
}

// TestFactsOfAllFormats checks that what a document states about itself is found in its sentences, labels and labeled
// lines.
func TestFactsOfAllFormats(t *testing.T) {
	for name, lines := range map[string][]string{
		"sentence": {"Access policy", "Version 1.4, in force since 20 May 2026. Approved by Mara Lind, CTO.", "Owner: Head of IT"},
		"labels":   {"Access policy", "Version: 1.4", "Owner: Head of IT", "Approved by: Mara Lind, CTO", "Effective date: 20 May 2026"},
		"one line": {"Access policy", "v1.4 | Owner: Head of IT | Approved by: Mara Lind, CTO | Effective 20 May 2026"},
		"prose": {
			"Access policy", "This is version 1.4 of the policy. It has been in force since 20 May 2026.", "The Head of IT is responsible for this policy.",
			"This policy was approved by Mara Lind, CTO.",
		},
		"prompts": {"Access policy", "Version: [x.y]", "Owner: TBD", "Approved by: Click or tap here to enter text.", "Effective date: DD.MM.YYYY"},
	} {
		for file, write := range textFormats {
			if slices.Contains(absentExamples[kindFacts], strings.TrimPrefix(path.Ext(file), ".")) {
				continue
			}
			addExample(kindFacts, file, name)
			d := parsetest.Read(t, file, write(t, append(lines, "Rights of access are reviewed.")))
			got, want := fmt.Sprint(d.Version, "|", d.Owner, "|", d.ApprovedBy, "|", d.EffectiveDate),
				fmt.Sprint("1.4|Head of IT|Mara Lind, CTO|", documenttest.Date(2026, 5, 20))
			if name == "prompts" {
				want = "|||<nil>"
			}
			if got != want {
				t.Errorf("%s in %s: %s, want %s", name, file, got, want)
			}
		}
	}
}

// TestWrongNames checks that a file is read according to its content, whatever its name.
func TestWrongNames(t *testing.T) {
	for file, write := range textFormats {
		raw := write(t, []string{"Access policy", "Rights of access are reviewed.", "# Rules", "- [by the owner](x), **each** quarter"})
		want := parsetest.Read(t, file, raw)
		for _, name := range []string{"a.doc", "a", "a.xls", "a.pdf"} {
			addExample(kindFormat, file, name)
			if got := parsetest.Read(t, name, raw); got.MIME != want.MIME && want.MIME != "text/plain" && want.MIME != "text/markdown" ||
				!strings.Contains(allText(got), "Rights of access are reviewed.") {
				t.Errorf("%s as %s: %s instead of %s: %q", file, name, got.MIME, want.MIME, allText(got))
			}
		}
	}
}

// TestBesideTextOfOtherFormats checks text outside the main text in further formats.
func TestBesideTextOfOtherFormats(t *testing.T) {
	odf := func(kind, inner string, parts map[string]string) []byte {
		body := `<text:p>Before</text:p>` + inner
		switch kind {
		case "spreadsheet":
			body = `<table:table table:name="S"><table:table-row><table:table-cell>` + body + `</table:table-cell></table:table-row></table:table>`
		case "presentation":
			body = `<draw:page><draw:frame><draw:text-box>` + body + `</draw:text-box></draw:frame></draw:page>`
		}
		return documenttest.ODF(t, kind, body, parts)
	}
	type example struct {
		name, file   string
		raw          []byte
		want, unread string
	}
	const part = "--b\r\nContent-Type: "
	mail := func(parts string) []byte {
		return []byte("From: a@example.com\r\nTo: b@example.com\r\nSubject: s\r\nDate: Mon, 4 May 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n" +
			"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + part + "text/plain\r\n\r\nBefore\r\n" + parts + "--b--\r\n")
	}
	list := []example{
		{"comment", "a.rtf", []byte(`{\rtf1 Before{\*\annotation quagga}\par}`), "", "1 comment"},
		{"footnote", "a.rtf", []byte(`{\rtf1 Before{\footnote Zebra.}\par}`), "Zebra.", ""},
		{"text box", "a.rtf", []byte(`{\rtf1 Before{\shp{\*\shpinst{\shptxt Zebra.\par}}}\par}`), "Zebra.", ""},
		{"alternative text", "a.md", []byte("Before ![Zebra settings](x.png)\n"), "Zebra settings", "1 picture"},
		{"HTML picture", "a.md", []byte("Before\n\n<img src=x.png alt=\"Zebra settings\">\n"), "Zebra settings", "1 picture"},
		{"embedded page", "a.md", []byte("Before\n\n<iframe src=x></iframe>\n"), "", "1 embedded file"},
		{"comment", "a.md", []byte("Before\n\n<!-- quagga -->\n"), "", ""},
		{"embedded page", "a.html", []byte(`<!doctype html><p>Before<iframe src=x></iframe>`), "", "1 embedded file"},
		{"drawing", "a.html", []byte(`<!doctype html><p>Before<svg width=90 height=90></svg>`), "", "1 picture"},
		{"aside", "a.html", []byte(`<!doctype html><p>Before<aside>Zebra.</aside>`), "Zebra.", ""},
		{"comment", "a.html", []byte(`<!doctype html><p>Before<!-- quagga -->`), "", ""},
		{"attachment", "a.eml", mail(part + "text/csv; name=x.csv\r\nContent-Disposition: attachment; filename=x.csv\r\n\r\nA,B\r\nZebra,1\r\n"), "Zebra", ""},
		{"forwarded", "a.eml", mail(part + "message/rfc822\r\n\r\nFrom: c@example.com\r\nSubject: f\r\n\r\nZebra.\r\n"), "Zebra.", ""},
		{"picture", "a.eml", mail(part + "text/html\r\n\r\n<p>Zebra.<img src=x width=90 height=90>\r\n"), "Zebra.", "1 picture"},
		{"other text", "a.eml", mail(part + "text/plain; name=n.txt\r\nContent-Disposition: attachment; filename=n.txt\r\n\r\nZebra.\r\n"), "Zebra.", ""},
	}
	for kind, file := range map[string]string{"text": "a.odt", "spreadsheet": "a.ods", "presentation": "a.odp"} {
		frame := func(inner string) string { return `<text:p><draw:frame>` + inner + `</draw:frame></text:p>` }
		list = append(list,
			example{"comment", file, odf(kind, `<text:p>x<office:annotation><text:p>quagga</text:p></office:annotation></text:p>`, nil), "x", "1 comment"},
			example{"picture", file, odf(kind, frame(`<draw:image/>`), nil), "", "1 picture"},
			example{"alternative text", file, odf(kind, frame(`<draw:image/><svg:desc>Zebra settings</svg:desc>`), nil), "Zebra settings", "1 picture"},
			example{"other object", file, odf(kind, frame(`<draw:object xlink:href="./Object 1"/>`), nil), "", "1 embedded file"},
		)
	}
	for _, tt := range list {
		addExample(kindBeside, tt.file, tt.name)
		doc := parsetest.Read(t, tt.file, tt.raw)
		if got := allText(doc); !strings.Contains(got, "Before") || !strings.Contains(got, tt.want) || strings.Contains(got, "quagga") {
			t.Errorf("%s, %s: read %q", tt.file, tt.name, got)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != tt.unread {
			t.Errorf("%s, %s: not read %q, want %q", tt.file, tt.name, got, tt.unread)
		}
	}
}

// TestKindsInMarkdown checks invisible text, task lists and tables in Markdown.
func TestKindsInMarkdown(t *testing.T) {
	for name, tt := range map[string]struct{ kind, text, want, unread string }{
		"struck":        {kindUnseen, "Before ~~quagga~~", "Before", "1 struck-through text"},
		"struck tag":    {kindUnseen, "Before <del>quagga</del>", "Before", "1 struck-through text"},
		"hidden span":   {kindUnseen, "Before <span style=\"display:none\">quagga</span>", "Before", "1 hidden text"},
		"hidden block":  {kindUnseen, "Before\n\n<div hidden>\n\nquagga\n\n</div>\n", "Before", "1 hidden text"},
		"style sheet":   {kindUnseen, "Before\n\n<style>.x{display:none}</style>\n\n<p class=x>quagga</p>\n", "Before", "1 hidden text"},
		"tasks":         {kindForms, "Locked?\n\n- [x] Yes\n- [ ] No\n", "[x] Yes\n[ ] No", ""},
		"box":           {kindForms, "Locked? <input type=checkbox checked> Yes\n", "Locked? ☒ Yes", ""},
		"text field":    {kindForms, "Locked? <input value=\"by Ann\">\n", "Locked? by Ann", ""},
		"question":      {kindForms, "| Question | Answer |\n|---|---|\n| Locked? | No |\n", "Question: Locked?; Answer: No", ""},
		"table":         {kindTables, "| System | Owner |\n|---|---|\n| CRM | Ann |\n", "System: CRM; Owner: Ann", ""},
		"wide header":   {kindTables, "| System | Owner | State |\n|---|---|---|\n| CRM | Ann | live |\n", "System: CRM; Owner: Ann; State: live", ""},
		"HTML table":    {kindTables, "<table><tr><th>System<th>Owner</tr><tr><td rowspan=2>CRM<td>Ann</tr><tr><td>Bo</tr></table>\n", "System: CRM; Owner: Bo", ""},
		"empty headers": {kindTables, "| | |\n|---|---|\n| Owner | Ann |\n| Version | 2 |\n", "Owner: Ann\nVersion: 2", ""},
	} {
		addExample(tt.kind, "a.md", name)
		doc := parsetest.Read(t, "a.md", []byte("# Policy\n\n"+tt.text))
		if got := allText(doc); !strings.Contains(got, tt.want) || strings.Contains(got, "quagga") || api.DescribeNotRead(doc.NotRead) != tt.unread {
			t.Errorf("%s: read %q, not read %q", name, got, api.DescribeNotRead(doc.NotRead))
		}
	}
}

// TestFormsOfOtherFormats checks forms in OpenDocument spreadsheets and presentations, and questionnaires in
// spreadsheets.
func TestFormsOfOtherFormats(t *testing.T) {
	for name, tt := range map[string]struct{ form, want string }{
		"box":    {`<form:checkbox form:id="c" form:label="Yes" form:current-state="checked"/>`, "☒ Yes"},
		"no box": {`<form:checkbox form:id="c" form:label="Yes"/>`, "☐ Yes"},
		"text":   {`<form:text form:id="c" form:current-value="by Ann"/>`, "by Ann"},
		"list": {
			`<form:listbox form:id="c"><form:option form:label="Never"/><form:option form:label="Always" form:current-selected="true"/></form:listbox>`, "Always",
		},
	} {
		control := `<draw:control draw:control="c"/>`
		for file, raw := range map[string][]byte{
			"a.ods": documenttest.ODF(t, "spreadsheet", `<table:table table:name="S"><office:forms>`+tt.form+`</office:forms><table:table-row><table:table-cell>`+
				`<text:p>Locked?</text:p></table:table-cell><table:table-cell>`+control+`</table:table-cell></table:table-row></table:table>`, nil),
			"a.odp": documenttest.ODF(t, "presentation", `<draw:page><office:forms>`+tt.form+`</office:forms><draw:frame><draw:text-box><text:p>Locked?</text:p>`+
				`</draw:text-box></draw:frame>`+control+`</draw:page>`, nil),
		} {
			addExample(kindForms, file, name)
			if got := allText(parsetest.Read(t, file, raw)); !strings.Contains(strings.Join(strings.Fields(got), " "), "Locked? "+tt.want) {
				t.Errorf("%s in %s: read %q", name, file, got)
			}
		}
	}
	for name, rows := range map[string][][]string{
		"yes or no": {{"Question", "Answer"}, {"Is it locked?", "No"}},
		"columns":   {{"Question", "Yes", "No"}, {"Is it locked?", "", "x"}},
		"pairs":     {{"Is it locked?", "No"}, {"Is it tested?", "Yes"}},
		"open":      {{"Question", "Answer", "Comment"}, {"Is it locked?", "", "open"}},
	} {
		addExample(kindForms, "a.xlsx", name)
		want := map[string]string{
			"yes or no": "Question: Is it locked?; Answer: No", "columns": "No: x", "pairs": "Is it locked? No", "open": "Answer:; Comment: open",
		}[name]
		if got := allText(parsetest.Read(t, "a.xlsx", tableFormats["a.xlsx"](t, rows))); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %q", name, want, got)
		}
	}
}

// TestTablesODT checks tables of OpenDocument texts: merged cells, two header rows, pairs, and rows marked as headers.
func TestTablesODT(t *testing.T) {
	cell := func(attrs, text string) string {
		return `<table:table-cell ` + attrs + `><text:p>` + text + `</text:p></table:table-cell>`
	}
	row := func(cells ...string) string {
		return `<table:table-row>` + strings.Join(cells, "") + `</table:table-row>`
	}
	const covered = `<table:covered-table-cell/>`
	wide, high := `table:number-columns-spanned="2"`, `table:number-rows-spanned="2"`
	for name, tt := range map[string]struct{ rows, want string }{
		"merged down": {
			row(cell("", "System"), cell("", "Owner")) + row(cell(high, "CRM"), cell("", "Ann")) + row(covered, cell("", "Bo")),
			"System: CRM; Owner: Bo",
		},
		"two rows": {
			row(cell(high, "System"), cell(wide, "Reviewer"), covered) + row(covered, cell("", "Name"), cell("", "Role")) +
				row(cell("", "CRM"), cell("", "Ann"), cell("", "CISO")), "System: CRM; Reviewer Name: Ann; Reviewer Role: CISO",
		},
		"pairs": {row(cell("", "Owner"), cell("", "Ann")) + row(cell("", "Version"), cell("", "2")), "Owner: Ann\nVersion: 2"},
		"header rows": {
			`<table:table-header-rows>` + row(cell("", "System"), cell("", "Owner")) + `</table:table-header-rows>` + row(cell("", "CRM"), cell("", "Ann")),
			"System: CRM; Owner: Ann",
		},
	} {
		addExample(kindTables, "a.odt", name)
		doc := parsetest.Read(t, "a.odt", documenttest.ODF(t, "text", `<table:table>`+tt.rows+`</table:table>`, nil))
		if got := allText(doc); !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %q in %q", name, tt.want, got)
		}
	}
}

// TestShortDates checks that dates for which Excel uses the order of the local computer are read in an unambiguous
// format.
func TestShortDates(t *testing.T) {
	raw := documenttest.Workbook(t, func(x *excelize.File) {
		for i, format := range []int{14, 22, 15} {
			style, err := x.NewStyle(&excelize.Style{NumFmt: format})
			if err != nil {
				t.Fatal(err)
			}
			cell := fmt.Sprintf("A%d", 2*i+1)
			if err := errors.Join(x.SetCellValue("Sheet1", cell, 46115.5), x.SetCellStyle("Sheet1", cell, cell, style)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got := allText(parsetest.Read(t, "a.xlsx", raw)); got != "Sheet1\n2026-04-03\n2026-04-03 12:00\n3-Apr-26\n" {
		t.Errorf("read %q", got)
	}
}

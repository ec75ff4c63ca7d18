package officelayout

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
)

const (
	testHead  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`
	testTypes = testHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	testRels  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	testOpen  = testHead + `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	testClose = `<w:sectPr/></w:body></w:document>`
)

// docxWith returns a Word document with the body and further parts, given as names and contents.
func docxWith(t testing.TB, body string, parts ...string) []byte {
	t.Helper()
	all := []string{typesPart, testTypes, "_rels/.rels", testRels, "word/document.xml", testOpen + body + testClose}
	for i := 0; i+1 < len(parts); i += 2 {
		for j := 0; j < len(all); j += 2 {
			if all[j] == parts[i] {
				all[j+1] = parts[i+1]
				parts[i] = ""
			}
		}
		if parts[i] != "" {
			all = append(all, parts[i], parts[i+1])
		}
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(all); i += 2 {
		w, err := z.Create(all[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, all[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// p is a paragraph, with a run for each text.
func p(texts ...string) string {
	return `<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>` + strings.Join(texts, `</w:t></w:r><w:r><w:t>`) + `</w:t></w:r></w:p>`
}

func row(cells ...string) string {
	return `<w:tr><w:tc>` + strings.Join(cells, `</w:tc><w:tc>`) + `</w:tc></w:tr>`
}

func testData() *content.LayoutData {
	s := reporttest.SampleSource(8)
	s.Organization.Name = `Ardent <b>&{{client.name}}`
	d := content.New(s, content.TemplateFull, "", false).LayoutData()
	d.DomainResults = []content.LayoutDomain{{Code: "A", Name: "Assets", Findings: 2, Critical: 1}, {Code: "B", Name: "Backup\nand restore"}}
	return d
}

// fill returns the body of the document that a layout makes.
func fill(t testing.TB, file []byte, d *content.LayoutData) (string, error) {
	t.Helper()
	l, err := Read(file, "docx")
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := l.Write(context.Background(), &b, d, drawing.Theme{}); err != nil {
		return "", err
	}
	text := reporttest.UnzipParts(t, b.Bytes())["word/document.xml"]
	text, ok := strings.CutPrefix(text, testOpen)
	text, end := strings.CutSuffix(text, testClose)
	if !ok || !end {
		t.Errorf("the frame of the document was changed: %s", text)
	}
	return text, nil
}

func TestFill(t *testing.T) {
	own := func(text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
	}
	for name, tc := range map[string]struct{ body, want string }{
		"untouched":                             {`<w:p w:rsidR="1"><w:r><w:t>It's “5 &lt; 6”</w:t></w:r><w:proofErr w:type="x"/></w:p>`, `<w:p w:rsidR="1"><w:r><w:t>It's “5 &lt; 6”</w:t></w:r><w:proofErr w:type="x"/></w:p>`},
		"a value is escaped and not read again": {p("{{client.name}}"), own(`Ardent &lt;b&gt;&amp;{{client.name}}`)},
		"split over runs": {
			p("a {", "{client", ".na", "me}} b"),
			`<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">a Ardent &lt;b&gt;&amp;{{client.name}}</w:t></w:r>` +
				`<w:r><w:t xml:space="preserve"></w:t></w:r><w:r><w:t xml:space="preserve"></w:t></w:r><w:r><w:t xml:space="preserve"> b</w:t></w:r></w:p>`,
		},
		"paragraphs":      {p("{{#each domain_results}}") + p("{{@number}} {{code}}") + p("{{/each}}"), own("1 A") + own("2 B")},
		"a new line":      {p("{{#each domain_results where code == “B”}}") + p("{{name}}") + p("{{/each}}"), own(`Backup</w:t><w:br/><w:t xml:space="preserve">and restore`)},
		"else":            {p("{{#if 1 > 2}}") + p("a") + p("{{else}}") + p("b") + p("{{/if}}"), `<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r></w:p>`},
		"nothing is left": {p("{{#unless true}}a{{/unless}}"), ""},
		"an empty list":   {p("{{#each domain_results where code == \"Z\"}}a{{else}}none{{/each}}"), own("none")},
		"rows": {
			`<w:tbl>` + row(p("{{#each domain_results}}{{code}}"), p("{{findings}}{{/each}}")) + `</w:tbl>`,
			`<w:tbl>` + row(own("A"), own("2")) + row(own("B"), own("0")) + `</w:tbl>`,
		},
		"rows within rows": {
			`<w:tbl>` + row(p("{{#each domain_results}}{{#if critical > 0}}{{code}}"), p("{{findings}}{{/if}}{{/each}}")) + `</w:tbl>`,
			`<w:tbl>` + row(own("A"), own("2")) + `</w:tbl>`,
		},
		"rows between rows": {
			`<w:tbl>` + row(p("{{#each domain_results}}"), p("")) + row(p("{{code}}"), p("{{@root.figures.high}}")) + row(p("{{/each}}"), p("")) + `</w:tbl>`,
			`<w:tbl>` + row(own("A"), own("2")) + row(own("B"), own("2")) + `</w:tbl>`,
		},
		"a list that a figure of the item hides": {
			p("{{#each domain_results limit 1}}{{#each findings limit 1}}{{severity}}{{/each}}{{/each}}"), own("critical"),
		},
		"a level out": {
			p("{{#each domain_results limit 1}}{{#each ../domain_results where code == \"B\"}}{{code}} in {{../code}}{{/each}}{{/each}}"),
			own("B in A"),
		},
		"a table without rows": {`<w:tbl>` + row(p("{{#each domain_results where code == \"Z\"}}{{code}}"), p("{{/each}}")) + `</w:tbl>`, ""},
		"a cell keeps a paragraph": {
			`<w:tbl>` + row(p("{{#if false}}")+p("a")+p("{{/if}}"), p("x")) + `</w:tbl>`,
			`<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>` + p("x") + `</w:tc></w:tr></w:tbl>`,
		},
		"a bookmark stays unique": {
			`<w:p>` + `<w:r><w:t>{{#each domain_results}}</w:t></w:r><w:bookmarkStart w:id="1" w:name="x"/><w:r><w:t>{{code}}</w:t></w:r><w:r><w:t>{{/each}}</w:t></w:r></w:p>`,
			`<w:p><w:bookmarkStart w:id="1" w:name="x"/><w:r><w:t xml:space="preserve">A</w:t></w:r><w:r><w:t xml:space="preserve">B</w:t></w:r></w:p>`,
		},
	} {
		got, err := fill(t, docxWith(t, tc.body), testData())
		if err != nil || got != tc.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, tc.want)
		}
	}
}

// TestPictureInFrame checks that a picture of the layout is replaced by one of the report, which fits into it.
func TestPictureInFrame(t *testing.T) {
	const open, end = `<w:p><w:r><w:drawing xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"` +
		` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"` +
		` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><wp:inline>`, `</wp:inline></w:drawing></w:r></w:p>`
	d := testData()
	d.Logo = &content.LayoutImage{Title: "Logo.", Description: "A < B", PNG: reporttest.PNG(t, 40, 20)}
	got, err := fill(t, docxWith(t, open+
		`<wp:extent cx="3600000" cy="3600000"/><wp:docPr id="7" name="x" descr="{{image logo}}"/>`+
		`<a:srcRect l="9"/><a:blip r:embed="rId9"/>`+end), d)
	want := open + `<wp:extent cx="3600000" cy="1800000"/><wp:docPr id="1" name="x" descr="Logo. A &lt; B"/>` +
		`<a:blip r:embed="rIdReport1"/>` + end
	if err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestExpressions(t *testing.T) {
	for text, want := range map[string]string{
		`{{figures.compliance_pct | round 1}}`:                               "46.2",
		`{{figures.compliance_pct | percent}}`:                               "46%",
		`{{report.date | date}}`:                                             "20 November 2026",
		`{{"not_evidenced" | label}}`:                                        "Not evidenced",
		`{{report.frameworks | join " and "}}`:                               "ISO/IEC 27001:2022 and GDPR",
		`{{trend.summary | default "none"}}`:                                 "none",
		`{{#if not draft and report.status == "FINAL"}}y{{/if}}`:             "y",
		`{{#if (1 > 2 or 2 >= 2) &amp;&amp; true}}y{{/if}}`:                  "y",
		`{{#each domain_results limit 1 as d}}{{d.code}}{{@first}}{{/each}}`: "Ayes",
		`{{domains.AST}}`:                                                    "Assets",
	} {
		got, err := fill(t, docxWith(t, p(text)), testData())
		if err != nil || !strings.Contains(got, ">"+want+"<") {
			t.Errorf("%s: %v, %s", text, err, got)
		}
	}
}

func TestProblems(t *testing.T) {
	for body, want := range map[string][3]string{
		p("x") + p("{{clent.name}}"):        {"document, paragraph 2", "{{clent.name}}", "{{client.name}}"},
		p("{{client_name}}"):                {"document, paragraph 1", "doesn't exist", "{{client.name}}"},
		p("{{client.nam}}"):                 {"", "“client” has no field “nam”", "{{client.name}}"},
		p("{{consequence}}"):                {"", "doesn't exist", "{{consequence}} within {{#each risks}}"},
		p("{{risk.title}}"):                 {"", "doesn't exist", "{{title}} within {{#each risks}}"},
		p("{{risks.title}}"):                {"", "is a list", "{{#each risks}} … {{title}}"},
		p("{{risks}}"):                      {"", "a list can't be printed", "{{#each risks}}"},
		p("{{charts.heat_map}}"):            {"", "a picture can't be printed", "{{image charts.heat_map}}"},
		p("{{image client.name}}"):          {"", "not a picture", "charts.heat_map"},
		p("{{chart charts.coverage}}"):      {"", "native charts are only possible on slides", "{{image charts.coverage}}"},
		p("{{client.name | dat}}"):          {"", "the filter “dat”", "did you mean date?"},
		p("{{client.name | date}}"):         {"", "only works on dates", ""},
		p("{{client.name"):                  {"", "not closed in its paragraph", ""},
		p("{{#each risks}}"):                {"", "not closed", "{{/each}}"},
		p("{{/if}}"):                        {"", "doesn't close an open block", ""},
		p("{{#if draft}}") + p("{{/each}}"): {"document, paragraph 2", "it closes {{#if draft}}, document, paragraph 1", "{{/if}}"},
		p("{{#foreach risks}}{{/foreach}}"): {"", "unknown block: foreach", "{{#each LIST}}"},
		p("{{range .risks}}"):               {"", "", "for HTML and Markdown layouts"},
		`<w:tbl>` + row(p("{{#if draft}}")) + `</w:tbl>` + p("{{/if}}"): {"document, table 1, row 1, column 1", "one end of the block is inside a table", ""},
	} {
		l, err := Read(docxWith(t, body), "docx")
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		all, _ := l.Problems()
		if len(all) == 0 || all[0].Warning || !strings.Contains(all[0].Place+all[0].Tag+all[0].Message, want[1]) ||
			!strings.Contains(all[0].Place, want[0]) || !strings.Contains(all[0].Suggestion, want[2]) {
			t.Errorf("%s: %+v; want %q", body, all, want)
		}
		if _, err := fill(t, docxWith(t, body), testData()); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%s: filled in: %v", body, err)
		}
	}
}

func TestHostileLayouts(t *testing.T) {
	rels := func(kind, target string) string {
		return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` +
			kind + `" Target="` + target + `" TargetMode="External"/></Relationships>`
	}
	const partRels = "word/_rels/document.xml.rels"
	deep := strings.Repeat(`<w:sdt>`, 400) + strings.Repeat(`</w:sdt>`, 400)
	loop := strings.Repeat(`{{#each soa.items}}`, 9) + "x" + strings.Repeat(`{{/each}}`, 9)
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":       {[]byte("x"), "is not a Word document"},
		"old Word":      {[]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "password-protected or in a format older than 2007"},
		"a zip":         {docxWith(t, "", typesPart, "<a/>"), "not a .docx file"},
		"macros":        {docxWith(t, "", typesPart, strings.Replace(testTypes, "</Types>", `<Override PartName="/word/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/></Types>`, 1)), "macros"},
		"a lone macro":  {docxWith(t, "", "word/vbaProject.bin", "x"), "macros"},
		"deep blocks":   {docxWith(t, p(strings.Repeat(`{{#if draft}}`, 60)+strings.Repeat(`{{/if}}`, 60))), "nested more than 50 levels deep"},
		"many blocks":   {docxWith(t, p(strings.Repeat(`{{#if draft}}{{/if}}`, 2600))), "more than 5000 tags"},
		"many values":   {docxWith(t, p(strings.Repeat(`{{x}}`, maxTags+1))), "more than 20000 placeholders"},
		"many warnings": {docxWith(t, strings.Repeat(p("{%"), maxProblems+1)+p("{{x}}")), "the field “x”"},
		"remote image": {
			docxWith(t, "", partRels, rels("image", "http://evil.example/x.png")),
			"loads http://evil.example/x.png from an external source",
		},
		"lost picture": {
			docxWith(t, "", partRels, strings.Replace(rels("image", "media/image1.png"), ` TargetMode="External"`, "", 1)),
			"document of the layout shows a picture that the file does not contain (media/image1.png)",
		},
		"a file link":   {docxWith(t, "", partRels, rels("hyperlink", "file:///etc/passwd")), "only http, https and mailto"},
		"html inside":   {docxWith(t, "", partRels, strings.Replace(rels("aFChunk", "x.html"), ` TargetMode="External"`, "", 1)), "embeds another file"},
		"a field":       {docxWith(t, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DD</w:instrText></w:r><w:r><w:instrText>E cmd</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`), "the field DDE cmd"},
		"a short field": {docxWith(t, `<w:fldSimple w:instr=" includetext x "/>`), "includetext"},
		"entities":      {docxWith(t, "", "word/document.xml", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`), "declares entities"},
		"an entity":     {docxWith(t, p("&boom;")), "can't be read"},
		"deep":          {docxWith(t, deep), "nested more than"},
		"many elements": {docxWith(t, strings.Repeat("<w:p/>", maxPartNodes)), "more than"},
		"loops":         {docxWith(t, p(loop)), "processing of the layout was stopped at document, paragraph 1, {{#each soa.items}}: "},
		"a bad path":    {docxWith(t, "", "../x.xml", "x"), "invalid name"},
		"strict": {
			docxWith(t, "", "word/document.xml", `<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"/>`), "Strict Open XML",
		},
	} {
		_, err := fill(t, tc.file, testData())
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
	}
	// A link to a web page stays; the template that the document was made from does not.
	if _, err := fill(t, docxWith(t, p("x"), partRels, rels("hyperlink", "https://partner.example")), testData()); err != nil {
		t.Error(err)
	}
	// A chart of the layout isn't changed, and lint says so.
	chart := strings.Replace(rels("chart", "charts/chart1.xml"), ` TargetMode="External"`, "", 1)
	l, err := Read(docxWith(t, p("x"), partRels, chart), "docx")
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := l.Problems(); !slices.ContainsFunc(all, func(p Problem) bool {
		return p.Warning && p.Place == "document" && strings.Contains(p.Message, "show its own data")
	}) {
		t.Errorf("a layout with a chart: %+v", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, err = Read(docxWith(t, p(loop)), "docx")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Write(ctx, io.Discard, testData(), drawing.Theme{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
}

// FuzzBody checks that any body either produces a document or is rejected.
func FuzzBody(f *testing.F) {
	for _, s := range []string{p("{{#each risks}}{{title}}{{/each}}"), `<w:tbl>` + row(p("{{#if draft}}"), p("{{/if}}")) + `</w:tbl>`, p("{{", "a.b | join}}")} {
		f.Add(s)
	}
	d := testData()
	f.Fuzz(func(t *testing.T, body string) {
		l, err := Read(docxWith(t, body), "docx")
		if err == nil {
			err = l.Write(context.Background(), io.Discard, d, drawing.Theme{})
		}
		if err != nil && !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q: %v", body, err)
		}
	})
}

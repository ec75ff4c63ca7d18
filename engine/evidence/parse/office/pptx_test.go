package office_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

const (
	pptTypes = `<Types><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>`
	pptNS    = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`
)

// pptx returns a presentation of slides, given the content of their shape trees, and further parts. The slides
// are displayed in the given order and stored in reverse order.
func pptx(t testing.TB, slides []string, parts map[string]string) []byte {
	rel := func(id, kind, target string) string {
		return fmt.Sprintf(
			`<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`,
			id,
			kind,
			target,
		)
	}
	var list, rels string
	all := map[string]string{
		"[Content_Types].xml": pptTypes,
		"_rels/.rels":         `<Relationships>` + rel("r1", "officeDocument", "ppt/presentation.xml") + `</Relationships>`,
	}
	for i, s := range slides {
		id, file := fmt.Sprintf("r%d", i), fmt.Sprintf("slides/slide%d.xml", len(slides)-i)
		list += fmt.Sprintf(`<p:sldId id="%d" r:id="%s"/>`, 256+i, id)
		rels = rel(id, "slide", file) + rels
		attr := ""
		if rest, ok := strings.CutPrefix(s, "hidden:"); ok {
			s, attr = rest, ` show="0"`
		}
		all["ppt/"+file] = `<p:sld ` + pptNS + attr + `><p:cSld><p:spTree>` + s + `</p:spTree></p:cSld></p:sld>`
	}
	all["ppt/_rels/presentation.xml.rels"] = `<Relationships>` + rels + `</Relationships>`
	all["ppt/presentation.xml"] = `<p:presentation ` + pptNS + `><p:sldIdLst>` + list + `</p:sldIdLst></p:presentation>`
	for k, v := range parts {
		all[k] = v
	}
	return documenttest.Zip(t, all)
}

// shape returns a placeholder of the given kind, "" for a text box, with paragraphs.
func shape(kind string, paras ...string) string {
	ph := ""
	if kind != "" {
		ph = `<p:nvPr><p:ph type="` + kind + `"/></p:nvPr>`
	}
	if kind == "body" {
		ph = `<p:nvPr><p:ph idx="1"/></p:nvPr>`
	}
	s := `<p:sp><p:nvSpPr>` + ph + `</p:nvSpPr><p:txBody>`
	for _, p := range paras {
		props := ""
		if rest, ok := strings.CutPrefix(p, ">"); ok {
			p, props = rest, `<a:pPr lvl="1"/>`
		} else if rest, ok := strings.CutPrefix(p, "!"); ok {
			p, props = rest, `<a:pPr><a:buNone/></a:pPr>`
		}
		s += `<a:p>` + props + `<a:r><a:t>` + p + `</a:t></a:r></a:p>`
	}
	return s + `</p:txBody></p:sp>`
}

func TestPptx(t *testing.T) {
	cell := func(s string) string {
		return `<a:tc><a:txBody><a:p><a:r><a:t>` + s + `</a:t></a:r></a:p></a:txBody></a:tc>`
	}
	table := `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>` + cell(
		"Role",
	) + cell(
		"Right",
	) + `</a:tr><a:tr>` + cell(
		"Admin",
	) + cell(
		"all",
	) + `</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	rels := `<Relationships><Relationship Id="x" Type="http://s/notesSlide" Target="../notesSlides/n1.xml"/><Relationship Id="y" Type="http://s/diagramData" Target="../diagrams/d1.xml"/><Relationship Id="z" Type="http://s/diagramData" Target="https://example.com/evil" TargetMode="External"/></Relationships>`
	doc := parsetest.Read(t, "training.pptx", pptx(t, []string{
		shape(
			"ctrTitle",
			"Security training",
		) + shape(
			"subTitle",
			"For all staff",
		) + shape(
			"ftr",
			"Acme – internal",
		) + shape(
			"sldNum",
			"1",
		),
		shape(
			"body",
			"Report at once",
			">also when unsure",
			"!Call 112 for fire.",
		) + shape(
			"title",
			"Incidents",
		) + shape(
			"",
			"A box",
		) + `<mc:AlternateContent><mc:Choice>` + shape("", "Shown once") + `</mc:Choice><mc:Fallback>` + shape("", "Shown once") +
			`</mc:Fallback></mc:AlternateContent>` + table,
		"hidden:" + shape("title", "Old"),
	}, map[string]string{
		"ppt/slides/_rels/slide2.xml.rels": rels,
		"ppt/notesSlides/n1.xml": `<p:notes ` + pptNS + `><p:cSld><p:spTree>` + shape(
			"sldImg",
		) + shape(
			"body",
			"Tell of the Q3 case.",
		) + shape(
			"sldNum",
			"2",
		) + `</p:spTree></p:cSld></p:notes>`,
		"ppt/diagrams/d1.xml": `<d:dataModel xmlns:d="x" ` + pptNS + `><d:ptLst><d:pt><d:t><a:p><a:r><a:t>Detect</a:t></a:r></a:p></d:t></d:pt><d:pt><d:t><a:p><a:r><a:t>Respond</a:t></a:r></a:p></d:t></d:pt></d:ptLst></d:dataModel>`,
		"docProps/core.xml":   `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>PowerPoint Presentation</dc:title></cp:coreProperties>`,
	}))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Security training
	¶ For all staff  {Security training}
	# Incidents
	- Report at once  {Incidents}
	-- also when unsure  {Incidents}
	¶ Call 112 for fire.  {Incidents}
	¶ A box  {Incidents}
	¶ Shown once  {Incidents}
	| Role: Admin; Right: all  {Incidents}
	¶ Detect  {Incidents}
	¶ Respond  {Incidents}
	## Speaker notes  {Incidents}
	¶ Tell of the Q3 case.  {Incidents > Speaker notes}
	`)
	for i, b := range doc.Blocks {
		want := 1
		if i >= 2 {
			want = 2
		}
		if b.Locator.Slide != want {
			t.Errorf("%q is on slide %d, want %d", b.Text, b.Locator.Slide, want)
		}
	}
	if doc.PageCount != 3 || doc.Title != "training" || len(doc.Warnings) != 0 || api.DescribeNotRead(doc.NotRead) != "1 hidden slide" ||
		len(doc.Furniture) != 1 {
		t.Errorf("%d slides, title %q, warnings %q, aside %s", doc.PageCount, doc.Title, doc.Warnings, documenttest.Outline(doc.Furniture))
	}
}

func TestPptxRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"no main part": {documenttest.Zip(t, map[string]string{"[Content_Types].xml": pptTypes}), document.ErrDamaged},
		"no slides":    {pptx(t, nil, nil), document.ErrEmpty},
		"no text":      {pptx(t, []string{shape("")}, nil), document.ErrEmpty},
		"broken xml":   {pptx(t, []string{"<p:sp><a:p></p:sp>"}, nil), document.ErrDamaged},
		"deep":         {pptx(t, []string{strings.Repeat("<p:grpSp>", 5000) + strings.Repeat("</p:grpSp>", 5000)}, nil), document.ErrDamaged},
		"half":         {pptx(t, []string{shape("", "x")}, nil)[:600], document.ErrDamaged},
	} {
		if err := parsetest.ReadError(t, parse.Options{}, "a.pptx", tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzPptx(f *testing.F) {
	f.Add(shape("title", "a")+shape("body", "b", ">c"), `<p:notes><a:p><a:t>x`)
	f.Add(`<a:tbl><a:tr><a:tc><a:p><a:r><a:t>x</a:t></a:r></a:p></a:tc></a:tr></a:tbl>`, ``)
	f.Add(`<a:tc/></a:tr><a:tr/>`, `<p:sp/>`)
	f.Fuzz(func(t *testing.T, tree, notes string) {
		parsetest.CheckReadInvariants(t, "a.pptx", pptx(t, []string{tree}, map[string]string{
			"ppt/slides/_rels/slide1.xml.rels": `<Relationships><Relationship Id="x" Type="http://s/notesSlide" Target="n.xml"/></Relationships>`,
			"ppt/slides/n.xml":                 notes,
		}))
	})
}

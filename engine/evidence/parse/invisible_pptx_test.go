package parse_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

const slideNS = ` xmlns:a="a" xmlns:p="p" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`

// presentation makes a presentation with one slide, given the contents of the slide, its layout, its master and the
// presentation.
func presentation(t testing.TB, slide string, parts map[string]string) []byte {
	rels := func(list ...string) string {
		out := `<Relationships>`
		for i := 0; i < len(list); i += 2 {
			out += `<Relationship Id="r` + string(rune('1'+i/2)) + `" Type="http://x/relationships/` + list[i] + `" Target="` + list[i+1] + `"/>`
		}
		return out + `</Relationships>`
	}
	all := map[string]string{
		"[Content_Types].xml":             `<Types><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>`,
		"_rels/.rels":                     rels("officeDocument", "ppt/presentation.xml"),
		"ppt/presentation.xml":            `DEFAULTS<p:sldSz cx="1000" cy="500"/><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>`,
		"ppt/_rels/presentation.xml.rels": rels("slide", "slide1.xml"),
		"ppt/slide1.xml":                  slide,
		"ppt/_rels/slide1.xml.rels":       rels("slideLayout", "layout1.xml", "notesSlide", "notes1.xml", "comments", "comments1.xml"),
		"ppt/layout1.xml":                 "",
		"ppt/_rels/layout1.xml.rels":      rels("slideMaster", "master1.xml"),
		"ppt/master1.xml":                 "",
		"ppt/notes1.xml":                  "",
	}
	maps.Copy(all, parts)
	all["ppt/presentation.xml"] = strings.Replace(all["ppt/presentation.xml"], "DEFAULTS", all["defaults"], 1)
	delete(all, "defaults")
	for name, content := range all {
		if strings.HasPrefix(name, "ppt/") && !strings.Contains(name, "_rels") && !strings.HasPrefix(content, "<p:sld ") {
			all[name] = `<p:x` + slideNS + content + `</p:x>`
		}
	}
	return documenttest.Zip(t, all)
}

// slideShape returns a shape with properties, the content of its placeholder's element, a list style, and paragraphs.
func slideShape(name, properties, placeholder, list, paragraphs string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="1" ` + name + `/><p:nvPr>` + placeholder + `</p:nvPr></p:nvSpPr><p:spPr>` + properties +
		`</p:spPr><p:txBody><a:lstStyle>` + list +
		`</a:lstStyle>` + paragraphs + `</p:txBody></p:sp>`
}

func TestInvisiblePPTX(t *testing.T) {
	color := func(c string) string { return `<a:solidFill><a:srgbClr val="` + c + `"/></a:solidFill>` }
	const struck = `<a:lvl1pPr><a:defRPr strike="sngStrike"/></a:lvl1pPr>`
	run := func(properties string) string {
		return `<a:p><a:r><a:t>seen </a:t></a:r><a:r>` + properties + `<a:t>quagga</a:t></a:r></a:p>`
	}
	m := matrix{
		file: "a.pptx", containers: []string{"text box", "title", "body", "group", "table", "notes"},
		ways: map[string]string{
			"strike":        run(`<a:rPr strike="sngStrike"/>`),
			"double strike": run(`<a:rPr strike="dblStrike"/>`),
			"transparent":   run(`<a:rPr><a:solidFill><a:srgbClr val="000000"><a:alpha val="0"/></a:srgbClr></a:solidFill></a:rPr>`),
			"no fill":       run(`<a:rPr><a:noFill/></a:rPr>`),
			"tiny":          run(`<a:rPr sz="100"/>`),
			"white":         run(`<a:rPr>` + color("FFFFFF") + `</a:rPr>`),
			"theme's white": run(`<a:rPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:rPr>`),
		},
		// The background color of a table comes from the table's style, which the reader doesn't evaluate.
		absent: []string{"white in table", "theme's white in table"},
	}
	m.build = func(t *testing.T, container, _, text string) []byte {
		parts := map[string]string{}
		shape := slideShape("", "", "", "", text)
		switch container {
		case "title":
			shape = slideShape("", "", `<p:ph type="title"/>`, "", text)
		case "body":
			shape = slideShape("", "", `<p:ph idx="1"/>`, "", text)
		case "group":
			shape = `<p:grpSp><p:grpSpPr/>` + shape + `</p:grpSp>`
		case "table":
			shape = `<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>` + text + `</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`
		case "notes":
			parts["ppt/notes1.xml"], shape = slideShape("", "", `<p:ph type="body" idx="1"/>`, "", text), ""
		}
		around := func(s string) string { return slideShape("", "", "", "", `<a:p><a:r><a:t>`+s+`</a:t></a:r></a:p>`) }
		return presentation(t, around("Before")+shape+around("After"), parts)
	}
	m.check(t)

	hidden := `<a:p><a:r><a:t>quagga</a:t></a:r></a:p>`
	fixed := `<a:p><a:r><a:rPr strike="noStrike"/><a:t>Before seen After</a:t></a:r></a:p>`
	at := func(x, y string) string {
		return `<a:xfrm><a:off x="` + x + `" y="` + y + `"/><a:ext cx="100" cy="50"/></a:xfrm>`
	}
	rest := slideShape("", "", "", "", fixed)
	shapes := matrix{file: "a.pptx", containers: []string{"slide"}, ways: map[string]string{
		"hidden shape":      slideShape(`hidden="1"`, "", "", "", hidden),
		"hidden group":      `<p:grpSp><p:cNvPr hidden="true"/><p:grpSpPr/>` + slideShape("", "", "", "", hidden) + `</p:grpSp>`,
		"list style":        slideShape("", "", "", struck, hidden),
		"left of the slide": slideShape("", at("-200", "0"), "", "", hidden),
		"below the slide":   slideShape("", at("0", "500"), "", "", hidden),
		"off by its group":  `<p:grpSp><p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000" cy="500"/><a:chOff x="0" y="0"/><a:chExt cx="100" cy="50"/></a:xfrm></p:grpSpPr>` + slideShape("", at("100", "0"), "", "", hidden) + `</p:grpSp>`,
		"color of the shape": slideShape("", color("336699"), "", "",
			`<a:p><a:r><a:rPr>`+color("336699")+`</a:rPr><a:t>quagga</a:t></a:r></a:p>`),
		"color of the slide": `<p:bg><p:bgPr>` + color("102030") + `</p:bgPr></p:bg>` + slideShape("", "", "", "",
			`<a:p><a:r><a:rPr>`+color("102030")+`</a:rPr><a:t>quagga</a:t></a:r></a:p>`),
		"LAYOUT":               slideShape("", "", `<p:ph type="body" idx="7"/>`, "", hidden),
		"MASTER":               slideShape("", "", `<p:ph idx="7"/>`, "", hidden),
		"TEXTS":                slideShape("", "", `<p:ph type="title"/>`, "", hidden),
		"DEFAULTS":             slideShape("", "", "", "", hidden),
		"layout off the slide": slideShape("", "", `<p:ph type="body" idx="8"/>`, "", hidden),
	}}
	shapes.build = func(t *testing.T, _, way, slide string) []byte {
		parts := map[string]string{"ppt/layout1.xml": slideShape("", at("2000", "0"), `<p:ph type="body" idx="8"/>`, "", "")}
		switch way {
		case "LAYOUT":
			parts["ppt/layout1.xml"] = slideShape("", "", `<p:ph type="body" idx="7"/>`, struck, "")
		case "MASTER":
			parts["ppt/master1.xml"] = slideShape("", "", `<p:ph type="body" idx="1"/>`, struck, "")
		case "TEXTS":
			parts["ppt/master1.xml"] = `<p:txStyles><p:titleStyle>` + struck + `</p:titleStyle></p:txStyles>`
		case "DEFAULTS":
			parts["defaults"] = `<p:defaultTextStyle>` + struck + `</p:defaultTextStyle>`
		}
		return presentation(t, slide+rest, parts)
	}
	shapes.check(t)

	zebra := func(properties string) string {
		return `<a:p><a:r><a:rPr>` + properties + `</a:rPr><a:t>zebra</a:t></a:r></a:p>`
	}
	shown(t, "a.pptx", map[string][]byte{
		"white on a dark shape": presentation(t, slideShape("", color("202020"), "", "", zebra(color("FFFFFF"))), nil),
		"white on a picture":    presentation(t, `<p:pic><a:blip/></p:pic>`+slideShape("", "", "", "", zebra(color("FFFFFF"))), nil),
		"white over another": presentation(t, slideShape("", "", "", "", zebra(color("FFFFFF")))+slideShape("", color("000000"), "", "",
			""), nil),
		"white on a dark master": presentation(t, slideShape("", "", "", "", zebra(color("FFFFFF"))),
			map[string]string{"ppt/master1.xml": `<p:bg><p:bgPr>` + color("000033") + `</p:bgPr></p:bg>`}),
		"white in a dark theme": presentation(t, slideShape("", "", "", "", zebra(`<a:solidFill><a:schemeClr val="tx1"/></a:solidFill>`)),
			map[string]string{"ppt/master1.xml": `<p:clrMap bg1="dk1"/>`}),
		"strike turned off": presentation(t, slideShape("", "", "", struck,
			`<a:p><a:r><a:rPr strike="noStrike"/><a:t>zebra</a:t></a:r></a:p>`), nil),
		"another level's strike": presentation(t, slideShape("", "", "", `<a:lvl2pPr><a:defRPr strike="sngStrike"/></a:lvl2pPr>`, zebra("")),
			nil),
		"partly on the slide": presentation(t, slideShape("", at("-50", "470"), "", "", zebra("")), nil),
	})

	doc := parsetest.Read(t, "a.pptx", presentation(t, rest+`<p:pic><a:blip/></p:pic><p:graphicFrame><c:chart/></p:graphicFrame><p:oleObj/>`,
		map[string]string{"ppt/comments1.xml": `<p:cm/><p:cm/>`}))
	if got := api.DescribeNotRead(doc.NotRead); got != "1 picture, 1 chart, 1 embedded file, 2 comments" || doc.NotRead[0].Locator.Slide != 1 {
		t.Errorf("not read: %s %v", got, doc.NotRead)
	}
	doc = parsetest.Read(t, "a.pptx", presentation(t, rest, map[string]string{
		"ppt/_rels/presentation.xml.rels": `<Relationships><Relationship Id="r1" Type="x/slide" Target="slide1.xml"/><Relationship Id="r2" Type="x/slide" Target="slide2.xml"/></Relationships>`,
		"ppt/presentation.xml":            `<p:sldIdLst><p:sldId id="256" r:id="r1"/><p:sldId id="257" r:id="r2"/></p:sldIdLst>`,
		"ppt/slide2.xml":                  `<p:sld show="0"` + slideNS + slideShape("", "", "", "", hidden) + `</p:sld>`,
	}))
	if got := api.DescribeNotRead(doc.NotRead); got != "1 hidden slide" || strings.Contains(allText(doc), "quagga") {
		t.Errorf("not read: %s; read: %s", got, allText(doc))
	}
}

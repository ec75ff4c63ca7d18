package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// hidingFormat combines the ways of hiding text in a format with the containers of that format. A way is the notation
// that hides the text "quagga", and a container places it between "Before" and "After". Containers that don't exist
// in the format are omitted. absent lists combinations that don't exist, as "way in container", with the reason.
type hidingFormat struct {
	file       string
	ways       map[string]string
	containers map[string]func(hidden string) []byte
	absent     map[string]string
}

var (
	hidingWays       = []string{"hidden", "struck", "struck by style", "deleted", "color of the ground", "tiny", "off the page", "transparent"}
	hidingContainers = []string{"body", "table", "text box", "header", "note", "comment"}
)

// TestHidingMatrix checks that hidden text is not read, whatever the way of hiding and the container. Combinations
// that a format doesn't have must be listed, so that forgotten ones fail the test.
func TestHidingMatrix(t *testing.T) {
	for _, f := range []hidingFormat{
		hidingDocx(t), hidingXlsx(t), hidingPptx(t), hidingODF(t, "text"), hidingODF(t, "spreadsheet"), hidingODF(t, "presentation"),
		hidingRTF(), hidingHTML("a.html"), hidingHTML("a.md"), hidingPDF(),
	} {
		used := map[string]bool{}
		for _, way := range hidingWays {
			for _, container := range hidingContainers {
				hidden, build := f.ways[way], f.containers[container]
				reason := ""
				for _, cell := range []string{way + " in " + container, way, "in " + container} {
					if reason == "" && f.absent[cell] != "" {
						reason, used[cell] = f.absent[cell], true
					}
				}
				if reason == "" && (hidden == "" || build == nil) {
					t.Errorf("%s: %s in %s: neither tested nor listed as absent", f.file, way, container)
					continue
				}
				if reason != "" {
					continue
				}
				addExample(kindUnseen, f.file, way+" in "+container)
				doc := parsetest.Read(t, f.file, build(hidden))
				got := allText(doc)
				if strings.Contains(got, "quagga") || !strings.Contains(got, "Before") || !strings.Contains(got, "After") ||
					container != "comment" && !strings.Contains(got, "seen") {
					t.Errorf("%s: %s in %s: read %q", f.file, way, container, got)
				}
				if len(doc.NotRead) == 0 && (container != "comment" || f.file[:3] != "a.h" && f.file != "a.md") { // HTML comments are for programmers
					t.Errorf("%s: %s in %s: not counted", f.file, way, container)
				}
			}
		}
		for cell := range f.absent {
			if !used[cell] {
				t.Errorf("%s: %q is listed as absent, but exists", f.file, cell)
			}
		}
	}
}

func hidingDocx(t *testing.T) hidingFormat {
	run := func(properties string) string {
		return `<w:r><w:rPr>` + properties + `</w:rPr><w:t>quagga</w:t></w:r>`
	}
	build := func(body func(p string) string, part, partBody string) func(string) []byte {
		return func(hidden string) []byte {
			p := `<w:p>` + hidden + `<w:r><w:t> seen</w:t></w:r></w:p>`
			parts := map[string]string{}
			if part != "" {
				parts[part] = fmt.Sprintf(partBody, documenttest.WordNS, p)
			}
			return wordDocument(t, documenttest.DocxParagraph("", "Before")+body(p)+documenttest.DocxParagraph("", "After"),
				wordStyle("character", "S", "", `<w:rPr><w:strike/></w:rPr>`), parts)
		}
	}
	reference := func(kind string) func(string) string {
		return func(string) string { return `<w:p><w:r><w:` + kind + `Reference w:id="2"/><w:t>x</w:t></w:r></w:p>` }
	}
	return hidingFormat{
		file: "a.docx",
		ways: map[string]string{
			"hidden": run(`<w:vanish/>`), "struck": run(`<w:strike/>`), "struck by style": run(`<w:rStyle w:val="S"/>`),
			"deleted":             `<w:del><w:r><w:delText>quagga</w:delText></w:r></w:del>`,
			"color of the ground": run(`<w:color w:val="404040"/><w:shd w:val="clear" w:fill="404040"/>`), "tiny": run(`<w:sz w:val="2"/>`),
		},
		containers: map[string]func(string) []byte{
			"body":  build(func(p string) string { return p }, "", ""),
			"table": build(func(p string) string { return `<w:tbl><w:tr><w:tc>` + p + `</w:tc></w:tr></w:tbl>` }, "", ""),
			"text box": build(func(p string) string {
				return `<w:p><w:r><w:drawing><w:txbxContent>` + p + `</w:txbxContent></w:drawing></w:r></w:p>`
			}, "", ""),
			"header":  build(func(string) string { return "" }, "word/header1.xml", `<w:hdr %s>%s</w:hdr>`),
			"note":    build(reference("footnote"), "word/footnotes.xml", `<w:notes %s><w:footnote w:id="2">%s</w:footnote></w:notes>`),
			"comment": build(reference("comment"), "word/comments.xml", `<w:comments %s><w:comment w:id="2">%s</w:comment></w:comments>`),
		},
		absent: map[string]string{
			"off the page": "text flows on the page; drawings off it are in TestDrawingsOffPage", "transparent": "letters have no transparency",
		},
	}
}

func hidingXlsx(t *testing.T) hidingFormat {
	// A way consists of the styles, of which the cell has style 1, the properties of a text box's run, and page header codes.
	sheet := func(cell, styles string, tail string, parts map[string]string) []byte {
		return workbookParts(t, `<sheetData>`+before+`<row r="2">`+cellText("A2", "0", "seen")+cell+`</row>`+after+`</sheetData>`+tail, styles, "", parts)
	}
	part := func(way string, n int) string { return strings.Split(way, "|")[n] }
	color := func(c string) string { return `<a:solidFill><a:srgbClr val="` + c + `"/></a:solidFill>` }
	style := func(font string) string {
		return `<fonts><font/><font>` + font + `</font></fonts><fills><fill/></fills><cellStyleXfs><xf/><xf fontId="1"/></cellStyleXfs>`
	}
	const own, parent = `<cellXfs><xf/><xf fontId="1"/></cellXfs>`, `<cellXfs><xf/><xf xfId="1"/></cellXfs>`
	cell := cellText("B2", "1", "quagga")
	return hidingFormat{
		file: "a.xlsx",
		ways: map[string]string{
			"hidden":              style("") + `<numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs>||`,
			"struck":              style(`<strike/>`) + own + `|<a:rPr strike="sngStrike"/>|&amp;S`,
			"struck by style":     style(`<strike/>`) + parent + `||`,
			"color of the ground": style(`<color rgb="FFFFFFFF"/>`) + own + `|<a:rPr>` + color("FFFFFF") + `</a:rPr>|&amp;KFFFFFF`,
			"tiny":                style(`<sz val="1"/>`) + own + `|<a:rPr sz="100"/>|&amp;1 `,
			"transparent":         `|<a:rPr><a:noFill/></a:rPr>|`,
		},
		containers: map[string]func(string) []byte{
			"body": func(way string) []byte { return sheet(cell, part(way, 0), "", nil) },
			"table": func(way string) []byte {
				return sheet(cell, part(way, 0), "", map[string]string{"xl/tables/table1.xml": `<table ref="A1:B9"NS></table>`})
			},
			"text box": func(way string) []byte {
				return sheet("", "", `<drawing r:id="r1"/>`, map[string]string{"xl/drawings/drawing1.xml": `<d xmlns:a="a"><sp><txBody><a:p><a:r>` + part(way, 1) +
					`<a:t>quagga</a:t></a:r></a:p></txBody></sp></d>`})
			},
			"header": func(way string) []byte {
				code := part(way, 2)
				return sheet("", "", `<headerFooter><oddHeader>&amp;Lseen&amp;R`+code+`quagga</oddHeader></headerFooter>`, nil)
			},
			"comment": func(way string) []byte {
				return sheet("", "", "", map[string]string{"xl/comments1.xml": `<comments><commentList><comment ref="A1"><text><r><rPr>` +
					`</rPr><t>quagga</t></r></text></comment></commentList></comments>`})
			},
		},
		absent: map[string]string{
			"in note": "the notes of a sheet are its comments", "deleted": "deleted cells are not kept", "off the page": "cells can't be moved",
			"color of the ground in table": "the colors of a table's style are unknown",
			"hidden in text box":           "only shapes are hidden, in TestInvisiblePPTX",
			"struck by style in text box":  "text boxes of sheets have no styles",
			"transparent in body":          "cells have no transparency",
			"transparent in table":         "cells have no transparency",
			"transparent in header":        "headers have no transparency",
			"transparent in comment":       "all of a comment is left out",
			"hidden in header":             "headers have no number formats",
			"struck by style in header":    "headers have no styles",
		},
	}
}

func hidingPptx(t *testing.T) hidingFormat {
	run := func(properties string) string {
		return `<a:p><a:r><a:t>seen </a:t></a:r><a:r>` + properties + `<a:t>quagga</a:t></a:r></a:p>`
	}
	around := func(s string) string { return slideShape("", "", "", "", `<a:p><a:r><a:t>`+s+`</a:t></a:r></a:p>`) }
	build := func(shape func(text string) string, part string) func(string) []byte {
		return func(text string) []byte {
			if part != "" {
				return presentation(t, around("Before")+around("After"), map[string]string{part: shape(text)})
			}
			return presentation(t, around("Before")+shape(text)+around("After"), nil)
		}
	}
	box := func(placeholder string) func(string) string {
		return func(text string) string {
			if strings.HasPrefix(text, "LIST") { // a style for a list
				return slideShape("", "", placeholder, `<a:lvl1pPr><a:defRPr strike="sngStrike"/></a:lvl1pPr>`,
					`<a:p><a:r><a:rPr strike="noStrike"/><a:t>seen</a:t></a:r><a:r><a:t>quagga</a:t></a:r></a:p>`)
			}
			return slideShape("", "", placeholder, "", text)
		}
	}
	return hidingFormat{
		file: "a.pptx",
		ways: map[string]string{
			"struck": run(`<a:rPr strike="sngStrike"/>`), "struck by style": "LIST", "tiny": run(`<a:rPr sz="100"/>`),
			"transparent":         run(`<a:rPr><a:noFill/></a:rPr>`),
			"color of the ground": run(`<a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>`),
		},
		containers: map[string]func(string) []byte{
			"body": build(box(`<p:ph idx="1"/>`), ""), "text box": build(box(""), ""), "header": build(box(`<p:ph type="ftr"/>`), ""),
			"note": build(box(`<p:ph type="body" idx="1"/>`), "ppt/notes1.xml"),
			"table": build(func(text string) string {
				return `<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>` + text + `</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`
			}, ""),
			"comment": build(func(string) string { return `<p:cm><p:text>quagga</p:text></p:cm>` }, "ppt/comments1.xml"),
		},
		absent: map[string]string{
			"hidden": "only shapes and slides are hidden, in TestInvisiblePPTX", "deleted": "there are no tracked deletions",
			"off the page":                 "only shapes are, in TestInvisiblePPTX",
			"struck by style in table":     "cells of tables have no list styles",
			"color of the ground in table": "the colors of a table's style are unknown",
		},
	}
}

func hidingODF(t *testing.T, kind string) hidingFormat {
	p := func(s string) string { return `<text:p>` + s + `</text:p>` }
	span := func(style string) string { return `<text:span text:style-name="` + style + `">quagga</text:span>` }
	styles := odfStyle("text", "Old", "", `<style:text-properties style:text-line-through-style="solid"/>`) +
		odfStyle("text", "Tn", "", `<style:text-properties text:display="none"/>`) + odfStyle("text", "To", "Old", "") +
		odfStyle("text", "Ts", "", `<style:text-properties style:text-line-through-style="solid"/>`) +
		odfStyle("text", "Tw", "", `<style:text-properties fo:color="#333333" fo:background-color="#333333"/>`) +
		odfStyle("text", "T1", "", `<style:text-properties fo:font-size="1pt"/>`)
	cell := func(s string) string { return `<table:table-cell>` + s + `</table:table-cell>` }
	row := func(cells string) string { return `<table:table-row>` + cells + `</table:table-row>` }
	frame := func(s string) string { return `<draw:frame><draw:text-box>` + s + `</draw:text-box></draw:frame>` }
	build := func(inner func(hidden string) string) func(string) []byte {
		return func(hidden string) []byte {
			hidden = inner(hidden)
			body, header := p("Before")+hidden+p("After"), ""
			switch kind {
			case "spreadsheet":
				body = `<table:table table:name="S">` + row(cell(p("Before"))+cell(hidden)+cell(p("After"))) + `</table:table>`
			case "presentation":
				body = `<draw:page>` + frame(p("Before")) + hidden + frame(p("After")) + `</draw:page>`
			}
			if text, ok := strings.CutPrefix(hidden, "HEADER"); ok {
				body, header = strings.Replace(body, hidden, "", 1), `<style:master-page><style:header>`+text+`</style:header></style:master-page>`
			}
			return documenttest.ODF(t, kind, `<office:automatic-styles xmlns:fo="f">`+styles+`</office:automatic-styles><BODY>`+body, map[string]string{
				"styles.xml": `<office:document-styles ` + documenttest.ODFNS + ` xmlns:fo="f"><office:styles>` + styles + `</office:styles>` +
					`<office:automatic-styles>` + styles + `</office:automatic-styles>` + header + `</office:document-styles>`,
			})
		}
	}
	comment := build(func(hidden string) string {
		s := p(`<office:annotation>` + p(hidden) + `</office:annotation>x`)
		if kind == "presentation" {
			return `<office:annotation>` + p(hidden) + `</office:annotation>`
		}
		return s
	})
	f := hidingFormat{
		file: map[string]string{"text": "a.odt", "spreadsheet": "a.ods", "presentation": "a.odp"}[kind],
		ways: map[string]string{
			"hidden": span("Tn"), "struck": span("Ts"), "struck by style": span("To"), "color of the ground": span("Tw"), "tiny": span("T1"),
		},
		containers: map[string]func(string) []byte{
			"body":     build(func(hidden string) string { return p(hidden + " seen") }),
			"text box": build(func(hidden string) string { return p(frame(p(hidden + " seen"))) }),
			"header":   build(func(hidden string) string { return "HEADER" + p(hidden+" seen") }),
			"comment":  comment,
		},
		absent: map[string]string{
			"off the page": "text flows on the page; shapes off it are in TestDrawingsOffPage", "transparent": "letters have no transparency that is kept",
			"deleted": "there are no tracked deletions",
		},
	}
	switch kind {
	case "text":
		delete(f.absent, "deleted")
		f.ways["deleted"] = `<text:tracked-changes><text:changed-region><text:deletion>` + p("quagga") + `</text:deletion></text:changed-region></text:tracked-changes>`
		f.absent["deleted in body"] = "deletions are kept before the text, whatever they are from: in TestInvisibleODF"
		for _, container := range hidingContainers[1:] {
			f.absent["deleted in "+container] = "as in the body"
		}
		f.containers["table"] = build(func(hidden string) string { return `<table:table>` + row(cell(p(hidden+" seen"))) + `</table:table>` })
		f.containers["note"] = build(func(hidden string) string {
			return p(`x<text:note><text:note-body>` + p(hidden+" seen") + `</text:note-body></text:note>`)
		})
	case "spreadsheet":
		f.absent["in table"] = "the body is a table"
		f.absent["in note"] = "the notes of a sheet are its comments"
	case "presentation":
		f.containers["body"] = build(func(hidden string) string { return frame(p(hidden + " seen")) })
		f.containers["text box"] = build(func(hidden string) string {
			return `<draw:custom-shape>` + p(hidden+" seen") + `</draw:custom-shape>`
		})
		f.containers["table"] = build(func(hidden string) string {
			return `<draw:frame><table:table>` + row(cell(p(hidden+" seen"))) + `</table:table></draw:frame>`
		})
		f.containers["note"] = build(func(hidden string) string {
			return `<presentation:notes>` + p(hidden+" seen") + `</presentation:notes>`
		})
		delete(f.containers, "header")
		f.absent["in header"] = "slides have no page headers"
	}
	return f
}

func hidingRTF() hidingFormat {
	build := func(format string) func(string) []byte {
		return func(hidden string) []byte {
			return []byte(`{\rtf1\ansi{\colortbl;\red16\green16\blue16;}{\stylesheet{\*\cs10\strike Struck;}{\*\cs11\sbasedon10 Too;}}\pard\plain Before\par ` +
				strings.Replace(format, "TEXT", hidden+" seen", 1) + `\pard\plain After\par}`)
		}
	}
	return hidingFormat{
		file: "a.rtf",
		ways: map[string]string{
			"hidden": `{\v quagga}`, "struck": `{\strike quagga}`, "struck by style": `{\cs11 quagga}`, "deleted": `{\deleted quagga}`,
			"color of the ground": `{\cf1\highlight1 quagga}`, "tiny": `{\fs2 quagga}{\fs20  }`,
		},
		containers: map[string]func(string) []byte{
			"body": build(`TEXT\par`), "table": build(`\trowd\cellx1\cellx2\pard\plain\intbl TEXT\cell\pard\intbl x\cell\row`),
			"text box": build(`{\shp{\*\shpinst{\shptxt TEXT\par}}}`), "header": build(`{\header TEXT\par}`), "note": build(`x{\footnote TEXT}\par`),
			"comment": build(`x{\*\annotation TEXT}\par`),
		},
		absent: map[string]string{"off the page": "text flows on the page", "transparent": "letters have no transparency"},
	}
}

func hidingHTML(file string) hidingFormat {
	build := func(format string) func(string) []byte {
		return func(hidden string) []byte {
			page := `<style>.old i{text-decoration:line-through}</style><p>Before</p>` + strings.Replace(format, "TEXT", hidden+" seen", 1) + `<p>After</p>`
			if file == "a.md" {
				return []byte("# Title\n\n" + strings.ReplaceAll(page, "><p", ">\n\n<p"))
			}
			return []byte("<!doctype html><body>" + page)
		}
	}
	return hidingFormat{
		file: file,
		ways: map[string]string{
			"hidden": `<span hidden>quagga</span>`, "struck": `<s>quagga</s>`, "struck by style": `<span class=old><i>quagga</i></span>`, "deleted": `<del>quagga</del>`,
			"color of the ground": `<span style="color:#fff">quagga</span>`, "tiny": `<span style="font-size:0">quagga</span>`,
			"off the page": `<span style="position:absolute;left:-9999px">quagga</span>`, "transparent": `<span style="opacity:0">quagga</span>`,
		},
		containers: map[string]func(string) []byte{
			"body": build(`<p>TEXT</p>`), "table": build(`<table><tr><td>TEXT</td><td>x</td></tr></table>`), "header": build(`<header>TEXT</header>`),
			"note": build(`<aside>TEXT</aside>`), "comment": build(`<!-- TEXT -->`),
		},
		absent: map[string]string{"in text box": "fields hold text without formats"},
	}
}

func hidingPDF() hidingFormat {
	body := pdfText("72", "650", "Before") + pdfText("72", "300", "After")
	page := func(format string) func(string) []byte {
		return func(hidden string) []byte {
			return pdfOf(pdfPage{content: body + strings.Replace(format, "TEXT", hidden+pdfText("300", "500", "seen"), 1)})
		}
	}
	quagga := pdfText("72", "500", "quagga")
	return hidingFormat{
		file: "a.pdf",
		ways: map[string]string{
			"hidden": "/OC /Off BDC" + quagga + "EMC", "struck": quagga + "72 504 m 112 504 l S", "tiny": "BT /F1 1 Tf 72 500 Td (quagga) Tj ET",
			"color of the ground": "0 0 .4 rg 60 490 100 30 re f" + quagga + "0 g", "off the page": pdfText("-300", "500", "quagga"),
			"transparent": "q /Clear gs" + quagga + "Q",
		},
		containers: map[string]func(string) []byte{
			"body":   page("TEXT"),
			"table":  page("60 480 m 500 480 l S 60 530 m 500 530 l S 60 480 m 60 530 l S 280 480 m 280 530 l S 500 480 m 500 530 l S TEXT"),
			"header": page("q 1 0 0 1 0 270 cm TEXTQ"), "note": page("q 1 0 0 1 0 -460 cm TEXTQ"),
			"text box": func(hidden string) []byte {
				return pdfOf(pdfPage{
					content: body + pdfText("300", "520", "seen"), form: hidden,
					annotations: `<< /Type /Annot /Subtype /FreeText /F 4 /Rect [0 0 600 800] /Contents (quagga) /AP << /N FORM >> >>`,
				})
			},
			"comment": func(string) []byte {
				return pdfOf(pdfPage{content: body, annotations: `<< /Type /Annot /Subtype /Text /Rect [72 300 300 340] /Contents (quagga) >>`})
			},
		},
		absent: map[string]string{"struck by style": "there are no styles", "deleted": "there are no tracked deletions"},
	}
}

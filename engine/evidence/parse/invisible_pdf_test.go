package parse_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

const pdfResources = `/Font << /F1 3 0 R >> /ExtGState << /Clear << /ca 0 /CA 0 >> /Half << /ca 0.5 >> >>
	/Properties << /Off 4 0 R /On 5 0 R /Both << /Type /OCMD /OCGs [4 0 R 5 0 R] /P /AllOn >> >>
	/Shading << /Sh << /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0] /Extend [true true]
	/Function << /FunctionType 2 /Domain [0 1] /C0 [0 0 0.5] /C1 [0 0 0.2] /N 1 >> >> >> /XObject << /Layer 6 0 R /White 7 0 R /Scan 7 0 R`

// pdfPage is a page of a test document. Its content can draw the form /Form, or the form /Outer, which contains
// /Form.
type pdfPage struct{ content, form, annotations string }

// pdfOf makes a PDF. "FORM" in annotations is replaced by the reference to the page's form.
func pdfOf(pages ...pdfPage) []byte {
	const group = "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << " + pdfResources
	objects := []string{
		`<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [4 0 R 5 0 R] /D << /OFF [4 0 R] /Order [4 0 R 5 0 R] >> >> >>`,
		"",
		`<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>`,
		`<< /Type /OCG /Name (Off) >>`,
		`<< /Type /OCG /Name (On) >>`,
		documenttest.PDFStream(group+" >> >> /OC 4 0 R", "BT /F1 12 Tf 72 500 Td (quagga) Tj ET"),
		documenttest.PDFStream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray", "\xff"),
	}
	var kids strings.Builder
	for _, p := range pages {
		n := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", n)
		form := fmt.Sprintf("%d 0 R", n+2)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Annots [%s] "+
				"/Resources << %s /Form %s /Outer %d 0 R >> >> >>",
				n+1, strings.ReplaceAll(p.annotations, "FORM", form), pdfResources, form, n+3),
			documenttest.PDFStream("", p.content),
			documenttest.PDFStream(group+" >> >>", p.form),
			documenttest.PDFStream(group+" /Form "+form+" >> >>", "q 1 0 0 1 0 0 cm /Form Do Q"))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	return documenttest.RawPDF(objects...)
}

// pdfText draws text.
func pdfText(x, y, text string) string {
	return " BT /F1 12 Tf " + x + " " + y + " Td (" + text + ") Tj ET "
}

// pageText returns all text that was read from a page.
func pageText(doc *document.Document, page int) string {
	var sb strings.Builder
	for _, b := range append(doc.Blocks, doc.Furniture...) {
		if b.Locator.Page == page {
			sb.WriteString(b.Text + "\n")
		}
	}
	return sb.String()
}

func TestInvisiblePDF(t *testing.T) {
	quagga := pdfText("72", "500", "quagga")
	ways := map[string]string{
		"left of the page":         pdfText("-300", "500", "quagga"),
		"above the page":           pdfText("72", "1300", "quagga"),
		"below the page":           pdfText("72", "-400", "quagga"),
		"outside the clip":         "q 300 0 50 50 re W n" + quagga + "Q",
		"empty clip":               "q 0 0 0 0 re W n" + quagga + "Q",
		"two clips":                "q 0 490 100 50 re W n 200 490 100 50 re W n" + quagga + "Q",
		"triangle":                 "q 300 500 m 350 500 l 320 550 l h W n" + quagga + "Q",
		"layer that is off":        "/OC /Off BDC" + quagga + "EMC",
		"one of two layers is off": "/OC /Both BDC" + quagga + "EMC",
		"layer in layer":           "/OC /On BDC /OC /Off BDC" + quagga + "EMC EMC",
		"form in a layer":          "/Layer Do",
		"invisible":                "q 3 Tr" + quagga + "Q",
		"clip only":                "q 7 Tr" + quagga + "Q",
		"tiny":                     "BT /F1 1 Tf 72 500 Td (quagga) Tj ET",
		"scaled down":              "q .05 0 0 .05 72 500 cm BT /F1 12 Tf (quagga) Tj ET Q",
		"white":                    "1 g" + quagga + "0 g",
		"white in RGB":             "1 1 .99 rg" + quagga + "0 g",
		"no ink":                   "0 0 0 0 k" + quagga + "0 g",
		"black on black":           "0 g 60 490 100 30 re f" + quagga,
		"blue on blue":             "0 0 .4 rg 60 490 100 30 re f" + quagga + "0 g",
		"behind a box":             quagga + "1 g 60 490 100 30 re f 0 g",
		"behind a black box":       quagga + "60 490 100 30 re f",
		"behind a picture":         quagga + "q 100 0 0 30 60 490 cm /White Do Q",
		"transparent":              "q /Clear gs" + quagga + "Q",
		"white outline":            "q 1 G 1 Tr" + quagga + "Q",
		"struck by a line":         quagga + "72 504 m 112 504 l S",
		"struck by a box":          quagga + "72 503.5 40 .7 re f",
		"struck twice":             quagga + "72 503 40 .5 re f 72 505 40 .5 re f",
		"struck in pieces":         quagga + "72 504 m 90 504 l S 90 504 m 112 504 l S",
		"under its twin":           "/OC /Off BDC" + quagga + "EMC /OC /On BDC" + pdfText("72", "500", "Kudu") + "EMC",
	}
	body := pdfText("72", "700", "Before") + pdfText("72", "300", "After")
	containers := map[string]func(text string) pdfPage{
		"page":        func(text string) pdfPage { return pdfPage{content: body + text} },
		"form":        func(text string) pdfPage { return pdfPage{content: body + "/Form Do", form: text} },
		"nested form": func(text string) pdfPage { return pdfPage{content: body + "/Outer Do", form: text} },
		"table": func(text string) pdfPage {
			return pdfPage{content: body + "60 480 m 500 480 l S 60 530 m 500 530 l S 60 480 m 60 530 l S 280 480 m 280 530 l S " +
				"500 480 m 500 530 l S " + text}
		},
		"annotation": func(text string) pdfPage {
			return pdfPage{
				content: body, form: text,
				annotations: `<< /Type /Annot /Subtype /FreeText /F 4 /Rect [0 0 600 800] /Contents (quagga) /AP << /N FORM >> >>`,
			}
		},
		"header": func(text string) pdfPage { return pdfPage{content: body + "q 1 0 0 1 0 260 cm " + text + "Q"} },
		"footer": func(text string) pdfPage { return pdfPage{content: body + "q 1 0 0 1 0 -460 cm " + text + "Q"} },
	}
	names := slices.Sorted(maps.Keys(ways))
	for container, build := range containers {
		var pages []pdfPage
		for _, way := range names {
			pages = append(pages, build(ways[way]+pdfText("300", "500", "Seen.")))
		}
		doc := parsetest.Read(t, "a.pdf", pdfOf(pages...))
		for i, way := range names {
			addExample(kindUnseen, "a.pdf", way+" in "+container)
			got := pageText(doc, i+1)
			for _, want := range []string{"Before", "Seen.", "After"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s in %s: no %q in %q", way, container, want, got)
				}
			}
			if strings.Contains(got, "quagga") {
				t.Errorf("%s in %s: read %q", way, container, got)
			}
			if !slices.ContainsFunc(doc.NotRead, func(n api.NotRead) bool { return n.Locator.Page == i+1 && n.Count == 1 }) {
				t.Errorf("%s in %s: not counted", way, container)
			}
		}
	}

	zebra := pdfText("72", "500", "Zebra.")
	shown := map[string]string{
		"white on a dark box":     "0 0 .5 rg 60 490 100 30 re f 1 g" + zebra,
		"white on a dark shading": "q 60 490 100 30 re W n /Sh sh Q 1 g" + zebra,
		"dark on a light box":     ".9 g 60 490 100 30 re f 0 g" + zebra,
		"dark on a gray box":      ".5 g 60 490 100 30 re f 0 g" + zebra,
		"light gray":              ".7 g" + zebra,
		"half transparent":        "q /Half gs" + zebra + "Q",
		"layer that is on":        "/OC /On BDC" + zebra + "EMC",
		"outline":                 "q 1 Tr" + zebra + "Q",
		"in its clip":             "q 60 490 100 30 re W n" + zebra + "Q",
		"in a round clip":         "q 60 450 m 60 600 200 600 200 450 c h W n" + zebra + "Q",
		"beside a box":            zebra + "1 g 110 490 100 30 re f",
		"underlined":              zebra + "72 498.5 m 106 498.5 l S",
		"overlined":               zebra + "72 511 m 106 511 l S",
		"line of a table":         zebra + "10 504 m 590 504 l S",
		"covered, then painted":   "60 490 100 30 re f 1 g" + zebra,
		"letter by letter": "1 0 0 rg BT /F1 12 Tf 72 500 Td (Z) Tj ET BT /F1 12 Tf 79.33 500 Td (e) Tj ET BT /F1 12 Tf 86 500 Td (b) Tj ET " +
			"BT /F1 12 Tf 92.67 500 Td (ra.) Tj ET",
		"filled by a shading": "q 7 Tr" + zebra + "60 490 100 30 re W n /Sh sh Q",
		"on a picture":        "q 100 0 0 30 60 490 cm /White Do Q" + zebra,
		"OCR over a picture":  "q 600 0 0 800 0 0 cm /Scan Do Q q 3 Tr" + zebra + "Q",
		"OCR under a picture": zebra + "q 600 0 0 800 0 0 cm /Scan Do Q",
	}
	names = slices.Sorted(maps.Keys(shown))
	var pages []pdfPage
	for _, name := range names {
		pages = append(pages, pdfPage{content: shown[name]}, pdfPage{content: "/Outer Do", form: shown[name]})
	}
	doc := parsetest.Read(t, "a.pdf", pdfOf(pages...))
	for i := range pages {
		if got := pageText(doc, i+1); !strings.Contains(got, "Zebra.") {
			t.Errorf("%s: read %q, without: %s", names[i/2], got, api.DescribeNotRead(doc.NotRead))
		}
	}
}

package parse_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// pdfWithFont makes a PDF of one page with a font, which is object 5, followed by further objects.
func pdfWithFont(content, font string, more ...string) []byte {
	return documenttest.RawPDF(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 " +
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >>",
		documenttest.PDFStream("", content),
		font,
	}, more...)...)
}

func TestPDFGlyphNames(t *testing.T) {
	const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 0 /LastChar 255 /Encoding "
	differences := func(names string) string {
		return "<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 " + names + "] >>"
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"in the font":     {pdfWithFont(pdfText("72", "500", `The o\001ce`), font+differences("/f_f_i")+" >>"), "The office"},
		"own object":      {pdfWithFont(pdfText("72", "500", `A\001er work`), font+"6 0 R >>", differences("/f_t")), "After work"},
		"with a suffix":   {pdfWithFont(pdfText("72", "500", `\001e o\002ce`), font+differences("/T_h.liga /f_f_i.alt")+" >>"), "The office"},
		"by code":         {pdfWithFont(pdfText("72", "500", `The o\001ce`), font+differences("/uni0066_uni0066_i")+" >>"), "The office"},
		"simple names":    {pdfWithFont(pdfText("72", "500", `Con\001dential sta\002`), font+differences("/fi /ff")+" >>"), "Confidential staff"},
		"two in one word": {pdfWithFont(pdfText("72", "500", `e\001ec\002`), font+differences("/f_f /t_t")+" >>"), "effectt"},
		"unknown part": {
			pdfWithFont(pdfText("72", "500", `The o\001ce is open`), font+differences("/f_f_x12")+" >>"),
			"The o\uFFFDce is open",
		},
	} {
		if got := strings.TrimSpace(allText(parsetest.Read(t, "a.pdf", tt.raw))); got != tt.want {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
	}
}

func TestPDFWithoutLetters(t *testing.T) {
	const words = "Access is reviewed by the owner of each system"
	for name, tt := range map[string]struct{ font, more, text string }{
		"unknown names": {font: "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Own /FirstChar 32 /LastChar 126 /Encoding << /Differences [33" +
			strings.Repeat(" /g1", 94) + "] >> >>", text: "(" + words + ")"},
		"no names": {
			font: "<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [<< /Type /Font " +
				"/Subtype /CIDFontType2 /BaseFont /Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 >>] >>",
			text: "<00030004000500060007 0003 0008 0009>",
		},
		"private use": {
			font: "<< /Type /Font /Subtype /Type1 /BaseFont /Own /ToUnicode 6 0 R >>",
			more: documenttest.PDFStream("", "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange "+
				"<21> <7E> <F021> endbfrange"), text: "(" + words + ")",
		},
		"replaced": {
			font: "<< /Type /Font /Subtype /Type1 /BaseFont /Own /ToUnicode 6 0 R >>",
			more: documenttest.PDFStream("", "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <21> <7E> ["+
				strings.Repeat("<FFFD> ", 94)+"] endbfrange"), text: "(" + words + ")",
		},
		"drawn letters": {
			font: "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 10 10] /FontMatrix [.1 0 0 .1 0 0] /FirstChar 65 /LastChar 122 /Widths [" +
				strings.Repeat("6 ", 58) + "] /CharProcs << /a0 6 0 R >> /Encoding << /Differences [65" + strings.Repeat(" /a0", 58) + "] >> >>",
			more: documenttest.PDFStream("", "6 0 0 0 6 8 d1 0 0 5 8 re f"), text: "(" + words + ")",
		},
	} {
		content := "BT /F1 12 Tf 72 500 Td " + tt.text + " Tj ET "
		raw := pdfWithFont(content, tt.font, tt.more)
		if err := parsetest.ReadError(t, parse.Options{}, "a.pdf", raw); !errors.Is(err, document.ErrNoTextLayer) {
			t.Errorf("%s: %v", name, err)
		}
		doc := parsetest.Read(t, "a.pdf", pdfWithFont(content+
			"BT /F2 12 Tf 72 400 Td (But this sentence of the page has all of its many letters, as it is.) Tj ET", tt.font, tt.more))
		got := api.DescribeNotRead(doc.NotRead)
		if got != "1 text in an unreadable font" || !strings.HasPrefix(allText(doc), "But this") {
			t.Errorf("%s: read %q; not read: %s", name, allText(doc), got)
		}
	}
}

// TestPDFRightToLeft checks that words of right-to-left scripts are read in the right order, also next to words of
// other scripts.
func TestPDFRightToLeft(t *testing.T) {
	// In this font, the codes from 0x41 are Hebrew letters, those from 0x61 are Arabic letters, and there are digits.
	font := "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>"
	letters := documenttest.PDFStream("", "1 begincodespacerange <00> <FF> endcodespacerange 4 beginbfrange "+
		"<20> <39> <0020> <41> <5A> <05D0> "+
		"<61> <7A> <0628> <5B> <5B> <FEE3> endbfrange")
	for name, tt := range map[string]struct{ content, want string }{
		// The letters are drawn from left to right, in their visual order.
		"Hebrew":        {"BT /F1 12 Tf 300 500 Td (FED CBA) Tj ET", "אבג דהו"},
		"word by word":  {"BT /F1 12 Tf 350 500 Td (CBA) Tj ET BT /F1 12 Tf 321 500 Td (FED) Tj ET", "אבג דהו"},
		"number":        {"BT /F1 12 Tf 300 500 Td (24 FED CBA) Tj ET", "אבג דהו 24"},
		"number inside": {"BT /F1 12 Tf 300 500 Td (FED 24 CBA) Tj ET", "אבג 24 דהו"},
		"Latin inside": {
			"BT /F1 12 Tf 360 500 Td (CBA) Tj ET BT /F2 12 Tf 321 500 Td (VPN 24) Tj ET BT /F1 12 Tf 289 500 Td (FED) Tj ET",
			"אבג VPN 24 דהו",
		},
		"in a Latin line": {
			"BT /F2 12 Tf 72 500 Td (The word) Tj ET BT /F1 12 Tf 125 500 Td (FED CBA) Tj ET BT /F2 12 Tf 182 500 Td (means this.) Tj ET",
			"The word אבג דהו means this.",
		},
		"Arabic": {"BT /F1 12 Tf 300 500 Td (fed cba) Tj ET", "بةت ثجح"},
	} {
		if got := strings.TrimSpace(allText(parsetest.Read(t, "a.pdf", pdfWithFont(tt.content, font, letters)))); got != tt.want {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
	}
	// Lines in different scripts are not one paragraph.
	raw := pdfWithFont("BT /F1 12 Tf 300 500 Td (FED CBA) Tj 0 -14 Td (fed cba) Tj /F2 12 Tf 0 -14 Td (and Latin) Tj ET", font, letters)
	if got := allText(parsetest.Read(t, "a.pdf", raw)); got != "אבג דהו\nبةت ثجح\nand Latin\n" {
		t.Errorf("got %q", got)
	}
}

// TestPDFVerticalText checks that text that runs upward or downward is read line by line, however the page is
// rotated.
func TestPDFVerticalText(t *testing.T) {
	const lines = "BT /F2 12 Tf 0 0 Td (The keys of the vault) Tj 0 -14 Td (are kept by two people.) Tj ET"
	const table = " -9 20 m 400 20 l S -9 -3 m 400 -3 l S -9 -20 m 400 -20 l S -9 20 m -9 -20 l S 150 20 m 150 -20 l S 400 20 m 400 -20 l S " +
		"BT /F2 12 Tf 0 4 Td (System) Tj 160 0 Td (Owner) Tj -160 -20 Td (Mail) Tj 160 0 Td (Bo Lind) Tj ET"
	const up, down, upside = "q 0 1 -1 0 300 200 cm ", "q 0 -1 1 0 300 600 cm ", "q -1 0 0 -1 500 500 cm "
	const text, row = "The keys of the vault are kept by two people.\n", "System: Mail; Owner: Bo Lind\n"
	upright := pdfText("72", "700", "This text is upright.")
	for name, tt := range map[string]struct{ content, want string }{
		"up":               {up + lines + " Q", text},
		"down":             {down + lines + " Q", text},
		"upside down":      {upside + lines + " Q", text},
		"up and upright":   {upright + up + lines + " Q", "This text is upright.\n" + text},
		"down and upright": {upright + down + lines + " Q", "This text is upright.\n" + text},
		"table up":         {up + table + " Q", row},
		"table down":       {down + table + " Q", row},
		"turned cell": {"60 400 m 500 400 l S 60 500 m 500 500 l S 60 520 m 500 520 l S 60 400 m 60 520 l S " +
			"200 400 m 200 520 l S 500 400 m 500 520 l S " +
			"BT /F2 12 Tf 70 505 Td (System) Tj 140 0 Td (Owner) Tj ET q 0 1 -1 0 100 410 cm BT /F2 12 Tf (Mail server) Tj 0 -14 Td (one) Tj ET Q" +
			pdfText("210", "450", "Bo Lind of operations"), "System: Mail server one; Owner: Bo Lind of operations\n"},
	} {
		for _, turn := range []string{"", "/Rotate 90", "/Rotate 180", "/Rotate 270"} {
			raw := strings.Replace(string(pdfWithFont(tt.content, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")),
				"/Type /Page ", "/Type /Page "+turn+" ", 1)
			doc := parsetest.Read(t, "a.pdf", []byte(raw))
			lines := strings.SplitAfter(allText(doc), "\n")
			slices.SortFunc(lines, func(a, b string) int { return strings.Index(tt.want, a) - strings.Index(tt.want, b) }) // in the order of want
			got := strings.ReplaceAll(strings.Join(lines, ""), "System: Owner\n", "")
			if got != tt.want && (turn == "" || !strings.Contains(name, "turned cell")) {
				t.Errorf("%s%s: read %q, want %q", name, turn, got, tt.want)
			}
		}
	}
}

// TestPDFPicturesNotRead checks that images beside text are counted, but not logos, backgrounds and repeated images.
func TestPDFPicturesNotRead(t *testing.T) {
	text := pdfText("72", "700", "Some text on the page.")
	place := func(w, h, x, y string) string {
		return " q " + w + " 0 0 " + h + " " + x + " " + y + " cm /White Do Q "
	}
	for name, tt := range map[string]struct {
		pages []pdfPage
		want  string
	}{
		"one":        {[]pdfPage{{content: text + place("200", "100", "72", "400")}}, "1 picture"},
		"two":        {[]pdfPage{{content: text + place("200", "100", "72", "400") + place("200", "100", "72", "100")}}, "2 pictures"},
		"strips":     {[]pdfPage{{content: text + place("200", "50", "72", "400") + place("200", "50", "72", "350")}}, "1 picture"},
		"in a form":  {[]pdfPage{{content: text + "/Outer Do", form: place("200", "100", "72", "400")}}, "1 picture"},
		"logo":       {[]pdfPage{{content: text + place("30", "30", "500", "750")}}, ""},
		"background": {[]pdfPage{{content: place("600", "800", "0", "0") + text}}, ""},
		"repeated": {[]pdfPage{
			{content: text + place("200", "100", "72", "400")}, {content: text + place("200", "100", "72", "400")},
		}, "1 picture"},
	} {
		if got := api.DescribeNotRead(parsetest.Read(t, "a.pdf", pdfOf(tt.pages...)).NotRead); got != tt.want {
			t.Errorf("%s: not read: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPDFStackedLetters checks that letters below each other are read as words: columns of Japanese from right to
// left, and words in capitals.
func TestPDFStackedLetters(t *testing.T) {
	stack := func(font string, size, x, y, pitch int, letters ...string) string {
		var sb strings.Builder
		for i, l := range letters {
			fmt.Fprintf(&sb, "BT /%s %d Tf %d %d Td %s Tj ET ", font, size, x, y-i*pitch, l)
		}
		return sb.String()
	}
	const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
	japanese := documenttest.PDFStream("", "1 begincodespacerange <00> <FF> endcodespacerange 6 beginbfchar "+
		"<41> <76E3> <42> <67FB> <43> <306F> <44> <6BCE> <45> <5E74> <46> <3002> endbfchar")
	for name, tt := range map[string]struct {
		content, want string
	}{
		"capitals": {strings.Replace(pdfText("72", "700", "Before"), "/F1", "/F2", 1) + stack("F2", 12, 300, 600, 13, "(S)", "(E)", "(C)", "(R)", "(E)", "(T)"), "Before\nSECRET\n"},
		"columns": {
			stack("F1", 12, 320, 600, 12, "(A)", "(B)", "(C)", "(D)") + stack("F1", 12, 306, 600, 12, "(E)", "(F)"),
			"監査は毎\n年。\n",
		},
		"a list":  {stack("F2", 12, 72, 600, 15, "(Y)", "(N)", "(Y)", "(N)"), "Y N Y N\n"},
		"figures": {stack("F2", 12, 72, 600, 13, "(1)", "(2)", "(3)", "(4)"), "1 2 3 4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := allText(parsetest.Read(t, "a.pdf", pdfWithFont(tt.content, font, japanese))); got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

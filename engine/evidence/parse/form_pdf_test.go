package parse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// pdfForm makes a PDF of one page with form fields, which are the objects from 5 on. Fields with /Kids aren't placed
// on the page.
func pdfForm(content string, fields ...string) []byte {
	var all, shown []string
	for i, f := range fields {
		ref := fmt.Sprintf("%d 0 R", 5+i)
		if !strings.Contains(f, "/Parent") {
			all = append(all, ref)
		}
		if !strings.Contains(f, "/Kids") {
			shown = append(shown, ref)
		}
		fields[i] = "<< " + f + " >>"
		if !strings.Contains(f, "/Kids") {
			fields[i] = "<< /Type /Annot /Subtype /Widget " + f + " >>"
		}
	}
	return documenttest.RawPDF(append([]string{
		fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%s] >> >>", strings.Join(all, " ")),
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [%s] /Resources << /Font << /F1 "+
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >>", strings.Join(shown, " ")),
		documenttest.PDFStream("", content),
	}, fields...)...)
}

func TestPDFForms(t *testing.T) {
	const (
		box   = "/FT /Btn /Rect [300 498 312 510] "
		first = "/FT /Btn /Rect [300 498 312 510] "
		// Two choices after the label: at 300 and 360.
		second = "/FT /Btn /Rect [360 498 372 510] "
		text   = "/FT /Tx /Rect [300 497 560 512] "
		choice = "/FT /Ch /Rect [300 497 560 512] "
		states = "/AP << /N << /On 4 0 R /Off 4 0 R >> >> "
	)
	question := pdfText("72", "500", "Logs are kept:")
	yesNo := question + pdfText("316", "500", "Yes") + pdfText("376", "500", "No")
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"text":            {pdfForm(question, text+"/T (a) /V (for one year)"), "Logs are kept: for one year"},
		"text in UTF-16":  {pdfForm(question, text+"/T (a) /V <FEFF005A00FC0072006900630068>"), "Logs are kept: Zürich"},
		"with appearance": {pdfForm(question, text+"/T (a) /V (for one year) /AP << /N 4 0 R >>"), "Logs are kept: for one year"},
		"value of a parent": {
			pdfForm(question, "/FT /Tx /T (a) /V (for one year) /Kids [6 0 R]", "/Parent 5 0 R /Rect [300 497 560 512]"),
			"Logs are kept: for one year",
		},
		"empty":       {pdfForm(question, text+"/T (a)"), "Logs are kept:"},
		"hint":        {pdfForm("", text+"/T (a) /TU (Logs are kept) /V (for one year)"), "Logs are kept: for one year"},
		"name":        {pdfForm("", text+"/T (Logs_are_kept) /V (for one year)"), "Logs are kept: for one year"},
		"label above": {pdfForm(pdfText("300", "515", "Logs are kept:"), text+"/T (a) /V (for one year)"), "Logs are kept: for one year"},
		"several lines": {
			pdfForm(question, "/FT /Tx /Ff 4096 /Rect [300 440 560 512] /T (a) /V (for one year,\nthen deleted.)"),
			"Logs are kept: for one year, then deleted.",
		},
		"longer than its field": {
			pdfForm(question, text+"/T (a) /V (for "+strings.Repeat("one or two years ", 20)+"only)"),
			"Logs are kept: for " + strings.Repeat("one or two years ", 20) + "only",
		},
		"in a table": {pdfForm(question+"60 490 m 580 490 l S 60 520 m 580 520 l S 60 490 m 60 520 l S 290 490 m 290 520 l S "+
			"580 490 m 580 520 l S",
			text+"/T (a) /V (for one year)"), "Logs are kept: for one year"},
		"password":          {pdfForm(question, text+"/Ff 8192 /T (a) /V (secret)"), "Logs are kept:"},
		"ticked":            {pdfForm(question, box+"/T (a) /V /On /AS /On "+states), "Logs are kept: yes"},
		"ticked, no state":  {pdfForm(question, box+"/T (a) /V /On"), "Logs are kept: yes"},
		"not ticked":        {pdfForm(question, box+"/T (a) /V /Off /AS /Off "+states), "Logs are kept: no"},
		"never ticked":      {pdfForm(question, box+"/T (a)"), "Logs are kept: no"},
		"label after":       {pdfForm(pdfText("316", "500", "Logs are kept"), box+"/T (a) /V /On /AS /On"), "Logs are kept: yes"},
		"label after, off":  {pdfForm(pdfText("316", "500", "Logs are kept"), box+"/T (a) /AS /Off"), "Logs are kept: no"},
		"box with a hint":   {pdfForm("", box+"/T (a) /TU (Logs are kept) /AS /Off"), "Logs are kept: no"},
		"two boxes":         {pdfForm(yesNo, first+"/T (a) /AS /On", second+"/T (b) /AS /Off"), "Logs are kept: Yes"},
		"two boxes, second": {pdfForm(yesNo, first+"/T (a) /AS /Off", second+"/T (b) /AS /On"), "Logs are kept: No"},
		"two boxes, none":   {pdfForm(yesNo, first+"/T (a) /AS /Off", second+"/T (b) /AS /Off"), "Logs are kept:"},
		"radio": {pdfForm(yesNo, "/FT /Btn /Ff 49152 /T (r) /V /No /Kids [6 0 R 7 0 R]", "/Parent 5 0 R /Rect [300 498 312 510] /AS /Off",
			"/Parent 5 0 R /Rect [360 498 372 510] /AS /No"), "Logs are kept: No"},
		"radio, other words": {pdfForm(question+pdfText("316", "500", "weekly")+pdfText("376", "500", "every year"),
			"/FT /Btn /Ff 49152 /T (r) /V /1 /Kids [6 0 R 7 0 R]", "/Parent 5 0 R /Rect [300 498 312 510] /AS /Off",
			"/Parent 5 0 R /Rect [360 498 372 510] /AS /1"), "Logs are kept: every year"},
		"radio without a choice": {pdfForm(yesNo, "/FT /Btn /Ff 49152 /T (r) /Kids [6 0 R 7 0 R]",
			"/Parent 5 0 R /Rect [300 498 312 510] /AS /Off", "/Parent 5 0 R /Rect [360 498 372 510] /AS /Off"), "Logs are kept:"},
		"radio after its words": {pdfForm(pdfText("72", "500", "Are logs kept?")+pdfText("180", "500", "Yes")+pdfText("240", "500", "No"),
			"/FT /Btn /Ff 49152 /T (r) /V /No /Kids [6 0 R 7 0 R]", "/Parent 5 0 R /Rect [210 498 222 510] /AS /Off",
			"/Parent 5 0 R /Rect [265 498 277 510] /AS /No"), "Are logs kept? No"},
		"radio after its words, none": {pdfForm(pdfText("72", "500", "Are logs kept?")+pdfText("180", "500", "Yes")+pdfText("240", "500", "No"),
			"/FT /Btn /Ff 49152 /T (r) /Kids [6 0 R 7 0 R]", "/Parent 5 0 R /Rect [210 498 222 510] /AS /Off",
			"/Parent 5 0 R /Rect [265 498 277 510] /AS /Off"), "Are logs kept?"},
		"combo box":      {pdfForm(question, choice+"/Ff 131072 /T (a) /V (weekly) /Opt [(daily) (weekly)]"), "Logs are kept: weekly"},
		"exported value": {pdfForm(question, choice+"/Ff 131072 /T (a) /V (2) /Opt [[(1) (daily)] [(2) (weekly)]]"), "Logs are kept: weekly"},
		"typed value":    {pdfForm(question, choice+"/Ff 393216 /T (a) /V (by hand) /Opt [(daily) (weekly)]"), "Logs are kept: by hand"},
		"list": {
			pdfForm(question, choice+"/Ff 2097152 /T (a) /V [(daily) (by hand)] /Opt [(daily) (weekly) (by hand)]"),
			"Logs are kept: daily, by hand",
		},
		"nothing chosen": {pdfForm(question, choice+"/Ff 131072 /T (a) /Opt [(daily) (weekly)]"), "Logs are kept:"},
		"typed onto the page": {
			pdfForm(question, "/Subtype /FreeText /Rect [300 497 560 512] /Contents (for one year)"),
			"Logs are kept: for one year",
		},
	} {
		addExample(kindForms, "a.pdf", name)
		doc := parsetest.Read(t, "a.pdf", tt.raw)
		if got := strings.TrimSpace(allText(doc)); got != tt.want || len(doc.NotRead) > 0 {
			t.Errorf("%s: read %q, want %q; not read: %s", name, got, tt.want, api.DescribeNotRead(doc.NotRead))
		}
	}
	doc := parsetest.Read(t, "a.pdf", pdfForm(question, text+"/F 2 /T (a) /V (for one year)"))
	if got := api.DescribeNotRead(doc.NotRead); got != "1 hidden text" || strings.Contains(allText(doc), "year") {
		t.Errorf("hidden field: %q, not read: %s", allText(doc), got)
	}
	xfa := strings.Replace(string(pdfForm(pdfText("72", "500", "Please wait...")+"                    ")), "/AcroForm <<",
		"/NeedsRendering true /AcroForm << /XFA 4 0 R", 1)
	if err := parsetest.ReadError(t, parse.Options{}, "a.pdf", []byte(xfa)); !errors.Is(err, document.ErrUnsupported) ||
		!strings.Contains(err.Error(), "XFA") {
		t.Errorf("XFA: %v", err)
	}
}

// TestPDFFormLines checks that the answers of a form are separate blocks, so that none is attached to another
// question.
func TestPDFFormLines(t *testing.T) {
	raw := pdfForm(pdfText("72", "520", "Access is reviewed:")+pdfText("72", "506", "Backups are tested:")+
		pdfText("72", "492", "Are keys of all")+
		pdfText("72", "478", "systems rotated?"),
		"/FT /Btn /T (a) /AS /On /Rect [200 518 212 530]", "/FT /Btn /T (b) /AS /Off /Rect [200 504 212 516]",
		"/FT /Btn /T (c) /AS /Off /Rect [200 476 212 488]")
	want := "Access is reviewed: yes\nBackups are tested: no\nAre keys of all systems rotated? no\n"
	if got := allText(parsetest.Read(t, "a.pdf", raw)); got != want {
		t.Errorf("got %q", got)
	}
}

// TestPDFAnnotations checks that comments are counted, that typed text is read, and that files inside a PDF are read
// as parts of it.
func TestPDFAnnotations(t *testing.T) {
	const area, all = "/Rect [72 300 300 340] ", "/Rect [0 0 600 800] /AP << /N FORM >> "
	drawn := "BT /F1 12 Tf 72 310 Td (A stamp.) Tj ET"
	for name, tt := range map[string]struct{ annotation, form, text, unread string }{
		"note": {area + "/Subtype /Text /Contents (quagga)", "", "The page.", "1 comment"},
		"highlight": {
			"/Rect [72 498 130 510] /Subtype /Highlight /QuadPoints [72 510 130 510 72 498 130 498] /Contents (quagga)",
			"",
			"The page.",
			"1 comment",
		},
		"drawn highlight":    {all + "/Subtype /Highlight", "q /Half gs 1 1 0 rg 60 490 340 30 re f Q", "The page.", ""},
		"empty note":         {area + "/Subtype /Text", "", "The page.", ""},
		"popup":              {area + "/Subtype /Popup /Contents (quagga)", "", "The page.", ""},
		"link":               {area + "/Subtype /Link /Contents (quagga)", "", "The page.", ""},
		"typed text":         {area + "/Subtype /FreeText /Contents (A stamp.)", "", "The page.\nA stamp.", ""},
		"hidden typed text":  {area + "/Subtype /FreeText /F 2 /Contents (quagga)", "", "The page.", "1 hidden text"},
		"typed, not on view": {area + "/Subtype /FreeText /F 32 /Contents (quagga)", "", "The page.", "1 hidden text"},
		"drawn typed text":   {all + "/Subtype /FreeText /Contents (quagga)", drawn, "The page.\nA stamp.", ""},
		"stamp":              {all + "/Subtype /Stamp /Contents (quagga)", drawn, "The page.\nA stamp.", ""},
		"struck": {
			"/Rect [72 498 130 510] /Subtype /StrikeOut /QuadPoints [72 510 130 510 72 498 130 498]",
			"",
			"",
			"1 struck-through text",
		},
		"struck in part": {
			"/Rect [72 498 130 510] /Subtype /StrikeOut /QuadPoints [72 510 94 510 72 498 94 498]",
			"",
			"page.",
			"1 struck-through text",
		},
		"struck, no points": {"/Rect [72 498 130 510] /Subtype /StrikeOut", "", "", "1 struck-through text"},
		"hidden strike":     {"/Rect [72 498 130 510] /F 2 /Subtype /StrikeOut", "", "The page.", ""},
		"line":              {"/Rect [72 498 130 510] /Subtype /Line /L [72 504 125 504]", "", "", "1 struck-through text"},
		"drawn line":        {all + "/Subtype /Line /L [72 504 125 504]", "72 504 m 125 504 l S", "", "1 struck-through text"},
		"covering square":   {all + "/Subtype /Square", "1 g 60 490 340 30 re f", "", "1 hidden text"},
	} {
		addExample(kindBeside, "a.pdf", name)
		raw := pdfOf(pdfPage{
			content: pdfText("72", "500", "The page.") + pdfText("72", "100", "The end."), form: tt.form,
			annotations: "<< /Type /Annot " + tt.annotation + " >>",
		})
		doc := parsetest.Read(t, "a.pdf", raw)
		got := strings.TrimSpace(strings.TrimSuffix(allText(doc), "The end.\n"))
		if unread := api.DescribeNotRead(doc.NotRead); got != tt.text || unread != tt.unread {
			t.Errorf("%s: read %q, want %q; not read %q, want %q", name, got, tt.text, unread, tt.unread)
		}
	}
}

func TestPDFAttachments(t *testing.T) {
	const stream, file = "/Type /EmbeddedFile", "<< /Type /Filespec /F (%[1]s) /UF (%[1]s) /EF << /F %[2]d 0 R >> >>"
	inner := documenttest.PDF(t, func(p *fpdf.Fpdf) { p.AddPage(); p.Text(20, 20, "The inner page.") })
	build := func(content string) []byte {
		return documenttest.RawPDF(
			"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(a) 7 0 R (b) 8 0 R (c) 9 0 R] >> >> >>",
			"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots ["+
				"<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 7 0 R >> "+
				"<< /Type /Annot /Subtype /FileAttachment /Rect [9 0 18 9] /FS 11 0 R >>] /Resources << /Font << /F1 5 0 R >> >> >>",
			documenttest.PDFStream("", content),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
			documenttest.PDFStream(stream, "Keys are rotated."),
			fmt.Sprintf(file, "keys.txt", 6),
			fmt.Sprintf(file, "../inner.pdf", 10),
			fmt.Sprintf(file, "broken.docx", 13),
			documenttest.PDFStream(stream, string(inner)),
			fmt.Sprintf(file, "results.csv", 12),
			documenttest.PDFStream(stream, "System,Tested\nMail,yes"),
			documenttest.PDFStream(stream, "PK\x03\x04 not a document"),
		)
	}
	want := `# results.csv
| System: Mail; Tested: yes  {results.csv}
# keys.txt
¶ Keys are rotated.  {keys.txt}
# inner.pdf
¶ The inner page.  {inner.pdf}
`
	for page, outline := range map[string]string{pdfText("72", "500", "See the files."): "¶ See the files.\n" + want, "": want} {
		doc := parsetest.Read(t, "a.pdf", build(page))
		if got := documenttest.Outline(doc.Blocks); got != outline {
			t.Errorf("got\n%s", got)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != "1 embedded file" || len(doc.Warnings) != 1 {
			t.Errorf("not read %q, warnings %q", got, doc.Warnings)
		}
	}
}

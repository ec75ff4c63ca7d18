// Package documenttest creates documents for testing document readers, and prints what they have read.
package documenttest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// Outline formats blocks for comparison in tests: kind, level, path and text.
func Outline(blocks []document.Block) string {
	var sb strings.Builder
	for _, b := range blocks {
		mark := map[document.Kind]string{
			document.Heading: "#", document.Paragraph: "¶", document.ListItem: "-", document.TableRow: "|", document.Line: ">",
		}[b.Kind]
		sb.WriteString(
			strings.Repeat(mark, max(b.Level, 1)) + " " + strings.TrimLeft(b.Marker+" ", " ") + strings.ReplaceAll(b.Text, "\n", "⏎"),
		)
		if len(b.HeadingPath) > 0 {
			sb.WriteString("  {" + strings.Join(b.HeadingPath, " > ") + "}")
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}

// Compare reports a difference; want may be indented by tabs.
func Compare(t *testing.T, got, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Date returns the start of a day in UTC.
func Date(y int, m time.Month, d int) *time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return &t
}

// Zip creates an archive of the given parts by name.
func Zip(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		entries = append(entries, name, parts[name])
	}
	return ZipInOrder(t, entries...)
}

// Files returns the files in dir that match a pattern. There must be at least one.
func Files(t testing.TB, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no %s in %s (%v)", pattern, dir, err)
	}
	return list
}

// ZipInOrder creates an archive of entries in the given order: name, content, name, content …
func ZipInOrder(t testing.TB, namesAndContents ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := 0; i < len(namesAndContents); i += 2 {
		p, err := w.Create(namesAndContents[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, namesAndContents[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Parts of a Word document.
const (
	DocxTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	WordNS    = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`
)

// Docx creates a Word document from the content of its body and additional parts.
func Docx(t testing.TB, body string, parts map[string]string) []byte {
	rel := func(id int, kind, target string) string {
		return fmt.Sprintf(
			`<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`,
			id,
			kind,
			target,
		)
	}
	all := map[string]string{
		"[Content_Types].xml": DocxTypes,
		"_rels/.rels":         `<Relationships>` + rel(1, "officeDocument", "word/document.xml") + `</Relationships>`,
		"word/_rels/document.xml.rels": `<Relationships>` + rel(
			1,
			"styles",
			"styles.xml",
		) + rel(
			2,
			"footnotes",
			"footnotes.xml",
		) + rel(
			3,
			"header",
			"header1.xml",
		) + rel(
			4,
			"numbering",
			"numbering.xml",
		) + `</Relationships>`,
		"word/document.xml": `<w:document ` + WordNS + `><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml": `<w:styles ` + WordNS + `>
			<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
			<w:style w:type="paragraph" w:styleId="b1"><w:name w:val="heading 1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="b1"/></w:style>
			<w:style w:type="paragraph" w:styleId="Out"><w:name w:val="Other"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
			<w:style w:type="paragraph" w:styleId="Ring1"><w:name w:val="R1"/><w:basedOn w:val="Ring2"/></w:style>
			<w:style w:type="paragraph" w:styleId="Ring2"><w:name w:val="R2"/><w:basedOn w:val="Ring1"/></w:style>
			<w:style w:type="paragraph" w:styleId="V1"><w:name w:val="toc 1"/></w:style></w:styles>`,
	}
	for k, v := range parts {
		all[k] = v
	}
	return Zip(t, all)
}

// DocxParagraph returns a paragraph of a Word document, with an optional style.
func DocxParagraph(style, text string) string {
	if style != "" {
		style = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
	}
	return `<w:p>` + style + `<w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// Workbook creates an Excel workbook.
func Workbook(t testing.TB, fill func(*excelize.File)) []byte {
	x := excelize.NewFile()
	fill(x)
	var buf bytes.Buffer
	if err := x.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// ODFNS declares the namespaces of an OpenDocument part.
const ODFNS = `xmlns:office="o" xmlns:text="t" xmlns:table="ta" xmlns:draw="d" xmlns:presentation="p" xmlns:style="s" xmlns:meta="m" xmlns:dc="dc"`

// ODF creates an OpenDocument file of a kind ("text", "spreadsheet" or "presentation") from its body.
func ODF(t testing.TB, kind, body string, parts map[string]string) []byte {
	all := map[string]string{
		"mimetype": "application/vnd.oasis.opendocument." + kind,
		"content.xml": `<office:document-content ` + ODFNS + `>` + strings.Replace(
			body,
			"<BODY>",
			`<office:body><office:x>`,
			1,
		) + `</office:x></office:body></office:document-content>`,
	}
	if !strings.Contains(body, "<BODY>") {
		all["content.xml"] = `<office:document-content ` + ODFNS + `><office:body><office:x>` + body + `</office:x></office:body></office:document-content>`
	}
	for k, v := range parts {
		all[k] = v
	}
	return Zip(t, all)
}

// PDF creates a PDF.
func PDF(t testing.TB, fill func(*fpdf.Fpdf)) []byte {
	t.Helper()
	p := fpdf.New("P", "mm", "A4", "")
	p.SetCreationDate(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p.SetFont("Helvetica", "", 11)
	fill(p)
	var buf bytes.Buffer
	if err := p.Output(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// RawPDF creates a PDF from objects, which are numbered from 1. The first is the catalog.
func RawPDF(objects ...string) []byte {
	var buf bytes.Buffer
	buf.WriteString("%PDF-1.7\n")
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", buf.Len())
		fmt.Fprintf(&buf, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := buf.Len()
	fmt.Fprintf(&buf, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, table.String(), len(objects)+1, start)
	return buf.Bytes()
}

// PDFStream returns a stream for RawPDF with additional entries in its dictionary.
func PDFStream(entries, content string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), entries, content)
}

// Lorem is a paragraph from a policy.
const Lorem = "The owner of a system reviews the rights of its users every quarter and removes what is no longer " +
	"needed. The review is recorded with its date and its result, and kept for two years. "

// CyclicPDF returns a PDF whose page tree and bookmarks refer to themselves.
func CyclicPDF() []byte {
	return []byte(`%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Outlines 3 0 R>> endobj
2 0 obj <</Type/Pages/Kids[2 0 R]/Count 1>> endobj
3 0 obj <</First 4 0 R/Last 4 0 R/Count 1>> endobj
4 0 obj <</Title(x)/Next 4 0 R/First 4 0 R/Parent 3 0 R>> endobj
trailer <</Root 1 0 R/Size 5>>
%%EOF`)
}

// words returns the words of a text in lower case.
func words(s string) []string {
	return strings.FieldsFunc(
		strings.ToLower(document.CleanLine(s)),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) },
	)
}

// WordF1 returns the F1 score of the words of two texts, as bags of words.
func WordF1(a, b string) float64 {
	count := map[string]int{}
	as, bs := words(a), words(b)
	for _, w := range as {
		count[w]++
	}
	both := 0
	for _, w := range bs {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	if len(as)+len(bs) == 0 {
		return 1
	}
	return 2 * float64(both) / float64(len(as)+len(bs))
}

// RunTool runs an installed program and returns its output.
func RunTool(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(programtest.FindOrSkip(t, name), args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out)
}

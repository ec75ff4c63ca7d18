// Package docx writes a report as a Word document.
package docx

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/opc"
)

// docxWriter writes a document as Office Open XML (ISO/IEC 29500) from the same blocks as the HTML page
// and Markdown: real headings, a contents field, captions, and tables with repeated header rows.
// Pictures are images with a description; a table next to each contains the same data. The file
// refers to nothing outside itself.
//
//	docx.go    the package: its parts, and the frame of the document
//	blocks.go  blocks, cells and texts as paragraphs and tables
//	image.go   pictures
//	parts.go   metadata, styles, numbering, header and footer
//	style.go   the styles of a user's document
type docxWriter struct {
	w *bufio.Writer
	// bookmarks maps anchors to bookmark names; bookmarkCount counts the bookmarks placed.
	bookmarks     map[string]string
	bookmarkCount int
	textWidth     int // in twentieths of a point
	paper         block.Paper
	theme         drawing.Theme
	// brief is set for a report of few pages: its margins are smaller, and it has no pictures of what tables say.
	brief bool
	// images holds the image parts of the package, in order.
	images         []docxImage
	placedDrawings []placedDrawing
	imageCount     int // number of places where an image is shown
	// hasTheme is set if the package contains a theme.
	hasTheme bool
	err      error
}

// docxMargin is the margin of a page, 2 cm, in twentieths of a point. briefMargin is the margin of a page in a brief
// report, 1.7 cm.
const (
	docxMargin  = 1134
	briefMargin = 964
)

// margin returns the margin of the document's pages.
func margin(d *block.Document) int {
	if d.Brief {
		return briefMargin
	}
	return docxMargin
}

// pageSize returns the size of a page in twentieths of a point.
func pageSize(p block.Paper) (width, height int) {
	w, h := p.Size()
	return int(math.Round(w * 20)), int(math.Round(h * 20))
}

// styledParts lists the parts of the package that refer to styles.
var styledParts = map[string]bool{"word/document.xml": true, "word/header1.xml": true, "word/footer1.xml": true}

// Write writes a report as a Word document. style is nil or a Word document whose styles are used.
func Write(w io.Writer, d block.Document, style []byte) error {
	return writePackage(w, d, style, (*docxWriter).writeBody)
}

// WriteBlocks writes a Word document that contains only the blocks of the sections, with the header and footer of d.
func WriteBlocks(w io.Writer, d block.Document) error {
	return writePackage(w, d, nil, func(x *docxWriter, d *block.Document) {
		x.startBody()
		x.writeParagraph("Title", block.Text(d.Title))
		for _, s := range d.Sections {
			if s.Title != "" {
				x.writeHeading(1, "", s.Title, false)
			}
			for _, b := range s.Blocks {
				x.writeBlock(b)
			}
		}
		x.endBody()
	})
}

// writePackage writes the parts of a Word document; writeBody writes the body.
func writePackage(w io.Writer, d block.Document, style []byte, writeBody func(*docxWriter, *block.Document)) error {
	z := zip.NewWriter(w)
	pageWidth, _ := pageSize(d.Paper)
	x := &docxWriter{
		bookmarks: map[string]string{}, textWidth: pageWidth - 2*margin(&d), paper: d.Paper, theme: d.Theme, brief: d.Brief,
	}
	type part struct {
		name  string
		write func(*bufio.Writer)
	}
	styles, types := xmlHead+docxStylesXML(d.Theme), docxContentTypes
	var own *customStyles
	if len(style) > 0 {
		var err error
		if own, err = mergeStyles(style, styles); err != nil {
			return err
		}
		styles, x.hasTheme = own.styles, own.theme != ""
		if x.hasTheme {
			types = strings.Replace(
				types,
				`</Types>`,
				`<Override PartName="/word/theme/theme1.xml" ContentType="application/vnd.openxmlformats-officedocument.theme+xml"/></Types>`,
				1,
			)
		}
	}
	parts := []part{
		{"[Content_Types].xml", xmlPartWriter(types)},
		{"_rels/.rels", xmlPartWriter(docxRootRelations)},
		{"docProps/core.xml", func(b *bufio.Writer) { writeCoreProperties(b, &d) }},
		{"docProps/app.xml", xmlPartWriter(docxApp)},
		{"word/styles.xml", func(b *bufio.Writer) { _, _ = b.WriteString(styles) }},
		{"word/numbering.xml", xmlPartWriter(docxNumbering)},
		{"word/settings.xml", xmlPartWriter(docxSettings)},
		{"word/header1.xml", func(b *bufio.Writer) { writeDOCXHeader(b, &d) }},
		{"word/footer1.xml", func(b *bufio.Writer) { writeDOCXFooter(b, &d) }},
		{"word/document.xml", func(b *bufio.Writer) {
			x.w = b
			writeBody(x, &d)
		}},
		{"word/_rels/document.xml.rels", func(b *bufio.Writer) { x.writeRelations(b) }},
	}
	if x.hasTheme {
		parts = append(parts, part{"word/theme/theme1.xml", func(b *bufio.Writer) { _, _ = b.WriteString(own.theme) }})
	}
	put := func(p part) error {
		f, err := opc.CreatePart(z, p.name)
		if err != nil {
			return err
		}
		to := f
		var out bytes.Buffer
		if own != nil && styledParts[p.name] {
			to = &out
		}
		b := bufio.NewWriterSize(to, 1<<16)
		p.write(b)
		if err := b.Flush(); err != nil || to == f {
			return err
		}
		_, err = f.Write(own.replaceStyleIDs(out.Bytes()))
		return err
	}
	for _, p := range parts {
		if err := put(p); err != nil {
			return err
		}
	}
	for _, i := range x.images {
		if err := put(part{"word/" + i.name, func(b *bufio.Writer) { _, _ = b.Write(i.data) }}); err != nil {
			return err
		}
	}
	return errors.Join(x.err, z.Close())
}

func xmlPartWriter(text string) func(*bufio.Writer) {
	return func(b *bufio.Writer) { _, _ = b.WriteString(xmlHead + text) }
}

// writeBody writes the body of the document: the title, the table of contents, the basis and the sections.
func (x *docxWriter) writeBody(d *block.Document) {
	x.startBody()
	if w, h := d.FitLogo(160, 90); w > 0 {
		x.placeImage(x.addImage("png", d.Logo), "Logo", d.Organization, w*12700, h*12700)
	}
	if d.Brief {
		x.writeCompactTitle(d.Title)
	} else {
		x.writeParagraph("Title", block.Text(d.Title))
	}
	if d.Organization+d.Assessment != "" {
		x.writeParagraph("Subtitle", block.Text(strings.Trim(d.Organization+": "+d.Assessment, ": ")))
	}
	if d.Brief {
		x.writeParagraph("", block.Text("As of "+d.AsOf+"."))
	} else {
		x.writeParagraph("Date", block.Text("As of "+d.AsOf+"."))
	}
	if d.Line != "" {
		x.writeParagraph("Subtitle", block.UserText(d.Line))
	}
	for _, n := range d.Notices {
		x.writeParagraph("Notice", block.Cell{{Text: n, Strong: true}})
	}
	if len(d.Draft) > 0 {
		x.writeParagraph("Notice", block.Cell{{Text: "DRAFT.", Strong: true}, {Text: " " + strings.Join(d.Draft, " ")}})
	}
	for _, b := range d.Front {
		x.writeBlock(b)
	}
	if !d.Brief {
		x.writeTableOfContents(d)
	}
	for i := range d.Sections {
		followsContents := i == 0 && !d.Brief
		x.writeSection(&d.Sections[i], !followsContents && !isShort(d.Sections[i].Blocks))
	}
	if !d.Brief {
		x.writeHeading(1, "about", "About this report", false)
		for _, b := range d.AboutBlocks() {
			x.writeBlock(b)
		}
		x.writeParagraph("Colophon", block.Text("Written by "+d.Tool+"."))
	} else {
		x.writeParagraph("Empty", block.Text("Written by "+d.Tool+"."))
	}
	x.endBody()
}

// maxShortLines is the maximum number of lines of a chapter that doesn't need a page of its own, which is less than
// half a page.
const maxShortLines = 22

// isShort reports whether a chapter has so few lines, according to a rough count, that it can follow the previous
// chapter on the same page.
func isShort(blocks []block.Block) bool {
	const lineLength = 95 // characters
	lines := 0
	count := func(c block.Cell) { lines += 1 + len(c.Text())/lineLength }
	for _, b := range blocks {
		switch b := b.(type) {
		case block.Heading:
			lines += 2
		case block.Para:
			count(b.Text)
		case block.List:
			for _, c := range b.Items {
				count(c)
			}
		case block.Facts:
			for _, f := range b.Items {
				count(f.Value)
				lines += len(f.List)
			}
		case block.Table:
			lines += 2 + 2*len(b.Rows)
		default:
			return false
		}
	}
	return lines <= maxShortLines
}

// writeCompactTitle writes the title of a brief report, without the space that precedes the titles of other reports.
func (x *docxWriter) writeCompactTitle(title string) {
	x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="Title"/><w:spacing w:before="0" w:after="60"/></w:pPr>`)
	x.writeRun(block.Span{Text: title})
	x.writeRawXML(`</w:p>`)
}

func (x *docxWriter) startBody() {
	x.writeRawXML(xmlHead, `<w:document xmlns:w="`, nsWord, `" xmlns:r="`, nsRelations, `" `, drawingNamespaces, `><w:body>`)
}

// endBody writes the page size, margins, header and footer, and ends the document.
func (x *docxWriter) endBody() {
	width, height := pageSize(x.paper)
	side, top, bottom := (width-x.textWidth)/2, 1418, 1247
	if x.brief {
		top, bottom = 1021, 907
	}
	x.writeRawXML(`<w:sectPr><w:headerReference w:type="default" r:id="rId4"/><w:footerReference w:type="default" r:id="rId5"/>`)
	x.writeRawXMLf(
		`<w:pgSz w:w="%d" w:h="%d"/><w:pgMar w:top="%d" w:right="%d" w:bottom="%d" w:left="%d" w:header="510" w:footer="454" w:gutter="0"/></w:sectPr></w:body></w:document>`,
		width, height, top, side, bottom, side,
	)
}

func (x *docxWriter) writeSection(s *block.Section, startsPage bool) {
	title := s.Title
	if s.Draft != "" {
		title += " (DRAFT)"
	}
	x.writeHeading(1, s.ID, title, startsPage)
	if s.Draft != "" {
		x.writeParagraph("Standing", block.Cell{{Text: s.Draft, Strong: true, Badge: "draft"}})
	}
	if s.Approved != "" {
		x.writeParagraph("Standing", block.Cell{{Text: s.Approved, Strong: true, Badge: "approved"}})
	}
	for _, b := range s.Blocks {
		x.writeBlock(b)
	}
}

// writeTableOfContents writes a field that Word turns into a table of contents with page numbers when the
// user updates it. Until then, it lists the chapters as links.
func (x *docxWriter) writeTableOfContents(d *block.Document) {
	x.writeParagraph("ContentsHeading", block.Text("Contents"))
	x.writeRawXML(
		`<w:p><w:pPr><w:pStyle w:val="TOC1"/></w:pPr><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> TOC \o "1-2" \h \z </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`,
	)
	for i := range d.Sections {
		if i > 0 {
			x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="TOC1"/></w:pPr>`)
		}
		x.writeLink(d.Sections[i].ID, d.Sections[i].Title, "")
		if i+1 < len(d.Sections) {
			x.writeRawXML(`</w:p>`)
		}
	}
	x.writeRawXML(`<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`)
}

// writeHeading writes a heading of the given level. It is the target of links to id.
func (x *docxWriter) writeHeading(level int, id, title string, startsPage bool) {
	style := fmt.Sprintf("Heading%d", level)
	x.writeRawXML(`<w:p><w:pPr><w:pStyle w:val="`, style, `"/>`)
	if startsPage && level == 1 {
		x.writeRawXML(`<w:pageBreakBefore/>`)
	}
	x.writeBidiIfRightToLeft(title)
	if x.brief {
		x.writeRawXML(`<w:spacing w:before="0" w:after="120"/>`)
	}
	x.writeRawXML(`</w:pPr>`)
	x.writeAnchored(id, func() { x.writeRun(block.Span{Text: title}) })
	x.writeRawXML(`</w:p>`)
}

// writeAnchored writes content inside a bookmark for the anchor id. If id is empty, it writes only the content.
func (x *docxWriter) writeAnchored(id string, writeContent func()) {
	if id == "" {
		writeContent()
		return
	}
	x.bookmarkCount++
	n := x.bookmarkCount
	x.writeRawXMLf(`<w:bookmarkStart w:id="%d" w:name="%s"/>`, n, x.bookmarkName(id))
	writeContent()
	x.writeRawXMLf(`<w:bookmarkEnd w:id="%d"/>`, n)
}

// bookmarkName returns the name of the bookmark for an anchor. It consists of at most 40 letters, digits and
// underscores.
func (x *docxWriter) bookmarkName(id string) string {
	if name := x.bookmarks[id]; name != "" {
		return name
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, id)
	name := fmt.Sprintf("a_%s_%d", safe[:min(len(safe), 24)], len(x.bookmarks)+1)
	x.bookmarks[id] = name
	return name
}

func (x *docxWriter) writeRawXML(parts ...string) {
	for _, p := range parts {
		_, _ = x.w.WriteString(p) // errors are reported by Flush
	}
}

func (x *docxWriter) writeRawXMLf(format string, args ...any) {
	_, _ = fmt.Fprintf(x.w, format, args...)
}

// writeEscapedXML writes text with XML escaping. Characters that XML does not allow are replaced with U+FFFD.
func writeEscapedXML(w *bufio.Writer, s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '&':
			_, _ = w.WriteString("&amp;")
		case r == '<':
			_, _ = w.WriteString("&lt;")
		case r == '>':
			_, _ = w.WriteString("&gt;")
		case r == '"':
			_, _ = w.WriteString("&quot;")
		case r < 0x20 && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff, r == utf8.RuneError:
			_, _ = w.WriteRune(utf8.RuneError)
		default:
			_, _ = w.WriteString(s[i : i+n])
		}
		i += n
	}
}

// isRightToLeft reports whether a text starts in a script that is written from right to left.
func isRightToLeft(s string) bool {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko):
			return true
		case unicode.IsLetter(r):
			return false
		}
	}
	return false
}

// Package pdf writes a report as PDF.
package pdf

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
)

// Margins of a page in points.
const (
	pdfLeft         = 48.0
	pdfTop          = 62.0
	pdfBottomMargin = 54.0
)

// pageRight returns the position of the right margin, and bottom returns that of the bottom margin.
func (p *pdfWriter) pageRight() float64 { return p.width - pdfLeft }
func (p *pdfWriter) bottom() float64    { return p.height - pdfBottomMargin }

// pdfWriter lays out a document in one pass. Page numbers and link targets are known only at the
// end, so they are added to the pages afterwards.
type pdfWriter struct {
	file  *fpdf.Fpdf
	fonts fontSet
	theme drawing.Theme
	doc   *block.Document

	width, height float64 // of a page
	cursorY       float64
	left, right   float64
	// strips holds the panels and rules drawn at the side of all content.
	strips []strip
	// openTableHeads draws the headers of the open tables at the top of a new page.
	openTableHeads []func()

	tags structure

	anchors         map[string]pagePosition
	links           []linkArea
	contentsEntries []contentsEntry
	// missing holds the characters that no font has.
	missing map[rune]bool
	// installed loads the fonts that have not been tried yet.
	installed []func() ([]byte, error)

	current struct { // the page's current graphics state
		page  int
		face  *face
		size  float64
		color drawing.ColorName
	}
}

// pagePosition is a page number and a vertical position on that page.
type pagePosition struct {
	page int
	y    float64
}

type linkArea struct {
	pagePosition
	x, w, h float64
	ref     string
}

// contentsEntry is an entry in the table of contents. Its page number is filled in at the end.
type contentsEntry struct {
	pagePosition
	ref  string
	bold bool
	endX float64 // the right end of its text
	// element is the entry's structure element.
	element int
}

// strip is a vertical strip beside the text. It is filled from left to right. If left and right are equal, it
// is a thin line.
type strip struct {
	left, right float64
	fill        drawing.ColorName
}

// Write writes a report as a PDF with a table of contents, bookmarks and links. A character that no font has is shown
// as a box and listed on the last page.
func Write(w io.Writer, d block.Document, fonts Fonts) (err error) {
	if fonts.Named != nil {
		defer func() { // the library doesn't validate font tables and may panic
			if r := recover(); r != nil {
				err = fmt.Errorf("the font for reports can't be used: %v", r)
			}
		}()
	}
	p, err := layOutDocument(d, fonts)
	if err != nil {
		return err
	}
	tags := p.tags
	var b bytes.Buffer
	if err := p.file.Output(&b); err != nil {
		return err
	}
	return tags.writeTagged(w, b.Bytes()) // p is no longer used, so its pages don't take up memory
}

// layOutDocument lays out all pages of a document.
func layOutDocument(d block.Document, other Fonts) (*pdfWriter, error) {
	fonts, err := newFontSet(other.Named)
	if err != nil {
		return nil, err
	}
	width, height := d.Paper.Size()
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width, Ht: height}})
	f.SetCompression(true)
	f.SetCatalogSort(true)
	asOf := d.Time
	if asOf.IsZero() {
		asOf = time.Unix(0, 0) // the library replaces a zero time with the current time
	}
	f.SetCreationDate(asOf.UTC())
	f.SetModificationDate(asOf.UTC())
	f.SetAutoPageBreak(false, 0)
	f.SetMargins(0, 0, 0)
	f.SetLang("en")
	p := &pdfWriter{
		file:      f,
		fonts:     fonts,
		installed: other.Installed,
		theme:     d.Theme,
		doc:       &d,
		width:     width,
		height:    height,
		left:      pdfLeft,
		right:     width - pdfLeft,
		tags:      newStructure(),
		anchors:   map[string]pagePosition{},
		missing:   map[rune]bool{},
	}
	fonts.register(f)
	f.SetTitle(p.replaceMissingGlyphs(strings.TrimPrefix(cmp.Or(d.Organization, d.Assessment)+": "+d.Title, ": ")), true)
	f.SetSubject(p.replaceMissingGlyphs(d.Assessment), true)
	f.SetAuthor(p.replaceMissingGlyphs(d.Organization), true)
	f.SetCreator(p.replaceMissingGlyphs(d.Tool), true)
	p.drawFrontPage()
	for i := range d.Sections {
		p.drawChapter(&d.Sections[i])
		d.Sections[i].Blocks = nil // free memory: the blocks of a long report are most of it
	}
	p.drawAboutChapter()
	p.drawMissingGlyphNote()
	p.drawHeadersAndResolveLinks()
	f.SetKeywords(p.replaceMissingGlyphs(d.Provenance+p.describeFallbacks()), true)
	if err := f.Error(); err != nil {
		return nil, fmt.Errorf("lay out pages: %w", err)
	}
	return p, nil
}

// describeFallbacks lists the installed fonts used by the report, for the PDF's properties.
func (p *pdfWriter) describeFallbacks() (s string) {
	for _, f := range p.fonts.fallbacks {
		s += "; font=" + f.fullName()
	}
	return s
}

// newPage starts a new page. If it splits a table, it repeats the table's header.
func (p *pdfWriter) newPage() {
	p.endMark()
	p.file.AddPage()
	p.cursorY = pdfTop
	p.current.page = 0
	if len(p.doc.Draft) > 0 {
		p.asArtifact(p.drawWatermark)
	}
	if len(p.openTableHeads) == 0 {
		return
	}
	p.asArtifact(func() {
		for _, head := range p.openTableHeads {
			head()
			p.reserveHeight(3)
		}
	})
}

func (p *pdfWriter) drawWatermark() {
	p.file.SetAlpha(0.07, "Normal")
	p.file.TransformBegin()
	p.file.TransformRotate(35, p.width/2, p.height/2)
	p.drawText(p.width/2-195, p.height/2+40, p.fonts.bold, 120, drawing.Bad, "DRAFT")
	p.file.TransformEnd()
	p.file.SetAlpha(1, "Normal")
}

// ensureSpace starts a new page if the current one has no room for a block of height h.
func (p *pdfWriter) ensureSpace(h float64) {
	if p.cursorY+min(h, p.bottom()-pdfTop) > p.bottom() {
		p.newPage()
	}
}

// reserveHeight reserves an area of height h and returns the y position of its top. It starts a new page if
// necessary.
func (p *pdfWriter) reserveHeight(h float64) float64 {
	if p.cursorY+h > p.bottom() && p.cursorY > pdfTop {
		p.newPage()
	}
	y := p.cursorY
	for _, d := range p.strips {
		p.setFillColor(d.fill)
		p.file.Rect(d.left, y, max(d.right-d.left, 1.2), h, "F")
	}
	p.cursorY += h
	return y
}

// addSpaceUnlessAtTop adds vertical space, except at the top of a page.
func (p *pdfWriter) addSpaceUnlessAtTop(h float64) {
	if p.cursorY+h > p.bottom() {
		p.cursorY = p.bottom() // the next content starts a page
		return
	}
	if p.cursorY > pdfTop {
		p.reserveHeight(h)
	}
}

// withInset calls drawContent with wider margins and with strips at the side of the text.
func (p *pdfWriter) withInset(left, right float64, strips []strip, drawContent func()) {
	l, r, n := p.left, p.right, len(p.strips)
	p.left, p.right, p.strips = p.left+left, p.right-right, append(p.strips, strips...)
	drawContent()
	p.left, p.right, p.strips = l, r, p.strips[:n]
}

// setAnchor makes the current position the target of links to id.
func (p *pdfWriter) setAnchor(id string) {
	if id != "" {
		p.anchors[id] = pagePosition{p.file.PageNo(), p.cursorY}
	}
}

func (p *pdfWriter) setFillColor(n drawing.ColorName) { p.file.SetFillColor(p.rgb(n)) }
func (p *pdfWriter) setDrawColor(n drawing.ColorName) { p.file.SetDrawColor(p.rgb(n)) }

func (p *pdfWriter) rgb(n drawing.ColorName) (r, g, b int) {
	c := p.theme.Color(n)
	return int(c.R), int(c.G), int(c.B)
}

// drawRule draws a straight line.
func (p *pdfWriter) drawRule(x1, y1, x2, y2, width float64, c drawing.ColorName) {
	p.setDrawColor(c)
	p.file.SetLineWidth(width)
	p.file.Line(x1, y1, x2, y2)
}

// drawText writes text that is known to fit on the line. y is the position of the baseline.
func (p *pdfWriter) drawText(x, y float64, f *face, size float64, c drawing.ColorName, s string) {
	p.startMark()
	if n := &p.current; n.page != p.file.PageNo() || n.face != f || n.size != size {
		p.file.SetFont(f.name, "", size)
		n.page, n.face, n.size = p.file.PageNo(), f, size
	}
	if p.current.color != c {
		p.file.SetTextColor(p.rgb(c))
		p.current.color = c
	}
	p.file.Text(x, y, s)
}

// drawFrontPage draws the first page, with the title, the organization and the table of contents.
func (p *pdfWriter) drawFrontPage() {
	d := p.doc
	p.newPage()
	band, y := 190.0, 62.0
	if d.Brief { // the first page has to hold the answer, and may have to mark drafts
		band, y = 120, 22
	}
	p.setFillColor(drawing.Accent)
	p.file.Rect(0, 0, p.width, band, "F")
	p.setFillColor(drawing.Band)
	p.file.Rect(0, band, p.width, 5, "F")
	right := p.right - p.drawLogo(band)
	for _, l := range []struct {
		text string
		face *face
		size float64
	}{
		{d.Organization, p.fonts.regular, 13},
		{d.Title, p.fonts.bold, 27},
		{d.Assessment, p.fonts.regular, 14},
		{"As of " + d.AsOf, p.fonts.regular, 10},
		{d.Line, p.fonts.regular, 10},
	} {
		if l.text == "" {
			continue
		}
		p.tag("P", "", func() {
			for _, ln := range p.fitText(l.text, l.face, l.size, drawing.OnAccent, right-p.left, 2) {
				p.drawLine(ln, p.left, y, l.size*1.3)
				y += l.size * 1.3
			}
		})
		y += 4
	}
	p.cursorY = band + 25
	if d.Brief {
		p.cursorY = band + 12
	}
	for _, n := range d.Notices {
		p.drawNotice(n, nil, drawing.Warn, drawing.WarnGround)
	}
	switch {
	case len(d.Draft) > 0 && d.Brief:
		p.drawNotice("DRAFT. "+strings.Join(d.Draft, " "), nil, drawing.Bad, drawing.BadGround)
	case len(d.Draft) > 0:
		p.drawNotice("DRAFT. Not everything in this report has been approved:", d.Draft, drawing.Bad, drawing.BadGround)
	}
	if len(d.Front) > 0 {
		p.drawBlocks(d.Front)
		p.cursorY = p.bottom() // the next content starts a page
	}
	if !d.Brief {
		if len(d.Front) > 0 {
			p.newPage()
		}
		p.drawTableOfContents()
	}
}

// drawLogo draws the logo on a white background in the upper right corner of the first page, vertically centered in
// the band, which has the given height. It returns the width that it occupies.
func (p *pdfWriter) drawLogo(band float64) float64 {
	w, h := p.doc.FitLogo(130, 80)
	if w == 0 || h == 0 {
		return 0
	}
	const pad = 8.0
	top := min(40, (band-h)/2-pad)
	x := p.pageRight() - w - 2*pad
	p.setFillColor(drawing.Paper)
	p.file.Rect(x, top, w+2*pad, h+2*pad, "F")
	p.file.RegisterImageOptionsReader("logo", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(p.doc.Logo))
	p.tag("Figure", "Logo", func() {
		p.startMark()
		p.file.ImageOptions("logo", x+pad, top+pad, w, h, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	})
	return w + 2*pad + 14
}

func (p *pdfWriter) drawNotice(text string, items []string, c, bg drawing.ColorName) {
	p.addSpaceUnlessAtTop(4)
	p.withInset(0, 0, []strip{{p.left, p.right, bg}, {p.left, p.left + 4, c}}, func() {
		p.withInset(14, 10, nil, func() {
			p.reserveHeight(6)
			p.drawParagraph(block.Text(text), textStyle{face: p.fonts.bold, size: 9.5, color: drawing.Ink}, 0)
			for _, s := range items {
				p.drawBullet(block.Text(s), textStyle{face: p.fonts.regular, size: 9, color: drawing.Ink})
			}
			p.reserveHeight(6)
		})
	})
	p.addSpaceUnlessAtTop(4)
}

// drawPanel draws a text on a colored background.
func (p *pdfWriter) drawPanel(c block.Cell, edge, ground drawing.ColorName) {
	p.addSpaceUnlessAtTop(4)
	p.withInset(0, 0, []strip{{p.left, p.right, ground}, {p.left, p.left + 4, edge}}, func() {
		p.withInset(14, 10, nil, func() {
			p.reserveHeight(7)
			p.drawParagraph(c, textStyle{face: p.fonts.regular, size: 10.5, color: drawing.Ink}, 0)
			p.reserveHeight(7)
		})
	})
	p.addSpaceUnlessAtTop(8)
}

func (p *pdfWriter) drawTableOfContents() {
	p.addSpaceUnlessAtTop(10)
	p.setAnchor("contents")
	p.drawParagraph(block.Text("Contents"), textStyle{face: p.fonts.bold, size: 13, color: drawing.Ink}, 4)
	for i := range p.doc.Sections {
		s := &p.doc.Sections[i]
		title := s.Title
		if s.Draft != "" {
			title += " (DRAFT)"
		}
		p.drawContentsLine(title, s.ID, 0)
		for _, b := range s.Blocks {
			if h, is := b.(block.Heading); is && !h.Minor {
				p.drawContentsLine(h.Text, h.ID, 1)
			}
		}
	}
	p.drawContentsLine("About this report", "about", 0)
}

func (p *pdfWriter) drawContentsLine(title, ref string, level int) {
	st, height := textStyle{face: p.fonts.bold, size: 10, color: drawing.Ink}, 17.0
	if level > 0 {
		st, height = textStyle{face: p.fonts.regular, size: 9, color: drawing.Ink}, 13
	}
	x := p.left + float64(level)*14
	ln := p.fitText(title, st.face, st.size, st.color, p.right-x-40, 1)
	y := p.reserveHeight(height)
	end := x
	entry := p.addElement("P", "")
	if len(ln) > 0 {
		p.drawInElement(entry, func() { p.drawLine(ln[0], x, y, height) })
		end = x + ln[0].width
	}
	p.contentsEntries = append(
		p.contentsEntries,
		contentsEntry{pagePosition: pagePosition{p.file.PageNo(), y}, ref: ref, bold: level == 0, endX: end, element: entry},
	)
	p.links = append(p.links, linkArea{pagePosition: pagePosition{p.file.PageNo(), y}, x: x, w: p.right - x, h: height, ref: ref})
}

func (p *pdfWriter) drawAboutChapter() {
	if p.doc.Brief {
		return
	}
	p.startChapter(nil)
	p.drawChapterTitle("about", "About this report", false)
	p.drawBlocks(p.doc.AboutBlocks())
}

// startChapter starts a new page unless the current one has enough room for the beginning of the chapter.
func (p *pdfWriter) startChapter(blocks []block.Block) {
	need := 50.0
	for i, b := range blocks {
		_, heading := b.(block.Heading)
		_, text := b.(block.Para)
		if need += p.minStartHeight(b); i == 3 || !heading && !text {
			break
		}
	}
	if room := p.bottom() - p.cursorY; room < max(need, chapterShare*(p.bottom()-pdfTop)) {
		p.newPage()
		return
	}
	p.addSpaceUnlessAtTop(26)
}

// chapterShare is the share of a page that must still be empty for a new chapter to start on the page.
const chapterShare = 0.4

func (p *pdfWriter) drawChapter(s *block.Section) {
	p.startChapter(s.Blocks)
	p.drawChapterTitle(s.ID, s.Title, s.Draft != "")
	if s.Draft != "" {
		p.drawParagraph(block.Text(s.Draft), textStyle{face: p.fonts.bold, size: 9.5, color: drawing.Bad}, 4)
	}
	if s.Approved != "" {
		p.drawParagraph(block.Text(s.Approved), textStyle{face: p.fonts.bold, size: 9.5, color: drawing.Good}, 4)
	}
	p.drawBlocks(s.Blocks)
}

// drawChapterTitle draws the title of a chapter, with an anchor and a bookmark.
func (p *pdfWriter) drawChapterTitle(id, text string, draft bool) {
	p.setAnchor(id)
	p.addBookmark(text, 0)
	if draft {
		text += " (DRAFT)"
	}
	p.tag("H1", "", func() {
		p.drawParagraph(block.Text(text), textStyle{face: p.fonts.bold, size: 18, color: drawing.Ink}, 0)
	})
	y := p.reserveHeight(10)
	p.drawRule(p.left, y+4, p.right, y+4, 1.6, drawing.Accent)
}

func (p *pdfWriter) addBookmark(text string, level int) {
	p.file.SetFont(p.fonts.regular.name, "", 9) // the font determines the text encoding
	p.current.page = 0
	p.file.Bookmark(p.replaceMissingGlyphs(text), level, p.cursorY)
}

// returnToPage continues an earlier page. The library writes the color of a text only if it differs from the last
// fill color, even if that color was set on another page. Therefore, returnToPage sets the fill color again.
func (p *pdfWriter) returnToPage(n int) {
	p.file.SetPage(n)
	p.current.page = 0
	p.setFillColor(drawing.Paper)
}

// drawHeadersAndResolveLinks draws the headers and footers of all pages, and fills in the page numbers and link
// targets, which are known only at the end.
func (p *pdfWriter) drawHeadersAndResolveLinks() {
	last := p.file.PageCount()
	for n := 1; n <= last; n++ {
		p.returnToPage(n)
		p.asArtifact(func() { p.drawHeaderFooter(n, last) })
	}
	for _, e := range p.contentsEntries {
		to, known := p.anchors[e.ref]
		if !known {
			continue
		}
		p.returnToPage(e.page)
		face, size, height := p.fonts.regular, 9.0, 13.0
		if e.bold {
			face, size, height = p.fonts.bold, 10, 17
		}
		s := fmt.Sprint(to.page)
		w := face.textWidth(s, size)
		p.drawInElement(e.element, func() { p.drawText(p.right-w, e.y+height*0.72, face, size, drawing.Ink, s) })
		p.file.SetDashPattern([]float64{0.8, 2.6}, 0)
		p.drawRule(e.endX+6, e.y+height*0.72, p.right-w-6, e.y+height*0.72, 0.7, drawing.Soft)
		p.file.SetDashPattern(nil, 0)
	}
	ends := map[string]int{}
	for _, l := range p.links {
		to, known := p.anchors[l.ref]
		if !known {
			continue
		}
		id, exists := ends[l.ref]
		if !exists {
			id = p.file.AddLink()
			p.file.SetLink(id, max(to.y-12, 0), to.page)
			ends[l.ref] = id
		}
		p.file.SetPage(l.page)
		p.file.Link(l.x, l.y, l.w, l.h, id)
	}
	p.file.SetPage(last)
}

// drawHeaderFooter draws the header and footer of page n. last is the number of the last page.
func (p *pdfWriter) drawHeaderFooter(n, last int) {
	soft, size := drawing.Soft, 7.5
	one := func(s string, width float64) textLine {
		l := p.fitText(s, p.fonts.regular, size, soft, width, 1)
		if len(l) == 0 {
			return textLine{}
		}
		return l[0]
	}
	width := (p.pageRight() - pdfLeft) * 0.8
	if n > 1 {
		p.drawLine(one(strings.TrimPrefix(p.doc.Organization+", "+p.doc.Assessment, ", "), width), pdfLeft, 30, 10)
		p.drawRule(pdfLeft, 44, p.pageRight(), 44, 0.5, drawing.Rule)
	}
	if len(p.doc.Draft) > 0 && n > 1 {
		p.drawText(p.pageRight()-p.fonts.bold.textWidth("DRAFT", 9), 38, p.fonts.bold, 9, drawing.Bad, "DRAFT")
	}
	foot := p.height - 34
	p.drawRule(pdfLeft, foot-4, p.pageRight(), foot-4, 0.5, drawing.Rule)
	line := p.doc.Title + ", as of " + p.doc.AsOf + "."
	if n == last { // also lets the evidence reader recognize the program's own reports
		line += " Written by " + p.doc.Tool + "."
	}
	p.drawLine(one(line, width), pdfLeft, foot, 10)
	if p.doc.Footer != "" {
		p.drawLine(one(p.doc.Footer, p.pageRight()-pdfLeft), pdfLeft, foot+10, 10)
	}
	number := fmt.Sprintf("Page %d of %d", n, last)
	p.drawText(p.pageRight()-p.fonts.regular.textWidth(number, size), foot+7.2, p.fonts.regular, size, soft, number)
}

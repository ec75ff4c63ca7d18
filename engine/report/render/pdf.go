package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/report/drawing"
)

// The page, in points: A4, upright.
const (
	pdfWidth  = 595.28
	pdfHeight = 841.89
	pdfLeft   = 48.0
	pdfRight  = pdfWidth - 48
	pdfTop    = 62.0
	pdfBottom = pdfHeight - 54
)

// pdf lays a document out on pages, in one pass: what is only known at its end (page
// numbers, the ends of links) is written onto the earlier pages then.
type pdf struct {
	f     *fpdf.Fpdf
	fonts fontSet
	theme drawing.Theme
	doc   *document

	y           float64
	left, right float64
	// decor is drawn along whatever is taken of a page: panels, rules at the side.
	decor []decor
	// heads are of the tables that are open; a new page begins with them.
	heads []func()

	places  map[string]spot
	links   []linkArea
	entries []entry
	// missing are characters that no font has.
	missing map[rune]bool

	now struct { // what the page's stream has set
		page  int
		face  *face
		size  float64
		color drawing.Name
	}
}

// spot is a place on a page.
type spot struct {
	page int
	y    float64
}

type linkArea struct {
	spot
	x, w, h float64
	ref     string
}

// entry is a line of the contents, whose page number is not known yet.
type entry struct {
	spot
	ref  string
	bold bool
	end  float64 // where its text ends
}

// decor is a strip along the text: filled from Left to Right, or a line where they are one.
type decor struct {
	left, right float64
	fill        drawing.Name
}

// writePDF writes the document as PDF, with contents, bookmarks and links. A character that
// no font has is shown as a box, and the last page names it; fallback, a TrueType font, may
// have it.
func writePDF(w io.Writer, d document, asOf time.Time, fallback []byte) (err error) {
	if fallback != nil {
		defer func() { // the library trusts a font's tables
			if r := recover(); r != nil {
				err = fmt.Errorf("the font for reports can't be used: %v", r)
			}
		}()
	}
	p, err := layPDF(d, asOf, fallback)
	if err != nil {
		return err
	}
	return p.f.Output(w)
}

// layPDF lays all pages out.
func layPDF(d document, asOf time.Time, fallback []byte) (*pdf, error) {
	fonts, err := newFontSet(fallback)
	if err != nil {
		return nil, err
	}
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: pdfWidth, Ht: pdfHeight}})
	f.SetCompression(true)
	f.SetCatalogSort(true)
	if asOf.IsZero() {
		asOf = time.Unix(0, 0) // a zero date would be taken for now
	}
	f.SetCreationDate(asOf.UTC())
	f.SetModificationDate(asOf.UTC())
	f.SetAutoPageBreak(false, 0)
	f.SetMargins(0, 0, 0)
	f.SetLang("en")
	p := &pdf{f: f, fonts: fonts, theme: d.Theme, doc: &d, left: pdfLeft, right: pdfRight, places: map[string]spot{}, missing: map[rune]bool{}}
	fonts.register(f)
	f.SetTitle(p.plain(strings.TrimPrefix(d.Organization+": "+d.Title, ": ")), true)
	f.SetSubject(p.plain(d.Assessment), true)
	f.SetAuthor(p.plain(d.Organization), true)
	f.SetCreator(p.plain(d.Tool), true)
	p.front()
	p.about()
	for i := range d.Sections {
		p.chapter(&d.Sections[i])
		d.Sections[i].Blocks = nil // a long report's are most of what is held
	}
	p.missingNote()
	p.finish()
	if err := f.Error(); err != nil {
		return nil, fmt.Errorf("laying out the pages: %w", err)
	}
	return p, nil
}

// newPage begins a page; open tables repeat their heads on it.
func (p *pdf) newPage() {
	p.f.AddPage()
	p.y = pdfTop
	p.now.page = 0
	if len(p.doc.Draft) > 0 {
		p.watermark()
	}
	for _, head := range p.heads {
		head()
		p.take(3)
	}
}

func (p *pdf) watermark() {
	p.f.SetAlpha(0.07, "Normal")
	p.f.TransformBegin()
	p.f.TransformRotate(35, pdfWidth/2, pdfHeight/2)
	p.text(pdfWidth/2-195, pdfHeight/2+40, p.fonts.bold, 120, drawing.Bad, "DRAFT")
	p.f.TransformEnd()
	p.f.SetAlpha(1, "Normal")
}

// need begins a new page where less than h is left on this one.
func (p *pdf) need(h float64) {
	if p.y+min(h, pdfBottom-pdfTop) > pdfBottom {
		p.newPage()
	}
}

// take takes a strip of the page, on a new one where this is full, and gives its top.
func (p *pdf) take(h float64) float64 {
	if p.y+h > pdfBottom && p.y > pdfTop {
		p.newPage()
	}
	y := p.y
	for _, d := range p.decor {
		p.fill(d.fill)
		p.f.Rect(d.left, y, max(d.right-d.left, 1.2), h, "F")
	}
	p.y += h
	return y
}

// gap takes free space, none at the top of a page.
func (p *pdf) gap(h float64) {
	if p.y+h > pdfBottom {
		p.y = pdfBottom // what comes next begins a page
		return
	}
	if p.y > pdfTop {
		p.take(h)
	}
}

// inset lays something out between other margins, along a decor.
func (p *pdf) inset(left, right float64, d []decor, lay func()) {
	l, r, n := p.left, p.right, len(p.decor)
	p.left, p.right, p.decor = p.left+left, p.right-right, append(p.decor, d...)
	lay()
	p.left, p.right, p.decor = l, r, p.decor[:n]
}

// anchor notes that links to id lead here.
func (p *pdf) anchor(id string) {
	if id != "" {
		p.places[id] = spot{p.f.PageNo(), p.y}
	}
}

func (p *pdf) fill(n drawing.Name) { p.f.SetFillColor(p.parts(n)) }
func (p *pdf) draw(n drawing.Name) { p.f.SetDrawColor(p.parts(n)) }

func (p *pdf) parts(n drawing.Name) (r, g, b int) {
	c := p.theme.Of(n)
	return int(c.R), int(c.G), int(c.B)
}

// line draws a rule.
func (p *pdf) line(x1, y1, x2, y2, width float64, c drawing.Name) {
	p.draw(c)
	p.f.SetLineWidth(width)
	p.f.Line(x1, y1, x2, y2)
}

// text writes a run that is known to fit; y is its baseline.
func (p *pdf) text(x, y float64, f *face, size float64, c drawing.Name, s string) {
	if n := &p.now; n.page != p.f.PageNo() || n.face != f || n.size != size {
		p.f.SetFont(f.name, "", size)
		n.page, n.face, n.size = p.f.PageNo(), f, size
	}
	if p.now.color != c {
		p.f.SetTextColor(p.parts(c))
		p.now.color = c
	}
	p.f.Text(x, y, s)
}

// front is the first page: what this is, whose, and what is in it.
func (p *pdf) front() {
	d := p.doc
	p.newPage()
	p.fill(drawing.Accent)
	p.f.Rect(0, 0, pdfWidth, 190, "F")
	p.fill(drawing.Band)
	p.f.Rect(0, 190, pdfWidth, 5, "F")
	right := p.right - p.logo()
	y := 62.0
	for _, l := range []struct {
		text string
		face *face
		size float64
	}{{d.Organization, p.fonts.regular, 13}, {d.Title, p.fonts.bold, 27}, {d.Assessment, p.fonts.regular, 14}, {"As of " + d.AsOf, p.fonts.regular, 10}, {d.Line, p.fonts.regular, 10}} {
		if l.text == "" {
			continue
		}
		for _, ln := range p.breakText(l.text, l.face, l.size, drawing.OnAccent, right-p.left, 2) {
			p.drawLine(ln, p.left, y, l.size*1.3)
			y += l.size * 1.3
		}
		y += 4
	}
	p.y = 215
	for _, n := range d.Notices {
		p.notice(n, nil, drawing.Warn, drawing.WarnGround)
	}
	if len(d.Draft) > 0 {
		p.notice("DRAFT. What follows was not all approved by a person:", d.Draft, drawing.Bad, drawing.BadGround)
	}
	p.contents()
}

// logo stands at the upper right of the first page on white; it tells what room it takes.
func (p *pdf) logo() float64 {
	w, h := logoSize(p.doc.Logo, 130, 80)
	if w == 0 || h == 0 {
		return 0
	}
	const pad, top = 8.0, 40.0
	x := pdfRight - w - 2*pad
	p.fill(drawing.Paper)
	p.f.Rect(x, top, w+2*pad, h+2*pad, "F")
	p.f.RegisterImageOptionsReader("logo", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(p.doc.Logo))
	p.f.ImageOptions("logo", x+pad, top+pad, w, h, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	return w + 2*pad + 14
}

func (p *pdf) notice(text string, items []string, c, bg drawing.Name) {
	p.gap(4)
	p.inset(0, 0, []decor{{p.left, p.right, bg}, {p.left, p.left + 4, c}}, func() {
		p.inset(14, 10, nil, func() {
			p.take(6)
			p.paragraph(plain(text), style{p.fonts.bold, 9.5, drawing.Ink}, 0)
			for _, s := range items {
				p.bullet(plain(s), style{p.fonts.regular, 9, drawing.Ink})
			}
			p.take(6)
		})
	})
	p.gap(4)
}

func (p *pdf) contents() {
	p.gap(10)
	p.anchor("contents")
	p.paragraph(plain("Contents"), style{p.fonts.bold, 13, drawing.Ink}, 4)
	p.contentsLine("About this report", "about", 0)
	for i := range p.doc.Sections {
		s := &p.doc.Sections[i]
		title := s.Title
		if s.Draft != "" {
			title += " (DRAFT)"
		}
		p.contentsLine(title, s.ID, 0)
		for _, b := range s.Blocks {
			if h, is := b.(heading); is && !h.Minor {
				p.contentsLine(h.Text, h.ID, 1)
			}
		}
	}
}

func (p *pdf) contentsLine(title, ref string, level int) {
	st, height := style{p.fonts.bold, 10, drawing.Ink}, 17.0
	if level > 0 {
		st, height = style{p.fonts.regular, 9, drawing.Ink}, 13
	}
	x := p.left + float64(level)*14
	ln := p.breakText(title, st.face, st.size, st.color, p.right-x-40, 1)
	y := p.take(height)
	end := x
	if len(ln) > 0 {
		p.drawLine(ln[0], x, y, height)
		end = x + ln[0].width
	}
	p.entries = append(p.entries, entry{spot{p.f.PageNo(), y}, ref, level == 0, end})
	p.links = append(p.links, linkArea{spot{p.f.PageNo(), y}, x, p.right - x, height, ref})
}

func (p *pdf) about() {
	p.newPage()
	p.title("about", "About this report", false)
	p.block(p.doc.Facts)
	p.block(p.doc.Versions)
}

func (p *pdf) chapter(s *section) {
	p.newPage()
	p.title(s.ID, s.Title, s.Draft != "")
	if s.Draft != "" {
		p.paragraph(plain(s.Draft), style{p.fonts.bold, 9.5, drawing.Bad}, 4)
	}
	if s.Approved != "" {
		p.paragraph(plain(s.Approved), style{p.fonts.bold, 9.5, drawing.Good}, 4)
	}
	p.blocks(s.Blocks)
}

// title opens a chapter.
func (p *pdf) title(id, text string, draft bool) {
	p.anchor(id)
	p.bookmark(text, 0)
	if draft {
		text += " (DRAFT)"
	}
	p.paragraph(plain(text), style{p.fonts.bold, 18, drawing.Ink}, 0)
	y := p.take(10)
	p.line(p.left, y+4, p.right, y+4, 1.6, drawing.Accent)
}

func (p *pdf) bookmark(text string, level int) {
	p.f.SetFont(p.fonts.regular.name, "", 9) // the font says how the text is coded
	p.now.page = 0
	p.f.Bookmark(p.plain(text), level, p.y)
}

// finish writes what was not known before: page numbers, and where links lead.
func (p *pdf) finish() {
	last := p.f.PageCount()
	for n := 1; n <= last; n++ {
		p.f.SetPage(n)
		p.now.page = 0
		p.running(n, last)
	}
	for _, e := range p.entries {
		to, known := p.places[e.ref]
		if !known {
			continue
		}
		p.f.SetPage(e.page)
		face, size, height := p.fonts.regular, 9.0, 13.0
		if e.bold {
			face, size, height = p.fonts.bold, 10, 17
		}
		s := fmt.Sprint(to.page)
		w := face.width(s, size)
		p.text(p.right-w, e.y+height*0.72, face, size, drawing.Ink, s)
		p.f.SetDashPattern([]float64{0.8, 2.6}, 0)
		p.line(e.end+6, e.y+height*0.72, p.right-w-6, e.y+height*0.72, 0.7, drawing.Soft)
		p.f.SetDashPattern(nil, 0)
	}
	ends := map[string]int{}
	for _, l := range p.links {
		to, known := p.places[l.ref]
		if !known {
			continue
		}
		id, made := ends[l.ref]
		if !made {
			id = p.f.AddLink()
			p.f.SetLink(id, max(to.y-12, 0), to.page)
			ends[l.ref] = id
		}
		p.f.SetPage(l.page)
		p.f.Link(l.x, l.y, l.w, l.h, id)
	}
	p.f.SetPage(last)
}

// running are the lines above and below the text.
func (p *pdf) running(n, last int) {
	soft, size := drawing.Soft, 7.5
	one := func(s string, width float64) line {
		l := p.breakText(s, p.fonts.regular, size, soft, width, 1)
		if len(l) == 0 {
			return line{}
		}
		return l[0]
	}
	width := (pdfRight - pdfLeft) * 0.8
	if n > 1 {
		p.drawLine(one(strings.TrimPrefix(p.doc.Organization+", "+p.doc.Assessment, ", "), width), pdfLeft, 30, 10)
		p.line(pdfLeft, 44, pdfRight, 44, 0.5, drawing.Rule)
	}
	if len(p.doc.Draft) > 0 && n > 1 {
		p.text(pdfRight-p.fonts.bold.width("DRAFT", 9), 38, p.fonts.bold, 9, drawing.Bad, "DRAFT")
	}
	foot := pdfHeight - 34
	p.line(pdfLeft, foot-4, pdfRight, foot-4, 0.5, drawing.Rule)
	p.drawLine(one(p.doc.Title+", as of "+p.doc.AsOf+". Written by "+p.doc.Tool+".", width), pdfLeft, foot, 10)
	if p.doc.Footer != "" {
		p.drawLine(one(p.doc.Footer, pdfRight-pdfLeft), pdfLeft, foot+10, 10)
	}
	number := fmt.Sprintf("page %d of %d", n, last)
	p.text(pdfRight-p.fonts.regular.width(number, size), foot+7.2, p.fonts.regular, size, soft, number)
}

package parse

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
)

const (
	maxPageChars   = 400_000
	maxPageObjects = 30_000
	maxPageRules   = 20_000
	maxFormDepth   = 6
)

// box is a rectangle of a page as it is shown: y grows downward, units are points.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) h() float64 { return b.y1 - b.y0 }
func (b box) join(o box) box {
	return box{min(b.x0, o.x0), min(b.y0, o.y0), max(b.x1, o.x1), max(b.y1, o.y1)}
}

// word is a run of characters without a space. Its box is as high as its type is large,
// and stands on the base line: what fonts say of their own heights can't be compared.
type word struct {
	box
	text string
	bold bool
}

// rule is a ruling line of a table, or the edge of a filled cell.
type rule struct {
	horizontal   bool
	at, from, to float64 // y and x's of a horizontal rule; x and y's of a vertical one
}

// pdfPage is what a page shows, before any order is made of it.
type pdfPage struct {
	number int
	w, h   float64
	words  []word
	rules  []rule
	images bool
}

// pageReader turns a page of PDFium into words and rules.
type pageReader struct {
	m      *pdfModule
	page   uint64
	out    *pdfPage
	rotate uint64
}

// readPage reads page n, counted from 1.
func (m *pdfModule) readPage(doc uint64, n int) (*pdfPage, error) {
	page := m.call("FPDF_LoadPage", doc, uint64(n-1))
	if m.err != nil || page == 0 {
		return nil, m.failed(pageName(n))
	}
	r := &pageReader{m: m, page: page, out: &pdfPage{number: n}}
	r.out.w = float64(math.Float32frombits(uint32(m.call("FPDF_GetPageWidthF", page))))
	r.out.h = float64(math.Float32frombits(uint32(m.call("FPDF_GetPageHeightF", page))))
	r.rotate = m.call("FPDFPage_GetRotation", page) & 3
	if err := r.readWords(); err != nil {
		return nil, err
	}
	r.readObjects()
	m.call("FPDF_ClosePage", page)
	if m.err != nil {
		return nil, m.failed(pageName(n))
	}
	return r.out, nil
}

// show maps a rectangle of the page's own space to how the page is shown.
func (r *pageReader) show(left, bottom, right, top float64) box {
	x0, y0 := r.turn(left, bottom)
	x1, y1 := r.turn(right, top)
	return box{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)}
}

func (r *pageReader) turn(x, y float64) (float64, float64) {
	switch r.rotate {
	case 1:
		return y, x
	case 2:
		return r.out.w - x, y
	case 3:
		return r.out.w - y, r.out.h - x
	}
	return x, r.out.h - y
}

func (r *pageReader) readWords() error {
	m := r.m
	text := m.call("FPDFText_LoadPage", r.page)
	if m.err != nil {
		return m.failed(pageName(r.out.number))
	}
	if text == 0 {
		return nil
	}
	count := int(int32(m.call("FPDFText_CountChars", text)))
	if count > maxPageChars {
		return fail(ErrTooLarge, pageName(r.out.number), "%d characters on one page", count)
	}
	b := wordBuilder{r: r, text: text}
	chars := m.pageText(text, count)
	unicodeOf, boxOf := m.fn("FPDFText_GetUnicode"), m.fn("FPDFText_GetLooseCharBox")
	for i := range count {
		var c rune
		if chars != nil {
			c = rune(chars[i])
		} else {
			c = rune(uint32(m.callFn(unicodeOf, text, uint64(i))))
		}
		if m.err != nil {
			return m.failed(pageName(r.out.number))
		}
		switch {
		case c == 0x02 || c == 0xFFFE || c == 0xAD:
			c = '-' // PDFium's mark of a hyphen that breaks a word at the end of a line
		case c == 0 || c == 0xFFFF || unicode.IsSpace(c) || unicode.IsControl(c):
			b.end()
			continue
		}
		if m.callFn(boxOf, text, uint64(i), uint64(m.scratch)) == 0 {
			continue
		}
		// FS_RECTF: left, top, right, bottom.
		g := r.show(m.float(0), m.float(12), m.float(8), m.float(4))
		if g.h() <= 0.01 || math.IsNaN(g.x0+g.x1+g.y0+g.y1) || math.IsInf(g.x0+g.x1+g.y0+g.y1, 0) {
			continue
		}
		b.add(i, c, g)
	}
	b.end()
	m.call("FPDFText_ClosePage", text)
	if m.err != nil {
		return m.failed(pageName(r.out.number))
	}
	return nil
}

// pageText gets all characters of a page at once, which costs a hundredth of asking for each
// (the watchdog makes calls dear). nil where they can't be matched to their places one by one:
// some have no Unicode, or need two units of UTF-16.
func (m *pdfModule) pageText(text uint64, count int) []uint16 {
	size := uint32(2 * (count + 1))
	at := uint32(m.call("malloc", uint64(size)))
	if at == 0 {
		return nil
	}
	defer func() { m.call("free", uint64(at)) }()
	if n := m.call("FPDFText_GetText", text, 0, uint64(count), uint64(at)); uint32(n) != uint32(count)+1 {
		return nil
	}
	raw, ok := m.mem.Read(at, size)
	if !ok {
		return nil
	}
	units := make([]uint16, count)
	for i := range units {
		units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
		if utf16.IsSurrogate(rune(units[i])) {
			return nil
		}
	}
	return units
}

// wordBuilder joins characters to words in the order of the content stream.
type wordBuilder struct {
	r    *pageReader
	text uint64
	s    strings.Builder
	at   box
	last box // of the last character

	object uint64 // the text object that the rest was asked of
	open   bool
	size   float64 // of type, as shown
	base   float64 // y of the base line
	upside bool    // written upward or downward
	tilted bool    // a watermark across the page
	bold   bool
}

func (b *wordBuilder) add(i int, c rune, g box) {
	if b.open && !b.goesOn(g) {
		b.end()
	}
	if !b.open {
		b.begin(i, g)
	}
	b.s.WriteRune(c)
	b.at, b.last = b.at.join(g), g
}

// goesOn reports whether a character stands right behind the last: not on another line, not
// far back, and without room for a space that was never written.
func (b *wordBuilder) goesOn(g box) bool {
	a := b.last
	if b.upside {
		a, g = box{a.y0, a.x0, a.y1, a.x1}, box{g.y0, g.x0, g.y1, g.x1}
		return min(g.y1, a.y1)-max(g.y0, a.y0) > 0.3*min(g.h(), a.h()) && g.x0-a.x1 < 0.25*b.size && a.x0-g.x1 < 0.25*b.size
	}
	gap := g.x0 - a.x1
	// The letters of a ligature share its box: a step back of one letter is none.
	return min(g.y1, a.y1)-max(g.y0, a.y0) > 0.3*min(g.h(), a.h()) && gap < 0.22*b.size && gap > -1.5*b.size
}

// begin asks for what the characters of a word have in common. A text object has one font
// and one base line, so that its words need not ask again.
func (b *wordBuilder) begin(i int, g box) {
	m, at := b.r.m, uint64(i)
	b.open, b.at = true, g
	b.s.Reset()
	object := m.call("FPDFText_GetTextObject", b.text, at)
	if object != 0 && object == b.object {
		return
	}
	b.object = object
	b.size = math.Float64frombits(m.call("FPDFText_GetFontSize", b.text, at))
	angle := 0.0
	if m.call("FPDFText_GetMatrix", b.text, at, uint64(m.scratch)) != 0 {
		b.size *= math.Hypot(m.float(8), m.float(12))
		angle = math.Atan2(m.float(4), m.float(0))
	}
	if !(b.size > 0.5 && b.size < 2000) {
		b.size = g.h()
	}
	b.base = g.y1 - 0.2*b.size
	if m.call("FPDFText_GetCharOrigin", b.text, at, uint64(m.scratch), uint64(m.scratch)+8) != 0 {
		x, _ := m.mem.ReadFloat64Le(m.scratch)
		y, _ := m.mem.ReadFloat64Le(m.scratch + 8)
		_, b.base = b.r.turn(x, y)
	}
	turned := math.Mod(math.Abs(angle+float64(b.r.rotate)*math.Pi/2), math.Pi)
	b.upside = math.Abs(turned-math.Pi/2) < 0.1
	b.tilted = !b.upside && turned > 0.1 && turned < math.Pi-0.1
	b.bold = b.r.bold(b.text, i)
}

func (b *wordBuilder) end() {
	if !b.open {
		return
	}
	if b.open = false; b.tilted {
		return
	}
	if !b.upside {
		b.at.y0, b.at.y1 = b.base-0.8*b.size, b.base+0.2*b.size
	}
	if at := b.at; math.IsNaN(at.y0+at.y1) || math.IsInf(at.y0+at.y1, 0) {
		return
	}
	b.r.out.words = append(b.r.out.words, word{box: b.at, text: b.s.String(), bold: b.bold})
}

// bold judges by the font's name, and by its weight where the name says nothing.
func (r *pageReader) bold(text uint64, i int) bool {
	m := r.m
	n := uint32(m.call("FPDFText_GetFontInfo", text, uint64(i), uint64(m.scratch), 256, uint64(m.scratch)+256))
	if m.err != nil || n == 0 || n > 256 {
		return false
	}
	raw, ok := m.mem.Read(m.scratch, n-1)
	if !ok {
		return false
	}
	name := strings.ToLower(string(raw))
	return strings.Contains(name, "bold") || strings.Contains(name, "black") || strings.Contains(name, "heavy")
}

// matrix is a PDF transformation: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (t matrix) apply(x, y float64) (float64, float64) {
	return t.a*x + t.c*y + t.e, t.b*x + t.d*y + t.f
}

// then is t followed by u.
func (t matrix) then(u matrix) matrix {
	return matrix{
		t.a*u.a + t.b*u.c, t.a*u.b + t.b*u.d,
		t.c*u.a + t.d*u.c, t.c*u.b + t.d*u.d,
		t.e*u.a + t.f*u.c + u.e, t.e*u.b + t.f*u.d + u.f,
	}
}

// readObjects looks for ruling lines and pictures.
func (r *pageReader) readObjects() {
	count := int(int32(r.m.call("FPDFPage_CountObjects", r.page)))
	left := maxPageObjects
	for i := 0; i < count && left > 0 && r.m.err == nil; i++ {
		r.object(r.m.call("FPDFPage_GetObject", r.page, uint64(i)), matrix{a: 1, d: 1}, 0, &left)
	}
}

func (r *pageReader) object(obj uint64, outer matrix, depth int, left *int) {
	const path, image, form = 2, 3, 5
	m := r.m
	if *left--; obj == 0 || *left < 0 || len(r.out.rules) > maxPageRules {
		return
	}
	kind := m.call("FPDFPageObj_GetType", obj)
	if kind == image {
		r.out.images = true
	}
	if kind != path && kind != form || m.err != nil {
		return
	}
	t := outer
	if m.call("FPDFPageObj_GetMatrix", obj, uint64(m.scratch)) != 0 {
		t = matrix{m.float(0), m.float(4), m.float(8), m.float(12), m.float(16), m.float(20)}.then(outer)
	}
	if kind == path {
		r.path(obj, t)
		return
	}
	if depth >= maxFormDepth {
		return
	}
	count := int(int32(m.call("FPDFFormObj_CountObjects", obj)))
	for i := 0; i < count && *left > 0 && m.err == nil; i++ {
		r.object(m.call("FPDFFormObj_GetObject", obj, uint64(i)), t, depth+1, left)
	}
}

// path takes the straight, upright lines of a path: strokes, thin filled rectangles, edges of cells.
func (r *pageReader) path(obj uint64, t matrix) {
	const line, bezier, move = 0, 1, 2
	m := r.m
	count := int(int32(m.call("FPDFPath_CountSegments", obj)))
	var x, y, startX, startY float64
	for i := 0; i < min(count, 4000) && m.err == nil && len(r.out.rules) <= maxPageRules; i++ {
		seg := m.call("FPDFPath_GetPathSegment", obj, uint64(i))
		if seg == 0 || m.call("FPDFPathSegment_GetPoint", seg, uint64(m.scratch), uint64(m.scratch)+4) == 0 {
			continue
		}
		px, py := t.apply(m.float(0), m.float(4))
		px, py = r.turn(px, py)
		switch m.call("FPDFPathSegment_GetType", seg) {
		case move:
			startX, startY = px, py
		case line:
			r.rule(x, y, px, py)
		}
		x, y = px, py
		if m.call("FPDFPathSegment_GetClose", seg) != 0 {
			r.rule(x, y, startX, startY)
			x, y = startX, startY
		}
	}
}

func (r *pageReader) rule(x0, y0, x1, y1 float64) {
	const straight, short, edge = 1.0, 4.0, 2.0
	if max(x0, x1) < edge || max(y0, y1) < edge || min(x0, x1) > r.out.w-edge || min(y0, y1) > r.out.h-edge {
		return // the edge of the page itself
	}
	switch dx, dy := math.Abs(x1-x0), math.Abs(y1-y0); {
	case dy <= straight && dx >= short:
		r.out.rules = append(r.out.rules, rule{true, (y0 + y1) / 2, min(x0, x1), max(x0, x1)})
	case dx <= straight && dy >= short:
		r.out.rules = append(r.out.rules, rule{false, (x0 + x1) / 2, min(y0, y1), max(y0, y1)})
	}
}

func utf16LEToUTF8(raw []byte) []rune {
	u := make([]uint16, len(raw)/2)
	for i := range u {
		u[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
	}
	return utf16.Decode(u)
}

package pdf

import (
	"math"
	"strings"
	"unicode"
)

const (
	maxPageChars   = 400_000
	maxPageObjects = 30_000
	maxPageRules   = 20_000
	maxFormDepth   = 6
)

// box is a rectangle on the displayed page: y grows downward, units are points.
type box struct{ x0, y0, x1, y1 float64 }

// pointBox returns the box of a single point.
func pointBox(x, y float64) box { return box{x0: x, y0: y, x1: x, y1: y} }

func (b box) height() float64 { return b.y1 - b.y0 }
func (b box) union(o box) box {
	return box{x0: min(b.x0, o.x0), y0: min(b.y0, o.y0), x1: max(b.x1, o.x1), y1: max(b.y1, o.y1)}
}

// contains reports whether the middle of a word is inside b.
func (b box) contains(w word) bool {
	x, y := (w.x0+w.x1)/2, (w.y0+w.y1)/2
	return x > b.x0 && x < b.x1 && y > b.y0 && y < b.y1
}

func (b box) overlaps(o box) bool { return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 }

// overlapsMuch reports whether two boxes overlap more than neighboring lines and letters usually do.
func (b box) overlapsMuch(o box) bool {
	w, h := min(b.x1, o.x1)-max(b.x0, o.x0), min(b.y1, o.y1)-max(b.y0, o.y0)
	return w > 1 && h > 0.3*min(b.height(), o.height())
}

// word is a run of characters without a space. Its box is as high as the font size and rests on the baseline,
// because font metrics are not comparable.
type word struct {
	box
	text string
	bold bool
	turn turn

	beginsAnswer, endsAnswer bool // to a question of a form
}

// rule is a ruling line of a table, or the edge of a filled cell.
type rule struct {
	horizontal   bool
	at, from, to float64 // y and x range of a horizontal rule; x and y range of a vertical one
}

// pageContent is the content of a page before its reading order is determined.
type pageContent struct {
	number int
	w, h   float64
	x, y   float64 // of the lower left corner of the visible area, in page space
	words  []word
	unseen []unseenWord
	rules  []rule

	fields      []formField
	notRead     []string // kinds of content that was not read
	struckAreas []box    // areas that annotations strike through
	// isUnreadable is set if the fonts of most of the text don't specify its letters.
	isUnreadable bool
	pictures     []box

	// pictureShare is the share of the page covered by images, 0 to 1, without accounting for overlaps.
	pictureShare float64
	rotation     int // clockwise quarter turns for display
}

// countUnread records content that was not read.
func (p *pageContent) countUnread(kind string) { p.notRead = append(p.notRead, kind) }

// toDisplayBox converts a rectangle from page space to the displayed page.
func (p *pageContent) toDisplayBox(left, bottom, right, top float64) box {
	x0, y0 := p.toDisplayPoint(left, bottom)
	x1, y1 := p.toDisplayPoint(right, top)
	return box{x0: min(x0, x1), y0: min(y0, y1), x1: max(x0, x1), y1: max(y0, y1)}
}

func (p *pageContent) toDisplayPoint(x, y float64) (float64, float64) {
	x, y = x-p.x, y-p.y
	switch p.rotation {
	case 1:
		return y, x
	case 2:
		return p.w - x, y
	case 3:
		return p.w - y, p.h - x
	}
	return x, p.h - y
}

// addRule adds a straight line, unless it is too short or slanted to be part of a table.
func (p *pageContent) addRule(x0, y0, x1, y1 float64) {
	const straight, short, edge = 1.0, 4.0, 2.0
	if max(x0, x1) < edge || max(y0, y1) < edge || min(x0, x1) > p.w-edge || min(y0, y1) > p.h-edge {
		return // the edge of the page itself
	}
	switch dx, dy := math.Abs(x1-x0), math.Abs(y1-y0); {
	case dy <= straight && dx >= short:
		p.rules = append(p.rules, rule{horizontal: true, at: (y0 + y1) / 2, from: min(x0, x1), to: max(x0, x1)})
	case dx <= straight && dy >= short:
		p.rules = append(p.rules, rule{horizontal: false, at: (x0 + x1) / 2, from: min(y0, y1), to: max(y0, y1)})
	}
}

// addPictureShare adds the area of an image to the share of the page covered by images. t maps the unit square
// to the image.
func (p *pageContent) addPictureShare(t matrix) {
	if share := math.Abs(t.a*t.d-t.b*t.c) / (p.w * p.h); share > 0 { // not NaN
		p.pictureShare = min(1, p.pictureShare+share)
	}
}

// visibleRune returns the visible form of a character in the text layer, or 0 for a space.
func visibleRune(c rune) rune {
	switch {
	case c == 0x02 || c == 0xFFFE || c == 0xAD:
		return '-' // PDFium's mark for a hyphen that breaks a word at the end of a line
	case c == 0xFFFF || unicode.IsSpace(c) || unicode.IsControl(c):
		return 0
	}
	return c
}

// typeface is the formatting shared by the characters of a word.
type typeface struct {
	size     float64 // font size as displayed
	base     float64 // y of the baseline; x for vertical text
	turn     turn
	isTilted bool // a watermark across the page
	bold     bool
	// hasNoUnicode is set if the font doesn't specify which letters its codes represent.
	hasNoUnicode bool
}

// setTilt records whether text displayed at the given angle, in radians counterclockwise, is turned or tilted.
func (f *typeface) setTilt(angle float64) {
	quarters := math.Round(angle / (math.Pi / 2))
	f.turn = turn((int(quarters)%4 + 4) % 4)
	f.isTilted = math.Abs(angle-quarters*math.Pi/2) > 0.1
}

// wordBuilder joins characters into words in the order they are added.
type wordBuilder struct {
	page  *pageContent
	runes []placedRune
	at    box
	last  box // of the last character
	open  bool
	typeface

	object *textObject // the object that the characters belong to; nil if all text on the page is visible
	// count and shown are the numbers of the word's characters, and of those that are visible.
	count, shown int
}

// addRune adds a character at position g. It calls typefaceOf only for characters that begin a new word.
func (b *wordBuilder) addRune(c rune, g box, isShown bool, typefaceOf func() typeface) {
	if g.height() <= 0.01 || math.IsNaN(g.x0+g.x1+g.y0+g.y1) || math.IsInf(g.x0+g.x1+g.y0+g.y1, 0) {
		return
	}
	if b.open && !b.continuesWord(c, g) {
		b.endWord()
	}
	if !b.open {
		b.runes = b.runes[:0]
		b.open, b.at, b.typeface, b.count, b.shown = true, g, typefaceOf(), 0, 0
	}
	if b.count++; isShown {
		b.shown++
	}
	b.runes = append(b.runes, placedRune{c, g.x0})
	b.at, b.last = b.at.union(g), g
}

// continuesWord reports whether a character at g continues the current word: it is on the same
// line, not far to the left of the word's end, and too close to it for a missing space.
func (b *wordBuilder) continuesWord(c rune, g box) bool {
	a := b.last
	if b.turn.isVertical() {
		a, g = box{x0: a.y0, y0: a.x0, x1: a.y1, y1: a.x1}, box{x0: g.y0, y0: g.x0, x1: g.y1, y1: g.x1}
		return min(g.y1, a.y1)-max(g.y0, a.y0) > 0.3*min(g.height(), a.height()) && g.x0-a.x1 < 0.25*b.size && a.x0-g.x1 < 0.25*b.size
	}
	gap := g.x0 - a.x1
	if b.turn == upsideDown {
		gap = a.x0 - g.x1
	}
	if runeDirection(c) == rightToLeft {
		gap = max(a.x0-g.x1, min(gap, 0)) - 0.3*b.size // the first letter of a ligature may be to the right of the second one
	}
	// The letters of a ligature share its box, so a step back by one letter doesn't count.
	return min(g.y1, a.y1)-max(g.y0, a.y0) > 0.3*min(g.height(), a.height()) && gap < 0.22*b.size && gap > -1.5*b.size
}

// setObject sets the object that the next character belongs to. It ends the current word if exactly one of the current
// and the next object is invisible.
func (b *wordBuilder) setObject(next *textObject, isShown bool) {
	if now := b.object; now == nil || next == nil || now.unseen != next.unseen || isShown != (2*b.shown >= b.count) {
		b.endWord()
	}
	b.object = next
}

func (b *wordBuilder) endWord() {
	if !b.open {
		return
	}
	if b.open = false; b.isTilted {
		return
	}
	const ascent, descent = 0.8, 0.2
	switch b.turn {
	case upright:
		b.at.y0, b.at.y1 = b.base-ascent*b.size, b.base+descent*b.size
	case upward:
		b.at.x0, b.at.x1 = b.base-ascent*b.size, b.base+descent*b.size
	case upsideDown:
		b.at.y0, b.at.y1 = b.base-descent*b.size, b.base+ascent*b.size
	case downward:
		b.at.x0, b.at.x1 = b.base-descent*b.size, b.base+ascent*b.size
	}
	if at := b.at; math.IsNaN(at.y0+at.y1) || math.IsInf(at.y0+at.y1, 0) {
		return
	}
	w := word{box: b.at, text: wordText(b.runes), bold: b.bold, turn: b.turn}
	reason := b.unseenReason()
	if reason == seen {
		b.page.words = append(b.page.words, w)
		return
	}
	b.page.unseen = append(b.page.unseen, unseenWord{
		word: w, reason: reason, mayBeRecognized: b.object != nil && (b.object.isUnderImage || b.object.unseen == notPainted),
	})
}

// noUnicode represents a character whose Unicode value is not specified by its font.
const noUnicode = unicode.ReplacementChar

// isUnmapped reports whether most characters of the current word are unknown. A single private-use
// character is a bullet.
func (b *wordBuilder) isUnmapped() bool {
	unknown := 0
	for i, p := range b.runes {
		if b.hasNoUnicode && p.r <= '~' {
			b.runes[i].r = noUnicode
			unknown++
		} else if p.r == noUnicode || p.r >= 0xE000 && p.r <= 0xF8FF && len(b.runes) > 1 {
			unknown++
		}
	}
	return 2*unknown > len(b.runes)
}

// isBoldFont reports whether a font's name indicates bold.
func isBoldFont(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "bold") || strings.Contains(name, "black") || strings.Contains(name, "heavy")
}

// matrix is a PDF transformation: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (t matrix) apply(x, y float64) (float64, float64) {
	return t.a*x + t.c*y + t.e, t.b*x + t.d*y + t.f
}

// multiply returns the transformation that applies t, then u.
func (t matrix) multiply(u matrix) matrix {
	return matrix{
		a: t.a*u.a + t.b*u.c, b: t.a*u.b + t.b*u.d,
		c: t.c*u.a + t.d*u.c, d: t.c*u.b + t.d*u.d,
		e: t.e*u.a + t.f*u.c + u.e, f: t.e*u.b + t.f*u.d + u.f,
	}
}

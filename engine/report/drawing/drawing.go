// Package drawing defines the pictures of a report as simple shapes with named colors. A picture is
// computed once and rendered as SVG or PNG here, or by other packages with the native means of a
// format. The same drawing always gives the same bytes. The package is independent of assessments.
package drawing

import (
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Width is the width of most drawings, in drawing units. A unit is about one pixel on a page.
const Width = 680.0

// Drawing is a picture. Wherever it is shown, a table next to it contains the same data.
type Drawing struct {
	// Title is the picture's name; Description describes it for readers who can't see it.
	Title, Description string
	Width, Height      float64
	Shapes             []Shape
}

// Shape is an element of a drawing, of one of the types below.
type Shape interface{ shape() }

// Point is a position relative to the upper left corner of the drawing.
type Point struct{ X, Y float64 }

type (
	// Box is a rectangle filled with a color and the pattern that belongs to the color. If Fill or Edge is empty,
	// that part is not drawn.
	Box struct {
		X, Y, W, H float64
		Fill, Edge ColorName
	}
	// Line is a line through a series of points. A closed line returns to its start.
	Line struct {
		Points         []Point
		Color          ColorName
		Width          float64
		Dashed, Closed bool
	}
	// Area is a filled polygon. An Opacity of 0 means opaque.
	Area struct {
		Points  []Point
		Fill    ColorName
		Opacity float64
	}
	// Dot is a filled circle.
	Dot struct {
		X, Y, R float64
		Fill    ColorName
	}
	// Label is a single line of text; Y is its baseline.
	Label struct {
		X, Y, Size float64
		Text       string
		Anchor     Anchor
		Color      ColorName
		Bold       bool
		// FullText is the full text if Text is shortened.
		FullText string
	}
)

func (Box) shape()   {}
func (Line) shape()  {}
func (Area) shape()  {}
func (Dot) shape()   {}
func (Label) shape() {}

// Anchor specifies which point of a text, such as its start or end, is placed at the given position.
type Anchor int

// The anchors of a text.
const (
	Start Anchor = iota
	Middle
	End
)

// Add adds shapes to the drawing, on top of the existing ones.
func (d *Drawing) Add(s ...Shape) { d.Shapes = append(d.Shapes, s...) }

var (
	regular = mustParseFont(goregular.TTF)
	bold    = mustParseFont(gobold.TTF)
)

func mustParseFont(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic(err) // the fonts are embedded
	}
	return f
}

func fontFor(strong bool) *sfnt.Font {
	if strong {
		return bold
	}
	return regular
}

// missingGlyph is drawn in place of characters that the font doesn't have.
const missingGlyph = '□'

// emUnits is the size at which glyphs are loaded, in units per em.
const emUnits = 1000

// lookUpGlyph returns the index of the glyph for a character and the glyph's advance width in ems.
func lookUpGlyph(f *sfnt.Font, buf *sfnt.Buffer, r rune) (glyph sfnt.GlyphIndex, advance float64) {
	i, err := f.GlyphIndex(buf, r)
	if err != nil || i == 0 {
		if i, err = f.GlyphIndex(buf, missingGlyph); err != nil {
			return 0, 0.6
		}
	}
	a, err := f.GlyphAdvance(buf, i, fixed.I(emUnits), font.HintingNone)
	if err != nil {
		return i, 0.6
	}
	return i, float64(a) / 64 / emUnits
}

// TextWidth returns the approximate width of a text in drawing units.
func TextWidth(text string, size float64, strong bool) float64 {
	var buf sfnt.Buffer
	w, f := 0.0, fontFor(strong)
	for _, r := range text {
		_, a := lookUpGlyph(f, &buf, r)
		w += a
	}
	return w * size
}

// fontSlack is a safety factor for the width of texts, because the font on a reader's machine may be wider than
// ours.
const fontSlack = 1.08

// FitLabel returns a label that is not wider than width. If the text is too long, it is cut off
// with "…", and FullText contains the complete text.
func FitLabel(l Label, width float64) Label {
	l.Text = strings.Join(strings.Fields(l.Text), " ")
	full := l.Text
	if len(full) > 4096 {
		full = strings.ToValidUTF8(full[:4096], "") // the table contains the full text
		l.Text = full + "…"
	}
	if TextWidth(l.Text, l.Size, l.Bold)*fontSlack <= width {
		return l
	}
	var buf sfnt.Buffer
	f := fontFor(l.Bold)
	_, dots := lookUpGlyph(f, &buf, '…')
	room, end := width/l.Size/fontSlack-dots, 0
	for i, r := range full {
		_, a := lookUpGlyph(f, &buf, r)
		if room -= a; room < 0 {
			break
		}
		end = i + len(string(r))
	}
	l.Text, l.FullText = strings.TrimSpace(full[:min(end, len(full))])+"…", full
	return l
}

// FitLines returns a label as one line or, if its text is wider than width, as two lines that are vertically
// centered at the label's position. Text that doesn't fit into the second line is cut off.
func FitLines(l Label, width float64) []Label {
	words := strings.Fields(l.Text)
	fits := func(n int) bool { return TextWidth(strings.Join(words[:n], " "), l.Size, l.Bold)*fontSlack <= width }
	n := len(words)
	for n > 1 && !fits(n) {
		n--
	}
	if n == len(words) {
		return []Label{FitLabel(l, width)}
	}
	first, second := l, l
	first.Text, first.Y = strings.Join(words[:n], " "), l.Y-l.Size*0.6
	second.Text, second.Y = strings.Join(words[n:], " "), l.Y+l.Size*0.6
	return []Label{FitLabel(first, width), FitLabel(second, width)}
}

// WithTitle returns a copy of the drawing that has its title drawn above it.
func (d Drawing) WithTitle() Drawing {
	const high = 26.0
	out := Drawing{Title: d.Title, Description: d.Description, Width: d.Width, Height: d.Height + high}
	out.Add(FitLabel(Label{Y: 15, Size: 14, Text: d.Title, Color: Ink, Bold: true}, d.Width))
	lower := func(all []Point) []Point {
		moved := make([]Point, len(all))
		for i, p := range all {
			moved[i] = Point{p.X, p.Y + high}
		}
		return moved
	}
	for _, s := range d.Shapes {
		switch s := s.(type) {
		case Box:
			s.Y += high
			out.Add(s)
		case Dot:
			s.Y += high
			out.Add(s)
		case Label:
			s.Y += high
			out.Add(s)
		case Line:
			s.Points = lower(s.Points)
			out.Add(s)
		case Area:
			s.Points = lower(s.Points)
			out.Add(s)
		}
	}
	return out
}

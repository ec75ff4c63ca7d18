// Package drawing says what the pictures of a report are made of: a few shapes, and colours
// by name. A picture is computed once and shown as SVG or as PNG here, and with a page's own
// means elsewhere. The same drawing gives the same bytes. It knows nothing of assessments.
package drawing

import (
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Width is that of most drawings, in units of their own; a unit is about a pixel of a page.
const Width = 680.0

// Drawing is a picture. All it shows stands in a table too.
type Drawing struct {
	// Title names it; Text says in words what there is to see, for those who can't.
	Title, Description string
	Width, Height      float64
	Shapes             []Shape
}

// Shape is one of the types below.
type Shape interface{ shape() }

// Point is a place, from the upper left.
type Point struct{ X, Y float64 }

type (
	// Box is a rectangle, with its fill's pattern. An empty fill is none; so with Edge.
	Box struct {
		X, Y, W, H float64
		Fill, Edge ColorName
	}
	// Line joins points; a closed one ends where it began.
	Line struct {
		Points         []Point
		Color          ColorName
		Width          float64
		Dashed, Closed bool
	}
	// Area is a polygon; an Opacity of 0 is all of it.
	Area struct {
		Points  []Point
		Fill    ColorName
		Opacity float64
	}
	// Dot is a disc.
	Dot struct {
		X, Y, R float64
		Fill    ColorName
	}
	// Label is a text in one line; Y is that of its baseline.
	Label struct {
		X, Y, Size float64
		Text       string
		Anchor     Anchor
		Color      ColorName
		Bold       bool
		// FullText is the whole text where Text is shortened.
		FullText string
	}
)

func (Box) shape()   {}
func (Line) shape()  {}
func (Area) shape()  {}
func (Dot) shape()   {}
func (Label) shape() {}

// Anchor says which end of a text stands at its place.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// Add puts shapes on top of those that are there.
func (d *Drawing) Add(s ...Shape) { d.Shapes = append(d.Shapes, s...) }

// roundTo2 keeps two decimals, so that the same figure is the same bytes everywhere.
func roundTo2(f float64) float64 { return math.Round(f*100) / 100 }

var (
	regular = mustParseFont(goregular.TTF)
	bold    = mustParseFont(gobold.TTF)
)

func mustParseFont(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic(err) // they come with the program
	}
	return f
}

func fontFor(strong bool) *sfnt.Font {
	if strong {
		return bold
	}
	return regular
}

// missingGlyph stands for a character that the font lacks.
const missingGlyph = '□'

// emUnits is the size at which glyphs are asked for.
const emUnits = 1000

// lookUpGlyph is a character's index, and its advance in ems.
func lookUpGlyph(f *sfnt.Font, buf *sfnt.Buffer, r rune) (sfnt.GlyphIndex, float64) {
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

// TextWidth is about how wide a text is.
func TextWidth(text string, size float64, strong bool) float64 {
	var buf sfnt.Buffer
	w, f := 0.0, fontFor(strong)
	for _, r := range text {
		_, a := lookUpGlyph(f, &buf, r)
		w += a
	}
	return w * size
}

// fontSlack is how much wider than ours the fonts of a reader's machine may be.
const fontSlack = 1.08

// FitLabel is a label that is no wider than width; what is longer ends in …, with the whole text kept.
func FitLabel(l Label, width float64) Label {
	l.Text = strings.Join(strings.Fields(l.Text), " ")
	full := l.Text
	if len(full) > 4096 {
		full = strings.ToValidUTF8(full[:4096], "") // a picture's text is not the place for it; the table has it all
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

// WithTitle is the drawing with its title above it.
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

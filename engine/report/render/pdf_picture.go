package render

import (
	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/report/drawing"
)

// box draws a rectangle with its fill's pattern.
func (p *pdf) box(x, y, w, h float64, fill drawing.Name) {
	if w <= 0 || h <= 0 {
		return
	}
	p.fill(fill)
	p.f.Rect(x, y, w, h, "F")
	hatch := drawing.HatchOf(fill)
	if hatch == drawing.NoHatch {
		return
	}
	p.f.ClipRect(x, y, w, h, false)
	p.draw(drawing.Ink)
	p.fill(drawing.Ink)
	p.f.SetLineWidth(0.35)
	drawing.Strokes(x, y, w, h, hatch, func(a, b drawing.Point) { p.f.Line(a.X, a.Y, b.X, b.Y) }, func(c drawing.Point, r float64) { p.f.Circle(c.X, c.Y, r*0.7, "F") })
	p.f.ClipEnd()
	p.fill(fill) // the clip's end took back what was set inside
	if fill == "unmapped" || fill == "not-assessed" {
		p.draw(drawing.Soft)
		p.f.SetLineWidth(0.3)
		p.f.Rect(x, y, w, h, "D")
	}
}

func (p *pdf) bar(b *bar, x, y, w, h float64) {
	p.fill(drawing.Panel)
	p.draw(drawing.Rule)
	p.f.SetLineWidth(0.4)
	p.f.Rect(x, y, w, h, "DF")
	for _, s := range b.Segments() {
		p.box(x+w*s.X/100, y, w*s.Width/100, h, s.Fill)
	}
	if at := b.MarkAt(); at >= 0 {
		p.line(x+w*at/100, y-0.6, x+w*at/100, y+h+0.6, 1.4, drawing.Ink)
	}
}

// pictureTitle is the room that a picture's title takes.
const pictureTitle = 16.0

// scaled is how many points a picture's unit has.
func (p *pdf) scaled(b picture) float64 {
	return min(0.74, (p.right-p.left)/b.Width, (pdfBottom-pdfTop-pictureTitle)/b.Height)
}

// picture draws on the page, as wide as there is room; all it shows stands in a table beside it.
func (p *pdf) picture(b picture) {
	scale := p.scaled(b)
	height := b.Height * scale
	p.need(height + pictureTitle)
	p.gap(4)
	p.paragraph(plain(b.Title), style{p.fonts.bold, 9, drawing.Ink}, 2)
	d := onPage{p, p.left, p.take(height), scale}
	for _, s := range b.Shapes {
		d.shape(s)
	}
	p.gap(8)
}

// onPage draws shapes at a place of the page.
type onPage struct {
	*pdf
	x, y, scale float64
}

func (o onPage) at(q drawing.Point) (x, y float64) { return o.x + q.X*o.scale, o.y + q.Y*o.scale }

func (o onPage) corners(all []drawing.Point) []fpdf.PointType {
	out := make([]fpdf.PointType, len(all))
	for i, q := range all {
		out[i].X, out[i].Y = o.at(q)
	}
	return out
}

func (o onPage) shape(s drawing.Shape) {
	switch s := s.(type) {
	case drawing.Box:
		x, y := o.at(drawing.Point{X: s.X, Y: s.Y})
		if s.Fill != "" {
			o.box(x, y, s.W*o.scale, s.H*o.scale, s.Fill)
		}
		if s.Edge != "" {
			o.draw(s.Edge)
			o.f.SetLineWidth(0.5)
			o.f.Rect(x, y, s.W*o.scale, s.H*o.scale, "D")
		}
	case drawing.Line:
		o.draw(s.Color)
		o.f.SetLineWidth(s.Width * o.scale)
		if s.Dashed {
			o.f.SetDashPattern([]float64{4, 3}, 0)
		}
		all := o.corners(s.Points)
		for i, a := range all {
			if i+1 < len(all) || s.Closed {
				b := all[(i+1)%len(all)]
				o.f.Line(a.X, a.Y, b.X, b.Y)
			}
		}
		if s.Dashed {
			o.f.SetDashPattern(nil, 0)
		}
	case drawing.Area:
		o.fill(s.Fill)
		if s.Opacity > 0 && s.Opacity < 1 {
			o.f.SetAlpha(s.Opacity, "Normal")
		}
		o.f.Polygon(o.corners(s.Points), "F")
		if s.Opacity > 0 && s.Opacity < 1 {
			o.f.SetAlpha(1, "Normal")
		}
	case drawing.Dot:
		x, y := o.at(drawing.Point{X: s.X, Y: s.Y})
		o.fill(s.Fill)
		o.f.Circle(x, y, s.R*o.scale, "F")
	case drawing.Label:
		o.label(s)
	}
}

func (o onPage) label(s drawing.Label) {
	f := o.fonts.regular
	if s.Strong {
		f = o.fonts.bold
	}
	x, y := o.at(drawing.Point{X: s.X, Y: s.Y})
	l := o.breakText(s.Text, f, s.Size*o.scale, s.Color, o.right-o.left, 1)
	if len(l) == 0 {
		return
	}
	switch s.At {
	case drawing.Middle:
		x -= l[0].width / 2
	case drawing.End:
		x -= l[0].width
	}
	for _, r := range l[0].runs {
		o.text(x+r.x, y, r.face, r.size, r.color, r.text)
	}
}

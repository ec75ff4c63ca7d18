package pdf

import (
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
)

// drawHatchedBox draws a rectangle with a fill and the fill's pattern.
func (p *pdfWriter) drawHatchedBox(x, y, w, h float64, fill drawing.ColorName) {
	if w <= 0 || h <= 0 {
		return
	}
	p.setFillColor(fill)
	p.file.Rect(x, y, w, h, "F")
	hatch := drawing.HatchOf(fill)
	if hatch == drawing.NoHatch {
		return
	}
	p.file.ClipRect(x, y, w, h, false)
	p.setDrawColor(drawing.Ink)
	p.setFillColor(drawing.Ink)
	p.file.SetLineWidth(0.35)
	drawing.DrawHatch(
		x,
		y,
		w,
		h,
		hatch,
		func(a, b drawing.Point) { p.file.Line(a.X, a.Y, b.X, b.Y) },
		func(c drawing.Point, r float64) { p.file.Circle(c.X, c.Y, r*0.7, "F") },
	)
	p.file.ClipEnd()
	p.setFillColor(fill) // ending the clip restores the previous fill color
	if fill == "unmapped" || fill == "not-assessed" {
		p.setDrawColor(drawing.Soft)
		p.file.SetLineWidth(0.3)
		p.file.Rect(x, y, w, h, "D")
	}
}

func (p *pdfWriter) drawBar(b *block.Bar, x, y, w, h float64) {
	p.tag("Figure", b.Label, func() { p.drawBarShapes(b, x, y, w, h) })
}

func (p *pdfWriter) drawBarShapes(b *block.Bar, x, y, w, h float64) {
	p.startMark()
	p.setFillColor(drawing.Panel)
	p.setDrawColor(drawing.Rule)
	p.file.SetLineWidth(0.4)
	p.file.Rect(x, y, w, h, "DF")
	for _, s := range b.Segments() {
		p.drawHatchedBox(x+w*s.X/100, y, w*s.Width/100, h, s.Fill)
	}
	if at := b.MarkPercent(); at >= 0 {
		p.drawRule(x+w*at/100, y-0.6, x+w*at/100, y+h+0.6, 1.4, drawing.Ink)
	}
}

// pictureTitleHeight is the height reserved for the title of a picture.
const pictureTitleHeight = 16.0

// pictureScale returns the number of points per drawing unit for a picture.
func (p *pdfWriter) pictureScale(b block.Picture) float64 {
	return min(0.74, (p.right-p.left)/b.Width, (p.bottom()-pdfTop-pictureTitleHeight)/b.Height)
}

// drawPicture draws a picture across the available width. A table next to it contains the same data.
func (p *pdfWriter) drawPicture(b block.Picture) {
	scale := p.pictureScale(b)
	height := b.Height * scale
	p.ensureSpace(height + pictureTitleHeight)
	p.addSpaceUnlessAtTop(4)
	p.drawParagraph(block.Text(b.Title), textStyle{face: p.fonts.bold, size: 9, color: drawing.Ink}, 2)
	d := pictureCanvas{pdfWriter: p, x: p.left, y: p.reserveHeight(height), scale: scale}
	p.tag("Figure", strings.TrimSpace(b.Title+". "+b.Description), func() {
		p.startMark()
		for _, s := range b.Shapes {
			d.drawShape(s)
		}
	})
	p.addSpaceUnlessAtTop(8)
}

// pictureCanvas draws the shapes of a picture, relative to a position on the page.
type pictureCanvas struct {
	*pdfWriter
	x, y, scale float64
}

func (o pictureCanvas) toPagePoint(q drawing.Point) (x, y float64) {
	return o.x + q.X*o.scale, o.y + q.Y*o.scale
}

func (o pictureCanvas) toPagePoints(all []drawing.Point) []fpdf.PointType {
	out := make([]fpdf.PointType, len(all))
	for i, q := range all {
		out[i].X, out[i].Y = o.toPagePoint(q)
	}
	return out
}

func (o pictureCanvas) drawShape(s drawing.Shape) {
	switch s := s.(type) {
	case drawing.Box:
		x, y := o.toPagePoint(drawing.Point{X: s.X, Y: s.Y})
		if s.Fill != "" {
			o.drawHatchedBox(x, y, s.W*o.scale, s.H*o.scale, s.Fill)
		}
		if s.Edge != "" {
			o.setDrawColor(s.Edge)
			o.file.SetLineWidth(0.5)
			o.file.Rect(x, y, s.W*o.scale, s.H*o.scale, "D")
		}
	case drawing.Line:
		o.setDrawColor(s.Color)
		o.file.SetLineWidth(s.Width * o.scale)
		if s.Dashed {
			o.file.SetDashPattern([]float64{4, 3}, 0)
		}
		all := o.toPagePoints(s.Points)
		for i, a := range all {
			if i+1 < len(all) || s.Closed {
				b := all[(i+1)%len(all)]
				o.file.Line(a.X, a.Y, b.X, b.Y)
			}
		}
		if s.Dashed {
			o.file.SetDashPattern(nil, 0)
		}
	case drawing.Area:
		o.setFillColor(s.Fill)
		if s.Opacity > 0 && s.Opacity < 1 {
			o.file.SetAlpha(s.Opacity, "Normal")
		}
		o.file.Polygon(o.toPagePoints(s.Points), "F")
		if s.Opacity > 0 && s.Opacity < 1 {
			o.file.SetAlpha(1, "Normal")
		}
	case drawing.Dot:
		x, y := o.toPagePoint(drawing.Point{X: s.X, Y: s.Y})
		o.setFillColor(s.Fill)
		o.file.Circle(x, y, s.R*o.scale, "F")
	case drawing.Label:
		o.drawLabel(s)
	}
}

func (o pictureCanvas) drawLabel(s drawing.Label) {
	f := o.fonts.regular
	if s.Bold {
		f = o.fonts.bold
	}
	x, y := o.toPagePoint(drawing.Point{X: s.X, Y: s.Y})
	l := o.fitText(s.Text, f, s.Size*o.scale, s.Color, o.right-o.left, 1)
	if len(l) == 0 {
		return
	}
	switch s.Anchor {
	case drawing.Middle:
		x -= l[0].width / 2
	case drawing.End:
		x -= l[0].width
	}
	for _, r := range l[0].runs {
		o.drawText(x+r.x, y, r.face, r.size, r.color, r.text)
	}
}

package report

import (
	"strconv"

	"codeberg.org/go-pdf/fpdf"
)

// fills are a part's colour and its hatching, so that parts are told apart without colour.
var fills = map[string]struct {
	color rgb
	hatch string
}{
	"implemented":   {rgb{0x2c, 0x7a, 0x4f}, ""},
	"partly":        {rgb{0x7b, 0xb8, 0xd9}, "/"},
	"planned":       {rgb{0xf0, 0xc7, 0x5e}, "."},
	"missing":       {rgb{0xe0, 0x8a, 0x84}, "x"},
	"not-evidenced": {rgb{0xc9, 0xb8, 0xde}, "-"},
	"not-assessed":  {rgb{0xdf, 0xe4, 0xe9}, "|"},
	"excluded":      {rgb{0xae, 0xb7, 0xc0}, ""},
	"unmapped":      {rgb{0xff, 0xff, 0xff}, "."},
	"critical":      {rgb{0x8f, 0x1d, 0x1d}, ""},
	"high":          {rgb{0xc2, 0x45, 0x3d}, ""},
	"medium":        {rgb{0xd9, 0x9a, 0x2b}, ""},
	"low":           {rgb{0x5b, 0x8d, 0xb8}, ""},
	"informational": {rgb{0xae, 0xb7, 0xc0}, ""},
	"level":         {rgb{0x2f, 0x74, 0xa6}, ""},
}

// segment draws a part of a bar.
func (p *pdf) segment(x, y, w, h float64, class string) {
	if w <= 0 {
		return
	}
	f, known := fills[class]
	if !known {
		f = fills["excluded"]
	}
	p.fill(f.color)
	p.f.Rect(x, y, w, h, "F")
	if f.hatch != "" {
		p.f.ClipRect(x, y, w, h, false)
		p.draw(pdfInk)
		p.f.SetLineWidth(0.35)
		p.hatch(x, y, w, h, f.hatch)
		p.f.ClipEnd()
		p.fill(f.color) // the clip's end took back what was set inside
	}
	if class == "unmapped" || class == "not-assessed" {
		p.draw(pdfSoft)
		p.f.SetLineWidth(0.3)
		p.f.Rect(x, y, w, h, "D")
	}
}

func (p *pdf) hatch(x, y, w, h float64, kind string) {
	const step = 3.2
	switch kind {
	case "/", "x":
		for at := x - h; at < x+w; at += step {
			p.f.Line(at, y+h, at+h, y)
			if kind == "x" {
				p.f.Line(at, y, at+h, y+h)
			}
		}
	case "-":
		for at := y + 1; at < y+h; at += step - 0.8 {
			p.f.Line(x, at, x+w, at)
		}
	case "|":
		for at := x + 1; at < x+w; at += step {
			p.f.Line(at, y, at, y+h)
		}
	case ".":
		p.fill(pdfInk)
		for at := x + 1.6; at < x+w; at += step {
			for up := y + 1.6; up < y+h; up += step {
				p.f.Circle(at, up, 0.45, "F")
			}
		}
	}
}

func (p *pdf) bar(b *bar, x, y, w, h float64) {
	p.fill(pdfPanel)
	p.draw(pdfRule)
	p.f.SetLineWidth(0.4)
	p.f.Rect(x, y, w, h, "DF")
	for _, s := range b.Segments() {
		p.segment(x+w*s.X/100, y, w*s.Width/100, h, className(s.Fill))
	}
	if at := b.MarkAt(); at >= 0 {
		p.line(x+w*at/100, y-0.6, x+w*at/100, y+h+0.6, 1.4, pdfInk)
	}
}

// radar draws the maturity figure; all it shows stands in the table beside it.
func (p *pdf) radar(r radar) {
	const scale = 0.66
	height := radarHeight * scale
	p.need(height + 40)
	p.gap(4)
	top := p.take(height)
	at := func(q point) fpdf.PointType { return fpdf.PointType{X: p.left + q.X*scale, Y: top + q.Y*scale} }
	outline := func(points []point, width float64, c rgb, dash []float64) {
		p.draw(c)
		p.f.SetLineWidth(width)
		p.f.SetDashPattern(dash, 0)
		for i, q := range points {
			a, b := at(q), at(points[(i+1)%len(points)])
			p.f.Line(a.X, a.Y, b.X, b.Y)
		}
		p.f.SetDashPattern(nil, 0)
	}
	center := fpdf.PointType{X: p.left + radarWidth/2*scale, Y: top + radarHeight/2*scale}
	for l := 1; l <= topLevel; l++ {
		outline(r.points(func(int) float64 { return float64(l) }), 0.4, pdfRule, nil)
	}
	for _, q := range r.Rim() {
		e := at(q)
		p.line(center.X, center.Y, e.X, e.Y, 0.4, pdfRule)
	}
	var shape []fpdf.PointType
	for _, q := range r.Points() {
		shape = append(shape, at(q))
	}
	blue := fills["level"].color
	p.fill(blue)
	p.f.SetAlpha(0.22, "Normal")
	p.f.Polygon(shape, "F")
	p.f.SetAlpha(1, "Normal")
	outline(r.Points(), 1.6, blue, nil)
	if r.Targets() != "" {
		outline(r.points(func(i int) float64 { return r.Axes[i].Target }), 1.1, pdfInk, []float64{4, 3})
	}
	p.fill(blue)
	for _, e := range shape {
		p.f.Circle(e.X, e.Y, 2.2, "F")
	}
	for _, q := range r.Scale() {
		e := at(q)
		p.text(e.X+3, e.Y+3, p.fonts.regular, 7, pdfSoft, q.Text)
	}
	for _, q := range r.Names() {
		e := at(q)
		name := p.plain(q.Text)
		w := p.fonts.regular.width(name, 9)
		switch q.Anchor {
		case "middle":
			e.X -= w / 2
		case "end":
			e.X -= w
		}
		p.text(e.X, e.Y, p.fonts.regular, 9, pdfInk, name)
	}
	p.radarKey(r, top+height)
}

func (p *pdf) radarKey(r radar, y float64) {
	x := p.left + radarWidth*scaleOfKey
	y -= 60
	p.line(x, y, x+24, y, 1.6, fills["level"].color)
	p.text(x+30, y+3, p.fonts.regular, 8, pdfInk, "level, 0 to "+strconv.Itoa(topLevel))
	if r.Targets() != "" {
		p.f.SetDashPattern([]float64{4, 3}, 0)
		p.line(x, y+14, x+24, y+14, 1.1, pdfInk)
		p.f.SetDashPattern(nil, 0)
		p.text(x+30, y+17, p.fonts.regular, 8, pdfInk, "target")
	}
	p.paragraph(plain(r.Note), style{p.fonts.regular, 7.8, pdfSoft}, 6)
}

// scaleOfKey is where the key stands, in widths of the figure.
const scaleOfKey = 0.72

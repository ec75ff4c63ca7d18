package drawing

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Resolution in pixels per drawing unit, and the maximum width and height of an image in pixels.
const (
	pixelsPerUnit = 1.5
	maxPixels     = 4000
)

// WritePNG writes the drawing on a white background at print resolution.
func (d *Drawing) WritePNG(w io.Writer, t Theme) error {
	scale := math.Min(pixelsPerUnit, maxPixels/math.Max(math.Max(d.Width, d.Height), 1))
	c := &canvas{
		theme: t,
		scale: scale,
		img:   image.NewRGBA(image.Rect(0, 0, max(int(math.Ceil(d.Width*scale)), 1), max(int(math.Ceil(d.Height*scale)), 1))),
	}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	for _, s := range d.Shapes {
		s.(painter).paint(c)
	}
	// Flat colors compress well even at this level; the default level takes twice the time to save 4%.
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.img)
}

type painter interface{ paint(c *canvas) }

type canvas struct {
	img   *image.RGBA
	theme Theme
	scale float64
	buf   sfnt.Buffer
}

func (c *canvas) colorWithOpacity(n ColorName, opacity float64) color.Color {
	x := c.theme.Color(n)
	if opacity <= 0 || opacity > 1 {
		opacity = 1
	}
	return color.NRGBA{R: x.R, G: x.G, B: x.B, A: uint8(math.Round(opacity * 255))}
}

// fillPath fills a path with a color. The path is drawn by the function path. The box from (x0, y0)
// to (x1, y1), in pixels, must enclose the path.
func (c *canvas) fillPath(x0, y0, x1, y1 float64, with color.Color, path func(r *vector.Rasterizer, x, y float32)) {
	box := image.Rect(int(math.Floor(x0)), int(math.Floor(y0)), int(math.Ceil(x1))+1, int(math.Ceil(y1))+1).Intersect(c.img.Bounds())
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	path(r, float32(box.Min.X), float32(box.Min.Y))
	r.Draw(c.img, box, image.NewUniform(with), image.Point{})
}

// fillPolygon fills a polygon, whose points are in drawing units, with a color.
func (c *canvas) fillPolygon(all []Point, with color.Color) {
	if len(all) < 3 {
		return
	}
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range all {
		x0, y0, x1, y1 = math.Min(x0, p.X), math.Min(y0, p.Y), math.Max(x1, p.X), math.Max(y1, p.Y)
	}
	c.fillPath(x0*c.scale, y0*c.scale, x1*c.scale, y1*c.scale, with, func(r *vector.Rasterizer, x, y float32) {
		for i, p := range all {
			px, py := float32(p.X*c.scale)-x, float32(p.Y*c.scale)-y
			if i == 0 {
				r.MoveTo(px, py)
			} else {
				r.LineTo(px, py)
			}
		}
		r.ClosePath()
	})
}

func (c *canvas) fillRect(x, y, w, h float64, with color.Color) {
	c.fillPolygon([]Point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, with)
}

// strokeLine draws a straight line, as a thin polygon.
func (c *canvas) strokeLine(a, b Point, width float64, with color.Color) {
	dx, dy := b.X-a.X, b.Y-a.Y
	l := math.Hypot(dx, dy)
	if l == 0 {
		return
	}
	nx, ny := -dy/l*width/2, dx/l*width/2
	c.fillPolygon([]Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny}, {a.X - nx, a.Y - ny}}, with)
}

func (c *canvas) fillDisc(x, y, r float64, with color.Color) {
	const corners = 32
	all := make([]Point, corners)
	for i := range all {
		a := 2 * math.Pi * float64(i) / corners
		all[i] = Point{x + r*math.Cos(a), y + r*math.Sin(a)}
	}
	c.fillPolygon(all, with)
}

func (s Box) paint(c *canvas) {
	if s.W <= 0 || s.H <= 0 {
		return
	}
	if s.Fill != "" {
		c.fillRect(s.X, s.Y, s.W, s.H, c.colorWithOpacity(s.Fill, 1))
		over := c.colorWithOpacity(Ink, 0.55)
		DrawHatch(
			s.X,
			s.Y,
			s.W,
			s.H,
			HatchOf(s.Fill),
			func(a, b Point) { c.strokeLine(a, b, 0.7, over) },
			func(p Point, r float64) { c.fillDisc(p.X, p.Y, r, over) },
		)
	}
	if s.Edge != "" {
		Line{
			Points: []Point{{s.X, s.Y}, {s.X + s.W, s.Y}, {s.X + s.W, s.Y + s.H}, {s.X, s.Y + s.H}},
			Color:  s.Edge,
			Width:  1,
			Closed: true,
		}.paint(
			c,
		)
	}
}

func (s Line) paint(c *canvas) {
	with, n := c.colorWithOpacity(s.Color, 1), len(s.Points)
	for i := range s.Points {
		if i+1 == n && !s.Closed {
			break
		}
		a, b := s.Points[i], s.Points[(i+1)%n]
		if !s.Dashed {
			c.strokeLine(a, b, s.Width, with)
			continue
		}
		const on, off = 6.0, 4.0
		l := math.Hypot(b.X-a.X, b.Y-a.Y)
		for at := 0.0; at < l; at += on + off {
			end := math.Min(at+on, l)
			c.strokeLine(Point{a.X + (b.X-a.X)*at/l, a.Y + (b.Y-a.Y)*at/l}, Point{a.X + (b.X-a.X)*end/l, a.Y + (b.Y-a.Y)*end/l}, s.Width, with)
		}
	}
}

func (s Area) paint(c *canvas) { c.fillPolygon(s.Points, c.colorWithOpacity(s.Fill, s.Opacity)) }

func (s Dot) paint(c *canvas) { c.fillDisc(s.X, s.Y, s.R, c.colorWithOpacity(s.Fill, 1)) }

func (s Label) paint(c *canvas) {
	x, f := s.X, fontFor(s.Bold)
	switch w := TextWidth(s.Text, s.Size, s.Bold); s.Anchor {
	case Middle:
		x -= w / 2
	case End:
		x -= w
	}
	with, ppem := c.colorWithOpacity(s.Color, 1), s.Size*c.scale
	left, top := x*c.scale, s.Y*c.scale
	for _, char := range s.Text {
		i, a := lookUpGlyph(f, &c.buf, char)
		if segments, err := f.LoadGlyph(&c.buf, i, fixed.Int26_6(math.Round(ppem*64)), nil); err == nil && len(segments) > 0 {
			c.fillPath(
				left-ppem,
				top-ppem*1.2,
				left+ppem*1.5,
				top+ppem*0.5,
				with,
				func(r *vector.Rasterizer, x, y float32) { addOutline(r, segments, float32(left)-x, float32(top)-y) },
			)
		}
		left += a * ppem
	}
}

func addOutline(r *vector.Rasterizer, segments sfnt.Segments, x, y float32) {
	at := func(p fixed.Point26_6) (float32, float32) { return x + float32(p.X)/64, y + float32(p.Y)/64 }
	for i, s := range segments {
		ax, ay := at(s.Args[0])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				r.ClosePath()
			}
			r.MoveTo(ax, ay)
		case sfnt.SegmentOpLineTo:
			r.LineTo(ax, ay)
		case sfnt.SegmentOpQuadTo:
			bx, by := at(s.Args[1])
			r.QuadTo(ax, ay, bx, by)
		case sfnt.SegmentOpCubeTo:
			bx, by := at(s.Args[1])
			cx, cy := at(s.Args[2])
			r.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	r.ClosePath()
}

// DrawHatch draws a pattern over a rectangle by calling line and disc. The pattern doesn't extend beyond the
// rectangle.
func DrawHatch(x, y, w, h float64, kind Hatch, line func(a, b Point), disc func(p Point, r float64)) {
	const step = 5.0
	slanted := func(up bool) {
		for at := x - h; at < x+w; at += step {
			from, to := math.Max(at, x), math.Min(at+h, x+w)
			if from >= to {
				continue
			}
			if up {
				line(Point{from, y + h - (from - at)}, Point{to, y + h - (to - at)})
			} else {
				line(Point{from, y + (from - at)}, Point{to, y + (to - at)})
			}
		}
	}
	dotted := func(step, r float64) {
		for at := x + step/2; at+r <= x+w; at += step {
			for down := y + step/2; down+r <= y+h; down += step {
				disc(Point{at, down}, r)
			}
		}
	}
	switch kind {
	case Diagonal:
		slanted(true)
	case Crossed:
		slanted(true)
		slanted(false)
	case Horizontal:
		for at := y + step/2; at < y+h; at += step * 0.75 {
			line(Point{x, at}, Point{x + w, at})
		}
	case Vertical:
		for at := x + step/2; at < x+w; at += step * 0.9 {
			line(Point{at, y}, Point{at, y + h})
		}
	case Dotted:
		dotted(step, 0.9)
	case SparseDotted:
		dotted(step*1.5, 0.7)
	}
}

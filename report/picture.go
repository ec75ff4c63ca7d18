package report

import (
	"math"
	"strconv"
	"strings"
)

// segment is a part of a bar, in percent of its width.
type segment struct {
	Fill     string
	X, Width float64
}

// Segments are the parts laid from left to right; what is no number or below zero is left out.
func (b *bar) Segments() []segment {
	var out []segment
	x := 0.0
	for _, p := range b.Parts {
		w := b.share(p.Value)
		if w <= 0 {
			continue
		}
		out = append(out, segment{p.Fill, round(x), round(w)})
		x += w
	}
	return out
}

// MarkAt is where the mark stands in percent; negative for none.
func (b *bar) MarkAt() float64 {
	if b.Mark < 0 {
		return -1
	}
	return round(b.share(b.Mark))
}

func (b *bar) share(v float64) float64 {
	if !(b.Max > 0) || !(v > 0) {
		return 0
	}
	return math.Min(v/b.Max, 1) * 100
}

// The radar's drawing, in units of its view box.
const (
	radarWidth  = 460
	radarHeight = 380
	radarRadius = 140.0
)

type point struct {
	X, Y float64
	// Text, Anchor and Name are of an axis's label.
	Text, Anchor, Name string
}

// at is a level on an axis; axes go clockwise from the top.
func (r radar) at(axis int, level float64) point {
	angle := 2*math.Pi*float64(axis)/float64(len(r.Axes)) - math.Pi/2
	d := radarRadius * math.Min(math.Max(level, 0), float64(topLevel)) / float64(topLevel)
	return point{X: round(radarWidth/2 + d*math.Cos(angle)), Y: round(radarHeight/2 + d*math.Sin(angle))}
}

// Rings are the levels 1 to 5 as polygons.
func (r radar) Rings() []string {
	var out []string
	for l := 1; l <= topLevel; l++ {
		out = append(out, r.polygon(func(int) float64 { return float64(l) }))
	}
	return out
}

// Scale are the names of the rings, along the first axis.
func (r radar) Scale() []point {
	var out []point
	for l := 0; l <= topLevel; l++ {
		p := r.at(0, float64(l))
		p.Text = strconv.Itoa(l)
		out = append(out, p)
	}
	return out
}

// Rim are the ends of the axes.
func (r radar) Rim() []point { return r.points(func(int) float64 { return float64(topLevel) }) }

// Names are the axes' labels, outside the rim.
func (r radar) Names() []point {
	var out []point
	for i, a := range r.Axes {
		angle := 2*math.Pi*float64(i)/float64(len(r.Axes)) - math.Pi/2
		p := point{
			X: round(radarWidth/2 + (radarRadius+14)*math.Cos(angle)), Y: round(radarHeight/2 + (radarRadius+16)*math.Sin(angle) + 5),
			Text: a.Code, Name: a.Name, Anchor: "middle",
		}
		switch c := math.Cos(angle); {
		case c > 0.2:
			p.Anchor = "start"
		case c < -0.2:
			p.Anchor = "end"
		}
		out = append(out, p)
	}
	return out
}

// Values is the polygon of the levels, and Points its corners.
func (r radar) Values() string  { return r.polygon(func(i int) float64 { return r.Axes[i].Value }) }
func (r radar) Points() []point { return r.points(func(i int) float64 { return r.Axes[i].Value }) }

// Targets is the polygon of the targets; empty where an axis has none.
func (r radar) Targets() string {
	for _, a := range r.Axes {
		if !a.HasTarget {
			return ""
		}
	}
	return r.polygon(func(i int) float64 { return r.Axes[i].Target })
}

func (r radar) points(level func(axis int) float64) []point {
	out := make([]point, len(r.Axes))
	for i := range r.Axes {
		out[i] = r.at(i, level(i))
	}
	return out
}

func (r radar) polygon(level func(axis int) float64) string {
	var b strings.Builder
	for i, p := range r.points(level) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatFloat(p.X, 'f', -1, 64) + "," + strconv.FormatFloat(p.Y, 'f', -1, 64))
	}
	return b.String()
}

// round keeps two decimals, so that the same figure is the same bytes everywhere.
func round(f float64) float64 { return math.Round(f*100) / 100 }

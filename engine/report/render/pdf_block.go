package render

import (
	"strings"

	"github.com/scf-service/service/engine/report/drawing"
)

const (
	pdfBody  = 9.5
	pdfSmall = 8.2
	leading  = 1.36
)

// blocks lays out blocks, a heading never apart from what it stands over.
func (p *pdf) blocks(all []block) {
	for i, b := range all {
		if _, ok := b.(heading); ok && i+1 < len(all) {
			p.need(34 + p.begins(all[i+1]))
		}
		p.block(b)
	}
}

// begins is how much room a block wants for its beginning.
func (p *pdf) begins(b block) float64 {
	switch b := b.(type) {
	case table:
		return 6 + p.head(b, p.columns(b))
	case picture:
		return p.scaled(b)*b.Height + pictureTitle
	case card:
		return 90
	}
	return 40
}

// block lays out one block, whatever it is.
func (p *pdf) block(b block) {
	body := style{p.fonts.regular, p.size(), drawing.Ink}
	switch b := b.(type) {
	case heading:
		p.gap(12)
		p.need(60)
		p.anchor(b.ID)
		if !b.Minor {
			p.bookmark(b.Text, 1)
		}
		p.paragraph(free(b.Text), style{p.fonts.bold, 12, drawing.Ink}, 4)
	case para:
		switch b.Class {
		case "lead":
			body.size = 10.5
		case "empty":
			body.face, body.color = p.fonts.italic, drawing.Soft
		}
		p.paragraph(b.Text, body, 5)
	case list:
		for _, c := range b.Items {
			p.bullet(c, body)
		}
		p.gap(4)
	case facts:
		if b.Tiles {
			p.tiles(b)
		} else {
			p.facts(b)
		}
	case quotes:
		for _, q := range b.Items {
			p.quote(q)
		}
	case card:
		p.card(b)
	case jumps:
		p.jumps(b)
	case table:
		p.table(b)
	case picture:
		p.picture(b)
	}
}

// size is that of running text: smaller within items.
func (p *pdf) size() float64 {
	if len(p.decor) > 0 {
		return pdfSmall
	}
	return pdfBody
}

// paragraph lays out a text, with free space below.
func (p *pdf) paragraph(c cell, st style, below float64) {
	for _, l := range p.layOut(p.words(c, st), p.right-p.left) {
		h := st.size * leading
		p.drawLine(l, p.left, p.take(h), h)
	}
	p.gap(below)
}

func (p *pdf) bullet(c cell, st style) {
	for i, l := range p.layOut(p.words(c, st), p.right-p.left-12) {
		h := st.size * leading
		y := p.take(h)
		if i == 0 {
			p.fill(st.color)
			p.f.Circle(p.left+4, y+h*0.5+0.6, 1.3, "F")
		}
		p.drawLine(l, p.left+12, y, h)
	}
}

const factLabel = 112.0

func (p *pdf) facts(b facts) {
	size := p.size()
	for _, it := range b.Items {
		label := p.layOut(p.words(plain(it.Label), style{p.fonts.bold, size * 0.95, drawing.Soft}), factLabel-8)
		values := [][]line{p.layOut(p.words(it.Value, style{p.fonts.regular, size, drawing.Ink}), p.right-p.left-factLabel)}
		if it.List != nil {
			values = nil
			for _, c := range it.List {
				values = append(values, p.layOut(p.words(c, style{p.fonts.regular, size, drawing.Ink}), p.right-p.left-factLabel-10))
			}
		}
		h := size * leading
		p.need(h * float64(min(max(len(label), 2), 4)))
		p.take(2)
		n := 0
		beside := func(y float64) {
			if n < len(label) {
				p.drawLine(label[n], p.left, y, h)
			}
			n++
		}
		for _, lines := range values {
			for i, l := range lines {
				y := p.take(h)
				beside(y)
				x := p.left + factLabel
				if it.List != nil {
					if i == 0 {
						p.fill(drawing.Soft)
						p.f.Circle(x+3, y+h*0.5+0.6, 1.2, "F")
					}
					x += 10
				}
				p.drawLine(l, x, y, h)
			}
		}
		for n < len(label) {
			beside(p.take(h))
		}
		y := p.take(3)
		p.line(p.left, y+2, p.right, y+2, 0.4, drawing.Rule)
	}
	p.gap(6)
}

// tiles are figures in large, five in a row.
func (p *pdf) tiles(b facts) {
	const across, space = 5, 6.0
	w := (p.right - p.left - space*(across-1)) / across
	for at := 0; at < len(b.Items); at += across {
		items := b.Items[at:min(at+across, len(b.Items))]
		labels, figures, most, large := make([][]line, len(items)), make([][]line, len(items)), 1, 1
		for i, it := range items {
			labels[i] = p.layOut(p.words(plain(it.Label), style{p.fonts.regular, 7.8, drawing.Soft}), w-14)
			figures[i] = p.layOut(p.words(it.Value, style{p.fonts.bold, 17, drawing.Ink}), w-14)
			most, large = max(most, len(labels[i])), max(large, len(figures[i]))
		}
		h := 12 + 21*float64(large) + 10*float64(most)
		p.need(h + 8)
		y := p.take(h)
		for i := range items {
			x := p.left + float64(i)*(w+space)
			p.fill(drawing.Panel)
			p.f.Rect(x, y, w, h, "F")
			p.fill(drawing.Accent)
			p.f.Rect(x, y, w, 2.4, "F")
			for k, l := range figures[i] {
				p.drawLine(l, x+7, y+5+21*float64(k), 21)
			}
			for k, l := range labels[i] {
				p.drawLine(l, x+7, y+6+21*float64(large)+10*float64(k), 10)
			}
		}
		p.gap(8)
	}
	p.gap(4)
}

func (p *pdf) quote(q quote) {
	p.gap(3)
	p.need(50)
	p.inset(0, 0, []decor{{p.left, p.right, drawing.Panel}, {p.left, p.left + 2.6, drawing.Accent}}, func() {
		p.inset(11, 9, nil, func() {
			p.take(4)
			p.paragraph(prose(q.Text), style{p.fonts.regular, pdfSmall + 0.3, drawing.Ink}, 2)
			p.paragraph(q.source(), style{p.fonts.regular, 7.2, drawing.Soft}, 0)
			p.take(4)
		})
	})
	p.gap(3)
}

// source says where a quote stands and what it is taken for.
func (q quote) source() cell {
	where := []string{q.Document}
	if q.Place != "" {
		where = append(where, q.Place)
	}
	if q.Headings != "" {
		where = append(where, "under "+q.Headings)
	}
	s := strings.Join(where, ", ") + "."
	if q.Stance != "" {
		s += " Reading: " + q.Stance + "."
	}
	if q.Supports != "" {
		s += " On: " + q.Supports
	}
	c := free(s + " Score " + q.Score + ".")
	if q.SHA256 != "" {
		c = c.and(span{Text: " SHA-256 "}, span{Text: q.SHA256, Mono: true})
	}
	return c
}

func (p *pdf) card(b card) {
	p.gap(8)
	p.need(80)
	p.anchor(b.ID)
	p.inset(0, 0, []decor{{p.left, p.left, drawing.Accent}}, func() {
		p.inset(10, 0, nil, func() {
			p.paragraph(b.Title, style{p.fonts.bold, 10.5, drawing.Ink}, 4)
			p.blocks(b.Blocks)
		})
	})
	p.gap(6)
}

func (p *pdf) jumps(b jumps) {
	var c cell
	for i, it := range b.Items {
		if i > 0 {
			c = c.and(span{Text: "   "})
		}
		c = c.and(it...)
	}
	p.paragraph(c, style{p.fonts.regular, pdfSmall, drawing.Ink}, 6)
}

package render

import (
	"strings"

	"github.com/scf-service/service/engine/report/drawing"
)

const (
	cellPad  = 3.0
	cellSize = 8.0
	cellStep = cellSize * 1.28
	headSize = 7.0
)

// pdfCell is a cell that was laid out.
type pdfCell struct {
	lines []line
	bar   *bar
}

// table lays out a table. Its head stands on each page; a row is broken only where it
// is longer than a page has room for.
func (p *pdf) table(t table) {
	widths := p.columns(t)
	at := t.pictured()
	if at < 0 || widths[at] >= leastBar {
		p.tableOf(t, widths)
		return
	}
	bare := t.without(at)
	p.tableOf(bare, p.columns(bare))
	for _, d := range t.charts() { // its bars were too narrow to be read in it
		p.picture(picture{d})
	}
}

func (p *pdf) tableOf(t table, widths []float64) {
	p.gap(6)
	p.need(p.head(t, widths))
	p.paragraph(plain(t.Caption), style{p.fonts.bold, 9, drawing.Ink}, 1)
	left, right, n := p.left, p.right, len(p.decor)
	head := func() { // wherever in a row a page ends, the head stands as at first
		l, r, d := p.left, p.right, p.decor
		p.left, p.right, p.decor = left, right, p.decor[:n]
		p.tableHead(t, widths)
		p.left, p.right, p.decor = l, r, d
	}
	head()
	if len(t.Rows) == 0 {
		p.paragraph(plain(or(t.Empty, "There is nothing to list.")), style{p.fonts.italic, cellSize, drawing.Soft}, 6)
		return
	}
	p.heads = append(p.heads, head)
	for _, r := range t.Rows {
		p.row(t, widths, r)
	}
	p.heads = p.heads[:len(p.heads)-1]
	p.gap(8)
}

// leastBar is how wide a bar has to be for its parts to be told apart.
const leastBar = 75.0

// head is how much room a table's head wants with its first row: no head stands alone.
func (p *pdf) head(t table, widths []float64) float64 {
	first := 0.0
	if len(t.Rows) > 0 {
		_, first = p.cells(t.Rows[0], widths)
		if len(t.Rows[0].Detail) > 0 {
			first += 40
		}
	}
	return 60 + min(first, wholeRow)
}

// Of a column's words in so many rows, none as wide as this is broken.
const (
	rowsLookedAt = 100
	widestWord   = 68.0
)

// columns shares the width: each column has what the longest word in it needs, and of the
// rest its part.
func (p *pdf) columns(t table) []float64 {
	full := p.right - p.left
	out := make([]float64, len(t.Columns))
	least, units := 0.0, 0.0
	for i, c := range t.Columns {
		for w := range strings.FieldsSeq(c.Name) {
			out[i] = max(out[i], p.fonts.bold.width(w, headSize)+2*cellPad+1)
		}
		if c.Swatch != "" {
			out[i] += 11
		}
		for _, r := range t.Rows[:min(len(t.Rows), rowsLookedAt)] {
			if i < len(r.Cells) {
				for _, w := range p.words(r.Cells[i], style{p.fonts.regular, cellSize, drawing.Ink}) {
					pad := 2 * cellPad
					if len(w.runs) > 0 && w.runs[0].badge != "" {
						pad += 2 * badgePad
					}
					if w.width < widestWord {
						out[i] = max(out[i], w.width+pad+0.5)
					}
				}
			}
		}
		least += out[i]
		units += float64(max(c.Width, 1))
	}
	if least > full {
		for i := range out {
			out[i] *= full / least
		}
		return out
	}
	// What a column's part is over its least; columns under theirs take from the others.
	over := 0.0
	for i, c := range t.Columns {
		over += max(full*float64(max(c.Width, 1))/units-out[i], 0)
	}
	if over == 0 {
		return out
	}
	for i, c := range t.Columns {
		out[i] += (full - least) * max(full*float64(max(c.Width, 1))/units-out[i], 0) / over
	}
	return out
}

func (p *pdf) tableHead(t table, widths []float64) {
	lines := make([][]line, len(t.Columns))
	most := 1
	for i, c := range t.Columns {
		w := widths[i] - 2*cellPad
		if c.Swatch != "" {
			w -= 11
		}
		lines[i] = p.layOut(p.words(plain(c.Name), style{p.fonts.bold, headSize, drawing.Ink}), w)
		most = max(most, len(lines[i]))
	}
	step := headSize * 1.25
	h := step*float64(most) + 6
	y := p.take(h)
	p.fill(drawing.Panel)
	p.f.Rect(p.left, y, p.right-p.left, h, "F")
	p.line(p.left, y+h, p.right, y+h, 1, drawing.Accent)
	x := p.left
	for i, c := range t.Columns {
		from := x + cellPad
		top := y + h - 3 - step*float64(len(lines[i]))
		if c.Swatch != "" {
			p.box(from, y+h-3-8, 8, 8, drawing.Known(c.Swatch))
			from += 11
		}
		for k, l := range lines[i] {
			at := from
			if c.Number {
				at = x + widths[i] - cellPad - l.width
			}
			p.drawLine(l, at, top+step*float64(k), step)
		}
		x += widths[i]
	}
}

// wholeRow is how high a row may be to be kept on one page.
const wholeRow = (pdfBottom - pdfTop) * 0.3

// cells lays out a row's cells, and tells how high the row is.
func (p *pdf) cells(r row, widths []float64) (cells []pdfCell, height float64) {
	cells = make([]pdfCell, min(len(r.Cells), len(widths)))
	most := 1
	for i, c := range r.Cells[:len(cells)] {
		cells[i].lines = p.layOut(p.words(c, style{p.fonts.regular, cellSize, drawing.Ink}), widths[i]-2*cellPad)
		for _, s := range c {
			if s.Bar != nil {
				cells[i].bar = s.Bar
			}
		}
		most = max(most, len(cells[i].lines))
	}
	return cells, cellStep*float64(most) + 5
}

func (p *pdf) row(t table, widths []float64, r row) {
	const step = cellStep
	cells, height := p.cells(r, widths)
	most := 1
	for _, c := range cells {
		most = max(most, len(c.lines))
	}
	if len(r.Detail) > 0 {
		height += 40
	}
	if height > wholeRow {
		height = step * 4
	}
	p.need(height)
	p.anchor(r.ID)
	p.take(2.5)
	for n := range most {
		y := p.take(step)
		x := p.left
		for i := range cells {
			if b := cells[i].bar; b != nil && n == 0 {
				p.bar(b, x+cellPad, y+1, widths[i]-2*cellPad, step-2)
			}
			if n < len(cells[i].lines) {
				l := cells[i].lines[n]
				at := x + cellPad
				if t.Columns[i].Number {
					at = x + widths[i] - cellPad - l.width
				}
				p.drawLine(l, at, y, step)
			}
			x += widths[i]
		}
	}
	p.take(2.5)
	if len(r.Detail) > 0 {
		p.inset(6, 0, []decor{{p.left + 6, p.left + 6, drawing.Rule}}, func() {
			p.inset(8, 0, nil, func() {
				p.blocks(r.Detail)
			})
		})
		p.gap(3)
	}
	if p.y < pdfBottom {
		p.line(p.left, p.y, p.right, p.y, 0.4, drawing.Rule)
	}
}

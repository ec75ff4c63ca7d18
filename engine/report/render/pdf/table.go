package pdf

import (
	"strings"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
)

const (
	cellPad        = 3.0
	cellSize       = 8.0
	cellLineHeight = cellSize * 1.28
	tableHeadSize  = 7.0
)

// pdfCell is a table cell whose text has been broken into lines.
type pdfCell struct {
	lines []textLine
	bar   *block.Bar
}

// drawTable draws a table whose header is repeated on each page. If a column of bars would be too
// narrow, it draws the bars as separate pictures below the table instead.
func (p *pdfWriter) drawTable(t block.Table) {
	widths := p.columnWidths(t)
	at := t.BarColumn()
	if at < 0 || widths[at] >= minBarWidth {
		p.drawTableWithWidths(t, widths)
		return
	}
	bare := t.WithoutColumn(at)
	p.drawTableWithWidths(bare, p.columnWidths(bare))
	for _, d := range t.BarCharts() { // bars in cells would be too narrow to read
		p.drawPicture(block.Picture{Drawing: d})
	}
}

func (p *pdfWriter) drawTableWithWidths(t block.Table, widths []float64) {
	p.tag("Table", "", func() { p.drawTableRows(t, widths) })
}

func (p *pdfWriter) drawTableRows(t block.Table, widths []float64) {
	p.addSpaceUnlessAtTop(6)
	p.ensureSpace(p.headAndFirstRowHeight(t, widths))
	p.tag("Caption", "", func() {
		p.drawParagraph(block.Text(t.Caption), textStyle{face: p.fonts.bold, size: 9, color: drawing.Ink}, 1)
	})
	left, right, n := p.left, p.right, len(p.strips)
	head := func() { // the header must look the same wherever in a row a page ends
		l, r, d := p.left, p.right, p.strips
		p.left, p.right, p.strips = left, right, p.strips[:n]
		p.drawTableHead(t, widths)
		p.left, p.right, p.strips = l, r, d
	}
	p.tag("TR", "", head)
	if len(t.Rows) == 0 {
		p.tag("TR", "", func() {
			p.tag("TD", "", func() {
				p.drawParagraph(
					block.Text(wording.OrDefault(t.Empty, "Nothing to list.")),
					textStyle{face: p.fonts.italic, size: cellSize, color: drawing.Soft},
					6,
				)
			})
		})
		return
	}
	p.openTableHeads = append(p.openTableHeads, head)
	for _, r := range t.Rows {
		p.tag("TR", "", func() { p.drawRow(t, widths, r) })
	}
	p.openTableHeads = p.openTableHeads[:len(p.openTableHeads)-1]
	p.addSpaceUnlessAtTop(8)
}

// minBarWidth is the minimum width of a bar. In a narrower bar, the segments could not be told apart.
const minBarWidth = 75.0

// headAndFirstRowHeight returns the height of a table's header and first row, which must be on the same page.
func (p *pdfWriter) headAndFirstRowHeight(t block.Table, widths []float64) float64 {
	first := 0.0
	if len(t.Rows) > 0 {
		_, first = p.layOutCells(t.Rows[0], widths)
		if len(t.Rows[0].Detail) > 0 {
			first += 40
		}
	}
	return 60 + min(first, p.maxUnbrokenRow())
}

// Column widths are determined from the first sampledRows rows. In these rows, words narrower than
// maxUnbrokenWord are not broken.
const (
	sampledRows     = 100
	maxUnbrokenWord = 68.0
	// maxUnbrokenBadge is the length, in bytes, up to which the text of a badge remains on one line.
	maxUnbrokenBadge = 25
)

// columnWidths divides the available width among the columns. Each column gets the width of its longest word,
// up to a limit, and a share of the remaining width.
func (p *pdfWriter) columnWidths(t block.Table) []float64 {
	full := p.right - p.left
	out := make([]float64, len(t.Columns))
	least, units := 0.0, 0.0
	for i, c := range t.Columns {
		for w := range strings.FieldsSeq(c.Name) {
			out[i] = max(out[i], p.fonts.bold.textWidth(w, tableHeadSize)+2*cellPad+1)
		}
		if c.Swatch != "" {
			out[i] += 11
		}
		for _, r := range t.Rows[:min(len(t.Rows), sampledRows)] {
			if i < len(r.Cells) {
				for _, w := range p.splitWords(r.Cells[i], textStyle{face: p.fonts.regular, size: cellSize, color: drawing.Ink}) {
					pad := 2 * cellPad
					if len(w.runs) > 0 && w.runs[0].badge != "" {
						pad += 2 * badgePad
					}
					if w.width < maxUnbrokenWord || pad > 2*cellPad && w.width < 1.5*maxUnbrokenWord {
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
	// over is the total by which the columns' shares exceed their minimum widths; the remaining
	// width is distributed in proportion to each column's excess.
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

func (p *pdfWriter) drawTableHead(t block.Table, widths []float64) {
	lines := make([][]textLine, len(t.Columns))
	most := 1
	for i, c := range t.Columns {
		w := widths[i] - 2*cellPad
		if c.Swatch != "" {
			w -= 11
		}
		lines[i] = p.breakLines(p.splitWords(block.Text(c.Name), textStyle{face: p.fonts.bold, size: tableHeadSize, color: drawing.Ink}), w)
		most = max(most, len(lines[i]))
	}
	step := tableHeadSize * 1.25
	h := step*float64(most) + 6
	y := p.reserveHeight(h)
	p.setFillColor(drawing.Panel)
	p.file.Rect(p.left, y, p.right-p.left, h, "F")
	p.drawRule(p.left, y+h, p.right, y+h, 1, drawing.Accent)
	x := p.left
	for i, c := range t.Columns {
		from := x + cellPad
		top := y + h - 3 - step*float64(len(lines[i]))
		if c.Swatch != "" {
			at := from
			if n := len(lines[i]); c.Number && n > 0 { // beside the text, which is at the right
				at = max(from, x+widths[i]-cellPad-lines[i][n-1].width-11)
			}
			p.drawHatchedBox(at, y+h-3-8, 8, 8, drawing.FillOrDefault(c.Swatch))
			from += 11
		}
		p.tag("TH", "", func() {
			for k, l := range lines[i] {
				at := from
				if c.Number {
					at = x + widths[i] - cellPad - l.width
				}
				p.drawLine(l, at, top+step*float64(k), step)
			}
		})
		x += widths[i]
	}
}

// maxUnbrokenRow returns the maximum height of a row that must not be split across pages.
func (p *pdfWriter) maxUnbrokenRow() float64 { return (p.bottom() - pdfTop) * 0.3 }

// layOutCells breaks the text in a row's cells into lines. It returns the cells and the height of the row.
func (p *pdfWriter) layOutCells(r block.Row, widths []float64) (cells []pdfCell, height float64) {
	cells = make([]pdfCell, min(len(r.Cells), len(widths)))
	most := 1
	for i, c := range r.Cells[:len(cells)] {
		cells[i].lines = p.breakLines(
			p.splitWords(c, textStyle{face: p.fonts.regular, size: cellSize, color: drawing.Ink}),
			widths[i]-2*cellPad,
		)
		for _, s := range c {
			if s.Bar != nil {
				cells[i].bar = s.Bar
			}
		}
		most = max(most, len(cells[i].lines))
	}
	return cells, cellLineHeight*float64(most) + 5
}

func (p *pdfWriter) drawRow(t block.Table, widths []float64, r block.Row) {
	const step = cellLineHeight
	cells, height := p.layOutCells(r, widths)
	most := 1
	for _, c := range cells {
		most = max(most, len(c.lines))
	}
	if len(r.Detail) > 0 {
		height += 40
	}
	if height > p.maxUnbrokenRow() {
		height = step * 4
	}
	p.ensureSpace(height)
	p.setAnchor(r.ID)
	p.reserveHeight(2.5)
	elements := make([]int, len(cells))
	for i := range cells {
		elements[i] = p.addElement("TD", "")
	}
	for n := range most {
		y := p.reserveHeight(step)
		x := p.left
		for i := range cells {
			if n < max(len(cells[i].lines), 1) {
				p.drawInElement(elements[i], func() { p.drawCellLine(&cells[i], n, x, y, widths[i], t.Columns[i].Number) })
			}
			x += widths[i]
		}
	}
	p.reserveHeight(2.5)
	if len(r.Detail) > 0 {
		p.withInset(6, 0, []strip{{left: p.left + 6, right: p.left + 6, fill: drawing.Rule}}, func() {
			p.withInset(8, 0, nil, func() {
				p.tag("TD", "", func() { p.tag("Div", "", func() { p.drawBlocks(r.Detail) }) })
			})
		})
		p.addSpaceUnlessAtTop(3)
	}
	if p.cursorY < p.bottom() {
		p.drawRule(p.left, p.cursorY, p.right, p.cursorY, 0.4, drawing.Rule)
	}
}

// drawCellLine draws line n of a cell. Together with the first line, it draws the cell's bar.
func (p *pdfWriter) drawCellLine(c *pdfCell, n int, x, y, width float64, isNumber bool) {
	if c.bar != nil && n == 0 {
		p.drawBar(c.bar, x+cellPad, y+1, width-2*cellPad, cellLineHeight-2)
	}
	if n >= len(c.lines) {
		return
	}
	at := x + cellPad
	if isNumber {
		at = x + width - cellPad - c.lines[n].width
	}
	p.drawLine(c.lines[n], at, y, cellLineHeight)
}

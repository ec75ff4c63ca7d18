package print

import (
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Title string
	// AlignRight aligns figures.
	AlignRight bool
	// Wrap gives long text several lines; else it is cut with ….
	Wrap bool
	// NoShrink says that the column is never narrowed: codes and ids are no use in part.
	NoShrink bool
	// Optional columns are left out, the last first, where there is no room for all.
	Optional bool
	// Style chooses how a cell is shown, by its text.
	Style func(cell string) Style
}

// minColumn is how narrow a column may become, fairColumn how wide long text should
// at least be before a spare column is shown beside it.
const (
	minColumn  = 8
	fairColumn = 28
)

// columnGap stands between columns.
const columnGap = 2

// Table prints rows under their titles, fitted to the page's width.
func (p *Page) Table(columns []Column, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	safe := make([][]string, len(rows))
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = Width(c.Title)
	}
	for r, row := range rows {
		safe[r] = make([]string, len(columns))
		for i := range columns {
			if i < len(row) {
				safe[r][i] = strings.TrimSpace(SafeLine(row[i]))
			}
			widths[i] = max(widths[i], Width(safe[r][i]))
		}
	}
	for _, i := range hiddenColumns(columns, widths, p.width) {
		columns, widths = slices.Delete(slices.Clone(columns), i, i+1), slices.Delete(widths, i, i+1)
		for r := range safe {
			safe[r] = slices.Delete(safe[r], i, i+1)
		}
	}
	shrinkColumns(columns, widths, p.width)
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = strings.ToUpper(c.Title)
	}
	p.writeRow(columns, widths, titles, func(int, string) Style { return Bold })
	for _, row := range safe {
		p.writeRow(columns, widths, row, func(i int, cell string) Style {
			if columns[i].Style == nil {
				return Plain
			}
			return columns[i].Style(cell)
		})
	}
}

// hiddenColumns tells which columns to leave out, the last first. One that has room after all,
// because a wider one before it went too, stays.
func hiddenColumns(columns []Column, widths []int, width int) (out []int) {
	if width < 1 {
		return nil
	}
	total := -columnGap
	for i, c := range columns {
		total += columnGap + fairWidth(c, widths[i])
	}
	for i := len(columns) - 1; i >= 0 && total > width; i-- {
		if columns[i].Optional {
			out = append(out, i)
			total -= columnGap + fairWidth(columns[i], widths[i])
		}
	}
	for n := len(out) - 2; n >= 0; n-- { // the last that went made the room
		if w := columnGap + fairWidth(columns[out[n]], widths[out[n]]); total+w <= width {
			total += w
			out = slices.Delete(out, n, n+1)
		}
	}
	return out
}

func fairWidth(c Column, width int) int {
	if c.NoShrink {
		return width
	}
	return min(width, max(fairColumn, Width(c.Title)))
}

// shrinkColumns narrows the widest columns that may be narrowed until the table fits: not below their
// titles at first, and where that is not enough, the titles too.
func shrinkColumns(columns []Column, widths []int, width int) {
	if width < 1 {
		return
	}
	total := columnGap * (len(columns) - 1)
	for _, w := range widths {
		total += w
	}
	for titles := true; total > width; {
		widest := -1
		for i, c := range columns {
			least := minColumn
			if titles {
				least = max(minColumn, Width(c.Title))
			}
			if !c.NoShrink && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 && !titles {
			return
		}
		if widest < 0 {
			titles = false
			continue
		}
		widths[widest]--
		total--
	}
}

func (p *Page) writeRow(columns []Column, widths []int, cells []string, style func(int, string) Style) {
	lines := make([][]string, len(columns))
	height := 1
	for i, c := range columns {
		if c.Wrap {
			lines[i] = Wrap(cells[i], widths[i])
		} else {
			lines[i] = []string{Truncate(cells[i], widths[i])}
		}
		height = max(height, len(lines[i]))
	}
	for l := range height {
		var b strings.Builder
		pending := 0 // blanks are written only before something, so no line ends in them
		for i, c := range columns {
			text := ""
			if l < len(lines[i]) {
				text = lines[i][l]
			}
			fill := max(0, widths[i]-Width(text))
			if c.AlignRight {
				pending += fill
			}
			if text != "" {
				b.WriteString(strings.Repeat(" ", pending))
				b.WriteString(applyStyle(p.color, style(i, cells[i]), text))
				pending = 0
			}
			if !c.AlignRight {
				pending += fill
			}
			pending += columnGap
		}
		p.writeLine(b.String())
	}
}

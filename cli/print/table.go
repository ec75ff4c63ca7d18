package print

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Title string
	// AlignRight right-aligns the cells, for numbers.
	AlignRight bool
	// Wrap wraps long text; otherwise it is truncated with …. Without a terminal, all long text is wrapped between words.
	Wrap bool
	// NoShrink prevents narrowing, for codes and ids, which are useless when truncated. Without a terminal, they are
	// wrapped if nothing else makes enough room.
	NoShrink bool
	// NoBreak prevents narrowing even if the table becomes wider than the page, for paths that people copy.
	NoBreak bool
	// Optional columns are dropped, the last first, if there is not enough room.
	Optional bool
	// BelowRow puts the cell on a line of its own below the row, without a terminal and if there is not enough room: for
	// long ids, next to which the words of the other columns would have to be broken.
	BelowRow bool
	// Style returns the style of a cell for its text.
	Style func(cell string) Style
}

// minColumn is the minimum width of a column; fairColumn is the width long text should have before
// an optional column is shown.
const (
	minColumn  = 8
	fairColumn = 28
)

// minFixed is the width to which columns of codes and ids are narrowed at most: that of an id, and of a sign that joins
// it to another.
const minFixed = 37

// minBroken is the width down to which words and titles are broken if nothing else makes enough room.
const minBroken = 6

// longWord is the length of most words, statuses and dates: shorter ones are only broken if nothing else makes enough room.
const longWord = 12

// columnGap is the number of spaces between columns.
const columnGap = 2

// Table prints column titles with rows below them, fitted to the page's width.
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
	columns = slices.Clone(columns)
	remove := func(i int) {
		columns, widths = slices.Delete(columns, i, i+1), slices.Delete(widths, i, i+1)
		for r := range safe {
			safe[r] = slices.Delete(safe[r], i, i+1)
		}
	}
	for _, i := range columnsToDrop(columns, widths, p.width) {
		remove(i)
	}
	pageWidth := cmp.Or(max(0, p.width), p.fileWidth, proseWidth)
	below := make([][]string, len(safe))
	belowTitles := []string{}
	if p.width < 1 {
		for _, i := range columnsBelow(columns, widths, pageWidth) {
			belowTitles = append(belowTitles, columns[i].Title)
			for r := range safe {
				below[r] = append(below[r], safe[r][i])
			}
			remove(i)
		}
		shrinkColumnsInFile(columns, safe, widths, pageWidth)
	} else {
		least := make([]int, len(columns))
		for i, c := range columns {
			if least[i] = minColumn; c.NoShrink {
				least[i] = widths[i]
			}
		}
		shrinkColumns(columns, widths, least, pageWidth)
	}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = strings.ToUpper(c.Title)
	}
	p.writeRow(columns, widths, titles, func(int, string) Style { return Bold })
	p.writeBelowRow(belowTitles, strings.ToUpper)
	for r, row := range safe {
		p.writeRow(columns, widths, row, func(i int, cell string) Style {
			if columns[i].Style == nil {
				return Plain
			}
			return columns[i].Style(cell)
		})
		p.writeBelowRow(below[r], func(cell string) string { return cell })
	}
}

// writeBelowRow writes the cells that belong below a row, each on its own line.
func (p *Page) writeBelowRow(cells []string, format func(string) string) {
	for _, cell := range cells {
		if cell != "" {
			p.writeLine("  " + format(cell))
		}
	}
}

// columnsBelow returns the indexes, in descending order, of the columns that are written below the rows because the table
// is too wide for the other columns to be readable.
func columnsBelow(columns []Column, widths []int, pageWidth int) (out []int) {
	total := acceptableTableWidth(columns, widths)
	for i := len(columns) - 1; i >= 0 && total > pageWidth; i-- {
		if columns[i].BelowRow {
			out = append(out, i)
			total -= columnGap + acceptableWidth(columns[i], widths[i])
		}
	}
	return out
}

// columnsToDrop returns the indexes of the optional columns to drop from a table that is too wide. It drops
// columns from right to left, and then keeps those that fit after all because a wider one was dropped too.
func columnsToDrop(columns []Column, widths []int, pageWidth int) (out []int) {
	if pageWidth < 1 {
		return nil
	}
	total := acceptableTableWidth(columns, widths)
	for i := len(columns) - 1; i >= 0 && total > pageWidth; i-- {
		if columns[i].Optional {
			out = append(out, i)
			total -= columnGap + acceptableWidth(columns[i], widths[i])
		}
	}
	for n := len(out) - 2; n >= 0; n-- { // dropping the last one made enough room
		if w := columnGap + acceptableWidth(columns[out[n]], widths[out[n]]); total+w <= pageWidth {
			total += w
			out = slices.Delete(out, n, n+1)
		}
	}
	return out
}

// acceptableTableWidth returns the width of a table whose columns all have their acceptable widths.
func acceptableTableWidth(columns []Column, widths []int) int {
	total := -columnGap
	for i, c := range columns {
		total += columnGap + acceptableWidth(c, widths[i])
	}
	return total
}

// acceptableWidth returns the width that a column should have at least before an optional column is shown.
func acceptableWidth(c Column, contentWidth int) int {
	if c.NoShrink {
		return contentWidth
	}
	return min(contentWidth, max(fairColumn, Width(c.Title)))
}

// shrinkColumnsInFile narrows columns of a table without a terminal, in which nothing is truncated: first only between
// words, and if the table is still too wide, then also within the longest words and between those of titles and of codes
// and times, then within codes and ids, and at last within all words and titles.
func shrinkColumnsInFile(columns []Column, cells [][]string, widths []int, pageWidth int) {
	titles := make([][]string, 1)
	for _, c := range columns {
		titles[0] = append(titles[0], c.Title)
	}
	for _, longest := range []struct{ word, fixed int }{
		{math.MaxInt, math.MaxInt}, {2 * minColumn, math.MaxInt}, {longWord, minFixed}, {minColumn, minFixed}, {minBroken, minFixed},
	} {
		least := make([]int, len(columns))
		for i, c := range columns {
			switch word := longestWord(cells, i); {
			case c.NoBreak || c.NoShrink && longest.word == math.MaxInt:
				least[i] = widths[i]
			case c.NoShrink:
				least[i] = min(max(longestWord(titles, i), word), longest.fixed)
			case longest.word == minBroken:
				least[i] = min(max(longestWord(titles, i), word), minBroken)
			case longest.word == math.MaxInt && c.AlignRight: // a number and its unit stay together
				least[i] = widths[i]
			case longest.word == math.MaxInt:
				least[i] = max(Width(c.Title), word)
			default:
				least[i] = max(longestWord(titles, i), min(word, longest.word))
			}
		}
		shrinkColumns(columns, widths, least, pageWidth)
	}
}

// longestWord returns the width of the longest word in a column.
func longestWord(rows [][]string, column int) (longest int) {
	for _, row := range rows {
		for word := range strings.FieldsSeq(row[column]) {
			longest = max(longest, Width(word))
		}
	}
	return longest
}

// shrinkColumns narrows the widest columns until the table fits: first down to the width of their
// titles and, if that is not enough, below it, but not below their least widths.
func shrinkColumns(columns []Column, widths, leastWidths []int, pageWidth int) {
	total := columnGap * (len(columns) - 1)
	for _, w := range widths {
		total += w
	}
	for titles := true; total > pageWidth; {
		widest := -1
		for i, c := range columns {
			least := leastWidths[i]
			if titles {
				least = max(least, Width(c.Title))
			}
			if widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
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

// writeRow writes a row of cells that are wrapped or truncated, and padded, to widths.
func (p *Page) writeRow(columns []Column, widths []int, cells []string, style func(int, string) Style) {
	lines := make([][]string, len(columns))
	height := 1
	for i, c := range columns {
		switch {
		case p.width < 1 || c.Wrap:
			lines[i] = Wrap(cells[i], widths[i])
		default:
			lines[i] = []string{Truncate(cells[i], widths[i])}
		}
		height = max(height, len(lines[i]))
	}
	for l := range height {
		var b strings.Builder
		pending := 0 // spaces are only written before text, so that no line ends with them
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

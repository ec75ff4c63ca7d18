// Package list provides a list that only draws its visible rows, so its cost doesn't depend on
// their number. The rows come from a Source.
package list

import (
	"strings"

	"github.com/scf-service/service/tui/draw"
)

// Column is a column of a list.
type Column struct {
	Title string
	// Width is in cells; 0 shares the remaining width.
	Width      int
	AlignRight bool
	// The column is shown if the list is at least ShowFrom and less than HideFrom cells wide; 0 sets
	// no bound.
	ShowFrom, HideFrom int
}

// Source provides the rows of a list.
type Source interface {
	// Len returns the number of rows, ignoring filters.
	Len() int
	// ID returns a row's unique id, which is stable across reloads.
	ID(row int) string
	// FilterText returns the lowercase text that filters are matched against.
	Cell(row, column int) (string, draw.Style)
	// FilterText returns the lowercase text that filters search.
	FilterText(row int) string
	// Marker returns a one-character status of the row, or "".
	Marker(row int) string
}

// List is the state of a list: cursor, filter and marks.
type List struct {
	Columns []Column
	Source  Source
	// RowFilter narrows the list in addition to the text filter; nil for all.
	RowFilter func(row int) bool
	// Expression compiles a filter that begins with =; nil if the list has no such filters.
	Expression func(text string) (selects func(row int) bool, err error)

	filter      string
	filterErr   error
	visible     []int
	cursor, top int
	marked      map[string]bool
	drawnRows   int // the number of rows last drawn
}

// Refresh rereads the rows, keeping the cursor on its row.
func (l *List) Refresh() {
	at := ""
	if row, ok := l.CurrentRow(); ok && row < l.Source.Len() {
		at = l.Source.ID(row)
	}
	l.applyFilter()
	if at != "" {
		l.MoveToID(at)
	}
	l.cursor = max(0, min(l.cursor, len(l.visible)-1))
}

// applyFilter determines the visible rows.
func (l *List) applyFilter() {
	words := strings.Fields(strings.ToLower(l.filter))
	var selects func(row int) bool
	l.filterErr = nil
	if text, ok := strings.CutPrefix(l.filter, "="); ok && l.Expression != nil {
		words = nil
		selects, l.filterErr = l.Expression(text)
	}
	l.visible = l.visible[:0]
rows:
	for row := range l.Source.Len() {
		if l.RowFilter != nil && !l.RowFilter(row) || selects != nil && !selects(row) {
			continue
		}
		if len(words) > 0 {
			text := l.Source.FilterText(row)
			for _, w := range words {
				if !strings.Contains(text, w) {
					continue rows
				}
			}
		}
		l.visible = append(l.visible, row)
	}
}

// SetFilter shows only rows containing all of the words or, if it begins with =, those that an expression selects.
func (l *List) SetFilter(words string) {
	if l.filter != words {
		l.filter = words
		l.Refresh()
	}
}

// FilterError returns why the active filter can't be used, or nil. All rows are shown then.
func (l *List) FilterError() error { return l.filterErr }

// Filter returns the active filter.
func (l *List) Filter() string { return l.filter }

// VisibleRows returns the rows that match the filter.
func (l *List) VisibleRows() []int { return l.visible }

// CurrentRow returns the row under the cursor, or false if there is none.
func (l *List) CurrentRow() (row int, ok bool) {
	if l.cursor < 0 || l.cursor >= len(l.visible) {
		return 0, false
	}
	return l.visible[l.cursor], true
}

// CursorPosition returns the cursor's position among the visible rows, from 1.
func (l *List) CursorPosition() int { return min(l.cursor+1, len(l.visible)) }

// MoveToID moves the cursor to the row with an id.
func (l *List) MoveToID(id string) (found bool) {
	for i, row := range l.visible {
		if l.Source.ID(row) == id {
			l.cursor = i
			return true
		}
	}
	return false
}

// Move moves the cursor by a number of rows.
func (l *List) Move(by int) { l.cursor = max(0, min(l.cursor+by, len(l.visible)-1)) }

// MovePage moves the cursor by a number of pages.
func (l *List) MovePage(by int) { l.Move(by * max(1, l.drawnRows-1)) }

// MoveToEdge moves to the first or the last row.
func (l *List) MoveToEdge(last bool) {
	l.cursor = 0
	if last {
		l.cursor = max(0, len(l.visible)-1)
	}
}

// MoveToNext moves to the next matching row, wrapping around; it returns false if there is none.
func (l *List) MoveToNext(match func(row int) bool, backward bool) (found bool) {
	n := len(l.visible)
	for i := 1; i <= n; i++ {
		at := (l.cursor + i) % n
		if backward {
			at = (l.cursor - i + 2*n) % n
		}
		if match(l.visible[at]) {
			l.cursor = at
			return true
		}
	}
	return false
}

// ToggleMark toggles the mark of the row under the cursor.
func (l *List) ToggleMark() {
	if row, ok := l.CurrentRow(); ok {
		id := l.Source.ID(row)
		if l.marked == nil {
			l.marked = map[string]bool{}
		}
		if l.marked[id] {
			delete(l.marked, id)
		} else {
			l.marked[id] = true
		}
	}
}

// ToggleVisibleMarks marks all visible rows, or unmarks them if all are marked.
func (l *List) ToggleVisibleMarks() {
	all := true
	for _, row := range l.visible {
		all = all && l.marked[l.Source.ID(row)]
	}
	if l.marked == nil {
		l.marked = map[string]bool{}
	}
	for _, row := range l.visible {
		if all {
			delete(l.marked, l.Source.ID(row))
		} else {
			l.marked[l.Source.ID(row)] = true
		}
	}
}

// ClearMarks removes all marks.
func (l *List) ClearMarks() { l.marked = nil }

// MarkedRows returns the marked rows, including hidden ones.
func (l *List) MarkedRows() (out []int) {
	if len(l.marked) == 0 {
		return nil
	}
	for row := range l.Source.Len() {
		if l.marked[l.Source.ID(row)] {
			out = append(out, row)
		}
	}
	return out
}

// IsMarked reports whether a row is marked.
func (l *List) IsMarked(id string) bool { return l.marked[id] }

// MarkedCount returns the number of marked rows.
func (l *List) MarkedCount() int { return len(l.marked) }

// MarkedOrCurrentRows returns the marked rows, or else the one under the cursor.
func (l *List) MarkedOrCurrentRows() []int {
	if m := l.MarkedRows(); len(m) > 0 {
		return m
	}
	if row, ok := l.CurrentRow(); ok {
		return []int{row}
	}
	return nil
}

// MoveToLine moves the cursor to the y-th drawn line; it returns false if there is no row.
func (l *List) MoveToLine(y int) (found bool) {
	at := l.top + y
	if y < 0 || at >= len(l.visible) {
		return false
	}
	l.cursor = at
	return true
}

// Draw draws the visible rows in w × h cells, with titles if there is room.
func (l *List) Draw(w, h int, focus bool) []draw.Line {
	widths := l.columnWidths(w - 2)
	var out []draw.Line
	if l.HasHeader(h) {
		head := draw.Line{{Text: "  "}}
		for c, width := range widths {
			if width > 0 {
				head = append(head, formatCell(l.Columns[c].Title, draw.Dim|draw.Underline, width, l.Columns[c].AlignRight)...)
			}
		}
		out = append(out, head)
		h--
	}
	l.drawnRows = h
	l.top = max(min(l.top, l.cursor), l.cursor-h+1, 0)
	l.top = min(l.top, max(0, len(l.visible)-h))
	for i := l.top; i < min(l.top+h, len(l.visible)); i++ {
		row := l.visible[i]
		sign := l.Source.Marker(row)
		if sign == "" && l.IsMarked(l.Source.ID(row)) {
			sign = "●"
		}
		if sign == "" {
			sign = " "
		}
		point := " "
		if i == l.cursor {
			point = "›"
		}
		line := draw.Line{{Text: point}, {Text: sign, Style: draw.Bold}}
		for c, width := range widths {
			if width > 0 {
				text, style := l.Source.Cell(row, c)
				line = append(line, formatCell(text, style, width, l.Columns[c].AlignRight)...)
			}
		}
		if i == l.cursor {
			add := draw.Bold
			if focus {
				add = draw.Reverse
			}
			line = line.Fit(w, draw.Plain).AddStyle(add)
		}
		out = append(out, line)
	}
	return out
}

// HasHeader reports whether column titles are drawn if the list is h cells high.
func (l *List) HasHeader(h int) bool { return h > 3 && len(l.Columns) > 0 && l.Columns[0].Title != "" }

// formatCell returns a cell of the given width, including a gap on its right.
func formatCell(text string, style draw.Style, width int, alignRight bool) draw.Line {
	line := draw.TextLine(style, text)
	if alignRight {
		if n := width - 1 - line.Width(); n > 0 {
			line = append(draw.TextLine(draw.Plain, "").Fit(n, draw.Plain), line...)
		}
	}
	return append(line.Fit(width-1, draw.Plain), draw.Span{Text: " "})
}

// columnWidths returns the width of each column including its gap. The width of a hidden column is 0.
func (l *List) columnWidths(w int) []int {
	out := make([]int, len(l.Columns))
	left, flexible := w, 0
	for i, c := range l.Columns {
		switch {
		case w < c.ShowFrom, c.HideFrom > 0 && w >= c.HideFrom:
		case c.Width == 0:
			flexible++
			out[i] = 1
		default:
			out[i] = min(c.Width+1, max(left, 0))
			left -= out[i]
		}
	}
	for i, c := range l.Columns {
		if c.Width == 0 && out[i] > 0 {
			out[i] = max(0, left/flexible)
			left, flexible = left-out[i], flexible-1
		}
	}
	return out
}

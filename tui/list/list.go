// Package list is a list of rows of which only those in sight are ever drawn, so that
// ten thousand cost no more than ten. What the rows are, their owner knows.
package list

import (
	"strings"

	"github.com/scf-service/service/tui/draw"
)

// Column is a column of a list.
type Column struct {
	Title string
	// Width in cells; 0: what the others leave.
	Width int
	Right bool
	// From is the width of the list from which on the column is shown, To the one from which
	// on it is not, as another says the same in full; 0: always.
	From, To int
}

// Source is what a list shows.
type Source interface {
	// Len is how many rows there are, before any filter.
	Len() int
	// ID tells a row apart from all others, also when the rows are read again.
	ID(row int) string
	// Cell is what stands in a column.
	Cell(row, column int) (string, draw.Style)
	// Words is what a filter looks in: in lower case.
	Words(row int) string
	// Sign is one sign of what goes on with the row; empty for nothing.
	Sign(row int) string
}

// List is where one stands in a list, what is filtered and what is marked.
type List struct {
	Columns []Column
	Source  Source
	// Only narrows the list beside the filter; nil for all.
	Only func(row int) bool

	filter      string
	shown       []int
	cursor, top int
	marked      map[string]bool
	seen        int // rows that were in sight when it was last drawn
}

// Refresh looks at the rows anew, staying on the row it was on.
func (l *List) Refresh() {
	at := ""
	if row, ok := l.Row(); ok && row < l.Source.Len() {
		at = l.Source.ID(row)
	}
	l.narrow()
	if at != "" {
		l.Select(at)
	}
	l.cursor = max(0, min(l.cursor, len(l.shown)-1))
}

func (l *List) narrow() {
	words := strings.Fields(strings.ToLower(l.filter))
	l.shown = l.shown[:0]
rows:
	for row := range l.Source.Len() {
		if l.Only != nil && !l.Only(row) {
			continue
		}
		if len(words) > 0 {
			text := l.Source.Words(row)
			for _, w := range words {
				if !strings.Contains(text, w) {
					continue rows
				}
			}
		}
		l.shown = append(l.shown, row)
	}
}

// Filter shows only rows that have all of the words.
func (l *List) Filter(words string) {
	if l.filter != words {
		l.filter = words
		l.Refresh()
	}
}

// Filtered is the filter that is on.
func (l *List) Filtered() string { return l.filter }

// Shown are the rows that the filter leaves.
func (l *List) Shown() []int { return l.shown }

// Row is the one the cursor is on; false where there is none.
func (l *List) Row() (int, bool) {
	if l.cursor < 0 || l.cursor >= len(l.shown) {
		return 0, false
	}
	return l.shown[l.cursor], true
}

// Place is where the cursor stands among the shown, from 1.
func (l *List) Place() int { return min(l.cursor+1, len(l.shown)) }

// Select puts the cursor on a row by its id.
func (l *List) Select(id string) bool {
	for i, row := range l.shown {
		if l.Source.ID(row) == id {
			l.cursor = i
			return true
		}
	}
	return false
}

// Move moves the cursor.
func (l *List) Move(by int) { l.cursor = max(0, min(l.cursor+by, len(l.shown)-1)) }

// Screen moves the cursor by what is in sight.
func (l *List) Screen(by int) { l.Move(by * max(1, l.seen-1)) }

// Ends moves to the first or the last row.
func (l *List) Ends(last bool) {
	l.cursor = 0
	if last {
		l.cursor = max(0, len(l.shown)-1)
	}
}

// Next moves to the next row that is like that, around the end; false where none is.
func (l *List) Next(like func(row int) bool, back bool) bool {
	n := len(l.shown)
	for i := 1; i <= n; i++ {
		at := (l.cursor + i) % n
		if back {
			at = (l.cursor - i + 2*n) % n
		}
		if like(l.shown[at]) {
			l.cursor = at
			return true
		}
	}
	return false
}

// Mark turns the mark of the cursor's row around.
func (l *List) Mark() {
	if row, ok := l.Row(); ok {
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

// MarkShown marks all that are shown; where they are already, none.
func (l *List) MarkShown() {
	all := true
	for _, row := range l.shown {
		all = all && l.marked[l.Source.ID(row)]
	}
	if l.marked == nil {
		l.marked = map[string]bool{}
	}
	for _, row := range l.shown {
		if all {
			delete(l.marked, l.Source.ID(row))
		} else {
			l.marked[l.Source.ID(row)] = true
		}
	}
}

// Unmark takes all marks away.
func (l *List) Unmark() { l.marked = nil }

// Marked are the marked rows, of those that a filter hides too.
func (l *List) Marked() (out []int) {
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

// IsMarked tells whether a row is marked.
func (l *List) IsMarked(id string) bool { return l.marked[id] }

// MarkedCount is how many rows are marked.
func (l *List) MarkedCount() int { return len(l.marked) }

// Chosen are the marked rows, or where none is, the one under the cursor.
func (l *List) Chosen() []int {
	if m := l.Marked(); len(m) > 0 {
		return m
	}
	if row, ok := l.Row(); ok {
		return []int{row}
	}
	return nil
}

// At puts the cursor on the y-th line as last drawn; false where no row is there.
func (l *List) At(y int) bool {
	at := l.top + y
	if y < 0 || at >= len(l.shown) {
		return false
	}
	l.cursor = at
	return true
}

// Draw draws what is in sight: w × h cells, titles first where there is room.
func (l *List) Draw(w, h int, focus bool) []draw.Line {
	widths := l.fit(w - 2)
	var out []draw.Line
	if l.Headed(h) {
		head := draw.Line{{Text: "  "}}
		for c, width := range widths {
			if width > 0 {
				head = append(head, cell(l.Columns[c].Title, draw.Dim|draw.Under, width, l.Columns[c].Right)...)
			}
		}
		out = append(out, head)
		h--
	}
	l.seen = h
	l.top = max(min(l.top, l.cursor), l.cursor-h+1, 0)
	l.top = min(l.top, max(0, len(l.shown)-h))
	for i := l.top; i < min(l.top+h, len(l.shown)); i++ {
		row := l.shown[i]
		sign := l.Source.Sign(row)
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
				line = append(line, cell(text, style, width, l.Columns[c].Right)...)
			}
		}
		if i == l.cursor {
			add := draw.Bold
			if focus {
				add = draw.Reverse
			}
			line = line.Fit(w, draw.Plain).With(add)
		}
		out = append(out, line)
	}
	return out
}

// Headed tells whether titles are drawn at that height.
func (l *List) Headed(h int) bool { return h > 3 && len(l.Columns) > 0 && l.Columns[0].Title != "" }

func cell(text string, style draw.Style, width int, right bool) draw.Line {
	line := draw.T(style, text)
	if right {
		if n := width - 1 - line.Width(); n > 0 {
			line = append(draw.T(draw.Plain, "").Fit(n, draw.Plain), line...)
		}
	}
	return append(line.Fit(width-1, draw.Plain), draw.Span{Text: " "})
}

// fit is how wide each column is, gap included; 0 for one that is not shown.
func (l *List) fit(w int) []int {
	out := make([]int, len(l.Columns))
	left, flexible := w, 0
	for i, c := range l.Columns {
		switch {
		case w < c.From, c.To > 0 && w >= c.To:
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

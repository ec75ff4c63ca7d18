package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// maxSideTables is the maximum number of tables side by side. Beyond it, empty columns are part of the last table.
const maxSideTables = 16

// sideTables holds two tables next to each other, separated by an empty column. The right one, which may itself
// consist of such tables, is written after the left one has ended.
type sideTables struct {
	left, right *TableWriter
	gap         int // index of the empty column
}

// dependentColumn matches names of columns that describe something in the columns to their left, so that no table
// begins with them.
var dependentColumn = lazyregexp.New(
	`(?i)^\W*(?:status|state|results?|outcome|owner|due|date|comments?|remarks?|notes?|actions?|rating|score|priority|` +
		`evidence|approved|reviewed|checked)\b`,
)

// splitSides splits a group of rows at the first empty column that separates two tables, and
// reports whether there is one.
func (t *TableWriter) splitSides(pending []Row) bool {
	if t.sideCount >= maxSideTables {
		return false
	}
	gaps := findGaps(pending)
	i := slices.IndexFunc(gaps, func(gap int) bool { return areSideBySide(pending, gap) })
	if i < 0 {
		return false
	}
	left := &TableWriter{b: t.b, number: t.number, sideCount: maxSideTables}
	right := t.b.NewPart().NewTableWriter()
	right.sideCount = t.sideCount + 1
	t.sides = &sideTables{left, right, gaps[i]}
	for _, r := range pending {
		t.sides.addRow(r)
	}
	return true
}

// haveSides reports whether another group of rows has the same empty column.
func (t *TableWriter) haveSides(pending []Row) bool {
	return t.sides != nil && !slices.ContainsFunc(pending, func(r Row) bool {
		return CountFilled(withoutMerged(r.Cells)) > 1 && t.sides.gap < len(r.Cells) && r.Cells[t.sides.gap] != ""
	})
}

// addRow adds the cells of a row to the tables that they belong to.
func (s *sideTables) addRow(r Row) {
	if len(r.Cells) <= s.gap+1 || CountFilled(withoutMerged(r.Cells[s.gap+1:])) == 0 {
		s.left.AddRow(r.Cells, r.Locator)
		s.right.AddRow(nil, api.Locator{})
		return
	}
	left, right := r.Cells[:s.gap+1], r.Cells[s.gap+1:]
	s.left.AddRow(left, narrowLocator(r.Locator, left, 0))
	s.right.AddRow(right, narrowLocator(r.Locator, right, s.gap+1))
}

// finishSides writes the remaining rows of tables side by side.
func (t *TableWriter) finishSides() {
	if t.sides == nil {
		return
	}
	t.sides.left.Finish()
	t.sides.right.Finish()
	if err := t.sides.right.b.Err(); err != nil {
		t.b.Fail(err)
	}
	t.b.AppendPart(t.sides.right.b)
	t.sides = nil
}

// findGaps returns the indexes of the columns that are empty in all rows. From a run of such columns between other
// columns, it returns only the first. Titles, which may span columns, are ignored.
func findGaps(rows []Row) (gaps []int) {
	var isFilled []bool
	for _, r := range rows {
		if CountFilled(withoutMerged(r.Cells)) < 2 {
			continue
		}
		for len(isFilled) < len(r.Cells) {
			isFilled = append(isFilled, false)
		}
		for i, c := range r.Cells {
			isFilled[i] = isFilled[i] || c != ""
		}
	}
	for i := 2; i+1 < len(isFilled) && len(gaps) < maxSideTables; i++ { // after two columns of the left table
		if isFilled[i-1] && !isFilled[i] {
			gaps = append(gaps, i)
		}
	}
	return gaps
}

// areSideBySide reports whether an empty column separates two tables rather than columns of one table. Each must have
// two rows of two cells. They are two tables if they share column names, if they begin in different rows, if the right
// one continues where the left one is empty, or if the right one has a column of its own that identifies its rows.
func areSideBySide(rows []Row, gap int) bool {
	var left, right [][]string // rows of two cells and more
	begin := [2]int{-1, -1}
	continues := false
	for i, r := range rows {
		cells := withoutMerged(r.Cells)
		before, after := cells[:min(gap, len(cells))], cells[min(gap+1, len(cells)):]
		if CountFilled(before) > 1 {
			if left = append(left, before); begin[0] < 0 {
				begin[0] = i
			}
		}
		if CountFilled(after) > 1 {
			if right = append(right, after); begin[1] < 0 {
				begin[1] = i
			}
			continues = continues || CountFilled(before) == 0
		}
	}
	if len(left) < 2 || len(right) < 2 || answerColumns(right[0]) != nil || !areNames(right[0]) {
		return false
	}
	for _, name := range NonEmptyCells(right[0]) {
		if slices.ContainsFunc(left[0], func(s string) bool { return strings.EqualFold(s, name) }) {
			return true
		}
	}
	return begin[0] != begin[1] || continues || hasOwnKey(right)
}

// hasOwnKey reports whether the first column of a table has a different text in each row.
func hasOwnKey(rows [][]string) bool {
	key := slices.IndexFunc(rows[0], func(s string) bool { return s != "" })
	if dependentColumn.MatchString(rows[0][key]) {
		return false
	}
	seen := map[string]bool{}
	for _, r := range rows[1:] {
		text := cellAt(r, key)
		if _, isDate, _ := FindDate(text); isDate || seen[text] || !strings.ContainsFunc(text, unicode.IsLetter) {
			return false
		}
		seen[text] = true
	}
	return true
}

// narrowLocator returns the location of some cells of a row. offset is the number of columns to their left.
func narrowLocator(at api.Locator, cells []string, offset int) api.Locator {
	row, err := strconv.Atoi(at.CellRange[strings.LastIndexAny(at.CellRange, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")+1:])
	if err == nil {
		at.CellRange = FormatCellRange(cells, offset, row)
	}
	return at
}

// FormatCellRange returns the range, in A1 notation, from the first to the last nonempty cell of a row, or "" if all
// are empty. offset is the number of columns to the left of the cells.
func FormatCellRange(cells []string, offset, row int) string {
	first := slices.IndexFunc(cells, func(s string) bool { return s != "" })
	if first < 0 {
		return ""
	}
	last := len(cells) - 1
	for cells[last] == "" {
		last--
	}
	from, to := FormatCell(offset+first+1, row), FormatCell(offset+last+1, row)
	if from == to {
		return from
	}
	return from + ":" + to
}

// FormatCell returns the name of a cell in A1 notation. Columns and rows are counted from 1.
func FormatCell(column, row int) string {
	var letters []byte
	for ; column > 0; column = (column - 1) / 26 {
		letters = append(letters, byte('A'+(column-1)%26))
	}
	slices.Reverse(letters)
	return string(letters) + strconv.Itoa(row)
}

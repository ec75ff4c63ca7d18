package chunk

import (
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// unionCellRanges returns the smallest range in A1 notation that contains both a and b. If one of them is
// invalid, it returns the other.
func unionCellRanges(a, b string) string {
	ra, okA := parseRange(a)
	rb, okB := parseRange(b)
	switch {
	case !okA:
		return b
	case !okB:
		return a
	}
	r := cellRange{col0: min(ra.col0, rb.col0), row0: min(ra.row0, rb.row0), col1: max(ra.col1, rb.col1), row1: max(ra.row1, rb.row1)}
	from, to := document.FormatCell(r.col0, r.row0), document.FormatCell(r.col1, r.row1)
	if from == to {
		return from
	}
	return from + ":" + to
}

type cellRange struct{ col0, row0, col1, row1 int }

func parseRange(s string) (cellRange, bool) {
	from, to, ok := strings.Cut(s, ":")
	if !ok {
		to = from
	}
	c0, r0, ok0 := parseCell(from)
	c1, r1, ok1 := parseCell(to)
	return cellRange{col0: c0, row0: r0, col1: c1, row1: r1}, ok0 && ok1
}

func parseCell(s string) (col, row int, ok bool) {
	i := 0
	for i < len(s) && s[i] >= 'A' && s[i] <= 'Z' && i < 3 {
		col = col*26 + int(s[i]-'A') + 1
		i++
	}
	row, err := strconv.Atoi(s[i:])
	return col, row, err == nil && col > 0 && row > 0
}

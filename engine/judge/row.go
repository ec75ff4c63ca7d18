package judge

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// unfilledCell is a value that stands for none.
var unfilledCell = lazyregexp.Of(`(?i)^(?:[-–—]*|n/?a|none yet|tbd|tba|to be determined)$`)

// cell is one of a row, "Name: value", in bytes; without a name, value begins where it does.
type cell struct{ start, value, end int }

// cellsIn cuts a row as readers write it.
func cellsIn(row string) (out []cell) {
	for at := 0; at < len(row); {
		end := len(row)
		if i := strings.Index(row[at:], ";"); i >= 0 {
			end = at + i
		}
		c := cell{at, at, end}
		if i := strings.Index(row[at:end], ":"); i >= 0 && i <= maxLabel && (at+i+1 == end || isSpace(row[at+i+1]) || row[at+i+1] == '*') {
			c.value = at + i + 1
		}
		out = append(out, c)
		at = end + 1
	}
	return out
}

const maxLabel = 61 // of a column's name, as isRow has it

// filled blanks out the cells of a row, or the one field of a line, that nobody filled in: the name of
// a column says nothing where its cell is empty. All else stays in its place.
func filled(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	row, cells := isRow(text), cellsIn(text)
	if !row && len(cells) > 1 {
		return text
	}
	for _, c := range cells {
		value := strings.Trim(text[c.value:c.end], " *_.\t\r\n")
		if c.value > c.start && (unfilledCell.MatchString(value) && (row || value != "") || row && noneOfKind(text[c.start:c.value-1], value)) { // "Owners:" leads to a list
			text = text[:c.start] + strings.Repeat(" ", c.end-c.start) + text[c.end:]
		}
	}
	return text
}

// noneOfKind: a "no" in a column that is of no deed says only of which kind a thing is not: "internet-facing: no".
func noneOfKind(name, value string) bool {
	return bareNo.MatchString(value) && !ofState.MatchString(name) && !ofDeed(split(name))
}

var bareNo = lazyregexp.Of(`(?i)^\W*(?:no|n|false|none)[\s.]*$`)

// cellsOf is a row without the names of its columns, but for the one in whose cell it announces something.
func cellsOf(row string, of *sentence) *sentence {
	said := row
	for _, c := range cellsIn(row) {
		if of.plan == "" || !strings.Contains(row[c.value:c.end], of.plan) {
			said = said[:c.start] + strings.Repeat(" ", c.value-c.start) + said[c.value:]
		}
	}
	words := split(said)
	for i := range words {
		words[i].clause = 0
	}
	s := &sentence{terms: termsOf(words, stance{}), roots: rootsOf(words)}
	s.held = bitsOf(s.terms)
	return s
}

// body is what a sentence says of its own: of a row, what stands in its cells.
func (s *sentence) body() *sentence {
	if s.cells != nil {
		return s.cells
	}
	return s
}

// inCells: the cells of the row at i hold what is asked for, and not the names of columns alone.
func (d *demand) inCells(c *candidate, i int, whole match) bool {
	own := d.against([]*sentence{c.sentences[i].body()}, c.near[i], c.around).own
	return own >= minOwn && 2*own >= whole.own
}

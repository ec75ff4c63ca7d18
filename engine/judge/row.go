package judge

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// emptyCellPattern is a value that stands for none.
var emptyCellPattern = lazyregexp.New(`(?i)^(?:[-–—]*|n/?a|none yet|tbd|tba|to be determined)$`)

// cell is one of a row, "Name: value", in bytes; without a name, value begins where it does.
type cell struct{ start, value, end int }

// splitCells cuts a row as readers write it.
func splitCells(row string) (out []cell) {
	for at := 0; at < len(row); {
		end := len(row)
		if i := strings.Index(row[at:], ";"); i >= 0 {
			end = at + i
		}
		c := cell{start: at, value: at, end: end}
		if i := strings.Index(row[at:end], ":"); i >= 0 && i <= maxColumnName &&
			(at+i+1 == end || isSpace(row[at+i+1]) || row[at+i+1] == '*') {
			c.value = at + i + 1
		}
		out = append(out, c)
		at = end + 1
	}
	return out
}

const maxColumnName = 61 // of a column's name, as isTableRow has it

// blankEmptyCells blanks out the cells of a row, or the one field of a line, that nobody filled in: the name of
// a column says nothing where its cell is empty. All else stays in its place.
func blankEmptyCells(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	row, cells := isTableRow(text), splitCells(text)
	if !row && len(cells) > 1 {
		return text
	}
	for _, c := range cells {
		value := strings.Trim(text[c.value:c.end], " *_.\t\r\n")
		if c.value > c.start &&
			(emptyCellPattern.MatchString(value) && (row || value != "") || row && isAttributeNo(text[c.start:c.value-1], value)) { // "Owners:" leads to a list
			text = text[:c.start] + strings.Repeat(" ", c.end-c.start) + text[c.end:]
		}
	}
	return text
}

// isAttributeNo: a "no" in a column that is of no deed says only of which kind a thing is not: "internet-facing: no".
func isAttributeNo(name, value string) bool {
	return bareNoPattern.MatchString(value) && !statusColumnPattern.MatchString(name) && !isActionColumn(splitWords(name))
}

var bareNoPattern = lazyregexp.New(`(?i)^\W*(?:no|n|false|none)[\s.]*$`)

// cellSentence is a row without the names of its columns, but for the one in whose cell it announces something.
func cellSentence(row string, rowSentence *sentence) *sentence {
	cellText := row
	for _, c := range splitCells(row) {
		if rowSentence.planWords == "" || !strings.Contains(row[c.value:c.end], rowSentence.planWords) {
			cellText = cellText[:c.start] + strings.Repeat(" ", c.value-c.start) + cellText[c.value:]
		}
	}
	words := splitWords(cellText)
	for i := range words {
		words[i].clause = 0
	}
	s := &sentence{terms: extractTerms(words, stance{}), stems: hashStems(words)}
	s.termFilter = newBloomFilter(s.terms)
	return s
}

// content is what a sentence says of its own: of a row, what stands in its cells.
func (s *sentence) content() *sentence {
	if s.cellContent != nil {
		return s.cellContent
	}
	return s
}

// matchesCells: the cells of the row at i hold what is asked for, and not the names of columns alone.
func (d *preparedStatement) matchesCells(c *analyzedPassage, i int, fullMatch match) bool {
	own := d.matchWindow([]*sentence{c.sentences[i].content()}, c.neighbors[i], c.surroundings).ownWeight
	return own >= minOwnWeight && 2*own >= fullMatch.ownWeight
}

package text

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// emptyCellPattern matches a cell value that means "none".
var emptyCellPattern = lazyregexp.New(`(?i)^(?:[-–—]*|n/?a|none yet|tbd|tba|to be determined)$`)

// cell holds the byte offsets of one "Name: value" cell in a table row. If it has no name, value equals start.
type cell struct{ start, value, end int }

// splitCells splits a table row in the format written by the document parsers.
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

const maxColumnName = 61 // maximum length of a column name, as in isTableRow

// blankEmptyCells replaces the unfilled cells of a table row, or the single field of a line, with blanks,
// because a column name alone says nothing. Offsets stay the same.
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
			(emptyCellPattern.MatchString(value) && (row || value != "") ||
				row && isAttributeNo(text[c.start:c.value-1], value)) { // "Owners:" leads to a list
			text = text[:c.start] + strings.Repeat(" ", c.end-c.start) + text[c.end:]
		}
	}
	return text
}

// isAttributeNo reports whether a "no" in a cell only describes an attribute ("internet-facing: no") rather than
// an action that was not done.
func isAttributeNo(name, value string) bool {
	return bareNoPattern.MatchString(value) && !statusColumnPattern.MatchString(name) && !isActionColumn(splitWords(name))
}

var bareNoPattern = lazyregexp.New(`(?i)^\W*(?:no|n|false|none)[\s.]*$`)

// rowWithoutColumnNames returns a table row without its column names. It keeps the name of the column whose cell
// contains the row's plan words, if any.
func rowWithoutColumnNames(row string, rowSentence *Sentence) *Sentence {
	cellText := row
	for _, c := range splitCells(row) {
		if rowSentence.PlanWords == "" || !strings.Contains(row[c.value:c.end], rowSentence.PlanWords) {
			cellText = cellText[:c.start] + strings.Repeat(" ", c.value-c.start) + cellText[c.value:]
		}
	}
	words := splitWords(cellText)
	for i := range words {
		words[i].clause = 0
	}
	return newSentenceWithoutStance(words)
}

// WithoutColumnNames returns the content of a table row without its column names. It returns any other sentence
// unchanged.
func (s *Sentence) WithoutColumnNames() *Sentence {
	if s.cellContent != nil {
		return s.cellContent
	}
	return s
}

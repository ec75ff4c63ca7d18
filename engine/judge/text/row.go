package text

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// emptyCellPattern matches a value that means "none".
var emptyCellPattern = lazyregexp.New(`(?i)^(?:[-–—]*|n/?a|none yet|tbd|tba|to be determined)$`)

// cell is one "Name: value" cell of a row, as byte offsets. Without a name, value equals start.
type cell struct{ start, value, end int }

// splitCells splits a row as the document parsers write it.
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

// blankEmptyCells blanks out the unfilled cells of a row, or the single field of a line, because a
// column name alone states nothing. Offsets stay the same.
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

// isAttributeNo reports whether a "no" only describes an attribute, as in "internet-facing: no",
// rather than an action that was not done.
func isAttributeNo(name, value string) bool {
	return bareNoPattern.MatchString(value) && !statusColumnPattern.MatchString(name) && !isActionColumn(splitWords(name))
}

var bareNoPattern = lazyregexp.New(`(?i)^\W*(?:no|n|false|none)[\s.]*$`)

// rowWithoutColumnNames returns a row without its column names, except for the column whose cell contains the
// row's plan words.
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
	return sentenceFromWords(words)
}

// WithoutColumnNames returns what a sentence itself states: for a row, its cells.
func (s *Sentence) WithoutColumnNames() *Sentence {
	if s.cellContent != nil {
		return s.cellContent
	}
	return s
}

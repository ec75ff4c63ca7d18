package web

import (
	"net/url"
	"slices"
	"strings"
)

// segment is a part of a passage: text, or rows of a sheet as a table.
type segment struct {
	Parts   []part
	Columns []string
	Rows    []sheetRow
}

// sheetRow is a row of a sheet. Mark is set if it contains the quote.
type sheetRow struct {
	Cells []string
	Mark  bool
}

// minSheetRows is the minimum number of consecutive rows for which a passage of a sheet is shown as a table.
const minSheetRows = 2

// markQuote returns a text with the quote highlighted, if it contains one.
func markQuote(text, quote string) []part {
	before, after, ok := strings.Cut(text, quote)
	if quote == "" || !ok {
		return []part{{Text: text}}
	}
	return []part{{Text: before}, {quote, true}, {Text: after}}
}

// sheetSegments splits a passage of a sheet, whose rows have the form "Column: value; Column: value", into text and tables.
func sheetSegments(text, quote string) (out []segment) {
	lines := strings.Split(text, "\n")
	var plain []string
	flush := func() {
		if len(plain) > 0 {
			out = append(out, segment{Parts: markQuote(strings.Join(plain, "\n"), quote)})
			plain = nil
		}
	}
	for len(lines) > 0 {
		columns := rowColumns(lines[0])
		var rows []sheetRow
		for _, row := range lines {
			cells := rowCells(row, columns)
			if cells == nil {
				break
			}
			isQuoted := quote != "" && (strings.Contains(row, quote) || strings.Contains(quote, row))
			rows = append(rows, sheetRow{cells, isQuoted})
		}
		if len(rows) < minSheetRows {
			plain, lines = append(plain, lines[0]), lines[1:]
			continue
		}
		flush()
		out, lines = append(out, segment{Columns: columns, Rows: rows}), lines[len(rows):]
	}
	flush()
	return out
}

// rowColumns returns the names of the columns in a row, or nil if it has fewer than two.
func rowColumns(row string) (columns []string) {
	for cell := range strings.SplitSeq(row, "; ") {
		name, _, ok := strings.Cut(cell, ": ")
		if ok && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if len(columns) < 2 {
		return nil
	}
	return columns
}

// rowCells returns the values of a row in the order of the columns, or nil if the row doesn't begin with one of the
// columns. Values may themselves contain the separators.
func rowCells(row string, columns []string) []string {
	cells, at := make([]string, len(columns)), -1
	for piece := range strings.SplitSeq(row, "; ") {
		name, value, ok := strings.Cut(piece, ": ")
		if n := slices.Index(columns, name); ok && n > at {
			at, cells[n] = n, value
			continue
		}
		if at < 0 {
			return nil
		}
		cells[at] += "; " + piece
	}
	return cells
}

// maxFragmentWords is the maximum length, in words, of a quote that browsers are asked to find as a whole.
const maxFragmentWords = 12

// fragmentOf returns the URL fragment that makes browsers highlight a quote in a document. It contains all words of
// the quote or, if the quote is long, only its first and last words.
func fragmentOf(quote string) string {
	words := strings.Fields(quote)
	if len(words) == 0 {
		return ""
	}
	escape := func(words []string) string {
		return strings.NewReplacer("-", "%2D", ",", "%2C", "&", "%26").Replace(url.PathEscape(strings.Join(words, " ")))
	}
	if len(words) <= maxFragmentWords {
		return ":~:text=" + escape(words)
	}
	return ":~:text=" + escape(words[:maxFragmentWords/3]) + "," + escape(words[len(words)-maxFragmentWords/3:])
}

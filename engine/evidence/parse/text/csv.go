package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// MIMETSV is the MIME type of tab-delimited tables.
const MIMETSV = "text/tab-separated-values"

// ReadCSV reads a table in text form with any common delimiter. Misplaced quotes are kept.
func ReadCSV(b *document.Builder, text string) error {
	var delimiter rune
	var columns int
	if m := delimiterPattern.FindStringSubmatch(text); m != nil {
		delimiter, _ = utf8.DecodeRuneInString(m[1])
		text = text[len(m[0]):]
		_, columns = guessColumns(text, delimiter, maxTitleLines)
		text = "\n" + text // keeps line numbers correct
	} else {
		delimiter, columns = guessTable(text, maxTitleLines)
	}
	switch {
	case delimiter != 0:
	case b.Doc.MIME == MIMETSV:
		delimiter = '\t'
	default:
		delimiter = ','
	}
	r := newCSVReader(text, delimiter)
	aboveTable := columns > 0
	t := b.NewTableWriter()
	for b.Err() == nil {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", csvErrorLine(err)), err)
		}
		first, _ := r.FieldPos(0)
		last, _ := r.FieldPos(len(rec) - 1)
		last += strings.Count(rec[len(rec)-1], "\n")
		at := api.Locator{LineStart: first, LineEnd: last}
		aboveTable = aboveTable && len(rec) != columns
		if aboveTable {
			filled := slices.DeleteFunc(rec, func(s string) bool { return strings.TrimSpace(s) == "" })
			separator := string(delimiter) + " "
			if len(filled) == 2 { // a label and its value
				filled[0], separator = strings.TrimRight(strings.TrimSpace(filled[0]), ":"), ": "
			}
			b.AddParagraph(strings.Join(filled, separator), false, at)
		} else {
			t.AddRow(rec, at)
		}
	}
	t.Finish()
	return b.Err()
}

func newCSVReader(text string, delimiter rune) *csv.Reader {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = delimiter, true, -1
	return r
}

func csvErrorLine(err error) int {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Line
	}
	return 0
}

// maxTitleLines is the maximum number of lines above a table in an export, such as its title and date.
const maxTitleLines = 10

// delimiterPattern matches a first line that names the delimiter for spreadsheet programs.
var delimiterPattern = lazyregexp.New(`^\x{FEFF}?"?(?i:sep)=([^\w\s"\x{FFFD}]|\t)"?[ \t]*(?:\r?\n|$)`)

// GuessDelimiter returns the column delimiter of a table in text form that begins in the first line, or 0 if there
// is none.
func GuessDelimiter(text string) rune {
	d, _ := guessTable(text, 0)
	return d
}

// guessTable returns the column delimiter and the number of columns of a table in text form that is
// preceded by at most titleLines lines. It returns 0 if there is no such table.
func guessTable(text string, titleLines int) (delimiter rune, columns int) {
	if len(text) > 16<<10 {
		text = text[:16<<10]
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
		}
	}
	columns = 1
	for _, lines := range slices.Compact([]int{0, titleLines}) {
		for _, d := range []rune{',', ';', '\t', '|'} {
			if ok, n := guessColumns(text, d, lines); ok && n > columns {
				delimiter, columns = d, n
			}
		}
		if delimiter != 0 {
			return delimiter, columns
		}
	}
	return 0, 0
}

// guessColumns reports whether, after at most titleLines lines, most rows have the same number of
// columns, and returns that number.
func guessColumns(text string, delimiter rune, titleLines int) (ok bool, columns int) {
	r := newCSVReader(text, delimiter)
	var widths []int
	for len(widths) < 50 {
		rec, err := r.Read()
		if err != nil {
			break
		}
		widths = append(widths, len(rec))
	}
	for skipped := 0; skipped <= titleLines && len(widths) >= 2; skipped, widths = skipped+1, widths[1:] {
		same := 0
		for _, w := range widths {
			if w == widths[0] {
				same++
			}
		}
		if widths[0] > 1 && same*10 >= len(widths)*8 {
			return true, widths[0]
		}
	}
	return false, 0
}

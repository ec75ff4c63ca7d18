package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// MIMETSV is the MIME type of tab-delimited tables.
const MIMETSV = "text/tab-separated-values"

// ReadCSV reads a table in text form with any common delimiter. Misplaced quotes are kept.
func ReadCSV(b *document.Builder, text string) error {
	delimiter, columns := guessTable(text, maxTitleLines)
	if m := delimiterPattern.FindStringSubmatch(text); m != nil {
		delimiter = []rune(m[1])[0]
		text = text[len(m[0]):]
		_, columns = guessTableWith(text, delimiter, maxTitleLines)
		text = "\n" + text // so that lines keep their numbers
	} else if delimiter == 0 && b.Doc.MIME == MIMETSV {
		delimiter = '\t'
	}
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	if delimiter != 0 {
		r.Comma = delimiter
	}
	isTitle := columns > 0 // of the lines above the table
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
		if isTitle = isTitle && len(rec) != columns; isTitle {
			filled := slices.DeleteFunc(rec, func(s string) bool { return strings.TrimSpace(s) == "" })
			b.AddParagraph(strings.Join(filled, string(r.Comma)+" "), false, api.Locator{LineStart: first, LineEnd: last})
			continue
		}
		t.AddRow(rec, api.Locator{LineStart: first, LineEnd: last})
	}
	t.Finish()
	return b.Err()
}

func csvErrorLine(err error) int {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Line
	}
	return 0
}

// maxTitleLines is the number of lines above a table that an export may have, such as its title and date.
const maxTitleLines = 10

// delimiterPattern matches a first line that names the delimiter for spreadsheet programs.
var delimiterPattern = lazyregexp.New(`^\x{FEFF}?"?(?i:sep)=([^\w\s"]|\t)"?[ \t]*(?:\r?\n|$)`)

// GuessDelimiter returns the column delimiter of a table in text form that begins in the first line, or 0 if there
// is none.
func GuessDelimiter(text string) rune {
	d, _ := guessTable(text, 0)
	return d
}

// guessTable returns the column delimiter and the number of columns of a table in text form, above which there are at
// most titleLines lines, or 0.
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
			if ok, n := guessTableWith(text, d, lines); ok && n > columns {
				delimiter, columns = d, n
			}
		}
		if delimiter != 0 {
			return delimiter, columns
		}
	}
	return 0, 0
}

// guessTableWith reports whether most rows below at most titleLines lines have the same number of columns, and
// returns that number.
func guessTableWith(text string, delimiter rune, titleLines int) (ok bool, columns int) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = delimiter, true, -1
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

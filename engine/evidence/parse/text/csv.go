package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// MIMETSV is the MIME type of tab-delimited tables.
const MIMETSV = "text/tab-separated-values"

// ReadCSV reads a table in text form with any common delimiter. Misplaced quotes are kept.
func ReadCSV(b *document.Builder, text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	if d := GuessDelimiter(text); d != 0 {
		r.Comma = d
	} else if b.Doc.MIME == MIMETSV {
		r.Comma = '\t'
	}
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

// GuessDelimiter returns the column delimiter of a table in text form, or 0 if there is none.
func GuessDelimiter(text string) rune {
	if len(text) > 16<<10 {
		text = text[:16<<10]
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
		}
	}
	best, bestCols := rune(0), 1
	for _, d := range []rune{',', ';', '\t', '|'} {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = d, true, -1
		first, rows, same := 0, 0, 0
		for rows < 50 {
			rec, err := r.Read()
			if err != nil {
				break
			}
			if rows++; first == 0 {
				first = len(rec)
			}
			if len(rec) == first {
				same++
			}
		}
		if rows >= 2 && first > bestCols && same*10 >= rows*8 {
			best, bestCols = d, first
		}
	}
	return best
}

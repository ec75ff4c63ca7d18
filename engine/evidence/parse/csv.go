package parse

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/api"
)

// readCSV reads a text table with any common delimiter. Misplaced quotes are kept.
func readCSV(b *builder, text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	if d := guessDelimiter(text); d != 0 {
		r.Comma = d
	} else if b.doc.MIME == mimeTSV {
		r.Comma = '\t'
	}
	t := b.newTableWriter()
	for b.err == nil {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damagedError(fmt.Sprintf("line %d", errorLine(err)), err)
		}
		first, _ := r.FieldPos(0)
		last, _ := r.FieldPos(len(rec) - 1)
		last += strings.Count(rec[len(rec)-1], "\n")
		t.addRow(rec, api.Locator{LineStart: first, LineEnd: last})
	}
	t.finish()
	return b.err
}

func errorLine(err error) int {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return parse.Line
	}
	return 0
}

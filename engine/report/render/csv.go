package render

import (
	"encoding/csv"
	"io"
	"strings"

	"github.com/scf-service/service/engine/report/content"
)

// writeCSV writes one row for each item, as CSV according to RFC 4180, in UTF-8 without a byte order mark. If
// the deliverable has not been drafted, it writes only the header.
func writeCSV(w io.Writer, v *content.Report) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	head, rows := v.CSVRows()
	put := func(cells []string) error {
		for i, c := range cells {
			cells[i] = escapeFormula(c)
		}
		return out.Write(cells)
	}
	if err := put(head); err != nil {
		return err
	}
	for r := range rows {
		if err := put(r); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// escapeFormula puts an apostrophe before a value that a spreadsheet would interpret as a formula.
func escapeFormula(s string) string {
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@\t\r\n", rune(t[0])) {
		return "'" + s
	}
	return s
}

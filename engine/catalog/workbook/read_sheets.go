package workbook

import (
	"context"
	"io"
)

// Sheet is a worksheet as text: cells by row, as an SCF workbook's are read.
type Sheet struct {
	Name string
	Rows [][]string
}

// ReadSheets reads every sheet of any workbook, within the same bounds and with the same
// refusals as Read; zero limits take the default. The notes are of what was not looked at.
func ReadSheets(ctx context.Context, r io.ReaderAt, size int64, limits Limits) (sheets []Sheet, notes []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			sheets, notes, err = nil, nil, readErrorf(ErrDamaged, "", "", "the workbook cannot be read: %v", p)
		}
	}()
	limits = limits.withDefaults()
	b, notes, err := openWorkbook(r, size, limits)
	if err != nil {
		return nil, nil, err
	}
	defer b.file.Close()
	for _, p := range b.parts {
		s, err := b.readSheet(ctx, p, limits.Rows, true)
		if err != nil {
			return nil, nil, err
		}
		sheets = append(sheets, Sheet{Name: s.name, Rows: s.rows})
	}
	return sheets, notes, nil
}

// CellName writes a row and column, both from 1, in A1 notation.
func CellName(row, col int) string { return cellName(row, col) }

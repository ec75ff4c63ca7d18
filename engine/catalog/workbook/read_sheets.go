package workbook

import (
	"context"
	"io"
)

// Sheet is the text of a worksheet, by row and column.
type Sheet struct {
	Name string
	Rows [][]string
}

// ReadSheets reads every sheet of any workbook, with the same limits and errors as Read. The notes
// name what was ignored, such as macros.
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

// CellName returns a cell's name in A1 notation. Row and column are counted from 1.
func CellName(row, col int) string { return cellName(row, col) }

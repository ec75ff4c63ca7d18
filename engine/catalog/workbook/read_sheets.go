package workbook

import (
	"context"
	"io"
)

// Sheet contains the text of a worksheet, indexed by row and column.
type Sheet struct {
	Name string
	Rows [][]string
}

// ReadSheets reads every sheet of a workbook, which need not be a catalog. Limits and errors are
// the same as in Read. The notes state what was ignored, such as macros.
func ReadSheets(ctx context.Context, r io.ReaderAt, size int64, limits Limits) (sheets []Sheet, notes []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			sheets, notes, err = nil, nil, readErrorf(ErrDamaged, "", "", "the workbook can't be read: %v", p)
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

// CellName returns the name of a cell in A1 notation. Rows and columns are numbered from 1.
func CellName(row, col int) string { return cellName(row, col) }

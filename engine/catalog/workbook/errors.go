package workbook

import (
	"errors"
	"fmt"

	"github.com/xuri/excelize/v2"
)

// Reasons why a workbook can't be imported. Every error about the file is a *ReadError that wraps one of
// these.
var (
	ErrNotWorkbook    = errors.New("the file is not an .xlsx workbook")
	ErrTooLarge       = errors.New("too large")
	ErrDamaged        = errors.New("damaged")
	ErrNoMainSheet    = errors.New("the workbook has no sheet with controls")
	ErrTwoMainSheets  = errors.New("the workbook has more than one sheet with controls")
	ErrMissingColumn  = errors.New("a column is missing")
	ErrDoubledColumn  = errors.New("a column occurs twice")
	ErrBadCode        = errors.New("bad control code")
	ErrDuplicateCode  = errors.New("duplicate control code")
	ErrTooManyRows    = errors.New("too many rows")
	ErrTooManyColumns = errors.New("too many columns")
	ErrTooManyCells   = errors.New("too many cells")
	ErrCellTooLarge   = errors.New("a cell of the workbook contains too much text")
)

// ReadError is the error for a workbook that can't be imported. Sheet and Cell are empty if it concerns the
// whole file.
type ReadError struct {
	Reason      error
	Sheet, Cell string
	Message     string
}

func (e *ReadError) Error() string {
	at := ""
	switch {
	case e.Cell != "":
		at = fmt.Sprintf("sheet %q, cell %s: ", e.Sheet, e.Cell)
	case e.Sheet != "":
		at = fmt.Sprintf("sheet %q: ", e.Sheet)
	}
	return at + e.Message
}

func (e *ReadError) Unwrap() error { return e.Reason }

func readErrorf(reason error, sheet, cell, message string, args ...any) *ReadError {
	return &ReadError{Reason: reason, Sheet: sheet, Cell: cell, Message: fmt.Sprintf(message, args...)}
}

// cellName returns the name of a cell in A1 notation. Rows and columns are numbered from 1.
func cellName(row, col int) string {
	name, err := excelize.CoordinatesToCellName(col, row)
	if err != nil {
		return fmt.Sprintf("row %d, column %d", row, col)
	}
	return name
}

package parse

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
)

const (
	maxSheets   = 500
	maxEmptyRun = 20_000 // empty rows in a row after which a sheet is taken to have ended
)

// readXlsx reads the cells of every sheet as displayed, row by row. Formulas are not computed: the
// stored value is read. Macros and links are ignored.
func readXlsx(b *builder, content io.ReaderAt, size int64) error {
	if _, err := openOfficeZip(content, size); err != nil { // refuse bombs before excelize unpacks them
		return err
	}
	x, err := excelize.OpenReader(
		io.NewSectionReader(content, 0, size),
		excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: 16 << 20},
	)
	if err != nil {
		if errors.Is(err, excelize.ErrWorkbookPassword) || errors.Is(err, excelize.ErrWorkbookFileFormat) {
			return &Error{Kind: ErrEncrypted, Cause: err}
		}
		return damagedError("the workbook", err)
	}
	defer x.Close() // removes the temporary files of large sheets; nothing to do if it can't
	sheets := x.GetSheetList()
	if len(sheets) > maxSheets {
		return newError(ErrTooLarge, "", "%d sheets, the limit is %d", len(sheets), maxSheets)
	}
	b.doc.PageCount = len(sheets)
	if p, err := x.GetDocProps(); err == nil {
		b.doc.Title = p.Title
		b.facts = append(b.facts, fact{"version", p.Version})
	}
	for _, sheet := range sheets {
		if err := readSheet(b, x, sheet); err != nil {
			return err
		}
	}
	return b.err
}

func readSheet(b *builder, x *excelize.File, sheet string) error {
	rows, err := x.Rows(sheet)
	if err != nil {
		var missing excelize.ErrSheetNotExist
		if errors.As(err, &missing) || strings.Contains(err.Error(), "not a worksheet") {
			b.warn("The sheet %q contains no cells and was skipped.", sheet)
			return nil
		}
		return damagedError("sheet "+sheet, err)
	}
	defer rows.Close()
	if visible, err := x.GetSheetVisible(sheet); err == nil && !visible {
		b.warn("The sheet %q is hidden; it was read anyway.", sheet)
	}
	b.headingPath, b.headingLevels = nil, nil
	b.addHeading(1, sheet, api.Locator{Sheet: sheet})
	t := b.newTableWriter()
	empty := 0
	for n := 1; rows.Next(); n++ {
		if b.err != nil {
			return b.err
		}
		if n%256 == 0 {
			if err := b.ctx.Err(); err != nil {
				return err
			}
		}
		cells, err := rows.Columns()
		if err != nil {
			return damagedError(fmt.Sprintf("sheet %s, row %d", sheet, n), err)
		}
		if countFilled(cells) == 0 {
			if empty++; empty > maxEmptyRun {
				b.warn("The sheet %q has more than %d consecutive empty rows; the rest was skipped.", sheet, maxEmptyRun)
				break
			}
			continue
		}
		empty = 0
		t.addRow(cells, api.Locator{Sheet: sheet, CellRange: formatCellRange(cells, n)})
	}
	if err := rows.Error(); err != nil {
		return damagedError("sheet "+sheet, err)
	}
	t.finish()
	return b.err
}

// formatCellRange returns the range of a row's cells from the first to the last nonempty one.
func formatCellRange(cells []string, row int) string {
	first, last := -1, 0
	for i, c := range cells {
		if c != "" {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	from, err := excelize.CoordinatesToCellName(first+1, row)
	if err != nil {
		return ""
	}
	to, err := excelize.CoordinatesToCellName(last+1, row)
	if err != nil || to == from {
		return from
	}
	return from + ":" + to
}

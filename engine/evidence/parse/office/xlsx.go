package office

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const (
	maxSheets   = 500
	maxEmptyRun = 20_000 // consecutive empty rows after which a sheet is assumed to have ended
)

// ReadXlsx reads the cells of every sheet as displayed, row by row. Formulas are not computed; their stored
// values are used. Macros and links are ignored.
func ReadXlsx(b *document.Builder, content io.ReaderAt, size int64) error {
	z, err := zipfile.OpenOfficeDocument(b, content, size) // reject zip bombs before excelize unpacks them
	if err != nil {
		return err
	}
	x, err := excelize.OpenReader(
		io.NewSectionReader(content, 0, size),
		// Short dates are displayed differently on each computer; this form is unambiguous.
		excelize.Options{UnzipSizeLimit: zipfile.MaxUnpacked, UnzipXMLSizeLimit: 16 << 20, ShortDatePattern: "yyyy-mm-dd"},
	)
	if err != nil {
		if errors.Is(err, excelize.ErrWorkbookPassword) || errors.Is(err, excelize.ErrWorkbookFileFormat) {
			return &document.Error{Kind: document.ErrEncrypted, Cause: err}
		}
		return document.DamagedError("the workbook", err)
	}
	defer x.Close() // removes the temporary files of large sheets; failures are ignored
	sheets := x.GetSheetList()
	if len(sheets) > maxSheets {
		return document.NewError(document.ErrTooLarge, "", "the workbook has %d sheets (the limit is %d)", len(sheets), maxSheets)
	}
	b.Doc.PageCount = len(sheets)
	if p, err := x.GetDocProps(); err == nil {
		b.Doc.Title = p.Title
		b.AddFact("version", p.Version)
	}
	w, err := openWorkbook(b, z)
	if err != nil {
		return err
	}
	for _, sheet := range sheets {
		if w.sheets[sheet].isHidden {
			b.Doc.AddNotRead(api.UnreadHiddenSheet, 1, api.Locator{Sheet: sheet})
			continue
		}
		if err := readSheet(b, x, w, sheet); err != nil {
			return err
		}
	}
	return b.Err()
}

func readSheet(b *document.Builder, x *excelize.File, w *workbook, sheet string) error {
	rows, err := x.Rows(sheet)
	if err != nil {
		var missing excelize.ErrSheetNotExist
		if errors.As(err, &missing) || strings.Contains(err.Error(), "not a worksheet") {
			b.Doc.AddNotRead(api.UnreadChart, 1, api.Locator{Sheet: sheet})
			return nil
		}
		return document.DamagedError("sheet "+sheet, err)
	}
	defer rows.Close()
	seen, err := w.openCells(sheet)
	if err != nil {
		return err
	}
	defer seen.close()
	if err := seen.readTail(); err != nil {
		return err
	}
	if err := seen.readControls(x); err != nil {
		return err
	}
	b.CloseHeadings()
	b.AddHeading(1, sheet, api.Locator{Sheet: sheet})
	t := b.NewTableWriter()
	empty := 0
	for n := 1; rows.Next(); n++ {
		if b.Err() != nil {
			return b.Err()
		}
		if n%256 == 0 {
			if err := b.Context().Err(); err != nil {
				return err
			}
		}
		cells, err := rows.Columns()
		if err != nil {
			return document.DamagedError(fmt.Sprintf("sheet %s, row %d", sheet, n), err)
		}
		if visible, err := seen.removeAndCountUnread(n, cells); err != nil {
			return err
		} else if !visible {
			delete(seen.controls, n)
			continue
		}
		cells = seen.addControls(n, cells)
		if document.CountFilled(cells) == 0 {
			t.AddRow(nil, api.Locator{})
			if empty++; empty > maxEmptyRun {
				b.Warn("The sheet %q has more than %d consecutive empty rows; the rows after them were skipped.", sheet, maxEmptyRun)
				break
			}
			continue
		}
		empty = 0
		at := api.Locator{Sheet: sheet, CellRange: document.FormatCellRange(cells, 0, n)}
		t.AddRow(seen.markMerged(n, cells), at)
	}
	if err := rows.Error(); err != nil {
		return document.DamagedError("sheet "+sheet, err)
	}
	seen.addOtherControls(t)
	t.Finish()
	if err := seen.readDrawingsAndComments(); err != nil {
		return err
	}
	return b.Err()
}

package workbook

import (
	"context"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sheet contains the text of a worksheet. Row and column indexes are zero-based, whereas the cell
// name A1 refers to the first row and column.
type sheet struct {
	name   string
	rows   [][]string
	survey sheetSurvey
}

// workbookReader reads the sheets of a workbook that has passed inspection.
type workbookReader struct {
	file          *excelize.File
	parts         []sheetPart
	limits        Limits
	surveys       map[string]sheetSurvey // by path
	surveyedCells int                    // in all of them
}

// dropUnusedParts releases the memory of parts that are never read, such as pictures and comments.
func (b *workbookReader) dropUnusedParts() {
	b.file.Pkg.Range(func(name, _ any) bool {
		path, _ := name.(string)
		if strings.HasPrefix(path, "xl/media/") || strings.HasPrefix(path, "xl/drawings/") || strings.HasPrefix(path, "xl/comments") {
			b.file.Pkg.Delete(name)
		}
		return true
	})
}

// dropSharedTexts releases the XML of the shared texts once excelize has decoded it.
func (b *workbookReader) dropSharedTexts() {
	if b.file.SharedStrings != nil {
		b.file.Pkg.Delete("xl/sharedStrings.xml")
	}
}

// maxSheetRows returns the largest number of rows that a sheet may have.
func (b *workbookReader) maxSheetRows() int { return max(b.limits.Controls+1, b.limits.Rows) }

// surveySheet returns the survey of a sheet. The survey is made on the first call and cached.
func (b *workbookReader) surveySheet(p sheetPart) sheetSurvey {
	s, done := b.surveys[p.path]
	if !done {
		raw, _ := b.file.Pkg.Load(p.path)
		xml, _ := raw.([]byte)
		s = scanSheet(xml, b.maxSheetRows(), b.limits.Cells-b.surveyedCells)
		b.surveys[p.path] = s
		b.surveyedCells += s.cells
	}
	return s
}

// headRows is the number of rows that are searched for a header. In risk and threat catalogs, five rows of prose
// precede the header.
const headRows = 10

// readHead reads the first rows of a sheet, in which its header is expected.
func (b *workbookReader) readHead(ctx context.Context, p sheetPart) (*sheet, error) {
	return b.readSheet(ctx, p, headRows, false)
}

// readSheet reads at most the first maxRows rows of a sheet. If complete is set, it returns an error if the sheet
// has more rows.
func (b *workbookReader) readSheet(ctx context.Context, p sheetPart, maxRows int, complete bool) (*sheet, error) {
	s := &sheet{name: p.name}
	s.survey = b.surveySheet(p)
	switch {
	case s.survey.hasTooManyCells:
		return nil, readErrorf(ErrTooManyCells, p.name, "", "the workbook has more than %d cells, counting all sheets up to this one",
			b.limits.Cells)
	case s.survey.lastRow > b.maxSheetRows(), complete && s.survey.lastRow > maxRows:
		if !complete {
			maxRows = b.maxSheetRows()
		}
		return nil, readErrorf(ErrTooManyRows, p.name, "", "the sheet has at least %d rows; the limit is %d", s.survey.lastRow, maxRows)
	case complete && !s.survey.isComplete:
		return nil, readErrorf(ErrDamaged, p.name, "", "the sheet's data is truncated")
	}
	rows, err := b.file.Rows(p.name)
	if err != nil {
		return nil, readErrorf(ErrDamaged, p.name, "", "the sheet can't be read: %v", err)
	}
	defer rows.Close()
	for rows.Next() && len(s.rows) < maxRows {
		if len(s.rows)%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		cells, err := rows.Columns(excelize.Options{RawCellValue: true})
		n := len(s.rows) + 1
		if err != nil {
			return nil, readErrorf(ErrDamaged, p.name, cellName(n, 1), "the row can't be read: %v", err)
		}
		if len(cells) > b.limits.Columns {
			return nil, readErrorf(ErrTooManyColumns, p.name, cellName(n, len(cells)),
				"the row has %d columns; the limit is %d", len(cells), b.limits.Columns)
		}
		for i, text := range cells {
			if len(text) > b.limits.CellBytes {
				return nil, readErrorf(ErrCellTooLarge, p.name, cellName(n, i+1),
					"the cell has %d bytes; the limit is %d", len(text), b.limits.CellBytes)
			}
			if text != "" {
				cells[i] = s.displayedText(n, i+1, text)
			}
		}
		s.rows = append(s.rows, cells)
	}
	if err := rows.Error(); err != nil {
		return nil, readErrorf(ErrDamaged, p.name, "", "the sheet can't be read: %v", err)
	}
	b.dropSharedTexts()
	if complete {
		b.file.Pkg.Delete(p.path) // no sheet is read completely twice
	}
	if complete && len(s.rows) < s.survey.lastRow { // excelize treats invalid XML as the end
		return nil, readErrorf(ErrDamaged, p.name, cellName(len(s.rows)+1, 1), "the rest of the sheet can't be read")
	}
	return s, nil
}

// displayedText converts the text stored for a cell to the text that the cell displays. It normalizes numbers
// and line breaks, and returns "" for an error value.
func (s *sheet) displayedText(row, col int, text string) string {
	switch s.survey.kinds[cellRef{row, col}] {
	case kindNumber:
		return normalizeNumber(text)
	case kindError:
		return ""
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}

// cell returns the text at a row and column, which are numbered from 0, or "" if there is no such cell.
func (s *sheet) cell(row, col int) string {
	if row < 0 || row >= len(s.rows) || col < 0 || col >= len(s.rows[row]) {
		return ""
	}
	return s.rows[row][col]
}

// trimmedCell returns the text of a cell without surrounding whitespace.
func (s *sheet) trimmedCell(row, col int) string { return strings.TrimSpace(s.cell(row, col)) }

// isBlankRow reports whether a row has no text.
func (s *sheet) isBlankRow(row int) bool {
	for col := range s.rows[row] {
		if s.trimmedCell(row, col) != "" {
			return false
		}
	}
	return true
}

// splitLines returns the nonempty lines of a cell, without surrounding whitespace.
func splitLines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// splitItems splits a list of codes at line breaks, commas and semicolons.
func splitItems(text string) []string {
	return splitLines(strings.NewReplacer(",", "\n", ";", "\n").Replace(text))
}

// isMarked reports whether a cell indicates that its column applies to the control, either by an x
// or by repeating the control's code.
func isMarked(text, code string) bool {
	return strings.EqualFold(text, "x") || text == code
}

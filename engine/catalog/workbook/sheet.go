package workbook

import (
	"context"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sheet is a worksheet's text. Rows and columns count from 0 inside, from 1 in places.
type sheet struct {
	name   string
	rows   [][]string
	survey survey
}

// book reads sheets out of an inspected workbook.
type book struct {
	file    *excelize.File
	parts   []part
	limits  Limits
	surveys map[string]survey // by path
	cells   int               // that were looked over
}

// anyRows is how many rows a sheet of any kind may have.
func (b *book) anyRows() int { return max(b.limits.Controls+1, b.limits.Rows) }

// survey looks over a sheet before any of it is read, once.
func (b *book) survey(p part) survey {
	s, done := b.surveys[p.path]
	if !done {
		raw, _ := b.file.Pkg.Load(p.path)
		xml, _ := raw.([]byte)
		s = surveySheet(xml, b.anyRows(), b.limits.Cells-b.cells)
		b.surveys[p.path] = s
		b.cells += s.cells
	}
	return s
}

// peekRows are enough to see which kind of sheet it is: catalogs have five lines of prose
// before their header.
const peekRows = 10

// head reads a sheet's first rows.
func (b *book) head(ctx context.Context, p part) (*sheet, error) {
	return b.read(ctx, p, peekRows, false)
}

// read reads at most the given number of rows; more rows are refused where whole is set.
func (b *book) read(ctx context.Context, p part, most int, whole bool) (*sheet, error) {
	s := &sheet{name: p.name}
	s.survey = b.survey(p)
	switch {
	case s.survey.tooMany:
		return nil, refuse(ErrTooManyCells, p.name, "", "the workbook has more than %d cells up to here", b.limits.Cells)
	case s.survey.lastRow > b.anyRows(), whole && s.survey.lastRow > most:
		if !whole {
			most = b.anyRows()
		}
		return nil, refuse(ErrTooManyRows, p.name, "", "the sheet has %d rows or more; %d are taken", s.survey.lastRow, most)
	case whole && !s.survey.complete:
		return nil, refuse(ErrDamaged, p.name, "", "the sheet's data is cut off")
	}
	rows, err := b.file.Rows(p.name)
	if err != nil {
		return nil, refuse(ErrDamaged, p.name, "", "the sheet cannot be read: %v", err)
	}
	defer rows.Close()
	for rows.Next() && len(s.rows) < most {
		if len(s.rows)%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		cells, err := rows.Columns(excelize.Options{RawCellValue: true})
		n := len(s.rows) + 1
		if err != nil {
			return nil, refuse(ErrDamaged, p.name, place(n, 1), "the row cannot be read: %v", err)
		}
		if len(cells) > b.limits.Columns {
			return nil, refuse(ErrTooManyColumns, p.name, place(n, len(cells)), "the row has %d columns, more than the %d that are taken", len(cells), b.limits.Columns)
		}
		for i, text := range cells {
			if len(text) > b.limits.Cell {
				return nil, refuse(ErrCellTooLarge, p.name, place(n, i+1), "the cell holds %d bytes, more than the %d that are taken", len(text), b.limits.Cell)
			}
			if text != "" {
				cells[i] = s.tidy(n, i+1, text)
			}
		}
		s.rows = append(s.rows, cells)
	}
	if err := rows.Error(); err != nil {
		return nil, refuse(ErrDamaged, p.name, "", "the sheet cannot be read: %v", err)
	}
	if whole && len(s.rows) < s.survey.lastRow { // excelize takes broken XML for the end
		return nil, refuse(ErrDamaged, p.name, place(len(s.rows)+1, 1), "the sheet cannot be read from here on")
	}
	return s, nil
}

// tidy undoes what the storage did to a text: numbers, error values, line ends.
func (s *sheet) tidy(row, col int, text string) string {
	switch s.survey.kinds[at{row, col}] {
	case isNumber:
		return shortest(text)
	case isError:
		return ""
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}

// cell is the text at a row and column, both from 0, empty outside.
func (s *sheet) cell(row, col int) string {
	if row < 0 || row >= len(s.rows) || col < 0 || col >= len(s.rows[row]) {
		return ""
	}
	return s.rows[row][col]
}

// text is a cell without blanks around it.
func (s *sheet) text(row, col int) string { return strings.TrimSpace(s.cell(row, col)) }

// blank reports a row without any text.
func (s *sheet) blank(row int) bool {
	for col := range s.rows[row] {
		if s.text(row, col) != "" {
			return false
		}
	}
	return true
}

// lines splits a cell at its line breaks, trims, and drops what is empty.
func lines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// items splits a cell that lists codes which hold no commas: at line breaks and commas.
func items(text string) []string {
	return lines(strings.NewReplacer(",", "\n", ";", "\n").Replace(text))
}

// marked reports that a cell says yes: an x, or the code of its own row or column.
func marked(text, code string) bool {
	return strings.EqualFold(text, "x") || text == code
}

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// writeXLSX returns a workbook: each "# Heading" starts a sheet, with its paragraphs as lines at
// the top and its tables below with a marked header row. Dates and whole numbers become typed
// cells.
func writeXLSX(doc *document) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	stamp := doc.date.Format(time.RFC3339)
	if err := f.SetDocProps(&excelize.DocProperties{
		Title: doc.title, Creator: doc.author, LastModifiedBy: doc.author, Created: stamp, Modified: stamp,
	}); err != nil {
		return nil, err
	}
	styles, err := newSheetStyles(f)
	if err != nil {
		return nil, err
	}
	var s *sheetWriter
	first := true
	for _, b := range doc.blocks {
		if b.kind == kindHeading && b.level == 1 {
			if first {
				err = f.SetSheetName(f.GetSheetName(0), b.text)
				first = false
			} else {
				_, err = f.NewSheet(b.text)
			}
			s = &sheetWriter{f: f, name: b.text, styles: styles}
		} else if s == nil {
			return nil, fmt.Errorf("begin the workbook with a # heading: the name of its first sheet")
		} else {
			err = s.addBlock(b)
		}
		if err != nil {
			return nil, err
		}
	}
	var buf bytes.Buffer
	if err := f.Write(&buf); err != nil {
		return nil, err
	}
	return normalizeArchive(buf.Bytes(), doc.date)
}

type sheetStyles struct{ title, header, text, date int }

func newSheetStyles(f *excelize.File) (st sheetStyles, err error) {
	border := []excelize.Border{
		{Type: "left", Color: "BFC7D1", Style: 1},
		{Type: "right", Color: "BFC7D1", Style: 1},
		{Type: "top", Color: "BFC7D1", Style: 1},
		{Type: "bottom", Color: "BFC7D1", Style: 1},
	}
	top := &excelize.Alignment{Vertical: "top", WrapText: true}
	day := "yyyy-mm-dd"
	for _, s := range []struct {
		id    *int
		style excelize.Style
	}{
		{&st.title, excelize.Style{Font: &excelize.Font{Bold: true, Size: 12}}},
		{&st.header, excelize.Style{
			Font:   &excelize.Font{Bold: true, Color: "FFFFFF"},
			Fill:   excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F3B57"}},
			Border: border, Alignment: top,
		}},
		{&st.text, excelize.Style{Border: border, Alignment: top}},
		{&st.date, excelize.Style{Border: border, Alignment: top, CustomNumFmt: &day}},
	} {
		if *s.id, err = f.NewStyle(&s.style); err != nil {
			return st, err
		}
	}
	return st, nil
}

// sheetWriter fills one sheet from the top.
type sheetWriter struct {
	f      *excelize.File
	name   string
	styles sheetStyles
	row    int // the last row written, from 1
	frozen bool
}

func (s *sheetWriter) addBlock(b block) error {
	switch b.kind {
	case kindHeading:
		s.row++
		return s.setCell(1, stripMarks(b.text), s.styles.title)
	case kindParagraph:
		s.row++
		return s.f.SetCellStr(s.name, fmt.Sprintf("A%d", s.row), stripMarks(b.text))
	case kindTable:
		return s.addTable(b.rows)
	default:
		return fmt.Errorf("sheet %q: only headings, paragraphs and tables go into a workbook", s.name)
	}
}

func (s *sheetWriter) addTable(rows [][]string) error {
	if s.row > 0 {
		s.row++ // an empty row above
	}
	top := s.row + 1
	for i, cells := range rows {
		s.row++
		for col, text := range cells {
			style := s.styles.text
			if i == 0 {
				style = s.styles.header
			}
			if err := s.setCell(col+1, stripMarks(text), style); err != nil {
				return err
			}
		}
	}
	if s.frozen {
		return nil
	}
	s.frozen = true
	if err := s.fitColumns(rows); err != nil {
		return err
	}
	end, err := excelize.CoordinatesToCellName(len(rows[0]), s.row)
	if err != nil {
		return err
	}
	if err := s.f.AutoFilter(s.name, fmt.Sprintf("A%d:%s", top, end), nil); err != nil {
		return err
	}
	return s.f.SetPanes(s.name, &excelize.Panes{
		Freeze: true, YSplit: top, TopLeftCell: fmt.Sprintf("A%d", top+1), ActivePane: "bottomLeft",
	})
}

// setCell writes a cell with the type suggested by its text.
func (s *sheetWriter) setCell(col int, text string, style int) error {
	var value any = text
	if style == s.styles.text {
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			value, style = day, s.styles.date
		} else if n, err := strconv.Atoi(text); err == nil {
			value = n
		}
	}
	cell, err := excelize.CoordinatesToCellName(col, s.row)
	if err != nil {
		return err
	}
	if err := s.f.SetCellValue(s.name, cell, value); err != nil {
		return err
	}
	return s.f.SetCellStyle(s.name, cell, cell, style)
}

// fitColumns sets each column to the width of its longest text, within limits.
func (s *sheetWriter) fitColumns(rows [][]string) error {
	for col := range rows[0] {
		width := 10
		for _, cells := range rows {
			width = max(width, utf8.RuneCountInString(cells[col])+2)
		}
		name, err := excelize.ColumnNumberToName(col + 1)
		if err != nil {
			return err
		}
		if err := s.f.SetColWidth(s.name, name, name, float64(min(width, 46))); err != nil {
			return err
		}
	}
	return nil
}

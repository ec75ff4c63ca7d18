package workbook

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// AddItemSheets adds the sheets of a layout and writes the items to them, in the given order. prefaceValues
// supplies the values for the rows above the header.
func (b *Writer) AddItemSheets(l Layout, items []Fields, prefaceValues map[string]string) error {
	b.hasItems = true
	for n, p := range l.Pages {
		var mine []Fields
		for _, f := range items {
			if l.pageIndex(f("status")) == n {
				mine = append(mine, f)
			}
		}
		if err := b.writeItems(l, p, mine, prefaceValues); err != nil {
			return err
		}
	}
	return nil
}

func (b *Writer) writeItems(l Layout, p Page, items []Fields, prefaceValues map[string]string) error {
	name, err := b.addSheet(p.Name)
	if err != nil {
		return err
	}
	head := len(l.Preface) + 1
	last := head + max(len(items), 1)
	widths := make([]float64, len(l.Columns))
	for i, c := range l.Columns {
		widths[i] = max(c.Width, 8)
	}
	if err := b.addFilterAndValidation(l, name, head, last); err != nil {
		return err
	}
	return b.streamRows(
		name,
		widths,
		sheetPanes{rows: head, columns: l.FrozenColumns},
		func(put func(height float64, cells ...any) error) error {
			for i, row := range l.Preface {
				style := b.styles.strong
				if i == 0 {
					style = b.styles.title
				}
				cells := make([]any, len(row))
				for j, s := range row {
					if word, isKey := strings.CutPrefix(s, "$"); isKey {
						s = prefaceValues[word]
					}
					cells[j] = b.newCell(style, b.fitTextOrOverflow(s, name, cellName(j+1, i+1)))
				}
				if err := put(0, cells...); err != nil {
					return err
				}
			}
			titles := make([]any, len(l.Columns))
			for i, c := range l.Columns {
				style := b.styles.head
				if c.Editable {
					style = b.styles.editable
				}
				titles[i] = b.newCell(style, c.Header)
			}
			if err := put(32, titles...); err != nil {
				return err
			}
			for n, f := range items {
				cells, height, prints := make([]any, len(l.Columns)), 1.0, make([]string, 0, len(l.Columns))
				for i, c := range l.Columns {
					value, text := b.itemCell(c, f, name, cellName(i+1, head+1+n))
					cells[i] = value
					prints = append(prints, fingerprint(text))
					if !c.Hidden {
						height = max(height, countWrappedLines(text, widths[i]))
					}
				}
				b.sourceRows = append(
					b.sourceRows,
					[]string{l.Name, name, f(l.Key), f("id"), f("control_code"), f("poam_code"), f("revision"), strings.Join(prints, " ")},
				)
				if err := put(min(height, maxRowLines)*lineHeight, cells...); err != nil {
					return err
				}
			}
			return nil
		},
	)
}

// maxRowLines is the maximum height of a row, in lines. If a text has more lines, the cell still contains the whole
// text.
const (
	maxRowLines = 12
	lineHeight  = 15.0
)

// countWrappedLines returns the number of lines that a text takes up in a column of the given width, or the maximum
// for a row if that is smaller.
func countWrappedLines(text string, width float64) float64 {
	n := 0.0
	for line := range strings.Lines(text) {
		n += 1 + float64(int(float64(utf8.RuneCountInString(line))/(width*1.05)))
		if n >= maxRowLines {
			break
		}
	}
	return max(n, 1)
}

// itemCell returns the cell for an item's value in a column, and the text that an import will read if the
// cell is left unchanged.
func (b *Writer) itemCell(c Column, f Fields, sheet, at string) (cell excelize.Cell, importText string) {
	style := b.styles.fixed
	switch {
	case !c.HasField():
		return b.newCell(style, ""), ""
	case c.Editable:
		style = b.styles.text
	case c.Field == "control_code" || c.Field == "poam_code":
		style = b.styles.strong
	case c.Field == "id" || c.Field == "finding_id":
		style = b.styles.mono
	}
	text := c.formatValue(f(c.Field))
	if trimAndUnifyLineEnds(f(c.Field)) == "" {
		text = ""
	}
	switch c.Kind {
	case KindNumber:
		if n, err := strconv.ParseFloat(text, 64); err == nil && formatNumber(n) == text {
			return b.newCell(b.styles.number, n), text
		}
	case KindDate:
		if n, ok := dateToSerial(text); ok {
			return b.newCell(b.styles.date, n), text
		}
	}
	text = b.fitTextOrOverflow(text, sheet, at)
	return b.newCell(style, text), text
}

// addFilterAndValidation adds the filter, the validation rules and the status colors to a sheet.
func (b *Writer) addFilterAndValidation(l Layout, name string, head, last int) error {
	end := cellName(len(l.Columns), last)
	titles := fmt.Sprintf("'%s'!$%d:$%d", strings.ReplaceAll(name, "'", "''"), head, head)
	if err := b.file.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", RefersTo: titles, Scope: name}); err != nil {
		return err
	}
	if err := b.file.AutoFilter(name, cellName(1, head)+":"+end, nil); err != nil {
		return err
	}
	for i, c := range l.Columns {
		cells := cellName(i+1, head+1) + ":" + cellName(i+1, last)
		column, err := excelize.ColumnNumberToName(i + 1)
		if err != nil {
			return err
		}
		if c.Hidden {
			if err := b.file.SetColVisible(name, column, false); err != nil {
				return err
			}
		}
		if c.Editable {
			if err := b.addValidation(name, cells, c); err != nil {
				return err
			}
		}
		if err := b.addStatusFills(name, cells, c); err != nil {
			return err
		}
	}
	return nil
}

func (b *Writer) addValidation(name, cells string, c Column) error {
	v := excelize.NewDataValidation(!c.Required)
	v.SetSqref(cells)
	var rule string
	switch c.Kind {
	case KindChoice, KindYesNo:
		rule = "one of: " + strings.Join(c.choiceLabels(), ", ")
		if err := v.SetDropList(c.choiceLabels()); err != nil {
			return err
		}
	case KindNumber:
		rule = fmt.Sprintf("a whole number from %v to %v", c.Min, c.Max)
		if err := v.SetRange(c.Min, c.Max, excelize.DataValidationTypeWhole, excelize.DataValidationOperatorBetween); err != nil {
			return err
		}
	case KindDate:
		rule = "a date such as 2027-03-31"
		if err := v.SetRange(367, 2958465, excelize.DataValidationTypeDate, excelize.DataValidationOperatorBetween); err != nil {
			return err
		}
	case KindChoices:
		v.SetInput(c.Header, "One per line: "+strings.Join(c.choiceLabels(), ", "))
		return b.file.AddDataValidation(name, v)
	default:
		return nil
	}
	v.SetError(excelize.DataValidationErrorStyleStop, c.Header, "Write "+rule+".")
	return b.file.AddDataValidation(name, v)
}

// addStatusFills makes the color of cells depend on the status that they contain. When users edit a status, the
// color changes with it.
func (b *Writer) addStatusFills(name, cells string, c Column) error {
	values := c.Values
	if c.Kind == KindYesNo {
		values = []string{"yes", "no"}
	}
	if c.Kind != KindChoice && c.Kind != KindYesNo {
		return nil
	}
	seen := map[string]bool{}
	var rules []excelize.ConditionalFormatOptions
	for _, v := range values {
		style, ok := b.styles.fills[fillClass(c.Field, v)]
		if word := c.labelFor(v); ok && !seen[word] {
			seen[word] = true
			rules = append(
				rules,
				excelize.ConditionalFormatOptions{
					Type:     "cell",
					Criteria: "==",
					Value:    `"` + strings.ReplaceAll(word, `"`, `""`) + `"`,
					Format:   &style,
				},
			)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	return b.file.SetConditionalFormat(name, cells, rules)
}

// cellName returns the address of a cell, such as B3. Columns and rows are numbered from 1.
func cellName(column, row int) string {
	s, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return fmt.Sprintf("row %d, column %d", row, column)
	}
	return s
}

package workbook

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// Items writes a layout's sheets with its items, in the order given. words answer what
// the preface asks for.
func (b *Book) Items(l Layout, items []Fields, words map[string]string) error {
	b.listed = true
	for n, p := range l.Pages {
		var mine []Fields
		for _, f := range items {
			if l.page(f("status")) == n {
				mine = append(mine, f)
			}
		}
		if err := b.items(l, p, mine, words); err != nil {
			return err
		}
	}
	return nil
}

func (b *Book) items(l Layout, p Page, items []Fields, words map[string]string) error {
	name, err := b.add(p.Name)
	if err != nil {
		return err
	}
	head := len(l.Preface) + 1
	last := head + max(len(items), 1)
	widths := make([]float64, len(l.Columns))
	for i, c := range l.Columns {
		widths[i] = max(c.Width, 8)
	}
	if err := b.rules(l, name, head, last); err != nil {
		return err
	}
	return b.stream(name, widths, pane{rows: head, columns: l.Frozen}, func(put func(height float64, cells ...any) error) error {
		for i, row := range l.Preface {
			style := b.style.strong
			if i == 0 {
				style = b.style.title
			}
			cells := make([]any, len(row))
			for j, s := range row {
				if word, asked := strings.CutPrefix(s, "$"); asked {
					s = words[word]
				}
				cells[j] = b.cell(style, b.text(s, name, place(j+1, i+1)))
			}
			if err := put(0, cells...); err != nil {
				return err
			}
		}
		titles := make([]any, len(l.Columns))
		for i, c := range l.Columns {
			style := b.style.head
			if c.Edit {
				style = b.style.editable
			}
			titles[i] = b.cell(style, c.Header)
		}
		if err := put(32, titles...); err != nil {
			return err
		}
		for n, f := range items {
			cells, height, prints := make([]any, len(l.Columns)), 1.0, make([]string, 0, len(l.Columns))
			for i, c := range l.Columns {
				value, text := b.value(c, f, name, place(i+1, head+1+n))
				cells[i] = value
				prints = append(prints, fingerprint(text))
				if !c.Hidden {
					height = max(height, linesIn(text, widths[i]))
				}
			}
			b.source = append(b.source, []string{l.Name, name, f(l.Key), f("id"), f("control_code"), f("poam_code"), f("revision"), strings.Join(prints, " ")})
			if err := put(min(height, mostLines)*lineHeight, cells...); err != nil {
				return err
			}
		}
		return nil
	})
}

// mostLines keeps rows readable beside each other; all of a text is in its cell.
const (
	mostLines  = 12
	lineHeight = 15.0
)

// linesIn is how many lines a text takes in a column, up to what matters.
func linesIn(text string, width float64) float64 {
	n := 0.0
	for line := range strings.Lines(text) {
		n += 1 + float64(int(float64(utf8.RuneCountInString(line))/(width*1.05)))
		if n >= mostLines {
			break
		}
	}
	return max(n, 1)
}

// value is an item's cell in a column, and what it will read as.
func (b *Book) value(c Column, f Fields, sheet, at string) (excelize.Cell, string) {
	style := b.style.fixed
	switch {
	case !c.Held():
		return b.cell(style, ""), ""
	case c.Edit:
		style = b.style.text
	case c.Field == "control_code" || c.Field == "poam_code":
		style = b.style.strong
	case c.Field == "id" || c.Field == "finding_id":
		style = b.style.mono
	}
	text := c.shown(f(c.Field))
	if settled(f(c.Field)) == "" {
		text = ""
	}
	switch c.Kind {
	case Number:
		if n, err := strconv.ParseFloat(text, 64); err == nil && shortest(n) == text {
			return b.cell(b.style.number, n), text
		}
	case Date:
		if n, ok := day(text); ok {
			return b.cell(b.style.date, n), text
		}
	}
	text = b.text(text, sheet, at)
	return b.cell(style, text), text
}

// rules are a sheet's filter, lists of choices, and fills.
func (b *Book) rules(l Layout, name string, head, last int) error {
	end := place(len(l.Columns), last)
	titles := fmt.Sprintf("'%s'!$%d:$%d", strings.ReplaceAll(name, "'", "''"), head, head)
	if err := b.file.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Titles", RefersTo: titles, Scope: name}); err != nil {
		return err
	}
	if err := b.file.AutoFilter(name, place(1, head)+":"+end, nil); err != nil {
		return err
	}
	for i, c := range l.Columns {
		cells := place(i+1, head+1) + ":" + place(i+1, last)
		column, err := excelize.ColumnNumberToName(i + 1)
		if err != nil {
			return err
		}
		if c.Hidden {
			if err := b.file.SetColVisible(name, column, false); err != nil {
				return err
			}
		}
		if c.Edit {
			if err := b.validate(name, cells, c); err != nil {
				return err
			}
		}
		if err := b.fill(name, cells, c); err != nil {
			return err
		}
	}
	return nil
}

func (b *Book) validate(name, cells string, c Column) error {
	v := excelize.NewDataValidation(!c.Required)
	v.SetSqref(cells)
	var rule string
	switch c.Kind {
	case Choice, YesNo:
		rule = "one of: " + strings.Join(c.allowed(), ", ")
		if err := v.SetDropList(c.allowed()); err != nil {
			return err
		}
	case Number:
		rule = fmt.Sprintf("a whole number from %v to %v", c.Min, c.Max)
		if err := v.SetRange(c.Min, c.Max, excelize.DataValidationTypeWhole, excelize.DataValidationOperatorBetween); err != nil {
			return err
		}
	case Date:
		rule = "a date, as 2027-03-31"
		if err := v.SetRange(367, 2958465, excelize.DataValidationTypeDate, excelize.DataValidationOperatorBetween); err != nil {
			return err
		}
	case Choices:
		v.SetInput(c.Header, "One on each line: "+strings.Join(c.allowed(), ", "))
		return b.file.AddDataValidation(name, v)
	default:
		return nil
	}
	v.SetError(excelize.DataValidationErrorStyleStop, c.Header, "Write "+rule+".")
	return b.file.AddDataValidation(name, v)
}

// fill colours a choice by what it says, also after it was changed.
func (b *Book) fill(name, cells string, c Column) error {
	values := c.Values
	if c.Kind == YesNo {
		values = []string{"yes", "no"}
	}
	if c.Kind != Choice && c.Kind != YesNo {
		return nil
	}
	done := map[string]bool{}
	var rules []excelize.ConditionalFormatOptions
	for _, v := range values {
		style, ok := b.style.fills[classOf(c.Field, v)]
		if word := c.word(v); ok && !done[word] {
			done[word] = true
			rules = append(rules, excelize.ConditionalFormatOptions{Type: "cell", Criteria: "==", Value: `"` + strings.ReplaceAll(word, `"`, `""`) + `"`, Format: &style})
		}
	}
	if len(rules) == 0 {
		return nil
	}
	return b.file.SetConditionalFormat(name, cells, rules)
}

// place is a cell's name; columns and rows count from 1.
func place(column, row int) string {
	s, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		return fmt.Sprintf("row %d, column %d", row, column)
	}
	return s
}

package sheet

import (
	"fmt"
	"math"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Figure is a table with its picture beside it.
type Figure struct {
	Title string
	// First heads the column of names, Series the columns of numbers.
	First  string
	Series []Series
	Rows   []Bar
	// Stacked bars show the parts of a whole.
	Stacked bool
	// Most is where the scale ends; 0: by the numbers.
	Most float64
}

// Series is a column of numbers, with its colour as six hexadecimal digits.
type Series struct {
	Name, Color string
}

// Bar is a row: a name and a number for each series; nil is none.
type Bar struct {
	Name   string
	Values []*float64
}

// Figures writes a sheet of tables, each with a chart that the spreadsheet draws from it.
func (b *Book) Figures(name string, all []Figure) error {
	name, err := b.add(name)
	if err != nil {
		return err
	}
	widths := []float64{38}
	most := 0
	for _, f := range all {
		most = max(most, len(f.Series))
	}
	for range most {
		widths = append(widths, 13)
	}
	widths = append(widths, 3)
	var lines []Line
	for _, f := range all {
		top := len(lines) + 1
		high := max(300, 24*len(f.Rows)+90)
		if len(f.Rows) > 0 {
			if err := b.chart(name, f, top, most+3, high); err != nil {
				return fmt.Errorf("the picture %q: %w", f.Title, err)
			}
		}
		lines = append(lines, Line{Cells: []Said{{Text: f.Title, Look: AsHeading}}})
		head := []Said{{Text: f.First, Look: AsHead}}
		for _, s := range f.Series {
			head = append(head, Said{Text: s.Name, Look: AsHead})
		}
		lines = append(lines, Line{Cells: head})
		for _, r := range f.Rows {
			row := []Said{{Text: r.Name, Look: AsLabel}}
			for _, v := range r.Values {
				if v == nil {
					row = append(row, Said{Text: "–"})
					continue
				}
				row = append(row, Said{Number: v})
			}
			lines = append(lines, Line{Cells: row})
		}
		if len(f.Rows) == 0 {
			lines = append(lines, Line{Cells: []Said{{Text: "Nothing to show yet."}}})
		}
		for len(lines)-top < int(math.Ceil(float64(high)/20))+1 {
			lines = append(lines, Line{})
		}
	}
	return b.pageOf(name, widths, lines)
}

// chart draws rows below a head at the row after top.
func (b *Book) chart(sheet string, f Figure, top, column, height int) error {
	first, last := top+2, top+1+len(f.Rows)
	ref := func(c, r1, r2 int) string {
		letters, err := excelize.ColumnNumberToName(c)
		if err != nil {
			letters = "A"
		}
		quoted := strings.ReplaceAll(sheet, "'", "''")
		return fmt.Sprintf("'%s'!$%s$%d:$%s$%d", quoted, letters, r1, letters, r2)
	}
	ink, gap := excelize.Font{Color: "333333", Size: 9}, uint(45)
	kind := excelize.Bar
	if f.Stacked {
		kind = excelize.BarStacked
	}
	c := &excelize.Chart{
		Type: kind, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: f.Title, Font: &excelize.Font{Size: 12, Bold: true}}}},
		Legend: excelize.ChartLegend{Position: "bottom"}, Dimension: excelize.ChartDimension{Width: 760, Height: uint(height)},
		XAxis: excelize.ChartAxis{ReverseOrder: true, Font: ink}, YAxis: excelize.ChartAxis{MajorGridLines: true, Font: ink},
		// A part of nothing has no number beside it.
		PlotArea: excelize.ChartPlotArea{ShowVal: true, NumFmt: excelize.ChartNumFmt{CustomNumFmt: "General;;;"}}, GapWidth: &gap,
	}
	if f.Most > 0 {
		zero := 0.0
		c.YAxis.Minimum, c.YAxis.Maximum = &zero, &f.Most
	}
	if len(f.Series) == 1 {
		c.Legend.Position = "none"
	}
	for i, s := range f.Series {
		title := ref(i+2, top+1, top+1)
		c.Series = append(c.Series, excelize.ChartSeries{Name: strings.Split(title, ":")[0], Categories: ref(1, first, last), Values: ref(i+2, first, last),
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{s.Color}}})
	}
	return b.file.AddChart(sheet, place(column, top), c)
}

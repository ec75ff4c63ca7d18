package workbook

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/drawing"
)

// Chart is a table, together with a chart of its numbers.
type Chart struct {
	Title string
	// CategoryHeader is the header of the name column; Series are the number columns.
	CategoryHeader string
	Series         []Series
	Rows           []ChartRow
	Type           ChartType
	// ScaleMax is the end of the scale; 0 means automatic.
	ScaleMax float64
}

// ChartType determines how a chart shows its numbers, for example as bars.
type ChartType int

// Types of charts. A span chart has two series: a start date and a duration in days. A shades chart
// only colors the cells of its table: the larger the value, the darker the color.
const (
	ChartBars ChartType = iota
	ChartStacked
	ChartLines
	ChartSpan
	ChartShades
	ChartRadar
)

// Series is a column of numbers in a chart's table, with the color that it has in the chart.
type Series struct {
	Name  string
	Color drawing.ColorName
}

// DateSerial returns the serial number that spreadsheets use for a date.
func DateSerial(day time.Time) float64 {
	return math.Floor(day.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}

// ChartRow is a row of a chart's table. It has a name, and a number or nil for each series.
type ChartRow struct {
	Name   string
	Values []*float64
}

// AddChartsSheet adds a sheet with tables, and next to each table a chart that shows its numbers.
func (b *Writer) AddChartsSheet(name string, all []Chart) error {
	name, err := b.addSheet(name)
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
		if f.Type == ChartRadar {
			high = 420
		}
		switch {
		case len(f.Rows) == 0:
		case f.Type == ChartShades:
			high = 20 * (len(f.Rows) + 2)
			if err := b.addColorScale(name, f, top); err != nil {
				return fmt.Errorf("the shades of %q: %w", f.Title, err)
			}
		default:
			if err := b.addChart(name, f, top, most+3, high); err != nil {
				return fmt.Errorf("the picture %q: %w", f.Title, err)
			}
		}
		lines = append(lines, Line{Cells: []Cell{{Text: f.Title, Style: StyleHeading}}})
		head := []Cell{{Text: f.CategoryHeader, Style: StyleHead}}
		for _, s := range f.Series {
			head = append(head, Cell{Text: s.Name, Style: StyleHead})
		}
		lines = append(lines, Line{Cells: head})
		for _, r := range f.Rows {
			row := []Cell{{Text: r.Name, Style: StyleLabel}}
			for i, v := range r.Values {
				if v == nil {
					row = append(row, Cell{Text: "–"})
					continue
				}
				row = append(row, Cell{Number: v, IsDate: f.Type == ChartSpan && i == 0})
			}
			lines = append(lines, Line{Cells: row})
		}
		if len(f.Rows) == 0 {
			lines = append(lines, Line{Cells: []Cell{{Text: "There is no data to show yet."}}})
		}
		for len(lines)-top < int(math.Ceil(float64(high)/20))+1 {
			lines = append(lines, Line{})
		}
	}
	return b.writeLines(name, widths, lines)
}

// addChart adds a chart that shows the rows below the header of f's table.
func (b *Writer) addChart(sheet string, f Chart, top, column, height int) error {
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
	kind := [...]excelize.ChartType{
		ChartBars:    excelize.Bar,
		ChartStacked: excelize.BarStacked,
		ChartLines:   excelize.Line,
		ChartSpan:    excelize.BarStacked,
		ChartRadar:   excelize.Radar,
	}[f.Type]
	c := &excelize.Chart{
		Type: kind, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: f.Title, Font: &excelize.Font{Size: 12, Bold: true}}}},
		Legend: excelize.ChartLegend{Position: "bottom"}, Dimension: excelize.ChartDimension{Width: 760, Height: uint(height)},
		XAxis: excelize.ChartAxis{ReverseOrder: true, Font: ink}, YAxis: excelize.ChartAxis{MajorGridLines: true, Font: ink},
		// Hide the labels of zero values.
		PlotArea: excelize.ChartPlotArea{ShowVal: true, NumFmt: excelize.ChartNumFmt{CustomNumFmt: "General;;;"}}, GapWidth: &gap,
	}
	if f.ScaleMax > 0 {
		zero := 0.0
		c.YAxis.Minimum, c.YAxis.Maximum = &zero, &f.ScaleMax
	}
	switch f.Type {
	case ChartLines:
		c.XAxis.ReverseOrder = false
	case ChartRadar:
		c.XAxis.ReverseOrder, c.PlotArea.ShowVal = false, false
		c.XAxis.MajorGridLines = true
	case ChartSpan:
		c.PlotArea.ShowVal = false
		c.YAxis.NumFmt = excelize.ChartNumFmt{CustomNumFmt: "yyyy-mm-dd"}
		first := math.Inf(1)
		for _, r := range f.Rows {
			first = math.Min(first, *r.Values[0])
		}
		c.YAxis.Minimum = &first
	}
	if len(f.Series) == 1 || f.Type == ChartSpan {
		c.Legend.Position = "none"
	}
	for i, s := range f.Series {
		title := ref(i+2, top+1, top+1)
		one := excelize.ChartSeries{
			Name: strings.Split(title, ":")[0], Categories: ref(1, first, last), Values: ref(i+2, first, last),
			Fill: excelize.Fill{
				Type:    "pattern",
				Pattern: 1,
				Color:   []string{b.properties.Theme.Color(s.Color).HexDigits()},
			}, Line: excelize.LineOptions{Width: 2},
		}
		if f.Type == ChartSpan && i == 0 {
			one.Fill = excelize.Fill{Type: "pattern"} // only the end of the span is visible
		}
		c.Series = append(c.Series, one)
	}
	return b.file.AddChart(sheet, cellName(column, top), c)
}

// addColorScale colors the numbers below the table header: the larger the number, the darker the color.
func (b *Writer) addColorScale(sheet string, f Chart, top int) error {
	cells := cellName(2, top+2) + ":" + cellName(len(f.Series)+1, top+1+len(f.Rows))
	t := b.properties.Theme
	return b.file.SetConditionalFormat(sheet, cells, []excelize.ConditionalFormatOptions{{
		Type: "2_color_scale", Criteria: "=", MinType: "num", MinValue: "0", MaxType: "max",
		MinColor: "#" + t.Color(drawing.Paper).HexDigits(), MaxColor: "#" + t.Color(drawing.HeatShade(3)).HexDigits(),
	}})
}

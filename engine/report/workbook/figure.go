package workbook

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/drawing"
)

// Figure is a table with its picture beside it.
type Figure struct {
	Title string
	// First heads the column of names, Series the columns of numbers.
	First  string
	Series []Series
	Rows   []Bar
	Shown  Shown
	// Most is where the scale ends; 0: by the numbers.
	Most float64
}

// Shown is how a figure is shown.
type Shown int

// How figures are shown. A span has two series, the first a day and the second how many days from then
// on; shades are the numbers' own cells, the darker the larger.
const (
	AsBars Shown = iota
	AsStacked
	AsLines
	AsSpan
	AsShades
	AsRadar
)

// Series is a column of numbers, with its colour.
type Series struct {
	Name  string
	Color drawing.Name
}

// Serial is a day as spreadsheets count them.
func Serial(day time.Time) float64 {
	return math.Floor(day.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24)
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
		if f.Shown == AsRadar {
			high = 420
		}
		switch {
		case len(f.Rows) == 0:
		case f.Shown == AsShades:
			high = 20 * (len(f.Rows) + 2)
			if err := b.shade(name, f, top); err != nil {
				return fmt.Errorf("the shades of %q: %w", f.Title, err)
			}
		default:
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
			for i, v := range r.Values {
				if v == nil {
					row = append(row, Said{Text: "–"})
					continue
				}
				row = append(row, Said{Number: v, Date: f.Shown == AsSpan && i == 0})
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
	kind := [...]excelize.ChartType{AsBars: excelize.Bar, AsStacked: excelize.BarStacked, AsLines: excelize.Line, AsSpan: excelize.BarStacked, AsRadar: excelize.Radar}[f.Shown]
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
	switch f.Shown {
	case AsLines:
		c.XAxis.ReverseOrder = false
	case AsRadar:
		c.XAxis.ReverseOrder, c.PlotArea.ShowVal = false, false
		c.XAxis.MajorGridLines = true
	case AsSpan:
		c.PlotArea.ShowVal = false
		c.YAxis.NumFmt = excelize.ChartNumFmt{CustomNumFmt: "yyyy-mm-dd"}
		first := math.Inf(1)
		for _, r := range f.Rows {
			first = math.Min(first, *r.Values[0])
		}
		c.YAxis.Minimum = &first
	}
	if len(f.Series) == 1 || f.Shown == AsSpan {
		c.Legend.Position = "none"
	}
	for i, s := range f.Series {
		title := ref(i+2, top+1, top+1)
		one := excelize.ChartSeries{Name: strings.Split(title, ":")[0], Categories: ref(1, first, last), Values: ref(i+2, first, last),
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{b.about.Theme.Of(s.Color).Hex()}}, Line: excelize.LineOptions{Width: 2}}
		if f.Shown == AsSpan && i == 0 {
			one.Fill = excelize.Fill{Type: "pattern"} // only its end is to be seen
		}
		c.Series = append(c.Series, one)
	}
	return b.file.AddChart(sheet, place(column, top), c)
}

// shade colours the numbers below a head at the row after top by their size.
func (b *Book) shade(sheet string, f Figure, top int) error {
	cells := place(2, top+2) + ":" + place(len(f.Series)+1, top+1+len(f.Rows))
	t := b.about.Theme
	return b.file.SetConditionalFormat(sheet, cells, []excelize.ConditionalFormatOptions{{Type: "2_color_scale", Criteria: "=", MinType: "num", MinValue: "0", MaxType: "max",
		MinColor: "#" + t.Of(drawing.Paper).Hex(), MaxColor: "#" + t.Of(drawing.Heat(3)).Hex()}})
}

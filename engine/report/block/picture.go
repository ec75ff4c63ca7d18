package block

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/prose"
)

// Picture is a drawing in a report. The same data is always shown in a table next to it.
type Picture struct{ drawing.Drawing }

// Kind returns the name by which the page template recognizes a picture.
func (Picture) Kind() string { return "picture" }

// Wide reports whether the picture is so wide that it has to be scrolled on a narrow page.
func (p Picture) Wide() bool { return p.Width > 500 }

// BarSegment is a segment of a bar. Its position and width are percentages of the bar's width.
type BarSegment struct {
	Fill     drawing.ColorName
	X, Width float64
}

// Segments returns the bar's segments from left to right. Invalid and negative values are skipped.
func (b *Bar) Segments() []BarSegment {
	var out []BarSegment
	x := 0.0
	for _, p := range b.Parts {
		w := b.percentOfMax(p.Value)
		if w <= 0 {
			continue
		}
		out = append(out, BarSegment{Fill: drawing.FillOrDefault(p.Fill), X: drawing.RoundTo2(x), Width: drawing.RoundTo2(w)})
		x += w
	}
	return out
}

// MarkPercent returns the position of the marker as a percentage of the scale, or a negative value if the bar has no
// marker.
func (b *Bar) MarkPercent() float64 {
	if b.Mark < 0 {
		return -1
	}
	return drawing.RoundTo2(b.percentOfMax(b.Mark))
}

func (b *Bar) percentOfMax(v float64) float64 {
	if !(b.Max > 0) || !(v > 0) {
		return 0
	}
	return math.Min(v/b.Max, 1) * 100
}

// maxChartRows is the maximum number of bars in a picture. A table with more bars gets several pictures.
const maxChartRows = 40

// BarCharts draws the bars of a table as separate pictures, for file formats that can't show bars in cells.
func (t Table) BarCharts() (out []drawing.Drawing) {
	at := t.BarColumn()
	if at < 0 {
		return nil
	}
	var rows []Row
	for _, r := range t.Rows {
		if at < len(r.Cells) && len(r.Cells[at]) > 0 && r.Cells[at][0].Bar != nil {
			rows = append(rows, r)
		}
	}
	for from := 0; from < len(rows); from += maxChartRows {
		to := min(from+maxChartRows, len(rows))
		title := t.Caption
		if len(rows) > maxChartRows {
			title += fmt.Sprintf(" (rows %d to %d)", from+1, to)
		}
		out = append(out, t.barChart(title, rows[from:to], at))
	}
	return out
}

// BarColumn returns the index of the column that contains bars, or -1 if there is none.
func (t Table) BarColumn() int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Picture })
}

// WithoutColumn returns a copy of the table without the column at the given index.
func (t Table) WithoutColumn(at int) Table {
	t.Columns = slices.Delete(slices.Clone(t.Columns), at, at+1)
	rows := slices.Clone(t.Rows)
	for i, r := range rows {
		if at < len(r.Cells) {
			rows[i].Cells = slices.Delete(slices.Clone(r.Cells), at, at+1)
		}
	}
	t.Rows = rows
	return t
}

func (t Table) barChart(title string, rows []Row, column int) drawing.Drawing {
	const left, right, step, high = 230.0, 590.0, 22.0, 14.0
	d := drawing.Drawing{Title: title, Width: drawing.Width}
	var descriptions []string
	y := 6.0
	for _, r := range rows {
		b := r.Cells[column][0].Bar
		descriptions = append(descriptions, b.Label)
		d.Add(
			drawing.FitLabel(
				drawing.Label{
					X:      left - 8,
					Y:      y + 11.5,
					Size:   drawing.LabelSize,
					Text:   r.Cells[0].Text(),
					Anchor: drawing.End,
					Color:  drawing.Ink,
				},
				left-12,
			),
			drawing.Box{X: left, Y: y, W: right - left, H: high, Fill: drawing.Panel, Edge: drawing.Rule},
		)
		sum := 0.0
		for _, p := range b.Parts {
			sum += max(p.Value, 0)
		}
		for _, s := range b.Segments() {
			w := (right - left) * s.Width / 100
			d.Add(drawing.Box{X: left + (right-left)*s.X/100, Y: y, W: w, H: high, Fill: s.Fill})
			if s.Fill == "not-assessed" || s.Fill == "unmapped" {
				d.Add(drawing.Box{X: left + (right-left)*s.X/100, Y: y, W: w, H: high, Edge: drawing.Soft})
			}
		}
		if m := b.MarkPercent(); m >= 0 {
			x := left + (right-left)*m/100
			d.Add(drawing.Line{Points: []drawing.Point{{X: x, Y: y - 2}, {X: x, Y: y + high + 2}}, Color: drawing.Ink, Width: 2.5})
		}
		value := prose.Decimal(sum)
		if whole := math.Round(sum); whole == sum && b.Mark < 0 { // with a target, it is a level
			value = strconv.FormatFloat(whole, 'f', 0, 64)
		}
		if len(b.Parts) == 0 {
			value = "–"
		}
		d.Add(drawing.Label{X: right + 8, Y: y + 11.5, Size: drawing.LabelSize, Text: value, Color: drawing.Soft})
		y += step
	}
	var keys []drawing.LegendKey
	for _, c := range t.Columns {
		if c.Swatch != "" {
			keys = append(keys, drawing.LegendKey{Fill: drawing.FillOrDefault(c.Swatch), Name: c.Name})
		}
	}
	d.Height = d.AddLegend(keys, left, y+8, right+80)
	d.Description = strings.Join(descriptions, ". ")
	return d
}

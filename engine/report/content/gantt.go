package content

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// maxGanttRows is the maximum number of items in the chart. If there are more, those that are due first are
// shown.
const maxGanttRows = 25

// ganttRow is an item in the Gantt chart, with the beginning and end of its bar.
type ganttRow struct {
	item     *api.POAMItem
	from, to time.Time
}

// parseDate parses a date in the data. It returns false if the date is malformed.
func parseDate(d api.Date) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, string(d))
	return t, err == nil && t.Year() >= 1970 && t.Year() < 2200
}

func truncateToDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// addedToPlanDate returns the date on which an item was added to the plan, or the date of the report's data
// if that is unknown.
func (v *Report) addedToPlanDate(it *api.POAMItem) time.Time {
	if it.CreatedAt.IsZero() || it.CreatedAt.After(v.AsOf) && !v.AsOf.IsZero() {
		return truncateToDay(v.AsOf)
	}
	return truncateToDay(it.CreatedAt)
}

// ganttRows returns the open items that have a due date, ordered by that date. more is the number of such items that
// are not shown.
func (v *Report) ganttRows() (out []ganttRow, more int) {
	for _, it := range v.openItemsByDueDate() {
		to, ok := parseDate(it.CurrentDueDate())
		if !ok {
			continue
		}
		if len(out) == maxGanttRows {
			more++
			continue
		}
		from := v.addedToPlanDate(it)
		if from.After(to) {
			from = to
		}
		out = append(out, ganttRow{item: it, from: from, to: to})
	}
	return out, more
}

// ganttBlocks returns a table and a Gantt chart of the items that are due first.
func (v *Report) ganttBlocks() []block.Block {
	rows, more := v.ganttRows()
	if len(rows) == 0 {
		return nil
	}
	caption := "Timeline of open items, by due date"
	if more > 0 {
		caption = fmt.Sprintf(
			"Timeline of the first %d open items that are due; %s",
			len(rows),
			prose.Count(more, "more item is listed below", "more items are listed below"),
		)
	}
	t := block.Table{Caption: caption, Columns: []block.Column{
		{
			Name:  "Item",
			Width: 4,
		},
		{Name: "Control", Width: 9},
		{Name: "Severity", Width: 4},
		{Name: "In plan since", Width: 4},
		{Name: "Due", Width: 4},
		{Name: "Milestones (described with each item)", Width: 8},
	}}
	for _, r := range rows {
		var stones []string
		for _, m := range r.item.Milestones {
			stone := string(m.DueDate)
			if m.Status != "open" {
				stone += " (" + wording.Humanize(m.Status) + ")"
			}
			stones = append(stones, stone)
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			{v.anchors.link("plan", r.item.POAMCode)},
			v.controlCell(block.Span{Text: r.item.ControlCode}, r.item.ControlTitle),
			block.Badge(
				string(r.item.Severity),
				wording.Label(string(r.item.Severity)),
			),
			block.NoBreak(wording.ISODateOrEmpty(&r.from)),
			block.NoBreak(string(r.item.CurrentDueDate())),
			block.Text(wording.OrDefault(strings.Join(stones, ", "), "none")),
		}})
	}
	return []block.Block{t, v.ganttChart(rows)}
}

// ganttChart draws a timeline with a bar for each item, the item's milestones, and the current date.
func (v *Report) ganttChart(rows []ganttRow) block.Picture {
	const left, right, top, step = 190.0, 660.0, 34.0, 22.0
	first, last := rows[0].from, rows[0].to
	widen := func(t time.Time) {
		if t.Before(first) {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	for _, r := range rows {
		widen(r.from)
		widen(r.to)
	}
	if !v.AsOf.IsZero() {
		widen(truncateToDay(v.AsOf))
	}
	first, last = first.AddDate(0, 0, -3), last.AddDate(0, 0, 3)
	at := func(t time.Time) float64 { return left + (right-left)*t.Sub(first).Hours()/last.Sub(first).Hours() }
	d := drawing.Drawing{Title: "Plan timeline", Width: drawing.Width, Height: top + step*float64(len(rows)) + 52}
	bottom := top + step*float64(len(rows))
	for _, tick := range monthTicks(first, last) {
		x := at(tick.at)
		d.Add(drawing.Line{Points: []drawing.Point{{X: x, Y: top - 6}, {X: x, Y: bottom}}, Color: drawing.Rule, Width: 1},
			drawing.Label{X: x, Y: top - 12, Size: drawing.SmallLabelSize, Text: tick.text, Anchor: drawing.Middle, Color: drawing.Soft})
	}
	var descriptions []string
	for i, r := range rows {
		y := top + step*float64(i)
		d.Add(
			drawing.FitLabel(
				drawing.Label{
					X:     0,
					Y:     y + 14,
					Size:  drawing.SmallLabelSize,
					Text:  strings.TrimSpace(r.item.POAMCode + " " + r.item.ControlCode),
					Color: drawing.Ink,
				},
				left-10,
			),
			drawing.Box{
				X:    at(r.from),
				Y:    y + 4,
				W:    max(at(r.to)-at(r.from), 3),
				H:    12,
				Fill: drawing.FillOrDefault(string(r.item.Severity)),
				Edge: drawing.Soft,
			},
		)
		for _, m := range r.item.Milestones {
			if t, ok := parseDate(m.DueDate); ok && !t.Before(first) && !t.After(last) {
				d.Add(diamondShapes(at(t), y+10, m.Status == "completed")...)
			}
		}
		note := ""
		if v.isOverdue(r.item) {
			note = ", overdue"
			x, anchor := at(r.to)+7, drawing.Start
			if x > right-60 {
				x, anchor = at(r.from)-7, drawing.End
			}
			d.Add(drawing.Label{X: x, Y: y + 14, Size: drawing.SmallLabelSize, Text: "overdue", Anchor: anchor, Color: drawing.Bad, Bold: true})
		}
		descriptions = append(
			descriptions,
			fmt.Sprintf("%s: %s to %s%s", shortenName(r.item.POAMCode), wording.ISODateOrEmpty(&r.from), wording.ISODateOrEmpty(&r.to), note),
		)
	}
	if !v.AsOf.IsZero() {
		x := at(truncateToDay(v.AsOf))
		mid := min(max(x, left), drawing.Width-52)
		d.Add(
			drawing.Line{Points: []drawing.Point{{X: x, Y: top - 4}, {X: x, Y: bottom + 6}}, Color: drawing.Bad, Width: 2, Dashed: true},
			drawing.Label{
				X:      mid,
				Y:      bottom + 16,
				Size:   drawing.SmallLabelSize,
				Text:   "as of " + wording.ISODateOrEmpty(&v.AsOf),
				Anchor: drawing.Middle,
				Color:  drawing.Bad,
			},
		)
	}
	var keys []drawing.LegendKey
	for _, s := range api.Severities {
		if slices.ContainsFunc(rows, func(r ganttRow) bool { return r.item.Severity == s }) {
			keys = append(keys, drawing.LegendKey{Fill: drawing.FillOrDefault(string(s)), Name: wording.Label(string(s))})
		}
	}
	y := bottom + 26
	x := 8.0
	for _, k := range []struct {
		name string
		done bool
	}{{"milestone completed", true}, {"open milestone", false}} {
		d.Add(append(
			diamondShapes(x, y+6, k.done),
			drawing.Label{X: x + 10, Y: y + 10.5, Size: drawing.SmallLabelSize, Text: k.name, Color: drawing.Ink},
		)...)
		x += 10 + drawing.TextWidth(k.name, drawing.SmallLabelSize, false)*1.1 + 20
	}
	d.Height = d.AddLegend(keys, x, y, right)
	d.Description = "Each bar runs from when an item was added to the plan to its due date. " + strings.Join(descriptions, "; ") + "."
	return block.Picture{Drawing: d}
}

func diamondShapes(x, y float64, done bool) []drawing.Shape {
	corners := []drawing.Point{{X: x, Y: y - 5}, {X: x + 5, Y: y}, {X: x, Y: y + 5}, {X: x - 5, Y: y}}
	fill := drawing.Paper
	if done {
		fill = drawing.Ink
	}
	return []drawing.Shape{
		drawing.Area{Points: corners, Fill: fill},
		drawing.Line{Points: corners, Color: drawing.Ink, Width: 1.2, Closed: true},
	}
}

type axisTick struct {
	at   time.Time
	text string
}

// monthTicks returns axis ticks at the beginnings of months, at most about eight.
func monthTicks(first, last time.Time) (out []axisTick) {
	months := int(last.Sub(first).Hours()/24/30.4) + 1
	step := max(1, (months+7)/8)
	if step > 2 {
		step = (step + 2) / 3 * 3
	}
	for t := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); !t.After(last); t = t.AddDate(0, step, 0) {
		if !t.Before(first) {
			out = append(out, axisTick{t, t.Format("Jan 2006")})
		}
	}
	return out
}

// ageBrackets lists the age brackets for open items. Ages are in days.
var ageBrackets = []struct {
	name string
	most int
}{{"up to 30 days", 30}, {"31 to 90 days", 90}, {"91 to 180 days", 180}, {"181 to 365 days", 365}, {"more than a year", math.MaxInt}}

// foundAt returns the time at which an item's gap was found. If the report does not contain the finding, it returns
// the time at which the item was added.
func (v *Report) foundAt(it *api.POAMItem, findings map[string]*api.Finding) time.Time {
	if f := findings[it.FindingID]; f != nil && !f.CreatedAt.IsZero() {
		return f.CreatedAt
	}
	return it.CreatedAt
}

func (v *Report) findingsByID() map[string]*api.Finding {
	out := map[string]*api.Finding{}
	for i := range v.Findings {
		out[v.Findings[i].ID] = &v.Findings[i]
	}
	return out
}

// countOpenItemsByAge returns the numbers of open items, with a row for each age bracket and a column for
// each severity. The last row is for items of unknown age.
func (v *Report) countOpenItemsByAge() [][]int {
	out, findings := make([][]int, len(ageBrackets)+1), v.findingsByID()
	for i := range out {
		out[i] = make([]int, len(api.Severities)+1)
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		if !it.IsOpen() {
			continue
		}
		at := len(ageBrackets)
		if found := v.foundAt(it, findings); !found.IsZero() && !v.AsOf.IsZero() {
			days := int(truncateToDay(v.AsOf).Sub(truncateToDay(found)).Hours() / 24)
			at = slices.IndexFunc(ageBrackets, func(a struct {
				name string
				most int
			},
			) bool {
				return days <= a.most
			})
		}
		s := slices.Index(api.Severities, it.Severity)
		if s < 0 {
			s = len(api.Severities)
		}
		out[at][s]++
	}
	return out
}

func (v *Report) planAgeTable() block.Table {
	t := block.Table{
		Caption: "Open items by age and severity",
		Columns: []block.Column{{Name: "Found", Width: 5}, {Name: "All", Width: 2, Number: true}},
	}
	for _, s := range api.Severities {
		t.Columns = append(t.Columns, block.Column{Name: wording.Label(string(s)), Width: 4, Number: true, Swatch: string(s)})
	}
	t.Columns = append(t.Columns, block.Column{Name: "Chart", Width: 7, Picture: true})
	most, all := 1, v.countOpenItemsByAge()
	for _, by := range all {
		most = max(most, sumInts(by))
	}
	for i, by := range all {
		name := "unknown"
		if i < len(ageBrackets) {
			name = ageBrackets[i].name + " ago"
		}
		if sumInts(by) == 0 {
			continue
		}
		b := &block.Bar{Max: float64(most), Mark: -1, Label: fmt.Sprintf("%s: %d", name, sumInts(by))}
		r := block.Row{Cells: []block.Cell{block.Text(prose.Capitalize(name)), block.Number(sumInts(by))}}
		for k, s := range api.Severities {
			r.Cells = append(r.Cells, block.Number(by[k]))
			b.Parts = append(b.Parts, block.BarPart{Fill: string(s), Value: float64(by[k])})
		}
		r.Cells = append(r.Cells, block.Cell{{Bar: b}})
		t.Rows = append(t.Rows, r)
	}
	return t
}

func sumInts(all []int) (n int) {
	for _, x := range all {
		n += x
	}
	return n
}

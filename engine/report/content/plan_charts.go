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

// maxBurnDownSteps is the maximum number of periods in a burn-down chart, which shows how many items remain
// open.
const maxBurnDownSteps = 18

// burnDownStep is a period in the burn-down chart, with the number of items due in it and the number
// remaining after it.
type burnDownStep struct {
	name           string
	end            time.Time
	due, remaining int
}

// computeBurnDown returns how many items remain open after each period if all are completed by their due
// dates. A period is a month or longer. start is the number of open items. Items without a due date remain
// open to the end.
func (v *Report) computeBurnDown() (start int, steps []burnDownStep) {
	var due []time.Time
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		if !it.IsOpen() {
			continue
		}
		start++
		if t, ok := parseDate(it.CurrentDueDate()); ok {
			due = append(due, t)
		}
	}
	if len(due) == 0 {
		return start, nil
	}
	first, last := slices.MinFunc(due, time.Time.Compare), slices.MaxFunc(due, time.Time.Compare)
	months := (last.Year()-first.Year())*12 + int(last.Month()) - int(first.Month()) + 1
	width, left := (months+maxBurnDownSteps-1)/maxBurnDownSteps, start
	for from := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC); !from.After(last); from = from.AddDate(0, width, 0) {
		to := from.AddDate(0, width, -1)
		n := 0
		for _, t := range due {
			if !t.Before(from) && !t.After(to) {
				n++
			}
		}
		left -= n
		name := from.Format("Jan 2006")
		if width > 1 {
			name += " – " + to.Format("Jan 2006")
		}
		steps = append(steps, burnDownStep{name: name, end: to, due: n, remaining: left})
	}
	return start, steps
}

// burnDownBlocks returns a table and a chart of the burn-down.
func (v *Report) burnDownBlocks() []block.Block {
	start, steps := v.computeBurnDown()
	if len(steps) == 0 {
		return nil
	}
	t := block.Table{
		Caption: fmt.Sprintf("Burn-down of %s, assuming completion by the due date", prose.Count(start, "open item", "open items")),
		Columns: []block.Column{
			{Name: "Period", Width: 6}, {Name: "Due", Width: 3, Number: true}, {Name: "Remaining", Width: 4, Number: true},
		},
	}
	for _, s := range steps {
		name := block.Text(s.name)
		if !v.AsOf.IsZero() && s.end.Before(truncateToDay(v.AsOf)) && s.due > 0 {
			name = name.With(block.Span{Text: " "}, block.Span{Text: "Overdue", Badge: "critical"})
		}
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{name, block.Number(s.due), block.Number(s.remaining)}})
	}
	return []block.Block{t, burnDownChart(start, steps)}
}

// burnDownChart draws how the number of open items decreases from period to period.
func burnDownChart(start int, steps []burnDownStep) block.Picture {
	const left, right, top, bottom = 50.0, 660.0, 20.0, 230.0
	d := drawing.Drawing{Title: "Burn-down of the plan", Width: drawing.Width, Height: 262}
	y := func(n float64) float64 { return bottom - (bottom-top)*n/float64(max(start, 1)) }
	grid := roundGridStep(start)
	for n := 0; n <= start; n += grid {
		d.Add(
			drawing.Line{Points: []drawing.Point{{X: left, Y: y(float64(n))}, {X: right, Y: y(float64(n))}}, Color: drawing.Rule, Width: 1},
			drawing.Label{
				X:      left - 6,
				Y:      y(float64(n)) + 4,
				Size:   drawing.SmallLabelSize,
				Text:   prose.GroupThousands(n),
				Anchor: drawing.End,
				Color:  drawing.Soft,
			},
		)
	}
	wide := (right - left) / float64(len(steps))
	line := []drawing.Point{{X: left, Y: y(float64(start))}}
	var descriptions []string
	every := (len(steps) + 7) / 8
	for i, s := range steps {
		x := left + wide*float64(i+1)
		d.Add(drawing.Box{X: x - wide*0.7, Y: y(float64(s.due)), W: wide * 0.4, H: bottom - y(float64(s.due)), Fill: "not-assessed"})
		line = append(line, drawing.Point{X: x, Y: line[len(line)-1].Y}, drawing.Point{X: x, Y: y(float64(s.remaining))})
		if i%every == 0 {
			d.Add(
				drawing.Label{
					X:      x - wide/2,
					Y:      bottom + 16,
					Size:   drawing.SmallLabelSize,
					Text:   s.end.Format("Jan 06"),
					Anchor: drawing.Middle,
					Color:  drawing.Soft,
				},
			)
		}
		descriptions = append(descriptions, fmt.Sprintf("%s: %d due, %d remaining", s.name, s.due, s.remaining))
	}
	d.Add(drawing.Line{Points: line, Color: drawing.Level, Width: 2.5})
	for i, s := range steps {
		if i%every == 0 || i == len(steps)-1 {
			d.Add(drawing.Dot{X: left + wide*float64(i+1), Y: y(float64(s.remaining)), R: 3.5, Fill: drawing.Level})
		}
	}
	d.Add(
		drawing.Line{Points: []drawing.Point{{X: 440, Y: 12}, {X: 464, Y: 12}}, Color: drawing.Level, Width: 2.5},
		drawing.Label{X: 470, Y: 16, Size: drawing.SmallLabelSize, Text: "left", Color: drawing.Ink},
		drawing.Box{
			X:    520,
			Y:    6,
			W:    12,
			H:    12,
			Fill: "not-assessed",
		},
		drawing.Label{X: 538, Y: 16, Size: drawing.SmallLabelSize, Text: "due in the period", Color: drawing.Ink},
		drawing.Label{X: left, Y: bottom + 30, Size: drawing.SmallLabelSize, Text: "end of", Color: drawing.Soft},
	)
	d.Description = fmt.Sprintf("The chart starts at %d open items. ", start) + strings.Join(descriptions, "; ") + "."
	return block.Picture{Drawing: d}
}

// roundGridStep returns a round number as the distance between grid lines, so that there are at most about eight
// lines from 0 to n.
func roundGridStep(n int) int {
	step := 1
	for _, by := range []int{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000} {
		if n/step <= 8 {
			break
		}
		step = by
	}
	return step
}

// efforts lists the sizes of effort, smallest first.
var efforts = []string{"small", "medium", "large", "extra_large"}

// countBySeverityAndEffort returns the number of open items, broken down with a row for each severity in the order
// of api.Severities and a column for each effort, and the total.
func (v *Report) countBySeverityAndEffort() (by [][]int, all int) {
	by = make([][]int, len(api.Severities))
	for i := range by {
		by[i] = make([]int, len(efforts))
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		s, e := slices.Index(api.Severities, it.Severity), slices.Index(efforts, it.Effort)
		if it.IsOpen() && s >= 0 && e >= 0 {
			by[s][e]++
			all++
		}
	}
	return by, all
}

// impactEffortBlocks returns a table and a chart that show the open items by impact and effort.
func (v *Report) impactEffortBlocks() []block.Block {
	by, all := v.countBySeverityAndEffort()
	if all == 0 {
		return nil
	}
	t := block.Table{Caption: "Open items by impact and effort", Columns: []block.Column{{Name: "Impact (severity)", Width: 5}}}
	for _, e := range efforts {
		t.Columns = append(t.Columns, block.Column{Name: wording.Label(e) + " effort", Width: 4, Number: true})
	}
	for i, s := range api.Severities {
		r := block.Row{Cells: []block.Cell{block.Badge(string(s), wording.Label(string(s)))}}
		for e := range efforts {
			r.Cells = append(r.Cells, block.Number(by[i][e]))
		}
		t.Rows = append(t.Rows, r)
	}
	return []block.Block{t, impactEffortChart(by)}
}

// impactEffortChart draws each count as a disc. Impact increases from bottom to top, and effort from left to right.
func impactEffortChart(counts [][]int) block.Picture {
	const left, top, wide, high = 110.0, 24.0, 130.0, 64.0
	most := 1
	for _, r := range counts {
		most = max(most, slices.Max(r))
	}
	d := drawing.Drawing{Title: "Impact and effort of open items", Width: 660, Height: top + high*float64(len(counts)) + 44}
	right, bottom, half, mid := left+wide*float64(len(efforts)), top+high*float64(len(counts)), left+wide*2, top+high*2
	for _, q := range []struct {
		x, y, w, h float64
		fill       drawing.ColorName
		name       string
	}{
		{left, top, half - left, mid - top, drawing.GoodGround, "Do first"},
		{half, top, right - half, mid - top, drawing.WarnGround, "Plan as projects"},
		{left, mid, half - left, bottom - mid, drawing.Panel, "Quick wins"},
		{half, mid, right - half, bottom - mid, drawing.Panel, "Reconsider"},
	} {
		d.Add(
			drawing.Box{X: q.x, Y: q.y, W: q.w, H: q.h, Fill: q.fill, Edge: drawing.Soft},
			drawing.Label{X: q.x + 8, Y: q.y + 14, Size: drawing.SmallLabelSize, Text: q.name, Color: drawing.Soft, Bold: true},
		)
	}
	var descriptions []string
	for i, s := range api.Severities {
		y := top + high*float64(i) + high/2
		d.Add(
			drawing.Label{X: left - 10, Y: y + 4, Size: drawing.LabelSize, Text: wording.Label(string(s)), Anchor: drawing.End, Color: drawing.Ink},
		)
		for e := range efforts {
			n := counts[i][e]
			if n == 0 {
				continue
			}
			x, r := left+wide*float64(e)+wide/2, 9+11*math.Sqrt(float64(n)/float64(most))
			d.Add(
				drawing.Dot{X: x, Y: y + 9, R: drawing.RoundTo2(r), Fill: drawing.Accent},
				drawing.Label{
					X:      x,
					Y:      y + 13.5,
					Size:   drawing.SmallLabelSize,
					Text:   prose.GroupThousands(n),
					Anchor: drawing.Middle,
					Color:  drawing.OnAccent,
					Bold:   true,
				},
			)
			descriptions = append(descriptions, fmt.Sprintf("%d %s with %s effort", n, wording.Humanize(string(s)), wording.Humanize(efforts[e])))
		}
	}
	for e, name := range efforts {
		d.Add(
			drawing.Label{
				X:      left + wide*float64(e) + wide/2,
				Y:      bottom + 18,
				Size:   drawing.LabelSize,
				Text:   wording.Label(name),
				Anchor: drawing.Middle,
				Color:  drawing.Ink,
			},
		)
	}
	d.Add(
		drawing.Label{
			X:      (left + right) / 2,
			Y:      bottom + 36,
			Size:   drawing.SmallLabelSize,
			Text:   "effort →",
			Anchor: drawing.Middle,
			Color:  drawing.Soft,
		},
		drawing.Label{X: left - 10, Y: 16, Size: drawing.SmallLabelSize, Text: "impact ↑", Anchor: drawing.End, Color: drawing.Soft},
	)
	d.Description = "Impact (severity) increases toward the top, effort toward the right. " + strings.Join(descriptions, ", ") + "."
	return block.Picture{Drawing: d}
}

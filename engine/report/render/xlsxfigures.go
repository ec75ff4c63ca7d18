package render

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/workbook"
)

// figures are the pictures that a spreadsheet draws from tables, of the same numbers as
// those of the other formats.
func (v *view) figures() (out []workbook.Figure) {
	if v.kind.tells(api.GateGapAnalysis) && v.Gap != nil {
		out = append(out, v.severityFigure(), v.heatFigure())
	}
	if v.kind.tells(api.GateSoA) && v.SoA != nil {
		out = append(out, v.statusFigure())
		if len(v.coverage) > 0 {
			out = append(out, v.coverageFigure())
		}
	}
	if v.kind.tells(api.GateMaturity) && v.MaturitySummary != nil {
		f := workbook.Figure{Title: "Maturity by domain, from 0 to 5, beside the target", First: "Domain", Most: float64(topLevel),
			Series: []workbook.Series{{Name: "Mean", Color: drawing.Level}, {Name: "Target", Color: "excluded"}}}
		for _, d := range v.MaturitySummary.Domains {
			f.Rows = append(f.Rows, workbook.Bar{Name: v.domain(d.DomainCode), Values: []*float64{rounded(d.Mean), rounded(d.TargetMean)}})
		}
		out = append(out, f)
		if shown := radarDomains(v.MaturitySummary.Domains); shown != nil {
			r := workbook.Figure{Title: "Maturity by domain, as a radar", First: "Domain", Most: float64(topLevel), Shown: workbook.AsRadar, Series: f.Series}
			for _, d := range shown {
				r.Rows = append(r.Rows, workbook.Bar{Name: d.DomainCode, Values: []*float64{rounded(d.Mean), rounded(d.TargetMean)}})
			}
			out = append(out, r)
		}
	}
	if v.kind.tells(api.GatePOAM) && v.POAM != nil {
		out = append(out, v.planFigures()...)
	}
	return out
}

// bySeverity is a series for each.
func bySeverity() (out []workbook.Series) {
	for _, s := range api.Severities {
		out = append(out, workbook.Series{Name: label(string(s)), Color: drawing.Known(string(s))})
	}
	return out
}

func figuresOf(all []int) (out []*float64) {
	for _, n := range all {
		out = append(out, figure(n))
	}
	return out
}

func (v *view) severityFigure() workbook.Figure {
	f := workbook.Figure{Title: "Findings by severity", First: "Severity", Series: []workbook.Series{{Name: "Findings", Color: "high"}}}
	by := map[api.Severity]int{}
	for i := range v.Findings {
		by[v.Findings[i].Severity]++
	}
	for _, s := range api.Severities {
		f.Rows = append(f.Rows, workbook.Bar{Name: label(string(s)), Values: []*float64{figure(by[s])}})
	}
	return f
}

func (v *view) heatFigure() workbook.Figure {
	f := workbook.Figure{Title: "Findings by domain and severity; the darker, the more", First: "Domain", Shown: workbook.AsShades, Series: bySeverity()}
	for _, d := range v.findingsByDomain() {
		f.Rows = append(f.Rows, workbook.Bar{Name: v.domain(d.code), Values: figuresOf(d.by)})
	}
	return f
}

func (v *view) planFigures() []workbook.Figure {
	status := workbook.Figure{Title: "Plan by status", First: "Status", Series: []workbook.Series{{Name: "Items", Color: drawing.Level}}}
	by := map[string]int{}
	for i := range v.POAMItems {
		by[v.POAMItems[i].Status]++
	}
	for _, s := range planStatuses {
		status.Rows = append(status.Rows, workbook.Bar{Name: label(s), Values: []*float64{figure(by[s])}})
	}
	ageing := workbook.Figure{Title: "Open items by the time since they were found", First: "Found", Shown: workbook.AsStacked, Series: bySeverity()}
	for i, n := range v.ageing() {
		name := "on a day that isn't told"
		if i < len(ages) {
			name = ages[i].name + " ago"
		}
		ageing.Rows = append(ageing.Rows, workbook.Bar{Name: name, Values: figuresOf(n[:len(api.Severities)])})
	}
	burn := workbook.Figure{Title: "Burn-down: open items if each is done by its date", First: "Time", Shown: workbook.AsLines,
		Series: []workbook.Series{{Name: "Left", Color: drawing.Level}, {Name: "Due", Color: "high"}}}
	start, steps := v.burnDown()
	burn.Rows = append(burn.Rows, workbook.Bar{Name: "now", Values: []*float64{figure(start), nil}})
	for _, s := range steps {
		burn.Rows = append(burn.Rows, workbook.Bar{Name: s.name, Values: []*float64{figure(s.left), figure(s.due)}})
	}
	matrix := workbook.Figure{Title: "Open items by impact and effort; the darker, the more", First: "Impact (severity)", Shown: workbook.AsShades}
	for _, e := range efforts {
		matrix.Series = append(matrix.Series, workbook.Series{Name: label(e) + " effort", Color: drawing.Level})
	}
	counts, _ := v.effortCounts()
	for i, s := range api.Severities {
		matrix.Rows = append(matrix.Rows, workbook.Bar{Name: label(string(s)), Values: figuresOf(counts[i])})
	}
	calendar := workbook.Figure{Title: "The plan in time: the open items due first", First: "Item", Shown: workbook.AsSpan,
		Series: []workbook.Series{{Name: "From", Color: drawing.Paper}, {Name: "Days", Color: drawing.Level}}}
	rows, _ := v.calendar()
	for _, r := range rows {
		from, to := workbook.Serial(r.from), workbook.Serial(r.to)
		days := max(to-from, 1)
		calendar.Rows = append(calendar.Rows, workbook.Bar{Name: r.item.POAMCode + " " + r.item.ControlCode, Values: []*float64{&from, &days}})
	}
	return []workbook.Figure{status, ageing, burn, matrix, calendar}
}

// ofOutcomes is a figure of bars whose parts are outcomes.
func ofOutcomes(title, first string, shown []outcome) workbook.Figure {
	f := workbook.Figure{Title: title, First: first, Shown: workbook.AsStacked}
	for _, o := range shown {
		f.Series = append(f.Series, workbook.Series{Name: o.words(), Color: drawing.Known(string(o))})
	}
	return f
}

// coverageFigure is the frameworks' requirements by where they stand.
func (v *view) coverageFigure() workbook.Figure {
	f := ofOutcomes("Requirements by framework and where they stand", "Framework", outcomes)
	for _, fc := range v.coverage {
		row := workbook.Bar{Name: or(fc.framework.Name, fc.framework.Code)}
		for _, o := range outcomes {
			row.Values = append(row.Values, figure(fc.counts[o]))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func (v *view) statusFigure() workbook.Figure {
	shown := outcomes[:len(outcomes)-1] // a control is never unmapped
	f := ofOutcomes("Controls by domain and where they stand", "Domain", shown)
	_, domains := tally(v.SoAItems)
	codes := sortedKeys(domains)
	slices.SortFunc(codes, scf.Natural)
	for _, d := range codes {
		row := workbook.Bar{Name: v.domain(d)}
		for _, o := range shown {
			row.Values = append(row.Values, figure(domains[d][o]))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func figure(n int) *float64 {
	f := float64(n)
	return &f
}

func rounded(f *float64) *float64 {
	if f == nil {
		return nil
	}
	r := round(*f)
	return &r
}

package content

import (
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
)

// Charts returns the charts of the report for a workbook, where the spreadsheet program draws them
// from tables. The numbers are the same as in other file formats.
func (v *Report) Charts() (out []workbook.Chart) {
	if v.Template.HasDeliverable(api.GateGapAnalysis) && v.Gap != nil {
		out = append(out, v.severityChart(), v.heatMapChart())
	}
	if v.Template.HasDeliverable(api.GateSoA) && v.SoA != nil {
		out = append(out, v.controlStatusChart())
		if len(v.coverage) > 0 {
			out = append(out, v.coverageChart())
		}
	}
	if v.Template.HasDeliverable(api.GateMaturity) && v.MaturitySummary != nil {
		f := workbook.Chart{
			Title: "Maturity by domain (0 to 5) and target", CategoryHeader: "Domain", ScaleMax: float64(maxLevel),
			Series: []workbook.Series{{Name: "Mean", Color: drawing.Level}, {Name: "Target", Color: "excluded"}},
		}
		for _, d := range v.MaturitySummary.Domains {
			f.Rows = append(
				f.Rows,
				workbook.ChartRow{
					Name:   v.domainLabel(d.DomainCode),
					Values: []*float64{roundedPointer(d.Mean), roundedPointer(d.TargetMean)},
				},
			)
		}
		out = append(out, f)
		if shown := radarDomains(v.MaturitySummary.Domains); shown != nil {
			r := workbook.Chart{
				Title:          "Maturity by domain (radar chart)",
				CategoryHeader: "Domain",
				ScaleMax:       float64(maxLevel),
				Type:           workbook.ChartRadar,
				Series:         f.Series,
			}
			for _, d := range shown {
				r.Rows = append(
					r.Rows,
					workbook.ChartRow{Name: d.DomainCode, Values: []*float64{roundedPointer(d.Mean), roundedPointer(d.TargetMean)}},
				)
			}
			out = append(out, r)
		}
	}
	if v.Template.HasDeliverable(api.GatePOAM) && v.POAM != nil {
		out = append(out, v.planCharts()...)
	}
	return out
}

// severitySeries returns a chart series for each severity.
func severitySeries() (out []workbook.Series) {
	for _, s := range api.Severities {
		out = append(out, workbook.Series{Name: wording.Label(string(s)), Color: drawing.FillOrDefault(string(s))})
	}
	return out
}

func floatPointers(all []int) (out []*float64) {
	for _, n := range all {
		out = append(out, intToFloatPointer(n))
	}
	return out
}

func (v *Report) severityChart() workbook.Chart {
	f := workbook.Chart{
		Title:          "Findings by severity",
		CategoryHeader: "Severity",
		Series:         []workbook.Series{{Name: "Findings", Color: "high"}},
	}
	by := map[api.Severity]int{}
	for i := range v.Findings {
		by[v.Findings[i].Severity]++
	}
	for _, s := range api.Severities {
		f.Rows = append(f.Rows, workbook.ChartRow{Name: wording.Label(string(s)), Values: []*float64{intToFloatPointer(by[s])}})
	}
	return f
}

func (v *Report) heatMapChart() workbook.Chart {
	f := workbook.Chart{
		Title:          "Findings by domain and severity (darker means more)",
		CategoryHeader: "Domain",
		Type:           workbook.ChartShades,
		Series:         severitySeries(),
	}
	for _, d := range v.countFindingsByDomain() {
		f.Rows = append(f.Rows, workbook.ChartRow{Name: v.domainLabel(d.code), Values: floatPointers(d.bySeverity)})
	}
	return f
}

func (v *Report) planCharts() []workbook.Chart {
	status := workbook.Chart{
		Title:          "Plan by status",
		CategoryHeader: "Status",
		Series:         []workbook.Series{{Name: "Items", Color: drawing.Level}},
	}
	by := map[string]int{}
	for i := range v.POAMItems {
		by[v.POAMItems[i].Status]++
	}
	for _, s := range api.POAMStatuses {
		status.Rows = append(status.Rows, workbook.ChartRow{Name: wording.Label(s), Values: []*float64{intToFloatPointer(by[s])}})
	}
	ageing := workbook.Chart{
		Title:          "Open items by age",
		CategoryHeader: "Found",
		Type:           workbook.ChartStacked,
		Series:         severitySeries(),
	}
	for i, n := range v.countOpenItemsByAge() {
		name := "unknown"
		if i < len(ageBrackets) {
			name = ageBrackets[i].name + " ago"
		}
		ageing.Rows = append(ageing.Rows, workbook.ChartRow{Name: name, Values: floatPointers(n[:len(api.Severities)])})
	}
	burn := workbook.Chart{
		Title: "Burn-down of open items, assuming completion by the due date", CategoryHeader: "Period", Type: workbook.ChartLines,
		Series: []workbook.Series{{Name: "Left", Color: drawing.Level}, {Name: "Due", Color: "high"}},
	}
	start, steps := v.computeBurnDown()
	burn.Rows = append(burn.Rows, workbook.ChartRow{Name: "now", Values: []*float64{intToFloatPointer(start), nil}})
	for _, s := range steps {
		values := []*float64{intToFloatPointer(s.remaining), intToFloatPointer(s.due)}
		burn.Rows = append(burn.Rows, workbook.ChartRow{Name: s.name, Values: values})
	}
	matrix := workbook.Chart{
		Title:          "Open items by impact and effort (darker means more)",
		CategoryHeader: "Impact (severity)",
		Type:           workbook.ChartShades,
	}
	for _, e := range efforts {
		matrix.Series = append(matrix.Series, workbook.Series{Name: wording.Label(e) + " effort", Color: drawing.Level})
	}
	counts, _ := v.countBySeverityAndEffort()
	for i, s := range api.Severities {
		matrix.Rows = append(matrix.Rows, workbook.ChartRow{Name: wording.Label(string(s)), Values: floatPointers(counts[i])})
	}
	calendar := workbook.Chart{
		Title: "Plan timeline: open items due first", CategoryHeader: "Item", Type: workbook.ChartSpan,
		Series: []workbook.Series{{Name: "From", Color: drawing.Paper}, {Name: "Days", Color: drawing.Level}},
	}
	rows, _ := v.ganttRows()
	for _, r := range rows {
		from, to := workbook.DateSerial(r.from), workbook.DateSerial(r.to)
		days := max(to-from, 1)
		calendar.Rows = append(
			calendar.Rows,
			workbook.ChartRow{Name: r.item.POAMCode + " " + r.item.ControlCode, Values: []*float64{&from, &days}},
		)
	}
	return []workbook.Chart{status, ageing, burn, matrix, calendar}
}

// newStatusChart returns a bar chart without rows. Each bar will have a segment for each of the given
// statuses.
func newStatusChart(title, categoryHeader string, shown []coverageStatus) workbook.Chart {
	f := workbook.Chart{Title: title, CategoryHeader: categoryHeader, Type: workbook.ChartStacked}
	for _, o := range shown {
		f.Series = append(f.Series, workbook.Series{Name: o.displayName(), Color: drawing.FillOrDefault(string(o))})
	}
	return f
}

// coverageChart returns a chart of the requirements by framework and status.
func (v *Report) coverageChart() workbook.Chart {
	f := newStatusChart("Requirements by framework and status", "Framework", coverageStatuses)
	for _, fc := range v.coverage {
		row := workbook.ChartRow{Name: wording.OrDefault(fc.framework.Name, fc.framework.Code)}
		for _, o := range coverageStatuses {
			row.Values = append(row.Values, intToFloatPointer(fc.counts[o]))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func (v *Report) controlStatusChart() workbook.Chart {
	shown := coverageStatuses[:len(coverageStatuses)-1] // a control is never unmapped
	f := newStatusChart("Controls by domain and status", "Domain", shown)
	_, domains := countControlStatuses(v.SoAItems)
	codes := slices.Sorted(maps.Keys(domains))
	slices.SortFunc(codes, scf.CompareNatural)
	for _, d := range codes {
		row := workbook.ChartRow{Name: v.domainLabel(d)}
		for _, o := range shown {
			row.Values = append(row.Values, intToFloatPointer(domains[d][o]))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func intToFloatPointer(n int) *float64 {
	f := float64(n)
	return &f
}

func roundedPointer(f *float64) *float64 {
	if f == nil {
		return nil
	}
	r := drawing.RoundTo2(*f)
	return &r
}

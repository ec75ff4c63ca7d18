package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/drawing"
)

// domainCount is a domain's findings by severity, in the order of api.Severities.
type domainCount struct {
	code string
	all  int
	by   []int
}

// findingsByDomain counts them, domains by code.
func (v *view) findingsByDomain() (out []domainCount) {
	at := map[string]int{}
	for i := range v.Findings {
		f := &v.Findings[i]
		n, seen := at[f.DomainCode]
		if !seen {
			n = len(out)
			at[f.DomainCode] = n
			out = append(out, domainCount{code: f.DomainCode, by: make([]int, len(api.Severities))})
		}
		out[n].all++
		if s := slices.Index(api.Severities, f.Severity); s >= 0 {
			out[n].by[s]++
		}
	}
	slices.SortFunc(out, func(a, b domainCount) int { return scf.Natural(a.code, b.code) })
	return out
}

// heatMap is the table of findings by domain and severity as shades with their numbers.
func (v *view) heatMap() picture {
	const left, cell, high = 250.0, 82.0, 20.0
	all, most := v.findingsByDomain(), 1
	for _, d := range all {
		most = max(most, slices.Max(d.by))
	}
	d := drawing.Drawing{Title: "Where the findings are: domains by severity", Width: drawing.Width}
	for i, s := range api.Severities {
		d.Add(drawing.Label{X: left + cell*float64(i) + cell/2, Y: 16, Size: smallSize, Text: label(string(s)), At: drawing.Middle, Color: drawing.Soft, Strong: true})
	}
	y := 24.0
	var said []string
	for _, one := range all {
		d.Add(drawing.Fitted(drawing.Label{X: left - 8, Y: y + 14, Size: smallSize, Text: v.domain(one.code), At: drawing.End, Color: drawing.Ink}, left-12))
		var parts []string
		for i, n := range one.by {
			shade := drawing.Heat(heatStep(n, most))
			d.Add(drawing.Box{X: left + cell*float64(i) + 1, Y: y + 1, W: cell - 2, H: high - 2, Fill: shade})
			if n > 0 {
				d.Add(drawing.Label{X: left + cell*float64(i) + cell/2, Y: y + 14, Size: smallSize, Text: count(n), At: drawing.Middle, Color: drawing.On(shade), Strong: true})
				parts = append(parts, fmt.Sprintf("%d %s", n, words(string(api.Severities[i]))))
			}
		}
		said = append(said, or(one.code, "no domain")+": "+strings.Join(parts, ", "))
		y += high
	}
	d.Height = y + 6
	d.Text = "The darker a cell, the more findings; each cell has its number. " + strings.Join(said, ". ")
	return picture{d}
}

// heatStep is the shade of a number: nothing has none, the most has the darkest.
func heatStep(n, most int) int {
	if n <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(float64(n)/float64(most)*drawing.HeatSteps)))
}

package content

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// severityCounts holds the number of findings in a domain for each severity, in the order of api.Severities.
type severityCounts struct {
	code       string
	all        int
	bySeverity []int
}

// isGrave reports whether a severity is critical or high.
func isGrave(s api.Severity) bool { return s == api.SeverityCritical || s == api.SeverityHigh }

func countGrave(findings []api.Finding) (n int) {
	for i := range findings {
		if isGrave(findings[i].Severity) {
			n++
		}
	}
	return n
}

// countFindingsByDomain returns the number of findings of each severity in each domain, sorted by domain code.
func (v *Report) countFindingsByDomain() (out []severityCounts) {
	at := map[string]int{}
	for i := range v.Findings {
		f := &v.Findings[i]
		n, seen := at[f.DomainCode]
		if !seen {
			n = len(out)
			at[f.DomainCode] = n
			out = append(out, severityCounts{code: f.DomainCode, bySeverity: make([]int, len(api.Severities))})
		}
		out[n].all++
		if s := slices.Index(api.Severities, f.Severity); s >= 0 {
			out[n].bySeverity[s]++
		}
	}
	slices.SortFunc(out, func(a, b severityCounts) int { return scf.CompareNatural(a.code, b.code) })
	return out
}

// heatMapPicture draws a heat map of the findings by domain and severity, with the number of findings in each cell.
func (v *Report) heatMapPicture() block.Picture {
	const left, cell, high = 250.0, 82.0, 20.0
	all, most := v.countFindingsByDomain(), 1
	for _, d := range all {
		most = max(most, slices.Max(d.bySeverity))
	}
	d := drawing.Drawing{Title: "Findings by domain and severity", Width: drawing.Width}
	for i, s := range api.Severities {
		d.Add(
			drawing.Label{
				X:      left + cell*float64(i) + cell/2,
				Y:      16,
				Size:   drawing.SmallLabelSize,
				Text:   wording.Label(string(s)),
				Anchor: drawing.Middle,
				Color:  drawing.Soft,
				Bold:   true,
			},
		)
	}
	y := 24.0
	var descriptions []string
	for _, one := range all {
		d.Add(
			drawing.FitLabel(
				drawing.Label{
					X:      left - 8,
					Y:      y + 14,
					Size:   drawing.SmallLabelSize,
					Text:   v.domainLabel(one.code),
					Anchor: drawing.End,
					Color:  drawing.Ink,
				},
				left-12,
			),
		)
		var parts []string
		for i, n := range one.bySeverity {
			shade := drawing.HeatShade(heatStep(n, most))
			d.Add(drawing.Box{X: left + cell*float64(i) + 1, Y: y + 1, W: cell - 2, H: high - 2, Fill: shade})
			if n > 0 {
				d.Add(
					drawing.Label{
						X:      left + cell*float64(i) + cell/2,
						Y:      y + 14,
						Size:   drawing.SmallLabelSize,
						Text:   prose.GroupThousands(n),
						Anchor: drawing.Middle,
						Color:  drawing.TextColorOn(shade),
						Bold:   true,
					},
				)
				parts = append(parts, fmt.Sprintf("%d %s", n, wording.Humanize(string(api.Severities[i]))))
			}
		}
		descriptions = append(descriptions, wording.OrDefault(one.code, "no domain")+": "+strings.Join(parts, ", "))
		y += high
	}
	d.Height = y + 6
	d.Description = "Each cell shows the number of findings; darker cells have more. " + strings.Join(descriptions, ". ")
	return block.Picture{Drawing: d}
}

// heatStep returns the shade for a number: 0 if the number is not positive, and the darkest shade if it is the
// maximum.
func heatStep(n, maxCount int) int {
	if n <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(float64(n)/float64(maxCount)*drawing.HeatSteps)))
}

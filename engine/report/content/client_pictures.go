package content

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// statusHeatMap draws the domains as rows and the statuses of their controls as columns. Its title
// names the strongest and the weakest domain.
func (v *Report) statusHeatMap() block.Picture {
	const left, cell, high = 290.0, 76.0, 19.0
	s := v.Story()
	columns := []coverageStatus{statusImplemented, statusPartly, statusPlanned, statusMissing, statusNotEvidenced}
	d := drawing.Drawing{Title: s.describeExtremes(), Width: drawing.Width}
	for i, o := range columns {
		name := plainStatusName(o)
		if o == statusNotEvidenced {
			name = "No evidence"
		}
		d.Add(drawing.Label{
			X: left + cell*float64(i) + cell/2, Y: 14, Size: drawing.SmallLabelSize, Text: name, Anchor: drawing.Middle,
			Color: drawing.Soft, Bold: true,
		})
	}
	y := 22.0
	var descriptions []string
	for _, one := range s.Domains {
		d.Add(drawing.FitLabel(drawing.Label{
			X: left - 8, Y: y + 13.5, Size: drawing.SmallLabelSize, Text: one.Name, Anchor: drawing.End, Color: drawing.Ink,
		}, left-12))
		var parts []string
		for i, o := range columns {
			n := one.Counts[o]
			step := heatStep(n, one.Applicable)
			shade := drawing.HeatShade(step)
			if o == statusImplemented {
				shade = drawing.CoolShade(step)
			}
			x := left + cell*float64(i)
			d.Add(drawing.Box{X: x + 1, Y: y + 1, W: cell - 2, H: high - 2, Fill: shade})
			if n > 0 {
				d.Add(drawing.Label{
					X: x + cell/2, Y: y + 13.5, Size: drawing.SmallLabelSize, Text: prose.GroupThousands(n), Anchor: drawing.Middle,
					Color: drawing.TextColorOn(shade), Bold: true,
				})
				parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(plainStatusName(o))))
			}
		}
		descriptions = append(descriptions, one.Name+": "+strings.Join(parts, ", "))
		y += high
	}
	d.Height = y + 4
	d.Description = "Measures by domain and status, weakest domain first. " + strings.Join(descriptions, ". ") + "."
	return block.Picture{Drawing: d}
}

// roadmapPicture draws the open actions of each quarter as a bar with a segment for each severity.
func (v *Report) roadmapPicture() block.Picture {
	const left, right, step, high = 150.0, 520.0, 26.0, 17.0
	s := v.Story()
	most, at := 1, 0
	for i, q := range s.Roadmap {
		if q.Items > most {
			most, at = q.Items, i
		}
	}
	d := drawing.Drawing{
		Title: fmt.Sprintf("%s of %s fall due in %s",
			prose.GroupThousands(s.Roadmap[at].Items), prose.Count(v.countOpenActions(), "action", "actions"), s.Roadmap[at].Name),
		Width: drawing.Width,
	}
	var keys []drawing.LegendKey
	for _, sev := range api.Severities[:4] {
		keys = append(keys, drawing.LegendKey{Fill: drawing.ColorName(sev), Name: wording.Label(string(sev))})
	}
	y := d.AddLegend(keys, left, 4, right) + 4
	var descriptions []string
	for _, q := range s.Roadmap {
		d.Add(drawing.FitLabel(drawing.Label{
			X: left - 8, Y: y + 13, Size: drawing.LabelSize, Text: q.Name, Anchor: drawing.End, Color: drawing.Ink,
		}, left-12))
		x := left
		for _, sev := range api.Severities[:4] {
			w := (right - left) * float64(q.BySeverity[sev]) / float64(most)
			if w > 0 {
				d.Add(drawing.Box{X: drawing.RoundTo2(x), Y: y, W: drawing.RoundTo2(w), H: high, Fill: drawing.ColorName(sev)})
			}
			x += w
		}
		d.Add(drawing.Label{
			X: drawing.RoundTo2(x + 8), Y: y + 13, Size: drawing.SmallLabelSize, Color: drawing.Ink,
			Text: fmt.Sprintf("%s, %s", prose.GroupThousands(q.Items), q.Effort),
		})
		descriptions = append(descriptions, fmt.Sprintf("%s: %s, %s", q.Name, prose.Count(q.Items, "action", "actions"), q.Effort))
		y += step
	}
	d.Height = y + 2
	d.Description = "Open actions by the quarter in which they are due. " + strings.Join(descriptions, ". ") + "."
	return block.Picture{Drawing: d}
}

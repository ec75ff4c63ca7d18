package content

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/internal/prose"
)

// radarAxes is the maximum number of axes in a radar chart. Readers couldn't tell more axes apart.
const radarAxes = 12

// Dimensions of the radar chart.
const (
	radarWidth   = 660
	radarHeight  = 410
	radarRadius  = 140.0
	radarCenterY = 190.0
)

// radarDomains returns the assessed domains that have the most controls, sorted by code. If fewer than three domains
// were assessed, it returns none.
func radarDomains(domains []api.DomainMaturity) []api.DomainMaturity {
	assessed := weakestDomains(domains, len(domains))
	slices.SortStableFunc(assessed, func(a, b api.DomainMaturity) int {
		return cmp.Or(b.Controls-a.Controls, scf.CompareNatural(a.DomainCode, b.DomainCode))
	})
	shown := assessed[:min(radarAxes, len(assessed))]
	if len(shown) < 3 {
		return nil
	}
	slices.SortFunc(shown, func(a, b api.DomainMaturity) int { return scf.CompareNatural(a.DomainCode, b.DomainCode) })
	return shown
}

// radarChart draws the maturity of domains. Each domain is an axis, from 0 in the center to 5 at the edge. It
// returns false if there are too few domains for a chart.
func radarChart(domains []api.DomainMaturity) (block.Picture, bool) {
	shown := radarDomains(domains)
	if shown == nil {
		return block.Picture{}, false
	}
	d := drawing.Drawing{Title: "Maturity by domain (radar chart)", Width: radarWidth, Height: radarHeight}
	angle := func(axis int) float64 { return 2*math.Pi*float64(axis)/float64(len(shown)) - math.Pi/2 }
	at := func(axis int, level float64) drawing.Point {
		r := radarRadius * math.Min(math.Max(level, 0), float64(maxLevel)) / float64(maxLevel)
		return drawing.Point{
			X: drawing.RoundTo2(radarWidth/2 + r*math.Cos(angle(axis))),
			Y: drawing.RoundTo2(radarCenterY + r*math.Sin(angle(axis))),
		}
	}
	corners := func(level func(axis int) float64) []drawing.Point {
		out := make([]drawing.Point, len(shown))
		for i := range shown {
			out[i] = at(i, level(i))
		}
		return out
	}
	for l := 1; l <= maxLevel; l++ {
		d.Add(drawing.Line{Points: corners(func(int) float64 { return float64(l) }), Color: drawing.Rule, Width: 1, Closed: true})
	}
	for i := range shown {
		d.Add(drawing.Line{Points: []drawing.Point{at(0, 0), at(i, float64(maxLevel))}, Color: drawing.Rule, Width: 1})
	}
	levels := corners(func(i int) float64 { return *shown[i].Mean })
	d.Add(
		drawing.Area{Points: levels, Fill: drawing.Level, Opacity: 0.25},
		drawing.Line{Points: levels, Color: drawing.Level, Width: 2.5, Closed: true},
	)
	targets := !slices.ContainsFunc(shown, func(m api.DomainMaturity) bool { return m.TargetMean == nil })
	if targets {
		d.Add(
			drawing.Line{
				Points: corners(func(i int) float64 { return *shown[i].TargetMean }),
				Color:  drawing.Ink,
				Width:  1.8,
				Dashed: true,
				Closed: true,
			},
		)
	}
	for _, p := range levels {
		d.Add(drawing.Dot{X: p.X, Y: p.Y, R: 4, Fill: drawing.Level})
	}
	for l := 0; l <= maxLevel; l++ {
		p := at(0, float64(l))
		d.Add(drawing.Label{X: p.X + 4, Y: p.Y + 4, Size: drawing.SmallLabelSize, Text: strconv.Itoa(l), Color: drawing.Soft})
	}
	var descriptions []string
	for i, m := range shown {
		l := drawing.Label{
			X:    drawing.RoundTo2(radarWidth/2 + (radarRadius+14)*math.Cos(angle(i))),
			Y:    drawing.RoundTo2(radarCenterY + (radarRadius+24)*math.Sin(angle(i)) + 5),
			Size: drawing.SmallLabelSize, Text: cmp.Or(m.DomainName, m.DomainCode), Anchor: drawing.Middle, Color: drawing.Ink,
		}
		switch c := math.Cos(angle(i)); {
		case c > 0.2:
			l.Anchor = drawing.Start
		case c < -0.2:
			l.Anchor = drawing.End
		}
		for _, line := range drawing.FitLines(l, 160) {
			d.Add(line)
		}
		s := fmt.Sprintf("%s %s: %s of 5", m.DomainCode, m.DomainName, prose.Decimal(*m.Mean))
		if m.TargetMean != nil {
			s += ", target " + prose.Decimal(*m.TargetMean)
		}
		descriptions = append(descriptions, s)
	}
	y, x := float64(radarHeight)-22, float64(radarWidth)/2
	d.Add(
		drawing.Line{Points: []drawing.Point{{X: x - 110, Y: y}, {X: x - 78, Y: y}}, Color: drawing.Level, Width: 2.5},
		drawing.Dot{X: x - 94, Y: y, R: 4, Fill: drawing.Level},
		drawing.Label{X: x - 70, Y: y + 4, Size: drawing.LabelSize, Text: "level, 0 to " + strconv.Itoa(maxLevel), Color: drawing.Ink},
	)
	if targets {
		d.Add(drawing.Line{Points: []drawing.Point{{X: x + 40, Y: y}, {X: x + 72, Y: y}}, Color: drawing.Ink, Width: 1.8, Dashed: true},
			drawing.Label{X: x + 80, Y: y + 4, Size: drawing.LabelSize, Text: "target", Color: drawing.Ink})
	}
	d.Description = fmt.Sprintf(
		"The %d assessed domains with the most controls, from level 0 in the center to 5 at the edge. The table lists all %d domains. ",
		len(shown),
		len(domains),
	) + strings.Join(
		descriptions,
		". ",
	)
	return block.Picture{Drawing: d}, true
}

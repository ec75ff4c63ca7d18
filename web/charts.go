package web

import (
	"fmt"
	"math"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// radar is a chart of maturity by domain. Each axis runs from 0 at the center to level 5. Points are polygon
// coordinates in an SVG of 400 by 400.
type radar struct {
	Rings        []string
	Mean, Target string
	Labels       []radarLabel
}

// radarLabel is the label of an axis and its position.
type radarLabel struct {
	X, Y         int
	Anchor, Code string
}

// domainRow is a domain with its maturity, for the table beside the chart.
type domainRow struct {
	Code, Name, Mean, Target string
	Percent                  int
}

const radarCenter, radarRadius = 200.0, 150.0

// radarPoint returns the coordinates of a level on an axis.
func radarPoint(axis, axes int, level float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * float64(axis) / float64(axes))
	return radarCenter + sin*radarRadius*level/5, radarCenter - cos*radarRadius*level/5
}

func radarPolygon(axes int, level func(axis int) float64) string {
	var points []string
	for i := range axes {
		x, y := radarPoint(i, axes, level(i))
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return strings.Join(points, " ")
}

// maturityByDomain returns the maturity of the assessed domains, as a table and, for three or more, a chart.
func (v *visit) maturityByDomain(assessmentID string) ([]domainRow, *radar, error) {
	version, err := kindForGate(api.GateMaturity).newest(v, assessmentID)
	if err != nil || version == nil {
		return nil, nil, err
	}
	summary, err := do(v, api.GetMaturitySummary, &api.MaturityInput{MaturityVersionID: version.ID})
	if err != nil {
		return nil, nil, err
	}
	var rows []domainRow
	var means, targets []float64
	for _, d := range summary.Domains {
		if d.Mean == nil {
			continue
		}
		row := domainRow{Code: d.DomainCode, Name: d.DomainName, Mean: prose.Decimal(*d.Mean), Percent: int(*d.Mean * 20)}
		target := 0.0
		if d.TargetMean != nil {
			target, row.Target = *d.TargetMean, prose.Decimal(*d.TargetMean)
		}
		rows, means, targets = append(rows, row), append(means, *d.Mean), append(targets, target)
	}
	axes := len(rows)
	if axes < 3 {
		return rows, nil, nil
	}
	chart := &radar{
		Mean:   radarPolygon(axes, func(i int) float64 { return means[i] }),
		Target: radarPolygon(axes, func(i int) float64 { return targets[i] }),
	}
	for level := 1.0; level <= 5; level++ {
		chart.Rings = append(chart.Rings, radarPolygon(axes, func(int) float64 { return level }))
	}
	for i := range rows {
		x, y := radarPoint(i, axes, 5.6)
		anchor := "middle"
		switch {
		case x > radarCenter+20:
			anchor = "start"
		case x < radarCenter-20:
			anchor = "end"
		}
		chart.Labels = append(chart.Labels, radarLabel{int(x), int(y) + 4, anchor, rows[i].Code})
	}
	return rows, chart, nil
}

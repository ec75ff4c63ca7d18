package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// trend is a chart of compliance and maturity over versions or assessments: lines in an SVG of 420 by 200, and the same
// values as rows. A line is "" if it has fewer than two points.
type trend struct {
	Points               []trendPoint
	Compliance, Maturity string
}

// trendPoint is a version or an assessment of a trend. Compliance and Maturity are nil if they aren't known.
type trendPoint struct {
	// Href is relative to the start page; "" for none.
	Name, Href, Label string
	// Version is set for a version.
	Version              *api.TrendPoint
	Compliance, Maturity *float64
	X                    int
}

// maxTrend is the maximum number of assessments in a trend, and maxTrendLabels the maximum number of labels below it.
const maxTrend, maxTrendLabels = 8, 8

// Y returns the vertical position at which a point's compliance is drawn.
func (p *trendPoint) Y() int { return 160 - int(*p.Compliance*1.4) }

// Percent returns the compliance as text, or "" if it isn't known.
func (p *trendPoint) Percent() string {
	if p.Compliance == nil {
		return ""
	}
	return prose.Decimal(*p.Compliance) + "%"
}

// Level returns the mean maturity level as text, or "" if it isn't known.
func (p *trendPoint) Level() string {
	if p.Maturity == nil {
		return ""
	}
	return prose.Decimal(*p.Maturity)
}

// newTrend returns a chart of at least two points.
func newTrend(points []trendPoint) *trend {
	var compliance, maturity []string
	every := (len(points) + maxTrendLabels - 1) / maxTrendLabels
	for i := range points {
		p := &points[i]
		p.X = 40 + 345*i/(len(points)-1)
		if (len(points)-1-i)%every != 0 {
			p.Label = ""
		}
		if p.Compliance != nil {
			compliance = append(compliance, fmt.Sprintf("%d,%d", p.X, p.Y()))
		}
		if p.Maturity != nil {
			maturity = append(maturity, fmt.Sprintf("%d,%d", p.X, 160-int(*p.Maturity*28)))
		}
	}
	out := &trend{Points: points}
	if len(compliance) > 1 {
		out.Compliance = strings.Join(compliance, " ")
	}
	if len(maturity) > 1 {
		out.Maturity = strings.Join(maturity, " ")
	}
	return out
}

// versionTrend compares the versions of an assessment's Statement of Applicability. It returns the number of versions, and
// nil if there are fewer than two.
func (v *visit) versionTrend(assessmentID string) (*trend, int, error) {
	t, err := do(v, api.GetAssessmentTrend, &api.AssessmentInput{AssessmentID: assessmentID})
	if err != nil {
		return nil, 0, err
	}
	if len(t.Points) < 2 {
		return nil, len(t.Points), nil
	}
	var points []trendPoint
	for i := range t.Points {
		p := &t.Points[i]
		points = append(points, trendPoint{
			Name: fmt.Sprintf("Version %d", p.VersionNumber), Label: fmt.Sprint(p.VersionNumber), Version: p,
			Compliance: p.CompliancePct, Maturity: p.MaturityAvg,
		})
	}
	return newTrend(points), len(points), nil
}

// assessmentTrend compares an assessment with the assessments that it continues and with earlier assessments of the
// same client. It returns nil if there are none.
func (v *visit) assessmentTrend(a *api.Assessment) (*trend, error) {
	if a.CarriedFrom == nil && a.ClientName == "" {
		return nil, nil
	}
	list, err := all(v, api.ListAssessments, &api.AssessmentsInput{})
	if err != nil {
		return nil, err
	}
	var points []trendPoint
	continued := a.ID
	slices.SortFunc(list, func(x, y api.Assessment) int { return y.CreatedAt.Compare(x.CreatedAt) })
	for i := range list {
		x := &list[i]
		sameClient := a.ClientName != "" && strings.EqualFold(x.ClientName, a.ClientName) && x.CreatedAt.Before(a.CreatedAt)
		if x.ID != continued && !sameClient {
			continue
		}
		if x.ID == continued && x.CarriedFrom != nil {
			continued = x.CarriedFrom.AssessmentID
		}
		s, err := do(v, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: x.ID})
		if err != nil {
			return nil, err
		}
		if s.CompliancePct == nil {
			continue
		}
		p := trendPoint{Name: x.Name, Label: x.CreatedAt.UTC().Format("2006-01"), Compliance: s.CompliancePct, Maturity: s.MaturityAvg}
		if x.ID != a.ID {
			p.Href = "assessments/" + x.ID
		}
		if points = append(points, p); len(points) == maxTrend {
			break
		}
	}
	if len(points) < 2 {
		return nil, nil
	}
	slices.Reverse(points)
	return newTrend(points), nil
}

package assessment

import (
	"context"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Trend returns the totals of the newest versions of an assessment's Statement of Applicability, oldest first. They are
// computed from maintained counts, without reading items.
func (s *Service) Trend(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.AssessmentTrend, error) {
	out := &api.AssessmentTrend{AssessmentID: in.AssessmentID, Points: []api.TrendPoint{}}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		for v, err := range store.SoAVersions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
			if err != nil {
				return err
			}
			point, err := trendPoint(tx, &v)
			if err != nil {
				return err
			}
			if out.Points = append(out.Points, point); len(out.Points) == api.MaxTrendPoints {
				break
			}
		}
		slices.Reverse(out.Points)
		if err := addOpenGaps(tx, &a, out.Points); err != nil {
			return err
		}
		return addMaturity(tx, &a, out.Points)
	})
	return out, err
}

// trendPoint returns a version with the totals of its items.
func trendPoint(tx *store.Tx, v *api.SoAVersion) (api.TrendPoint, error) {
	var counts []store.SoAItemCount
	err := forEachAmount(store.SoAItems.Tally("facts"), tx, v.OrganizationID, func(parts []any, n int) {
		counts = append(counts, store.SoAItemCount{Applicable: parts[1].(bool), Status: api.Implementation(parts[2].(string)), N: n})
	}, v.ID)
	var totals api.AssessmentSummary
	fillSoACounts(&totals, counts)
	pct, _ := compliancePercent(counts)
	return api.TrendPoint{
		SoAVersionID: v.ID, VersionNumber: v.VersionNumber, Status: v.Status, CreatedAt: v.CreatedAt,
		Applicable: totals.Applicable, Implemented: totals.Implemented, CompliancePct: pct,
	}, err
}

// addOpenGaps adds to each point the number of open gaps in the newest gap analysis based on that version.
func addOpenGaps(tx *store.Tx, a *api.Assessment, points []api.TrendPoint) error {
	return forEachBasis(tx, a, store.GapVersions, func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion }, points,
		func(p *api.TrendPoint, version string) error {
			gaps := 0
			p.OpenGaps = &gaps
			return forEachAmount(store.Findings.Tally("facts"), tx, a.OrganizationID, func(_ []any, n int) { gaps += n }, version, true)
		})
}

// addMaturity adds to each point the mean level in the newest maturity assessment based on that version.
func addMaturity(tx *store.Tx, a *api.Assessment, points []api.TrendPoint) error {
	header := func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion }
	return forEachBasis(tx, a, store.MaturityVersions, header, points, func(p *api.TrendPoint, version string) error {
		facts := store.MaturityScores.Tally("facts")
		assessed, err := facts.Get(tx, a.OrganizationID, version, "assessed")
		if err != nil || assessed == 0 {
			return err
		}
		levels, err := facts.Get(tx, a.OrganizationID, version, "levels")
		p.MaturityAvg = roundedPtr(float64(levels)/float64(assessed), 2)
		return err
	})
}

// forEachBasis calls add for each point that a version of another deliverable is based on, with the ID of the newest
// such version.
func forEachBasis[V any](
	tx *store.Tx, a *api.Assessment, versions *store.TenantTable[V], header func(*V) *api.DeliverableVersion, points []api.TrendPoint,
	add func(p *api.TrendPoint, version string) error,
) error {
	added, scanned := map[string]bool{}, 0
	for v, err := range versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return err
		}
		basis := header(&v).Inputs["soa_version_id"]
		at := slices.IndexFunc(points, func(p api.TrendPoint) bool { return p.SoAVersionID == basis })
		if at >= 0 && !added[basis] {
			added[basis] = true
			if err := add(&points[at], header(&v).ID); err != nil {
				return err
			}
		}
		if scanned++; len(added) == len(points) || scanned == 2*api.MaxTrendPoints {
			break
		}
	}
	return nil
}

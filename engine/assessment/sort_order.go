package assessment

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Sort orders of lists. Items without an owner or a date come last.
var (
	assessmentOrder = []store.SortBy[api.Assessment]{
		{Name: "name", Value: func(a *api.Assessment) any { return store.NaturalSortKey(a.Name) }},
		{Name: "state", Value: func(a *api.Assessment) any { return slices.Index(api.States(), a.State) }},
		{Name: "due_date", Value: func(a *api.Assessment) any { return dateSortKey(a.DueDate) }},
		{Name: "created_at", Value: func(a *api.Assessment) any { return a.CreatedAt }},
		{Name: "updated_at", Value: func(a *api.Assessment) any { return a.UpdatedAt }},
	}
	approvalOrder = []store.SortBy[api.Approval]{
		{Name: "requested_at", Value: func(p *api.Approval) any { return p.RequestedAt }},
		{Name: "status", Value: func(p *api.Approval) any { return slices.Index(p.Status.Values(), p.Status) }},
		{Name: "gate", Value: func(p *api.Approval) any { return slices.Index(api.Gates, p.Gate) }},
	}
	soaOrder = append(
		commonSortOrders(func(i *api.SoAItem) *api.Item { return &i.Item }),
		store.SortBy[api.SoAItem]{
			Name:  "applicability",
			Value: func(i *api.SoAItem) any { return slices.Index(i.Applicability.Values(), i.Applicability) },
		},
		store.SortBy[api.SoAItem]{Name: "implementation_status", Value: func(i *api.SoAItem) any {
			return slices.Index(i.ImplementationStatus.Values(), i.ImplementationStatus)
		}},
		store.SortBy[api.SoAItem]{
			Name:  "evidence_coverage",
			Value: func(i *api.SoAItem) any { return slices.Index(i.EvidenceCoverage.Values(), i.EvidenceCoverage) },
		},
		store.SortBy[api.SoAItem]{Name: "owner", Value: func(i *api.SoAItem) any { return ownerSortKey(i.Owner) }},
		store.SortBy[api.SoAItem]{Name: "confidence", Value: func(i *api.SoAItem) any { return toThousandths(i.Confidence) }},
		store.SortBy[api.SoAItem]{Name: "disagreement", Value: disagreementRank},
	)
	findingOrder = append(commonSortOrders(func(f *api.Finding) *api.Item { return &f.Item }),
		store.SortBy[api.Finding]{Name: "severity", Value: func(f *api.Finding) any { return -f.Severity.Rank() }},
		store.SortBy[api.Finding]{Name: "evidenced", Value: func(f *api.Finding) any { return f.EvidencedRank() }},
		store.SortBy[api.Finding]{Name: "severity_points", Value: func(f *api.Finding) any { return toThousandths(f.SeverityPoints) }},
		store.SortBy[api.Finding]{Name: "weight", Value: func(f *api.Finding) any { return f.Weight }},
		store.SortBy[api.Finding]{Name: "status", Value: func(f *api.Finding) any { return slices.Index(f.Status.Values(), f.Status) }},
		store.SortBy[api.Finding]{Name: "result", Value: func(f *api.Finding) any { return slices.Index(f.Result.Values(), f.Result) }},
		store.SortBy[api.Finding]{Name: "owner", Value: func(f *api.Finding) any { return ownerSortKey(f.Owner) }},
		store.SortBy[api.Finding]{Name: "due_date", Value: func(f *api.Finding) any { return dateSortKey(f.DueDate) }})
	maturityOrder = append(commonSortOrders(func(s *api.MaturityScore) *api.Item { return &s.Item }),
		store.SortBy[api.MaturityScore]{Name: "level", Value: func(s *api.MaturityScore) any { return s.Level }},
		store.SortBy[api.MaturityScore]{Name: "target_level", Value: func(s *api.MaturityScore) any { return s.TargetLevel }},
		store.SortBy[api.MaturityScore]{Name: "weight", Value: func(s *api.MaturityScore) any { return s.Weight }},
		store.SortBy[api.MaturityScore]{Name: "confidence", Value: func(s *api.MaturityScore) any { return toThousandths(s.Confidence) }})
	poamOrder = append(commonSortOrders(func(i *api.POAMItem) *api.Item { return &i.Item }),
		store.SortBy[api.POAMItem]{Name: "priority", Value: func(i *api.POAMItem) any { return i.Priority }},
		store.SortBy[api.POAMItem]{Name: "severity", Value: func(i *api.POAMItem) any { return -i.Severity.Rank() }},
		store.SortBy[api.POAMItem]{Name: "due_date", Value: func(i *api.POAMItem) any { return i.DueDate }},
		store.SortBy[api.POAMItem]{Name: "status", Value: func(i *api.POAMItem) any { return i.Status }},
		store.SortBy[api.POAMItem]{Name: "owner", Value: func(i *api.POAMItem) any { return ownerSortKey(i.Owner) }},
		store.SortBy[api.POAMItem]{Name: "poam_code", Value: func(i *api.POAMItem) any { return store.NaturalSortKey(i.POAMCode) }})
)

// commonSortOrders returns the sort orders that the items of all deliverables have in common.
func commonSortOrders[I any](item func(*I) *api.Item) []store.SortBy[I] {
	return []store.SortBy[I]{
		{Name: "control_code", Value: func(i *I) any { return store.NaturalSortKey(item(i).ControlCode) }},
		{Name: "domain_code", Value: func(i *I) any { return item(i).DomainCode }},
		{Name: "updated_at", Value: func(i *I) any { return item(i).UpdatedAt }},
	}
}

// disagreementRank returns a rank that sorts items first if the second reader gives them a different status. Items
// whose requirements it judges differently come next.
func disagreementRank(i *api.SoAItem) any {
	switch {
	case i.SecondReading == nil:
		return 2
	case i.SecondReading.ImplementationStatus == i.ImplementationStatus:
		return 1
	}
	return 0
}

func toThousandths(share float64) int { return int(share*1000 + 0.5) }

// sortLast is a string that sorts after any actual text.
const sortLast = "\U0010FFFF"

func dateSortKey(d *api.Date) string {
	if d == nil {
		return sortLast
	}
	return string(*d)
}

func ownerSortKey(owner *string) string {
	if owner == nil || *owner == "" {
		return sortLast
	}
	return store.NaturalSortKey(*owner)
}

package assessment

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// What lists can be sorted by. What has no owner or no date comes last.
var (
	assessmentOrder = []store.SortBy[api.Assessment]{
		{Name: "name", Of: func(a *api.Assessment) any { return store.Natural(a.Name) }},
		{Name: "state", Of: func(a *api.Assessment) any { return slices.Index(api.States(), a.State) }},
		{Name: "due_date", Of: func(a *api.Assessment) any { return dateOrLast(a.DueDate) }},
		{Name: "created_at", Of: func(a *api.Assessment) any { return a.CreatedAt }},
		{Name: "updated_at", Of: func(a *api.Assessment) any { return a.UpdatedAt }},
	}
	approvalOrder = []store.SortBy[api.Approval]{
		{Name: "requested_at", Of: func(p *api.Approval) any { return p.RequestedAt }},
		{Name: "status", Of: func(p *api.Approval) any { return slices.Index(p.Status.Values(), p.Status) }},
		{Name: "gate", Of: func(p *api.Approval) any { return slices.Index(api.Gates, p.Gate) }},
	}
	soaOrder = append(itemOrder(func(i *api.SoAItem) *api.Item { return &i.Item }),
		store.SortBy[api.SoAItem]{Name: "applicability", Of: func(i *api.SoAItem) any { return slices.Index(i.Applicability.Values(), i.Applicability) }},
		store.SortBy[api.SoAItem]{Name: "implementation_status", Of: func(i *api.SoAItem) any {
			return slices.Index(i.ImplementationStatus.Values(), i.ImplementationStatus)
		}},
		store.SortBy[api.SoAItem]{Name: "evidence_coverage", Of: func(i *api.SoAItem) any { return slices.Index(i.EvidenceCoverage.Values(), i.EvidenceCoverage) }},
		store.SortBy[api.SoAItem]{Name: "owner", Of: func(i *api.SoAItem) any { return ownerOrLast(i.Owner) }},
		store.SortBy[api.SoAItem]{Name: "confidence", Of: func(i *api.SoAItem) any { return thousandths(i.Confidence) }})
	findingOrder = append(itemOrder(func(f *api.Finding) *api.Item { return &f.Item }),
		store.SortBy[api.Finding]{Name: "severity", Of: func(f *api.Finding) any { return rank(f.Severity) }},
		store.SortBy[api.Finding]{Name: "known", Of: func(f *api.Finding) any { return f.Known() }},
		store.SortBy[api.Finding]{Name: "severity_points", Of: func(f *api.Finding) any { return thousandths(f.SeverityPoints) }},
		store.SortBy[api.Finding]{Name: "weight", Of: func(f *api.Finding) any { return f.Weight }},
		store.SortBy[api.Finding]{Name: "status", Of: func(f *api.Finding) any { return slices.Index(f.Status.Values(), f.Status) }},
		store.SortBy[api.Finding]{Name: "result", Of: func(f *api.Finding) any { return slices.Index(f.Result.Values(), f.Result) }},
		store.SortBy[api.Finding]{Name: "owner", Of: func(f *api.Finding) any { return ownerOrLast(f.Owner) }},
		store.SortBy[api.Finding]{Name: "due_date", Of: func(f *api.Finding) any { return dateOrLast(f.DueDate) }})
	maturityOrder = append(itemOrder(func(s *api.MaturityScore) *api.Item { return &s.Item }),
		store.SortBy[api.MaturityScore]{Name: "level", Of: func(s *api.MaturityScore) any { return s.Level }},
		store.SortBy[api.MaturityScore]{Name: "target_level", Of: func(s *api.MaturityScore) any { return s.TargetLevel }},
		store.SortBy[api.MaturityScore]{Name: "weight", Of: func(s *api.MaturityScore) any { return s.Weight }},
		store.SortBy[api.MaturityScore]{Name: "confidence", Of: func(s *api.MaturityScore) any { return thousandths(s.Confidence) }})
	poamOrder = append(itemOrder(func(i *api.POAMItem) *api.Item { return &i.Item }),
		store.SortBy[api.POAMItem]{Name: "priority", Of: func(i *api.POAMItem) any { return i.Priority }},
		store.SortBy[api.POAMItem]{Name: "severity", Of: func(i *api.POAMItem) any { return rank(i.Severity) }},
		store.SortBy[api.POAMItem]{Name: "due_date", Of: func(i *api.POAMItem) any { return i.DueDate }},
		store.SortBy[api.POAMItem]{Name: "status", Of: func(i *api.POAMItem) any { return i.Status }},
		store.SortBy[api.POAMItem]{Name: "owner", Of: func(i *api.POAMItem) any { return ownerOrLast(i.Owner) }},
		store.SortBy[api.POAMItem]{Name: "poam_code", Of: func(i *api.POAMItem) any { return store.Natural(i.POAMCode) }})
)

// itemOrder is what the items of every deliverable can be sorted by.
func itemOrder[I any](item func(*I) *api.Item) []store.SortBy[I] {
	return []store.SortBy[I]{
		{Name: "control_code", Of: func(i *I) any { return store.Natural(item(i).ControlCode) }},
		{Name: "domain_code", Of: func(i *I) any { return item(i).DomainCode }},
		{Name: "updated_at", Of: func(i *I) any { return item(i).UpdatedAt }},
	}
}

// rank is higher for what is worse.
func rank(s api.Severity) int { return -slices.Index(api.Severities, s) }

func thousandths(share float64) int { return int(share*1000 + 0.5) }

// last sorts behind every text that people write.
const last = "\U0010FFFF"

func dateOrLast(d *api.Date) string {
	if d == nil {
		return last
	}
	return string(*d)
}

func ownerOrLast(owner *string) string {
	if owner == nil || *owner == "" {
		return last
	}
	return store.Natural(*owner)
}

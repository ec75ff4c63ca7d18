package content

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/wording"
)

// coverageStatus is a status of a requirement or control, as counted in reports.
type coverageStatus string

// Coverage statuses, best first. "Excluded" means not applicable or out of scope. "Unmapped" means that no control
// in the Statement of Applicability maps to the requirement.
const (
	statusImplemented  coverageStatus = "implemented"
	statusPartly       coverageStatus = "partly"
	statusPlanned      coverageStatus = "planned"
	statusMissing      coverageStatus = "missing"
	statusNotEvidenced coverageStatus = "not-evidenced"
	statusNotAssessed  coverageStatus = "not-assessed"
	statusExcluded     coverageStatus = "excluded"
	statusUnmapped     coverageStatus = "unmapped"
)

var coverageStatuses = []coverageStatus{
	statusImplemented,
	statusPartly,
	statusPlanned,
	statusMissing,
	statusNotEvidenced,
	statusNotAssessed,
	statusExcluded,
	statusUnmapped,
}

func (o coverageStatus) displayName() string {
	switch o {
	case statusImplemented:
		return "Implemented"
	case statusPartly:
		return "Partially"
	case statusPlanned:
		return "Planned"
	case statusMissing:
		return "Not implemented"
	case statusNotEvidenced:
		return "Not evidenced"
	case statusNotAssessed:
		return "Not assessed"
	case statusExcluded:
		return "Excluded"
	}
	return "No control"
}

// controlStatus returns the status of one control.
func controlStatus(it *api.SoAItem) coverageStatus {
	switch {
	case it.Applicability == api.NotApplicable || it.Applicability == api.OutOfScope:
		return statusExcluded
	case !it.Applicability.IsApplicable():
		return statusNotAssessed
	}
	switch it.ImplementationStatus {
	case api.Implemented:
		return statusImplemented
	case api.PartiallyImplemented:
		return statusPartly
	case api.Planned:
		return statusPlanned
	case api.NotImplemented:
		return statusMissing
	case api.NotEvidenced:
		return statusNotEvidenced
	}
	return statusNotAssessed
}

// frameworkCoverage holds the requirements of a framework and the status of each.
type frameworkCoverage struct {
	framework    api.Framework
	requirements []requirementCoverage
	counts       map[coverageStatus]int
}

type requirementCoverage struct {
	code, title string
	items       []*api.SoAItem
	status      coverageStatus
}

// coverageRule states how requirements are counted. It is printed in the report's section on what the report is
// based on, so that readers can verify the counts.
const coverageRule = "A requirement is implemented if all applicable controls mapped to it are implemented, and partially " +
	"implemented if at least one of them is implemented or partially implemented. Otherwise, its status is the first of planned, " +
	"not implemented and not evidenced that any of these controls has. A requirement is excluded if all of its controls are " +
	"excluded. It has no control if the Statement of Applicability maps no control to it."

// requirementStatus returns the status of a requirement, determined from the statuses of its controls according to
// coverageRule.
func requirementStatus(items []*api.SoAItem) coverageStatus {
	n := map[coverageStatus]int{}
	for _, it := range items {
		n[controlStatus(it)]++
	}
	in := len(items) - n[statusExcluded]
	switch {
	case len(items) == 0:
		return statusUnmapped
	case in == 0:
		return statusExcluded
	case n[statusImplemented] == in:
		return statusImplemented
	case n[statusImplemented]+n[statusPartly] > 0:
		return statusPartly
	case n[statusPlanned] > 0:
		return statusPlanned
	case n[statusMissing] > 0:
		return statusMissing
	case n[statusNotEvidenced] > 0:
		return statusNotEvidenced
	}
	return statusNotAssessed
}

// computeCoverage returns the requirements of each framework with their statuses. Requirements that occur only in
// items come after those in the catalog. Withdrawn requirements that no item maps to are omitted.
func computeCoverage(s *Source) []frameworkCoverage {
	out := make([]frameworkCoverage, len(s.Frameworks))
	for i, f := range s.Frameworks {
		byCode := map[string][]*api.SoAItem{}
		for j := range s.SoAItems {
			for _, code := range s.SoAItems[j].RequirementCodes[f.Code] {
				byCode[code] = append(byCode[code], &s.SoAItems[j])
			}
		}
		fc := frameworkCoverage{framework: f, counts: map[coverageStatus]int{}}
		reqs := slices.Clone(s.Requirements[f.Code])
		slices.SortStableFunc(reqs, func(a, b api.Requirement) int {
			return cmp.Or(a.SortOrder-b.SortOrder, scf.CompareNatural(a.Code, b.Code))
		})
		seen := map[string]bool{}
		add := func(code, title string) {
			if seen[code] {
				return
			}
			seen[code] = true
			r := requirementCoverage{code: code, title: requirementTitle(f.Code, code, title), items: byCode[code]}
			if r.status = requirementStatus(r.items); s.SoA == nil {
				r.status = statusNotAssessed
			}
			fc.counts[r.status]++
			fc.requirements = append(fc.requirements, r)
		}
		for _, r := range reqs {
			if title := wording.OrEmpty(r.Title); len(byCode[r.Code]) > 0 || !scf.IsWithdrawnTitle(title) {
				add(r.Code, title)
			}
		}
		rest := slices.Sorted(maps.Keys(byCode))
		slices.SortFunc(rest, scf.CompareNatural)
		for _, code := range rest {
			add(code, "")
		}
		out[i] = fc
	}
	return out
}

// firstControlChapter is the first chapter of ISO 27002 that contains controls. The chapters before it are
// introductory.
const firstControlChapter = 5

// annexAControls returns the controls of ISO 27001's Annex A in order, as clause 6.1.3 d requires. If the
// framework in the catalog contains only the clauses, the controls are taken from ISO 27002, which lists them
// without the prefix "A.". ok is false if ISO 27001 is not among the frameworks.
func annexAControls(all []frameworkCoverage) (rows []requirementCoverage, ok bool) {
	var iso, guide *frameworkCoverage
	for i := range all {
		switch code := all[i].framework.Code; {
		case strings.HasPrefix(code, "iso-27001") && iso == nil:
			iso = &all[i]
		case strings.HasPrefix(code, "iso-27002") && guide == nil:
			guide = &all[i]
		}
	}
	if iso == nil {
		return nil, false
	}
	for _, r := range iso.requirements {
		if strings.HasPrefix(r.code, "A.") || strings.HasPrefix(r.code, "A ") {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 && guide != nil {
		for _, r := range guide.requirements {
			chapter, _, _ := strings.Cut(r.code, ".")
			if n, err := strconv.Atoi(chapter); err != nil || n < firstControlChapter {
				continue
			}
			r.code = "A." + r.code
			rows = append(rows, r)
		}
	}
	return rows, true
}

// countApplicable returns the number of items that apply.
func countApplicable(items []api.SoAItem) (n int) {
	for i := range items {
		if items[i].Applicability.IsApplicable() {
			n++
		}
	}
	return n
}

// countControlStatuses returns how many items have each status, in total and for each domain.
func countControlStatuses(items []api.SoAItem) (all map[coverageStatus]int, domains map[string]map[coverageStatus]int) {
	all, domains = map[coverageStatus]int{}, map[string]map[coverageStatus]int{}
	for i := range items {
		o := controlStatus(&items[i])
		all[o]++
		d := domains[items[i].DomainCode]
		if d == nil {
			d = map[coverageStatus]int{}
			domains[items[i].DomainCode] = d
		}
		d[o]++
	}
	return all, domains
}

package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// coverageStatus is where a requirement or a control of the TemplateSoA stands, for counting.
type coverageStatus string

// The outcomes, best first. Excluded is not applicable or out of scope. Unmapped is a
// requirement that no control of the TemplateSoA reaches.
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
		return "Partly"
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

// controlStatus is where one control stands.
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

// frameworkCoverage is a framework's requirements with what their controls came to.
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

// coverageRule is said in the basis, so that a reader can check a count.
const coverageRule = "A requirement is implemented where every applicable control mapped to it is; " +
	"partly where at least one is implemented or partly implemented; " +
	"otherwise planned, not implemented or not evidenced, the first of these that any of its controls is. " +
	"It is excluded where all its controls are, and without a control where the Statement of Applicability has none for it."

// requirementStatus joins the outcomes of a requirement's controls by coverageRule.
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

// computeCoverage counts the source's frameworks. Codes that only the items know are taken
// too, after those of the catalog.
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
			r := requirementCoverage{code: code, title: title, items: byCode[code]}
			if r.status = requirementStatus(r.items); s.SoA == nil {
				r.status = statusNotAssessed
			}
			fc.counts[r.status]++
			fc.requirements = append(fc.requirements, r)
		}
		for _, r := range reqs {
			add(r.Code, stringOrEmpty(r.Title))
		}
		rest := sortedKeys(byCode)
		slices.SortFunc(rest, scf.CompareNatural)
		for _, code := range rest {
			add(code, "")
		}
		out[i] = fc
	}
	return out
}

// firstControlChapter is the chapter of ISO 27002 that controls begin with; before it stand terms.
const firstControlChapter = 5

// annexAControls is the list that ISO 27001 6.1.3 d asks for: every control of Annex A in order.
// Where the framework itself holds only the clauses, ISO 27002 has them without the "A.".
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

// countStatuses counts outcomes of items, overall and by domain.
func countStatuses(items []api.SoAItem) (all map[coverageStatus]int, domains map[string]map[coverageStatus]int) {
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

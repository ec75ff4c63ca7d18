package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// outcome is where a requirement or a control of the SoA stands, for counting.
type outcome string

// The outcomes, best first. Excluded is not applicable or out of scope. Unmapped is a
// requirement that no control of the SoA reaches.
const (
	outImplemented outcome = "implemented"
	outPartly      outcome = "partly"
	outPlanned     outcome = "planned"
	outMissing     outcome = "missing"
	outNotEvid     outcome = "not-evidenced"
	outNotAssessed outcome = "not-assessed"
	outExcluded    outcome = "excluded"
	outUnmapped    outcome = "unmapped"
)

var outcomes = []outcome{outImplemented, outPartly, outPlanned, outMissing, outNotEvid, outNotAssessed, outExcluded, outUnmapped}

func (o outcome) words() string {
	switch o {
	case outImplemented:
		return "Implemented"
	case outPartly:
		return "Partly"
	case outPlanned:
		return "Planned"
	case outMissing:
		return "Not implemented"
	case outNotEvid:
		return "Not evidenced"
	case outNotAssessed:
		return "Not assessed"
	case outExcluded:
		return "Excluded"
	}
	return "No control"
}

// outcomeOf is where one control stands.
func outcomeOf(it *api.SoAItem) outcome {
	switch {
	case it.Applicability == api.NotApplicable || it.Applicability == api.OutOfScope:
		return outExcluded
	case !it.Applicability.In():
		return outNotAssessed
	}
	switch it.ImplementationStatus {
	case api.Implemented:
		return outImplemented
	case api.PartiallyImplemented:
		return outPartly
	case api.Planned:
		return outPlanned
	case api.NotImplemented:
		return outMissing
	case api.NotEvidenced:
		return outNotEvid
	}
	return outNotAssessed
}

// frameworkCoverage is a framework's requirements with what their controls came to.
type frameworkCoverage struct {
	framework    api.Framework
	requirements []requirementCoverage
	counts       map[outcome]int
}

type requirementCoverage struct {
	code, title string
	items       []*api.SoAItem
	outcome     outcome
}

// coverageRule is said in the basis, so that a reader can check a count.
const coverageRule = "A requirement is implemented where every applicable control mapped to it is; " +
	"partly where at least one is implemented or partly implemented; " +
	"otherwise planned, not implemented or not evidenced, the first of these that any of its controls is. " +
	"It is excluded where all its controls are, and without a control where the Statement of Applicability has none for it."

// requirementOutcome joins the outcomes of a requirement's controls by coverageRule.
func requirementOutcome(items []*api.SoAItem) outcome {
	n := map[outcome]int{}
	for _, it := range items {
		n[outcomeOf(it)]++
	}
	in := len(items) - n[outExcluded]
	switch {
	case len(items) == 0:
		return outUnmapped
	case in == 0:
		return outExcluded
	case n[outImplemented] == in:
		return outImplemented
	case n[outImplemented]+n[outPartly] > 0:
		return outPartly
	case n[outPlanned] > 0:
		return outPlanned
	case n[outMissing] > 0:
		return outMissing
	case n[outNotEvid] > 0:
		return outNotEvid
	}
	return outNotAssessed
}

// coverageOf counts the source's frameworks. Codes that only the items know are taken
// too, after those of the catalog.
func coverageOf(s *Source) []frameworkCoverage {
	out := make([]frameworkCoverage, len(s.Frameworks))
	for i, f := range s.Frameworks {
		byCode := map[string][]*api.SoAItem{}
		for j := range s.SoAItems {
			for _, code := range s.SoAItems[j].RequirementCodes[f.Code] {
				byCode[code] = append(byCode[code], &s.SoAItems[j])
			}
		}
		fc := frameworkCoverage{framework: f, counts: map[outcome]int{}}
		reqs := slices.Clone(s.Requirements[f.Code])
		slices.SortStableFunc(reqs, func(a, b api.Requirement) int {
			return cmp.Or(a.SortOrder-b.SortOrder, scf.Natural(a.Code, b.Code))
		})
		seen := map[string]bool{}
		add := func(code, title string) {
			if seen[code] {
				return
			}
			seen[code] = true
			r := requirementCoverage{code: code, title: title, items: byCode[code]}
			if r.outcome = requirementOutcome(r.items); s.SoA == nil {
				r.outcome = outNotAssessed
			}
			fc.counts[r.outcome]++
			fc.requirements = append(fc.requirements, r)
		}
		for _, r := range reqs {
			add(r.Code, text(r.Title))
		}
		rest := sortedKeys(byCode)
		slices.SortFunc(rest, scf.Natural)
		for _, code := range rest {
			add(code, "")
		}
		out[i] = fc
	}
	return out
}

// firstControls is the chapter of ISO 27002 that controls begin with; before it stand terms.
const firstControls = 5

// annexA is the list that ISO 27001 6.1.3 d asks for: every control of Annex A in order.
// Where the framework itself holds only the clauses, ISO 27002 has them without the "A.".
func annexA(all []frameworkCoverage) (rows []requirementCoverage, ok bool) {
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
			if n, err := strconv.Atoi(chapter); err != nil || n < firstControls {
				continue
			}
			r.code = "A." + r.code
			rows = append(rows, r)
		}
	}
	return rows, true
}

// tally counts outcomes of items, overall and by domain.
func tally(items []api.SoAItem) (all map[outcome]int, domains map[string]map[outcome]int) {
	all, domains = map[outcome]int{}, map[string]map[outcome]int{}
	for i := range items {
		o := outcomeOf(&items[i])
		all[o]++
		d := domains[items[i].DomainCode]
		if d == nil {
			d = map[outcome]int{}
			domains[items[i].DomainCode] = d
		}
		d[o]++
	}
	return all, domains
}

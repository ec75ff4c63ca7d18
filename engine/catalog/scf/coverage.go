package scf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// Coverage returns how many of a framework's requirements are mapped to a control. In a catalog imported from a
// workbook, all of them are, because a workbook lists a requirement only if a control maps to it. Withdrawn
// requirements without a control don't count.
func (s *Snapshot) Coverage(framework string) (api.Coverage, error) {
	f, err := s.findFramework(framework)
	if err != nil {
		return api.Coverage{}, err
	}
	out := api.Coverage{
		VersionID: s.version.ID, FrameworkID: s.frameworkIDs[f], FrameworkCode: s.src.Frameworks[f].Code,
		RequirementCount: len(s.src.Frameworks[f].Requirements), ByDomain: []api.DomainCoverage{},
	}
	byDomain := make([]api.DomainCoverage, len(s.src.Domains))
	controls := make([]bool, len(s.src.Controls))
	lastSeen := make([]int32, len(s.src.Domains)) // last requirement counted for the domain, plus one
	for n := s.firstRequirement[f]; n < s.firstRequirement[f+1]; n++ {
		mapped := s.requirementMappingIndexes(n)
		switch r := n - s.firstRequirement[f]; {
		case len(mapped) > 0:
			out.MappedRequirementCount++
		case IsWithdrawnTitle(s.src.Frameworks[f].Requirements[r].Title):
			out.RequirementCount--
		}
		for _, m := range mapped {
			c := s.src.Mappings[m].Control
			d := s.domains[s.src.Controls[c].DomainCode()]
			byDomain[d].MappingCount++
			if lastSeen[d] != n+1 {
				lastSeen[d] = n + 1
				byDomain[d].RequirementCount++
			}
			if !controls[c] {
				controls[c] = true
				byDomain[d].ControlCount++
				out.ControlCount++
			}
			out.MappingCount++
		}
	}
	if out.RequirementCount > 0 {
		out.CoveragePct = math.Round(1e4*float64(out.MappedRequirementCount)/float64(out.RequirementCount)) / 100
	}
	for d := range byDomain {
		if byDomain[d].ControlCount > 0 {
			byDomain[d].DomainCode, byDomain[d].DomainName = s.src.Domains[d].Code, s.src.Domains[d].Name
			out.ByDomain = append(out.ByDomain, byDomain[d])
		}
	}
	return out, nil
}

// CoverageAddition returns the requirements that a framework adds to frameworks that are already met. Frameworks
// included in the met ones are also treated as met.
func (s *Snapshot) CoverageAddition(framework string, metFrameworks []string) (*api.CoverageAddition, error) {
	out := &api.CoverageAddition{Have: []string{}, NewControls: []api.FrameworkControl{}}
	required := make([]bool, len(s.src.Controls))
	for _, ref := range metFrameworks {
		all, err := s.FrameworkWithIncluded(ref)
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			if slices.Contains(out.Have, f.Code) {
				continue
			}
			out.Have = append(out.Have, f.Code)
			for c, requirements := range s.requirementsByControl(s.frameworks[f.Code]) {
				required[c] = required[c] || len(requirements) > 0
			}
		}
	}
	f, err := s.findFramework(framework)
	if err != nil {
		return nil, err
	}
	for n := s.firstRequirement[f]; n < s.firstRequirement[f+1]; n++ {
		known, controls := 0, 0
		for _, m := range s.requirementMappingIndexes(n) {
			controls++
			if required[s.src.Mappings[m].Control] {
				known++
			}
		}
		switch {
		case controls == 0:
		case known == controls:
			out.RequirementsCovered++
		case known > 0:
			out.RequirementsPartly++
		default:
			out.RequirementsNew++
		}
	}
	for c, requirements := range s.requirementsByControl(f) {
		switch control := &s.src.Controls[c]; {
		case len(requirements) == 0:
		case required[c]:
			out.SharedControls++
		default:
			out.NewControls = append(out.NewControls, api.FrameworkControl{ControlCode: control.Code, ControlTitle: control.Title})
		}
	}
	return out, nil
}

// Crosswalk returns the controls that map to a framework, with the codes of the requirements they map to. If
// a target framework is given, it returns only the controls that map to both, with the requirements of both.
func (s *Snapshot) Crosswalk(framework, target string) (api.Crosswalk, error) {
	a, err := s.findFramework(framework)
	if err != nil {
		return api.Crosswalk{}, err
	}
	all := s.frameworkList()
	out := api.Crosswalk{VersionID: s.version.ID, Framework: all[a], Controls: []api.CrosswalkControl{}, Pairs: []api.CrosswalkPair{}}
	b := -1
	if strings.TrimSpace(target) != "" {
		if b, err = s.findFramework(target); err != nil {
			return api.Crosswalk{}, err
		}
		out.Target = &all[b]
	}
	codesA := s.requirementsByControl(a)
	var codesB [][]int32
	if b >= 0 {
		codesB = s.requirementsByControl(b)
	}
	for c := range s.src.Controls {
		if len(codesA[c]) == 0 || b >= 0 && len(codesB[c]) == 0 {
			continue
		}
		row := api.CrosswalkControl{
			ControlID: s.controlIDs[c], ControlCode: s.src.Controls[c].Code, ControlTitle: s.src.Controls[c].Title,
			DomainCode: s.src.Controls[c].DomainCode(), RequirementCodes: s.requirementCodes(a, codesA[c]), TargetRequirementCodes: []string{},
		}
		if b >= 0 {
			row.TargetRequirementCodes = s.requirementCodes(b, codesB[c])
		}
		out.Controls = append(out.Controls, row)
	}
	if b >= 0 {
		out.Pairs = s.requirementPairs(a, b, codesA, codesB)
	}
	return out, nil
}

// requirementsByControl returns, for each control, the sorted numbers of the framework's requirements that the
// control maps to.
func (s *Snapshot) requirementsByControl(framework int) [][]int32 {
	mappings := s.frameworkMappingIndexes(framework)
	size := make([]int32, len(s.src.Controls))
	for _, i := range mappings {
		size[s.src.Mappings[i].Control]++
	}
	out, all := make([][]int32, len(s.src.Controls)), make([]int32, 0, len(mappings)) // slices of one allocation
	for c, n := range size {
		out[c] = all[len(all) : len(all) : len(all)+int(n)]
		all = all[:len(all)+int(n)]
	}
	for _, i := range mappings {
		m := &s.src.Mappings[i]
		out[m.Control] = append(out[m.Control], int32(m.Requirement))
	}
	return out
}

func (s *Snapshot) requirementCodes(framework int, requirements []int32) []string {
	out := make([]string, len(requirements))
	for i, r := range requirements {
		out[i] = s.src.Frameworks[framework].Requirements[r].Code
	}
	return out
}

func (s *Snapshot) requirementPairs(a, b int, requirementsA, requirementsB [][]int32) []api.CrosswalkPair {
	type link struct{ a, b, control int32 }
	var links []link
	for c := range requirementsA {
		for _, ra := range requirementsA[c] {
			for _, rb := range requirementsB[c] {
				links = append(links, link{a: ra, b: rb, control: int32(c)})
			}
		}
	}
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(x.control, y.control))
	})
	out := []api.CrosswalkPair{}
	for i, l := range links {
		if i == 0 || links[i-1].a != l.a || links[i-1].b != l.b {
			out = append(out, api.CrosswalkPair{
				RequirementCode:       s.src.Frameworks[a].Requirements[l.a].Code,
				TargetRequirementCode: s.src.Frameworks[b].Requirements[l.b].Code,
			})
		}
		p := &out[len(out)-1]
		p.ControlCodes = append(p.ControlCodes, s.src.Controls[l.control].Code)
	}
	return out
}

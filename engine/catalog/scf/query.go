package scf

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// ControlFilter selects controls. A control must match all fields that are not empty.
type ControlFilter struct {
	Code      string   // exact code or id
	Domain    string   // domain code or id
	Framework string   // anything that Framework accepts
	Query     string   // every word must occur in the control's texts or code
	Tags      []string // every tag must be present, among tags, baselines, traits and SCRM tiers
}

// Controls returns the controls that match a filter, in the order of the source. If the filter has an unknown
// domain or framework, Controls returns an error; if it has an unknown code, the result is empty.
func (s *Snapshot) Controls(f ControlFilter) ([]api.Control, error) {
	found, err := s.ControlIndexes(f)
	if err != nil {
		return nil, err
	}
	out := make([]api.Control, len(found))
	for i, c := range found {
		out[i] = s.controlList()[c]
	}
	return out, nil
}

// ControlAt returns the control at an index returned by ControlIndexes or RankControls.
func (s *Snapshot) ControlAt(index int32) api.Control { return s.controlList()[index] }

// ControlIndexes is like Controls, but returns the indexes of the controls.
func (s *Snapshot) ControlIndexes(f ControlFilter) ([]int32, error) {
	keep, err := s.controlsMatching(f)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, k := range keep {
		n += boolToInt(k)
	}
	out := make([]int32, 0, n)
	for i, k := range keep {
		if k {
			out = append(out, int32(i))
		}
	}
	return out, nil
}

// controlsMatching returns, for each control, whether it matches a filter.
func (s *Snapshot) controlsMatching(f ControlFilter) ([]bool, error) {
	keep := make([]bool, len(s.src.Controls))
	for i := range keep {
		keep[i] = true
	}
	narrow := func(in func(i int) bool) {
		for i := range keep {
			keep[i] = keep[i] && in(i)
		}
	}
	if f.Code != "" {
		want, err := s.findControl(f.Code)
		if err != nil {
			want = -1
		}
		narrow(func(i int) bool { return i == want })
	}
	if f.Domain != "" {
		d, err := s.Domain(f.Domain)
		if err != nil {
			return nil, err
		}
		narrow(func(i int) bool { return s.src.Controls[i].DomainCode() == d.Code })
	}
	if f.Framework != "" {
		fw, err := s.findFramework(f.Framework)
		if err != nil {
			return nil, err
		}
		in := s.controlsMappedTo(fw)
		narrow(func(i int) bool { return in[i] })
	}
	if words := strings.TrimSpace(f.Query); words != "" {
		in := s.textIndex().controlsWithAllWords(words)
		narrow(func(i int) bool { return in[int32(i)] })
	}
	for _, tag := range f.Tags {
		narrow(func(i int) bool { return hasTag(&s.src.Controls[i], tag) })
	}
	return keep, nil
}

func hasTag(c *Control, tag string) bool {
	for _, tags := range [][]string{c.Tags, c.Baselines, c.Traits, c.SCRMTiers} {
		if slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			return true
		}
	}
	return false
}

// controlsMappedTo returns, for each control, whether it maps to a framework.
func (s *Snapshot) controlsMappedTo(framework int) []bool {
	in := make([]bool, len(s.src.Controls))
	for _, m := range s.frameworkMappingIndexes(framework) {
		in[s.src.Mappings[m].Control] = true
	}
	return in
}

// frameworkMappingIndexes returns the indexes of the mappings to a framework, ordered by requirement and then
// by control.
func (s *Snapshot) frameworkMappingIndexes(framework int) []int32 {
	return s.mappingsByRequirement[s.mappingStart[s.firstRequirement[framework]]:s.mappingStart[s.firstRequirement[framework+1]]]
}

// Domains lists all domains in the source's order.
func (s *Snapshot) Domains() []api.Domain { return slices.Clone(s.domainList()) }

// Frameworks lists all frameworks in the source's order.
func (s *Snapshot) Frameworks() []api.Framework { return slices.Clone(s.frameworkList()) }

// FrameworkWithIncluded returns a framework and the frameworks that are included when it is assessed. For example,
// ISO 27001 includes its Annex A controls if the catalog lists them as a separate framework.
func (s *Snapshot) FrameworkWithIncluded(ref string) ([]api.Framework, error) {
	i, err := s.findFramework(ref)
	if err != nil {
		return nil, err
	}
	all := s.frameworkList()
	out := []api.Framework{all[i]}
	for _, code := range s.src.Frameworks[i].Includes {
		if j, ok := s.frameworks[code]; ok && j != i {
			out = append(out, all[j])
		}
	}
	return out, nil
}

// Requirements returns the requirements of a framework, in order.
func (s *Snapshot) Requirements(framework string) ([]api.Requirement, error) {
	f, err := s.findFramework(framework)
	if err != nil {
		return nil, err
	}
	out := make([]api.Requirement, 0, s.firstRequirement[f+1]-s.firstRequirement[f])
	for n := s.firstRequirement[f]; n < s.firstRequirement[f+1]; n++ {
		out = append(out, s.requirementRecord(n))
	}
	return out, nil
}

// ControlMappings returns the mappings of a control, ordered by framework and requirement.
func (s *Snapshot) ControlMappings(ref string) ([]api.Mapping, error) {
	c, err := s.findControl(ref)
	if err != nil {
		return nil, err
	}
	out := make([]api.Mapping, 0, s.firstMapping[c+1]-s.firstMapping[c])
	for i := s.firstMapping[c]; i < s.firstMapping[c+1]; i++ {
		out = append(out, s.mappingRecord(i))
	}
	return out, nil
}

// RequirementMappings returns the mappings of a requirement, one for each control that maps to it.
func (s *Snapshot) RequirementMappings(ref string) ([]api.Mapping, error) {
	n, err := s.findRequirement(ref)
	if err != nil {
		return nil, err
	}
	out := []api.Mapping{}
	for _, i := range s.requirementMappingIndexes(n) {
		out = append(out, s.mappingRecord(i))
	}
	return out, nil
}

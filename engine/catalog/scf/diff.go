package scf

import (
	"slices"

	"github.com/scf-service/service/api"
)

// Diff returns the changes from one catalog version to another. Controls are matched by code, and differences
// in whitespace are ignored. Mappings are compared only for controls and frameworks that both versions have.
// They are matched by framework code and normalized requirement code, so that a different spelling does not
// count as a change.
func Diff(from, to *Snapshot) api.CatalogDiff {
	d := api.CatalogDiff{
		FromVersionID: from.version.ID, FromLabel: from.src.Label, ToVersionID: to.version.ID, ToLabel: to.src.Label,
		Added: []api.ControlRef{}, Removed: []api.ControlRef{}, Changed: []api.ControlChange{},
		FrameworksAdded: []string{}, FrameworksRemoved: []string{}, FrameworksReplaced: []api.FrameworkEdition{},
		MappingsGained: []api.MappingChanges{}, MappingsLost: []api.MappingChanges{},
	}
	for i := range from.src.Controls {
		c := &from.src.Controls[i]
		if _, found := to.controls[c.Code]; !found {
			d.Removed = append(d.Removed, api.ControlRef{Code: c.Code, Title: c.Title})
		}
	}
	shared := sharedFrameworks(from, to)
	for i := range to.src.Controls {
		c := &to.src.Controls[i]
		j, found := from.controls[c.Code]
		if !found {
			d.Added = append(d.Added, api.ControlRef{Code: c.Code, Title: c.Title})
			continue
		}
		change, changed := compareControls(&from.src.Controls[j], c)
		if changed {
			d.Changed = append(d.Changed, change)
		} else {
			d.Summary.Unchanged++
		}
		for _, f := range shared {
			was, is := from.controlRequirementCodes(j, f.from), to.controlRequirementCodes(i, f.to)
			d.MappingsGained = appendMissingMappings(d.MappingsGained, c.Code, f.code, is, was, &d.Summary.MappingsGained)
			d.MappingsLost = appendMissingMappings(d.MappingsLost, c.Code, f.code, was, is, &d.Summary.MappingsLost)
		}
	}
	for i := range from.src.Frameworks {
		if code := from.src.Frameworks[i].Code; !to.hasFrameworkCode(code) {
			d.FrameworksRemoved = append(d.FrameworksRemoved, code)
			for _, next := range BuiltinAliases().NewerEditions(code) {
				if to.hasFrameworkCode(next) {
					d.FrameworksReplaced = append(d.FrameworksReplaced, api.FrameworkEdition{FromCode: code, ToCode: next})
					break
				}
			}
		}
	}
	for i := range to.src.Frameworks {
		if code := to.src.Frameworks[i].Code; !from.hasFrameworkCode(code) {
			d.FrameworksAdded = append(d.FrameworksAdded, code)
		}
	}
	for _, c := range d.Changed {
		d.Summary.Renamed += boolToInt(c.Renamed)
		d.Summary.Reworded += boolToInt(c.Reworded)
		d.Summary.Reweighted += boolToInt(c.Reweighted)
	}
	d.Summary.Added, d.Summary.Removed = len(d.Added), len(d.Removed)
	d.Summary.FrameworksAdded, d.Summary.FrameworksRemoved = len(d.FrameworksAdded), len(d.FrameworksRemoved)
	return d
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasFrameworkCode reports whether a framework has exactly this code. Aliases do not count.
func (s *Snapshot) hasFrameworkCode(code string) bool {
	i, ok := s.frameworks[code]
	return ok && s.src.Frameworks[i].Code == code
}

func compareControls(from, to *Control) (change api.ControlChange, differs bool) {
	c := api.ControlChange{
		Code: to.Code, FromTitle: from.Title, ToTitle: to.Title,
		Renamed: CollapseSpaces(from.Title) != CollapseSpaces(to.Title),
		Reworded: CollapseSpaces(from.Description) != CollapseSpaces(to.Description) ||
			// Questions are compared only if both have one: older releases have none.
			from.Question != "" && to.Question != "" && CollapseSpaces(from.Question) != CollapseSpaces(to.Question),
		Reweighted: from.Weight != to.Weight,
		FromWeight: weightOrNil(from), ToWeight: weightOrNil(to),
		Deprecated: to.IsDeprecated() && !from.IsDeprecated(),
	}
	return c, c.Renamed || c.Reworded || c.Reweighted || c.Deprecated
}

func weightOrNil(c *Control) *int {
	if c.Weight == NoWeight {
		return nil
	}
	w := c.Weight
	return &w
}

type sharedFramework struct {
	code     string
	from, to int
}

func sharedFrameworks(from, to *Snapshot) []sharedFramework {
	var out []sharedFramework
	for i := range to.src.Frameworks {
		code := to.src.Frameworks[i].Code
		if from.hasFrameworkCode(code) {
			out = append(out, sharedFramework{code: code, from: from.frameworks[code], to: i})
		}
	}
	return out
}

// controlRequirementCodes returns the codes of a framework's requirements that a control maps to.
func (s *Snapshot) controlRequirementCodes(control, framework int) []string {
	own := s.src.Mappings[s.firstMapping[control]:s.firstMapping[control+1]]
	at, _ := slices.BinarySearchFunc(own, framework, func(m Mapping, f int) int {
		return m.Framework - f
	})
	var out []string
	for ; at < len(own) && own[at].Framework == framework; at++ {
		out = append(out, s.src.Frameworks[framework].Requirements[own[at].Requirement].Code)
	}
	return out
}

// appendMissingMappings appends an entry with the requirement codes that are in a but not in b, if there are any,
// and adds the number of these codes to total.
func appendMissingMappings(out []api.MappingChanges, control, framework string, a, b []string, total *int) []api.MappingChanges {
	if len(a) == 0 || slices.Equal(a, b) {
		return out
	}
	has := make(map[string]bool, len(b))
	for _, code := range b {
		has[NormalizeRequirementCode(code)] = true
	}
	var missing []string
	for _, code := range a {
		if !has[NormalizeRequirementCode(code)] {
			missing = append(missing, code)
		}
	}
	if len(missing) == 0 {
		return out
	}
	*total += len(missing)
	return append(out, api.MappingChanges{ControlCode: control, FrameworkCode: framework, RequirementCodes: missing})
}

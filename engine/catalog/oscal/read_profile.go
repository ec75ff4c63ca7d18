package oscal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
)

type profile struct {
	UUID       string          `json:"uuid"`
	Metadata   metadata        `json:"metadata"`
	Imports    []profileImport `json:"imports"`
	BackMatter *backMatter     `json:"back-matter,omitempty"`
}

type profileImport struct {
	Href       string      `json:"href"`
	IncludeAll *struct{}   `json:"include-all"`
	Include    []selection `json:"include-controls"`
	Exclude    []selection `json:"exclude-controls"`
}

type selection struct {
	WithIDs  []string `json:"with-ids"`
	Children string   `json:"with-child-controls"`
	Matching []struct {
		Pattern string `json:"pattern"`
	} `json:"matching"`
}

// readProfile adds a profile to a copy of base as a framework whose requirements are the selected controls.
// If an SCF control is selected, the new requirement maps to that control. If a requirement of another
// framework is selected, the new requirement gets its mappings.
func readProfile(doc *profile, base *scf.Source) (*scf.Source, error) {
	src := copyForOverlay(base)
	name := scf.CollapseSpaces(doc.Metadata.Title)
	code := scf.FrameworkCode(name)
	if code == "" {
		return nil, pathErrorf("profile.metadata.title", "no framework code can be derived from the title")
	}
	if at, taken := findFrameworkByCodeOrName(src, name); taken {
		return nil, pathErrorf(
			"profile.metadata.title",
			"the catalog already has a framework %s with this name; give the profile a different title",
			src.Frameworks[at].Code,
		)
	}
	into := len(src.Frameworks)
	src.Frameworks = append(src.Frameworks, scf.Framework{Code: code, Name: name})
	s := profileSelector{src: src, framework: into, requirementIndex: map[string]int{}, mapped: map[[2]int]bool{}}
	for i := range doc.Imports {
		place := fmt.Sprintf("profile.imports[%d]", i)
		target, err := resolveImportTarget(doc, doc.Imports[i].Href, place+".href")
		if err != nil {
			return nil, err
		}
		if err := s.applyImport(&doc.Imports[i], target, place); err != nil {
			return nil, err
		}
	}
	if len(src.Frameworks[into].Requirements) == 0 {
		return nil, pathErrorf("profile.imports", "the profile selects no controls")
	}
	return src, nil
}

// resolveImportTarget resolves the reference of an import and returns the name of its target. A reference may
// point to a resource of the document, which may point to another resource, and so on. It returns an error if the
// references lead back to the profile.
func resolveImportTarget(doc *profile, href, place string) (string, error) {
	seen := map[string]bool{}
	for strings.HasPrefix(href, "#") {
		id := strings.ToLower(href[1:])
		if id == strings.ToLower(doc.UUID) || seen[id] {
			return "", pathErrorf(place, "the import refers to itself, directly or through other imports")
		}
		seen[id] = true
		at := -1
		if doc.BackMatter != nil {
			at = slices.IndexFunc(doc.BackMatter.Resources, func(r resource) bool { return strings.EqualFold(r.UUID, id) })
		}
		switch {
		case at < 0:
			return href[1:], nil // a framework code, written as a reference
		case len(doc.BackMatter.Resources[at].Rlinks) > 0:
			href = doc.BackMatter.Resources[at].Rlinks[0].Href
		default:
			return doc.BackMatter.Resources[at].Title, nil
		}
	}
	return strings.TrimSuffix(path.Base(href), path.Ext(href)), nil
}

// profileSelector adds the selected controls of a profile to a framework.
type profileSelector struct {
	src              *scf.Source
	framework        int
	requirementIndex map[string]int
	mapped           map[[2]int]bool
}

// candidate is a control or requirement that an import can select.
type candidate struct {
	code, title, text string
	controls          []int // that map to it
}

// applyImport adds the controls that an import selects to the framework.
func (s *profileSelector) applyImport(imp *profileImport, target, place string) error {
	pool, err := s.importCandidates(imp, target, place)
	if err != nil {
		return err
	}
	keep := make([]bool, len(pool))
	if imp.IncludeAll != nil || len(imp.Include) == 0 {
		for i := range keep {
			keep[i] = true
		}
	}
	for n, sel := range imp.Include {
		if err := markSelected(pool, sel, keep, true, fmt.Sprintf("%s.include-controls[%d]", place, n)); err != nil {
			return err
		}
	}
	for n, sel := range imp.Exclude {
		if err := markSelected(pool, sel, keep, false, fmt.Sprintf("%s.exclude-controls[%d]", place, n)); err != nil {
			return err
		}
	}
	f := &s.src.Frameworks[s.framework]
	for i, c := range pool {
		if !keep[i] {
			continue
		}
		r, found := s.requirementIndex[c.code]
		if !found {
			r = len(f.Requirements)
			s.requirementIndex[c.code] = r
			f.Requirements = append(f.Requirements, scf.Requirement{Code: c.code, Title: c.title, Text: c.text})
		}
		for _, k := range c.controls {
			if !s.mapped[[2]int{k, r}] {
				s.mapped[[2]int{k, r}] = true
				s.src.Mappings = append(s.src.Mappings, scf.Mapping{Control: k, Framework: s.framework, Requirement: r})
			}
		}
	}
	return nil
}

// importCandidates returns everything that an import can select from: the requirements of the framework named
// by target, or the controls of the SCF.
func (s *profileSelector) importCandidates(in *profileImport, target, place string) ([]candidate, error) {
	if at, known := findFrameworkByCodeOrName(s.src, target); known && at != s.framework {
		return s.frameworkCandidates(at), nil
	}
	isSCF := len(in.Include) > 0
	for _, sel := range in.Include {
		for _, id := range sel.WithIDs {
			isSCF = isSCF && scf.IsControlCode(strings.ToUpper(id))
		}
	}
	if low := strings.ToLower(target); isSCF || strings.Contains(low, "scf") || strings.Contains(low, "secure-controls") ||
		strings.Contains(low, "secure controls") {
		out := make([]candidate, len(s.src.Controls))
		for i := range s.src.Controls {
			out[i] = candidate{code: s.src.Controls[i].Code, title: s.src.Controls[i].Title, controls: []int{i}}
		}
		return out, nil
	}
	return nil, pathErrorf(place+".href", "the catalog has no framework %q; use a framework code, such as #nist-800-53-r5",
		scf.Shorten(target))
}

func (s *profileSelector) frameworkCandidates(framework int) []candidate {
	out := make([]candidate, len(s.src.Frameworks[framework].Requirements))
	for i, r := range s.src.Frameworks[framework].Requirements {
		out[i] = candidate{code: r.Code, title: r.Title, text: r.Text}
	}
	for _, m := range s.src.Mappings {
		if m.Framework == framework {
			out[m.Requirement].controls = append(out[m.Requirement].controls, m.Control)
		}
	}
	return out
}

// markSelected sets keep to selected for each candidate that sel lists. An unknown ID is an error, because a
// baseline must not lose a control silently.
func markSelected(pool []candidate, sel selection, keep []bool, selected bool, place string) error {
	at := make(map[string]int, len(pool))
	for i, c := range pool {
		at[scf.NormalizeRequirementCode(c.code)] = i
	}
	for n, id := range sel.WithIDs {
		i, found := at[scf.NormalizeRequirementCode(id)]
		if !found {
			return pathErrorf(fmt.Sprintf("%s.with-ids[%d]", place, n), "the imported controls don't include %q", scf.Shorten(id))
		}
		keep[i] = selected
		if sel.Children == "yes" {
			for k, c := range pool {
				if strings.HasPrefix(c.code, pool[i].code+".") || strings.HasPrefix(c.code, pool[i].code+"(") {
					keep[k] = selected
				}
			}
		}
	}
	for _, m := range sel.Matching {
		for k, c := range pool {
			if ok, err := path.Match(strings.ToLower(m.Pattern), strings.ToLower(c.code)); err != nil {
				return pathErrorf(place+".matching", "the pattern %q is invalid", scf.Shorten(m.Pattern))
			} else if ok {
				keep[k] = selected
			}
		}
	}
	return nil
}

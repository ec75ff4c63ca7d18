package oscal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
)

type profile struct {
	UUID       string      `json:"uuid"`
	Metadata   metadata    `json:"metadata"`
	Imports    []imported  `json:"imports"`
	BackMatter *backMatter `json:"back-matter,omitempty"`
}

type imported struct {
	Href    string      `json:"href"`
	All     *struct{}   `json:"include-all"`
	Include []selection `json:"include-controls"`
	Exclude []selection `json:"exclude-controls"`
}

type selection struct {
	WithIDs  []string `json:"with-ids"`
	Children string   `json:"with-child-controls"`
	Matching []struct {
		Pattern string `json:"pattern"`
	} `json:"matching"`
}

// readProfile lays a profile onto a catalog as a framework: what it selects are the
// requirements. Selected controls of the SCF are answered by themselves, requirements of
// a framework by what answers them there.
func readProfile(doc *profile, base *scf.Source) (*scf.Source, error) {
	src := extend(base)
	name := scf.Collapse(doc.Metadata.Title)
	code := scf.Slug(name)
	if code == "" {
		return nil, wrong("profile.metadata.title", "the title gives no code for the framework")
	}
	if at, taken := find(src, name); taken {
		return nil, wrong("profile.metadata.title", "the catalog has a framework %s of that name; give the profile another title", src.Frameworks[at].Code)
	}
	into := len(src.Frameworks)
	src.Frameworks = append(src.Frameworks, scf.Framework{Code: code, Name: name})
	s := selector{src: src, into: into, at: map[string]int{}, mapped: map[[2]int]bool{}}
	for i := range doc.Imports {
		place := fmt.Sprintf("profile.imports[%d]", i)
		target, err := resolve(doc, doc.Imports[i].Href, place+".href")
		if err != nil {
			return nil, err
		}
		if err := s.take(&doc.Imports[i], target, place); err != nil {
			return nil, err
		}
	}
	if len(src.Frameworks[into].Requirements) == 0 {
		return nil, wrong("profile.imports", "nothing is selected")
	}
	return src, nil
}

// resolve follows a reference through the document's own resources to a name. A profile
// that leads back to itself is refused.
func resolve(doc *profile, href, place string) (string, error) {
	seen := map[string]bool{}
	for strings.HasPrefix(href, "#") {
		id := strings.ToLower(href[1:])
		if id == strings.ToLower(doc.UUID) || seen[id] {
			return "", wrong(place, "the import leads back to itself")
		}
		seen[id] = true
		at := -1
		if doc.BackMatter != nil {
			at = slices.IndexFunc(doc.BackMatter.Resources, func(r resource) bool { return strings.EqualFold(r.UUID, id) })
		}
		switch {
		case at < 0:
			return href[1:], nil // the code of a framework, written as a reference
		case len(doc.BackMatter.Resources[at].Rlinks) > 0:
			href = doc.BackMatter.Resources[at].Rlinks[0].Href
		default:
			return doc.BackMatter.Resources[at].Title, nil
		}
	}
	return strings.TrimSuffix(path.Base(href), path.Ext(href)), nil
}

// selector collects what a profile selects.
type selector struct {
	src    *scf.Source
	into   int
	at     map[string]int
	mapped map[[2]int]bool
}

// choice is something that can be selected.
type choice struct {
	code, title, text string
	controls          []int
}

// take selects from what an import means: the controls of the catalog where what it
// names are such, else the framework of that name.
func (s *selector) take(in *imported, target, place string) error {
	pool, err := s.pool(in, target, place)
	if err != nil {
		return err
	}
	keep := make([]bool, len(pool))
	if in.All != nil || len(in.Include) == 0 {
		for i := range keep {
			keep[i] = true
		}
	}
	for n, sel := range in.Include {
		if err := mark(pool, sel, keep, true, fmt.Sprintf("%s.include-controls[%d]", place, n)); err != nil {
			return err
		}
	}
	for n, sel := range in.Exclude {
		if err := mark(pool, sel, keep, false, fmt.Sprintf("%s.exclude-controls[%d]", place, n)); err != nil {
			return err
		}
	}
	f := &s.src.Frameworks[s.into]
	for i, c := range pool {
		if !keep[i] {
			continue
		}
		r, there := s.at[c.code]
		if !there {
			r = len(f.Requirements)
			s.at[c.code] = r
			f.Requirements = append(f.Requirements, scf.Requirement{Code: c.code, Title: c.title, Text: c.text})
		}
		for _, k := range c.controls {
			if !s.mapped[[2]int{k, r}] {
				s.mapped[[2]int{k, r}] = true
				s.src.Mappings = append(s.src.Mappings, scf.Mapping{Control: k, Framework: s.into, Requirement: r})
			}
		}
	}
	return nil
}

func (s *selector) pool(in *imported, target, place string) ([]choice, error) {
	if at, known := find(s.src, target); known && at != s.into {
		return s.framework(at), nil
	}
	isSCF := len(in.Include) > 0
	for _, sel := range in.Include {
		for _, id := range sel.WithIDs {
			isSCF = isSCF && scf.ValidCode(strings.ToUpper(id))
		}
	}
	if low := strings.ToLower(target); isSCF || strings.Contains(low, "scf") || strings.Contains(low, "secure-controls") || strings.Contains(low, "secure controls") {
		out := make([]choice, len(s.src.Controls))
		for i := range s.src.Controls {
			out[i] = choice{code: s.src.Controls[i].Code, title: s.src.Controls[i].Title, controls: []int{i}}
		}
		return out, nil
	}
	return nil, wrong(place+".href", "%q is no framework of the catalog; write its code, as in #nist-800-53-r5", short(target))
}

func (s *selector) framework(at int) []choice {
	out := make([]choice, len(s.src.Frameworks[at].Requirements))
	for i, r := range s.src.Frameworks[at].Requirements {
		out[i] = choice{code: r.Code, title: r.Title, text: r.Text}
	}
	for _, m := range s.src.Mappings {
		if m.Framework == at {
			out[m.Requirement].controls = append(out[m.Requirement].controls, m.Control)
		}
	}
	return out
}

// mark sets what a selection names. An id that is not there is an error: a baseline that
// lost a control in silence would be another baseline.
func mark(pool []choice, sel selection, keep []bool, to bool, place string) error {
	at := make(map[string]int, len(pool))
	for i, c := range pool {
		at[scf.LooseCode(c.code)] = i
	}
	for n, id := range sel.WithIDs {
		i, there := at[scf.LooseCode(id)]
		if !there {
			return wrong(fmt.Sprintf("%s.with-ids[%d]", place, n), "there is no control %q in what is imported", short(id))
		}
		keep[i] = to
		if sel.Children == "yes" {
			for k, c := range pool {
				if strings.HasPrefix(c.code, pool[i].code+".") || strings.HasPrefix(c.code, pool[i].code+"(") {
					keep[k] = to
				}
			}
		}
	}
	for _, m := range sel.Matching {
		for k, c := range pool {
			if ok, err := path.Match(strings.ToLower(m.Pattern), strings.ToLower(c.code)); err != nil {
				return wrong(place+".matching", "the pattern %q can't be read", short(m.Pattern))
			} else if ok {
				keep[k] = to
			}
		}
	}
	return nil
}

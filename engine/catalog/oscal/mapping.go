package oscal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

type collection struct {
	Metadata   metadata    `json:"metadata"`
	Mappings   mappings    `json:"mappings"`
	BackMatter *backMatter `json:"back-matter,omitempty"`
}

// mappings is one mapping or a list of them.
type mappings []mapping

func (m *mappings) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]mapping)(m))
	}
	*m = make(mappings, 1)
	return json.Unmarshal(b, &(*m)[0])
}

type mapping struct {
	Source reference `json:"source-resource"`
	Target reference `json:"target-resource"`
	Maps   []pair    `json:"maps"`
}

type reference struct {
	Type string `json:"type"`
	Href string `json:"href"`
}

type pair struct {
	NS           string     `json:"ns"`
	Relationship string     `json:"relationship"`
	Rationale    string     `json:"matching-rationale"`
	Remarks      string     `json:"remarks"`
	Sources      []item     `json:"sources"`
	Targets      []item     `json:"targets"`
	Props        []property `json:"props"`
}

type item struct {
	Type string `json:"type"`
	ID   string `json:"id-ref"`
}

// relationships are those of OSCAL in the words of the catalog: how the requirement
// stands to the control.
var relationships = map[string]string{
	"equal-to": "equal", "equivalent-to": "equal", "subset-of": "subset", "superset-of": "superset", "intersects-with": "intersects", "no-relationship": "none",
	"equal": "equal", "equivalent": "equal", "subset": "subset", "superset": "superset", "intersects": "intersects", "none": "none",
}

// turned is a relationship seen from the other side.
func turned(relationship string) string {
	switch relationship {
	case "subset":
		return "superset"
	case "superset":
		return "subset"
	}
	return relationship
}

// readCollection lays mappings between SCF controls and a framework onto a catalog. A
// mapping that is there gets what the document says of it.
func readCollection(doc *collection, base *scf.Source) (*scf.Source, error) {
	j := joiner{src: extend(base), doc: doc, controls: map[string]int{}, place: map[[3]int]int{}, requirements: map[int]map[string]int{}}
	for i := range j.src.Controls {
		j.controls[j.src.Controls[i].Code] = i
	}
	for i, m := range j.src.Mappings {
		j.place[[3]int{m.Control, m.Framework, m.Requirement}] = i
	}
	for i := range doc.Mappings {
		if err := j.mapping(&doc.Mappings[i], fmt.Sprintf("mapping-collection.mappings[%d]", i)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(j.src.Mappings, func(a, b scf.Mapping) int {
		return cmp.Or(a.Control-b.Control, a.Framework-b.Framework, a.Requirement-b.Requirement)
	})
	return j.src, nil
}

type joiner struct {
	src          *scf.Source
	doc          *collection
	controls     map[string]int
	place        map[[3]int]int
	requirements map[int]map[string]int
}

// mapping finds out which side is the SCF's, by the codes there.
func (j *joiner) mapping(m *mapping, place string) error {
	ours := func(of func(*pair) []item) (n int) {
		for i := range m.Maps {
			for _, x := range of(&m.Maps[i]) {
				if scf.ValidCode(strings.ToUpper(x.ID)) {
					n++
				}
			}
		}
		return n
	}
	sources, targets := ours(func(p *pair) []item { return p.Sources }), ours(func(p *pair) []item { return p.Targets })
	if sources == 0 && targets == 0 {
		return wrong(place, "neither side names controls of the SCF, such as IAC-06")
	}
	flipped := sources > targets // the SCF is the source
	other := m.Source
	if flipped {
		other = m.Target
	}
	f, err := j.framework(other.Href, place)
	if err != nil {
		return err
	}
	for i := range m.Maps {
		if err := j.pair(&m.Maps[i], f, flipped, fmt.Sprintf("%s.maps[%d]", place, i)); err != nil {
			return err
		}
	}
	return nil
}

// framework is the one that a reference means; a new one where the catalog has none.
func (j *joiner) framework(href, place string) (int, error) {
	name := strings.TrimSuffix(path.Base(href), path.Ext(href))
	if id, inside := strings.CutPrefix(href, "#"); inside {
		name = id
		if j.doc.BackMatter != nil {
			for _, r := range j.doc.BackMatter.Resources {
				if strings.EqualFold(r.UUID, id) {
					name = r.Title
				}
			}
		}
	}
	at, known := find(j.src, name)
	if !known {
		code := scf.Slug(name)
		if code == "" {
			return 0, wrong(place, "the reference %q names no framework", short(href))
		}
		at = len(j.src.Frameworks)
		j.src.Frameworks = append(j.src.Frameworks, scf.Framework{Code: code, Name: scf.Collapse(name)})
		j.src.Warnings = append(j.src.Warnings, api.ImportWarning{Cell: place, Message: fmt.Sprintf("the catalog had no framework %s; it was added", code)})
	}
	if j.requirements[at] == nil {
		f := &j.src.Frameworks[at]
		f.Requirements = slices.Clone(f.Requirements)
		j.requirements[at] = map[string]int{}
		for i := len(f.Requirements) - 1; i >= 0; i-- {
			j.requirements[at][scf.LooseCode(f.Requirements[i].Code)] = i
		}
	}
	return at, nil
}

func (j *joiner) pair(p *pair, f int, flipped bool, place string) error {
	relationship, known := relationships[strings.ToLower(p.Relationship)]
	bare := p.NS == Namespace && p.Relationship == notStated
	if !known && !bare {
		return wrong(place+".relationship", "there is no relationship %q; OSCAL has equal-to, equivalent-to, subset-of, superset-of, intersects-with and no-relationship", short(p.Relationship))
	}
	controls, codes, at := p.Targets, p.Sources, "targets"
	if flipped {
		controls, codes, at = p.Sources, p.Targets, "sources"
		relationship = turned(relationship)
	}
	for n, x := range controls {
		c, there := j.controls[strings.ToUpper(x.ID)]
		if !there {
			return wrong(fmt.Sprintf("%s.%s[%d].id-ref", place, at, n), "there is no control %q in the catalog", short(x.ID))
		}
		for _, q := range codes {
			d := &scf.MappingDetail{Relationship: relationship, Strength: -1, Rationale: p.Remarks, Source: cmp.Or(get(p.Props, "source"), j.doc.Metadata.Title)}
			if n, err := strconv.Atoi(get(p.Props, "strength")); err == nil && n >= 0 && n <= 10 {
				d.Strength = n
			}
			if bare && len(p.Props) == 0 {
				d = nil
			}
			j.join(c, f, j.requirement(f, q.ID, place), d)
		}
	}
	return nil
}

// requirement is the one with a code; a new one where the framework has none.
func (j *joiner) requirement(f int, id, place string) int {
	id = scf.Collapse(id)
	if n, known := j.requirements[f][scf.LooseCode(id)]; known {
		return n
	}
	fw := &j.src.Frameworks[f]
	n := len(fw.Requirements)
	fw.Requirements = append(fw.Requirements, scf.Requirement{Code: id})
	j.requirements[f][scf.LooseCode(id)] = n
	j.src.Warnings = append(j.src.Warnings, api.ImportWarning{Cell: place, Message: fmt.Sprintf("%s had no requirement %q; it was added", fw.Code, short(id))})
	return n
}

func (j *joiner) join(c, f, r int, d *scf.MappingDetail) {
	key := [3]int{c, f, r}
	if i, there := j.place[key]; there {
		if d != nil {
			j.src.Mappings[i].Detail = d
		}
		return
	}
	if d != nil && d.Relationship == "none" {
		return // the document says that they have nothing to do with each other
	}
	j.place[key] = len(j.src.Mappings)
	j.src.Mappings = append(j.src.Mappings, scf.Mapping{Control: c, Framework: f, Requirement: r, Detail: d})
}

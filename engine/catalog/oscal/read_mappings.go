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

type mappingCollection struct {
	Metadata   metadata    `json:"metadata"`
	Mappings   mappingList `json:"mappings"`
	BackMatter *backMatter `json:"back-matter,omitempty"`
}

// mappingList is a list of mappings. In JSON, a list with one element may be written as that element alone.
type mappingList []mapping

func (m *mappingList) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]mapping)(m))
	}
	*m = make(mappingList, 1)
	return json.Unmarshal(b, &(*m)[0])
}

type mapping struct {
	Source reference  `json:"source-resource"`
	Target reference  `json:"target-resource"`
	Maps   []mapEntry `json:"maps"`
}

type reference struct {
	Type string `json:"type"`
	Href string `json:"href"`
}

type mapEntry struct {
	NS           string     `json:"ns"`
	Relationship string     `json:"relationship"`
	Rationale    string     `json:"matching-rationale"`
	Remarks      string     `json:"remarks"`
	Sources      []mapItem  `json:"sources"`
	Targets      []mapItem  `json:"targets"`
	Props        []property `json:"props"`
}

type mapItem struct {
	Type string `json:"type"`
	ID   string `json:"id-ref"`
}

// catalogRelationships maps OSCAL's relationship names to those of the catalog. Both describe how the requirement
// relates to the control.
var catalogRelationships = map[string]string{
	"equal-to": "equal", "equivalent-to": "equal", "subset-of": "subset", "superset-of": "superset",
	"intersects-with": "intersects", "no-relationship": "none",
	"equal": "equal", "equivalent": "equal", "subset": "subset", "superset": "superset", "intersects": "intersects", "none": "none",
}

// invertRelationship returns the same relationship seen from the other side: "superset" for "subset" and vice
// versa.
func invertRelationship(relationship string) string {
	switch relationship {
	case "subset":
		return "superset"
	case "superset":
		return "subset"
	}
	return relationship
}

// readCollection merges a collection of mappings between SCF controls and frameworks into a copy of base. If
// a mapping already exists, it gets the details from the collection.
func readCollection(doc *mappingCollection, base *scf.Source) (*scf.Source, error) {
	j := collectionMerger{
		src:          copyForOverlay(base),
		doc:          doc,
		controls:     map[string]int{},
		mappingIndex: map[[3]int]int{},
		requirements: map[int]map[string]int{},
	}
	for i := range j.src.Controls {
		j.controls[j.src.Controls[i].Code] = i
	}
	for i, m := range j.src.Mappings {
		j.mappingIndex[[3]int{m.Control, m.Framework, m.Requirement}] = i
	}
	for i := range doc.Mappings {
		if err := j.mergeMapping(&doc.Mappings[i], fmt.Sprintf("mapping-collection.mappings[%d]", i)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(j.src.Mappings, scf.CompareMappings)
	return j.src, nil
}

type collectionMerger struct {
	src          *scf.Source
	doc          *mappingCollection
	controls     map[string]int
	mappingIndex map[[3]int]int
	requirements map[int]map[string]int
}

// mergeMapping merges one mapping into the catalog. The side with more SCF control codes is assumed to be the
// SCF.
func (j *collectionMerger) mergeMapping(m *mapping, place string) error {
	ours := func(of func(*mapEntry) []mapItem) (n int) {
		for i := range m.Maps {
			for _, x := range of(&m.Maps[i]) {
				if scf.IsControlCode(strings.ToUpper(x.ID)) {
					n++
				}
			}
		}
		return n
	}
	sources, targets := ours(func(p *mapEntry) []mapItem { return p.Sources }), ours(func(p *mapEntry) []mapItem { return p.Targets })
	if sources == 0 && targets == 0 {
		return pathErrorf(place, "the mapping refers to no SCF controls; one side must contain codes such as IAC-06")
	}
	flipped := sources > targets // the SCF is the source, not the target
	other := m.Source
	if flipped {
		other = m.Target
	}
	f, err := j.findOrAddFramework(other.Href, place)
	if err != nil {
		return err
	}
	for i := range m.Maps {
		if err := j.mergeEntry(&m.Maps[i], f, flipped, fmt.Sprintf("%s.maps[%d]", place, i)); err != nil {
			return err
		}
	}
	return nil
}

// findOrAddFramework returns the index of the framework that href refers to. If the catalog doesn't have it,
// the framework is added.
func (j *collectionMerger) findOrAddFramework(href, place string) (int, error) {
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
	at, known := findFrameworkByCodeOrName(j.src, name)
	if !known {
		code := scf.FrameworkCode(name)
		if code == "" {
			return 0, pathErrorf(place, "the reference %q does not lead to a framework", scf.Shorten(href))
		}
		at = len(j.src.Frameworks)
		j.src.Frameworks = append(j.src.Frameworks, scf.Framework{Code: code, Name: scf.CollapseSpaces(name)})
		j.src.Warnings = append(
			j.src.Warnings,
			api.ImportWarning{Cell: place, Message: fmt.Sprintf("added framework %s, which was not in the catalog", code)},
		)
	}
	if j.requirements[at] == nil {
		f := &j.src.Frameworks[at]
		f.Requirements = slices.Clone(f.Requirements)
		j.requirements[at] = map[string]int{}
		for i := len(f.Requirements) - 1; i >= 0; i-- {
			j.requirements[at][scf.NormalizeRequirementCode(f.Requirements[i].Code)] = i
		}
	}
	return at, nil
}

func (j *collectionMerger) mergeEntry(p *mapEntry, framework int, controlsAreSources bool, place string) error {
	relationship, known := catalogRelationships[strings.ToLower(p.Relationship)]
	bare := p.NS == Namespace && p.Relationship == relationshipNotStated
	if !known && !bare {
		return pathErrorf(
			place+".relationship",
			"unknown relationship %q; OSCAL defines equal-to, equivalent-to, subset-of, superset-of, intersects-with and no-relationship",
			scf.Shorten(p.Relationship),
		)
	}
	controls, codes, at := p.Targets, p.Sources, "targets"
	if controlsAreSources {
		controls, codes, at = p.Sources, p.Targets, "sources"
		relationship = invertRelationship(relationship)
	}
	for n, x := range controls {
		c, found := j.controls[strings.ToUpper(x.ID)]
		if !found {
			return pathErrorf(fmt.Sprintf("%s.%s[%d].id-ref", place, at, n), "the catalog has no control %q", scf.Shorten(x.ID))
		}
		for _, q := range codes {
			d := &scf.MappingDetail{
				Relationship: relationship,
				Strength:     -1,
				Rationale:    p.Remarks,
				Source:       cmp.Or(propValue(p.Props, "source"), j.doc.Metadata.Title),
			}
			if n, err := strconv.Atoi(propValue(p.Props, "strength")); err == nil && n >= 0 && n <= 10 {
				d.Strength = n
			}
			if bare && len(p.Props) == 0 {
				d = nil
			}
			j.putMapping(c, framework, j.findOrAddRequirement(framework, q.ID, place), d)
		}
	}
	return nil
}

// findOrAddRequirement returns the index of the requirement with the given code in a framework. If the
// framework doesn't have it, the requirement is added.
func (j *collectionMerger) findOrAddRequirement(framework int, id, place string) int {
	id = scf.CollapseSpaces(id)
	if n, known := j.requirements[framework][scf.NormalizeRequirementCode(id)]; known {
		return n
	}
	fw := &j.src.Frameworks[framework]
	n := len(fw.Requirements)
	fw.Requirements = append(fw.Requirements, scf.Requirement{Code: id})
	j.requirements[framework][scf.NormalizeRequirementCode(id)] = n
	j.src.Warnings = append(
		j.src.Warnings,
		api.ImportWarning{Cell: place, Message: fmt.Sprintf("added requirement %[2]q to %[1]s", fw.Code, scf.Shorten(id))},
	)
	return n
}

// putMapping adds a mapping, or sets the details of an existing one.
func (j *collectionMerger) putMapping(control, framework, requirement int, d *scf.MappingDetail) {
	key := [3]int{control, framework, requirement}
	if i, found := j.mappingIndex[key]; found {
		if d != nil {
			j.src.Mappings[i].Detail = d
		}
		return
	}
	if d != nil && d.Relationship == "none" {
		return // the document states that they are unrelated
	}
	j.mappingIndex[key] = len(j.src.Mappings)
	j.src.Mappings = append(j.src.Mappings, scf.Mapping{Control: control, Framework: framework, Requirement: requirement, Detail: d})
}

package oscal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/scf-service/service/engine/catalog/scf"
)

// notStated is the relationship of a mapping of whose kind the source says nothing; it is
// of our namespace, since OSCAL has no word for it.
const notStated = "not-stated"

type (
	writtenProfile struct {
		UUID       string          `json:"uuid"`
		Metadata   metadata        `json:"metadata"`
		Imports    []writtenImport `json:"imports"`
		Merge      map[string]bool `json:"merge"`
		BackMatter *backMatter     `json:"back-matter"`
	}
	writtenImport struct {
		Href    string           `json:"href"`
		Include []writtenSelects `json:"include-controls"`
	}
	writtenSelects struct {
		WithIDs []string `json:"with-ids"`
	}
	writtenCollection struct {
		UUID       string           `json:"uuid"`
		Metadata   metadata         `json:"metadata"`
		Provenance provenance       `json:"provenance"`
		Mappings   []writtenMapping `json:"mappings"`
		BackMatter *backMatter      `json:"back-matter"`
	}
	provenance struct {
		Method      string `json:"method"`
		Rationale   string `json:"matching-rationale"`
		Status      string `json:"status"`
		Description string `json:"mapping-description"`
	}
	writtenMapping struct {
		UUID   string       `json:"uuid"`
		Source reference    `json:"source-resource"`
		Target reference    `json:"target-resource"`
		Maps   []writtenMap `json:"maps"`
	}
	writtenMap struct {
		UUID         string     `json:"uuid"`
		NS           string     `json:"ns,omitempty"`
		Relationship string     `json:"relationship"`
		Remarks      string     `json:"remarks,omitempty"`
		Props        []property `json:"props,omitempty"`
		Sources      []item     `json:"sources"`
		Targets      []item     `json:"targets"`
	}
)

// WriteProfile gives the controls that a framework maps to as an OSCAL profile of the catalog.
func WriteProfile(src *scf.Source, framework int, modified time.Time) ([]byte, error) {
	w := newWriter(src)
	f := &src.Frameworks[framework]
	var ids []string
	for _, m := range src.Mappings {
		if m.Framework == framework {
			ids = append(ids, ControlID(src.Controls[m.Control].Code))
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil, wrong("", "no control of the catalog is mapped to %s, so there is nothing for a profile to select", f.Code)
	}
	meta := w.metadata("Controls for "+f.Name, modified)
	meta.Props = append(meta.Props, prop("framework", f.Code))
	doc := writtenProfile{UUID: w.id("profile", framework), Metadata: meta, Merge: map[string]bool{"as-is": true},
		Imports:    []writtenImport{{Href: "#" + w.space.String(), Include: []writtenSelects{{WithIDs: ids}}}},
		BackMatter: &backMatter{Resources: []resource{w.catalog()}}}
	return encode("profile", map[string]any{"profile": doc})
}

// WriteMappings gives the crosswalk between frameworks and the catalog's controls as an
// OSCAL mapping collection.
func WriteMappings(src *scf.Source, frameworks []int, modified time.Time) ([]byte, error) {
	w := newWriter(src)
	doc := writtenCollection{UUID: w.id("mapping-collection", len(frameworks)), Metadata: w.metadata("Crosswalk of catalog "+src.Label, modified),
		Provenance: provenance{Method: "human", Rationale: "semantic", Status: "complete", Description: "The mappings that the catalog " + src.Label + " has, as its source states them."},
		BackMatter: &backMatter{Resources: []resource{w.catalog()}}}
	if len(frameworks) == 1 {
		doc.UUID = w.id("mapping-collection of", frameworks[0])
		doc.Metadata.Title += ": " + src.Frameworks[frameworks[0]].Name
	}
	by := map[int][]int{}
	for i, m := range src.Mappings {
		by[m.Framework] = append(by[m.Framework], i)
	}
	for _, f := range frameworks {
		if len(by[f]) == 0 {
			continue
		}
		doc.BackMatter.Resources = append(doc.BackMatter.Resources, resource{UUID: w.id(isFramework, f), Title: src.Frameworks[f].Name, Props: []property{prop("code", src.Frameworks[f].Code)}})
		doc.Mappings = append(doc.Mappings, writtenMapping{UUID: w.id("mapping", f), Source: reference{Type: "catalog", Href: "#" + w.id(isFramework, f)},
			Target: reference{Type: "catalog", Href: "#" + w.space.String()}, Maps: w.maps(f, by[f])})
	}
	if len(doc.Mappings) == 0 {
		return nil, wrong("", "there is no mapping to write")
	}
	return encode("mapping-collection", map[string]any{"mapping-collection": doc})
}

// relationshipNames are OSCAL's words for the catalog's.
var relationshipNames = map[string]string{"equal": "equal-to", "subset": "subset-of", "superset": "superset-of", "intersects": "intersects-with", "none": "no-relationship"}

// maps are a framework's mappings: one for each of which something is said, and one for
// each requirement with all controls of which nothing is.
func (w *writer) maps(f int, mappings []int) (out []writtenMap) {
	bare := map[int]int{}
	for _, i := range mappings {
		m := w.src.Mappings[i]
		target := item{Type: "control", ID: ControlID(w.src.Controls[m.Control].Code)}
		at, there := bare[m.Requirement]
		if m.Detail == nil && there {
			out[at].Targets = append(out[at].Targets, target)
			continue
		}
		one := writtenMap{UUID: w.id("map", i), NS: Namespace, Relationship: notStated, Targets: []item{target},
			Sources: []item{{Type: "control", ID: w.src.Frameworks[f].Requirements[m.Requirement].Code}}}
		if m.Detail == nil {
			bare[m.Requirement] = len(out)
		} else {
			if name := relationshipNames[m.Detail.Relationship]; name != "" {
				one.NS, one.Relationship = "", name
			}
			one.Remarks = m.Detail.Rationale
			if m.Detail.Strength >= 0 {
				one.Props = append(one.Props, prop("strength", fmt.Sprint(m.Detail.Strength)))
			}
			one.Props = some(one.Props, "source", m.Detail.Source)
			one.Props = append(one.Props, prop("official", fmt.Sprint(m.Detail.Official)))
		}
		out = append(out, one)
	}
	return out
}

// catalog is the catalog as a resource that other documents refer to.
func (w *writer) catalog() resource {
	props := some([]property{prop("label", w.src.Label)}, "source-sha256", w.src.SHA256)
	return resource{UUID: w.space.String(), Title: "Control catalog " + w.src.Label, Props: props}
}

// encode is a document as JSON, once it holds against the schema.
func encode(model string, doc any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return out, Conforms(out, model)
}

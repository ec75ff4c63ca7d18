package oscal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/scf-service/service/engine/catalog/scf"
)

// relationshipNotStated is the relationship of a mapping whose source doesn't state one. The value is in our own
// namespace, because OSCAL has no such relationship.
const relationshipNotStated = "not-stated"

type (
	outputProfile struct {
		UUID       string          `json:"uuid"`
		Metadata   metadata        `json:"metadata"`
		Imports    []outputImport  `json:"imports"`
		Merge      map[string]bool `json:"merge"`
		BackMatter *backMatter     `json:"back-matter"`
	}
	outputImport struct {
		Href    string            `json:"href"`
		Include []outputSelection `json:"include-controls"`
	}
	outputSelection struct {
		WithIDs []string `json:"with-ids"`
	}
	outputCollection struct {
		UUID       string          `json:"uuid"`
		Metadata   metadata        `json:"metadata"`
		Provenance provenance      `json:"provenance"`
		Mappings   []outputMapping `json:"mappings"`
		BackMatter *backMatter     `json:"back-matter"`
	}
	provenance struct {
		Method      string `json:"method"`
		Rationale   string `json:"matching-rationale"`
		Status      string `json:"status"`
		Description string `json:"mapping-description"`
	}
	outputMapping struct {
		UUID   string      `json:"uuid"`
		Source reference   `json:"source-resource"`
		Target reference   `json:"target-resource"`
		Maps   []outputMap `json:"maps"`
	}
	outputMap struct {
		UUID         string     `json:"uuid"`
		NS           string     `json:"ns,omitempty"`
		Relationship string     `json:"relationship"`
		Remarks      string     `json:"remarks,omitempty"`
		Props        []property `json:"props,omitempty"`
		Sources      []mapItem  `json:"sources"`
		Targets      []mapItem  `json:"targets"`
	}
)

// WriteProfile returns a framework as an OSCAL profile, which selects the controls of the catalog that map to
// it.
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
		return nil, pathErrorf("", "no control in the catalog is mapped to %s, so the profile would be empty", f.Code)
	}
	meta := w.newMetadata("Controls for "+f.Name, modified)
	meta.Props = append(meta.Props, newProp("framework", f.Code))
	doc := outputProfile{
		UUID: w.uuidFor("profile", framework), Metadata: meta, Merge: map[string]bool{"as-is": true},
		Imports:    []outputImport{{Href: "#" + w.namespace.String(), Include: []outputSelection{{WithIDs: ids}}}},
		BackMatter: &backMatter{Resources: []resource{w.catalogResource()}},
	}
	return encodeValid("profile", map[string]any{"profile": doc})
}

// WriteMappings returns the crosswalk between frameworks and the catalog's controls as an OSCAL
// mapping collection.
func WriteMappings(src *scf.Source, frameworks []int, modified time.Time) ([]byte, error) {
	w := newWriter(src)
	doc := outputCollection{
		UUID: w.uuidFor("mapping-collection", len(frameworks)), Metadata: w.newMetadata("Crosswalk of catalog "+src.Label, modified),
		Provenance: provenance{
			Method:      "human",
			Rationale:   "semantic",
			Status:      "complete",
			Description: "Mappings in catalog " + src.Label + ", as stated in its source.",
		},
		BackMatter: &backMatter{Resources: []resource{w.catalogResource()}},
	}
	if len(frameworks) == 1 {
		doc.UUID = w.uuidFor("mapping-collection of", frameworks[0])
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
		doc.BackMatter.Resources = append(
			doc.BackMatter.Resources,
			resource{
				UUID:  w.uuidFor(typeFramework, f),
				Title: src.Frameworks[f].Name,
				Props: []property{newProp("code", src.Frameworks[f].Code)},
			},
		)
		doc.Mappings = append(doc.Mappings, outputMapping{
			UUID: w.uuidFor("mapping", f), Source: reference{Type: "catalog", Href: "#" + w.uuidFor(typeFramework, f)},
			Target: reference{Type: "catalog", Href: "#" + w.namespace.String()}, Maps: w.mappingEntries(f, by[f]),
		})
	}
	if len(doc.Mappings) == 0 {
		return nil, pathErrorf("", "the catalog has no mappings to export")
	}
	return encodeValid("mapping-collection", map[string]any{"mapping-collection": doc})
}

// oscalRelationships maps the catalog's relationship names to those of OSCAL.
var oscalRelationships = map[string]string{
	"equal":      "equal-to",
	"subset":     "subset-of",
	"superset":   "superset-of",
	"intersects": "intersects-with",
	"none":       "no-relationship",
}

// mappingEntries returns the entries for a framework's mappings. Each mapping with details has a separate entry.
// The other mappings of a requirement share one entry.
func (w *writer) mappingEntries(f int, mappings []int) (out []outputMap) {
	bare := map[int]int{}
	for _, i := range mappings {
		m := w.src.Mappings[i]
		target := mapItem{Type: "control", ID: ControlID(w.src.Controls[m.Control].Code)}
		at, found := bare[m.Requirement]
		if m.Detail == nil && found {
			out[at].Targets = append(out[at].Targets, target)
			continue
		}
		one := outputMap{
			UUID: w.uuidFor("map", i), NS: Namespace, Relationship: relationshipNotStated, Targets: []mapItem{target},
			Sources: []mapItem{{Type: "control", ID: w.src.Frameworks[f].Requirements[m.Requirement].Code}},
		}
		if m.Detail == nil {
			bare[m.Requirement] = len(out)
		} else {
			if name := oscalRelationships[m.Detail.Relationship]; name != "" {
				one.NS, one.Relationship = "", name
			}
			one.Remarks = m.Detail.Rationale
			if m.Detail.Strength >= 0 {
				one.Props = append(one.Props, newProp("strength", fmt.Sprint(m.Detail.Strength)))
			}
			one.Props = appendProp(one.Props, "source", m.Detail.Source)
			one.Props = append(one.Props, newProp("official", fmt.Sprint(m.Detail.Official)))
		}
		out = append(out, one)
	}
	return out
}

// catalogResource returns the resource that other documents use to refer to the catalog.
func (w *writer) catalogResource() resource {
	props := appendProp([]property{newProp("label", w.src.Label)}, "source-sha256", w.src.SHA256)
	return resource{UUID: w.namespace.String(), Title: "Control catalog " + w.src.Label, Props: props}
}

// encodeValid encodes a document as JSON. It returns an error if the document does not match the schema.
func encodeValid(model string, doc any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return out, Validate(out, model)
}

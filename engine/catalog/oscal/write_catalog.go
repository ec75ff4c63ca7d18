package oscal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine/catalog/scf"
)

// Types of the resources in the back matter.
const (
	typeFramework = "framework"
	typeEvidence  = "evidence-request"
	typeRisk      = "risk"
	typeThreat    = "threat"
	typePrinciple = "principle"
)

// WriteCatalog returns the catalog as an OSCAL catalog. Domains are groups, and mappings are links to
// frameworks in the back matter. The same catalog and modification time always give the same bytes.
func WriteCatalog(src *scf.Source, modified time.Time) ([]byte, error) {
	w := newWriter(src)
	doc := &catalogDocument{UUID: w.namespace.String(), Metadata: w.newMetadata("Control catalog "+src.Label, modified)}
	doc.Groups = w.domainGroups()
	doc.BackMatter = &backMatter{Resources: w.backMatterResources()}
	if len(doc.BackMatter.Resources) == 0 {
		doc.BackMatter = nil
	}
	return encodeValid("catalog", documentRoot{Catalog: doc})
}

func newWriter(src *scf.Source) *writer {
	return &writer{src: src, namespace: uuid.NewSHA1(uuid.NameSpaceURL, []byte(Namespace+"/"+src.Label+"/"+src.SHA256))}
}

func (w *writer) newMetadata(title string, modified time.Time) metadata {
	m := metadata{
		Title:        title,
		LastModified: modified.UTC().Format(time.RFC3339),
		Version:      w.src.Label,
		OSCAL:        Version,
		Props:        appendProp(nil, "source-filename", w.src.Filename),
	}
	m.Props = appendProp(m.Props, "source-sha256", w.src.SHA256)
	if w.src.IsStarter {
		m.Props = append(m.Props, newProp("starter", "true"))
	}
	return m
}

// ControlID returns a control's id in OSCAL documents: its code in lower case, with characters
// that OSCAL does not allow replaced by underscores.
func ControlID(code string) string {
	id := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, strings.ToLower(code))
	if first, _ := utf8.DecodeRuneInString(id); !unicode.IsLetter(first) {
		id = "_" + id
	}
	return id
}

// StatementID returns the id of the statement part of a control in OSCAL documents.
func StatementID(code string) string { return ControlID(code) + "_smt" }

type writer struct {
	src       *scf.Source
	namespace uuid.UUID
}

// uuidFor returns the UUID of a resource. It is derived from the kind and the index of the resource.
func (w *writer) uuidFor(kind string, n int) string {
	return uuid.NewSHA1(w.namespace, fmt.Appendf(nil, "%s %d", kind, n)).String()
}

func (w *writer) domainGroups() []group {
	mappings := map[int][]scf.Mapping{}
	for _, m := range w.src.Mappings {
		mappings[m.Control] = append(mappings[m.Control], m)
	}
	at := map[string]int{}
	var out []group
	for i, d := range w.src.Domains {
		g := group{ID: fmt.Sprintf("domain-%d", i+1), Class: "domain", Title: d.Name, Props: []property{newProp("label", d.Code)}}
		g.Parts = appendPart(g.Parts, "principle", "", d.Principle)
		g.Parts = appendPart(g.Parts, "intent", "", d.Intent)
		at[d.Code] = len(out)
		out = append(out, g)
	}
	for i := range w.src.Controls {
		c := &w.src.Controls[i]
		g := &out[at[c.DomainCode()]]
		g.Controls = append(g.Controls, w.toControl(i, c, mappings[i]))
	}
	return out
}

// appendPart appends a part unless it is empty.
func appendPart(parts []part, name, title, prose string, props ...property) []part {
	if prose == "" && title == "" && len(props) == 0 {
		return parts
	}
	return append(parts, part{Name: name, NS: Namespace, Title: title, Prose: prose, Props: props})
}

func (w *writer) toControl(n int, c *scf.Control, mappings []scf.Mapping) control {
	out := control{
		ID:    ControlID(c.Code),
		Title: c.Title,
		Props: []property{{Name: "label", Value: c.Code}, {Name: "sort-id", Value: fmt.Sprintf("%05d", n)}},
	}
	p := out.Props
	if c.Weight != scf.NoWeight {
		p = append(p, newProp("weight", strconv.Itoa(c.Weight)))
	}
	p = appendProp(appendProp(p, "csf-function", c.CSFFunction), "cadence", c.Cadence)
	for _, l := range controlLists(c) {
		p = appendProps(p, l.name, *l.values)
	}
	out.Props = p
	if c.Description != "" {
		out.Parts = append(out.Parts, part{ID: StatementID(c.Code), Name: "statement", Prose: c.Description})
	}
	out.Parts = appendPart(out.Parts, "question", "", c.Question)
	for level, text := range c.Maturity {
		if text != "" {
			out.Parts = appendPart(out.Parts, "maturity", "", text, newProp("level", strconv.Itoa(level)))
		}
	}
	for _, s := range c.Solutions {
		out.Parts = appendPart(out.Parts, "solution", "", s.Text, newProp("size", s.Name))
	}
	for _, o := range c.Objectives {
		props := appendProp(nil, "label", o.Code)
		if o.Rigor != 0 {
			props = append(props, newProp("rigor", strconv.Itoa(o.Rigor)))
		}
		out.Parts = append(
			out.Parts,
			part{
				Name:  "assessment-objective",
				Prose: o.Text,
				Props: appendProps(appendProps(props, "applicability", o.Applicability), "origin", o.Origins),
			},
		)
	}
	for _, k := range c.Compensating {
		out.Parts = appendPart(
			out.Parts,
			"compensating-control",
			"",
			k.Justification,
			appendProp([]property{newProp("control", k.Control)}, "name", k.Name)...)
	}
	for _, e := range c.Extra {
		out.Parts = appendPart(out.Parts, "extra", "", e.Text, newProp("column", e.Name))
	}
	for _, e := range c.Evidence {
		out.Links = append(out.Links, link{Href: "#" + w.uuidFor(typeEvidence, e), Rel: typeEvidence})
	}
	for _, m := range mappings {
		w.addMapping(&out, m)
	}
	return out
}

// namedList is a list field of a control, with the name of the property that its elements are written as.
type namedList struct {
	name   string
	values *[]string
}

func controlLists(c *scf.Control) []namedList {
	return []namedList{
		{"applicability", &c.Applicability},
		{"risk", &c.Risks},
		{"threat", &c.Threats},
		{"baseline", &c.Baselines},
		{"scrm-tier", &c.SCRMTiers},
		{"trait", &c.Traits},
		{"tag", &c.Tags},
		{"erratum", &c.Errata},
	}
}

// addMapping adds a mapping to a control. It is written as a link to the framework, or as a part if it has
// details or if its requirement code does not fit into a link.
func (w *writer) addMapping(c *control, m scf.Mapping) {
	code := w.src.Frameworks[m.Framework].Requirements[m.Requirement].Code
	if m.Detail == nil && singleLine.MatchString(code) {
		c.Links = append(c.Links, link{Href: "#" + w.uuidFor(typeFramework, m.Framework), Rel: "maps-to", Fragment: code})
		return
	}
	p := part{
		Name:  "mapping",
		NS:    Namespace,
		Props: []property{newProp("framework", w.uuidFor(typeFramework, m.Framework)), newProp("requirement", code)},
	}
	if d := m.Detail; d != nil {
		p.Prose = d.Rationale
		p.Props = append(p.Props, newProp("strength", strconv.Itoa(d.Strength)), newProp("official", strconv.FormatBool(d.Official)))
		p.Props = appendProp(appendProp(p.Props, "relationship", d.Relationship), "source", d.Source)
	}
	c.Parts = append(c.Parts, p)
}

func (w *writer) backMatterResources() []resource {
	var out []resource
	add := func(kind string, n int, title, description string, props ...property) {
		out = append(
			out,
			resource{
				UUID:        w.uuidFor(kind, n),
				Title:       title,
				Description: description,
				Props:       append([]property{newProp("type", kind)}, props...),
			},
		)
	}
	for i := range w.src.Frameworks {
		f := &w.src.Frameworks[i]
		props := []property{newProp("code", f.Code)}
		for _, x := range []struct{ name, value string }{
			{"publisher", f.Publisher},
			{"jurisdiction", f.Jurisdiction},
			{"official-title", f.Title},
			{"source-url", f.SourceURL},
			{"column", f.Column},
		} {
			props = appendProp(props, x.name, x.value)
		}
		props = appendProps(appendProps(props, "alias", f.Aliases), "includes", f.Includes)
		for n, r := range f.Requirements {
			for _, x := range []struct{ name, value string }{{"requirement", r.Code}, {"requirement-title", r.Title}, {"requirement-text", r.Text}} {
				if x.value != "" {
					p := newProp(x.name, x.value)
					p.Group = fmt.Sprintf("r%d", n+1)
					props = append(props, p)
				}
			}
		}
		add(typeFramework, i, f.Name, "", props...)
	}
	for i, e := range w.src.Evidence {
		add(typeEvidence, i, e.Artifact, e.Description, appendProp(appendProp(nil, "code", e.Code), "area", e.Area)...)
	}
	for kind, list := range [][]scf.Hazard{w.src.Risks, w.src.Threats} {
		for i, h := range list {
			add(
				[]string{typeRisk, typeThreat}[kind],
				i,
				h.Title,
				h.Description,
				appendProp(appendProp(appendProp(nil, "code", h.Code), "group", h.Group), "csf-function", h.CSFFunction)...)
		}
	}
	for i, p := range w.src.Principles {
		add(typePrinciple, i, p.Name, p.Description, appendProps(appendProp(nil, "number", p.Number), "control", p.Controls)...)
	}
	return out
}

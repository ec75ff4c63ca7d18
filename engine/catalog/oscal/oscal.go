// Package oscal reads and writes catalogs in OSCAL, NIST's JSON format for security documents.
// A catalog of SCF controls becomes a whole catalog; other catalogs, profiles and mapping
// collections are merged into an existing catalog.
//
// A document is first validated against the schema of the OSCAL version it names, and is
// accepted whole or rejected with the place of the error. Nothing is fetched: a document may
// refer only to itself and to the existing catalog.
package oscal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Namespace is the namespace of the properties and parts that OSCAL itself does not define.
const Namespace = "urn:scf-service:oscal"

// Version is the OSCAL version of written documents: the newest one that go-oscal has a schema
// for. Mapping collections need at least 1.2.
const Version = "1.2.2"

// The parts of the OSCAL models that this package reads and writes.
type (
	documentRoot struct {
		Catalog *catalogDocument   `json:"catalog,omitempty"`
		Profile *profile           `json:"profile,omitempty"`
		Mapping *mappingCollection `json:"mapping-collection,omitempty"`
	}
	catalogDocument struct {
		UUID       string      `json:"uuid"`
		Metadata   metadata    `json:"metadata"`
		Params     []parameter `json:"params,omitempty"`
		Controls   []control   `json:"controls,omitempty"`
		Groups     []group     `json:"groups,omitempty"`
		BackMatter *backMatter `json:"back-matter,omitempty"`
	}
	metadata struct {
		Title        string     `json:"title"`
		LastModified string     `json:"last-modified"`
		Version      string     `json:"version"`
		OSCAL        string     `json:"oscal-version"`
		Props        []property `json:"props,omitempty"`
	}
	group struct {
		ID       string      `json:"id,omitempty"`
		Class    string      `json:"class,omitempty"`
		Title    string      `json:"title"`
		Params   []parameter `json:"params,omitempty"`
		Props    []property  `json:"props,omitempty"`
		Parts    []part      `json:"parts,omitempty"`
		Groups   []group     `json:"groups,omitempty"`
		Controls []control   `json:"controls,omitempty"`
	}
	control struct {
		ID       string      `json:"id"`
		Class    string      `json:"class,omitempty"`
		Title    string      `json:"title"`
		Params   []parameter `json:"params,omitempty"`
		Props    []property  `json:"props,omitempty"`
		Links    []link      `json:"links,omitempty"`
		Parts    []part      `json:"parts,omitempty"`
		Controls []control   `json:"controls,omitempty"`
	}
	part struct {
		ID    string     `json:"id,omitempty"`
		Name  string     `json:"name"`
		NS    string     `json:"ns,omitempty"`
		Title string     `json:"title,omitempty"`
		Props []property `json:"props,omitempty"`
		Prose string     `json:"prose,omitempty"`
		Parts []part     `json:"parts,omitempty"`
	}
	property struct {
		Name    string `json:"name"`
		NS      string `json:"ns,omitempty"`
		Value   string `json:"value"`
		Group   string `json:"group,omitempty"`
		Remarks string `json:"remarks,omitempty"`
	}
	link struct {
		Href     string `json:"href"`
		Rel      string `json:"rel,omitempty"`
		Fragment string `json:"resource-fragment,omitempty"`
	}
	backMatter struct {
		Resources []resource `json:"resources,omitempty"`
	}
	resource struct {
		UUID        string     `json:"uuid"`
		Title       string     `json:"title,omitempty"`
		Description string     `json:"description,omitempty"`
		Props       []property `json:"props,omitempty"`
		Rlinks      []link     `json:"rlinks,omitempty"`
	}
)

// Read reads an OSCAL document. A catalog of SCF controls is returned as a whole. Anything else (a profile, a
// mapping collection, or a catalog of other controls) is merged into a copy of base. Errors in the document
// are of type *custom.PathError.
func Read(data []byte, base *scf.Source) (*scf.Source, error) {
	sum, err := custom.CheckAndHashJSON(data)
	if err != nil {
		return nil, err
	}
	if err := Validate(data, "catalog", "profile", "mapping-collection"); err != nil {
		return nil, err
	}
	var doc documentRoot
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, pathErrorf("", "%v", err)
	}
	var src *scf.Source
	switch {
	case doc.Catalog != nil:
		src, err = readCatalog(doc.Catalog, base)
	case doc.Profile != nil:
		src, err = readProfile(doc.Profile, base)
	case doc.Mapping != nil:
		src, err = readCollection(doc.Mapping, base)
	default:
		return nil, pathErrorf("", "the OSCAL document is not a catalog, profile or mapping collection")
	}
	if err != nil {
		return nil, err
	}
	src.SHA256, src.Filename = sum, ""
	src.SetContentStatistics()
	src.Statistics.Warnings = len(src.Warnings)
	return src, nil
}

func pathErrorf(place, format string, args ...any) error {
	return &custom.PathError{Path: place, Message: fmt.Sprintf(format, args...)}
}

// propValue returns the value of the first property with the given name, or "" if there is none.
func propValue(props []property, name string) string {
	for _, p := range props {
		if p.Name == name {
			return p.value()
		}
	}
	return ""
}

// propValues returns the values of all properties with the given name.
func propValues(props []property, name string) (out []string) {
	for _, p := range props {
		if p.Name == name {
			out = append(out, p.value())
		}
	}
	return out
}

// valueInRemarks is written as the value of a property if OSCAL does not allow the real value, because it has
// line breaks or surrounding spaces. The real value is then in the remarks.
const valueInRemarks = "see-remarks"

func (p property) value() string {
	if p.Value == valueInRemarks && p.Remarks != "" {
		return p.Remarks
	}
	return p.Value
}

var singleLine = lazyregexp.New(`^\S(.*\S)?$`)

// newProp returns a property in this program's own namespace.
func newProp(name, value string) property {
	p := property{Name: name, NS: Namespace, Value: value}
	if !singleLine.MatchString(value) {
		p.Value, p.Remarks = valueInRemarks, value
	}
	return p
}

// appendProp appends a property unless the value is empty.
func appendProp(props []property, name, value string) []property {
	if value == "" {
		return props
	}
	return append(props, newProp(name, value))
}

func appendProps(props []property, name string, values []string) []property {
	for _, v := range values {
		props = append(props, newProp(name, v))
	}
	return props
}

// fullText returns the text of a part and of all parts nested in it, including their labels.
func (p *part) fullText() string {
	var b strings.Builder
	p.writeText(&b, 0)
	return strings.TrimSpace(b.String())
}

func (p *part) writeText(b *strings.Builder, depth int) {
	if p.Prose != "" {
		if label := propValue(p.Props, "label"); label != "" && depth > 0 {
			b.WriteString(label + " ")
		}
		b.WriteString(p.Prose + "\n")
	}
	for i := range p.Parts {
		p.Parts[i].writeText(b, depth+1)
	}
}

// copyForOverlay returns a copy of a catalog whose frameworks and mappings can be appended to without
// changing the original. The copy has no label, because the caller has to assign a new one.
func copyForOverlay(base *scf.Source) *scf.Source {
	out := *base
	out.Frameworks, out.Mappings = slices.Clone(base.Frameworks), slices.Clone(base.Mappings)
	out.Label, out.Warnings = "", nil
	return &out
}

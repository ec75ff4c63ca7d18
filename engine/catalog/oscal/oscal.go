// Package oscal reads and writes catalogs as OSCAL, NIST's JSON for security documents:
// a catalog of SCF controls as a whole catalog; other catalogs, profiles and mapping
// collections onto a catalog that is there.
//
// A document is held against the schema of the OSCAL version that it names before
// anything of it is used, and is taken whole or refused with its place. Nothing is
// fetched: what a document refers to is in it, or on the shelf, or refused.
package oscal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Namespace marks properties and parts that OSCAL itself does not name.
const Namespace = "urn:scf-service:oscal"

// Version is the OSCAL version that is written: the first release line with mapping
// collections, in its newest edition that go-oscal has the schemas of.
const Version = "1.2.2"

// The parts of the OSCAL models that are read and written here.
type (
	documentRoot struct {
		Catalog *catalogDocument   `json:"catalog,omitempty"`
		Profile *profile           `json:"profile,omitempty"`
		Mapping *mappingCollection `json:"mapping-collection,omitempty"`
	}
	catalogDocument struct {
		UUID       string      `json:"uuid"`
		Metadata   metadata    `json:"metadata"`
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
		ID       string     `json:"id,omitempty"`
		Class    string     `json:"class,omitempty"`
		Title    string     `json:"title"`
		Props    []property `json:"props,omitempty"`
		Parts    []part     `json:"parts,omitempty"`
		Groups   []group    `json:"groups,omitempty"`
		Controls []control  `json:"controls,omitempty"`
	}
	control struct {
		ID       string     `json:"id"`
		Class    string     `json:"class,omitempty"`
		Title    string     `json:"title"`
		Props    []property `json:"props,omitempty"`
		Links    []link     `json:"links,omitempty"`
		Parts    []part     `json:"parts,omitempty"`
		Controls []control  `json:"controls,omitempty"`
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

// Read takes a document. Base is the catalog that a profile, a mapping collection or a
// catalog of other controls is laid onto; it is not changed. Errors that are of the
// document are *custom.PathError.
func Read(data []byte, base *scf.Source) (*scf.Source, error) {
	sum, err := custom.Inspect(data)
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
		return nil, pathErrorf("", "it is OSCAL, but not a catalog, profile or mapping collection")
	}
	if err != nil {
		return nil, err
	}
	src.SHA256, src.Filename = sum, ""
	src.Statistics = src.CountStatistics()
	return src, nil
}

func pathErrorf(place, format string, args ...any) error {
	return &custom.PathError{Path: place, Message: fmt.Sprintf(format, args...)}
}

// propValue is the value of a property; where it would not fit there, it stands in the remarks.
func propValue(props []property, name string) string {
	for _, p := range props {
		if p.Name == name {
			return p.value()
		}
	}
	return ""
}

func propValues(props []property, name string) (out []string) {
	for _, p := range props {
		if p.Name == name {
			out = append(out, p.value())
		}
	}
	return out
}

// valueInRemarks is the value of a property whose text stands in its remarks.
const valueInRemarks = "see-remarks"

func (p property) value() string {
	if p.Value == valueInRemarks && p.Remarks != "" {
		return p.Remarks
	}
	return p.Value
}

var singleLine = lazyregexp.New(`^\S(.*\S)?$`)

func newProp(name, value string) property {
	p := property{Name: name, NS: Namespace, Value: value}
	if !singleLine.MatchString(value) {
		p.Value, p.Remarks = valueInRemarks, value
	}
	return p
}

// appendProp is a property where there is a value.
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

// fullText is what a part says, with the parts in it.
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

// copyForOverlay is a copy of a catalog to lay something onto.
func copyForOverlay(base *scf.Source) *scf.Source {
	out := *base
	out.Frameworks = append([]scf.Framework(nil), base.Frameworks...)
	out.Mappings = append([]scf.Mapping(nil), base.Mappings...)
	out.Label, out.Warnings = "", nil // a label of its own is for whoever asks to say
	return &out
}

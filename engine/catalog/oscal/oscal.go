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

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/structured"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Namespace marks properties and parts that OSCAL itself does not name.
const Namespace = "urn:scf-service:oscal"

// Version is the OSCAL version that is written: the first release line with mapping
// collections, in its newest edition that go-oscal has the schemas of.
const Version = "1.2.2"

// The parts of the OSCAL models that are read and written here.
type (
	root struct {
		Catalog *document   `json:"catalog,omitempty"`
		Profile *profile    `json:"profile,omitempty"`
		Mapping *collection `json:"mapping-collection,omitempty"`
	}
	document struct {
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
// document are *structured.PlaceError.
func Read(data []byte, base *scf.Source) (*scf.Source, error) {
	sum, err := structured.Inspect(data)
	if err != nil {
		return nil, err
	}
	if err := conforms(data, "catalog", "profile", "mapping-collection"); err != nil {
		return nil, err
	}
	var doc root
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, wrong("", "%v", err)
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
		return nil, wrong("", "it is OSCAL, but no catalog, profile or mapping collection")
	}
	if err != nil {
		return nil, err
	}
	src.SHA256, src.Filename = sum, ""
	src.Statistics = structured.Count(src)
	return src, nil
}

func wrong(place, format string, args ...any) error {
	return &structured.PlaceError{Place: place, Message: fmt.Sprintf(format, args...)}
}

// get is the value of a property; where it would not fit there, it stands in the remarks.
func get(props []property, name string) string {
	for _, p := range props {
		if p.Name == name {
			return p.text()
		}
	}
	return ""
}

func all(props []property, name string) (out []string) {
	for _, p := range props {
		if p.Name == name {
			out = append(out, p.text())
		}
	}
	return out
}

// elsewhere is the value of a property whose text stands in its remarks.
const elsewhere = "see-remarks"

func (p property) text() string {
	if p.Value == elsewhere && p.Remarks != "" {
		return p.Remarks
	}
	return p.Value
}

var fits = lazyregexp.Of(`^\S(.*\S)?$`)

func prop(name, value string) property {
	p := property{Name: name, NS: Namespace, Value: value}
	if !fits.MatchString(value) {
		p.Value, p.Remarks = elsewhere, value
	}
	return p
}

// some is a property where there is a value.
func some(props []property, name, value string) []property {
	if value == "" {
		return props
	}
	return append(props, prop(name, value))
}

func each(props []property, name string, values []string) []property {
	for _, v := range values {
		props = append(props, prop(name, v))
	}
	return props
}

// prose is what a part says, with the parts in it.
func (p *part) prose() string {
	var b strings.Builder
	p.say(&b, 0)
	return strings.TrimSpace(b.String())
}

func (p *part) say(b *strings.Builder, depth int) {
	if p.Prose != "" {
		if label := get(p.Props, "label"); label != "" && depth > 0 {
			b.WriteString(label + " ")
		}
		b.WriteString(p.Prose + "\n")
	}
	for i := range p.Parts {
		p.Parts[i].say(b, depth+1)
	}
}

// extend is a copy of a catalog to lay something onto.
func extend(base *scf.Source) *scf.Source {
	out := *base
	out.Frameworks = append([]scf.Framework(nil), base.Frameworks...)
	out.Mappings = append([]scf.Mapping(nil), base.Mappings...)
	out.Label, out.Warnings = "", nil // a label of its own is for whoever asks to say
	return &out
}

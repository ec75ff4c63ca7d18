package custom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/charset"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Set holds the frameworks and controls of a file.
type Set struct {
	Frameworks []api.CustomFrameworkBody
	Controls   []api.CustomControlBody
}

// SetOptions describes the framework that a CSV file contains.
type SetOptions struct {
	// Code and Name default to the name of the file.
	Code, Name string
}

// ReadSet reads frameworks and controls from a YAML, JSON or CSV file. It detects JSON by the
// content. To distinguish CSV from YAML, it also uses the file name.
func ReadSet(filename string, data []byte, o SetOptions) (*Set, error) {
	data, err := decodeText(data)
	if err != nil {
		return nil, err
	}
	head := bytes.TrimLeftFunc(data, unicode.IsSpace)
	var set *Set
	switch {
	case len(head) == 0:
		return nil, errors.New("it is empty")
	case head[0] == '{' || head[0] == '[':
		if _, err := CheckAndHashJSON(data); err != nil {
			return nil, err
		}
		if model := OSCALModel(data); model != "" {
			return nil, fmt.Errorf("the file is an OSCAL %s; import it into the catalog: service catalog import FILE --label LABEL", model)
		}
		set, err = readYAML(data)
	case isCSV(filename, head):
		set, err = readCSV(data, o.withDefaultsFrom(filename))
	default:
		set, err = readYAML(data)
	}
	if err != nil {
		return nil, err
	}
	if len(set.Frameworks)+len(set.Controls) == 0 {
		return nil, errors.New("the file contains no frameworks or controls; put them in lists named frameworks and controls")
	}
	return set, nil
}

// OSCALModel returns the model of an OSCAL document, judging by its top-level keys, or "" for other documents. OSCAL
// documents have a key that no other format has.
func OSCALModel(source []byte) string {
	var root map[string]json.RawMessage
	if json.Unmarshal(source, &root) == nil {
		for _, model := range []string{"catalog", "profile", "mapping-collection"} {
			if _, found := root[model]; found {
				return model
			}
		}
	}
	return ""
}

// decodeText returns text as UTF-8. Spreadsheet programs also write UTF-16 and older code pages.
func decodeText(data []byte) ([]byte, error) {
	decoded := data
	switch charset.Guess(data) {
	case charset.UTF16LE, charset.UTF16BE:
		text, _ := charset.Decode(data)
		decoded = []byte(text)
	case charset.OtherCharset:
		if !hasMultiByte(data) && bytes.IndexByte(data, 0) < 0 {
			text, _ := charset.Decode(data)
			decoded = []byte(text)
		}
	case charset.UTF8:
		decoded = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	}
	switch {
	case bytes.ContainsFunc(decoded, func(r rune) bool { return r < '\t' || r > '\r' && r < ' ' }):
		return nil, errors.New("the file is not a text file")
	case !utf8.Valid(decoded):
		return nil, errors.New("the file is damaged or not UTF-8; save it as UTF-8")
	}
	return decoded, nil
}

// hasMultiByte reports whether data contains a multi-byte UTF-8 character. Text in a legacy code page rarely does.
func hasMultiByte(data []byte) bool {
	for len(data) > 0 {
		_, n := utf8.DecodeRune(data)
		if n > 1 {
			return true
		}
		data = data[n:]
	}
	return false
}

// withDefaultsFrom returns the options with empty fields set to defaults derived from the file name.
func (o SetOptions) withDefaultsFrom(filename string) SetOptions {
	base := strings.TrimSuffix(filepath.Base(filename), filepath.Ext(filename))
	if o.Name == "" {
		o.Name = strings.TrimSpace(base)
	}
	if o.Code == "" {
		o.Code = strings.Trim(nonSlugChars.ReplaceAllString(strings.ToLower(base), "-"), "-.")
	}
	return o
}

var nonSlugChars = lazyregexp.New(`[^a-z0-9.]+`)

// customFile is the content of a YAML or JSON file: either lists of frameworks and controls, or a single
// framework as the API returns it.
type customFile struct {
	Frameworks     []frameworkEntry `yaml:"frameworks"`
	Controls       []controlEntry   `yaml:"controls"`
	frameworkEntry `yaml:",inline"`
}

type frameworkEntry struct {
	Code          string             `yaml:"code"`
	Name          string             `yaml:"name"`
	Title         *string            `yaml:"title"`
	Publisher     *string            `yaml:"publisher"`
	Jurisdiction  *string            `yaml:"jurisdiction"`
	SourceURL     *string            `yaml:"source_url"`
	Requirements  []requirementEntry `yaml:"requirements"`
	RequirementN  any                `yaml:"requirement_count"`
	ignoredFields `yaml:",inline"`
}

// ignoredFields are read-only fields of API records. A file may contain them; they have no effect.
type ignoredFields struct {
	Revision     any `yaml:"revision"`
	Organization any `yaml:"organization_id"`
	IsCustom     any `yaml:"is_custom"`
	UpdatedBy    any `yaml:"updated_by"`
	CreatedAt    any `yaml:"created_at"`
	UpdatedAt    any `yaml:"updated_at"`
	Unresolved   any `yaml:"unresolved"`
}

type requirementEntry struct {
	Code      string          `yaml:"code"`
	Title     *string         `yaml:"title"`
	Text      *string         `yaml:"text"`
	Controls  []string        `yaml:"controls"`
	Relations []relationEntry `yaml:"relations"`
}

type relationEntry struct {
	Control      string `yaml:"control"`
	Relationship string `yaml:"relationship"`
	Strength     *int   `yaml:"strength"`
	Rationale    string `yaml:"rationale"`
}

type controlEntry struct {
	Code          string              `yaml:"code"`
	Title         string              `yaml:"title"`
	Description   string              `yaml:"description"`
	Question      *string             `yaml:"question"`
	DomainName    *string             `yaml:"domain_name"`
	Weight        *int                `yaml:"weight"`
	CSFFunction   *string             `yaml:"csf_function"`
	Cadence       *string             `yaml:"cadence"`
	Applicability []string            `yaml:"applicability"`
	Traits        []string            `yaml:"traits"`
	Tags          []string            `yaml:"tags"`
	Evidence      []string            `yaml:"evidence_requests"`
	Objectives    []string            `yaml:"assessment_objectives"`
	Maturity      map[string]string   `yaml:"maturity"`
	Controls      []string            `yaml:"controls"`
	Requirements  map[string][]string `yaml:"requirements"`
	ignoredFields `yaml:",inline"`
}

// Limits of a YAML file: the number of values and their nesting depth.
const (
	maxNodes       = 500_000
	maxYAMLNesting = 24
)

// readYAML reads a set from YAML. It also reads JSON, which is valid YAML.
func readYAML(data []byte) (*Set, error) {
	if err := checkBracketNesting(data); err != nil {
		return nil, err
	}
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&root); err != nil {
		return nil, simplifyYAMLError(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file contains more than one document; put all frameworks and controls in a single document")
	}
	nodes := 0
	if err := checkYAMLTree(&root, 0, &nodes); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the top level must have the field frameworks or controls (or both), each containing a list")
	}
	d = yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	var f customFile
	if err := d.Decode(&f); err != nil {
		return nil, simplifyYAMLError(err)
	}
	return f.toSet(), nil
}

// checkBracketNesting returns an error if brackets are nested too deeply. It is called before the YAML
// parser, which is recursive.
func checkBracketNesting(data []byte) error {
	depth := 0
	for i, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			if i+1 < len(data) && data[i+1] != ' ' && data[i+1] != '\t' {
				depth = 0 // the brackets were part of a text
			}
		}
		if depth > 10*maxYAMLNesting {
			return fmt.Errorf("line %d: the document is nested more than %d levels deep", 1+bytes.Count(data[:i], []byte("\n")), maxYAMLNesting)
		}
	}
	return nil
}

// checkYAMLTree returns an error if the tree below n exceeds the limits or contains an alias. Aliases would
// let a small file expand without bound.
func checkYAMLTree(n *yaml.Node, depth int, nodeCount *int) error {
	*nodeCount++
	switch {
	case depth > maxYAMLNesting:
		return fmt.Errorf("line %d: the document is nested more than %d levels deep", n.Line, maxYAMLNesting)
	case *nodeCount > maxNodes:
		return fmt.Errorf("line %d contains more than %d values", n.Line, maxNodes)
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("line %d: replace *%s with its value; references are not allowed", n.Line, scf.Shorten(n.Value))
	}
	for _, c := range n.Content {
		if err := checkYAMLTree(c, depth+1, nodeCount); err != nil {
			return err
		}
	}
	return nil
}

var goTypeNames = lazyregexp.New(` in type custom\.\w+| into custom\.\w+`)

// simplifyYAMLError returns the first line of a YAML decoder's error, without Go type names.
func simplifyYAMLError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if _, rest, several := strings.Cut(text, "unmarshal errors:\n"); several {
		text, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
	}
	text = strings.ReplaceAll(goTypeNames.ReplaceAllString(text, ""), "!!", "")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return errors.New(text)
}

func (f *customFile) toSet() *Set {
	out := &Set{}
	for _, x := range f.Frameworks {
		out.Frameworks = append(out.Frameworks, x.toBody())
	}
	if f.frameworkEntry.Code != "" || len(f.frameworkEntry.Requirements) > 0 {
		out.Frameworks = append(out.Frameworks, f.frameworkEntry.toBody())
	}
	for _, c := range f.Controls {
		out.Controls = append(out.Controls, c.toBody())
	}
	return out
}

func (f frameworkEntry) toBody() api.CustomFrameworkBody {
	out := api.CustomFrameworkBody{
		Code: f.Code, Name: f.Name, Title: f.Title, Publisher: f.Publisher, Jurisdiction: f.Jurisdiction, SourceURL: f.SourceURL,
		Requirements: make([]api.CustomRequirement, 0, len(f.Requirements)),
	}
	for _, r := range f.Requirements {
		b := api.CustomRequirement{Code: scf.CollapseSpaces(r.Code), Title: r.Title, Text: r.Text, Controls: r.Controls}
		for _, x := range r.Relations {
			b.Relations = append(b.Relations, api.CustomRelation(x))
		}
		out.Requirements = append(out.Requirements, b)
	}
	return out
}

func (c controlEntry) toBody() api.CustomControlBody {
	return api.CustomControlBody{
		Code:          strings.ToUpper(strings.TrimSpace(c.Code)),
		Title:         c.Title,
		Description:   c.Description,
		Question:      c.Question,
		DomainName:    c.DomainName,
		Weight:        c.Weight,
		CSFFunction:   c.CSFFunction,
		Cadence:       c.Cadence,
		Applicability: c.Applicability,
		Traits:        c.Traits,
		Tags:          c.Tags,
		Evidence:      c.Evidence,
		Objectives:    c.Objectives,
		Maturity:      c.Maturity,
		Controls:      c.Controls,
		Requirements:  c.Requirements,
	}
}

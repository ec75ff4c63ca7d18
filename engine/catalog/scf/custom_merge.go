package scf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Custom is one revision of the frameworks and controls that an organization has added.
type Custom struct {
	OrganizationID string
	Revision       int
	Frameworks     []api.CustomFrameworkBody
	Controls       []api.CustomControlBody
}

// Limits on an organization's additions to a catalog.
const (
	maxCustomFrameworks   = 200
	maxCustomControls     = 2000
	maxCustomRequirements = 10000
)

// CustomError describes an error in one of an organization's own frameworks or controls.
type CustomError struct{ Place, Message string }

func (e *CustomError) Error() string { return e.Place + ": " + e.Message }

var (
	customControlCode   = lazyregexp.New(`^[A-Z][A-Z0-9]{0,11}-\d{1,4}(\.\d{1,3})?$`)
	customFrameworkCode = lazyregexp.New(`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`)
)

// IsCustomControlCode reports whether an organization may use a code for its own control. The code must have the
// form of a custom control code, and it must not be a code that a release of the SCF could use.
func IsCustomControlCode(code string) bool {
	return customControlCode.MatchString(code) && !IsControlCode(code)
}

// WithCustom returns the catalog including an organization's additions, under the same version ID. If one of the
// organization's frameworks has the same code as a framework of the catalog, "-custom" is appended to the code of
// the organization's framework. Mappings to controls and requirements that this version doesn't have are omitted
// from the catalog and returned in missing, keyed by the code of the framework or control that contains them.
func (s *Snapshot) WithCustom(c *Custom) (merged *Snapshot, missing map[string][]string, _ error) {
	m := newCustomMerge(s, c)
	for i := range c.Controls {
		m.addControl(&c.Controls[i])
	}
	for i := range c.Frameworks {
		m.addFramework(&c.Frameworks[i])
	}
	for i := range c.Controls {
		m.addControlMappings(&c.Controls[i])
	}
	out, err := NewSnapshot(m.src, s.version)
	if err != nil {
		return nil, nil, err
	}
	out.record = s.record // the record describes the imported version
	return out, m.missing, nil
}

// customMerge builds the source of a catalog that includes an organization's own frameworks and controls.
type customMerge struct {
	base           *Snapshot
	organizationID string
	src            *Source
	missing        map[string][]string

	controls     map[string]int
	domains      map[string]bool
	frameworks   map[string]int // as spelled by the organization
	requirements map[int]map[string]int
	// mappingsByControl holds the mappings by control, for related controls.
	mappingsByControl map[int][]Mapping
	added             map[Mapping]bool // without details
}

func newCustomMerge(s *Snapshot, c *Custom) *customMerge {
	src := *s.src
	src.Domains, src.Controls = slices.Clone(src.Domains), slices.Clone(src.Controls)
	src.Frameworks, src.Mappings = slices.Clone(src.Frameworks), slices.Clone(src.Mappings)
	src.Evidence = slices.Clone(src.Evidence)
	m := &customMerge{
		base: s, organizationID: c.OrganizationID, src: &src, missing: map[string][]string{},
		controls: make(map[string]int, len(s.controls)+len(c.Controls)), domains: map[string]bool{}, frameworks: map[string]int{},
		requirements: map[int]map[string]int{}, mappingsByControl: map[int][]Mapping{}, added: map[Mapping]bool{},
	}
	for code, i := range s.controls {
		m.controls[code] = i
	}
	for code := range s.domains {
		m.domains[code] = true
	}
	return m
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// addControl adds a custom control. If the catalog doesn't have the domain that the control's code indicates, the
// domain is added as well.
func (m *customMerge) addControl(b *api.CustomControlBody) {
	if prefix := DomainCodeOf(b.Code); !m.domains[prefix] {
		m.domains[prefix] = true
		name := stringOrEmpty(b.DomainName)
		if name == "" {
			name = "Own controls (" + prefix + ")"
		}
		m.src.Domains = append(m.src.Domains, Domain{Code: prefix, Name: name})
	}
	c := Control{
		Code:          b.Code,
		Title:         b.Title,
		Description:   b.Description,
		Question:      stringOrEmpty(b.Question),
		Weight:        NoWeight,
		Applicability: b.Applicability,
		CSFFunction:   stringOrEmpty(b.CSFFunction),
		Cadence:       stringOrEmpty(b.Cadence),
		Traits:        b.Traits,
		Tags:          b.Tags,
		Owner:         m.organizationID,
	}
	if b.Weight != nil {
		c.Weight = *b.Weight
	}
	for level := range c.Maturity {
		c.Maturity[level] = b.Maturity[fmt.Sprint(level)]
	}
	for n, o := range b.Objectives {
		c.Objectives = append(c.Objectives, Objective{Code: fmt.Sprintf("%s_A%02d", b.Code, n+1), Text: o})
	}
	for _, e := range b.Evidence {
		c.Evidence = append(c.Evidence, len(m.src.Evidence))
		m.src.Evidence = append(m.src.Evidence, EvidenceRequest{Artifact: e})
	}
	m.controls[b.Code] = len(m.src.Controls)
	m.src.Controls = append(m.src.Controls, c)
}

// addFramework adds a custom framework with its requirements and mappings.
func (m *customMerge) addFramework(b *api.CustomFrameworkBody) {
	code := b.Code
	if _, taken := m.base.frameworks[code]; taken {
		code += "-custom"
	}
	f := Framework{
		Code:         code,
		Name:         b.Name,
		Title:        stringOrEmpty(b.Title),
		Publisher:    stringOrEmpty(b.Publisher),
		Jurisdiction: stringOrEmpty(b.Jurisdiction),
		SourceURL:    stringOrEmpty(b.SourceURL),
		Owner:        m.organizationID,
	}
	number := len(m.src.Frameworks)
	codes := make(map[string]int, len(b.Requirements))
	for n := range b.Requirements {
		r := &b.Requirements[n]
		codes[r.Code] = n
		f.Requirements = append(f.Requirements, Requirement{Code: r.Code, Title: stringOrEmpty(r.Title), Text: stringOrEmpty(r.Text)})
	}
	m.frameworks[b.Code], m.requirements[number] = number, codes
	m.src.Frameworks = append(m.src.Frameworks, f)
	for n := range b.Requirements {
		for _, c := range b.Requirements[n].Controls {
			m.linkControl(b.Code, c, number, n, MappingDetail{Strength: -1})
		}
		for _, r := range b.Requirements[n].Relations {
			d := MappingDetail{Relationship: r.Relationship, Strength: -1, Rationale: r.Rationale}
			if r.Strength != nil {
				d.Strength = *r.Strength
			}
			m.linkControl(b.Code, r.Control, number, n, d)
		}
	}
}

// sourceCustom is the source that is recorded for mappings defined by an organization.
const sourceCustom = "custom"

func (m *customMerge) linkControl(source, control string, framework, requirement int, d MappingDetail) {
	c, known := m.controls[strings.ToUpper(strings.TrimSpace(control))]
	if !known {
		m.recordMissing(source, control)
		return
	}
	d.Source = sourceCustom
	m.addMapping(Mapping{Control: c, Framework: framework, Requirement: requirement, Detail: &d})
}

func (m *customMerge) recordMissing(source, reference string) {
	if !slices.Contains(m.missing[source], reference) {
		m.missing[source] = append(m.missing[source], reference)
	}
}

// addMapping adds a mapping, unless the control is already mapped to that requirement.
func (m *customMerge) addMapping(n Mapping) {
	pair := Mapping{Control: n.Control, Framework: n.Framework, Requirement: n.Requirement}
	if m.added[pair] {
		return
	}
	m.added[pair] = true
	m.src.Mappings = append(m.src.Mappings, n)
	m.mappingsByControl[n.Control] = append(m.mappingsByControl[n.Control], n)
}

// addControlMappings adds the mappings of a custom control: first its own, then those of its related controls.
func (m *customMerge) addControlMappings(b *api.CustomControlBody) {
	for _, ref := range slices.Sorted(maps.Keys(b.Requirements)) {
		f, own := m.frameworks[ref]
		for _, code := range b.Requirements[ref] {
			if own {
				if r, found := m.requirements[f][code]; found {
					m.linkControl(b.Code, b.Code, f, r, MappingDetail{Strength: -1})
					continue
				}
			} else if g, err := m.base.findFramework(ref); err == nil {
				if n, err := m.base.findRequirementIn(g, code); err == nil {
					in, r := m.base.locateRequirement(n)
					m.linkControl(b.Code, b.Code, in, r, MappingDetail{Strength: -1})
					continue
				}
			}
			m.recordMissing(b.Code, ref+":"+code)
		}
	}
	for _, ref := range b.Controls {
		c, known := m.controls[strings.ToUpper(strings.TrimSpace(ref))]
		if !known {
			m.recordMissing(b.Code, ref)
			continue
		}
		existing := slices.Clone(m.mappingsByControl[c])
		if c < len(m.base.src.Controls) {
			existing = append(existing, m.base.src.Mappings[m.base.firstMapping[c]:m.base.firstMapping[c+1]]...)
		}
		for _, other := range existing {
			m.linkControl(
				b.Code,
				b.Code,
				other.Framework,
				other.Requirement,
				MappingDetail{Strength: -1, Rationale: "related to " + m.src.Controls[c].Code},
			)
		}
	}
}

// officialFramework returns the code of the framework with the given code or name, ignoring frameworks that the
// organization has added. found is false if there is none.
func (s *Snapshot) officialFramework(ref string) (frameworkCode string, found bool) {
	for _, code := range []string{ref, strings.ToLower(ref), FrameworkCode(ref)} {
		if i, ok := s.frameworks[code]; ok {
			return s.src.Frameworks[i].Code, true
		}
	}
	for i := range s.src.Frameworks {
		if f := &s.src.Frameworks[i]; strings.EqualFold(f.Name, CollapseSpaces(ref)) {
			return f.Code, true
		}
	}
	return "", false
}

// CheckCustom returns an error if an organization's additions can't be added to the catalog, for example because of
// invalid codes, codes that are already used, duplicates, or mappings to unknown records. Errors are of type
// *CustomError.
func (s *Snapshot) CheckCustom(c *Custom) error {
	if len(c.Frameworks) > maxCustomFrameworks || len(c.Controls) > maxCustomControls {
		return &CustomError{
			"the organization",
			fmt.Sprintf("at most %d custom frameworks and %d custom controls are allowed", maxCustomFrameworks, maxCustomControls),
		}
	}
	seen := map[string]bool{}
	for i := range c.Frameworks {
		f := &c.Frameworks[i]
		if err := s.checkCustomFramework(f); err != nil {
			return err
		}
		if seen[f.Code] {
			return &CustomError{"framework " + f.Code, "the code is used twice"}
		}
		seen[f.Code] = true
	}
	for i := range c.Controls {
		k := &c.Controls[i]
		if err := checkCustomControl(k); err != nil {
			return err
		}
		if seen[k.Code] {
			return &CustomError{"control " + k.Code, "the code is used twice"}
		}
		seen[k.Code] = true
	}
	return nil
}

func (s *Snapshot) checkCustomFramework(f *api.CustomFrameworkBody) error {
	place := "framework " + Shorten(f.Code)
	if !customFrameworkCode.MatchString(f.Code) || len(f.Code) > 80 {
		return &CustomError{place, "the code must consist of lower-case letters, digits, dots and hyphens, such as yard-rules"}
	}
	for _, name := range []string{f.Code, f.Name} {
		if official, taken := s.officialFramework(name); taken {
			return &CustomError{
				place,
				fmt.Sprintf("the catalog already uses %q for framework %s; choose another code and name", Shorten(name), official),
			}
		}
	}
	if strings.TrimSpace(f.Name) == "" {
		return &CustomError{place, "a framework needs a name"}
	}
	if err := api.CheckName("name", f.Name); err != nil {
		return &CustomError{place, err.Error()}
	}
	if n := len(f.Requirements); n == 0 || n > maxCustomRequirements {
		return &CustomError{place, fmt.Sprintf("the framework has %d requirements; it must have 1 to %d", n, maxCustomRequirements)}
	}
	seen := map[string]bool{}
	for _, r := range f.Requirements {
		at := place + ", requirement " + Shorten(r.Code)
		if r.Code == "" || len(r.Code) > 120 || r.Code != CollapseSpaces(r.Code) {
			return &CustomError{at, "a requirement needs a code, a single line of at most 120 characters"}
		}
		if seen[r.Code] {
			return &CustomError{at, "the code is used twice"}
		}
		seen[r.Code] = true
		for _, x := range r.Relations {
			if !slices.Contains([]string{"", "equal", "subset", "superset", "intersects", "none"}, x.Relationship) {
				return &CustomError{
					at,
					fmt.Sprintf("unknown relationship %q; use equal, subset, superset, intersects or none", Shorten(x.Relationship)),
				}
			}
			if x.Strength != nil && (*x.Strength < 0 || *x.Strength > 10) {
				return &CustomError{at, fmt.Sprintf("the strength %d is not between 0 and 10", *x.Strength)}
			}
		}
	}
	return nil
}

func checkCustomControl(k *api.CustomControlBody) error {
	place := "control " + Shorten(k.Code)
	switch {
	case IsControlCode(k.Code):
		return &CustomError{place, "codes with three letters and two digits are reserved for the SCF; use a code such as YARD-01 or ABC-001"}
	case !IsCustomControlCode(k.Code):
		return &CustomError{place, "a code consists of capital letters and digits, followed by a hyphen and a number, such as YARD-01"}
	case strings.TrimSpace(k.Title) == "", strings.TrimSpace(k.Description) == "":
		return &CustomError{place, "a control needs a title and a description"}
	case api.CheckName("title", k.Title) != nil:
		return &CustomError{place, api.CheckName("title", k.Title).Error()}
	case k.Weight != nil && (*k.Weight < 1 || *k.Weight > 10):
		return &CustomError{place, fmt.Sprintf("the weight %d is not between 1 and 10", *k.Weight)}
	}
	for level := range k.Maturity {
		if len(level) != 1 || level < "0" || level > "5" {
			return &CustomError{place, fmt.Sprintf("unknown maturity level %q; use 0 to 5", Shorten(level))}
		}
	}
	for _, t := range k.Traits {
		if !slices.Contains(api.TraitNames, t) {
			return &CustomError{
				place,
				fmt.Sprintf("unknown trait %q; the traits are %s", Shorten(t), strings.Join(api.TraitNames, ", ")),
			}
		}
	}
	return nil
}

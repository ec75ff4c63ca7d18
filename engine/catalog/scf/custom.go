package scf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Custom is what an organization adds to a catalog: frameworks and controls of its own,
// in one revision.
type Custom struct {
	OrganizationID string
	Revision       int
	Frameworks     []api.CustomFrameworkBody
	Controls       []api.CustomControlBody
}

// What an organization may add at most.
const (
	maxCustomFrameworks   = 200
	maxCustomControls     = 2000
	maxCustomRequirements = 10000
)

// A CustomError says what is wrong with which framework or control of an organization.
type CustomError struct{ Place, Message string }

func (e *CustomError) Error() string { return e.Place + ": " + e.Message }

var (
	customCode    = lazyregexp.Of(`^[A-Z][A-Z0-9]{0,11}-\d{1,4}(\.\d{1,3})?$`)
	frameworkCode = lazyregexp.Of(`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`)
)

// ValidCustomCode reports whether an organization may give a control this code: of the
// same kind as the SCF's, but never one that a release could take.
func ValidCustomCode(code string) bool { return customCode.MatchString(code) && !ValidCode(code) }

// With is the catalog with what an organization adds, under the same version id. Where
// the catalog has a framework of the same code by now, the organization's is known by
// its code with "-custom" behind. Mappings to controls and requirements that this version
// lacks are left out; they are returned, by the code of the framework or control that names them.
func (s *Snapshot) With(c *Custom) (*Snapshot, map[string][]string, error) {
	m := newMerge(s, c)
	for i := range c.Controls {
		m.control(&c.Controls[i])
	}
	for i := range c.Frameworks {
		m.framework(&c.Frameworks[i])
	}
	for i := range c.Controls {
		m.answers(&c.Controls[i])
	}
	out, err := New(m.src, s.meta)
	if err != nil {
		return nil, nil, err
	}
	out.record = s.record // the version is what was imported
	return out, m.missing, nil
}

// merge builds the source of a catalog with what an organization adds.
type merge struct {
	base    *Snapshot
	owner   string
	src     *Source
	missing map[string][]string

	controls     map[string]int
	domains      map[string]bool
	frameworks   map[string]int // as the organization writes them
	requirements map[int]map[string]int
	// of holds the mappings by control, for those that stand beside another.
	of   map[int][]Mapping
	have map[Mapping]bool // without details
}

func newMerge(s *Snapshot, c *Custom) *merge {
	src := *s.src
	src.Domains, src.Controls = slices.Clone(src.Domains), slices.Clone(src.Controls)
	src.Frameworks, src.Mappings = slices.Clone(src.Frameworks), slices.Clone(src.Mappings)
	src.Evidence = slices.Clone(src.Evidence)
	m := &merge{base: s, owner: c.OrganizationID, src: &src, missing: map[string][]string{},
		controls: make(map[string]int, len(s.controls)+len(c.Controls)), domains: map[string]bool{}, frameworks: map[string]int{},
		requirements: map[int]map[string]int{}, of: map[int][]Mapping{}, have: map[Mapping]bool{}}
	for code, i := range s.controls {
		m.controls[code] = i
	}
	for code := range s.domains {
		m.domains[code] = true
	}
	return m
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// control adds a control, and the domain of its code where there is none.
func (m *merge) control(b *api.CustomControlBody) {
	if prefix := DomainOf(b.Code); !m.domains[prefix] {
		m.domains[prefix] = true
		name := text(b.DomainName)
		if name == "" {
			name = "Own controls (" + prefix + ")"
		}
		m.src.Domains = append(m.src.Domains, Domain{Code: prefix, Name: name})
	}
	c := Control{
		Code: b.Code, Title: b.Title, Description: b.Description, Question: text(b.Question), Weight: NoWeight,
		Applicability: b.Applicability, CSFFunction: text(b.CSFFunction), Cadence: text(b.Cadence), Traits: b.Traits, Tags: b.Tags, Owner: m.owner,
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

// framework adds a framework with its mappings.
func (m *merge) framework(b *api.CustomFrameworkBody) {
	code := b.Code
	if _, taken := m.base.frameworks[code]; taken {
		code += "-custom"
	}
	f := Framework{Code: code, Name: b.Name, Title: text(b.Title), Publisher: text(b.Publisher), Jurisdiction: text(b.Jurisdiction),
		SourceURL: text(b.SourceURL), Owner: m.owner}
	number := len(m.src.Frameworks)
	codes := make(map[string]int, len(b.Requirements))
	for n := range b.Requirements {
		r := &b.Requirements[n]
		codes[r.Code] = n
		f.Requirements = append(f.Requirements, Requirement{Code: r.Code, Title: text(r.Title), Text: text(r.Text)})
	}
	m.frameworks[b.Code], m.requirements[number] = number, codes
	m.src.Frameworks = append(m.src.Frameworks, f)
	for n := range b.Requirements {
		for _, c := range b.Requirements[n].Controls {
			m.link(b.Code, c, number, n, MappingDetail{Strength: -1})
		}
		for _, r := range b.Requirements[n].Relations {
			d := MappingDetail{Relationship: r.Relationship, Strength: -1, Rationale: r.Rationale}
			if r.Strength != nil {
				d.Strength = *r.Strength
			}
			m.link(b.Code, r.Control, number, n, d)
		}
	}
}

// sourceCustom is what states a mapping that an organization made.
const sourceCustom = "custom"

func (m *merge) link(by, control string, framework, requirement int, d MappingDetail) {
	c, known := m.controls[strings.ToUpper(strings.TrimSpace(control))]
	if !known {
		m.miss(by, control)
		return
	}
	d.Source = sourceCustom
	m.add(Mapping{Control: c, Framework: framework, Requirement: requirement, Detail: &d})
}

func (m *merge) miss(by, what string) {
	if !slices.Contains(m.missing[by], what) {
		m.missing[by] = append(m.missing[by], what)
	}
}

// add takes a mapping once; the first word on a pair stands.
func (m *merge) add(n Mapping) {
	pair := Mapping{Control: n.Control, Framework: n.Framework, Requirement: n.Requirement}
	if m.have[pair] {
		return
	}
	m.have[pair] = true
	m.src.Mappings = append(m.src.Mappings, n)
	m.of[n.Control] = append(m.of[n.Control], n)
}

// answers adds what a custom control answers: what is said, then what those do that it stands beside.
func (m *merge) answers(b *api.CustomControlBody) {
	for _, ref := range slices.Sorted(maps.Keys(b.Requirements)) {
		f, own := m.frameworks[ref]
		for _, code := range b.Requirements[ref] {
			if own {
				if r, there := m.requirements[f][code]; there {
					m.link(b.Code, b.Code, f, r, MappingDetail{Strength: -1})
					continue
				}
			} else if g, err := m.base.findFramework(ref); err == nil {
				if n, err := m.base.requirementIn(g, code); err == nil {
					in, r := m.base.frameworkOf(n)
					m.link(b.Code, b.Code, in, r, MappingDetail{Strength: -1})
					continue
				}
			}
			m.miss(b.Code, ref+":"+code)
		}
	}
	for _, ref := range b.Controls {
		c, known := m.controls[strings.ToUpper(strings.TrimSpace(ref))]
		if !known {
			m.miss(b.Code, ref)
			continue
		}
		beside := slices.Clone(m.of[c])
		if c < len(m.base.src.Controls) {
			beside = append(beside, m.base.src.Mappings[m.base.byControl[c]:m.base.byControl[c+1]]...)
		}
		for _, other := range beside {
			m.link(b.Code, b.Code, other.Framework, other.Requirement, MappingDetail{Strength: -1, Rationale: "stands beside " + m.src.Controls[c].Code})
		}
	}
}

// known is the framework of the source's own that a code or name means, if any.
func (s *Snapshot) known(ref string) (string, bool) {
	for _, code := range []string{ref, strings.ToLower(ref), Slug(ref)} {
		if i, ok := s.frameworks[code]; ok {
			return s.src.Frameworks[i].Code, true
		}
	}
	for i := range s.src.Frameworks {
		if f := &s.src.Frameworks[i]; strings.EqualFold(f.Name, Collapse(ref)) {
			return f.Code, true
		}
	}
	return "", false
}

// CheckCustom refuses what can't stand beside the catalog: codes of a form that is not
// allowed or taken, the same one twice, mappings to what there is not. Errors are *CustomError.
func (s *Snapshot) CheckCustom(c *Custom) error {
	if len(c.Frameworks) > maxCustomFrameworks || len(c.Controls) > maxCustomControls {
		return &CustomError{"the organization", fmt.Sprintf("at most %d frameworks and %d controls of its own", maxCustomFrameworks, maxCustomControls)}
	}
	seen := map[string]bool{}
	for i := range c.Frameworks {
		f := &c.Frameworks[i]
		if err := s.checkFramework(f); err != nil {
			return err
		}
		if seen[f.Code] {
			return &CustomError{"framework " + f.Code, "the code occurs twice"}
		}
		seen[f.Code] = true
	}
	for i := range c.Controls {
		k := &c.Controls[i]
		if err := checkControl(k); err != nil {
			return err
		}
		if seen[k.Code] {
			return &CustomError{"control " + k.Code, "the code occurs twice"}
		}
		seen[k.Code] = true
	}
	return nil
}

// brief keeps what an error repeats small.
func brief(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func (s *Snapshot) checkFramework(f *api.CustomFrameworkBody) error {
	place := "framework " + brief(f.Code)
	if !frameworkCode.MatchString(f.Code) || len(f.Code) > 80 {
		return &CustomError{place, "the code is made of small letters, digits, dots and hyphens, such as yard-rules"}
	}
	for _, name := range []string{f.Code, f.Name} {
		if official, taken := s.known(name); taken {
			return &CustomError{place, fmt.Sprintf("%q is the framework %s of the catalog; give your own another code and name", brief(name), official)}
		}
	}
	if strings.TrimSpace(f.Name) == "" {
		return &CustomError{place, "a framework needs a name"}
	}
	if n := len(f.Requirements); n == 0 || n > maxCustomRequirements {
		return &CustomError{place, fmt.Sprintf("it has %d requirements; a framework has 1 to %d", n, maxCustomRequirements)}
	}
	seen := map[string]bool{}
	for _, r := range f.Requirements {
		at := place + ", requirement " + brief(r.Code)
		if r.Code == "" || len(r.Code) > 120 || r.Code != Collapse(r.Code) {
			return &CustomError{at, "a requirement needs a code of one line and at most 120 characters"}
		}
		if seen[r.Code] {
			return &CustomError{at, "the code occurs twice"}
		}
		seen[r.Code] = true
		for _, x := range r.Relations {
			if !slices.Contains([]string{"", "equal", "subset", "superset", "intersects", "none"}, x.Relationship) {
				return &CustomError{at, fmt.Sprintf("there is no relationship %q; write equal, subset, superset, intersects or none", brief(x.Relationship))}
			}
			if x.Strength != nil && (*x.Strength < 0 || *x.Strength > 10) {
				return &CustomError{at, fmt.Sprintf("the strength %d is not between 0 and 10", *x.Strength)}
			}
		}
	}
	return nil
}

func checkControl(k *api.CustomControlBody) error {
	place := "control " + brief(k.Code)
	switch {
	case ValidCode(k.Code):
		return &CustomError{place, "three letters and two digits is how the SCF writes its own codes; write yours as YARD-01 or ABC-001"}
	case !ValidCustomCode(k.Code):
		return &CustomError{place, "a code is capital letters and digits, a hyphen and a number, such as YARD-01"}
	case strings.TrimSpace(k.Title) == "", strings.TrimSpace(k.Description) == "":
		return &CustomError{place, "a control needs a title and a description"}
	case k.Weight != nil && (*k.Weight < 1 || *k.Weight > 10):
		return &CustomError{place, fmt.Sprintf("the weight %d is not between 1 and 10", *k.Weight)}
	}
	for level := range k.Maturity {
		if len(level) != 1 || level < "0" || level > "5" {
			return &CustomError{place, fmt.Sprintf("there is no maturity level %q; they are 0 to 5", brief(level))}
		}
	}
	for _, t := range k.Traits {
		if !slices.Contains(api.TraitNames, t) {
			return &CustomError{place, fmt.Sprintf("there is no trait %q; the traits are %s", brief(t), strings.Join(api.TraitNames, ", "))}
		}
	}
	return nil
}

// Package scf holds a whole control catalog in memory: the importer's result (Source), the
// immutable, indexed form used by the engine (Snapshot), its compact encoding, and the differences
// between two snapshots.
//
// It uses no store, clock or network and creates no text of its own. Ids and times are provided by
// the caller.
package scf

import (
	"cmp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Source is an imported catalog. A mapping refers to a control, a framework, and a requirement of that
// framework by their indexes. Records are in the order of the input: controls by row, frameworks by column.
// The same input always gives the same Source.
type Source struct {
	Label     string
	Filename  string
	SHA256    string
	IsStarter bool

	Domains    []Domain
	Controls   []Control
	Frameworks []Framework
	Mappings   []Mapping

	Evidence   []EvidenceRequest
	Risks      []Hazard
	Threats    []Hazard
	Principles []Principle

	// Warnings and Statistics describe the import; they are not part of a Snapshot.
	Warnings   []api.ImportWarning
	Statistics api.ImportStatistics
}

// The JSON names in this file are those of a catalog document (package custom).

// Domain is a family of controls, identified by the prefix of their codes.
type Domain struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	Principle string `json:"principle,omitempty"`
	Intent    string `json:"intent,omitempty"`
}

// NoWeight is the value of a control's weight if the source doesn't specify a weight. It is not 0, because 0 is a
// valid weight.
const NoWeight = -1

// Control is a control with every field that a source may contain. A field that the source doesn't have is
// empty.
type Control struct {
	Code, Title, Description, Question string
	Weight                             int // 0 to 10, or NoWeight
	Applicability                      []string
	CSFFunction, Cadence               string
	// Evidence indexes Source.Evidence.
	Evidence     []int
	Solutions    []Pair // by size: any, micro_small, small, medium, large, enterprise
	Maturity     [6]string
	Risks        []string
	Threats      []string
	Objectives   []Objective
	Compensating []CompensatingControl
	Baselines    []string
	SCRMTiers    []string
	Traits       []string
	Tags         []string
	Errata       []string
	Extra        []Pair // unknown columns, in column order
	// Owner is the organization that added the control; empty for the catalog's own.
	Owner string
}

// DomainCode returns the prefix of the control's code, which identifies the domain. The domain column of a workbook
// can't be used for this purpose, because its spelling varies.
func (c *Control) DomainCode() string { return DomainCodeOf(c.Code) }

// IsDeprecated reports whether the control is no longer in use, and is included only so that its
// code remains known.
func (c *Control) IsDeprecated() bool {
	return c.Weight == 0 || deprecatedTitle.MatchString(c.Title)
}

var deprecatedTitle = lazyregexp.New(`(?i)\[deprecated\b`)

// Pair is a text together with the name of the organization size or workbook column that it belongs to.
type Pair struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// EvidenceRequest describes an artifact, such as a document, to request as evidence.
type EvidenceRequest struct {
	Code, Area, Artifact, Description string
}

// Objective is an assessment objective: a verifiable statement about a control.
type Objective struct {
	Code          string   `json:"code,omitempty"`
	Text          string   `json:"text"`
	Rigor         int      `json:"rigor,omitempty"` // 1 to 3, 0 if absent
	Applicability []string `json:"applicability,omitempty"`
	Origins       []string `json:"origins,omitempty"`
}

// CompensatingControl refers to a control that may be used in place of another.
type CompensatingControl struct {
	Control       string `json:"control_code"`
	Name          string `json:"name,omitempty"`
	Justification string `json:"justification,omitempty"`
}

// Framework is a framework that controls are mapped to: a crosswalk column of a workbook, or a framework of the
// starter catalog.
type Framework struct {
	Code         string `json:"code"` // unique in the source
	Name         string `json:"name"`
	Publisher    string `json:"publisher,omitempty"`
	Jurisdiction string `json:"jurisdiction,omitempty"`
	Title        string `json:"title,omitempty"`
	SourceURL    string `json:"source_url,omitempty"`
	// Column is the header with whitespace collapsed, empty in the starter.
	Column string `json:"column,omitempty"`
	// Aliases are further codes of this framework.
	Aliases []string `json:"aliases,omitempty"`
	// Includes are codes of frameworks assessed with this one.
	Includes     []string      `json:"includes,omitempty"`
	Requirements []Requirement `json:"requirements"`
	// Owner is the organization that added the framework; empty for the catalog's own.
	Owner string `json:"-"`
}

// Requirement is a requirement of a framework. Its code is unique within the framework.
type Requirement struct {
	Code  string `json:"code"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// IsWithdrawnTitle reports whether the title of a requirement says in brackets that it is no longer in use, as in
// "Fences [withdrawn: moved to ya-1]". Such a requirement is included only so that its code remains known.
func IsWithdrawnTitle(title string) bool { return withdrawnTitle.MatchString(title) }

var withdrawnTitle = lazyregexp.New(`(?i)\[(?:withdrawn|deprecated)\b`)

// Mapping links a control to a requirement. A source has at most one mapping for each such pair.
type Mapping struct {
	Control, Framework, Requirement int
	// Detail is set if the source states more about the mapping.
	Detail *MappingDetail
}

// MappingDetail holds the details of a mapping that come from a set theory relationship mapping document.
type MappingDetail struct {
	Relationship string // equal, subset, superset, intersects, none
	Strength     int    // 0 to 10, -1 if absent
	Rationale    string
	Source       string
	Official     bool
}

// Hazard is an entry of the source's risk catalog or threat catalog.
type Hazard struct {
	Code        string `json:"code"`
	Group       string `json:"group,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	CSFFunction string `json:"csf_function,omitempty"`
}

// Principle is a privacy management principle. Number is a string, because 1.10 and 1.1 are different
// numbers.
type Principle struct {
	Number      string   `json:"number"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Controls    []string `json:"controls,omitempty"`
}

var controlCodePattern = lazyregexp.New(`^[A-Z]{3}-\d{2}(\.\d{1,2})?$`)

// IsControlCode reports whether a code has the form of an SCF control code, such as GOV-01 or AST-02.11.
func IsControlCode(code string) bool { return controlCodePattern.MatchString(code) }

// DomainCodeOf returns the prefix of a control code.
func DomainCodeOf(code string) string {
	domain, _, _ := strings.Cut(code, "-")
	return domain
}

// Counts returns the numbers of controls, domains, frameworks, requirements and mappings that are stored in the
// version record.
func (s *Source) Counts() api.CatalogCounts {
	n := api.CatalogCounts{
		Controls: len(s.Controls), Domains: len(s.Domains),
		Frameworks: len(s.Frameworks), Mappings: len(s.Mappings),
	}
	for i := range s.Frameworks {
		n.Requirements += len(s.Frameworks[i].Requirements)
	}
	return n
}

// SetContentStatistics sets the import statistics that can be derived from the source's contents. The importer has
// to set the remaining statistics, which describe the imported file and the number of warnings.
func (s *Source) SetContentStatistics() {
	n, st := s.Counts(), &s.Statistics
	st.Controls, st.Domains, st.Frameworks = n.Controls, n.Domains, n.Frameworks
	st.Requirements, st.Mappings = n.Requirements, n.Mappings
	st.EvidenceRequests, st.Principles = len(s.Evidence), len(s.Principles)
	st.Risks, st.Threats = len(s.Risks), len(s.Threats)
	st.AssessmentObjectives, st.CompensatingControls = 0, 0
	for i := range s.Controls {
		st.AssessmentObjectives += len(s.Controls[i].Objectives)
		st.CompensatingControls += len(s.Controls[i].Compensating)
	}
}

// CompareMappings orders mappings by control, framework and requirement.
func CompareMappings(a, b Mapping) int {
	return cmp.Or(a.Control-b.Control, a.Framework-b.Framework, a.Requirement-b.Requirement)
}

// Shorten cuts a string to 80 bytes and appends "…" if it is longer than that. It is used for errors that quote
// input, which may be hostile.
func Shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}

// Package scf holds a whole control catalog in memory: the importer's result (Source), the
// immutable, indexed form used by the engine (Snapshot), its compact encoding, and the differences
// between two snapshots.
//
// It uses no store, clock or network and creates no text of its own. Ids and times are provided by
// the caller.
package scf

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Source is an imported catalog. Indexes in Mappings point into Controls, Frameworks and that
// framework's Requirements. Records are in the order of the input: controls by row, frameworks by
// column. The same input gives the same Source.
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

// Domain is a family of controls, keyed by the prefix of their codes.
type Domain struct {
	Code, Name, Principle, Intent string
}

// NoWeight marks a control whose source gives no weight; 0 is a weight.
const NoWeight = -1

// Control is one control with every field that a source may contain. Empty means absent.
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

// Domain returns the prefix of the control's code. The domain column of a workbook is not a key:
// its spelling varies.
func (c *Control) Domain() string { return DomainOf(c.Code) }

// IsDeprecated reports whether a release keeps the control only so that its code remains known.
func (c *Control) IsDeprecated() bool {
	return c.Weight == 0 || deprecatedTitle.MatchString(c.Title)
}

var deprecatedTitle = lazyregexp.New(`(?i)\[deprecated\b`)

// Pair is a named text.
type Pair struct{ Name, Text string }

// EvidenceRequest is an artifact to ask for.
type EvidenceRequest struct {
	Code, Area, Artifact, Description string
}

// Objective is one checkable statement about a control.
type Objective struct {
	Code, Text    string
	Rigor         int // 1 to 3, 0 if absent
	Applicability []string
	Origins       []string
}

// CompensatingControl is a control that may replace another.
type CompensatingControl struct {
	Control, Name, Justification string
}

// Framework is a crosswalk column, or a framework of the starter.
type Framework struct {
	// Code is unique in the source.
	Code, Name, Publisher, Jurisdiction, Title, SourceURL string
	// Column is the header with whitespace collapsed, empty in the starter.
	Column string
	// Aliases are further codes of this framework; Includes are codes of frameworks assessed with
	// it.
	Aliases, Includes []string
	Requirements      []Requirement
	// Owner is the organization that added the framework; empty for the catalog's own.
	Owner string
}

// Requirement is a requirement of a framework; its code is unique there.
type Requirement struct {
	Code, Title, Text string
}

// Mapping links a control to a requirement; each pair occurs once.
type Mapping struct {
	Control, Framework, Requirement int
	// Detail is set if the source gives more than the pair.
	Detail *MappingDetail
}

// MappingDetail holds what a set theory mapping document adds.
type MappingDetail struct {
	Relationship string // equal, subset, superset, intersects, none
	Strength     int    // 0 to 10, -1 if absent
	Rationale    string
	Source       string
	Official     bool
}

// Hazard is a risk or a threat of the source's own catalogs.
type Hazard struct {
	Code, Group, Title, Description, CSFFunction string
}

// Principle is a row of the privacy management sheet. Number is a string: 1.10 is not 1.1.
type Principle struct {
	Number, Name, Description string
	Controls                  []string
}

var controlCodePattern = lazyregexp.New(`^[A-Z]{3}-\d{2}(\.\d{1,2})?$`)

// IsControlCode reports whether a code has the form of SCF control codes, such as GOV-01 or
// AST-02.11.
func IsControlCode(code string) bool { return controlCodePattern.MatchString(code) }

// DomainOf returns the prefix of a control code.
func DomainOf(code string) string {
	for i := range len(code) {
		if code[i] == '-' {
			return code[:i]
		}
	}
	return code
}

// Counts returns the counts for a version record.
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

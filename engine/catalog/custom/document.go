// Package custom reads catalogs and controls that an organization wrote itself: a whole catalog as
// one JSON document (ReadCatalog; schema.json describes the format, docs/your-own-catalog.md
// explains it), or single frameworks and controls in YAML, JSON or CSV (ReadSet). WriteCatalog
// writes a catalog that ReadCatalog reads back unchanged.
//
// Every file is treated as hostile input: it is accepted whole or rejected with the place of the
// first error. Whether a set fits the catalog in use is checked by the caller.
package custom

import "github.com/scf-service/service/engine/catalog/scf"

// Every catalog document contains Format and FormatVersion, which identify its format.
const (
	Format        = "service-catalog"
	FormatVersion = 1
)

// catalogDocument is the JSON form of a catalog. Domains, controls and frameworks keep the
// catalog's order.
type catalogDocument struct {
	Format        string `json:"format"`
	FormatVersion int    `json:"format_version"`
	Label         string `json:"label"`
	// Origin states where the catalog came from. Reading uses only IsStarter.
	Origin     *documentOrigin   `json:"origin,omitempty"`
	Domains    []scf.Domain      `json:"domains"`
	Evidence   []evidenceRequest `json:"evidence_requests,omitempty"`
	Risks      []scf.Hazard      `json:"risks,omitempty"`
	Threats    []scf.Hazard      `json:"threats,omitempty"`
	Principles []scf.Principle   `json:"principles,omitempty"`
	Frameworks []scf.Framework   `json:"frameworks"`
	Controls   []control         `json:"controls"`
}

type documentOrigin struct {
	Filename  string `json:"filename,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	IsStarter bool   `json:"is_starter,omitempty"`
}

// evidenceRequest is an evidence request. Its ID exists only so that controls can refer to it.
type evidenceRequest struct {
	ID          string `json:"id"`
	Code        string `json:"code,omitempty"`
	Area        string `json:"area,omitempty"`
	Artifact    string `json:"artifact"`
	Description string `json:"description,omitempty"`
}

type control struct {
	Code          string                    `json:"code"`
	Title         string                    `json:"title"`
	Description   string                    `json:"description,omitempty"`
	Question      string                    `json:"question,omitempty"`
	Weight        *int                      `json:"weight,omitempty"`
	Applicability []string                  `json:"applicability,omitempty"`
	CSFFunction   string                    `json:"csf_function,omitempty"`
	Cadence       string                    `json:"cadence,omitempty"`
	Evidence      []string                  `json:"evidence_requests,omitempty"`
	Solutions     []scf.Pair                `json:"solutions,omitempty"`
	Maturity      map[string]string         `json:"maturity,omitempty"`
	Risks         []string                  `json:"risks,omitempty"`
	Threats       []string                  `json:"threats,omitempty"`
	Objectives    []scf.Objective           `json:"assessment_objectives,omitempty"`
	Compensating  []scf.CompensatingControl `json:"compensating_controls,omitempty"`
	Baselines     []string                  `json:"baselines,omitempty"`
	SCRMTiers     []string                  `json:"scrm_tiers,omitempty"`
	Traits        []string                  `json:"traits,omitempty"`
	Tags          []string                  `json:"tags,omitempty"`
	Errata        []string                  `json:"errata,omitempty"`
	Extra         []scf.Pair                `json:"extra,omitempty"`
	// Mappings are requirement codes by framework code.
	Mappings map[string][]string `json:"mappings,omitempty"`
	// Relations are mappings with details, such as strength and rationale.
	Relations []relation `json:"relations,omitempty"`
}

type relation struct {
	Framework    string `json:"framework"`
	Requirement  string `json:"requirement"`
	Relationship string `json:"relationship,omitempty"`
	Strength     *int   `json:"strength,omitempty"`
	Rationale    string `json:"rationale,omitempty"`
	Source       string `json:"source,omitempty"`
	IsOfficial   bool   `json:"is_official,omitempty"`
}

// Package custom reads what an organization wrote itself: a whole catalog as one JSON
// document (ReadCatalog; schema.json describes the format, docs/your-own-catalog.md
// explains it), or single frameworks and controls in YAML, JSON or CSV (ReadSet).
// WriteCatalog writes a catalog that ReadCatalog reads back unchanged.
//
// Every file is treated as hostile input: it is accepted whole or rejected with the
// place of the first error. Whether a set fits the catalog in use is checked by the
// caller.
package custom

// Format and FormatVersion identify the format in every catalog document.
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
	Domains    []domain          `json:"domains"`
	Evidence   []evidenceRequest `json:"evidence_requests,omitempty"`
	Risks      []hazard          `json:"risks,omitempty"`
	Threats    []hazard          `json:"threats,omitempty"`
	Principles []principle       `json:"principles,omitempty"`
	Frameworks []framework       `json:"frameworks"`
	Controls   []control         `json:"controls"`
}

type documentOrigin struct {
	Filename  string `json:"filename,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	IsStarter bool   `json:"is_starter,omitempty"`
}

type domain struct {
	Code      string `json:"code"`
	Name      string `json:"name"`
	Principle string `json:"principle,omitempty"`
	Intent    string `json:"intent,omitempty"`
}

// evidenceRequest is an evidence request. Its ID only serves controls to refer to it.
type evidenceRequest struct {
	ID          string `json:"id"`
	Code        string `json:"code,omitempty"`
	Area        string `json:"area,omitempty"`
	Artifact    string `json:"artifact"`
	Description string `json:"description,omitempty"`
}

type hazard struct {
	Code        string `json:"code"`
	Group       string `json:"group,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	CSFFunction string `json:"csf_function,omitempty"`
}

type principle struct {
	Number      string   `json:"number"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Controls    []string `json:"controls,omitempty"`
}

type framework struct {
	Code         string        `json:"code"`
	Name         string        `json:"name"`
	Publisher    string        `json:"publisher,omitempty"`
	Jurisdiction string        `json:"jurisdiction,omitempty"`
	Title        string        `json:"title,omitempty"`
	SourceURL    string        `json:"source_url,omitempty"`
	Column       string        `json:"column,omitempty"`
	Aliases      []string      `json:"aliases,omitempty"`
	Includes     []string      `json:"includes,omitempty"`
	Requirements []requirement `json:"requirements"`
}

type requirement struct {
	Code  string `json:"code"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

type control struct {
	Code          string                `json:"code"`
	Title         string                `json:"title"`
	Description   string                `json:"description,omitempty"`
	Question      string                `json:"question,omitempty"`
	Weight        *int                  `json:"weight,omitempty"`
	Applicability []string              `json:"applicability,omitempty"`
	CSFFunction   string                `json:"csf_function,omitempty"`
	Cadence       string                `json:"cadence,omitempty"`
	Evidence      []string              `json:"evidence_requests,omitempty"`
	Solutions     []namedText           `json:"solutions,omitempty"`
	Maturity      map[string]string     `json:"maturity,omitempty"`
	Risks         []string              `json:"risks,omitempty"`
	Threats       []string              `json:"threats,omitempty"`
	Objectives    []objective           `json:"assessment_objectives,omitempty"`
	Compensating  []compensatingControl `json:"compensating_controls,omitempty"`
	Baselines     []string              `json:"baselines,omitempty"`
	SCRMTiers     []string              `json:"scrm_tiers,omitempty"`
	Traits        []string              `json:"traits,omitempty"`
	Tags          []string              `json:"tags,omitempty"`
	Errata        []string              `json:"errata,omitempty"`
	Extra         []namedText           `json:"extra,omitempty"`
	// Mappings are requirement codes by framework code.
	Mappings map[string][]string `json:"mappings,omitempty"`
	// Relations are mappings with details, such as strength and rationale.
	Relations []relation `json:"relations,omitempty"`
}

// namedText is a text with the organization size or workbook column it belongs to.
type namedText struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

type objective struct {
	Code          string   `json:"code,omitempty"`
	Text          string   `json:"text"`
	Rigor         int      `json:"rigor,omitempty"`
	Applicability []string `json:"applicability,omitempty"`
	Origins       []string `json:"origins,omitempty"`
}

type compensatingControl struct {
	Control       string `json:"control_code"`
	Name          string `json:"name,omitempty"`
	Justification string `json:"justification,omitempty"`
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

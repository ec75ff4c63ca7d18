package api

import "time"

// The catalog's records belong to one version of it. Their IDs are derived from the version's ID, so a later import
// of the same control has a different ID but the same code. Lists are never null; absent optional values are null.
// The creation and update times are both the time of the import, because a version never changes.

// CatalogVersion is one imported version of the catalog, or the starter catalog that ships with the
// program.
type CatalogVersion struct {
	ID             string        `json:"id"`
	Label          string        `json:"label" doc:"the release, such as 2026.1.1"`
	Status         string        `json:"status" enum:"active,superseded"`
	IsStarter      bool          `json:"is_starter" doc:"built-in catalog in our own words, not the SCF"`
	SourceFilename *string       `json:"source_filename"`
	SourceSHA256   *string       `json:"source_sha256"`
	ImportedAt     time.Time     `json:"imported_at"`
	Counts         CatalogCounts `json:"counts"`
	// BasedOnID is the version that relationship mapping documents were added to; null for a
	// separate import.
	BasedOnID *string `json:"based_on_id"`
	// MappingDocuments are the documents added to it, oldest first.
	MappingDocuments []MappingDocument `json:"mapping_documents"`
	// FrameworkAliases are the aliases that the user specified for the import.
	FrameworkAliases []FrameworkAlias `json:"framework_aliases"`
	CreatedAt        time.Time        `json:"created_at"`
	UpdatedAt        time.Time        `json:"updated_at"`
}

// InstalledCatalog is a catalog version with the state of the search that is trained on it.
type InstalledCatalog struct {
	CatalogVersion
	SearchStatus string `json:"search_status" enum:"untrained,training,ready" doc:"Whether the built-in embedder has been trained on it; searches and drafts wait for that."`
	// TrainingProgress is null if the embedder is not being trained.
	TrainingProgress *int `json:"training_progress" doc:"In percent."`
}

// Values of InstalledCatalog.SearchStatus.
const (
	SearchUntrained = "untrained"
	SearchTraining  = "training"
	SearchReady     = "ready"
)

// FrameworkAlias lists other names for a framework, such as its header in a workbook.
type FrameworkAlias struct {
	Code  string   `json:"code"`
	Names []string `json:"names"`
}

// MappingDocument is a set theory relationship mapping (STRM) document, which relates the elements of one framework
// to controls, with the statistics of its import.
type MappingDocument struct {
	Filename      string `json:"filename"`
	SHA256        string `json:"sha256"`
	FrameworkCode string `json:"framework_code"`
	FocalDocument string `json:"focal_document" doc:"name of the framework in the document"`
	Release       string `json:"release" doc:"release the document was written for; empty if not stated"`
	// Rows counts the document's rows, Elements its distinct elements, and Related the elements related to a control.
	Rows     int `json:"rows"`
	Elements int `json:"elements"`
	Related  int `json:"related"`
	// MappingsConfirmed counts the mappings that the catalog already had, MappingsAdded the new ones, and
	// MappingsUnnamed the catalog's mappings that the document does not mention.
	MappingsConfirmed int `json:"mappings_confirmed"`
	MappingsAdded     int `json:"mappings_added"`
	MappingsUnnamed   int `json:"mappings_unnamed"`
	RequirementsAdded int `json:"requirements_added"`
	// RequirementsWorded counts requirements that got a title or text.
	RequirementsWorded int `json:"requirements_worded"`
}

// The states of a catalog version.
const (
	CatalogActive     = "active"
	CatalogSuperseded = "superseded"
)

// CatalogCounts counts the records of a catalog version. Requirements are counted once per framework and
// code, mappings once per control and requirement.
type CatalogCounts struct {
	Controls     int `json:"controls"`
	Domains      int `json:"domains"`
	Frameworks   int `json:"frameworks"`
	Requirements int `json:"requirements"`
	Mappings     int `json:"mappings"`
}

// Domain is a family of controls; its code is the prefix of their codes.
type Domain struct {
	ID           string    `json:"id"`
	VersionID    string    `json:"version_id"`
	Code         string    `json:"code"`
	Name         string    `json:"name"`
	Principle    *string   `json:"principle"`
	Intent       *string   `json:"intent"`
	ControlCount int       `json:"control_count"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// Control is one control of a catalog version.
type Control struct {
	ID          string `json:"id"`
	VersionID   string `json:"version_id"`
	Code        string `json:"code"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Question is the assessor's question; null in releases before 2019.6.
	Question   *string `json:"question"`
	DomainCode string  `json:"domain_code"`
	// Weight is 1 to 10, or 0 for a control that is only listed as deprecated; null if the source specifies none.
	Weight *int `json:"weight"`
	// Applicability holds people, process, technology, data, facility.
	Applicability []string `json:"applicability"`
	CSFFunction   *string  `json:"csf_function" doc:"govern, identify, protect, detect, respond or recover"`
	Cadence       *string  `json:"cadence" doc:"annual, semi_annual or quarterly"`
	// EvidenceRequests combines the requests named by the control with those that name the control.
	EvidenceRequests []EvidenceRequest `json:"evidence_requests"`
	// Solutions are given by company size: micro_small, small, medium, large, enterprise, or any if
	// the source does not distinguish sizes.
	Solutions map[string]string `json:"solutions"`
	// Maturity holds the criteria by level, "0" to "5".
	Maturity             map[string]string     `json:"maturity"`
	Risks                []string              `json:"risks"`
	Threats              []string              `json:"threats"`
	AssessmentObjectives []AssessmentObjective `json:"assessment_objectives"`
	CompensatingControls []CompensatingControl `json:"compensating_controls"`
	// Baselines are the source's own control selections, as slugs.
	Baselines []string `json:"baselines"`
	// SCRMTiers holds strategic, operational, tactical.
	SCRMTiers []string `json:"scrm_tiers"`
	// Traits limits the control to organizations that have one of these traits. If it is empty, the control is always
	// relevant.
	Traits []string `json:"traits"`
	Tags   []string `json:"tags"`
	// IsMaterial is true for weight 10; such a control may not be compensated.
	IsMaterial   bool `json:"is_material"`
	IsDeprecated bool `json:"is_deprecated"`
	// Errata are the source's notes on changes, oldest first.
	Errata []string `json:"errata"`
	// Extra holds the columns that the importer did not recognize, by header.
	Extra map[string]string `json:"extra"`
	// IsCustom is true if an organization added the control to the SCF; OrganizationID is that organization.
	IsCustom       bool      `json:"is_custom"`
	OrganizationID *string   `json:"organization_id"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// EvidenceItem is an evidence request, with the controls that need the evidence.
type EvidenceItem struct {
	EvidenceRequest
	ControlCodes []string `json:"control_codes"`
}

// Hazard is a risk or threat listed in the imported catalog.
type Hazard struct {
	Code        string  `json:"code"`
	Group       *string `json:"group"`
	Title       string  `json:"title"`
	Description *string `json:"description"`
	CSFFunction *string `json:"csf_function"`
}

// Principle is one of the catalog's privacy management principles. Its number is a string because 1.10
// differs from 1.1.
type Principle struct {
	Number       string   `json:"number"`
	Name         string   `json:"name"`
	Description  *string  `json:"description"`
	ControlCodes []string `json:"control_codes"`
}

// EvidenceRequest is an artifact that assessors ask for. Code is null in the built-in starter catalog.
type EvidenceRequest struct {
	Code        *string `json:"code"`
	Area        *string `json:"area"`
	Artifact    string  `json:"artifact"`
	Description *string `json:"description"`
}

// AssessmentObjective is a single verifiable statement about a control.
type AssessmentObjective struct {
	Code string `json:"code"`
	Text string `json:"text"`
	// Rigor is 1 standard, 2 enhanced, 3 comprehensive.
	Rigor         *int     `json:"rigor"`
	Applicability []string `json:"applicability"`
	Origins       []string `json:"origins"`
}

// CompensatingControl is a control that may substitute for another.
type CompensatingControl struct {
	ControlCode   string  `json:"control_code"`
	Name          *string `json:"name"`
	Justification *string `json:"justification"`
}

// Framework is a law, standard or contract whose requirements the catalog maps to its controls.
type Framework struct {
	ID           string  `json:"id"`
	VersionID    string  `json:"version_id"`
	Code         string  `json:"code" doc:"slug, the same across releases if the source allows it"`
	Name         string  `json:"name"`
	Publisher    *string `json:"publisher"`
	Jurisdiction *string `json:"jurisdiction"`
	Title        *string `json:"title"`
	SourceURL    *string `json:"source_url"`
	// Column is the workbook's header with whitespace collapsed; null in the starter catalog.
	Column *string `json:"column"`
	// Aliases are other codes for this framework in this version.
	Aliases []string `json:"aliases"`
	// Includes are the codes of frameworks that an assessment of this one also covers.
	Includes []string `json:"includes"`
	// IsCustom is true if an organization added the framework to the SCF; OrganizationID is that organization.
	IsCustom         bool      `json:"is_custom"`
	OrganizationID   *string   `json:"organization_id"`
	RequirementCount int       `json:"requirement_count"`
	MappingCount     int       `json:"mapping_count"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
}

// Requirement is one numbered requirement of a framework.
type Requirement struct {
	ID            string    `json:"id"`
	VersionID     string    `json:"version_id"`
	FrameworkID   string    `json:"framework_id"`
	FrameworkCode string    `json:"framework_code"`
	Code          string    `json:"code"`
	Title         *string   `json:"title"`
	Text          *string   `json:"text"`
	SortOrder     int       `json:"sort_order" doc:"position in the framework, from 1"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// Mapping links a control to a requirement.
type Mapping struct {
	ID              string  `json:"id"`
	VersionID       string  `json:"version_id"`
	ControlID       string  `json:"control_id"`
	ControlCode     string  `json:"control_code"`
	FrameworkID     string  `json:"framework_id"`
	FrameworkCode   string  `json:"framework_code"`
	RequirementID   string  `json:"requirement_id"`
	RequirementCode string  `json:"requirement_code"`
	Relationship    *string `json:"relationship" doc:"equal, subset, superset, intersects or none; null if the source states none"`
	Strength        *int    `json:"strength" doc:"0 to 10"`
	Rationale       *string `json:"rationale"`
	Source          string  `json:"source" doc:"source of the mapping: scf-workbook, starter, or the name of a document"`
	// IsOfficial is false for mappings that are the product's own judgment.
	IsOfficial bool      `json:"is_official"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Coverage reports how much of a framework is covered by the controls of a catalog version.
type Coverage struct {
	VersionID              string `json:"version_id"`
	FrameworkID            string `json:"framework_id"`
	FrameworkCode          string `json:"framework_code"`
	RequirementCount       int    `json:"requirement_count"`
	MappedRequirementCount int    `json:"mapped_requirement_count"`
	// CoveragePct is 0 to 100, two decimals; 0 for a framework without requirements.
	CoveragePct  float64          `json:"coverage_pct"`
	ControlCount int              `json:"control_count"`
	MappingCount int              `json:"mapping_count"`
	ByDomain     []DomainCoverage `json:"by_domain"`
	// Addition is set if the request names frameworks that are already met.
	Addition *CoverageAddition `json:"addition" doc:"What the framework adds to those named by have; null without."`
}

// CoverageAddition describes how much a framework adds to others that are already met. The three requirement counts
// add up to the framework's requirements that have controls.
type CoverageAddition struct {
	Have                []string           `json:"have"`
	RequirementsCovered int                `json:"requirements_covered" doc:"Requirements whose controls are all required already."`
	RequirementsPartly  int                `json:"requirements_partly" doc:"Requirements of which some controls are required already."`
	RequirementsNew     int                `json:"requirements_new" doc:"Requirements none of whose controls are required already."`
	SharedControls      int                `json:"shared_controls"`
	NewControls         []FrameworkControl `json:"new_controls"`
}

// DomainCoverage is the part of a framework's coverage that one domain of controls contributes.
type DomainCoverage struct {
	DomainCode       string `json:"domain_code"`
	DomainName       string `json:"domain_name"`
	ControlCount     int    `json:"control_count"`
	RequirementCount int    `json:"requirement_count"`
	MappingCount     int    `json:"mapping_count"`
}

// Crosswalk lists the controls that map to a framework, with the requirement codes. With a target
// framework, it lists only the controls that map to both, and Pairs connects the requirements of the
// two.
type Crosswalk struct {
	VersionID string             `json:"version_id"`
	Framework Framework          `json:"framework"`
	Target    *Framework         `json:"target"`
	Controls  []CrosswalkControl `json:"controls"`
	Pairs     []CrosswalkPair    `json:"pairs"`
}

// CrosswalkControl is one control in a crosswalk.
type CrosswalkControl struct {
	ControlID              string   `json:"control_id"`
	ControlCode            string   `json:"control_code"`
	ControlTitle           string   `json:"control_title"`
	DomainCode             string   `json:"domain_code"`
	RequirementCodes       []string `json:"requirement_codes"`
	TargetRequirementCodes []string `json:"target_requirement_codes"`
}

// CrosswalkPair is a requirement of one framework and a requirement of the target framework, with the
// controls that map to both.
type CrosswalkPair struct {
	RequirementCode       string   `json:"requirement_code"`
	TargetRequirementCode string   `json:"target_requirement_code"`
	ControlCodes          []string `json:"control_codes"`
}

// CatalogHit is one result of a catalog search.
type CatalogHit struct {
	Kind          string  `json:"kind" enum:"control,requirement"`
	ID            string  `json:"id"`
	Code          string  `json:"code"`
	Title         *string `json:"title"`
	DomainCode    *string `json:"domain_code"`
	FrameworkCode *string `json:"framework_code"`
	// Score is 0 to 1; 1 is an exact code.
	Score float64 `json:"score"`
}

// ImportRun describes one import of a catalog, including dry runs.
type ImportRun struct {
	ID             string           `json:"id"`
	Status         string           `json:"status" enum:"running,succeeded,failed"`
	DryRun         bool             `json:"dry_run"`
	SourceFilename string           `json:"source_filename"`
	SourceSHA256   string           `json:"source_sha256"`
	VersionID      *string          `json:"version_id"`
	Statistics     ImportStatistics `json:"statistics"`
	Warnings       []ImportWarning  `json:"warnings"`
	// Documents are the relationship mapping documents added to the version.
	Documents []MappingDocument `json:"documents"`
	// Diff compares the version with the previously active one; null if there was none.
	Diff        *CatalogDiff `json:"diff"`
	Error       *string      `json:"error"`
	StartedAt   time.Time    `json:"started_at"`
	CompletedAt *time.Time   `json:"completed_at"`
	CreatedAt   time.Time    `json:"created_at"`
	UpdatedAt   time.Time    `json:"updated_at"`
}

// The states of an import run.
const (
	ImportRunning   = "running"
	ImportSucceeded = "succeeded"
	ImportFailed    = "failed"
)

// ImportStatistics counts what an import contained.
type ImportStatistics struct {
	Controls     int `json:"controls"`
	Domains      int `json:"domains"`
	Frameworks   int `json:"frameworks"`
	Requirements int `json:"requirements"`
	Mappings     int `json:"mappings"`
	// CrosswalkCells are the non-empty (control, framework column) cells.
	CrosswalkCells int `json:"crosswalk_cells"`
	// NumericCells are crosswalk cells stored as numbers.
	NumericCells int `json:"numeric_cells"`
	// BlankCells are crosswalk cells with stray spaces around a code.
	BlankCells int `json:"blank_cells"`
	// DuplicateCodes are codes repeated within one cell. Each is counted once.
	DuplicateCodes int `json:"duplicate_codes"`
	// FormulaCells are formula cells of the main sheet, whose cached values were read.
	FormulaCells         int `json:"formula_cells"`
	Columns              int `json:"columns"`
	UnknownColumns       int `json:"unknown_columns"`
	Sheets               int `json:"sheets"`
	EvidenceRequests     int `json:"evidence_requests"`
	AssessmentObjectives int `json:"assessment_objectives"`
	CompensatingControls int `json:"compensating_controls"`
	Principles           int `json:"principles"`
	Risks                int `json:"risks"`
	Threats              int `json:"threats"`
	Sources              int `json:"sources"`
	Warnings             int `json:"warnings"`
}

// ImportWarning reports a problem at a location in the imported file. Cell is in A1 notation; it is empty if the
// problem concerns a whole sheet or file.
type ImportWarning struct {
	Sheet   string `json:"sheet"`
	Cell    string `json:"cell"`
	Message string `json:"message"`
}

// CatalogDiff lists the changes from one catalog version to another, by control code.
type CatalogDiff struct {
	FromVersionID string             `json:"from_version_id"`
	FromLabel     string             `json:"from_label"`
	ToVersionID   string             `json:"to_version_id"`
	ToLabel       string             `json:"to_label"`
	Summary       CatalogDiffSummary `json:"summary"`
	Added         []ControlRef       `json:"added"`
	Removed       []ControlRef       `json:"removed"`
	// Changed holds controls whose title, description, question or weight differ.
	Changed           []ControlChange `json:"changed"`
	FrameworksAdded   []string        `json:"frameworks_added"`
	FrameworksRemoved []string        `json:"frameworks_removed"`
	// FrameworksReplaced are removed frameworks that have a newer edition in the newer version.
	FrameworksReplaced []FrameworkEdition `json:"frameworks_replaced"`
	MappingsGained     []MappingChanges   `json:"mappings_gained"`
	MappingsLost       []MappingChanges   `json:"mappings_lost"`
}

// CatalogDiffSummary counts the changes in a diff. A control that is renamed, reworded and reweighted at the same
// time is counted under each.
type CatalogDiffSummary struct {
	Added             int `json:"added"`
	Removed           int `json:"removed"`
	Renamed           int `json:"renamed"`
	Reworded          int `json:"reworded"`
	Reweighted        int `json:"reweighted"`
	Unchanged         int `json:"unchanged"`
	FrameworksAdded   int `json:"frameworks_added"`
	FrameworksRemoved int `json:"frameworks_removed"`
	MappingsGained    int `json:"mappings_gained"`
	MappingsLost      int `json:"mappings_lost"`
}

// FrameworkEdition states that one framework is a newer edition of another.
type FrameworkEdition struct {
	FromCode string `json:"from_code"`
	ToCode   string `json:"to_code"`
}

// ControlRef identifies a control in a diff.
type ControlRef struct {
	Code  string `json:"code"`
	Title string `json:"title"`
}

// ControlChange lists the changes to a control that is in both versions.
type ControlChange struct {
	Code       string `json:"code"`
	FromTitle  string `json:"from_title"`
	ToTitle    string `json:"to_title"`
	Renamed    bool   `json:"renamed"`
	Reworded   bool   `json:"reworded" doc:"description or question differs beyond whitespace"`
	Reweighted bool   `json:"reweighted"`
	FromWeight *int   `json:"from_weight"`
	ToWeight   *int   `json:"to_weight"`
	// Deprecated is true if the newer version marks it as deprecated and the older did not.
	Deprecated bool `json:"deprecated"`
}

// MappingChanges lists the requirements of one framework that a control gained or lost, where both
// versions have the control and the framework.
type MappingChanges struct {
	ControlCode      string   `json:"control_code"`
	FrameworkCode    string   `json:"framework_code"`
	RequirementCodes []string `json:"requirement_codes"`
}

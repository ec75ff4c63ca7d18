package api

import "time"

// An organization's custom frameworks and controls extend the SCF. Only that organization sees them, wherever the
// catalog is read: in lists, coverage, crosswalks and its assessments. They are stored in numbered revisions. An
// assessment keeps the revision that it started with until it is migrated.

// CustomFrameworkBody holds the user-settable fields of a custom framework.
type CustomFrameworkBody struct {
	Code         string  `json:"code" minLength:"2" maxLength:"80" doc:"A slug, such as yard-rules; must differ from all framework codes of the catalog."`
	Name         string  `json:"name" minLength:"1" maxLength:"200"`
	Title        *string `json:"title,omitempty"`
	Publisher    *string `json:"publisher,omitempty"`
	Jurisdiction *string `json:"jurisdiction,omitempty"`
	SourceURL    *string `json:"source_url,omitempty"`
	// Requirements are in the framework's order.
	Requirements []CustomRequirement `json:"requirements"`
}

// CustomRequirement is a requirement of a custom framework.
type CustomRequirement struct {
	Code  string  `json:"code" minLength:"1" maxLength:"120"`
	Title *string `json:"title,omitempty"`
	Text  *string `json:"text,omitempty"`
	// Controls are the codes of SCF or custom controls that satisfy the requirement.
	Controls []string `json:"controls,omitempty"`
	// Relations are controls with a more specific relation to the requirement.
	Relations []CustomRelation `json:"relations,omitempty"`
}

// CustomRelation describes how a custom control relates to a requirement.
type CustomRelation struct {
	Control      string `json:"control"`
	Relationship string `json:"relationship,omitempty" enum:"equal,subset,superset,intersects,none"`
	Strength     *int   `json:"strength,omitempty" minimum:"0" maximum:"10"`
	Rationale    string `json:"rationale,omitempty"`
}

// CustomControlBody holds the user-settable fields of a custom control.
type CustomControlBody struct {
	Code        string  `json:"code" minLength:"3" maxLength:"24" doc:"For example YARD-01; must not have the SCF's own form of three letters and two digits."`
	Title       string  `json:"title" minLength:"1" maxLength:"300"`
	Description string  `json:"description" minLength:"1"`
	Question    *string `json:"question,omitempty"`
	// DomainName is the name of the domain of the code's prefix, if the catalog doesn't have it.
	DomainName    *string           `json:"domain_name,omitempty" maxLength:"120"`
	Weight        *int              `json:"weight,omitempty" minimum:"1" maximum:"10"`
	CSFFunction   *string           `json:"csf_function,omitempty" enum:"govern,identify,protect,detect,respond,recover"`
	Cadence       *string           `json:"cadence,omitempty" enum:"annual,semi_annual,quarterly"`
	Applicability []string          `json:"applicability,omitempty"`
	Traits        []string          `json:"traits,omitempty" doc:"Relevant only for organizations that have one of these traits."`
	Tags          []string          `json:"tags,omitempty"`
	Evidence      []string          `json:"evidence_requests,omitempty" doc:"Artifacts to request as evidence."`
	Objectives    []string          `json:"assessment_objectives,omitempty" doc:"Verifiable statements."`
	Maturity      map[string]string `json:"maturity,omitempty" doc:"Criteria by level, 0 to 5."`
	// Controls are the SCF controls that it extends: it satisfies every requirement that they satisfy.
	Controls []string `json:"controls,omitempty"`
	// Requirements are further requirements that it satisfies, by framework code.
	Requirements map[string][]string `json:"requirements,omitempty"`
}

// CustomFramework is a custom framework as stored. Lists omit its requirements.
type CustomFramework struct {
	CustomFrameworkBody
	CustomMetadata
	RequirementCount int `json:"requirement_count"`
	// Unresolved are the controls that it refers to but that the active catalog version lacks.
	Unresolved []string `json:"unresolved"`
}

// CustomControl is a custom control as stored.
type CustomControl struct {
	CustomControlBody
	CustomMetadata
	Unresolved []string `json:"unresolved"`
}

// CustomMetadata records which organization owns a custom record, and when and by whom it was last
// changed.
type CustomMetadata struct {
	Revised
	OrganizationID string    `json:"organization_id"`
	IsCustom       bool      `json:"is_custom"`
	UpdatedBy      string    `json:"updated_by"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// CustomImport is the result of importing a file of custom frameworks and controls.
type CustomImport struct {
	DryRun     bool           `json:"dry_run"`
	Revision   int            `json:"revision" doc:"The organization's revision that contains the import; the previous one if nothing changed."`
	Frameworks []CustomChange `json:"frameworks"`
	Controls   []CustomChange `json:"controls"`
}

// CustomChange is the effect of an import on one framework or control.
type CustomChange struct {
	Code   string `json:"code"`
	Name   string `json:"name"`
	Action string `json:"action" enum:"created,replaced,unchanged"`
	Count  int    `json:"count" doc:"Number of requirements of a framework."`
}

// Inputs of the operations on custom frameworks and controls.
type (
	// CustomFrameworkInput identifies a custom framework.
	CustomFrameworkInput struct {
		FrameworkCode string `path:"frameworkCode"`
	}
	// CreateCustomFrameworkInput is the input for creating a custom framework.
	CreateCustomFrameworkInput struct{ Body CustomFrameworkBody }
	// PutCustomFrameworkInput is the input for replacing a custom framework.
	PutCustomFrameworkInput struct {
		CustomFrameworkInput
		Match
		Body CustomFrameworkBody
	}
	// CustomControlInput identifies a custom control.
	CustomControlInput struct {
		ControlCode string `path:"controlCode"`
	}
	// CreateCustomControlInput is the input for creating a custom control.
	CreateCustomControlInput struct{ Body CustomControlBody }
	// PutCustomControlInput is the input for replacing a custom control.
	PutCustomControlInput struct {
		CustomControlInput
		Match
		Body CustomControlBody
	}
	// ImportCustomInput is the input for importing a file of custom frameworks and controls: YAML, JSON
	// or CSV.
	ImportCustomInput struct {
		File UploadFile `form:"file"`
		// Code and Name apply to CSV files, which contain neither; if empty, the file's name is
		// used.
		Code    string `form:"code"`
		Name    string `form:"name"`
		Replace string `form:"replace" doc:"true: replace existing records."`
		DryRun  string `form:"dry_run" doc:"true: make no changes."`
	}
)

// DeleteCustomFrameworkInput is the input for deleting a custom framework.
type DeleteCustomFrameworkInput struct {
	CustomFrameworkInput
	Match
}

// DeleteCustomControlInput is the input for deleting a custom control.
type DeleteCustomControlInput struct {
	CustomControlInput
	Match
}

const tagCustom = "Custom frameworks and controls"

// Operations on an organization's custom frameworks and controls.
var (
	ListCustomFrameworks = Get[Paging, List[CustomFramework]](
		"list-custom-frameworks", "/custom/frameworks", scfRead, tagCustom,
		"List the organization's custom frameworks",
	)
	CreateCustomFramework = Create[CreateCustomFrameworkInput, CustomFramework](
		"create-custom-framework", "/custom/frameworks", SCFImport, tagCustom,
		"Add a custom framework",
	)
	GetCustomFramework = Get[CustomFrameworkInput, CustomFramework](
		"get-custom-framework", "/custom/frameworks/{frameworkCode}", scfRead, tagCustom,
		"Get a custom framework",
	)
	PutCustomFramework = Put[PutCustomFrameworkInput, CustomFramework](
		"put-custom-framework", "/custom/frameworks/{frameworkCode}", SCFImport, tagCustom,
		"Replace a custom framework",
	)
	DeleteCustomFramework = Delete[DeleteCustomFrameworkInput](
		"delete-custom-framework", "/custom/frameworks/{frameworkCode}", SCFImport, tagCustom,
		"Delete a custom framework",
	)

	ListCustomControls = Get[Paging, List[CustomControl]](
		"list-custom-controls", "/custom/controls", scfRead, tagCustom,
		"List the organization's custom controls",
	)
	CreateCustomControl = Create[CreateCustomControlInput, CustomControl](
		"create-custom-control", "/custom/controls", SCFImport, tagCustom,
		"Add a custom control",
	)
	GetCustomControl = Get[CustomControlInput, CustomControl](
		"get-custom-control", "/custom/controls/{controlCode}", scfRead, tagCustom,
		"Get a custom control",
	)
	PutCustomControl = Put[PutCustomControlInput, CustomControl](
		"put-custom-control", "/custom/controls/{controlCode}", SCFImport, tagCustom,
		"Replace a custom control",
	)
	DeleteCustomControl = Delete[DeleteCustomControlInput](
		"delete-custom-control", "/custom/controls/{controlCode}", SCFImport, tagCustom,
		"Delete a custom control",
	)

	ImportCustom = Post[ImportCustomInput, CustomImport](
		"import-custom-catalog", "/custom/import", SCFImport, tagCustom,
		"Import custom frameworks and controls from a file", WithBodyEncoding(Upload),
	)
)

// RecordID returns the framework's code, because URL paths identify custom frameworks by code.
func (f CustomFramework) RecordID() string { return f.Code }

// RecordID returns the control's code, because URL paths identify custom controls by code.
func (c CustomControl) RecordID() string { return c.Code }

package api

import "time"

// An organization's own frameworks and controls live beside the SCF. Nobody else sees
// them, and everything that reads the catalog for the organization does: lists, coverage,
// crosswalks and its assessments. They are kept in numbered revisions: an assessment
// keeps the one it began with until it is migrated.

// CustomFrameworkBody is a framework of an organization.
type CustomFrameworkBody struct {
	Code         string  `json:"code" minLength:"2" maxLength:"80" doc:"A slug, such as yard-rules; no framework of the catalog may have it."`
	Name         string  `json:"name" minLength:"1" maxLength:"200"`
	Title        *string `json:"title,omitempty"`
	Publisher    *string `json:"publisher,omitempty"`
	Jurisdiction *string `json:"jurisdiction,omitempty"`
	SourceURL    *string `json:"source_url,omitempty"`
	// Requirements in the framework's order.
	Requirements []CustomRequirement `json:"requirements"`
}

// CustomRequirement is a numbered demand of a custom framework.
type CustomRequirement struct {
	Code  string  `json:"code" minLength:"1" maxLength:"120"`
	Title *string `json:"title,omitempty"`
	Text  *string `json:"text,omitempty"`
	// Controls answer the requirement: codes of the SCF or of the organization.
	Controls []string `json:"controls,omitempty"`
	// Relations are controls of which more is said than that they answer it.
	Relations []CustomRelation `json:"relations,omitempty"`
}

// CustomRelation says how a control stands to a requirement.
type CustomRelation struct {
	Control      string `json:"control"`
	Relationship string `json:"relationship,omitempty" enum:"equal,subset,superset,intersects,none"`
	Strength     *int   `json:"strength,omitempty" minimum:"0" maximum:"10"`
	Rationale    string `json:"rationale,omitempty"`
}

// CustomControlBody is a control of an organization. What is absent is not asked for.
type CustomControlBody struct {
	Code        string  `json:"code" minLength:"3" maxLength:"24" doc:"Such as YARD-01; never of the SCF's own form, three letters and two digits."`
	Title       string  `json:"title" minLength:"1" maxLength:"300"`
	Description string  `json:"description" minLength:"1"`
	Question    *string `json:"question,omitempty"`
	// DomainName names the domain of the code's prefix, where the catalog has none.
	DomainName    *string           `json:"domain_name,omitempty" maxLength:"120"`
	Weight        *int              `json:"weight,omitempty" minimum:"1" maximum:"10"`
	CSFFunction   *string           `json:"csf_function,omitempty" enum:"govern,identify,protect,detect,respond,recover"`
	Cadence       *string           `json:"cadence,omitempty" enum:"annual,semi_annual,quarterly"`
	Applicability []string          `json:"applicability,omitempty"`
	Traits        []string          `json:"traits,omitempty" doc:"Relevant only where the organization has one of them."`
	Tags          []string          `json:"tags,omitempty"`
	Evidence      []string          `json:"evidence_requests,omitempty" doc:"Artifacts to ask for."`
	Objectives    []string          `json:"assessment_objectives,omitempty" doc:"Checkable statements."`
	Maturity      map[string]string `json:"maturity,omitempty" doc:"Criteria by level, 0 to 5."`
	// Controls of the SCF that it stands beside: it answers every requirement that they answer.
	Controls []string `json:"controls,omitempty"`
	// Requirements that it answers besides, by framework code.
	Requirements map[string][]string `json:"requirements,omitempty"`
}

// CustomFramework is a custom framework as it is kept. In a list, its requirements are left out.
type CustomFramework struct {
	CustomFrameworkBody
	CustomMark
	RequirementCount int `json:"requirement_count"`
	// Unresolved are controls it names that the active catalog version lacks.
	Unresolved []string `json:"unresolved"`
}

// CustomControl is a custom control as it is kept.
type CustomControl struct {
	CustomControlBody
	CustomMark
	Unresolved []string `json:"unresolved"`
}

// CustomMark tells whose it is, and since when it is as it is.
type CustomMark struct {
	OrganizationID string    `json:"organization_id"`
	IsCustom       bool      `json:"is_custom"`
	UpdatedBy      string    `json:"updated_by"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// CustomImport tells what a file brought.
type CustomImport struct {
	DryRun     bool           `json:"dry_run"`
	Revision   int            `json:"revision" doc:"The organization's revision that holds it; the one there was, where nothing changed."`
	Frameworks []CustomChange `json:"frameworks"`
	Controls   []CustomChange `json:"controls"`
}

// CustomChange is what an import did with one framework or control.
type CustomChange struct {
	Code   string `json:"code"`
	Name   string `json:"name"`
	Action string `json:"action" enum:"created,replaced,unchanged"`
	Count  int    `json:"count" doc:"Requirements of a framework."`
}

// Inputs of the operations on custom frameworks and controls.
type (
	// CustomFrameworkInput names a custom framework.
	CustomFrameworkInput struct {
		FrameworkCode string `path:"frameworkCode"`
	}
	// CreateCustomFrameworkInput is a new one.
	CreateCustomFrameworkInput struct{ Body CustomFrameworkBody }
	// PutCustomFrameworkInput replaces one.
	PutCustomFrameworkInput struct {
		CustomFrameworkInput
		Body CustomFrameworkBody
	}
	// CustomControlInput names a custom control.
	CustomControlInput struct {
		ControlCode string `path:"controlCode"`
	}
	// CreateCustomControlInput is a new one.
	CreateCustomControlInput struct{ Body CustomControlBody }
	// PutCustomControlInput replaces one.
	PutCustomControlInput struct {
		CustomControlInput
		Body CustomControlBody
	}
	// ImportCustomInput is a file of custom frameworks and controls: YAML, JSON or CSV.
	ImportCustomInput struct {
		File UploadFile `form:"file"`
		// Code and Name are for a CSV file, which says neither; the file's name does where they are empty.
		Code    string `form:"code"`
		Name    string `form:"name"`
		Replace string `form:"replace" doc:"true: what is there already is replaced."`
		DryRun  string `form:"dry_run" doc:"true: nothing is changed."`
	}
)

const tagCustom = "Custom frameworks and controls"

// Operations on an organization's own frameworks and controls.
var (
	ListCustomFrameworks = Get[Paging, List[CustomFramework]](
		"list-custom-frameworks",
		"/custom/frameworks",
		WithPermission(scfRead),
		WithTag(tagCustom),
		WithSummary("List the organization's own frameworks"),
	)
	CreateCustomFramework = Create[CreateCustomFrameworkInput, CustomFramework](
		"create-custom-framework",
		"/custom/frameworks",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Add a framework of the organization"),
	)
	GetCustomFramework = Get[CustomFrameworkInput, CustomFramework](
		"get-custom-framework",
		"/custom/frameworks/{frameworkCode}",
		WithPermission(scfRead),
		WithTag(tagCustom),
		WithSummary("Read a framework of the organization"),
	)
	PutCustomFramework = Put[PutCustomFrameworkInput, CustomFramework](
		"put-custom-framework",
		"/custom/frameworks/{frameworkCode}",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Replace a framework of the organization"),
	)
	DeleteCustomFramework = Delete[CustomFrameworkInput](
		"delete-custom-framework",
		"/custom/frameworks/{frameworkCode}",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Delete a framework of the organization"),
	)

	ListCustomControls = Get[Paging, List[CustomControl]](
		"list-custom-controls",
		"/custom/controls",
		WithPermission(scfRead),
		WithTag(tagCustom),
		WithSummary("List the organization's own controls"),
	)
	CreateCustomControl = Create[CreateCustomControlInput, CustomControl](
		"create-custom-control",
		"/custom/controls",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Add a control of the organization"),
	)
	GetCustomControl = Get[CustomControlInput, CustomControl](
		"get-custom-control",
		"/custom/controls/{controlCode}",
		WithPermission(scfRead),
		WithTag(tagCustom),
		WithSummary("Read a control of the organization"),
	)
	PutCustomControl = Put[PutCustomControlInput, CustomControl](
		"put-custom-control",
		"/custom/controls/{controlCode}",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Replace a control of the organization"),
	)
	DeleteCustomControl = Delete[CustomControlInput](
		"delete-custom-control",
		"/custom/controls/{controlCode}",
		WithPermission(SCFImport),
		WithTag(tagCustom),
		WithSummary("Delete a control of the organization"),
	)

	ImportCustom = Post[ImportCustomInput, CustomImport](
		"import-custom-catalog",
		"/custom/import",
		WithPermission(SCFImport),
		WithForm(Upload),
		WithTag(tagCustom),
		WithSummary("Import frameworks and controls of the organization from a file"),
	)
)

// RecordID is the framework's code: what its paths name it by.
func (f CustomFramework) RecordID() string { return f.Code }

// RecordID is the control's code: what its paths name it by.
func (c CustomControl) RecordID() string { return c.Code }

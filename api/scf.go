package api

// VersionInput identifies a catalog version by id or label.
type VersionInput struct {
	SCFVersionID string `path:"scfVersionId" doc:"Id or label of the version."`
}

// VersionListInput is the input for listing records of a catalog version other than controls.
type VersionListInput struct {
	VersionInput
	Paging
}

// DiffInput identifies the two versions to compare.
type DiffInput struct {
	VersionInput
	From string `query:"from" required:"true" doc:"Id or label of the version to compare from, the older one."`
}

// VersionDomainsInput is the input for listing the domains of a version.
type VersionDomainsInput struct {
	VersionInput
	Paging
}

// VersionControlsInput is the input for listing the controls of a version.
type VersionControlsInput struct {
	VersionInput
	Paging
	ControlCode string   `query:"control_code"`
	DomainCode  string   `query:"domain_code"`
	Q           string   `query:"q" doc:"Search terms."`
	Tags        []string `query:"tags"`
}

// ControlsInput is the input for listing controls.
type ControlsInput struct {
	Paging
	Domain    string `query:"domain" doc:"Domain code."`
	Framework string `query:"framework" doc:"Framework code, name or id."`
	Q         string `query:"q" doc:"Search terms, matched against control texts and requirement codes."`
	Version   string `query:"version" doc:"Id or label of the catalog version; defaults to the latest active one."`
}

// ControlInput identifies a control by id or code.
type ControlInput struct {
	ControlID string `path:"controlId" doc:"Id or code of the control."`
	Version   string `query:"version"`
}

// ControlByCodeInput identifies a control by code.
type ControlByCodeInput struct {
	ControlCode string `path:"controlCode"`
	Version     string `query:"version"`
}

// ControlMappingsInput is the input for listing the mappings of a control.
type ControlMappingsInput struct {
	ControlInput
	Paging
	Framework string `query:"framework" doc:"Only mappings to this framework, by code or id."`
}

// DomainsInput is the input for listing domains.
type DomainsInput struct {
	Paging
	Version string `query:"version"`
}

// FrameworksInput is the input for listing frameworks.
type FrameworksInput struct {
	Paging
	Q       string `query:"q" doc:"Part of a code or name."`
	Sort    string `query:"sort" sort:"code,name,requirement_count,mapping_count" doc:"Sort order; prefix a field with - for descending."`
	Version string `query:"version"`
}

// FrameworkInput identifies a framework by id or code.
type FrameworkInput struct {
	FrameworkID string `path:"frameworkId" doc:"Id or code of the framework."`
	Version     string `query:"version"`
}

// RequirementsInput is the input for listing the requirements of a framework.
type RequirementsInput struct {
	FrameworkInput
	Paging
	Q string `query:"q" doc:"Part of a code, title or text."`
}

// CoverageInput selects the framework and the catalog version whose coverage is requested.
type CoverageInput struct {
	FrameworkID string   `path:"frameworkId"`
	SCFVersion  string   `query:"scf_version"`
	Have        []string `query:"have" doc:"Ids or codes of frameworks that are met already: the answer then has in addition what this one adds to them."`
}

// RequirementMappingsInput is the input for listing the mappings of a requirement.
type RequirementMappingsInput struct {
	RequirementID string `path:"requirementId" doc:"Id of the requirement, or its code if only one framework has it."`
	Version       string `query:"version"`
	Paging
}

// CrosswalkInput selects the frameworks of a crosswalk.
type CrosswalkInput struct {
	Framework string `query:"framework" required:"true" doc:"Framework code or id."`
	Target    string `query:"target" doc:"A second framework to join through shared controls."`
	Version   string `query:"version"`
}

// ImportWorkbookInput is the input for importing a catalog from a workbook.
type ImportWorkbookInput struct {
	File  UploadFile `form:"file"`
	Label string     `form:"label" doc:"The catalog release in the workbook, e.g. 2026.1.1; guessed from its name and sheets if omitted."`
	// Aliases is a YAML table of framework name aliases, stored with the version.
	Aliases string `form:"aliases" doc:"A table of framework aliases in YAML: aliases, laws, editions."`
}

// ImportSTRMInput is the input for adding set theory relationship mapping (STRM) documents to a catalog
// version: a PDF or .xlsx, or a .zip of several.
type ImportSTRMInput struct {
	File      UploadFile `form:"file"`
	Version   string     `form:"version" doc:"Id or label of the catalog version; defaults to the latest active one."`
	Framework string     `form:"framework" doc:"Code of the framework the document is about; detected from the document if omitted."`
}

// ImportRunsInput is the input for listing import runs.
type ImportRunsInput struct {
	Paging
	Status string `query:"status" enum:"running,succeeded,failed"`
	DryRun string `query:"dry_run" enum:"true,false"`
}

// ImportRunInput identifies an import run.
type ImportRunInput struct {
	ImportRunID string `path:"importRunId"`
}

// GetImportRunInput identifies an import run whose record is read.
type GetImportRunInput struct {
	ImportRunInput
	Waiting
}

const (
	tagCatalog = "SCF catalog"
	tagImport  = "SCF import"
	scfRead    = Permission("scf:read")
)

// Operations on the catalog, defined in sections 4.3 and 4.4 of the API specification.
var (
	ListVersions = Get[Paging, List[InstalledCatalog]](
		"list-scf-versions", "/scf/versions", scfRead, tagCatalog,
		"List catalog versions", WithAccess(SignedIn),
	)
	GetLatestVersion = Get[None, InstalledCatalog](
		"get-latest-scf-version", "/scf/versions/latest", scfRead, tagCatalog,
		"Get the latest active catalog version", WithAccess(SignedIn),
	)
	DiffVersions = Get[DiffInput, CatalogDiff](
		"diff-scf-versions", "/scf/versions/{scfVersionId}/diff", scfRead, tagCatalog,
		"List changes from another version to this one", WithAccess(SignedIn),
	)
	ListVersionEvidence = Get[VersionListInput, List[EvidenceItem]](
		"list-scf-version-evidence-requests", "/scf/versions/{scfVersionId}/evidence-requests", scfRead, tagCatalog,
		"List the evidence requests of a version", WithAccess(SignedIn),
	)
	ListVersionRisks = Get[VersionListInput, List[Hazard]](
		"list-scf-version-risks", "/scf/versions/{scfVersionId}/risks", scfRead, tagCatalog,
		"List the risk catalog of a version", WithAccess(SignedIn),
	)
	ListVersionThreats = Get[VersionListInput, List[Hazard]](
		"list-scf-version-threats", "/scf/versions/{scfVersionId}/threats", scfRead, tagCatalog,
		"List the threat catalog of a version", WithAccess(SignedIn),
	)
	ListVersionPrinciples = Get[VersionListInput, List[Principle]](
		"list-scf-version-principles", "/scf/versions/{scfVersionId}/principles", scfRead, tagCatalog,
		"List the privacy management principles of a version", WithAccess(SignedIn),
	)
	GetVersion = Get[VersionInput, InstalledCatalog](
		"get-scf-version", "/scf/versions/{scfVersionId}", scfRead, tagCatalog,
		"Get one catalog version", WithAccess(SignedIn),
	)
	ListVersionDomains = Get[VersionDomainsInput, List[Domain]](
		"list-scf-version-domains", "/scf/versions/{scfVersionId}/domains", scfRead, tagCatalog,
		"List the domains of a version", WithAccess(SignedIn),
	)
	ListVersionControls = Get[VersionControlsInput, List[Control]](
		"list-scf-version-controls", "/scf/versions/{scfVersionId}/controls", scfRead, tagCatalog,
		"List the controls of a version", WithAccess(SignedIn),
	)
	ListDomains = Get[DomainsInput, List[Domain]](
		"list-scf-domains", "/scf/domains", scfRead, tagCatalog,
		"List domains", WithAccess(SignedIn),
	)
	ListControls = Get[ControlsInput, List[Control]](
		"list-scf-controls", "/scf/controls", scfRead, tagCatalog,
		"List or search controls", WithAccess(SignedIn),
	)
	GetControl = Get[ControlInput, Control](
		"get-scf-control", "/scf/controls/{controlId}", scfRead, tagCatalog,
		"Get one control", WithAccess(SignedIn),
	)
	GetControlByCode = Get[ControlByCodeInput, Control](
		"get-scf-control-by-code", "/scf/controls/by-code/{controlCode}", scfRead, tagCatalog,
		"Get one control by its code", WithAccess(SignedIn),
	)
	ListControlMappings = Get[ControlMappingsInput, List[Mapping]](
		"list-scf-control-mappings", "/scf/controls/{controlId}/mappings", scfRead, tagCatalog,
		"List the framework mappings of a control", WithAccess(SignedIn),
	)
	ListFrameworks = Get[FrameworksInput, List[Framework]](
		"list-scf-frameworks", "/scf/frameworks", scfRead, tagCatalog,
		"List frameworks", WithAccess(SignedIn),
	)
	GetFramework = Get[FrameworkInput, Framework](
		"get-scf-framework", "/scf/frameworks/{frameworkId}", scfRead, tagCatalog,
		"Get one framework", WithAccess(SignedIn),
	)
	ListRequirements = Get[RequirementsInput, List[Requirement]](
		"list-scf-framework-requirements", "/scf/frameworks/{frameworkId}/requirements", scfRead, tagCatalog,
		"List the requirements of a framework", WithAccess(SignedIn),
	)
	GetCoverage = Get[CoverageInput, Coverage](
		"get-scf-framework-coverage", "/scf/frameworks/{frameworkId}/coverage", scfRead, tagCatalog,
		"Get the catalog's coverage of a framework", WithAccess(SignedIn),
	)
	ListRequirementMappings = Get[RequirementMappingsInput, List[Mapping]](
		"list-scf-requirement-mappings", "/scf/requirements/{requirementId}/mappings", scfRead, tagCatalog,
		"List the mappings of a requirement", WithAccess(SignedIn),
	)
	GetCrosswalk = Get[CrosswalkInput, Crosswalk](
		"get-scf-crosswalk", "/scf/crosswalks", scfRead, tagCatalog,
		"Get the crosswalk of one framework, or between two frameworks", WithAccess(SignedIn),
	)

	ListImportRuns = Get[ImportRunsInput, List[ImportRun]](
		"list-scf-import-runs", "/admin/scf/import-runs", SCFImport, tagImport,
		"List import runs", WithAccess(Platform),
	)
	GetImportRun = Get[GetImportRunInput, ImportRun](
		"get-scf-import-run", "/admin/scf/import-runs/{importRunId}", SCFImport, tagImport,
		"Get an import run", WithAccess(Platform),
	)
	ImportWorkbook = Create[ImportWorkbookInput, ImportRun](
		"import-scf-workbook", "/admin/scf/import-xlsx", SCFImport, tagImport,
		"Import an SCF workbook", WithAccess(Platform), WithBodyEncoding(Upload),
	)
	ImportSTRM = Create[ImportSTRMInput, ImportRun](
		"import-scf-strm", "/admin/scf/import-strm", SCFImport, tagImport,
		"Add a relationship mapping document to a catalog version", WithAccess(Platform), WithBodyEncoding(Upload),
	)
	DryRunSTRM = Post[ImportSTRMInput, ImportRun](
		"dry-run-scf-strm", "/admin/scf/import-strm/dry-run", SCFImport, tagImport,
		"Preview the changes of a relationship mapping document", WithAccess(Platform), WithBodyEncoding(Upload),
	)
	DryRunWorkbook = Post[ImportWorkbookInput, ImportRun](
		"dry-run-scf-workbook", "/admin/scf/import-xlsx/dry-run", SCFImport, tagImport,
		"Preview the changes of a workbook import", WithAccess(Platform), WithBodyEncoding(Upload),
	)
)

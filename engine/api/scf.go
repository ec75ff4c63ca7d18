package api

// VersionInput names a catalog version by id or label.
type VersionInput struct {
	SCFVersionID string `path:"scfVersionId" doc:"Id or label of the version."`
}

// VersionDomainsInput lists the domains of a version.
type VersionDomainsInput struct {
	VersionInput
	Paging
}

// VersionControlsInput lists the controls of a version.
type VersionControlsInput struct {
	VersionInput
	Paging
	ControlCode string   `query:"control_code"`
	DomainCode  string   `query:"domain_code"`
	Q           string   `query:"q" doc:"Words to look for."`
	Tags        []string `query:"tags"`
}

// ControlsInput lists controls.
type ControlsInput struct {
	Paging
	Domain    string `query:"domain" doc:"Domain code."`
	Framework string `query:"framework" doc:"Framework code, name or id."`
	Q         string `query:"q" doc:"Words to look for, in control texts and requirement codes."`
	Version   string `query:"version" doc:"Id or label of the catalog version; the latest active one where absent."`
}

// ControlInput names a control by id or code.
type ControlInput struct {
	ControlID string `path:"controlId" doc:"Id or code of the control."`
	Version   string `query:"version"`
}

// ControlByCodeInput names a control by code.
type ControlByCodeInput struct {
	ControlCode string `path:"controlCode"`
	Version     string `query:"version"`
}

// ControlMappingsInput lists the mappings of a control.
type ControlMappingsInput struct {
	ControlInput
	Paging
}

// DomainsInput lists domains.
type DomainsInput struct {
	Paging
	Version string `query:"version"`
}

// FrameworksInput lists frameworks.
type FrameworksInput struct {
	Paging
	Q       string `query:"q" doc:"Part of a code or name."`
	Version string `query:"version"`
}

// FrameworkInput names a framework by id or code.
type FrameworkInput struct {
	FrameworkID string `path:"frameworkId" doc:"Id or code of the framework."`
	Version     string `query:"version"`
}

// RequirementsInput lists the requirements of a framework.
type RequirementsInput struct {
	FrameworkInput
	Paging
}

// CoverageInput asks how much of a framework the catalog covers.
type CoverageInput struct {
	FrameworkID string `path:"frameworkId"`
	SCFVersion  string `query:"scf_version"`
}

// RequirementMappingsInput lists the mappings of a requirement.
type RequirementMappingsInput struct {
	RequirementID string `path:"requirementId" doc:"Id of the requirement, or its code where only one framework has it."`
	Version       string `query:"version"`
	Paging
}

// CrosswalkInput asks for a crosswalk.
type CrosswalkInput struct {
	Framework string `query:"framework" required:"true" doc:"Framework code or id."`
	Target    string `query:"target" doc:"A second framework, to join the two through shared controls."`
	Version   string `query:"version"`
}

// ImportWorkbookInput is a workbook to import.
type ImportWorkbookInput struct {
	File  UploadFile `form:"file"`
	Label string     `form:"label" doc:"The version the workbook holds, as 2026.1.1; guessed from its name and sheets where absent."`
}

// ImportSourceInput is a catalog as structured JSON.
type ImportSourceInput struct {
	Body ImportSource
}

// ImportSource names the form of a structured source and carries it.
type ImportSource struct {
	Label  string         `json:"label" minLength:"1" maxLength:"40"`
	Format string         `json:"format" enum:"service,oscal"`
	Source map[string]any `json:"source"`
}

// ImportRunInput names an import run.
type ImportRunInput struct {
	ImportRunID string `path:"importRunId"`
}

const (
	tagCatalog = "SCF catalog"
	tagImport  = "SCF import"
	scfRead    = Permission("scf:read")
)

// Operations of the interface's parts 4.3 and 4.4.
var (
	ListVersions            = Get[Paging, List[CatalogVersion]]("list-scf-versions", "/scf/versions", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List catalog versions"))
	GetLatestVersion        = Get[None, CatalogVersion]("get-latest-scf-version", "/scf/versions/latest", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read the latest active catalog version"))
	GetVersion              = Get[VersionInput, CatalogVersion]("get-scf-version", "/scf/versions/{scfVersionId}", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read one catalog version"))
	ListVersionDomains      = Get[VersionDomainsInput, List[Domain]]("list-scf-version-domains", "/scf/versions/{scfVersionId}/domains", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List the domains of a version"))
	ListVersionControls     = Get[VersionControlsInput, List[Control]]("list-scf-version-controls", "/scf/versions/{scfVersionId}/controls", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List the controls of a version"))
	ListDomains             = Get[DomainsInput, List[Domain]]("list-scf-domains", "/scf/domains", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List domains"))
	ListControls            = Get[ControlsInput, List[Control]]("list-scf-controls", "/scf/controls", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List or search controls"))
	GetControl              = Get[ControlInput, Control]("get-scf-control", "/scf/controls/{controlId}", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read one control"))
	GetControlByCode        = Get[ControlByCodeInput, Control]("get-scf-control-by-code", "/scf/controls/by-code/{controlCode}", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read one control by its code"))
	ListControlMappings     = Get[ControlMappingsInput, List[Mapping]]("list-scf-control-mappings", "/scf/controls/{controlId}/mappings", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List the framework mappings of a control"))
	ListFrameworks          = Get[FrameworksInput, List[Framework]]("list-scf-frameworks", "/scf/frameworks", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List frameworks"))
	GetFramework            = Get[FrameworkInput, Framework]("get-scf-framework", "/scf/frameworks/{frameworkId}", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read one framework"))
	ListRequirements        = Get[RequirementsInput, List[Requirement]]("list-scf-framework-requirements", "/scf/frameworks/{frameworkId}/requirements", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List the requirements of a framework"))
	GetCoverage             = Get[CoverageInput, Coverage]("get-scf-framework-coverage", "/scf/frameworks/{frameworkId}/coverage", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Tell how much of a framework the catalog covers"))
	ListRequirementMappings = Get[RequirementMappingsInput, List[Mapping]]("list-scf-requirement-mappings", "/scf/requirements/{requirementId}/mappings", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("List the mappings of a requirement"))
	GetCrosswalk            = Get[CrosswalkInput, Crosswalk]("get-scf-crosswalk", "/scf/crosswalks", For(SignedIn), Needs(scfRead), Tagged(tagCatalog), Summary("Read the crosswalk of a framework, or between two"))

	ImportStructured = Create[ImportSourceInput, ImportRun]("import-scf-source", "/admin/scf/import-runs", For(Platform), Needs(SCFImport), Tagged(tagImport), Summary("Import a catalog from a structured source"))
	ListImportRuns   = Get[Paging, List[ImportRun]]("list-scf-import-runs", "/admin/scf/import-runs", For(Platform), Needs(SCFImport), Tagged(tagImport), Summary("List import runs"))
	GetImportRun     = Get[ImportRunInput, ImportRun]("get-scf-import-run", "/admin/scf/import-runs/{importRunId}", For(Platform), Needs(SCFImport), Tagged(tagImport), Summary("Read an import run"))
	ImportWorkbook   = Create[ImportWorkbookInput, ImportRun]("import-scf-workbook", "/admin/scf/import-xlsx", For(Platform), Needs(SCFImport), As(Upload), Tagged(tagImport), Summary("Import an SCF workbook"))
	DryRunWorkbook   = Post[ImportWorkbookInput, ImportRun]("dry-run-scf-workbook", "/admin/scf/import-xlsx/dry-run", For(Platform), Needs(SCFImport), As(Upload), Tagged(tagImport), Summary("Tell what importing a workbook would change"))
)

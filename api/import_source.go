package api

import "encoding/json"

// ImportSourceInput is the input for importing a catalog given as structured JSON.
type ImportSourceInput struct {
	Body ImportSource
}

// ImportSource is a catalog as structured JSON, with the options of its import. If Format or Label is
// empty, it is determined from the source.
type ImportSource struct {
	Format   string          `json:"format,omitempty" enum:"service,oscal" doc:"Detected from the content if omitted."`
	Label    string          `json:"label,omitempty" maxLength:"40" doc:"The version's label; taken from the source if omitted."`
	Filename string          `json:"filename,omitempty" maxLength:"255" doc:"The file's name, for the record."`
	DryRun   bool            `json:"dry_run,omitempty" doc:"Make no changes; only report what would change."`
	Source   json.RawMessage `json:"source" doc:"The document: a catalog in the service's own format, or an OSCAL catalog, profile or mapping collection."`
}

// The formats in which a structured catalog can be imported.
const (
	FormatService = "service"
	FormatOSCAL   = "oscal"
)

// MaxSourceBytes is the maximum size of a structured catalog. The largest release of the SCF is 10 MB in our own
// format and 25 MB in OSCAL.
const MaxSourceBytes = 48 << 20

// ExportCatalogInput is the input for exporting a catalog version as a file.
type ExportCatalogInput struct {
	VersionInput
	Format    string `query:"format" enum:"service,oscal" default:"service"`
	Model     string `query:"model" enum:"catalog,profile,mapping-collection" doc:"The OSCAL model: catalog (default), profile (a framework's controls), or crosswalk."`
	Framework string `query:"framework" doc:"The framework of the profile, or the only one in the crosswalk."`
}

// Operations that import and export a catalog as structured JSON.
var (
	ImportStructured = Create[ImportSourceInput, ImportRun](
		"import-scf-source", "/admin/scf/import-runs", SCFImport, tagImport,
		"Import a catalog from a structured source", WithAccess(Platform), WithMaxBody(MaxSourceBytes),
	)
	ExportCatalog = Get[ExportCatalogInput, File](
		"export-scf-version", "/scf/versions/{scfVersionId}/export", scfRead, tagCatalog,
		"Download a catalog version as structured JSON", WithAccess(SignedIn), WithBodyEncoding(Download),
	)
)

package api

import "time"

// Reader is a reader whose readings were imported into an assessment from a file.
type Reader struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Name           string    `json:"name"`
	SHA256         string    `json:"sha256" doc:"Hash of the readings."`
	Readings       int       `json:"readings"`
	Statements     int       `json:"statements" doc:"Number of statements with at least one reading."`
	OfStatements   int       `json:"of_statements" doc:"Number of statements for which there was a passage to read at the time of the import."`
	ImportedBy     string    `json:"imported_by"`
	ImportedAt     time.Time `json:"imported_at"`
}

// RecordID returns the reader's name, because it identifies the reader within its assessment.
func (r Reader) RecordID() string { return r.Name }

type (
	// ReaderListInput is the input for listing the readers of an assessment.
	ReaderListInput struct {
		AssessmentInput
		Paging
	}
	// ImportReadingsInput is the input for importing a file of readings.
	ImportReadingsInput struct {
		AssessmentInput
		File UploadFile `form:"file"`
		Name string     `form:"name" doc:"Name of the reader, as on every line of the file; lower-case letters, digits, dots, hyphens and underscores."`
	}
	// DraftSoAInput is the input for drafting a Statement of Applicability.
	DraftSoAInput struct {
		AssessmentInput
		Reader string `query:"reader" maxLength:"64" doc:"rules, or the name of an imported reader. By default, the reader of the newest version; rules if there is none."`
	}
)

const tagReader = "Readers"

// Operations on readers of evidence.
var (
	ExportReaderStatements = Get[AssessmentInput, File](
		"export-reader-statements", "/assessments/{assessmentId}/reader/statements", "kb:read", tagReader,
		"Export statements with the passages to read, as JSON lines", WithBodyEncoding(Download),
	)
	ExportReaderDecisions = Get[AssessmentInput, File](
		"export-reader-decisions", "/assessments/{assessmentId}/reader/decisions", "soa:read", tagReader,
		"Export what users accepted or changed, as JSON lines", WithBodyEncoding(Download),
	)
	ListReaders = Get[ReaderListInput, List[Reader]](
		"list-readers", "/assessments/{assessmentId}/readers", "assessment:read", tagReader,
		"List the readers of an assessment by name",
	)
	ImportReadings = Post[ImportReadingsInput, Reader](
		"import-readings", "/assessments/{assessmentId}/reader/readings", "soa:write", tagReader,
		"Import a reader's readings from a file", WithBodyEncoding(Upload),
	)
)

package api

import (
	"strings"
	"time"
)

// Report is a generated document about an assessment.
type Report struct {
	TenantRecord
	AssessmentID   string            `json:"assessment_id"`
	Title          string            `json:"title"`
	Format         string            `json:"format" enum:"pdf,html,docx,pptx,xlsx,md,csv,json,oscal"`
	Template       string            `json:"template" enum:"client,executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	Status         string            `json:"status" enum:"queued,running,ready,failed"`
	Filename       string            `json:"filename"`
	SizeBytes      int64             `json:"size_bytes"`
	SHA256         string            `json:"sha256"`
	Sources        map[string]string `json:"sources" doc:"Sources of the report: version ids and content hashes."`
	Draft          bool              `json:"draft" doc:"A source was not approved; every page is marked as a draft."`
	WithAppendices bool              `json:"with_appendices"`
	Paper          string            `json:"paper" doc:"Size of the pages: letter, or empty for A4."`
	ComparedWith   *string           `json:"compared_with" doc:"Id of the earlier assessment that the report compares with."`
	Error          *string           `json:"error"`
	CreatedBy      string            `json:"created_by"`
}

// ReportBody is the request body that specifies a report.
type ReportBody struct {
	Format   string `json:"format" enum:"pdf,html,docx,pptx,xlsx,md,csv,json,oscal"`
	Template string `json:"template" enum:"client,executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	ReportAppearance
}

// GenerateBody is the request body that specifies a report; the default is the full report as HTML.
type GenerateBody struct {
	Format   string `json:"format,omitempty" enum:"pdf,html,docx,pptx,xlsx,md,csv,json,oscal"`
	Template string `json:"template,omitempty" enum:"client,executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	ReportAppearance
}

// ReportAppearance is the title and appearance of a report.
type ReportAppearance struct {
	Title string `json:"title,omitempty" maxLength:"300"`
	// WithAppendices and Compare apply to the template client.
	WithAppendices bool   `json:"with_appendices,omitempty" doc:"Bind the appendices into a report with the template client."`
	Paper          string `json:"paper,omitempty" enum:"a4,letter" doc:"Size of the pages of pdf, docx and xlsx; the default is a4."`
	Compare        string `json:"compare,omitempty" maxLength:"100" doc:"Id of an earlier assessment; a report with the template client says what improved, what slipped, and why. By default, the newest finished one of the same client, frameworks and catalog."`
	Layout         string `json:"layout,omitempty" maxLength:"28000000" doc:"A layout of your own, filled in with the report's data: for docx and pptx a document in base64, for html and md a Go template."`
	Style          string `json:"style,omitempty" maxLength:"2800000" doc:"A DOCX in base64 that supplies the styles of a docx report."`
}

// Maximum sizes in bytes: of a layout for html and md, of an office document used as a layout, and of a style
// document.
const (
	MaxLayoutBytes       = 256 << 10
	MaxOfficeLayoutBytes = 20 << 20
	MaxStyleBytes        = 2 << 20
)

// maxLayoutBody is the maximum size of a request with a layout and a style document, both in base64.
const maxLayoutBody = 31 << 20

// ReportAppendix is a separate report with the details that the client template leaves out.
type ReportAppendix struct {
	Letter, Template, Format, Title string
}

// Filename returns the name of the appendix's file, such as appendix-a-soa.xlsx.
func (a ReportAppendix) Filename() string {
	return "appendix-" + strings.ToLower(a.Letter) + "-" + strings.ReplaceAll(a.Template, "_", "-") + "." + a.Format
}

// ReportAppendices lists the appendices of a report that uses the client template.
var ReportAppendices = []ReportAppendix{
	{"A", "soa", "xlsx", "Statement of Applicability and evidence"},
	{"B", "gap_analysis", "pdf", "Findings in full"},
	{"C", "poam", "xlsx", "Plan of action and milestones"},
	{"D", "maturity", "xlsx", "Maturity by control"},
}

// LintLayoutInput is the input for checking a layout.
type LintLayoutInput struct {
	Body struct {
		Format string `json:"format" enum:"docx,pptx,html,md"`
		Layout string `json:"layout" minLength:"1" maxLength:"28000000" doc:"As in the request for a report."`
	}
}

// LayoutLint is the result of checking a layout.
type LayoutLint struct {
	OK           bool            `json:"ok" doc:"No errors; there may be warnings."`
	Placeholders int             `json:"placeholders" doc:"The number of placeholders found; 0 for html and md."`
	Problems     []LayoutProblem `json:"problems" doc:"At most 200."`
}

// LayoutProblem is an error in a layout, or something in it that may be unintended.
type LayoutProblem struct {
	Level       string `json:"level" enum:"error,warning"`
	Part        string `json:"part" doc:"The file within the document, such as word/document.xml."`
	Place       string `json:"place" doc:"Where in the document, such as header 1, table 2, row 3, column 1."`
	Placeholder string `json:"placeholder"`
	Message     string `json:"message"`
	Suggestion  string `json:"suggestion" doc:"What to write instead; may be empty."`
}

// ExampleLayoutInput is the input for getting an example of a layout.
type ExampleLayoutInput struct {
	Format string `query:"format" enum:"docx,pptx" doc:"Default: docx."`
}

// ExampleLayout is an example of a layout.
type ExampleLayout struct {
	Format string `json:"format" enum:"docx,pptx"`
	Layout string `json:"layout" doc:"The document in base64."`
}

// CreateReportInput is the input for requesting a report.
type CreateReportInput struct {
	AssessmentInput
	Body ReportBody
}

// GenerateReportInput is the input for requesting a report. Without a body, the full report is generated
// as HTML.
type GenerateReportInput struct {
	AssessmentInput
	Body *GenerateBody
}

// ReportsInput is the input for listing the reports of an assessment.
type ReportsInput struct {
	AssessmentInput
	Paging
	Format   string `query:"format" enum:"pdf,html,docx,pptx,xlsx,md,csv,json,oscal"`
	Template string `query:"template" enum:"client,executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	Status   string `query:"status" enum:"queued,running,ready,failed"`
	Q        string `query:"q" doc:"Part of the title or file name."`
	Sort     string `query:"sort" sort:"created_at,title,format,template,size_bytes" doc:"Sort order; prefix a field with - for descending."`
}

// ReportInput identifies a report.
type ReportInput struct {
	ReportID string `path:"reportId"`
}

// GetReportInput identifies a report whose record is read.
type GetReportInput struct {
	ReportInput
	Waiting
}

// VerifyReportInput identifies a report, or a file that may be one.
type VerifyReportInput struct {
	ReportID string `path:"reportId" doc:"The report's id, or the SHA-256 of a file."`
}

// ReportVerification reports whether a file is a report generated by the service, and whether the assessment still
// matches it.
type ReportVerification struct {
	OK     bool   `json:"ok" doc:"The file is unchanged since the service generated it; see the explanations."`
	Report Report `json:"report"`
	// Outcome is reproduced if regenerating the report results in the same bytes.
	Outcome           string         `json:"outcome" enum:"reproduced,sources_changed,program_changed,custom_appearance,differs,package,damaged"`
	Message           string         `json:"message"`
	RegeneratedSHA256 *string        `json:"regenerated_sha256" doc:"Hash of the regenerated report; null if it was not regenerated."`
	Changed           []SourceChange `json:"changed" doc:"Sources that have changed since."`
}

// SourceChange describes a source of a report that has changed since the report was generated.
type SourceChange struct {
	Name     string  `json:"name"`
	Previous *string `json:"previous"`
	Current  *string `json:"current"`
}

// ExecutiveSummary is the summary for a board.
type ExecutiveSummary struct {
	AssessmentID   string            `json:"assessment_id"`
	Title          string            `json:"title"`
	Text           string            `json:"text"`
	Summary        AssessmentSummary `json:"summary"`
	TopFindings    []Finding         `json:"top_findings"`
	WeakestDomains []DomainMaturity  `json:"weakest_domains"`
	Draft          bool              `json:"draft"`
	GeneratedAt    time.Time         `json:"generated_at"`
}

const tagReport = "Reports"

// Operations on reports, defined in section 4.12 of the API specification.
var (
	ListReports = Get[ReportsInput, List[Report]](
		"list-reports", "/assessments/{assessmentId}/reports", "report:read", tagReport,
		"List reports",
	)
	GenerateReport = Create[GenerateReportInput, Report](
		"generate-report", "/assessments/{assessmentId}/reports/generate", "report:write", tagReport,
		"Generate the full report", WithLargeText(maxLayoutBody),
	)
	CreateReport = Create[CreateReportInput, Report](
		"create-report", "/assessments/{assessmentId}/reports", "report:write", tagReport,
		"Generate a report from a template and format", WithLargeText(maxLayoutBody),
	)
	GetReport = Get[GetReportInput, Report](
		"get-report", "/reports/{reportId}", "report:read", tagReport,
		"Get a report's record",
	)
	DownloadReport = Get[ReportInput, File](
		"download-report", "/reports/{reportId}/download", "report:read", tagReport,
		"Download a report", WithBodyEncoding(Download),
	)
	RenderReport = Get[ReportInput, File](
		"render-report", "/reports/{reportId}/render", "report:read", tagReport,
		"View a report as HTML", WithBodyEncoding(Markup),
	)
	LintLayout = Post[LintLayoutInput, LayoutLint](
		"lint-report-layout", "/report-layouts/lint", "report:read", tagReport,
		"Check a report layout", WithLargeText(maxLayoutBody),
	)
	GetExampleLayout = Get[ExampleLayoutInput, ExampleLayout](
		"get-example-report-layout", "/report-layouts/example", "report:read", tagReport,
		"Get an example report layout",
	)
	VerifyReport = Get[VerifyReportInput, ReportVerification](
		"verify-report", "/reports/{reportId}/verification", "report:read", tagReport,
		"Verify that a file is an unchanged report",
	)
	GetExecutiveSummary = Get[AssessmentInput, ExecutiveSummary](
		"get-executive-summary", "/assessments/{assessmentId}/reports/executive-summary", "report:read", tagReport,
		"Get the executive summary",
	)
)

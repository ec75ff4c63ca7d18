package api

import "time"

// Report is a written document about an assessment.
type Report struct {
	TenantRecord
	AssessmentID string            `json:"assessment_id"`
	Title        string            `json:"title"`
	Format       string            `json:"format" enum:"pdf,html,docx,xlsx,md,csv,json,oscal"`
	Template     string            `json:"template" enum:"executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	Status       string            `json:"status" enum:"queued,running,ready,failed"`
	Filename     string            `json:"filename"`
	SizeBytes    int64             `json:"size_bytes"`
	SHA256       string            `json:"sha256"`
	Sources      map[string]string `json:"sources" doc:"What the report was made from: version ids and content hashes."`
	Draft        bool              `json:"draft" doc:"A source was not approved; marked on every page."`
	Error        *string           `json:"error"`
	CreatedBy    string            `json:"created_by"`
}

// ReportBody says what report is wanted.
type ReportBody struct {
	Format   string `json:"format" enum:"pdf,html,docx,xlsx,md,csv,json,oscal"`
	Template string `json:"template" enum:"executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	ReportLook
}

// GenerateBody says what report is wanted; what it leaves out is the full one, as HTML.
type GenerateBody struct {
	Format   string `json:"format,omitempty" enum:"pdf,html,docx,xlsx,md,csv,json,oscal"`
	Template string `json:"template,omitempty" enum:"executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	ReportLook
}

// ReportLook is what a report is called, and what it looks like.
type ReportLook struct {
	Title  string `json:"title,omitempty" maxLength:"300"`
	Layout string `json:"layout,omitempty" maxLength:"262144" doc:"A Go template of your own, for html and md: it is given the report's JSON form."`
	Style  string `json:"style,omitempty" maxLength:"2800000" doc:"A DOCX in base64 whose styles a report in docx takes."`
}

// What a template of one's own and a document for styles may have in bytes.
const (
	MaxOwnTemplate = 256 << 10
	MaxStyleBytes  = 2 << 20
)

// CreateReportInput asks for a report.
type CreateReportInput struct {
	AssessmentInput
	Body ReportBody
}

// GenerateReportInput asks for a report; without a body, the full one as HTML.
type GenerateReportInput struct {
	AssessmentInput
	Body *GenerateBody
}

// ReportsInput lists the reports of an assessment.
type ReportsInput struct {
	AssessmentInput
	Paging
	Format   string `query:"format" enum:"pdf,html,docx,xlsx,md,csv,json,oscal"`
	Template string `query:"template" enum:"executive_summary,full,soa,gap_analysis,maturity,poam,fedramp_poam,emass_poam,assessment_plan,audit_package"`
	Status   string `query:"status" enum:"queued,running,ready,failed"`
	Q        string `query:"q" doc:"Part of the title or file name."`
	Sort     string `query:"sort" sort:"created_at,title,format,template,size_bytes" doc:"The order; - before a name for descending."`
}

// ReportInput names a report.
type ReportInput struct {
	ReportID string `path:"reportId"`
}

// VerifyReportInput names a report, or a file that may be one.
type VerifyReportInput struct {
	ReportID string `path:"reportId" doc:"The report's id, or the SHA-256 of a file."`
}

// ReportVerification tells whether a file is a report that the service wrote, and whether
// the assessment still says what it says.
type ReportVerification struct {
	OK     bool   `json:"ok" doc:"The file is what the service wrote; what was found about it is in the words beside it."`
	Report Report `json:"report"`
	// Outcome is reproduced where the report, written anew, has the same bytes.
	Outcome         string         `json:"outcome" enum:"reproduced,sources_changed,program_changed,own_look,differs,package,damaged"`
	Message         string         `json:"message"`
	RewrittenSHA256 *string        `json:"rewritten_sha256" doc:"Of the report written anew; null where it was not."`
	Changed         []SourceChange `json:"changed" doc:"Sources that are others now."`
}

// SourceChange is a source of a report that is another one now.
type SourceChange struct {
	Name string  `json:"name"`
	Was  *string `json:"was"`
	Is   *string `json:"is"`
}

// ExecutiveSummary is what a board reads.
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

// Operations of the interface's part 4.12.
var (
	ListReports = Get[ReportsInput, List[Report]](
		"list-reports",
		"/assessments/{assessmentId}/reports",
		WithPermission("report:read"),
		WithTag(tagReport),
		WithSummary("List reports"),
	)
	GenerateReport = Create[GenerateReportInput, Report](
		"generate-report",
		"/assessments/{assessmentId}/reports/generate",
		WithPermission("report:write"),
		WithMaxBody(4<<20),
		WithTag(tagReport),
		WithSummary("Write the full report"),
	)
	CreateReport = Create[CreateReportInput, Report](
		"create-report",
		"/assessments/{assessmentId}/reports",
		WithPermission("report:write"),
		WithMaxBody(4<<20),
		WithTag(tagReport),
		WithSummary("Write a report in a template and format"),
	)
	GetReport = Get[ReportInput, Report](
		"get-report",
		"/reports/{reportId}",
		WithPermission("report:read"),
		WithTag(tagReport),
		WithSummary("Read a report's record"),
	)
	DownloadReport = Get[ReportInput, File](
		"download-report",
		"/reports/{reportId}/download",
		WithPermission("report:read"),
		WithForm(Download),
		WithTag(tagReport),
		WithSummary("Download a report"),
	)
	RenderReport = Get[ReportInput, File](
		"render-report",
		"/reports/{reportId}/render",
		WithPermission("report:read"),
		WithForm(Markup),
		WithTag(tagReport),
		WithSummary("Show a report as HTML"),
	)
	VerifyReport = Get[VerifyReportInput, ReportVerification](
		"verify-report",
		"/reports/{reportId}/verification",
		WithPermission("report:read"),
		WithTag(tagReport),
		WithSummary("Tell whether a file is a report as it was written"),
	)
	GetExecutiveSummary = Get[AssessmentInput, ExecutiveSummary](
		"get-executive-summary",
		"/assessments/{assessmentId}/reports/executive-summary",
		WithPermission("report:read"),
		WithTag(tagReport),
		WithSummary("Read the executive summary"),
	)
)

package api

// Artifact is a deliverable, scope or report, together with all its versions.
type Artifact struct {
	TenantRecord
	AssessmentID string `json:"assessment_id"`
	Type         string `json:"type" enum:"scope,soa,gap_analysis,maturity,poam,report"`
	// Variant distinguishes the reports of an assessment: "full/html".
	Variant        *string `json:"variant" doc:"For reports: template and format, e.g. full/html."`
	Title          string  `json:"title"`
	CurrentVersion int     `json:"current_version"`
}

// ArtifactVersion is one numbered version of an artifact.
type ArtifactVersion struct {
	TenantRecord
	ArtifactID    string        `json:"artifact_id"`
	VersionNumber int           `json:"version_number"`
	Status        VersionStatus `json:"status"`
	ContentSHA256 string        `json:"content_sha256"`
	RecordID      string        `json:"record_id"`
	Supersedes    *int          `json:"supersedes"`
}

// ArtifactsInput is the input for listing the deliverables of an assessment.
type ArtifactsInput struct {
	AssessmentInput
	Paging
	Type string `query:"type" enum:"scope,soa,gap_analysis,maturity,poam,report"`
}

// ArtifactInput identifies an artifact.
type ArtifactInput struct {
	ArtifactID string `path:"artifactId"`
}

// ArtifactVersionsInput is the input for listing the versions of an artifact.
type ArtifactVersionsInput struct {
	ArtifactInput
	Paging
}

// ArtifactVersionInput identifies a version of an artifact.
type ArtifactVersionInput struct {
	ArtifactInput
	VersionNumber int `path:"versionNumber" minimum:"1"`
}

// ArtifactDiffInput identifies two versions to compare.
type ArtifactDiffInput struct {
	ArtifactInput
	From int `query:"from" minimum:"0" doc:"A version number; defaults to the one before to."`
	To   int `query:"to" minimum:"0" doc:"A version number; defaults to the current one."`
}

// ArtifactDiff lists the differences between two versions of an artifact.
type ArtifactDiff struct {
	ArtifactID  string     `json:"artifact_id"`
	Type        string     `json:"type" enum:"scope,soa,gap_analysis,maturity,poam,report"`
	FromVersion int        `json:"from_version"`
	ToVersion   int        `json:"to_version"`
	FromSHA256  string     `json:"from_sha256"`
	ToSHA256    string     `json:"to_sha256"`
	Added       int        `json:"added"`
	Removed     int        `json:"removed"`
	Changed     int        `json:"changed" doc:"Items with changed fields."`
	Lines       []DiffLine `json:"lines"`
}

// DiffLine is one difference, given both as values and as a readable sentence.
type DiffLine struct {
	Change string `json:"change" enum:"added,removed,changed"`
	Item   string `json:"item" doc:"The control's code; for reports, the line; empty for the scope."`
	Field  string `json:"field"`
	From   string `json:"from"`
	To     string `json:"to"`
	Text   string `json:"text"`
}

const tagArtifact = "Artifacts"

// Operations on artifacts, defined in section 4.14 of the API specification.
var (
	ListArtifacts = Get[ArtifactsInput, List[Artifact]](
		"list-artifacts", "/assessments/{assessmentId}/artifacts", "artifact:read", tagArtifact,
		"List the deliverables of an assessment",
	)
	GetArtifact = Get[ArtifactInput, Artifact](
		"get-artifact", "/artifacts/{artifactId}", "artifact:read", tagArtifact,
		"Get a deliverable",
	)
	ListArtifactVersions = Get[ArtifactVersionsInput, List[ArtifactVersion]](
		"list-artifact-versions", "/artifacts/{artifactId}/versions", "artifact:read", tagArtifact,
		"List the versions of a deliverable",
	)
	GetArtifactVersion = Get[ArtifactVersionInput, ArtifactVersion](
		"get-artifact-version", "/artifacts/{artifactId}/versions/{versionNumber}", "artifact:read", tagArtifact,
		"Get a version of a deliverable",
	)
	DiffArtifact = Get[ArtifactDiffInput, ArtifactDiff](
		"diff-artifact", "/artifacts/{artifactId}/diff", "artifact:read", tagArtifact,
		"Compare two versions of a deliverable",
	)
	ExportAssessment = Get[AssessmentInput, File](
		"export-assessment", "/assessments/{assessmentId}/export", "audit:read", tagAssessment,
		"Export an assessment as one archive", WithBodyEncoding(Download),
	)
)

package api

// Artifact is a deliverable across its versions.
type Artifact struct {
	TenantRecord
	AssessmentID   string `json:"assessment_id"`
	Type           string `json:"type" enum:"scope,soa,gap_analysis,maturity,poam,report"`
	Title          string `json:"title"`
	CurrentVersion int    `json:"current_version"`
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

// ArtifactInput names an artifact.
type ArtifactInput struct {
	ArtifactID string `path:"artifactId"`
}

// ArtifactVersionsInput lists versions.
type ArtifactVersionsInput struct {
	ArtifactInput
	Paging
}

// ArtifactVersionInput names a version.
type ArtifactVersionInput struct {
	ArtifactInput
	VersionNumber int `path:"versionNumber" minimum:"1"`
}

const tagArtifact = "Artifacts"

// Operations of the interface's part 4.14.
var (
	ListArtifacts        = Get[AssessmentListInput, List[Artifact]]("list-artifacts", "/assessments/{assessmentId}/artifacts", Needs("artifact:read"), Tagged(tagArtifact), Summary("List the deliverables of an assessment"))
	GetArtifact          = Get[ArtifactInput, Artifact]("get-artifact", "/artifacts/{artifactId}", Needs("artifact:read"), Tagged(tagArtifact), Summary("Read a deliverable"))
	ListArtifactVersions = Get[ArtifactVersionsInput, List[ArtifactVersion]]("list-artifact-versions", "/artifacts/{artifactId}/versions", Needs("artifact:read"), Tagged(tagArtifact), Summary("List the versions of a deliverable"))
	GetArtifactVersion   = Get[ArtifactVersionInput, ArtifactVersion]("get-artifact-version", "/artifacts/{artifactId}/versions/{versionNumber}", Needs("artifact:read"), Tagged(tagArtifact), Summary("Read a version of a deliverable"))
)

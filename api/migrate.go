package api

// MigrateInput asks to move an assessment to another catalog version.
type MigrateInput struct {
	AssessmentInput
	Body MigrateBody
}

// MigrateBody says where to, and what may be left behind.
type MigrateBody struct {
	To             string   `json:"to,omitempty" doc:"Id or label of the catalog version; the latest active one where absent."`
	DropFrameworks []string `json:"drop_frameworks,omitempty" doc:"Frameworks to leave behind that the version lacks."`
	DryRun         bool     `json:"dry_run,omitempty" doc:"Change nothing, tell what would change."`
}

// Migration tells what moving an assessment to another catalog version did, or would do.
type Migration struct {
	AssessmentID string       `json:"assessment_id"`
	DryRun       bool         `json:"dry_run"`
	From         CatalogPoint `json:"from"`
	To           CatalogPoint `json:"to"`
	// Frameworks are those of the assessment, as they were.
	Frameworks []MigratedFramework `json:"frameworks"`
	// Controls in the assessment before and after, and those of both of which nothing changed.
	ControlsBefore    int `json:"controls_before"`
	ControlsAfter     int `json:"controls_after"`
	ControlsUnchanged int `json:"controls_unchanged"`
	// DecisionsKept are controls that people decided something on and that stay; DecisionsLeft those
	// that do not. What was decided on them stays readable in the versions before.
	DecisionsKept []string `json:"decisions_kept"`
	DecisionsLeft []string `json:"decisions_left"`
	// Review is what a person must look at again, by control code.
	Review []MigrationReview `json:"review"`
	// Versions are the drafts that were made, one for each deliverable there was.
	Versions []MigratedVersion `json:"versions"`
}

// CatalogPoint is a catalog version with a revision of the organization's own additions.
type CatalogPoint struct {
	VersionID      string `json:"version_id"`
	Label          string `json:"label"`
	CustomRevision int    `json:"custom_revision"`
}

// MigratedFramework is what becomes of a framework of the assessment.
type MigratedFramework struct {
	Code   string  `json:"code"`
	Status string  `json:"status" enum:"kept,renamed,gone,dropped"`
	ToCode *string `json:"to_code"`
	// Message says why a framework is gone, and what comes near.
	Message *string `json:"message"`
}

// MigrationReview is a control that a person must look at again, and why.
type MigrationReview struct {
	ControlCode string   `json:"control_code"`
	Title       string   `json:"title"`
	Reasons     []string `json:"reasons" doc:"new, gone, no_longer_mapped, renamed, reworded, reweighted, deprecated, requirements_changed"`
	// Gained and Lost are requirement codes by framework.
	Gained RequirementCodes `json:"requirements_gained"`
	Lost   RequirementCodes `json:"requirements_lost"`
	// Decided: a person had decided something on it.
	Decided bool `json:"decided"`
}

// MigratedVersion is a draft that a migration made.
type MigratedVersion struct {
	Gate          Gate   `json:"gate"`
	ID            string `json:"id"`
	VersionNumber int    `json:"version_number"`
	ItemCount     int    `json:"item_count"`
}

// Why a control must be looked at again.
const (
	ReviewNew          = "new"
	ReviewGone         = "gone"
	ReviewUnmapped     = "no_longer_mapped"
	ReviewRenamed      = "renamed"
	ReviewReworded     = "reworded"
	ReviewReweighted   = "reweighted"
	ReviewDeprecated   = "deprecated"
	ReviewRequirements = "requirements_changed"
)

// MigrateAssessment moves an assessment to another catalog version, keeping what people decided.
var MigrateAssessment = Post[MigrateInput, Migration](
	"migrate-assessment",
	"/assessments/{assessmentId}/migrate",
	WithPermission("assessment:write"),
	WithTag(tagAssessment),
	WithSummary("Move an assessment to another catalog version"),
)

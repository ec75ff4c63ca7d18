package api

// MigrateInput is the input for moving an assessment to another catalog version.
type MigrateInput struct {
	AssessmentInput
	Body MigrateBody
}

// MigrateBody names the target version and the frameworks that may be dropped.
type MigrateBody struct {
	To             string   `json:"to,omitempty" minLength:"1" doc:"Id or label of the catalog version; defaults to the latest active one."`
	DropFrameworks []string `json:"drop_frameworks,omitempty" doc:"Frameworks to drop because the target version lacks them."`
	DryRun         bool     `json:"dry_run,omitempty" doc:"Make no changes; only report what would change."`
}

// Migration is the actual or planned result of moving an assessment to another catalog version.
type Migration struct {
	AssessmentID string       `json:"assessment_id"`
	DryRun       bool         `json:"dry_run"`
	From         CatalogPoint `json:"from"`
	To           CatalogPoint `json:"to"`
	// Frameworks are the assessment's frameworks before the migration.
	Frameworks []MigratedFramework `json:"frameworks"`
	// The number of controls in the assessment before and after the migration, and of controls that are in both
	// without changes.
	ControlsBefore    int `json:"controls_before"`
	ControlsAfter     int `json:"controls_after"`
	ControlsUnchanged int `json:"controls_unchanged"`
	// DecisionsKept are the remaining controls with manual decisions. DecisionsLeft are the dropped controls with
	// manual decisions, which remain readable in earlier versions.
	DecisionsKept    []string `json:"decisions_kept"`
	DecisionsDropped []string `json:"decisions_dropped"`
	// Review lists the controls that users must review again, by control code.
	Review []MigrationReview `json:"review"`
	// Versions are the new drafts, one for each existing deliverable.
	Versions []MigratedVersion `json:"versions"`
}

// CatalogPoint identifies the state of the catalog an assessment uses: a catalog version, and a revision
// of the organization's custom records.
type CatalogPoint struct {
	VersionID      string `json:"version_id"`
	Label          string `json:"label"`
	CustomRevision int    `json:"custom_revision"`
}

// MigratedFramework describes what happens to one framework of the assessment in a migration.
type MigratedFramework struct {
	Code   string  `json:"code"`
	Status string  `json:"status" enum:"kept,renamed,missing,dropped"`
	ToCode *string `json:"to_code"`
	// Message explains why a framework is missing and names the closest match.
	Message *string `json:"message"`
}

// MigrationReview is a control that users must review again after a migration, with the reasons.
type MigrationReview struct {
	ControlCode string   `json:"control_code"`
	Title       string   `json:"title"`
	Reasons     []string `json:"reasons" doc:"new, removed, no_longer_mapped, renamed, reworded, reweighted, deprecated, requirements_changed"`
	// Gained and Lost are requirement codes by framework.
	Gained RequirementCodes `json:"requirements_gained"`
	Lost   RequirementCodes `json:"requirements_lost"`
	// Decided is true if users had made a decision on the control.
	Decided bool `json:"decided"`
}

// MigratedVersion is a draft created by a migration.
type MigratedVersion struct {
	Gate          Gate   `json:"gate"`
	ID            string `json:"id"`
	VersionNumber int    `json:"version_number"`
	ItemCount     int    `json:"item_count"`
}

// The reasons why a control must be reviewed again after a migration.
const (
	ReviewNew          = "new"
	ReviewRemoved      = "removed"
	ReviewUnmapped     = "no_longer_mapped"
	ReviewRenamed      = "renamed"
	ReviewReworded     = "reworded"
	ReviewReweighted   = "reweighted"
	ReviewDeprecated   = "deprecated"
	ReviewRequirements = "requirements_changed"
)

// MigrateAssessment moves an assessment to another catalog version and preserves the decisions that users have made.
var MigrateAssessment = Post[MigrateInput, Migration](
	"migrate-assessment", "/assessments/{assessmentId}/migrate", "assessment:write", tagAssessment,
	"Move an assessment to another catalog version",
)

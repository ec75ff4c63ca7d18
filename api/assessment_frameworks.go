package api

// ChangeFrameworksInput is the input for adding and removing frameworks of an assessment.
type ChangeFrameworksInput struct {
	AssessmentInput
	Body struct {
		Add    []string `json:"add,omitempty" maxItems:"50" doc:"Ids or codes of the frameworks to add." example:"hipaa"`
		Remove []string `json:"remove,omitempty" maxItems:"50" doc:"Ids or codes of the frameworks to remove."`
		DryRun bool     `json:"dry_run,omitempty" doc:"Make no changes; only report what would change."`
	}
}

// FrameworkChange is the actual or previewed result of adding and removing frameworks.
type FrameworkChange struct {
	AssessmentID string `json:"assessment_id"`
	DryRun       bool   `json:"dry_run"`
	// FrameworkCodes are the codes of the assessment's frameworks after the change.
	FrameworkCodes      []string           `json:"framework_codes"`
	Added               []FrameworkPart    `json:"added"`
	Removed             []FrameworkPart    `json:"removed"`
	ControlsBefore      int                `json:"controls_before"`
	ControlsAfter       int                `json:"controls_after"`
	ControlsAdded       []FrameworkControl `json:"controls_added" doc:"Controls that the assessment didn't have before. Only these are drafted."`
	ControlsRemoved     []FrameworkControl `json:"controls_removed" doc:"Controls that no remaining framework requires."`
	RequirementsChanged int                `json:"requirements_changed" doc:"Number of controls that stay and answer more or fewer requirements than before."`
	Version             *MigratedVersion   `json:"version" doc:"The draft of the Statement of Applicability that was made; null if it has none yet, or for a dry run."`
}

// FrameworkPart is a framework that was added or removed.
type FrameworkPart struct {
	Code             string `json:"code"`
	RequirementCount int    `json:"requirement_count"`
	ControlCount     int    `json:"control_count" doc:"Controls that cover its requirements."`
}

// FrameworkControl is a control that is added to or removed from an assessment with a framework.
type FrameworkControl struct {
	ControlCode  string `json:"control_code"`
	ControlTitle string `json:"control_title"`
	Decided      bool   `json:"decided" doc:"A person has edited its item. Earlier versions keep it, and it returns with the control."`
}

// ChangeFrameworks adds and removes frameworks of an assessment that isn't closed.
var ChangeFrameworks = Post[ChangeFrameworksInput, FrameworkChange](
	"change-frameworks", "/assessments/{assessmentId}/frameworks", "assessment:write", tagAssessment,
	"Add or remove frameworks, and draft only the new items",
)

package api

import "time"

// ItemSelection selects the items of a version to change, by a filter or by their IDs. Either all selected items are changed
// or none.
type ItemSelection struct {
	Where         string   `json:"where,omitempty" maxLength:"2000" doc:"Filter that selects the items, e.g. domain == 'IAC' && status == 'not_evidenced'; 'true' selects all. Give this or item_ids."`
	ItemIDs       []string `json:"item_ids,omitempty" maxItems:"5000" doc:"The items to change."`
	DryRun        bool     `json:"dry_run,omitempty" doc:"Only report what would change."`
	ContentSHA256 string   `json:"content_sha256,omitempty" minLength:"1" maxLength:"64" doc:"The content_sha256 of the preview; the change is rejected if the version has changed since."`
}

// EditResult describes a change to one or more items, or a preview of it.
type EditResult struct {
	EditID        string       `json:"edit_id" doc:"Identifies the change for undo, or the one that would be undone for a dry run of undo; empty if nothing was changed."`
	AssessmentID  string       `json:"assessment_id"`
	Gate          Gate         `json:"gate"`
	VersionID     string       `json:"version_id" doc:"The version with the changed items: the next one if the version was approved or rejected."`
	VersionNumber int          `json:"version_number"`
	ContentSHA256 string       `json:"content_sha256"`
	DryRun        bool         `json:"dry_run"`
	ItemCount     int          `json:"item_count" doc:"Number of items in the version."`
	MatchedCount  int          `json:"matched_count" doc:"Number of items that the selection matches."`
	Lines         []EditedLine `json:"lines" doc:"The items that change; those that already have the values are left out."`
	Skipped       []EditedLine `json:"skipped" doc:"The items that an undo left alone because they were edited since."`
	Made          *time.Time   `json:"made" doc:"When the change that is undone was made; null otherwise."`
}

// EditedLine describes the change to one item.
type EditedLine struct {
	ItemID       string        `json:"item_id"`
	ControlCode  string        `json:"control_code"`
	ControlTitle string        `json:"control_title"`
	POAMCode     string        `json:"poam_code" doc:"Code of the plan item; empty in other deliverables."`
	Changes      []FieldChange `json:"changes"`
	EditedSince  *string       `json:"edited_since" doc:"Who has edited a skipped item since; null otherwise."`
}

// FieldChange is the change to a field. Values that are not text are encoded as JSON.
type FieldChange struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// UndoInput is the input for undoing the caller's last change to items in an assessment.
type UndoInput struct {
	AssessmentInput
	Body struct {
		DryRun     bool   `json:"dry_run,omitempty" doc:"Only report what would be undone."`
		EditID     string `json:"edit_id,omitempty" minLength:"1" maxLength:"64" doc:"The change to undo; rejected unless it is the caller's last one that has not been undone."`
		SkipEdited bool   `json:"skip_edited,omitempty" doc:"Skip items that were edited since, instead of rejecting the request."`
	}
}

// Undo reverses the caller's last change.
var Undo = Post[UndoInput, EditResult](
	"undo", "/assessments/{assessmentId}/undo", "assessment:write", tagAssessment,
	"Undo your last change to items",
)

package api

import (
	"strings"
	"time"
)

// Assessment is the central record: the assessment of one organization against a catalog version
// and frameworks.
type Assessment struct {
	TenantRecord
	Name         string `json:"name"`
	Description  string `json:"description"`
	ClientName   string `json:"client_name" doc:"Organization being assessed, as named on reports."`
	State        State  `json:"state"`
	Progress     int    `json:"progress" doc:"0 to 100, by state."`
	SCFVersionID string `json:"scf_version_id"`
	// CustomRevision is the revision of the organization's custom frameworks and controls in use, or 0 if there is
	// none.
	CustomRevision int `json:"custom_revision"`
	// MigratedAt is the time of the last migration to another catalog. Earlier drafts remain unchanged, but later
	// drafts do not build on them.
	MigratedAt   *time.Time `json:"migrated_at"`
	FrameworkIDs []string   `json:"framework_ids"`
	Frameworks   []string   `json:"framework_codes"`
	// CarriedFrom is set if the assessment was created from an earlier one.
	CarriedFrom *CarriedFrom `json:"carried_from" doc:"The earlier assessment from which it was created; null if there is none."`
	DueDate     *Date        `json:"due_date"`
	ClosedAt    *time.Time   `json:"closed_at"`
	CreatedBy   string       `json:"created_by"`
	// NoRemoteModel forbids language models on other machines to read this assessment's evidence.
	NoRemoteModel bool             `json:"no_remote_model"`
	Revision      int              `json:"revision"`
	Counts        AssessmentCounts `json:"counts"`
}

// MayBeSameClient reports whether two assessments may be for the same client, which is the case unless they name
// different clients.
func (a *Assessment) MayBeSameClient(b *Assessment) bool {
	return a.ClientName == "" || b.ClientName == "" || strings.EqualFold(a.ClientName, b.ClientName)
}

// CarriedFrom describes what an assessment has inherited from an earlier one.
type CarriedFrom struct {
	AssessmentID string       `json:"assessment_id"`
	Name         string       `json:"name"`
	Decisions    map[Gate]int `json:"decisions" doc:"Number of items with people's edits, manually added gaps and open plan items, by deliverable. The first drafts apply them."`
	Comments     int          `json:"comments"`
	NotInCatalog []string     `json:"not_in_catalog" doc:"Codes of the controls of these items that the catalog of the new assessment lacks."`
}

// AssessmentCounts counts the records of an assessment. Items and findings are counted in the current
// versions only.
type AssessmentCounts struct {
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	SoAItems  int `json:"soa_items"`
	Findings  int `json:"findings"`
	POAMItems int `json:"poam_items"`
}

// AssessmentInput identifies an assessment.
type AssessmentInput struct {
	AssessmentID string `path:"assessmentId"`
}

// AssessmentListInput is the input for listing records that belong to an assessment.
type AssessmentListInput struct {
	AssessmentInput
	Paging
}

// AssessmentsInput is the input for listing assessments.
type AssessmentsInput struct {
	Paging
	State     State  `query:"state"`
	Status    string `query:"status" enum:"open,closed" doc:"Whether the assessment is active."`
	Framework string `query:"framework" doc:"Id or code of a framework the assessment covers."`
	Q         string `query:"q" doc:"Part of the name or description."`
	Sort      string `query:"sort" sort:"name,state,due_date,created_at,updated_at" doc:"Sort order; prefix a field with - for descending."`
}

// TimelineInput is the input for listing the events of an assessment.
type TimelineInput struct {
	AssessmentInput
	Paging
	Period
	Type         string `query:"type" doc:"Event type, e.g. soa.approved; a prefix ending in a dot, such as soa., matches all events that begin with it."`
	Actor        string `query:"actor" doc:"Id or part of the name."`
	ResourceType string `query:"resource_type"`
	Q            string `query:"q" doc:"Part of the summary."`
}

// LifecycleEventsInput is the input for listing the transitions of an assessment.
type LifecycleEventsInput struct {
	AssessmentInput
	Paging
	Period
	EventType string `query:"event_type" enum:"created,transition,submitted,rework,reopened"`
	ToState   State  `query:"to_state"`
}

// CreateAssessmentInput is the input for creating an assessment.
type CreateAssessmentInput struct {
	Body struct {
		Name         string   `json:"name" minLength:"1" maxLength:"200" example:"Acme 2026"`
		Description  string   `json:"description,omitempty" maxLength:"10000"`
		ClientName   string   `json:"client_name,omitempty" maxLength:"200" doc:"Organization being assessed; it is named on reports." example:"Acme Ltd"`
		FrameworkID  string   `json:"framework_id,omitempty" minLength:"1" doc:"Id or code of one framework." example:"iso-27001-2022"`
		FrameworkIDs []string `json:"framework_ids,omitempty" maxItems:"50" doc:"Ids or codes of several."`
		SCFVersionID string   `json:"scf_version_id,omitempty" minLength:"1" doc:"Id or label; defaults to the latest active version."`
		DueDate      *Date    `json:"due_date,omitempty" format:"date"`
		From         string   `json:"from_assessment_id,omitempty" minLength:"1" doc:"An earlier assessment of the organization. Its scope, owners, decisions, notes, comments and open plan items are carried over, and its frameworks unless others are named."`
	}
}

// UpdateAssessmentInput is the input for changing the fields of an assessment that the body contains.
type UpdateAssessmentInput struct {
	AssessmentInput
	Match
	Body struct {
		Name          *string   `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Description   *string   `json:"description,omitempty" maxLength:"10000"`
		ClientName    *string   `json:"client_name,omitempty" maxLength:"200"`
		FrameworkID   *string   `json:"framework_id,omitempty" minLength:"1"`
		FrameworkIDs  *[]string `json:"framework_ids,omitempty" maxItems:"50"`
		DueDate       Opt[Date] `json:"due_date,omitzero" required:"false"`
		NoRemoteModel *bool     `json:"no_remote_model,omitempty"`
	}
}

// AssessmentStatus describes the state of an assessment and what blocks its next transition.
type AssessmentStatus struct {
	AssessmentID string   `json:"assessment_id"`
	State        State    `json:"state"`
	NextStates   []State  `json:"next_states"`
	BlockedBy    []string `json:"blocked_by"`
	// PendingApprovalID is the approval that the next transition requires.
	PendingApprovalID *string `json:"pending_approval_id"`
	ReadyForReview    *Gate   `json:"ready_for_review" doc:"The deliverable that is drafted and waits for a person to review and submit it; null otherwise."`
	// BlockedGates are the gates that block the next transition.
	BlockedGates []Gate     `json:"blocked_gates"`
	Outdated     []Outdated `json:"outdated" doc:"Deliverables made from sources that have changed since. They don't block anything; draft, submit and approve them again to bring them up to date."`
	// OutdatedDocuments is the number of documents that this version of the program would read differently. NotRead
	// lists the content of all documents that was not read.
	OutdatedDocuments int           `json:"outdated_documents" doc:"How many documents this version of the program would read differently. Process them again to bring them up to date."`
	NotRead           []NotRead     `json:"not_read" doc:"What the documents contain that was not read as text, by kind; the places are with each document."`
	Progress          int           `json:"progress"`
	FormerOwners      []FormerOwner `json:"former_owners" doc:"Owners of items in the newest versions who have left the organization."`
	NextStep          string        `json:"next_step" doc:"What to do next, in words; empty if the assessment is closed."`
}

// DisplayState returns the state to show to users. After an approval, it is the approved state, although the assessment
// moves there only with the next step.
func (st *AssessmentStatus) DisplayState() State {
	if move, ok := st.State.NextMove(); ok && move.Gate != "" && len(st.BlockedBy) == 0 {
		return move.To
	}
	return st.State
}

// DescribeNextStep returns the next step of the assessment in words, derived from the other fields, or "" if the
// assessment is closed.
func (st *AssessmentStatus) DescribeNextStep() string {
	move, ok := st.State.NextMove()
	switch {
	case !ok:
		return ""
	case st.ReadyForReview != nil:
		return "review the " + st.ReadyForReview.Title() + ", then submit it"
	case move.Gate != "" && len(st.BlockedBy) == 0:
		return "continue with the approved " + move.Gate.Title()
	case st.State == StateReportGenerated && len(st.Outdated) > 0:
		return "update the outdated deliverables, or export the current report and " + move.Work
	case st.State == StateReportGenerated:
		return "export the report; when the assessment is finished, " + move.Work
	}
	return move.Work
}

// Outdated describes a deliverable whose newest version is based on sources that have changed since.
type Outdated struct {
	Gate          Gate   `json:"gate"`
	VersionNumber int    `json:"version_number"`
	Reason        string `json:"reason" enum:"scope,documents,source,reader,unapproved" doc:"What is newer: the scope, the documents, a source deliverable, or the reader or rules that judge the evidence; unapproved: it isn't approved, and other deliverables depend on its approved version or are made from it."`
	Message       string `json:"message"`
}

// FormerOwner is the owner of items in a deliverable's newest version who has left the organization.
type FormerOwner struct {
	Gate          Gate   `json:"gate"`
	VersionNumber int    `json:"version_number"`
	Owner         string `json:"owner"`
	ItemCount     int    `json:"item_count" doc:"The items of the version that this person owns; excluded controls don't count."`
	Message       string `json:"message"`
}

// AssessmentSummary is the data of an assessment's dashboard.
type AssessmentSummary struct {
	AssessmentID       string           `json:"assessment_id"`
	Controls           int              `json:"controls"`
	Applicable         int              `json:"applicable"`
	Implemented        int              `json:"implemented"`
	PartiallyImpl      int              `json:"partially_implemented"`
	Planned            int              `json:"planned"`
	NotImplemented     int              `json:"not_implemented"`
	NotEvidenced       int              `json:"not_evidenced"`
	NotAssessed        int              `json:"not_assessed" doc:"Applicable controls not yet assessed by any draft."`
	CompliancePct      *float64         `json:"compliance_pct"`
	ComplianceFormula  string           `json:"compliance_formula"`
	FindingsBySeverity map[Severity]int `json:"findings_by_severity"`
	OpenPOAMItems      int              `json:"open_poam_items"`
	MaturityAvg        *float64         `json:"maturity_avg"`
	IsStarter          bool             `json:"is_starter" doc:"Whether the catalog is the built-in starter catalog."`
	LastActivityAt     time.Time        `json:"last_activity_at"`
	UnreadEvidence
	Reliance
}

// LifecycleEvent is a completed or rejected transition of an assessment from one state to another.
type LifecycleEvent struct {
	TenantRecord
	AssessmentID string   `json:"assessment_id"`
	FromState    *State   `json:"from_state" doc:"Null for the creation of the assessment."`
	ToState      State    `json:"to_state"`
	EventType    string   `json:"event_type" enum:"created,transition,submitted,rework,reopened"`
	Actor        Actor    `json:"actor"`
	Reason       string   `json:"reason"`
	Warnings     []string `json:"warnings"`
	TraceID      string   `json:"trace_id"`
}

// TimelineEvent is an event of any kind in an assessment.
type TimelineEvent struct {
	ID           string    `json:"id"`
	At           time.Time `json:"at"`
	CreatedAt    time.Time `json:"created_at,omitzero"`
	UpdatedAt    time.Time `json:"updated_at,omitzero"`
	Type         string    `json:"type"`
	Summary      string    `json:"summary"`
	Actor        Actor     `json:"actor"`
	ResourceType string    `json:"resource_type"`
	ResourceID   string    `json:"resource_id"`
}

// TransitionInput is the input for moving an assessment to another state.
type TransitionInput struct {
	AssessmentInput
	Body struct {
		TargetState State  `json:"target_state" example:"documents_uploaded"`
		Reason      string `json:"reason,omitempty" maxLength:"2000"`
		InAdvance   bool   `json:"in_advance,omitempty" doc:"For a move into review: the submission is ordered in advance, without looking at the version. It is recorded as such."`
	}
}

// DeleteAssessmentInput is the input for deleting an assessment.
type DeleteAssessmentInput struct {
	AssessmentInput
	Match
}

const tagAssessment = "Assessments"

// Operations on assessments, defined in section 4.6 of the API specification.
var (
	ListAssessments = Get[AssessmentsInput, List[Assessment]](
		"list-assessments", "/assessments", "assessment:read", tagAssessment,
		"List assessments",
	)
	CreateAssessment = Create[CreateAssessmentInput, Assessment](
		"create-assessment", "/assessments", "assessment:write", tagAssessment,
		"Create an assessment",
	)
	GetAssessment = Get[AssessmentInput, Assessment](
		"get-assessment", "/assessments/{assessmentId}", "assessment:read", tagAssessment,
		"Get an assessment",
	)
	UpdateAssessment = Patch[UpdateAssessmentInput, Assessment](
		"update-assessment", "/assessments/{assessmentId}", "assessment:write", tagAssessment,
		"Update an assessment",
	)
	DeleteAssessment = Delete[DeleteAssessmentInput](
		"delete-assessment", "/assessments/{assessmentId}", "assessment:delete", tagAssessment,
		"Delete an assessment and all its data",
	)
	GetAssessmentStatus = Get[AssessmentInput, AssessmentStatus](
		"get-assessment-status", "/assessments/{assessmentId}/status", "assessment:read", tagAssessment,
		"Get an assessment's state and the conditions for its next transition",
	)
	GetAssessmentSummary = Get[AssessmentInput, AssessmentSummary](
		"get-assessment-summary", "/assessments/{assessmentId}/summary", "assessment:read", tagAssessment,
		"Get an assessment's totals",
	)
	GetTimeline = Get[TimelineInput, List[TimelineEvent]](
		"get-assessment-timeline", "/assessments/{assessmentId}/timeline", "assessment:read", tagAssessment,
		"List events, newest first",
	)
	ListLifecycleEvents = Get[LifecycleEventsInput, List[LifecycleEvent]](
		"list-lifecycle-events", "/assessments/{assessmentId}/lifecycle/events", "assessment:read", tagAssessment,
		"List lifecycle events",
	)
	Transition = Post[TransitionInput, AssessmentStatus](
		"transition-assessment", "/assessments/{assessmentId}/lifecycle/transition", "assessment:transition", tagAssessment,
		"Move an assessment to its next state and do the work of that step",
	)
)

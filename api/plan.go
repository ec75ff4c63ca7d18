package api

import "strings"

// POAMVersion is one version of the plan of action and milestones.
type POAMVersion struct {
	DeliverableVersion
}

// MilestoneChange is a change to a date after its approval. The original date is preserved.
type MilestoneChange struct {
	At      string `json:"at" maxLength:"10" required:"false" doc:"Date of the decision; leave empty in a new change (today is used)."`
	By      string `json:"by" maxLength:"400" required:"false" doc:"Author of the change; in a new change always the caller."`
	DueDate Date   `json:"due_date"`
	Reason  string `json:"reason" maxLength:"2000" required:"false"`
}

// Milestone is a step of a remediation.
type Milestone struct {
	Title   string            `json:"title" maxLength:"500"`
	DueDate Date              `json:"due_date" format:"date"`
	Status  string            `json:"status" enum:"open,in_progress,completed,cancelled" required:"false" doc:"Default for new milestones: open."`
	Changes []MilestoneChange `json:"changes,omitzero" maxItems:"100" required:"false"`
	// The following fields are set by the server; input values are ignored.
	CompletedAt       *Date  `json:"completed_at,omitempty" format:"date" doc:"Completion date, set by the server."`
	CompletedBy       string `json:"completed_by,omitempty" maxLength:"400" doc:"Who completed it, set by the server."`
	PreviousStatus    string `json:"previous_status,omitempty" maxLength:"20" doc:"Its status before it was completed together with its item; set by the server."`
	CompletedWithItem bool   `json:"completed_with_item,omitempty" doc:"True if it was completed together with its item; it reopens with the item. Set by the server."`
}

// POAMStatuses lists the statuses of a plan item, in the order users expect.
var POAMStatuses = []string{"open", "in_progress", "blocked", "completed", "risk_accepted", "cancelled"}

// POAMItem is one remediation in the plan of action and milestones (POA&M).
type POAMItem struct {
	Item
	POAMCode           string            `json:"poam_code"`
	FindingID          string            `json:"finding_id" doc:"Empty if the gap is closed and the item records the work done."`
	FindingOrigin      string            `json:"finding_origin,omitempty" doc:"The origin_id of a manually added gap; it stays the same across versions, unlike finding_id."`
	AlsoCloses         []string          `json:"also_closes,omitzero" doc:"Codes of further controls whose findings the same action closes."`
	Weakness           string            `json:"weakness"`
	CorrectiveAction   string            `json:"corrective_action"`
	ActionType         string            `json:"action_type" enum:"document,implement,collect_evidence,improve,monitor"`
	Priority           int               `json:"priority" doc:"1 is the highest."`
	Severity           Severity          `json:"severity"`
	Effort             string            `json:"effort" enum:"small,medium,large,extra_large"`
	Owner              *string           `json:"owner"`
	OwnerRole          string            `json:"owner_role"`
	Resources          *string           `json:"resources"`
	DueDate            Date              `json:"due_date" doc:"The scheduled completion date; fixed once approved, after which due_changes override it."`
	DueChanges         []MilestoneChange `json:"due_changes,omitzero" doc:"Changes to the approved due_date, oldest first; the last one applies."`
	Milestones         []Milestone       `json:"milestones"`
	Dependencies       []string          `json:"dependencies" doc:"poam_codes of items that must be completed first."`
	AcceptanceCriteria []string          `json:"acceptance_criteria"`
	ExpectedEvidence   []string          `json:"expected_evidence"`
	TargetLevel        int               `json:"target_level"`
	Status             string            `json:"status" enum:"open,in_progress,blocked,completed,risk_accepted,cancelled"`
	RiskAcceptedUntil  *Date             `json:"risk_accepted_until"`
	VendorDependency   *string           `json:"vendor_dependency"`
	Comments           *string           `json:"comments"`
}

// IsOpen reports whether an item still needs work.
func (i *POAMItem) IsOpen() bool {
	return i.Status == "open" || i.Status == "in_progress" || i.Status == "blocked"
}

// ShortAction returns a short description of what the item requires. If a user wrote the corrective action, it returns
// that text.
func (i *POAMItem) ShortAction() string {
	if i.IsManual("corrective_action") {
		return i.CorrectiveAction
	}
	title := i.ControlTitle
	if title == "" {
		title = i.ControlCode
	}
	title = "“" + strings.TrimRight(title, ".") + "”"
	switch i.ActionType {
	case "document":
		if strings.HasPrefix(i.ControlTitle, "Rules ") {
			return "Document and approve " + title
		}
		return "Document and approve the rules for " + title
	case "implement":
		return "Implement " + title
	case "collect_evidence":
		return "Provide evidence of " + title + ", or implement it"
	case "monitor":
		return "Measure and track " + title
	}
	return "Close the gaps in " + title
}

// IsClosedPOAMStatus reports whether a plan item with this status needs no further work.
func IsClosedPOAMStatus(status string) bool {
	return status == "completed" || status == "cancelled" || status == "risk_accepted"
}

// CurrentDueDate returns the date on which the item is currently due: its scheduled date or, if it was postponed, the
// latest date set.
func (i *POAMItem) CurrentDueDate() Date {
	if n := len(i.DueChanges); n > 0 {
		return i.DueChanges[n-1].DueDate
	}
	return i.DueDate
}

// CurrentDueDate returns the date on which the milestone is currently due: the latest date set after approval, or
// else the approved date.
func (m *Milestone) CurrentDueDate() Date {
	if n := len(m.Changes); n > 0 {
		return m.Changes[n-1].DueDate
	}
	return m.DueDate
}

// POAMInput identifies a version of the plan.
type POAMInput struct {
	POAMVersionID string `path:"poamVersionId"`
}

// POAMItemsInput is the input for listing the items of a version of the plan.
type POAMItemsInput struct {
	POAMInput
	Paging
	Status      string   `query:"status" enum:"open,in_progress,blocked,completed,risk_accepted,cancelled"`
	Priority    int      `query:"priority" minimum:"1"`
	Overdue     string   `query:"overdue" enum:"true,false" doc:"Whether it is past its due date and not done."`
	Severity    Severity `query:"severity"`
	Domain      string   `query:"domain"`
	ControlCode string   `query:"control_code"`
	Owner       string   `query:"owner"`
	Q           string   `query:"q" doc:"Part of the code, the control, the weakness or the action."`
	Where       string   `query:"where" maxLength:"2000" doc:"Only items that this filter selects, e.g. status == 'open' && due < '2027-03-01'."`
	Sort        string   `query:"sort" sort:"priority,severity,due_date,status,owner,poam_code,control_code,updated_at" doc:"Sort order; prefix a field with - for descending."`
}

// POAMItemInput identifies an item of the plan.
type POAMItemInput struct {
	POAMItemID string `path:"poamItemId"`
}

// UpdatePOAMItemInput is the input for changing an item of the plan.
type UpdatePOAMItemInput struct {
	POAMItemID string `path:"poamItemId"`
	Match
	Body POAMItemChange
}

// POAMItemChange lists the fields of an item of the plan to change.
type POAMItemChange struct {
	CorrectiveAction  *string      `json:"corrective_action,omitempty" maxLength:"10000"`
	Priority          *int         `json:"priority,omitempty" minimum:"1" maximum:"100000"`
	Effort            *string      `json:"effort,omitempty" enum:"small,medium,large,extra_large"`
	Owner             Opt[string]  `json:"owner,omitzero" required:"false"`
	Resources         Opt[string]  `json:"resources,omitzero" required:"false"`
	DueDate           *Date        `json:"due_date,omitempty" format:"date"`
	Milestones        *[]Milestone `json:"milestones,omitempty" maxItems:"100"`
	Status            *string      `json:"status,omitempty" enum:"open,in_progress,blocked,completed,risk_accepted,cancelled"`
	RiskAcceptedUntil Opt[Date]    `json:"risk_accepted_until,omitzero" required:"false"`
	VendorDependency  Opt[string]  `json:"vendor_dependency,omitzero" required:"false"`
	Comments          Opt[string]  `json:"comments,omitzero" required:"false"`
	Reset             []string     `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to reset to the automatic value; all resets every one. A field can't be set and reset in the same request."`
}

// EditPOAMItemsInput is the input for changing many items of the plan.
type EditPOAMItemsInput struct {
	POAMInput
	Body struct {
		ItemSelection
		Set POAMItemChange `json:"set"`
	}
}

// SubmitPOAMInput is the input for submitting a version of the plan for review.
type SubmitPOAMInput struct {
	POAMInput
	Body *Submission
}

// DecidePOAMInput is the input for approving a version of the plan.
type DecidePOAMInput struct {
	POAMInput
	Body *VersionDecision
}

// POAMSummary holds the totals of a version of the plan.
type POAMSummary struct {
	POAMVersionID string           `json:"poam_version_id"`
	Items         int              `json:"items"`
	Open          int              `json:"open"`
	Completed     int              `json:"completed"`
	Overdue       int              `json:"overdue"`
	BySeverity    map[Severity]int `json:"by_severity"`
	ByStatus      map[string]int   `json:"by_status"`
	ByEffort      map[string]int   `json:"by_effort"`
	FirstDue      *Date            `json:"first_due"`
	LastDue       *Date            `json:"last_due"`
	// ExpiredAcceptances are items whose risk acceptance has expired and must be decided again.
	ExpiredAcceptances []string `json:"expired_acceptances" doc:"poam_codes of accepted risks whose date has passed; they count as open."`
	// BeyondHalfYear are open items due more than 180 days from today.
	BeyondHalfYear []string         `json:"beyond_180_days" doc:"poam_codes of open items due more than 180 days from today."`
	BurnDown       []BurnDown       `json:"burn_down" doc:"Open items at each due date if every item is completed on time."`
	CMMC           *CMMCEligibility `json:"cmmc" doc:"Whether CMMC level 2 allows a plan of action; null if NIST SP 800-171 is not assessed."`
}

// BurnDown is the number of items that are still open after a date if everything goes according to plan.
type BurnDown struct {
	Date Date `json:"date"`
	Due  int  `json:"due" doc:"Items due on this date."`
	Open int  `json:"open" doc:"Items planned to be open after it."`
}

// CMMCEligibility reports whether a plan meets the conditions of 32 CFR 170.21 for a conditional CMMC
// level 2 status.
type CMMCEligibility struct {
	Eligible        bool     `json:"eligible"`
	Points          int      `json:"points"`
	MaxPoints       int      `json:"max_points"`
	Score           float64  `json:"score" doc:"Points as a share of all points, 0 to 1; a plan is allowed from 0.8."`
	NotMet          []string `json:"not_met" doc:"Requirements of NIST SP 800-171 that are not met."`
	NotAssessed     []string `json:"not_assessed" doc:"Requirements without any control in the assessment's scope."`
	Blocking        []string `json:"blocking" doc:"Reasons why a plan of action is not allowed."`
	CloseWithinDays int      `json:"close_within_days"`
	Formula         string   `json:"formula"`
}

const tagPOAM = "POA&M"

// Operations on the plan of action and milestones, defined in section 4.11 of the API specification.
var (
	DraftPOAM = Create[AssessmentInput, POAMVersion](
		"draft-poam", "/assessments/{assessmentId}/poam/draft", "poam:write", tagPOAM,
		"Draft a POA&M",
	)
	ListPOAM = Get[AssessmentListInput, List[POAMVersion]](
		"list-poam-versions", "/assessments/{assessmentId}/poam", "poam:read", tagPOAM,
		"List POA&M versions, newest first",
	)
	GetPOAM = Get[POAMInput, POAMVersion](
		"get-poam", "/poam/{poamVersionId}", "poam:read", tagPOAM,
		"Get a POA&M version",
	)
	ListPOAMItems = Get[POAMItemsInput, List[POAMItem]](
		"list-poam-items", "/poam/{poamVersionId}/items", "poam:read", tagPOAM,
		"List the items of a POA&M, by priority",
	)
	GetPOAMItem = Get[POAMItemInput, POAMItem](
		"get-poam-item", "/poam/items/{poamItemId}", "poam:read", tagPOAM,
		"Get a POA&M item",
	)
	UpdatePOAMItem = Patch[UpdatePOAMItemInput, POAMItem](
		"update-poam-item", "/poam/items/{poamItemId}", "poam:write", tagPOAM,
		"Update a POA&M item",
	)
	EditPOAMItems = Post[EditPOAMItemsInput, EditResult](
		"edit-poam-items", "/poam/{poamVersionId}/edit", "poam:write", tagPOAM,
		"Change many POA&M items at once",
	)
	SubmitPOAM = Post[SubmitPOAMInput, POAMVersion](
		"submit-poam", "/poam/{poamVersionId}/submit-review", "poam:write", tagPOAM,
		"Submit a POA&M for review",
	)
	ApprovePOAM = Post[DecidePOAMInput, POAMVersion](
		"approve-poam", "/poam/{poamVersionId}/approve", ApprovalDecide, tagPOAM,
		"Approve a POA&M", WithDelegatesAllowed(),
	)
	GetPOAMSummary = Get[POAMInput, POAMSummary](
		"get-poam-summary", "/poam/{poamVersionId}/summary", "poam:read", tagPOAM,
		"Get POA&M totals",
	)
)

package api

// POAMVersion is one version of the plan of action and milestones.
type POAMVersion struct {
	DeliverableVersion
}

// MilestoneChange is a change of a milestone after its approval; the first date stays.
type MilestoneChange struct {
	At      string `json:"at" maxLength:"10" required:"false" doc:"The day on which it was decided; empty in a change that is new: today."`
	By      string `json:"by" maxLength:"400" required:"false" doc:"Who made it; in a change that is new, the caller, whatever is given."`
	DueDate Date   `json:"due_date"`
	Reason  string `json:"reason" maxLength:"2000" required:"false"`
}

// Milestone is a step of a remediation.
type Milestone struct {
	Title   string            `json:"title" maxLength:"500"`
	DueDate Date              `json:"due_date" format:"date"`
	Status  string            `json:"status" enum:"open,in_progress,completed,cancelled" required:"false" doc:"Of a new one that says none: open."`
	Changes []MilestoneChange `json:"changes,omitzero" maxItems:"100" required:"false"`
	// The rest are the server's, whatever is given.
	CompletedAt       *Date  `json:"completed_at,omitempty" format:"date" doc:"The day on which it was completed, written by the server."`
	CompletedBy       string `json:"completed_by,omitempty" maxLength:"400" doc:"Who completed it, written by the server."`
	WasBefore         string `json:"was_before,omitempty" maxLength:"20" doc:"Its status before it was completed with its item; written by the server."`
	CompletedWithItem bool   `json:"completed_with_item,omitempty" doc:"It was completed because its item was, and is open again when the item is; written by the server."`
}

// POAMItem is one remediation.
type POAMItem struct {
	Item
	POAMCode           string            `json:"poam_code"`
	FindingID          string            `json:"finding_id" doc:"Empty where the gap is gone and the item stands for what was done."`
	FindingOrigin      string            `json:"finding_origin,omitempty" doc:"The origin_id of a gap that was added by hand; it stays while finding_id is another in each version."`
	AlsoCloses         []string          `json:"also_closes,omitzero" doc:"Codes of further controls whose findings the same action closes."`
	Weakness           string            `json:"weakness"`
	CorrectiveAction   string            `json:"corrective_action"`
	ActionType         string            `json:"action_type" enum:"document,implement,collect_evidence,improve,monitor"`
	Priority           int               `json:"priority" doc:"1 is first."`
	Severity           Severity          `json:"severity"`
	Effort             string            `json:"effort" enum:"small,medium,large,extra_large"`
	Owner              *string           `json:"owner"`
	OwnerRole          string            `json:"owner_role"`
	Resources          *string           `json:"resources"`
	DueDate            Date              `json:"due_date" doc:"The scheduled completion date; once approved it stays, and due_changes move it."`
	DueChanges         []MilestoneChange `json:"due_changes,omitzero" doc:"What moved the approved due_date, oldest first; the last one holds."`
	Milestones         []Milestone       `json:"milestones"`
	Dependencies       []string          `json:"dependencies" doc:"poam_codes that come first."`
	AcceptanceCriteria []string          `json:"acceptance_criteria"`
	ExpectedEvidence   []string          `json:"expected_evidence"`
	TargetLevel        int               `json:"target_level"`
	Status             string            `json:"status" enum:"open,in_progress,blocked,completed,risk_accepted,cancelled"`
	RiskAcceptedUntil  *Date             `json:"risk_accepted_until"`
	VendorDependency   *string           `json:"vendor_dependency"`
	Comments           *string           `json:"comments"`
}

// IsOpen tells whether an item is work that is still to be done.
func (i *POAMItem) IsOpen() bool {
	return i.Status == "open" || i.Status == "in_progress" || i.Status == "blocked"
}

// CurrentDueDate is when an item is due now: its scheduled date, or the last one that it was moved to.
func (i *POAMItem) CurrentDueDate() Date {
	if n := len(i.DueChanges); n > 0 {
		return i.DueChanges[n-1].DueDate
	}
	return i.DueDate
}

// CurrentDueDate is the date that holds: the latest change of the approved one, or that one.
func (m *Milestone) CurrentDueDate() Date {
	if n := len(m.Changes); n > 0 {
		return m.Changes[n-1].DueDate
	}
	return m.DueDate
}

// POAMInput names a version.
type POAMInput struct {
	POAMVersionID string `path:"poamVersionId"`
}

// POAMItemsInput lists the items of a version.
type POAMItemsInput struct {
	POAMInput
	Paging
	Status      string   `query:"status" enum:"open,in_progress,blocked,completed,risk_accepted,cancelled"`
	Priority    int      `query:"priority" minimum:"1"`
	Overdue     string   `query:"overdue" enum:"true,false" doc:"Whether it should have been done by now and is not."`
	Severity    Severity `query:"severity"`
	Domain      string   `query:"domain"`
	ControlCode string   `query:"control_code"`
	Owner       string   `query:"owner"`
	Q           string   `query:"q" doc:"Part of the code, the control, the weakness or the action."`
	Sort        string   `query:"sort" sort:"priority,severity,due_date,status,owner,poam_code,control_code,updated_at" doc:"The order; - before a name for descending."`
}

// POAMItemInput names an item.
type POAMItemInput struct {
	POAMItemID string `path:"poamItemId"`
}

// UpdatePOAMItemInput changes an item.
type UpdatePOAMItemInput struct {
	POAMItemID string `path:"poamItemId"`
	Match
	Body struct {
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
		Reset             []string     `json:"reset,omitempty" maxItems:"50" doc:"Edited fields to hand back to the rules, whose value of today is put there; all for each of them. A field is not set and handed back at once."`
	}
}

// DecidePOAMInput approves a version.
type DecidePOAMInput struct {
	POAMInput
	Body *VersionDecision
}

// POAMSummary counts a version.
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
	// ExpiredAcceptances are items whose accepted risk has to be decided anew.
	ExpiredAcceptances []string `json:"expired_acceptances" doc:"poam_codes of accepted risks whose date has passed; they count as open."`
	// BeyondHalfYear are open items due more than 180 days from today.
	BeyondHalfYear []string         `json:"beyond_180_days" doc:"poam_codes of open items that are due later than 180 days from today."`
	BurnDown       []BurnDown       `json:"burn_down" doc:"What is open at each due date if every item is done in time."`
	CMMC           *CMMCEligibility `json:"cmmc" doc:"Whether a plan of action is allowed for CMMC level 2; null where NIST SP 800-171 is not assessed."`
}

// BurnDown is what remains open after a date.
type BurnDown struct {
	Date Date `json:"date"`
	Due  int  `json:"due" doc:"Items due on it."`
	Open int  `json:"open" doc:"Items open after it, as planned."`
}

// CMMCEligibility is the check of 32 CFR 170.21 for a conditional level 2 status.
type CMMCEligibility struct {
	Eligible        bool     `json:"eligible"`
	Points          int      `json:"points"`
	Of              int      `json:"of"`
	Score           float64  `json:"score" doc:"Points over all points, 0 to 1; a plan is allowed from 0.8."`
	NotMet          []string `json:"not_met" doc:"Requirements of NIST SP 800-171 that are not met."`
	NotAssessed     []string `json:"not_assessed" doc:"Requirements that stand on no control in scope of the assessment."`
	Blocking        []string `json:"blocking" doc:"What keeps a plan of action from being allowed."`
	CloseWithinDays int      `json:"close_within_days"`
	Formula         string   `json:"formula"`
}

const tagPOAM = "POA&M"

// Operations of the interface's part 4.11.
var (
	DraftPOAM = Create[AssessmentInput, POAMVersion](
		"draft-poam",
		"/assessments/{assessmentId}/poam/draft",
		WithPermission("poam:write"),
		WithTag(tagPOAM),
		WithSummary("Draft a POA&M"),
	)
	ListPOAM = Get[AssessmentListInput, List[POAMVersion]](
		"list-poam-versions",
		"/assessments/{assessmentId}/poam",
		WithPermission("poam:read"),
		WithTag(tagPOAM),
		WithSummary("List POA&M versions, newest first"),
	)
	GetPOAM = Get[POAMInput, POAMVersion](
		"get-poam",
		"/poam/{poamVersionId}",
		WithPermission("poam:read"),
		WithTag(tagPOAM),
		WithSummary("Read a POA&M version"),
	)
	ListPOAMItems = Get[POAMItemsInput, List[POAMItem]](
		"list-poam-items",
		"/poam/{poamVersionId}/items",
		WithPermission("poam:read"),
		WithTag(tagPOAM),
		WithSummary("List the items of a POA&M, by priority"),
	)
	GetPOAMItem = Get[POAMItemInput, POAMItem](
		"get-poam-item",
		"/poam/items/{poamItemId}",
		WithPermission("poam:read"),
		WithTag(tagPOAM),
		WithSummary("Read a POA&M item"),
	)
	UpdatePOAMItem = Patch[UpdatePOAMItemInput, POAMItem](
		"update-poam-item",
		"/poam/items/{poamItemId}",
		WithPermission("poam:write"),
		WithTag(tagPOAM),
		WithSummary("Change a POA&M item"),
	)
	SubmitPOAM = Post[POAMInput, POAMVersion](
		"submit-poam",
		"/poam/{poamVersionId}/submit-review",
		WithPermission("poam:write"),
		WithTag(tagPOAM),
		WithSummary("Submit a POA&M for review"),
	)
	ApprovePOAM = Post[DecidePOAMInput, POAMVersion](
		"approve-poam",
		"/poam/{poamVersionId}/approve",
		WithPermission(ApprovalDecide),
		WithDelegates(),
		WithTag(tagPOAM),
		WithSummary("Approve a POA&M"),
	)
	GetPOAMSummary = Get[POAMInput, POAMSummary](
		"get-poam-summary",
		"/poam/{poamVersionId}/summary",
		WithPermission("poam:read"),
		WithTag(tagPOAM),
		WithSummary("Count a POA&M"),
	)
)

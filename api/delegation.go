package api

import "time"

// DelegationStatus is the status of a delegation.
type DelegationStatus string

// The statuses of a delegation. A delegation is void if it ended because one of the two users lost the
// role or membership it depends on.
const (
	DelegationActive  DelegationStatus = "active"
	DelegationExpired DelegationStatus = "expired"
	DelegationRevoked DelegationStatus = "revoked"
	DelegationVoid    DelegationStatus = "void"
)

// MaxDelegationDays is the maximum duration of a delegation.
const MaxDelegationDays = 366

// Delegation lets a member decide at approval gates on behalf of an owner or admin until it expires. Only the member
// in person can use it, not a key, agent or workflow.
type Delegation struct {
	TenantRecord
	DelegatorID   string           `json:"delegator_id" doc:"The owner or admin who delegates."`
	DelegatorName string           `json:"delegator_name"`
	DelegateID    string           `json:"delegate_id" doc:"The member who decides for them."`
	DelegateName  string           `json:"delegate_name"`
	AssessmentID  *string          `json:"assessment_id" doc:"Null: all assessments of the organization."`
	Gates         []Gate           `json:"gates"`
	Reason        string           `json:"reason"`
	ExpiresAt     time.Time        `json:"expires_at"`
	Status        DelegationStatus `json:"status"`
	EndedAt       *time.Time       `json:"ended_at"`
	EndReason     *string          `json:"end_reason" doc:"Why it ended early."`
}

// DecidedFor identifies the delegation under which a decision was made.
type DecidedFor struct {
	DelegationID  string `json:"delegation_id"`
	DelegatorID   string `json:"delegator_id"`
	DelegatorName string `json:"delegator_name"`
}

// Delegate is a user who, thanks to a delegation, may decide on a pending approval.
type Delegate struct {
	DecidedFor
	UserID string    `json:"user_id"`
	Name   string    `json:"name"`
	Until  time.Time `json:"until"`
}

// DelegationsInput is the input for listing delegations, newest first.
type DelegationsInput struct {
	Paging
	Status       DelegationStatus `query:"status"`
	AssessmentID string           `query:"assessment_id" doc:"Only those that apply to this assessment."`
	DelegateID   string           `query:"delegate_id" doc:"Only those to this user."`
}

// DelegationInput identifies a delegation.
type DelegationInput struct {
	DelegationID string `path:"delegationId"`
}

// CreateDelegationInput is the input for letting a member decide on the caller's behalf.
type CreateDelegationInput struct {
	Body struct {
		DelegateID   string    `json:"delegate_id" minLength:"1" doc:"The user id of a member."`
		AssessmentID *string   `json:"assessment_id,omitempty" minLength:"1" doc:"Default: all assessments of the organization."`
		Gates        []Gate    `json:"gates,omitempty" minItems:"1" maxItems:"4" doc:"Default: all four."`
		ExpiresAt    time.Time `json:"expires_at"`
		Reason       string    `json:"reason,omitempty" maxLength:"500"`
	}
}

// Operations on delegations.
var (
	ListDelegations = Get[DelegationsInput, List[Delegation]](
		"list-delegations", "/approval-delegations", "approval:read", tagApproval,
		"List delegations, newest first",
	)
	GetDelegation = Get[DelegationInput, Delegation](
		"get-delegation", "/approval-delegations/{delegationId}", "approval:read", tagApproval,
		"Get a delegation",
	)
	CreateDelegation = Create[CreateDelegationInput, Delegation](
		"create-delegation", "/approval-delegations", ApprovalDecide, tagApproval,
		"Delegate your decisions to another member until a given date",
	)
	RevokeDelegation = Delete[DelegationInput](
		"revoke-delegation", "/approval-delegations/{delegationId}", ApprovalDecide, tagApproval,
		"End a delegation",
	)
)

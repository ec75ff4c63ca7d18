package api

import (
	"encoding/json"
	"time"
)

// ApprovalStatus is where an approval stands.
type ApprovalStatus string

// The statuses of an approval.
const (
	ApprovalPending  ApprovalStatus = "pending"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalRejected ApprovalStatus = "rejected"
)

// Approval is a person's decision at a gate, asked for or made. It counts for
// exactly the content whose hash it carries.
type Approval struct {
	TenantRecord
	AssessmentID  string         `json:"assessment_id"`
	Gate          Gate           `json:"gate"`
	TargetID      string         `json:"target_id"`
	TargetSHA256  string         `json:"target_sha256"`
	VersionNumber int            `json:"version_number"`
	Status        ApprovalStatus `json:"status"`
	RequestedBy   Actor          `json:"requested_by"`
	// RequestedByUserID is the person: the one who submitted, whose key did, or who started the workflow that did.
	RequestedByUserID string     `json:"requested_by_user_id"`
	RequestedAt       time.Time  `json:"requested_at"`
	DecidedBy         *Actor     `json:"decided_by"`
	DecidedAt         *time.Time `json:"decided_at"`
	Reason            *string    `json:"reason"`
	Void              bool       `json:"void" doc:"It was rejected because what it is for changed, and nobody decided; reason says how."`
	Warnings          []string   `json:"warnings" doc:"What whoever decides should know: that it, or what it is made from, is not of what there is now, or not approved. Once decided, what was known then."`
	// Delegation is set where the decision was made for another; Delegates say who may, while it waits.
	Delegation *DecidedFor `json:"delegation" doc:"The delegation by which it was decided; null where the decider's own role gave the right."`
	Delegates  []Delegate  `json:"delegates" doc:"While it is pending: who may decide besides owners and admins."`
}

// UnmarshalJSON also reads approvals from when void was a status of its own.
func (p *Approval) UnmarshalJSON(b []byte) error {
	type plain Approval
	if err := json.Unmarshal(b, (*plain)(p)); err != nil {
		return err
	}
	if p.Status == "void" {
		p.Status, p.Void = ApprovalRejected, true
	}
	return nil
}

// DisplayStatus is its status as people tell it: what nobody decided is void.
func (p *Approval) DisplayStatus() string {
	if p.Void {
		return "void"
	}
	return string(p.Status)
}

// ApprovalsInput lists the approvals of an assessment.
type ApprovalsInput struct {
	AssessmentInput
	Paging
	Status ApprovalStatus `query:"status"`
	Gate   Gate           `query:"gate"`
	Sort   string         `query:"sort" sort:"requested_at,status,gate" doc:"The order; - before a name for descending."`
}

// ApprovalInput names an approval.
type ApprovalInput struct {
	ApprovalID string `path:"approvalId"`
}

// ApproveInput approves.
type ApproveInput struct {
	ApprovalInput
	Body *VersionDecision
}

// RejectInput rejects; the reason is for whoever has to mend it.
type RejectInput struct {
	ApprovalInput
	Body struct {
		Reason        string `json:"reason" minLength:"1" maxLength:"4000"`
		ContentSHA256 string `json:"content_sha256,omitempty" maxLength:"64" doc:"The content you looked at; the decision is refused where it is another by now."`
	}
}

const tagApproval = "Approvals"

// Operations of the interface's part 4.13.
var (
	ListApprovals = Get[ApprovalsInput, List[Approval]](
		"list-approvals",
		"/assessments/{assessmentId}/approvals",
		WithPermission("approval:read"),
		WithTag(tagApproval),
		WithSummary("List approvals, newest first"),
	)
	GetApproval = Get[ApprovalInput, Approval](
		"get-approval",
		"/approvals/{approvalId}",
		WithPermission("approval:read"),
		WithTag(tagApproval),
		WithSummary("Read an approval"),
	)
	Approve = Post[ApproveInput, Approval](
		"approve",
		"/approvals/{approvalId}/approve",
		WithPermission(ApprovalDecide),
		WithDelegates(),
		WithTag(tagApproval),
		WithSummary("Approve what waits at a gate"),
	)
	RejectApproval = Post[RejectInput, Approval](
		"reject",
		"/approvals/{approvalId}/reject",
		WithPermission(ApprovalDecide),
		WithDelegates(),
		WithTag(tagApproval),
		WithSummary("Reject what waits at a gate, with a reason"),
	)
)

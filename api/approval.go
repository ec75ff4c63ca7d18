package api

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// ApprovalStatus is the status of an approval.
type ApprovalStatus string

// The statuses of an approval.
const (
	ApprovalPending  ApprovalStatus = "pending"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalRejected ApprovalStatus = "rejected"
)

// Approval is a user's decision on a deliverable at one of the four gates, whether still pending or
// already made. It covers only the content whose hash it contains.
type Approval struct {
	TenantRecord
	AssessmentID  string         `json:"assessment_id"`
	Gate          Gate           `json:"gate"`
	TargetID      string         `json:"target_id"`
	TargetSHA256  string         `json:"target_sha256"`
	VersionNumber int            `json:"version_number"`
	Status        ApprovalStatus `json:"status"`
	RequestedBy   Actor          `json:"requested_by"`
	// RequestedByUserID is the user who submitted, whose key did, or who started the workflow that
	// did.
	RequestedByUserID  string           `json:"requested_by_user_id"`
	RequestedAt        time.Time        `json:"requested_at"`
	SubmittedInAdvance bool             `json:"submitted_in_advance" doc:"The submission was ordered in advance, as with --submit or --approve of service assess run, not by a person who had the version in front of them."`
	InAdvance          bool             `json:"in_advance" doc:"The decision was made in advance, as with --approve of service assess run. It is no review of the version's items."`
	Changes            *ApprovalChanges `json:"changes" doc:"How the version differs from the one approved before it; null if there is none."`
	DecidedBy          *Actor           `json:"decided_by"`
	DecidedAt          *time.Time       `json:"decided_at"`
	Reason             *string          `json:"reason"`
	Void               bool             `json:"void" doc:"True if it was rejected automatically because its subject changed; nobody decided. reason gives the details."`
	Warnings           []string         `json:"warnings" doc:"What the decider should know: that the version or one of its sources is outdated or not approved, and how many verdicts depend on a single document. After the decision, what was known at that time."`
	// Delegation is set if the decision was made on someone's behalf. Delegates lists the users who may decide while
	// it is pending.
	Delegation *DecidedFor `json:"delegation" doc:"The delegation used for the decision; null if the decider's own role sufficed."`
	Delegates  []Delegate  `json:"delegates" doc:"While pending: who may decide besides owners and admins."`
	// BundleKey is part of the record that clones read; RemoteKey belongs to one clone.
	BundleKey *BundleKey `json:"bundle_key" doc:"The trusted key whose bundle delivered the decision; null if it was made here or came over a network."`
	RemoteKey *BundleKey `json:"remote_key" doc:"On a clone: the remote's key whose bundle delivered the decision; null otherwise."`
}

// ApprovedInAdvance is the prefix of the reason for an approval that was given before the approver saw the content.
const ApprovedInAdvance = "approved in advance"

// WasGivenInAdvance reports whether the approval was given before the approver saw the content.
func (p *Approval) WasGivenInAdvance() bool {
	return p.Status == ApprovalApproved && (p.InAdvance || p.Reason != nil && strings.HasPrefix(*p.Reason, ApprovedInAdvance))
}

// ApprovalChanges lists the controls whose items differ between a submitted version and the version approved before
// it, at the time of submission.
type ApprovalChanges struct {
	SinceVersion int      `json:"since_version"`
	Added        []string `json:"added"`
	Removed      []string `json:"removed"`
	Changed      []string `json:"changed"`
	// RequirementsOnly counts those of Changed that differ only in the requirements that the control satisfies, and in what
	// follows from these.
	RequirementsOnly int `json:"requirements_only" doc:"How many of the changed items differ only in the requirements they satisfy, and in what follows from these, such as points and order; their verdicts are unchanged."`
}

// Summary returns the changes in one sentence.
func (c *ApprovalChanges) Summary() string {
	named := func(codes []string, word string) string {
		s := fmt.Sprintf("%d %s", len(codes), word)
		if len(codes) > 0 && len(codes) <= maxWarnedControls {
			s += " (" + strings.Join(codes, ", ") + ")"
		}
		return s
	}
	return fmt.Sprintf("Compared with the approved version %d: %s, %s, %s%s.", c.SinceVersion,
		named(c.Added, "added"), named(c.Removed, "removed"), named(c.Changed, "changed"), c.RequirementsNote())
}

// RequirementsNote describes how many of the changed items differ only in their requirements, as a phrase to follow
// the number of changed items. It returns "" if there are none.
func (c *ApprovalChanges) RequirementsNote() string {
	if c == nil || c.RequirementsOnly == 0 {
		return ""
	}
	part := fmt.Sprintf("%d of them", c.RequirementsOnly)
	if c.RequirementsOnly == len(c.Changed) {
		part = "all"
	}
	return ", " + part + " only in the requirements they satisfy or in their order (verdicts unchanged)"
}

// Decider describes who decided: the user, the delegator if the user was a delegate, and the keys through which the
// decision arrived. It returns "" if nobody has decided.
func (p *Approval) Decider() string {
	if p.DecidedBy == nil {
		return ""
	}
	return cmp.Or(p.DecidedBy.Name, p.DecidedBy.ID) + p.DeciderSuffix()
}

// DeciderSuffix returns what Decider appends to the name of the person who decided.
func (p *Approval) DeciderSuffix() (s string) {
	if p.InAdvance {
		s += " (in advance)"
	}
	if p.Delegation != nil {
		s += " for " + p.Delegation.DelegatorName
	}
	for _, k := range []*BundleKey{p.BundleKey, p.RemoteKey} {
		if k != nil {
			s += fmt.Sprintf(" (bundle key %s)", k.Name)
		}
	}
	return s
}

// DisplayStatus returns the status to show to users: "void" for a rejection that nobody decided.
func (p *Approval) DisplayStatus() string {
	if p.Void {
		return "void"
	}
	return string(p.Status)
}

// ApprovalsInput is the input for listing the approvals of an assessment.
type ApprovalsInput struct {
	AssessmentInput
	Paging
	Status ApprovalStatus `query:"status"`
	Gate   Gate           `query:"gate"`
	Sort   string         `query:"sort" sort:"requested_at,status,gate" doc:"Sort order; prefix a field with - for descending."`
}

// ApprovalInput identifies an approval.
type ApprovalInput struct {
	ApprovalID string `path:"approvalId"`
}

// ApproveInput is the input for granting a pending approval.
type ApproveInput struct {
	ApprovalInput
	Body *VersionDecision
}

// RejectInput is the input for rejecting a pending approval, with a reason for the user who has to fix the
// deliverable.
type RejectInput struct {
	ApprovalInput
	Body struct {
		Reason        string `json:"reason" minLength:"1" maxLength:"4000"`
		ContentSHA256 string `json:"content_sha256,omitempty" minLength:"1" maxLength:"64" doc:"Hash of the content you reviewed; the decision is rejected if the content has changed since."`
	}
}

const tagApproval = "Approvals"

// Operations on approvals, defined in section 4.13 of the API specification.
var (
	ListApprovals = Get[ApprovalsInput, List[Approval]](
		"list-approvals", "/assessments/{assessmentId}/approvals", "approval:read", tagApproval,
		"List approvals, newest first",
	)
	GetApproval = Get[ApprovalInput, Approval](
		"get-approval", "/approvals/{approvalId}", "approval:read", tagApproval,
		"Get an approval",
	)
	Approve = Post[ApproveInput, Approval](
		"approve", "/approvals/{approvalId}/approve", ApprovalDecide, tagApproval,
		"Approve a deliverable at a gate", WithDelegatesAllowed(),
	)
	RejectApproval = Post[RejectInput, Approval](
		"reject", "/approvals/{approvalId}/reject", ApprovalDecide, tagApproval,
		"Reject a deliverable at a gate, with a reason", WithDelegatesAllowed(),
	)
)

package web

import (
	"slices"

	"github.com/scf-service/service/api"
)

// approvalPage holds the data for an approval's page.
type approvalPage struct {
	api.Approval
	Assessment *api.Assessment
	// Changes compares the version with the last approved one; nil if none has been approved.
	Changes  *api.ArtifactDiff
	Comments []api.Comment
	// Reason is the reason that the visitor has entered.
	Reason string
	// MayDelegate is set if the visitor may let another user decide.
	MayDelegate bool
	// MayDecide is set if the visitor may decide.
	MayDecide bool
	// Noun is the deliverable's name in URLs and commands.
	Noun string
}

func (v *visit) findApproval() (*api.Approval, error) {
	in := api.ApprovalInput{ApprovalID: v.r.PathValue("id")}
	return inOrganizationOf(v, func() (*api.Approval, error) { return do(v, api.GetApproval, &in) })
}

func (v *visit) showApproval() error {
	p, err := v.findApproval()
	if err != nil {
		return err
	}
	if v.r.URL.Query().Has("decided") && p.DecidedBy != nil {
		v.notice = "Your decision has been recorded."
	}
	return v.renderApproval(p)
}

func (v *visit) renderApproval(p *api.Approval) (err error) {
	page := approvalPage{Approval: *p, Reason: v.field("reason"), Noun: kindForGate(p.Gate).Noun}
	in := api.AssessmentInput{AssessmentID: p.AssessmentID}
	if page.Assessment, err = do(v, api.GetAssessment, &in); err != nil {
		return err
	}
	if page.Changes, err = v.changesSinceApproval(p); err != nil {
		return err
	}
	if page.Comments, err = all(v, api.ListComments, &api.CommentsInput{AssessmentInput: in, ApprovalID: p.ID}); err != nil {
		return err
	}
	isDelegate := slices.ContainsFunc(p.Delegates, func(d api.Delegate) bool { return d.UserID == v.me.User.ID })
	page.MayDecide = p.Status == api.ApprovalPending && (v.may(api.ApprovalDecide) || isDelegate)
	page.MayDelegate = v.may(api.ApprovalDecide)
	return v.render("approval-decision.html", page.Assessment.Name+": "+p.Gate.Title(), &page)
}

// changesSinceApproval compares the version awaiting a decision with the newest approved version before it.
func (v *visit) changesSinceApproval(p *api.Approval) (*api.ArtifactDiff, error) {
	artifacts, err := all(v, api.ListArtifacts, &api.ArtifactsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: p.AssessmentID}, Type: string(p.Gate),
	})
	if err != nil || len(artifacts) == 0 {
		return nil, err
	}
	artifact := api.ArtifactInput{ArtifactID: artifacts[0].ID}
	decisions, err := all(v, api.ListApprovals, &api.ApprovalsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: p.AssessmentID}, Gate: p.Gate, Status: api.ApprovalApproved,
	})
	if err != nil {
		return nil, err
	}
	last := 0
	for _, d := range decisions {
		if d.VersionNumber < p.VersionNumber {
			last = max(last, d.VersionNumber)
		}
	}
	if last == 0 {
		return nil, nil
	}
	return do(v, api.DiffArtifact, &api.ArtifactDiffInput{ArtifactInput: artifact, From: last, To: p.VersionNumber})
}

// decide approves or rejects the content that the visitor was shown.
func (v *visit) decide() error {
	p, err := v.findApproval()
	if err != nil {
		return err
	}
	id, reason, hash := api.ApprovalInput{ApprovalID: p.ID}, v.field("reason"), v.field("content_sha256")
	switch v.field("decision") {
	case "approve":
		_, err = do(v, api.Approve, &api.ApproveInput{
			ApprovalInput: id, Body: &api.VersionDecision{Comment: reason, ContentSHA256: hash},
		})
	case "reject":
		if reason == "" {
			err = api.Invalid("reason", "enter a reason, so that the author knows what to correct")
			break
		}
		in := api.RejectInput{ApprovalInput: id}
		in.Body.Reason, in.Body.ContentSHA256 = reason, hash
		_, err = do(v, api.RejectApproval, &in)
	default:
		err = api.Invalid("decision", "choose whether to approve or reject this version")
	}
	if err != nil {
		return v.refuse(err, func() error {
			if p, err = v.findApproval(); err != nil { // another user may have decided in the meantime
				return err
			}
			return v.renderApproval(p)
		})
	}
	return v.redirect("approvals/" + p.ID + "?decided")
}

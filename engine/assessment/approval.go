package assessment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// ensureSubmitted submits the current version for review unless it is already under review or approved.
func (k deliverableType[V, I]) ensureSubmitted(ctx context.Context, s *Service, by api.Caller, a *api.Assessment, inAdvance bool) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		v, ok, err := k.currentVersion(tx, a)
		if err != nil {
			return err
		}
		if !ok {
			return api.Conflict("there is no %s to submit; draft it first", k.gate.Title())
		}
		if st := k.version(&v).Status; st == api.VersionUnderReview || st == api.VersionApproved {
			return nil
		}
		return k.submit(tx, by, a, &v, submission{inAdvance: inAdvance})
	})
}

// resubmitEdited submits the current version if it is a draft that was created by editing a version under review or
// approved. This way, the transition that needs approval has a pending approval to refer to.
func (k deliverableType[V, I]) resubmitEdited(ctx context.Context, s *Service, by api.Caller, a *api.Assessment) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		v, ok, err := k.currentVersion(tx, a)
		if err != nil || !ok || k.version(&v).Status != api.VersionDraft {
			return err
		}
		return k.submit(tx, by, a, &v, submission{})
	})
}

// submission describes how a version is submitted.
type submission struct {
	approvalID string // of the approval to request; generated if empty
	inAdvance  bool   // requested without reviewing the version
}

// submit puts a version under review and requests its approval, which covers only the content with
// the current hash.
func (k deliverableType[V, I]) submit(tx *store.Tx, by api.Caller, a *api.Assessment, v *V, options submission) error {
	head := k.version(v)
	switch head.Status {
	case api.VersionDraft:
	case api.VersionRejected:
		return api.Conflict("%s", rejectedMessage(head, k.gate))
	default:
		return api.Conflict(
			"version %d of the %s is %s and can't be submitted",
			head.VersionNumber,
			k.gate.Title(),
			prose.Humanize(head.Status),
		)
	}
	if err := requireOpen(a); err != nil {
		return err
	}
	if k.checkSubmittable != nil {
		items, err := k.readItems(tx, by.OrganizationID, head.ID)
		if err != nil {
			return err
		}
		if err := k.checkSubmittable(items); err != nil {
			return err
		}
	}
	if err := k.recomputeItemCountAndHash(tx, by.OrganizationID, v); err != nil {
		return err
	}
	now := tx.Now()
	approval := api.Approval{
		TenantRecord: newTenantRecord(tx, by), AssessmentID: a.ID, Gate: k.gate, TargetID: head.ID, TargetSHA256: head.ContentSHA256,
		VersionNumber: head.VersionNumber, Status: api.ApprovalPending, RequestedBy: by.Actor, RequestedByUserID: by.UserID, RequestedAt: now,
		SubmittedInAdvance: options.inAdvance,
	}
	approval.ID = cmp.Or(options.approvalID, approval.ID)
	var err error
	if approval.Changes, err = k.changesSinceApproved(tx, a, head.ID); err != nil {
		return err
	}
	head.Status, head.SubmittedAt, head.ApprovalID, head.UpdatedAt = api.VersionUnderReview, &now, &approval.ID, now
	summary := fmt.Sprintf("submitted %s version %d for review", k.gate.Title(), head.VersionNumber)
	if options.inAdvance {
		summary += ", in advance"
	}
	return errors.Join(store.Approvals.Insert(tx, by.OrganizationID, &approval), k.saveVersionAndArtifact(tx, by, v),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: string(k.gate) + ".submitted", AssessmentID: a.ID,
			Summary:      summary,
			ResourceType: string(k.gate), ResourceID: head.ID,
			Data: map[string]any{"approval_id": approval.ID, "content_sha256": head.ContentSHA256, "in_advance": options.inAdvance},
		}),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "approval.requested", AssessmentID: a.ID, Summary: "approval of the " + k.gate.Title() + " was requested",
			ResourceType: "approval", ResourceID: approval.ID,
			Data: map[string]any{"approval_id": approval.ID, "gate": k.gate, "target_sha256": head.ContentSHA256},
		}))
}

// changesSinceApproved compares a version with the currently approved one. It returns nil if no version is approved.
func (k deliverableType[V, I]) changesSinceApproved(tx *store.Tx, a *api.Assessment, versionID string) (*api.ApprovalChanges, error) {
	approved, ok, err := k.approvedVersion(tx, a)
	if err != nil || !ok {
		return nil, err
	}
	before, err := k.readItems(tx, a.OrganizationID, k.version(&approved).ID)
	if err != nil {
		return nil, err
	}
	after, err := k.readItems(tx, a.OrganizationID, versionID)
	if err != nil {
		return nil, err
	}
	out := &api.ApprovalChanges{
		SinceVersion: k.version(&approved).VersionNumber, Added: []string{}, Removed: []string{}, Changed: []string{},
	}
	continued := map[string]bool{} // IDs of items of the approved version
	for n, from := range k.matchItems(after, before) {
		code := k.item(&after[n]).ControlCode
		if from == nil {
			out.Added = append(out.Added, code)
			continue
		}
		continued[k.item(from).ID] = true
		was, err := k.canonicalJSON(*from)
		if err != nil {
			return nil, err
		}
		is, err := k.canonicalJSON(after[n])
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(was, is) {
			out.Changed = append(out.Changed, code)
			if same, err := differInRequirementsOnly(was, is); err != nil {
				return nil, err
			} else if same {
				out.RequirementsOnly++
			}
		}
	}
	for n := range before {
		if it := k.item(&before[n]); !continued[it.ID] {
			out.Removed = append(out.Removed, it.ControlCode)
		}
	}
	return out, nil
}

// consequentialFields are the fields of items whose values follow from the requirements of all controls and from the previous
// version: the criteria and the exact points of a finding, and the order of a plan.
var consequentialFields = []string{"criteria", "severity_points", "severity_reason", "priority", "previous_level"}

// differInRequirementsOnly reports whether two items, as JSON, differ only in the requirements of their controls and in
// fields that follow from these, including the reasons for including a control.
func differInRequirementsOnly(a, b []byte) (bool, error) {
	var was, is map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(a, &was), json.Unmarshal(b, &is)); err != nil {
		return false, err
	}
	var edited []string
	if len(is["edited_fields"]) > 0 {
		if err := json.Unmarshal(is["edited_fields"], &edited); err != nil {
			return false, err
		}
	}
	ignored := consequentialFields
	if !bytes.Equal(was["requirement_codes"], is["requirement_codes"]) {
		ignored = append([]string{"requirement_codes", "rationale", "inclusion_reasons"}, ignored...)
	}
	for _, field := range ignored {
		if slices.Contains(edited, field) {
			continue
		}
		delete(was, field)
		delete(is, field)
	}
	return maps.EqualFunc(was, is, slices.Equal), nil
}

// submitAndMoveAssessment is like submit. If the assessment is in the drafted state of this deliverable, it also moves
// it to the review state. It leaves the assessment's state unchanged if the version was drafted early or corrected
// later.
func (k deliverableType[V, I]) submitAndMoveAssessment(tx *store.Tx, by api.Caller, v *V, options submission) error {
	a, err := getAssessment(tx, by, k.version(v).AssessmentID)
	if err != nil {
		return err
	}
	if err := k.submit(tx, by, &a, v, options); err != nil || a.State != k.draftedState {
		return err
	}
	step, _ := a.State.NextMove()
	reason := fmt.Sprintf("version %d was submitted for review", k.version(v).VersionNumber)
	return changeState(tx, by, &a, step.To, eventSubmitted, reason, nil)
}

// submitVersion implements the operations that submit a version.
func submitVersion[V, I any](
	ctx context.Context, s *Service, by api.Caller, k deliverableType[V, I], versionID string, b *api.Submission,
) (*V, error) {
	var v V
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if v, err = k.getVersion(tx, by.OrganizationID, versionID); err != nil {
			return err
		}
		return k.submitAndMoveAssessment(tx, by, &v, submission{inAdvance: b != nil && b.InAdvance})
	})
	return &v, err
}

// approvalsFor returns the approvals of a version, newest first.
func approvalsFor(tx *store.Tx, org, versionID string) (out []api.Approval, err error) {
	for p, err := range store.Approvals.By("target").Scan(tx, org, store.Prefix(versionID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// voidPendingApprovals rejects the pending approvals of a version as void, with a reason, and
// publishes an event for each.
func voidPendingApprovals(tx *store.Tx, by api.Caller, versionID, why string) error {
	all, err := approvalsFor(tx, by.OrganizationID, versionID)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Status != api.ApprovalPending {
			continue
		}
		p.Status, p.Void, p.Reason, p.UpdatedAt = api.ApprovalRejected, true, &why, tx.Now()
		if err := errors.Join(store.Approvals.Put(tx, by.OrganizationID, &p),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "approval.voided", AssessmentID: p.AssessmentID, Summary: "the pending approval of the " + p.Gate.Title() + " is void: " + why,
				ResourceType: "approval", ResourceID: p.ID, Data: map[string]any{"gate": p.Gate, "reason": why},
			})); err != nil {
			return err
		}
	}
	return nil
}

func pendingApproval(tx *store.Tx, org, assessment string, gate api.Gate) (pending api.Approval, found bool, _ error) {
	for p, err := range store.Approvals.By("assessment").Scan(tx, org, store.Prefix(assessment), store.Reverse) {
		if err != nil {
			return p, false, err
		}
		if p.Gate == gate && p.Status == api.ApprovalPending {
			return p, true, nil
		}
	}
	return api.Approval{}, false, nil
}

// requireCurrentContentApproved returns an error unless a person has approved the current version with
// exactly its current content.
func (k deliverableType[V, I]) requireCurrentContentApproved(tx *store.Tx, a *api.Assessment) error {
	org := a.OrganizationID
	v, ok, err := k.currentVersion(tx, a)
	if err != nil {
		return err
	}
	if !ok {
		return api.ApprovalRequired(k.gate, "", "there is no %s to approve", k.gate.Title())
	}
	head := k.version(&v)
	approval := ""
	if head.ApprovalID != nil {
		approval = *head.ApprovalID
	}
	if head.Status == api.VersionDraft {
		return api.ApprovalRequired(
			k.gate,
			approval,
			"version %d of the %s is a draft: submit it for review, then an owner or admin has to approve it",
			head.VersionNumber,
			k.gate.Title(),
		)
	}
	if head.Status == api.VersionRejected {
		return api.ApprovalRequired(k.gate, approval, "%s", rejectedMessage(head, k.gate))
	}
	if head.Status != api.VersionApproved {
		return api.ApprovalRequired(
			k.gate,
			approval,
			"version %d of the %s is %s: an owner or admin has to approve it",
			head.VersionNumber,
			k.gate.Title(),
			prose.Humanize(head.Status),
		)
	}
	notCovered := api.ApprovalRequired(k.gate, approval, "the approval of the %s doesn't cover its current content", k.gate.Title())
	p, err := store.Approvals.Get(tx, org, approval)
	if err != nil || p.Status != api.ApprovalApproved {
		return notCovered
	}
	if covered, err := k.hasContent(tx, org, head.ID, p.TargetSHA256); err != nil || covered {
		return err
	}
	return notCovered
}

// ListApprovals lists the approvals of an assessment, by default newest first.
func (s *Service) ListApprovals(ctx context.Context, by api.Caller, in *api.ApprovalsInput) (*api.List[api.Approval], error) {
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	l, err := store.SortedList(
		ctx,
		s.db,
		store.Approvals,
		by.OrganizationID,
		in.Paging,
		in.Sort,
		approvalOrder,
		store.PageQuery[api.Approval]{
			Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true,
			Filter: store.FilterIf(api.HasFilters(in), func(p *api.Approval) bool {
				return (in.Status == "" || p.Status == in.Status) && (in.Gate == "" || p.Gate == in.Gate)
			}),
		},
	)
	if err != nil {
		return nil, err
	}
	return l, s.db.View(ctx, func(tx *store.Tx) error { return s.addWarningsAndDelegates(tx, by.OrganizationID, l.Data) })
}

// addWarningsAndDelegates adds two lists to each pending approval: warnings for the decider, and
// the delegates who may decide.
func (s *Service) addWarningsAndDelegates(tx *store.Tx, org string, approvals []api.Approval) error {
	for n := range approvals {
		p := &approvals[n]
		if p.Status != api.ApprovalPending {
			continue
		}
		a, err := store.Assessments.Get(tx, org, p.AssessmentID)
		if err != nil {
			return err
		}
		if p.Warnings, err = gateWarnings(tx, &s.owners, &a, p); err != nil {
			return err
		}
	}
	return addDelegates(tx, org, approvals)
}

func getApproval(tx *store.Tx, by api.Caller, id string) (api.Approval, error) {
	p, err := store.Approvals.Get(tx, by.OrganizationID, id)
	return p, store.ToNotFound(err, "approval", id)
}

// GetApproval returns an approval.
func (s *Service) GetApproval(ctx context.Context, by api.Caller, in *api.ApprovalInput) (*api.Approval, error) {
	var p api.Approval
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if p, err = getApproval(tx, by, in.ApprovalID); err != nil {
			return err
		}
		one := []api.Approval{p}
		err = s.addWarningsAndDelegates(tx, by.OrganizationID, one)
		p = one[0]
		return err
	})
	return &p, err
}

// Approve records a person's approval of a version.
func (s *Service) Approve(ctx context.Context, by api.Caller, in *api.ApproveInput) (*api.Approval, error) {
	return s.decideApproval(ctx, by, in.ApprovalID, api.ApprovalApproved, decisionComment(in.Body), in.Body)
}

// Reject records a person's rejection of a version, with a reason.
func (s *Service) Reject(ctx context.Context, by api.Caller, in *api.RejectInput) (*api.Approval, error) {
	return s.decideApproval(
		ctx,
		by,
		in.ApprovalID,
		api.ApprovalRejected,
		&in.Body.Reason,
		&api.VersionDecision{ContentSHA256: in.Body.ContentSHA256},
	)
}

// checkReviewedHash returns an error if the content to approve differs from what the person reviewed.
func checkReviewedHash(p *api.Approval, d *api.VersionDecision) error {
	if !d.IsOnOtherContent(p.TargetSHA256) {
		return nil
	}
	return api.ApprovalRequired(
		p.Gate,
		p.ID,
		"the %s under review has changed since you looked at it (SHA-256 now %s); review it again",
		p.Gate.Title(),
		p.TargetSHA256,
	)
}

func decisionComment(d *api.VersionDecision) *string {
	if d == nil {
		return nil
	}
	combined := cmp.Or(d.Comment, d.Reason)
	if d.Reason != "" && d.Reason != combined {
		combined += "\n" + d.Reason
	}
	if combined == "" {
		return nil
	}
	return &combined
}

// decideApproval carries out a decision. If the content has changed since the approval was
// requested, it voids the approval and returns an error.
func (s *Service) decideApproval(
	ctx context.Context,
	by api.Caller,
	approvalID string,
	verdict api.ApprovalStatus,
	reason *string,
	decision *api.VersionDecision,
) (*api.Approval, error) {
	var p api.Approval
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if p, err = getApproval(tx, by, approvalID); err != nil {
			return err
		}
		if err := checkReviewedHash(&p, decision); err != nil && p.Status == api.ApprovalPending {
			return err
		}
		return carryOutDecision(tx, by, &p, verdict, reason, decision != nil && decision.InAdvance)
	})
	if errors.Is(err, errContentChanged) {
		return nil, s.voidAndReportStaleApproval(ctx, by, approvalID)
	}
	return &p, err
}

// errContentChanged reports that a version's content changed after its approval was requested.
var errContentChanged = errors.New("the content changed after its approval was requested")

// voidAndReportStaleApproval voids an approval because the content has changed since it was
// requested. It does so in a separate transaction and returns the error to report.
func (s *Service) voidAndReportStaleApproval(ctx context.Context, by api.Caller, approvalID string) error {
	var p api.Approval
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if p, err = getApproval(tx, by, approvalID); err != nil {
			return err
		}
		return voidPendingApprovals(tx, by, p.TargetID, errContentChanged.Error())
	})
	if err != nil {
		return err
	}
	return api.ApprovalRequired(p.Gate, p.ID, "the %s changed after its approval was requested; submit it again", p.Gate.Title())
}

// carryOutDecision stores a decision: it updates the approval and the version and, after a
// rejection, returns the assessment to the drafted state. inAdvance marks a decision made without
// reviewing the version.
func carryOutDecision(tx *store.Tx, by api.Caller, p *api.Approval, verdict api.ApprovalStatus, reason *string, inAdvance bool) error {
	if by.Actor.Type == api.ActorWorkflow || by.UserID == "" {
		return api.Forbidden("only a person can approve or reject at a gate")
	}
	if p.Void {
		return api.Conflict("this approval is void: %s; submit the %s again", stringOrEmpty(p.Reason), p.Gate.Title())
	}
	if p.Status != api.ApprovalPending {
		return api.Conflict("this approval is already %s and can't be decided again", p.Status)
	}
	if verdict == api.ApprovalRejected && api.IsBlank(stringOrEmpty(reason)) {
		return api.Invalid("reason", "give a reason for the rejection, so that the author knows what to fix")
	}
	now := tx.Now()
	p.Status, p.DecidedBy, p.DecidedAt, p.Reason, p.UpdatedAt, p.InAdvance = verdict, &by.Actor, &now, reason, now, inAdvance
	if by.Peer != nil {
		p.BundleKey = by.Peer.BundleKey()
	}
	a, err := getAssessment(tx, by, p.AssessmentID)
	if err != nil {
		return err
	}
	if p.Warnings, err = gateWarnings(tx, &ownersOfVersions{}, &a, p); err != nil {
		return err
	}
	k, ok := deliverables[p.Gate]
	if !ok {
		return api.NotFound("gate", string(p.Gate))
	}
	if err := k.applyDecision(tx, by, &a, p); err != nil {
		return err
	}
	data := map[string]any{
		"approval_id": p.ID, "gate": p.Gate, "decision": verdict, "target_sha256": p.TargetSHA256, "in_advance": inAdvance,
	}
	if d := p.Delegation; d != nil {
		data["delegation_id"], data["delegator_id"] = d.DelegationID, d.DelegatorID
	}
	if p.BundleKey != nil {
		data["bundle_key"] = p.BundleKey
	}
	return errors.Join(store.Approvals.Put(tx, by.OrganizationID, p),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "approval.decided", AssessmentID: a.ID, Summary: fmt.Sprintf("%s %s the %s", p.Decider(), verdict, p.Gate.Title()),
			ResourceType: "approval", ResourceID: p.ID, Data: data,
		}))
}

// enforceSecondPersonRule returns an error if the organization requires a second person to decide,
// and the person deciding submitted or edited the content. A person's API keys count as that
// person.
func enforceSecondPersonRule(tx *store.Tx, orgID string, p *api.Approval, authorIDs []string, personID, actorID string) error {
	org, err := store.Organizations.Get(tx, orgID)
	if err != nil {
		return err
	}
	second := api.ErrorDetail{Field: api.RequireSecondPerson, Message: "this setting is turned on in the organization"}
	switch {
	case !org.RequiresSecondPerson():
	case p.RequestedByUserID == personID || p.RequestedBy.ID == actorID:
		return api.Forbidden("this organization requires a second person to decide, and you submitted this " +
			"deliverable yourself; ask someone else to decide").WithDetails(second)
	case slices.Contains(authorIDs, personID):
		return api.Forbidden("this organization requires a second person to decide, and you edited this " +
			"deliverable yourself; ask someone else to decide").WithDetails(second)
	}
	return nil
}

// applyDecision applies a decision on an approval to the version it is about. It returns an error if the
// content has changed since it was submitted.
func (k deliverableType[V, I]) applyDecision(tx *store.Tx, by api.Caller, a *api.Assessment, p *api.Approval) error {
	v, err := k.getVersion(tx, by.OrganizationID, p.TargetID)
	if err != nil {
		return err
	}
	head, word := k.version(&v), "rejected"
	if p.Delegation, err = requireDecisionRight(tx, by, p, head.AuthorIDs); err != nil {
		return err
	}
	same, err := k.hasContent(tx, by.OrganizationID, p.TargetID, p.TargetSHA256)
	if err != nil {
		return err
	}
	if !same {
		return errContentChanged
	}
	head.UpdatedAt = tx.Now()
	if p.Status == api.ApprovalApproved {
		word = "approved"
		who := p.Decider()
		head.Status, head.ApprovedAt, head.ApprovedBy = api.VersionApproved, p.DecidedAt, &who
		if err := k.supersedeApproved(tx, by, head.ID, a.ID); err != nil {
			return err
		}
	} else {
		head.Status = api.VersionRejected
		if gate, drafted, ok := a.State.ReviewGate(); ok && gate == k.gate {
			reason := "rejected by " + p.Decider()
			if p.Reason != nil {
				reason += ": " + *p.Reason
			}
			if err := returnToDraft(tx, by, a, drafted, eventRework, reason); err != nil {
				return err
			}
		}
	}
	return errors.Join(k.saveVersionAndArtifact(tx, by, &v),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: string(k.gate) + "." + word, AssessmentID: a.ID,
			Summary:      fmt.Sprintf("%s version %d was %s by %s", k.gate.Title(), head.VersionNumber, word, p.Decider()),
			ResourceType: string(k.gate), ResourceID: head.ID, Data: map[string]any{"content_sha256": p.TargetSHA256},
		}))
}

// supersedeApproved marks the previously approved version as superseded.
func (k deliverableType[V, I]) supersedeApproved(tx *store.Tx, by api.Caller, exceptID, assessment string) error {
	var old []V
	for v, err := range k.versions.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		if k.version(&v).Status == api.VersionApproved && k.version(&v).ID != exceptID {
			old = append(old, v)
		}
	}
	for _, v := range old {
		k.version(&v).Status = api.VersionSuperseded
		if err := k.saveVersionAndArtifact(tx, by, &v); err != nil {
			return err
		}
	}
	return nil
}

// approveVersion is like Approve but is given the ID of the version instead of the approval.
func approveVersion[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	versionID string,
	d *api.VersionDecision,
) (*V, error) {
	var v V
	var pending string
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if v, err = k.getVersion(tx, by.OrganizationID, versionID); err != nil {
			return err
		}
		head := k.version(&v)
		if head.Status != api.VersionUnderReview || head.ApprovalID == nil {
			if head.Status == api.VersionDraft {
				return api.ApprovalRequired(
					k.gate,
					"",
					"version %d of the %s is a draft; submit it for review first",
					head.VersionNumber,
					k.gate.Title(),
				)
			}
			return api.Conflict(
				"version %d of the %s is %s, so it is not under review",
				head.VersionNumber,
				k.gate.Title(),
				prose.Humanize(head.Status),
			)
		}
		pending = *head.ApprovalID
		p, err := getApproval(tx, by, pending)
		if err != nil {
			return err
		}
		if err := checkReviewedHash(&p, d); err != nil {
			return err
		}
		if err := carryOutDecision(tx, by, &p, api.ApprovalApproved, decisionComment(d), d != nil && d.InAdvance); err != nil {
			return err
		}
		v, err = k.getVersion(tx, by.OrganizationID, versionID)
		return err
	})
	if errors.Is(err, errContentChanged) {
		return nil, s.voidAndReportStaleApproval(ctx, by, pending)
	}
	return &v, err
}

package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// inWords is a status as a person says it.
func inWords(s api.VersionStatus) string { return strings.ReplaceAll(string(s), "_", " ") }

// ensureSubmitted submits the newest version for review where it isn't yet.
func ensureSubmitted[V, I any](ctx context.Context, s *Service, by api.Caller, a *api.Assessment, k kind[V, I], check func(*store.Tx, string, *V) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newest(tx, by.OrganizationID, a.ID)
		if err != nil {
			return err
		}
		if !ok {
			return api.Conflict("there is no %s to submit; draft it first", k.gate.Title())
		}
		if st := k.version(&v).Status; st == api.VersionUnderReview || st == api.VersionApproved {
			return nil
		}
		return submit(tx, by, a, k, &v, check)
	})
}

// submit puts a version under review and asks for the approval that binds its content.
func submit[V, I any](tx *store.Tx, by api.Caller, a *api.Assessment, k kind[V, I], v *V, check func(*store.Tx, string, *V) error) error {
	return submitAs(tx, by, a, k, v, check, "")
}

// submitAs is submit where the approval has an id already; empty: a new one.
func submitAs[V, I any](tx *store.Tx, by api.Caller, a *api.Assessment, k kind[V, I], v *V, check func(*store.Tx, string, *V) error, id string) error {
	head := k.version(v)
	switch head.Status {
	case api.VersionDraft:
	case api.VersionRejected:
		return api.Conflict("%s", rejectedWords(k, v))
	default:
		return api.Conflict("version %d of the %s is %s and can't be submitted", head.VersionNumber, k.gate.Title(), inWords(head.Status))
	}
	if err := stillOpen(a); err != nil {
		return err
	}
	if check != nil {
		if err := check(tx, by.OrganizationID, v); err != nil {
			return err
		}
	}
	if err := k.seal(tx, by.OrganizationID, v); err != nil {
		return err
	}
	now := tx.Now()
	approval := api.Approval{TenantRecord: tenantRecord(tx, by), AssessmentID: a.ID, Gate: k.gate, TargetID: head.ID, TargetSHA256: head.ContentSHA256,
		VersionNumber: head.VersionNumber, Status: api.ApprovalPending, RequestedBy: by.Actor, RequestedByUserID: by.UserID, RequestedAt: now}
	if id != "" {
		approval.ID = id
	}
	head.Status, head.SubmittedAt, head.ApprovalID, head.UpdatedAt = api.VersionUnderReview, &now, &approval.ID, now
	return errors.Join(store.Approvals.Insert(tx, by.OrganizationID, &approval), k.versions.Put(tx, by.OrganizationID, v),
		recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *head),
		audit.Tell(tx, by, audit.Event{Type: string(k.gate) + ".submitted", AssessmentID: a.ID, Summary: fmt.Sprintf("submitted %s version %d for review", k.gate.Title(), head.VersionNumber),
			ResourceType: string(k.gate), ResourceID: head.ID, Data: map[string]any{"approval_id": approval.ID, "content_sha256": head.ContentSHA256}}),
		audit.Tell(tx, by, audit.Event{Type: "approval.requested", AssessmentID: a.ID, Summary: "approval of the " + k.gate.Title() + " was asked for",
			ResourceType: "approval", ResourceID: approval.ID, Data: map[string]any{"approval_id": approval.ID, "gate": k.gate, "target_sha256": head.ContentSHA256}}))
}

// submitVersion is the operation that submits one version.
func submitVersion[V, I any](ctx context.Context, s *Service, by api.Caller, k kind[V, I], id string, check func(*store.Tx, string, *V) error) (*V, error) {
	var v V
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if v, err = k.get(tx, by.OrganizationID, id); err != nil {
			return err
		}
		a, err := get(tx, by, k.version(&v).AssessmentID)
		if err != nil {
			return err
		}
		if err := submit(tx, by, &a, k, &v, check); err != nil {
			return err
		}
		if a.State != k.drafted {
			return nil // it was drafted ahead of its time, or is mended after it
		}
		step, _ := a.State.Next()
		return move(tx, by, &a, step.To, eventSubmitted, fmt.Sprintf("version %d was submitted for review", k.version(&v).VersionNumber), nil)
	})
	return &v, err
}

// approvals that are for a version, newest first.
func approvalsFor(tx *store.Tx, org, target string) (out []api.Approval, err error) {
	for p, err := range store.Approvals.By("target").Scan(tx, org, store.Prefix(target), store.Reverse) {
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func voidApprovals(tx *store.Tx, by api.Caller, target, why string) error {
	all, err := approvalsFor(tx, by.OrganizationID, target)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Status != api.ApprovalPending {
			continue
		}
		p.Status, p.Void, p.Reason, p.UpdatedAt = api.ApprovalRejected, true, &why, tx.Now()
		if err := errors.Join(store.Approvals.Put(tx, by.OrganizationID, &p),
			audit.Tell(tx, by, audit.Event{Type: "approval.voided", AssessmentID: p.AssessmentID, Summary: "the pending approval of the " + p.Gate.Title() + " is void: " + why,
				ResourceType: "approval", ResourceID: p.ID, Data: map[string]any{"gate": p.Gate, "reason": why}})); err != nil {
			return err
		}
	}
	return nil
}

func pendingApproval(tx *store.Tx, org, assessment string, gate api.Gate) (api.Approval, bool, error) {
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

// gateOpen is nil where a person has approved exactly the content there is now.
func gateOpen(tx *store.Tx, by api.Caller, a *api.Assessment, gate api.Gate) error {
	switch gate {
	case api.GateSoA:
		return openGate(tx, by.OrganizationID, a, soa)
	case api.GateGapAnalysis:
		return openGate(tx, by.OrganizationID, a, gap)
	case api.GateMaturity:
		return openGate(tx, by.OrganizationID, a, maturity)
	default:
		return openGate(tx, by.OrganizationID, a, poam)
	}
}

func openGate[V, I any](tx *store.Tx, org string, a *api.Assessment, k kind[V, I]) error {
	v, ok, err := k.newest(tx, org, a.ID)
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
		return api.ApprovalRequired(k.gate, approval, "version %d of the %s is a draft: submit it for review, then an owner or admin has to approve it", head.VersionNumber, k.gate.Title())
	}
	if head.Status == api.VersionRejected {
		return api.ApprovalRequired(k.gate, approval, "%s", rejectedWords(k, &v))
	}
	if head.Status != api.VersionApproved {
		return api.ApprovalRequired(k.gate, approval, "version %d of the %s is %s: an owner or admin has to approve it", head.VersionNumber, k.gate.Title(), inWords(head.Status))
	}
	items, err := k.itemsOf(tx, org, head.ID)
	if err != nil {
		return err
	}
	hash, err := k.contentHash(items)
	if err != nil {
		return err
	}
	p, err := store.Approvals.Get(tx, org, approval)
	if err != nil || p.Status != api.ApprovalApproved || p.TargetSHA256 != hash {
		return api.ApprovalRequired(k.gate, approval, "the approval of the %s is not for the content there is now", k.gate.Title())
	}
	return nil
}

// ListApprovals lists the approvals of an assessment, newest first.
func (s *Service) ListApprovals(ctx context.Context, by api.Caller, in *api.ApprovalsInput) (*api.List[api.Approval], error) {
	if _, err := s.read(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	l, err := store.SortedList(ctx, s.db, store.Approvals, by.OrganizationID, in.Paging, in.Sort, approvalOrder, store.PageQuery[api.Approval]{Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true,
		Filter: func(p *api.Approval) bool {
			return (in.Status == "" || p.Status == in.Status) && (in.Gate == "" || p.Gate == in.Gate)
		}})
	if err != nil {
		return nil, err
	}
	return l, s.db.View(ctx, func(tx *store.Tx) error { return forDecider(tx, by.OrganizationID, l.Data) })
}

// forDecider adds to pending approvals who may decide, and what they should know.
func forDecider(tx *store.Tx, org string, all []api.Approval) error {
	for n := range all {
		p := &all[n]
		if p.Status != api.ApprovalPending {
			continue
		}
		a, err := store.Assessments.Get(tx, org, p.AssessmentID)
		if err != nil {
			return err
		}
		if p.Warnings, err = doubts(tx, &a, p.Gate); err != nil {
			return err
		}
	}
	return withDelegates(tx, org, all)
}

func approval(tx *store.Tx, by api.Caller, id string) (api.Approval, error) {
	p, err := store.Approvals.Get(tx, by.OrganizationID, id)
	return p, store.Missing(err, "approval", id)
}

// GetApproval is one approval.
func (s *Service) GetApproval(ctx context.Context, by api.Caller, in *api.ApprovalInput) (*api.Approval, error) {
	var p api.Approval
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if p, err = approval(tx, by, in.ApprovalID); err != nil {
			return err
		}
		one := []api.Approval{p}
		err = forDecider(tx, by.OrganizationID, one)
		p = one[0]
		return err
	})
	return &p, err
}

// Approve is a person's yes to what waits at a gate.
func (s *Service) Approve(ctx context.Context, by api.Caller, in *api.ApproveInput) (*api.Approval, error) {
	return s.decide(ctx, by, in.ApprovalID, api.ApprovalApproved, comment(in.Body), seen(in.Body))
}

// Reject is a person's no, with the reason.
func (s *Service) Reject(ctx context.Context, by api.Caller, in *api.RejectInput) (*api.Approval, error) {
	return s.decide(ctx, by, in.ApprovalID, api.ApprovalRejected, &in.Body.Reason, in.Body.ContentSHA256)
}

func seen(d *api.VersionDecision) string {
	if d == nil {
		return ""
	}
	return d.ContentSHA256
}

// sameSeen refuses to decide on other content than the person has looked at.
func sameSeen(p *api.Approval, seen string) error {
	if seen == "" || seen == p.TargetSHA256 {
		return nil
	}
	return api.ApprovalRequired(p.Gate, p.ID, "the %s under review is not the content you looked at: it has the SHA-256 %s by now; look again", p.Gate.Title(), p.TargetSHA256)
}

func comment(d *api.VersionDecision) *string {
	if d == nil {
		return nil
	}
	said := cmp.Or(d.Comment, d.Reason)
	if d.Reason != "" && d.Reason != said {
		said += "\n" + d.Reason
	}
	if said == "" {
		return nil
	}
	return &said
}

func (s *Service) decide(ctx context.Context, by api.Caller, id string, verdict api.ApprovalStatus, reason *string, seen string) (*api.Approval, error) {
	var p api.Approval
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if p, err = approval(tx, by, id); err != nil {
			return err
		}
		if err := sameSeen(&p, seen); err != nil && p.Status == api.ApprovalPending {
			return err
		}
		return decide(tx, by, &p, verdict, reason)
	})
	if errors.Is(err, errStale) {
		return nil, s.voidStale(ctx, by, id)
	}
	return &p, err
}

// errStale says that the content is not what approval was asked for.
var errStale = errors.New("the content changed since approval was asked for")

// voidStale voids an approval whose content changed, in a transaction of its own, and says so.
func (s *Service) voidStale(ctx context.Context, by api.Caller, id string) error {
	var p api.Approval
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if p, err = approval(tx, by, id); err != nil {
			return err
		}
		return voidApprovals(tx, by, p.TargetID, errStale.Error())
	})
	if err != nil {
		return err
	}
	return api.ApprovalRequired(p.Gate, p.ID, "the %s changed since its approval was asked for; submit it again", p.Gate.Title())
}

// decide writes a decision: the approval, the version, and for a rejection the way back.
func decide(tx *store.Tx, by api.Caller, p *api.Approval, verdict api.ApprovalStatus, reason *string) error {
	if by.Actor.Type == api.ActorWorkflow || by.UserID == "" {
		return api.Forbidden("only a person can decide at a gate")
	}
	if p.Void {
		return api.Conflict("this approval is void: %s; the %s has to be submitted again", text(p.Reason), p.Gate.Title())
	}
	if p.Status != api.ApprovalPending {
		return api.Conflict("this approval is %s already; it is decided once", p.Status)
	}
	if verdict == api.ApprovalRejected && api.Blank(text(reason)) {
		return api.Invalid("reason", "say why it is rejected, for whoever has to mend it")
	}
	now := tx.Now()
	p.Status, p.DecidedBy, p.DecidedAt, p.Reason, p.UpdatedAt = verdict, &by.Actor, &now, reason, now
	a, err := get(tx, by, p.AssessmentID)
	if err != nil {
		return err
	}
	if p.Warnings, err = doubts(tx, &a, p.Gate); err != nil {
		return err
	}
	switch p.Gate {
	case api.GateSoA:
		err = decideVersion(tx, by, &a, soa, p)
	case api.GateGapAnalysis:
		err = decideVersion(tx, by, &a, gap, p)
	case api.GateMaturity:
		err = decideVersion(tx, by, &a, maturity, p)
	default:
		err = decideVersion(tx, by, &a, poam, p)
	}
	if err != nil {
		return err
	}
	data := map[string]any{"approval_id": p.ID, "gate": p.Gate, "decision": verdict, "target_sha256": p.TargetSHA256}
	if d := p.Delegation; d != nil {
		data["delegation_id"], data["delegator_id"] = d.DelegationID, d.DelegatorID
	}
	return errors.Join(store.Approvals.Put(tx, by.OrganizationID, p),
		audit.Tell(tx, by, audit.Event{Type: "approval.decided", AssessmentID: a.ID, Summary: fmt.Sprintf("%s %s the %s", decider(p), verdict, p.Gate.Title()),
			ResourceType: "approval", ResourceID: p.ID, Data: data}))
}

// decider is who decided, and for whom.
func decider(p *api.Approval) string {
	if p.Delegation != nil {
		return p.DecidedBy.Name + " for " + p.Delegation.DelegatorName
	}
	return p.DecidedBy.Name
}

// secondPerson refuses a person who has submitted or written what is decided on, where the
// organization wants another. A person stays the same with each of their keys.
func secondPerson(tx *store.Tx, id string, p *api.Approval, authors []string, person, actor string) error {
	org, err := store.Organizations.Get(tx, id)
	if err != nil {
		return err
	}
	switch on, _ := org.Settings[api.RequireSecondPerson].(bool); {
	case !on:
	case p.RequestedByUserID == person || p.RequestedBy.ID == actor:
		return api.Forbidden("this organization wants a second person to decide; you submitted it yourself")
	case slices.Contains(authors, person):
		return api.Forbidden("this organization wants a second person to decide; you changed lines of it yourself")
	}
	return nil
}

func decideVersion[V, I any](tx *store.Tx, by api.Caller, a *api.Assessment, k kind[V, I], p *api.Approval) error {
	v, err := k.get(tx, by.OrganizationID, p.TargetID)
	if err != nil {
		return err
	}
	head, word := k.version(&v), "rejected"
	if p.Delegation, err = right(tx, by, p, head.AuthorIDs); err != nil {
		return err
	}
	items, err := k.itemsOf(tx, by.OrganizationID, p.TargetID)
	if err != nil {
		return err
	}
	hash, err := k.contentHash(items)
	if err != nil {
		return err
	}
	if hash != p.TargetSHA256 {
		return errStale
	}
	head.UpdatedAt = tx.Now()
	if p.Status == api.ApprovalApproved {
		word = "approved"
		who := decider(p)
		head.Status, head.ApprovedAt, head.ApprovedBy = api.VersionApproved, p.DecidedAt, &who
		if err := k.supersedeApproved(tx, by, head.ID, a.ID); err != nil {
			return err
		}
	} else {
		head.Status = api.VersionRejected
		if gate, drafted, ok := a.State.Review(); ok && gate == k.gate {
			reason := "rejected by " + decider(p)
			if p.Reason != nil {
				reason += ": " + *p.Reason
			}
			if err := rework(tx, by, a, drafted, eventRework, reason); err != nil {
				return err
			}
		}
	}
	return errors.Join(k.versions.Put(tx, by.OrganizationID, &v), recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *head),
		audit.Tell(tx, by, audit.Event{Type: string(k.gate) + "." + word, AssessmentID: a.ID, Summary: fmt.Sprintf("%s version %d was %s by %s", k.gate.Title(), head.VersionNumber, word, decider(p)),
			ResourceType: string(k.gate), ResourceID: head.ID, Data: map[string]any{"content_sha256": hash}}))
}

// supersedeApproved marks what was approved before as superseded by what is approved now.
func (k kind[V, I]) supersedeApproved(tx *store.Tx, by api.Caller, except, assessment string) error {
	var old []V
	for v, err := range k.versions.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		if k.version(&v).Status == api.VersionApproved && k.version(&v).ID != except {
			old = append(old, v)
		}
	}
	for _, v := range old {
		k.version(&v).Status = api.VersionSuperseded
		if err := errors.Join(k.versions.Put(tx, by.OrganizationID, &v), recordArtifact(tx, by, assessment, string(k.gate), k.gate.Title(), *k.version(&v))); err != nil {
			return err
		}
	}
	return nil
}

// approveVersion is the same decision as Approve, asked for on the version.
func approveVersion[V, I any](ctx context.Context, s *Service, by api.Caller, k kind[V, I], id string, d *api.VersionDecision) (*V, error) {
	var v V
	var pending string
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if v, err = k.get(tx, by.OrganizationID, id); err != nil {
			return err
		}
		head := k.version(&v)
		if head.Status != api.VersionUnderReview || head.ApprovalID == nil {
			if head.Status == api.VersionDraft {
				return api.ApprovalRequired(k.gate, "", "version %d of the %s is a draft; submit it for review first", head.VersionNumber, k.gate.Title())
			}
			return api.Conflict("version %d of the %s is %s and not under review", head.VersionNumber, k.gate.Title(), inWords(head.Status))
		}
		pending = *head.ApprovalID
		p, err := approval(tx, by, pending)
		if err != nil {
			return err
		}
		if err := sameSeen(&p, seen(d)); err != nil {
			return err
		}
		if err := decide(tx, by, &p, api.ApprovalApproved, comment(d)); err != nil {
			return err
		}
		v, err = k.get(tx, by.OrganizationID, id)
		return err
	})
	if errors.Is(err, errStale) {
		return nil, s.voidStale(ctx, by, pending)
	}
	return &v, err
}

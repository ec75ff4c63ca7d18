package assessment

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// Changes made to a copy of an assessment elsewhere are applied here under the same rules as local changes. If
// a change violates them, an API error is returned and nothing is written.

// protectedItemFields lists the item fields that a merge never changes, because they identify the item
// or are set by the rules.
var protectedItemFields = []string{
	"id", "organization_id", "created_at", "updated_at", "assessment_id", "version_id", "revision",
	"control_id", "control_code", "control_title", "domain_code", "edited_by",
	"rests_on_documents", "only_document", "changed_by_document", "changed_from", "second_reading",
}

// derivedFields lists fields that the rules set together with other fields. They differ between two
// items only if other fields do.
var derivedFields = []string{"reason", "needs_review", "reviewed_in_bulk", "edited_fields"}

// derivedLevelFields lists fields that follow from the level of a maturity score. Findings have a field
// "criteria" as well, but there users write it.
var derivedLevelFields = []string{"criteria", "next_criteria"}

func isNeverInConflict(gate api.Gate, field string) bool {
	return slices.Contains(derivedFields, field) || gate == api.GateMaturity && slices.Contains(derivedLevelFields, field)
}

// SyncedDeliverable applies changes made at another installation to one of the four deliverables.
type SyncedDeliverable interface {
	// ApplyChanges applies a change to an item. A version under review is withdrawn, and one that
	// was decided on is copied to a new version. If there is a newer version, the change applies to
	// the matching item in it, like a user's edit.
	ApplyChanges(tx *store.Tx, by api.Caller, assessment, id string, changes map[string]merge.Change) ([]merge.Conflict, error)
	// AddItem adds an item to a draft version. It merges what users decided here into it; decided are the decisions made
	// elsewhere, as ListDecisions returns them there. Fields that were decided on both sides are returned as conflicts.
	AddItem(
		tx *store.Tx,
		by api.Caller,
		assessment string,
		fields map[string]json.RawMessage,
		decided map[string]merge.Change,
	) ([]merge.Conflict, error)
	// ListDecisions returns the fields of an item in which users' decisions differ from those in the version before.
	ListDecisions(tx *store.Tx, org, item string) (map[string]merge.Change, error)
	// AddItemsFromHere adds to a version drafted elsewhere the items that it lacks because users added them here or decided
	// on them, according to changedSince. base is the number of the version that the draft was made from. Plan items
	// aren't added; the codes of their controls are returned.
	AddItemsFromHere(
		tx *store.Tx,
		by api.Caller,
		version string,
		base int,
		changedSince func(item string) (bool, error),
	) (omitted []string, err error)
	// DeleteItem deletes an item from a draft version, unless the item was changed here; in that
	// case, it returns the conflict.
	DeleteItem(tx *store.Tx, by api.Caller, assessment, id string, base map[string]json.RawMessage) (*merge.Conflict, error)
	// AddVersion adds a version drafted elsewhere as a draft with the next number. It has to be
	// submitted and decided on here. clash reports whether its number was already in use.
	AddVersion(tx *store.Tx, by api.Caller, assessment string, fields map[string]json.RawMessage) (clash bool, err error)
	// RehashDraft recomputes a draft version's count and hash once all its items are written.
	RehashDraft(tx *store.Tx, org, version string) error
	// RecordArtifact updates the artifact of a version.
	RecordArtifact(tx *store.Tx, by api.Caller, version string) error
	// Submit submits a version with the ID that its approval has elsewhere, provided that the
	// content has the hash that was submitted there. inAdvance reports whether the submission was
	// requested without reviewing the version.
	Submit(tx *store.Tx, by api.Caller, assessment, version, approval, sha string, inAdvance bool) error
}

// Synced returns the deliverable of a gate for syncing; gate must be one of api.Gates.
func Synced(gate api.Gate) SyncedDeliverable { return deliverables[gate] }

// ApplySyncedDecision applies a decision that the caller made at another installation. The caller
// must currently have the right to decide here, and the content must be the same as at the other
// installation.
func ApplySyncedDecision(
	tx *store.Tx,
	by api.Caller,
	assessment, approvalID, decidedSHA256 string,
	verdict api.ApprovalStatus,
	reason *string,
	inAdvance bool,
) error {
	p, err := getApproval(tx, by, approvalID)
	if err != nil {
		return err
	}
	if p.AssessmentID != assessment {
		return api.NotFound("approval", approvalID)
	}
	if verdict != api.ApprovalApproved && verdict != api.ApprovalRejected {
		return api.Invalid("status", "a decision must be %s or %s", api.ApprovalApproved, api.ApprovalRejected)
	}
	if err := by.Require(api.ApprovalDecide); err != nil && !by.Delegate {
		return err
	}
	if p.TargetSHA256 != decidedSHA256 {
		return api.ApprovalRequired(p.Gate, p.ID, "the content of the %s differs from the content that the "+
			"decision was about", p.Gate.Title())
	}
	if err := carryOutDecision(tx, by, &p, verdict, reason, inAdvance); errors.Is(err, errContentChanged) {
		return api.ApprovalRequired(p.Gate, p.ID, "the %s changed after its approval was requested", p.Gate.Title())
	} else if err != nil {
		return err
	}
	return nil
}

// RecordSyncedCreation records that an assessment created at another installation was added here.
func RecordSyncedCreation(tx *store.Tx, by api.Caller, a *api.Assessment) error {
	return recordLifecycleEvent(tx, by, a, "", a.State, "created", "begun offline", nil)
}

// ApplySyncedTransition moves an assessment to a state that it reached at another installation, if the
// lifecycle allows that here and the required gates are approved.
func ApplySyncedTransition(tx *store.Tx, by api.Caller, assessment string, to api.State, reason string) error {
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return err
	}
	if a.State == to {
		return nil
	}
	if err := api.CheckMove(a.State, to); err != nil {
		return err
	}
	step, _ := a.State.NextMove()
	for _, gate := range requiredGates(step) {
		if err := deliverables[gate].requireCurrentContentApproved(tx, &a); err != nil {
			return err
		}
	}
	return changeState(tx, by, &a, to, eventTransition, reason, nil)
}

// SaveVoidedApproval stores an approval that was requested at another installation but is not valid
// here, with the reason.
func SaveVoidedApproval(tx *store.Tx, by api.Caller, p *api.Approval, reason string) error {
	p.OrganizationID, p.Status, p.Void, p.Reason, p.UpdatedAt = by.OrganizationID, api.ApprovalRejected, true, &reason, tx.Now()
	p.RequestedBy, p.RequestedByUserID = by.Actor, by.UserID
	p.DecidedBy, p.DecidedAt, p.Delegation, p.Delegates, p.BundleKey, p.RemoteKey = nil, nil, nil, nil, nil, nil
	return errors.Join(store.Approvals.Put(tx, by.OrganizationID, p),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type:         "approval.voided",
			AssessmentID: p.AssessmentID,
			Summary:      "the approval of the " + p.Gate.Title() + " that was given offline is void: " + reason,
			ResourceType: "approval",
			ResourceID:   p.ID,
			Data:         map[string]any{"gate": p.Gate, "reason": reason},
		}))
}

// findChangeTarget returns the item to which a change made elsewhere applies, and its version. If
// item belongs to an older version, this is the matching item in the newest one.
func (k deliverableType[V, I]) findChangeTarget(tx *store.Tx, by api.Caller, a *api.Assessment, item I) (v V, target I, err error) {
	org := by.OrganizationID
	if v, err = k.getVersion(tx, org, k.item(&item).VersionID); err != nil {
		return v, item, err
	}
	newest, _, err := k.newestVersion(tx, org, a.ID)
	if err != nil || k.version(&newest).ID == k.version(&v).ID {
		return v, item, err
	}
	items, err := k.readItems(tx, org, k.version(&newest).ID)
	if err != nil {
		return v, item, err
	}
	before, err := k.readItems(tx, org, k.version(&v).ID)
	if err != nil {
		return v, item, err
	}
	at := slices.IndexFunc(
		k.matchItems(items, before),
		func(i *I) bool { return i != nil && k.item(i).ID == k.item(&item).ID },
	)
	if at < 0 {
		return v, item, api.Conflict(
			"version %d of the %s is no longer the newest, and the newest has no item %s",
			k.version(&v).VersionNumber,
			k.gate.Title(),
			k.item(&item).ControlCode,
		)
	}
	return newest, items[at], nil
}

func (k deliverableType[V, I]) ApplyChanges(
	tx *store.Tx,
	by api.Caller,
	assessment, itemID string,
	changes map[string]merge.Change,
) ([]merge.Conflict, error) {
	org := by.OrganizationID
	item, err := k.items.Get(tx, org, itemID)
	if err == nil && k.item(&item).AssessmentID != assessment {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, store.ToNotFound(err, k.gate.Title()+" item", itemID)
	}
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return nil, err
	}
	if err := requireOpen(&a); err != nil {
		return nil, err
	}
	v, target, err := k.findChangeTarget(tx, by, &a, item)
	if err != nil {
		return nil, err
	}
	fields, err := merge.FieldsFromRecord(&target)
	if err != nil {
		return nil, err
	}
	merged, conflicts := merge.ApplyChanges(fields, changes, protectedItemFields)
	conflicts = slices.DeleteFunc(conflicts, func(c merge.Conflict) bool { return isNeverInConflict(k.gate, c.Field) })
	for n := range conflicts {
		conflicts[n].RecordID, conflicts[n].Label = k.item(&target).ID, k.item(&target).ControlCode
	}
	if len(merged) == 0 {
		return conflicts, nil
	}
	var tried I
	if err := merge.FillRecord(fields, &tried); err != nil {
		return nil, err
	}
	if err := k.validateItem(&tried); err != nil {
		return nil, err
	}
	switch head := k.version(&v); head.Status {
	case api.VersionUnderReview:
		err = k.withdrawFromReview(tx, by, &a, &v, "changed during review by "+by.Actor.Name)
	case api.VersionApproved, api.VersionRejected:
		if head.Status == api.VersionApproved && k.clearApproved != nil {
			k.clearApproved(&tried)
		}
		copies := []I{target}
		if v, copies, err = k.copyToNextVersion(tx, by, &a, v, copies); err == nil {
			to := k.item(&tried)
			as := *k.item(&copies[0])
			to.TenantRecord, to.VersionID, to.Revision = as.TenantRecord, as.VersionID, as.Revision
		}
	case api.VersionSuperseded:
		err = api.Conflict("version %d of the %s was superseded", head.VersionNumber, k.gate.Title())
	}
	if err != nil {
		return nil, err
	}
	if k.recount != nil && (slices.Contains(merged, "evidence") || slices.Contains(merged, "applicability")) {
		k.recount(&tried)
	}
	it := k.item(&tried)
	it.Revision++
	it.UpdatedAt, it.EditedBy = tx.Now(), &by.Actor.Name
	addAuthor(k.version(&v), by)
	k.version(&v).UpdatedAt = tx.Now()
	return conflicts, errors.Join(k.items.Put(tx, org, &tried), k.recomputeItemCountAndHash(tx, org, &v), k.saveVersionAndArtifact(tx, by, &v),
		k.recordItemChange(tx, by, it, merged, map[string]any{"offline": true}))
}

func (k deliverableType[V, I]) AddItem(
	tx *store.Tx,
	by api.Caller,
	assessment string,
	fields map[string]json.RawMessage,
	decided map[string]merge.Change,
) (conflicts []merge.Conflict, err error) {
	var i I
	if err := merge.FillRecord(fields, &i); err != nil {
		return nil, err
	}
	it := k.item(&i)
	it.OrganizationID = by.OrganizationID
	if it.AssessmentID != assessment || it.ID == "" {
		return nil, api.Invalid("assessment_id", "the item belongs to another assessment")
	}
	if err := k.validateItem(&i); err != nil {
		return nil, err
	}
	v, err := k.getVersion(tx, by.OrganizationID, it.VersionID)
	if err != nil {
		return nil, err
	}
	head := k.version(&v)
	if head.AssessmentID != assessment {
		return nil, api.NotFound(k.gate.Title()+" version", it.VersionID)
	}
	if head.Status != api.VersionDraft {
		return nil, api.Conflict(
			"version %d of the %s is %s; items can't be added",
			head.VersionNumber,
			k.gate.Title(),
			prose.Humanize(head.Status),
		)
	}
	if there, err := k.items.Has(tx, by.OrganizationID, it.ID); err != nil || there {
		return nil, cmp.Or(err, errorIfExists(there, it.ID))
	}
	if conflicts, err = k.mergeHere(tx, by.OrganizationID, &v, &i, decided); err != nil {
		return nil, err
	}
	if k.recount != nil {
		k.recount(&i)
	}
	return conflicts, k.items.Insert(tx, by.OrganizationID, &i)
}

func (k deliverableType[V, I]) DeleteItem(
	tx *store.Tx,
	by api.Caller,
	assessment, itemID string,
	base map[string]json.RawMessage,
) (*merge.Conflict, error) {
	org := by.OrganizationID
	i, err := k.items.Get(tx, org, itemID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it := k.item(&i)
	if it.AssessmentID != assessment {
		return nil, api.NotFound(k.gate.Title()+" item", itemID)
	}
	v, err := k.getVersion(tx, org, it.VersionID)
	if err != nil {
		return nil, err
	}
	if head := k.version(&v); head.Status != api.VersionDraft {
		return nil, api.Conflict(
			"version %d of the %s is %s; items can't be removed",
			head.VersionNumber,
			k.gate.Title(),
			prose.Humanize(head.Status),
		)
	}
	fields, err := merge.FieldsFromRecord(&i)
	if err != nil {
		return nil, err
	}
	for name, was := range base {
		if !slices.Contains(protectedItemFields, name) && !merge.EqualJSON(fields[name], was) {
			return &merge.Conflict{RecordID: itemID, Label: it.ControlCode, Field: name, Base: was, Here: fields[name]}, nil
		}
	}
	if err := k.items.Delete(tx, org, itemID); err != nil {
		return nil, err
	}
	return nil, k.RehashDraft(tx, org, it.VersionID)
}

func (k deliverableType[V, I]) AddVersion(
	tx *store.Tx,
	by api.Caller,
	assessment string,
	fields map[string]json.RawMessage,
) (clash bool, err error) {
	org := by.OrganizationID
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return false, err
	}
	if err := requireOpen(&a); err != nil {
		return false, err
	}
	var v V
	if err := merge.FillRecord(fields, &v); err != nil {
		return false, err
	}
	head := k.version(&v)
	if head.AssessmentID != assessment || head.ID == "" {
		return false, api.Invalid("assessment_id", "the version belongs to another assessment")
	}
	head.OrganizationID, head.Status, head.CreatedBy, head.UpdatedAt = org, api.VersionDraft, by.Actor.Name, tx.Now()
	head.SubmittedAt, head.ApprovedAt, head.ApprovedBy, head.ApprovalID = nil, nil, nil, nil
	addAuthor(head, by)
	old, ok, err := k.newestVersion(tx, org, a.ID)
	if err != nil {
		return false, err
	}
	if there, err := k.versions.Has(tx, org, head.ID); err != nil || there {
		return false, cmp.Or(err, errorIfExists(there, head.ID))
	}
	wanted := head.VersionNumber
	head.VersionNumber = 1
	if ok {
		head.VersionNumber = k.version(&old).VersionNumber + 1
		if err := k.supersedeUnlessDecided(tx, by, &a, &old); err != nil {
			return false, err
		}
	}
	return wanted != head.VersionNumber, errors.Join(
		k.versions.Insert(tx, org, &v),
		recordArtifact(tx, by, string(k.gate), k.gate.Title(), head),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: string(k.gate) + ".drafted", AssessmentID: a.ID,
			Summary:      fmt.Sprintf("synced %s version %d, drafted offline", k.gate.Title(), head.VersionNumber),
			ResourceType: string(k.gate), ResourceID: head.ID, Data: map[string]any{"version_number": head.VersionNumber, "offline": true},
		}),
	)
}

func (k deliverableType[V, I]) RehashDraft(tx *store.Tx, org, versionID string) error {
	v, err := k.getVersion(tx, org, versionID)
	if err != nil || k.version(&v).Status != api.VersionDraft {
		return err
	}
	return errors.Join(k.recomputeItemCountAndHash(tx, org, &v), k.versions.Put(tx, org, &v))
}

func (k deliverableType[V, I]) RecordArtifact(tx *store.Tx, by api.Caller, versionID string) error {
	v, err := k.getVersion(tx, by.OrganizationID, versionID)
	if err != nil {
		return err
	}
	return recordArtifact(tx, by, string(k.gate), k.gate.Title(), k.version(&v))
}

func (k deliverableType[V, I]) Submit(
	tx *store.Tx,
	by api.Caller,
	assessment, versionID, approvalID, submittedSHA256 string,
	inAdvance bool,
) error {
	org := by.OrganizationID
	v, err := k.getVersion(tx, org, versionID)
	if err != nil {
		return err
	}
	head := k.version(&v)
	if head.AssessmentID != assessment {
		return api.NotFound(k.gate.Title()+" version", versionID)
	}
	if head.Status != api.VersionDraft {
		return api.Conflict(
			"version %d of the %s is %s and can't be submitted",
			head.VersionNumber,
			k.gate.Title(),
			prose.Humanize(head.Status),
		)
	}
	same, err := k.hasContent(tx, org, head.ID, submittedSHA256)
	if err != nil {
		return err
	}
	if !same {
		return api.Conflict(
			"other users have also changed the %s since it was submitted; review it and submit it again",
			k.gate.Title(),
		)
	}
	if there, err := store.Approvals.Has(tx, org, approvalID); err != nil || there || approvalID == "" {
		return cmp.Or(err, errorIfExists(true, approvalID))
	}
	return k.submitAndMoveAssessment(tx, by, &v, submission{approvalID: approvalID, inAdvance: inAdvance})
}

func errorIfExists(exists bool, id string) error {
	if !exists {
		return nil
	}
	return api.Conflict("a record %q already exists", id)
}

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
	"github.com/scf-service/service/store"
)

// Changes made to a copy of an assessment elsewhere are applied here under the same rules as local
// changes. Violations are returned as API errors, and nothing is written then.

// protectedItemFields lists item fields that a merge never changes, because they identify the item
// or are set by the rules.
var protectedItemFields = []string{
	"id", "organization_id", "created_at", "updated_at", "assessment_id", "version_id", "revision",
	"control_id", "control_code", "control_title", "domain_code", "edited_by",
}

// derivedFields lists fields set by the rules along with others; they differ only if those do.
var derivedFields = []string{"reason", "needs_review", "edited_fields"}

// derivedLevelFields lists fields derived from the level of a maturity score. In findings, users
// write the criteria.
var derivedLevelFields = []string{"criteria", "next_criteria"}

func isDerivedField(gate api.Gate, field string) bool {
	return slices.Contains(derivedFields, field) || gate == api.GateMaturity && slices.Contains(derivedLevelFields, field)
}

// syncApplier applies synced changes to one of the four deliverables.
type syncApplier interface {
	applyChanges(tx *store.Tx, by api.Caller, assessment, id string, changes map[string]merge.Change) ([]merge.Conflict, error)
	addItem(tx *store.Tx, by api.Caller, assessment string, fields map[string]json.RawMessage) error
	addVersion(tx *store.Tx, by api.Caller, assessment string, fields map[string]json.RawMessage) (clash bool, err error)
	removeItem(tx *store.Tx, by api.Caller, assessment, id string, base map[string]json.RawMessage) (*merge.Conflict, error)
	rehashVersion(tx *store.Tx, org, version string) error
	submitVersion(tx *store.Tx, by api.Caller, assessment, version, approval, sha string) error
	recordVersion(tx *store.Tx, by api.Caller, assessment, version string) error
}

type deliverableSync[V, I any] struct {
	deliverableType[V, I]
	validate func(*store.Tx, string, *V) error
}

var syncAppliers = map[api.Gate]syncApplier{
	api.GateSoA:         deliverableSync[api.SoAVersion, api.SoAItem]{soa, checkSoASubmittable},
	api.GateGapAnalysis: deliverableSync[api.GapVersion, api.Finding]{gap, nil},
	api.GateMaturity:    deliverableSync[api.MaturityVersion, api.MaturityScore]{maturity, nil},
	api.GatePOAM:        deliverableSync[api.POAMVersion, api.POAMItem]{poam, nil},
}

func syncApplierFor(gate api.Gate) (syncApplier, error) {
	if r, ok := syncAppliers[gate]; ok {
		return r, nil
	}
	return nil, api.Invalid("gate", "there is no gate %q", gate)
}

// ApplyItemChanges applies a synced change to an item. A version under review is reopened and a
// decided one gets a next version; if there is a newer version, the change applies to its line of
// the same control, as a user's edit would.
func ApplyItemChanges(
	tx *store.Tx,
	by api.Caller,
	assessment string,
	gate api.Gate,
	id string,
	changes map[string]merge.Change,
) ([]merge.Conflict, error) {
	r, err := syncApplierFor(gate)
	if err != nil {
		return nil, err
	}
	return r.applyChanges(tx, by, assessment, id, changes)
}

// AddSyncedItem adds an item to a draft version.
func AddSyncedItem(tx *store.Tx, by api.Caller, assessment string, gate api.Gate, fields map[string]json.RawMessage) error {
	r, err := syncApplierFor(gate)
	if err != nil {
		return err
	}
	return r.addItem(tx, by, assessment, fields)
}

// DeleteSyncedItem removes an item from a draft version, unless it was changed here.
func DeleteSyncedItem(
	tx *store.Tx,
	by api.Caller,
	assessment string,
	gate api.Gate,
	id string,
	base map[string]json.RawMessage,
) (*merge.Conflict, error) {
	r, err := syncApplierFor(gate)
	if err != nil {
		return nil, err
	}
	return r.removeItem(tx, by, assessment, id, base)
}

// AddSyncedVersion adds a version drafted elsewhere as a draft with the next number; it is
// submitted and decided on here. clash reports that its number was already in use.
func AddSyncedVersion(
	tx *store.Tx,
	by api.Caller,
	assessment string,
	gate api.Gate,
	fields map[string]json.RawMessage,
) (clash bool, err error) {
	r, err := syncApplierFor(gate)
	if err != nil {
		return false, err
	}
	return r.addVersion(tx, by, assessment, fields)
}

// RehashVersion recomputes a version's count and hash once all its items are written.
func RehashVersion(tx *store.Tx, org string, gate api.Gate, version string) error {
	r, err := syncApplierFor(gate)
	if err != nil {
		return err
	}
	return r.rehashVersion(tx, org, version)
}

// RecordVersionArtifact updates the artifact of a version.
func RecordVersionArtifact(tx *store.Tx, by api.Caller, assessment string, gate api.Gate, version string) error {
	r, err := syncApplierFor(gate)
	if err != nil {
		return err
	}
	return r.recordVersion(tx, by, assessment, version)
}

// SubmitSyncedVersion submits a version using the ID of its approval elsewhere, provided that the
// content equals what was submitted there.
func SubmitSyncedVersion(tx *store.Tx, by api.Caller, assessment string, gate api.Gate, version, approval, sha string) error {
	r, err := syncApplierFor(gate)
	if err != nil {
		return err
	}
	return r.submitVersion(tx, by, assessment, version, approval, sha)
}

// ApplySyncedDecision decides on an approval as the caller, with their current rights here,
// provided that the content equals what they decided on elsewhere.
func ApplySyncedDecision(tx *store.Tx, by api.Caller, assessment, id, sha string, verdict api.ApprovalStatus, reason *string) error {
	p, err := getApproval(tx, by, id)
	if err != nil {
		return err
	}
	if p.AssessmentID != assessment {
		return api.NotFound("approval", id)
	}
	if verdict != api.ApprovalApproved && verdict != api.ApprovalRejected {
		return api.Invalid("status", "a decision must be %s or %s", api.ApprovalApproved, api.ApprovalRejected)
	}
	if err := by.Require(api.ApprovalDecide); err != nil && !by.Delegate {
		return err
	}
	if p.TargetSHA256 != sha {
		return api.ApprovalRequired(p.Gate, p.ID, "the %s differs from the content that was decided on", p.Gate.Title())
	}
	if err := recordDecision(tx, by, &p, verdict, reason); errors.Is(err, errContentChanged) {
		return api.ApprovalRequired(p.Gate, p.ID, "the %s changed after its approval was requested", p.Gate.Title())
	} else if err != nil {
		return err
	}
	return nil
}

// RecordSyncedCreation records that an assessment created elsewhere was added here.
func RecordSyncedCreation(tx *store.Tx, by api.Caller, a *api.Assessment) error {
	return recordLifecycleEvent(tx, by, a, "", a.State, "created", "begun offline", nil)
}

// ApplySyncedTransition moves an assessment to a state, if that is legal here and the required
// gates are approved.
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
	step, _ := a.State.Next()
	for _, gate := range requiredGates(step) {
		if err := requireGateApproval(tx, by, &a, gate); err != nil {
			return err
		}
	}
	return changeState(tx, by, &a, to, eventTransition, reason, nil)
}

// SaveVoidedApproval stores an approval requested elsewhere that is not valid here, with the
// reason.
func SaveVoidedApproval(tx *store.Tx, by api.Caller, p *api.Approval, reason string) error {
	p.OrganizationID, p.Status, p.Void, p.Reason, p.UpdatedAt = by.OrganizationID, api.ApprovalRejected, true, &reason, tx.Now()
	p.RequestedBy, p.RequestedByUserID = by.Actor, by.UserID
	p.DecidedBy, p.DecidedAt, p.Delegation, p.Delegates = nil, nil, nil, nil
	return errors.Join(store.Approvals.Put(tx, by.OrganizationID, p),
		audit.PublishEvent(tx, by, audit.Event{
			Type:         "approval.voided",
			AssessmentID: p.AssessmentID,
			Summary:      "the approval of the " + p.Gate.Title() + " that was made offline is void: " + reason,
			ResourceType: "approval",
			ResourceID:   p.ID,
			Data:         map[string]any{"gate": p.Gate, "reason": reason},
		}))
}

// findChangeTarget returns the item that a change applies to, in a version that can be changed.
func (r deliverableSync[V, I]) findChangeTarget(tx *store.Tx, by api.Caller, a *api.Assessment, item I) (v V, target I, err error) {
	org := by.OrganizationID
	if v, err = r.getVersion(tx, org, r.deliverableType.item(&item).VersionID); err != nil {
		return v, item, err
	}
	newest, _, err := r.newestVersion(tx, org, a.ID)
	if err != nil || r.version(&newest).ID == r.version(&v).ID {
		return v, item, err
	}
	items, err := r.readItems(tx, org, r.version(&newest).ID)
	if err != nil {
		return v, item, err
	}
	before, err := r.readItems(tx, org, r.version(&v).ID)
	if err != nil {
		return v, item, err
	}
	at := slices.IndexFunc(
		r.matchItems(items, before),
		func(i *I) bool { return i != nil && r.deliverableType.item(i).ID == r.deliverableType.item(&item).ID },
	)
	if at < 0 {
		return v, item, api.Conflict(
			"version %d of the %s is no longer the newest, and the newest has no line %s",
			r.version(&v).VersionNumber,
			r.gate.Title(),
			r.deliverableType.item(&item).ControlCode,
		)
	}
	return newest, items[at], nil
}

func (r deliverableSync[V, I]) applyChanges(
	tx *store.Tx,
	by api.Caller,
	assessment, id string,
	changes map[string]merge.Change,
) ([]merge.Conflict, error) {
	org := by.OrganizationID
	item, err := r.items.Get(tx, org, id)
	if err == nil && r.deliverableType.item(&item).AssessmentID != assessment {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, store.ToNotFound(err, r.gate.Title()+" item", id)
	}
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return nil, err
	}
	if err := requireOpen(&a); err != nil {
		return nil, err
	}
	v, target, err := r.findChangeTarget(tx, by, &a, item)
	if err != nil {
		return nil, err
	}
	fields, err := merge.FieldsFromRecord(&target)
	if err != nil {
		return nil, err
	}
	merged, conflicts := merge.Fields(fields, changes, protectedItemFields)
	conflicts = slices.DeleteFunc(conflicts, func(c merge.Conflict) bool { return isDerivedField(r.gate, c.Field) })
	for n := range conflicts {
		conflicts[n].RecordID, conflicts[n].Label = r.deliverableType.item(&target).ID, r.deliverableType.item(&target).ControlCode
	}
	if len(merged) == 0 {
		return conflicts, nil
	}
	var tried I
	if err := merge.FillRecord(fields, &tried); err != nil {
		return nil, err
	}
	if err := r.validateItem(&tried); err != nil {
		return nil, err
	}
	switch head := r.version(&v); head.Status {
	case api.VersionUnderReview:
		err = r.reopenVersion(tx, by, &a, &v, "changed while under review, by "+by.Actor.Name)
	case api.VersionApproved, api.VersionRejected:
		var copied I
		if v, copied, err = r.copyToNextVersion(tx, by, &a, v, target); err == nil {
			to := r.deliverableType.item(&tried)
			as := *r.deliverableType.item(&copied)
			to.TenantRecord, to.VersionID, to.Revision = as.TenantRecord, as.VersionID, as.Revision
		}
	case api.VersionSuperseded:
		err = api.Conflict("version %d of the %s was superseded", head.VersionNumber, r.gate.Title())
	}
	if err != nil {
		return nil, err
	}
	it := r.deliverableType.item(&tried)
	it.Revision++
	it.UpdatedAt, it.EditedBy = tx.Now(), &by.Actor.Name
	addAuthor(r.version(&v), by)
	r.version(&v).UpdatedAt = tx.Now()
	return conflicts, errors.Join(r.items.Put(tx, org, &tried), r.deliverableType.recomputeHash(tx, org, &v), r.versions.Put(tx, org, &v),
		recordArtifact(tx, by, a.ID, string(r.gate), r.gate.Title(), *r.version(&v)),
		r.auditItemChange(tx, by, it, merged, true))
}

func (r deliverableSync[V, I]) addItem(tx *store.Tx, by api.Caller, assessment string, fields map[string]json.RawMessage) error {
	var i I
	if err := merge.FillRecord(fields, &i); err != nil {
		return err
	}
	it := r.deliverableType.item(&i)
	it.OrganizationID = by.OrganizationID
	if it.AssessmentID != assessment || it.ID == "" {
		return api.Invalid("assessment_id", "the item belongs to another assessment")
	}
	if err := r.validateItem(&i); err != nil {
		return err
	}
	v, err := r.getVersion(tx, by.OrganizationID, it.VersionID)
	if err != nil {
		return err
	}
	head := r.version(&v)
	if head.AssessmentID != assessment {
		return api.NotFound(r.gate.Title()+" version", it.VersionID)
	}
	if head.Status != api.VersionDraft {
		return api.Conflict(
			"version %d of the %s is %s; lines can't be added",
			head.VersionNumber,
			r.gate.Title(),
			displayStatus(head.Status),
		)
	}
	if there, err := r.items.Has(tx, by.OrganizationID, it.ID); err != nil || there {
		return cmp.Or(err, alreadyExistsError(there, it.ID))
	}
	return r.items.Insert(tx, by.OrganizationID, &i)
}

func (r deliverableSync[V, I]) removeItem(
	tx *store.Tx,
	by api.Caller,
	assessment, id string,
	base map[string]json.RawMessage,
) (*merge.Conflict, error) {
	org := by.OrganizationID
	i, err := r.items.Get(tx, org, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it := r.deliverableType.item(&i)
	if it.AssessmentID != assessment {
		return nil, api.NotFound(r.gate.Title()+" item", id)
	}
	v, err := r.getVersion(tx, org, it.VersionID)
	if err != nil {
		return nil, err
	}
	if head := r.version(&v); head.Status != api.VersionDraft {
		return nil, api.Conflict(
			"version %d of the %s is %s; lines can't be removed",
			head.VersionNumber,
			r.gate.Title(),
			displayStatus(head.Status),
		)
	}
	fields, err := merge.FieldsFromRecord(&i)
	if err != nil {
		return nil, err
	}
	for name, was := range base {
		if !slices.Contains(protectedItemFields, name) && !merge.EqualJSON(fields[name], was) {
			return &merge.Conflict{RecordID: id, Label: it.ControlCode, Field: name, Base: was, Here: fields[name]}, nil
		}
	}
	if err := r.items.Delete(tx, org, id); err != nil {
		return nil, err
	}
	return nil, r.rehashVersion(tx, org, it.VersionID)
}

func (r deliverableSync[V, I]) addVersion(
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
	head := r.version(&v)
	if head.AssessmentID != assessment || head.ID == "" {
		return false, api.Invalid("assessment_id", "the version belongs to another assessment")
	}
	head.OrganizationID, head.Status, head.CreatedBy, head.UpdatedAt = org, api.VersionDraft, by.Actor.Name, tx.Now()
	head.SubmittedAt, head.ApprovedAt, head.ApprovedBy, head.ApprovalID = nil, nil, nil, nil
	addAuthor(head, by)
	old, ok, err := r.newestVersion(tx, org, a.ID)
	if err != nil {
		return false, err
	}
	if there, err := r.versions.Has(tx, org, head.ID); err != nil || there {
		return false, cmp.Or(err, alreadyExistsError(there, head.ID))
	}
	wanted := head.VersionNumber
	head.VersionNumber = 1
	if ok {
		head.VersionNumber = r.version(&old).VersionNumber + 1
		if err := r.supersedeVersion(tx, by, &a, &old); err != nil {
			return false, err
		}
	}
	return wanted != head.VersionNumber, errors.Join(
		r.versions.Insert(tx, org, &v),
		recordArtifact(tx, by, a.ID, string(r.gate), r.gate.Title(), *head),
		audit.PublishEvent(tx, by, audit.Event{
			Type: string(
				r.gate,
			) + ".drafted", AssessmentID: a.ID, Summary: fmt.Sprintf("synced %s version %d, drafted offline", r.gate.Title(), head.VersionNumber),
			ResourceType: string(r.gate), ResourceID: head.ID, Data: map[string]any{"version_number": head.VersionNumber, "offline": true},
		}),
	)
}

func (r deliverableSync[V, I]) rehashVersion(tx *store.Tx, org, version string) error {
	v, err := r.getVersion(tx, org, version)
	if err != nil || r.version(&v).Status != api.VersionDraft {
		return err
	}
	return errors.Join(r.deliverableType.recomputeHash(tx, org, &v), r.versions.Put(tx, org, &v))
}

func (r deliverableSync[V, I]) recordVersion(tx *store.Tx, by api.Caller, assessment, version string) error {
	v, err := r.getVersion(tx, by.OrganizationID, version)
	if err != nil {
		return err
	}
	return recordArtifact(tx, by, assessment, string(r.gate), r.gate.Title(), *r.version(&v))
}

func (r deliverableSync[V, I]) submitVersion(tx *store.Tx, by api.Caller, assessment, version, approval, sha string) error {
	org := by.OrganizationID
	v, err := r.getVersion(tx, org, version)
	if err != nil {
		return err
	}
	a, err := getAssessment(tx, by, assessment)
	if err != nil {
		return err
	}
	head := r.version(&v)
	if head.AssessmentID != assessment {
		return api.NotFound(r.gate.Title()+" version", version)
	}
	if head.Status != api.VersionDraft {
		return api.Conflict(
			"version %d of the %s is %s and can't be submitted",
			head.VersionNumber,
			r.gate.Title(),
			displayStatus(head.Status),
		)
	}
	if err := r.deliverableType.recomputeHash(tx, org, &v); err != nil {
		return err
	}
	if head.ContentSHA256 != sha {
		return api.Conflict(
			"the %s has also been changed by others since it was submitted; review it and submit it again",
			r.gate.Title(),
		)
	}
	if there, err := store.Approvals.Has(tx, org, approval); err != nil || there || approval == "" {
		return cmp.Or(err, alreadyExistsError(true, approval))
	}
	if err := submitWithApprovalID(tx, by, &a, r.deliverableType, &v, r.validate, approval); err != nil {
		return err
	}
	if a.State != r.draftedState {
		return nil
	}
	step, _ := a.State.Next()
	return changeState(tx, by, &a, step.To, eventSubmitted, fmt.Sprintf("version %d was submitted for review", head.VersionNumber), nil)
}

func alreadyExistsError(exists bool, id string) error {
	if !exists {
		return nil
	}
	return api.Conflict("a record %q already exists", id)
}

// SoAContentHash returns the current content hash of a Statement of Applicability version, or "" if
// it can't be computed.
func SoAContentHash(tx *store.Tx, org, version string) string {
	items, err := soa.readItems(tx, org, version)
	if err != nil {
		return ""
	}
	hash, err := soa.contentHash(items)
	if err != nil {
		return ""
	}
	return hash
}

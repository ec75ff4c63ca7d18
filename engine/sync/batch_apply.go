package sync

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// maxClientName is the maximum length of a client's name in bytes: four for each of the 200 characters that the API
// allows.
const maxClientName = 4 * 200

func isValidClientName(name string) bool {
	return len(name) <= maxClientName && api.CheckName("client_name", name) == nil
}

// applyLine applies one change of a batch to the remote. If it returns an api.Error, only this
// change is rejected: nothing is written, and the caller stores the change as a conflict.
func (r *batchApplier) applyLine(tx *store.Tx, l *changeLine, changedVersions map[string]api.Gate) error {
	t := tableByName(l.Table)
	switch l.Op {
	case opTouch:
		return nil
	case opSubmit, opDecide, opTransition:
		return r.applyAction(tx, l)
	case opInsert, opEdit, opDelete:
		if t == nil {
			break
		}
		return r.applyRecord(tx, t, l, changedVersions)
	}
	return api.Invalid("file", "unknown operation %.20q on %.40q", l.Op, l.Table)
}

// writePermission returns the permission that a user needs to change the table's records locally.
func (t *table) writePermission() api.Permission {
	switch {
	case t.name == store.Documents.Name():
		return "document:write"
	case t.name == store.Scopes.Name():
		return "scope:write"
	case t.name == store.Corrections.Name():
		return "soa:write"
	case t.gate == api.GateGapAnalysis:
		return "gap:write"
	case t.gate != "":
		return api.Permission(string(t.gate) + ":write")
	}
	return "assessment:write"
}

func (r *batchApplier) applyRecord(tx *store.Tx, t *table, l *changeLine, changedVersions map[string]api.Gate) error {
	if err := r.by.Require(t.writePermission()); err != nil {
		return err
	}
	if l.Op == opInsert {
		key, err := t.key(r.target.org, maps.Clone(l.Record))
		if err != nil {
			return err
		}
		if string(key) != string(l.Key) || !t.belongsToAssessment(l.Record, r.batch.AssessmentID) {
			return api.Invalid("file", "a record of %s belongs to another assessment or does not match its key", t.name)
		}
	}
	if t.name != store.Assessments.Name() {
		if err := r.requireOpenAssessment(tx); err != nil {
			return err
		}
	}
	l, err := r.removeUnsupportedQuotes(tx, t, l)
	if err != nil {
		return err
	}
	switch {
	case t.name == store.Assessments.Name():
		err = r.applyAssessment(tx, t, l)
	case t.name == store.Documents.Name():
		err = r.applyDocument(tx, t, l)
	case t.name == store.Scopes.Name():
		err = r.applyScope(tx, t, l)
	case t.name == store.Comments.Name():
		err = r.applyComment(tx, t, l)
	case t.name == store.Corrections.Name():
		err = r.applyCorrection(tx, t, l)
	case t.name == store.CarriedItems.Name():
		err = r.applyCarriedItem(tx, l)
	case t.kind == versionTable && l.Op == opInsert:
		err = r.applyVersion(tx, t, l, changedVersions)
	case t.kind == itemTable:
		err = r.applyItem(tx, t, l, changedVersions)
	default:
		return api.Invalid("file", "records of %s cannot be pushed", t.name)
	}
	if err == nil {
		r.out.Applied++
	}
	return err
}

// requireOpenAssessment returns an error if the assessment is closed.
func (r *batchApplier) requireOpenAssessment(tx *store.Tx) error {
	a, err := store.Assessments.Get(tx, r.target.org, r.batch.AssessmentID)
	if err != nil {
		return store.ToNotFound(err, "assessment", r.batch.AssessmentID)
	}
	if a.State == api.StateClosed {
		return api.Conflict("the assessment is closed")
	}
	return nil
}

// applyAssessment creates the assessment, or merges changes to its editable fields. Changes to other fields are
// ignored. A deletion is rejected.
func (r *batchApplier) applyAssessment(tx *store.Tx, t *table, l *changeLine) error {
	org, id := r.target.org, r.batch.AssessmentID
	a, err := store.Assessments.Get(tx, org, id)
	switch {
	case l.Op == opInsert && errors.Is(err, store.ErrNotFound):
		return r.createAssessment(tx, t, l)
	case err != nil:
		return store.ToNotFound(err, "assessment", id)
	case l.Op != opEdit:
		return api.Conflict("an assessment can be deleted only on its remote")
	case a.State == api.StateClosed:
		return api.Conflict("the assessment is closed")
	}
	changes := maps.Clone(l.Fields)
	maps.DeleteFunc(changes, func(name string, _ merge.Change) bool {
		return !slices.Contains(assessmentEditableFields, name)
	})
	f, err := merge.FieldsFromRecord(&a)
	if err != nil {
		return err
	}
	merged, conflicts := merge.ApplyChanges(f, changes, nil)
	if len(merged) > 0 {
		var next api.Assessment
		if err := merge.FillRecord(f, &next); err != nil {
			return err
		}
		if next.Name == "" || len(next.Name) > 200 || len(next.Description) > 10_000 {
			return api.Invalid("name", "an assessment needs a name of at most 200 bytes and can have a description of at most 10,000 bytes")
		}
		if err := api.CheckName("name", next.Name); err != nil {
			return err
		}
		if !isValidClientName(next.ClientName) {
			return api.Invalid("client_name", "a client's name must be a single line of up to %d bytes", maxClientName)
		}
		if next.DueDate != nil {
			if _, err := next.DueDate.Time(); err != nil {
				return api.Invalid("due_date", "%v", err)
			}
		}
		next.Revision++
		next.UpdatedAt = tx.Now()
		if slices.Contains(merged, "client_name") {
			if err := assessment.MarkCopiedCorrections(tx, org, id); err != nil {
				return err
			}
		}
		if err := errors.Join(store.Assessments.Put(tx, org, &next),
			audit.Append(tx, r.by, audit.Entry{
				Action: "assessment.updated", ResourceType: "assessment", ResourceID: id,
				Changes: map[string]any{"fields": merged, "offline": true},
			})); err != nil {
			return err
		}
	}
	return r.recordFieldConflicts(tx, t, l, conflicts, id, a.Name)
}

// createAssessment creates an assessment that was started in the clone. It is created in the initial state, because the
// transitions are replayed afterwards.
func (r *batchApplier) createAssessment(tx *store.Tx, t *table, l *changeLine) error {
	f := maps.Clone(l.Record)
	if err := t.fillLocalFields(r.target, f, nil); err != nil {
		return err
	}
	f["organization_id"], _ = json.Marshal(r.target.org)
	var a api.Assessment
	if err := merge.FillRecord(f, &a); err != nil {
		return err
	}
	if a.Name == "" || len(a.Name) > 200 || api.CheckName("name", a.Name) != nil || len(a.Description) > 10_000 ||
		!isValidClientName(a.ClientName) || slices.Contains(a.FrameworkIDs, "") {
		return api.Invalid(
			"file",
			"the assessment's name, client name or description is not valid, or it uses a framework that is missing from the catalog here",
		)
	}
	a.State, a.CreatedBy, a.UpdatedAt, a.ClosedAt, a.MigratedAt, a.Revision = api.StateDraft, r.by.Actor.Name, tx.Now(), nil, nil, 1
	return errors.Join(store.Assessments.Insert(tx, r.target.org, &a), assessment.RecordSyncedCreation(tx, r.by, &a),
		audit.RecordAndPublishEvent(tx, r.by, audit.Event{
			Type: "assessment.created", AssessmentID: a.ID, Summary: "added " + a.Name + ", created offline",
			ResourceType: "assessment", ResourceID: a.ID,
			Data: map[string]any{"name": a.Name, "frameworks": a.Frameworks, "offline": true},
		}))
}

func (r *batchApplier) applyDocument(tx *store.Tx, t *table, l *changeLine) error {
	org, id := r.target.org, r.batch.AssessmentID
	old, err := store.Documents.Get(tx, org, store.KeyFromBytes(l.Key))
	exists := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if exists && old.AssessmentID != id {
		return api.NotFound("document", old.ID)
	}
	switch {
	case l.Op == opInsert && exists:
		return api.Conflict("a document with ID %q already exists", old.ID)
	case l.Op == opInsert:
		return r.saveDocument(tx, l, "added")
	case l.Op == opDelete && !exists:
		return nil
	case !exists:
		return r.storeAndPublishConflict(tx, r.newEditDeletionConflict(t, l, l.Record), false)
	case l.Op == opDelete:
		return r.deleteDocument(tx, t, l, &old)
	}
	f, err := merge.FieldsFromRecord(&old)
	if err != nil {
		return err
	}
	changes := maps.Clone(l.Fields)
	if c, ok := changes["sha256"]; ok && l.Record["sha256"] != nil && stringFromJSON(c.To) != old.SHA256 {
		if stringFromJSON(c.From) != old.SHA256 {
			uploaded, err := hasFile(tx, org, id, stringFromJSON(c.To))
			if err != nil {
				return err
			}
			conflict := &api.SyncConflict{
				Kind: api.ConflictField, Table: t.name, RecordID: old.ID, Label: old.Filename, Field: "sha256",
				Message: old.Filename + " was replaced by two people with different files",
				Base:    newConflictSide(c.From),
				Remote:  r.remoteSide(tx, t, l.Key, "sha256", f["sha256"], old.UpdatedAt),
				Clone:   r.cloneSide(l, c.To),
			}
			if uploaded {
				conflict.FileSHA256 = stringFromJSON(c.To)
			}
			if err := r.storeAndPublishConflict(tx, conflict, false); err != nil {
				return err
			}
		} else if err := r.saveDocument(tx, l, "replaced"); err != nil {
			return err
		} else if old, err = store.Documents.Get(tx, org, old.ID); err != nil {
			return err
		} else if f, err = merge.FieldsFromRecord(&old); err != nil {
			return err
		}
	}
	merged, conflicts := merge.ApplyChanges(f, changes, t.readOnlyFields)
	if len(merged) > 0 {
		var next store.Document
		if err := merge.FillRecord(f, &next); err != nil {
			return err
		}
		next.UpdatedAt = tx.Now()
		if err := store.Documents.Put(tx, org, &next); err != nil {
			return err
		}
	}
	return r.recordFieldConflicts(tx, t, l, conflicts, old.ID, old.Filename)
}

// saveDocument stores a document that the clone parsed and whose file has been uploaded.
func (r *batchApplier) saveDocument(tx *store.Tx, l *changeLine, verb string) error {
	org, id := r.target.org, r.batch.AssessmentID
	arrival := r.docs[stringFromJSON(l.Record["id"])]
	if arrival == nil {
		return api.Invalid("file", "the file %.80s has not been uploaded; upload it first", stringFromJSON(l.Record["filename"]))
	}
	doc := &arrival.Document
	other, err := store.Documents.By("content").Get(tx, org, id, doc.SHA256)
	if err == nil && other.ID != doc.ID {
		r.addNote("%s is already stored as %s; identical files are stored once", doc.Filename, other.Filename)
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if errors.Is(err, store.ErrNotFound) { // the file must have been uploaded for this record
		uploaded, err := store.SyncFiles.Has(tx, org, id, doc.SHA256)
		if err != nil {
			return err
		}
		switch {
		case uploaded:
			if err := store.SyncFiles.Delete(tx, org, id, doc.SHA256); err != nil {
				return err
			}
		case !r.dryRun:
			return api.Invalid("file", "the file %s has not been uploaded; upload it first", doc.Filename)
		}
	}
	doc.UploadedBy, doc.UpdatedAt = r.by.Actor.Name, tx.Now()
	event := audit.Event{
		Type: "document.ingested", AssessmentID: id, Summary: fmt.Sprintf("%s %s, from offline", verb, doc.Filename),
		ResourceType: "document", ResourceID: doc.ID,
		Data: map[string]any{"filename": doc.Filename, "sha256": doc.SHA256, "offline": true},
	}
	switch n := r.foreignPassages[doc.ID]; {
	case doc.Status == api.DocumentFailed && n > 0:
		event.Type, event.Data["error"] = "document.failed", *doc.Error
		event.Summary = fmt.Sprintf(
			"%s can't be parsed on this machine (%s), so the %d passages synced for it, and any quotes from them, were left out; to retry, run `service doc reprocess`",
			doc.Filename,
			*doc.Error,
			n,
		)
		r.addNote("%s", event.Summary)
	case doc.Status == api.DocumentFailed:
		event.Type, event.Data["error"], event.Summary = "document.failed", *doc.Error, doc.Filename+" could not be parsed: "+*doc.Error
	case n > 0:
		event.Data["strange"] = n
		event.Summary += fmt.Sprintf("; received passages that are not in the file were omitted (%d)", n)
		r.addNote("%s: received passages that do not occur in this copy of the file were omitted (%d)", doc.Filename, n)
	}
	if err := r.service.Evidence.SaveImport(tx, r.by, arrival, true); err != nil {
		return err
	}
	return audit.RecordAndPublishEvent(tx, r.by, event)
}

// deleteDocument deletes a document. If the document's file was replaced here, it stores a conflict instead.
func (r *batchApplier) deleteDocument(tx *store.Tx, t *table, l *changeLine, old *store.Document) error {
	if err := r.by.Require("document:delete"); err != nil {
		return err
	}
	f, err := merge.FieldsFromRecord(old)
	if err != nil {
		return err
	}
	if stringFromJSON(l.Record["sha256"]) != old.SHA256 {
		c := r.newEditDeletionConflict(t, l, nil)
		c.Label, c.Remote = old.Filename, r.remoteSide(tx, t, l.Key, "sha256", f["sha256"], old.UpdatedAt)
		c.Message = old.Filename + " was deleted offline but replaced here"
		return r.storeAndPublishConflict(tx, c, false)
	}
	return errors.Join(r.service.Evidence.DeleteDocument(tx, r.by, old, true),
		audit.RecordAndPublishEvent(tx, r.by, audit.Event{
			Type: "document.deleted", AssessmentID: r.batch.AssessmentID, Summary: "removed " + old.Filename,
			ResourceType: "document", ResourceID: old.ID,
			Data: map[string]any{"filename": old.Filename, "sha256": old.SHA256, "offline": true},
		}))
}

// applyScope merges a change to the scope of the assessment. If both sides created a scope, they are
// merged as if both had started from an empty one.
func (r *batchApplier) applyScope(tx *store.Tx, t *table, l *changeLine) error {
	changes := maps.Clone(l.Fields)
	if l.Op == opInsert {
		changes = map[string]merge.Change{}
		for name, v := range l.Record {
			changes[name] = merge.Change{To: v}
		}
	} else if l.Op != opEdit {
		return api.Conflict("a scope cannot be deleted")
	}
	conflicts, sc, err := assessment.ApplyScopeChanges(
		tx,
		r.by,
		r.batch.AssessmentID,
		stringFromJSON(l.Record["id"]),
		changes,
		t.readOnlyFields,
	)
	if err != nil {
		return err
	}
	return r.recordFieldConflicts(tx, t, l, conflicts, sc.ID, "scope")
}

// applyCarriedItem stores an item carried over from an earlier assessment. Changes and deletions are rejected.
func (r *batchApplier) applyCarriedItem(tx *store.Tx, l *changeLine) error {
	if l.Op != opInsert {
		return api.Conflict("carried items cannot be changed or deleted")
	}
	f := maps.Clone(l.Record)
	f["organization_id"], _ = json.Marshal(r.target.org)
	var c store.CarriedItem
	if err := merge.FillRecord(f, &c); err != nil {
		return err
	}
	if err := assessment.ValidateCarried(&c); err != nil {
		return err
	}
	return store.CarriedItems.Insert(tx, r.target.org, &c)
}

// applyCorrection adds or removes a correction. Any other change is rejected, because a correction must be removed
// before the user can decide on the passage again.
func (r *batchApplier) applyCorrection(tx *store.Tx, t *table, l *changeLine) error {
	switch l.Op {
	case opDelete:
		// It is no conflict if somebody has removed it already, or has decided about the passage again: the new decision stays.
		return assessment.RemoveSyncedCorrection(tx, r.by, r.batch.AssessmentID, recordIDFromKey(l.Key))
	case opEdit:
		return api.Conflict("corrections cannot be changed; remove the correction, then decide on the passage again")
	}
	f := maps.Clone(l.Record)
	f["organization_id"], _ = json.Marshal(r.target.org)
	var c api.Correction
	if err := merge.FillRecord(f, &c); err != nil {
		return err
	}
	other, err := assessment.AddSyncedCorrection(tx, r.by, &c)
	if err != nil || other == nil {
		return err
	}
	remote, _ := json.Marshal(other.Label)
	conflict := &api.SyncConflict{
		Kind: api.ConflictField, Table: t.name, RecordID: other.ID, Label: c.ControlCode, Field: "label",
		Message: fmt.Sprintf("the meaning of a passage in %s for a requirement of %s was decided both here and offline: “%s”",
			c.Passage.Filename, c.ControlCode, prose.Truncate(c.Quote, 100)),
		Base: newConflictSide(nil), Remote: newConflictSide(remote), Clone: r.cloneSide(l, l.Record["label"]),
	}
	conflict.Remote.By, conflict.Remote.At = other.DecidedBy.Name, &other.CreatedAt
	return r.storeAndPublishConflict(tx, conflict, false)
}

// applyComment adds a comment made offline, with the pushing user as its author.
func (r *batchApplier) applyComment(tx *store.Tx, t *table, l *changeLine) error {
	if l.Op != opInsert {
		return api.Conflict("comments cannot be changed or deleted")
	}
	f := maps.Clone(l.Record)
	f["organization_id"], _ = json.Marshal(r.target.org)
	var c api.Comment
	if err := merge.FillRecord(f, &c); err != nil {
		return err
	}
	if exists, err := store.Comments.Has(tx, r.target.org, c.ID); err != nil || exists {
		return cmp.Or(err, error(api.Conflict("a comment with ID %q already exists", c.ID)))
	}
	if strings.TrimSpace(c.Text) == "" || len(c.Text) > 4*4000 || !slices.Contains(api.Gates, c.Gate) {
		return api.Invalid("text", "a comment needs a valid gate and text of at most 4,000 characters")
	}
	c.Author = r.by.Actor
	return errors.Join(store.Comments.Insert(tx, r.target.org, &c), audit.RecordAndPublishEvent(tx, r.by, audit.Event{
		Type: "comment.added", AssessmentID: c.AssessmentID, Summary: "commented offline on the " + c.Gate.Title(),
		ResourceType: "comment", ResourceID: c.ID,
		Data: map[string]any{
			"comment_id": c.ID, "gate": c.Gate, "item": c.Item, "text_sha256": assessment.TextHash(c.Text), "offline": true,
		},
	}))
}

// applyVersion adds a version drafted offline. If a version of the same deliverable was also created here, it
// additionally stores a conflict.
func (r *batchApplier) applyVersion(tx *store.Tx, t *table, l *changeLine, changedVersions map[string]api.Gate) error {
	id := stringFromJSON(l.Record["id"])
	clash, err := assessment.Synced(t.gate).AddVersion(tx, r.by, r.batch.AssessmentID, maps.Clone(l.Record))
	if err != nil {
		r.refusedVersions[id] = true
		return err
	}
	changedVersions[id] = t.gate
	base := intFromJSON(l.Record["version_number"]) - 1
	r.drafts[id] = base
	if !clash {
		return nil
	}
	stored, _, err := t.read(tx, r.target.org, l.Key)
	if err != nil {
		return err
	}
	other := intFromJSON(stored["version_number"]) - 1
	return r.storeAndPublishConflict(tx, &api.SyncConflict{
		Kind: api.ConflictVersion, Table: t.name, RecordID: id, Label: t.gate.Title(), Field: "version_number",
		Base: newConflictSide(intToJSON(base)), Remote: newConflictSide(intToJSON(other)), Clone: r.cloneSide(l, l.Record["version_number"]),
		Message: fmt.Sprintf(
			"a version of the %s was created both here and offline; the offline version is now the latest and includes users' decisions from "+
				"here, and the other version is kept as the previous one",
			t.gate.Title(),
		),
	}, false)
}

func (r *batchApplier) applyItem(tx *store.Tx, t *table, l *changeLine, changedVersions map[string]api.Gate) error {
	switch l.Op {
	case opInsert:
		version := stringFromJSON(l.Record["version_id"])
		if r.refusedVersions[version] {
			r.out.Applied--
			return nil // already reported with its version
		}
		if _, known := r.drafts[version]; !known {
			base, err := r.findDraftBase(tx, t.gate, version)
			if err != nil {
				return err
			}
			r.drafts[version] = base
		}
		f := maps.Clone(l.Record)
		if err := t.fillLocalFields(r.target, f, nil); err != nil {
			return err
		}
		conflicts, err := assessment.Synced(t.gate).AddItem(tx, r.by, r.batch.AssessmentID, f, l.Fields)
		if err != nil {
			return err
		}
		changedVersions[version] = t.gate
		return r.recordFieldConflicts(tx, t, l, conflicts, recordIDFromKey(l.Key), "")
	case opDelete:
		c, err := assessment.Synced(t.gate).DeleteItem(tx, r.by, r.batch.AssessmentID, recordIDFromKey(l.Key), l.Record)
		if err != nil || c == nil {
			return err
		}
		conflict := r.newEditDeletionConflict(t, l, nil)
		conflict.RecordID, conflict.Label, conflict.Field, conflict.Base = c.RecordID, c.Label, c.Field, newConflictSide(c.Base)
		conflict.Remote = r.remoteSide(tx, t, l.Key, c.Field, c.Here, time.Time{})
		conflict.Message = c.Label + " was deleted offline but changed here"
		return r.storeAndPublishConflict(tx, conflict, false)
	}
	conflicts, err := assessment.Synced(t.gate).ApplyChanges(tx, r.by, r.batch.AssessmentID, recordIDFromKey(l.Key), l.Fields)
	if api.IsCode(err, api.CodeNotFound) {
		c := r.newEditDeletionConflict(t, l, nil)
		b, failed := json.Marshal(l.Fields)
		c.Clone = r.cloneSide(l, b)
		return errors.Join(failed, r.storeAndPublishConflict(tx, c, false))
	}
	if err != nil {
		return err
	}
	return r.recordFieldConflicts(tx, t, l, conflicts, recordIDFromKey(l.Key), "")
}

// recordIDFromKey returns the record ID if the key contains nothing else, or "" otherwise.
func recordIDFromKey(key []byte) string {
	parts, err := store.KeyFromBytes(key).Parts()
	if err != nil || len(parts) != 1 {
		return ""
	}
	id, _ := parts[0].(string)
	return id
}

// rehashVersionsAndRecordArtifacts recomputes the hashes of the versions in changedVersions, whose
// items have all been stored, records the versions as artifacts, and empties changedVersions.
func (r *batchApplier) rehashVersionsAndRecordArtifacts(tx *store.Tx, changedVersions map[string]api.Gate) error {
	for _, id := range slices.Sorted(maps.Keys(changedVersions)) {
		if err := assessment.Synced(changedVersions[id]).RehashDraft(tx, r.target.org, id); err != nil {
			return err
		}
		if err := assessment.Synced(changedVersions[id]).RecordArtifact(tx, r.by, id); err != nil {
			return err
		}
		delete(changedVersions, id)
	}
	return nil
}

// applyAction replays a submission, decision or transition as the pushing user.
func (r *batchApplier) applyAction(tx *store.Tx, l *changeLine) error {
	id := r.batch.AssessmentID
	var err error
	switch l.Op {
	case opSubmit:
		t := tableForGate(l.Gate, itemTable)
		if t == nil {
			return api.Invalid("file", "unknown gate %.40q", l.Gate)
		}
		if err = r.by.Require(t.writePermission()); err == nil {
			err = assessment.Synced(l.Gate).Submit(tx, r.by, id, l.Version, l.Approval, l.SHA256, l.InAdvance)
		}
	case opDecide:
		var reason *string
		if l.Reason != "" {
			reason = &l.Reason
		}
		err = assessment.ApplySyncedDecision(tx, r.by, id, l.Approval, l.SHA256, l.Verdict, reason, l.InAdvance)
	default:
		if err = r.by.Require("assessment:transition"); err == nil {
			err = assessment.ApplySyncedTransition(tx, r.by, id, l.To, cmp.Or(l.Reason, "made offline"))
		}
	}
	if err == nil {
		r.out.Applied++
	}
	return err
}

// storeRefusedChange stores a rejected change as a conflict, with the reason.
func (r *batchApplier) storeRefusedChange(tx *store.Tx, l *changeLine, reason *api.Error) error {
	c := &api.SyncConflict{
		Kind:     api.ConflictRefused,
		Table:    l.Table,
		RecordID: recordIDFromKey(l.Key),
		Message:  reason.Message,
		Base:     newConflictSide(nil),
		Remote:   newConflictSide(nil),
	}
	whole := false
	switch l.Op {
	case opSubmit, opDecide:
		c.Kind, c.Table, c.RecordID, c.Label = api.ConflictApproval, store.Approvals.Name(), l.Approval, string(l.Gate)
		c.Message = fmt.Sprintf(
			"the offline %s of the %s is void: %s",
			map[string]string{opSubmit: "submission", opDecide: "decision"}[l.Op],
			l.Gate.Title(),
			reason.Message,
		)
		c.Clone = r.cloneSide(l, stringToJSON(string(cmp.Or(l.Verdict, api.ApprovalPending))))
		r.addNote("%s", c.Message)
		if l.Op == opDecide && r.voidApprovals[l.Approval] {
			return nil // already voided together with its submission
		}
		if l.Op == opSubmit {
			r.voidApprovals[l.Approval] = true
			if err := r.saveVoidApproval(tx, l, reason.Message); err != nil {
				return err
			}
		}
	case opTransition:
		c.Kind, c.Table, c.RecordID, c.Field, c.Label = api.ConflictState, store.Assessments.Name(), r.batch.AssessmentID, "state", "state"
		c.Message = fmt.Sprintf("the offline transition to %s was rejected: %s", l.To, reason.Message)
		c.Clone = r.cloneSide(l, stringToJSON(string(l.To)))
		r.addNote("%s", c.Message)
	default:
		t := tableByName(l.Table)
		if t != nil {
			c.Label = t.displayName(l.Record)
			whole = t.kind == versionTable
		}
		var v any = l.Record
		if l.Op == opEdit {
			v = l.Fields
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(b) > maxInlineValue {
			whole, b = true, nil
		}
		c.Clone = r.cloneSide(l, b)
		r.addNote("%s %s: %s", prose.Humanize(l.Table), c.Label, reason.Message)
	}
	return r.storeAndPublishConflict(tx, c, whole)
}

// maxInlineValue is the maximum size of a value that is stored in a conflict. For a larger value, the whole batch is
// stored instead.
const maxInlineValue = 64 << 10

func stringToJSON(s string) json.RawMessage {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string can always be encoded
	return b
}

// saveVoidApproval stores an approval that was requested offline. The approval is marked as void, with the given
// reason.
func (r *batchApplier) saveVoidApproval(tx *store.Tx, l *changeLine, reason string) error {
	if exists, err := store.Approvals.Has(tx, r.target.org, l.Approval); err != nil || exists || !slices.Contains(api.Gates, l.Gate) {
		return err
	}
	return assessment.SaveVoidedApproval(tx, r.by, &api.Approval{
		TenantRecord: api.TenantRecord{
			Record: api.Record{ID: l.Approval, CreatedAt: tx.Now()},
		}, AssessmentID: r.batch.AssessmentID, Gate: l.Gate,
		TargetID: l.Version, TargetSHA256: l.SHA256, RequestedAt: l.At,
	}, reason)
}

func newConflictSide(v json.RawMessage) api.SyncSide {
	if len(v) == 0 {
		v = json.RawMessage("null")
	}
	return api.SyncSide{Value: v}
}

// cloneSide returns the clone's side of a conflict. The author is the user who pushed the change, and the time is the
// one recorded by the clone.
func (r *batchApplier) cloneSide(l *changeLine, v json.RawMessage) api.SyncSide {
	s := newConflictSide(v)
	s.By = r.by.Actor.Name
	if !l.At.IsZero() {
		at := l.At.UTC()
		s.At = &at
	}
	return s
}

// remoteSide returns the remote's side of a conflict: the current value, and who last set it and when.
func (r *batchApplier) remoteSide(tx *store.Tx, t *table, key []byte, field string, v json.RawMessage, defaultTime time.Time) api.SyncSide {
	s := newConflictSide(v)
	row, err := store.SyncLogEntries.Get(tx, r.target.org, r.batch.AssessmentID, t.name, key)
	if st, ok := row.Fields[field]; err == nil && ok {
		s.By, s.At = st.By, &st.At
	} else if !defaultTime.IsZero() {
		s.At = &defaultTime
	}
	return s
}

// recordFieldConflicts stores conflicts between fields and publishes them as events.
func (r *batchApplier) recordFieldConflicts(tx *store.Tx, t *table, l *changeLine, conflicts []merge.Conflict, id, label string) error {
	for _, c := range conflicts {
		c.RecordID, c.Label = cmp.Or(c.RecordID, id), cmp.Or(c.Label, label)
		key := l.Key
		if c.RecordID != recordIDFromKey(l.Key) {
			key = store.K(c.RecordID).Bytes()
		}
		if err := r.storeAndPublishConflict(tx, &api.SyncConflict{
			Kind: api.ConflictField, Table: t.name, RecordID: c.RecordID, Label: c.Label, Field: c.Field,
			Message: fmt.Sprintf("%s of %s was changed both here and offline", prose.Humanize(c.Field), c.Label),
			Base:    newConflictSide(c.Base), Remote: r.remoteSide(tx, t, key, c.Field, c.Here, time.Time{}), Clone: r.cloneSide(l, c.There),
		}, false); err != nil {
			return err
		}
	}
	return nil
}

// newEditDeletionConflict returns the conflict between an edit on one side and a deletion on the other.
func (r *batchApplier) newEditDeletionConflict(t *table, l *changeLine, record fields) *api.SyncConflict {
	b, _ := encodeFields(record)
	return &api.SyncConflict{
		Kind: api.ConflictDelete, Table: t.name, RecordID: recordIDFromKey(l.Key), Label: t.displayName(l.Record),
		Base: newConflictSide(nil), Remote: newConflictSide(nil), Clone: r.cloneSide(l, b),
		Message: "changed offline but deleted here",
	}
}

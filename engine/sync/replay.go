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
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// What one change of a batch does at the home. An error of the contract is the change's
// refusal, which is kept as a conflict; nothing of the change is written then.

func (r *replay) line(tx *store.Tx, l *line, sealed map[string]api.Gate) error {
	t := tableNamed(l.Table)
	switch l.Op {
	case opTouch:
		return nil
	case opSubmit, opDecide, opMove:
		return r.action(tx, l)
	case opInsert, opEdit, opDelete:
		if t == nil {
			break
		}
		return r.record(tx, t, l, sealed)
	}
	return api.Invalid("file", "there is no change %.20q of %.40q", l.Op, l.Table)
}

// writes is the permission that the same change made here would need.
func (t *table) writes() api.Permission {
	switch {
	case t.name == store.Documents.Name():
		return "document:write"
	case t.name == store.Scopes.Name():
		return "scope:write"
	case t.gate == api.GateGapAnalysis:
		return "gap:write"
	case t.gate != "":
		return api.Permission(string(t.gate) + ":write")
	}
	return "assessment:write"
}

func (r *replay) record(tx *store.Tx, t *table, l *line, sealed map[string]api.Gate) error {
	if err := r.by.Require(t.writes()); err != nil {
		return err
	}
	if l.Op == opInsert {
		key, err := t.key(r.place.org, maps.Clone(l.Record))
		if err != nil {
			return err
		}
		if string(key) != string(l.Key) || !t.belongs(l.Record, r.f.AssessmentID) {
			return api.Invalid("file", "a record of %s is of another assessment, or has another key than it says", t.name)
		}
	}
	if t.name != store.Assessments.Name() {
		if err := r.open(tx); err != nil {
			return err
		}
	}
	l, err := r.standing(tx, t, l)
	if err != nil {
		return err
	}
	switch {
	case t.name == store.Assessments.Name():
		err = r.assessment(tx, t, l)
	case t.name == store.Documents.Name():
		err = r.document(tx, t, l)
	case t.name == store.Scopes.Name():
		err = r.scope(tx, t, l)
	case t.name == store.Comments.Name():
		err = r.comment(tx, t, l)
	case t.sort == versions && l.Op == opInsert:
		err = r.version(tx, t, l, sealed)
	case t.sort == items:
		err = r.item(tx, t, l, sealed)
	default:
		return api.Invalid("file", "%s are not brought as they are", t.name)
	}
	if err == nil {
		r.out.Applied++
	}
	return err
}

// open refuses changes of a closed assessment.
func (r *replay) open(tx *store.Tx) error {
	a, err := store.Assessments.Get(tx, r.place.org, r.f.AssessmentID)
	if err != nil {
		return store.Missing(err, "assessment", r.f.AssessmentID)
	}
	if a.State == api.StateClosed {
		return api.Conflict("the assessment is closed")
	}
	return nil
}

func (r *replay) assessment(tx *store.Tx, t *table, l *line) error {
	org, id := r.place.org, r.f.AssessmentID
	a, err := store.Assessments.Get(tx, org, id)
	switch {
	case l.Op == opInsert && errors.Is(err, store.ErrNotFound):
		return r.publish(tx, t, l)
	case err != nil:
		return store.Missing(err, "assessment", id)
	case l.Op != opEdit:
		return api.Conflict("an assessment is deleted at its home only")
	case a.State == api.StateClosed:
		return api.Conflict("the assessment is closed")
	}
	changes := maps.Clone(l.Fields)
	maps.DeleteFunc(changes, func(name string, _ assessment.FieldChange) bool { return !slices.Contains(assessmentFields, name) })
	f, err := assessment.Fields(&a)
	if err != nil {
		return err
	}
	merged, conflicts := assessment.MergeFields(f, changes, nil)
	if len(merged) > 0 {
		var next api.Assessment
		if err := assessment.Fill(f, &next); err != nil {
			return err
		}
		if next.Name == "" || len(next.Name) > 200 || len(next.Description) > 10_000 {
			return api.Invalid("name", "an assessment needs a name of at most 200 bytes")
		}
		if next.DueDate != nil {
			if _, err := next.DueDate.Time(); err != nil {
				return api.Invalid("due_date", "%v", err)
			}
		}
		next.Revision++
		next.UpdatedAt = tx.Now()
		if err := errors.Join(store.Assessments.Put(tx, org, &next),
			audit.Append(tx, r.by, audit.Entry{Action: "assessment.updated", ResourceType: "assessment", ResourceID: id, Changes: map[string]any{"fields": merged, "offline": true}})); err != nil {
			return err
		}
	}
	return r.fieldConflicts(tx, t, l, conflicts, id, a.Name)
}

// publish makes an assessment that was begun at the clone. It begins at the first state: the
// moves are made again.
func (r *replay) publish(tx *store.Tx, t *table, l *line) error {
	f := maps.Clone(l.Record)
	if err := t.home(r.place, f, nil); err != nil {
		return err
	}
	f["organization_id"], _ = json.Marshal(r.place.org)
	var a api.Assessment
	if err := assessment.Fill(f, &a); err != nil {
		return err
	}
	if a.Name == "" || len(a.Name) > 200 || len(a.Description) > 10_000 || slices.Contains(a.FrameworkIDs, "") {
		return api.Invalid("file", "the assessment has no name, or a framework that the catalog here lacks")
	}
	a.State, a.CreatedBy, a.UpdatedAt, a.ClosedAt, a.MigratedAt, a.Revision = api.StateDraft, r.by.Actor.Name, tx.Now(), nil, nil, 1
	return errors.Join(store.Assessments.Insert(tx, r.place.org, &a), assessment.ReplayCreated(tx, r.by, &a),
		audit.Tell(tx, r.by, audit.Event{Type: "assessment.created", AssessmentID: a.ID, Summary: "brought " + a.Name + ", begun offline", ResourceType: "assessment", ResourceID: a.ID,
			Data: map[string]any{"name": a.Name, "frameworks": a.Frameworks, "offline": true}}))
}

func (r *replay) document(tx *store.Tx, t *table, l *line) error {
	org, id := r.place.org, r.f.AssessmentID
	old, err := store.Documents.Get(tx, org, store.RawKey(l.Key))
	there := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if there && old.AssessmentID != id {
		return api.NotFound("document", old.ID)
	}
	switch {
	case l.Op == opInsert && there:
		return api.Conflict("there is a document %q already", old.ID)
	case l.Op == opInsert:
		return r.keepDocument(tx, l, "added")
	case l.Op == opDelete && !there:
		return nil
	case !there:
		return r.conflict(tx, r.deleted(t, l, l.Record), false)
	case l.Op == opDelete:
		return r.dropDocument(tx, t, l, &old)
	}
	f, err := assessment.Fields(&old)
	if err != nil {
		return err
	}
	changes := maps.Clone(l.Fields)
	if c, ok := changes["sha256"]; ok && l.Record["sha256"] != nil && text(c.To) != old.SHA256 {
		if text(c.From) != old.SHA256 {
			kept, err := hasFile(tx, org, id, text(c.To))
			if err != nil {
				return err
			}
			conflict := &api.SyncConflict{Kind: api.ConflictField, Table: t.name, RecordID: old.ID, Label: old.Filename, Field: "sha256",
				Message: old.Filename + " was replaced by two people, with different files", Base: side(c.From), Home: r.stamp(tx, t, l.Key, "sha256", f["sha256"], old.UpdatedAt), Clone: r.there(l, c.To)}
			if kept {
				conflict.KeptSHA256 = text(c.To)
			}
			if err := r.conflict(tx, conflict, false); err != nil {
				return err
			}
		} else if err := r.keepDocument(tx, l, "replaced"); err != nil {
			return err
		} else if old, err = store.Documents.Get(tx, org, old.ID); err != nil {
			return err
		} else if f, err = assessment.Fields(&old); err != nil {
			return err
		}
	}
	merged, conflicts := assessment.MergeFields(f, changes, t.fixed)
	if len(merged) > 0 {
		var next store.Document
		if err := assessment.Fill(f, &next); err != nil {
			return err
		}
		next.UpdatedAt = tx.Now()
		if err := store.Documents.Put(tx, org, &next); err != nil {
			return err
		}
	}
	return r.fieldConflicts(tx, t, l, conflicts, old.ID, old.Filename)
}

// keepDocument takes a document that was read at the clone, whose file was brought.
func (r *replay) keepDocument(tx *store.Tx, l *line, what string) error {
	org, id := r.place.org, r.f.AssessmentID
	arrival := r.docs[text(l.Record["id"])]
	if arrival == nil {
		return api.Invalid("file", "the file of %.80s was not brought; bring it first", text(l.Record["filename"]))
	}
	doc := &arrival.Document
	other, err := store.Documents.By("content").Get(tx, org, id, doc.SHA256)
	if err == nil && other.ID != doc.ID {
		r.note("%s is here already as %s; the same file is kept once", doc.Filename, other.Filename)
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if errors.Is(err, store.ErrNotFound) { // who brings a record of a file has brought the file
		brought, err := store.SyncFiles.Has(tx, org, id, doc.SHA256)
		if err != nil {
			return err
		}
		switch {
		case brought:
			if err := store.SyncFiles.Delete(tx, org, id, doc.SHA256); err != nil {
				return err
			}
		case !r.dry:
			return api.Invalid("file", "the file of %s was not brought; bring it first", doc.Filename)
		}
	}
	doc.UploadedBy, doc.UpdatedAt = r.by.Actor.Name, tx.Now()
	told := audit.Event{Type: "document.ingested", AssessmentID: id, Summary: fmt.Sprintf("%s %s, from offline", what, doc.Filename), ResourceType: "document", ResourceID: doc.ID,
		Data: map[string]any{"filename": doc.Filename, "sha256": doc.SHA256, "offline": true}}
	switch n := r.strange[doc.ID]; {
	case doc.Status == api.DocumentFailed && n > 0:
		told.Type, told.Data["error"] = "document.failed", *doc.Error
		told.Summary = fmt.Sprintf("%s can't be read here (%s): its %d passages that came are left out, with what is quoted from them; `service doc reprocess` reads it again", doc.Filename, *doc.Error, n)
		r.note("%s", told.Summary)
	case doc.Status == api.DocumentFailed:
		told.Type, told.Data["error"], told.Summary = "document.failed", *doc.Error, doc.Filename+" could not be read: "+*doc.Error
	case n > 0:
		told.Data["strange"] = n
		told.Summary += fmt.Sprintf("; %d of the passages that came do not stand in the file, and are left out", n)
		r.note("%d of the passages of %s that came do not stand in the file as it is read here, and are left out", n, doc.Filename)
	}
	return errors.Join(r.s.Evidence.Keep(tx, r.by, arrival, true), audit.Tell(tx, r.by, told))
}

func (r *replay) dropDocument(tx *store.Tx, t *table, l *line, old *store.Document) error {
	if err := r.by.Require("document:delete"); err != nil {
		return err
	}
	f, err := assessment.Fields(old)
	if err != nil {
		return err
	}
	if text(l.Record["sha256"]) != old.SHA256 {
		c := r.deleted(t, l, nil)
		c.Label, c.Home = old.Filename, r.stamp(tx, t, l.Key, "sha256", f["sha256"], old.UpdatedAt)
		c.Message = old.Filename + " was deleted offline, and was replaced here"
		return r.conflict(tx, c, false)
	}
	return errors.Join(r.s.Evidence.Leave(tx, r.by, old, true),
		audit.Tell(tx, r.by, audit.Event{Type: "document.deleted", AssessmentID: r.f.AssessmentID, Summary: "removed " + old.Filename, ResourceType: "document", ResourceID: old.ID,
			Data: map[string]any{"filename": old.Filename, "sha256": old.SHA256, "offline": true}}))
}

// scope merges a scope. One that both made apart is merged as one that began empty.
func (r *replay) scope(tx *store.Tx, t *table, l *line) error {
	changes := maps.Clone(l.Fields)
	if l.Op == opInsert {
		changes = map[string]assessment.FieldChange{}
		for name, v := range l.Record {
			changes[name] = assessment.FieldChange{To: v}
		}
	} else if l.Op != opEdit {
		return api.Conflict("a scope is not deleted")
	}
	conflicts, sc, err := assessment.ReplayScope(tx, r.by, r.f.AssessmentID, text(l.Record["id"]), changes, t.fixed)
	if err != nil {
		return err
	}
	return r.fieldConflicts(tx, t, l, conflicts, sc.ID, "scope")
}

func (r *replay) comment(tx *store.Tx, t *table, l *line) error {
	if l.Op != opInsert {
		return api.Conflict("a comment is never changed")
	}
	f := maps.Clone(l.Record)
	f["organization_id"], _ = json.Marshal(r.place.org)
	var c api.Comment
	if err := assessment.Fill(f, &c); err != nil {
		return err
	}
	if there, err := store.Comments.Has(tx, r.place.org, c.ID); err != nil || there {
		return cmp.Or(err, error(api.Conflict("there is a comment %q already", c.ID)))
	}
	if strings.TrimSpace(c.Text) == "" || len(c.Text) > 4*4000 || !slices.Contains(api.Gates, c.Gate) {
		return api.Invalid("text", "a comment has a text of at most 4000 characters, and a gate")
	}
	c.Author = r.by.Actor
	return errors.Join(store.Comments.Insert(tx, r.place.org, &c), audit.Tell(tx, r.by, audit.Event{Type: "comment.added", AssessmentID: c.AssessmentID, Summary: "commented offline on the " + c.Gate.Title(),
		ResourceType: "comment", ResourceID: c.ID, Data: map[string]any{"gate": c.Gate, "item": c.Item, "text_sha256": assessment.TextHash(c.Text), "offline": true}}))
}

func (r *replay) version(tx *store.Tx, t *table, l *line, sealed map[string]api.Gate) error {
	id := text(l.Record["id"])
	clash, err := assessment.ReplayVersion(tx, r.by, r.f.AssessmentID, t.gate, maps.Clone(l.Record))
	if err != nil {
		r.refused[id] = true
		return err
	}
	sealed[id] = t.gate
	if !clash {
		return nil
	}
	return r.conflict(tx, &api.SyncConflict{Kind: api.ConflictVersion, Table: t.name, RecordID: id, Label: t.gate.Title(), Field: "version_number", Base: side(nil), Home: side(nil), Clone: r.there(l, l.Record["version_number"]),
		Message: fmt.Sprintf("a version of the %s was made here and offline; the one made offline is the newest now, and the other is kept before it", t.gate.Title())}, false)
}

func (r *replay) item(tx *store.Tx, t *table, l *line, sealed map[string]api.Gate) error {
	switch l.Op {
	case opInsert:
		version := text(l.Record["version_id"])
		if r.refused[version] {
			r.out.Applied--
			return nil // told with its version
		}
		f := maps.Clone(l.Record)
		if err := t.home(r.place, f, nil); err != nil {
			return err
		}
		if err := assessment.ReplayNewItem(tx, r.by, r.f.AssessmentID, t.gate, f); err != nil {
			return err
		}
		sealed[version] = t.gate
		return nil
	case opDelete:
		c, err := assessment.ReplayDeletedItem(tx, r.by, r.f.AssessmentID, t.gate, keyID(l.Key), l.Record)
		if err != nil || c == nil {
			return err
		}
		conflict := r.deleted(t, l, nil)
		conflict.RecordID, conflict.Label, conflict.Field, conflict.Base = c.RecordID, c.Label, c.Field, side(c.Base)
		conflict.Home = r.stamp(tx, t, l.Key, c.Field, c.Here, time.Time{})
		conflict.Message = c.Label + " was deleted offline, and was changed here"
		return r.conflict(tx, conflict, false)
	}
	conflicts, err := assessment.ReplayItem(tx, r.by, r.f.AssessmentID, t.gate, keyID(l.Key), l.Fields)
	if api.IsCode(err, api.CodeNotFound) {
		c := r.deleted(t, l, nil)
		b, failed := json.Marshal(l.Fields)
		c.Clone = r.there(l, b)
		return errors.Join(failed, r.conflict(tx, c, false))
	}
	if err != nil {
		return err
	}
	return r.fieldConflicts(tx, t, l, conflicts, keyID(l.Key), "")
}

// keyID is the id in the key of a record that is found by its id.
func keyID(key []byte) string {
	parts, err := store.RawKey(key).Parts()
	if err != nil || len(parts) != 1 {
		return ""
	}
	id, _ := parts[0].(string)
	return id
}

// seal recomputes what versions say of their items, once these are all there.
func (r *replay) seal(tx *store.Tx, sealed map[string]api.Gate) error {
	for _, id := range slices.Sorted(maps.Keys(sealed)) {
		if err := assessment.SealVersion(tx, r.place.org, sealed[id], id); err != nil {
			return err
		}
		if err := assessment.RecordVersion(tx, r.by, r.f.AssessmentID, sealed[id], id); err != nil {
			return err
		}
		delete(sealed, id)
	}
	return nil
}

func (r *replay) action(tx *store.Tx, l *line) error {
	id := r.f.AssessmentID
	var err error
	switch l.Op {
	case opSubmit:
		t := tableOf(l.Gate, items)
		if t == nil {
			return api.Invalid("file", "there is no gate %.40q", l.Gate)
		}
		if err = r.by.Require(t.writes()); err == nil {
			err = assessment.ReplaySubmission(tx, r.by, id, l.Gate, l.Version, l.Approval, l.SHA256)
		}
	case opDecide:
		var reason *string
		if l.Reason != "" {
			reason = &l.Reason
		}
		err = assessment.ReplayDecision(tx, r.by, id, l.Approval, l.SHA256, l.Verdict, reason)
	default:
		if err = r.by.Require("assessment:transition"); err == nil {
			err = assessment.ReplayMove(tx, r.by, id, l.To, cmp.Or(l.Reason, "made offline"))
		}
	}
	if err == nil {
		r.out.Applied++
	}
	return err
}

// refuse keeps a change that is not taken, with the reason.
func (r *replay) refuse(tx *store.Tx, l *line, why *api.Error) error {
	c := &api.SyncConflict{Kind: api.ConflictRefused, Table: l.Table, RecordID: keyID(l.Key), Message: why.Message, Base: side(nil), Home: side(nil)}
	whole := false
	switch l.Op {
	case opSubmit, opDecide:
		c.Kind, c.Table, c.RecordID, c.Label = api.ConflictApproval, store.Approvals.Name(), l.Approval, string(l.Gate)
		c.Message = fmt.Sprintf("the %s of the %s that was made offline does not hold: %s", map[string]string{opSubmit: "submission", opDecide: "decision"}[l.Op], l.Gate.Title(), why.Message)
		c.Clone = r.there(l, quoted(string(cmp.Or(l.Verdict, api.ApprovalPending))))
		r.note("%s", c.Message)
		if l.Op == opDecide && r.void[l.Approval] {
			return nil // it fell with its submission
		}
		if l.Op == opSubmit {
			r.void[l.Approval] = true
			if err := r.voided(tx, l, why.Message); err != nil {
				return err
			}
		}
	case opMove:
		c.Kind, c.Table, c.RecordID, c.Field, c.Label = api.ConflictState, store.Assessments.Name(), r.f.AssessmentID, "state", "state"
		c.Message = fmt.Sprintf("the move to %s that was made offline is not made here: %s", l.To, why.Message)
		c.Clone = r.there(l, quoted(string(l.To)))
		r.note("%s", c.Message)
	default:
		t := tableNamed(l.Table)
		if t != nil {
			c.Label = t.named(l.Record)
			whole = t.sort == versions
		}
		var v any = l.Record
		if l.Op == opEdit {
			v = l.Fields
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(b) > maxValue {
			whole, b = true, nil
		}
		c.Clone = r.there(l, b)
		r.note("%s %s: %s", strings.ReplaceAll(l.Table, "_", " "), c.Label, why.Message)
	}
	return r.conflict(tx, c, whole)
}

// maxValue is how large a value stands in a conflict; a larger one is kept as the batch it came in.
const maxValue = 64 << 10

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) //nolint:errchkjson // a text always has a form
	return b
}

// voided keeps the approval that an offline submission asked for as void, with the reason.
func (r *replay) voided(tx *store.Tx, l *line, why string) error {
	if there, err := store.Approvals.Has(tx, r.place.org, l.Approval); err != nil || there || !slices.Contains(api.Gates, l.Gate) {
		return err
	}
	return assessment.VoidElsewhere(tx, r.by, &api.Approval{TenantRecord: api.TenantRecord{Record: api.Record{ID: l.Approval, CreatedAt: tx.Now()}}, AssessmentID: r.f.AssessmentID, Gate: l.Gate,
		TargetID: l.Version, TargetSHA256: l.SHA256, RequestedAt: l.At}, why)
}

func side(v json.RawMessage) api.SyncSide {
	if len(v) == 0 {
		v = json.RawMessage("null")
	}
	return api.SyncSide{Value: v}
}

// there is the clone's side of a conflict: who brings it did it, when the clone says.
func (r *replay) there(l *line, v json.RawMessage) api.SyncSide {
	s := side(v)
	s.By = r.by.Actor.Name
	if !l.At.IsZero() {
		at := l.At.UTC()
		s.At = &at
	}
	return s
}

// stamp is the home's side of a conflict: who set the field here last, and when.
func (r *replay) stamp(tx *store.Tx, t *table, key []byte, field string, v json.RawMessage, otherwise time.Time) api.SyncSide {
	s := side(v)
	row, err := store.SyncRows.Get(tx, r.place.org, r.f.AssessmentID, t.name, key)
	if st, ok := row.Fields[field]; err == nil && ok {
		s.By, s.At = st.By, &st.At
	} else if !otherwise.IsZero() {
		s.At = &otherwise
	}
	return s
}

func (r *replay) fieldConflicts(tx *store.Tx, t *table, l *line, conflicts []assessment.FieldConflict, id, label string) error {
	for _, c := range conflicts {
		c.RecordID, c.Label = cmp.Or(c.RecordID, id), cmp.Or(c.Label, label)
		key := l.Key
		if c.RecordID != keyID(l.Key) {
			key = store.K(c.RecordID).Bytes()
		}
		if err := r.conflict(tx, &api.SyncConflict{Kind: api.ConflictField, Table: t.name, RecordID: c.RecordID, Label: c.Label, Field: c.Field,
			Message: fmt.Sprintf("%s of %s was changed here and offline", strings.ReplaceAll(c.Field, "_", " "), c.Label),
			Base:    side(c.Base), Home: r.stamp(tx, t, key, c.Field, c.Here, time.Time{}), Clone: r.there(l, c.There)}, false); err != nil {
			return err
		}
	}
	return nil
}

// deleted is the conflict of a change with a deletion.
func (r *replay) deleted(t *table, l *line, record fields) *api.SyncConflict {
	b, _ := encode(record)
	return &api.SyncConflict{Kind: api.ConflictDelete, Table: t.name, RecordID: keyID(l.Key), Label: t.named(l.Record), Base: side(nil), Home: side(nil), Clone: r.there(l, b),
		Message: "it was changed offline, and was deleted here"}
}

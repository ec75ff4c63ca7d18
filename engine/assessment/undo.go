package assessment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// maxEditsKept is the number of most recent edits that a person can undo in an assessment.
const maxEditsKept = 200

// notRestored are the fields of an item that an undo doesn't restore.
var notRestored = []string{"id", "created_at", "updated_at", "revision", "version_id", "assessment_id", "organization_id"}

func newEdit(tx *store.Tx, by api.Caller, a *api.Assessment, gate api.Gate) *store.Edit {
	return &store.Edit{
		ID: tx.NewID(), OrganizationID: by.OrganizationID, AssessmentID: a.ID, UserID: by.UserID, By: by.Actor.Name, At: tx.Now(), Gate: gate,
	}
}

// insertEdit stores a person's edit, and deletes the oldest one if there are too many.
func insertEdit(tx *store.Tx, by api.Caller, e *store.Edit) error {
	if e.UserID == "" || e.UndoOf != "" {
		return nil // made by a workflow, or an undo itself, which can't be undone
	}
	switch err := store.Edits.Insert(tx, by.OrganizationID, e); {
	case errors.Is(err, store.ErrTooLarge):
		return api.Invalid("where", "a change to %s is too large to be kept for undo; select fewer items",
			prose.Count(len(e.Lines), "item", "items"))
	case err != nil:
		return err
	}
	n, err := store.Edits.Count(tx, by.OrganizationID, e.AssessmentID, e.UserID)
	if err != nil || n <= maxEditsKept {
		return err
	}
	for oldest, err := range store.Edits.Scan(tx, by.OrganizationID, store.Prefix(e.AssessmentID, e.UserID)) {
		if err == nil {
			err = store.Edits.Delete(tx, by.OrganizationID, oldest.AssessmentID, oldest.UserID, oldest.ID)
		}
		return err
	}
	return nil
}

// editDiff returns the fields in which two states of an item differ, by name, with the values
// before and after. The value of an absent field is nil.
func editDiff(before map[string]json.RawMessage, after any) (from, to map[string]json.RawMessage, err error) {
	if to, err = toFields(after); err != nil {
		return nil, nil, err
	}
	from = maps.Clone(before)
	for name := range maps.Clone(from) {
		if slices.Contains(notRestored, name) || bytes.Equal(from[name], to[name]) {
			delete(from, name)
			delete(to, name)
		}
	}
	maps.DeleteFunc(to, func(name string, _ json.RawMessage) bool { return slices.Contains(notRestored, name) })
	for name := range to {
		from[name] = before[name] // nil if it was absent
	}
	for name := range from {
		if _, ok := to[name]; !ok {
			to[name] = nil // absent now
		}
	}
	return from, to, nil
}

// toFields returns an item's fields as JSON.
func toFields(item any) (fields map[string]json.RawMessage, err error) {
	b, err := json.Marshal(item)
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	return fields, err
}

// newEditLine describes the change of an item so that it can be undone.
func newEditLine(it *api.Item, before map[string]json.RawMessage, after any, fields []string) (store.EditLine, error) {
	from, to, err := editDiff(before, after)
	return store.EditLine{ItemID: it.ID, ControlCode: it.ControlCode, Fields: fields, Before: from, After: hashFields(to, from)}, err
}

// hashFields returns the SHA-256 of the values of the named fields.
func hashFields(values, names map[string]json.RawMessage) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h.Write([]byte(name + "\x00" + string(values[name]) + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// accountAtRemote returns the name of the account in which a clone's changes are made at its remote, or "" if the
// assessment isn't a clone.
func accountAtRemote(tx *store.Tx, org, assessment string) (string, error) {
	l, err := store.SyncLinks.Get(tx, org, assessment)
	if errors.Is(err, store.ErrNotFound) || err == nil && l.Role != store.SyncRoleClone {
		return "", nil
	}
	return l.Account, err
}

// withLocalEditor returns the fields of an item as they were before a sync: the remote renames who edited the item to the
// account of the clone's owner there.
func withLocalEditor(fields map[string]json.RawMessage, remoteAccount, local string) map[string]json.RawMessage {
	if remoteAccount == "" || fieldText(fields["edited_by"]) != remoteAccount {
		return fields
	}
	name, _ := json.Marshal(local) // a string
	return withFields(fields, map[string]json.RawMessage{"edited_by": name})
}

// newEditedLine describes the change of an item in the form shown to users.
func newEditedLine(it *api.Item, before map[string]json.RawMessage, after any, fields []string) (api.EditedLine, error) {
	from, to, err := editDiff(before, after)
	line := api.EditedLine{
		ItemID: it.ID, ControlCode: it.ControlCode, ControlTitle: it.ControlTitle, POAMCode: fieldText(before["poam_code"]),
		Changes: []api.FieldChange{},
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if name == "due_changes" { // a later date next to the approved one
			line.Changes = append(
				line.Changes,
				api.FieldChange{Field: "due_date", From: currentDueDate(before), To: currentDueDate(withFields(before, to))},
			)
		} else if slices.Contains(fields, name) || slices.Contains(fields, resetPrefix+name) || name == "assessed" {
			line.Changes = append(line.Changes, api.FieldChange{Field: name, From: fieldText(from[name]), To: fieldText(to[name])})
		}
	}
	return line, err
}

// fieldText returns a field's value as text: strings without quotes, and null or absent values as "".
func fieldText(raw json.RawMessage) string {
	var text *string
	switch err := json.Unmarshal(raw, &text); {
	case raw == nil || err == nil && text == nil:
		return ""
	case err == nil:
		return *text
	}
	return string(raw)
}

// currentDueDate returns the current due date of the plan item with these fields.
func currentDueDate(fields map[string]json.RawMessage) string {
	var changes []api.MilestoneChange
	if json.Unmarshal(fields["due_changes"], &changes) == nil && len(changes) > 0 {
		return string(changes[len(changes)-1].DueDate)
	}
	return fieldText(fields["due_date"])
}

// withFields returns a copy of fields, with the values in other added or replaced.
func withFields(fields, other map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(fields)
	maps.Copy(out, other)
	return out
}

// Undo reverses the last change of items that the caller has made in an assessment and not yet undone.
func (s *Service) Undo(ctx context.Context, by api.Caller, in *api.UndoInput) (*api.EditResult, error) {
	var out *api.EditResult
	run := s.db.Update
	if in.Body.DryRun {
		run = s.db.View
	}
	err := run(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		e, err := lastEdit(tx, by, a.ID)
		if err != nil {
			return err
		}
		if in.Body.EditID != "" && in.Body.EditID != e.ID {
			return api.Conflict("there is a later change, or this change has already been undone; preview the undo again")
		}
		if err := by.Require(gatePermissions[e.Gate]); err != nil {
			return err
		}
		out, err = deliverables[e.Gate].undo(tx, &s.hashes, by, &a, e, in.Body.DryRun, in.Body.SkipEdited)
		return err
	})
	return out, err
}

// gatePermissions maps each gate to the permission to change its deliverable.
var gatePermissions = map[api.Gate]api.Permission{
	api.GateSoA: "soa:write", api.GateGapAnalysis: "gap:write", api.GateMaturity: "maturity:write", api.GatePOAM: "poam:write",
}

// lastEdit returns the caller's last edit in an assessment that has not been undone yet.
func lastEdit(tx *store.Tx, by api.Caller, assessment string) (*store.Edit, error) {
	if by.UserID != "" {
		for e, err := range store.Edits.Scan(tx, by.OrganizationID, store.Prefix(assessment, by.UserID), store.Reverse) {
			if err != nil {
				return nil, err
			}
			if e.UndoneAt == nil {
				return &e, nil
			}
		}
	}
	return nil, api.Conflict(
		"you have no change to undo in this assessment, or have undone all of them; the last %d changes can be undone, one at a time",
		maxEditsKept,
	)
}

// undo restores the items that an edit changed. If items were edited since, it returns an error or,
// if skipEdited is set, leaves those items alone.
func (k deliverableType[V, I]) undo(
	tx *store.Tx, cache *hashCache, by api.Caller, a *api.Assessment, e *store.Edit, dryRun, skipEdited bool,
) (*api.EditResult, error) {
	v, err := k.getVersion(tx, by.OrganizationID, e.VersionID)
	if err != nil {
		return nil, err
	}
	newest, _, err := k.newestVersion(tx, by.OrganizationID, a.ID)
	if err != nil {
		return nil, err
	}
	head := k.version(&v)
	if n := k.version(&newest); n.ID != head.ID {
		return nil, api.Conflict(
			"the change was made in version %d of the %s, and version %d has been created since then; edit the "+
				"items in the newer version instead",
			head.VersionNumber, k.gate.Title(), n.VersionNumber)
	}
	isApproved := head.Status == api.VersionApproved
	changesDates := func(l store.EditLine) bool {
		return slices.ContainsFunc([]string{"due_date", "due_changes", "milestones"}, func(name string) bool {
			_, ok := l.Before[name]
			return ok
		})
	}
	if isApproved && k.gate == api.GatePOAM && slices.ContainsFunc(e.Lines, changesDates) {
		return nil, api.Conflict(
			"version %d of the plan was approved with this change, so its dates can't be undone; edit the items instead",
			head.VersionNumber,
		)
	}
	remoteAccount, err := accountAtRemote(tx, by.OrganizationID, a.ID)
	if err != nil {
		return nil, err
	}
	out := newEditResult(k.gate, head, dryRun, head.ItemCount)
	out.Made = &e.At
	var changed, restored []I // the same items
	var fields [][]string
	for _, l := range e.Lines {
		now, err := k.items.Get(tx, by.OrganizationID, l.ItemID)
		if err != nil {
			return nil, store.ToNotFound(err, k.gate.Title()+" item", l.ItemID)
		}
		values, err := toFields(&now)
		if err != nil {
			return nil, err
		}
		skip := func() {
			out.Skipped = append(out.Skipped, api.EditedLine{
				ItemID: l.ItemID, ControlCode: l.ControlCode, ControlTitle: k.item(&now).ControlTitle, Changes: []api.FieldChange{},
				EditedSince: k.item(&now).EditedBy,
			})
		}
		if hashFields(withLocalEditor(values, remoteAccount, e.By), l.Before) != l.After {
			skip()
			continue
		}
		then := maps.Clone(values)
		for name, value := range l.Before {
			if then[name] = value; value == nil {
				delete(then, name)
			}
		}
		b, err := json.Marshal(then)
		if err != nil {
			return nil, err
		}
		var before I
		if err := json.Unmarshal(b, &before); err != nil {
			return nil, err
		}
		if k.validateItem(&before) != nil { // other fields have changed since and don't permit the old values
			skip()
			continue
		}
		line, err := newEditedLine(k.item(&now), values, &before, l.Fields)
		if err != nil {
			return nil, err
		}
		out.Lines = append(out.Lines, line)
		changed, restored, fields = append(changed, now), append(restored, before), append(fields, l.Fields)
	}
	out.MatchedCount = len(e.Lines)
	if len(out.Skipped) > 0 && (!skipEdited || len(changed) == 0) && !dryRun {
		return nil, editedSinceError(out.Skipped)
	}
	if dryRun {
		out.EditID = e.ID
		return out, nil
	}
	undo := newEdit(tx, by, a, k.gate)
	undo.UndoOf = e.ID
	n := -1
	if _, err := k.applyEdit(tx, cache, by, a, v, undo, changed, func(i *I) ([]string, error) { // called for the items in order
		n++
		it := *k.item(i)
		*i = restored[n]
		if isApproved && k.clearApproved != nil {
			k.clearApproved(i)
		}
		// The restored item keeps its identity, even in a copy of the version.
		to := k.item(i)
		to.TenantRecord, to.AssessmentID, to.VersionID, to.Revision = it.TenantRecord, it.AssessmentID, it.VersionID, it.Revision
		return fields[n], nil
	}); err != nil {
		return nil, err
	}
	now := tx.Now()
	e.UndoneAt = &now
	return out, errors.Join(
		undoLineCorrections(tx, by, e),
		store.Edits.Put(tx, by.OrganizationID, e),
		k.recordEditInTimeline(tx, by, undo),
		k.completeResult(tx, by, out, undo),
	)
}

// editedSinceError returns the error for items that were edited after the change to be undone.
func editedSinceError(lines []api.EditedLine) error {
	named := make([]string, len(lines))
	for n, l := range lines {
		if named[n] = l.ControlCode; l.EditedSince != nil {
			named[n] += " by " + *l.EditedSince
		}
	}
	const most = 20
	if more := len(named) - most; more > 0 {
		named = append(named[:most], "and others")
	}
	return api.Conflict("these items were edited since: %s; nothing was undone", strings.Join(named, ", "))
}

package assessment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// editItem applies a user's change to an item and returns the result. If the version was already
// approved or rejected, it first copies all items to a new version. Unless after is nil, it is
// called with the item before and after the change.
func editItem[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	itemID string,
	match api.Match,
	change func(*I) ([]string, error),
	after func(tx *store.Tx, e *store.Edit, before, after *I) error,
) (*I, error) {
	var out I
	cached := k.cachedVersionOf(&s.hashes, by.OrganizationID, itemID)
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if cached != "" {
			tx.ReadAhead("edit " + cached)
		}
		item, err := k.items.Get(tx, by.OrganizationID, itemID)
		if err != nil {
			return store.ToNotFound(err, k.gate.Title()+" item", itemID)
		}
		tx.ReadAhead("edit " + k.item(&item).VersionID)
		a, err := getAssessment(tx, by, k.item(&item).AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if err := match.Check(k.item(&item).Revision); err != nil {
			return err
		}
		v, err := k.getVersion(tx, by.OrganizationID, k.item(&item).VersionID)
		if err != nil {
			return err
		}
		tried := item
		fields, err := k.tryChange(&v, &item, &tried, change)
		if err != nil || len(fields) == 0 {
			out = item
			return err // invalid or unchanged: nothing to reopen
		}
		e := newEdit(tx, by, &a, k.gate)
		edited, err := k.applyEdit(tx, &s.hashes, by, &a, v, e, []I{item}, change)
		if err != nil {
			return err
		}
		out = edited[0]
		if after != nil {
			if err := after(tx, e, &item, &out); err != nil {
				return err
			}
		}
		return k.recordEditInTimeline(tx, by, e)
	})
	return &out, err
}

// editItems applies a user's change to all items of a version that match a selection, or to none if
// there is an error.
func editItems[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	versionID string,
	selection api.ItemSelection,
	reset []string,
	change func(*I) ([]string, error),
) (*api.EditResult, error) {
	where, err := itemfilter.Compile[I](selection.Where)
	switch hasFilter := strings.TrimSpace(selection.Where) != ""; {
	case err != nil:
		return nil, err
	case hasFilter == (len(selection.ItemIDs) > 0):
		return nil, api.Invalid("where", "select items with a filter or with item_ids; the filter \"true\" selects "+
			"all items")
	case len(reset) > 0:
		return nil, api.Invalid("set.reset", "fields can't be reset in several items at once; reset the fields of "+
			"each item separately")
	}
	wanted := map[string]bool{}
	for _, id := range selection.ItemIDs {
		wanted[id] = true
	}
	var out *api.EditResult
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		v, err := k.getVersion(tx, by.OrganizationID, versionID)
		if err != nil {
			return err
		}
		head := k.version(&v)
		a, err := getAssessment(tx, by, head.AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if selection.ContentSHA256 != "" && selection.ContentSHA256 != head.ContentSHA256 {
			return api.Conflict("the %s has changed since the preview; preview the change again", k.gate.Title())
		}
		items, err := k.readItems(tx, by.OrganizationID, versionID)
		if err != nil {
			return err
		}
		out = newEditResult(k.gate, head, selection.DryRun, len(items))
		var selected []I
		for n := range items {
			it := k.item(&items[n])
			if byID := len(selection.ItemIDs) > 0; byID && !wanted[it.ID] || !byID && !where.Selects(&items[n]) {
				continue
			}
			delete(wanted, it.ID)
			out.MatchedCount++
			was, err := toFields(&items[n])
			if err != nil {
				return err
			}
			tried := items[n]
			fields, err := k.tryChange(&v, &items[n], &tried, change)
			if err != nil {
				return addItemToError(err, it)
			}
			if len(fields) == 0 {
				continue
			}
			line, err := newEditedLine(it, was, &tried, fields)
			if err != nil {
				return err
			}
			out.Lines = append(out.Lines, line)
			selected = append(selected, items[n])
		}
		for _, id := range selection.ItemIDs {
			if wanted[id] {
				return api.Invalid("item_ids", "version %d of the %s has no item %q", head.VersionNumber, k.gate.Title(), id)
			}
		}
		if len(selected) == 0 || selection.DryRun {
			return nil
		}
		e := newEdit(tx, by, &a, k.gate)
		if _, err := k.applyEdit(tx, &s.hashes, by, &a, v, e, selected, change); err != nil {
			return err
		}
		return errors.Join(k.recordEditInTimeline(tx, by, e), k.completeResult(tx, by, out, e))
	})
	return out, err
}

func newEditResult(gate api.Gate, head *api.DeliverableVersion, dryRun bool, items int) *api.EditResult {
	return &api.EditResult{
		AssessmentID: head.AssessmentID, Gate: gate, VersionID: head.ID, VersionNumber: head.VersionNumber, ContentSHA256: head.ContentSHA256,
		DryRun: dryRun, ItemCount: items, Lines: []api.EditedLine{}, Skipped: []api.EditedLine{},
	}
}

// completeResult adds the edit and the version to a result.
func (k deliverableType[V, I]) completeResult(tx *store.Tx, by api.Caller, out *api.EditResult, e *store.Edit) error {
	v, err := k.getVersion(tx, by.OrganizationID, e.VersionID)
	if err != nil {
		return err
	}
	head := k.version(&v)
	out.EditID, out.VersionID, out.VersionNumber, out.ContentSHA256 = e.ID, head.ID, head.VersionNumber, head.ContentSHA256
	for n := range out.Lines {
		out.Lines[n].ItemID = e.Lines[n].ItemID
	}
	return nil
}

// addItemToError adds to a validation error which item it concerns.
func addItemToError(err error, it *api.Item) error {
	e, ok := errors.AsType[*api.Error](err)
	if !ok || strings.Contains(e.Message, it.ControlCode) {
		return err
	}
	named := *e
	named.Message = it.ControlCode + ": " + e.Message
	return &named
}

// tryChange applies a change to a copy of an item and checks the result. It returns the names of
// the changed fields, or none if the item already has these values.
func (k deliverableType[V, I]) tryChange(v *V, item, tried *I, change func(*I) ([]string, error)) ([]string, error) {
	head := k.version(v)
	fields, err := change(tried)
	if err == nil && (head.Status != api.VersionDraft || k.item(item).AreManual(fields)) {
		fields, err = namesIfAnyChanged(item, tried, fields)
	}
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	if head.Status == api.VersionSuperseded {
		return nil, api.Conflict(
			"version %d of the %s was superseded; change the item in the newest version",
			head.VersionNumber,
			k.gate.Title(),
		)
	}
	return fields, k.validateItem(tried)
}

// applyEdit applies a change to items of version v, one after the other, and returns the changed
// items. A version under review is withdrawn. If a decision was made on the version, the change is
// made in a copy, which becomes the next version. An audit record is written for each item; the
// edit e describes how to undo the change.
func (k deliverableType[V, I]) applyEdit(
	tx *store.Tx,
	cache *hashCache,
	by api.Caller,
	a *api.Assessment,
	v V,
	e *store.Edit,
	items []I,
	change func(*I) ([]string, error),
) ([]I, error) {
	switch head := k.version(&v); head.Status {
	case api.VersionUnderReview:
		if err := k.withdrawFromReview(tx, by, a, &v, "changed during review by "+by.Actor.Name); err != nil {
			return nil, err
		}
	case api.VersionApproved, api.VersionRejected:
		var err error
		if v, items, err = k.copyToNextVersion(tx, by, a, v, items); err != nil {
			return nil, err
		}
	}
	e.VersionID = k.version(&v).ID
	stored, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	before := slices.Clone(items)
	for n := range items {
		was, err := toFields(&before[n])
		if err != nil {
			return nil, err
		}
		fields, err := change(&items[n])
		if err != nil {
			return nil, addItemToError(err, k.item(&before[n]))
		}
		if it := k.item(&items[n]); e.UndoOf != "" { // also restores who edited which fields
			it.Revision++
			it.UpdatedAt = tx.Now()
		} else {
			markEdited(tx.Now(), by, it, fields)
		}
		line, err := newEditLine(k.item(&items[n]), was, &items[n], fields)
		if err != nil {
			return nil, err
		}
		e.Lines = append(e.Lines, line)
	}
	hashed, err := k.hashEdited(tx, cache, by.OrganizationID, e.VersionID, string(stored), items)
	if err != nil {
		return nil, err
	}
	for n := range items {
		if err := errors.Join(k.items.Put(tx, by.OrganizationID, &items[n]),
			k.auditItemChange(tx, by, k.item(&items[n]), e.Lines[n].Fields, e, statusChange(&before[n], &items[n]))); err != nil {
			return nil, err
		}
	}
	addAuthor(k.version(&v), by)
	return items, errors.Join(insertEdit(tx, by, e), k.saveEdited(tx, cache, by, &v, hashed))
}

// recordEditInTimeline writes an edit to the timeline as a single event, although the audit trail
// has a record for each item.
func (k deliverableType[V, I]) recordEditInTimeline(tx *store.Tx, by api.Caller, e *store.Edit) error {
	first, what := e.Lines[0], e.Lines[0].ControlCode
	if n := len(e.Lines); n > 1 {
		what = fmt.Sprintf("%d items", n)
	}
	var fields []string
	for _, l := range e.Lines {
		for _, f := range l.Fields {
			if name := prose.Humanize(strings.TrimPrefix(f, resetPrefix)); !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	verb := "changed"
	if e.UndoOf != "" {
		verb = "undid a change of"
	}
	event := audit.Event{
		Type: k.eventType(e), AssessmentID: e.AssessmentID,
		Summary:      fmt.Sprintf("%s %s in the %s: %s", verb, what, k.gate.Title(), strings.Join(fields, ", ")),
		ResourceType: string(k.gate) + "_item", ResourceID: first.ItemID,
	}
	if len(e.Lines) > 1 {
		event.ResourceType, event.ResourceID = string(k.gate), e.VersionID
	}
	return audit.RecordTimeline(tx, by, event)
}

// eventType returns the type of the audit records and of the timeline event of an edit.
func (k deliverableType[V, I]) eventType(e *store.Edit) string {
	if e.UndoOf != "" {
		return string(k.gate) + ".edit_undone"
	}
	return string(k.gate) + ".item_changed"
}

// recordItemChange writes a change of an item's fields to the timeline and to the audit trail.
func (k deliverableType[V, I]) recordItemChange(tx *store.Tx, by api.Caller, it *api.Item, fields []string, more map[string]any) error {
	e := &store.Edit{AssessmentID: it.AssessmentID, Gate: k.gate, VersionID: it.VersionID}
	e.Lines = []store.EditLine{{ItemID: it.ID, ControlCode: it.ControlCode, Fields: fields}}
	return errors.Join(k.recordEditInTimeline(tx, by, e), k.auditItemChange(tx, by, it, fields, e, more))
}

// auditItemChange writes an audit record for a user's change of item fields, with additional data if there is any.
func (k deliverableType[V, I]) auditItemChange(
	tx *store.Tx,
	by api.Caller,
	it *api.Item,
	fields []string,
	e *store.Edit,
	more map[string]any,
) error {
	data := map[string]any{"control_code": it.ControlCode, "fields": fields}
	if e.ID != "" {
		data["edit_id"] = e.ID
	}
	if e.UndoOf != "" {
		data["undo_of"] = e.UndoOf
	}
	maps.Copy(data, more)
	return audit.Append(tx, by, audit.Entry{
		Action: k.eventType(e), ResourceType: string(k.gate) + "_item", ResourceID: it.ID, Changes: data,
	})
}

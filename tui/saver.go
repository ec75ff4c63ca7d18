package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// pendingEdit is an unsaved change of an item. It identifies the item by key, which is the same in
// the next version, unlike the id.
type pendingEdit struct {
	review *review
	key    string
	values map[string]string // shared, and never modified
	// restore lists fields that an undo resets to their drafted values.
	restore []string
	// inBulk is set if the item was accepted together with others, which doesn't count as reading it.
	inBulk bool
	// resent is set once the edit has been sent on to the next version.
	resent bool
}

// saver sends changes as they are made, a few at a time and each based on the revision the user
// saw. Changes that can't be sent are kept until the connection is back.
type saver struct {
	queue   []*pendingEdit
	sending []*pendingEdit
	clashes []*clash
	// refusals counts the rejected changes of the current batch; the reason is that of the first.
	refusals     int
	firstRefusal string
}

// clash is a change to an item that another user has changed in the meantime.
type clash struct {
	edit   *pendingEdit
	theirs any
}

// batchSize is the number of changes sent before the screen is updated.
const batchSize = 16

// unsavedCount returns the number of unsaved changes.
func (s *saver) unsavedCount() int { return len(s.queue) + len(s.sending) + len(s.clashes) }

// unsavedValues returns a review's unsaved values, by item and field, for the items with the given keys.
func (s *saver) unsavedValues(v *review, keys map[string]bool) map[string]map[string]string {
	out := map[string]map[string]string{}
	add := func(e *pendingEdit) {
		if e.review == v && keys[e.key] {
			out[e.key] = mergeValues(out[e.key], e.values)
		}
	}
	for _, e := range s.sending {
		add(e)
	}
	for _, c := range s.clashes {
		add(c.edit)
	}
	for _, e := range s.queue {
		add(e)
	}
	return out
}

// enqueueOrMerge queues a change, merging it with a queued change of the same item.
func (s *saver) enqueueOrMerge(e *pendingEdit, unsent map[string]*pendingEdit) {
	if before := unsent[e.key]; before != nil {
		before.values = mergeValues(before.values, e.values)
		if slices.ContainsFunc(api.ReviewFields, func(name string) bool { _, set := e.values[name]; return set }) {
			before.inBulk = e.inBulk
		}
		before.restore = append(
			slices.DeleteFunc(before.restore, func(n string) bool { _, again := e.values[n]; return again }),
			e.restore...)
		return
	}
	s.queue = append(s.queue, e)
}

// dequeue removes a change that has not been sent.
func (s *saver) dequeue(e *pendingEdit) {
	s.queue = slices.DeleteFunc(s.queue, func(q *pendingEdit) bool { return q == e })
}

// discardReviewEdits discards the changes of a review that no longer exists or is not accessible to the
// user. The user's input is offered again if the review comes back.
func (s *saver) discardReviewEdits(v *review) {
	keys := map[string]bool{}
	s.queue = slices.DeleteFunc(s.queue, func(e *pendingEdit) bool {
		if e.review != v {
			return false
		}
		keys[e.key] = true
		if r := v.byKey[e.key]; r != nil {
			r.rejected = e.values
		}
		return true
	})
	v.applyUnsaved(keys)
}

// queuedEditsByKey returns a review's queued changes by the key of the item.
func (s *saver) queuedEditsByKey(v *review) map[string]*pendingEdit {
	out := map[string]*pendingEdit{}
	for _, e := range s.queue {
		if e.review == v {
			out[e.key] = e
		}
	}
	return out
}

// editRequest is a change to send.
type editRequest struct {
	edit        *pendingEdit
	id, control string
	revision    int
	set         map[string]string
	body        []byte
}

// editResult is the result of sending a change.
type editResult struct {
	item   any
	theirs any
	err    error
}

// sendNextEdits sends the next changes, unless some are in flight.
func (s *saver) sendNextEdits(a *App) tea.Cmd {
	if len(s.sending) > 0 || len(s.queue) == 0 {
		return nil
	}
	v := s.queue[0].review
	if v.version == nil || v.pagesInFlight > 0 {
		return nil // the items are reloaded first, and then this is called again
	}
	var orders []editRequest
	var rest []*pendingEdit
	taken := map[string]bool{}
	for i, e := range s.queue {
		if len(orders) == batchSize {
			rest = append(rest, s.queue[i:]...)
			break
		}
		r := v.byKey[e.key]
		switch {
		case e.review != v || taken[e.key] || r != nil && r.hasConflict:
			rest = append(rest, e)
		case r == nil:
			s.recordRefusal(e.key + " no longer exists")
		default:
			taken[e.key] = true
			reset := slices.DeleteFunc(slices.Clone(e.restore), func(n string) bool { return !slices.Contains(r.head.EditedFields, n) })
			set := e.values
			if len(reset) > 0 { // resetting restores these fields, so their values are not sent
				set = maps.Clone(e.values)
				maps.DeleteFunc(set, func(n, _ string) bool { return slices.Contains(e.restore, n) })
			}
			orders = append(
				orders,
				editRequest{
					edit:     e,
					id:       r.head.ID,
					control:  r.head.ControlCode,
					revision: r.head.Revision,
					set:      e.values,
					body:     v.kind.encodeChange(set, reset, e.inBulk),
				},
			)
			s.sending = append(s.sending, e)
		}
	}
	s.queue = rest
	if len(orders) == 0 {
		return nil
	}
	k, version := v.kind, v.version.ID
	return a.runInBackground(func(ctx context.Context) func() tea.Cmd {
		var results []editResult
		for _, o := range orders {
			one := k.sendEditOrFetchTheirs(ctx, a.Caller, version, o)
			results = append(results, one)
			if one.err != nil && isRetryableError(one.err) {
				break
			}
			if one.err == nil && one.theirs == nil && k.commonFields(one.item).VersionID != version {
				break // the remaining items are in the next version now
			}
		}
		return func() tea.Cmd { return s.applyEditResults(a, v, orders, results) }
	})
}

// sendEditOrFetchTheirs sends a change. If another user has changed the item in the meantime, it fetches that user's
// version.
func (k *deliverableType) sendEditOrFetchTheirs(ctx context.Context, c Caller, versionID string, o editRequest) editResult {
	item, err := k.patchItem(ctx, c, o.id, matchRevision(o.revision), o.body)
	if err == nil && k.keyOf(item) != o.edit.key {
		err = fmt.Errorf("the server's response to the change of %s describes a different record", o.edit.key)
	}
	if !api.IsRevisionConflict(err) {
		return editResult{item: item, err: err}
	}
	all, _, err := k.fetchItems(ctx, c, versionID, o.control, api.Paging{Limit: api.MaxListLimit})
	if err != nil {
		return editResult{err: err}
	}
	for _, theirs := range all {
		if k.commonFields(theirs).ID != o.id {
			continue
		}
		for name, value := range o.set {
			if k.findAttr(name).get(theirs) != value {
				return editResult{theirs: theirs}
			}
		}
		return editResult{item: theirs} // already saved: the earlier response was lost
	}
	return editResult{err: api.NotFound(k.singular, o.control)}
}

// recordRefusal counts a rejected change.
func (s *saver) recordRefusal(why string) {
	if s.refusals == 0 {
		s.firstRefusal = why
	}
	s.refusals++
}

// applyEditResults processes the results of sent changes.
func (s *saver) applyEditResults(a *App, v *review, requests []editRequest, results []editResult) tea.Cmd {
	s.sending = nil
	var cmds []tea.Cmd
	var back []*pendingEdit
	var lostBy error
	moved := false
	for i, o := range requests {
		if i >= len(results) {
			back = append(back, o.edit)
			continue
		}
		switch d := results[i]; {
		case d.err == nil && d.theirs != nil:
			s.clashes = append(s.clashes, &clash{o.edit, d.theirs})
			v.byKey[o.edit.key].hasConflict = true
		case d.err == nil:
			a.markConnected()
			v.updateItem(o.edit.key, d.item)
			moved = moved || v.version != nil && v.kind.commonFields(d.item).VersionID != v.version.ID
		case isRetryableError(d.err):
			lostBy = d.err
			back = append(back, o.edit)
		case (api.IsCode(d.err, api.CodeInvalidState) || api.IsCode(d.err, api.CodeNotFound)) && !o.edit.resent:
			// The version may have been followed by another: the change goes to the newest.
			o.edit.resent, moved = true, true
			back = append(back, o.edit)
		default:
			s.recordRefusal(o.edit.key + ": " + explainError(d.err))
			if r := v.byKey[o.edit.key]; r != nil {
				r.rejected = o.edit.values
			}
		}
	}
	s.queue = append(back, s.queue...)
	keys := map[string]bool{}
	for _, o := range requests {
		keys[o.edit.key] = true
	}
	v.applyUnsaved(keys)
	if lostBy != nil {
		return a.scheduleReconnect(lostBy)
	}
	switch {
	case moved:
		cmds = append(cmds, v.load())
	case v.version != nil && v.version.Status == api.VersionUnderReview && len(results) > 0:
		cmds = append(cmds, v.reloadVersionStatus()) // a change takes it out of review
	}
	if len(s.queue) == 0 && v.shown == showSample && !moved {
		cmds = append(cmds, v.refreshSample())
	}
	if len(s.queue) == 0 && s.refusals > 0 {
		what := s.firstRefusal
		if s.refusals > 1 {
			what = prose.Count(s.refusals, "change was", "changes were") + " rejected; the first: " + s.firstRefusal
		}
		a.statusText, a.isError = what, true
		s.refusals, s.firstRefusal = 0, ""
	}
	if len(s.clashes) > 0 && a.overlay == nil {
		a.overlay = &clashPrompt{app: a}
	}
	return tea.Batch(append(cmds, s.sendNextEdits(a))...)
}

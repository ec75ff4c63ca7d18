package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// edit is a change of one item that is not saved yet. It names the item by its key, which
// stays the same in the next version, where the id does not.
type edit struct {
	review *review
	key    string
	set    map[string]string // shared, and never changed
	// restore are fields that an undo gives back to the rules, where they were theirs.
	restore []string
	// moved: it was sent on to the next version once already.
	moved bool
}

// saver sends changes as they are made, a few at a time and each on the revision that
// was seen. What can't be sent is kept, and sent when somebody answers again.
type saver struct {
	queue   []*edit
	sending []*edit
	clashes []*clash
	// refusals counts those of the changes under way, first is the reason of the first.
	refusals int
	first    string
}

// clash is a change of an item that another person has changed meanwhile.
type clash struct {
	edit   *edit
	theirs any
}

// batch is how many changes are sent before the screen hears of it.
const batch = 16

// waiting is how many changes are not saved yet.
func (s *saver) waiting() int { return len(s.queue) + len(s.sending) + len(s.clashes) }

// of are the values of a review's items that are not saved yet, for some keys.
func (s *saver) of(v *review, keys map[string]bool) map[string]map[string]string {
	out := map[string]map[string]string{}
	add := func(e *edit) {
		if e.review == v && keys[e.key] {
			out[e.key] = joined(out[e.key], e.set)
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

// add keeps a change; one of the same item that is not sent yet takes it up.
func (s *saver) add(e *edit, unsent map[string]*edit) {
	if before := unsent[e.key]; before != nil {
		before.set = joined(before.set, e.set)
		before.restore = append(slices.DeleteFunc(before.restore, func(n string) bool { _, again := e.set[n]; return again }), e.restore...)
		return
	}
	s.queue = append(s.queue, e)
}

// drop forgets a change that is not sent yet.
func (s *saver) drop(e *edit) {
	s.queue = slices.DeleteFunc(s.queue, func(q *edit) bool { return q == e })
}

// giveUp takes back the changes of a review that is not there any more, or not for this
// person: nobody will ever take them. What was typed is offered again should it come back.
func (s *saver) giveUp(v *review) {
	keys := map[string]bool{}
	s.queue = slices.DeleteFunc(s.queue, func(e *edit) bool {
		if e.review != v {
			return false
		}
		keys[e.key] = true
		if r := v.byKey[e.key]; r != nil {
			r.refused = e.set
		}
		return true
	})
	v.overlay(keys)
}

// unsent are the changes of a review that are still to be sent, by key.
func (s *saver) unsent(v *review) map[string]*edit {
	out := map[string]*edit{}
	for _, e := range s.queue {
		if e.review == v {
			out[e.key] = e
		}
	}
	return out
}

// order is a change as it is sent.
type order struct {
	edit        *edit
	id, control string
	revision    int
	set         map[string]string
	body        []byte
}

// outcome is what became of it.
type outcome struct {
	item   any
	theirs any
	err    error
}

// try sends the next changes, unless some are under way.
func (s *saver) try(a *App) tea.Cmd {
	if len(s.sending) > 0 || len(s.queue) == 0 {
		return nil
	}
	v := s.queue[0].review
	if v.version == nil || v.reading > 0 {
		return nil // the items are read again first; then this is called again
	}
	var orders []order
	var rest []*edit
	taken := map[string]bool{}
	for i, e := range s.queue {
		if len(orders) == batch {
			rest = append(rest, s.queue[i:]...)
			break
		}
		r := v.byKey[e.key]
		switch {
		case e.review != v || taken[e.key] || r != nil && r.conflict:
			rest = append(rest, e)
		case r == nil:
			s.refuse("there is no " + e.key + " any more")
		default:
			taken[e.key] = true
			reset := slices.DeleteFunc(slices.Clone(e.restore), func(n string) bool { return !slices.Contains(r.head.EditedFields, n) })
			set := e.set
			if len(reset) > 0 { // the rules say what they were, and what followed from that
				set = maps.Clone(e.set)
				maps.DeleteFunc(set, func(n, _ string) bool { return slices.Contains(e.restore, n) })
			}
			orders = append(orders, order{edit: e, id: r.head.ID, control: r.head.ControlCode, revision: r.head.Revision, set: e.set, body: v.kind.body(set, reset)})
			s.sending = append(s.sending, e)
		}
	}
	s.queue = rest
	if len(orders) == 0 {
		return nil
	}
	k, version := v.kind, v.version.ID
	return a.later(func(ctx context.Context) func() tea.Cmd {
		var done []outcome
		for _, o := range orders {
			one := k.send(ctx, a.Caller, version, o)
			done = append(done, one)
			if one.err != nil && gone(one.err) {
				break
			}
			if one.err == nil && one.theirs == nil && k.head(one.item).VersionID != version {
				break // the others are in the next version by now
			}
		}
		return func() tea.Cmd { return s.sent(a, v, orders, done) }
	})
}

// send sends one change, and where another person was first, reads what they made of it.
func (k *kind) send(ctx context.Context, c Caller, version string, o order) outcome {
	item, err := k.patch(ctx, c, o.id, match(o.revision), o.body)
	if err == nil && k.key(item) != o.edit.key {
		err = fmt.Errorf("the answer to a change of %s is of something else", o.edit.key)
	}
	if !stale(err) {
		return outcome{item: item, err: err}
	}
	all, _, err := k.items(ctx, c, version, o.control, api.Paging{Limit: api.MaxListLimit})
	if err != nil {
		return outcome{err: err}
	}
	for _, theirs := range all {
		if k.head(theirs).ID != o.id {
			continue
		}
		for name, value := range o.set {
			if k.attr(name).get(theirs) != value {
				return outcome{theirs: theirs}
			}
		}
		return outcome{item: theirs} // it says so already: an answer that was lost
	}
	return outcome{err: api.NotFound(k.line, o.control)}
}

// stale tells whether a change was refused because the item is another by now.
func stale(err error) bool {
	e := api.AsError(err)
	return err != nil && e.Code == api.CodeValidation && slices.ContainsFunc(e.Details, func(d api.ErrorDetail) bool { return d.Field == "If-Match" })
}

func (s *saver) refuse(why string) {
	if s.refusals == 0 {
		s.first = why
	}
	s.refusals++
}

// sent takes what became of changes.
func (s *saver) sent(a *App, v *review, orders []order, done []outcome) tea.Cmd {
	s.sending = nil
	var cmds []tea.Cmd
	var back []*edit
	var lostBy error
	moved := false
	for i, o := range orders {
		if i >= len(done) {
			back = append(back, o.edit)
			continue
		}
		switch d := done[i]; {
		case d.err == nil && d.theirs != nil:
			s.clashes = append(s.clashes, &clash{o.edit, d.theirs})
			v.byKey[o.edit.key].conflict = true
		case d.err == nil:
			a.found()
			v.took(o.edit.key, d.item)
			moved = moved || v.version != nil && v.kind.head(d.item).VersionID != v.version.ID
		case gone(d.err):
			lostBy = d.err
			back = append(back, o.edit)
		case (api.IsCode(d.err, api.CodeInvalidState) || api.IsCode(d.err, api.CodeNotFound)) && !o.edit.moved:
			// The version may have been followed by another: the change goes to the newest.
			o.edit.moved, moved = true, true
			back = append(back, o.edit)
		default:
			s.refuse(o.edit.key + ": " + explain(d.err))
			if r := v.byKey[o.edit.key]; r != nil {
				r.refused = o.edit.set
			}
		}
	}
	s.queue = append(back, s.queue...)
	keys := map[string]bool{}
	for _, o := range orders {
		keys[o.edit.key] = true
	}
	v.overlay(keys)
	if lostBy != nil {
		return a.lose(lostBy)
	}
	switch {
	case moved:
		cmds = append(cmds, v.load())
	case v.version != nil && v.version.Status == api.VersionUnderReview && len(done) > 0:
		cmds = append(cmds, v.reload()) // a change takes it out of review
	}
	if len(s.queue) == 0 && s.refusals > 0 {
		what := s.first
		if s.refusals > 1 {
			what = print.Count(s.refusals, "change was", "changes were") + " refused; the first: " + s.first
		}
		a.said, a.trouble = what, true
		s.refusals, s.first = 0, ""
	}
	if len(s.clashes) > 0 && a.over == nil {
		a.over = &settle{app: a}
	}
	return tea.Batch(append(cmds, s.try(a))...)
}

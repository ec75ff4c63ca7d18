package tui

import (
	"context"
	"fmt"
	"maps"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// review is the work on one deliverable: its items on the left, one of them on the right.
type review struct {
	app        *App
	kind       *kind
	assessment api.Assessment
	version    *api.DeliverableVersion
	rows       []*row
	byKey      map[string]*row
	list       list.List
	// reading counts the pages under way; turn is the reading they belong to.
	reading, turn, total int
	read                 bool
	search               *input.Field // not nil while a filter is typed
	onlyOpen             bool
	onDetail             bool
	gantt                bool
	scroll               int
	drawn                drawnPage
	quote                int
	undone               []undoGroup
	pasts                map[string]*past
	showPast             bool
	warned               string // the version for which it was said that a change has consequences
	want                 string // the key of the item to go to once it is read
}

// reviewOf is the review of an assessment's deliverable; the same while the program runs.
func (a *App) reviewOf(one api.Assessment, g api.Gate) *review {
	key := one.ID + "/" + string(g)
	if v := a.reviews[key]; v != nil {
		v.assessment = one
		return v
	}
	v := &review{app: a, kind: kindOf(g), assessment: one, byKey: map[string]*row{}, pasts: map[string]*past{}}
	v.list = list.List{Columns: v.kind.columns, Source: v}
	a.reviews[key] = v
	return v
}

func (v *review) name() string { return capital(v.kind.gate.Title()) }

func (v *review) title() string {
	t := v.assessment.Name + " › " + v.name()
	if v.version != nil {
		t += fmt.Sprintf(" v%d, %s", v.version.VersionNumber, print.Words(v.version.Status))
	}
	return t
}

// The review is the source of its list.

func (v *review) Len() int                           { return len(v.rows) }
func (v *review) ID(i int) string                    { return v.kind.key(v.rows[i].item) }
func (v *review) Cell(i, c int) (string, draw.Style) { return v.kind.cell(v.rows[i], c) }
func (v *review) Words(i int) string                 { return v.rows[i].index() }
func (v *review) Sign(i int) string {
	switch r := v.rows[i]; {
	case r.conflict:
		return "!"
	case len(r.over) > 0:
		return "…"
	case r.refused != nil:
		return "✗"
	case !v.list.IsMarked(v.ID(i)) && v.kind.open(r):
		return "○"
	}
	return ""
}

// row is the one under the cursor; nil where there is none.
func (v *review) row() *row {
	if i, ok := v.list.Row(); ok {
		return v.rows[i]
	}
	return nil
}

// load reads the newest version and its items.
func (v *review) load() tea.Cmd {
	v.turn++
	turn := v.turn
	v.reading++
	return v.app.later(func(ctx context.Context) func() tea.Cmd {
		head, err := v.kind.newest(ctx, v.app.Caller, v.assessment.ID)
		return func() tea.Cmd {
			v.reading--
			switch {
			case turn != v.turn:
				return nil
			case err != nil:
				if !gone(err) {
					v.app.saver.giveUp(v)
				}
				return v.app.fail(err)
			}
			v.app.found()
			v.read = true
			if head == nil {
				v.version = nil
				return nil
			}
			same := v.version != nil && v.version.ID == head.ID && v.version.ContentSHA256 == head.ContentSHA256 && len(v.rows) == head.ItemCount
			if v.version == nil || len(v.rows) == 0 {
				v.version = head
			}
			if same {
				v.version = head
				v.arrive(true)
				return v.app.saver.try(v.app)
			}
			return v.page(head, "", nil, turn)
		}
	})
}

// toward has the review begin with an item.
func (v *review) toward(key string) *review {
	v.want, v.onDetail, v.gantt, v.search = key, false, false, nil
	return v
}

// arrive goes to the item that is wanted, also where a filter hides it.
func (v *review) arrive(all bool) {
	if v.want == "" {
		return
	}
	if v.byKey[v.want] != nil && !v.list.Select(v.want) {
		v.list.Filter("")
		if v.onlyOpen {
			v.narrow()
		}
		v.list.Select(v.want)
	}
	if v.byKey[v.want] == nil {
		if !all {
			return
		}
		v.app.say("%s is not in the newest version", v.want)
	}
	v.want, v.scroll, v.quote = "", 0, 0
}

// reload reads only how the version stands.
func (v *review) reload() tea.Cmd {
	id := v.version.ID
	return v.app.later(func(ctx context.Context) func() tea.Cmd {
		head, err := v.kind.version(ctx, v.app.Caller, id)
		return func() tea.Cmd {
			if err != nil {
				return v.app.fail(err)
			}
			if v.version != nil && v.version.ID == head.ID {
				v.version = head
			}
			return nil
		}
	})
}

// page reads the next items. The first are shown while the others come.
func (v *review) page(head *api.DeliverableVersion, cursor string, got []*row, turn int) tea.Cmd {
	v.reading++
	return v.app.later(func(ctx context.Context) func() tea.Cmd {
		items, at, err := v.kind.items(ctx, v.app.Caller, head.ID, "", api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		rows := make([]*row, len(items))
		for i, item := range items {
			rows[i] = v.kind.row(item)
		}
		return func() tea.Cmd {
			v.reading--
			switch {
			case turn != v.turn:
				return nil
			case err != nil:
				return v.app.fail(err)
			}
			first := len(v.rows) == len(got) && (len(got) == 0 || v.rows[0] == got[0])
			got = append(got, rows...)
			v.total = max(at.Total, len(got))
			last := at.NextCursor == nil || len(items) == 0
			if first || last {
				v.adopt(head, got)
				v.arrive(last)
			}
			if !last {
				return v.page(head, *at.NextCursor, got, turn)
			}
			return v.app.saver.try(v.app)
		}
	})
}

// adopt takes rows that were read.
func (v *review) adopt(head *api.DeliverableVersion, rows []*row) {
	byKey := make(map[string]*row, len(rows))
	for _, r := range rows {
		if before := v.byKey[v.kind.key(r.item)]; before != nil {
			r.refused, r.conflict = before.refused, before.conflict
		}
		byKey[v.kind.key(r.item)] = r
	}
	v.version, v.rows, v.byKey = head, rows, byKey
	keys := make(map[string]bool, len(byKey))
	for key := range byKey {
		keys[key] = true
	}
	v.overlay(keys)
	v.list.Refresh()
}

// took takes an item as the engine has it now.
func (v *review) took(key string, item any) {
	if r := v.byKey[key]; r != nil {
		r.item, r.head, r.refused = item, v.kind.head(item), nil
		delete(v.pasts, key)
		r.forget()
	}
}

// overlay lays what is not saved yet over the rows of some keys.
func (v *review) overlay(keys map[string]bool) {
	over := v.app.saver.of(v, keys)
	for key := range keys {
		if r := v.byKey[key]; r != nil {
			r.over = over[key]
			r.forget()
		}
	}
	v.drawn = drawnPage{}
}

// change changes fields of rows, and sends that.
func (v *review) change(rows []*row, set map[string]string) tea.Cmd {
	group := undoGroup{}
	var changed []*row
	for _, r := range rows {
		for name, value := range set {
			if r.value(name) != value {
				changed = append(changed, r)
				group.rows = append(group.rows, v.before(r))
				break
			}
		}
	}
	if len(changed) == 0 {
		v.app.say("that is so already")
		return nil
	}
	v.undone = bounded(append(v.undone, group))
	unsent := v.app.saver.unsent(v)
	for _, r := range changed {
		v.put(r, set, nil, unsent)
	}
	v.app.say("%s changed; u undoes it", these(len(changed), v.kind.key(changed[0].item)))
	return v.app.saver.try(v.app)
}

// put shows and queues a change of one row.
func (v *review) put(r *row, set map[string]string, restore []string, unsent map[string]*edit) {
	r.over = joined(r.over, set)
	r.refused = nil
	r.forget()
	v.drawn = drawnPage{}
	key := v.kind.key(r.item)
	v.app.saver.add(&edit{review: v, key: key, set: set, restore: restore}, unsent)
	if e := unsent[key]; e != nil && restore != nil && r.is(e.set) { // undone before it was sent
		v.app.saver.drop(e)
		delete(unsent, key)
		r.over = v.app.saver.of(v, map[string]bool{key: true})[key]
	}
}

// joined are values with others laid over them.
func joined(under, over map[string]string) map[string]string {
	if len(under) == 0 {
		return over
	}
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}

// is tells whether the engine has these values.
func (r *row) is(set map[string]string) bool {
	for name, value := range set {
		if r.saved(name) != value {
			return false
		}
	}
	return true
}

// chosen are the marked rows, or the one under the cursor.
func (v *review) chosen() []*row {
	var out []*row
	for _, i := range v.list.Chosen() {
		out = append(out, v.rows[i])
	}
	return out
}

// next goes to the next item that waits for a person.
func (v *review) next(back bool) {
	v.scroll, v.quote = 0, 0
	if !v.toOpen(back) {
		v.app.say("none is %s", v.kind.openWord)
	}
}

func (v *review) toOpen(back bool) bool {
	return v.list.Next(func(i int) bool { return v.kind.open(v.rows[i]) }, back)
}

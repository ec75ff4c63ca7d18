package tui

import (
	"context"
	"fmt"
	"maps"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// review shows a deliverable: its items on the left, the selected one on the right.
type review struct {
	app        *App
	kind       *deliverableType
	assessment api.Assessment
	version    *api.DeliverableVersion
	rows       []*row
	byKey      map[string]*row
	list       list.List
	// pagesInFlight counts the pending page requests, which belong to the load numbered loadSeq.
	pagesInFlight, loadSeq, total int
	loaded                        bool
	filterField                   *input.Field // not nil while a filter is typed
	shown                         subset
	detailFocused                 bool
	showGantt                     bool
	scroll                        int
	cachedPage                    drawnPage
	quoteIndex                    int
	undoStack                     []undoGroup
	histories                     map[string]*itemHistory
	showHistory                   bool
	warnedVersion                 string // the version whose consequences the user has been warned about
	wantedKey                     string // the key of the item to select once it is loaded
	// decidedQuotes holds the user's decisions on quotes since the review was opened, by quoteKey.
	decidedQuotes map[string]string
	// sampled holds the codes of the items to read in a review by sampling, and of those that the user has read since it was opened.
	sampled map[string]bool
}

// reviewFor returns the review of a deliverable; it is created once per program run.
func (a *App) reviewFor(assessment api.Assessment, g api.Gate) *review {
	key := assessment.ID + "/" + string(g)
	if v := a.reviews[key]; v != nil {
		v.assessment = assessment
		return v
	}
	v := &review{
		app: a, kind: deliverableTypeFor(g), assessment: assessment,
		byKey: map[string]*row{}, histories: map[string]*itemHistory{}, decidedQuotes: map[string]string{},
	}
	v.list = list.List{Columns: v.kind.columns, Source: v, Expression: v.compileFilter}
	a.reviews[key] = v
	return v
}

func (v *review) name() string { return prose.Capitalize(v.kind.gate.Title()) }

func (v *review) title() string {
	t := v.assessment.Name + " › " + v.name()
	if v.version != nil {
		t += fmt.Sprintf(" v%d, %s", v.version.VersionNumber, prose.Humanize(v.version.Status))
	}
	return t
}

// compileFilter returns a function that reports whether an expression selects a row.
func (v *review) compileFilter(text string) (func(row int) bool, error) {
	selects, err := v.kind.compileFilter(text)
	if err != nil {
		return nil, err
	}
	return func(i int) bool { return selects(v.rows[i].item) }, nil
}

// These methods implement list.Source.

func (v *review) Len() int                           { return len(v.rows) }
func (v *review) ID(i int) string                    { return v.kind.keyOf(v.rows[i].item) }
func (v *review) Cell(i, c int) (string, draw.Style) { return v.kind.cell(v.rows[i], c) }
func (v *review) FilterText(i int) string            { return v.rows[i].searchText() }
func (v *review) Marker(i int) string {
	switch r := v.rows[i]; {
	case r.hasConflict:
		return "!"
	case len(r.unsaved) > 0:
		return "…"
	case r.rejected != nil:
		return "✗"
	case !v.list.IsMarked(v.ID(i)) && v.isOpen(r):
		return "○"
	}
	return ""
}

// selectedRow returns the row under the cursor, or nil.
func (v *review) selectedRow() *row {
	if i, ok := v.list.CurrentRow(); ok {
		return v.rows[i]
	}
	return nil
}

// load reads the newest version and its items.
func (v *review) load() tea.Cmd {
	v.loadSeq++
	turn := v.loadSeq
	v.pagesInFlight++
	return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		head, err := v.kind.fetchNewest(ctx, v.app.Caller, v.assessment.ID)
		return func() tea.Cmd {
			v.pagesInFlight--
			switch {
			case turn != v.loadSeq:
				return nil
			case err != nil:
				if !isRetryableError(err) {
					v.app.saver.discardReviewEdits(v)
				}
				return v.app.showErrorOrReconnect(err)
			}
			v.app.markConnected()
			v.loaded = true
			if head == nil {
				v.version = nil
				return nil
			}
			same := v.version != nil && v.version.ID == head.ID && v.version.ContentSHA256 == head.ContentSHA256 &&
				len(v.rows) == head.ItemCount
			if v.version == nil || len(v.rows) == 0 {
				v.version = head
			}
			if same {
				v.version = head
				v.selectWantedItem(true)
				return v.app.saver.sendNextEdits(v.app)
			}
			return v.readItemPages(head, "", nil, turn)
		}
	})
}

// selectItemOnceLoaded makes the review select an item as soon as it is loaded. It returns the review.
func (v *review) selectItemOnceLoaded(key string) *review {
	v.wantedKey, v.detailFocused, v.showGantt, v.filterField = key, false, false, nil
	return v
}

// selectWantedItem selects the item that the review was asked to open with, even if a filter hides it.
func (v *review) selectWantedItem(allLoaded bool) {
	if v.wantedKey == "" {
		return
	}
	if v.byKey[v.wantedKey] != nil && !v.list.MoveToID(v.wantedKey) {
		v.list.SetFilter("")
		v.showOnly(v.shown)
		v.list.MoveToID(v.wantedKey)
	}
	if v.byKey[v.wantedKey] == nil {
		if !allLoaded {
			return
		}
		v.app.setStatus("%s is not in the newest version", v.wantedKey)
	}
	v.wantedKey, v.scroll, v.quoteIndex = "", 0, 0
}

// reloadVersionStatus reloads only the version's status.
func (v *review) reloadVersionStatus() tea.Cmd {
	id := v.version.ID
	return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		head, err := v.kind.fetchVersion(ctx, v.app.Caller, id)
		return func() tea.Cmd {
			if err != nil {
				return v.app.showErrorOrReconnect(err)
			}
			if v.version != nil && v.version.ID == head.ID {
				v.version = head
			}
			return nil
		}
	})
}

// readItemPages reads the next items. The first page is shown while the others load.
func (v *review) readItemPages(head *api.DeliverableVersion, cursor string, rowsSoFar []*row, loadSeq int) tea.Cmd {
	v.pagesInFlight++
	return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		items, at, err := v.kind.fetchItems(ctx, v.app.Caller, head.ID, "", api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		rows := make([]*row, len(items))
		for i, item := range items {
			rows[i] = v.kind.newRow(item)
		}
		return func() tea.Cmd {
			v.pagesInFlight--
			switch {
			case loadSeq != v.loadSeq:
				return nil
			case err != nil:
				return v.app.showErrorOrReconnect(err)
			}
			first := len(v.rows) == len(rowsSoFar) && (len(rowsSoFar) == 0 || v.rows[0] == rowsSoFar[0])
			rowsSoFar = append(rowsSoFar, rows...)
			v.total = max(at.Total, len(rowsSoFar))
			last := at.NextCursor == nil || len(items) == 0
			if first || last {
				v.setRows(head, rowsSoFar)
				v.selectWantedItem(last)
			}
			if !last {
				return v.readItemPages(head, *at.NextCursor, rowsSoFar, loadSeq)
			}
			return v.app.saver.sendNextEdits(v.app)
		}
	})
}

// setRows sets the rows after loading.
func (v *review) setRows(head *api.DeliverableVersion, rows []*row) {
	byKey := make(map[string]*row, len(rows))
	for _, r := range rows {
		if before := v.byKey[v.kind.keyOf(r.item)]; before != nil {
			r.rejected, r.hasConflict = before.rejected, before.hasConflict
		}
		byKey[v.kind.keyOf(r.item)] = r
	}
	v.version, v.rows, v.byKey = head, rows, byKey
	keys := make(map[string]bool, len(byKey))
	for key := range byKey {
		keys[key] = true
	}
	v.applyUnsaved(keys)
	v.list.Refresh()
}

// updateItem replaces an item with its current state on the server.
func (v *review) updateItem(key string, item any) {
	if r := v.byKey[key]; r != nil {
		r.item, r.head, r.rejected = item, v.kind.commonFields(item), nil
		delete(v.histories, key)
		r.clearCachedSearchText()
	}
}

// applyUnsaved applies unsaved changes to the rows with the given keys.
func (v *review) applyUnsaved(keys map[string]bool) {
	unsaved := v.app.saver.unsavedValues(v, keys)
	for key := range keys {
		if r := v.byKey[key]; r != nil {
			r.unsaved = unsaved[key]
			r.clearCachedSearchText()
		}
	}
	v.cachedPage = drawnPage{}
}

// changeRows changes fields of rows and sends the changes.
func (v *review) changeRows(rows []*row, set map[string]string) tea.Cmd {
	group := undoGroup{}
	var changed []*row
	for _, r := range rows {
		for name, value := range set {
			if r.currentValue(name) != value || v.confirms(r, name) {
				changed = append(changed, r)
				group.rows = append(group.rows, v.newUndoRow(r))
				break
			}
		}
	}
	if len(changed) == 0 {
		v.app.setStatus("nothing was changed, because the value is the same")
		return nil
	}
	v.undoStack = trimUndo(append(v.undoStack, group))
	unsent := v.app.saver.queuedEditsByKey(v)
	for _, r := range changed {
		v.queueChange(r, set, nil, unsent, len(changed) > 1 && set["needs_review"] == "false")
	}
	v.app.setStatus("%s changed; u undoes it", formatCodeOrCount(len(changed), v.kind.keyOf(changed[0].item)))
	return v.app.saver.sendNextEdits(v.app)
}

// queueChange shows a change of one row as unsaved and queues it. Undoing a change that has not been sent
// removes that change from the queue. inBulk is set if the row is accepted together with others.
func (v *review) queueChange(r *row, set map[string]string, restore []string, unsent map[string]*pendingEdit, inBulk bool) {
	r.unsaved = mergeValues(r.unsaved, set)
	r.rejected = nil
	r.clearCachedSearchText()
	v.cachedPage = drawnPage{}
	key := v.kind.keyOf(r.item)
	v.app.saver.enqueueOrMerge(&pendingEdit{review: v, key: key, values: set, restore: restore, inBulk: inBulk}, unsent)
	if e := unsent[key]; e != nil && restore != nil && r.matchesSavedValues(e.values) { // undone before it was sent
		v.app.saver.dequeue(e)
		delete(unsent, key)
		r.unsaved = v.app.saver.unsavedValues(v, map[string]bool{key: true})[key]
	}
}

// mergeValues returns values overridden by others.
func mergeValues(base, overrides map[string]string) map[string]string {
	if len(base) == 0 {
		return overrides
	}
	out := maps.Clone(base)
	maps.Copy(out, overrides)
	return out
}

// matchesSavedValues reports whether a row's saved values equal the given ones.
func (r *row) matchesSavedValues(values map[string]string) bool {
	for name, value := range values {
		if r.savedValue(name) != value {
			return false
		}
	}
	return true
}

// selectedRows returns the marked rows, or else the one under the cursor.
func (v *review) selectedRows() []*row {
	var out []*row
	for _, i := range v.list.MarkedOrCurrentRows() {
		out = append(out, v.rows[i])
	}
	return out
}

// goToNextOpenItem moves to the next item that needs attention.
func (v *review) goToNextOpenItem(backward bool) {
	v.scroll, v.quoteIndex = 0, 0
	if !v.selectNextOpenItem(backward) {
		v.app.setStatus("there are none %s", v.openLabel())
	}
}

// selectMostUrgentItem moves to the next item that needs attention. Items on which a second reader disagrees come
// first.
func (v *review) selectMostUrgentItem() (found bool) {
	isUrgent := func(i int) bool { return v.kind.isOpen(v.rows[i]) && v.kind.isDisputed(v.rows[i]) }
	return v.kind.isDisputed != nil && v.list.MoveToNext(isUrgent, false) || v.selectNextOpenItem(false)
}

// selectNextOpenItem moves to the next item that needs attention, wrapping around.
func (v *review) selectNextOpenItem(backward bool) (found bool) {
	return v.list.MoveToNext(func(i int) bool { return v.isOpen(v.rows[i]) }, backward)
}

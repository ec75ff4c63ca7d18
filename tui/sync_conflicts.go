package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
	"github.com/scf-service/service/tui/list"
)

// conflicts lists the sync conflicts of an assessment that a user must resolve.
type conflicts struct {
	*table
	assessment api.Assessment
	// showDecided shows resolved conflicts along with open ones; the background fetch reads it.
	showDecided atomic.Bool
	status      *api.SyncStatus
	// rejectedValues holds rejected input by conflict, to be offered again.
	rejectedValues map[string]string
}

// gateByTable maps a conflict's table to the gate of its deliverable.
var gateByTable = map[string]api.Gate{
	"soa_items":       api.GateSoA,
	"findings":        api.GateGapAnalysis,
	"maturity_scores": api.GateMaturity,
	"poam_items":      api.GatePOAM,
}

func newConflictsScreen(a *App, assessment api.Assessment) *conflicts {
	c := &conflicts{assessment: assessment, rejectedValues: map[string]string{}}
	t := &table{
		app: a, label: "Sync conflicts", parentTitle: assessment.Name, renderRecord: c.renderConflict, extraActions: c.conflictActions,
		emptyText: "No open conflicts. If the same field is changed both in the clone and on the remote, you can choose between the two " +
			"values here. Press w to show resolved conflicts as well.",
	}
	t.fetch = func(ctx context.Context, caller Caller, p api.Paging) ([]entry, api.Pagination, error) {
		in := &api.SyncConflictsInput{Paging: p, AssessmentID: assessment.ID, Status: "open"}
		if c.showDecided.Load() {
			in.Status = ""
		}
		l, err := call(ctx, caller, api.ListSyncConflicts, in)
		if err != nil {
			return nil, api.Pagination{}, err
		}
		out := make([]entry, len(l.Data))
		for i := range l.Data {
			out[i] = conflictEntry(&l.Data[i])
		}
		return out, l.Pagination, nil
	}
	t.marker = func(record any) string {
		if record.(*api.SyncConflict).Status != "open" {
			return "✓"
		}
		return ""
	}
	c.table = t.withColumns(
		list.Column{Title: "what", Width: 26},
		list.Column{Title: "remote"},
		list.Column{Title: "clone", ShowFrom: 60},
		list.Column{Title: "state", Width: 16, ShowFrom: 88},
	)
	return c
}

func (c *conflicts) load() tea.Cmd {
	return tea.Batch(c.table.load(), c.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		st, err := call(ctx, c.app.Caller, api.GetSyncStatus, &api.SyncInput{AssessmentID: c.assessment.ID})
		return func() tea.Cmd {
			if err != nil {
				return c.app.showErrorOrReconnect(err)
			}
			c.status, c.drawnRow = st, nil
			return nil
		}
	}))
}

func conflictEntry(c *api.SyncConflict) entry {
	what, state := strings.TrimSpace(c.Label+" "+prose.Humanize(c.Field)), "open"
	if what == "" {
		what = c.Kind
	}
	if c.Status != "open" {
		state = "resolved: " + c.Choice
	}
	return newEntry(c.ID, c, []draw.Style{draw.Bold}, what, formatConflictSide(c, c.Remote), formatConflictSide(c, c.Clone), state)
}

// conflictField returns the field that a conflict is about, or nil if it is not a deliverable's
// field.
func conflictField(c *api.SyncConflict) *attr {
	if g := gateByTable[c.Table]; g != "" {
		return deliverableTypeFor(g).findAttr(c.Field)
	}
	return nil
}

// formatConflictSide formats the value of one side of a conflict in the same way as other screens.
func formatConflictSide(c *api.SyncConflict, s api.SyncSide) string {
	text := sideValueText(s)
	if a := conflictField(c); a != nil && slices.Contains(a.choices, text) {
		if a.form == formNumber {
			return formatLevel(text)
		}
		return prose.Humanize(text)
	}
	return text
}

// sideValueText returns the value of one side of a conflict as text.
func sideValueText(s api.SyncSide) string {
	if !isNonNullJSON(s.Value) {
		return "(empty)"
	}
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, s.Value, "", "  ") != nil {
		return string(s.Value)
	}
	return b.String()
}

// isNonNullJSON reports whether v is a JSON value other than null.
func isNonNullJSON(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

func (c *conflicts) renderConflict(p *draw.Page, record any) {
	one := record.(*api.SyncConflict)
	p.AddText(draw.Bold, one.Message)
	state, style := "open", draw.Yellow
	if one.Status != "open" {
		state, style = "resolved: "+one.Choice+" by "+stringOrEmpty(one.ResolvedBy)+", "+formatTimePtr(one.ResolvedAt), draw.Plain
	}
	p.AddField("state", state, style)
	p.AddField("type", one.Kind, draw.Plain)
	p.AddField("item", one.Label, draw.Plain)
	p.AddField("field", prose.Humanize(one.Field), draw.Plain)
	for _, s := range []struct {
		key, name string
		side      api.SyncSide
	}{{"h", "Remote", one.Remote}, {"c", "Clone", one.Clone}, {"b", "Common base", one.Base}} {
		key := ""
		if one.Status == "open" {
			key = s.key + "  "
		}
		p.AddTitle("%s%s%s", key, s.name, c.localSideSuffix(s.key))
		if who := strings.Trim(s.side.By+", "+formatTimePtr(s.side.At), ", "); who != "" {
			p.AddIndented(2, draw.Dim, who)
		}
		p.AddIndented(2, draw.Plain, formatConflictSide(one, s.side))
	}
}

// localSideSuffix returns " (here)" for the side of a conflict that is the local one, and "" for the
// other.
func (c *conflicts) localSideSuffix(sideKey string) string {
	if st := c.status; st != nil && (st.Role == "remote" && sideKey == "h" || st.Role == "clone" && sideKey == "c") {
		return " (here)"
	}
	return ""
}

func (c *conflicts) conflictActions(record any) []action.Action {
	a := c.app
	one, _ := record.(*api.SyncConflict)
	off := ""
	switch {
	case one == nil:
		off = "no conflict is selected"
	case one.Status != "open" && c.list.MarkedCount() == 0:
		off = "the conflict is already resolved"
	}
	line := off
	if one != nil {
		if line = ""; gateByTable[one.Table] == "" {
			line = "the conflict does not concern an item of a deliverable"
		}
	}
	only := off
	if only == "" && c.list.MarkedCount() > 1 {
		only = "a value can be set for only one conflict at a time; press Esc to clear the marks"
	}
	decide := func(choice string) func() tea.Cmd { return func() tea.Cmd { return c.resolveSelected(choice) } }
	return []action.Action{
		{
			Keys:           []string{"h"},
			Label:          "remote's",
			DisabledReason: off,
			Help:           "keeps the remote's value for this conflict, or for all marked conflicts",
			Do:             decide("remote"),
		},
		{
			Keys:           []string{"c"},
			Label:          "clone's",
			DisabledReason: off,
			Help:           "keeps the clone's value for this conflict, or for all marked conflicts",
			Do:             decide("clone"),
		},
		{
			Keys:           []string{"b"},
			Label:          "base",
			DisabledReason: off,
			Help:           "restores the common base value for this conflict, or for all marked conflicts",
			Do:             decide("base"),
		},
		{
			Keys:           []string{"e"},
			Label:          "edit",
			DisabledReason: only,
			Help:           "sets another value, starting from the remote's value",
			Do:             func() tea.Cmd { return c.promptValue(one) },
		},
		{
			Keys:           []string{" "},
			Label:          "mark",
			DisabledReason: off,
			Help:           "marks the conflict and moves to the next one",
			Do:             func() tea.Cmd { c.list.ToggleMark(); c.list.Move(1); return nil },
		},
		{
			Keys:           []string{"*"},
			DisabledReason: off,
			Help:           "marks all visible rows, or clears their marks if all of them are marked",
			Do:             func() tea.Cmd { c.list.ToggleVisibleMarks(); return nil },
		},
		{
			Keys: []string{
				"enter",
			},
			Label:          "item",
			DisabledReason: line,
			Help: "opens the item for review, where you can change the field and undo the change as usual; " +
				"the conflict itself can be resolved only once",
			Do: func() tea.Cmd {
				return a.push(a.reviewFor(c.assessment, gateByTable[one.Table]).selectItemOnceLoaded(one.Label))
			},
		},
		{
			Keys:           []string{"B"},
			Label:          "sync",
			DisabledReason: syncBlockedReason(a, c.status),
			Help:           "pushes local changes and pulls changes from the remote, like `service sync`",
			Do:             func() tea.Cmd { return a.syncWithRemote(c.assessment.ID, c.load) },
		},
		{Keys: []string{"w"}, Help: "also shows resolved conflicts; press again to hide them", Do: func() tea.Cmd {
			c.showDecided.Store(!c.showDecided.Load())
			c.list.ClearMarks()
			return c.load()
		}},
	}
}

// resolveSelected resolves the marked conflicts, or the one under the cursor. It asks for confirmation
// before it resolves several.
func (c *conflicts) resolveSelected(choice string) tea.Cmd {
	var orders []*api.ResolveSyncInput
	for _, i := range c.list.MarkedOrCurrentRows() {
		one := c.entries[i].record.(*api.SyncConflict)
		if one.Status != "open" {
			continue
		}
		in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: one.ID}}
		in.Body.Choice = choice
		if choice == "base" {
			in.Body.Choice, in.Body.Value = "value", one.Base.Value
			if len(in.Body.Value) == 0 {
				in.Body.Value = json.RawMessage("null")
			}
		}
		orders = append(orders, in)
	}
	if len(orders) == 0 {
		c.app.setStatus("all selected conflicts are already resolved")
		return nil
	}
	if len(orders) == 1 {
		return c.sendResolutions(orders)
	}
	words := map[string]string{"remote": "Keep the remote's value", "clone": "Keep the clone's value", "base": "Restore the common base value"}
	c.app.overlay = &confirmPrompt{
		app:          c.app,
		title:        fmt.Sprintf("%s for %d conflicts?", words[choice], len(orders)),
		lines:        []string{"A conflict can be resolved only once."},
		confirmLabel: "resolve",
		onConfirm:    func() tea.Cmd { return c.sendResolutions(orders) },
	}
	return nil
}

// sendResolutions sends resolutions one by one. Conflicts whose resolution is rejected stay open, and the reason is
// shown.
func (c *conflicts) sendResolutions(orders []*api.ResolveSyncInput) tea.Cmd {
	resolve := c.app.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
			return call(ctx, c.app.Caller, api.ResolveSyncConflict, in)
		}
	}
	return c.app.runInBackgroundWithTimeout(workTimeout, func(ctx context.Context) func() tea.Cmd {
		resolved := map[string]*api.SyncConflict{}
		var first error
		for _, in := range orders {
			got, err := resolve(ctx, in)
			switch {
			case err == nil:
				resolved[got.ID] = got
				continue
			case first == nil:
				first = err
			}
			if isRetryableError(err) {
				break
			}
		}
		return func() tea.Cmd { return c.showResolutions(resolved, len(orders), first) }
	})
}

// showResolutions shows the results of resolving conflicts. A clone receives resolutions made on its
// remote with the next sync; until then, the clone's own records show them as open.
func (c *conflicts) showResolutions(resolved map[string]*api.SyncConflict, total int, err error) tea.Cmd {
	for i := range c.entries {
		if got := resolved[c.entries[i].id]; got != nil {
			delete(c.rejectedValues, got.ID)
			c.entries[i] = conflictEntry(got)
		}
	}
	c.drawnRow = nil
	c.list.ClearMarks()
	c.list.Refresh()
	if err != nil { // not retried automatically, since the user may have changed their mind
		c.app.statusText, c.app.isError = "not resolved: "+explainError(err), true
		if total > 1 {
			c.app.statusText = fmt.Sprintf("%d of %d conflicts resolved; first error: %s", len(resolved), total, explainError(err))
		}
		return nil
	}
	onRemote := ""
	if c.status != nil && c.status.Role == "clone" {
		onRemote = " on the remote; press B to sync the result to this clone"
	}
	c.app.setStatus("%s resolved%s", prose.Count(total, "conflict is", "conflicts are"), onRemote)
	if onRemote != "" {
		c.list.Move(1)
		return nil
	}
	return c.load()
}

// promptValue asks for another value: from the field's choices if it has any, otherwise as text.
func (c *conflicts) promptValue(conflict *api.SyncConflict) tea.Cmd {
	title := prose.Capitalize(strings.TrimSpace(prose.Humanize(conflict.Field) + " of " + conflict.Label))
	set := func(v json.RawMessage) tea.Cmd {
		in := &api.ResolveSyncInput{SyncConflictInput: api.SyncConflictInput{ConflictID: conflict.ID}}
		in.Body.Choice, in.Body.Value = "value", v
		return c.sendResolutions([]*api.ResolveSyncInput{in})
	}
	at := conflictField(conflict)
	now := ""
	if isNonNullJSON(conflict.Remote.Value) {
		now = sideValueText(conflict.Remote)
	}
	choices := []string(nil)
	if at != nil {
		choices = at.choices
		if at.form == formBool {
			choices, now = []string{"true", "false"}, string(conflict.Remote.Value)
		}
	}
	if len(choices) > 0 {
		describe := prose.Humanize[string]
		if at.form == formNumber {
			describe = formatLevel
		}
		c.app.overlay = &choicePrompt{
			app:      c.app,
			title:    title,
			options:  choices,
			labelOf:  describe,
			cursor:   max(0, slices.Index(choices, now)),
			onChoose: func(word string) tea.Cmd { return set(at.encodeJSON(word)) },
		}
		return nil
	}
	isText := at != nil || isTextConflict(conflict)
	if text, is := c.rejectedValues[conflict.ID]; is {
		now = text
	}
	q := &textPrompt{app: c.app, title: title, field: input.New(now, at == nil || at.form == formLongText), allowEditor: true}
	if !isText {
		q.lines = []string{"as JSON"}
	}
	q.onSubmit = func(text string) tea.Cmd {
		why := ""
		switch {
		case at != nil:
			why = at.validationError(text)
		case !isText && !json.Valid([]byte(text)):
			why = "invalid JSON"
		}
		if why != "" {
			c.app.overlay = q
			c.app.setStatus("%s", why)
			return nil
		}
		c.rejectedValues[conflict.ID] = text
		switch {
		case at != nil:
			return set(at.encodeJSON(text))
		case isText:
			b, _ := json.Marshal(text) // a string can always be encoded
			return set(b)
		}
		return set(json.RawMessage(text))
	}
	c.app.overlay = q
	return nil
}

// isTextConflict reports whether a conflict's values are strings.
func isTextConflict(conflict *api.SyncConflict) bool {
	texts := 0
	for _, s := range []api.SyncSide{conflict.Remote, conflict.Clone, conflict.Base} {
		var text string
		switch {
		case !isNonNullJSON(s.Value):
		case json.Unmarshal(s.Value, &text) == nil:
			texts++
		default:
			return false
		}
	}
	return texts > 0
}

// encodeJSON encodes a value for the API.
func (a *attr) encodeJSON(value string) json.RawMessage {
	var v any = value
	switch {
	case a.nullable && strings.TrimSpace(value) == "":
		v = nil
	case a.form == formNumber:
		v, _ = strconv.Atoi(value) // validated on input
	case a.form == formBool:
		v = value == "true"
	}
	b, _ := json.Marshal(v) // strings, numbers and booleans can always be encoded
	return b
}

// syncBlockedReason returns why an assessment can't be synced from here, or "".
func syncBlockedReason(a *App, st *api.SyncStatus) string {
	switch {
	case st == nil:
		return "still loading"
	case a.syncing:
		return "a sync is in progress"
	case st.Role != "clone":
		return "this assessment is not a clone; clone an assessment with `service sync clone`, or publish this assessment with `service sync publish`"
	case a.Sync == nil:
		return "use `service sync` on the machine that has the clone"
	}
	return ""
}

// syncWithRemote syncs a clone with its remote.
func (a *App) syncWithRemote(assessmentID string, done func() tea.Cmd) tea.Cmd {
	a.setStatus("syncing…")
	a.syncing = true
	return a.runInBackgroundWithTimeout(workTimeout, func(ctx context.Context) func() tea.Cmd {
		what, err := a.Sync(ctx, assessmentID)
		return func() tea.Cmd {
			a.syncing = false
			if err != nil {
				a.statusText, a.isError = explainError(err), true
				return done()
			}
			a.setStatus("%s", what)
			return done()
		}
	})
}

// formatSyncStatus describes an assessment's sync status, or returns "" if it is not synced.
func formatSyncStatus(st *api.SyncStatus) (text string, textStyle draw.Style) {
	if st == nil || st.Role == "none" || st.Role == "" {
		return "", draw.Plain
	}
	style := draw.Plain
	var parts []string
	if st.Role == "clone" {
		parts = append(parts, "clone of "+st.Server)
		if st.Ahead > 0 {
			parts = append(parts, prose.Count(st.Ahead, "record", "records")+" ahead")
			style = draw.Yellow
		} else {
			parts = append(parts, "all changes pushed")
		}
		if st.SyncedAt != nil {
			parts = append(parts, "synced "+print.FormatTime(*st.SyncedAt))
		} else {
			parts = append(parts, "never synced")
		}
	} else {
		behind := 0
		for _, r := range st.Replicas {
			if r.Behind > 0 {
				behind++
			}
		}
		parts = append(parts, "remote of "+prose.Count(len(st.Replicas), "clone", "clones"))
		if behind > 0 {
			parts = append(parts, fmt.Sprintf("%d behind", behind))
		}
	}
	if st.OpenConflicts > 0 {
		parts = append(parts, prose.Count(st.OpenConflicts, "conflict", "conflicts")+" (c)")
		style = draw.Yellow | draw.Bold
	}
	return strings.Join(parts, ", "), style
}

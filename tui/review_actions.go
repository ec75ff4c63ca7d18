package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/input"
)

// actions returns the actions of a review. Disabled ones state the reason.
func (v *review) actions() []action.Action {
	none := ""
	if v.selectedRow() == nil {
		none = "no " + v.kind.singular + " is selected"
	}
	shut := none
	if shut == "" && v.assessment.State == api.StateClosed {
		shut = "the assessment is closed and can't be changed"
	}
	var out []action.Action
	if v.kind.acceptValues != nil {
		out = append(out, v.acceptAction(shut))
	}
	out = append(
		out,
		action.Action{
			Keys:  []string{"."},
			Label: "next",
			Help:  "goes to the next " + v.kind.singular + " " + v.kind.openLabel + " (○)",
			Do:    func() tea.Cmd { v.goToNextOpenItem(false); return nil },
		},
		action.Action{
			Keys:  []string{"/"},
			Label: "filter",
			Help: "filters the list as you type: enter words to find in the code, title, requirements and fields, " +
				"or = and an expression, such as =confidence < 0.5",
			Do: v.startFilter,
		},
	)
	for i := range v.kind.attrs {
		if a := &v.kind.attrs[i]; a.key != "" {
			out = append(out, action.Action{
				Keys: []string{a.key}, Label: a.label, DisabledReason: shut, Do: func() tea.Cmd { return v.promptFieldForSelection(a) },
				Help: "changes the " + a.label + " of the " + v.kind.singular + ", or of all marked " + v.kind.plural,
			})
		}
	}
	nothing := ""
	if len(v.undoStack) == 0 {
		nothing = "nothing has been changed here yet"
	}
	out = append(
		out,
		action.Action{
			Keys:           []string{"u"},
			Label:          "undo",
			DisabledReason: nothing,
			Do:             v.undo,
			Help:           "undoes the last change, in all items that it was applied to",
		},
		action.Action{
			Keys: []string{
				" ",
			},
			Label:          "mark",
			DisabledReason: none,
			Help:           "marks the " + v.kind.singular + " and moves to the next one; changes apply to all marked " + v.kind.plural,
			Do:             func() tea.Cmd { v.list.ToggleMark(); v.list.Move(1); return nil },
		},
		action.Action{
			Keys:           []string{"*"},
			DisabledReason: none,
			Help:           "marks all visible rows, or clears their marks if all of them are marked",
			Do:             func() tea.Cmd { v.list.ToggleVisibleMarks(); return nil },
		},
		action.Action{
			Keys:  []string{"tab", "enter"},
			Label: "pane",
			Help:  "goes from the list to the " + v.kind.singular + " and back",
			Do:    func() tea.Cmd { v.detailFocused = !v.detailFocused; return nil },
		},
		action.Action{
			Keys: []string{","},
			Help: "goes to the previous " + v.kind.singular + " " + v.kind.openLabel,
			Do:   func() tea.Cmd { v.goToNextOpenItem(true); return nil },
		},
		action.Action{
			Keys: []string{"w"},
			Help: "shows only the " + v.kind.plural + " " + v.kind.openLabel + "; press again to show all " + v.kind.plural,
			Do:   func() tea.Cmd { v.showOnly(showOpen); return nil },
		},
	)
	if v.kind.isDisputed != nil {
		undisputed := ""
		if !slices.ContainsFunc(v.rows, v.kind.isDisputed) {
			undisputed = "the second reader does not disagree on any item"
		}
		out = append(out, action.Action{
			Keys:           []string{"D"},
			DisabledReason: undisputed,
			Help:           "shows only the items on which the second reader disagrees (≠); press again to show all items",
			Do:             func() tea.Cmd { v.showOnly(showDisputed); return nil },
		})
	}
	if len(v.kind.evidenceOf(v.selectedItemOrBlank())) > 0 || v.selectedRow() == nil || v.kind.gate != api.GatePOAM {
		out = append(out, v.passageActions(none)...)
	}
	if v.kind.gate == api.GateSoA {
		out = append(append(out, v.correctionActions(shut)...), v.sampleAction(shut))
	}
	if v.kind.gate == api.GatePOAM {
		out = append(out, action.Action{
			Keys: []string{
				"g",
			}, Label: "Gantt", Help: "shows the plan as a Gantt chart with due dates, milestones and overdue items; press again to show the item",
			Do: func() tea.Cmd { v.showGantt = !v.showGantt; return nil },
		})
	}
	out = append(
		out,
		action.Action{
			Keys:           []string{"h"},
			Label:          "history",
			DisabledReason: none,
			Help:           "shows the changes and comments of the " + v.kind.singular + "; press again to show the " + v.kind.singular,
			Do:             v.toggleHistory,
		},
		action.Action{
			Keys:           []string{"E"},
			DisabledReason: firstReason(shut, noEditorReason(v.app)),
			Help:           "edits the longest text of the " + v.kind.singular + " in your editor ($VISUAL or $EDITOR)",
			Do:             v.editLongTextInEditor,
		},
		action.Action{
			Keys:           []string{"Y"},
			DisabledReason: none,
			Help:           "copies the " + v.kind.singular + " to the clipboard (OSC 52)",
			Do:             func() tea.Cmd { return v.app.copyToClipboard(v.selectedItemPlainText()) },
		},
		action.Action{
			Keys:           []string{"x"},
			DisabledReason: none,
			Help:           "exports the visible rows to a CSV file, with the same fields as in the API",
			Do:             v.exportVisibleRows,
		},
		action.Action{
			Keys:           []string{"!"},
			DisabledReason: noClashReason(v.app),
			Help:           "shows your changes that conflict with another user's changes, to choose between them",
			Do:             func() tea.Cmd { v.app.overlay = &clashPrompt{app: v.app}; return nil },
		},
		action.Action{
			Keys:           []string{"S"},
			DisabledReason: v.submitBlockedReason(),
			Help:           "submits the version for review",
			Do:             v.promptSubmission,
		},
		action.Action{
			Keys:           []string{"A"},
			Label:          "decide",
			DisabledReason: v.decideBlockedReason(),
			Help:           "opens the version under review, to approve or reject it",
			Do:             func() tea.Cmd { return v.app.push(newDecisionScreen(v.app, v.assessment, v.kind)) },
		},
	)
	return append(out, movementActions(v.moveCursorOrScroll)...)
}

// firstReason returns the first non-empty reason.
func firstReason(reasons ...string) string {
	for _, r := range reasons {
		if r != "" {
			return r
		}
	}
	return ""
}

// noClashReason returns why there is nothing to resolve, or "" if some changes conflict with another user's.
func noClashReason(a *App) string {
	if len(a.saver.clashes) == 0 {
		return "no changes conflict with another user's changes"
	}
	return ""
}

// movementActions returns the actions that move the cursor, which every list has.
func movementActions(move func(to string) tea.Cmd) []action.Action {
	one := func(to, help string, keys ...string) action.Action {
		return action.Action{Keys: keys, Help: help, Do: func() tea.Cmd { return move(to) }}
	}
	return []action.Action{
		one("up", "moves up one line", "up", "k"),
		one("down", "moves down one line", "down", "j"),
		one("pgup", "moves up one page", "pgup", "ctrl+b"),
		one("pgdown", "moves down one page", "pgdown", "ctrl+f"),
		one("home", "moves to the first row", "home"),
		one("end", "moves to the last row", "end", "G"),
	}
}

// moveCursorOrScroll moves the cursor in the list or, if the item is focused, scrolls it.
func (v *review) moveCursorOrScroll(direction string) tea.Cmd {
	if v.detailFocused {
		v.scroll = max(
			0,
			v.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[direction],
		)
		return nil
	}
	v.scroll, v.quoteIndex = 0, 0
	moveCursor(&v.list, direction)
	if !v.showHistory {
		return nil
	}
	at := v.selectedRow()
	return v.app.schedule(historyDelay, func() tea.Cmd { // no request for rows that the cursor only passes over
		if v.selectedRow() != at {
			return nil
		}
		return v.readHistoryIfShown()
	})
}

// historyDelay is how long the cursor must rest on a row before the row's history is loaded.
const historyDelay = 150 * time.Millisecond

// stepBack returns from the item to the list or, in the list, clears the filter or the marks. It returns
// false if there was nothing to do.
func (v *review) stepBack() (steppedBack bool) {
	if v.detailFocused {
		v.detailFocused = false
		return true
	}
	return clearFilterOrMarks(&v.list)
}

// selectedItemOrBlank returns the selected item, or a nil pointer of the deliverable's item type if there
// is none.
func (v *review) selectedItemOrBlank() any {
	if r := v.selectedRow(); r != nil {
		return r.item
	}
	return blankItem(v.kind)
}

// blankItem returns an empty item of the deliverable's type.
func blankItem(k *deliverableType) any {
	switch k.gate {
	case api.GateSoA:
		return &api.SoAItem{}
	case api.GateGapAnalysis:
		return &api.Finding{}
	case api.GateMaturity:
		return &api.MaturityScore{}
	}
	return &api.POAMItem{}
}

// acceptAction returns the action that accepts the selected items as drafted.
func (v *review) acceptAction(blockedReason string) action.Action {
	off := blockedReason
	if r := v.selectedRow(); off == "" && v.list.MarkedCount() == 0 {
		_, off = v.kind.acceptValues(r)
	}
	return action.Action{
		Keys: []string{
			"y",
		},
		Label:          "accept",
		DisabledReason: off,
		Help: "accepts the " + v.kind.singular + " as drafted, or all marked " + v.kind.plural + ", and moves to the next " +
			v.kind.singular + " " + v.kind.openLabel,
		Do: func() tea.Cmd {
			return v.confirmConsequences(func() tea.Cmd {
				var rows []*row
				for _, r := range v.selectedRows() {
					if _, off := v.kind.acceptValues(r); off == "" {
						rows = append(rows, r)
					}
				}
				if len(rows) == 0 {
					v.app.setStatus("none of the selected items can be accepted as drafted")
					return nil
				}
				set, _ := v.kind.acceptValues(rows[0])
				cmd := v.changeRows(rows, set)
				v.scroll, v.quoteIndex = 0, 0
				if !v.selectMostUrgentItem() {
					v.app.statusText += "; none left " + v.openLabel()
				}
				return cmd
			})
		},
	}
}

// confirmConsequences asks for confirmation, once per version, if a change has side effects.
func (v *review) confirmConsequences(change func() tea.Cmd) tea.Cmd {
	if v.version == nil || v.warnedVersion == v.version.ID {
		return change()
	}
	c := &confirmPrompt{
		app:          v.app,
		confirmLabel: "change it",
		onConfirm:    func() tea.Cmd { v.warnedVersion = v.version.ID; return change() },
	}
	switch v.version.Status {
	case api.VersionUnderReview:
		c.title = "This version is under review"
		c.lines = []string{"If you change it, the pending approval becomes void, and the version must be submitted again."}
	case api.VersionApproved, api.VersionRejected:
		c.title = fmt.Sprintf("This version is %s and can't be changed", v.version.Status)
		c.lines = []string{"If you continue, a new version is created as a draft, which must be submitted and approved."}
	default:
		return change()
	}
	v.app.overlay = c
	return nil
}

// promptFieldForSelection asks for a new value of a field of the selected rows.
func (v *review) promptFieldForSelection(a *attr) tea.Cmd {
	rows := v.selectedRows()
	if len(rows) == 0 {
		return nil
	}
	return v.confirmConsequences(func() tea.Cmd { return v.promptFieldForRows(a, rows) })
}

// promptFieldForRows asks for a new value of a field of the given rows.
func (v *review) promptFieldForRows(a *attr, rows []*row) tea.Cmd {
	value := rows[0].currentValue(a.name)
	title := prose.Capitalize(a.label) + " of " + formatCodeOrCount(len(rows), v.kind.keyOf(rows[0].item)+" "+rows[0].head.ControlTitle)
	if len(a.choices) > 0 {
		c := &choicePrompt{
			app:     v.app,
			title:   title,
			options: a.choices,
			labelOf: prose.Humanize[string],
			cursor:  max(0, slices.Index(a.choices, value)),
		}
		if a.form == formNumber {
			c.labelOf = formatLevel
		}
		c.onChoose = func(word string) tea.Cmd {
			if a.relatedField != nil {
				if also, why := a.relatedField(word); also != "" {
					return v.promptRelatedField(a, word, v.kind.findAttr(also), why, rows)
				}
			}
			return v.changeRows(rows, map[string]string{a.name: word})
		}
		v.app.overlay = c
		return nil
	}
	for _, r := range rows[1:] {
		if r.currentValue(a.name) != value {
			value = ""
		}
	}
	if rejected, was := rows[0].rejected[a.name]; was {
		value = rejected
	}
	q := &textPrompt{app: v.app, title: title, field: input.New(value, a.form == formLongText), allowEditor: a.form == formLongText}
	if a.form == formDate || a.form == formNumber {
		q.field.SelectAll() // a new date or number replaces the old one
	}
	switch {
	case a.form == formDate:
		q.lines = []string{"for example 2026-12-31" + map[bool]string{true: "; leave the field empty to remove the date"}[a.nullable]}
	case a.nullable:
		q.lines = []string{"leave the field empty to remove the value"}
	}
	q.onSubmit = func(text string) tea.Cmd {
		if a.form != formLongText {
			text = strings.TrimSpace(text)
		}
		if why := a.validationError(text); why != "" {
			v.app.overlay = q
			v.app.setStatus("%s", why)
			return nil
		}
		return v.changeRows(rows, map[string]string{a.name: text})
	}
	v.app.overlay = q
	return nil
}

// promptRelatedField asks for the second field that a value requires.
func (v *review) promptRelatedField(a *attr, value string, related *attr, question string, rows []*row) tea.Cmd {
	v.app.overlay = &textPrompt{
		app:          v.app,
		title:        prose.Capitalize(related.label) + ": " + question,
		field:        input.New("", true),
		allowEditor:  true,
		emptyMessage: "a reason is required; press Esc to cancel the change",
		onSubmit: func(text string) tea.Cmd {
			return v.changeRows(rows, map[string]string{a.name: value, related.name: text})
		},
	}
	return nil
}

// validationError returns a message if a value is invalid, or "" if it is valid.
func (a *attr) validationError(text string) string {
	switch {
	case text == "" && a.nullable:
	case a.form == formDate:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return fmt.Sprintf("%q is not a date; use the form 2026-12-31", text)
		}
	case a.form == formNumber:
		if n, err := strconv.Atoi(text); err != nil || n < a.minValue || n > a.maxValue {
			return fmt.Sprintf("%q is not a number from %d to %d", text, a.minValue, a.maxValue)
		}
	}
	return ""
}

// subset is a subset of a review's items.
type subset int

const (
	showAll      subset = iota
	showOpen            // those that need attention
	showDisputed        // those on which a second reader disagrees
	showSample          // those to read in a review by sampling
)

// showOnly shows only a subset of the items, or all items if that subset is already shown.
func (v *review) showOnly(part subset) {
	if v.shown == part {
		part = showAll
	}
	v.shown = part
	switch part {
	case showAll:
		v.list.RowFilter = nil
	case showOpen:
		v.list.RowFilter = func(i int) bool { return v.kind.isOpen(v.rows[i]) }
	case showDisputed:
		v.list.RowFilter = func(i int) bool { return v.kind.isDisputed(v.rows[i]) }
	case showSample:
		v.list.RowFilter = func(i int) bool { return v.sampled[v.rows[i].head.ControlCode] }
	}
	v.list.Refresh()
}

// startFilter starts typing a filter.
func (v *review) startFilter() tea.Cmd {
	v.filterField, v.detailFocused = input.New(v.list.Filter(), false), false
	return nil
}

// handleTextKey handles a key that is pressed while a filter is typed.
func (v *review) handleTextKey(k tea.KeyMsg) (tea.Cmd, bool) {
	return nil, handleFilterKey(&v.filterField, &v.list, k, func() { v.scroll, v.quoteIndex = 0, 0 })
}

// submitBlockedReason returns why the version can't be submitted, or "" if it can.
func (v *review) submitBlockedReason() string {
	switch {
	case v.version == nil:
		return "there is nothing to submit yet"
	case v.app.saver.unsavedCount() > 0:
		return "some changes have not been saved yet"
	case v.version.Status != api.VersionDraft:
		return "the version is " + prose.Humanize(v.version.Status) + ", not a draft"
	}
	return ""
}

// decideBlockedReason returns why the version can't be decided on, or "" if it can.
func (v *review) decideBlockedReason() string {
	switch {
	case v.version == nil:
		return "there is nothing to approve yet"
	case v.version.Status != api.VersionUnderReview:
		return "the version is " + prose.Humanize(v.version.Status) + "; first press S to submit it for review"
	case v.app.saver.unsavedCount() > 0:
		return "some changes have not been saved yet"
	}
	return ""
}

// promptSubmission asks for confirmation and then submits the version for review.
func (v *review) promptSubmission() tea.Cmd {
	id := v.version.ID
	open := 0
	for _, r := range v.rows {
		if v.kind.isOpen(r) {
			open++
		}
	}
	var lines []string
	if open > 0 {
		lines = []string{fmt.Sprintf("%d of %d are %s.", open, len(v.rows), v.kind.openLabel)}
	}
	v.app.overlay = &confirmPrompt{
		app:          v.app,
		title:        fmt.Sprintf("Submit version %d of the %s for review?", v.version.VersionNumber, v.kind.gate.Title()),
		lines:        lines,
		confirmLabel: "submit",
		onConfirm: func() tea.Cmd {
			return v.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
				err := v.kind.submit(ctx, v.app.Caller, id)
				return func() tea.Cmd {
					if err != nil {
						return tea.Batch(v.app.showErrorOrReconnect(err), v.reloadVersionStatus())
					}
					v.app.setStatus("the version was submitted for review; press A to decide")
					return v.load()
				}
			})
		},
	}
	return nil
}

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
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/input"
)

// actions of a review; each says why, where it can't be done now.
func (v *review) actions() []action.Action {
	none := ""
	if v.row() == nil {
		none = "there is no " + v.kind.line + " here"
	}
	shut := none
	if shut == "" && v.assessment.State == api.StateClosed {
		shut = "the assessment is closed; nothing can be changed after that"
	}
	var out []action.Action
	if v.kind.accept != nil {
		out = append(out, v.acceptAction(shut))
	}
	out = append(out,
		action.Action{Keys: []string{"."}, Label: "next", Help: "goes to the next " + v.kind.line + " " + v.kind.openWord + " (○)", Do: func() tea.Cmd { v.next(false); return nil }},
		action.Action{Keys: []string{"/"}, Label: "filter", Help: "filters as you type: all words have to be in the code, title, requirements or fields", Do: v.filter})
	for i := range v.kind.attrs {
		if a := &v.kind.attrs[i]; a.key != "" {
			out = append(out, action.Action{Keys: []string{a.key}, Label: a.word, Off: shut, Do: func() tea.Cmd { return v.ask(a) },
				Help: "changes the " + a.word + " of the " + v.kind.line + ", or of all that are marked"})
		}
	}
	nothing := ""
	if len(v.undone) == 0 {
		nothing = "nothing was changed here yet"
	}
	out = append(out,
		action.Action{Keys: []string{"u"}, Label: "undo", Off: nothing, Do: v.undo, Help: "takes the last change back, of all items it was made to"},
		action.Action{Keys: []string{" "}, Label: "mark", Off: none, Help: "marks the " + v.kind.line + " and goes on to the next; a change is made to all that are marked",
			Do: func() tea.Cmd { v.list.Mark(); v.list.Move(1); return nil }},
		action.Action{Keys: []string{"*"}, Off: none, Help: "marks all that are shown; once more, none", Do: func() tea.Cmd { v.list.MarkShown(); return nil }},
		action.Action{Keys: []string{"tab", "enter"}, Label: "pane", Help: "goes from the list to the " + v.kind.line + " and back", Do: func() tea.Cmd { v.onDetail = !v.onDetail; return nil }},
		action.Action{Keys: []string{","}, Help: "goes to the one before " + v.kind.openWord, Do: func() tea.Cmd { v.next(true); return nil }},
		action.Action{Keys: []string{"w"}, Help: "shows only what is " + v.kind.openWord + "; once more, all", Do: v.narrow},
	)
	if len(v.kind.evidence(v.someItem())) > 0 || v.row() == nil || v.kind.gate != api.GatePOAM {
		out = append(out, v.passageActions(none)...)
	}
	if v.kind.gate == api.GatePOAM {
		out = append(out, action.Action{Keys: []string{"g"}, Label: "Gantt", Help: "shows the plan in time: due dates, milestones, what is overdue; once more, the item",
			Do: func() tea.Cmd { v.gantt = !v.gantt; return nil }})
	}
	out = append(out,
		action.Action{Keys: []string{"h"}, Label: "history", Off: none, Help: "shows who changed the " + v.kind.line + " and what was said of it; once more, the " + v.kind.line, Do: v.history},
		action.Action{Keys: []string{"E"}, Off: cmpOff(shut, noEditor(v.app)), Help: "writes the longest text of the " + v.kind.line + " in your editor ($VISUAL or $EDITOR)", Do: v.write},
		action.Action{Keys: []string{"Y"}, Off: none, Help: "copies the " + v.kind.line + " to the clipboard (OSC 52)", Do: func() tea.Cmd { return v.app.copy(v.plainText()) }},
		action.Action{Keys: []string{"x"}, Off: none, Help: "exports what is shown as CSV, with the fields of the API", Do: v.export},
		action.Action{Keys: []string{"!"}, Off: noClash(v.app), Help: "shows changes that met another person's, to choose from", Do: func() tea.Cmd { v.app.over = &settle{app: v.app}; return nil }},
		action.Action{Keys: []string{"S"}, Off: v.notSubmittable(), Help: "submits the version for review", Do: v.submit},
		action.Action{Keys: []string{"A"}, Label: "decide", Off: v.notDecidable(), Help: "opens what is to be signed, to approve or reject it", Do: func() tea.Cmd { return v.app.push(newDecision(v.app, v.assessment, v.kind)) }},
	)
	return append(out, moving(v.moveList)...)
}

// cmpOff is the first reason there is.
func cmpOff(reasons ...string) string {
	for _, r := range reasons {
		if r != "" {
			return r
		}
	}
	return ""
}

func noClash(a *App) string {
	if len(a.saver.clashes) == 0 {
		return "no change met another person's"
	}
	return ""
}

// moving are the keys that every list has.
func moving(move func(to string) tea.Cmd) []action.Action {
	one := func(to, help string, keys ...string) action.Action {
		return action.Action{Keys: keys, Help: help, Do: func() tea.Cmd { return move(to) }}
	}
	return []action.Action{one("up", "one up", "up", "k"), one("down", "one down", "down", "j"), one("pgup", "a screen up", "pgup", "ctrl+b"), one("pgdown", "a screen down", "pgdown", "ctrl+f"),
		one("home", "to the first", "home"), one("end", "to the last", "end", "G")}
}

func (v *review) moveList(to string) tea.Cmd {
	if v.onDetail {
		v.scroll = max(0, v.scroll+map[string]int{"up": -1, "down": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20}[to])
		return nil
	}
	v.scroll, v.quote = 0, 0
	moveIn(&v.list, to)
	if !v.showPast {
		return nil
	}
	at := v.row()
	return v.app.after(restPause, func() tea.Cmd { // the past of each row that was only passed is not asked for
		if v.row() != at {
			return nil
		}
		return v.readPast()
	})
}

// restPause is how long the cursor rests before the past of its row is read.
const restPause = 150 * time.Millisecond

// stepBack goes from the item to the list, then takes the filter or the marks away.
func (v *review) stepBack() bool {
	if v.onDetail {
		v.onDetail = false
		return true
	}
	return stepIn(&v.list)
}

// someItem is an item for asking what the kind has; nil-safe through the kinds' own types.
func (v *review) someItem() any {
	if r := v.row(); r != nil {
		return r.item
	}
	return blankItem(v.kind)
}

func blankItem(k *kind) any {
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

func (v *review) acceptAction(shut string) action.Action {
	off := shut
	if r := v.row(); off == "" && v.list.MarkedCount() == 0 {
		_, off = v.kind.accept(r)
	}
	return action.Action{Keys: []string{"y"}, Label: "accept", Off: off, Help: "accepts the " + v.kind.line + " as it was drafted, and goes to the next that waits; or all that are marked",
		Do: func() tea.Cmd {
			return v.careful(func() tea.Cmd {
				var rows []*row
				for _, r := range v.chosen() {
					if _, off := v.kind.accept(r); off == "" {
						rows = append(rows, r)
					}
				}
				if len(rows) == 0 {
					v.app.say("none of them can be accepted as it is")
					return nil
				}
				set, _ := v.kind.accept(rows[0])
				cmd := v.change(rows, set)
				v.scroll, v.quote = 0, 0
				if !v.toOpen(false) {
					v.app.said += "; none is left " + v.kind.openWord
				}
				return cmd
			})
		}}
}

// careful asks first where a change does more than it says: once for a version.
func (v *review) careful(change func() tea.Cmd) tea.Cmd {
	if v.version == nil || v.warned == v.version.ID {
		return change()
	}
	c := &confirm{app: v.app, yes: "change it", do: func() tea.Cmd { v.warned = v.version.ID; return change() }}
	switch v.version.Status {
	case api.VersionUnderReview:
		c.title = "This version is under review"
		c.lines = []string{"A change takes it out of review: the approval that was asked for is void, and it has to be submitted again."}
	case api.VersionApproved, api.VersionRejected:
		c.title = fmt.Sprintf("This version is %s, and never changes", v.version.Status)
		c.lines = []string{"A change makes the next version, a draft that has to be submitted and approved itself."}
	default:
		return change()
	}
	v.app.over = c
	return nil
}

// ask asks for the new value of a field.
func (v *review) ask(a *attr) tea.Cmd {
	rows := v.chosen()
	if len(rows) == 0 {
		return nil
	}
	return v.careful(func() tea.Cmd { return v.askOf(a, rows) })
}

func (v *review) askOf(a *attr, rows []*row) tea.Cmd {
	value := rows[0].value(a.name)
	title := capital(a.word) + " of " + these(len(rows), v.kind.key(rows[0].item)+" "+rows[0].head.ControlTitle)
	if len(a.choices) > 0 {
		c := &choose{app: v.app, title: title, words: a.choices, says: print.Words[string], at: max(0, slices.Index(a.choices, value))}
		if a.form == ofNumber {
			c.says = levelWord
		}
		c.do = func(word string) tea.Cmd {
			if a.also != nil {
				if also, why := a.also(word); also != "" {
					return v.askAlso(a, word, v.kind.attr(also), why, rows)
				}
			}
			return v.change(rows, map[string]string{a.name: word})
		}
		v.app.over = c
		return nil
	}
	for _, r := range rows[1:] {
		if r.value(a.name) != value {
			value = ""
		}
	}
	if kept, was := rows[0].refused[a.name]; was {
		value = kept
	}
	q := &ask{app: v.app, title: title, field: input.New(value, a.form == ofLongText), editor: a.form == ofLongText}
	switch {
	case a.form == ofDate:
		q.lines = []string{"as 2026-12-31" + map[bool]string{true: "; empty takes it away"}[a.null]}
	case a.null:
		q.lines = []string{"empty takes it away"}
	}
	q.do = func(text string) tea.Cmd {
		if a.form != ofLongText {
			text = strings.TrimSpace(text)
		}
		if why := a.wrong(text); why != "" {
			v.app.over = q
			v.app.say("%s", why)
			return nil
		}
		return v.change(rows, map[string]string{a.name: text})
	}
	v.app.over = q
	return nil
}

// askAlso asks for a second field that the first one's value wants.
func (v *review) askAlso(a *attr, word string, also *attr, why string, rows []*row) tea.Cmd {
	v.app.over = &ask{app: v.app, title: capital(also.word) + ": " + why, field: input.New("", true), editor: true, least: "a reason is needed; Esc leaves everything as it was",
		do: func(text string) tea.Cmd { return v.change(rows, map[string]string{a.name: word, also.name: text}) }}
	return nil
}

// wrong says what is wrong with a value; empty where nothing is.
func (a *attr) wrong(text string) string {
	switch {
	case text == "" && a.null:
	case a.form == ofDate:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return fmt.Sprintf("%q is no date; write it as 2026-12-31", text)
		}
	case a.form == ofNumber:
		if n, err := strconv.Atoi(text); err != nil || n < a.low || n > a.high {
			return fmt.Sprintf("%q is no number from %d to %d", text, a.low, a.high)
		}
	}
	return ""
}

// narrow shows only what waits for a person, or all again.
func (v *review) narrow() tea.Cmd {
	v.onlyOpen = !v.onlyOpen
	v.list.Only = nil
	if v.onlyOpen {
		v.list.Only = func(i int) bool { return v.kind.open(v.rows[i]) }
	}
	v.list.Refresh()
	return nil
}

// filter begins to type a filter.
func (v *review) filter() tea.Cmd {
	v.search, v.onDetail = input.New(v.list.Filtered(), false), false
	return nil
}

// typed takes the keys of a filter.
func (v *review) typed(k tea.KeyMsg) (tea.Cmd, bool) {
	return nil, typeFilter(&v.search, &v.list, k, func() { v.scroll, v.quote = 0, 0 })
}

func (v *review) notSubmittable() string {
	switch {
	case v.version == nil:
		return "there is nothing to submit yet"
	case v.app.saver.waiting() > 0:
		return "changes are not saved yet"
	case v.version.Status != api.VersionDraft:
		return "the version is " + print.Words(v.version.Status) + ", not a draft"
	}
	return ""
}

func (v *review) notDecidable() string {
	switch {
	case v.version == nil:
		return "there is nothing to decide on yet"
	case v.version.Status != api.VersionUnderReview:
		return "the version is " + print.Words(v.version.Status) + "; submit it for review first, with S"
	case v.app.saver.waiting() > 0:
		return "changes are not saved yet"
	}
	return ""
}

// submit puts the version under review.
func (v *review) submit() tea.Cmd {
	id := v.version.ID
	open := 0
	for _, r := range v.rows {
		if v.kind.open(r) {
			open++
		}
	}
	var lines []string
	if open > 0 {
		lines = []string{fmt.Sprintf("%d of %d are %s.", open, len(v.rows), v.kind.openWord)}
	}
	v.app.over = &confirm{app: v.app, title: fmt.Sprintf("Submit version %d of the %s for review?", v.version.VersionNumber, v.kind.gate.Title()), lines: lines, yes: "submit", do: func() tea.Cmd {
		return v.app.later(func(ctx context.Context) func() tea.Cmd {
			err := v.kind.submit(ctx, v.app.Caller, id)
			return func() tea.Cmd {
				if err != nil {
					return tea.Batch(v.app.fail(err), v.reload())
				}
				v.app.say("submitted for review; A decides")
				return v.load()
			}
		})
	}}
	return nil
}

package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
)

// clashPrompt lets the user choose between two concurrent versions of an item.
type clashPrompt struct{ app *App }

func (s *clashPrompt) footer() []action.Action {
	return []action.Action{
		{Keys: []string{"m"}, Label: "keep mine"},
		{Keys: []string{"t"}, Label: "take theirs"},
		{Keys: []string{"M"}, Label: "all mine"},
		{Keys: []string{"T"}, Label: "all theirs"},
		{Keys: []string{"esc"}, Label: "decide later"},
	}
}

func (s *clashPrompt) key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "m":
		return s.resolveFirst(1, true)
	case "t":
		return s.resolveFirst(1, false)
	case "M":
		return s.resolveFirst(len(s.app.saver.clashes), true)
	case "T":
		return s.resolveFirst(len(s.app.saver.clashes), false)
	case "esc":
		s.app.overlay = nil
		s.app.setStatus("%s not been saved; press ! to resolve the conflict", prose.Count(len(s.app.saver.clashes), "change has", "changes have"))
	}
	return nil
}

// resolveFirst resolves the first n clashes. If keepMine is set, the user's own changes are sent again,
// based on the current version.
func (s *clashPrompt) resolveFirst(n int, keepMine bool) tea.Cmd {
	sv := &s.app.saver
	touched := map[*review]map[string]bool{}
	for _, c := range sv.clashes[:min(n, len(sv.clashes))] {
		v := c.edit.review
		v.updateItem(c.edit.key, c.theirs)
		if touched[v] == nil {
			touched[v] = map[string]bool{}
		}
		touched[v][c.edit.key] = true
		if r := v.byKey[c.edit.key]; r != nil {
			r.hasConflict = false
		}
		if keepMine {
			sv.queue = append([]*pendingEdit{c.edit}, sv.queue...)
		}
	}
	sv.clashes = sv.clashes[min(n, len(sv.clashes)):]
	for v, keys := range touched {
		v.applyUnsaved(keys)
	}
	if len(sv.clashes) == 0 {
		s.app.overlay = nil
	}
	return sv.sendNextEdits(s.app)
}

func (s *clashPrompt) view(w, h int) []draw.Line {
	sv := &s.app.saver
	if len(sv.clashes) == 0 {
		return nil
	}
	c := sv.clashes[0]
	k := c.edit.review.kind
	head := k.commonFields(c.theirs)
	who := "another user"
	if head.EditedBy != nil {
		who = *head.EditedBy
	}
	p := draw.NewPage(w)
	p.AddText(
		draw.Bold|draw.Yellow,
		fmt.Sprintf("! %s was changed by %s while you were editing it%s", c.edit.key, who, formatMoreSuffix(len(sv.clashes)-1)),
	)
	base := c.edit.review.byKey[c.edit.key]
	for i := range k.attrs {
		a := &k.attrs[i]
		theirs := a.get(c.theirs)
		mine, set := c.edit.values[a.name]
		if !set && (base == nil || base.savedValue(a.name) == theirs) {
			continue
		}
		p.AddText(draw.Bold, a.label)
		if set {
			p.AddIndented(2, draw.Plain, "mine:   "+formatClashValue(a, mine))
		}
		p.AddIndented(2, draw.Plain, "theirs: "+formatClashValue(a, theirs))
	}
	if len(p.Lines) > h {
		p.Lines = p.Lines[:h]
	}
	return p.Lines
}

func formatMoreSuffix(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}

// formatClashValue formats a value of a field. It returns "(empty)" for an empty value.
func formatClashValue(a *attr, value string) string {
	switch {
	case value == "":
		return "(empty)"
	case a.form == formChoice || a.form == formBool:
		return prose.Humanize(value)
	}
	return value
}

// Package act holds what can be done on a screen as data: the keys, the label, what it
// does in a sentence and, where it can't be done now, why. The footer, the help screen
// and docs/keys.md are made from it, so that none of them says what another doesn't.
package action

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// Action is one thing that can be done.
type Action struct {
	// Keys are what bubbletea calls them; the first is the one that is shown.
	Keys []string
	// Label is a word or two for the footer; an action without one is only in the help.
	Label string
	// Help says what it does.
	Help string
	// Off says why it can't be done now, and what to do; empty where it can.
	Off string
	// Do does it.
	Do func() tea.Cmd
}

// names are keys as people call them, where that is not what bubbletea does.
var names = map[string]string{
	" ": "space", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
	"enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift-Tab", "backspace": "Backspace",
}

// Name is a key as people call it.
func Name(key string) string {
	if n, ok := names[key]; ok {
		return n
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	return key
}

// AllNames are the action's keys as people call them.
func (a Action) AllNames() string {
	out := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		out[i] = Name(k)
	}
	return strings.Join(out, ", ")
}

// Find is the action of a key; nil where there is none.
func Find(all []Action, key string) *Action {
	for i := range all {
		if slices.Contains(all[i].Keys, key) {
			return &all[i]
		}
	}
	return nil
}

// Footer is the line of what can be done now: as many as fit, and where there is help,
// always how to see all.
func Footer(all []Action, w int, helped bool) draw.Line {
	last := "? help"
	if !helped {
		last = ""
	}
	line := draw.Line{}
	used := 0
	for _, a := range all {
		if a.Label == "" || a.Off != "" {
			continue
		}
		key := Name(a.Keys[0])
		n := print.Width(key) + 1 + print.Width(a.Label) + 2
		if used+n+len(last) > w {
			continue
		}
		used += n
		line = append(line, draw.Span{Text: key, Style: draw.Bold}, draw.Span{Text: " " + a.Label + "  ", Style: draw.Dim})
	}
	if !helped {
		return line
	}
	return append(line, draw.Span{Text: "?", Style: draw.Bold}, draw.Span{Text: " help", Style: draw.Dim})
}

// Page writes the actions under a heading, those that are off with their reason.
func Page(p *draw.Page, title string, all []Action) {
	p.Title("%s", title)
	for _, a := range all {
		keys := draw.T(draw.Bold, a.AllNames()).Fit(min(16, p.Width()/3), draw.Plain)
		inner := draw.NewPage(p.Width() - min(16, p.Width()/3) - 1)
		inner.Text(draw.Plain, a.Help)
		if a.Off != "" {
			inner.Text(draw.Dim, "(not now: "+a.Off+")")
		}
		for i, l := range inner.Lines {
			if i > 0 {
				keys = draw.T(draw.Plain, "").Fit(min(16, p.Width()/3), draw.Plain)
			}
			p.Add(append(append(keys, draw.Span{Text: " "}), l...))
		}
	}
}

// Table writes the actions as a table of a Markdown page.
func Table(b *strings.Builder, title string, all []Action) {
	b.WriteString("\n## " + title + "\n\n| key | what it does |\n|---|---|\n")
	for _, a := range all {
		keys := make([]string, len(a.Keys))
		for i, k := range a.Keys {
			keys[i] = "`" + strings.ReplaceAll(Name(k), "|", "\\|") + "`"
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + a.Help + " |\n")
	}
}

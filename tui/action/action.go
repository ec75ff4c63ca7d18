// Package action holds what can be done on a screen as data: the keys, the label, what it
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
	// DisabledReason says why it can't be done now, and what to do; empty where it can.
	DisabledReason string
	// Do does it.
	Do func() tea.Cmd
}

// keyNames are keys as people call them, where that is not what bubbletea does.
var keyNames = map[string]string{
	" ": "space", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
	"enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift-Tab", "backspace": "Backspace",
}

// KeyName is a key as people call it.
func KeyName(key string) string {
	if n, ok := keyNames[key]; ok {
		return n
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	return key
}

// KeyNames are the action's keys as people call them.
func (a Action) KeyNames() string {
	out := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		out[i] = KeyName(k)
	}
	return strings.Join(out, ", ")
}

// FindByKey is the action of a key; nil where there is none.
func FindByKey(all []Action, key string) *Action {
	for i := range all {
		if slices.Contains(all[i].Keys, key) {
			return &all[i]
		}
	}
	return nil
}

// Footer is the line of what can be done now: as many as fit, and where there is help,
// always how to see all.
func Footer(all []Action, w int, hasHelp bool) draw.Line {
	last := "? help"
	if !hasHelp {
		last = ""
	}
	line := draw.Line{}
	used := 0
	for _, a := range all {
		if a.Label == "" || a.DisabledReason != "" {
			continue
		}
		key := KeyName(a.Keys[0])
		n := print.Width(key) + 1 + print.Width(a.Label) + 2
		if used+n+len(last) > w {
			continue
		}
		used += n
		line = append(line, draw.Span{Text: key, Style: draw.Bold}, draw.Span{Text: " " + a.Label + "  ", Style: draw.Dim})
	}
	if !hasHelp {
		return line
	}
	return append(line, draw.Span{Text: "?", Style: draw.Bold}, draw.Span{Text: " help", Style: draw.Dim})
}

// WriteHelp writes the actions under a heading, those that are off with their reason.
func WriteHelp(p *draw.Page, title string, all []Action) {
	p.Title("%s", title)
	for _, a := range all {
		keys := draw.TextLine(draw.Bold, a.KeyNames()).Fit(min(16, p.Width()/3), draw.Plain)
		inner := draw.NewPage(p.Width() - min(16, p.Width()/3) - 1)
		inner.Text(draw.Plain, a.Help)
		if a.DisabledReason != "" {
			inner.Text(draw.Dim, "(not now: "+a.DisabledReason+")")
		}
		for i, l := range inner.Lines {
			if i > 0 {
				keys = draw.TextLine(draw.Plain, "").Fit(min(16, p.Width()/3), draw.Plain)
			}
			p.AddLine(append(append(keys, draw.Span{Text: " "}), l...))
		}
	}
}

// WriteMarkdownTable writes the actions as a table of a Markdown page.
func WriteMarkdownTable(b *strings.Builder, title string, all []Action) {
	b.WriteString("\n## " + title + "\n\n| key | what it does |\n|---|---|\n")
	for _, a := range all {
		keys := make([]string, len(a.Keys))
		for i, k := range a.Keys {
			keys[i] = "`" + strings.ReplaceAll(KeyName(k), "|", "\\|") + "`"
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + a.Help + " |\n")
	}
}

// Package action describes the actions of a screen as data: keys, label, description and, if
// disabled, the reason. The footer, the help screen and docs/keys.md are generated from it, so they
// always agree.
package action

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// Action is an action that a screen offers, with its keys.
type Action struct {
	// Keys are bubbletea key names; the first is the one shown.
	Keys []string
	// Label is a word or two for the footer; an action without a label is listed only in the help.
	Label string
	// Help describes the action.
	Help string
	// DisabledReason states why the action is disabled and what to do about it; it is empty if the action is
	// enabled.
	DisabledReason string
	// Do performs the action.
	Do func() tea.Cmd
}

// keyNames maps keys to their display names if these differ from bubbletea's names.
var keyNames = map[string]string{
	" ": "space", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
	"enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift-Tab", "backspace": "Backspace",
}

// KeyName returns the display name of a key.
func KeyName(key string) string {
	if n, ok := keyNames[key]; ok {
		return n
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	return key
}

// KeyNames returns the display names of the action's keys.
func (a Action) KeyNames() string {
	out := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		out[i] = KeyName(k)
	}
	return strings.Join(out, ", ")
}

// FindByKey returns the action of a key, or nil.
func FindByKey(all []Action, key string) *Action {
	for i := range all {
		if slices.Contains(all[i].Keys, key) {
			return &all[i]
		}
	}
	return nil
}

// Footer returns the line of available actions, as many as fit, always including help if there is
// one.
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

// WriteHelp writes the actions under a heading. Disabled actions are shown with the reason.
func WriteHelp(p *draw.Page, title string, all []Action) {
	p.AddTitle("%s", title)
	for _, a := range all {
		keys := draw.TextLine(draw.Bold, a.KeyNames()).Fit(min(16, p.Width()/3), draw.Plain)
		inner := draw.NewPage(p.Width() - min(16, p.Width()/3) - 1)
		inner.AddText(draw.Plain, a.Help)
		if a.DisabledReason != "" {
			inner.AddText(draw.Dim, "(unavailable: "+a.DisabledReason+")")
		}
		for i, l := range inner.Lines {
			if i > 0 {
				keys = draw.TextLine(draw.Plain, "").Fit(min(16, p.Width()/3), draw.Plain)
			}
			p.AddLine(append(append(keys, draw.Span{Text: " "}), l...))
		}
	}
}

// WriteMarkdownTable writes the actions as a Markdown table.
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

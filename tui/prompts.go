package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
)

// confirmPrompt asks for confirmation of an irreversible action.
type confirmPrompt struct {
	app   *App
	title string
	lines []string
	// confirmLabel names the action in a word or two.
	confirmLabel string
	onConfirm    func() tea.Cmd
}

func (c *confirmPrompt) footer() []action.Action {
	return []action.Action{{Keys: []string{"y"}, Label: c.confirmLabel}, {Keys: []string{"n"}, Label: "no"}}
}

func (c *confirmPrompt) key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "y", "Y":
		c.app.overlay = nil
		return c.onConfirm()
	case "n", "N", "esc", "q":
		c.app.overlay = nil
	}
	return nil
}

func (c *confirmPrompt) view(w, _ int) []draw.Line {
	p := draw.NewPage(w)
	p.AddText(draw.Bold, c.title)
	for _, l := range c.lines {
		p.AddText(draw.Plain, l)
	}
	return p.Lines
}

// choicePrompt lets the user choose a value from a list.
type choicePrompt struct {
	app     *App
	title   string
	options []string
	// labelOf returns a value's label; nil shows the values themselves.
	labelOf  func(string) string
	cursor   int
	onChoose func(word string) tea.Cmd
}

func (c *choicePrompt) footer() []action.Action {
	return []action.Action{
		{Keys: []string{"enter"}, Label: "choose"},
		{Keys: []string{"up"}, Label: "up"},
		{Keys: []string{"down"}, Label: "down"},
		{Keys: []string{"esc"}, Label: "cancel"},
	}
}

func (c *choicePrompt) key(k tea.KeyMsg) tea.Cmd {
	switch s := k.String(); s {
	case "esc", "q":
		c.app.overlay = nil
	case "up", "k", "shift+tab":
		c.cursor = (c.cursor + len(c.options) - 1) % len(c.options)
	case "down", "j", "tab":
		c.cursor = (c.cursor + 1) % len(c.options)
	case "enter":
		c.app.overlay = nil
		return c.onChoose(c.options[c.cursor])
	default:
		if n := strings.Index(choiceKeys, s); len(s) == 1 && n >= 0 && n < len(c.options) {
			c.app.overlay = nil
			return c.onChoose(c.options[n])
		}
	}
	return nil
}

// choiceKeys are the keys that select the values of a list, in order.
const choiceKeys = "1234567890"

func (c *choicePrompt) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	p.AddText(draw.Bold, c.title)
	p.Lines = p.Lines[:min(len(p.Lines), max(h-len(c.options), min(1, h-1)))]
	room := h - len(p.Lines)
	from := max(0, min(c.cursor-room+1, len(c.options)-room))
	for i, word := range c.options {
		if i < from {
			continue
		}
		if c.labelOf != nil {
			word = c.labelOf(word)
		}
		mark := "  "
		if i < len(choiceKeys) {
			mark = choiceKeys[i:i+1] + " "
		}
		line := draw.Line{{Text: " "}, {Text: mark, Style: draw.Bold}, {Text: word}}
		if i == c.cursor {
			line = append(draw.Line{{Text: "›"}}, line[1:]...).AddStyle(draw.Reverse)
		}
		p.AddLine(line)
	}
	return p.Lines
}

// textPrompt asks for text input.
type textPrompt struct {
	app   *App
	title string
	// lines explain the input.
	lines []string
	field *input.Field
	// enterLabel names what Enter does; the default is "save".
	enterLabel string
	// emptyMessage, if set, is the error for an empty answer.
	emptyMessage string
	// allowEditor allows long answers to be written in an editor.
	allowEditor bool
	onSubmit    func(text string) tea.Cmd
	// onChange, if not nil, is called after every key.
	onChange func(text string)
	// onCancel, if not nil, is called when the prompt is canceled.
	onCancel func()
}

func (q *textPrompt) footer() []action.Action {
	out := []action.Action{{Keys: []string{"enter"}, Label: cmp.Or(q.enterLabel, "save")}, {Keys: []string{"esc"}, Label: "cancel"}}
	if q.field.Multiline {
		out = append(out, action.Action{Keys: []string{"ctrl+j"}, Label: "new line"})
	}
	if q.allowEditor {
		out = append(out, action.Action{Keys: []string{"ctrl+o"}, Label: "editor", DisabledReason: noEditorReason(q.app)})
	}
	return out
}

func (q *textPrompt) key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		q.app.overlay = nil
		if q.onCancel != nil {
			q.onCancel()
		}
		return nil
	case "enter":
		text := q.field.Value()
		if q.emptyMessage != "" && strings.TrimSpace(text) == "" {
			q.app.setStatus("%s", q.emptyMessage)
			return nil
		}
		q.app.overlay = nil
		return q.onSubmit(text)
	case "ctrl+o":
		if !q.allowEditor {
			return nil
		}
		if off := noEditorReason(q.app); off != "" {
			q.app.setStatus("%s", off)
			return nil
		}
		return q.app.editInExternalEditor(q.field.Value(), func(text string) tea.Cmd { q.field.Set(text); return nil })
	}
	if q.field.HandleKey(k) && q.onChange != nil {
		q.onChange(q.field.Value())
	}
	return nil
}

func (q *textPrompt) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	p.AddText(draw.Bold, q.title)
	for _, l := range q.lines {
		p.AddText(draw.Dim, l)
	}
	p.Lines = p.Lines[:min(len(p.Lines), max(1, h-1))]
	for _, l := range q.field.Draw(w-2, max(1, min(h-len(p.Lines), 8))) {
		p.AddLine(append(draw.Line{{Text: "> "}}, l...))
	}
	return p.Lines
}

// formatCodeOrCount returns the code of a single item, or the number of items.
func formatCodeOrCount(n int, code string) string {
	if n == 1 {
		return code
	}
	return fmt.Sprintf("%d items", n)
}

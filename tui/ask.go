package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
)

// confirm asks before something that can't be taken back.
type confirm struct {
	app   *App
	title string
	lines []string
	// yes is what is done, in a word or two.
	yes string
	do  func() tea.Cmd
}

func (c *confirm) footer() []action.Action {
	return []action.Action{{Keys: []string{"y"}, Label: c.yes}, {Keys: []string{"n"}, Label: "no"}}
}

func (c *confirm) key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "y", "Y":
		c.app.over = nil
		return c.do()
	case "n", "N", "esc", "q":
		c.app.over = nil
	}
	return nil
}

func (c *confirm) view(w, _ int) []draw.Line {
	p := draw.NewPage(w)
	p.Text(draw.Bold, c.title)
	for _, l := range c.lines {
		p.Text(draw.Plain, l)
	}
	return p.Lines
}

// choose is a choice among words.
type choose struct {
	app   *App
	title string
	words []string
	// says is what a word is called; nil: as it is.
	says func(string) string
	at   int
	do   func(word string) tea.Cmd
}

func (c *choose) footer() []action.Action {
	return []action.Action{{Keys: []string{"enter"}, Label: "choose"}, {Keys: []string{"up"}, Label: "up"}, {Keys: []string{"down"}, Label: "down"}, {Keys: []string{"esc"}, Label: "cancel"}}
}

func (c *choose) key(k tea.KeyMsg) tea.Cmd {
	switch s := k.String(); s {
	case "esc", "q":
		c.app.over = nil
	case "up", "k", "shift+tab":
		c.at = (c.at + len(c.words) - 1) % len(c.words)
	case "down", "j", "tab":
		c.at = (c.at + 1) % len(c.words)
	case "enter":
		c.app.over = nil
		return c.do(c.words[c.at])
	default:
		if n := strings.Index(ordinals, s); len(s) == 1 && n >= 0 && n < len(c.words) {
			c.app.over = nil
			return c.do(c.words[n])
		}
	}
	return nil
}

// ordinals are the keys of a choice's words, in their order.
const ordinals = "1234567890"

func (c *choose) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	p.Text(draw.Bold, c.title)
	p.Lines = p.Lines[:min(len(p.Lines), max(h-len(c.words), min(1, h-1)))]
	room := h - len(p.Lines)
	from := max(0, min(c.at-room+1, len(c.words)-room))
	for i, word := range c.words {
		if i < from {
			continue
		}
		if c.says != nil {
			word = c.says(word)
		}
		mark := "  "
		if i < len(ordinals) {
			mark = ordinals[i:i+1] + " "
		}
		line := draw.Line{{Text: " "}, {Text: mark, Style: draw.Bold}, {Text: word}}
		if i == c.at {
			line = append(draw.Line{{Text: "›"}}, line[1:]...).With(draw.Reverse)
		}
		p.Add(line)
	}
	return p.Lines
}

// ask is a question that is answered by typing.
type ask struct {
	app   *App
	title string
	// lines is what is to be known for it.
	lines []string
	field *input.Field
	// least refuses an empty answer with this reason.
	least string
	// editor: the answer may be long, and be written in an editor.
	editor bool
	do     func(text string) tea.Cmd
	// changed is told of every key; nil for most.
	changed func(text string)
	// cancelled is done where it is left; nil for nothing.
	cancelled func()
}

func (q *ask) footer() []action.Action {
	out := []action.Action{{Keys: []string{"enter"}, Label: "save"}, {Keys: []string{"esc"}, Label: "cancel"}}
	if q.field.Lines {
		out = append(out, action.Action{Keys: []string{"ctrl+j"}, Label: "new line"})
	}
	if q.editor {
		out = append(out, action.Action{Keys: []string{"ctrl+o"}, Label: "editor", Off: noEditor(q.app)})
	}
	return out
}

func (q *ask) key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		q.app.over = nil
		if q.cancelled != nil {
			q.cancelled()
		}
		return nil
	case "enter":
		text := q.field.Value()
		if q.least != "" && strings.TrimSpace(text) == "" {
			q.app.say("%s", q.least)
			return nil
		}
		q.app.over = nil
		return q.do(text)
	case "ctrl+o":
		if !q.editor {
			return nil
		}
		if off := noEditor(q.app); off != "" {
			q.app.say("%s", off)
			return nil
		}
		return q.app.edit(q.field.Value(), func(text string) tea.Cmd { q.field.Set(text); return nil })
	}
	if q.field.Key(k) && q.changed != nil {
		q.changed(q.field.Value())
	}
	return nil
}

func (q *ask) view(w, h int) []draw.Line {
	p := draw.NewPage(w)
	p.Text(draw.Bold, q.title)
	for _, l := range q.lines {
		p.Text(draw.Dim, l)
	}
	p.Lines = p.Lines[:min(len(p.Lines), max(1, h-1))]
	for _, l := range q.field.Draw(w-2, max(1, min(h-len(p.Lines), 8))) {
		p.Add(append(draw.Line{{Text: "> "}}, l...))
	}
	return p.Lines
}

// ordinary is a number with its noun after a verb's object: "3 items".
func these(n int, code string) string {
	if n == 1 {
		return code
	}
	return fmt.Sprintf("%d items", n)
}

// Package input provides a wrapped text field that grows by lines. Input is kept unchanged and
// sanitized for display.
package input

import (
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/rivo/uniseg"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// MaxBytes is the maximum size of a field's text, more than the service accepts for any text.
const MaxBytes = 40_000

// Field is an input field: a text with a cursor.
type Field struct {
	// Multiline allows line breaks.
	Multiline bool
	// graphemes are user-perceived characters, including combining marks.
	graphemes []string
	cursor    int
	// selected is set while the whole text is selected: typing replaces it, and deleting clears it.
	selected bool
}

// New returns a field that contains text, with the cursor at its end.
func New(text string, multiline bool) *Field {
	f := &Field{Multiline: multiline}
	f.insert(text)
	return f
}

// SelectAll selects the whole text until the next key.
func (f *Field) SelectAll() { f.selected = true }

// Value returns the text.
func (f *Field) Value() string { return strings.Join(f.graphemes, "") }

// Set replaces the text.
func (f *Field) Set(text string) {
	f.graphemes, f.cursor = nil, 0
	f.insert(text)
}

// splitGraphemes splits a text into user-perceived characters.
func splitGraphemes(s string) (out []string) {
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		out = append(out, g.Str())
	}
	return out
}

// insert inserts a text at the cursor, without line breaks unless they are allowed, and up to MaxBytes in total.
func (f *Field) insert(text string) {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if !f.Multiline {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	if room := MaxBytes - len(f.Value()); len(text) > room {
		text = strings.ToValidUTF8(text[:max(0, room)], "")
	}
	// A mark that is typed after its letter joins it.
	before := strings.Join(f.graphemes[:f.cursor], "") + text
	after := f.graphemes[f.cursor:]
	head := splitGraphemes(before)
	f.graphemes, f.cursor = append(head, after...), len(head)
}

// HandleKey handles a key; it returns false if the key has no meaning here.
func (f *Field) HandleKey(k tea.KeyMsg) (handled bool) {
	selected := f.selected
	f.selected = false
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt && !k.Paste {
			return false
		}
		if selected {
			f.Set("")
		}
		f.insert(string(k.Runes))
		return true
	}
	switch k.String() {
	case "left", "ctrl+b":
		f.cursor = max(0, f.cursor-1)
	case "right", "ctrl+f":
		f.cursor = min(len(f.graphemes), f.cursor+1)
	case "home", "ctrl+a":
		for f.cursor > 0 && f.graphemes[f.cursor-1] != "\n" {
			f.cursor--
		}
	case "end", "ctrl+e":
		for f.cursor < len(f.graphemes) && f.graphemes[f.cursor] != "\n" {
			f.cursor++
		}
	case "backspace", "ctrl+h":
		if selected {
			f.Set("")
		} else if f.cursor > 0 {
			f.graphemes = append(f.graphemes[:f.cursor-1:f.cursor-1], f.graphemes[f.cursor:]...)
			f.cursor--
		}
	case "delete", "ctrl+d":
		if f.cursor < len(f.graphemes) {
			f.graphemes = append(f.graphemes[:f.cursor:f.cursor], f.graphemes[f.cursor+1:]...)
		}
	case "ctrl+u":
		f.graphemes, f.cursor = append([]string{}, f.graphemes[f.cursor:]...), 0
	case "ctrl+k":
		f.graphemes = f.graphemes[:f.cursor]
	case "ctrl+w":
		from := f.cursor
		for from > 0 && f.graphemes[from-1] == " " {
			from--
		}
		for from > 0 && f.graphemes[from-1] != " " && f.graphemes[from-1] != "\n" {
			from--
		}
		f.graphemes, f.cursor = append(f.graphemes[:from:from], f.graphemes[f.cursor:]...), from
	case "ctrl+j", "alt+enter":
		if !f.Multiline {
			return false
		}
		f.insert("\n")
	default:
		return false
	}
	return true
}

// Draw returns the text in lines of w cells with the cursor, at most h of them around the cursor.
func (f *Field) Draw(w, h int) []draw.Line {
	w = max(w, 2)
	var out []draw.Line
	line, used, here := draw.Line{}, 0, 0
	for i := 0; i <= len(f.graphemes); i++ {
		sign, style := " ", draw.Plain
		if i < len(f.graphemes) && f.graphemes[i] != "\n" {
			sign = print.SafeLine(f.graphemes[i])
		}
		if f.selected {
			style = draw.Reverse
		}
		if i == f.cursor {
			style = draw.Reverse
			here = len(out)
		}
		if n := print.Width(sign); used+n > w {
			out, line, used = append(out, line), draw.Line{}, 0
			if i == f.cursor {
				here = len(out)
			}
		}
		if i < len(f.graphemes) || i == f.cursor {
			line, used = append(line, draw.Span{Text: sign, Style: style}), used+print.Width(sign)
		}
		if i < len(f.graphemes) && f.graphemes[i] == "\n" {
			out, line, used = append(out, line), draw.Line{}, 0
		}
	}
	out = append(out, line)
	from := max(0, min(here-h+1, len(out)-h))
	return out[from:min(len(out), from+h)]
}

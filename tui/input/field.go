// Package field is a place to type into: one text, wrapped, that grows by lines. What is
// typed or pasted is kept as it is and shown so that a terminal obeys none of it.
package input

import (
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/rivo/uniseg"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// Most is how much a field takes, in bytes: more than the service takes of any text.
const Most = 40_000

// Field is a text with a cursor.
type Field struct {
	// Lines allows line breaks.
	Lines bool
	// signs are what a person calls characters, each with its marks.
	signs []string
	at    int
}

// New is a field with a text in it, the cursor at its end.
func New(text string, lines bool) *Field {
	f := &Field{Lines: lines}
	f.insert(text)
	return f
}

// Value is the text.
func (f *Field) Value() string { return strings.Join(f.signs, "") }

// Set replaces the text.
func (f *Field) Set(text string) {
	f.signs, f.at = nil, 0
	f.insert(text)
}

func split(s string) (out []string) {
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		out = append(out, g.Str())
	}
	return out
}

func (f *Field) insert(text string) {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if !f.Lines {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	if room := Most - len(f.Value()); len(text) > room {
		text = strings.ToValidUTF8(text[:max(0, room)], "")
	}
	// A mark that is typed after its letter joins it.
	before := strings.Join(f.signs[:f.at], "") + text
	after := f.signs[f.at:]
	head := split(before)
	f.signs, f.at = append(head, after...), len(head)
}

// Key takes a key; false where it means nothing here.
func (f *Field) Key(k tea.KeyMsg) bool {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt && !k.Paste {
			return false
		}
		f.insert(string(k.Runes))
		return true
	}
	switch k.String() {
	case "left", "ctrl+b":
		f.at = max(0, f.at-1)
	case "right", "ctrl+f":
		f.at = min(len(f.signs), f.at+1)
	case "home", "ctrl+a":
		for f.at > 0 && f.signs[f.at-1] != "\n" {
			f.at--
		}
	case "end", "ctrl+e":
		for f.at < len(f.signs) && f.signs[f.at] != "\n" {
			f.at++
		}
	case "backspace", "ctrl+h":
		if f.at > 0 {
			f.signs = append(f.signs[:f.at-1:f.at-1], f.signs[f.at:]...)
			f.at--
		}
	case "delete", "ctrl+d":
		if f.at < len(f.signs) {
			f.signs = append(f.signs[:f.at:f.at], f.signs[f.at+1:]...)
		}
	case "ctrl+u":
		f.signs, f.at = append([]string{}, f.signs[f.at:]...), 0
	case "ctrl+k":
		f.signs = f.signs[:f.at]
	case "ctrl+w":
		from := f.at
		for from > 0 && f.signs[from-1] == " " {
			from--
		}
		for from > 0 && f.signs[from-1] != " " && f.signs[from-1] != "\n" {
			from--
		}
		f.signs, f.at = append(f.signs[:from:from], f.signs[f.at:]...), from
	case "ctrl+j", "alt+enter":
		if !f.Lines {
			return false
		}
		f.insert("\n")
	default:
		return false
	}
	return true
}

// Draw is the text in lines of w cells with the cursor in it, of which at most h that
// are around the cursor.
func (f *Field) Draw(w, h int) []draw.Line {
	w = max(w, 2)
	var out []draw.Line
	line, used, here := draw.Line{}, 0, 0
	for i := 0; i <= len(f.signs); i++ {
		sign, style := " ", draw.Plain
		if i < len(f.signs) && f.signs[i] != "\n" {
			sign = print.Line(f.signs[i])
		}
		if i == f.at {
			style = draw.Reverse
			here = len(out)
		}
		if n := print.Width(sign); used+n > w {
			out, line, used = append(out, line), draw.Line{}, 0
			if i == f.at {
				here = len(out)
			}
		}
		if i < len(f.signs) || i == f.at {
			line, used = append(line, draw.Span{Text: sign, Style: style}), used+print.Width(sign)
		}
		if i < len(f.signs) && f.signs[i] == "\n" {
			out, line, used = append(out, line), draw.Line{}, 0
		}
	}
	out = append(out, line)
	from := max(0, min(here-h+1, len(out)-h))
	return out[from:min(len(out), from+h)]
}

package print

import (
	"bytes"
	"fmt"
	"strings"
)

// proseWidth bounds running text where the terminal is wider, or there is none.
const proseWidth = 100

// Page collects what people read. Everything given to it is made safe for a terminal.
type Page struct {
	buf   bytes.Buffer
	width int
	color bool
}

func (p *Page) line(s string) { p.buf.WriteString(s + "\n") }

func (p *Page) prose() int {
	if p.width > 0 && p.width < proseWidth {
		return p.width
	}
	return proseWidth
}

// Title prints a heading with an empty line before it, but for the first.
func (p *Page) Title(format string, args ...any) {
	if p.buf.Len() > 0 {
		p.line("")
	}
	for _, l := range Wrap(Line(fmt.Sprintf(format, args...)), p.prose()) {
		p.line(paint(p.color, Bold, l))
	}
}

// Text prints a paragraph, wrapped.
func (p *Page) Text(format string, args ...any) { p.Indent(0, format, args...) }

// Indent prints a paragraph set in by so many columns.
func (p *Page) Indent(by int, format string, args ...any) {
	for _, l := range Prose(Block(fmt.Sprintf(format, args...)), max(20, p.prose()-by)) {
		p.line(strings.TrimRight(strings.Repeat(" ", by)+l, " "))
	}
}

// Item prints a paragraph behind a dash, set in by so many columns.
func (p *Page) Item(by int, format string, args ...any) {
	for i, l := range Prose(Block(fmt.Sprintf(format, args...)), max(20, p.prose()-by-2)) {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		p.line(strings.Repeat(" ", by) + mark + l)
	}
}

// Command prints a command to copy, alone on its line and never wrapped.
func (p *Page) Command(command string) { p.line("  " + Line(command)) }

// Raw prints a line that scripts read: safe for a terminal, and never wrapped or set in.
func (p *Page) Raw(line string) { p.line(Line(line)) }

// Blank prints an empty line.
func (p *Page) Blank() { p.line("") }

// Field is a name with its value.
type Field struct {
	Name, Value string
	Style       Style
}

// Fields prints names and values in two columns. Values are wrapped, never cut;
// fields without a value are left out.
func (p *Page) Fields(fields ...Field) {
	wide := 0
	for _, f := range fields {
		if f.Value != "" {
			wide = max(wide, Width(f.Name))
		}
	}
	for _, f := range fields {
		if f.Value == "" {
			continue
		}
		name := f.Name + strings.Repeat(" ", wide-Width(f.Name)+gap)
		for i, l := range Wrap(Block(f.Value), max(20, p.prose()-wide-gap)) {
			lead := paint(p.color, Dim, name)
			if i > 0 {
				lead = strings.Repeat(" ", wide+gap)
			}
			p.line(strings.TrimRight(lead+paint(p.color, f.Style, l), " "))
		}
	}
}

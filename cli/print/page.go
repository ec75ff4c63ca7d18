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

func (p *Page) writeLine(s string) { p.buf.WriteString(s + "\n") }

func (p *Page) proseLimit() int {
	if p.width > 0 && p.width < proseWidth {
		return p.width
	}
	return proseWidth
}

// Title prints a heading with an empty line before it, but for the first.
func (p *Page) Title(format string, args ...any) {
	if p.buf.Len() > 0 {
		p.writeLine("")
	}
	for _, l := range Wrap(SafeLine(fmt.Sprintf(format, args...)), p.proseLimit()) {
		p.writeLine(applyStyle(p.color, Bold, l))
	}
}

// Text prints a paragraph, wrapped.
func (p *Page) Text(format string, args ...any) { p.Indent(0, format, args...) }

// Indent prints a paragraph set in by so many columns.
func (p *Page) Indent(columns int, format string, args ...any) {
	for _, l := range WrapProse(SafeBlock(fmt.Sprintf(format, args...)), max(20, p.proseLimit()-columns)) {
		p.writeLine(strings.TrimRight(strings.Repeat(" ", columns)+l, " "))
	}
}

// Item prints a paragraph behind a dash, set in by so many columns.
func (p *Page) Item(columns int, format string, args ...any) {
	for i, l := range WrapProse(SafeBlock(fmt.Sprintf(format, args...)), max(20, p.proseLimit()-columns-2)) {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		p.writeLine(strings.Repeat(" ", columns) + mark + l)
	}
}

// Command prints a command to copy, alone on its line and never wrapped.
func (p *Page) Command(command string) { p.writeLine("  " + SafeLine(command)) }

// Raw prints a line that scripts read: safe for a terminal, and never wrapped or set in.
func (p *Page) Raw(line string) { p.writeLine(SafeLine(line)) }

// Blank prints an empty line.
func (p *Page) Blank() { p.writeLine("") }

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
		name := f.Name + strings.Repeat(" ", wide-Width(f.Name)+columnGap)
		for i, l := range Wrap(SafeBlock(f.Value), max(20, p.proseLimit()-wide-columnGap)) {
			lead := applyStyle(p.color, Dim, name)
			if i > 0 {
				lead = strings.Repeat(" ", wide+columnGap)
			}
			p.writeLine(strings.TrimRight(lead+applyStyle(p.color, f.Style, l), " "))
		}
	}
}

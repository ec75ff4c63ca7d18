package print

import (
	"bytes"
	"fmt"
	"strings"
)

// proseWidth is the maximum width of paragraphs.
const proseWidth = 100

// Page collects human-readable output. All text passed to it is sanitized for terminals.
type Page struct {
	buf bytes.Buffer
	// width is the width of the terminal, or 0 without one; fileWidth is the width of tables then.
	width, fileWidth int
	color            bool
}

// writeLine writes a line to the page.
func (p *Page) writeLine(s string) { p.buf.WriteString(s + "\n") }

// proseLimit returns the maximum width of paragraphs: proseWidth, or the width of the page if it is narrower.
func (p *Page) proseLimit() int {
	if p.width > 0 && p.width < proseWidth {
		return p.width
	}
	return proseWidth
}

// Title prints a heading, preceded by an empty line unless it is the first.
func (p *Page) Title(format string, args ...any) {
	if p.buf.Len() > 0 {
		p.writeLine("")
	}
	for _, l := range Wrap(SafeLine(fmt.Sprintf(format, args...)), p.proseLimit()) {
		p.writeLine(applyStyle(p.color, Bold, l))
	}
}

// Text prints a wrapped paragraph.
func (p *Page) Text(format string, args ...any) { p.IndentedText(0, format, args...) }

// IndentedText prints a paragraph indented by the given number of columns.
func (p *Page) IndentedText(indent int, format string, args ...any) {
	for _, l := range WrapProse(SafeBlock(fmt.Sprintf(format, args...)), max(20, p.proseLimit()-indent)) {
		p.writeLine(strings.TrimRight(strings.Repeat(" ", indent)+l, " "))
	}
}

// ListItem prints a list item, indented by the given number of columns.
func (p *Page) ListItem(indent int, format string, args ...any) {
	for i, l := range WrapProse(SafeBlock(fmt.Sprintf(format, args...)), max(20, p.proseLimit()-indent-2)) {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		p.writeLine(strings.Repeat(" ", indent) + mark + l)
	}
}

// Command prints a command for the user to copy. It is on a line of its own and never wrapped.
func (p *Page) Command(command string) { p.writeLine("  " + SafeLine(command)) }

// UnwrappedLine prints a line that scripts may read. It is sanitized, but never wrapped or indented.
func (p *Page) UnwrappedLine(line string) { p.writeLine(SafeLine(line)) }

// Blank prints an empty line.
func (p *Page) Blank() { p.writeLine("") }

// Field is a name and its value, as printed by Page.Fields.
type Field struct {
	Name, Value string
	Style       Style
}

// Fields prints names and values in two columns. Values are wrapped, never truncated; fields
// without a value are omitted.
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

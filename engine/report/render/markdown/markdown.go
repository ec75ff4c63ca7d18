// Package markdown writes a report as Markdown.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
)

// Write writes a report as Markdown with tables. It leaves out pictures, because a table next to each
// contains the same data.
func Write(w io.Writer, d block.Document) error {
	m := &markdownWriter{w: w}
	m.writeParagraph("# " + Escape(d.Title))
	if d.Organization+d.Assessment != "" {
		m.writeParagraph(Escape(strings.Trim(d.Organization+": "+d.Assessment, ": ")))
	}
	m.writeParagraph("As of " + Escape(d.AsOf) + ".")
	if d.Line != "" {
		m.writeParagraph(Escape(d.Line))
	}
	for _, n := range d.Notices {
		m.writeParagraph("> **" + Escape(n) + "**")
	}
	if len(d.Draft) > 0 {
		m.writeParagraph("> **DRAFT.** " + Escape(strings.Join(d.Draft, " ")))
	}
	for _, b := range d.Front {
		m.writeBlock(b)
	}
	if !d.Brief {
		m.writeParagraph("## Contents")
		for i, s := range d.Sections {
			m.writeLine(fmt.Sprintf("%d. [%s](#%s)", i+1, Escape(s.Title), s.ID))
		}
		m.writeLine("")
	}
	for _, s := range d.Sections {
		mark := ""
		if s.Draft != "" {
			mark = " (DRAFT)"
		}
		m.writeParagraph(`<a id="` + s.ID + `"></a>`)
		m.writeParagraph("## " + Escape(s.Title) + mark)
		if s.Draft != "" {
			m.writeParagraph("**" + Escape(s.Draft) + "**")
		}
		if s.Approved != "" {
			m.writeParagraph("**" + Escape(s.Approved) + "**")
		}
		for _, b := range s.Blocks {
			m.writeBlock(b)
		}
	}
	if !d.Brief {
		m.writeParagraph("## About this report")
		for _, b := range d.AboutBlocks() {
			m.writeBlock(b)
		}
	}
	m.writeParagraph("---")
	m.writeParagraph("Written by " + Escape(d.Tool) + ".")
	if d.Footer != "" {
		m.writeParagraph(Escape(d.Footer))
	}
	return m.err
}

type markdownWriter struct {
	w   io.Writer
	err error
}

// writeLine writes s and a newline. After a write error, it does nothing.
func (m *markdownWriter) writeLine(s string) {
	if m.err == nil {
		_, m.err = io.WriteString(m.w, s+"\n")
	}
}

func (m *markdownWriter) writeParagraph(s string) { m.writeLine(s + "\n") }

func (m *markdownWriter) writeBlock(b block.Block) {
	switch b := b.(type) {
	case block.Heading:
		m.writeParagraph("### " + Escape(b.Text))
	case block.Para:
		m.writeParagraph(markdownCell(b.Text))
	case block.List:
		for _, c := range b.Items {
			m.writeLine("- " + markdownCell(c))
		}
		m.writeLine("")
	case block.Facts:
		for _, f := range b.Items {
			m.writeFact(f)
		}
		m.writeLine("")
	case block.Quotes:
		for _, q := range b.Items {
			m.writeQuote(q)
		}
	case block.Card:
		m.writeParagraph("#### " + markdownCell(b.Title))
		for _, x := range b.Blocks {
			m.writeBlock(x)
		}
	case block.Table:
		m.writeTable(b)
	}
}

func (m *markdownWriter) writeFact(f block.Fact) {
	if f.List == nil {
		m.writeLine("- **" + Escape(f.Label) + ":** " + markdownCell(f.Value))
		return
	}
	m.writeLine("- **" + Escape(f.Label) + ":**")
	for _, c := range f.List {
		m.writeLine("  - " + markdownCell(c))
	}
}

func (m *markdownWriter) writeQuote(q block.Quote) {
	for _, l := range strings.Split(q.Text, "\n") {
		m.writeLine(strings.TrimRight("> "+Escape(l), " ") + "  ")
	}
	m.writeLine(">")
	m.writeParagraph("> " + markdownCell(q.Source()))
}

func (m *markdownWriter) writeTable(t block.Table) {
	m.writeParagraph("**" + Escape(t.Caption) + "**")
	if len(t.Rows) == 0 {
		m.writeParagraph(Escape(wording.OrDefault(t.Empty, "Nothing to list.")))
		return
	}
	head, rule := "|", "|"
	for _, c := range t.Columns {
		if c.Picture {
			continue
		}
		head += " " + Escape(c.Name) + " |"
		rule += map[bool]string{true: " ---: |", false: " --- |"}[c.Number]
	}
	m.writeLine(head)
	m.writeLine(rule)
	for _, r := range t.Rows {
		s := "|"
		for i, c := range r.Cells {
			if !t.Columns[i].Picture {
				s += " " + markdownCell(c) + " |"
			}
		}
		m.writeLine(s)
	}
	m.writeLine("")
	for _, r := range t.Rows {
		if len(r.Detail) > 0 {
			m.writeParagraph("#### " + markdownCell(r.Cells[0]))
			for _, b := range r.Detail {
				m.writeBlock(b)
			}
		}
	}
}

// markdownCell returns a cell as a single line of Markdown, in which line ends become break tags.
func markdownCell(c block.Cell) string {
	var b strings.Builder
	for i, s := range c {
		t := escapeMarkdownAt(s.Text, strings.TrimSpace(b.String()) == "")
		switch {
		case s.Bar != nil:
		case s.Strong && t != "":
			b.WriteString("**" + t + "**")
		case s.Prose && i > 0:
			b.WriteString("<br>" + t)
		default:
			b.WriteString(t)
		}
	}
	return b.String()
}

// Escape escapes text so that no part of it is interpreted as markup, whether it is used in a paragraph,
// heading, list, quote or table. Line ends become break tags.
func Escape(s string) string { return escapeMarkdownAt(s, true) }

// escapeMarkdownAt escapes text that is at the start of a line or, if atLineStart is false, in the middle of a line.
func escapeMarkdownAt(s string, atLineStart bool) string {
	s = strings.Trim(s, "\n")
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n':
			b.WriteString("<br>")
		case (c == ' ' || c == '\t') && atLineStart:
			b.WriteString("&nbsp;") // four spaces would start a code block
			continue
		case c == '\t':
			b.WriteByte(' ')
		case strings.IndexByte("\\`*_{}[]<>|~&$", c) >= 0,
			atLineStart && strings.IndexByte("#+-=", c) >= 0,
			(c == '.' || c == ')') && isListNumber(s[:i]) && (i+1 == len(s) || strings.IndexByte(" \t\n", s[i+1]) >= 0),
			c == ':' && strings.HasPrefix(s[i:], "://"),
			c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
		atLineStart = false
	}
	return b.String()
}

// isListNumber reports whether a line that begins with this text and a dot would be an item of a numbered
// list.
func isListNumber(before string) bool {
	before = strings.TrimLeft(before, " \t")
	return before != "" && len(before) < 10 && strings.Trim(before, "0123456789") == ""
}

package render

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown writes the document as Markdown with tables. Pictures are left out: each
// stands beside a table that says the same.
func writeMarkdown(w io.Writer, d document) error {
	m := &markdown{w: w}
	m.line("# " + mdLine(d.Title))
	if d.Organization+d.Assessment != "" {
		m.line(mdLine(strings.Trim(d.Organization+": "+d.Assessment, ": ")))
	}
	m.line("As of " + mdLine(d.AsOf) + ".")
	if d.Line != "" {
		m.line(mdLine(d.Line))
	}
	for _, n := range d.Notices {
		m.line("> **" + mdLine(n) + "**")
	}
	if len(d.Draft) > 0 {
		m.line("> **DRAFT.** " + mdLine(strings.Join(d.Draft, " ")))
	}
	m.line("## Contents")
	for i, s := range d.Sections {
		m.put(fmt.Sprintf("%d. [%s](#%s)", i+1, mdLine(s.Title), s.ID))
	}
	m.put("")
	m.line("## About this report")
	m.block(d.Facts)
	m.block(d.Versions)
	for _, s := range d.Sections {
		mark := ""
		if s.Draft != "" {
			mark = " (DRAFT)"
		}
		m.line(`<a id="` + s.ID + `"></a>`)
		m.line("## " + mdLine(s.Title) + mark)
		if s.Draft != "" {
			m.line("**" + mdLine(s.Draft) + "**")
		}
		if s.Approved != "" {
			m.line("**" + mdLine(s.Approved) + "**")
		}
		for _, b := range s.Blocks {
			m.block(b)
		}
	}
	m.line("---")
	m.line("Written by " + mdLine(d.Tool) + ".")
	if d.Footer != "" {
		m.line(mdLine(d.Footer))
	}
	return m.err
}

type markdown struct {
	w   io.Writer
	err error
}

// put writes a line; line one with a blank line after it.
func (m *markdown) put(s string) {
	if m.err == nil {
		_, m.err = io.WriteString(m.w, s+"\n")
	}
}

func (m *markdown) line(s string) { m.put(s + "\n") }

func (m *markdown) block(b block) {
	switch b := b.(type) {
	case heading:
		m.line("### " + mdLine(b.Text))
	case para:
		m.line(mdInline(b.Text))
	case list:
		for _, c := range b.Items {
			m.put("- " + mdInline(c))
		}
		m.put("")
	case facts:
		for _, f := range b.Items {
			m.fact(f)
		}
		m.put("")
	case quotes:
		for _, q := range b.Items {
			m.quote(q)
		}
	case card:
		m.line("#### " + mdInline(b.Title))
		for _, x := range b.Blocks {
			m.block(x)
		}
	case table:
		m.table(b)
	}
}

func (m *markdown) fact(f fact) {
	if f.List == nil {
		m.put("- **" + mdLine(f.Label) + ":** " + mdInline(f.Value))
		return
	}
	m.put("- **" + mdLine(f.Label) + ":**")
	for _, c := range f.List {
		m.put("  - " + mdInline(c))
	}
}

func (m *markdown) quote(q quote) {
	for _, l := range strings.Split(q.Text, "\n") {
		m.put(strings.TrimRight("> "+mdLine(l), " ") + "  ")
	}
	m.put(">")
	where := []string{"*" + mdLine(q.Document) + "*"}
	for _, s := range []string{q.Place, q.Headings} {
		if s != "" {
			where = append(where, mdLine(s))
		}
	}
	s := "> " + strings.Join(where, ", ") + "."
	if q.Stance != "" {
		s += " Reading: " + mdLine(q.Stance) + "."
	}
	if q.Supports != "" {
		s += " On: " + mdLine(q.Supports)
	}
	s += " Score " + q.Score + "."
	if q.SHA256 != "" {
		s += " SHA-256 " + mdLine(q.SHA256)
	}
	m.line(s)
}

func (m *markdown) table(t table) {
	m.line("**" + mdLine(t.Caption) + "**")
	if len(t.Rows) == 0 {
		m.line(mdLine(or(t.Empty, "There is nothing to list.")))
		return
	}
	head, rule := "|", "|"
	for _, c := range t.Columns {
		if c.Picture {
			continue
		}
		head += " " + mdLine(c.Name) + " |"
		rule += map[bool]string{true: " ---: |", false: " --- |"}[c.Number]
	}
	m.put(head)
	m.put(rule)
	for _, r := range t.Rows {
		s := "|"
		for i, c := range r.Cells {
			if !t.Columns[i].Picture {
				s += " " + mdInline(c) + " |"
			}
		}
		m.put(s)
	}
	m.put("")
	for _, r := range t.Rows {
		if len(r.Detail) > 0 {
			m.line("#### " + mdInline(r.Cells[0]))
			for _, b := range r.Detail {
				m.block(b)
			}
		}
	}
}

// mdInline writes a cell in one line; lines of a text become breaks.
func mdInline(c cell) string {
	var b strings.Builder
	for i, s := range c {
		t := mdEscape(s.Text, strings.TrimSpace(b.String()) == "")
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

// mdLine escapes text so that no character of it acts: not in a paragraph, a heading, a
// list, a quote or a table. Line ends inside it become breaks.
func mdLine(s string) string { return mdEscape(s, true) }

// mdEscape is mdLine for text at the start of a line, or inside one.
func mdEscape(s string, start bool) string {
	s = strings.Trim(s, "\n")
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n':
			b.WriteString("<br>")
		case (c == ' ' || c == '\t') && start:
			b.WriteString("&nbsp;") // four blanks would make a block of code
			continue
		case c == '\t':
			b.WriteByte(' ')
		case strings.IndexByte("\\`*_{}[]<>|~&$", c) >= 0,
			start && strings.IndexByte("#+-=", c) >= 0,
			(c == '.' || c == ')') && numbers(s[:i]) && (i+1 == len(s) || strings.IndexByte(" \t\n", s[i+1]) >= 0),
			c == ':' && strings.HasPrefix(s[i:], "://"),
			c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
		start = false
	}
	return b.String()
}

// numbers tells whether what stands before a dot would make the line a numbered item.
func numbers(before string) bool {
	before = strings.TrimLeft(before, " \t")
	return before != "" && len(before) < 10 && strings.Trim(before, "0123456789") == ""
}

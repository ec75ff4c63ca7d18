package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
)

// splitFrom is the width from which list and item stand side by side.
const splitFrom = 72

// listWidth is how much of the width the list has.
func listWidth(w int) int { return max(32, min(w*11/25, 100)) }

// drawnPage is an item as it was drawn, so that moving on the spot does not wrap it again.
type drawnPage struct {
	row      *row
	item     any
	w, quote int
	past     bool
	lines    []draw.Line
	// quoteAt is the line where the chosen quote begins.
	quoteAt int
}

func (v *review) view(w, h int) []draw.Line {
	if v.version == nil {
		p := draw.NewPage(w)
		switch {
		case !v.read:
			p.Text(draw.Dim, "reading…")
		default:
			p.Text(draw.Plain, fmt.Sprintf("There is no %s yet: the assessment is %s. Go back and make the next move with n.", v.kind.gate.Title(), stateWords(v.assessment.State)))
		}
		return p.Lines
	}
	out := []draw.Line{v.summary(w)}
	h--
	switch {
	case v.gantt:
		return append(out, v.drawGantt(w, h)...)
	case w >= splitFrom:
		lw := listWidth(w)
		return append(out, draw.Beside(v.list.Draw(lw, h, !v.onDetail), v.detail(w-lw-2, h), lw, h)...)
	case v.onDetail:
		return append(out, v.detail(w, h)...)
	}
	return append(out, v.list.Draw(w, h, true)...)
}

// summary is the line over the list: how many, of which so many wait; or the filter.
func (v *review) summary(w int) draw.Line {
	if f := filterLine(v.search, &v.list, w-24); f != nil {
		return append(f, draw.Span{Text: fmt.Sprintf("  %d of %d", len(v.list.Shown()), len(v.rows)), Style: draw.Dim})
	}
	open := 0
	for _, r := range v.rows {
		if v.kind.open(r) {
			open++
		}
	}
	text := fmt.Sprintf("%d of %d, %d %s", v.list.Place(), len(v.list.Shown()), open, v.kind.openWord)
	if n := v.list.MarkedCount(); n > 0 {
		text += fmt.Sprintf(", %d marked", n)
	}
	if v.onlyOpen {
		text += ", others hidden (w)"
	}
	if v.total > len(v.rows) {
		text += fmt.Sprintf(", reading %d", v.total)
	}
	return draw.T(draw.Dim, text)
}

// detail is the item under the cursor, scrolled.
func (v *review) detail(w, h int) []draw.Line {
	r := v.row()
	if r == nil {
		return []draw.Line{draw.T(draw.Dim, "nothing is shown; Esc takes the filter away")}
	}
	if d := v.drawn; d.row != r || d.item != r.item || d.w != w || d.past != v.showPast || d.quote != v.quote {
		v.drawn = v.drawItem(r, w)
	}
	return draw.Scrolled(v.drawn.lines, &v.scroll, h, " (Tab, then ↓)")
}

func (v *review) drawItem(r *row, w int) drawnPage {
	p := draw.NewPage(w)
	p.Text(draw.Bold, v.kind.key(r.item)+"  "+r.head.ControlTitle)
	d := drawnPage{row: r, item: r.item, w: w, quote: v.quote, past: v.showPast}
	switch {
	case v.showPast:
		v.pastPage(p, r)
	default:
		if len(r.over) > 0 {
			p.Text(draw.Yellow, "… not saved yet")
		}
		if r.refused != nil {
			p.Text(draw.Red, "✗ what you typed was refused; the same key offers it again")
		}
		v.kind.page(p, r)
		p.Field("owner", r.value("owner"), draw.Plain)
		for _, name := range []string{"note", "comments"} {
			p.Field("note", r.value(name), draw.Plain)
		}
		p.Field("requirements", print.Requirements(r.head.RequirementCodes), draw.Plain)
		if r.head.EditedBy != nil {
			p.Field("edited by", *r.head.EditedBy+" ("+print.Words(strings.Join(r.head.EditedFields, ", "))+")", draw.Plain)
		}
		if v.kind.below != nil {
			v.kind.below(p, r)
		}
		d.quoteAt = v.quotes(p, r)
	}
	d.lines = p.Lines
	return d
}

// quotes adds what the item rests on, and returns where the chosen one begins.
func (v *review) quotes(p *draw.Page, r *row) (at int) {
	all := v.kind.evidence(r.item)
	if v.kind.gate != "poam" {
		p.Title("Evidence")
		if len(all) == 0 {
			p.Text(draw.Dim, "no passage found")
		}
	}
	for i, e := range all {
		p.Blank()
		mark, style := "  ", draw.Plain
		if i == v.quote {
			mark, style, at = "› ", draw.Bold, len(p.Lines)
		}
		p.Text(draw.Dim, fmt.Sprintf("%s%d. %s", mark, i+1, print.Source(e)))
		if e.Supports != "" {
			p.Indent(2, draw.Dim, "on: "+e.Supports)
		}
		p.Indent(2, style, "“"+e.Quote+"”")
	}
	return at
}

// plainText is the item as text, for the clipboard.
func (v *review) plainText() string {
	r := v.row()
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, l := range v.drawItem(r, 100).lines {
		b.WriteString(strings.TrimRight(l.Text(), " ") + "\n")
	}
	return b.String()
}

// click chooses the row that was clicked on, or the side.
func (v *review) click(x, y int) tea.Cmd {
	if v.gantt || v.version == nil {
		return nil
	}
	if v.app.w >= splitFrom && x >= listWidth(v.app.w) {
		v.onDetail = true
		return nil
	}
	v.onDetail = false
	y--
	if v.list.Headed(v.app.h - 4) {
		y--
	}
	if v.list.At(y) {
		v.scroll, v.quote = 0, 0
	}
	return nil
}

func (v *review) wheel(by int) tea.Cmd {
	if v.onDetail {
		v.scroll = max(0, v.scroll+by)
		return nil
	}
	v.list.Move(by)
	v.scroll, v.quote = 0, 0
	return nil
}

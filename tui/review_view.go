package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
)

// minSplitWidth is the minimum width for showing list and item side by side.
const minSplitWidth = 72

// listWidth returns the width of the list.
func listWidth(screenWidth int) int { return max(32, min(screenWidth*11/25, 100)) }

// drawnPage caches an item's rendered page, so that redrawing doesn't wrap it again.
type drawnPage struct {
	row          *row
	item         any
	w, quote     int
	showsHistory bool
	lines        []draw.Line
	// quoteAt is the first line of the selected quote.
	quoteAt int
}

func (v *review) view(w, h int) []draw.Line {
	if v.version == nil {
		p := draw.NewPage(w)
		switch {
		case !v.loaded:
			p.AddText(draw.Dim, "loading…")
		default:
			p.AddText(
				draw.Plain,
				fmt.Sprintf(
					"There is no %s yet (assessment status: %s). Go back and press n to run the next step.",
					v.kind.gate.Title(),
					prose.Humanize(v.assessment.State),
				),
			)
		}
		return p.Lines
	}
	out := []draw.Line{v.filterOrCountsLine(w)}
	h--
	switch {
	case v.showGantt:
		return append(out, v.drawGantt(w, h)...)
	case w >= minSplitWidth:
		lw := listWidth(w)
		return append(out, draw.SideBySide(v.list.Draw(lw, h, !v.detailFocused), v.detail(w-lw-2, h), lw, h)...)
	case v.detailFocused:
		return append(out, v.detail(w, h)...)
	}
	return append(out, v.list.Draw(w, h, true)...)
}

// filterOrCountsLine returns the line above the list, which shows the filter or, if there is none, the counts.
func (v *review) filterOrCountsLine(w int) draw.Line {
	if f := filterLine(v.filterField, &v.list, w-24); f != nil {
		if err := v.list.FilterError(); err != nil {
			return append(f, draw.Span{Text: "  " + api.AsError(err).Message, Style: draw.Dim})
		}
		return append(f, draw.Span{Text: fmt.Sprintf("  %d of %d", len(v.list.VisibleRows()), len(v.rows)), Style: draw.Dim})
	}
	open := 0
	for _, r := range v.rows {
		if v.isOpen(r) {
			open++
		}
	}
	text := fmt.Sprintf("%d of %d, %d %s", v.list.CursorPosition(), len(v.list.VisibleRows()), open, v.openLabel())
	if n := v.list.MarkedCount(); n > 0 {
		text += fmt.Sprintf(", %d marked", n)
	}
	switch v.shown {
	case showAll:
	case showOpen:
		text += ", others hidden (w)"
	case showDisputed:
		text += ", only items on which the readers disagree (D)"
	case showSample:
		text += ", others hidden (R)"
	}
	if v.total > len(v.rows) {
		text += fmt.Sprintf(", loading %d", v.total)
	}
	return draw.TextLine(draw.Dim, text)
}

// detail draws the item under the cursor, scrolled.
func (v *review) detail(w, h int) []draw.Line {
	r := v.selectedRow()
	if r == nil {
		return []draw.Line{draw.TextLine(draw.Dim, "no rows match the filter; press Esc to clear it")}
	}
	if d := v.cachedPage; d.row != r || d.item != r.item || d.w != w || d.showsHistory != v.showHistory || d.quote != v.quoteIndex {
		v.cachedPage = v.drawItem(r, w)
	}
	return draw.ScrollLines(v.cachedPage.lines, &v.scroll, h, " (Tab, then ↓)")
}

// drawItem renders an item's page.
func (v *review) drawItem(r *row, w int) drawnPage {
	p := draw.NewPage(w)
	p.AddText(draw.Bold, v.kind.keyOf(r.item)+"  "+r.head.ControlTitle)
	d := drawnPage{row: r, item: r.item, w: w, quote: v.quoteIndex, showsHistory: v.showHistory}
	switch {
	case v.showHistory:
		v.renderHistory(p, r)
	default:
		if len(r.unsaved) > 0 {
			p.AddText(draw.Yellow, "… not saved yet")
		}
		if r.rejected != nil {
			p.AddText(draw.Red, "✗ your input was rejected; press the same key again to correct it")
		}
		v.kind.renderFields(p, r)
		owner, style := r.describeOwner()
		p.AddField("owner", owner, style)
		for _, name := range []string{"note", "comments"} {
			p.AddField("note", r.currentValue(name), draw.Plain)
		}
		p.AddField("requirements", print.FormatRequirements(r.head.RequirementCodes), draw.Plain)
		if r.head.EditedBy != nil {
			p.AddField("edited by", *r.head.EditedBy+" ("+prose.Humanize(strings.Join(r.head.EditedFields, ", "))+")", draw.Plain)
		}
		if v.kind.renderDetails != nil {
			v.kind.renderDetails(p, r)
		}
		d.quoteAt = v.renderQuotes(p, r)
	}
	d.lines = p.Lines
	return d
}

// renderQuotes adds the evidence and returns the first line of the selected quote.
func (v *review) renderQuotes(p *draw.Page, r *row) (at int) {
	all := v.kind.evidenceOf(r.item)
	if v.kind.gate != "poam" {
		p.AddTitle("Evidence")
		if len(all) == 0 {
			p.AddText(draw.Dim, "no passage found")
		}
	}
	for i, e := range all {
		p.EnsureBlankLine()
		mark, style := "  ", draw.Plain
		if i == v.quoteIndex {
			mark, style, at = "› ", draw.Bold, len(p.Lines)
		}
		p.AddText(draw.Dim, fmt.Sprintf("%s%d. %s", mark, i+1, print.FormatCitation(e)))
		if e.Statement != "" {
			p.AddIndented(2, draw.Dim, "on: "+e.Statement)
		}
		p.AddIndented(2, style, "“"+e.Quote+"”")
		if i, is := r.item.(*api.SoAItem); is && v.decidedQuotes[quoteKey(i, e)] != "" {
			p.AddIndented(2, draw.Yellow, v.decidedQuotes[quoteKey(i, e)])
		}
	}
	return at
}

// selectedItemPlainText returns the item as plain text for the clipboard.
func (v *review) selectedItemPlainText() string {
	r := v.selectedRow()
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, l := range v.drawItem(r, 100).lines {
		b.WriteString(strings.TrimRight(l.Text(), " ") + "\n")
	}
	return b.String()
}

// click selects the clicked row or pane.
func (v *review) click(x, y int) tea.Cmd {
	if v.showGantt || v.version == nil {
		return nil
	}
	if v.app.w >= minSplitWidth && x >= listWidth(v.app.w) {
		v.detailFocused = true
		return nil
	}
	v.detailFocused = false
	y--
	if v.list.HasHeader(v.app.h - 4) {
		y--
	}
	if v.list.MoveToLine(y) {
		v.scroll, v.quoteIndex = 0, 0
	}
	return nil
}

func (v *review) wheel(by int) tea.Cmd {
	if v.detailFocused {
		v.scroll = max(0, v.scroll+by)
		return nil
	}
	v.list.Move(by)
	v.scroll, v.quoteIndex = 0, 0
	return nil
}

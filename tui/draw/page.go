package draw

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/cli/print"
)

// Page collects lines of text wrapped to a given width, such as that of the right half of a screen.
type Page struct {
	Lines []Line
	w     int
}

// NewPage returns an empty page of w cells.
func NewPage(w int) *Page { return &Page{w: max(w, 1)} }

// Width returns the width of the page in cells.
func (p *Page) Width() int { return p.w }

// EnsureBlankLine adds an empty line, but never two in a row, nor one at the top.
func (p *Page) EnsureBlankLine() {
	if n := len(p.Lines); n > 0 && len(p.Lines[n-1]) > 0 {
		p.Lines = append(p.Lines, nil)
	}
}

// AddTitle adds a heading with a blank line before it.
func (p *Page) AddTitle(format string, args ...any) {
	p.EnsureBlankLine()
	p.AddText(Bold, fmt.Sprintf(format, args...))
}

// AddText adds wrapped text.
func (p *Page) AddText(style Style, text string) { p.AddIndented(0, style, text) }

// AddIndented adds wrapped text indented by the given number of cells.
func (p *Page) AddIndented(columns int, style Style, text string) {
	columns = min(columns, p.w/3)
	for _, l := range print.Wrap(print.SafeBlock(text), p.w-columns) {
		p.Lines = append(p.Lines, Line{{spaces(columns), Plain}, {l, style}})
	}
}

// AddLine adds a line unchanged.
func (p *Page) AddLine(l Line) { p.Lines = append(p.Lines, l) }

// minHintHeight is the minimum height at which a line shows how many lines follow.
const minHintHeight = 4

// ScrollLines returns h lines starting at an offset, which is clamped to the content. If more lines follow, the last
// line shows how many, together with keyHint.
func ScrollLines(lines []Line, offset *int, h int, keyHint string) []Line {
	*offset = max(0, min(*offset, len(lines)-h))
	lines = lines[*offset:]
	if len(lines) <= h {
		return lines
	}
	if h < minHintHeight {
		return lines[:max(0, h)]
	}
	return append(lines[:h-1:h-1], TextLine(Dim, fmt.Sprintf("▼ %d more lines%s", len(lines)-h+1, keyHint)))
}

// stackedBelow is the page width below which a long value is drawn under its name rather than next to it.
const stackedBelow = 60

// fieldWidth is the column where the values of fields begin.
const fieldWidth = 15

// AddField adds a name and its value; an empty value adds nothing.
func (p *Page) AddField(name, value string, style Style) {
	if strings.TrimSpace(value) == "" {
		return
	}
	if p.w < 2*fieldWidth || p.w < stackedBelow && (strings.Contains(value, "\n") || print.Width(print.SafeLine(value)) > p.w-fieldWidth) {
		p.AddText(Dim, name)
		p.AddIndented(2, style, value)
		return
	}
	for i, l := range print.Wrap(print.SafeBlock(value), p.w-fieldWidth) {
		head := ""
		if i == 0 {
			head = name
		}
		line := TextLine(Dim, head).Fit(fieldWidth-1, Plain)
		p.Lines = append(p.Lines, append(line, Span{" ", Plain}, Span{l, style}))
	}
}

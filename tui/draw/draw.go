// Package draw turns screen content into terminal lines of styled spans, fitted by display width.
// All text passes through it and is sanitized, because evidence is untrusted.
//
// It depends on no screen or record type.
package draw

import (
	"strings"

	"github.com/scf-service/service/cli/print"
)

// Style is the style of a span. It never conveys meaning on its own: the text always says the same. Only the
// terminal's own 16 colors are used, so that they match the user's light or dark theme.
type Style uint8

// The colors, of which a style has at most one, and the attributes that can be added to a color.
const (
	Plain  Style = 0
	Red    Style = 1
	Green  Style = 2
	Yellow Style = 3
	Blue   Style = 4
	Purple Style = 5
	Cyan   Style = 6

	Bold      Style = 1 << 3
	Dim       Style = 1 << 4
	Reverse   Style = 1 << 5
	Underline Style = 1 << 6
)

const colorMask Style = 7

// escapeSequence returns the escape sequence of a style, or "" for a plain one.
func (s Style) escapeSequence(color bool) string {
	var codes []string
	for _, c := range []struct {
		style Style
		code  string
	}{{Bold, "1"}, {Dim, "2"}, {Underline, "4"}, {Reverse, "7"}} {
		if s&c.style != 0 {
			codes = append(codes, c.code)
		}
	}
	if c := s & colorMask; c != 0 && color {
		codes = append(codes, "3"+string('0'+rune(c)))
	}
	if len(codes) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// Line is a line of a screen.
type Line []Span

// TextLine returns a line with a single span.
func TextLine(style Style, text string) Line { return Line{{text, style}} }

// Width returns the width of the line in cells.
func (l Line) Width() (n int) {
	for _, s := range l {
		n += print.Width(print.SafeLine(s.Text))
	}
	return n
}

// Text returns the line without styles.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(print.SafeLine(s.Text))
	}
	return b.String()
}

// Cut truncates the line to at most w cells, ending in … if anything was cut.
func (l Line) Cut(w int) Line {
	if w <= 0 {
		return nil
	}
	out, used := make(Line, 0, len(l)), 0
	for i, s := range l {
		text := print.SafeLine(s.Text)
		n := print.Width(text)
		if used+n > w {
			text = print.Truncate(text, w-used)
			if text == "" && i > 0 && w == used {
				return endWithEllipsis(out)
			}
			return append(out, Span{text, s.Style})
		}
		used += n
		out = append(out, Span{text, s.Style})
	}
	return out
}

// endWithEllipsis replaces the end of a full line with an ellipsis to show that more text follows.
func endWithEllipsis(l Line) Line {
	for at := len(l) - 1; at >= 0; at-- {
		if w := print.Width(l[at].Text); w > 0 {
			l[at].Text = print.Truncate(l[at].Text+"……", w)
			return l
		}
	}
	return l
}

// Fit returns the line with exactly w cells, truncated or padded with spaces in the style fill.
func (l Line) Fit(w int, fill Style) Line {
	out := l.Cut(w)
	if n := w - out.Width(); n > 0 {
		out = append(out, Span{spaces(n), fill})
	}
	return out
}

// AddStyle returns the line with a style added to each span.
func (l Line) AddStyle(add Style) Line {
	out := make(Line, len(l))
	for i, s := range l {
		if add&Reverse != 0 {
			s.Style &^= colorMask | Dim // reversed text without colors is readable in every theme
		}
		out[i] = Span{s.Text, s.Style | add}
	}
	return out
}

const blankRun = "                                                                                                      " +
	"                          "

func spaces(n int) string {
	if n <= len(blankRun) {
		return blankRun[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// Render returns the lines as output for a terminal of w × h cells.
func Render(lines []Line, w, h int, color bool) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(2 * w * h)
	for i, l := range lines[:min(h, len(lines))] {
		if i > 0 {
			b.WriteByte('\n')
		}
		renderLine(&b, l.Cut(w), w, color)
	}
	return b.String()
}

// renderLine writes a line with its escape sequences, cut or padded to w cells.
func renderLine(b *strings.Builder, l Line, w int, color bool) {
	// Characters of adjacent spans can join into one that is wider than both.
	if text := l.Text(); len(l) > 1 && print.Width(text) > w {
		l = Line{{print.Truncate(text, w), Plain}}
	}
	for _, s := range l {
		if s.Text == "" {
			continue
		}
		begin := s.Style.escapeSequence(color)
		b.WriteString(begin)
		b.WriteString(s.Text)
		if begin != "" {
			b.WriteString("\x1b[0m")
		}
	}
}

// SideBySide puts two columns next to each other, separated by a vertical line. The left one is leftWidth cells wide.
func SideBySide(left, right []Line, leftWidth, h int) []Line {
	out := make([]Line, h)
	for i := range out {
		var l, r Line
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = append(append(l.Fit(leftWidth, Plain), Span{"│ ", Dim}), r...)
	}
	return out
}

// Bar draws the share of part in total as a bar of w cells.
func Bar(part, total float64, w int) string {
	if w <= 0 {
		return ""
	}
	full := 0
	if total > 0 && part > 0 {
		full = min(w, max(1, int(part/total*float64(w)+0.5)))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", w-full)
}

// Rule returns a horizontal line of w cells.
func Rule(w int) string { return strings.Repeat("─", max(0, w)) }

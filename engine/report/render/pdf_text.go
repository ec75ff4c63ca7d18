package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/scf-service/service/engine/report/drawing"
)

// face is a font with the widths of its characters.
type face struct {
	name   string
	data   []byte
	font   *sfnt.Font
	buf    sfnt.Buffer
	widths map[rune]float64 // of an em; negative for a character that it lacks
}

// fontSet are the fonts of a report.
type fontSet struct {
	regular, bold, italic, mono *face
	fallback                    *face // for characters that these lack; nil for none
}

// newFontSet reads the fonts; each report has its own, since they keep what they were asked.
func newFontSet(fallback []byte) (fontSet, error) {
	var s fontSet
	for _, f := range []struct {
		to   **face
		name string
		data []byte
	}{{&s.regular, "text", goregular.TTF}, {&s.bold, "strong", gobold.TTF}, {&s.italic, "slanted", goitalic.TTF}, {&s.mono, "code", gomono.TTF}, {&s.fallback, "other", fallback}} {
		if len(f.data) == 0 {
			continue
		}
		parsed, err := sfnt.Parse(f.data)
		if err == nil && string(f.data[:4]) == "OTTO" {
			err = errors.New("its outlines are PostScript's")
		}
		if err != nil {
			return s, fmt.Errorf("the font for reports can't be used; give a TrueType font (.ttf): %w", err)
		}
		*f.to = &face{name: f.name, data: f.data, font: parsed, widths: map[rune]float64{}}
	}
	return s, nil
}

func (s fontSet) register(f *fpdf.Fpdf) {
	for _, x := range []*face{s.regular, s.bold, s.italic, s.mono, s.fallback} {
		if x != nil {
			f.AddUTF8FontFromBytes(x.name, "", slices.Clone(x.data)) // it writes into the font while it cuts it
		}
	}
}

// advance is a character's width in ems; negative where the font lacks it.
func (f *face) advance(r rune) float64 {
	if w, ok := f.widths[r]; ok {
		return w
	}
	w := -1.0
	if i, err := f.font.GlyphIndex(&f.buf, r); err == nil && i != 0 && r <= 0xffff { // the writer's codes have 16 bits
		if a, err := f.font.GlyphAdvance(&f.buf, i, fixed.I(1000), font.HintingNone); err == nil {
			w = float64(a) / 64 / 1000
		}
	}
	f.widths[r] = w
	return w
}

// textWidth is of a text that the font has.
func (f *face) textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += max(f.advance(r), 0)
	}
	return w * size
}

// missingGlyph stands for a character that no font has.
const missingGlyph = '□'

// resolveGlyph is the font to write a character in, and the character to write.
func (p *pdfWriter) resolveGlyph(preferred *face, r rune) (*face, rune) {
	if preferred.advance(r) >= 0 {
		return preferred, r
	}
	if p.fonts.regular.advance(r) >= 0 {
		return p.fonts.regular, r
	}
	if o := p.fonts.fallback; o != nil && o.advance(r) >= 0 {
		return o, r
	}
	if unicode.In(r, unicode.Mn, unicode.Cf, unicode.Variation_Selector) {
		return nil, 0 // marks and joiners that stand for nothing by themselves
	}
	p.missing[r] = true
	return p.fonts.regular, missingGlyph
}

// replaceMissingGlyphs is a text in characters that the writer can code.
func (p *pdfWriter) replaceMissingGlyphs(s string) string {
	var b strings.Builder
	for _, r := range s {
		if f, shown := p.resolveGlyph(p.fonts.regular, r); f != nil {
			b.WriteRune(shown)
		}
	}
	return b.String()
}

// textStyle is how a text is set.
type textStyle struct {
	face  *face
	size  float64
	color drawing.ColorName
}

// textRun is a piece of a line in one font.
type textRun struct {
	textStyle
	text  string
	width float64
	x     float64 // from the line's left
	ref   string
	badge string
	// source is where text is a part of, from its start to the end of what it was read from.
	source string
}

// textLine is what stands beside each other.
type textLine struct {
	runs  []textRun
	width float64
}

// word is what is not broken, in one or more fonts.
type word struct {
	runs    []textRun
	width   float64
	blanks  int // before it
	newLine bool
}

const badgePad = 4.0

// splitWords takes a cell apart. Other people's texts keep their lines and blanks.
func (p *pdfWriter) splitWords(c cell, st textStyle) []word {
	var out []word
	var cur word
	flush := func() {
		if len(cur.runs) > 0 || cur.newLine {
			out = append(out, cur)
		}
		cur = word{}
	}
	for i, s := range c {
		look := st
		var badge string
		switch {
		case s.Bar != nil:
			continue
		case s.Badge != "":
			look.face, badge = p.fonts.bold, sanitizeClass(s.Badge)
			look.color, _ = drawing.BadgeColors(badge)
			flush()
		case s.Mono:
			look.face, look.size = p.fonts.mono, st.size*0.88
		case s.Strong:
			look.face = p.fonts.bold
		case s.Ref != "":
			look.color = drawing.Link
		}
		if s.Prose && i > 0 {
			flush()
			cur.newLine = true
		}
		text := s.Text
		if s.Prose {
			text = strings.Trim(text, "\n")
		}
		for at, r := range text {
			switch {
			case r == '\n':
				flush()
				cur.newLine = true
				continue
			case r == '\t' || r == ' ':
				if s.NoBreak {
					r = '\u00a0'
					break
				}
				if len(cur.runs) > 0 {
					flush()
				}
				cur.blanks++
				continue
			case r >= 0x2e80 && len(cur.runs) > 0:
				flush() // scripts without blanks are broken anywhere
			}
			p.appendRune(&cur, look, text[at:], r, s.Ref, badge)
		}
		if badge != "" {
			flush()
		}
	}
	flush()
	return out
}

// appendRune adds a character to a word; it stands at the start of from.
func (p *pdfWriter) appendRune(w *word, look textStyle, from string, r rune, ref, badge string) {
	if r == '\u00a0' {
		r = ' '
	}
	f, r := p.resolveGlyph(look.face, r)
	if f == nil {
		return
	}
	look.face = f
	n := len(w.runs)
	if n == 0 || w.runs[n-1].textStyle != look || w.runs[n-1].ref != ref || w.runs[n-1].badge != badge {
		w.runs = append(w.runs, textRun{textStyle: look, ref: ref, badge: badge, source: from})
		n++
	}
	a := max(f.advance(r), 0) * look.size
	last := &w.runs[n-1]
	// As long as the text is the source's, it is a part of it and not a copy.
	if rest := last.source[min(len(last.text), len(last.source)):]; strings.HasPrefix(rest, string(r)) {
		last.text = last.source[:len(last.text)+utf8.RuneLen(r)]
	} else {
		last.text += string(r)
		last.source = ""
	}
	last.width += a
	w.width += a
}

// breakLines breaks words into lines of a width.
func (p *pdfWriter) breakLines(words []word, width float64) []textLine {
	var out []textLine
	var cur textLine
	started := false
	end := func() {
		out = append(out, cur)
		cur, started = textLine{}, false
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.newLine && (i > 0 || w.blanks > 0) {
			end()
		}
		if len(w.runs) == 0 {
			continue
		}
		pad := 0.0
		if w.runs[0].badge != "" {
			pad = 2 * badgePad
		}
		space := float64(w.blanks) * w.runs[0].face.textWidth(" ", w.runs[0].size)
		if started && cur.width+space+w.width+pad > width {
			end()
		}
		if !started && !w.newLine {
			space = 0
		}
		if w.width+pad > width { // longer than a line: broken where it is full
			first, rest := splitWord(w, width-pad)
			if len(rest.runs) > 0 {
				words = slices.Insert(words, i+1, rest)
				w = first
			}
			space = 0
		}
		cur.appendWord(w, min(space, width/2), pad)
		started = true
	}
	if started || len(out) == 0 {
		end()
	}
	return out
}

// appendWord puts a word at the line's end, joined with what stands there in the same style.
func (l *textLine) appendWord(w word, space, pad float64) {
	for i, r := range w.runs {
		gap := 0.0
		if i == 0 {
			gap = space
		}
		n := len(l.runs)
		if n > 0 && r.continues(l.runs[n-1]) {
			last := &l.runs[n-1]
			last.text += strings.Repeat(" ", spacesIn(gap, r.textStyle)) + r.text
			last.width += gap + r.width
			l.width += gap + r.width
			continue
		}
		r.x = l.width + gap
		if r.badge != "" {
			r.x += badgePad
			l.width += 2 * badgePad
		}
		l.runs = append(l.runs, r)
		l.width += gap + r.width
	}
}

// continues tells whether a run goes on with the one before it on a line: in the same badge,
// or without one in the same style and link.
func (r textRun) continues(last textRun) bool {
	return r.badge == last.badge && (r.badge != "" || r.textStyle == last.textStyle && r.ref == last.ref)
}

func spacesIn(gap float64, st textStyle) int {
	if gap == 0 {
		return 0
	}
	return max(1, int(gap/st.face.textWidth(" ", st.size)+0.5))
}

// splitWord cuts a word that is too long.
func splitWord(w word, width float64) (first, rest word) {
	first.blanks, first.newLine = w.blanks, w.newLine
	full := false
	for _, r := range w.runs {
		if full {
			rest.runs = append(rest.runs, r)
			rest.width += r.width
			continue
		}
		head := r
		head.text, head.width = "", 0
		for i, c := range r.text {
			a := max(r.face.advance(c), 0) * r.size
			if first.width+head.width+a > width && first.width+head.width > 0 {
				tail := r
				tail.text, tail.width = r.text[i:], r.width-head.width
				rest.runs, rest.width, full = append(rest.runs, tail), rest.width+tail.width, true
				break
			}
			head.text += string(c)
			head.width += a
		}
		if head.text != "" {
			first.runs = append(first.runs, head)
			first.width += head.width
		}
	}
	return first, rest
}

// fitText is a plain text in lines, at most so many; the last one ends in … where more comes.
func (p *pdfWriter) fitText(s string, f *face, size float64, c drawing.ColorName, width float64, maxLines int) []textLine {
	lines := p.breakLines(p.splitWords(userCell(strings.Join(strings.Fields(s), " ")), textStyle{face: f, size: size, color: c}), width)
	if len(lines) <= maxLines {
		return lines
	}
	lines = lines[:maxLines]
	last := &lines[maxLines-1]
	if n := len(last.runs); n > 0 {
		r := &last.runs[n-1]
		for dots := f.textWidth("…", size); last.width+dots > width && r.text != ""; {
			cut := []rune(r.text)
			a := max(r.face.advance(cut[len(cut)-1]), 0) * r.size
			r.text, r.width, last.width = string(cut[:len(cut)-1]), r.width-a, last.width-a
		}
		last.runs = append(
			last.runs,
			textRun{textStyle: textStyle{face: f, size: size, color: c}, text: "…", x: last.width, width: f.textWidth("…", size)},
		)
	}
	return lines
}

// drawLine writes a line into a strip of that height.
func (p *pdfWriter) drawLine(l textLine, x, y, height float64) {
	for _, r := range l.runs {
		base := y + height*0.5 + r.size*0.36
		if r.badge != "" {
			ink, bg := drawing.BadgeColors(r.badge)
			p.setFillColor(bg)
			p.setDrawColor(ink)
			p.file.SetLineWidth(0.5)
			p.file.Rect(x+r.x-badgePad+0.5, base-r.size*0.95, r.width+2*badgePad-1, r.size*1.28, "DF")
			p.setFillColor(ink)
			p.file.Rect(x+r.x-badgePad+0.5, base-r.size*0.95, 2, r.size*1.28, "F")
		}
		p.drawText(x+r.x, base, r.face, r.size, r.color, r.text)
		if r.ref != "" {
			p.links = append(
				p.links,
				linkArea{pagePosition: pagePosition{p.file.PageNo(), y}, x: x + r.x, w: r.width, h: height, ref: r.ref},
			)
		}
	}
}

// drawMissingGlyphNote says which characters could not be shown.
func (p *pdfWriter) drawMissingGlyphNote() {
	if len(p.missing) == 0 {
		return
	}
	var codes []string
	for r := range p.missing {
		codes = append(codes, fmt.Sprintf("U+%04X", r))
	}
	slices.Sort(codes)
	more := ""
	if len(codes) > 40 {
		codes, more = codes[:40], fmt.Sprintf(" and %d more", len(codes)-40)
	}
	p.addSpace(10)
	p.drawNotice(
		"Some characters are in none of this file's fonts and are shown as "+string(missingGlyph)+": "+strings.Join(codes, ", ")+more+
			". The HTML report has them all; an operator can name a TrueType font that has them (SERVICE_REPORT_FONT).",
		nil,
		drawing.Warn,
		drawing.WarnGround,
	)
}

package pdf

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

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
)

// face is a font with a cache of character widths.
type face struct {
	name   string
	data   []byte
	font   *sfnt.Font
	buf    sfnt.Buffer
	widths map[rune]float64 // in ems; negative for a character that the font lacks
}

// fontSet holds the fonts used in a report.
type fontSet struct {
	regular, bold, italic, mono *face
	fallbacks                   []*face // for characters missing from these
}

// newFontSet loads the fonts. Each report has its own set, because fonts cache lookups. named is an optional font
// for characters that the built-in fonts lack.
func newFontSet(named []byte) (s fontSet, err error) {
	for _, f := range []struct {
		to   **face
		name string
		data []byte
	}{
		{&s.regular, "text", goregular.TTF},
		{&s.bold, "strong", gobold.TTF},
		{&s.italic, "slanted", goitalic.TTF},
		{&s.mono, "code", gomono.TTF},
	} {
		if *f.to, err = newFace(f.name, f.data); err != nil {
			return s, err
		}
	}
	if len(named) > 0 {
		other, err := newFallback("other", named)
		if err != nil {
			return s, fmt.Errorf("the report font can't be used: %w; provide a TrueType font (.ttf)", err)
		}
		s.fallbacks = append(s.fallbacks, other)
	}
	return s, nil
}

func newFace(name string, data []byte) (*face, error) {
	parsed, err := sfnt.Parse(data)
	if err == nil && string(data[:4]) == "OTTO" {
		err = errors.New("the font has PostScript outlines")
	}
	return &face{name: name, data: data, font: parsed, widths: map[rune]float64{}}, err
}

func (s fontSet) register(f *fpdf.Fpdf) {
	for _, x := range append([]*face{s.regular, s.bold, s.italic, s.mono}, s.fallbacks...) {
		x.register(f)
	}
}

func (f *face) register(file *fpdf.Fpdf) {
	file.AddUTF8FontFromBytes(f.name, "", slices.Clone(f.data)) // the library modifies the data while subsetting the font
}

// runeWidthOrNegative returns the width of a character in ems, or a negative number if the font doesn't have the
// character.
func (f *face) runeWidthOrNegative(r rune) float64 {
	if w, ok := f.widths[r]; ok {
		return w
	}
	w := -1.0
	if i, err := f.font.GlyphIndex(&f.buf, r); err == nil && i != 0 && r <= 0xffff { // the PDF library's character codes have 16 bits
		if a, err := f.font.GlyphAdvance(&f.buf, i, fixed.I(1000), font.HintingNone); err == nil {
			w = float64(a) / 64 / 1000
		}
	}
	f.widths[r] = w
	return w
}

// textWidth returns the width of a text in this font. Characters that the font doesn't have are not counted.
func (f *face) textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += max(f.runeWidthOrNegative(r), 0)
	}
	return w * size
}

// missingGlyph is drawn in place of a character that no font has.
const missingGlyph = '□'

// resolveGlyph returns the font and character with which r is drawn. It returns nil and 0 if r is
// not drawn by itself, for example because it is a combining mark.
func (p *pdfWriter) resolveGlyph(preferred *face, r rune) (usedFace *face, drawn rune) {
	if preferred.runeWidthOrNegative(r) >= 0 {
		return preferred, r
	}
	if p.fonts.regular.runeWidthOrNegative(r) >= 0 {
		return p.fonts.regular, r
	}
	isMark := unicode.In(r, unicode.Mn, unicode.Cf, unicode.Variation_Selector)
	if o := p.fallbackFor(r, !isMark); o != nil {
		return o, r
	}
	if isMark {
		return nil, 0 // combining marks and joiners are not drawn by themselves
	}
	p.missing[r] = true
	return p.fonts.regular, missingGlyph
}

// replaceMissingGlyphs replaces each character that the regular font can't show.
func (p *pdfWriter) replaceMissingGlyphs(s string) string {
	var b strings.Builder
	for _, r := range s {
		if f, shown := p.resolveGlyph(p.fonts.regular, r); f != nil {
			b.WriteRune(shown)
		}
	}
	return b.String()
}

// textStyle is the font, size and color of a text.
type textStyle struct {
	face  *face
	size  float64
	color drawing.ColorName
}

// textRun is a piece of a line in a single style.
type textRun struct {
	textStyle
	text  string
	width float64
	x     float64 // distance from the left end of the line
	ref   string
	badge string
	// source is the rest of the original text, starting at this run. It lets runs share memory with the original.
	source string
}

// textLine is a line of text that has been laid out.
type textLine struct {
	runs  []textRun
	width float64
}

// word is a sequence of characters that is not broken across lines. It may use several fonts.
type word struct {
	runs    []textRun
	width   float64
	blanks  int // number of blanks before it
	newLine bool
	// startsBadge is set for the first word of a badge, which is not joined with a badge before it.
	startsBadge bool
}

const badgePad = 4.0

// splitWords splits the text of a cell into words. It preserves line ends and spaces in text written by
// users.
func (p *pdfWriter) splitWords(c block.Cell, st textStyle) []word {
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
			look.face, badge = p.fonts.bold, s.BadgeClass()
			look.color, _ = drawing.BadgeColors(badge)
			if len(cur.runs) > 0 {
				flush()
			}
			cur.startsBadge = true
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
				if s.NoBreak || badge != "" && len(s.Text) <= maxUnbrokenBadge {
					r = '\u00a0'
					break
				}
				if len(cur.runs) > 0 {
					flush()
				}
				cur.blanks++
				continue
			case r >= 0x2e80 && len(cur.runs) > 0:
				flush() // scripts without spaces may break anywhere
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

// appendRune appends a character to a word. source is the rest of the source text, which begins with that
// character.
func (p *pdfWriter) appendRune(w *word, look textStyle, source string, r rune, ref, badge string) {
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
		w.runs = append(w.runs, textRun{textStyle: look, ref: ref, badge: badge, source: source})
		n++
	}
	a := max(f.runeWidthOrNegative(r), 0) * look.size
	last := &w.runs[n-1]
	// As long as the run equals its source, it is a slice of the source rather than a copy.
	if rest := last.source[min(len(last.text), len(last.source)):]; strings.HasPrefix(rest, string(r)) {
		last.text = last.source[:len(last.text)+utf8.RuneLen(r)]
	} else {
		last.text += string(r)
		last.source = ""
	}
	last.width += a
	w.width += a
}

// breakLines arranges words in lines of at most the given width.
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
		if w.width+pad > width { // a word longer than a line is broken wherever the line is full
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

// appendWord appends a word to a line. If the word has the same style as the line's last run, it becomes part of
// that run.
func (l *textLine) appendWord(w word, space, pad float64) {
	for i, r := range w.runs {
		gap := 0.0
		if i == 0 {
			gap = space
		}
		n := len(l.runs)
		if n > 0 && r.canMergeWith(l.runs[n-1]) && (i > 0 || !w.startsBadge) {
			last := &l.runs[n-1]
			last.text += strings.Repeat(" ", spacesForGap(gap, r.textStyle)) + r.text
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

// canMergeWith reports whether a run can be merged with the previous run on the line. It can if both belong to
// badges of the same class, or if both have the same style and link.
func (r textRun) canMergeWith(previous textRun) bool {
	return r.badge == previous.badge && (r.badge != "" || r.textStyle == previous.textStyle && r.ref == previous.ref)
}

// spacesForGap returns how many spaces correspond to a gap: at least 1, unless the gap is 0.
func spacesForGap(gap float64, st textStyle) int {
	if gap == 0 {
		return 0
	}
	return max(1, int(gap/st.face.textWidth(" ", st.size)+0.5))
}

// splitWord splits a word that is too long for one line into a part that fits and the remainder.
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
			a := max(r.face.runeWidthOrNegative(c), 0) * r.size
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

// fitText breaks plain text into at most maxLines lines. If the text does not fit, the last line ends in "…".
func (p *pdfWriter) fitText(s string, f *face, size float64, c drawing.ColorName, width float64, maxLines int) []textLine {
	lines := p.breakLines(p.splitWords(block.UserText(strings.Join(strings.Fields(s), " ")), textStyle{face: f, size: size, color: c}), width)
	if len(lines) <= maxLines {
		return lines
	}
	lines = lines[:maxLines]
	last := &lines[maxLines-1]
	if n := len(last.runs); n > 0 {
		r := &last.runs[n-1]
		for dots := f.textWidth("…", size); last.width+dots > width && r.text != ""; {
			cut := []rune(r.text)
			a := max(r.face.runeWidthOrNegative(cut[len(cut)-1]), 0) * r.size
			r.text, r.width, last.width = string(cut[:len(cut)-1]), r.width-a, last.width-a
		}
		last.runs = append(
			last.runs,
			textRun{textStyle: textStyle{face: f, size: size, color: c}, text: "…", x: last.width, width: f.textWidth("…", size)},
		)
	}
	return lines
}

// drawLine draws a line of text, centered vertically in a strip of the given height.
func (p *pdfWriter) drawLine(l textLine, x, y, height float64) {
	for i, r := range l.runs {
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
		text := r.text
		if i == len(l.runs)-1 {
			text += " " // separates it from the next line when the text is read aloud
		}
		p.drawText(x+r.x, base, r.face, r.size, r.color, text)
		if r.ref != "" {
			p.links = append(
				p.links,
				linkArea{pagePosition: pagePosition{p.file.PageNo(), y}, x: x + r.x, w: r.width, h: height, ref: r.ref},
			)
		}
	}
}

// drawMissingGlyphNote draws a note that lists the characters that no font has.
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
	p.addSpaceUnlessAtTop(10)
	p.drawNotice(
		"This file's fonts lack some characters, which are shown as "+string(missingGlyph)+": "+strings.Join(codes, ", ")+more+
			". The HTML report shows all characters. To add them here, install a TrueType font that has them, or set SERVICE_REPORT_FONT to one.",
		nil,
		drawing.Warn,
		drawing.WarnGround,
	)
}

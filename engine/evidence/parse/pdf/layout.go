package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/engine/evidence/parse/text"
)

// textLine is a line of words, within one column if the text is in columns.
type textLine struct {
	box
	text  string
	size  float64 // most common height of its words
	bold  bool    // the whole line is bold
	words []word
	// script is the right-to-left script of most of the line; nil if the line is written from left to right.
	script *unicode.RangeTable

	beginsAnswer, endsAnswer bool // to a question of a form
}

// layoutItem is a line or a table of a page.
type layoutItem struct {
	line *textLine
	grid *grid
	// pageHeight is the height of the page, turned in the direction in which the item is read.
	pageHeight float64
	// isSeparate is set if the item doesn't continue the preceding one.
	isSeparate bool
}

func (i layoutItem) box() box {
	if i.grid != nil {
		return i.grid.box
	}
	return i.line.box
}

// pageLayout is a page in reading order.
type pageLayout struct {
	number int
	items  []layoutItem
}

// layoutPage puts the content of a page into reading order. Text that runs upward or downward is read after the other
// text, as if the page were turned.
func layoutPage(p *pageContent) *pageLayout {
	out := &pageLayout{number: p.number}
	p.joinStacked()
	for i, part := range p.splitByDirection() {
		items := layoutUpright(part)
		for k := range items {
			items[k].pageHeight = part.h
			items[k].isSeparate = k == 0 && i > 0 && len(out.items) > 0
		}
		out.items = append(out.items, items...)
	}
	return out
}

// layoutUpright puts the content of a page into reading order. It finds tables by their rules, and columns and
// tables without rules by gaps that many lines share; the rest is read from top to bottom.
func layoutUpright(p *pageContent) []layoutItem {
	var out []layoutItem
	rest := p.words
	for _, g := range findGrids(p.rules) {
		var inside, outside []word
		for _, w := range rest {
			if g.contains(w) {
				inside = append(inside, w)
			} else {
				outside = append(outside, w)
			}
		}
		if g.fillWords(inside); len(g.rows) == 0 || len(g.rows[0].effective) < 2 {
			continue // a drawing or a frame, whose words remain lines
		}
		rest = outside
		out = append(out, layoutItem{grid: g})
	}
	tables := len(out)
	lines := groupLines(rest)
	// Lines above, between and below ruled tables are laid out separately.
	slices.SortStableFunc(out, func(a, b layoutItem) int { return cmp.Compare(a.box().y0, b.box().y0) })
	grids := slices.Clone(out[:tables])
	out = out[:0]
	for _, g := range grids {
		n := 0
		for n < len(lines) && (lines[n].y0+lines[n].y1)/2 < g.grid.y0 {
			n++
		}
		out = append(out, orderLines(lines[:n])...)
		out = append(out, g)
		lines = lines[n:]
	}
	out = append(out, orderLines(lines)...)
	for _, it := range out {
		if it.line != nil {
			it.line.words = nil // kept for all pages, they would take up most of the memory
		}
	}
	return out
}

// groupLines groups words into lines. Lines are ordered from top to bottom, and words from left to right.
func groupLines(words []word) []*textLine {
	ws := slices.Clone(words)
	slices.SortStableFunc(ws, func(a, b word) int { return cmp.Compare(a.y0+a.y1, b.y0+b.y1) })
	var groups [][]word
	for _, w := range ws {
		if n := len(groups); n > 0 && isOnLine(groups[n-1], w) {
			groups[n-1] = append(groups[n-1], w)
			continue
		}
		groups = append(groups, []word{w})
	}
	out := make([]*textLine, len(groups))
	for i, g := range groups {
		out[i] = newLine(g)
	}
	return out
}

// isOnLine reports whether a word belongs to a line. It compares the word with the line's tallest word, so that
// the line can't drift downward.
func isOnLine(line []word, w word) bool {
	tall := line[0]
	for _, l := range line {
		if l.height() > tall.height()*1.05 {
			tall = l
		}
	}
	overlap := min(tall.y1, w.y1) - max(tall.y0, w.y0)
	return overlap > 0.55*min(tall.height(), w.height())
}

func newLine(words []word) *textLine {
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.x0, b.x0) })
	l := &textLine{box: words[0].box, words: words, bold: true}
	l.text, l.script = orderWords(words)
	bySize := map[float64]int{}
	for _, w := range words {
		l.box = l.box.union(w.box)
		l.bold = l.bold && (w.bold || !strings.ContainsFunc(w.text, unicode.IsLetter))
		l.beginsAnswer, l.endsAnswer = l.beginsAnswer || w.beginsAnswer, l.endsAnswer || w.endsAnswer
		bySize[w.height()] += len(w.text)
	}
	most := 0
	for size, n := range bySize {
		if n > most || n == most && size > l.size {
			l.size, most = size, n
		}
	}
	return l
}

// gap is a horizontal range of a line that contains no words.
type gap struct{ from, to float64 }

const minGap = 7.0 // points that separate columns, whatever the font size

// wideGaps returns the wide gaps between the words of a line, except for one after a list marker.
func (l *textLine) wideGaps() []gap {
	var out []gap
	for i := 1; i < len(l.words); i++ {
		a, b := l.words[i-1], l.words[i]
		if b.x0-a.x1 < max(minGap, 1.1*l.size) || i == 1 && isListMark(a.text) {
			continue
		}
		out = append(out, gap{a.x1, b.x0})
	}
	return out
}

// freeGap returns the widest part of g that contains no word of the line.
func (l *textLine) freeGap(g gap) gap {
	best, from := gap{}, g.from
	for _, w := range l.words {
		if w.x1 <= g.from || w.x0 >= g.to {
			continue
		}
		if w.x0-from > best.to-best.from {
			best = gap{from, w.x0}
		}
		from = max(from, w.x1)
	}
	if g.to-from > best.to-best.from {
		best = gap{from, g.to}
	}
	return best
}

// hasWordsOnBothSides reports whether the line has words on both sides of g.
func (l *textLine) hasWordsOnBothSides(g gap) bool { return l.x0 < g.from+1 && l.x1 > g.to-1 }

// orderLines puts lines into reading order. Successive lines that share a gap are read as columns of text or as
// a table.
func orderLines(lines []*textLine) []layoutItem {
	var out []layoutItem
	for len(lines) > 0 {
		n, gaps, isText := findColumns(lines)
		if n == 0 {
			out = append(out, layoutItem{line: lines[0]})
			lines = lines[1:]
			continue
		}
		namesAbove := 0
		if k := len(out) - 1; k >= 0 && !isText && out[k].line != nil && isNameAbove(out[k].line, lines[:n], gaps) {
			lines = append([]*textLine{joinNames(out[k].line)}, lines...)
			out, n, namesAbove = out[:k], n+1, 1
		}
		part := lines[:n]
		lines = lines[n:]
		if isText {
			out = append(out, readColumns(part, gaps)...)
		} else if g := newUnruledGrid(part, gaps, namesAbove); g != nil {
			out = append(out, layoutItem{grid: g})
		} else {
			for _, l := range part {
				out = append(out, layoutItem{line: l})
			}
		}
	}
	return out
}

// findColumns returns how many of the first lines are in columns, the gaps between the columns, and whether they are
// columns of text rather than of a table. It returns 0 if the first line is not in columns.
func findColumns(lines []*textLine) (lineCount int, gaps []gap, isText bool) {
	n, gaps := findBand(lines, 3)
	if n == 0 { // text in columns and small tables may have fewer lines
		if n, gaps = findBand(lines, 2); n == 0 || !isColumnText(lines[:n], gaps) && !isSmallTable(lines[:n], gaps) {
			return 0, nil, false
		}
	}
	if isColumnText(lines[:n], gaps) {
		return n, gaps, true
	}
	if end := firstEmptyRow(lines[:n]); end < n && beginsTable(lines[end:n]) {
		return findColumns(lines[:end])
	}
	n, gaps = completeTable(lines, n, gaps)
	return n, gaps, false
}

// findBand returns how many of the first lines share gaps, and the gaps. It returns 0 if fewer than atLeast lines have
// text on both sides of a gap.
func findBand(lines []*textLine, atLeast int) (lineCount int, sharedGaps []gap) {
	gaps := lines[0].wideGaps()
	if len(gaps) == 0 {
		return 0, nil
	}
	end, both := 1, 1
	kept := slices.Clone(gaps)
	for n := 1; n < len(lines); n++ {
		l := lines[n]
		if l.y0-lines[n-1].y1 > 3*l.size {
			break
		}
		var next []gap
		hit := false
		for _, g := range gaps {
			if f := l.freeGap(g); f.to-f.from >= minGap {
				next = append(next, f)
				hit = hit || l.hasWordsOnBothSides(f)
			}
		}
		if len(next) == 0 {
			break
		}
		gaps = next
		if hit {
			end, both, kept = n+1, both+1, slices.Clone(gaps)
		}
	}
	if both < atLeast || both*3 < end {
		return 0, nil
	}
	// A gap counts only if enough lines have text on both sides of it.
	kept = slices.DeleteFunc(kept, func(g gap) bool {
		n := 0
		for _, l := range lines[:end] {
			if l.hasWordsOnBothSides(g) {
				n++
			}
		}
		return n < atLeast || n*3 < end
	})
	if len(kept) == 0 {
		return 0, nil
	}
	return end, kept
}

// splitAtGaps splits a line's words at the gaps. The resulting parts may be empty.
func splitAtGaps(l *textLine, gaps []gap) [][]word {
	out := make([][]word, len(gaps)+1)
	for _, w := range l.words {
		k := 0
		for k < len(gaps) && (w.x0+w.x1)/2 > (gaps[k].from+gaps[k].to)/2 {
			k++
		}
		out[k] = append(out[k], w)
	}
	return out
}

// isColumnText reports whether lines that share gaps are text in columns, not a table: each part fills its
// column and has several words per line, while the cells of a table are shorter. In columns of a few lines, sentences must
// continue on the next line.
func isColumnText(lines []*textLine, gaps []gap) bool {
	if len(gaps) > 3 {
		return false
	}
	isShort := len(lines) < 4
	atLeast := 4
	if isShort {
		atLeast = 2
	}
	for k := range len(gaps) + 1 {
		var widths []float64
		words, lo, hi := 0, 1e9, 0.0
		last, continued := "", 0
		for _, l := range lines {
			part := splitAtGaps(l, gaps)[k]
			if len(part) == 0 {
				continue
			}
			if first, _ := utf8.DecodeRuneInString(part[0].text); last != "" && unicode.IsLower(first) &&
				!strings.ContainsAny(last[len(last)-1:], ".:;!?") {
				continued++
			}
			last = part[len(part)-1].text
			a, b := part[0].x0, part[len(part)-1].x1
			widths = append(widths, b-a)
			lo, hi, words = min(lo, a), max(hi, b), words+len(part)
		}
		flows := continued > 0 && (isShort || len(lines) < 10 && 2*continued >= len(widths)-1) && words >= 3*len(widths)
		if len(widths) < atLeast || words < 4*len(widths) && !flows || isShort && continued == 0 {
			return false
		}
		slices.Sort(widths)
		if widths[len(widths)/2] < 0.65*(hi-lo) {
			return false
		}
	}
	return true
}

// readColumns returns the lines of one column after another, each column from top to bottom.
func readColumns(lines []*textLine, gaps []gap) []layoutItem {
	var out []layoutItem
	for k := range len(gaps) + 1 {
		for _, l := range lines {
			if part := splitAtGaps(l, gaps)[k]; len(part) > 0 {
				out = append(out, layoutItem{line: newLine(part)})
			}
		}
	}
	return out
}

// newUnruledGrid builds a table from lines that share gaps but have no rules. The first namesAbove lines contain names
// that span several columns. It returns nil for fewer than two rows.
func newUnruledGrid(lines []*textLine, gaps []gap, namesAbove int) *grid {
	g := &grid{box: lines[0].box}
	var words []word
	for _, l := range lines {
		g.box = g.box.union(l.box)
		words = append(words, l.words...)
	}
	g.measure(words)
	var bounds []float64
	for _, gp := range gaps {
		g.xs, bounds = append(g.xs, (gp.from+gp.to)/2), append(bounds, columnBound(gp, lines[namesAbove:]))
	}
	if g.rows = groupRows(words, bounds); len(g.rows) < 2 {
		return nil
	}
	return g
}

// isListMark reports whether a word is only a list marker: a bullet, "1.", "(a)", "iv)".
func isListMark(s string) bool {
	if utf8.RuneCountInString(s) > 7 {
		return false
	}
	if _, _, ok := text.SplitListItem(s + " x"); ok {
		return true
	}
	if _, _, ok := text.SplitHeadingNumber(s + " X"); ok && s[0] >= '0' && s[0] <= '9' &&
		(strings.Contains(s, ".") || len(s) < 3) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s)
	return utf8.RuneCountInString(s) == 1 &&
		(r == '•' || r == '◦' || r == '▪' || r == '■' || r == '●' || r == '○' || r == '–' || r == '-' || r >= 0xE000 && r <= 0xF8FF)
}

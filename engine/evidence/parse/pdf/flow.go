package pdf

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

// flowWriter converts the pages of one document to blocks.
type flowWriter struct {
	b         *document.Builder
	outline   map[string]int // level of each bookmark by title
	textBytes int64
	pages     []*pageLayout

	bodySize     float64   // line height of most text
	linePitch    float64   // distance between lines within a paragraph
	headingSizes []float64 // line heights of headings, largest first
	repeatCounts map[string]int
	largestLines int // lines in the largest heading size

	lines   []string // lines of the open block
	kind    document.Kind
	level   int
	mark    string
	last    *textLine
	start   int // page on which the open block began
	size    float64
	indents []float64

	table   int // number of the table that may continue on the next page; 0: none
	header  []string
	columns []float64

	headerRows []gridRow // the rows that the header consists of
}

var (
	pageNumberPattern = lazyregexp.New(
		`(?i)^[\s\-–—|]*(page|seite|p\.|pagina|página)?\s*\d{1,4}\s*((of|/|von|sur|de|di|van)\s*\d{1,4})?[\s\-–—|]*$`,
	)
	leaderPattern = lazyregexp.New(`(\.\s?){4,}\s*(\d{1,4}|[ivxlc]{1,6})?\s*$|…{2,}\s*\d*\s*$`)
	digitsPattern = lazyregexp.New(`\d+`)
)

// textKeyIgnoringNumbers returns a key that is the same for lines that differ only in numbers, such as page
// numbers.
func textKeyIgnoringNumbers(s string) string {
	return digitsPattern.ReplaceAllString(comparableText(s), "#")
}

func (f *flowWriter) writeBlocks() {
	f.measureBodyText()
	for i, p := range f.pages {
		f.writePage(p)
		f.pages[i] = nil
		if f.b.Err() != nil {
			return
		}
	}
	f.flush()
	f.endTable()
}

// measureBodyText determines the size and spacing of the body text, the sizes of headings, and the lines that are
// repeated on several pages.
func (f *flowWriter) measureBodyText() {
	f.repeatCounts = map[string]int{}
	weight, inTables := map[float64]int{}, map[float64]int{}
	for _, p := range f.pages {
		seen := map[string]bool{}
		for i, it := range p.items {
			if key, ok := p.pageEdgeKey(i); ok && !seen[key] {
				seen[key] = true
				f.repeatCounts[key]++
			}
			if it.line != nil {
				weight[roundSize(it.line.size)] += len(it.line.text)
			} else {
				inTables[roundSize(it.grid.size)] += it.grid.letters
			}
		}
	}
	if len(weight) == 1 { // only titles above tables
		maps.Copy(weight, inTables)
	}
	most := 0
	for size, n := range weight {
		if n > most || n == most && size < f.bodySize {
			f.bodySize, most = size, n
		}
	}
	var pitches []float64
	headings := map[float64]int{}
	for _, p := range f.pages {
		for i, it := range p.items {
			l := it.line
			if l == nil || f.isRunningHeaderOrFooter(p, i) {
				continue
			}
			if l.size > f.bodySize*1.1 && len(l.text) < 200 && strings.ContainsFunc(l.text, unicode.IsLetter) {
				headings[roundSize(l.size)]++
			}
			if i > 0 && p.items[i-1].line != nil && roundSize(l.size) == f.bodySize {
				if d := l.y0 - p.items[i-1].line.y0; d > 0.5*l.size && d < 3*l.size {
					pitches = append(pitches, d)
				}
			}
		}
	}
	f.linePitch = f.bodySize * 1.2
	if len(pitches) > 0 {
		slices.Sort(pitches)
		f.linePitch = pitches[len(pitches)/4] // lines within paragraphs are closest to each other
	}
	for s := range headings {
		f.headingSizes = append(f.headingSizes, s)
	}
	slices.SortFunc(f.headingSizes, func(a, b float64) int { return cmp.Compare(b, a) })
	for size, n := range headings {
		if size > f.headingSizes[0]*0.95 {
			f.largestLines += n
		}
	}
	// Sizes within 6% of each other are treated as equal.
	f.headingSizes = slices.CompactFunc(f.headingSizes, func(a, b float64) bool { return math.Abs(a-b) < 0.06*a })
}

func roundSize(size float64) float64 { return math.Round(size*4) / 4 }

// pageEdgeKey returns a key for comparing an item near the top or bottom of the page with items on other pages,
// to find running headers and footers. It returns false for items elsewhere.
func (p *pageLayout) pageEdgeKey(i int) (edgeKey string, isAtEdge bool) {
	b, height := p.items[i].box(), p.items[i].pageHeight
	if b.y0 > 0.15*height && b.y1 < 0.86*height {
		return "", false
	}
	var key string
	if g := p.items[i].grid; g != nil {
		if b.height() > 0.25*height {
			return "", false
		}
		key = g.comparableKey()
	} else {
		key = textKeyIgnoringNumbers(p.items[i].line.text)
	}
	return key, key != ""
}

// isRunningHeaderOrFooter reports whether an item is a running header or footer, that is, a page
// number or text that is repeated at the edge of many pages.
func (f *flowWriter) isRunningHeaderOrFooter(p *pageLayout, i int) bool {
	key, edge := p.pageEdgeKey(i)
	if !edge || len(f.pages) < 2 {
		return false
	}
	if l := p.items[i].line; l != nil && (i < 2 || i >= len(p.items)-2) && pageNumberPattern.MatchString(l.text) {
		return true
	}
	n := f.repeatCounts[key]
	return n >= 2 && n*3 >= len(f.pages)
}

func (f *flowWriter) writePage(p *pageLayout) {
	at := api.Locator{Page: p.number}
	for i, it := range p.items {
		if f.b.Err() != nil {
			return
		}
		if it.isSeparate {
			f.flush()
			f.last = nil
		}
		switch {
		case f.isRunningHeaderOrFooter(p, i):
			f.addPageFurniture(it, at)
		case it.grid != nil:
			f.flush()
			f.writeTable(it.grid, at)
		default:
			f.addLine(it.line, p.number)
		}
	}
	f.last = nil // distances to items on the next page are meaningless
}

// addPageFurniture adds a line or table that is repeated on each page, such as a header.
func (f *flowWriter) addPageFurniture(it layoutItem, at api.Locator) {
	if it.line != nil {
		f.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: it.line.text, Locator: at})
		return
	}
	for _, r := range it.grid.rows {
		f.addPageFurnitureRow(r, at)
	}
}

// writeTable writes a table, or appends its rows to the last table of the previous page.
func (f *flowWriter) writeTable(g *grid, at api.Locator) {
	width := len(g.rows[0].effective)
	continues := f.table > 0 && len(f.columns) == len(g.xs) && (f.header == nil || len(f.header) == width)
	for i := range f.columns {
		continues = continues && math.Abs(f.columns[i]-g.xs[i]) < 6
	}
	if !continues {
		f.openTable(g, at)
	}
	for _, r := range g.rows {
		if continues && slices.ContainsFunc(f.headerRows, func(h gridRow) bool { return slices.Equal(h.effective, r.effective) }) {
			f.addHeaderRow(r, at)
			continue
		}
		f.b.AddBlock(document.Block{
			Kind: document.TableRow, Text: document.RenderRow(f.header, r.effective), Header: f.header, Cells: r.cells,
			Table: f.table, Locator: at,
		})
	}
}

// openTable begins a table. It removes the header, and any rows above it, from g.
func (f *flowWriter) openTable(g *grid, at api.Locator) {
	f.table, f.columns, f.header, f.headerRows = f.b.NextTableNumber(), g.xs, nil, nil
	var rows, merged []document.Row
	for _, r := range g.rows {
		rows, merged = append(rows, document.Row{Cells: r.effective}), append(merged, document.Row{Cells: r.merged})
	}
	head := document.FindHeaderRow(rows, merged)
	if head < 0 {
		return
	}
	for _, r := range g.rows[:head] {
		f.b.AddRowAboveHeader(f.table, document.Row{Cells: r.cells, Locator: at})
	}
	var count int
	f.header, count = document.JoinHeader(merged[head:])
	f.headerRows, g.rows = g.rows[head:head+count], g.rows[head+count:]
	for _, r := range f.headerRows {
		f.addHeaderRow(r, at)
	}
}

func (f *flowWriter) addPageFurnitureRow(r gridRow, at api.Locator) {
	f.b.AddPageFurniture(document.Block{Kind: document.TableRow, Text: document.RenderRow(nil, r.cells), Cells: r.cells, Locator: at})
}

// addHeaderRow adds the column names of a table, which must not be read as keys and values.
func (f *flowWriter) addHeaderRow(r gridRow, at api.Locator) {
	f.b.AddPageFurniture(document.Block{
		Kind: document.TableRow, Text: document.RenderRow(nil, r.cells), Header: r.cells, Cells: r.cells, Locator: at,
	})
}

func (f *flowWriter) endTable() { f.table, f.columns = 0, nil }

// addLine adds a line to the open block, or ends the block and begins a new one.
func (f *flowWriter) addLine(l *textLine, page int) {
	// The answer to a question of a form belongs only to that question.
	if first, _ := utf8.DecodeRuneInString(l.text); l.beginsAnswer && !unicode.IsLower(first) {
		f.flush()
	}
	if l.endsAnswer {
		defer f.flush()
	}
	if leaderPattern.MatchString(l.text) {
		f.flush()
		f.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: l.text, Locator: api.Locator{Page: page}})
		return
	}
	level := f.headingLevel(l)
	// A heading may have two lines.
	if level > 0 && f.kind == document.Heading && f.level == level && f.last != nil && l.y0-f.last.y0 < 1.6*l.size && f.start == page &&
		len(f.lines) < 3 {
		f.lines, f.last = append(f.lines, l.text), l
		return
	}
	item, mark, rest := parseListItem(l)
	switch {
	case level > 0:
		f.flush()
		f.endTable()
		f.kind, f.level = document.Heading, level
	case item:
		f.flush()
		f.endTable()
		f.kind, f.level, f.mark = document.ListItem, f.updateIndentLevel(l.x0), mark
		f.openBlock(l, page, rest)
		return
	case f.continuesBlock(l, page):
		f.lines, f.last = append(f.lines, l.text), l
		return
	default:
		f.flush()
		f.endTable()
		f.kind, f.level = document.Paragraph, 0
	}
	f.openBlock(l, page, l.text)
}

func (f *flowWriter) openBlock(l *textLine, page int, text string) {
	f.start, f.last, f.size, f.lines = page, l, l.size, append(f.lines[:0], text)
}

// parseListItem splits a line that begins a list item into its marker and the rest. ok is false if it doesn't
// begin one.
func parseListItem(l *textLine) (ok bool, mark, rest string) {
	mark, _, hasMore := strings.Cut(l.text, " ")
	if !hasMore || !isListMark(mark) {
		return false, "", ""
	}
	// "3 years" and "A policy" are not items: a number or letter needs a dot or bracket.
	if r, _ := utf8.DecodeLastRuneInString(mark); unicode.IsLetter(r) || unicode.IsDigit(r) && !strings.Contains(mark, ".") {
		return false, "", ""
	}
	return true, text.NumberedMarkOrEmpty(mark), strings.TrimSpace(strings.TrimPrefix(l.text, mark))
}

// updateIndentLevel returns the list level of an item indented to x, and adds x to the indents of the open list.
func (f *flowWriter) updateIndentLevel(x float64) (level int) {
	const same = 4
	for len(f.indents) > 0 && x < f.indents[len(f.indents)-1]-same {
		f.indents = f.indents[:len(f.indents)-1]
	}
	if len(f.indents) == 0 || x > f.indents[len(f.indents)-1]+same {
		f.indents = append(f.indents, x)
	}
	return len(f.indents)
}

// continuesBlock reports whether a line continues the open paragraph or list item.
func (f *flowWriter) continuesBlock(l *textLine, page int) bool {
	if len(f.lines) == 0 || f.kind == document.Heading {
		return false
	}
	end := f.lines[len(f.lines)-1]
	first, _ := utf8.DecodeRuneInString(l.text)
	if f.last == nil || l.y0 < f.last.y0 { // the next page or column
		return !strings.ContainsAny(end[len(end)-1:], ".:;!?") &&
			(unicode.IsLower(first) || f.kind == document.Paragraph && !unicode.IsUpper(first) && !unicode.IsDigit(first))
	}
	if l.script != f.last.script {
		return false
	}
	if math.Abs(l.size-f.last.size) > 0.15*f.last.size && l.y0-f.last.y0 > 1.1*l.size {
		return false
	}
	if l.y0-f.last.y0 > max(1.35*f.linePitch, 1.25*l.size) {
		return false
	}
	if f.kind == document.ListItem {
		// Text left of the item's marker is not part of it.
		return l.x0 > f.indents[len(f.indents)-1]-2
	}
	if strings.HasSuffix(end, ".") || strings.HasSuffix(end, ":") {
		// An indented first line, or one after a line that ended early, begins a paragraph.
		if l.x0 > f.last.x0+1.2*l.size || len(f.lines) > 1 && l.x0 < f.last.x0-1.2*l.size {
			return false
		}
	}
	return l.bold == f.last.bold || !f.last.bold || len(f.lines) > 1
}

// headingLevel returns a line's heading level, or 0 if it is not a heading. The level is determined by the document's
// bookmarks, the line's font size, or its weight, in that order of precedence.
func (f *flowWriter) headingLevel(l *textLine) int {
	if len(l.text) > 200 || !strings.ContainsFunc(l.text, unicode.IsLetter) {
		return 0
	}
	big := l.size > f.bodySize*1.1
	if level := f.outline[comparableText(l.text)]; level > 0 && (big || l.bold || len(l.text) < 90) {
		return level
	}
	if big {
		for i, s := range f.headingSizes {
			if l.size > s*0.95 {
				return min(i+1, 6)
			}
		}
		return min(len(f.headingSizes), 6)
	}
	if l.bold && l.size > f.bodySize*0.95 && len(l.text) < 110 && !strings.ContainsAny(l.text[len(l.text)-1:], ".,;:") &&
		f.isSeparateFromLast(l) {
		level := len(f.headingSizes) + 1
		if number, _, ok := text.SplitHeadingNumber(l.text); ok {
			level += strings.Count(strings.TrimRight(number, "."), ".")
		}
		return min(level, 8)
	}
	return 0
}

// isSeparateFromLast reports whether a bold line does not continue the line above it.
func (f *flowWriter) isSeparateFromLast(l *textLine) bool {
	return f.last == nil || f.kind == document.Heading || l.y0-f.last.y0 > 1.15*f.linePitch || l.y0 < f.last.y0 || !f.last.bold
}

// flush ends and writes the open block, if there is one.
func (f *flowWriter) flush() {
	if len(f.lines) == 0 {
		return
	}
	at := api.Locator{Page: f.start}
	text := text.JoinLines(f.lines)
	if f.kind == document.Heading && f.b.Doc.Title == "" && len(f.b.Doc.Blocks) == 0 && len(f.lines) == f.largestLines &&
		f.size > f.headingSizes[0]*0.95 { // no other heading is as large, whatever the levels of the bookmarks
		f.b.Doc.Title = text
	}
	f.lines = f.lines[:0]
	if f.kind != document.ListItem {
		f.indents = nil
	}
	if f.kind == document.Heading {
		f.b.AddHeading(f.level, text, at)
		return
	}
	blk := document.Block{Kind: f.kind, Level: f.level, Text: text, Locator: at}
	if f.kind == document.ListItem {
		blk.Marker = f.mark
	}
	f.b.AddBlock(blk)
}

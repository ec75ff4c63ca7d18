package parse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
)

const (
	maxBlock    = 16 << 10 // bytes of one block; a longer text is cut at a space
	maxHeading  = 400      // bytes; a longer "heading" is a paragraph
	maxWarnings = 50
)

// builder gathers the blocks of one document, holds the open headings, and stops
// the reader when the text grows too large or the context ends: readers look at
// err after adding.
type builder struct {
	ctx    context.Context
	doc    *Document
	left   int64 // bytes of text still allowed
	max    int64
	levels []int
	path   []string // the open headings; replaced, never changed in place
	tables int
	facts  []fact // what metadata said: front matter, properties
	bold   []int  // blocks that are short, wholly bold paragraphs: headings where no style makes any
	heads  int    // headings so far
	err    error

	// Of a document in another one:
	depth    int    // how many containers it lies in
	contents *int64 // bytes that the outermost document may still unpack to
	moreTime func() // gives the whole document the time that recognising pictures takes; nil: none

	many        bool   // it holds several documents
	memberTitle string // of the one document it holds
}

func newBuilder(ctx context.Context, mime string, maxText int64) *builder {
	contents := int64(maxContents)
	return &builder{ctx: ctx, doc: &Document{MIME: mime}, left: maxText, max: maxText, contents: &contents}
}

func (b *builder) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if len(b.doc.Warnings) < maxWarnings && !slices.Contains(b.doc.Warnings, w) {
		b.doc.Warnings = append(b.doc.Warnings, w)
	}
}

// spend counts n bytes of text and reports whether reading may go on.
func (b *builder) spend(n int) bool {
	if b.err != nil {
		return false
	}
	if b.err = b.ctx.Err(); b.err != nil {
		return false
	}
	b.left -= int64(n) + 1
	if b.left < 0 {
		b.err = fail(ErrTooLarge, "", "it holds more than %d bytes of text", b.max)
		return false
	}
	return true
}

// heading closes the headings of the same or a deeper level and opens this one.
func (b *builder) heading(level int, text string, at api.Locator) {
	text = clean(text)
	if text == "" {
		return
	}
	if len(text) > maxHeading {
		b.add(Block{Kind: Paragraph, Text: text, Locator: at})
		return
	}
	b.heads++
	level = min(max(level, 1), 9)
	keep := len(b.levels)
	for keep > 0 && b.levels[keep-1] >= level {
		keep--
	}
	b.levels, b.path = b.levels[:keep], b.path[:keep:keep]
	b.add(Block{Kind: Heading, Level: level, Text: text, Locator: at})
	b.levels = append(b.levels, level)
	b.path = append(b.path, text)
}

// add appends a block under the open headings. Text is cleaned here, so that no
// reader can forget it; an empty block is dropped.
func (b *builder) add(blk Block) {
	blk.HeadingPath = b.path
	b.addAt(blk)
}

// addAt appends a block that brings its own heading path.
func (b *builder) addAt(blk Block) {
	if blk.Kind == Line {
		blk.Text = cleanLines(blk.Text)
	} else {
		blk.Text = clean(blk.Text)
	}
	if blk.Text == "" || !b.spend(len(blk.Text)) {
		return
	}
	if len(blk.Text) <= maxBlock || blk.Kind == TableRow {
		b.doc.Blocks = append(b.doc.Blocks, blk)
		return
	}
	rest := blk.Text
	for rest != "" && b.err == nil {
		if b.err = b.ctx.Err(); b.err != nil {
			return
		}
		piece := cutAtSpace(rest, maxBlock)
		part := blk
		if part.Text = strings.TrimSpace(piece); part.Text != "" {
			b.doc.Blocks = append(b.doc.Blocks, part)
		}
		rest = rest[len(piece):]
	}
}

// paragraph appends a paragraph, of which a format says whether all of it is bold.
func (b *builder) paragraph(text string, bold bool, at api.Locator) {
	if text = clean(text); text == "" {
		return
	}
	if bold && len(text) < 100 && !strings.ContainsAny(text[len(text)-1:], ".,;:") {
		b.bold = append(b.bold, len(b.doc.Blocks))
	}
	b.add(Block{Kind: Paragraph, Text: text, Locator: at})
}

// headingsByBold makes headings of short bold paragraphs where the document has no heading
// of its own.
func (b *builder) headingsByBold() {
	if b.heads > 0 || len(b.bold) == 0 || len(b.bold)*2 > len(b.doc.Blocks) {
		return
	}
	blocks := b.doc.Blocks
	var path []string
	next := 0
	for i := range blocks {
		if next < len(b.bold) && b.bold[next] == i && blocks[i].Kind == Paragraph {
			next++
			blocks[i].Kind, blocks[i].Level = Heading, 1
			path = []string{blocks[i].Text}
			continue
		}
		blocks[i].HeadingPath = path
	}
}

// row appends a table row. header may be nil.
func (b *builder) row(header, cells []string, table int, at api.Locator) {
	for i := range cells {
		cells[i] = clean(cells[i])
	}
	b.add(Block{Kind: TableRow, Text: renderRow(header, cells), Header: header, Cells: cells, Table: table, Locator: at})
}

// aside keeps text that is not part of the flow.
func (b *builder) aside(blk Block) {
	blk.Text = clean(blk.Text)
	if blk.Text != "" && b.spend(len(blk.Text)) {
		b.doc.Furniture = append(b.doc.Furniture, blk)
	}
}

func (b *builder) nextTable() int {
	b.tables++
	return b.tables
}

// finish fills in what is known only when everything has been read.
func (b *builder) finish(name string) *Document {
	d := b.doc
	d.Language = guessLanguage(d.Blocks)
	if !b.many {
		readFacts(d, b.facts)
	}
	if d.Title = clean(d.Title); d.Title == "" && !b.many {
		d.Title = clean(b.memberTitle)
	}
	if d.Title == "" && len(d.Blocks) > 0 {
		// Only a heading that opens the document names it.
		if first := d.Blocks[0]; first.Kind == Heading && len(first.HeadingPath) == 0 && first.Level == 1 && soleTop(d.Blocks) {
			d.Title = first.Text
		}
	}
	if d.Title == "" {
		d.Title = titleFromName(name)
	}
	return d
}

// soleTop reports whether the document has one heading of the first level: its title.
func soleTop(blocks []Block) bool {
	n := 0
	for _, blk := range blocks {
		if blk.Kind == Heading && blk.Level == 1 {
			n++
		}
	}
	return n == 1
}

// cutAtSpace returns the longest start of s of at most limit bytes that ends after a
// space, or at a character where there is none.
func cutAtSpace(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if i := strings.LastIndexAny(s[:limit], " \n"); i > 0 {
		return s[:i+1]
	}
	for limit > 1 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

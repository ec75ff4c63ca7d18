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
	maxBlockBytes   = 16 << 10 // of one block; longer text is cut at a space
	maxHeadingBytes = 400      // bytes; a longer "heading" is a paragraph
	maxWarnings     = 50
)

// builder collects the blocks of one document, keeps the open headings, and stops the reader when
// the text grows too large or the context ends: readers check err after adding.
type builder struct {
	ctx            context.Context
	doc            *Document
	remaining      int64 // remaining bytes of text
	maxText        int64
	headingLevels  []int
	headingPath    []string // the open headings; replaced, never modified in place
	tableCount     int
	facts          []fact // from metadata: front matter, properties
	boldParagraphs []int  // indexes of short, completely bold paragraphs: headings if the document has no heading styles
	headingCount   int    // headings so far
	err            error

	// For a document inside another one:
	depth          int    // number of containers around it
	unpackBudget   *int64 // bytes that the outermost document may still unpack
	extendDeadline func() // extends the time limit of the whole document for OCR; may be nil

	isCollection bool   // it contains several documents
	memberTitle  string // title of the only document in it
}

func newBuilder(ctx context.Context, mime string, maxText int64) *builder {
	contents := int64(maxContents)
	return &builder{ctx: ctx, doc: &Document{MIME: mime}, remaining: maxText, maxText: maxText, unpackBudget: &contents}
}

func (b *builder) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if len(b.doc.Warnings) < maxWarnings && !slices.Contains(b.doc.Warnings, w) {
		b.doc.Warnings = append(b.doc.Warnings, w)
	}
}

// spendText counts n bytes of text and reports whether reading may go on.
func (b *builder) spendText(n int) bool {
	if b.err != nil {
		return false
	}
	if b.err = b.ctx.Err(); b.err != nil {
		return false
	}
	b.remaining -= int64(n) + 1
	if b.remaining < 0 {
		b.err = newError(ErrTooLarge, "", "it contains more than %d bytes of text", b.maxText)
		return false
	}
	return true
}

// addHeading closes the headings of the same or a deeper level and opens this one.
func (b *builder) addHeading(level int, text string, locator api.Locator) {
	text = cleanText(text)
	if text == "" {
		return
	}
	if len(text) > maxHeadingBytes {
		b.addBlock(Block{Kind: Paragraph, Text: text, Locator: locator})
		return
	}
	b.headingCount++
	level = min(max(level, 1), 9)
	keep := len(b.headingLevels)
	for keep > 0 && b.headingLevels[keep-1] >= level {
		keep--
	}
	b.headingLevels, b.headingPath = b.headingLevels[:keep], b.headingPath[:keep:keep]
	b.addBlock(Block{Kind: Heading, Level: level, Text: text, Locator: locator})
	b.headingLevels = append(b.headingLevels, level)
	b.headingPath = append(b.headingPath, text)
}

// addBlock appends a block under the open headings. It cleans the text; an empty block is dropped.
func (b *builder) addBlock(blk Block) {
	blk.HeadingPath = b.headingPath
	b.addBlockAt(blk)
}

// addBlockAt appends a block that has its own heading path.
func (b *builder) addBlockAt(blk Block) {
	if blk.Kind == Line {
		blk.Text = cleanLines(blk.Text)
	} else {
		blk.Text = cleanText(blk.Text)
	}
	if blk.Text == "" || !b.spendText(len(blk.Text)) {
		return
	}
	if len(blk.Text) <= maxBlockBytes || blk.Kind == TableRow {
		b.doc.Blocks = append(b.doc.Blocks, blk)
		return
	}
	rest := blk.Text
	for rest != "" && b.err == nil {
		if b.err = b.ctx.Err(); b.err != nil {
			return
		}
		piece := cutAtSpace(rest, maxBlockBytes)
		part := blk
		if part.Text = strings.TrimSpace(piece); part.Text != "" {
			b.doc.Blocks = append(b.doc.Blocks, part)
		}
		rest = rest[len(piece):]
	}
}

// addParagraph appends a paragraph; isBold means that all of it is bold.
func (b *builder) addParagraph(text string, bold bool, locator api.Locator) {
	if text = cleanText(text); text == "" {
		return
	}
	if bold && len(text) < 100 && !strings.ContainsAny(text[len(text)-1:], ".,;:") {
		b.boldParagraphs = append(b.boldParagraphs, len(b.doc.Blocks))
	}
	b.addBlock(Block{Kind: Paragraph, Text: text, Locator: locator})
}

// promoteBoldHeadings turns short bold paragraphs into headings if the document has no other
// headings.
func (b *builder) promoteBoldHeadings() {
	if b.headingCount > 0 || len(b.boldParagraphs) == 0 || len(b.boldParagraphs)*2 > len(b.doc.Blocks) {
		return
	}
	blocks := b.doc.Blocks
	var path []string
	next := 0
	for i := range blocks {
		if next < len(b.boldParagraphs) && b.boldParagraphs[next] == i && blocks[i].Kind == Paragraph {
			next++
			blocks[i].Kind, blocks[i].Level = Heading, 1
			path = []string{blocks[i].Text}
			continue
		}
		blocks[i].HeadingPath = path
	}
}

// addRow appends a table row. header may be nil.
func (b *builder) addRow(header, cells []string, table int, locator api.Locator) {
	for i := range cells {
		cells[i] = cleanText(cells[i])
	}
	b.addBlock(Block{Kind: TableRow, Text: renderRow(header, cells), Header: header, Cells: cells, Table: table, Locator: locator})
}

// addFurniture stores text that is not part of the flow.
func (b *builder) addFurniture(blk Block) {
	blk.Text = cleanText(blk.Text)
	if blk.Text != "" && b.spendText(len(blk.Text)) {
		b.doc.Furniture = append(b.doc.Furniture, blk)
	}
}

func (b *builder) nextTableNumber() int {
	b.tableCount++
	return b.tableCount
}

// finish fills in what requires the complete document.
func (b *builder) finish(name string) *Document {
	d := b.doc
	d.Language = guessLanguage(d.Blocks)
	if !b.isCollection {
		readFacts(d, b.facts)
	}
	if d.Title = cleanText(d.Title); d.Title == "" && !b.isCollection {
		d.Title = cleanText(b.memberTitle)
	}
	if d.Title == "" && len(d.Blocks) > 0 {
		// Only a heading at the start of the document is its title.
		if first := d.Blocks[0]; first.Kind == Heading && len(first.HeadingPath) == 0 && first.Level == 1 && hasSingleTopHeading(d.Blocks) {
			d.Title = first.Text
		}
	}
	if d.Title == "" {
		d.Title = titleFromName(name)
	}
	return d
}

// hasSingleTopHeading reports whether the document has one heading of the first level: its title.
func hasSingleTopHeading(blocks []Block) bool {
	n := 0
	for _, blk := range blocks {
		if blk.Kind == Heading && blk.Level == 1 {
			n++
		}
	}
	return n == 1
}

// cutAtSpace returns the longest prefix of s of at most limit bytes that ends after a space, or at
// a character if there is none.
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

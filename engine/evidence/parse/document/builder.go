package document

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
)

const (
	MaxBlockBytes   = 16 << 10 // bytes of one block; longer text is cut at a space
	MaxHeadingBytes = 400      // bytes; a longer "heading" is a paragraph

	// LightMemory is the memory in bytes that a document may use while other documents are being read.
	LightMemory = 128 << 20
	// lightContent is the number of bytes of content that can be read within LightMemory in any format.
	lightContent = 16 << 20

	// maxBlocks is the maximum number of paragraphs, rows and other blocks in a document, including documents nested
	// in it. It is needed because tiny blocks take far more memory than their text. A table row counts as one more
	// block for every cellsInBlock cells.
	maxBlocks    = 500_000
	lightBlocks  = 100_000 // blocks that fit into LightMemory
	cellsInBlock = 32
)

// Options holds the limits and helpers for reading a document and those nested in it.
type Options struct {
	MaxText        int64  // bytes of text
	MaxBytes       int64  // size of a document inside the document
	OCR            OCR    // if nil, images can't be read
	ExtendDeadline func() // extends the time limit of the whole document for OCR; may be nil
	// BeginHeavy is called before this document uses a lot of memory. It waits until no other
	// document does. It may be nil.
	BeginHeavy func() error
	// ReadDocument reads the content of a document inside the document.
	ReadDocument func(b *Builder, name string, content []byte) error
}

// Fact is something a document states about itself: a label as it appears in the document, and its value.
type Fact struct{ Key, Value string }

// budget holds what a document and all documents nested in it may still consume.
type budget struct {
	text     int64 // bytes of text
	blocks   int   // paragraphs, rows …
	unpacked int64 // bytes of documents inside it
	pictures recognizedPictures
}

// Builder collects the blocks of one document and tracks the open headings. It fails if the
// document gets too large or the context is done, so readers must check Err after adding blocks.
type Builder struct {
	Doc   *Document
	Facts []Fact // from metadata: front matter, properties
	// IsCollection is set if the document contains several documents, in which case none of them
	// determines its title or facts.
	IsCollection bool
	MemberTitle  string // title of the only document in it

	ctx            context.Context
	opt            *Options
	budget         *budget
	depth          int // number of enclosing documents
	headingLevels  []int
	headingPath    []string // the open headings; replaced, never modified in place
	tableCount     int
	boldParagraphs []int // indexes of short, completely bold paragraphs: headings if the document has no heading styles
	headingCount   int   // headings so far
	header         []string
	answers        []bool // which columns of header contain answers; header is the header of the last row
	err            error
}

// NewBuilder returns a Builder for one document.
func NewBuilder(ctx context.Context, opt Options) *Builder {
	return &Builder{
		Doc: &Document{Readers: map[string]int{}}, ctx: ctx, opt: &opt,
		budget: &budget{text: opt.MaxText, blocks: maxBlocks, unpacked: maxUnpacked, pictures: recognizedPictures{}},
	}
}

// NewPart returns a Builder for a part of the document. It shares the document's limits.
func (b *Builder) NewPart() *Builder {
	return &Builder{Doc: &Document{Readers: b.Doc.Readers}, ctx: b.ctx, opt: b.opt, budget: b.budget, depth: b.depth}
}

// Context returns the context for reading the document, which ends at the time limit.
func (b *Builder) Context() context.Context { return b.ctx }

// Err returns the error that stopped the reading, or nil.
func (b *Builder) Err() error { return b.err }

// BeginHeavy waits until no other document is using a lot of memory, and then reserves the memory for this document
// until it has been read. Readers must call it before using more than LightMemory.
func (b *Builder) BeginHeavy() error {
	if b.opt.BeginHeavy == nil {
		return nil
	}
	return b.opt.BeginHeavy()
}

// ReserveMemory calls BeginHeavy if reading contentBytes of unpacked content may use a lot of memory.
func (b *Builder) ReserveMemory(contentBytes int64) error {
	if contentBytes <= lightContent {
		return nil
	}
	return b.BeginHeavy()
}

// Fail makes the builder stop reading and report err.
func (b *Builder) Fail(err error) { b.err = err }

// MaxTextBytes returns the maximum size of the text in bytes.
func (b *Builder) MaxTextBytes() int64 { return b.opt.MaxText }

// AddFact adds a fact from the document's metadata.
func (b *Builder) AddFact(key, value string) { b.Facts = append(b.Facts, Fact{key, value}) }

// Warn adds a warning to the document that states what was skipped and why.
func (b *Builder) Warn(format string, args ...any) {
	b.Doc.AddWarning(fmt.Sprintf(format, args...))
}

// consumeBudget deducts a block from the document's budget and reports whether reading may continue.
func (b *Builder) consumeBudget(blk *Block) (mayContinue bool) {
	if b.err != nil {
		return false
	}
	if b.err = b.ctx.Err(); b.err != nil {
		return false
	}
	b.budget.text -= int64(len(blk.Text)) + 1
	b.budget.blocks -= 1 + len(blk.Cells)/cellsInBlock
	if b.err = b.exhaustedBudget(); b.err == nil && b.budget.blocks < maxBlocks-lightBlocks {
		b.err = b.BeginHeavy()
	}
	return b.err == nil
}

// exhaustedBudget returns an error if the document has too much text or too many blocks.
func (b *Builder) exhaustedBudget() error {
	switch {
	case b.budget.text < 0:
		return NewError(ErrTooLarge, "", "the document contains more than %d bytes of text", b.opt.MaxText)
	case b.budget.blocks < 0:
		return NewError(ErrTooLarge, "", "the document contains more than %d paragraphs, rows and lines; split it", maxBlocks)
	}
	return nil
}

// ConsumeUnpackedBudget deducts n bytes of unpacked content from the document's budget, and returns an error if
// it is exhausted.
func (b *Builder) ConsumeUnpackedBudget(n int64) error {
	if b.budget.unpacked -= n; b.budget.unpacked < 0 {
		return NewError(ErrTooLarge, "", "the document's contents unpack to more than %d bytes", int64(maxUnpacked))
	}
	return nil
}

// openLevel returns the level of the innermost open heading, or 0.
func (b *Builder) openLevel() int {
	if n := len(b.headingLevels); n > 0 {
		return b.headingLevels[n-1]
	}
	return 0
}

// AppendPart appends a part's blocks under the open headings, which remain open, and adds its warnings and unread content.
func (b *Builder) AppendPart(part *Builder) {
	level, above := b.openLevel(), b.headingPath
	var from, path []string
	for _, blk := range part.Doc.Blocks {
		if path == nil || !slices.Equal(from, blk.HeadingPath) {
			from, path = blk.HeadingPath, append(above[:len(above):len(above)], blk.HeadingPath...)
		}
		blk.HeadingPath = path
		if blk.Kind == Heading {
			blk.Level = min(blk.Level+level, 9)
		}
		if blk.Table > 0 {
			blk.Table += b.tableCount
		}
		b.Doc.Blocks = append(b.Doc.Blocks, blk)
	}
	b.Doc.Furniture = append(b.Doc.Furniture, part.Doc.Furniture...)
	for _, w := range part.Doc.Warnings {
		b.Doc.AddWarning(w)
	}
	for _, n := range part.Doc.NotRead {
		b.Doc.AddNotRead(n.Kind, n.Count, n.Locator)
	}
	b.tableCount += part.tableCount
}

// CloseHeadings closes all headings, so that the next block is not under any heading.
func (b *Builder) CloseHeadings() { b.headingLevels, b.headingPath = nil, nil }

// AddHeading closes the headings of the same or a deeper level and opens a new one.
func (b *Builder) AddHeading(level int, text string, locator api.Locator) {
	text = CleanLine(text)
	if text == "" {
		return
	}
	if len(text) > MaxHeadingBytes {
		b.AddBlock(Block{Kind: Paragraph, Text: text, Locator: locator})
		return
	}
	b.headingCount++
	level = min(max(level, 1), 9)
	keep := len(b.headingLevels)
	for keep > 0 && b.headingLevels[keep-1] >= level {
		keep--
	}
	b.headingLevels, b.headingPath = b.headingLevels[:keep], b.headingPath[:keep:keep]
	b.AddBlock(Block{Kind: Heading, Level: level, Text: text, Locator: locator})
	b.headingLevels = append(b.headingLevels, level)
	b.headingPath = append(b.headingPath, text)
}

// AddBlock appends a block under the open headings. It cleans the text; an empty block is dropped.
func (b *Builder) AddBlock(blk Block) {
	blk.HeadingPath = b.headingPath
	b.AddBlockWithPath(blk)
}

// AddBlockWithPath appends a block with its own HeadingPath, ignoring the open headings.
func (b *Builder) AddBlockWithPath(blk Block) {
	if blk.Kind == Line {
		blk.Text = cleanLines(blk.Text)
	} else {
		blk.Text = CleanLine(blk.Text)
	}
	if blk.Text == "" || !b.consumeBudget(&blk) {
		return
	}
	if blk.Kind == Paragraph || blk.Kind == ListItem {
		if kind := unreadKind(blk.Text); kind != "" {
			b.Doc.AddNotRead(kind, 1, blk.Locator)
			return
		}
	}
	if len(blk.Text) <= MaxBlockBytes || blk.Kind == TableRow {
		b.Doc.Blocks = append(b.Doc.Blocks, blk)
		return
	}
	rest := blk.Text
	for rest != "" && b.err == nil {
		if b.err = b.ctx.Err(); b.err != nil {
			return
		}
		piece := CutAtSpace(rest, MaxBlockBytes)
		part := blk
		if part.Text = strings.TrimSpace(piece); part.Text != "" {
			b.Doc.Blocks = append(b.Doc.Blocks, part)
		}
		rest = rest[len(piece):]
	}
}

// AddParagraph appends a paragraph. bold means that the whole paragraph is bold.
func (b *Builder) AddParagraph(text string, bold bool, locator api.Locator) {
	if text = CleanLine(text); text == "" {
		return
	}
	if bold && len(text) < 100 && !strings.ContainsAny(text[len(text)-1:], ".,;:") {
		b.boldParagraphs = append(b.boldParagraphs, len(b.Doc.Blocks))
	}
	b.AddBlock(Block{Kind: Paragraph, Text: text, Locator: locator})
}

// PromoteBoldHeadings turns short bold paragraphs into headings if the document has no other
// headings.
func (b *Builder) PromoteBoldHeadings() {
	if b.headingCount > 0 || len(b.boldParagraphs) == 0 || len(b.boldParagraphs)*2 > len(b.Doc.Blocks) {
		return
	}
	blocks := b.Doc.Blocks
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

// AddRow appends a table row. header may be nil.
func (b *Builder) AddRow(header, cells []string, table int, locator api.Locator) {
	for i := range cells {
		cells[i] = CleanLine(cells[i])
	}
	if len(header) != len(b.header) || len(header) > 0 && &header[0] != &b.header[0] {
		b.header, b.answers = header, answerColumns(header)
	}
	text := renderRow(header, cells, b.answers)
	b.AddBlock(Block{Kind: TableRow, Text: text, Header: header, Cells: cells, Table: table, Locator: locator})
}

// AddPageFurniture adds text outside the flow of the document, such as a page header or footer.
func (b *Builder) AddPageFurniture(blk Block) {
	blk.Text = CleanLine(blk.Text)
	if blk.Text != "" && b.consumeBudget(&blk) {
		b.Doc.Furniture = append(b.Doc.Furniture, blk)
	}
}

// NextTableNumber counts a table and returns its number.
func (b *Builder) NextTableNumber() int {
	b.tableCount++
	return b.tableCount
}

// CutAtSpace returns the longest prefix of s of at most limit bytes that ends after a space, or between two
// characters if there is no space.
func CutAtSpace(s string, limit int) string {
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

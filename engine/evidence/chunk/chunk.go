package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/questionnaire"
)

// Options configures Split. Zero fields take their defaults.
type Options struct {
	Min    int // tokens below which a chunk absorbs what follows it; default 150
	Target int // tokens at which a chunk is closed at the next suitable place; default 280
	Max    int // maximum tokens of a chunk, except for a single table row; default 400
	// MaxChunks is the maximum number of chunks of a document; default 20,000, enough for the
	// maximum text size unless the document consists of tiny sections.
	MaxChunks int
}

func (o Options) withDefaults() Options {
	if o.Min <= 0 {
		o.Min = 150
	}
	if o.Target <= 0 {
		o.Target = 280
	}
	if o.Max <= 0 {
		o.Max = 400
	}
	if o.MaxChunks <= 0 {
		o.MaxChunks = 20_000
	}
	o.Target = min(o.Target, o.Max)
	o.Min = min(o.Min, o.Target)
	return o
}

// Chunk is one passage of a document.
type Chunk struct {
	Index         int    // from 0, in reading order
	Text          string // blocks on separate lines; list items begin with "- " or their number, headings are unchanged
	HeadingPath   []string
	Locator       api.Locator // spans all blocks of the chunk
	TokenEstimate int
	SHA256        string        // hex hash of heading path and text; the same if the same passage is read again
	Kind          document.Kind // of most of its text
}

// Split splits a document into chunks. It returns none for an empty document. Text beyond Options.MaxChunks is
// left out, with a warning in the document.
func Split(doc *document.Document, opt Options) []Chunk {
	opt = opt.withDefaults()
	g := &grouper{opt: opt, sharedDepth: sharedDepth(doc.Blocks)}
	for u := range units(doc.Blocks, opt) {
		if g.add(u); len(g.chunks) >= opt.MaxChunks {
			doc.Warnings = append([]string{
				fmt.Sprintf(
					"only the first %s passages of the document are used; to have the rest read, split it into several files",
					prose.GroupThousands(opt.MaxChunks),
				),
			}, doc.Warnings...)
			return g.chunks
		}
	}
	g.closeGroup()
	g.emitPrevious()
	return g.chunks
}

// EstimateTokens estimates the number of language model tokens in a text. Long words and words with digits or
// punctuation count as several, as in subword tokenizers.
func EstimateTokens(text string) int {
	n, run, kind := 0, 0, 0
	flush := func() {
		if run > 0 {
			n += (run + 6) / 7
		}
		run = 0
	}
	for _, r := range text {
		k := 0
		switch {
		case r == ' ' || r == '\n' || r == '\t':
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xC0 && r < 0x2000:
			k = 1
		case r >= '0' && r <= '9':
			k = 2
		default: // punctuation, and scripts without spaces
			flush()
			n++
		}
		if k != kind {
			flush()
			kind = k
		}
		if k > 0 {
			run++
		}
	}
	flush()
	return n
}

// unit is a piece of text that is never split, such as a few sentences, a list item, a table row, or a heading
// with the text it introduces.
type unit struct {
	text           string
	tokens         int
	block          document.Block
	headingPath    []string
	joinsPrevious  bool // may be on the same line as the previous unit: both are from one paragraph
	introducesList bool // ends in a colon: the following text belongs to it
}

// sharedDepth returns the number of headings that enclose every block, usually 1 (the document's title). Top-level
// sections are one level deeper.
func sharedDepth(blocks []document.Block) int {
	if len(blocks) == 0 {
		return 0
	}
	path := unitHeadingPath(blocks[0])
	for _, b := range blocks {
		path = commonPrefix(path, unitHeadingPath(b))
	}
	return len(path)
}

// group holds the units of one chunk.
type group struct {
	units []unit
	size  int // in tokens
}

// grouper collects units into groups and turns each group into a chunk once it can't grow anymore.
type grouper struct {
	opt         Options
	sharedDepth int
	chunks      []Chunk
	previous    group // complete, but may still absorb a small remainder of its section
	current     group
}

func (g *grouper) add(u unit) {
	if len(g.current.units) > 0 && g.breaksBefore(u) {
		question := g.cutOpenQuestion(u)
		g.closeGroup()
		for _, q := range question {
			g.current.units = append(g.current.units, q)
			g.current.size += q.tokens
		}
	}
	g.current.units = append(g.current.units, u)
	g.current.size += u.tokens
}

const maxQuestionUnits = 12 // maximum number of units in a question with its choices and answer

// cutOpenQuestion removes the question that u answers from the end of the current group, with the choices after it, so
// that u and its question are in the same chunk. It returns no units if u isn't an answer.
func (g *grouper) cutOpenQuestion(u unit) []unit {
	units, size := g.current.units, u.tokens
	for n := 1; n <= maxQuestionUnits && n < len(units); n++ {
		last := units[len(units)-n]
		if size += last.tokens; size > g.opt.Max || last.block.Kind == document.TableRow || u.block.Kind == document.TableRow ||
			!slices.Equal(last.headingPath, u.headingPath) {
			return nil
		}
		if questionnaire.EndsInQuestion(last.text) || n == 1 && isAnswer(u.text) && !isAnswer(last.text) {
			question := slices.Clone(units[len(units)-n:])
			g.current.units = units[:len(units)-n]
			g.current.size -= size - u.tokens
			return question
		}
		if !isAnswer(last.text) {
			return nil
		}
	}
	return nil
}

// isAnswer reports whether a text is an answer to a question above it.
func isAnswer(text string) bool {
	text = strings.TrimLeft(text, "- ")
	_, labelled := questionnaire.WithoutLabel(text)
	return labelled || len(text) < 200 && questionnaire.Parse(text) != questionnaire.None
}

// closeGroup closes the current group. If it is only a small remainder of the previous group's section, it is
// added to that group instead of becoming a chunk of its own.
func (g *grouper) closeGroup() {
	open, prev := g.current, &g.previous
	g.current = group{}
	if len(open.units) == 0 {
		return
	}
	if len(prev.units) > 0 && open.size < g.opt.Min && prev.size+open.size <= g.opt.Max {
		last := prev.units[len(prev.units)-1]
		if slices.Equal(last.headingPath, open.units[0].headingPath) && last.block.Locator.Sheet == open.units[0].block.Locator.Sheet &&
			g.topSection(last.headingPath) != "" {
			prev.units, prev.size = append(prev.units, open.units...), prev.size+open.size
			return
		}
	}
	g.emitPrevious()
	g.previous = open
}

// emitPrevious appends the previous group to the chunks and clears it. It does nothing if there is no previous
// group.
func (g *grouper) emitPrevious() {
	if len(g.previous.units) > 0 {
		g.chunks = append(g.chunks, newChunk(len(g.chunks), g.previous.units))
	}
	g.previous = group{}
}

// breaksBefore reports whether the current group must end before u.
func (g *grouper) breaksBefore(u unit) bool {
	last, size := g.current.units[len(g.current.units)-1], g.current.size
	switch {
	case last.block.Locator.Sheet != u.block.Locator.Sheet:
		return true
	case size+u.tokens > g.opt.Max:
		return true
	case last.block.Kind == document.Heading && isUnder(u.headingPath, last.headingPath):
		return false // a heading stays with its text
	case g.topSection(last.headingPath) != g.topSection(u.headingPath):
		return true
	case !slices.Equal(last.headingPath, u.headingPath):
		// A group absorbs another section only if it is too small to be a chunk of its own.
		return size >= g.opt.Min || !areRelatedSections(g.current.units[0].headingPath, u.headingPath)
	case last.introducesList && u.block.Kind == document.ListItem:
		return false
	case size >= g.opt.Target:
		return true
	case u.block.Kind == document.TableRow && last.block.Kind == document.TableRow:
		return last.block.Table != u.block.Table && size >= g.opt.Min
	case size >= g.opt.Min && u.introducesList:
		return true // begin the next chunk with the sentence that introduces the list
	}
	return false
}

// topSection returns the top section that path belongs to, or "" if path is above all of them.
func (g *grouper) topSection(path []string) string {
	if len(path) <= g.sharedDepth {
		return ""
	}
	return path[g.sharedDepth]
}

// isUnder reports whether path equals parent or is below it.
func isUnder(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

// areRelatedSections reports whether two sections are the same, are siblings, or one is a descendant of the other or of
// the other's sibling.
func areRelatedSections(a, b []string) bool {
	n := len(commonPrefix(a, b))
	return n > 0 && (n >= len(a)-1 || n >= len(b)-1)
}

func newChunk(index int, units []unit) Chunk {
	var sb strings.Builder
	weight := map[document.Kind]int{}
	path := units[0].headingPath
	locator := units[0].block.Locator
	opening := true
	for i, u := range units {
		if i > 0 {
			if u.joinsPrevious {
				sb.WriteByte(' ')
			} else {
				sb.WriteByte('\n')
			}
		}
		sb.WriteString(u.text)
		weight[u.block.Kind] += u.tokens
		if opening && isUnder(u.headingPath, path) {
			path = u.headingPath // the chunk starts with headings that lead to its section
		} else {
			path = commonPrefix(path, u.headingPath)
		}
		opening = opening && u.block.Kind == document.Heading && i+1 < len(units) && isUnder(units[i+1].headingPath, u.headingPath)
		locator = unionLocators(locator, u.block.Locator)
	}
	c := Chunk{Index: index, Text: sb.String(), HeadingPath: slices.Clone(path), Locator: locator, Kind: dominantKind(weight)}
	c.TokenEstimate = EstimateTokens(c.Text)
	sum := sha256.Sum256([]byte(strings.Join(c.HeadingPath, "\x1f") + "\x1e" + c.Text))
	c.SHA256 = hex.EncodeToString(sum[:])
	return c
}

// dominantKind returns the kind with the greatest weight.
func dominantKind(weight map[document.Kind]int) document.Kind {
	best := document.Paragraph
	for _, k := range []document.Kind{document.Paragraph, document.ListItem, document.TableRow, document.Line, document.Heading} {
		if weight[k] > weight[best] {
			best = k
		}
	}
	return best
}

func commonPrefix(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// unionLocators returns a locator that spans a and b. Both are on the same sheet, since chunks don't cross
// sheets; if they are on different pages, a's page is used.
func unionLocators(a, b api.Locator) api.Locator {
	if b.LineStart > 0 && (a.LineStart == 0 || b.LineStart < a.LineStart) {
		a.LineStart = b.LineStart
	}
	a.LineEnd = max(a.LineEnd, b.LineEnd)
	if a.Page == 0 {
		a.Page = b.Page
	}
	if a.Slide == 0 {
		a.Slide = b.Slide
	}
	if a.Sheet == "" {
		a.Sheet = b.Sheet
	}
	a.CellRange = unionCellRanges(a.CellRange, b.CellRange)
	return a
}

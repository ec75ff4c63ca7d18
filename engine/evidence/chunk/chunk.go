package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
)

// Options say how large chunks are. A zero field takes its default.
type Options struct {
	Min    int // tokens below which a chunk takes in what follows it; 150
	Target int // tokens at which a chunk is closed at the next good place; 280
	Max    int // tokens that a chunk never exceeds, but for one table row; 400
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
	o.Target = min(o.Target, o.Max)
	o.Min = min(o.Min, o.Target)
	return o
}

// Chunk is one passage.
type Chunk struct {
	Index         int    // from 0, in reading order
	Text          string // blocks on lines of their own; list items begin with "- " or their number, headings stand as they are
	HeadingPath   []string
	Locator       api.Locator // spans all blocks of the chunk
	TokenEstimate int
	SHA256        string     // of heading path and text, in hex: the same passage has it again after a re-read
	Kind          parse.Kind // of most of its text
}

// Split parts a document into chunks. An empty document has none.
func Split(doc *parse.Document, opt Options) []Chunk {
	opt = opt.withDefaults()
	units := splitUnits(doc.Blocks, opt)
	g := &grouper{opt: opt, sharedDepth: sharedDepth(units)}
	for _, u := range units {
		g.add(u)
	}
	g.close()
	var out []Chunk
	for _, group := range g.groups {
		out = append(out, newChunk(len(out), group.units))
	}
	return out
}

// EstimateTokens estimates how many tokens a model makes of a text: its words, with long ones and
// ones with digits or marks counted as several, as subword tokenizers part them.
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

// unit is what is never cut: a sentence or a few, a list item, a table row, a heading with
// what it leads to.
type unit struct {
	text           string
	tokens         int
	block          parse.Block
	headingPath    []string
	joinsPrevious  bool // may stand on the same line as the unit before: both are of one paragraph
	introducesList bool // ends in a colon: what follows belongs to it
}

// sharedDepth is how many headings all units stand under: the title, mostly. The top
// sections are those below it.
func sharedDepth(units []unit) int {
	if len(units) == 0 {
		return 0
	}
	path := units[0].headingPath
	for _, u := range units {
		path = commonPrefix(path, u.headingPath)
	}
	return len(path)
}

// group is the units of one chunk.
type group struct {
	units []unit
	size  int // in tokens
}

// grouper gathers units to groups.
type grouper struct {
	opt         Options
	sharedDepth int
	groups      []group
	current     group
}

func (g *grouper) add(u unit) {
	if len(g.current.units) > 0 && g.breaksBefore(u) {
		g.close()
	}
	g.current.units = append(g.current.units, u)
	g.current.size += u.tokens
}

// close ends the open group. What is left of a section and too small to stand alone goes
// to the group before it.
func (g *grouper) close() {
	open := g.current
	g.current = group{}
	if len(open.units) == 0 {
		return
	}
	if n := len(g.groups); n > 0 && open.size < g.opt.Min && g.groups[n-1].size+open.size <= g.opt.Max {
		prev := &g.groups[n-1]
		last := prev.units[len(prev.units)-1]
		if slices.Equal(last.headingPath, open.units[0].headingPath) && last.block.Locator.Sheet == open.units[0].block.Locator.Sheet &&
			g.topSection(last.headingPath) != "" {
			prev.units, prev.size = append(prev.units, open.units...), prev.size+open.size
			return
		}
	}
	g.groups = append(g.groups, open)
}

// breaksBefore reports whether the open group ends before u.
func (g *grouper) breaksBefore(u unit) bool {
	last, size := g.current.units[len(g.current.units)-1], g.current.size
	switch {
	case last.block.Locator.Sheet != u.block.Locator.Sheet:
		return true
	case size+u.tokens > g.opt.Max:
		return true
	case last.block.Kind == parse.Heading && isUnder(u.headingPath, last.headingPath):
		return false // a heading stays with what it heads
	case g.topSection(last.headingPath) != g.topSection(u.headingPath):
		return true
	case !slices.Equal(last.headingPath, u.headingPath):
		// Another section: only what is too small to stand alone takes it in.
		return size >= g.opt.Min || !areRelatedSections(g.current.units[0].headingPath, u.headingPath)
	case last.introducesList && u.block.Kind == parse.ListItem:
		return false
	case size >= g.opt.Target:
		return true
	case u.block.Kind == parse.TableRow && last.block.Kind == parse.TableRow:
		return last.block.Table != u.block.Table && size >= g.opt.Min
	case size >= g.opt.Min && u.introducesList:
		return true // begin the next chunk with the sentence that leads the list
	}
	return false
}

// topSection names the top section of a path; empty for what stands above the first.
func (g *grouper) topSection(path []string) string {
	if len(path) <= g.sharedDepth {
		return ""
	}
	return path[g.sharedDepth]
}

// isUnder reports whether path is parent or below it.
func isUnder(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

// areRelatedSections reports whether two sections are the same, one within the other, or siblings.
func areRelatedSections(a, b []string) bool {
	n := len(commonPrefix(a, b))
	return n > 0 && (n >= len(a)-1 || n >= len(b)-1)
}

func newChunk(index int, units []unit) Chunk {
	var sb strings.Builder
	weight := map[parse.Kind]int{}
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
			path = u.headingPath // the headings that open a chunk lead to its section
		} else {
			path = commonPrefix(path, u.headingPath)
		}
		opening = opening && u.block.Kind == parse.Heading && i+1 < len(units) && isUnder(units[i+1].headingPath, u.headingPath)
		locator = unionLocators(locator, u.block.Locator)
	}
	c := Chunk{Index: index, Text: sb.String(), HeadingPath: slices.Clone(path), Locator: locator, Kind: dominantKind(weight)}
	c.TokenEstimate = EstimateTokens(c.Text)
	sum := sha256.Sum256([]byte(strings.Join(c.HeadingPath, "\x1f") + "\x1e" + c.Text))
	c.SHA256 = hex.EncodeToString(sum[:])
	return c
}

func dominantKind(weight map[parse.Kind]int) parse.Kind {
	best := parse.Paragraph
	for _, k := range []parse.Kind{parse.Paragraph, parse.ListItem, parse.TableRow, parse.Line, parse.Heading} {
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

// unionLocators is the place that holds both. Chunks don't cross sheets; on pages the first counts.
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

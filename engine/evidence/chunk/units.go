package chunk

import (
	"iter"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// units splits blocks into units. A paragraph is split into sentences; a list item or table row is one unit if
// it fits in a chunk.
func units(blocks []document.Block, opt Options) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for _, b := range blocks {
			for _, u := range splitUnits(b, opt) {
				if !yield(u) {
					return
				}
			}
		}
	}
}

func splitUnits(b document.Block, opt Options) []unit {
	switch b.Kind {
	case document.Heading:
		return []unit{newUnit(b, b.Text)}
	case document.TableRow:
		return rowUnits(b, opt)
	case document.Line:
		return splitBlock(b, strings.SplitAfter(b.Text, "\n"), "", opt)
	case document.ListItem:
		mark := strings.Repeat("  ", max(min(b.Level, 6)-1, 0)) + "- "
		if b.Marker != "" {
			mark = strings.TrimSuffix(mark, "- ") + b.Marker + " "
		}
		if u := newUnit(b, mark+b.Text); u.tokens <= opt.Max {
			return []unit{u}
		}
		return splitBlock(b, SplitSentences(b.Text), mark, opt)
	default:
		if u := newUnit(b, b.Text); u.tokens <= opt.Target {
			return []unit{u}
		}
		return splitBlock(b, SplitSentences(b.Text), "", opt)
	}
}

func newUnit(b document.Block, text string) unit {
	text = strings.TrimRight(text, " \n")
	return unit{
		text: text, tokens: max(1, EstimateTokens(text)), block: b, headingPath: unitHeadingPath(b),
		introducesList: strings.HasSuffix(text, ":"),
	}
}

// unitHeadingPath returns the heading path of a block's units. A heading belongs to the section it opens, so its
// path includes the heading itself.
func unitHeadingPath(b document.Block) []string {
	if b.Kind == document.Heading {
		return append(b.HeadingPath[:len(b.HeadingPath):len(b.HeadingPath)], b.Text)
	}
	return b.HeadingPath
}

// rowUnits returns a table row as a single unit. Only an implausibly long row, of more than eight
// chunks, is split between its cells.
func rowUnits(b document.Block, opt Options) []unit {
	if u := newUnit(b, b.Text); u.tokens <= 8*opt.Max {
		return []unit{u}
	}
	return splitBlock(b, strings.SplitAfter(b.Text, "; "), "", opt)
}

// splitBlock turns the parts of a block into units. Parts that are too long are split between words. mark is put
// before the first unit.
func splitBlock(b document.Block, parts []string, mark string, opt Options) []unit {
	var out []unit
	for _, p := range parts {
		for _, w := range splitWords(p, opt.Max-EstimateTokens(mark)) {
			if len(out) == 0 {
				w = mark + w
			}
			u := newUnit(b, w)
			if u.text == "" {
				continue
			}
			u.joinsPrevious = len(out) > 0 && b.Kind != document.Line
			u.introducesList = u.introducesList && b.Kind != document.Line
			out = append(out, u)
		}
	}
	return out
}

// splitWords splits a text between words into pieces of at most limit tokens (at least 8). It splits a word only
// if the word alone is longer.
func splitWords(text string, limit int) []string {
	limit = max(limit, 8)
	if EstimateTokens(text) <= limit {
		return []string{text}
	}
	var out []string
	var sb strings.Builder
	n := 0
	flush := func() {
		if sb.Len() > 0 {
			out = append(out, sb.String())
			sb.Reset()
			n = 0
		}
	}
	for _, w := range strings.Fields(text) {
		// Examining this window is enough, because a character has at most 4 bytes and is at most
		// one token and at least a seventh of a token.
		for window := 32 * limit; EstimateTokens(w[:min(len(w), window)]) > limit; {
			flush()
			head := prefixOfTokens(w, limit)
			out = append(out, head)
			w = w[len(head):]
		}
		t := EstimateTokens(w)
		if n+t > limit {
			flush()
		}
		if sb.Len() > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString(w)
		n += t
	}
	flush()
	return out
}

// prefixOfTokens returns a prefix of w of about limit tokens, but at least one character.
func prefixOfTokens(w string, limit int) string {
	n := 0
	for i := range w {
		if n == limit && i > 0 { // a character is at most one token
			return w[:i]
		}
		n++
	}
	return w
}

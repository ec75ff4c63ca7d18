package lazyregexp

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Prefiltered is a Late that first looks for a word it can't match without: most texts have
// none of them, and that is seen a hundred times faster. Of many alternatives only those are
// tried of which the text has a word.
type Prefiltered struct {
	expression string
	once       sync.Once

	full     func() *regexp.Regexp
	parts    []func() *regexp.Regexp // its alternatives, at most 64; none where it isn't made of such
	required []requiredWord          // a match holds one of them. Empty: there is none to look for.
	// bigrams are the first two letters of the words.
	bigrams *[1 << 10]uint64
}

// requiredWord is a word in small letters, with a bit for each part that can't match without it or another.
type requiredWord struct {
	word  string
	parts uint64
}

// NewPrefiltered is the guarded expression written so.
func NewPrefiltered(text string) *Prefiltered { return &Prefiltered{expression: text} }

// RequiredWords are those it looks for first; none where it knows none of two letters or more.
func (g *Prefiltered) RequiredWords() []string {
	var out []string
	for _, w := range g.prepare().required {
		out = append(out, w.word)
	}
	return out
}

// prepare is the expression, with its parts and words.
func (g *Prefiltered) prepare() *Prefiltered {
	g.once.Do(func() {
		g.full = lazyCompile(g.expression)
		tree, err := syntax.Parse(g.expression, syntax.Perl)
		if err != nil {
			g.full() // which panics with a better text
			return
		}
		parts := splitAlternatives(tree)
		if len(parts) > 64 || len(requiredWords(tree.Simplify())) == 0 {
			parts = []*syntax.Regexp{tree}
		}
		for i, part := range parts {
			if len(parts) > 1 {
				g.parts = append(g.parts, lazyCompile(part.String()))
			}
			for _, w := range requiredWords(part.Simplify()) {
				g.required = append(g.required, requiredWord{w, 1 << i})
			}
		}
		if len(g.required) == 0 {
			return
		}
		g.bigrams = &[1 << 10]uint64{}
		for _, w := range g.required {
			at := int(w.word[0])<<8 | int(w.word[1])
			g.bigrams[at>>6] |= 1 << (at & 63)
		}
	})
	return g
}

func lazyCompile(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// splitAlternatives are expressions of which the first that matches where any does is what the whole finds
// there: those between marks of a place, which take up no text, and what follows them all.
func splitAlternatives(t *syntax.Regexp) []*syntax.Regexp {
	if t.Op == syntax.OpAlternate {
		return t.Sub
	}
	if t.Op != syntax.OpConcat {
		return []*syntax.Regexp{t}
	}
	for i, sub := range t.Sub {
		switch sub.Op {
		case syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine:
			continue
		case syntax.OpAlternate:
			var out []*syntax.Regexp
			for _, one := range sub.Sub {
				out = append(
					out,
					&syntax.Regexp{Op: syntax.OpConcat, Flags: t.Flags, Sub: slices.Concat(t.Sub[:i], []*syntax.Regexp{one}, t.Sub[i+1:])},
				)
			}
			return out
		}
		break
	}
	return []*syntax.Regexp{t}
}

// requiredWords are words of which every match of an expression holds at least one; nil where no
// such words of two letters or more are known.
func requiredWords(t *syntax.Regexp) []string {
	switch t.Op {
	case syntax.OpLiteral:
		return longestLiteral(t)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredWords(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return requiredWords(t.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range t.Sub {
			if w := requiredWords(sub); isRarer(w, best) {
				best = w
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range t.Sub {
			w := requiredWords(sub)
			if len(w) == 0 {
				return nil
			}
			all = append(all, w...)
		}
		return all
	}
	return nil
}

// isRarer tells whether texts hold one of these words less often than one of those, as far as that
// shows: the word with the fewest letters counts up to five, then how many words there are.
func isRarer(these, those []string) bool {
	if len(these) == 0 || len(those) == 0 {
		return len(these) > 0
	}
	a, b := shortestLength(these), shortestLength(those)
	return a > b || a == b && len(these) < len(those)
}

func shortestLength(words []string) int {
	n := 5
	for _, w := range words {
		n = min(n, len(w)-strings.Count(w, " "))
	}
	return n
}

// longestLiteral is the longest piece of a literal in ASCII, whose small letters are known.
func longestLiteral(t *syntax.Regexp) []string {
	best, now := "", ""
	for _, r := range t.Rune {
		if r >= 0x80 {
			now = ""
			continue
		}
		if now += strings.ToLower(string(r)); len(now) > len(best) {
			best = now
		}
	}
	if len(best) < 2 {
		return nil
	}
	return []string{best}
}

// candidateParts tells which parts the text could match: 0 only where it can't.
func (g *Prefiltered) candidateParts(s string) (parts uint64) {
	if g.prepare().bigrams == nil {
		return ^uint64(0)
	}
	last := byte(0)
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 0x80 && foldsToASCII(s[i:]) {
			return ^uint64(0)
		}
		at := int(last)<<8 | int(c)
		last = c
		if g.bigrams[at>>6]&(1<<(at&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range g.required {
			if parts&w.parts == 0 && hasPrefixFold(s[i-1:], w.word) {
				if parts |= w.parts; len(g.parts) == 0 {
					return parts
				}
			}
		}
	}
	return parts
}

// foldsToASCII: ſ and the sign of Kelvin are s and k to an expression that takes capitals
// and small letters alike.
func foldsToASCII(s string) bool {
	return strings.HasPrefix(s, "\u017f") || strings.HasPrefix(s, "\u212a")
}

// hasPrefixFold tells whether s begins with a word, capitals or not.
func hasPrefixFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// String is the expression.
func (g *Prefiltered) String() string { return g.expression }

func (g *Prefiltered) MatchString(s string) bool {
	parts := g.candidateParts(s)
	if len(g.parts) == 0 {
		return parts != 0 && g.full().MatchString(s)
	}
	for ; parts != 0; parts &= parts - 1 {
		if i := bits.TrailingZeros64(parts); i < len(g.parts) && g.parts[i]().MatchString(s) {
			return true
		}
	}
	return false
}

func (g *Prefiltered) FindString(s string) string {
	if at := g.FindStringIndex(s); at != nil {
		return s[at[0]:at[1]]
	}
	return ""
}

func (g *Prefiltered) FindStringIndex(s string) (first []int) {
	parts := g.candidateParts(s)
	if len(g.parts) == 0 {
		if parts == 0 {
			return nil
		}
		return g.full().FindStringIndex(s)
	}
	for ; parts != 0; parts &= parts - 1 {
		i := bits.TrailingZeros64(parts)
		if i >= len(g.parts) {
			break
		}
		if at := g.parts[i]().FindStringIndex(s); at != nil && (first == nil || at[0] < first[0]) {
			first = at
		}
	}
	return first
}

func (g *Prefiltered) FindStringSubmatch(s string) []string {
	if g.candidateParts(s) == 0 {
		return nil
	}
	return g.full().FindStringSubmatch(s)
}

func (g *Prefiltered) ReplaceAllString(s, with string) string {
	if g.candidateParts(s) == 0 {
		return s
	}
	return g.full().ReplaceAllString(s, with)
}

func (g *Prefiltered) FindAllString(s string, n int) []string {
	if g.candidateParts(s) == 0 {
		return nil
	}
	return g.full().FindAllString(s, n)
}

func (g *Prefiltered) FindAllStringIndex(s string, n int) [][]int {
	if g.candidateParts(s) == 0 {
		return nil
	}
	return g.full().FindAllStringIndex(s, n)
}

func (g *Prefiltered) FindAllStringSubmatch(s string, n int) [][]string {
	if g.candidateParts(s) == 0 {
		return nil
	}
	return g.full().FindAllStringSubmatch(s, n)
}

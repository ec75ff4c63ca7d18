package lazyregexp

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Prefiltered is a Regexp that first searches a text for words without which the expression can't match. Most texts
// contain none of them, and this search is about a hundred times faster. If the expression consists of alternatives,
// only those are tried that have one of their words in the text.
type Prefiltered struct {
	expression string
	once       sync.Once

	full     func() *regexp.Regexp   // the whole expression
	parts    []func() *regexp.Regexp // the alternatives, at most 64; empty if there is only one
	required []requiredWord          // every match contains one of these words; empty if no such words are known
	// bigrams is a bit set of the first two bytes of the required words.
	bigrams *[1 << 10]uint64
}

// requiredWord is a lowercase word. parts has a bit for each alternative that can match because of this word.
type requiredWord struct {
	word  string
	parts uint64
}

// NewPrefiltered returns a Prefiltered for an expression, which is compiled on first use.
func NewPrefiltered(text string) *Prefiltered { return &Prefiltered{expression: text} }

// RequiredWords returns words of which a text must contain at least one to match. It returns nil if no such words of
// at least two letters are known.
func (g *Prefiltered) RequiredWords() []string {
	var out []string
	for _, w := range g.parseOnce().required {
		out = append(out, w.word)
	}
	return out
}

// parseOnce parses the expression on first use and returns g.
func (g *Prefiltered) parseOnce() *Prefiltered {
	g.once.Do(func() {
		g.full = lazyCompile(g.expression)
		tree, err := syntax.Parse(g.expression, syntax.Perl)
		if err != nil {
			g.full() // panics with a better error message
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

// lazyCompile returns a function that compiles an expression on its first call.
func lazyCompile(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// splitAlternatives returns expressions that together match what t matches: the alternatives of t, each with the
// assertions before them and the rest of t. The leftmost match of any of them is the match of t. If several start at
// the same position, it is that of the earliest expression.
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

// requiredWords returns lowercase words of which every match of t contains at least one, or nil if no such words of
// at least two letters are known.
func requiredWords(t *syntax.Regexp) []string {
	switch t.Op {
	case syntax.OpLiteral:
		return longestASCIIPart(t)
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

// isRarer estimates whether these words occur in fewer texts than those. It prefers the list whose shortest word is
// longer, up to five letters, and then the list with fewer words.
func isRarer(these, those []string) bool {
	if len(these) == 0 || len(those) == 0 {
		return len(these) > 0
	}
	a, b := shortestLength(these), shortestLength(those)
	return a > b || a == b && len(these) < len(those)
}

// shortestLength returns the length of the shortest word without its spaces, at most 5.
func shortestLength(words []string) int {
	n := 5
	for _, w := range words {
		n = min(n, len(w)-strings.Count(w, " "))
	}
	return n
}

// longestASCIIPart returns the longest run of ASCII characters in a literal, in lower case, as a list with one word.
// It returns nil if the run has fewer than two letters.
func longestASCIIPart(t *syntax.Regexp) []string {
	best, current := "", ""
	for _, r := range t.Rune {
		if r >= 0x80 {
			current = ""
			continue
		}
		if current += strings.ToLower(string(r)); len(current) > len(best) {
			best = current
		}
	}
	if len(best) < 2 {
		return nil
	}
	return []string{best}
}

// candidateAlternativeMask returns a bit mask of the alternatives that could match s; 0 means that the
// expression can't match.
func (g *Prefiltered) candidateAlternativeMask(s string) (parts uint64) {
	if g.parseOnce().bigrams == nil {
		return ^uint64(0)
	}
	last := byte(0)
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 0x80 && startsWithASCIIFoldingRune(s[i:]) {
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

// startsWithASCIIFoldingRune reports whether s begins with ſ or the Kelvin sign, which case-insensitive
// expressions treat as s and k.
func startsWithASCIIFoldingRune(s string) bool {
	return strings.HasPrefix(s, "\u017f") || strings.HasPrefix(s, "\u212a")
}

// hasPrefixFold reports whether s begins with a lowercase ASCII word, ignoring case.
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

// String returns the source text of the expression.
func (g *Prefiltered) String() string { return g.expression }

func (g *Prefiltered) MatchString(s string) bool {
	parts := g.candidateAlternativeMask(s)
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
	parts := g.candidateAlternativeMask(s)
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
	if g.candidateAlternativeMask(s) == 0 {
		return nil
	}
	return g.full().FindStringSubmatch(s)
}

func (g *Prefiltered) ReplaceAllString(s, with string) string {
	if g.candidateAlternativeMask(s) == 0 {
		return s
	}
	return g.full().ReplaceAllString(s, with)
}

func (g *Prefiltered) FindAllString(s string, n int) []string {
	if g.candidateAlternativeMask(s) == 0 {
		return nil
	}
	return g.full().FindAllString(s, n)
}

func (g *Prefiltered) FindAllStringIndex(s string, n int) [][]int {
	if g.candidateAlternativeMask(s) == 0 {
		return nil
	}
	return g.full().FindAllStringIndex(s, n)
}

func (g *Prefiltered) FindAllStringSubmatch(s string, n int) [][]string {
	if g.candidateAlternativeMask(s) == 0 {
		return nil
	}
	return g.full().FindAllStringSubmatch(s, n)
}

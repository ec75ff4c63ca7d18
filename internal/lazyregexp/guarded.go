package lazyregexp

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Guarded is a Late that first looks for a word it can't match without: most texts have
// none of them, and that is seen a hundred times faster. Of many alternatives only those are
// tried of which the text has a word.
type Guarded struct {
	expression string
	once       sync.Once

	whole func() *regexp.Regexp
	parts []func() *regexp.Regexp // its alternatives, at most 64; none where it isn't made of such
	words []needed                // a match holds one of them. Empty: there is none to look for.
	// pairs are the first two letters of the words.
	pairs *[1 << 10]uint64
}

// needed is a word in small letters, with a bit for each part that can't match without it or another.
type needed struct {
	word string
	by   uint64
}

// Guard is the guarded expression written so.
func Guard(text string) *Guarded { return &Guarded{expression: text} }

// Words are those it looks for first; none where it knows none of two letters or more.
func (g *Guarded) Words() []string {
	var out []string
	for _, w := range g.ready().words {
		out = append(out, w.word)
	}
	return out
}

// ready is the expression, with its parts and words.
func (g *Guarded) ready() *Guarded {
	g.once.Do(func() {
		g.whole = late(g.expression)
		tree, err := syntax.Parse(g.expression, syntax.Perl)
		if err != nil {
			g.whole() // which panics with a better text
			return
		}
		parts := alternatives(tree)
		if len(parts) > 64 || len(needs(tree.Simplify())) == 0 {
			parts = []*syntax.Regexp{tree}
		}
		for i, part := range parts {
			if len(parts) > 1 {
				g.parts = append(g.parts, late(part.String()))
			}
			for _, w := range needs(part.Simplify()) {
				g.words = append(g.words, needed{w, 1 << i})
			}
		}
		if len(g.words) == 0 {
			return
		}
		g.pairs = &[1 << 10]uint64{}
		for _, w := range g.words {
			at := int(w.word[0])<<8 | int(w.word[1])
			g.pairs[at>>6] |= 1 << (at & 63)
		}
	})
	return g
}

func late(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// alternatives are expressions of which the first that matches where any does is what the whole finds
// there: those between marks of a place, which take up no text, and what follows them all.
func alternatives(t *syntax.Regexp) []*syntax.Regexp {
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
				out = append(out, &syntax.Regexp{Op: syntax.OpConcat, Flags: t.Flags, Sub: slices.Concat(t.Sub[:i], []*syntax.Regexp{one}, t.Sub[i+1:])})
			}
			return out
		}
		break
	}
	return []*syntax.Regexp{t}
}

// needs are words of which every match of an expression holds at least one; nil where no
// such words of two letters or more are known.
func needs(t *syntax.Regexp) []string {
	switch t.Op {
	case syntax.OpLiteral:
		return literal(t)
	case syntax.OpCapture, syntax.OpPlus:
		return needs(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return needs(t.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range t.Sub {
			if w := needs(sub); rarer(w, best) {
				best = w
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range t.Sub {
			w := needs(sub)
			if len(w) == 0 {
				return nil
			}
			all = append(all, w...)
		}
		return all
	}
	return nil
}

// rarer tells whether texts hold one of these words less often than one of those, as far as that
// shows: the word with the fewest letters counts up to five, then how many words there are.
func rarer(these, those []string) bool {
	if len(these) == 0 || len(those) == 0 {
		return len(these) > 0
	}
	a, b := fewestLetters(these), fewestLetters(those)
	return a > b || a == b && len(these) < len(those)
}

func fewestLetters(of []string) int {
	n := 5
	for _, w := range of {
		n = min(n, len(w)-strings.Count(w, " "))
	}
	return n
}

// literal is the longest piece of a literal in ASCII, whose small letters are known.
func literal(t *syntax.Regexp) []string {
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

// may tells which parts the text could match: 0 only where it can't.
func (g *Guarded) may(s string) (parts uint64) {
	if g.ready().pairs == nil {
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
		if g.pairs[at>>6]&(1<<(at&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range g.words {
			if parts&w.by == 0 && begins(s[i-1:], w.word) {
				if parts |= w.by; len(g.parts) == 0 {
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

// begins tells whether s begins with a word, capitals or not.
func begins(s, word string) bool {
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
func (g *Guarded) String() string { return g.expression }

func (g *Guarded) MatchString(s string) bool {
	parts := g.may(s)
	if len(g.parts) == 0 {
		return parts != 0 && g.whole().MatchString(s)
	}
	for ; parts != 0; parts &= parts - 1 {
		if i := bits.TrailingZeros64(parts); i < len(g.parts) && g.parts[i]().MatchString(s) {
			return true
		}
	}
	return false
}

func (g *Guarded) FindString(s string) string {
	if at := g.FindStringIndex(s); at != nil {
		return s[at[0]:at[1]]
	}
	return ""
}

func (g *Guarded) FindStringIndex(s string) (first []int) {
	parts := g.may(s)
	if len(g.parts) == 0 {
		if parts == 0 {
			return nil
		}
		return g.whole().FindStringIndex(s)
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

func (g *Guarded) FindStringSubmatch(s string) []string {
	if g.may(s) == 0 {
		return nil
	}
	return g.whole().FindStringSubmatch(s)
}

func (g *Guarded) ReplaceAllString(s, with string) string {
	if g.may(s) == 0 {
		return s
	}
	return g.whole().ReplaceAllString(s, with)
}

func (g *Guarded) FindAllString(s string, n int) []string {
	if g.may(s) == 0 {
		return nil
	}
	return g.whole().FindAllString(s, n)
}

func (g *Guarded) FindAllStringIndex(s string, n int) [][]int {
	if g.may(s) == 0 {
		return nil
	}
	return g.whole().FindAllStringIndex(s, n)
}

func (g *Guarded) FindAllStringSubmatch(s string, n int) [][]string {
	if g.may(s) == 0 {
		return nil
	}
	return g.whole().FindAllStringSubmatch(s, n)
}

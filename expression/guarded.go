package expression

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Guarded is a Late that first looks for a word it can't match without: most texts have
// none of them, and that is seen a hundred times faster.
type Guarded struct {
	expression string
	once       sync.Once

	whole *regexp.Regexp
	words []string // in small letters; a match holds one of them. Empty: there is none to look for.
	// pairs are the first two letters of the words.
	pairs *[1 << 10]uint64
}

// Guard is the guarded expression written so.
func Guard(text string) *Guarded { return &Guarded{expression: text} }

// Words are those it looks for first; none where it knows none of two letters or more.
func (g *Guarded) Words() []string { return g.ready().words }

// ready is the expression, compiled.
func (g *Guarded) ready() *Guarded {
	g.once.Do(func() {
		g.whole = regexp.MustCompile(g.expression)
		tree, err := syntax.Parse(g.expression, syntax.Perl)
		if err != nil {
			return
		}
		if g.words = needs(tree.Simplify()); len(g.words) == 0 {
			return
		}
		g.pairs = &[1 << 10]uint64{}
		for _, w := range g.words {
			at := int(w[0])<<8 | int(w[1])
			g.pairs[at>>6] |= 1 << (at & 63)
		}
	})
	return g
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

// may tells whether the text could match: false only where it can't.
func (g *Guarded) may(s string) bool {
	if g.ready().pairs == nil {
		return true
	}
	last := byte(0)
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 0x80 && foldsToASCII(s[i:]) {
			return true
		}
		at := int(last)<<8 | int(c)
		last = c
		if g.pairs[at>>6]&(1<<(at&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range g.words {
			if begins(s[i-1:], w) {
				return true
			}
		}
	}
	return false
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

func (g *Guarded) MatchString(s string) bool { return g.may(s) && g.whole.MatchString(s) }

func (g *Guarded) FindString(s string) string {
	if !g.may(s) {
		return ""
	}
	return g.whole.FindString(s)
}

func (g *Guarded) FindStringIndex(s string) []int {
	if !g.may(s) {
		return nil
	}
	return g.whole.FindStringIndex(s)
}

func (g *Guarded) FindStringSubmatch(s string) []string {
	if !g.may(s) {
		return nil
	}
	return g.whole.FindStringSubmatch(s)
}

func (g *Guarded) ReplaceAllString(s, with string) string {
	if !g.may(s) {
		return s
	}
	return g.whole.ReplaceAllString(s, with)
}

func (g *Guarded) FindAllString(s string, n int) []string {
	if !g.may(s) {
		return nil
	}
	return g.whole.FindAllString(s, n)
}

func (g *Guarded) FindAllStringIndex(s string, n int) [][]int {
	if !g.may(s) {
		return nil
	}
	return g.whole.FindAllStringIndex(s, n)
}

func (g *Guarded) FindAllStringSubmatch(s string, n int) [][]string {
	if !g.may(s) {
		return nil
	}
	return g.whole.FindAllStringSubmatch(s, n)
}

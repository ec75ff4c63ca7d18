package analysis

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// pattern is a regular expression that first looks for a word it can't match without: most
// texts have none of them, and that is seen a hundred times faster.
//
// It is compiled when first used: the program starts in a fraction of the time that all of
// them take.
type pattern struct {
	expression string
	once       sync.Once

	whole *regexp.Regexp
	words []string // in small letters; a match holds one of them. Empty: there is none to look for.
	// pairs are the first two letters of the words.
	pairs *[1 << 10]uint64
}

func re(s string) *pattern { return compile(`(?i)` + s) }

func compile(s string) *pattern { return &pattern{expression: s} }

// ready is the pattern, compiled.
func (p *pattern) ready() *pattern {
	p.once.Do(func() {
		p.whole = regexp.MustCompile(p.expression)
		tree, err := syntax.Parse(p.expression, syntax.Perl)
		if err != nil {
			return
		}
		if p.words = needs(tree.Simplify()); len(p.words) == 0 {
			return
		}
		p.pairs = &[1 << 10]uint64{}
		for _, w := range p.words {
			at := int(w[0])<<8 | int(w[1])
			p.pairs[at>>6] |= 1 << (at & 63)
		}
	})
	return p
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
			if w := needs(sub); len(w) > 0 && (best == nil || shortest(w) > shortest(best)) {
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

func shortest(of []string) int {
	n := len(of[0])
	for _, w := range of {
		n = min(n, len(w))
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
func (p *pattern) may(s string) bool {
	if p.ready().pairs == nil {
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
		if p.pairs[at>>6]&(1<<(at&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range p.words {
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
func (p *pattern) String() string { return p.expression }

func (p *pattern) MatchString(s string) bool { return p.may(s) && p.whole.MatchString(s) }

func (p *pattern) FindString(s string) string {
	if !p.may(s) {
		return ""
	}
	return p.whole.FindString(s)
}

func (p *pattern) FindStringIndex(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.whole.FindStringIndex(s)
}

func (p *pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.whole.FindStringSubmatch(s)
}

func (p *pattern) FindAllString(s string, n int) []string {
	if !p.may(s) {
		return nil
	}
	return p.whole.FindAllString(s, n)
}

func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.may(s) {
		return nil
	}
	return p.whole.FindAllStringIndex(s, n)
}

func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if !p.may(s) {
		return nil
	}
	return p.whole.FindAllStringSubmatch(s, n)
}

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
// contain none of them, and this search is about a hundred times faster. If the expression consists of alternatives, it
// tries only the alternatives that have one of their words in the text.
type Prefiltered struct {
	expression string
	once       sync.Once

	full     func() *regexp.Regexp   // the whole expression
	parts    []func() *regexp.Regexp // the alternatives, at most 64; empty if there is only one
	required []requiredWord          // every match contains one of these words; empty if no such words are known
	// bigrams is a bit set of the first two bytes, in lower case, of the required words that have two.
	bigrams *[1 << 10]uint64
	// byBigram are these words, by their first two bytes; single are the words that have only one.
	byBigram map[int][]requiredWord
	single   []requiredWord
}

// requiredWord is a word without which an alternative can't match. parts has a bit for each alternative that requires
// the word.
type requiredWord struct {
	literal
	parts uint64
}

// literal is a piece of text that an expression contains literally.
type literal struct {
	text string // in lower case if fold is set
	fold bool   // upper and lower case count as equal
	// begins and ends are set if no letter, digit or underscore comes immediately before or after it.
	begins, ends bool
}

// foundAt reports whether s has the literal at an offset.
func (l literal) foundAt(s string, at int) bool {
	end := at + len(l.text)
	switch {
	case end > len(s), l.begins && at > 0 && isWordByte(s[at-1]), l.ends && end < len(s) && isWordByte(s[end]):
		return false
	case l.fold:
		return hasPrefixFold(s[at:], l.text)
	}
	return s[at:end] == l.text
}

// isWordByte reports whether c is one of the characters between which \b doesn't match.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// NewPrefiltered returns a Prefiltered for an expression, which is compiled on first use.
func NewPrefiltered(text string) *Prefiltered { return &Prefiltered{expression: text} }

// RequiredWords returns lower-case words, at least one of which a text must contain to match. It returns nil if no
// such words are known.
func (g *Prefiltered) RequiredWords() []string {
	var out []string
	for _, w := range g.parseOnce().required {
		out = append(out, strings.ToLower(w.text))
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
		if len(parts) > 64 || len(requiredWords(tree.Simplify(), false, false)) == 0 {
			parts = []*syntax.Regexp{tree}
		}
		for i, part := range parts {
			if len(parts) > 1 {
				g.parts = append(g.parts, lazyCompile(part.String()))
			}
			for _, w := range requiredWords(part.Simplify(), false, false) {
				g.required = append(g.required, requiredWord{w, 1 << i})
			}
		}
		if len(g.required) == 0 {
			return
		}
		g.bigrams, g.byBigram = &[1 << 10]uint64{}, map[int][]requiredWord{}
		for _, w := range g.required {
			if len(w.text) == 1 {
				g.single = append(g.single, w)
				continue
			}
			at := int(lower(w.text[0]))<<8 | int(lower(w.text[1]))
			g.bigrams[at>>6] |= 1 << (at & 63)
			g.byBigram[at] = append(g.byBigram[at], w)
		}
	})
	return g
}

// lazyCompile returns a function that compiles an expression on its first call.
func lazyCompile(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// splitAlternatives returns expressions that together match what t matches: one for each alternative in t, combined
// with the assertions before the alternatives and the rest of t. The leftmost match of any of them is the match of t.
// If several matches start at the same position, the match of t is that of the earliest expression.
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

// requiredWords returns literals at least one of which is contained in every match of t. It returns nil if no such
// literals are known, or if they are too common to be worth searching for. begins and ends are set if a match begins
// or ends at a word boundary. t must be simplified, so that it has no counted repetitions.
func requiredWords(t *syntax.Regexp, begins, ends bool) []literal {
	if texts, fold := finiteTexts(t); len(texts) > 0 {
		return literalsOf(texts, fold, begins, ends)
	}
	switch t.Op {
	case syntax.OpLiteral:
		return longestASCIIPart(t, begins, ends)
	case syntax.OpCapture:
		return requiredWords(t.Sub[0], begins, ends)
	case syntax.OpPlus:
		return requiredWords(t.Sub[0], false, false)
	case syntax.OpConcat:
		return requiredWordsOfSequence(t.Sub, begins, ends)
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range t.Sub {
			w := requiredWords(sub, begins, ends)
			if len(w) == 0 {
				return nil
			}
			all = append(all, w...)
		}
		return all
	}
	return nil
}

// requiredWordsOfSequence is like requiredWords, but for a sequence of expressions. It tries each of them alone, and
// also the texts that several of them produce together: "S(?:A|pA)" always contains "SA" or "SpA".
func requiredWordsOfSequence(sequence []*syntax.Regexp, begins, ends bool) (best []literal) {
	last := len(sequence) - 1
	beginsAt := func(i int) bool {
		return i == 0 && begins || i > 0 && sequence[i-1].Op == syntax.OpWordBoundary
	}
	endsAt := func(i int) bool { return i == last && ends || i < last && sequence[i+1].Op == syntax.OpWordBoundary }
	for i, sub := range sequence {
		if w := requiredWords(sub, beginsAt(i), endsAt(i)); isRarer(w, best) {
			best = w
		}
		texts, fold := finiteTexts(sub)
		for k := i + 1; k <= last && len(texts) > 0; k++ {
			more, moreFold := finiteTexts(sequence[k])
			if texts, fold = concatenate(texts, more), fold || moreFold; len(texts) > 0 {
				if w := literalsOf(texts, fold, beginsAt(i), endsAt(k)); isRarer(w, best) {
					best = w
				}
			}
		}
	}
	return best
}

// maxFiniteTexts is the maximum number of texts that an expression may match for those texts to be used as literals.
const maxFiniteTexts = 32

// finiteTexts returns all texts that t matches, and whether case is ignored in some of them. It returns nil if there
// are too many texts, or if one of them isn't ASCII.
func finiteTexts(t *syntax.Regexp) (texts []string, fold bool) {
	switch t.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, false
	case syntax.OpLiteral:
		for _, r := range t.Rune {
			if r >= 0x80 {
				return nil, false
			}
		}
		return []string{string(t.Rune)}, t.Flags&syntax.FoldCase != 0
	case syntax.OpCapture:
		return finiteTexts(t.Sub[0])
	case syntax.OpQuest:
		texts, fold = finiteTexts(t.Sub[0])
		if len(texts) == 0 || len(texts) == maxFiniteTexts {
			return nil, false
		}
		return append(texts, ""), fold
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				if r >= 0x80 || len(texts) == maxFiniteTexts {
					return nil, false
				}
				texts = append(texts, string(r))
			}
		}
		return texts, false
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range t.Sub {
			more, moreFold := finiteTexts(sub)
			if texts, fold = concatenate(texts, more), fold || moreFold; len(texts) == 0 {
				return nil, false
			}
		}
		return texts, fold
	case syntax.OpAlternate:
		for _, sub := range t.Sub {
			more, moreFold := finiteTexts(sub)
			if len(more) == 0 || len(texts)+len(more) > maxFiniteTexts {
				return nil, false
			}
			texts, fold = append(texts, more...), fold || moreFold
		}
		return texts, fold
	}
	return nil, false
}

// concatenate returns each text of first followed by each of second, or nil if there would be too many.
func concatenate(first, second []string) (out []string) {
	if len(first)*len(second) > maxFiniteTexts {
		return nil
	}
	for _, a := range first {
		for _, b := range second {
			out = append(out, a+b)
		}
	}
	return out
}

// literalsOf returns a literal for each text, or nil if one of them is too common to be worth searching for.
func literalsOf(texts []string, fold, begins, ends bool) (out []literal) {
	for _, text := range texts {
		if len(text) < 2 && (text == "" || !strings.Contains(rareCharacters, text)) {
			return nil
		}
		l := literal{text: text, fold: fold, begins: begins && isWordByte(text[0]), ends: ends && isWordByte(text[len(text)-1])}
		if fold {
			l.text = strings.ToLower(text)
		}
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// isRarer estimates whether these literals occur in fewer texts than those. It prefers the list whose shortest literal
// is longer, considering lengths up to five, and then the list with fewer literals.
func isRarer(these, those []literal) bool {
	if len(these) == 0 || len(those) == 0 {
		return len(these) > 0
	}
	a, b := shortestLength(these), shortestLength(those)
	return a > b || a == b && len(these) < len(those)
}

// shortestLength returns the length of the shortest literal, not counting spaces. The result is at least 2 and at most
// 5.
func shortestLength(literals []literal) int {
	n := 5
	for _, l := range literals {
		n = min(n, max(2, len(l.text)-strings.Count(l.text, " ")))
	}
	return n
}

// rareCharacters are characters that are worth searching for even alone.
const rareCharacters = "@`[]{}<>|$%#=_*~^\\"

// longestASCIIPart returns the longest run of ASCII characters in a literal, as a list with one element. It returns nil
// if the run has fewer than two characters and isn't a rare one.
func longestASCIIPart(t *syntax.Regexp, begins, ends bool) []literal {
	best, current := "", ""
	from, start := 0, 0 // of the best and of the current run
	for i, r := range t.Rune {
		if r >= 0x80 {
			current, start = "", i+1
			continue
		}
		if current += string(r); len(current) > len(best) {
			best, from = current, start
		}
	}
	return literalsOf([]string{best}, t.Flags&syntax.FoldCase != 0, begins && from == 0, ends && from+len(best) == len(t.Rune))
}

// candidateAlternativeMask returns a bit mask of the alternatives that could match s; 0 means that the
// expression can't match.
func (g *Prefiltered) candidateAlternativeMask(s string) (parts uint64) {
	if g.parseOnce().bigrams == nil {
		return ^uint64(0)
	}
	for _, w := range g.single {
		if strings.IndexByte(s, w.text[0]) >= 0 {
			if parts |= w.parts; len(g.parts) == 0 {
				return parts
			}
		}
	}
	last := byte(0)
	for i := range len(s) {
		c := lower(s[i])
		if c >= 0x80 && startsWithASCIIFoldingRune(s[i:]) {
			return ^uint64(0)
		}
		at := int(last)<<8 | int(c)
		last = c
		if g.bigrams[at>>6]&(1<<(at&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range g.byBigram[at] {
			if parts&w.parts == 0 && w.foundAt(s, i-1) {
				if parts |= w.parts; len(g.parts) == 0 {
					return parts
				}
			}
		}
	}
	return parts
}

// lower converts an ASCII letter to lower case and returns any other byte unchanged.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
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
		if lower(s[i]) != word[i] {
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

func (g *Prefiltered) FindStringSubmatchIndex(s string) []int {
	if g.candidateAlternativeMask(s) == 0 {
		return nil
	}
	return g.full().FindStringSubmatchIndex(s)
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

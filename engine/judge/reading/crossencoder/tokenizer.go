package crossencoder

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The special pieces of a vocabulary.
const (
	unknownPiece = "[UNK]"
	firstPiece   = "[CLS]"
	endPiece     = "[SEP]"
)

const maxWordRunes = 100 // longer words are unknown

// tokenizer splits text into word pieces, as an uncased BERT tokenizer does. tools/reader/wordpiece.py follows the same rules.
type tokenizer struct {
	ids                 map[string]int32
	unknown, first, end int32
	longest             int // bytes of the longest piece
}

func newTokenizer(pieces []string, n int) (*tokenizer, error) {
	if len(pieces) != n {
		return nil, errors.New("the vocabulary doesn't have the length given in the header")
	}
	t := tokenizer{ids: make(map[string]int32, n)}
	for i, p := range pieces {
		t.ids[p] = int32(i)
		t.longest = max(t.longest, len(p))
	}
	for name, id := range map[string]*int32{unknownPiece: &t.unknown, firstPiece: &t.first, endPiece: &t.end} {
		var found bool
		if *id, found = t.ids[name]; !found {
			return nil, errors.New("the vocabulary lacks " + name)
		}
	}
	return &t, nil
}

// encode returns the first limit pieces of a text.
func (t *tokenizer) encode(text string, limit int) []int32 {
	var out []int32
	forEachWord(text, func(word string) bool {
		out = t.appendPieces(out, word)
		return len(out) < limit
	})
	return out[:min(len(out), limit)]
}

func (t *tokenizer) appendPieces(out []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWordRunes {
		return append(out, t.unknown)
	}
	first, prefix := len(out), ""
	for rest := word; rest != ""; {
		end := min(len(rest), t.longest)
		id, found := int32(0), false
		for ; end > 0; end-- {
			if end < len(rest) && !utf8.RuneStart(rest[end]) {
				continue
			}
			if id, found = t.ids[prefix+rest[:end]]; found {
				break
			}
		}
		if !found {
			return append(out[:first], t.unknown)
		}
		out = append(out, id)
		rest, prefix = rest[end:], "##"
	}
	return out
}

// forEachWord calls use with the words of a text in lower case and without accents, until use returns false. Each
// punctuation mark and ideograph counts as a word.
func forEachWord(text string, use func(string) bool) {
	var word strings.Builder
	flush := func() bool {
		if word.Len() == 0 {
			return true
		}
		w := word.String()
		word.Reset()
		return use(w)
	}
	for piece := range strings.FieldsFuncSeq(text, isSpace) {
		for _, r := range norm.NFD.String(strings.Map(foldRune, piece)) {
			switch {
			case unicode.Is(unicode.Mn, r):
			case isPunctuation(r) || isIdeograph(r):
				if !flush() || !use(string(r)) {
					return
				}
			default:
				word.WriteRune(r)
			}
		}
		if !flush() {
			return
		}
	}
}

// isSpace reports whether a rune separates words. This includes line and paragraph separators.
func isSpace(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r)
}

// foldRune returns a rune in lower case, or -1 if it is to be left out.
func foldRune(r rune) rune {
	if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) {
		return -1
	}
	return unicode.ToLower(r)
}

func isPunctuation(r rune) bool {
	return r >= 33 && r <= 47 || r >= 58 && r <= 64 || r >= 91 && r <= 96 || r >= 123 && r <= 126 || unicode.Is(unicode.P, r)
}

func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B81F ||
		r >= 0x2B820 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

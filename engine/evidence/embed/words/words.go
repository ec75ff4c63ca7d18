// Package words splits text into the units shared by semantic and keyword search: lower-case stems
// with their position, British and American spelling folded, and codes such as "IAC-06" or "A.5.17"
// kept whole. It must not know about vectors, documents or rankings, and is deterministic.
package words

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// Kind is the kind of a token.
type Kind uint8

const (
	Word   Kind = iota // a stem that carries meaning
	Stop               // a word too common to search for; kept for matching phrases
	Number             // digits only
	Code               // characters with at least one digit and a joiner or letter: "A.5.17", "AES-256"
)

// Token is one unit of a text, such as a word. Start and End are byte offsets in the original text. A code is
// followed by the tokens of its parts, which lie within it.
type Token struct {
	Stem       string
	Start, End int
	Kind       Kind
}

const (
	maxWord = 48 // longer words are noise (base64, URLs) and truncated
	maxCode = 40 // a longer run is a path or a key rather than a code
)

// Split returns the tokens of text in order. Invalid UTF-8 separates words.
func Split(text string) []Token {
	s := stemmers.Get().(*stemmer)
	defer stemmers.Put(s)
	tokens := make([]Token, 0, len(text)/6+1)
	for i := 0; i < len(text); {
		r, size := decodeRune(text[i:])
		if !isWordRune(r) {
			i += size
			continue
		}
		if end := codeEnd(text, i); end > 0 {
			tokens = append(tokens, Token{Stem: foldCode(text[i:end]), Start: i, End: end, Kind: Code})
			before := len(tokens)
			tokens = s.splitRun(text, i, end, tokens)
			if len(tokens) == before+1 && tokens[before].Start == i && tokens[before].End == end {
				tokens = tokens[:before] // "AES256": its only part would be the code itself
			}
			i = end
			continue
		}
		end := wordEnd(text, i)
		tokens = s.splitRun(text, i, end, tokens)
		i = end
	}
	return tokens
}

// ContentWordStems returns the stems that carry meaning, without stop words, codes and numbers.
func ContentWordStems(text string) []string {
	tokens := Split(text)
	out := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if t.Kind == Word {
			out = append(out, t.Stem)
		}
	}
	return out
}

func decodeRune(s string) (rune, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isCodeJoiner reports whether r can join the parts of a code such as AC-2 or 164.312.
func isCodeJoiner(r rune) bool {
	switch r {
	case '.', '-', '_', '/', ':', '‐', '‑', '–':
		return true
	}
	return false
}

// codeEnd returns the end of the code that begins at i, or 0 if there is none.
func codeEnd(text string, i int) int {
	var digit, letter, joined bool
	end := i
	for end < len(text) {
		r, size := decodeRune(text[end:])
		if isWordRune(r) {
			if r >= utf8.RuneSelf {
				return 0 // codes contain only ASCII
			}
			if isDigit(r) {
				digit = true
			} else {
				letter = true
			}
			end += size
			continue
		}
		if !isCodeJoiner(r) || end+size >= len(text) {
			break
		}
		if next, _ := decodeRune(text[end+size:]); !isWordRune(next) {
			break
		}
		joined = true
		end += size
		if end-i > maxCode {
			return 0
		}
	}
	if !digit || !letter && !joined || end-i > maxCode {
		return 0
	}
	return end
}

func foldCode(s string) string {
	return dashReplacer.Replace(strings.ToLower(s))
}

var dashReplacer = strings.NewReplacer("‐", "-", "‑", "-", "–", "-", "_", "-")

// wordEnd returns the end of the word that begins at i. An apostrophe inside a word is part of it.
func wordEnd(text string, i int) int {
	first := true
	for i < len(text) {
		r, size := decodeRune(text[i:])
		switch {
		case isWordRune(r):
			if !first && isIdeograph(r) {
				return i
			}
			if first && isIdeograph(r) {
				return i + size
			}
		case (r == '\'' || r == '’') && i+size < len(text):
			if next, _ := decodeRune(text[i+size:]); !unicode.IsLetter(next) {
				return i
			}
		default:
			return i
		}
		first = false
		i += size
	}
	return i
}

// isIdeograph reports whether r belongs to a script that is written without spaces, so that each character is a
// token.
func isIdeograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// stemmer stems words and caches the results.
type stemmer struct {
	env   *snowballstem.Env
	cache map[string]stemResult
}

// stemResult is the stem of a word, and the kind of word it is.
type stemResult struct {
	stem string
	kind Kind
}

const cacheSize = 1 << 14

var stemmers = sync.Pool{New: func() any {
	return &stemmer{env: snowballstem.NewEnv(""), cache: make(map[string]stemResult)}
}}

// splitRun appends the words between start and end as tokens.
func (s *stemmer) splitRun(text string, start, end int, tokens []Token) []Token {
	for i := start; i < end; {
		r, size := decodeRune(text[i:])
		if !isWordRune(r) {
			i += size
			continue
		}
		stop := min(wordEnd(text, i), end)
		if u := s.cachedStem(text[i:stop]); u.stem != "" {
			tokens = append(tokens, Token{Stem: u.stem, Start: i, End: stop, Kind: u.kind})
		}
		i = stop
	}
	return tokens
}

func (s *stemmer) cachedStem(word string) stemResult {
	if len(word) > maxWord {
		cut := maxWord
		for cut > 0 && !utf8.RuneStart(word[cut]) {
			cut--
		}
		word = word[:cut]
	}
	if u, ok := s.cache[word]; ok {
		return u
	}
	u := s.stem(word)
	if len(s.cache) >= cacheSize {
		clear(s.cache)
	}
	s.cache[strings.Clone(word)] = u
	return u
}

func (s *stemmer) stem(word string) stemResult {
	w := strings.ToLower(word)
	if !isASCII(w) {
		w = foldAccents(w)
	}
	w = strings.TrimSuffix(w, "'s")
	w = strings.ReplaceAll(w, "'", "")
	if w == "" {
		return stemResult{}
	}
	if strings.IndexFunc(w, func(r rune) bool { return !isDigit(r) }) < 0 {
		return stemResult{strings.Clone(w), Number}
	}
	if stopWords[w] {
		return stemResult{strings.Clone(w), Stop}
	}
	w = foldSpelling(w)
	s.env.SetCurrent(w)
	english.Stem(s.env)
	stem := s.env.Current()
	if stem == "" {
		stem = w
	}
	return stemResult{strings.Clone(stem), Word}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldAccents removes accents and decomposes compatibility forms ("ﬁ", "①").
func foldAccents(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ReplaceAll(s, "’", "'")) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// IsStopWord reports whether stem is a stop word, that is, whether Split returns it as a token of kind Stop.
func IsStopWord(stem string) bool { return stopWords[stem] }

// Package language recognizes the language of a text by its script and its function words. It needs no model and no
// download. It would rather return no language than a wrong one: names, tables of figures, code and logs have no
// language.
package language

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// English is the code of the language that the rules can read.
const English = "en"

// IsForeign reports whether a code returned by this package stands for a language other than English.
func IsForeign(code string) bool { return code != "" && code != English }

// Detect returns the ISO 639-1 code of a text's language, or "" if it can't be recognized.
func Detect(text string) string {
	var s Sample
	s.AddText(text)
	return s.Language()
}

// DetectEach returns the language of each passage of a document. If a passage's own text, such as a table row, is not
// enough to recognize the language, the passage gets the language of the passages before and after it, provided they
// agree.
func DetectEach(passages []string) []string {
	out := make([]string, len(passages))
	for i, p := range passages {
		out[i] = Detect(p)
	}
	before := ""
	for i := 0; i < len(out); {
		if out[i] != "" {
			before, i = out[i], i+1
			continue
		}
		end := i
		for end < len(out) && out[end] == "" {
			end++
		}
		around := before
		switch {
		case end == len(out): // at the end, the preceding passages decide
		case before == "":
			around = out[end]
		case before != out[end]:
			around = ""
		}
		for ; i < end; i++ {
			out[i] = around
		}
	}
	return out
}

// IsFunctionWord reports whether a lowercase word is one of a language's frequent words that carry no meaning of their
// own.
func IsFunctionWord(code, word string) bool {
	if content()[word] {
		return false
	}
	for _, l := range lookup()[word].languages {
		if functionWords[l].code == code {
			return true
		}
	}
	return false
}

// Sample collects the text whose language is to be recognized. The zero value is empty.
type Sample struct {
	words   int // number of words in Latin letters
	latin   int // number of Latin letters
	scripts []int
	telling []int
	counts  []wordCounts // by language, for languages in Latin letters
}

// wordCounts counts the function words of a language in a sample.
type wordCounts struct {
	share       float64 // a word that belongs to several languages counts in part for each
	own         float64 // without words that are also English; weak words count as half
	alsoEnglish float64
	first       string // the first word that isn't weak
	isDistinct  bool   // whether there are two different words that aren't weak
	hasAccents  bool   // whether there is a word with accented letters of the language
}

const (
	// maxSampleWords and maxSampleLetters limit a sample. Later text is ignored.
	maxSampleWords   = 50_000
	maxSampleLetters = 300_000
	// minScriptLetters is the minimum number of letters of another script. Letters of a script without word boundaries
	// count double, because each carries more information.
	minScriptLetters = 8
	// minWordShare is the minimum share of function words in a text. The actual share is 0.25 to 0.5 in most languages,
	// and about 0.12 in languages with long words.
	minWordShare = 0.06
	// minAdvantage is the minimum ratio between the numbers of function words in two languages, one of which is
	// English, for a text to be recognized as the language that has more of them.
	minAdvantage = 1.5
	weakWeight   = 0.5
	accentWeight = 0.3
)

// AddText adds a text to the sample.
func (s *Sample) AddText(text string) {
	text = norm.NFC.String(text) // PDFs may contain letters and their accents separately
	for start := 0; start < len(text) && !s.isFull(); {
		r, size := utf8.DecodeRuneInString(text[start:])
		if !unicode.IsLetter(r) {
			start += size
			continue
		}
		end := start
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
				break
			}
			end += size
		}
		if word := text[start:end]; !isCode(word) {
			s.addWord(strings.ToLower(word))
		}
		start = end
	}
}

func (s *Sample) isFull() bool { return s.words >= maxSampleWords || s.latin >= maxSampleLetters }

// isCode reports whether a word is short and in capitals, like "AU" in "AU-3", and therefore not counted as a function
// word.
func isCode(word string) bool {
	return len(word) <= 3 && word == strings.ToUpper(word) && word != strings.ToLower(word)
}

// addWord adds a lowercase word.
func (s *Sample) addWord(word string) {
	if s.counts == nil {
		s.counts, s.scripts, s.telling = make([]wordCounts, len(functionWords)), make([]int, len(scripts)), make([]int, len(tellingLetters))
	}
	if isOther := s.countLetters(word); isOther {
		return
	}
	s.words++
	w, known := lookup()[word]
	if !known {
		s.countAccents(word)
	}
	for _, l := range w.languages {
		c := &s.counts[l]
		c.share += w.weight / float64(len(w.languages))
		if w.isEnglish {
			c.alsoEnglish += w.weight
			continue
		}
		c.own += w.weight
		if !w.isWeak {
			c.isDistinct = c.isDistinct || c.first != "" && c.first != word
			c.first = word
		}
	}
}

// countAccents counts a word with accented letters for the languages that have all of them.
func (s *Sample) countAccents(word string) {
	if !strings.ContainsFunc(word, isAccented) {
		return
	}
	for i, l := range functionWords {
		if l.accents == "" || strings.ContainsFunc(word, func(r rune) bool { return isAccented(r) && !strings.ContainsRune(l.accents, r) }) {
			continue
		}
		s.counts[i].share += accentWeight
		s.counts[i].own += accentWeight
		s.counts[i].hasAccents = true
	}
}

func isAccented(r rune) bool { return r >= utf8.RuneSelf }

// countLetters counts the letters of a word by script and reports whether it has letters that aren't Latin.
func (s *Sample) countLetters(word string) (isOther bool) {
	for _, r := range word {
		if r < firstOtherLetter || unicode.Is(unicode.Latin, r) {
			s.latin++
			continue
		}
		for i := range scripts {
			if unicode.Is(scripts[i].letters, r) {
				s.scripts[i]++
				isOther = true
				break
			}
		}
		for i := range tellingLetters {
			if strings.ContainsRune(tellingLetters[i].letters, r) {
				s.telling[i]++
			}
		}
	}
	return isOther
}

// firstOtherLetter is the first letter of a script other than Latin.
const firstOtherLetter = 0x370

// Language returns the language of the sample, or "" if it can't be recognized.
func (s *Sample) Language() string {
	if s.counts == nil {
		return ""
	}
	if code := s.languageByScript(); code != "" {
		return code
	}
	best := 1
	for i := 2; i < len(s.counts); i++ {
		if s.counts[i].share > s.counts[best].share {
			best = i
		}
	}
	foreign, english := &s.counts[best], &s.counts[0]
	theirs, ours := foreign.own, english.alsoEnglish-foreign.alsoEnglish
	enough := max(2, minWordShare*float64(s.words))
	switch {
	case (foreign.isDistinct || foreign.first != "" && foreign.hasAccents) && theirs >= enough && theirs > minAdvantage*ours:
		return functionWords[best].code
	case english.alsoEnglish >= enough && ours > minAdvantage*theirs:
		return English
	}
	return ""
}

// languageByScript returns the language indicated by letters of a non-Latin script, or "" if there is none.
func (s *Sample) languageByScript() string {
	groups := map[string]int{}
	for i, n := range s.scripts {
		groups[scripts[i].group] += n
	}
	for i, n := range s.scripts {
		all := groups[scripts[i].group]
		weight := all
		if scripts[i].group == "han" {
			weight *= 2
		}
		// Chinese text occasionally contains kana for a foreign name; Japanese contains kana throughout.
		if all == 0 || weight < minScriptLetters || weight < s.latin || n*10 < all {
			continue
		}
		code, most := scripts[i].language, all/100 // one letter in a hundred can't be a coincidence
		for j, t := range tellingLetters {
			if t.script == scripts[i].group && s.telling[j] > most {
				code, most = t.code, s.telling[j]
			}
		}
		return code
	}
	return ""
}

// wordInfo describes a function word.
type wordInfo struct {
	languages         []int // indexes in functionWords
	isWeak, isEnglish bool
	weight            float64
}

// content returns contentWords as a set.
var content = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(contentWords) {
		out[w] = true
	}
	return out
})

var lookup = sync.OnceValue(func() map[string]wordInfo {
	out := map[string]wordInfo{}
	weak := map[string]bool{}
	for _, w := range strings.Fields(weakWords) {
		weak[w] = true
	}
	for i, l := range functionWords {
		for _, w := range strings.Fields(l.words) {
			one := out[w]
			if n := len(one.languages); n > 0 && one.languages[n-1] == i {
				continue
			}
			one.languages = append(one.languages, i)
			one.isEnglish = one.isEnglish || l.code == English
			one.isWeak = weak[w]
			if one.weight = 1; one.isWeak && !one.isEnglish {
				one.weight = weakWeight
			}
			out[w] = one
		}
	}
	return out
})

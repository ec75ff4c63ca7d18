package parse

import (
	"strings"
	"unicode"
)

// stopWords are frequent small words that few of the other languages share.
var stopWords = map[string][]string{
	"en": {"the", "and", "of", "to", "is", "that", "for", "with", "are", "must", "be", "by", "this", "all", "or", "shall", "not", "from", "any"},
	"de": {"der", "die", "das", "und", "ist", "nicht", "von", "mit", "für", "werden", "auf", "eine", "den", "dem", "sind", "zu", "müssen", "oder", "wird", "des"},
	"fr": {"le", "les", "des", "et", "est", "une", "du", "dans", "pour", "sont", "que", "par", "aux", "doit", "doivent", "ou", "sur", "avec", "ces", "cette"},
	"es": {"el", "los", "las", "y", "del", "una", "por", "para", "con", "que", "se", "deben", "debe", "es", "son", "su", "sus", "como", "al", "esta"},
	"pt": {"os", "as", "e", "do", "da", "dos", "das", "uma", "para", "com", "que", "não", "são", "devem", "deve", "ser", "ou", "ao", "pela", "pelo"},
	"it": {"il", "gli", "della", "di", "che", "per", "con", "sono", "una", "dei", "delle", "nel", "deve", "devono", "ed", "alla", "è", "le", "essere", "da"},
	"nl": {"het", "een", "van", "en", "niet", "zijn", "voor", "met", "op", "worden", "moet", "moeten", "dat", "aan", "wordt", "bij", "ook", "deze", "of", "de"},
}

var languages = []string{"en", "de", "fr", "es", "pt", "it", "nl"}

const languageWords = 4000 // words looked at; more say nothing new

// guessLanguage counts stop words. "und" where too few words, or no language stands out.
func guessLanguage(blocks []Block) string {
	which := map[string][]int{}
	for i, lang := range languages {
		for _, w := range stopWords[lang] {
			which[w] = append(which[w], i)
		}
	}
	score := make([]float64, len(languages))
	words := 0
	for _, b := range blocks {
		for _, w := range strings.FieldsFunc(b.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			words++
			langs := which[strings.ToLower(w)]
			for _, i := range langs {
				score[i] += 1 / float64(len(langs))
			}
		}
		if words >= languageWords {
			break
		}
	}
	best, second := 0, 0.0
	for i := range score {
		if score[i] > score[best] {
			best = i
		}
	}
	for i := range score {
		if i != best {
			second = max(second, score[i])
		}
	}
	if words < 5 || score[best] < 2 || score[best] < float64(words)*0.05 || score[best] < second*1.2 {
		return "und"
	}
	return languages[best]
}

package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/internal/lazyregexp"
)

// UnreadableNotice is the limitation stated for a text in an unsupported language.
const UnreadableNotice = "The text seems to be in a language other than English. The rules only read English, so a person who " +
	"speaks the language has to review this."

var (
	lettersPattern = lazyregexp.New(`\pL+`)
	englishWords   = wordSet(
		"the of and to in is are a an for with on by not we our be as at from or that this it has have was were will all no which who",
	)
	foreignWords = wordSet(
		"der die das und nicht mit für von den dem ein eine wird werden sind ist auf zu im des le la les et pour une dans est sont sur par du " +
			"el los las y en que con una del se al il di che e non per della sono het een van met niet voor zijn wordt de o os " +
			"um uma não com dos são",
	)
)

func wordSet(s string) map[string]bool { return toSet(strings.Fields(s)) }

// isNonEnglishProse reports whether a text is prose in another language: in another script, or with
// the function words of another language and hardly any English ones. Word lists and logs have
// neither.
func isNonEnglishProse(s string) bool {
	s = s[:min(len(s), 20000)]
	latin, other := 0, 0
	for _, r := range s {
		switch {
		case r == utf8.RuneError || !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		default:
			other++
		}
	}
	if other >= 4 && other*3 > latin+other {
		return true
	}
	ours, theirs := 0, 0
	for _, w := range lettersPattern.FindAllString(strings.ToLower(s), -1) {
		if englishWords[w] {
			ours++
		}
		if foreignWords[w] {
			theirs++
		}
	}
	return theirs >= 3 && theirs > 2*ours
}

// noteNonEnglishText adds the limitation if any text is in an unsupported language, and reports
// whether one is.
func noteNonEnglishText(limits *[]string, signs *Indicators, texts ...string) bool {
	for _, s := range texts {
		if isNonEnglishProse(s) {
			*limits = append(*limits, UnreadableNotice)
			signs.add("language", truncate(s, 80), "not in English: the verdict is cautious")
			return true
		}
	}
	return false
}

package words

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/scf-service/service/internal/language"
)

// foreignStemmers holds the stemmers of languages other than English, by ISO 639-1 code. Words in
// languages without a stemmer are compared unchanged.
var foreignStemmers = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem, "hu": hungarian.Stem,
	"it": italian.Stem, "nb": norwegian.Stem, "nl": dutch.Stem, "pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem,
	"sv": swedish.Stem, "tr": turkish.Stem,
}

// ForeignStems returns the stems of a text in a language other than English, without its function
// words. Each begins with the code of the language, so that stems of different languages are never
// equal. Text in scripts without spaces is split into pairs of letters.
func ForeignStems(code, text string) []string {
	var out []string
	stem := foreignStemmers[code]
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWordRune(r) }) {
		if len(w) > maxWord || language.IsFunctionWord(code, w) {
			continue
		}
		if letters := []rune(w); strings.ContainsFunc(w, isUnspaced) {
			for i := 0; i+2 <= len(letters); i++ {
				out = append(out, code+":"+string(letters[i:i+2]))
			}
			continue
		}
		if stem != nil {
			env := snowballstem.NewEnv(w)
			stem(env)
			w = env.Current()
		}
		if w != "" {
			out = append(out, code+":"+w)
		}
	}
	return out
}

// isUnspaced reports whether a letter belongs to a script that is written without spaces between words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

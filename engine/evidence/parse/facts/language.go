package facts

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// stopWords lists, for each language, frequent short words that are rare in the others.
var stopWords = map[string][]string{
	"en": {
		"the",
		"and",
		"of",
		"to",
		"is",
		"that",
		"for",
		"with",
		"are",
		"must",
		"be",
		"by",
		"this",
		"all",
		"or",
		"shall",
		"not",
		"from",
		"any",
	},
	"de": {
		"der",
		"die",
		"das",
		"und",
		"ist",
		"nicht",
		"von",
		"mit",
		"für",
		"werden",
		"auf",
		"eine",
		"den",
		"dem",
		"sind",
		"zu",
		"müssen",
		"oder",
		"wird",
		"des",
	},
	"fr": {
		"le",
		"les",
		"des",
		"et",
		"est",
		"une",
		"du",
		"dans",
		"pour",
		"sont",
		"que",
		"par",
		"aux",
		"doit",
		"doivent",
		"ou",
		"sur",
		"avec",
		"ces",
		"cette",
	},
	"es": {
		"el",
		"los",
		"las",
		"y",
		"del",
		"una",
		"por",
		"para",
		"con",
		"que",
		"se",
		"deben",
		"debe",
		"es",
		"son",
		"su",
		"sus",
		"como",
		"al",
		"esta",
	},
	"pt": {
		"os",
		"as",
		"e",
		"do",
		"da",
		"dos",
		"das",
		"uma",
		"para",
		"com",
		"que",
		"não",
		"são",
		"devem",
		"deve",
		"ser",
		"ou",
		"ao",
		"pela",
		"pelo",
	},
	"it": {
		"il",
		"gli",
		"della",
		"di",
		"che",
		"per",
		"con",
		"sono",
		"una",
		"dei",
		"delle",
		"nel",
		"deve",
		"devono",
		"ed",
		"alla",
		"è",
		"le",
		"essere",
		"da",
	},
	"pl": {"w", "nie", "się", "jest", "oraz", "są", "dla", "przez", "od", "lub", "które", "musi", "muszą", "być", "jako", "ich"},
	"sv": {"och", "att", "som", "är", "inte", "av", "för", "ska", "eller", "från", "på", "till", "ett", "vid", "måste"},
	"da": {"og", "af", "ikke", "er", "skal", "eller", "på", "til", "fra", "ved", "bliver", "hver"},
	"fi": {"ja", "ei", "ovat", "että", "tai", "sekä", "mukaan", "kun", "voi", "ole", "myös", "kaikki"},
	"cs": {"je", "jsou", "nebo", "být", "musí", "podle", "která", "které", "ve", "při", "není"},
	"tr": {"ve", "bir", "bu", "için", "ile", "olarak", "veya", "olan", "değil", "tarafından", "gibi", "tüm"},
	"nl": {
		"het",
		"een",
		"van",
		"en",
		"niet",
		"zijn",
		"voor",
		"met",
		"op",
		"worden",
		"moet",
		"moeten",
		"dat",
		"aan",
		"wordt",
		"bij",
		"ook",
		"deze",
		"of",
		"de",
	},
}

var languages = []string{"en", "de", "fr", "es", "pt", "it", "nl", "pl", "sv", "da", "fi", "cs", "tr"}

// scripts lists scripts that identify a language, or at least show that a text isn't in English. If a text uses
// several scripts of the same group, the one listed first identifies the language.
var scripts = []struct {
	language string
	of       *unicode.RangeTable
	group    string
}{
	{"ja", unicode.Hiragana, "han"},
	{"ja", unicode.Katakana, "han"},
	{"ko", unicode.Hangul, "han"},
	{"zh", unicode.Han, "han"},
	{"ar", unicode.Arabic, "arabic"},
	{"he", unicode.Hebrew, "hebrew"},
	{"ru", unicode.Cyrillic, "cyrillic"},
	{"el", unicode.Greek, "greek"},
	{"hi", unicode.Devanagari, "devanagari"},
	{"th", unicode.Thai, "thai"},
}

// detectLanguageByScript returns the language whose script accounts for at least a third of the letters, or ""
// if there is none. A few letters, as in a name, are not enough.
func detectLanguageByScript(blocks []document.Block) string {
	letters, counts, groups := 0, make([]int, len(scripts)), map[string]int{}
	for _, b := range blocks {
		for _, r := range b.Text {
			if !unicode.IsLetter(r) {
				continue
			}
			letters++
			if r < 0x370 {
				continue // Latin
			}
			for i, s := range scripts {
				if unicode.Is(s.of, r) {
					counts[i]++
					groups[s.group]++
					break
				}
			}
		}
		if letters >= 6*maxLanguageWords {
			break
		}
	}
	for i, s := range scripts {
		// Chinese text occasionally contains kana for a foreign name; Japanese contains kana
		// throughout.
		if n := groups[s.group]; n >= 8 && n*3 >= letters && counts[i]*10 >= n {
			return s.language
		}
	}
	return ""
}

const maxLanguageWords = 4000 // number of words examined

// guessLanguage guesses a document's language, first by its script, then by counting stop words. It returns
// "und" if there are too few words or no language stands out.
func guessLanguage(blocks []document.Block) string {
	if byScript := detectLanguageByScript(blocks); byScript != "" {
		return byScript
	}
	languagesByWord := map[string][]int{}
	for i, lang := range languages {
		for _, w := range stopWords[lang] {
			languagesByWord[w] = append(languagesByWord[w], i)
		}
	}
	score := make([]float64, len(languages))
	words := 0
	for _, b := range blocks {
		for _, w := range strings.FieldsFunc(b.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			words++
			langs := languagesByWord[strings.ToLower(w)]
			for _, i := range langs {
				score[i] += 1 / float64(len(langs))
			}
		}
		if words >= maxLanguageWords {
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

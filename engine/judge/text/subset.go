package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DeniesOnlyForThingsOutside reports whether a sentence denies something only for particular things that are not
// among the concepts: "the microscopes have no antivirus", "there is no backup of the microscopes". Such a
// denial contradicts neither the control as a whole nor statements about other things.
func (s *Sentence) DeniesOnlyForThingsOutside(concepts ...[]Concept) bool {
	if s.IsTableRow || s.Denied == 0 {
		return false
	}
	words := splitWords(s.Text)
	for i, w := range words {
		if w.text != "no" || s.Denied&(1<<w.clause) == 0 {
			continue
		}
		first := slices.IndexFunc(words, func(o word) bool { return o.clause == w.clause })
		if prev := wordAt(words, i-1); isOneOf(prev, "have", "has", "had") && i-1 > first {
			return namesThingsOutside(s.Text, words[first:i-1], concepts)
		}
		for k := i + 2; k < len(words) && words[k].clause == w.clause && k <= i+maxSubsetWords; k++ {
			if p := words[k].text; isOneOf(p, "of", "for", "on", "in") {
				end := k + 1
				for end < len(words) && words[end].clause == w.clause && end <= k+maxSubsetWords {
					end++
				}
				return namesThingsOutside(s.Text, words[k+1:end], concepts)
			}
		}
	}
	return false
}

const maxSubsetWords = 4 // maximum number of words that name the things, and between "no" and its preposition

// namesThingsOutside reports whether words name particular things that are neither one of the concepts nor the
// organization as a whole.
func namesThingsOutside(text string, words []word, concepts [][]Concept) bool {
	if len(words) < 2 ||
		!isOneOf(words[0].text, "the", "these", "those", "two", "some") {
		return false
	}
	things := 0
	for i, w := range words[1:] {
		if stopWords[w.text] || strings.HasSuffix(w.text, "ly") {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[w.start:]); unicode.IsUpper(r) || organizationWideWords[w.text] ||
			namesAny(words[i+1:i+2], concepts...) {
			return false // a name may be the organization's own
		}
		things++
	}
	return things > 0
}

// organizationWideWords are words for the organization, or for things found throughout it.
var organizationWideWords = wordSet(
	`organization organisation company firm business enterprise group agency authority institution association team staff people employees personnel
users management board system systems data network networks environment devices device assets equipment software applications services service information infrastructure
policy policies procedure procedures document documents moment time year future whole place`,
)

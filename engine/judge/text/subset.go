package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DeniesSubset: what a sentence denies, it denies of certain things that the control doesn't speak of: "the
// microscopes have no antivirus", "there is no backup of the microscopes". The control as a whole, and what
// is said of other things, stand.
func (s *Sentence) DeniesSubset(concepts ...[]Concept) bool {
	if s.IsTableRow || s.Denied == 0 {
		return false
	}
	words := splitWords(s.Text)
	for i, w := range words {
		if w.text != "no" || s.Denied&(1<<w.clause) == 0 {
			continue
		}
		first := slices.IndexFunc(words, func(o word) bool { return o.clause == w.clause })
		if has := wordAt(words, i-1); oneOf(has, "have", "has", "had") && i-1 > first {
			return namesSubset(s.Text, words[first:i-1], concepts)
		}
		for k := i + 2; k < len(words) && words[k].clause == w.clause && k <= i+maxSubsetWords; k++ {
			if p := words[k].text; oneOf(p, "of", "for", "on", "in") {
				end := k + 1
				for end < len(words) && words[end].clause == w.clause && end <= k+maxSubsetWords {
					end++
				}
				return namesSubset(s.Text, words[k+1:end], concepts)
			}
		}
	}
	return false
}

const maxSubsetWords = 4 // words of a thing and of what it is

// namesSubset: words name certain things, and none that the control speaks of or that stands for everything.
func namesSubset(text string, words []word, concepts [][]Concept) bool {
	if len(words) < 2 ||
		!oneOf(words[0].text, "the", "these", "those", "two", "some") {
		return false
	}
	n := 0
	for i, w := range words[1:] {
		if stopWords[w.text] || strings.HasSuffix(w.text, "ly") {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[w.start:]); unicode.IsUpper(r) || organizationWideWords[w.text] ||
			namesAny(words[i+1:i+2], concepts...) {
			return false // a name may be the organization's own
		}
		n++
	}
	return n > 0
}

// organizationWideWords are words for the whole of what an organization has.
var organizationWideWords = wordSet(
	`organization organisation company firm business enterprise group agency authority institution association team staff people employees personnel
users management board system systems data network networks environment devices device assets equipment software applications services service information infrastructure
policy policies procedure procedures document documents moment time year future whole place`,
)

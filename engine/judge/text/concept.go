package text

import (
	"slices"
	"sync"
)

// Concept is a concept that occurs in a text.
type Concept struct {
	ID          uint64
	Weight      float64  // how specific it is; see WeightGeneral
	IsAction    bool     // names an action, such as "review"
	Name        string   // as written in the text
	firstWord   int      // index of its first word in the text
	Alternative int      // number of the "or" it belongs to, from 1; 0 if none
	AfterOr     bool     // after that "or"
	Parts       []uint64 // the words of a phrase, which may occur separately ("rights of access")
}

// onlyStopWords reports whether words consist only of stop words, such as "their own".
func onlyStopWords(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !stopWords[w.text] || w.stem == "IT" })
}

var recurrenceConcepts = wordSet("annual quarter month week daili") // the concepts of annual, quarterly, …

// Concepts returns the concepts in a text, in text order: those of the longest phrases, and those of the words outside
// these phrases.
func Concepts(text string) []Concept { return findConcepts(text, splitWords(text)) }

func findConcepts(text string, words []word) []Concept {
	l := sharedLexicon()
	var out []Concept
	seen := make(map[uint64]bool)
	add := func(name string, from, to int, weight float64) {
		id := hashTerm(name)
		if seen[id] {
			return
		}
		seen[id] = true
		a := Concept{
			ID:        id,
			firstWord: from,
			Weight:    weight,
			IsAction:  l.actions[name],
			Name:      CollapseSpace(text[words[from].start:words[to].end]),
		}
		if to > from {
			for _, w := range words[from : to+1] {
				if !stopWords[w.text] {
					a.Parts = append(a.Parts, hashTerm(l.concept(w.stem)))
				}
			}
		}
		out = append(out, a)
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if phrase, n := l.longestPhrase(words, i); n > 0 && !onlyStopWords(words[i:i+n]) {
			if recurrenceConcepts[phrase] {
				i += n - 1
				continue // compared as a quantity
			}
			add(phrase, i, i+n-1, l.weightOf(phrase)*(1+0.25*float64(min(n, 3)-1)))
			i += n - 1
			continue
		}
		if positive := negatedForms[w.text]; positive != "" {
			add(l.concept(positive), i, i, 1)
			continue
		}
		if stopWords[w.text] || len(w.stem) < 2 {
			continue
		}
		if _, isNumber := parseNumber(w.text); isNumber {
			continue // compared as a quantity
		}
		own := l.concept(w.stem)
		add(own, i, i, l.weightOf(own))
	}
	markAlternatives(out, text, words)
	return out
}

// markAlternatives marks concepts joined by "or" as alternatives if at least one of them is hyphenated
// ("real-time or behavior-based").
func markAlternatives(terms []Concept, text string, words []word) {
	hyphenated := func(i int) bool { // words i and i+1
		return i >= 0 && i+1 < len(words) && text[words[i].end:words[i+1].start] == "-"
	}
	n := 0
	for k := 1; k+1 < len(words); k++ {
		if words[k].text != "or" {
			continue
		}
		from, to := k-1, k+1
		for hyphenated(from - 1) {
			from--
		}
		for hyphenated(to) {
			to++
		}
		if to-from == 2 {
			continue // if two plain words are joined by "or", often both are required
		}
		n++
		for i := range terms {
			if t := &terms[i]; t.firstWord >= from && t.firstWord <= to {
				t.Alternative, t.AfterOr = n, t.firstWord > k
			}
		}
	}
}

// FindIn finds the concept, or all the words of its phrase, in a sentence.
func (a *Concept) FindIn(s *Sentence) (Term, bool) {
	t, ok := s.FindTerm(a.ID)
	if ok || len(a.Parts) < 2 {
		return t, ok
	}
	for _, p := range a.Parts {
		if t, ok = s.FindTerm(p); !ok {
			return Term{}, false
		}
	}
	t.Credit *= CreditBroader
	return t, true
}

// CountSharedConcepts returns the number of concepts that occur in both texts, not counting general ones.
func CountSharedConcepts(textA, textB string) (n int) {
	target := newSentenceWithoutStance(splitWords(textB))
	for _, a := range Concepts(textA) {
		if _, there := a.FindIn(target); there && a.Weight > WeightGeneral {
			n++
		}
	}
	return n
}

// emptyConcepts returns the concepts that have no meaning as the object of a denial, such as
// "done", "performed" and "in place".
var emptyConcepts = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for name, w := range sharedLexicon().weights {
		if w <= WeightGeneral {
			m[hashTerm(name)] = true
		}
	}
	for _, w := range append([]string{
		"run", "held", "ever", "never", "none", "nobody", "nothing", "far",
		"new", "people",
	}, retractionWords...) {
		m[ConceptID(w)] = true
	}
	return m
})

// documentNouns returns the concepts for kinds of documents. They are treated specially: for
// example, the fact that a policy states something doesn't show that the policy was approved.
var documentNouns = sync.OnceValue(func() map[uint64]bool {
	m := make(map[uint64]bool)
	for _, w := range []string{"policy", "procedure", "plan", "standard", "document", "register", "program", "contract"} {
		m[ConceptID(w)] = true
	}
	return m
})

// IsUninformativeConcept reports whether a concept has no meaning as the object of a denial, such as "done".
func IsUninformativeConcept(conceptID uint64) bool { return emptyConcepts()[conceptID] }

// IsDocumentNoun reports whether a concept is a kind of document.
func IsDocumentNoun(conceptID uint64) bool { return documentNouns()[conceptID] }

// newSentenceWithoutStance returns a sentence with the given words and without a stance.
func newSentenceWithoutStance(words []word) *Sentence {
	s := &Sentence{Terms: extractTerms(words, Stance{}), stems: hashStems(words)}
	s.termFilter = newBloomFilter(s.Terms)
	return s
}

// ConceptAndBroaderIDs returns the sorted IDs of the concepts that the phrases and words of a text name, and of
// broader concepts.
func ConceptAndBroaderIDs(text string) []uint64 {
	terms := extractTerms(splitWords(text), Stance{})
	out := make([]uint64, 0, len(terms))
	for _, t := range terms {
		out = append(out, t.ID)
	}
	return out
}

// PhraseConcepts returns the concept of a phrase. If the phrase isn't in the lexicon, it returns the concepts of
// its words, without stop words.
func PhraseConcepts(text string) (ids []uint64) {
	l, words := sharedLexicon(), splitWords(text)
	if phrase, n := l.longestPhrase(words, 0); n == len(words) {
		return []uint64{hashTerm(phrase)}
	}
	for _, w := range words {
		if !stopWords[w.text] && len(w.stem) > 1 {
			ids = append(ids, hashTerm(l.concept(w.stem)))
		}
	}
	return ids
}

// namesAny reports whether words name a concept from any of the groups, or a single word of a concept that is a
// phrase.
func namesAny(words []word, groups ...[]Concept) bool {
	terms := extractTerms(words, Stance{})
	has := func(id uint64) bool { _, ok := searchTerms(terms, id); return ok }
	for _, group := range groups {
		for _, a := range group {
			if has(a.ID) || slices.ContainsFunc(a.Parts, has) {
				return true
			}
		}
	}
	return false
}

// BestCredit returns the highest credit that a word in the window gets for the concept, or 0 if there is none.
func (a *Concept) BestCredit(window []*Sentence) float64 {
	best := 0.0
	for _, s := range window {
		if t, ok := a.FindIn(s); ok {
			best = max(best, t.Credit)
		}
	}
	return best
}

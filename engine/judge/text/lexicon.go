package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon holds the concepts of information security: their synonyms, broader and similar concepts, and weights.
// It is parsed once from lexicon.txt and never changes afterwards.
type lexicon struct {
	phrases map[string][]phrase // by first stem, longest first
	broader map[string][]string // broader concepts of a concept
	similar map[string][]string // concepts that a concept may represent
	related map[string][]Term   // broader and similar concepts, with their credit
	weights map[string]float64  // weights of general and common concepts
	actions map[string]bool     // concepts that are actions
}

// phrase is a word or phrase that names a concept.
type phrase struct {
	key     string // the stems, joined with spaces
	stems   []string
	concept string
}

// Weights of concepts, and credits for related terms. Rare words show what a statement is about,
// while general ones occur everywhere. The weights are fixed, so adding or removing a document
// doesn't change how others are assessed.
const (
	WeightGeneral = 0.25
	WeightCommon  = 0.6
	WeightFull    = 1.0
	CreditBroader = 0.85 // credit of a word for something narrower than the concept
	creditSimilar = 0.7  // credit of a word that may represent the concept
)

// sharedLexicon returns the lexicon parsed from lexicon.txt.
var sharedLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		phrases: make(map[string][]phrase),
		broader: make(map[string][]string),
		similar: make(map[string][]string),
		related: make(map[string][]Term),
		weights: make(map[string]float64),
		actions: make(map[string]bool),
	}
	key := func(s string) string { // returns the stems of the words in s
		var stems []string
		for _, w := range splitWords(s) {
			stems = append(stems, w.stem)
		}
		return strings.Join(stems, " ")
	}
	section := ""
	for line := range strings.Lines(lexiconText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case section == "same":
			variants := strings.Split(line, "|")
			concept := key(variants[0])
			for _, v := range variants {
				stems := strings.Split(key(v), " ")
				l.phrases[stems[0]] = append(l.phrases[stems[0]], phrase{key: strings.Join(stems, " "), stems: stems, concept: concept})
			}
		case section == "kinds":
			narrower, broader, _ := strings.Cut(line, ">")
			for n := range strings.SplitSeq(narrower, "|") {
				for w := range strings.SplitSeq(broader, "|") {
					l.broader[l.concept(key(n))] = append(l.broader[l.concept(key(n))], l.concept(key(w)))
				}
			}
		case section == "near":
			var group []string
			for v := range strings.SplitSeq(line, "|") {
				k := key(v)
				c := l.concept(k)
				if c == k && strings.Contains(k, " ") { // the phrase is a separate concept
					stems := strings.Split(k, " ")
					l.phrases[stems[0]] = append(l.phrases[stems[0]], phrase{key: k, stems: stems, concept: k})
				}
				group = append(group, c)
			}
			for _, c := range group[1:] {
				if c != group[0] && !slices.Contains(l.similar[c], group[0]) {
					l.similar[c] = append(l.similar[c], group[0])
				}
			}
		case section == "general" || section == "common":
			w := WeightGeneral
			if section == "common" {
				w = WeightCommon
			}
			for _, f := range splitWords(line) {
				l.weights[l.concept(f.stem)] = w
			}
		case section == "actions":
			for _, f := range splitWords(line) {
				l.actions[l.concept(f.stem)] = true
			}
		}
	}
	for concept, broader := range l.broader {
		for _, w := range broader {
			l.related[concept] = append(l.related[concept], Term{ID: hashTerm(w), Credit: CreditBroader})
		}
	}
	for concept, similar := range l.similar {
		for _, a := range similar {
			l.related[concept] = append(l.related[concept], Term{ID: hashTerm(a), Credit: creditSimilar})
		}
	}
	for first, ps := range l.phrases {
		sortByLength(ps)
		l.phrases[first] = ps
	}
	return l
})

// sortByLength sorts phrases by their number of stems, longest first. The sort is stable.
func sortByLength(ps []phrase) {
	for i := 1; i < len(ps); i++ {
		for j := i; j > 0 && len(ps[j].stems) > len(ps[j-1].stems); j-- {
			ps[j], ps[j-1] = ps[j-1], ps[j]
		}
	}
}

// concept returns the concept that a key names. A key is one or more stems joined by spaces. If the key is not
// in the lexicon, concept returns the key itself.
func (l *lexicon) concept(key string) string {
	first, _, _ := strings.Cut(key, " ")
	for _, p := range l.phrases[first] {
		if p.key == key {
			return p.concept
		}
	}
	return key
}

// longestPhrase returns the concept of the longest phrase that begins at words[i], and the number of words in
// the phrase. If there is none, it returns "" and 0.
func (l *lexicon) longestPhrase(words []word, i int) (concept string, length int) {
	for _, p := range l.phrases[words[i].stem] {
		if i+len(p.stems) > len(words) {
			continue
		}
		same := true
		for k, s := range p.stems {
			if words[i+k].stem != s {
				same = false
				break
			}
		}
		if same {
			return p.concept, len(p.stems)
		}
	}
	return "", 0
}

// weightOf returns the weight of a concept.
func (l *lexicon) weightOf(concept string) float64 {
	if w, ok := l.weights[concept]; ok {
		return w
	}
	return WeightFull
}

// ConceptID returns the ID of the concept that a single word names.
func ConceptID(w string) uint64 {
	return hashTerm(sharedLexicon().concept(stemOf(w)))
}

package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon holds the field's equivalents. It is read once and never changes.
type lexicon struct {
	// phrases by their first stem, longest first.
	phrases map[string][]phrase
	broader map[string][]string // concept → what it is a kind of
	similar map[string][]string // concept → what may be meant by it, given the rest of the sentence
	related map[string][]Term   // both, for a sentence's concepts
	weights map[string]float64  // of concepts that tell less than others
	actions map[string]bool     // concepts that say what is done
}

type phrase struct {
	key     string // its stems, as concept is asked for them
	stems   []string
	concept string
}

// What a term tells. Rare words are what a statement is about; general ones are
// said everywhere. The list is fixed, so that one document more or less never
// changes how another is judged.
const (
	WeightGeneral = 0.25
	WeightCommon  = 0.6
	WeightFull    = 1.0
	CreditBroader = 0.85 // a sentence that names one kind of what the statement names
	creditSimilar = 0.7  // a word that may mean what the statement names
)

var sharedLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		phrases: make(map[string][]phrase),
		broader: make(map[string][]string),
		similar: make(map[string][]string),
		related: make(map[string][]Term),
		weights: make(map[string]float64),
		actions: make(map[string]bool),
	}
	key := func(s string) string { // one concept's name: the stems of its words
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
			narrow, wide, _ := strings.Cut(line, ">")
			for n := range strings.SplitSeq(narrow, "|") {
				for w := range strings.SplitSeq(wide, "|") {
					l.broader[l.concept(key(n))] = append(l.broader[l.concept(key(n))], l.concept(key(w)))
				}
			}
		case section == "near":
			var group []string
			for v := range strings.SplitSeq(line, "|") {
				k := key(v)
				c := l.concept(k)
				if c == k && strings.Contains(k, " ") { // a phrase of its own
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
	for concept, wide := range l.broader {
		for _, w := range wide {
			l.related[concept] = append(l.related[concept], Term{ID: hashTerm(w), Credit: CreditBroader})
		}
	}
	for concept, akin := range l.similar {
		for _, a := range akin {
			l.related[concept] = append(l.related[concept], Term{ID: hashTerm(a), Credit: creditSimilar})
		}
	}
	for first, ps := range l.phrases {
		sortByLength(ps)
		l.phrases[first] = ps
	}
	return l
})

func sortByLength(ps []phrase) {
	for i := 1; i < len(ps); i++ {
		for j := i; j > 0 && len(ps[j].stems) > len(ps[j-1].stems); j-- {
			ps[j], ps[j-1] = ps[j-1], ps[j]
		}
	}
}

// concept maps a key of stems to the concept it is a way of saying, or itself.
func (l *lexicon) concept(key string) string {
	first, _, _ := strings.Cut(key, " ")
	for _, p := range l.phrases[first] {
		if p.key == key {
			return p.concept
		}
	}
	return key
}

// longestPhrase returns the longest phrase that begins at words[i], and its length in words.
func (l *lexicon) longestPhrase(words []word, i int) (string, int) {
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

func (l *lexicon) weightOf(concept string) float64 {
	if w, ok := l.weights[concept]; ok {
		return w
	}
	return WeightFull
}

// ConceptID is the id of the concept that a word belongs to.
func ConceptID(w string) uint64 {
	return hashTerm(sharedLexicon().concept(stemOf(w)))
}

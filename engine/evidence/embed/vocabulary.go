package embed

import "sort"

const (
	minCount   = 2        // stems that occur only once in the corpus have no useful context
	maxVocab   = 60_000   // stems
	minBigram  = 5        // times two stems must follow each other
	minLift    = 8        // factor by which they must do so more often than by chance
	maxBigrams = 12_000   // the most frequent are kept
	maxTokens  = 20 << 20 // in all training texts together; exceeding it is an error
)

// vocabulary numbers the terms of a corpus: stems by frequency, then bigrams.
type vocabulary struct {
	terms      []string
	index      map[string]int32
	counts     []int // how often each term occurs in the corpus
	totalStems int
	stemCount  int // the first stemCount terms are stems
}

// newVocabulary returns a vocabulary of the stems that occur often enough, those in alwaysKeep, and frequent
// bigrams.
func newVocabulary(texts [][]string, alwaysKeep map[string]bool) *vocabulary {
	counts := make(map[string]int)
	total := 0
	for _, t := range texts {
		for _, s := range t {
			counts[s]++
		}
		total += len(t)
	}
	v := &vocabulary{index: make(map[string]int32), totalStems: total}
	for s, n := range counts {
		if n >= minCount || alwaysKeep[s] {
			v.terms = append(v.terms, s)
		}
	}
	sortByCount(v.terms, counts)
	v.terms = v.terms[:min(len(v.terms), maxVocab)]
	v.stemCount = len(v.terms)
	for _, t := range v.terms {
		v.index[t] = int32(len(v.index))
		v.counts = append(v.counts, counts[t])
	}
	v.addBigrams(texts)
	return v
}

// addBigrams adds pairs of stems that follow each other far more often than by chance.
func (v *vocabulary) addBigrams(texts [][]string) {
	pairs := make(map[[2]int32]int)
	for _, t := range texts {
		for i := 1; i < len(t); i++ {
			a, okA := v.index[t[i-1]]
			b, okB := v.index[t[i]]
			if okA && okB && a != b {
				pairs[[2]int32{a, b}]++
			}
		}
	}
	counts := make(map[string]int)
	var bigrams []string
	for p, n := range pairs {
		lift := float64(n-minBigram/2) * float64(v.totalStems) / (float64(v.counts[p[0]]) * float64(v.counts[p[1]]))
		if n >= minBigram && lift >= minLift {
			t := v.terms[p[0]] + " " + v.terms[p[1]]
			bigrams = append(bigrams, t)
			counts[t] = n
		}
	}
	sortByCount(bigrams, counts)
	for _, t := range bigrams[:min(len(bigrams), maxBigrams)] {
		v.index[t] = int32(len(v.terms))
		v.terms = append(v.terms, t)
		v.counts = append(v.counts, counts[t])
	}
}

func sortByCount(terms []string, counts map[string]int) {
	sort.Slice(terms, func(i, j int) bool {
		if counts[terms[i]] != counts[terms[j]] {
			return counts[terms[i]] > counts[terms[j]]
		}
		return terms[i] < terms[j]
	})
}

// stemIDs returns the IDs of the known stems in a text, in order, for counting co-occurrences.
func (v *vocabulary) stemIDs(stems []string) []int32 {
	out := make([]int32, 0, len(stems))
	for _, s := range stems {
		if id, ok := v.index[s]; ok {
			out = append(out, id)
		}
	}
	return out
}

// termIDs returns the IDs of the known stems and bigrams in a text, like Model.lookUpTerms.
func (v *vocabulary) termIDs(stems []string) []int32 {
	out := v.stemIDs(stems)
	for i := 1; i < len(stems); i++ {
		if id, ok := v.index[stems[i-1]+" "+stems[i]]; ok {
			out = append(out, id)
		}
	}
	return out
}

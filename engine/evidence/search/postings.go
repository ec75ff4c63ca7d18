package search

import (
	"math"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// postings is the keyword index. It maps each stem, number and code to the slots of the passages that contain
// it. Packed postings are decoded when a term is first needed.
type postings struct {
	terms        map[string]*termPostings
	mu           sync.Mutex // guards terms, for concurrent searches
	packed       []packedPostings
	totalUnits   float64
	passageCount int
}

// termPostings lists the passages that contain a term.
type termPostings struct {
	list      []posting
	liveCount int // live passages that contain the term
}

// posting is a passage that contains a stem.
type posting struct {
	slot   int32
	count  uint16
	length uint16 // of the passage, in units
}

// Common values for the constants of BM25.
const (
	saturation = 2.0
	lengthBias = 0.75
)

func newPostings() *postings { return &postings{terms: make(map[string]*termPostings)} }

// countNonStopStems counts how often each stem that isn't a stop word occurs in units. It also returns the
// total.
func countNonStopStems(units []words.Token) (map[string]int, int) {
	counts := make(map[string]int, len(units))
	total := 0
	for _, u := range units {
		if u.Kind != words.Stop {
			counts[u.Stem]++
			total++
		}
	}
	return counts, total
}

func (p *postings) add(slot int, units []words.Token) (length float32) {
	p.unpackAll()
	counts, total := countNonStopStems(units)
	for stem, n := range counts {
		h := p.terms[stem]
		if h == nil {
			h = &termPostings{}
			p.terms[stem] = h
		}
		h.list = append(
			h.list,
			posting{slot: int32(slot), count: uint16(min(n, math.MaxUint16)), length: uint16(min(total, math.MaxUint16))},
		)
		h.liveCount++
	}
	p.totalUnits += float64(total)
	p.passageCount++
	return float32(total)
}

// findTerm returns the postings of a term, or nil if no passage contains it.
func (p *postings) findTerm(stem string) *termPostings {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.terms[stem]; h != nil || len(p.packed) == 0 {
		return h
	}
	h := &termPostings{list: p.findInPacks(stem)}
	if h.liveCount = len(h.list); h.liveCount == 0 {
		return nil
	}
	p.terms[strings.Clone(stem)] = h
	return h
}

// findInPacks looks up a term in all packs, using two cores if there are many.
func (p *postings) findInPacks(stem string) []posting {
	hash := hashStem(stem)
	look := func(packs []packedPostings) (list []posting) {
		for i := range packs {
			list = packs[i].appendTermPostings(hash, stem, list)
		}
		return list
	}
	const many = 200
	if len(p.packed) < many {
		return look(p.packed)
	}
	half := len(p.packed) / 2
	var later []posting
	var wg sync.WaitGroup
	wg.Go(func() { later = look(p.packed[half:]) })
	list := look(p.packed[:half])
	wg.Wait()
	return append(list, later...)
}

// subtractPassageCounts subtracts a removed passage from the counts. Its postings remain until the index is
// compacted.
func (p *postings) subtractPassageCounts(length float32, units []words.Token) {
	p.unpackAll()
	counts, _ := countNonStopStems(units)
	for stem := range counts {
		if h := p.terms[stem]; h != nil { // nil if a pack is damaged
			h.liveCount--
		}
	}
	p.totalUnits -= float64(length)
	p.passageCount--
}

// inverseFrequency returns BM25's inverse document frequency, always positive.
func (p *postings) inverseFrequency(passagesWithTerm int) float32 {
	n := float64(p.passageCount)
	return float32(math.Log(1 + (n-float64(passagesWithTerm)+0.5)/(float64(passagesWithTerm)+0.5)))
}

// queryTerm is a term of a query with its postings and weight.
type queryTerm struct {
	list   []posting // empty if no passage contains the term
	weight float32
	count  float32 // number of occurrences in the query
}

// queryTerms returns the distinct terms of a query with their weights, and the total weight.
func (p *postings) queryTerms(units []words.Token, weight func(string) float64) (terms []queryTerm, worth float32) {
	seen := make(map[string]int, len(units))
	for _, u := range units {
		if u.Kind == words.Stop {
			continue
		}
		if i, ok := seen[u.Stem]; ok {
			terms[i].count++
			continue
		}
		t := queryTerm{count: 1, weight: p.inverseFrequency(0)}
		if h := p.findTerm(u.Stem); h != nil && h.liveCount > 0 {
			t.list, t.weight = h.list, p.inverseFrequency(h.liveCount)
		}
		if weight != nil && u.Kind == words.Word {
			t.weight *= float32(weight(u.Stem))
		}
		seen[u.Stem] = len(terms)
		terms = append(terms, t)
	}
	for i := range terms {
		terms[i].weight *= terms[i].count
		worth += terms[i].weight
	}
	return terms, worth
}

// addScores adds to each slot the share of the query's weight, from 0 to 1, that its passage covers. It uses
// BM25 without the factor k1+1.
func (p *postings) addScores(terms []queryTerm, totalWeight float32, to []float32) {
	if totalWeight == 0 || p.passageCount == 0 {
		return
	}
	mean := float32(p.totalUnits/float64(p.passageCount)) + 1e-9
	for _, t := range terms {
		w := t.weight / totalWeight
		for _, e := range t.list {
			f := float32(e.count)
			to[e.slot] += w * f / (f + saturation*(1-lengthBias+lengthBias*float32(e.length)/mean))
		}
	}
}

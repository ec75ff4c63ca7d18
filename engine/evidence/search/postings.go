package search

import (
	"math"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// postings is the keyword half: for each stem, number and code the slots that
// hold it. What came packed is looked up when a term is first asked for.
type postings struct {
	holdings map[string]*holding
	asked    sync.Mutex // of terms, for searches beside each other
	packed   []packedWords
	units    float64
	count    int
}

// holding is what holds a term.
type holding struct {
	list   []posting
	living int // passages that hold the term now
}

type posting struct {
	slot   int32
	times  uint16
	length uint16 // of the passage, in units
}

// BM25's usual constants.
const (
	saturation = 2.0
	lengthBias = 0.75
)

func newPostings() *postings { return &postings{holdings: make(map[string]*holding)} }

// tally counts the units of a passage that are searched by.
func tally(units []words.Token) (map[string]int, int) {
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

func (p *postings) add(slot int, units []words.Token) float32 {
	p.unpack()
	counts, total := tally(units)
	for stem, n := range counts {
		h := p.holdings[stem]
		if h == nil {
			h = &holding{}
			p.holdings[stem] = h
		}
		h.list = append(h.list, posting{int32(slot), uint16(min(n, math.MaxUint16)), uint16(min(total, math.MaxUint16))})
		h.living++
	}
	p.units += float64(total)
	p.count++
	return float32(total)
}

// find gives what holds a term, nil where nothing does.
func (p *postings) find(stem string) *holding {
	p.asked.Lock()
	defer p.asked.Unlock()
	if h := p.holdings[stem]; h != nil || len(p.packed) == 0 {
		return h
	}
	h := &holding{list: p.inPacks(stem)}
	if h.living = len(h.list); h.living == 0 {
		return nil
	}
	p.holdings[strings.Clone(stem)] = h
	return h
}

// inPacks looks a term up in all packs, on two cores where they are many.
func (p *postings) inPacks(stem string) []posting {
	hash := hashOf(stem)
	look := func(packs []packedWords) (list []posting) {
		for i := range packs {
			list = packs[i].find(hash, stem, list)
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

// remove forgets a passage's part in the counts; its postings stay, dead, until
// the index is tidied.
func (p *postings) remove(length float32, units []words.Token) {
	p.unpack()
	counts, _ := tally(units)
	for stem := range counts {
		if h := p.holdings[stem]; h != nil { // nil: a damaged pack
			h.living--
		}
	}
	p.units -= float64(length)
	p.count--
}

// rarity is BM25's inverse document frequency, always positive.
func (p *postings) rarity(living int) float32 {
	n := float64(p.count)
	return float32(math.Log(1 + (n-float64(living)+0.5)/(float64(living)+0.5)))
}

// term is a query term with what it is worth.
type term struct {
	list   []posting // empty: no passage holds it
	weight float32
	times  float32 // in the query
}

// terms gives the distinct units of a query with their worth, and the worth of
// all together.
func (p *postings) terms(units []words.Token, weight func(string) float64) (terms []term, worth float32) {
	seen := make(map[string]int, len(units))
	for _, u := range units {
		if u.Kind == words.Stop {
			continue
		}
		if i, ok := seen[u.Stem]; ok {
			terms[i].times++
			continue
		}
		t := term{times: 1, weight: p.rarity(0)}
		if h := p.find(u.Stem); h != nil && h.living > 0 {
			t.list, t.weight = h.list, p.rarity(h.living)
		}
		if weight != nil && u.Kind == words.Word {
			t.weight *= float32(weight(u.Stem))
		}
		seen[u.Stem] = len(terms)
		terms = append(terms, t)
	}
	for i := range terms {
		terms[i].weight *= terms[i].times
		worth += terms[i].weight
	}
	return terms, worth
}

// score adds to each slot the share, 0 to 1, of the query's worth that the
// passage covers, by BM25 without its factor of k1+1.
func (p *postings) score(terms []term, worth float32, to []float32) {
	if worth == 0 || p.count == 0 {
		return
	}
	mean := float32(p.units/float64(p.count)) + 1e-9
	for _, t := range terms {
		w := t.weight / worth
		for _, e := range t.list {
			f := float32(e.times)
			to[e.slot] += w * f / (f + saturation*(1-lengthBias+lengthBias*float32(e.length)/mean))
		}
	}
}

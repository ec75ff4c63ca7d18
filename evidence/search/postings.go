package search

import (
	"math"

	"github.com/scf-service/service/evidence/embed/words"
)

// postings is the keyword half: for each stem, number and code the slots that
// hold it, in the order in which they came.
type postings struct {
	number map[string]int
	lists  [][]posting
	living []int // passages that hold the term now
	units  float64
	count  int
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

func newPostings() postings { return postings{number: make(map[string]int)} }

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
	counts, total := tally(units)
	for _, u := range units { // in order of the text: term numbers don't hang on map order
		n := counts[u.Stem]
		if n == 0 {
			continue
		}
		counts[u.Stem] = 0
		t, ok := p.number[u.Stem]
		if !ok {
			t = len(p.lists)
			p.number[u.Stem] = t
			p.lists = append(p.lists, nil)
			p.living = append(p.living, 0)
		}
		p.lists[t] = append(p.lists[t], posting{int32(slot), uint16(min(n, math.MaxUint16)), uint16(min(total, math.MaxUint16))})
		p.living[t]++
	}
	p.units += float64(total)
	p.count++
	return float32(total)
}

// remove forgets a passage's part in the counts; its postings stay, dead, until
// the index is tidied.
func (p *postings) remove(length float32, units []words.Token) {
	counts, _ := tally(units)
	for stem := range counts {
		p.living[p.number[stem]]--
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
	list   int // -1: no passage holds it
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
		t := term{list: -1, times: 1, weight: p.rarity(0)}
		if n, ok := p.number[u.Stem]; ok && p.living[n] > 0 {
			t.list, t.weight = n, p.rarity(p.living[n])
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
		if t.list < 0 {
			continue
		}
		w := t.weight / worth
		for _, e := range p.lists[t.list] {
			f := float32(e.times)
			to[e.slot] += w * f / (f + saturation*(1-lengthBias+lengthBias*float32(e.length)/mean))
		}
	}
}

package embed

import (
	"sort"
	"strings"
	"sync"
)

// spellings finds known stems that are spelled like an unknown one ("microsegment" and "segment", "authentcate"
// and "authenticate").
type spellings struct {
	sizes []int // character n-grams per term
	grams map[string][]int32
	sums  *sync.Pool // of *gramCounts
}

// gramCounts counts, for each term, the n-grams it shares with a stem. All counts are 0 between uses.
type gramCounts struct {
	counts []uint16
	seen   []int32 // terms with a count above 0
}

// spellingCache caches the nearest terms of unknown stems, so that each stem is compared only once.
type spellingCache map[string][]weighted

const maxCachedSpellings = 4096

const (
	gramSize              = 4
	minSpellingSimilarity = 0.4 // minimum share of n-grams (Dice) of related stems
	maxNeighbors          = 5
	minShareOfBest        = 0.75 // minimum similarity relative to the best match
	maxPostings           = 2000 // an n-gram of more terms than this is not distinctive
)

func newSpellings(terms []string) spellings {
	s := spellings{sizes: make([]int, len(terms)), grams: make(map[string][]int32)}
	s.sums = &sync.Pool{New: func() any { return &gramCounts{counts: make([]uint16, len(terms))} }}
	for i, t := range terms {
		if strings.IndexByte(t, ' ') >= 0 {
			continue
		}
		grams := charGrams(t)
		s.sizes[i] = len(grams)
		for _, g := range grams {
			s.grams[g] = append(s.grams[g], int32(i))
		}
	}
	return s
}

// charGrams returns the distinct character n-grams of stem, with "<" and ">" marking its ends.
func charGrams(stem string) []string {
	runes := []rune("<" + stem + ">")
	if len(runes) <= gramSize {
		return []string{string(runes)}
	}
	var out []string
	seen := make(map[string]bool, len(runes))
	for i := 0; i+gramSize <= len(runes); i++ {
		if g := string(runes[i : i+gramSize]); !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}

// cachedNearestTerms returns the result of nearestTerms from the cache, computing it if necessary.
func (s *spellings) cachedNearestTerms(stem string, cache spellingCache) []weighted {
	near, ok := cache[stem]
	if !ok {
		if len(cache) >= maxCachedSpellings {
			clear(cache)
		}
		near = s.nearestTerms(stem)
		cache[stem] = near
	}
	return near
}

// nearestTerms returns the known terms whose spelling is closest to stem, with weights that sum to at most 1.
func (s *spellings) nearestTerms(stem string) []weighted {
	grams := charGrams(stem)
	shared, _ := s.sums.Get().(*gramCounts)
	defer s.sums.Put(shared)
	for _, g := range grams {
		if p := s.grams[g]; len(p) <= maxPostings {
			for _, id := range p {
				if shared.counts[id]++; shared.counts[id] == 1 {
					shared.seen = append(shared.seen, id)
				}
			}
		}
	}
	var out []weighted
	for _, id := range shared.seen {
		if dice := 2 * float32(shared.counts[id]) / float32(len(grams)+s.sizes[id]); dice >= minSpellingSimilarity {
			out = append(out, weighted{id, dice})
		}
		shared.counts[id] = 0
	}
	shared.seen = shared.seen[:0]
	sort.Slice(out, func(i, j int) bool {
		if out[i].weight != out[j].weight {
			return out[i].weight > out[j].weight
		}
		return out[i].term < out[j].term
	})
	out = out[:min(len(out), maxNeighbors)]
	for i := range out { // reduces weak matches: "unencrypted" resembles "encryptoin" but means the opposite
		if out[i].weight < minShareOfBest*out[0].weight {
			out = out[:i]
			break
		}
	}
	for i := range out {
		out[i].weight /= float32(len(out))
	}
	return out
}

package search

import (
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A long passage may answer the query in one sentence while the rest is about something else.
// Therefore, the best candidates are rescored piece by piece: the similarity of a passage is the
// mean of the similarity of the whole passage and that of its closest piece.
const (
	rerankCount       = 30 // number of candidates that are reranked
	pieceWords        = 25 // sentences are joined up to this many words
	maxPieces         = 64 // per passage
	maxCachedPassages = 1024
)

// subpassageVectors caches the vectors of the pieces of reranked passages.
type subpassageVectors struct {
	embed  func(texts []string) [][]float32
	mu     sync.Mutex
	cached map[int32][][]float32 // by slot; empty if the passage is a single piece
}

// vectorsFor returns the vectors of a passage's pieces, or none if the passage is a single piece.
func (c *subpassageVectors) vectorsFor(at int32, s *slot) [][]float32 {
	c.mu.Lock()
	vectors, ok := c.cached[at]
	c.mu.Unlock()
	if ok {
		return vectors
	}
	if texts := splitPieces(s.unpackPassage().Text); len(texts) > 1 {
		vectors = c.embed(texts)
		for _, v := range vectors {
			normalize(v)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cached) >= maxCachedPassages || c.cached == nil {
		c.cached = make(map[int32][][]float32)
	}
	c.cached[at] = vectors
	return vectors
}

func (c *subpassageVectors) clearCache() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached = nil
}

// splitPieces groups the sentences of text, in order, into pieces of up to pieceWords words.
func splitPieces(text string) []string {
	var out []string
	var from, to, words int
	for _, s := range splitIntoSnippets(text) {
		n := len(strings.Fields(text[s.Start:s.End]))
		if words > 0 && words+n > pieceWords {
			out = append(out, text[from:to])
			words = 0
		}
		if words == 0 {
			from = s.Start
		}
		to, words = s.End, words+n
	}
	if words > 0 {
		out = append(out, text[from:to])
	}
	return out[:min(len(out), maxPieces)]
}

// rerank rescores the best candidates piece by piece and sorts all of them. Without a query vector or an
// embedder, it does nothing.
func (x *Index) rerank(q Query, background Background, coverage []float32, best []candidate) {
	if q.Vector == nil || x.subpassages.embed == nil {
		return
	}
	parallelFor(min(rerankCount, len(best)), func(i int) {
		c := &best[i]
		s := &x.slots[c.slot]
		if c.cosine == 0 {
			return
		}
		nearest := float32(-1)
		for _, v := range x.subpassages.vectorsFor(c.slot, s) {
			if len(v) == len(q.Vector) {
				nearest = max(nearest, dot(q.Vector, v))
			}
		}
		if nearest > -1 {
			c.cosine = (c.cosine + nearest) / 2
			c.fusedScore = background.fuse(float64(c.cosine), coverage[c.slot]) + s.Prior
		}
	})
	slices.SortFunc(best, candidate.compare)
}

// parallelFor runs n independent tasks in parallel.
func parallelFor(n int, task func(i int)) {
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 8, n))
	run := 1 + n/(64*workers) // consecutive indexes per task, so that two cores rarely write to the same cache line
	for w := range workers {
		wg.Go(func() {
			for from := w * run; from < n; from += workers * run {
				for i := from; i < min(n, from+run); i++ {
					task(i)
				}
			}
		})
	}
	wg.Wait()
}

func (a candidate) compare(b candidate) int {
	switch {
	case a.ranksBefore(b):
		return -1
	case b.ranksBefore(a):
		return 1
	}
	return 0
}

// closestTextFunc returns a function that returns the index of the text closest to vector. It
// returns nil if there is no vector or no embedder.
func (x *Index) closestTextFunc(vector []float32) func(texts []string) int {
	if vector == nil || x.subpassages.embed == nil {
		return nil
	}
	return func(texts []string) int {
		nearest, at := float32(-2), 0
		for i, v := range x.subpassages.embed(texts) {
			if len(v) == len(vector) && normalize(v) {
				if c := dot(vector, v); c > nearest {
					nearest, at = c, i
				}
			}
		}
		return at
	}
}

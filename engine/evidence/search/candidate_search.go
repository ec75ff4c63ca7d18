package search

import (
	"container/heap"
	"context"
	"fmt"
	"runtime"
	"sync"
)

// candidateSearch finds the best candidates for one query: either by a parallel flat scan of all
// passages or, for searches without filters in a small index, among the nearest passages that
// chromem finds and those that share a word with the query.
type candidateSearch struct {
	index        *Index
	vector       []float32
	background   Background
	coverage     []float32
	exactMatches map[int32]int
	filter       func(n int) bool // nil: all
	limit        int
}

// findCandidates returns the passages that rank best by a first, fast score.
func (r *candidateSearch) findCandidates(ctx context.Context) (topCandidates, error) {
	x := r.index
	if r.vector == nil || x.vectors.dims == 0 {
		var t topCandidates
		for n := range x.filterRows {
			r.offerPassage(&t, n, 0)
		}
		return t, ctx.Err()
	}
	if r.filter == nil && !x.hasPriors && x.nearest != nil && len(x.slotByID) < x.options.FlatFrom {
		if t, sure, err := r.findNearestAndWordMatches(ctx); sure || err != nil {
			return t, err
		}
	}
	return r.scanAllBlocks(ctx)
}

// findNearestAndWordMatches finds the best candidates among the nearest passages, which chromem
// returns, and those that share a word with the query, because shared words can raise a passage's
// rank a lot. sure is false if chromem's passages may not be the nearest ones.
func (r *candidateSearch) findNearestAndWordMatches(ctx context.Context) (t topCandidates, sure bool, err error) {
	ids, sure, err := r.nearestWithSurplus(ctx, r.limit)
	if err != nil || !sure {
		return nil, false, err
	}
	isNear := make(map[int]bool, len(ids))
	for _, id := range ids {
		isNear[r.index.slotByID[id]] = true
	}
	for n := range r.index.filterRows {
		if isNear[n] || r.coverage[n] > 0 || r.exactMatches[int32(n)] > 0 {
			r.offerPassage(&t, n, dot(r.vector, r.index.vectors.row(n)))
		}
	}
	return t, true, nil
}

// scanAllBlocks finds the best candidates among all passages that pass the filters. Each worker has
// its own list; the result doesn't depend on how blocks are divided among workers.
func (r *candidateSearch) scanAllBlocks(ctx context.Context) (topCandidates, error) {
	f := &r.index.vectors
	look := r.scanBlock
	if f.coarse != nil {
		q := f.coarse.quantizeQuery(r.vector)
		look = func(t *topCandidates, b int) { r.scanQuantizedBlock(t, b, &q) }
	}
	tops := make([]topCandidates, min(runtime.GOMAXPROCS(0), 8))
	var wg sync.WaitGroup
	for w := range tops {
		wg.Go(func() {
			for b := w; b < len(f.blocks) && ctx.Err() == nil; b += len(tops) {
				look(&tops[w], b)
			}
		})
	}
	wg.Wait()
	all := tops[0]
	for _, t := range tops[1:] {
		for _, c := range t {
			all.offer(c, r.limit)
		}
	}
	return all, ctx.Err()
}

// scanBlock offers the passages of a block as candidates.
func (r *candidateSearch) scanBlock(t *topCandidates, b int) {
	f := &r.index.vectors
	from := b * blockRows
	for i := range min(blockRows, f.count-from) {
		if r.isLiveAndPassesFilter(from + i) {
			r.offerPassage(t, from+i, dot(r.vector, f.blocks[b][i*f.dims:(i+1)*f.dims]))
		}
	}
}

// scanQuantizedBlock is like scanBlock, but only scores passages that can still become candidates.
func (r *candidateSearch) scanQuantizedBlock(t *topCandidates, b int, q *quantizedQuery) {
	f := &r.index.vectors
	rows, from := f.coarse.blockFor(b, f.usedRows(b)), b*blockRows
	for i := range min(blockRows, f.count-from) {
		n := from + i
		if !r.isLiveAndPassesFilter(n) {
			continue
		}
		if rows.scale[i] == 0 {
			r.offerPassage(t, n, 0)
			continue
		}
		if len(*t) >= r.limit && r.ranksBehind(&(*t)[0], n, r.fusedScore(n, q.cosineUpperBound(rows, i))) {
			continue
		}
		r.offerPassage(t, n, dot(r.vector, f.blocks[b][i*f.dims:(i+1)*f.dims]))
	}
}

func (r *candidateSearch) isLiveAndPassesFilter(n int) bool {
	return r.index.filterRows[n].live && (r.filter == nil || r.filter(n))
}

// offerPassage adds a passage to the candidates if its score is high enough.
func (r *candidateSearch) offerPassage(t *topCandidates, n int, cosine float32) {
	if !r.isLiveAndPassesFilter(n) {
		return
	}
	held := r.exactMatchCount(n)
	if cosine == 0 && r.coverage[n] == 0 && held == 0 {
		return // neither a vector nor a word in common
	}
	fused := wordsOnlyDeviations * float64(r.coverage[n])
	if r.vector != nil {
		fused = r.fusedScore(n, float64(cosine))
	}
	if len(*t) >= r.limit && r.ranksBehind(&(*t)[0], n, fused) {
		return
	}
	t.offer(candidate{slot: int32(n), cosine: cosine, exactMatches: held, fusedScore: fused, id: r.index.slots[n].ID}, r.limit)
}

// fusedScore returns the score of passage n before calibration. It combines a cosine with the passage's coverage
// of the query's words and its prior.
func (r *candidateSearch) fusedScore(n int, cosine float64) float64 {
	return r.background.fuse(cosine, r.coverage[n]) + float64(r.index.filterRows[n].prior)
}

func (r *candidateSearch) exactMatchCount(n int) int {
	if len(r.exactMatches) == 0 {
		return 0
	}
	return r.exactMatches[int32(n)]
}

// ranksBehind reports whether passage n, given its fused score, ranks behind c regardless of the other criteria.
func (r *candidateSearch) ranksBehind(c *candidate, n int, fused float64) bool {
	held := r.exactMatchCount(n)
	return held < c.exactMatches || held == c.exactMatches && fused < c.fusedScore
}

// nearestWithSurplus asks chromem for more than k IDs. sure is false if the last additional passage is as close as the
// k-th, because chromem chooses arbitrarily among equally close passages.
func (r *candidateSearch) nearestWithSurplus(ctx context.Context, k int) (ids []string, sure bool, err error) {
	n := 2*k + 20
	ids, last, complete, err := r.index.nearest.nearestTo(ctx, r.vector, n)
	if err != nil {
		return nil, false, fmt.Errorf("nearest passages: %w", err)
	}
	if complete {
		return ids, true, nil
	}
	const rounding = 1e-5
	kth := dot(r.vector, r.index.vectors.row(r.index.slotByID[ids[k-1]]))
	return ids, kth-last > rounding, nil
}

// topCandidates is a heap of the best candidates, with the worst at the root.
type topCandidates []candidate

func (t topCandidates) Len() int           { return len(t) }
func (t topCandidates) Less(i, j int) bool { return t[j].ranksBefore(t[i]) }
func (t topCandidates) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *topCandidates) Push(c any)        { *t = append(*t, c.(candidate)) }
func (t *topCandidates) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// offer adds a candidate if it is among the k best.
func (t *topCandidates) offer(c candidate, k int) {
	switch {
	case len(*t) < k:
		heap.Push(t, c)
	case c.ranksBefore((*t)[0]):
		(*t)[0] = c
		heap.Fix(t, 0)
	}
}

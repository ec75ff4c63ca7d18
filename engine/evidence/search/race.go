package search

import (
	"container/heap"
	"context"
	"fmt"
	"runtime"
	"sync"
)

// race finds the best candidates for one query: all passages by flat scan, on several
// cores, or in a small index without filters the ones that chromem finds nearest and those
// that share a word.
type race struct {
	x        *Index
	vector   []float32
	ground   Background
	coverage []float32
	held     map[int32]int
	allowed  func(n int) bool // nil: all
	keep     int
}

func (r *race) run(ctx context.Context) (top, error) {
	x := r.x
	if r.vector == nil || x.vectors.dims == 0 {
		var t top
		for n := range x.marks {
			r.enter(&t, n, 0)
		}
		return t, ctx.Err()
	}
	if r.allowed == nil && !x.ahead && x.approach != nil && len(x.place) < x.options.FlatFrom {
		if t, sure, err := r.near(ctx); sure || err != nil {
			return t, err
		}
	}
	return r.scan(ctx)
}

// near asks chromem. Words move a passage far, but those that share none can only be
// overtaken: the nearest of them suffice.
func (r *race) near(ctx context.Context) (t top, sure bool, err error) {
	ids, sure, err := r.nearestIDs(ctx, r.keep)
	if err != nil || !sure {
		return nil, false, err
	}
	isNear := make(map[int]bool, len(ids))
	for _, id := range ids {
		isNear[r.x.place[id]] = true
	}
	for n := range r.x.marks {
		if isNear[n] || r.coverage[n] > 0 || r.held[int32(n)] > 0 {
			r.enter(&t, n, dot(r.vector, r.x.vectors.row(n)))
		}
	}
	return t, true, nil
}

// scan looks at every passage that is allowed. Each worker keeps its own best; who wins
// does not hang on who saw it.
func (r *race) scan(ctx context.Context) (top, error) {
	f := &r.x.vectors
	look := r.block
	if f.coarse != nil {
		q := f.coarse.query(r.vector)
		look = func(t *top, b int) { r.coarseBlock(t, b, &q) }
	}
	tops := make([]top, min(runtime.GOMAXPROCS(0), 8))
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
			all.offer(c, r.keep)
		}
	}
	return all, ctx.Err()
}

// block measures the passages of a block.
func (r *race) block(t *top, b int) {
	f := &r.x.vectors
	from := b * blockRows
	for i := range min(blockRows, f.count-from) {
		if r.passes(from + i) {
			r.enter(t, from+i, dot(r.vector, f.blocks[b][i*f.dims:(i+1)*f.dims]))
		}
	}
}

// coarseBlock does the same, and measures only those that can still come in.
func (r *race) coarseBlock(t *top, b int, q *coarseQuery) {
	f := &r.x.vectors
	rows, from := f.coarse.block(b, f.held(b)), b*blockRows
	for i := range min(blockRows, f.count-from) {
		n := from + i
		if !r.passes(n) {
			continue
		}
		if rows.scale[i] == 0 {
			r.enter(t, n, 0)
			continue
		}
		if len(*t) >= r.keep && r.behind(&(*t)[0], n, r.fused(n, q.upTo(rows, i))) {
			continue
		}
		r.enter(t, n, dot(r.vector, f.blocks[b][i*f.dims:(i+1)*f.dims]))
	}
}

func (r *race) passes(n int) bool { return r.x.marks[n].live && (r.allowed == nil || r.allowed(n)) }

// enter offers a passage.
func (r *race) enter(t *top, n int, cosine float32) {
	if !r.passes(n) {
		return
	}
	held := r.holds(n)
	if cosine == 0 && r.coverage[n] == 0 && held == 0 {
		return // no vector and no word: nothing speaks for it
	}
	fused := wordsAlone * float64(r.coverage[n])
	if r.vector != nil {
		fused = r.fused(n, float64(cosine))
	}
	if len(*t) >= r.keep && r.behind(&(*t)[0], n, fused) {
		return
	}
	t.offer(candidate{slot: int32(n), cosine: cosine, held: held, fused: fused, id: r.x.slots[n].ID}, r.keep)
}

// fused is what a closeness in meaning comes to with the words of passage n.
func (r *race) fused(n int, cosine float64) float64 {
	return r.ground.fuse(cosine, r.coverage[n]) + float64(r.x.marks[n].prior)
}

func (r *race) holds(n int) int {
	if len(r.held) == 0 {
		return 0
	}
	return r.held[int32(n)]
}

// behind reports that passage n comes after a candidate even where they are equal in all else.
func (r *race) behind(c *candidate, n int, fused float64) bool {
	held := r.holds(n)
	return held < c.held || held == c.held && fused < c.fused
}

// nearestIDs asks chromem for more than the k that count. It isn't sure when the surplus is
// as close as the last that counts: which of equals it keeps is chance there.
func (r *race) nearestIDs(ctx context.Context, k int) (ids []string, sure bool, err error) {
	n := 2*k + 20
	ids, last, complete, err := r.x.approach.near(ctx, r.vector, n)
	if err != nil {
		return nil, false, fmt.Errorf("nearest passages: %w", err)
	}
	if complete {
		return ids, true, nil
	}
	const rounding = 1e-5
	kth := dot(r.vector, r.x.vectors.row(r.x.place[ids[k-1]]))
	return ids, kth-last > rounding, nil
}

// top keeps the best candidates, the worst of them at the root.
type top []candidate

func (t top) Len() int           { return len(t) }
func (t top) Less(i, j int) bool { return t[j].before(t[i]) }
func (t top) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *top) Push(c any)        { *t = append(*t, c.(candidate)) }
func (t *top) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func (t *top) offer(c candidate, k int) {
	switch {
	case len(*t) < k:
		heap.Push(t, c)
	case c.before((*t)[0]):
		(*t)[0] = c
		heap.Fix(t, 0)
	}
}

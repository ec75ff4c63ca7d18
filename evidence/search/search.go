package search

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/scf-service/service/evidence/embed/words"
)

// Query is what is looked for. Empty filters let everything pass.
type Query struct {
	Text         string
	Vector       []float32 // of Text, by the embedder of the passages; nil: by words only
	AssessmentID string
	DocumentIDs  []string // any of these
	Category     string
	TopK         int     // 0 for 10
	MinScore     float64 // 0 to 1
	NoHighlights bool    // spares the time they take, for those who read the passages anyway
}

// Result is a passage with its score.
type Result struct {
	ID         string
	Score      float64 // 0 to 1, comparable between queries and indexes
	Semantic   float64 // 0 to 1: closeness of meaning above that of unrelated text
	Keyword    float64 // 0 to 1: share of the query's worth that the words cover
	Highlights []Highlight
}

// ErrQuery is wrapped by the errors of Search about the query itself.
var ErrQuery = errors.New("search can't be run")

const (
	defaultTopK = 10
	maxTopK     = 1000
	maxQuery    = 64 << 10 // bytes of text
)

func (x *Index) check(q *Query) error {
	if q.TopK == 0 {
		q.TopK = defaultTopK
	}
	switch {
	case q.TopK < 0 || q.TopK > maxTopK:
		return fmt.Errorf("%w: top_k must be 1 to %d, not %d", ErrQuery, maxTopK, q.TopK)
	case !(q.MinScore >= 0 && q.MinScore <= 1):
		return fmt.Errorf("%w: min_score must be 0 to 1, not %v", ErrQuery, q.MinScore)
	case len(q.Text) > maxQuery:
		return fmt.Errorf("%w: the query is longer than %d bytes", ErrQuery, maxQuery)
	}
	if len(q.Vector) == 0 {
		return nil
	}
	v := append([]float32(nil), q.Vector...)
	for _, f := range v {
		if f64 := float64(f); math.IsNaN(f64) || math.Abs(f64) > 1e15 {
			return fmt.Errorf("%w: the query's vector has %v in it", ErrQuery, f)
		}
	}
	if q.Vector = v; !unit(v) {
		q.Vector = nil
	}
	return nil
}

// Search returns the best passages, best first; equal scores go by ID. It fails
// with ErrQuery, or when ctx ends.
func (x *Index) Search(ctx context.Context, q Query) ([]Result, error) {
	if err := x.check(&q); err != nil {
		return nil, err
	}
	units := words.Split(q.Text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if q.Vector != nil && x.vectors.dims > 0 && len(q.Vector) != x.vectors.dims {
		return nil, fmt.Errorf("%w: the query's vector has %d numbers, the index holds %d; use the embedder of the index", ErrQuery, len(q.Vector), x.vectors.dims)
	}
	if len(x.place) == 0 {
		return nil, ctx.Err()
	}
	coverage := make([]float32, len(x.slots))
	terms, worth := x.words.terms(units, x.options.Weight)
	x.words.score(terms, worth, coverage)
	asked := demands(q.Text, units)
	held := make(map[int32]int)
	for _, d := range asked {
		for _, s := range x.holders(d) {
			held[s]++
		}
	}
	ground := x.ground
	if q.Vector != nil && x.vectors.dims > 0 {
		ground = x.around(q.Vector)
	}
	best, err := x.best(ctx, q, ground, coverage, held, len(asked))
	if err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(best))
	for _, c := range best {
		if c.score < q.MinScore {
			break
		}
		r := Result{ID: x.slots[c.slot].ID, Score: c.score, Semantic: ground.semantic(c.cosine), Keyword: min(1, float64(coverage[c.slot]))}
		if !q.NoHighlights {
			r.Highlights = highlights(x.slots[c.slot].Text, units, asked, x.weigh)
		}
		results = append(results, r)
	}
	return results, nil
}

func (b Background) semantic(cosine float32) float64 {
	return min(1, max(0, (float64(cosine)-b.Mean)/(1-b.Mean)))
}

// candidate is a passage in the running.
type candidate struct {
	slot   int32
	cosine float32
	score  float64
	fused  float64
	held   int
	id     string
}

// before orders candidates: what was asked for to the letter, then how well it
// answers, then by ID.
func (a candidate) before(b candidate) bool {
	if a.held != b.held {
		return a.held > b.held
	}
	if a.fused != b.fused {
		return a.fused > b.fused
	}
	return a.id < b.id
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

func (x *Index) best(ctx context.Context, q Query, ground Background, coverage []float32, held map[int32]int, asked int) ([]candidate, error) {
	allowed := x.filter(q)
	var t top
	offer := func(n int, cosine float32) {
		s := &x.slots[n]
		if !s.live || allowed != nil && !allowed(n) {
			return
		}
		c := candidate{slot: int32(n), cosine: cosine, held: held[int32(n)], id: s.ID}
		if cosine == 0 && coverage[n] == 0 && c.held == 0 {
			return // no vector and no word: nothing speaks for it
		}
		if q.Vector == nil {
			c.fused = wordsAlone * float64(coverage[n])
		} else {
			c.fused = ground.fuse(cosine, coverage[n])
		}
		t.offer(c, q.TopK)
	}
	if err := x.visit(ctx, q, allowed, coverage, held, offer); err != nil {
		return nil, err
	}
	for i := range t {
		t[i].score = score(t[i].fused, t[i].held, asked)
	}
	sort.Slice(t, func(i, j int) bool { return t[i].before(t[j]) })
	return t, nil
}

// visit offers every passage that could be among the best, with its closeness:
// all of them by flat scan, or in a small index without filters the ones that
// chromem finds nearest and those that share a word.
func (x *Index) visit(ctx context.Context, q Query, allowed func(n int) bool, coverage []float32, held map[int32]int, offer func(n int, cosine float32)) error {
	if q.Vector == nil || x.vectors.dims == 0 {
		for n := range x.slots {
			offer(n, 0)
		}
		return ctx.Err()
	}
	if allowed == nil && len(x.place) < x.options.FlatFrom {
		// Words move a passage by at most wordsWorth deviations, but those that
		// share none can only be overtaken: the nearest TopK of them suffice.
		ids, sure, err := x.nearestIDs(ctx, q)
		if err != nil {
			return err
		}
		if sure {
			isNear := make(map[int]bool, len(ids))
			for _, id := range ids {
				isNear[x.place[id]] = true
			}
			for n := range x.slots {
				if isNear[n] || coverage[n] > 0 || held[int32(n)] > 0 {
					offer(n, dot(q.Vector, x.vectors.row(n)))
				}
			}
			return nil
		}
	}
	cosines := make([]float32, len(x.slots))
	if err := x.vectors.closeness(ctx, q.Vector, cosines, allowed); err != nil {
		return err
	}
	for n, c := range cosines {
		offer(n, c)
	}
	return nil
}

// nearestIDs asks chromem for more than TopK. It isn't sure when the surplus is
// as close as the last that counts: which of equals it keeps is chance there.
func (x *Index) nearestIDs(ctx context.Context, q Query) (ids []string, sure bool, err error) {
	n := 2*q.TopK + 20
	ids, last, complete, err := x.approach.near(ctx, q.Vector, n)
	if err != nil {
		return nil, false, fmt.Errorf("nearest passages: %w", err)
	}
	if complete {
		return ids, true, nil
	}
	const rounding = 1e-5
	kth := dot(q.Vector, x.vectors.row(x.place[ids[q.TopK-1]]))
	return ids, kth-last > rounding, nil
}

// filter says which slots a query may find; nil: all.
func (x *Index) filter(q Query) func(n int) bool {
	if q.AssessmentID == "" && q.Category == "" && len(q.DocumentIDs) == 0 {
		return nil
	}
	documents := make(map[string]bool, len(q.DocumentIDs))
	for _, id := range q.DocumentIDs {
		documents[id] = true
	}
	return func(n int) bool {
		s := &x.slots[n]
		return (q.AssessmentID == "" || s.AssessmentID == q.AssessmentID) &&
			(q.Category == "" || s.Category == q.Category) &&
			(len(documents) == 0 || documents[s.DocumentID])
	}
}

// weigh says how rare a unit is, for choosing what to highlight.
func (x *Index) weigh(stem string) float32 {
	if n, ok := x.words.number[stem]; ok {
		return x.words.rarity(x.words.living[n])
	}
	return 0
}

package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Query is what is looked for. Empty filters let everything pass.
type Query struct {
	Text         string
	Vector       []float32 // of Text, by the embedder of the passages; nil: by words only
	AssessmentID string
	DocumentIDs  []string // any of these
	Category     string
	From, To     string  // dates, both included; passages without a date aren't among them
	TopK         int     // 0 for 10
	Fold         bool    // of passages that say the same only the best, with Result.Same
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
	Same       []string // ids of passages nearly equal to it, best first, where the query folds
}

// ErrQuery is wrapped by the errors of Search about the query itself.
var ErrQuery = errors.New("search can't be run")

const (
	defaultTopK = 10
	maxTopK     = 1000
	maxQuery    = 64 << 10 // bytes of text
	foldOver    = 4        // times TopK are looked through for passages that say the same
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
	case q.From != "" && day(q.From) == 0 || q.To != "" && day(q.To) == 0:
		return fmt.Errorf("%w: days are written YYYY-MM-DD, not %q and %q", ErrQuery, q.From, q.To)
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
	if n := slices.IndexFunc(best, func(c candidate) bool { return c.score < q.MinScore }); n >= 0 {
		best = best[:n]
	}
	var same map[int32][]string
	if q.Fold {
		best, same = x.fold(best, q.TopK)
	}
	results := make([]Result, 0, len(best))
	for _, c := range best {
		r := Result{ID: x.slots[c.slot].ID, Same: same[c.slot], Score: c.score, Semantic: ground.semantic(c.cosine), Keyword: min(1, float64(coverage[c.slot]))}
		if !q.NoHighlights {
			r.Highlights = highlights(x.slots[c.slot].passage().Text, units, asked, x.weigh, x.meant(q.Vector))
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

// best ranks the passages and looks closer at the first of them.
func (x *Index) best(ctx context.Context, q Query, ground Background, coverage []float32, held map[int32]int, asked int) ([]candidate, error) {
	r := race{x: x, vector: q.Vector, ground: ground, coverage: coverage, held: held, allowed: x.filter(q), keep: max(q.TopK, lookAgain)}
	if q.Fold {
		r.keep = max(r.keep, min(maxTopK, foldOver*q.TopK))
	}
	t, err := r.run(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t, candidate.compare)
	x.closerLook(q, ground, coverage, t)
	if !q.Fold {
		t = t[:min(len(t), q.TopK)]
	}
	for i := range t {
		t[i].score = score(t[i].fused, t[i].held, asked)
	}
	return t, nil
}

// weigh says how rare a unit is, for choosing what to highlight.
func (x *Index) weigh(stem string) float32 {
	if h := x.words.find(stem); h != nil {
		return x.words.rarity(h.living)
	}
	return 0
}

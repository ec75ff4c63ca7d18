package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Query describes a search. Empty filters match everything.
type Query struct {
	Text         string
	Vector       []float32 // of Text, by the embedder of the passages; nil: by words only
	AssessmentID string
	DocumentIDs  []string // any of these
	Category     string
	From, To     string  // dates, both inclusive; passages without a date are excluded
	TopK         int     // 0 means 10
	Deduplicate  bool    // return only the best of several duplicate passages, with Result.Duplicates
	MinScore     float64 // from 0 to 1; passages with a lower score are omitted
	NoHighlights bool    // saves time for callers that don't display them
}

// Result is a passage with its score.
type Result struct {
	ID         string
	Score      float64 // 0 to 1, comparable between queries and indexes
	Semantic   float64 // 0 to 1: similarity of meaning above that of unrelated text
	Keyword    float64 // 0 to 1: share of the query's weight that the words cover
	Highlights []Highlight
	Duplicates []string // ids of its near-duplicates, best first, if the query deduplicates
}

// ErrQuery is wrapped by errors caused by the query itself.
var ErrQuery = errors.New("the search can't be run")

const (
	defaultTopK   = 10
	maxTopK       = 1000
	maxQueryBytes = 64 << 10 // bytes of text
	dedupeFactor  = 4        // multiple of TopK that is retrieved before duplicates are merged
)

func (x *Index) completeAndCheckQuery(q *Query) error {
	if q.TopK == 0 {
		q.TopK = defaultTopK
	}
	switch {
	case q.TopK < 0 || q.TopK > maxTopK:
		return fmt.Errorf("%w: top_k must be between 1 and %d, not %d", ErrQuery, maxTopK, q.TopK)
	case !(q.MinScore >= 0 && q.MinScore <= 1):
		return fmt.Errorf("%w: min_score must be between 0 and 1, not %v", ErrQuery, q.MinScore)
	case q.From != "" && dateNumberOrZero(q.From) == 0 || q.To != "" && dateNumberOrZero(q.To) == 0:
		return fmt.Errorf("%w: dates must be in the form YYYY-MM-DD, not %q and %q", ErrQuery, q.From, q.To)
	case len(q.Text) > maxQueryBytes:
		return fmt.Errorf("%w: the query is longer than %d bytes", ErrQuery, maxQueryBytes)
	}
	if len(q.Vector) == 0 {
		return nil
	}
	v := append([]float32(nil), q.Vector...)
	for _, f := range v {
		if f64 := float64(f); math.IsNaN(f64) || math.Abs(f64) > 1e15 {
			return fmt.Errorf("%w: the query's vector contains %v", ErrQuery, f)
		}
	}
	if q.Vector = v; !normalize(v) {
		q.Vector = nil
	}
	return nil
}

// Search returns the best passages, best first, and by ID if the scores are equal. The error wraps
// ErrQuery or, if ctx is done, is the context's error.
func (x *Index) Search(ctx context.Context, q Query) ([]Result, error) {
	if err := x.completeAndCheckQuery(&q); err != nil {
		return nil, err
	}
	units := words.Split(q.Text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if q.Vector != nil && x.vectors.dims > 0 && len(q.Vector) != x.vectors.dims {
		return nil, fmt.Errorf(
			"%w: the query's vector has %d numbers, but the index requires %d; use the embedding model that the index was built with",
			ErrQuery,
			len(q.Vector),
			x.vectors.dims,
		)
	}
	if len(x.slotByID) == 0 {
		return nil, ctx.Err()
	}
	coverage := make([]float32, len(x.slots))
	terms, worth := x.postings.queryTerms(units, x.options.Weight)
	x.postings.addScores(terms, worth, coverage)
	exactTerms := findExactTerms(q.Text, units)
	exactMatches := make(map[int32]int)
	for _, d := range exactTerms {
		for _, s := range x.slotsWithExactTerm(d) {
			exactMatches[s]++
		}
	}
	background := x.background
	if q.Vector != nil && x.vectors.dims > 0 {
		background = x.queryBackground(q.Vector)
	}
	best, err := x.rankCandidates(ctx, q, background, coverage, exactMatches, len(exactTerms))
	if err != nil {
		return nil, err
	}
	if n := slices.IndexFunc(best, func(c candidate) bool { return c.score < q.MinScore }); n >= 0 {
		best = best[:n]
	}
	var same map[int32][]string
	if q.Deduplicate {
		best, same = x.mergeDuplicates(best, q.TopK)
	}
	results := make([]Result, 0, len(best))
	for _, c := range best {
		r := Result{
			ID:         x.slots[c.slot].ID,
			Duplicates: same[c.slot],
			Score:      c.score,
			Semantic:   background.semanticScore(c.cosine),
			Keyword:    min(1, float64(coverage[c.slot])),
		}
		if !q.NoHighlights {
			r.Highlights = findHighlights(
				x.slots[c.slot].unpackPassage().Text,
				units,
				exactTerms,
				x.stemRarity,
				x.closestTextFunc(q.Vector),
			)
		}
		results = append(results, r)
	}
	return results, nil
}

func (b Background) semanticScore(cosine float32) float64 {
	return min(1, max(0, (float64(cosine)-b.Mean)/(1-b.Mean)))
}

// candidate is a passage that may be among the results.
type candidate struct {
	slot         int32
	cosine       float32
	score        float64
	fusedScore   float64
	exactMatches int
	id           string
}

// ranksBefore reports whether a ranks before b: by the number of exact terms, then by score, then by ID.
func (a candidate) ranksBefore(b candidate) bool {
	if a.exactMatches != b.exactMatches {
		return a.exactMatches > b.exactMatches
	}
	if a.fusedScore != b.fusedScore {
		return a.fusedScore > b.fusedScore
	}
	return a.id < b.id
}

// rankCandidates returns the best passages for a query, after reranking them.
func (x *Index) rankCandidates(
	ctx context.Context,
	q Query,
	background Background,
	coverage []float32,
	exactMatches map[int32]int,
	exactTermCount int,
) ([]candidate, error) {
	r := candidateSearch{
		index:        x,
		vector:       q.Vector,
		background:   background,
		coverage:     coverage,
		exactMatches: exactMatches,
		filter:       x.slotFilter(q),
		limit:        max(q.TopK, rerankCount),
	}
	if q.Deduplicate {
		r.limit = max(r.limit, min(maxTopK, dedupeFactor*q.TopK))
	}
	t, err := r.findCandidates(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t, candidate.compare)
	x.rerank(q, background, coverage, t)
	if !q.Deduplicate {
		t = t[:min(len(t), q.TopK)]
	}
	for i := range t {
		t[i].score = calibratedScore(t[i].fusedScore, t[i].exactMatches, exactTermCount)
	}
	return t, nil
}

// stemRarity returns how rare a stem is in the index, or 0 if no passage contains it. It is used to choose
// highlights.
func (x *Index) stemRarity(stem string) float32 {
	if h := x.postings.findTerm(stem); h != nil {
		return x.postings.inverseFrequency(h.liveCount)
	}
	return 0
}

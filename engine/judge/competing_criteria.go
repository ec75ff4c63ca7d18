package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/internal/vecmath"
)

// A sentence close to a statement may be even closer to the one it really states. Therefore, the
// number of criteria that are closer to the sentence is taken into account in addition to
// similarity. The reference set is the same for every catalog: one of our criteria for each
// control, alternating between the first, second, third and so on.
//
// 3,516 pairs of statement and sentence were labeled to calibrate this (docs/measurements.md).

// competingCriteria holds the embedded reference criteria, which are computed once per embedder.
type competingCriteria struct {
	mu      sync.Mutex
	vectors criteriaVectors
}

// criteriaVectors holds vectors of equal length in a single slice.
type criteriaVectors struct {
	dims int
	rows []float32
}

func (m *Embedder) getOrEmbedCriteriaVectors(ctx context.Context) (criteriaVectors, error) {
	m.competing.mu.Lock()
	defer m.competing.mu.Unlock()
	if m.competing.vectors.dims > 0 {
		return m.competing.vectors, nil
	}
	var none criteriaVectors
	var texts []string
	for i, e := range criteria.All().Entries {
		texts = append(texts, e.Topic+": "+normalizeStatement(e.Sentences[i%len(e.Sentences)]))
	}
	v, err := m.Embed(ctx, texts)
	if err != nil {
		return none, fmt.Errorf("computing vectors for the criteria: %w", err)
	}
	if len(v) != len(texts) {
		return none, fmt.Errorf("computing vectors for the criteria: the model returned %d vectors for %d texts", len(v), len(texts))
	}
	if len(v[0]) == 0 {
		return none, errors.New("computing vectors for the criteria: the vectors are empty")
	}
	if err := checkVectorLengths(v, len(v[0])); err != nil {
		return none, err
	}
	m.competing.vectors = criteriaVectors{len(v[0]), slices.Concat(v...)}
	return m.competing.vectors, nil
}

func checkVectorLengths(vectors [][]float32, dims int) error {
	for _, v := range vectors {
		if len(v) != dims {
			return fmt.Errorf("the embedding model returned vectors of different lengths (%d and %d numbers)", dims, len(v))
		}
	}
	return nil
}

// nearestRanks is the number of similarities stored for a sentence: those of the closest criterion,
// the 2nd, the 4th, and so on up to the 1,024th.
const nearestRanks = 11

// nearestCriteria holds the similarities of a sentence to its closest criteria, closest first. It
// includes only the ranks described at nearestRanks.
type nearestCriteria [nearestRanks]float32

// nearestSimilarities returns the similarities of each sentence to its closest reference criteria. It compares
// criteria in blocks that fit into the CPU cache.
func (y criteriaVectors) nearestSimilarities(sentences [][]float32) []nearestCriteria {
	const atOnce = 24
	var room [atOnce]float32
	counts := make([]similarityHistogram, len(sentences))
	for i := range counts {
		counts[i].top = -1
	}
	for rows := y.rows; len(rows) > 0; {
		some := rows[:min(len(rows), atOnce*y.dims)]
		rows = rows[len(some):]
		for i, v := range sentences {
			close := room[:len(some)/y.dims]
			vecmath.DotRows(close, v, some)
			counts[i].add(close)
		}
	}
	out := make([]nearestCriteria, len(sentences))
	for i := range counts {
		out[i] = counts[i].nearestSimilarities()
	}
	return out
}

// similarityHistogram counts rows by similarity, because sorting them would take as long as comparing them.
type similarityHistogram struct {
	top   float32
	count [1024]uint16
}

func (s *similarityHistogram) add(similarities []float32) {
	const n = len(s.count)
	for _, c := range similarities {
		if c > s.top {
			s.top = c
		}
		s.count[min(n-1, max(0, int((c+1)*float32(n)/2)))]++
	}
}

func (s *similarityHistogram) nearestSimilarities() (l nearestCriteria) {
	const n = len(s.count)
	l[0] = s.top
	next, passed := 1, 0
	for k := n - 1; k >= 0 && next < nearestRanks; k-- {
		for passed += int(s.count[k]); next < nearestRanks && passed >= 1<<next; next++ {
			l[next] = min(s.top, (float32(k)+0.5)*2/float32(n)-1)
		}
	}
	for ; next < nearestRanks; next++ {
		l[next] = -1
	}
	return l
}

// logarithmicRankOf returns the rank of a similarity among the similarities of the sentence's
// closest criteria, on a logarithmic scale: 0 if it equals the highest, 1 if 1,024 are higher, and
// negative if it is higher than all of them.
func (l nearestCriteria) logarithmicRankOf(similarity float32) float64 {
	const most = -0.4
	if similarity >= l[0] {
		slope := max(float64(l[0]-l[2])/2, 1e-4)
		return max(most, -float64(similarity-l[0])/slope/(nearestRanks-1))
	}
	for k := 1; k < nearestRanks; k++ {
		if similarity >= l[k] {
			return (float64(k) - float64(similarity-l[k])/math.Max(float64(l[k-1]-l[k]), 1e-6)) / (nearestRanks - 1)
		}
	}
	return 1
}

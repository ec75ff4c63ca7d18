package analyst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/scf-service/service/criteria"
)

// A sentence that is close to a statement is closer still to the one that it says. So what counts
// beside closeness is how many others it is closer to: of the same yardstick for every catalog,
// one of our criteria for each control, in turns the first, second, third …
//
// 3,516 pairs of statement and sentence were labelled for it (docs/quality.md).

// rivals are the yardstick's vectors, made once for an embedder.
type rivals struct {
	mu   sync.Mutex
	rows [][]float32
}

func (m *Meaning) yardstick(ctx context.Context) ([][]float32, error) {
	m.rivals.mu.Lock()
	defer m.rivals.mu.Unlock()
	if m.rivals.rows != nil {
		return m.rivals.rows, nil
	}
	var texts []string
	for i, e := range criteria.Book().Entries {
		texts = append(texts, e.Topic+": "+trimStatement(e.Sentences[i%len(e.Sentences)]))
	}
	v, err := m.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embedding our criteria: %w", err)
	}
	if len(v) != len(texts) {
		return nil, fmt.Errorf("embedding our criteria: %d vectors for %d texts", len(v), len(texts))
	}
	if len(v[0]) == 0 {
		return nil, errors.New("embedding our criteria: the vectors are empty")
	}
	if err := sameLength(v, len(v[0])); err != nil {
		return nil, err
	}
	m.rivals.rows = v
	return m.rivals.rows, nil
}

func sameLength(vectors [][]float32, n int) error {
	for _, v := range vectors {
		if len(v) != n {
			return fmt.Errorf("the embedder gives vectors of %d numbers and of %d", n, len(v))
		}
	}
	return nil
}

// rungs is how many rungs a ladder has: of the closest criterion, the second, fourth … 1,024th.
const rungs = 11

// ladder is how close a sentence's closest criteria are to it, closest first.
type ladder [rungs]float32

// ladderOf holds a sentence against the yardstick; all is room for as many numbers as it has rows.
func ladderOf(v []float32, yardstick [][]float32, all []float32) (l ladder) {
	for i, row := range yardstick {
		all[i] = cosine(v, row)
	}
	// Sorting them all would take as long as comparing: they are counted in steps of closeness.
	const steps = 1024
	var count [steps]uint16
	top := float32(-1)
	for _, c := range all {
		top = max(top, c)
		count[min(steps-1, max(0, int((c+1)*steps/2)))]++
	}
	l[0] = top
	next, passed := 1, 0
	for k := steps - 1; k >= 0 && next < rungs; k-- {
		for passed += int(count[k]); next < rungs && passed >= 1<<next; next++ {
			l[next] = min(top, (float32(k)+0.5)*2/steps-1)
		}
	}
	for ; next < rungs; next++ {
		l[next] = -1
	}
	return l
}

// crowd is how many criteria are closer to the sentence than something of that closeness, in
// doublings: 0 where one is as close, 1 where 1,024 are, and below 0 the further it is ahead of all.
func (l ladder) crowd(closeness float32) float64 {
	const most = -0.4
	if closeness >= l[0] {
		slope := max(float64(l[0]-l[2])/2, 1e-4)
		return max(most, -float64(closeness-l[0])/slope/(rungs-1))
	}
	for k := 1; k < rungs; k++ {
		if closeness >= l[k] {
			return (float64(k) - float64(closeness-l[k])/math.Max(float64(l[k-1]-l[k]), 1e-6)) / (rungs - 1)
		}
	}
	return 1
}

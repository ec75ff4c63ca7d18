package retrieval

import (
	"math"
	"slices"
)

// Metrics measures the quality of rankings. Each value ranges from 0 to 1. If queries have a framework, values are
// averaged per framework first, and then over the frameworks.
type Metrics struct {
	// NDCG is nDCG@10 with linear gain. Recall is the share of the relevant passages, at most ten,
	// among the first ten.
	NDCG   float64 `json:"ndcg_at_10"`
	Recall float64 `json:"recall_at_10"`
	// MRR is the mean reciprocal rank within the first 100.
	MRR float64 `json:"mrr"`
	// Success1, Success5 and Success10 are the shares of queries with a relevant passage among the
	// first 1, 5 and 10.
	Success1  float64 `json:"success_at_1"`
	Success5  float64 `json:"success_at_5"`
	Success10 float64 `json:"success_at_10"`
}

// addWeighted adds g, multiplied by a weight.
func (m *Metrics) addWeighted(g Metrics, weight float64) {
	m.NDCG += g.NDCG * weight
	m.Recall += g.Recall * weight
	m.MRR += g.MRR * weight
	m.Success1 += g.Success1 * weight
	m.Success5 += g.Success5 * weight
	m.Success10 += g.Success10 * weight
}

// computeMetrics returns the mean metrics of rankings; queries without relevant passages are
// skipped.
func (t *task) computeMetrics(rankings []Ranked) Metrics {
	type group struct {
		sum Metrics
		n   float64
	}
	groups := make(map[string]*group)
	var names []string // in order of appearance, because sums of floats depend on the order
	for i, r := range rankings {
		grades := t.gradesByQuery[r.Query]
		if len(grades) == 0 {
			continue
		}
		name := t.queries[i].Framework
		g := groups[name]
		if g == nil {
			g = &group{}
			groups[name] = g
			names = append(names, name)
		}
		g.sum.addWeighted(measureRanking(r, grades), 1)
		g.n++
	}
	var out Metrics
	for _, name := range names {
		g := groups[name]
		out.addWeighted(g.sum, 1/(g.n*float64(len(names))))
	}
	return out
}

// measureRanking returns the metrics of one query's ranking.
func measureRanking(r Ranked, grades map[string]float64) (f Metrics) {
	var gain, ideal, hits float64
	first := -1
	for i, p := range r.Results {
		grade, answers := grades[p.ID]
		if !answers {
			continue
		}
		if first < 0 {
			first = i
		}
		if i < 10 {
			gain += grade / math.Log2(float64(i)+2)
			hits++
		}
	}
	best := make([]float64, 0, len(grades))
	for _, g := range grades {
		best = append(best, g)
	}
	slices.Sort(best)
	slices.Reverse(best)
	for i, g := range best[:min(10, len(best))] {
		ideal += g / math.Log2(float64(i)+2)
	}
	f.NDCG = gain / ideal
	f.Recall = hits / float64(min(10, len(grades)))
	if first >= 0 {
		f.MRR = 1 / float64(first+1)
		f.Success1 = successAt(first, 1)
		f.Success5 = successAt(first, 5)
		f.Success10 = successAt(first, 10)
	}
	return f
}

// successAt returns 1 if there is a relevant passage among the first k, and 0 otherwise.
func successAt(firstRelevantIndex, k int) float64 {
	if firstRelevantIndex < k {
		return 1
	}
	return 0
}

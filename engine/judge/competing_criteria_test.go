package judge

import (
	"context"
	"math"
	"strings"
	"testing"
)

// The competition is the logarithmic rank of a similarity among all criteria.
func TestCompetitionRanksSimilarity(t *testing.T) {
	const n = 1400
	y := criteriaVectors{dims: 2}
	at := func(k int) float32 { return 0.9 - float32(k)/n } // of the k closest row, from 0
	for k := range n {
		c := float64(at((k * 603) % n)) // in no order
		y.rows = append(y.rows, float32(c), float32(math.Sqrt(1-c*c)))
	}
	l := y.nearestSimilarities([][]float32{{0, 1}, {1, 0}})[1]
	for _, tc := range []struct {
		closeness float32
		least     float64
		most      float64
	}{
		{0.9, 0, 0},
		{at(1), 0.05, 0.15},
		{at(3), 0.15, 0.25},
		{at(31), 0.47, 0.53},
		{at(511), 0.88, 0.92},
		{at(1023), 0.97, 1},
		{-0.5, 1, 1},
		{0.95, -0.4, -0.01},
		{1, -0.4, -0.4},
	} {
		if got := l.logarithmicRankOf(tc.closeness); got < tc.least || got > tc.most {
			t.Errorf("closeness %.4f: crowd %.3f, want %.2f to %.2f", tc.closeness, got, tc.least, tc.most)
		}
	}
	before := math.Inf(-1)
	for c := float32(1); c > -1; c -= 0.003 {
		now := l.logarithmicRankOf(c)
		if now < before-1e-9 {
			t.Fatalf("closeness %.3f has a crowd of %.4f, what is closer %.4f", c, now, before)
		}
		before = now
	}
}

// Zero vectors are accepted, and vectors of different lengths are an error.
func TestOddEmbedders(t *testing.T) {
	blank := &Embedder{Deviation: 0.1, Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i := range out {
			out[i] = make([]float32, 4)
		}
		return out, nil
	}}
	j, err := Evaluate(
		t.Context(),
		control("Backups", "Backups are taken every day."),
		fixed{withScore(policy("Backups are taken every day."))},
		Options{Today: today, Embedder: blank},
	)
	if err != nil || j.Statements[0].Verdict == "" {
		t.Errorf("%+v, %v", j, err)
	}
	odd := &Embedder{Deviation: 0.1, Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i := range out {
			out[i] = make([]float32, 4+len(texts)/1000)
		}
		return out, nil
	}}
	_, err = Evaluate(
		t.Context(),
		control("Backups", "Backups are taken every day."),
		fixed{withScore(policy("Backups are taken every day."))},
		Options{Today: today, Embedder: odd},
	)
	if err == nil || !strings.Contains(err.Error(), "vectors of") {
		t.Errorf("an embedder of vectors of several lengths: %v", err)
	}
}

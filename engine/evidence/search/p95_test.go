package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkP95 runs 200 different queries in turn and reports the 95th percentile of their time in ms: for the
// product's search (words and meaning, filters, reranking, highlights), chromem's plain query, and a flat scan.
func BenchmarkP95(b *testing.B) {
	const n, dims = 100_000, 256
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 8, 30_000)
	text := func(words int) string {
		var t strings.Builder
		for range words {
			t.WriteString("w" + strings.Map(func(r rune) rune { return r - '0' + 'b' }, fmt.Sprint(zipf.Uint64())) + "om ")
		}
		return t.String()
	}
	vector := func() []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	pieces := func(texts []string) [][]float32 {
		out := make([][]float32, len(texts))
		for i, t := range texts {
			out[i] = make([]float32, dims)
			for k, r := range t {
				out[i][(k*31+int(r))%dims]++
			}
		}
		return out
	}
	x := New(Options{Embed: pieces})
	var packs []Packed
	for at := 0; at < n; {
		d := fmt.Sprintf("d%04d", at/50)
		some := make([]Passage, 50)
		for i := range some {
			some[i] = Passage{ID: fmt.Sprintf("p%06d", at), Text: strings.Repeat(text(14)+". ", 8), Vector: vector()}
			at++
		}
		p := packed(b, d, some...)
		p.AssessmentID, p.Category, p.Date = "a", fmt.Sprint("c", at/50%8), fmt.Sprintf("2026-%02d-01", at/50%12+1)
		packs = append(packs, p)
	}
	if err := x.FillFromPacks(inTurn(packs...)); err != nil {
		b.Fatal(err)
	}
	questions := make([]Query, 200)
	for i := range questions {
		questions[i] = Query{Text: text(8), Vector: vector(), Deduplicate: true}
	}
	ctx := context.Background()
	if _, err := x.Search(ctx, questions[0]); err != nil { // builds the quantized rows
		b.Fatal(err)
	}
	b.Run("hybrid", func(b *testing.B) {
		p95(b, questions, func(q Query) error { _, err := x.Search(ctx, q); return err })
	})
	b.Run("hybrid, filtered", func(b *testing.B) {
		p95(b, questions, func(q Query) error {
			q.AssessmentID, q.From, q.To = "a", "2026-02-01", "2026-10-01"
			_, err := x.Search(ctx, q)
			return err
		})
	})
	scan := func(b *testing.B) {
		p95(b, questions, func(q Query) error {
			r := candidateSearch{index: x, vector: q.Vector, coverage: make([]float32, n), limit: 10, background: x.background}
			_, err := r.scanAllBlocks(ctx)
			return err
		})
	}
	b.Run("scan alone", scan)
	x.vectors.coarse = nil
	b.Run("flat scan alone", scan)
	b.Run("hybrid by flat scan", func(b *testing.B) {
		p95(b, questions, func(q Query) error { _, err := x.Search(ctx, q); return err })
	})
	plain := newChromemIndex()
	for i := range n {
		plain.put(fmt.Sprint(i), x.vectors.row(i))
	}
	b.Run("chromem alone", func(b *testing.B) {
		p95(b, questions[:40], func(q Query) error { _, _, _, err := plain.nearestTo(ctx, q.Vector, 40); return err })
	})
}

// p95 runs all queries once per benchmark iteration.
func p95(b *testing.B, questions []Query, ask func(Query) error) {
	var took []time.Duration
	for b.Loop() {
		for _, q := range questions {
			from := time.Now()
			if err := ask(q); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(from))
		}
	}
	slices.Sort(took)
	ms := func(share int) float64 { return float64(took[len(took)*share/100].Microseconds()) / 1000 }
	b.ReportMetric(ms(50), "p50-ms")
	b.ReportMetric(ms(95), "p95-ms")
	b.ReportMetric(0, "ns/op")
}

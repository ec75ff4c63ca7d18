package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		x := New(Options{})
		passages := make([]Passage, n)
		for i := range passages {
			passages[i] = random(rng, fmt.Sprintf("p%06d", i), 256)
		}
		if err := x.Put(passages...); err != nil {
			b.Fatal(err)
		}
		vector := random(rng, "", 256).Vector
		if vector == nil {
			vector = passages[0].Vector
		}
		q := Query{Text: "who does the access review", Vector: vector}
		b.Run(fmt.Sprintf("%d/hybrid", n), func(b *testing.B) { searches(b, x, q) })
		one := q
		one.DocumentIDs = []string{"d3", "d4"}
		b.Run(fmt.Sprintf("%d/two documents", n), func(b *testing.B) { searches(b, x, one) })
		b.Run(fmt.Sprintf("%d/scan alone", n), func(b *testing.B) {
			r := candidateSearch{index: x, vector: vector, coverage: make([]float32, n), limit: 10, background: x.background}
			for b.Loop() {
				if _, err := r.scanAllBlocks(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/chromem alone", n), func(b *testing.B) {
			plain := newChromemIndex()
			for i := range n {
				if x.vectors.row(i)[0] != 0 {
					plain.put(fmt.Sprint(i), x.vectors.row(i))
				}
			}
			for b.Loop() {
				if _, _, _, err := plain.nearestTo(context.Background(), vector, 40); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func searches(b *testing.B, x *Index, q Query) {
	for b.Loop() {
		if _, err := x.Search(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut10000(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	passages := make([]Passage, 10_000)
	for i := range passages {
		passages[i] = random(rng, fmt.Sprintf("p%06d", i), 256)
	}
	for b.Loop() {
		if err := New(Options{}).Put(passages...); err != nil {
			b.Fatal(err)
		}
	}
}

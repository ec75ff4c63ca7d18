package vecmath

import (
	"math"
	"math/rand/v2"
	"testing"
)

func someRows(n int) []float32 {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// TestDotsAreDots checks that DotRows returns exactly the same results as Dot.
func TestDotsAreDots(t *testing.T) {
	for _, n := range []int{1, 2, 31, 32, 33, 64, 96, 100, 256} {
		for many := range 9 {
			v, rows := someRows(n), someRows(n*many+5)
			to := make([]float32, many)
			DotRows(to, v, rows[:n*many])
			for i, got := range to {
				if want := Dot(v, rows[i*n:(i+1)*n]); math.Float32bits(got) != math.Float32bits(want) {
					t.Errorf("row %d of %d, %d numbers: %v, alone %v", i, many, n, got, want)
				}
			}
		}
	}
	DotRows([]float32{1}, nil, nil)
	if Dot(nil, nil) != 0 {
		t.Error("nothing is close to nothing")
	}
}

func BenchmarkDots(b *testing.B) {
	const n, many = 256, 24
	v, rows, to := someRows(n), someRows(n*many), make([]float32, many)
	for b.Loop() {
		DotRows(to, v, rows)
	}
}

package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func quickOnly(t *testing.T) {
	if !quickCoarse {
		t.Skip("this processor has no quick way through coarse rows: the scan goes through the exact ones")
	}
}

func TestCoarseProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{32, 64, 96, 256, 1024, 4096} {
		query, row := make([]int16, n), make([]int8, n)
		largest := min(math.MaxInt16, math.MaxInt32/(math.MaxInt8*n))
		for i := range query {
			query[i], row[i] = int16(rng.IntN(2*largest+1)-largest), int8(rng.IntN(255)-127)
		}
		if got, want := dotCoarse(query, row), plainDot(query, row); got != want {
			t.Errorf("%d numbers: %d, want %d", n, got, want)
		}
		// The largest possible sum.
		for i := range query {
			query[i], row[i] = int16(-largest), -math.MaxInt8
		}
		if got, want := dotCoarse(query, row), largest*math.MaxInt8*n; int(got) != want {
			t.Errorf("%d numbers: %d, want %d", n, got, want)
		}
	}
}

// shapes returns vectors of several shapes: uniform, with a few large numbers, close to each other, tiny.
func shapes(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	shape, common := rng.IntN(4), rand.New(rand.NewPCG(uint64(rng.IntN(3)), 7))
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		switch shape {
		case 1:
			v[i] = float32(math.Pow(float64(v[i]), 5))
		case 2:
			v[i] = float32(common.NormFloat64()) + 0.01*v[i]
		case 3:
			v[i] *= 1e-7
		}
	}
	v[rng.IntN(dims)] += 1e-3
	normalize(v)
	return v
}

// The upper bound of a quantized row is never below the exact cosine, and not much above it.
func TestCoarseBound(t *testing.T) {
	quickOnly(t)
	rng := rand.New(rand.NewPCG(2, 1))
	for _, dims := range []int{1, 7, 33, 256, 1000} {
		f := flatVectors{coarse: &quantizedVectors{}}
		for range 2000 {
			f.addNormalized(shapes(rng, dims), dims)
		}
		for range 20 {
			v := shapes(rng, dims)
			q := f.coarse.quantizeQuery(v)
			for n := range f.count {
				b := f.coarse.blockFor(n/blockRows, f.usedRows(n/blockRows))
				exact, most := float64(dot(v, f.row(n))), q.cosineUpperBound(b, n%blockRows)
				if most < exact || most > exact+2*(float64(b.errorBounds[n%blockRows])*q.length+q.errorBound) {
					t.Fatalf("%d numbers: %v is said to be %v at most", dims, exact, most)
				}
			}
		}
	}
}

// A scan of quantized rows finds the same as one of the exact rows: the same passages with the same values in
// the same order, whatever the filters, names and priors.
func TestCoarseScanIsExact(t *testing.T) {
	quickOnly(t)
	rng := rand.New(rand.NewPCG(3, 1))
	for _, dims := range []int{5, 64, 256} {
		x := New(Options{FlatFrom: 1})
		var passages []Passage
		for i := range 5000 {
			p := Passage{ID: fmt.Sprintf("p%05d", i), DocumentID: fmt.Sprint("d", i%40), Text: fmt.Sprintf("word%d of %d", i%7, i%300)}
			switch {
			case i%50 == 0: // no vector
			case i%9 == 0 && i > 0: // nearly or exactly the same as another
				p.Vector = slices.Clone(passages[i-1].Vector)
				if len(p.Vector) > 0 && i%2 == 0 {
					p.Vector[0] += 1e-6
				}
			default:
				p.Vector = shapes(rng, dims)
			}
			if i%13 == 0 {
				p.Prior = rng.Float64() - 0.5
			}
			passages = append(passages, p)
		}
		if err := x.Put(passages...); err != nil {
			t.Fatal(err)
		}
		x.Remove("p00003", "p01030")
		for i := range 60 {
			q := Query{
				Text:        fmt.Sprintf("word%d of %q", i%7, fmt.Sprint(i)),
				Vector:      shapes(rng, dims),
				TopK:        []int{1, 10, 200}[i%3],
				Deduplicate: i%2 == 0,
			}
			if i%4 == 3 {
				q.DocumentIDs = []string{"d1", "d17"}
			}
			found, err := x.Search(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			kept := x.vectors.coarse
			x.vectors.coarse = nil
			want, err := x.Search(context.Background(), q)
			x.vectors.coarse = kept
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 || !reflect.DeepEqual(found, want) {
				t.Fatalf("%d numbers, query %d: %+v\nwant %+v", dims, i, found, want)
			}
		}
	}
}

// plainDot computes the result of dotCoarse without vector instructions.
func plainDot(query []int16, row []int8) int32 {
	sum := int32(0)
	for i, r := range row {
		sum += int32(r) * int32(query[i])
	}
	return sum
}

package embed

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mat"
)

const (
	oversample = 16
	iterations = 4
)

// eigenRows returns dims numbers for each row of the symmetric matrix m: its leading eigenvectors,
// scaled by the square root of the absolute eigenvalue (a truncated SVD). They are found by
// subspace iteration from a random start given by rng. If m has fewer rows than dims, the remaining
// numbers are zero.
func eigenRows(ctx context.Context, m *sparseMatrix, dims int, rng *rand.Rand) ([]float32, error) {
	n := len(m.start) - 1
	width := min(dims+oversample, n)
	x, y := make([]float32, n*width), make([]float32, n*width)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	basis := make([]float32, n*width) // one basis vector per row, so that each is contiguous
	for range iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.multiply(x, y, width)
		transpose(y, basis, n, width)
		orthonormalize(basis, width, n)
		transpose(basis, x, width, n)
	}
	m.multiply(x, y, width)
	transpose(y, x, n, width) // x is m·basis, with one vector per row
	small := mat.NewSymDense(width, nil)
	for i := range width {
		for j := i; j < width; j++ {
			a := dot(basis[i*n:(i+1)*n], x[j*n:(j+1)*n])
			b := dot(basis[j*n:(j+1)*n], x[i*n:(i+1)*n])
			small.SetSym(i, j, float64(a+b)/2)
		}
	}
	return rotateToEigenvectors(small, basis, n, dims)
}

// rotateToEigenvectors rotates the basis to the eigenvectors of small, in descending order of
// absolute eigenvalue. It scales each eigenvector by the square root of its absolute eigenvalue,
// and returns them as n rows of dims numbers.
func rotateToEigenvectors(small *mat.SymDense, basis []float32, n, dims int) ([]float32, error) {
	var eig mat.EigenSym
	if !eig.Factorize(small, true) {
		return nil, errors.New("word vectors: the eigenvalues did not converge")
	}
	width := small.SymmetricDim()
	values := eig.Values(nil)
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	order := make([]int, width)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return math.Abs(values[order[a]]) > math.Abs(values[order[b]]) })
	rows := make([]float32, n*dims)
	column := make([]float32, n)
	for d := range min(dims, width) {
		clear(column)
		for j := range width {
			addScaled(float32(vectors.At(j, order[d])), basis[j*n:(j+1)*n], column)
		}
		root := float32(math.Sqrt(math.Abs(values[order[d]])))
		for i, x := range column {
			rows[i*dims+d] = x * root
		}
	}
	return rows, nil
}

func transpose(from, to []float32, rows, cols int) {
	parallelRanges(rows, func(a, b int) {
		for i := a; i < b; i++ {
			for j := range cols {
				to[j*rows+i] = from[i*cols+j]
			}
		}
	})
}

// orthonormalize makes count vectors of length n orthonormal (Gram-Schmidt). A vector in the span
// of the preceding ones becomes zero.
func orthonormalize(v []float32, count, n int) {
	var largest float32
	for i := range count {
		a := v[i*n : (i+1)*n]
		largest = max(largest, dot(a, a))
	}
	for i := range count {
		a := v[i*n : (i+1)*n]
		if dot(a, a) < 1e-8*largest {
			clear(a) // only rounding errors are left
			continue
		}
		normalize(a)
		parallelRanges(count-i-1, func(from, to int) {
			for j := i + 1 + from; j < i+1+to; j++ {
				b := v[j*n : (j+1)*n]
				addScaled(-dot(a, b), a, b)
			}
		})
	}
}

// Package vecmath computes dot products of embedding vectors.
package vecmath

import "github.com/viterin/vek/vek32"

// Dot returns the dot product of two vectors of the same length, or 0 if a is empty.
func Dot(a, b []float32) float32 {
	if len(a) == 0 {
		return 0
	}
	return vek32.Dot(a, b)
}

// DotRows writes to dst the dot products of v with the first len(dst) rows of a matrix, stored one
// after another in rows.
func DotRows(dst, v, rows []float32) {
	n := len(v)
	for i := range dst {
		dst[i] = Dot(v, rows[i*n:(i+1)*n])
	}
}

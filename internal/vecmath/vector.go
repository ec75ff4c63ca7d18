// Package vecmath multiplies vectors of meaning with each other, one or many at once.
package vecmath

import "github.com/viterin/vek/vek32"

// Dot is the sum of the products of two vectors of one length; 0 where there is nothing to compare.
func Dot(a, b []float32) float32 {
	if len(a) == 0 {
		return 0
	}
	return vek32.Dot(a, b)
}

// DotRows are the products of a vector with rows that stand one after another. There is room in to for as
// many as it holds.
func DotRows(dst, v, rows []float32) {
	n := len(v)
	for i := range dst {
		dst[i] = Dot(v, rows[i*n:(i+1)*n])
	}
}

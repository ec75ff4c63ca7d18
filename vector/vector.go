// Package vector multiplies vectors of meaning with each other, one or many at once, and each pair to the same bits.
package vector

import "github.com/viterin/vek/vek32"

// Dot is the sum of the products of two vectors of one length; 0 where there is nothing to compare.
func Dot(a, b []float32) float32 {
	if len(a) == 0 {
		return 0
	}
	return vek32.Dot(a, b)
}

// Dots are the products of a vector with rows that stand one after another, as Dot gives them. There is room in
// to for as many as it holds.
func Dots(to, v, rows []float32) {
	n := len(v)
	rows = rows[:n*len(to)] // the one check of what is read below
	done := 0
	if quick && n > 0 && n%quickStep == 0 {
		for ; done+quickRows <= len(to); done += quickRows {
			dotRows(&v[0], &rows[done*n], n, &to[done])
		}
	}
	for ; done < len(to); done++ {
		to[done] = Dot(v, rows[done*n:(done+1)*n])
	}
}

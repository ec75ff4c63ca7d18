package search

import "golang.org/x/sys/cpu"

// quickCoarse reports whether comparing quantized rows is faster than comparing exact ones.
var quickCoarse = cpu.X86.HasAVX2

// dotCoarse returns the dot product of a query and a row. Both must have the same length, a multiple of
// rowAlignment.
func dotCoarse(query []int16, row []int8) int32 {
	return dotAVX2(&query[0], &row[0], len(row))
}

//go:noescape
func dotAVX2(query *int16, row *int8, n int) int32

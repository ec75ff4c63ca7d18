package search

import "golang.org/x/sys/cpu"

// quickCoarse says that coarse rows are quicker to compare than the exact ones.
var quickCoarse = cpu.X86.HasAVX2

// dotCoarse multiplies a query with a row; both are as long as a multiple of rowAlignment.
func dotCoarse(query []int16, row []int8) int32 {
	return dotAVX2(&query[0], &row[0], len(row))
}

//go:noescape
func dotAVX2(query *int16, row *int8, n int) int32

//go:build !amd64

package search

const quickCoarse = false

func dotCoarse(query []int16, row []int8) int32 { return plainDot(query, row) }

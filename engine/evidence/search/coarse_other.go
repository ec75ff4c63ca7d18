//go:build !amd64

package search

// quickCoarse is false because, without vector instructions, comparing quantized rows is not faster.
const quickCoarse = false

func dotCoarse(query []int16, row []int8) int32 {
	sum := int32(0)
	for i, r := range row {
		sum += int32(r) * int32(query[i])
	}
	return sum
}

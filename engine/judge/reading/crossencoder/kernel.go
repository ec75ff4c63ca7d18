package crossencoder

// step and rowBlock are sizes that the kernel requires: the length of a row must be a multiple of step, and the number
// of rows of the first matrix must be a multiple of rowBlock.
const (
	step     = 16
	rowBlock = 4
)

// multiply stores a × bᵀ in out: for each row of a, the dot products with all rows of b. Rows have k numbers, and k
// must be a multiple of step. The number of rows of a must be a multiple of rowBlock, and the number of rows of b must
// be even. No sum may overflow an int32. Sums of integers don't depend on their order, so the result is the same on
// every processor.
func multiply(out []int32, a, b []int16, k int) {
	rows, columns := len(a)/k, len(b)/k
	_ = out[rows*columns-1]
	if !hasKernel {
		multiplyPortable(out, a, b, k)
		return
	}
	// The number of rows of b that fit into the L1 cache while all rows of a are processed.
	columnBlock := max(2, 24<<10/(2*k)&^1)
	for c := 0; c < columns; c += columnBlock {
		n := min(columnBlock, columns-c)
		for r := 0; r < rows; r += rowBlock {
			dotProducts4Rows(&out[r*columns+c], columns, &a[r*k], &b[c*k], k, n)
		}
	}
}

func multiplyPortable(out []int32, a, b []int16, k int) {
	columns := len(b) / k
	for r := range len(a) / k {
		x := a[r*k : (r+1)*k]
		for c := range columns {
			y := b[c*k : (c+1)*k]
			sum := int32(0)
			for i, v := range x {
				sum += int32(v) * int32(y[i])
			}
			out[r*columns+c] = sum
		}
	}
}

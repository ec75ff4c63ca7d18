package crossencoder

// step is what the length of a row of whole numbers is a multiple of, and rowBlock the number of rows of the first matrix.
const (
	step     = 16
	rowBlock = 4
)

// multiply sets out to a × bᵀ: for each row of a, the dot products with all rows of b. Rows have k numbers, a multiple of
// step; a has a multiple of rowBlock rows and b an even number. No sum may exceed an int32. Sums of whole numbers don't depend
// on their order, so every processor gets the same.
func multiply(out []int32, a, b []int16, k int) {
	rows, columns := len(a)/k, len(b)/k
	_ = out[rows*columns-1]
	if !hasKernel {
		multiplyPortable(out, a, b, k)
		return
	}
	// So many rows of b that they stay in the first cache while all rows of a pass.
	columnBlock := max(2, 24<<10/(2*k)&^1)
	for c := 0; c < columns; c += columnBlock {
		n := min(columnBlock, columns-c)
		for r := 0; r < rows; r += rowBlock {
			multiplyBlock(&out[r*columns+c], columns, &a[r*k], &b[c*k], k, n)
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

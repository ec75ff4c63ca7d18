package crossencoder

// rowBlock divides the number of rows of the first matrix, so that every kernel can process them without a rest.
const rowBlock = 8

// panelWidth is the number of columns of a panel.
const panelWidth = 16

// panels is the second matrix of a product, arranged as the kernels read it: panels of 16 columns, in which two numbers
// of each column follow each other, then the next two of each. The number of columns is a multiple of panelWidth.
type panels struct {
	numbers []int16
	k       int // numbers in a column, even
}

// setColumn stores numbers as column c and fills the rest of the column with 0.
func (p *panels) setColumn(c int, numbers []int16) {
	to := p.numbers[c/panelWidth*panelWidth*p.k+c%panelWidth*2:]
	for i, v := range numbers {
		to[i/2*2*panelWidth+i%2] = v
	}
	for i := len(numbers); i < p.k; i++ {
		to[i/2*2*panelWidth+i%2] = 0
	}
}

// reset makes p a matrix of the given size, reusing its memory if possible. Its numbers are undefined.
func (p *panels) reset(columns, k int) {
	p.numbers, p.k = grow(p.numbers, columns*k), k
}

// kernel computes the dot products of a few consecutive rows of a with the columns of a panel, and stores them in rows of
// out, which are stride numbers apart. Rows and columns have k numbers. The zero kernel stands for multiplyPortable.
type kernel struct {
	rows        int // how many rows it processes at once; a divisor of rowBlock
	dotProducts func(out *int32, stride int, a, panel *int16, k int)
}

// multiply stores the product of a and b in out: for each row of a, the dot products with all columns of b. Rows of a
// have b.k numbers, and there is a multiple of rowBlock of them. No sum may overflow an int32. Sums of integers don't
// depend on their order, so the result is the same on every processor.
func multiply(out []int32, a []int16, b *panels) {
	k := b.k
	rows, columns := len(a)/k, len(b.numbers)/k
	_ = out[rows*columns-1]
	for c := 0; c < columns; c += panelWidth {
		panel := b.numbers[c*k : (c+panelWidth)*k]
		if fastKernel.rows == 0 {
			multiplyPortable(out[c:], columns, a, panel, k)
			continue
		}
		for r := 0; r < rows; r += fastKernel.rows {
			fastKernel.dotProducts(&out[r*columns+c], columns, &a[r*k], &panel[0], k)
		}
	}
}

func multiplyPortable(out []int32, stride int, a, panel []int16, k int) {
	for r := range len(a) / k {
		var sums [panelWidth]int32
		for i := 0; i < k; i += 2 {
			even, odd := int32(a[r*k+i]), int32(a[r*k+i+1])
			pairs := panel[i*panelWidth : (i+2)*panelWidth]
			for c := range sums {
				sums[c] += even*int32(pairs[2*c]) + odd*int32(pairs[2*c+1])
			}
		}
		copy(out[r*stride:], sums[:])
	}
}

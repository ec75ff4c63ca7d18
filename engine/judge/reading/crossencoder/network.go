package crossencoder

import "math"

// Limits on quantized values. Together with the limits on shapes, they ensure that no sum overflows an int32. The
// largest possible sums are maxInner × 127 × activationLimit, maxHeadWidth × attentionLimit² and about shareLimit ×
// attentionLimit.
const (
	activationLimit = 8191
	attentionLimit  = 4095
	shareLimit      = 16383 // of attention shares, which add up to 1
)

// scratch is the working memory for one pass through the network.
type scratch struct {
	x, qkv, mixed, inner []float32
	rounded              []int16
	rowScales            []float32
	sums                 []int32
	q, column, shares    []int16
	k, v                 panels
	qScales, kScales     []float32
	vScales, row         []float32
	largest              []uint32
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// grow returns a slice of length n, reusing the memory of s if possible. The contents are undefined.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// probabilities returns the probability of each label for a sequence of word pieces. second is the index at which the
// second segment begins.
func (n *Network) probabilities(s *scratch, ids []int32, second int) [5]float64 {
	length, width := len(ids), n.Width
	padded := roundUp(length, rowBlock)
	s.x, s.qkv, s.mixed = grow(s.x, padded*width), grow(s.qkv, padded*3*width), grow(s.mixed, padded*width)
	s.inner, s.rowScales = grow(s.inner, padded*n.Inner), grow(s.rowScales, padded)
	for i, id := range ids {
		segment := 0
		if i >= second {
			segment = width
		}
		row, scale := s.x[i*width:(i+1)*width], n.scales[id]
		word, position := n.words[int(id)*width:], n.positions[i*width:]
		for k := range row {
			row[k] = float32(float32(word[k])*scale) + position[k] + n.segments[segment+k]
		}
		layerNorm(row, n.norm.weight, n.norm.bias)
	}
	clear(s.x[length*width:])
	for i := range n.layers {
		l := &n.layers[i]
		s.multiplyByWeights(s.qkv, s.x, &l.qkv, width)
		n.computeAttention(s, length)
		s.multiplyByWeights(s.inner, s.mixed, &l.out, width)
		addAndNormalize(s.x, s.inner, &l.norm1, length, width)
		s.multiplyByWeights(s.inner, s.x, &l.up, width)
		geluRow(s.inner[:length*n.Inner])
		s.multiplyByWeights(s.mixed, s.inner, &l.down, n.Inner)
		addAndNormalize(s.x, s.mixed, &l.norm2, length, width)
	}
	return n.classify(s.x[:length*width])
}

// multiplyByWeights stores the product of the rows of x and the matrix in out. Each row of x has k numbers.
func (s *scratch) multiplyByWeights(out, x []float32, m *matrix, k int) {
	rows, columns := len(s.rowScales), len(m.bias)
	s.rounded, s.sums = grow(s.rounded, rows*k), grow(s.sums, rows*columns)
	for r := range rows {
		s.rowScales[r] = quantizeRow(s.rounded[r*k:(r+1)*k], x[r*k:(r+1)*k], activationLimit)
	}
	multiply(s.sums, s.rounded, &m.columns)
	for r, scale := range s.rowScales {
		scaleRow(out[r*columns:(r+1)*columns], s.sums[r*columns:], scale, m.scales, m.bias)
	}
}

// addAndNormalize adds rows to x and normalizes the sums.
func addAndNormalize(x, rows []float32, by *normWeights, length, width int) {
	for r := range length {
		row, add := x[r*width:(r+1)*width], rows[r*width:(r+1)*width]
		for k, v := range add {
			row[k] += v
		}
		layerNorm(row, by.weight, by.bias)
	}
}

var noBias [max(maxPositions, maxHeadWidth)]float32 // for scaleRow, where nothing is to be added

// computeAttention computes the output of the attention heads from s.qkv.
func (n *Network) computeAttention(s *scratch, length int) {
	width, size := n.Width, n.Width/n.Heads
	rows, keys := roundUp(length, rowBlock), roundUp(length, panelWidth)
	s.k.reset(keys, size)
	s.v.reset(size, keys)
	s.q, s.column = grow(s.q, rows*size), grow(s.column, size)
	s.qScales, s.kScales, s.vScales = grow(s.qScales, rows), grow(s.kScales, keys), grow(s.vScales, size)
	s.shares, s.row = grow(s.shares, rows*keys), grow(s.row, max(keys, size))
	s.sums = grow(s.sums, rows*max(keys, size))
	for c := length; c < keys; c++ {
		s.k.setColumn(c, nil)
	}
	root := float32(1 / math.Sqrt(float64(size)))
	for h := range n.Heads {
		for r := range rows {
			row := s.qkv[r*3*width+h*size:]
			s.qScales[r] = quantizeRow(s.q[r*size:(r+1)*size], row[:size], attentionLimit) * root
		}
		for r := range length {
			row := s.qkv[r*3*width+width+h*size:]
			s.kScales[r] = quantizeRow(s.column, row[:size], attentionLimit)
			s.k.setColumn(r, s.column)
		}
		s.setValues(s.qkv[2*width+h*size:], 3*width, length)
		multiply(s.sums[:rows*keys], s.q, &s.k)
		clear(s.shares[length*keys:])
		for r := range length {
			row := s.row[:length]
			scaleRow(row, s.sums[r*keys:], s.qScales[r], s.kScales, noBias[:])
			softmax(s.shares[r*keys:(r+1)*keys], row, shareLimit)
		}
		multiply(s.sums[:rows*size], s.shares, &s.v)
		for r := range rows {
			scaleRow(s.mixed[r*width+h*size:][:size], s.sums[r*size:], 1, s.vScales, noBias[:])
		}
	}
}

// setValues quantizes the columns of a matrix, whose rows are stride numbers apart, and stores them in s.v.
func (s *scratch) setValues(x []float32, stride, length int) {
	size, keys := len(s.vScales), s.v.k
	s.largest = grow(s.largest, size)
	clear(s.largest)
	for r := range length {
		for c, v := range x[r*stride : r*stride+size] {
			s.largest[c] = max(s.largest[c], absBits(v))
		}
	}
	for c, largest := range s.largest {
		by, unit := quantum(largest, attentionLimit)
		s.row[c], s.vScales[c] = by, unit/shareLimit
	}
	clear(s.v.numbers)
	for r := range length {
		row := x[r*stride : r*stride+size]
		for c := 0; c < size; c += panelWidth {
			to := s.v.numbers[c*keys+r/2*2*panelWidth+r%2:]
			for i, v := range row[c : c+panelWidth] {
				to[2*i] = roundToEven(float32(v * s.row[c+i]))
			}
		}
	}
}

// classify returns the probabilities of the labels from the first row of x and the mean of all rows.
func (n *Network) classify(x []float32) (out [5]float64) {
	width := n.Width
	input := make([]float64, 2*width)
	for k := range width {
		input[k] = float64(x[k])
		sum := 0.0
		for r := 0; r < len(x); r += width {
			sum += float64(x[r+k])
		}
		input[width+k] = sum / float64(len(x)/width)
	}
	largest := math.Inf(-1)
	for l := range out {
		sum := float64(n.headBias[l])
		for k, v := range input {
			sum += float64(v * float64(n.head[l*2*width+k]))
		}
		out[l] = sum
		largest = max(largest, sum)
	}
	total := 0.0
	for l, v := range out {
		out[l] = expNonPositive(v - largest)
		total += out[l]
	}
	for l := range out {
		out[l] /= total
	}
	return out
}

package search

import (
	"math"
	"sync"
	"sync/atomic"
)

// quantizedVectors is a copy of the vectors in flatVectors with one byte per number, which needs a quarter of the
// memory bandwidth. The maximum error of each row is known, so exact cosines have to be computed only for rows that
// could become candidates. The copy is made during the first scan.
type quantizedVectors struct {
	dims, stride int // bytes of a row, a multiple of rowAlignment; padded with 0
	blocks       []*quantizedBlock
}

// quantizedBlock is a block of vectors, quantized to bytes.
type quantizedBlock struct {
	buildMu     sync.Mutex
	rowCount    atomic.Int32 // rows
	rows        []int8
	scale       []float32 // number ≈ byte × scale; 0: the row has no vector
	errorBounds []float32 // length of the quantization error
}

const (
	rowAlignment = 32
	// roundingBound, times the number of dimensions, is twice the maximum rounding error of a
	// 32-bit dot product of unit vectors.
	roundingBound = 1.0 / (1 << 23)
)

// grow adds empty blocks until there are blockCount of them.
func (c *quantizedVectors) grow(blockCount, dims int) {
	c.dims, c.stride = dims, (dims+rowAlignment-1)/rowAlignment*rowAlignment
	for len(c.blocks) < blockCount {
		c.blocks = append(c.blocks, &quantizedBlock{})
	}
}

// blockFor returns block n, after quantizing any new vectors in it. It is safe for concurrent searches.
func (c *quantizedVectors) blockFor(n int, vectors []float32) *quantizedBlock {
	b, rows := c.blocks[n], len(vectors)/c.dims
	if int(b.rowCount.Load()) == rows {
		return b
	}
	b.buildMu.Lock()
	defer b.buildMu.Unlock()
	if b.rows == nil {
		b.rows, b.scale, b.errorBounds = make([]int8, blockRows*c.stride), make([]float32, blockRows), make([]float32, blockRows)
	}
	for i := int(b.rowCount.Load()); i < rows; i++ {
		b.quantizeRow(i, b.rows[i*c.stride:(i+1)*c.stride], vectors[i*c.dims:(i+1)*c.dims])
	}
	b.rowCount.Store(int32(rows))
	return b
}

func (b *quantizedBlock) quantizeRow(i int, to []int8, row []float32) {
	bits := uint32(0)
	for _, v := range row {
		bits = max(bits, math.Float32bits(v)&^(1<<31)) // positive floats sort like their bits
	}
	scale := math.Float32frombits(bits) / math.MaxInt8
	if b.scale[i], b.errorBounds[i] = scale, 0; scale == 0 {
		return
	}
	to = to[:len(row)]
	up := 1 / scale
	off := float32(0)
	for k, v := range row {
		q := int32(v*up+128.5) - 128 // rounded; -127 to 127
		to[k] = int8(q)
		d := v - scale*float32(q)
		off += d * d
	}
	b.errorBounds[i] = float32(math.Sqrt(float64(off))) * (1 + roundingBound*float32(len(row)))
}

// quantizedQuery is a query vector quantized to 16 bits.
type quantizedQuery struct {
	numbers    []int16
	scale      float64
	length     float64 // of the quantized vector
	errorBound float64 // maximum error of any row's cosine due to the query
}

func (c *quantizedVectors) quantizeQuery(v []float32) quantizedQuery {
	// The sum of all products must fit in 32 bits.
	largest := min(math.MaxInt16, math.MaxInt32/(math.MaxInt8*c.stride))
	most := 0.0
	for _, f := range v {
		most = max(most, math.Abs(float64(f)))
	}
	q := quantizedQuery{numbers: make([]int16, c.stride), scale: most / float64(largest)}
	length, off := 0.0, 0.0
	for i, f := range v {
		n := math.Round(float64(f) / q.scale)
		q.numbers[i] = int16(n)
		d := float64(f) - n*q.scale
		length += n * n * q.scale * q.scale
		off += d * d
	}
	q.length, q.errorBound = math.Sqrt(length), math.Sqrt(off)+2*roundingBound*float64(len(v))
	return q
}

// cosineUpperBound returns an upper bound on the result of dot for row i of a block, including its rounding
// errors.
func (q *quantizedQuery) cosineUpperBound(b *quantizedBlock, i int) float64 {
	n := len(q.numbers)
	sum := dotCoarse(q.numbers, b.rows[i*n:(i+1)*n])
	return float64(sum)*q.scale*float64(b.scale[i]) + q.length*float64(b.errorBounds[i]) + q.errorBound
}

package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/philippgille/chromem-go"

	"github.com/scf-service/service/internal/vecmath"
)

// nearestIndex finds the passages whose vectors are closest to a query vector. All vectors have
// length 1. Implementations may keep the slices passed to them, but must not modify them.
type nearestIndex interface {
	put(id string, vector []float32)
	remove(id string)
	// nearestTo returns at most n ids, closest first, and the cosine of the last one. complete
	// reports whether the ids include every vector.
	nearestTo(ctx context.Context, vector []float32, n int) (ids []string, last float32, complete bool, err error)
}

// flatVectors holds the vectors by slot, in blocks, so that vectors never move when it grows.
type flatVectors struct {
	dims   int
	blocks [][]float32
	count  int
	coarse *quantizedVectors // the same vectors, quantized for faster scans; nil if not used
}

// newFlatVectors returns a flatVectors without vectors.
func newFlatVectors() flatVectors {
	if !quickCoarse {
		return flatVectors{}
	}
	return flatVectors{coarse: &quantizedVectors{}}
}

// blockRows is small because a daemon holds an index for each assessment in use, and most assessments have few passages.
const blockRows = 16

// addNormalized adds a row with a copy of v, scaled to length 1 and rounded, and returns it. It
// returns nil if there is no vector; in that case, the row is empty. The first vector determines
// the dimensions.
func (f *flatVectors) addNormalized(v []float32, dims int) []float32 {
	n := f.count
	f.count++
	if dims == 0 {
		return nil
	}
	f.grow(dims)
	if len(v) == 0 {
		return nil
	}
	row := f.row(n)
	copy(row, v)
	if !normalizeAndRound(row) {
		return nil
	}
	return row
}

// maxFixed represents 1 as a fixed-point number. Vectors of passages consist of such numbers, so
// that packs can store them in 16 bits and added and loaded passages give the same results.
const maxFixed = math.MaxInt16

func toFixed(x float32) int16 { return int16(math.RoundToEven(float64(x) * maxFixed)) }

func fromFixed(n int16) float32 { return float32(n) / maxFixed }

// normalizeAndRound scales v to length 1 and rounds its numbers. It returns false if v is zero. A
// vector that is already rounded is not changed at all.
func normalizeAndRound(v []float32) (isNonZero bool) {
	if isRounded(v) {
		return true
	}
	if !normalize(v) {
		return false
	}
	for i, x := range v {
		v[i] = fromFixed(toFixed(x))
	}
	return true
}

// isRounded reports whether v may be a result of normalizeAndRound: all numbers are rounded, and
// the length differs from 1 only by rounding.
func isRounded(v []float32) bool {
	var sum float64
	for _, x := range v {
		if x < -1 || x > 1 || x != fromFixed(toFixed(x)) {
			return false
		}
		sum += float64(x) * float64(x)
	}
	return math.Abs(sum-1) < 1e-3
}

// grow makes room for another row. The first call sets the dimensions.
func (f *flatVectors) grow(dims int) {
	if f.dims == 0 {
		f.dims = dims
	}
	for len(f.blocks)*blockRows < f.count {
		f.blocks = append(f.blocks, make([]float32, blockRows*dims))
	}
	if f.coarse != nil {
		f.coarse.grow(len(f.blocks), f.dims)
	}
}

// usedRows returns the rows of block b that are in use.
func (f *flatVectors) usedRows(b int) []float32 {
	return f.blocks[b][:min(blockRows, f.count-b*blockRows)*f.dims]
}

func (f *flatVectors) row(n int) []float32 {
	if f.dims == 0 || n/blockRows >= len(f.blocks) {
		return nil
	}
	at := n % blockRows * f.dims
	return f.blocks[n/blockRows][at : at+f.dims : at+f.dims]
}

// dot returns the dot product of a and b, or 0 if one of them is missing.
func dot(a, b []float32) float32 { return vecmath.Dot(a, b) }

// computeDots computes the dot products of v with len(to) rows, beginning at row from, and stores them in to.
func (f *flatVectors) computeDots(to, v []float32, from int) {
	for len(to) > 0 {
		at := from % blockRows
		n := min(len(to), blockRows-at)
		vecmath.DotRows(to[:n], v, f.blocks[from/blockRows][at*f.dims:])
		to, from = to[n:], from+n
	}
}

// normalize scales v to length 1. It returns false if v is zero. A vector that already has length 1
// is not changed at all.
func normalize(v []float32) (isNonZero bool) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum < 1e-24 {
		clear(v)
		return false
	}
	if math.Abs(sum-1) < 1e-5 {
		return true
	}
	inverse := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= inverse
	}
	return true
}

// chromemIndex is the default nearestIndex. It uses chromem for an exact search in memory, without persistence.
type chromemIndex struct{ collection *chromem.Collection }

func newChromemIndex() chromemIndex {
	c, err := chromem.NewDB().CreateCollection("passages", nil, nil)
	if err != nil {
		panic("chromem rejected a constant collection name: " + err.Error()) // can't happen unless the library changes
	}
	return chromemIndex{c}
}

func (c chromemIndex) put(id string, vector []float32) {
	// It fails only if the ID or vector is missing, which Put rules out.
	_ = c.collection.AddDocument(context.Background(), chromem.Document{ID: id, Embedding: vector})
}

func (c chromemIndex) remove(id string) { _ = c.collection.Delete(context.Background(), nil, nil, id) }

func (c chromemIndex) nearestTo(ctx context.Context, vector []float32, n int) (nearest []string, last float32, complete bool, _ error) {
	n = min(n, c.collection.Count())
	if n == 0 {
		return nil, 0, true, nil
	}
	found, err := c.collection.QueryEmbedding(ctx, vector, n, nil, nil)
	// When ctx ends, chromem returns partial results and no error.
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, 0, false, err
	}
	if len(found) != n {
		return nil, 0, false, fmt.Errorf("chromem returned %d passages instead of %d", len(found), n)
	}
	ids := make([]string, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	return ids, found[len(found)-1].Similarity, n == c.collection.Count(), nil
}

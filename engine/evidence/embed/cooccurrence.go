package embed

import (
	"math"
	"slices"
	"sync"
)

// sparseMatrix is a square matrix stored by rows: the columns and values of row i are at [start[i], start[i+1]).
type sparseMatrix struct {
	start  []int
	column []int32
	value  []float32
}

const (
	windowSize = 8    // stems on either side that count as co-occurring
	smoothing  = 0.75 // of context counts, so that rare contexts don't dominate
)

// computePPMI counts which terms occur together in texts and returns their positive pointwise
// mutual information, which measures how much more often they do so than by chance.
func computePPMI(texts [][]int32, terms int) *sparseMatrix {
	keys := cooccurrenceKeys(texts)
	slices.Sort(keys)
	m := &sparseMatrix{start: make([]int, terms+1)}
	total := make([]float64, terms)
	for i := 0; i < len(keys); {
		j := i
		for j < len(keys) && keys[j] == keys[i] {
			j++
		}
		row, col := int(keys[i]>>32), int32(keys[i]&math.MaxUint32)
		m.start[row+1]++
		m.column = append(m.column, col)
		m.value = append(m.value, float32(j-i))
		total[row] += float64(j - i)
		i = j
	}
	for i := 0; i < terms; i++ {
		m.start[i+1] += m.start[i]
	}
	m.applyPPMI(total)
	return m
}

func cooccurrenceKeys(texts [][]int32) []uint64 {
	n := 0
	for _, t := range texts {
		n += len(t) * 2 * min(windowSize, len(t))
	}
	keys := make([]uint64, 0, n)
	for _, t := range texts {
		for i, a := range t {
			for _, b := range t[i+1 : min(len(t), i+1+windowSize)] {
				if a != b {
					keys = append(keys, uint64(a)<<32|uint64(b), uint64(b)<<32|uint64(a))
				}
			}
		}
	}
	return keys
}

// applyPPMI replaces the counts with positive pointwise mutual information and drops zeros.
func (m *sparseMatrix) applyPPMI(total []float64) {
	var sum, smooth float64
	context := make([]float64, len(total))
	for i, t := range total {
		context[i] = math.Pow(t, smoothing)
		sum += t
		smooth += context[i]
	}
	kept := 0
	for row := range total {
		from, to := m.start[row], m.start[row+1]
		m.start[row] = kept
		for k := from; k < to; k++ {
			// The mean of both directions keeps the matrix symmetric.
			c := float64(m.value[k])
			col := m.column[k]
			there := math.Log(c / total[row] / (context[col] / smooth))
			back := math.Log(c / total[col] / (context[row] / smooth))
			if v := (there + back) / 2; v > 0 {
				m.column[kept], m.value[kept] = col, float32(v)
				kept++
			}
		}
	}
	m.start[len(total)] = kept
	m.column, m.value = m.column[:kept], m.value[:kept]
}

// multiply sets y to m·x. Both x and y are row-major with width columns.
func (m *sparseMatrix) multiply(x, y []float32, width int) {
	parallelRanges(len(m.start)-1, func(from, to int) {
		for i := from; i < to; i++ {
			out := y[i*width : (i+1)*width]
			clear(out)
			for k := m.start[i]; k < m.start[i+1]; k++ {
				c := int(m.column[k])
				addScaled(m.value[k], x[c*width:(c+1)*width], out)
			}
		}
	})
}

// workers is fixed instead of being the number of cores, so that sums computed by several workers
// are the same on every machine.
const workers = 4

// parallelRanges divides [0,n) into fixed ranges and runs do on them concurrently.
func parallelRanges(n int, do func(from, to int)) {
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		from, to := n*w/workers, n*(w+1)/workers
		if from < to {
			wg.Go(func() { do(from, to) })
		}
	}
	wg.Wait()
}

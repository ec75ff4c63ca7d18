package embed

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

const (
	batchSize          = 256
	candidateDocuments = 768 // documents that compete in a batch
	learnRate          = 2e-3
	temperature        = 0.07
	termDropout        = 0.3 // share of words dropped, so that the model doesn't rely on single words
	rowDropout         = 0.7 // share of documents' own rows dropped, so that word rows also learn
)

// learner adjusts rows so that each query's vector moves closest to the vectors of its documents.
type learner struct {
	set  *trainingSet
	dims int
	rows []float32
	rng  *rand.Rand

	grad, first, second []float32 // gradients and moments of Adam, per row
	touched             []bool
	step                int

	docs, dDocs       []float32 // vectors of documents and their gradients
	queries, dQueries []float32
	logits            []float32
}

func trainRows(ctx context.Context, set *trainingSet, rows []float32, o Options, rng *rand.Rand, bar *progress) error {
	d := o.Dimensions
	most := min(len(set.documentTerms), max(candidateDocuments, batchSize))
	l := &learner{
		set: set, dims: d, rows: rows, rng: rng,
		grad: make([]float32, len(rows)), first: make([]float32, len(rows)), second: make([]float32, len(rows)),
		touched: make([]bool, len(rows)/d),
		docs:    make([]float32, most*d), dDocs: make([]float32, most*d),
		queries: make([]float32, batchSize*d), dQueries: make([]float32, batchSize*d),
		logits: make([]float32, batchSize*most),
	}
	order := make([]int, len(set.queries))
	for i := range order {
		order[i] = i
	}
	total := set.stepCount(o.Epochs)
	for range o.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for from := 0; from < len(order); from += batchSize {
			if err := ctx.Err(); err != nil {
				return err
			}
			// The rate falls to a tenth, so that training ends smoothly.
			rate := learnRate * (1 - 0.9*float64(l.step)/float64(total))
			l.trainBatch(order[from:min(from+batchSize, len(order))], rate)
			bar.add(1)
		}
	}
	return nil
}

func (l *learner) trainBatch(queryIndexes []int, rate float64) {
	chosen, at := l.chooseDocuments(queryIndexes)
	d, n, b := l.dims, len(chosen), len(queryIndexes)
	docTerms := make([][]weighted, n)
	docLength := make([]float32, n)
	for i, c := range chosen {
		docTerms[i] = weighTerms(l.dropRandomTerms(l.set.documentTerms[c]))
	}
	queryTerms := make([][]weighted, b)
	queryLength := make([]float32, b)
	for i, q := range queryIndexes {
		queryTerms[i] = weighTerms(l.dropRandomTerms(l.set.queries[q].terms))
	}
	l.computeUnitVectors(docTerms, l.docs, docLength)
	l.computeUnitVectors(queryTerms, l.queries, queryLength)

	docs := blas32.General{Rows: n, Cols: d, Stride: d, Data: l.docs[:n*d]}
	queries := blas32.General{Rows: b, Cols: d, Stride: d, Data: l.queries[:b*d]}
	logits := blas32.General{Rows: b, Cols: n, Stride: n, Data: l.logits[:b*n]}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1/temperature, queries, docs, 0, logits)
	parallelRanges(b, func(from, to int) {
		for i := from; i < to; i++ {
			replaceWithSoftmaxError(logits.Data[i*n:(i+1)*n], l.set.queries[queryIndexes[i]].targets, at, 1/float32(b))
		}
	})
	dQueries := blas32.General{Rows: b, Cols: d, Stride: d, Data: l.dQueries[:b*d]}
	dDocs := blas32.General{Rows: n, Cols: d, Stride: d, Data: l.dDocs[:n*d]}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1/temperature, logits, docs, 0, dQueries)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1/temperature, logits, queries, 0, dDocs)
	l.backpropagate(docTerms, l.docs, l.dDocs, docLength)
	l.backpropagate(queryTerms, l.queries, l.dQueries, queryLength)
	l.applyAdam(rate)
}

// chooseDocuments selects the main target document of each query, and then random documents until
// there are candidateDocuments. at[d] is the index of document d in chosen, or -1.
func (l *learner) chooseDocuments(order []int) (chosen, at []int) {
	at = make([]int, len(l.set.documentTerms))
	for i := range at {
		at[i] = -1
	}
	take := func(doc int) {
		if at[doc] < 0 {
			at[doc] = len(chosen)
			chosen = append(chosen, doc)
		}
	}
	for _, q := range order {
		targets := l.set.queries[q].targets
		most := targets[0]
		for _, t := range targets {
			if t.weight > most.weight {
				most = t
			}
		}
		take(most.document)
	}
	for _, doc := range l.rng.Perm(len(at)) {
		if len(chosen) >= candidateDocuments {
			break
		}
		take(doc)
	}
	return chosen, at
}

// dropRandomTerms drops a random share of the terms, but never all of them.
func (l *learner) dropRandomTerms(terms []int32) []int32 {
	out := make([]int32, 0, len(terms))
	for _, t := range terms {
		share := float32(termDropout)
		if int(t) >= len(l.set.vocab.terms) {
			share = rowDropout
		}
		if l.rng.Float32() >= share {
			out = append(out, t)
		}
	}
	if len(out) == 0 && len(terms) > 0 {
		out = append(out, terms[l.rng.IntN(len(terms))])
	}
	return out
}

func (l *learner) computeUnitVectors(terms [][]weighted, to, length []float32) {
	d := l.dims
	parallelRanges(len(terms), func(from, end int) {
		for i := from; i < end; i++ {
			v := to[i*d : (i+1)*d]
			clear(v)
			for _, t := range terms[i] {
				addScaled(t.weight, l.rows[int(t.term)*d:(int(t.term)+1)*d], v)
			}
			length[i] = normalize(v)
		}
	})
}

// replaceWithSoftmaxError replaces logits with (softmax − targets) · share. The weight of targets
// that were not chosen is distributed among the chosen ones.
func replaceWithSoftmaxError(logits []float32, targets []target, at []int, share float32) {
	largest := logits[0]
	for _, x := range logits {
		largest = max(largest, x)
	}
	var sum float32
	for i, x := range logits {
		e := float32(math.Exp(float64(x - largest)))
		logits[i] = e
		sum += e
	}
	scaleVector(share/sum, logits)
	var there float32
	for _, t := range targets {
		if at[t.document] >= 0 {
			there += t.weight
		}
	}
	for _, t := range targets {
		if k := at[t.document]; k >= 0 {
			logits[k] -= t.weight / there * share
		}
	}
}

// backpropagate propagates the gradients of unit vectors to the rows they were computed from.
func (l *learner) backpropagate(terms [][]weighted, unit, gradient, length []float32) {
	d := l.dims
	for i := range terms {
		if length[i] == 0 {
			continue
		}
		u, g := unit[i*d:(i+1)*d], gradient[i*d:(i+1)*d]
		addScaled(-dot(u, g), u, g)
		for _, t := range terms[i] {
			addScaled(t.weight/length[i], g, l.grad[int(t.term)*d:(int(t.term)+1)*d])
			l.touched[t.term] = true
		}
	}
}

// applyAdam updates the rows that have a gradient by one step of Adam and clears the gradients.
func (l *learner) applyAdam(rate float64) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	l.step++
	t := float64(l.step)
	r := float32(rate * math.Sqrt(1-math.Pow(beta2, t)) / (1 - math.Pow(beta1, t)))
	d := l.dims
	parallelRanges(len(l.touched), func(from, to int) {
		for i := from; i < to; i++ {
			if !l.touched[i] {
				continue
			}
			l.touched[i] = false
			g, m, v, x := l.grad[i*d:(i+1)*d], l.first[i*d:(i+1)*d], l.second[i*d:(i+1)*d], l.rows[i*d:(i+1)*d]
			for k, gk := range g {
				m[k] = beta1*m[k] + (1-beta1)*gk
				v[k] = beta2*v[k] + (1-beta2)*gk*gk
				x[k] -= r * m[k] / (float32(math.Sqrt(float64(v[k]))) + epsilon)
				g[k] = 0
			}
		}
	})
}

// weighted is a term and its weight.
type weighted struct {
	term   int32
	weight float32
}

// weighTerms weights terms by the square root of their counts, because training texts are short,
// and most repetitions in them are boilerplate.
func weighTerms(ids []int32) []weighted {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	var out []weighted
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		out = append(out, weighted{sorted[i], float32(math.Sqrt(float64(j - i)))})
		i = j
	}
	return out
}

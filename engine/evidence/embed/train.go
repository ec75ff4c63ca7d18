package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Options configures training. The zero value selects the settings used by the product.
type Options struct {
	Dimensions int    // 0 for 256
	Seed       uint64 // the same corpus and seed give the same model
	// Epochs is the number of passes over all texts in the learned step: 0 means 4; negative means
	// none, which leaves the initial word vectors from co-occurrence unchanged.
	Epochs int
	// Progress, if set, is called with the number of completed steps, from 0 to total.
	Progress func(done, total int)
}

const (
	defaultDimensions = 256
	defaultEpochs     = 4
	sifRarity         = 1e-3 // SIF: a word with this share of all words gets half the weight
)

// ErrCorpus is returned for a corpus without usable text.
var ErrCorpus = errors.New("there is no text to train an embedding model on; import a catalog with control texts first")

// Train builds a model from the texts of a corpus and the built-in lexicon. If ctx is done, it stops before the
// next step and returns ctx's error.
func Train(ctx context.Context, corpus Corpus, o Options) (*Model, error) {
	if o.Dimensions == 0 {
		o.Dimensions = defaultDimensions
	}
	if o.Dimensions < 2 || o.Dimensions > maxDimensions {
		return nil, fmt.Errorf("the number of embedding dimensions must be between 2 and %d, not %d", maxDimensions, o.Dimensions)
	}
	if o.Epochs == 0 {
		o.Epochs = defaultEpochs
	}
	set, err := newTrainingSet(corpus)
	if err != nil {
		return nil, err
	}
	bar := newProgress(o.Progress, set.stepCount(max(o.Epochs, 0))+initialSteps)
	rng := newRNG(o.Seed)
	rows, err := initialRows(ctx, set, o.Dimensions, rng)
	if err != nil {
		return nil, err
	}
	bar.add(initialSteps)
	if o.Epochs > 0 {
		if err := trainRows(ctx, set, rows, o, rng, bar); err != nil {
			return nil, err
		}
	}
	m := newModel(o.Dimensions, set.vocab.terms, rows, set.measureBackground(rows, o.Dimensions, rng), set.knownTexts)
	bar.add(bar.total - bar.done)
	return m, nil
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5c0f)) }

// initialRows computes the initial word vectors from co-occurrence counts: a truncated SVD of their
// PPMI, with less weight for frequent stems and without the direction common to all texts.
func initialRows(ctx context.Context, set *trainingSet, dims int, rng *rand.Rand) ([]float32, error) {
	m := computePPMI(set.cooccurrenceTexts, set.vocab.stemCount)
	rows, err := eigenRows(ctx, m, dims, rng)
	if err != nil {
		return nil, err
	}
	vocab := set.vocab
	for i := range vocab.stemCount {
		r := rows[i*dims : (i+1)*dims]
		normalize(r)
		scaleVector(float32(sifRarity/(sifRarity+float64(vocab.counts[i])/float64(vocab.totalStems))), r)
	}
	rows = append(rows, make([]float32, (len(vocab.terms)-vocab.stemCount+set.documentRows)*dims)...)
	removeCommonDirection(rows, dims, set)
	return rows, nil
}

// removeCommonDirection removes from every row the direction that all texts share, so that texts don't seem
// similar merely because all of them are requirements.
func removeCommonDirection(rows []float32, dims int, set *trainingSet) {
	var vectors [][]float32
	for _, q := range set.queries {
		v := make([]float32, dims)
		sumRows(v, rows, q.terms)
		if normalize(v) > 0 {
			vectors = append(vectors, v)
		}
	}
	common := make([]float32, dims)
	for _, v := range vectors {
		addScaled(1, v, common)
	}
	normalize(common)
	for range 10 { // power iteration: the first principal direction
		next := make([]float32, dims)
		for _, v := range vectors {
			addScaled(dot(v, common), v, next)
		}
		normalize(next)
		common = next
	}
	for i := 0; i < len(rows); i += dims {
		r := rows[i : i+dims]
		addScaled(-dot(r, common), common, r)
	}
}

// Background is the distribution of cosine similarities between unrelated texts. Similarity
// thresholds must be relative to it.
type Background struct{ Mean, Deviation float32 }

// measureBackground uses random pairs to estimate how similar texts are to documents that they don't refer to.
func (s *trainingSet) measureBackground(rows []float32, dims int, rng *rand.Rand) Background {
	const pairs = 4000
	var sum, squares, n float64
	q, d := make([]float32, dims), make([]float32, dims)
	for range pairs {
		text := s.queries[rng.IntN(max(s.corpusQueries, 1))]
		doc := rng.IntN(s.corpusDocuments)
		if slices.ContainsFunc(text.targets, func(t target) bool { return t.document == doc }) {
			continue
		}
		clear(q)
		clear(d)
		sumRows(q, rows, text.terms)
		sumRows(d, rows, s.documentTerms[doc])
		if normalize(q) > 0 && normalize(d) > 0 {
			c := float64(dot(q, d))
			sum += c
			squares += c * c
			n++
		}
	}
	if n < 2 {
		return Background{0, 0.1}
	}
	mean := sum / n
	return Background{float32(mean), float32(math.Sqrt(max(squares/n-mean*mean, 1e-4)))}
}

// initialSteps is the assumed duration of computing the initial rows, in learning steps. It is used only to
// report progress.
const initialSteps = 20

type progress struct {
	report      func(done, total int)
	done, total int
}

func newProgress(report func(done, total int), total int) *progress {
	p := &progress{report: report, total: total}
	p.add(0)
	return p
}

func (p *progress) add(n int) {
	p.done = min(p.done+n, p.total)
	if p.report != nil {
		p.report(p.done, p.total)
	}
}

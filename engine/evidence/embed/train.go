package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Options of training. The zero value is what the product uses.
type Options struct {
	Dimensions int    // 0 for 256
	Seed       uint64 // the same corpus and seed give the same model
	// Epochs is how often the learned step reads all texts: 0 for 4, below 0 for
	// none, which leaves word vectors counted from company alone.
	Epochs int
	// Progress, if set, hears of steps done, from 0 to total.
	Progress func(done, total int)
}

const (
	defaultDimensions = 256
	defaultEpochs     = 4
	sifRarity         = 1e-3 // SIF: a word with this share of all words counts half
)

// ErrCorpus is returned for a corpus that nothing can be learned from.
var ErrCorpus = errors.New("no text to train an embedder on; import a catalog with control texts first")

// Train builds a model from the texts of a corpus and the built-in lexicon. It
// ends early with the error of ctx, between two steps.
func Train(ctx context.Context, corpus Corpus, o Options) (*Model, error) {
	if o.Dimensions == 0 {
		o.Dimensions = defaultDimensions
	}
	if o.Dimensions < 2 || o.Dimensions > maxDimensions {
		return nil, fmt.Errorf("embedding dimensions must be 2 to %d, not %d", maxDimensions, o.Dimensions)
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

// initialRows counts word vectors: PPMI, truncated SVD, rarity, common direction.
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
	removeCommon(rows, dims, set)
	return rows, nil
}

// removeCommon takes the direction that all texts share out of every row, so
// that closeness isn't about being a requirement.
func removeCommon(rows []float32, dims int, set *trainingSet) {
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
		axpy(1, v, common)
	}
	normalize(common)
	for range 10 { // power iteration: the first principal direction
		next := make([]float32, dims)
		for _, v := range vectors {
			axpy(dot(v, common), v, next)
		}
		normalize(next)
		common = next
	}
	for i := 0; i < len(rows); i += dims {
		r := rows[i : i+dims]
		axpy(-dot(r, common), common, r)
	}
}

// Background is how close texts are, by cosine, that have nothing to do with
// each other: what a threshold must be measured from.
type Background struct{ Mean, Deviation float32 }

// measureBackground measures texts against documents that they don't ask for.
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

// initialSteps is what the counting takes, in steps of the learned part.
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

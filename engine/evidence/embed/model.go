package embed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Model is a trained embedder. It has a vector for each stem and bigram, and a vector for each corpus document whose
// trained vector differs from the sum of its words' vectors. It is immutable and safe for concurrent use.
type Model struct {
	dims           int
	terms          []string // stems, and bigrams as "first second"
	rows           []float32
	name           string
	index          map[string]int32
	spellings      spellings
	heavyRowLength float32 // length of the row of an important term
	background     Background
	knownTexts     map[uint64]knownText // by hashText
}

var _ Embedder = (*Model)(nil)

func newModel(dims int, terms []string, rows []float32, background Background, knownTexts map[uint64]knownText) *Model {
	m := &Model{
		dims:       dims,
		background: background,
		knownTexts: knownTexts,
		terms:      terms,
		rows:       rows,
		index:      make(map[string]int32, len(terms)),
	}
	for i, t := range terms {
		m.index[t] = int32(i)
	}
	m.spellings = newSpellings(terms)
	m.heavyRowLength = upperQuartileLength(dims, rows[:len(terms)*dims])
	m.name = fmt.Sprintf("builtin-%d-%s", dims, m.fingerprint())
	return m
}

// Name returns the model's name, "builtin-<dimensions>-<hash of the weights>".
func (m *Model) Name() string { return m.name }

// Dimensions returns the length of the vectors.
func (m *Model) Dimensions() int { return m.dims }

// Background returns the distribution of similarities between unrelated texts for this model.
func (m *Model) Background() Background { return m.background }

// Len returns the number of stems and bigrams that the model knows.
func (m *Model) Len() int { return len(m.terms) }

// Embed returns a vector of length 1 for each text, or all zeros if the model knows none of its words. It fails
// only if ctx is done.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out, known := make([][]float32, len(texts)), spellingCache{}
	for i, text := range texts {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = m.embedText(text, known)
	}
	return out, nil
}

// EmbedAll is like Embed, but can't be canceled.
func (m *Model) EmbedAll(texts []string) [][]float32 {
	out, known := make([][]float32, len(texts)), spellingCache{}
	for i, text := range texts {
		out[i] = m.embedText(text, known)
	}
	return out
}

func (m *Model) row(i int32) []float32 { return m.rows[int(i)*m.dims : (int(i)+1)*m.dims] }

func (m *Model) embedText(text string, cache spellingCache) []float32 {
	v := make([]float32, m.dims)
	tokens := words.Split(text)
	ids, unknown := m.lookUpTerms(tokens)
	if k, ok := m.knownTexts[hashStems(tokens)]; ok && k.row >= 0 {
		ids = append(ids, k.row)
	}
	sumRows(v, m.rows, ids)
	for _, stem := range unknown {
		for _, near := range m.spellings.cachedNearestTerms(stem, cache) {
			addScaled(near.weight*unknownWordWeight, m.row(near.term), v)
		}
	}
	normalize(v)
	return v
}

// unknownWordWeight is the weight of an unknown word, which is represented by similarly spelled known words.
const unknownWordWeight = 0.5

// lookUpTerms returns the row numbers of the known stems and bigrams, and the unknown stems.
func (m *Model) lookUpTerms(tokens []words.Token) (ids []int32, unknown []string) {
	ids = make([]int32, 0, len(tokens)*3/2)
	previous := ""
	var pair []byte
	for _, t := range tokens {
		if t.Kind != words.Word {
			continue
		}
		if id, ok := m.index[t.Stem]; ok {
			ids = append(ids, id)
		} else {
			unknown = append(unknown, t.Stem)
		}
		if previous != "" {
			pair = append(append(append(pair[:0], previous...), ' '), t.Stem...)
			if id, ok := m.index[string(pair)]; ok {
				ids = append(ids, id)
			}
		}
		previous = t.Stem
	}
	return ids, unknown
}

// sumRows adds the rows of ids to v. A row is added as often as its ID occurs, because words that
// are repeated in a long passage indicate its subject.
func sumRows(v, rows []float32, ids []int32) {
	for _, id := range ids {
		addScaled(1, rows[int(id)*len(v):(int(id)+1)*len(v)], v)
	}
}

// StemImportance returns how meaningful a stem is, from 0 to 1. Stems that occur in every
// requirement have a value near 0. Unknown stems get 1, because they may be names. Keyword search
// uses it because a rare word isn't necessarily meaningful.
func (m *Model) StemImportance(stem string) float64 {
	id, ok := m.index[stem]
	if !ok || m.heavyRowLength == 0 {
		return 1
	}
	r := m.row(id)
	return min(1, math.Sqrt(float64(dot(r, r)))/float64(m.heavyRowLength))
}

// upperQuartileLength returns the row length that a quarter of the rows exceed.
func upperQuartileLength(dims int, rows []float32) float32 {
	var lengths []float32
	for i := 0; i+dims <= len(rows); i += dims {
		r := rows[i : i+dims]
		lengths = append(lengths, float32(math.Sqrt(float64(dot(r, r)))))
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)*3/4]
}

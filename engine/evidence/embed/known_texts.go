package embed

import (
	"hash/fnv"
	"math"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// knownText holds what a model has learned about a whole document of the corpus, which it recognizes by title and
// description.
type knownText struct {
	row   int32   // row learned for the document beyond its words; negative if none
	prior float32 // see Model.KnownTextPrior
}

const (
	priorPerLogCode = 0.17 // deviations for every factor of e in the number of codes
	maxPrior        = 1.0
)

// setKnownTexts registers each document by a hash of its title and description. If two documents have the same
// hash, the first wins.
func (s *trainingSet) setKnownTexts(docs []Document) {
	s.knownTexts = make(map[uint64]knownText, len(docs))
	var mean float64
	for _, d := range docs {
		mean += math.Log1p(float64(len(d.Codes))) / float64(len(docs))
	}
	for i, d := range docs {
		key := hashText(strings.Join(d.Texts[:min(2, len(d.Texts))], ". "))
		if _, twice := s.knownTexts[key]; twice {
			continue
		}
		k := knownText{row: -1, prior: float32(priorPerLogCode * (math.Log1p(float64(len(d.Codes))) - mean))}
		k.prior = max(-maxPrior, min(maxPrior, k.prior))
		if i < s.documentRows {
			k.row = int32(len(s.vocab.terms) + i)
		}
		s.knownTexts[key] = k
	}
}

// hashText returns a hash of a text's stems in order.
func hashText(text string) uint64 { return hashStems(words.Split(text)) }

func hashStems(tokens []words.Token) uint64 {
	h := fnv.New64a()
	for _, t := range tokens {
		if t.Kind == words.Word {
			h.Write([]byte(t.Stem))
			h.Write([]byte{0})
		}
	}
	return h.Sum64()
}

// KnownTextPrior returns the advantage that a text has over other texts for any query, in standard
// deviations of Background: positive for a document of the corpus with many codes, negative for one
// with few, 0 for any other text. It is between -1 and 1.
func (m *Model) KnownTextPrior(text string) float64 {
	return float64(m.knownTexts[hashText(text)].prior)
}

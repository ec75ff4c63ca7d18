package search

import (
	"math"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Scale weights words and similarities based on fixed texts, such as those of a catalog, instead of
// the indexed passages. Therefore, the score of a passage doesn't depend on other passages.
type Scale struct {
	textsWithStem map[string]int // number of texts with a stem
	textCount     int
	sample        [][]float32
	background    Background
	weight        func(stem string) float64
}

const (
	scaleSample = 400
	// meanPassageUnits is the assumed mean length of passages, in tokens.
	meanPassageUnits = 70
	// scaleMedianAnswer replaces medianAnswer if similarity is measured against catalog texts, which are closer to
	// each other than passages are, so that answers stand out less.
	scaleMedianAnswer = medianAnswer - 0.5
)

// NewScale returns a scale based on texts. background is the embedder's similarity of unrelated texts; embed and
// weight are as in Options.
func NewScale(texts []string, embed func(texts []string) [][]float32, background Background, weight func(stem string) float64) *Scale {
	s := &Scale{textsWithStem: map[string]int{}, textCount: len(texts), background: background, weight: weight}
	held := make([]map[string]int, len(texts))
	parallelFor(len(texts), func(i int) { held[i], _ = countNonStopStems(words.Split(texts[i])) })
	for _, stems := range held {
		for stem := range stems {
			s.textsWithStem[stem]++
		}
	}
	step := max(1, len(texts)/scaleSample)
	s.sample = make([][]float32, (len(texts)+step-1)/step)
	parallelFor(len(s.sample), func(i int) {
		s.sample[i] = embed(texts[i*step : i*step+1])[0]
		normalize(s.sample[i])
	})
	return s
}

// unitWeight returns the weight of a token in a question, before it is divided by the question's total weight.
func (s *Scale) unitWeight(u words.Token) float32 {
	n, held := float64(s.textCount), float64(s.textsWithStem[u.Stem])
	w := float32(math.Log(1 + (n-held+0.5)/(held+0.5)))
	if s.weight != nil && u.Kind == words.Word {
		w *= float32(s.weight(u.Stem))
	}
	return w
}

// queryBackground returns the distribution of the cosines between the scale's texts and one question.
func (s *Scale) queryBackground(vector []float32) Background {
	m := s.background.moments()
	for _, v := range s.sample {
		if len(v) != len(vector) {
			continue
		}
		if c := dot(vector, v); c != 0 {
			m.add(c)
		}
	}
	return m.background()
}

// termSaturation returns BM25's term frequency factor for a term that occurs the given number of times in a
// passage of length tokens.
func termSaturation(times, length int) float32 {
	f := float32(times)
	return f / (f + saturation*(1-lengthBias+lengthBias*float32(length)/meanPassageUnits))
}

func calibratedOnScale(fused float64) float64 {
	return calibratedScore(fused+medianAnswer-scaleMedianAnswer, 0, 0)
}

package search

import (
	"math"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Scale says what words and closeness are worth, whatever passages there are: by texts that
// do not change, those of a catalog. So the score of a passage does not move with the others.
type Scale struct {
	textsWithStem map[string]int // texts that hold a stem
	textCount     int
	sample        [][]float32
	background    Background
	weight        func(stem string) float64
}

const (
	scaleSample = 400
	// meanPassageUnits is of a passage, in units: what the mean of a collection would be.
	meanPassageUnits = 70
	// Catalog texts are closer to each other than to passages, so that what answers
	// stands out less against them.
	scaleMedianAnswer = medianAnswer - 0.5
)

// NewScale measures texts. The background is what the embedder knows of unrelated texts;
// embed and weight are as in Options.
func NewScale(texts []string, embed func(texts []string) [][]float32, background Background, weight func(stem string) float64) *Scale {
	s := &Scale{textsWithStem: map[string]int{}, textCount: len(texts), background: background, weight: weight}
	held := make([]map[string]int, len(texts))
	parallelFor(len(texts), func(i int) { held[i], _ = countUnits(words.Split(texts[i])) })
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

// unitWeight is what a unit of a question is worth before the question's sum makes it a share.
func (s *Scale) unitWeight(u words.Token) float32 {
	n, held := float64(s.textCount), float64(s.textsWithStem[u.Stem])
	w := float32(math.Log(1 + (n-held+0.5)/(held+0.5)))
	if s.weight != nil && u.Kind == words.Word {
		w *= float32(s.weight(u.Stem))
	}
	return w
}

// queryBackground is how close the texts are to one question.
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

// termSaturation is BM25's share of a term that a passage of so many units holds so often.
func termSaturation(times, length int) float32 {
	f := float32(times)
	return f / (f + saturation*(1-lengthBias+lengthBias*float32(length)/meanPassageUnits))
}

func calibratedOnScale(fused float64) float64 {
	return calibratedScore(fused+medianAnswer-scaleMedianAnswer, 0, 0)
}

package embed

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomEmbedder has a random vector for each feature of a text, such as its words: an untrained model.
type randomEmbedder struct {
	seed     uint64
	features func(text string) []string
}

func (randomEmbedder) Name() string    { return "random" }
func (randomEmbedder) Dimensions() int { return 64 }

func (e randomEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = make([]float32, e.Dimensions())
		for _, f := range e.features(strings.ToLower(t)) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(f))
			r := rand.New(rand.NewPCG(h.Sum64(), e.seed))
			for j := range out[i] {
				out[i][j] += float32(r.NormFloat64())
			}
		}
		normalize(out[i])
	}
	return out, nil
}

// TestUntrainedEmbeddersFail checks that untrained models are rejected, both those that compare words or letters and
// those that compare nothing.
func TestUntrainedEmbeddersFail(t *testing.T) {
	for name, features := range map[string]func(string) []string{
		"texts": func(text string) []string { return []string{text} },
		"words": strings.Fields,
		"letters": func(text string) (out []string) {
			for i := 0; i+3 <= len(text); i++ {
				out = append(out, text[i:i+3])
			}
			return out
		},
		"nothing": func(string) []string { return nil },
	} {
		for seed := range uint64(5) {
			score, err := Test(t.Context(), randomEmbedder{seed, features})
			if err != nil || score > MinScore-0.1 {
				t.Errorf("random %s: %v, %v", name, score, err)
			}
			t.Log(name, score)
		}
	}
}

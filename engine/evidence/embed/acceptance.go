package embed

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed questions.txt
var questionLines string

// Question is a question together with a passage that answers it.
type Question struct{ Text, Answer string }

// Questions returns the questions used to test embedders.
var Questions = sync.OnceValue(func() (out []Question) {
	for line := range strings.Lines(questionLines) {
		if text, answer, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			out = append(out, Question{text, answer})
		}
	}
	return out
})

// Score is the result of testing an embedder, from 0 to 1. It is based on all triples of a question, its answer, and
// the answer to another question: the score is the share of triples in which the question is closer to its own answer.
type Score float64

// MinScore is the lowest score of an embedder that is used for searches. Untrained models score .45
// to .61, even if they recognize shared words; a small model with static word vectors scores .86
// (measurements: docs/models.md).
const MinScore Score = 0.75

// String returns the score in percent.
func (s Score) String() string { return fmt.Sprintf("%.0f%%", float64(s)*100) }

// Test measures an embedder with the built-in questions. Any error comes from the embedder.
func Test(ctx context.Context, e Embedder) (Score, error) {
	all := Questions()
	texts := make([]string, 0, 2*len(all))
	for _, q := range all {
		texts = append(texts, q.Text)
	}
	for _, q := range all {
		texts = append(texts, q.Answer)
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return 0, err
	}
	questions, answers := vectors[:len(all)], vectors[len(all):]
	closer := 0
	for i, q := range questions {
		own := dot(q, answers[i])
		for j, a := range answers {
			if j != i && own > dot(q, a) {
				closer++
			}
		}
	}
	return Score(float64(closer) / float64(len(all)*(len(all)-1))), nil
}

// Package embed turns text into vectors that are close if the meanings are. The built-in embedder
// needs no download: it is trained, in seconds and deterministically, on the texts of the imported
// catalog and on a lexicon of our own. The package must not know about stores, indexes or rankings,
// and it contains no weights trained on third-party text.
//
// How the built-in embedder works:
//
//	texts ─▶ stems ─▶ PPMI of stems that occur together ─▶ truncated SVD
//	      ─▶ rows weighted by rarity, common direction removed          (start)
//	      ─▶ softmax over documents: each text should find its document (learned)
//	text  ─▶ sum of the rows of its stems and bigrams, scaled to length 1
package embed

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Embedder turns texts into vectors. Each vector has Dimensions elements and length 1, or is all
// zeros if the embedder knows none of the text's words.
type Embedder interface {
	// Name identifies the embedder: vectors of embedders with different names can't be compared.
	Name() string
	Dimensions() int
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Document is a subject that texts can refer to, such as a control.
type Document struct {
	ID string
	// Texts are different wordings for the document. The document itself is found by the first two,
	// its title and description; the others (question, objectives, maturity criteria) are different
	// ways to ask for it. Several documents may share a text.
	Texts []string
	// Codes are references to the document in other frameworks, as "framework:code". Documents that
	// share codes are related.
	Codes []string
}

// Pair is a text and the documents that it is known to refer to, such as a requirement and its controls.
type Pair struct {
	Text    string
	IDs     []string  // documents of the corpus; unknown ones are ignored
	Weights []float32 // one per id, larger is closer; nil for equal weights
}

// Corpus is the training data of a model.
type Corpus struct {
	Documents []Document
	Pairs     []Pair
}

func dot(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Data: a, Inc: 1}, blas32.Vector{N: len(b), Data: b, Inc: 1})
}

// addScaled adds alpha·x to y.
func addScaled(alpha float32, x, y []float32) {
	blas32.Axpy(alpha, blas32.Vector{N: len(x), Data: x, Inc: 1}, blas32.Vector{N: len(y), Data: y, Inc: 1})
}

func scaleVector(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

// normalize scales x to length 1 and returns its original length. If x is zero, or its length is
// too small for float32, x becomes zero and the result is 0.
func normalize(x []float32) (originalLength float32) {
	const shortest = 1e-12
	n := float32(math.Sqrt(float64(dot(x, x))))
	if n < shortest {
		clear(x)
		return 0
	}
	scaleVector(1/n, x)
	return n
}

package judge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/vecmath"
)

// Range of the similarity scale, in standard deviations above the mean cosine of unrelated texts.
const (
	minSimilarityDeviations  = 1.7 // below this, similarity is 0
	fullSimilarityDeviations = 5.5 // from here, similarity is 1 (same meaning)
)

// similarityFromCosine maps a cosine to a scale from 0 (unrelated) to 1 (same meaning).
func (m *Embedder) similarityFromCosine(cosine float32) float64 {
	z := (float64(cosine) - m.Mean) / max(m.Deviation, 1e-6)
	return min(1, max(0, (z-minSimilarityDeviations)/(fullSimilarityDeviations-minSimilarityDeviations)))
}

// unitVectorCosine returns the cosine of the angle between two unit vectors.
func unitVectorCosine(a, b []float32) float32 { return vecmath.Dot(a, b) }

// embedStatement computes two vectors for a statement: one of its text alone, and one of
// titledText, which also contains the control's title, because a statement may not name the
// control's subject. Without an embedder, it does nothing.
func (s *Session) embedStatement(ctx context.Context, d *preparedStatement, titledText string) error {
	if s.options.Embedder == nil {
		return nil
	}
	v, err := s.options.Embedder.Embed(ctx, []string{d.text, titledText})
	if err != nil {
		return fmt.Errorf("embedding %q: %w", text.Shorten(titledText, 80), err)
	}
	if len(v) != 2 {
		return fmt.Errorf("embedding %q: the model returned %d vectors for 2 texts", text.Shorten(titledText, 80), len(v))
	}
	d.vector, d.titledVector = v[0], v[1]
	return nil
}

// embedSentences computes two vectors for each sentence of a passage: one of the sentence with its lead-in, and
// one that also includes the heading above it. For the latter, it also computes the similarities to the nearest
// criteria. Without an embedder, it does nothing.
func (s *Session) embedSentences(ctx context.Context, p Passage, a *passageAnalysis) error {
	if s.options.Embedder == nil || len(a.Sentences) == 0 {
		return nil
	}
	texts := make([]string, 0, 2*len(a.Sentences))
	top := p.DocumentTitle
	if n := len(p.HeadingPath); n > 0 {
		top = p.HeadingPath[n-1]
	}
	for i := range a.Sentences {
		cur := &a.Sentences[i]
		own := cur.Text
		if lead := a.LeadInOrSelf(cur); lead != cur {
			own = lead.Text + " " + own
		}
		head := cmp.Or(a.Heading(cur), top)
		texts = append(texts, own, strings.TrimSpace(head+". "+own))
	}
	v, err := s.options.Embedder.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embedding the passage %s: %w", p.ChunkID, err)
	}
	if len(v) != len(texts) {
		return fmt.Errorf("embedding the passage %s: the model returned %d vectors for %d sentences", p.ChunkID, len(v), len(texts))
	}
	if a.nearest == nil {
		reference, err := s.options.Embedder.getOrEmbedCriteriaVectors(ctx)
		if err != nil {
			return err
		}
		if err := checkVectorLengths(v, reference.dims); err != nil {
			return err
		}
		under := make([][]float32, len(a.Sentences))
		for i := range under {
			under[i] = v[2*i+1]
		}
		a.nearest = reference.nearestSimilarities(under)
	}
	a.vectors = v
	return nil
}

// compareMeaning returns how similar sentence i is to a statement, and how many other criteria are closer to the
// sentence (see nearestCriteria.logarithmicRankOf). Both are 0 if there are no vectors.
func (s *Session) compareMeaning(d *preparedStatement, c *analyzedPassage, i int) (similarity, competition float64) {
	m := s.options.Embedder
	if len(c.vectors) == 0 || len(c.vectors[2*i]) != len(d.vector) || len(d.vector) == 0 {
		return 0, 0
	}
	own, under := c.vectors[2*i], c.vectors[2*i+1]
	closest := unitVectorCosine(d.titledVector, under)
	similarity = (m.similarityFromCosine(max(
		unitVectorCosine(d.vector, own),
		unitVectorCosine(d.vector, under),
	)) + m.similarityFromCosine(max(unitVectorCosine(d.titledVector, own), closest))) / 2
	return similarity, c.nearest[i].logarithmicRankOf(closest)
}

package evidence

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// Session searches a snapshot of one assessment. It holds the passages and documents in memory and is safe for
// concurrent use.
type Session struct {
	Documents  map[string]api.Document
	embedder   *embed.Model
	background embed.Background
	index      *search.Index
	chunks     map[string]api.Chunk
	// passages holds the passages by document if they differ from the stored ones; see AddDocumentsTo.
	passages map[string][]search.Passage
}

// OpenSession opens a session on an assessment.
func (s *Service) OpenSession(ctx context.Context, by api.Caller, assessment string) (*Session, error) {
	embedder, err := s.Embedder(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	ix, err := s.loadIndex(ctx, by.OrganizationID, assessment, embedder)
	if err != nil {
		return nil, err
	}
	x := &Session{
		embedder:   embedder,
		background: embedder.Background(),
		index:      ix,
		chunks:     map[string]api.Chunk{},
		Documents:  map[string]api.Document{},
	}
	return x, s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			x.Documents[d.ID] = d.Document
			chunks, err := readPassages(tx, &d)
			if err != nil {
				return err
			}
			for _, c := range chunks {
				x.chunks[c.ID] = c
			}
		}
		return nil
	})
}

// Find returns the passages that best answer a question, best first. It doesn't compute highlights.
func (x *Session) Find(ctx context.Context, query string, topK int) ([]Hit, error) {
	vectors, err := x.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	found, err := x.index.Search(ctx, search.Query{Text: query, Vector: vectors[0], TopK: topK, NoHighlights: true})
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(found))
	for _, r := range found {
		if c, ok := x.chunks[r.ID]; ok {
			hits = append(hits, Hit{Result: r, Chunk: c, Document: x.Documents[c.DocumentID]})
		}
	}
	return hits, nil
}

// Embed embeds texts with the session's embedder.
func (x *Session) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return x.embedder.Embed(ctx, texts)
}

// Background returns the typical similarity of unrelated texts for the embedder.
func (x *Session) Background() embed.Background { return x.background }

// Len returns the number of passages.
func (x *Session) Len() int { return len(x.chunks) }

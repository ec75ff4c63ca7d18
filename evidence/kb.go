package evidence

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence/embed"
	"github.com/scf-service/service/evidence/search"
	"github.com/scf-service/service/store"
)

// indexes are the search indexes by assessment, filled from the store when first
// needed. They can always be rebuilt.
type indexes struct {
	mu sync.Mutex
	of map[string]*assessmentIndex
}

type assessmentIndex struct {
	mu    sync.Mutex
	index *search.Index
}

func (x *indexes) slot(assessment string) *assessmentIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.of[assessment]
	if a == nil {
		a = &assessmentIndex{}
		x.of[assessment] = a
	}
	return a
}

func (x *indexes) drop(assessment string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, assessment)
}

// index is the search index of an assessment, loaded where it isn't.
func (s *Service) index(ctx context.Context, org, assessment string, embedder *embed.Model) (*search.Index, error) {
	a := s.indexes.slot(assessment)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.index != nil {
		return a.index, nil
	}
	ix := search.New(search.Options{Weight: embedder.Weight})
	err := s.db.View(ctx, func(tx *store.Tx) error {
		vectors := map[string][]float32{}
		for v, err := range store.Vectors.Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			vectors[v.ChunkID] = v.Values
		}
		categories := map[string]string{}
		for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			categories[d.ID] = d.Category
		}
		var all []search.Passage
		for c, err := range store.Chunks.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			all = append(all, search.Passage{ID: c.ID, DocumentID: c.DocumentID, AssessmentID: assessment, Category: categories[c.DocumentID],
				Text: c.Text, HeadingPath: c.HeadingPath, Vector: vectors[c.ID]})
		}
		return ix.Put(all...)
	})
	if err != nil {
		return nil, err
	}
	a.index = ix
	return ix, nil
}

// Hit is a passage that a search found, with its document.
type Hit struct {
	search.Result
	Chunk    api.Chunk
	Document api.Document
}

// Find searches one assessment. Limit is how many passages at most.
func (s *Service) Find(ctx context.Context, by api.Caller, assessment string, q search.Query) ([]Hit, string, error) {
	embedder, err := s.Embedder(ctx, by, assessment)
	if err != nil {
		return nil, "", err
	}
	ix, err := s.index(ctx, by.OrganizationID, assessment, embedder)
	if err != nil {
		return nil, "", err
	}
	vectors, err := embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		return nil, "", err
	}
	q.Vector = vectors[0]
	found, err := ix.Search(ctx, q)
	if errors.Is(err, search.ErrQuery) {
		return nil, "", api.Invalid("query", "%v", err)
	}
	if err != nil {
		return nil, "", err
	}
	hits := make([]Hit, 0, len(found))
	err = s.db.View(ctx, func(tx *store.Tx) error {
		docs := map[string]store.Document{}
		for _, r := range found {
			c, err := store.Chunks.Get(tx, by.OrganizationID, r.ID)
			if errors.Is(err, store.ErrNotFound) {
				continue // removed since the index was loaded
			}
			if err != nil {
				return err
			}
			d, ok := docs[c.DocumentID]
			if !ok {
				if d, err = store.Documents.Get(tx, by.OrganizationID, c.DocumentID); err != nil {
					return err
				}
				docs[c.DocumentID] = d
			}
			hits = append(hits, Hit{r, c, d.Document})
		}
		return nil
	})
	return hits, embedder.Name(), err
}

// Search answers a question with passages: of one assessment, or of all of the organization.
func (s *Service) Search(ctx context.Context, by api.Caller, in *api.SearchInput) (*api.SearchAnswer, error) {
	body := in.Body
	if body.TopK == 0 {
		body.TopK = api.DefaultSearchResults
	}
	assessments := []string{body.AssessmentID}
	if body.AssessmentID == "" {
		assessments = nil
		err := s.db.View(ctx, func(tx *store.Tx) error {
			for a, err := range store.Assessments.Scan(tx, by.OrganizationID) {
				if err != nil {
					return err
				}
				assessments = append(assessments, a.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	q := search.Query{Text: body.Query, Category: body.Category, TopK: body.TopK, MinScore: body.MinScore}
	if body.DocumentID != "" {
		q.DocumentIDs = []string{body.DocumentID}
	}
	out := &api.SearchAnswer{Data: []api.SearchHit{}, Query: body.Query, TopK: body.TopK, MinScore: body.MinScore}
	for _, a := range assessments {
		hits, embedder, err := s.Find(ctx, by, a, q)
		if err != nil {
			return nil, err
		}
		out.Embedder = embedder
		for _, h := range hits {
			out.Data = append(out.Data, searchHit(h))
		}
	}
	slices.SortStableFunc(out.Data, func(a, b api.SearchHit) int { return cmp.Compare(b.Score, a.Score) })
	out.Data = out.Data[:min(len(out.Data), body.TopK)]
	return out, nil
}

func searchHit(h Hit) api.SearchHit {
	out := api.SearchHit{ChunkID: h.Chunk.ID, DocumentID: h.Document.ID, AssessmentID: h.Chunk.AssessmentID, DocumentTitle: h.Document.Title,
		Filename: h.Document.Filename, Text: h.Chunk.Text, HeadingPath: h.Chunk.HeadingPath, Highlights: []string{}, Locator: h.Chunk.Locator,
		Score: h.Score, Scores: api.SearchScores{Semantic: h.Semantic, Keyword: h.Keyword}}
	for _, l := range h.Highlights {
		out.Highlights = append(out.Highlights, l.Text)
	}
	return out
}

// ListChunks lists passages of the organization.
func (s *Service) ListChunks(ctx context.Context, by api.Caller, in *api.ChunksInput) (*api.List[api.Chunk], error) {
	q := store.PageQuery[api.Chunk]{}
	switch {
	case in.DocumentID != "":
		q.Index, q.Prefix = "document", store.K(in.DocumentID)
		if in.AssessmentID != "" {
			q.Filter = func(c *api.Chunk) bool { return c.AssessmentID == in.AssessmentID }
		}
	case in.AssessmentID != "":
		q.Index, q.Prefix = "assessment", store.K(in.AssessmentID)
	}
	return store.List(ctx, s.db, store.Chunks, by.OrganizationID, in.Paging, q)
}

// GetChunk is one passage.
func (s *Service) GetChunk(ctx context.Context, by api.Caller, in *api.ChunkInput) (*api.Chunk, error) {
	var c api.Chunk
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		c, err = store.Chunks.Get(tx, by.OrganizationID, in.ChunkID)
		return store.Missing(err, "passage", in.ChunkID)
	})
	return &c, err
}

// Stats counts the knowledge base.
func (s *Service) Stats(ctx context.Context, by api.Caller, _ *api.None) (*api.KBStats, error) {
	out := &api.KBStats{OrganizationID: by.OrganizationID, DocumentsByStatus: map[api.DocumentState]int{}}
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		for d, err := range store.Documents.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			out.Documents++
			out.DocumentsByStatus[d.Status]++
			if d.Embedder != "" {
				out.Embedder = d.Embedder
			}
		}
		if out.Chunks, err = store.Chunks.Count(tx, by.OrganizationID); err != nil {
			return err
		}
		for v, err := range store.Vectors.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			out.EmbeddingDimensions = len(v.Values)
			break
		}
		out.Embedded, err = store.Vectors.Count(tx, by.OrganizationID)
		return err
	})
	return out, err
}

// EmbeddingStatus tells how far the embedding is.
func (s *Service) EmbeddingStatus(ctx context.Context, by api.Caller, _ *api.None) (*api.EmbeddingStatus, error) {
	stats, err := s.Stats(ctx, by, nil)
	if err != nil {
		return nil, err
	}
	out := &api.EmbeddingStatus{Status: "idle", Embedder: stats.Embedder, Total: stats.Chunks, Embedded: stats.Embedded,
		Pending: stats.Chunks - stats.Embedded, Failed: stats.DocumentsByStatus[api.DocumentFailed]}
	if stats.DocumentsByStatus[api.DocumentUploaded]+stats.DocumentsByStatus[api.DocumentProcessing] > 0 {
		out.Status = "embedding"
	}
	return out, nil
}

package evidence

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// Reembedding holds the passages of an assessment embedded for another catalog version, not stored
// yet: a session to search them and the vectors.
type Reembedding struct {
	*Session
	assessmentID, embedderName string
	vectors                    []store.Vector
}

// embedBatchSize is the number of passages embedded between checks for cancellation.
const embedBatchSize = 256

// PrepareReembedding embeds the passages of an assessment for another catalog version without storing
// anything. If the embedder is the same, there is nothing to store.
func (s *Service) PrepareReembedding(ctx context.Context, by api.Caller, assessment, version string) (*Reembedding, error) {
	embedder, err := s.loadOrTrainEmbedder(ctx, version)
	if err != nil {
		return nil, err
	}
	old, err := s.OpenSession(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	if old.embedder.Name() == embedder.Name() {
		old.passages, err = s.storedPassages(ctx, by, assessment)
		return &Reembedding{Session: old, assessmentID: assessment, embedderName: embedder.Name()}, err
	}
	out := &Reembedding{assessmentID: assessment, embedderName: embedder.Name(), Session: &Session{
		Documents:  old.Documents,
		embedder:   embedder,
		passages:   map[string][]search.Passage{},
		background: embedder.Background(),
		index:      search.New(search.Options{Weight: embedder.Weight, Embed: embedder.EmbedAll}),
		chunks:     old.chunks,
	}}
	ids := slices.Sorted(maps.Keys(old.chunks))
	passages := make([]search.Passage, 0, len(ids))
	for len(ids) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := ids[:min(embedBatchSize, len(ids))]
		ids = ids[len(some):]
		texts := make([]string, len(some))
		for i, id := range some {
			texts[i] = old.chunks[id].Text
		}
		vectors, err := embedder.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			c := old.chunks[id]
			p := toSearchPassage(c, old.Documents[c.DocumentID], vectors[i])
			passages = append(passages, p)
			out.passages[c.DocumentID] = append(out.passages[c.DocumentID], p)
			out.vectors = append(out.vectors, store.Vector{
				OrganizationID: by.OrganizationID, AssessmentID: assessment, DocumentID: c.DocumentID,
				ChunkID: id, Embedder: out.embedderName, Values: vectors[i],
			})
		}
	}
	return out, out.index.Put(passages...)
}

// storedPassages returns an assessment's passages by document, with their vectors.
func (s *Service) storedPassages(ctx context.Context, by api.Caller, assessment string) (map[string][]search.Passage, error) {
	out := map[string][]search.Passage{}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			if out[d.ID], err = readSearchPassages(tx, &d, store.Vectors); err != nil {
				return err
			}
		}
		return nil
	})
}

// SaveReembedding stores the vectors in the transaction that moves the assessment to the other
// catalog version. It fails if documents were added, removed or queued since.
func (s *Service) SaveReembedding(tx *store.Tx, by api.Caller, r *Reembedding) error {
	moved := api.Conflict("documents were changed or are still being processed; try again when processing is finished")
	var docs []store.Document
	for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(r.assessmentID)) {
		if err != nil {
			return err
		}
		if isPending(d.Status) {
			return moved
		}
		docs = append(docs, d)
	}
	n, err := store.Chunks.By("assessment").Count(tx, by.OrganizationID, r.assessmentID)
	if err != nil {
		return err
	}
	if n != len(r.chunks) {
		return moved
	}
	for i := range r.vectors {
		if has, err := store.Chunks.Has(tx, by.OrganizationID, r.vectors[i].ChunkID); err != nil || !has {
			return errors.Join(err, moved)
		}
		if err := store.Vectors.Put(tx, by.OrganizationID, &r.vectors[i]); err != nil {
			return err
		}
	}
	if len(r.vectors) == 0 {
		return nil
	}
	for _, d := range docs {
		if d.Status == api.DocumentIngested {
			d.Embedder = r.embedderName
			if err := savePacks(tx, &d, r.passages[d.ID]); err != nil {
				return err
			}
			if err := store.Documents.Put(tx, by.OrganizationID, &d); err != nil {
				return err
			}
		}
	}
	return nil
}

// DropCachedIndex makes the next search reload the assessment's passages.
func (s *Service) DropCachedIndex(assessment string) { s.indexes.remove(assessment) }

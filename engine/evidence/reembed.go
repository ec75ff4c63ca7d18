package evidence

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// Reembedding holds an assessment's passages embedded for another catalog version: a session for
// searching them, and stored copies that aren't in use yet.
type Reembedding struct {
	*Session
	assessmentID, embedderName string
	basis                      map[string]store.Document
	prepared                   map[string]*preparedPassages // by document; empty if the embedder is the same
}

// PrepareReembedding embeds the passages of an assessment for another catalog version. If both
// versions have the same embedder, nothing is stored. The caller must always call
// FinishReembedding, even after an error.
func (s *Service) PrepareReembedding(ctx context.Context, by api.Caller, assessment, catalogVersion string) (*Reembedding, error) {
	embedder, err := s.loadOrTrainEmbedder(ctx, catalogVersion)
	if err != nil {
		return nil, err
	}
	if _, err := s.Embedder(ctx, by, assessment); err != nil { // also embeds what has not been embedded yet
		return nil, err
	}
	// Changes made after this are detected when the result is saved.
	basis, chunks := map[string]store.Document{}, map[string][]api.Chunk{}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			basis[d.ID] = d
			if chunks[d.ID], err = readPassages(tx, &d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	old, err := s.OpenSession(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	out := &Reembedding{
		Session: old, assessmentID: assessment, embedderName: embedder.Name(), basis: basis, prepared: map[string]*preparedPassages{},
	}
	if old.embedder.Name() == embedder.Name() {
		old.passages, err = s.storedPassages(ctx, by, assessment)
		return out, err
	}
	out.Session = &Session{
		Documents:  old.Documents,
		embedder:   embedder,
		passages:   map[string][]search.Passage{},
		background: embedder.Background(),
		index:      search.New(search.Options{Weight: embedder.StemImportance, Embed: embedder.EmbedAll}),
		chunks:     old.chunks,
	}
	for _, id := range slices.Sorted(maps.Keys(basis)) {
		d := basis[id]
		texts := make([]string, len(chunks[id]))
		for i, c := range chunks[id] {
			texts[i] = c.Text
		}
		vectors, err := embedder.Embed(ctx, texts)
		if err != nil {
			s.FinishReembedding(ctx, by, out)
			return nil, err
		}
		for i, c := range chunks[id] {
			out.passages[id] = append(out.passages[id], toSearchPassage(c, d.Document, vectors[i]))
		}
		setLanguages(&d, out.passages[id])
		p, err := preparePassages(&d, chunks[id], vectors)
		if err == nil {
			err = s.stagePassages(ctx, &d, p)
		}
		if err == nil {
			err = out.index.Put(out.passages[id]...)
		}
		out.prepared[id] = p
		if err != nil {
			s.FinishReembedding(ctx, by, out)
			return nil, err
		}
	}
	return out, nil
}

// FinishReembedding deletes the passages that aren't used: the old ones after SaveReembedding, and
// otherwise the new ones.
func (s *Service) FinishReembedding(ctx context.Context, by api.Caller, r *Reembedding) {
	s.indexes.remove(r.assessmentID)
	if len(r.prepared) == 0 { // the embedder is the same, so no passages were copied
		return
	}
	for _, p := range r.prepared {
		if p != nil {
			s.staging.remove(p)
		}
	}
	s.deleteDiscardedAndLog(ctx)
	s.markDuplicatesIfIdleAndLog(context.WithoutCancel(ctx), by.OrganizationID, r.assessmentID) // later marks are lost
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

// SaveReembedding makes the new vectors current, in the transaction that moves the assessment to the other
// catalog version. It fails if documents have been added, changed, removed or queued since PrepareReembedding.
func (s *Service) SaveReembedding(tx *store.Tx, by api.Caller, r *Reembedding) error {
	moved := api.Conflict("documents were changed or are still being processed; try again when processing is finished")
	var docs []store.Document
	for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(r.assessmentID)) {
		if err != nil {
			return err
		}
		if isPending(d.Status) || !reflect.DeepEqual(d, r.basis[d.ID]) {
			return moved
		}
		docs = append(docs, d)
	}
	if len(docs) != len(r.basis) {
		return moved
	}
	for _, d := range docs {
		p := r.prepared[d.ID]
		if p == nil || d.Status != api.DocumentIngested {
			continue
		}
		if d.Embedder = r.embedderName; p.set != 0 {
			if err := s.activatePassages(tx, &d, p); err != nil {
				return err
			}
		}
		if err := store.Documents.Put(tx, by.OrganizationID, &d); err != nil {
			return err
		}
	}
	return nil
}

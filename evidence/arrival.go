package evidence

import (
	"context"
	"errors"
	"fmt"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence/search"
	"github.com/scf-service/service/store"
)

// Arrival is a document that was read elsewhere, on its way to an assessment here.
type Arrival struct {
	Document store.Document
	chunks   []api.Chunk
	vectors  [][]float32
}

// Arrive embeds the passages of a document that was read elsewhere, by the embedder of the
// catalog version that its assessment uses. Nothing is kept until Keep.
func (s *Service) Arrive(ctx context.Context, org, version string, doc store.Document, chunks []api.Chunk) (*Arrival, error) {
	doc.OrganizationID, doc.Stage = org, "done"
	out := &Arrival{Document: doc, chunks: chunks}
	if len(chunks) == 0 {
		return out, nil
	}
	embedder, err := s.embedderOf(ctx, version)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		if c.AssessmentID != doc.AssessmentID || c.DocumentID != doc.ID || c.ID == "" {
			return nil, api.Invalid("chunks", "a passage of another document came with %s", doc.Filename)
		}
		c.OrganizationID = org
		texts[i] = c.Text
	}
	for n := 0; n < len(texts); n += embedAtOnce {
		some, err := embedder.Embed(ctx, texts[n:min(n+embedAtOnce, len(texts))])
		if err != nil {
			return nil, fmt.Errorf("embedding %s: %w", doc.Filename, err)
		}
		out.vectors = append(out.vectors, some...)
	}
	out.Document.Embedder = embedder.Name()
	return out, nil
}

// Keep puts the document with its passages in place of what it was. told: whoever rests on
// passages that say something else now is to be told.
func (s *Service) Keep(tx *store.Tx, by api.Caller, a *Arrival, told bool) error {
	doc := a.Document
	before, err := passagesOf(tx, &doc)
	if err != nil {
		return err
	}
	if err := s.forget(tx, &doc); err != nil {
		return err
	}
	now := map[string]string{}
	packed := make([]search.Passage, len(a.chunks))
	for i := range a.chunks {
		c := &a.chunks[i]
		now[c.ID] = c.SHA256
		if there, err := store.Chunks.Has(tx, doc.OrganizationID, c.ID); err != nil || there {
			return errors.Join(err, api.Invalid("chunks", "another document has the passage %s of %s", c.ID, doc.Filename))
		}
		vec := store.Vector{OrganizationID: doc.OrganizationID, AssessmentID: doc.AssessmentID, DocumentID: doc.ID, ChunkID: c.ID, Embedder: doc.Embedder, Values: a.vectors[i]}
		if err := errors.Join(store.Chunks.Insert(tx, doc.OrganizationID, c), store.Vectors.Put(tx, doc.OrganizationID, &vec)); err != nil {
			return err
		}
		packed[i] = passage(*c, doc.Document, a.vectors[i])
	}
	if err := putPacks(tx, &doc, packed); err != nil {
		return err
	}
	if told {
		changed := map[string]bool{}
		for _, c := range before {
			if now[c.ID] != c.SHA256 {
				changed[c.ID] = true
			}
		}
		if err := s.tell(tx, by, &doc, changed); err != nil {
			return err
		}
	}
	return store.Documents.Put(tx, doc.OrganizationID, &doc)
}

// Leave removes a document with its passages, and tells whoever rests on them where told.
func (s *Service) Leave(tx *store.Tx, by api.Caller, doc *store.Document, told bool) error {
	before, err := passagesOf(tx, doc)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, c := range before {
		gone[c.ID] = told
	}
	if err := s.forget(tx, doc); err != nil {
		return err
	}
	if told {
		if err := s.tell(tx, by, doc, gone); err != nil {
			return err
		}
	}
	return store.Documents.Delete(tx, doc.OrganizationID, doc.ID)
}

// Passages are a document's passages in their order.
func Passages(tx *store.Tx, doc *store.Document) ([]api.Chunk, error) { return passagesOf(tx, doc) }

// Arrived has the next search see what was kept.
func (s *Service) Arrived(assessment string) {
	s.indexes.drop(assessment)
	s.outside.embedNow()
}

package evidence

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence/embed"
	"github.com/scf-service/service/evidence/search"
	"github.com/scf-service/service/store"
)

// Standing holds the passages of a collection against questions that stay the same, as
// search.Standing does, with the documents and places they come from.
type Standing struct {
	*search.Standing
	documents map[string]api.Document
	records   map[string]store.Document // as they were when their passages were taken
	slots     map[string][]int          // of each document's passages
	chunks    []api.Chunk               // by slot
}

// Model is the built-in embedder, Scale what it and a catalog say words are worth, and
// Question what passages are held against.
type (
	Model    = embed.Model
	Scale    = search.Scale
	Question = search.Question
)

// NewStanding is empty.
func NewStanding(scale *Scale, questions []Question, topK int) (*Standing, error) {
	s, err := search.NewStanding(scale, questions, topK)
	return &Standing{Standing: s, documents: map[string]api.Document{}, records: map[string]store.Document{}, slots: map[string][]int{}}, err
}

// NewScale measures what words and closeness are worth by texts that do not change.
func NewScale(m *Model, texts []string) *Scale {
	ground := m.Background()
	return search.NewScale(texts, m.Parts, search.Background{Mean: float64(ground.Mean), Deviation: float64(ground.Deviation)}, m.Weight)
}

// Documents are those that there are, by id.
func (x *Standing) Documents() map[string]api.Document { return x.documents }

// Slots are the places of a document's passages.
func (x *Standing) Slots(document string) []int { return x.slots[document] }

// At is the passage at a place, with its document.
func (x *Standing) At(slot int) (api.Chunk, api.Document) {
	c := x.chunks[slot]
	return c, x.documents[c.DocumentID]
}

func (x *Standing) put(d api.Document, chunks []api.Chunk, passages []search.Passage) error {
	slots, err := x.Put(d.ID, passages...)
	if err != nil {
		return err
	}
	for _, slot := range x.slots[d.ID] {
		x.chunks[slot] = api.Chunk{}
	}
	x.documents[d.ID], x.slots[d.ID] = d, slots
	x.chunks = append(x.chunks, chunks...)
	return nil
}

func (x *Standing) drop(document string) error {
	for _, slot := range x.slots[document] {
		x.chunks[slot] = api.Chunk{}
	}
	delete(x.documents, document)
	delete(x.records, document)
	delete(x.slots, document)
	_, err := x.Put(document)
	return err
}

// Refresh takes in what came, changed and went in an assessment since it was called last.
func (s *Service) Refresh(ctx context.Context, by api.Caller, assessment string, x *Standing) error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		now := map[string]bool{}
		for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			now[d.ID] = true
			if before, known := x.records[d.ID]; known && reflect.DeepEqual(before, d) {
				continue
			}
			chunks, passages, err := passagesWith(tx, &d, store.Vectors)
			if err != nil {
				return err
			}
			if err := x.put(d.Document, chunks, passages); err != nil {
				return err
			}
			x.records[d.ID] = d
		}
		for id := range x.documents {
			if !now[id] {
				if err := x.drop(id); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// Stand takes in all that a session holds which is not an assessment's as it is stored.
func (x *Session) Stand(to *Standing) error {
	for _, id := range slices.Sorted(maps.Keys(x.Documents)) {
		of := x.passages[id]
		chunks := make([]api.Chunk, len(of))
		for i, p := range of {
			chunks[i] = x.chunks[p.ID]
		}
		if err := to.put(x.Documents[id], chunks, of); err != nil {
			return err
		}
	}
	return nil
}

// Embedder is the one that the session's passages were embedded by.
func (x *Session) Embedder() *Model { return x.embedder }

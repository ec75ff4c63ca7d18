package evidence

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// PersistentQuery matches the passages of an assessment against fixed questions. In addition to
// search.PersistentQueries, it holds the documents that the passages come from.
type PersistentQuery struct {
	*search.PersistentQueries
	documents map[string]api.Document
	records   map[string]store.Document // in the state in which their passages were added
	slots     map[string][]int          // of each document's passages
	chunks    []api.Chunk               // by slot
}

// Model is the built-in embedder, Scale holds the weights of words for an embedder and a catalog,
// Question is a question that passages are matched against, and Answer a passage that matches it.
type (
	Model    = embed.Model
	Scale    = search.Scale
	Question = search.Question
	Answer   = search.Answer
)

// NewPersistentQuery returns a query without documents.
func NewPersistentQuery(scale *Scale, questions []Question, topK int) (*PersistentQuery, error) {
	s, err := search.NewPersistentQueries(scale, questions, topK)
	return &PersistentQuery{
		PersistentQueries: s,
		documents:         map[string]api.Document{},
		records:           map[string]store.Document{},
		slots:             map[string][]int{},
	}, err
}

// NewScale computes a scale from a fixed list of texts, such as those of a catalog.
func NewScale(m *Model, texts []string) *Scale {
	ground := m.Background()
	return search.NewScale(
		texts,
		m.EmbedAll,
		search.Background{Mean: float64(ground.Mean), Deviation: float64(ground.Deviation)},
		m.StemImportance,
	)
}

// Documents returns the documents by ID.
func (x *PersistentQuery) Documents() map[string]api.Document { return x.documents }

// DocumentSlots returns the slots (index positions) of a document's passages.
func (x *PersistentQuery) DocumentSlots(document string) []int { return x.slots[document] }

// PassageAt returns the passage in a slot and the document it belongs to.
func (x *PersistentQuery) PassageAt(slot int) (api.Chunk, api.Document) {
	c := x.chunks[slot]
	return c, x.documents[c.DocumentID]
}

func (x *PersistentQuery) addOrReplaceDocument(d api.Document, chunks []api.Chunk, passages []search.Passage) error {
	slots, err := x.ReplaceDocument(d.ID, passages...)
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

func (x *PersistentQuery) removeDocument(document string) error {
	for _, slot := range x.slots[document] {
		x.chunks[slot] = api.Chunk{}
	}
	delete(x.documents, document)
	delete(x.records, document)
	delete(x.slots, document)
	_, err := x.ReplaceDocument(document)
	return err
}

// storedDocument is a stored document with its passages.
type storedDocument struct {
	store.Document
	chunks   []api.Chunk
	passages []search.Passage
}

// readAhead is the number of documents read ahead while one is matched against the questions.
const readAhead = 8

// RefreshQuery updates the query with the documents that were added, changed or removed in an assessment since
// the last call.
func (s *Service) RefreshQuery(ctx context.Context, by api.Caller, assessment string, query *PersistentQuery) error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		fresh, stop, put := make(chan storedDocument, readAhead), make(chan struct{}), make(chan error, 1)
		go func() {
			defer close(stop)
			put <- query.addDocuments(fresh)
		}()
		now, err := sendChangedDocuments(ctx, tx, by, assessment, maps.Clone(query.records), fresh, stop)
		close(fresh)
		if err := errors.Join(err, <-put); err != nil {
			return err
		}
		for id := range query.documents {
			if !now[id] {
				if err := query.removeDocument(id); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// sendChangedDocuments sends the new and changed documents of an assessment until stop is closed. It returns the
// IDs of all its documents.
func sendChangedDocuments(
	ctx context.Context,
	tx *store.Tx,
	by api.Caller,
	assessment string,
	known map[string]store.Document,
	to chan<- storedDocument,
	stop <-chan struct{},
) (map[string]bool, error) {
	present := map[string]bool{}
	for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		present[d.ID] = true
		if before, is := known[d.ID]; is && reflect.DeepEqual(before, d) || isUnembedded(&d) {
			continue
		}
		chunks, passages, err := readPassagesWithVectors(tx, &d, store.Vectors)
		if err != nil {
			return nil, err
		}
		select {
		case to <- storedDocument{Document: d, chunks: chunks, passages: passages}:
		case <-stop:
			return present, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return present, nil
}

// addDocuments adds the documents received from a channel until the channel is closed or adding a document fails.
func (x *PersistentQuery) addDocuments(from <-chan storedDocument) error {
	for d := range from {
		if err := x.addOrReplaceDocument(d.Document.Document, d.chunks, d.passages); err != nil {
			return err
		}
		x.records[d.ID] = d.Document
	}
	return nil
}

// AddDocumentsTo adds all documents of the session to the query. It is meant for sessions whose
// passages differ from the stored ones, which are those of a Library or a Reembedding.
func (x *Session) AddDocumentsTo(query *PersistentQuery) error {
	for _, id := range slices.Sorted(maps.Keys(x.Documents)) {
		passages := x.passages[id]
		chunks := make([]api.Chunk, len(passages))
		for i, p := range passages {
			chunks[i] = x.chunks[p.ID]
		}
		if err := query.addOrReplaceDocument(x.Documents[id], chunks, passages); err != nil {
			return err
		}
	}
	return nil
}

// Embedder returns the embedder with which the session's passages were embedded.
func (x *Session) Embedder() *Model { return x.embedder }

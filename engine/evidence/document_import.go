package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// ImportedDocument is a document that was read elsewhere and is being imported into an assessment.
type ImportedDocument struct {
	Document store.Document
	chunks   []api.Chunk
	vectors  [][]float32
}

// PrepareImport embeds the passages of a document that was read elsewhere, with the embedder of the
// assessment's catalog version. Nothing is stored until SaveImport.
func (s *Service) PrepareImport(
	ctx context.Context,
	org, version string,
	doc store.Document,
	chunks []api.Chunk,
) (*ImportedDocument, error) {
	doc.OrganizationID, doc.Stage = org, "done"
	out := &ImportedDocument{Document: doc, chunks: chunks}
	if len(chunks) == 0 {
		return out, nil
	}
	embedder, err := s.loadOrTrainEmbedder(ctx, version)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		if c.AssessmentID != doc.AssessmentID || c.DocumentID != doc.ID || c.ID == "" {
			return nil, api.Invalid("chunks", "%s was sent with a passage of another document", doc.Filename)
		}
		c.OrganizationID = org
		texts[i] = c.Text
	}
	for n := 0; n < len(texts); n += embedBatchSize {
		some, err := embedder.Embed(ctx, texts[n:min(n+embedBatchSize, len(texts))])
		if err != nil {
			return nil, fmt.Errorf("embedding %s: %w", doc.Filename, err)
		}
		out.vectors = append(out.vectors, some...)
	}
	out.Document.Embedder = embedder.Name()
	return out, nil
}

// ReparseForImport parses the file of a document that was read elsewhere as if it had been uploaded
// here. The passages get their text from the file and keep the received ids; strange counts
// received passages that aren't in the file. Nothing is stored until SaveImport.
func (s *Service) ReparseForImport(
	ctx context.Context,
	org, version string,
	doc store.Document,
	received []api.Chunk,
) (a *ImportedDocument, unmatched int, err error) {
	doc.OrganizationID, doc.Stage = org, "done"
	doc.Filename, doc.Path = cleanFilename(doc.Filename), cleanPath(doc.Path)
	if doc.Filename == "" || len(doc.Category) > maxCategory {
		return nil, 0, api.Invalid("documents", "a document has no name, or a category of more than %d bytes", maxCategory)
	}
	select {
	case s.rereadSlots <- struct{}{}:
		defer func() { <-s.rereadSlots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	f, size, err := s.db.Blobs().Open(doc.SHA256)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	doc.SizeBytes = size
	parsed, chunks, err := s.parseAndChunk(ctx, doc.Filename, readerAt{f}, size)
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err != nil {
		reason := err.Error()
		doc.Status, doc.Error, doc.ChunkCount, doc.Embedder = api.DocumentFailed, &reason, 0, ""
		return &ImportedDocument{Document: doc}, len(received), nil
	}
	applyMetadata(&doc, parsed, s.categorize)
	doc.Status, doc.Error, doc.ChunkCount = api.DocumentIngested, nil, len(chunks)
	parsedTexts := map[string]bool{}
	for i := range chunks {
		parsedTexts[chunks[i].Text] = true
	}
	var known []api.Chunk
	duplicateMarks := map[string]*string{}
	for i := range received {
		c := &received[i]
		if !parsedTexts[c.Text] {
			unmatched++
		}
		if c.ID != "" && len(c.ID) <= maxPassageID && c.DocumentID == doc.ID && c.AssessmentID == doc.AssessmentID {
			known, duplicateMarks[c.ID] = append(known, *c), c.DuplicateOf
		}
	}
	records := toChunkRecords(org, &doc, doc.CreatedAt, known, chunks)
	for i := range records {
		records[i].DuplicateOf = duplicateMarks[records[i].ID]
	}
	a, err = s.PrepareImport(ctx, org, version, doc, records)
	return a, unmatched, err
}

// maxPassageID is the maximum length of the id of an imported passage.
const maxPassageID = 64

// parseAndChunk parses a file and splits it into chunks; a file without any is ErrEmpty. A panic of the
// parser is returned as an error.
func (s *Service) parseAndChunk(
	ctx context.Context,
	name string,
	content io.ReaderAt,
	size int64,
) (parsed *document.Document, chunks []chunk.Chunk, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("parsing a document panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("parsing panicked: %v", p)
		}
	}()
	if parsed, err = s.reader.Read(ctx, name, content, size); err != nil {
		return nil, nil, err
	}
	if chunks = chunk.Split(parsed, chunk.Options{}); len(chunks) == 0 {
		return nil, nil, document.ErrEmpty
	}
	return parsed, chunks, nil
}

// SaveImport replaces the stored document and its passages. If notify is set, those who depend on
// changed passages are notified.
func (s *Service) SaveImport(tx *store.Tx, by api.Caller, a *ImportedDocument, notify bool) error {
	doc := a.Document
	before, err := readPassages(tx, &doc)
	if err != nil {
		return err
	}
	if err := s.deletePassages(tx, &doc); err != nil {
		return err
	}
	now := map[string]string{}
	packed := make([]search.Passage, len(a.chunks))
	for i := range a.chunks {
		c := &a.chunks[i]
		now[c.ID] = c.SHA256
		if there, err := store.Chunks.Has(tx, doc.OrganizationID, c.ID); err != nil || there {
			return errors.Join(err, api.Invalid("chunks", "passage %s of %s already belongs to another document", c.ID, doc.Filename))
		}
		vec := store.Vector{
			OrganizationID: doc.OrganizationID,
			AssessmentID:   doc.AssessmentID,
			DocumentID:     doc.ID,
			ChunkID:        c.ID,
			Embedder:       doc.Embedder,
			Values:         a.vectors[i],
		}
		if err := errors.Join(store.Chunks.Insert(tx, doc.OrganizationID, c), store.Vectors.Put(tx, doc.OrganizationID, &vec)); err != nil {
			return err
		}
		packed[i] = toSearchPassage(*c, doc.Document, a.vectors[i])
	}
	if err := savePacks(tx, &doc, packed); err != nil {
		return err
	}
	if notify {
		changed := map[string]bool{}
		for _, c := range before {
			if now[c.ID] != c.SHA256 {
				changed[c.ID] = true
			}
		}
		if err := s.notifyChangedPassageIDs(tx, by, &doc, changed); err != nil {
			return err
		}
	}
	return store.Documents.Put(tx, doc.OrganizationID, &doc)
}

// DeleteDocument removes a document and its passages and, if notify is set, notifies those who
// depend on them.
func (s *Service) DeleteDocument(tx *store.Tx, by api.Caller, doc *store.Document, notify bool) error {
	before, err := readPassages(tx, doc)
	if err != nil {
		return err
	}
	removed := map[string]bool{}
	for _, c := range before {
		removed[c.ID] = notify
	}
	if err := s.deletePassages(tx, doc); err != nil {
		return err
	}
	if notify {
		if err := s.notifyChangedPassageIDs(tx, by, doc, removed); err != nil {
			return err
		}
	}
	return store.Documents.Delete(tx, doc.OrganizationID, doc.ID)
}

// DocumentPassages returns a document's passages in document order.
func DocumentPassages(tx *store.Tx, doc *store.Document) ([]api.Chunk, error) {
	return readPassages(tx, doc)
}

// DropCachedIndexAndWakeEmbedder makes the next search reload the assessment's passages, and has them
// embedded by the configured model.
func (s *Service) DropCachedIndexAndWakeEmbedder(assessment string) {
	s.indexes.remove(assessment)
	s.remote.wakeWorker()
}

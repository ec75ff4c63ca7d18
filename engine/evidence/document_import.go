package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/language"
	"github.com/scf-service/service/store"
)

// ImportedDocument is a document that was read elsewhere and is being imported into an assessment.
type ImportedDocument struct {
	Document store.Document
	passages preparedPassages
}

// EmbedForImport embeds the passages of a document that was read elsewhere, using the embedder of
// the assessment's catalog version. Nothing is visible until SaveImport. The caller must always
// call ReleaseImports, even after an error.
func (s *Service) EmbedForImport(
	ctx context.Context,
	org, version string,
	doc store.Document,
	chunks []api.Chunk,
) (*ImportedDocument, error) {
	doc.OrganizationID, doc.Stage = org, "done"
	out := &ImportedDocument{Document: doc}
	if strings.HasPrefix(doc.ID, store.PassageSetMark) {
		return nil, api.Invalid("documents", "%.80q is not a valid document ID", doc.ID)
	}
	if len(chunks) == 0 {
		return out, nil
	}
	embedder, err := s.loadOrTrainEmbedder(ctx, version)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(chunks))
	ids := map[string]bool{}
	for i := range chunks {
		c := &chunks[i]
		if c.AssessmentID != doc.AssessmentID || c.DocumentID != doc.ID || c.ID == "" || ids[c.ID] {
			return nil, api.Invalid("chunks", "a passage sent with %s has no ID, belongs to another document, or occurs twice", doc.Filename)
		}
		c.OrganizationID, ids[c.ID] = org, true
		texts[i] = c.Text
	}
	vectors, err := embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", doc.Filename, err)
	}
	out.Document.Embedder = embedder.Name()
	p, err := preparePassages(&doc, chunks, vectors)
	if err != nil {
		return nil, err
	}
	out.passages = *p
	return out, s.stagePassages(ctx, &doc, &out.passages)
}

// ReleaseImports deletes the passages staged for documents that were not saved, and the passages
// that saved documents have replaced.
func (s *Service) ReleaseImports(ctx context.Context, docs []*ImportedDocument) {
	for _, d := range docs {
		if d != nil {
			s.staging.remove(&d.passages)
		}
	}
	s.deleteDiscardedAndLog(ctx)
}

// ReparseForImport parses the file of a document that was read elsewhere as if it had been uploaded
// here. The passages get their text from the file but keep the IDs they were received with;
// unmatched is the number of received passages that aren't in the file. Nothing is visible until
// SaveImport. The caller must always call ReleaseImports, even after an error.
func (s *Service) ReparseForImport(
	ctx context.Context,
	org, version string,
	doc store.Document,
	received []api.Chunk,
) (a *ImportedDocument, unmatched int, err error) {
	doc.OrganizationID, doc.Stage = org, "done"
	doc.Filename, doc.Path = api.CleanFilename(doc.Filename), api.CleanPath(doc.Path)
	if doc.Filename == "" || len(doc.Category) > maxCategory {
		return nil, 0, api.Invalid("documents", "a document has no name, or its category is longer than %d bytes", maxCategory)
	}
	select {
	case s.rereadSlots <- struct{}{}:
		defer func() { <-s.rereadSlots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	f, size, err := s.db.Blobs().Open(ctx, doc.SHA256)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	doc.SizeBytes = size
	var parsed *document.Document
	var chunks []chunk.Chunk
	// Train the embedder first: training has no time limit and doesn't count as an attempt to read the
	// document.
	if _, err := s.loadOrTrainEmbedder(ctx, version); err != nil {
		return nil, 0, err
	}
	began := s.clock()
	err = s.db.Update(ctx, func(tx *store.Tx) error { return beginRead(tx, org, doc.ID) })
	if err == nil {
		defer func() {
			ended := func(tx *store.Tx) error { return undoBeginRead(tx, org, doc.ID) }
			err = errors.Join(err, s.db.Update(context.WithoutCancel(ctx), ended))
		}()
		parsed, chunks, err = s.parseAndChunk(ctx, doc.Filename, readerAt{f}, size)
	} else if !errors.Is(err, errTooManyAttempts) {
		return nil, 0, err
	}
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err != nil {
		return newFailedImport(doc, err), len(received), nil
	}
	copyParsedMetadata(&doc, parsed, s.categorize)
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
	limited, cancel := context.WithTimeout(ctx, parsed.TimeLimit-s.clock().Sub(began))
	defer cancel()
	a, err = s.EmbedForImport(limited, org, version, doc, records)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return newFailedImport(doc, document.TimeoutError(parsed.TimeLimit)), len(received), nil
	}
	return a, unmatched, err
}

// newFailedImport returns an import that only records why the document's file can't be read here.
func newFailedImport(doc store.Document, cause error) *ImportedDocument {
	reason := cause.Error()
	doc.Status, doc.Error, doc.ChunkCount, doc.Embedder = api.DocumentFailed, &reason, 0, ""
	doc.Readers = parse.ReadersOfFailedDocument()
	return &ImportedDocument{Document: doc}
}

// maxPassageID is the maximum length of an imported passage's ID.
const maxPassageID = 64

// parseAndChunk parses a file and splits it into chunks. It returns document.ErrEmpty if there are none, and
// turns a panic of the parser into an error.
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
	countOtherLanguages(parsed, chunks)
	return parsed, chunks, nil
}

// countOtherLanguages adds the document's passages in languages other than English to its list of
// unread content, with the location of the first passage in each language.
func countOtherLanguages(doc *document.Document, chunks []chunk.Chunk) {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Text
	}
	first := len(doc.NotRead)
	for i, code := range language.DetectEach(texts) {
		if !language.IsForeign(code) {
			continue
		}
		at := slices.IndexFunc(doc.NotRead[first:], func(n api.NotRead) bool { return n.Language == code })
		if at < 0 {
			at = len(doc.NotRead) - first
			doc.NotRead = append(doc.NotRead, api.NotRead{Kind: api.UnreadOtherLanguage, Language: code, Locator: chunks[i].Locator})
		}
		doc.NotRead[first+at].Count++
	}
}

// SaveImport stores an imported document and its passages, replacing any document with the same ID. If notify is
// set, changed passages are reported to OnPassagesChanged.
func (s *Service) SaveImport(tx *store.Tx, by api.Caller, a *ImportedDocument, notify bool) error {
	doc := a.Document
	if err := a.checkPassageIDs(tx); err != nil { // checked before anything is written, so that a rejected document leaves no trace
		return err
	}
	old, err := store.Documents.Get(tx, doc.OrganizationID, doc.ID)
	if err == nil {
		if notify {
			err = s.notifyChanged(tx, by, &doc, a.newChangedPassagePredicate(tx, &old))
		}
		err = errors.Join(err, s.discardPassages(tx, &old))
	}
	if err := ignoreMissing(err); err != nil {
		return err
	}
	if doc.PassageSet = a.passages.set; doc.PassageSet == 0 {
		if doc.PassageSet, err = tx.NextSequence(passageSetSequence); err != nil {
			return err
		}
	} else {
		set := doc.Passages()
		if err := store.DiscardedPassages.Delete(tx, set.OrganizationID, set.AssessmentID, set.DocumentID, set.Set); err != nil {
			return err
		}
	}
	return errors.Join(store.Documents.Put(tx, doc.OrganizationID, &doc), endRead(tx, doc.OrganizationID, doc.ID))
}

// newChangedPassagePredicate returns a function that reports whether a passage of the document's
// previous version was changed or removed.
func (a *ImportedDocument) newChangedPassagePredicate(tx *store.Tx, old *store.Document) func(passage string) (bool, error) {
	now := map[string]string{}
	for _, c := range a.passages.chunks {
		now[c.ID] = c.SHA256
	}
	return func(passage string) (bool, error) {
		c, err := store.Chunks.Get(tx, old.OrganizationID, store.ChunkKey(passage, old.PassageSet))
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return err == nil && now[passage] != c.SHA256, err
	}
}

// checkPassageIDs returns an error if a passage to be imported has the same ID as a passage of another document.
func (a *ImportedDocument) checkPassageIDs(tx *store.Tx) error {
	for _, c := range a.passages.chunks {
		n, err := store.Chunks.Count(tx, c.OrganizationID, c.ID)
		if err == nil && n > 1 { // one of them is the staged passage itself
			var other api.Chunk
			if other, err = ReadPassage(tx, c.OrganizationID, c.ID); err == nil && other.DocumentID != a.Document.ID {
				err = api.Invalid("chunks", "passage %s of %s already belongs to another document", c.ID, a.Document.Filename)
			}
		}
		if err := ignoreMissing(err); err != nil {
			return err
		}
	}
	return nil
}

// DeleteDocument removes a document and its passages. If notify is set, the passages are reported to
// OnPassagesChanged.
func (s *Service) DeleteDocument(tx *store.Tx, by api.Caller, doc *store.Document, notify bool) error {
	if err := s.discardPassages(tx, doc); err != nil {
		return err
	}
	if notify {
		if err := s.notifyChanged(tx, by, doc, isAnyPassage); err != nil {
			return err
		}
	}
	return errors.Join(store.Documents.Delete(tx, doc.OrganizationID, doc.ID), endRead(tx, doc.OrganizationID, doc.ID))
}

// DocumentPassages returns a document's passages in document order.
func DocumentPassages(tx *store.Tx, doc *store.Document) ([]api.Chunk, error) {
	return readPassages(tx, doc)
}

// DropCachedIndexAndWakeEmbedder makes the next search reload the assessment's passages, and wakes the worker
// that embeds them with the configured model.
func (s *Service) DropCachedIndexAndWakeEmbedder(assessment string) {
	s.indexes.remove(assessment)
	s.remote.wakeWorker()
}

package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// ingestionCaller returns the caller that is recorded for reading documents in the background.
func ingestionCaller(org string) api.Caller {
	return api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorWorkflow, ID: "ingestion", Name: "document reader"}}
}

// runWorker reads documents until ctx ends.
func (s *Service) runWorker(ctx context.Context) {
	defer s.queue.workers.Done()
	for {
		j, ok := s.queue.waitForJob(ctx)
		if !ok {
			return
		}
		traced, span := s.tracer.Start(
			ctx,
			"read document",
			tracing.StartOptions{Kind: tracing.Internal, Attrs: []tracing.Attr{{Key: "service.document_id", Value: j.document}}},
		)
		err := s.ingestSafely(traced, j)
		span.End(err)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("document ingestion failed", "document_id", j.document, "error", err) // WaitForDocuments returns the error
		}
		s.queue.finishOrRepeat(j, err)
	}
}

// ingestSafely reads a document. A panic is recorded as the document's failure, so that other
// documents are still read.
func (s *Service) ingestSafely(ctx context.Context, j job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("parsing a document panicked", "document_id", j.document, "panic", p, "stack", string(debug.Stack()))
			err = s.recordFailure(ctx, j, "", fmt.Errorf("parsing panicked: %v", p))
		}
	}()
	return s.ingest(ctx, j)
}

// WaitForDocuments returns when every document of the assessment has been read or has failed. It
// returns an error if something else prevents that, such as a full disk; calling WaitForDocuments
// again retries the reading.
func (s *Service) WaitForDocuments(ctx context.Context, by api.Caller, assessment string) error {
	for first := true; ; first = false {
		finished, changed := s.queue.nextFinished(), s.changedElsewhere()
		waiting, err := s.pendingDocuments(ctx, by, assessment)
		if err != nil || len(waiting) == 0 {
			return err
		}
		for _, d := range waiting {
			j := job{d.OrganizationID, d.ID}
			if first {
				if err := s.enqueueIfMissing(ctx, j); err != nil {
					return err
				}
			} else if err := s.queue.failure(j); err != nil {
				return fmt.Errorf("ingesting %s: %w", d.Filename, err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-finished:
		case <-changed:
		}
	}
}

// changedElsewhere returns a channel that is closed after the next change in the database, or nil
// if no other process can read documents.
func (s *Service) changedElsewhere() <-chan struct{} {
	if s.db.IsSoleWriter() {
		return nil
	}
	return s.db.Changed()
}

// enqueueIfMissing queues a pending document again if it isn't queued or being read, even if it failed before.
func (s *Service) enqueueIfMissing(ctx context.Context, j job) error {
	if s.queue.isActive(j) {
		return nil
	}
	return s.db.View(ctx, func(tx *store.Tx) error { return s.enqueuePending(tx, j) })
}

// pendingDocuments returns the documents of an assessment that are queued or being read.
func (s *Service) pendingDocuments(ctx context.Context, by api.Caller, assessment string) (docs []store.Document, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		docs = nil
		for d, err := range store.Documents.By("unread").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
			if err != nil {
				return err
			}
			docs = append(docs, d)
		}
		return nil
	})
	return docs, err
}

// ingest parses, chunks and embeds one document and stores its passages. Problems with the file are recorded
// with the document; it returns an error for anything else.
func (s *Service) ingest(ctx context.Context, j job) (err error) {
	doc, err := s.setStage(ctx, j, "parse", beginRead)
	if errors.Is(err, errTooManyAttempts) {
		return s.recordFailureAndMarkDuplicates(ctx, j, &doc, err)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, errReadElsewhere) || (err == nil && !isPending(doc.Status)) {
		return nil // deleted in the meantime, or read by another worker
	}
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		undo := func(tx *store.Tx) error {
			return errors.Join(undoBeginRead(tx, j.organization, j.document), tx.Release(claimOfReading(j.document)))
		}
		err = errors.Join(err, s.db.Update(context.WithoutCancel(ctx), undo))
	}()
	began := s.clock()
	parsing, span := tracing.Start(ctx, "parse", tracing.Internal, tracing.Attr{Key: "service.document_bytes", Value: int(doc.SizeBytes)})
	parsed, chunks, err := s.parseStoredDocument(parsing, &doc)
	span.End(err)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.recordFailureAndMarkDuplicates(ctx, j, &doc, err)
	}
	remaining := parsed.TimeLimit - s.clock().Sub(began)
	embedder, err := s.embedderForReading(ctx, j, &doc)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, remaining)
	defer cancel()
	if err := s.embedAndSave(limited, j, &doc, parsed, chunks, embedder); err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			return s.recordFailureAndMarkDuplicates(ctx, j, &doc, document.TimeoutError(parsed.TimeLimit))
		}
		return err
	}
	s.indexes.remove(doc.AssessmentID) // the next search reloads it
	s.remote.wakeWorker()
	return s.markDuplicatesIfIdle(ctx, j.organization, doc.AssessmentID)
}

// embedderForReading returns the embedder for a parsed document, or nil if the passages are to be embedded later.
// Training it may take longer than reading the document, so being interrupted during training doesn't count as a
// failed attempt to read it.
func (s *Service) embedderForReading(ctx context.Context, j job, doc *store.Document) (*embed.Model, error) {
	version, err := s.embedderVersion(ctx, ingestionCaller(j.organization), doc.AssessmentID)
	if err != nil {
		return nil, err
	}
	if s.embedders.isLoaded(version) {
		if _, err := s.setStage(ctx, j, "embed", nil); err != nil {
			return nil, err
		}
		return s.loadOrTrainEmbedder(ctx, version)
	}
	if later, err := s.isTrainedLater(ctx, version); err != nil || later {
		return nil, err
	}
	if _, err := s.setStage(ctx, j, "embed", undoBeginRead); err != nil {
		return nil, err
	}
	embedder, err := s.loadOrTrainEmbedder(ctx, version)
	_, begun := s.setStage(context.WithoutCancel(ctx), j, "embed", beginRead) // done even after an error, because the caller undoes it
	return embedder, errors.Join(err, begun)
}

// embedAndSave embeds a document's passages and stores them. Without an embedder, they are stored without vectors.
func (s *Service) embedAndSave(
	ctx context.Context,
	j job,
	doc *store.Document,
	parsed *document.Document,
	chunks []chunk.Chunk,
	embedder *embed.Model,
) error {
	if embedder == nil {
		return s.replacePassages(ctx, j, doc.SHA256, parsed, chunks, nil, "")
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Text // includes its headings
	}
	embedding, span := tracing.Start(ctx, "embed", tracing.Internal, tracing.Attr{Key: "service.passages", Value: len(texts)})
	vectors, err := embedder.Embed(embedding, texts)
	span.End(err)
	if err != nil {
		return fmt.Errorf("embedding %s: %w", doc.Filename, err)
	}
	return s.replacePassages(ctx, j, doc.SHA256, parsed, chunks, vectors, embedder.Name())
}

// recordFailureAndMarkDuplicates records why a document can't be read, and marks duplicates if no other document is pending.
func (s *Service) recordFailureAndMarkDuplicates(ctx context.Context, j job, doc *store.Document, cause error) error {
	return errors.Join(
		s.recordFailure(ctx, j, doc.SHA256, cause),
		s.markDuplicatesIfIdle(ctx, j.organization, doc.AssessmentID),
	)
}

// markDuplicatesIfIdle marks near-duplicates, unless a document of the assessment is still pending.
func (s *Service) markDuplicatesIfIdle(ctx context.Context, org, assessment string) error {
	pending := 0
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		pending, err = store.Documents.By("unread").Count(tx, org, assessment)
		return err
	})
	if err != nil || pending > 0 {
		return err
	}
	return s.markDuplicates(ctx, org, assessment)
}

// markDuplicatesIfIdleAndLog is like markDuplicatesIfIdle, but only logs errors, because the change that triggered it
// has already been made.
func (s *Service) markDuplicatesIfIdleAndLog(ctx context.Context, org, assessment string) {
	if err := s.markDuplicatesIfIdle(ctx, org, assessment); err != nil {
		s.log.Warn("could not mark duplicate passages; this will be retried with the next document", "assessment_id", assessment, "error", err)
	}
}

// setStage sets the stage of a pending document. If count is not nil, it is called in the same transaction to
// update the number of attempts.
func (s *Service) setStage(
	ctx context.Context,
	j job,
	stage string,
	count func(tx *store.Tx, org, document string) error,
) (doc store.Document, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if doc, err = store.Documents.Get(tx, j.organization, j.document); err != nil || !isPending(doc.Status) {
			return err
		}
		if count != nil {
			if err := count(tx, j.organization, j.document); err != nil {
				return err
			}
		}
		doc.Status, doc.Stage, doc.UpdatedAt = api.DocumentProcessing, stage, tx.Now()
		return store.Documents.Put(tx, j.organization, &doc)
	})
	return doc, err
}

// Parse parses a document that is not evidence, such as a catalog document. Nothing is stored.
func (s *Service) Parse(ctx context.Context, name string, content io.ReaderAt, size int64) (*document.Document, error) {
	return s.reader.Read(ctx, name, content, size)
}

func (s *Service) parseStoredDocument(ctx context.Context, doc *store.Document) (*document.Document, []chunk.Chunk, error) {
	f, size, err := s.db.Blobs().Open(ctx, doc.SHA256)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return s.parseAndChunk(ctx, doc.Filename, readerAt{f}, size)
}

// recordFailure marks a document as failed, with the reason, and discards its passages. It does
// nothing if the document's content has been replaced since it was read; an empty sha256 matches
// any content.
func (s *Service) recordFailure(ctx context.Context, j job, sha256 string, cause error) error {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		doc, err := store.Documents.Get(tx, j.organization, j.document)
		if err != nil {
			return ignoreMissing(err)
		}
		if sha256 != "" && sha256 != doc.SHA256 {
			return nil
		}
		reason := cause.Error()
		if doc.ChunkCount > 0 {
			by := ingestionCaller(j.organization)
			if err := errors.Join(s.discardPassages(tx, &doc), s.notifyChanged(tx, by, &doc, isAnyPassage)); err != nil {
				return err
			}
		}
		doc.Status, doc.Stage, doc.Error, doc.ChunkCount, doc.UpdatedAt = api.DocumentFailed, "done", &reason, 0, tx.Now()
		doc.Readers = parse.ReadersOfFailedDocument()
		return errors.Join(store.Documents.Put(tx, j.organization, &doc), endRead(tx, j.organization, j.document),
			audit.RecordAndPublishEvent(tx, ingestionCaller(j.organization), audit.Event{
				Type: "document.failed", AssessmentID: doc.AssessmentID, Summary: doc.Filename + " could not be read: " + reason,
				ResourceType: "document", ResourceID: doc.ID, Data: map[string]any{"filename": doc.Filename, "error": reason},
			}))
	})
	s.deleteDiscardedAndLog(ctx)
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// replacePassages replaces a document's passages. Unchanged passages keep their IDs, so that links
// to them remain valid. If the document's content has been replaced in the meantime, nothing is
// saved, because the document will be read again.
func (s *Service) replacePassages(
	ctx context.Context,
	j job,
	sha256 string,
	parsed *document.Document,
	chunks []chunk.Chunk,
	vectors [][]float32,
	embedder string,
) (err error) {
	for done := false; !done && err == nil; {
		done, err = s.trySavePassages(ctx, j, sha256, parsed, chunks, vectors, embedder)
	}
	return err
}

// trySavePassages makes one attempt to replace a document's passages. done is false if the document's record
// changed in the meantime.
func (s *Service) trySavePassages(
	ctx context.Context,
	j job,
	sha256 string,
	parsed *document.Document,
	chunks []chunk.Chunk,
	vectors [][]float32,
	embedder string,
) (done bool, err error) {
	var basis store.Document
	var a api.Assessment
	var before []api.Chunk
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		if basis, err = store.Documents.Get(tx, j.organization, j.document); err != nil {
			return err
		}
		if a, err = store.Assessments.Get(tx, j.organization, basis.AssessmentID); err != nil {
			return err
		}
		before, err = readPassages(tx, &basis)
		return err
	})
	if err != nil || basis.SHA256 != sha256 {
		return true, ignoreMissing(err)
	}
	read := basis
	copyParsedMetadata(&read, parsed, s.categorize)
	p, err := preparePassages(&read, toChunkRecords(j.organization, &basis, a.CreatedAt, before, chunks), vectors)
	if err != nil {
		return false, err
	}
	if len(p.packs) > 1 {
		if err := s.stagePassages(ctx, &basis, p); err != nil {
			return false, err
		}
	}
	changed := changedPassages(before, p.chunks)
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		doc, err := store.Documents.Get(tx, j.organization, j.document)
		if done = errors.Is(err, store.ErrNotFound) || err == nil && doc.SHA256 != sha256; done || err != nil {
			return ignoreMissing(err)
		}
		if done = reflect.DeepEqual(doc, basis); !done {
			return nil
		}
		doc = read
		doc.Status, doc.Stage, doc.Error, doc.UpdatedAt = api.DocumentIngested, "done", nil, tx.Now()
		doc.ChunkCount, doc.Embedder = len(chunks), embedder
		if len(changed) > 0 {
			is := func(passage string) (bool, error) { return changed[passage], nil }
			if err := s.notifyChanged(tx, ingestionCaller(j.organization), &doc, is); err != nil {
				return err
			}
		}
		if err := errors.Join(
			s.activatePassages(tx, &doc, p),
			recordWhetherEmbedded(tx, &doc),
			store.Documents.Put(tx, j.organization, &doc),
			endRead(tx, j.organization, j.document),
		); err != nil {
			return err
		}
		return audit.RecordAndPublishEvent(tx, ingestionCaller(j.organization), audit.Event{
			Type: "document.ingested", AssessmentID: doc.AssessmentID,
			Summary:      fmt.Sprintf("read %s: %s", doc.Filename, prose.Count(len(chunks), "passage", "passages")),
			ResourceType: "document", ResourceID: doc.ID,
			Data: map[string]any{"filename": doc.Filename, "chunks": len(chunks)},
		})
	})
	s.releasePassages(ctx, p)
	return done, err
}

// changedPassages returns the IDs of the passages that have changed or are missing in a document's new version.
func changedPassages(before, after []api.Chunk) map[string]bool {
	now := map[string]string{}
	for _, c := range after {
		now[c.ID] = c.SHA256
	}
	changed := map[string]bool{}
	for _, c := range before {
		if now[c.ID] != c.SHA256 {
			changed[c.ID] = true
		}
	}
	return changed
}

// notifyChanged reports a document's changed and deleted passages to OnPassagesChanged. changed reports whether
// a passage is one of them.
func (s *Service) notifyChanged(tx *store.Tx, by api.Caller, doc *store.Document, changed func(passage string) (bool, error)) error {
	if s.onPassagesChanged == nil {
		return nil
	}
	return s.onPassagesChanged(tx, by, &doc.Document, changed)
}

// isAnyPassage makes notifyChanged report all passages of a document.
func isAnyPassage(string) (bool, error) { return true, nil }

// trimPersonName trims trailing punctuation from the name of a person or role.
func trimPersonName(s string) string { return strings.TrimRight(s, " .;,") }

// copyParsedMetadata copies the metadata that was found in a file to its document, and categorizes the document
// if it has no category.
func copyParsedMetadata(doc *store.Document, parsed *document.Document, categorize func(filename, title, text string) string) {
	doc.MIMEType, doc.Language, doc.PageCount = parsed.MIME, parsed.Language, parsed.PageCount
	doc.DocVersion, doc.Owner, doc.ApprovedBy = parsed.Version, trimPersonName(parsed.Owner), trimPersonName(parsed.ApprovedBy)
	doc.Warnings, doc.NotRead, doc.Readers = parsed.Warnings, parsed.NotRead, parsed.Readers
	if parsed.Title != "" {
		doc.Title = parsed.Title
	}
	doc.EffectiveDate = nil
	if parsed.EffectiveDate != nil {
		d := api.DateOf(*parsed.EffectiveDate)
		doc.EffectiveDate = &d
	}
	if doc.Category == "" && categorize != nil {
		var start strings.Builder
		for _, b := range parsed.Blocks {
			if start.Len() > 4000 {
				break
			}
			start.WriteString(b.Text + "\n")
		}
		doc.Category = categorize(doc.Filename, doc.Title, start.String())
	}
}

// toChunkRecords converts a document's passages to records. Known passages keep their IDs; the IDs of new ones
// are derived from idTime.
func toChunkRecords(org string, doc *store.Document, idTime time.Time, before []api.Chunk, chunks []chunk.Chunk) []api.Chunk {
	origin := cmp.Or(doc.OriginalSHA256, doc.SHA256)
	ids := assignPassageIDs(
		before,
		chunks,
		func(sha string, nth int) string { return newPassageID(doc.AssessmentID, idTime, origin, sha, nth) },
	)
	out := make([]api.Chunk, len(chunks))
	for i, c := range chunks {
		out[i] = api.Chunk{
			ID:             ids[i],
			OrganizationID: org,
			DocumentID:     doc.ID,
			AssessmentID:   doc.AssessmentID,
			Index:          c.Index,
			Text:           c.Text,
			HeadingPath:    c.HeadingPath,
			Locator:        c.Locator,
			Kind:           string(c.Kind),
			TokenEstimate:  c.TokenEstimate,
			SHA256:         c.SHA256,
		}
	}
	return out
}

package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/store"
)

const (
	// maxFileSize is the maximum size of a document in bytes.
	maxFileSize = 256 << 20
	// maxCategory is the maximum length of a category name in bytes.
	maxCategory = 100
)

// Upload stores a file and queues it to be read in the background. If the assessment already has a document with
// the same bytes, Upload returns that document.
func (s *Service) Upload(ctx context.Context, by api.Caller, in *api.UploadDocumentInput) (*api.Document, error) {
	name := api.CleanFilename(in.File.Filename)
	if name == "" {
		return nil, api.Invalid("file", "the file has no name")
	}
	if err := s.checkAssessmentOpen(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	category := strings.ToLower(strings.TrimSpace(in.Category))
	if len(category) > maxCategory {
		return nil, api.Invalid("category", "a category must be at most %d bytes long", maxCategory)
	}
	blob, err := s.db.Blobs().Put(ctx, in.File.Content, maxFileSize)
	if errors.Is(err, store.ErrTooLarge) {
		return nil, api.Invalid("file", "%s exceeds the limit of %d MiB", name, maxFileSize>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("storing %s: %w", name, err)
	}
	uploaded := &store.Document{Stage: "queued", Document: api.Document{
		Filename: name, Path: api.CleanPath(in.Path), Category: category, AssessmentID: in.AssessmentID,
		SizeBytes: blob.Size, SHA256: blob.SHA256, Title: name, Status: api.DocumentUploaded, UploadedBy: by.Actor.Name,
	}}
	var doc store.Document
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := s.requireAssessmentOpen(tx, by, in.AssessmentID); err != nil {
			return err
		}
		if in.Replaces != "" {
			doc, err = s.replaceDocument(tx, by, in.Replaces, uploaded)
			return err
		}
		old, err := store.Documents.By("content").Get(tx, by.OrganizationID, in.AssessmentID, blob.SHA256)
		if err == nil {
			doc = old
			doc.MarkExisted()
			return nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		doc = *uploaded
		doc.TenantRecord = api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		}
		if err := store.Documents.Insert(tx, by.OrganizationID, &doc); err != nil {
			return err
		}
		tx.AfterCommit(func() { s.queue.add(job{by.OrganizationID, doc.ID}) })
		return audit.Append(tx, by, audit.Entry{
			Action: "document.uploaded", ResourceType: "document", ResourceID: doc.ID,
			Changes: map[string]any{"filename": name, "sha256": blob.SHA256, "assessment_id": in.AssessmentID},
		})
	})
	if err != nil {
		return nil, err
	}
	return ToAPIDocument(&doc), nil
}

func (s *Service) checkAssessmentOpen(ctx context.Context, by api.Caller, assessment string) error {
	return s.db.View(ctx, func(tx *store.Tx) error { return s.requireAssessmentOpen(tx, by, assessment) })
}

// requireAssessmentOpen returns an error if the assessment doesn't exist or is closed.
func (s *Service) requireAssessmentOpen(tx *store.Tx, by api.Caller, assessment string) error {
	a, err := store.Assessments.Get(tx, by.OrganizationID, assessment)
	if err != nil {
		return store.ToNotFound(err, "assessment", assessment)
	}
	if a.State == api.StateClosed {
		return api.Conflict("the assessment is closed; its documents can't be changed")
	}
	return nil
}

// documentOrder lists the fields documents can be sorted by.
var documentOrder = []store.SortBy[store.Document]{
	{Name: "filename", Value: func(d *store.Document) any { return store.NaturalSortKey(d.Filename) }},
	{Name: "title", Value: func(d *store.Document) any { return store.NaturalSortKey(d.Title) }},
	{Name: "category", Value: func(d *store.Document) any { return strings.ToLower(d.Category) }},
	{Name: "status", Value: func(d *store.Document) any { return slices.Index(d.Status.Values(), d.Status) }},
	{Name: "size_bytes", Value: func(d *store.Document) any { return d.SizeBytes }},
	{Name: "created_at", Value: func(d *store.Document) any { return d.CreatedAt }},
	{Name: "updated_at", Value: func(d *store.Document) any { return d.UpdatedAt }},
}

// List lists the documents of an assessment, in upload order by default.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.DocumentsInput) (*api.List[api.Document], error) {
	if err := s.checkAssessmentExists(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	q := strings.ToLower(in.Q)
	l, err := store.SortedList(
		ctx,
		s.db,
		store.Documents,
		by.OrganizationID,
		in.Paging,
		in.Sort,
		documentOrder,
		store.PageQuery[store.Document]{
			Index: "assessment", Prefix: store.K(in.AssessmentID),
			Filter: store.FilterIf(api.HasFilters(in), func(d *store.Document) bool {
				return (in.Status == "" || d.Status == in.Status) && (in.Category == "" || strings.EqualFold(d.Category, in.Category)) &&
					(q == "" || strings.Contains(strings.ToLower(d.Filename+"\n"+d.Title), q))
			}),
		},
	)
	if err != nil {
		return nil, err
	}
	return api.MapList(l, func(d *store.Document) api.Document { return *ToAPIDocument(d) }), nil
}

func (s *Service) checkAssessmentExists(ctx context.Context, by api.Caller, assessment string) error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		_, err := store.Assessments.Get(tx, by.OrganizationID, assessment)
		return store.ToNotFound(err, "assessment", assessment)
	})
}

func (s *Service) getDocument(ctx context.Context, by api.Caller, id string) (doc store.Document, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		doc, err = store.Documents.Get(tx, by.OrganizationID, id)
		return store.ToNotFound(err, "document", id)
	})
	return doc, err
}

// ToAPIDocument returns a document's record in the form shown to users.
func ToAPIDocument(d *store.Document) *api.Document {
	d.Outdated = needsRereading(d)
	return &d.Document
}

// needsRereading reports whether the current program version would read the document differently.
func needsRereading(d *store.Document) bool {
	return !isPending(d.Status) && !parse.IsCurrent(d.Readers)
}

// Get returns a document's record.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.Document, error) {
	doc, err := s.getDocument(ctx, by, in.DocumentID)
	return ToAPIDocument(&doc), err
}

var stageProgress = map[string]int{"queued": 0, "parse": 10, "chunk": 50, "embed": 60, "index": 90, "done": 100}

// Status returns the processing progress of a document.
func (s *Service) Status(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.DocumentProgress, error) {
	doc, err := s.getDocument(ctx, by, in.DocumentID)
	if err != nil {
		return nil, err
	}
	return &api.DocumentProgress{
		DocumentID: doc.ID, Status: doc.Status, Stage: doc.Stage, Progress: stageProgress[doc.Stage],
		Error: doc.Error, ChunkCount: doc.ChunkCount,
	}, nil
}

// Delete removes a document and its passages.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.None, error) {
	var doc store.Document
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if doc, err = store.Documents.Get(tx, by.OrganizationID, in.DocumentID); err != nil {
			return store.ToNotFound(err, "document", in.DocumentID)
		}
		if err := s.requireAssessmentOpen(tx, by, doc.AssessmentID); err != nil {
			return err
		}
		return errors.Join(s.DeleteDocument(tx, by, &doc, true),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "document.deleted", AssessmentID: doc.AssessmentID, Summary: "removed " + doc.Filename,
				ResourceType: "document", ResourceID: doc.ID, Data: map[string]any{"filename": doc.Filename, "sha256": doc.SHA256},
			}))
	})
	if err != nil {
		return nil, err
	}
	s.indexes.remove(doc.AssessmentID)
	s.deleteDiscardedAndLog(ctx)
	s.markDuplicatesIfIdleAndLog(ctx, by.OrganizationID, doc.AssessmentID)
	return &api.None{}, nil
}

// Purge removes all documents of an assessment that is being deleted. Their passages are deleted
// later, by DeletePurged.
func (s *Service) Purge(tx *store.Tx, by api.Caller, assessment string) error {
	var docs []store.Document
	for d, err := range store.Documents.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		docs = append(docs, d)
	}
	for _, d := range docs {
		if err := s.discardPassages(tx, &d); err != nil {
			return err
		}
		if err := errors.Join(store.Documents.Delete(tx, by.OrganizationID, d.ID), endRead(tx, by.OrganizationID, d.ID)); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { s.indexes.remove(assessment) })
	return nil
}

// DeletePurged deletes the passages and other hidden records left behind by deleted assessments. If that fails, it is
// retried at the next start.
func (s *Service) DeletePurged(ctx context.Context) {
	s.deleteDiscardedAndLog(ctx)
	if err := s.db.DeleteDiscarded(context.WithoutCancel(ctx)); err != nil {
		s.log.Warn("could not delete the records of a deleted assessment; this will be retried at the next start", "error", err)
	}
}

// Download returns the file as it was uploaded.
func (s *Service) Download(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.File, error) {
	doc, err := s.getDocument(ctx, by, in.DocumentID)
	if err != nil {
		return nil, err
	}
	content, size, err := s.db.Blobs().OpenFileOf(ctx, fmt.Sprintf("document %q", doc.Filename), doc.SHA256)
	if err != nil {
		return nil, err
	}
	kind := doc.MIMEType
	if kind == "" {
		kind = "application/octet-stream"
	}
	return &api.File{Filename: doc.Filename, ContentType: kind, Size: size, SHA256: doc.SHA256, Content: content}, nil
}

// Reprocess queues a document to be read again.
func (s *Service) Reprocess(ctx context.Context, by api.Caller, in *api.DocumentInput) (*api.Document, error) {
	var doc store.Document
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if doc, err = store.Documents.Get(tx, by.OrganizationID, in.DocumentID); err != nil {
			return store.ToNotFound(err, "document", in.DocumentID)
		}
		if err := s.requireAssessmentOpen(tx, by, doc.AssessmentID); err != nil {
			return err
		}
		doc.Status, doc.Stage, doc.Error, doc.UpdatedAt = api.DocumentUploaded, "queued", nil, tx.Now()
		tx.AfterCommit(func() { s.queue.add(job{by.OrganizationID, doc.ID}) })
		return errors.Join(store.Documents.Put(tx, by.OrganizationID, &doc), endRead(tx, by.OrganizationID, doc.ID),
			audit.Append(tx, by, audit.Entry{Action: "document.reprocessed", ResourceType: "document", ResourceID: doc.ID}))
	})
	return ToAPIDocument(&doc), err
}

// ListDocumentChunks lists a document's passages in document order.
func (s *Service) ListDocumentChunks(ctx context.Context, by api.Caller, in *api.DocumentChunksInput) (*api.List[api.Chunk], error) {
	if _, err := s.getDocument(ctx, by, in.DocumentID); err != nil {
		return nil, err
	}
	return s.listPassages(ctx, by, in.Paging, in.DocumentID, store.PageQuery[store.Chunk]{})
}

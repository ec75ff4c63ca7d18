package evidence

import (
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// replaceDocument makes uploaded the new version of a document. The record keeps its ID, and also
// its path and category unless new ones are given. The new content is read in the background; if
// the content is unchanged, only the name, path and category are updated.
func (s *Service) replaceDocument(tx *store.Tx, by api.Caller, id string, uploaded *store.Document) (store.Document, error) {
	doc, err := store.Documents.Get(tx, by.OrganizationID, id)
	if err == nil && doc.AssessmentID != uploaded.AssessmentID {
		err = store.ErrNotFound
	}
	if err != nil {
		return doc, store.ToNotFound(err, "document", id)
	}
	before := doc.Document
	doc.Filename, doc.UpdatedAt = uploaded.Filename, tx.Now()
	if uploaded.Path != "" {
		doc.Path = uploaded.Path
	}
	if uploaded.Category != "" {
		doc.Category = uploaded.Category
	}
	if doc.SHA256 == uploaded.SHA256 {
		doc.MarkExisted()
		if before.Filename == doc.Filename && before.Path == doc.Path && before.Category == doc.Category {
			return doc, nil
		}
		return doc, errors.Join(store.Documents.Put(tx, by.OrganizationID, &doc),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "document.renamed", AssessmentID: doc.AssessmentID, Summary: before.Filename + " is now " + doc.Filename,
				ResourceType: "document", ResourceID: doc.ID, Data: map[string]any{"filename": doc.Filename, "before": before.Filename},
			}))
	}
	other, err := store.Documents.By("content").Get(tx, by.OrganizationID, doc.AssessmentID, uploaded.SHA256)
	if err == nil {
		return doc, api.Conflict("the same content is already stored as %s; delete one of the two documents", other.Filename)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return doc, err
	}
	if doc.OriginalSHA256 == "" {
		doc.OriginalSHA256 = doc.SHA256
	}
	doc.SHA256, doc.SizeBytes, doc.UploadedBy = uploaded.SHA256, uploaded.SizeBytes, uploaded.UploadedBy
	doc.Status, doc.Stage, doc.Error = api.DocumentUploaded, "queued", nil
	tx.AfterCommit(func() { s.queue.add(job{by.OrganizationID, doc.ID}) })
	return doc, errors.Join(store.Documents.Put(tx, by.OrganizationID, &doc), endRead(tx, by.OrganizationID, doc.ID),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type:         "document.replaced",
			AssessmentID: doc.AssessmentID,
			Summary:      "a new version of " + doc.Filename,
			ResourceType: "document",
			ResourceID:   doc.ID,
			Data:         map[string]any{"filename": doc.Filename, "sha256": doc.SHA256, "before": before.SHA256},
		}))
}

package sync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// errDryRun rolls back the transaction of a dry run.
var errDryRun = errors.New("dry run")

// Push applies a batch of a clone's changes to the remote in one transaction. Pushing the same batch
// again returns the earlier result.
func (s *Service) Push(ctx context.Context, by api.Caller, in *api.PushSyncInput) (out *api.PushedSync, err error) {
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, api.Invalid("file", "the batch exceeds %d MiB", maxFileBytes>>20)
	}
	f, err := decodeFile(bytes.NewReader(data), kindBatch)
	if err != nil {
		return nil, err
	}
	if f.AssessmentID != in.AssessmentID {
		return nil, api.Invalid("file", "the batch belongs to another assessment")
	}
	sum := sha256.Sum256(data)
	r := &batchApplier{service: s, by: by, batch: f, data: data, sha256Hex: hex.EncodeToString(sum[:]), dryRun: in.DryRun == "true"}
	if in.DryRun != "" && in.DryRun != "true" && in.DryRun != "false" {
		return nil, api.Invalid("dry_run", "dry_run must be true or false")
	}
	if out, done, err := r.readRepeatedResult(ctx); done || err != nil {
		return out, err
	}
	if r.target, err = s.loadImportTarget(ctx, by, f.AssessmentID, f.CatalogSHA256, f.CustomSHA256); err != nil {
		return nil, err
	}
	defer func() { s.Evidence.ReleaseImports(ctx, r.prepared) }()
	if !r.onHold {
		if err := r.parseUploadedDocuments(ctx); err != nil {
			return nil, err
		}
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		r.out, r.voidApprovals, r.refusedVersions = &api.PushedSync{
			ReplicaID: f.ReplicaID,
			Counter:   f.Counter,
			Notes:     []string{},
		}, map[string]bool{}, map[string]bool{}
		return r.apply(tx)
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return nil, err
	}
	if !r.dryRun && len(r.docs) > 0 {
		s.Evidence.DropCachedIndexAndWakeEmbedder(f.AssessmentID)
	}
	return r.out, nil
}

// batchApplier applies one batch to the remote.
type batchApplier struct {
	service   *Service
	by        api.Caller
	batch     *exchangeFile
	data      []byte
	sha256Hex string
	dryRun    bool
	target    *importTarget
	// onHold is set if the batch's author is no longer allowed to push: another user has to decide.
	onHold bool
	docs   map[string]*evidence.ImportedDocument // by document
	// prepared holds all prepared documents, including those that were replaced in docs.
	prepared []*evidence.ImportedDocument
	// foreignPassages counts, by document, the received passages that the document's file does not
	// contain.
	foreignPassages map[string]int
	quotes          *quoteChecker

	out *api.PushedSync
	// voidApprovals and refusedVersions hold approvals and versions that were rejected.
	voidApprovals, refusedVersions map[string]bool
	// drafts holds the versions drafted offline whose items are being added, with the number of the version that each was
	// made from. lastSequence is the number of the last change before the batch.
	drafts       map[string]int
	lastSequence int64
}

// readRepeatedResult checks that the batch is the clone's next one. If it was already applied, done is
// true and out is the earlier result.
func (r *batchApplier) readRepeatedResult(ctx context.Context) (out *api.PushedSync, done bool, err error) {
	err = r.service.DB.View(ctx, func(tx *store.Tx) error {
		rep, err := r.loadReplicaAndSetHold(tx)
		if err != nil {
			return err
		}
		out, done, err = r.repeatedResult(&rep)
		return err
	})
	return out, done, err
}

// repeatedResult returns the stored result if the batch was already applied.
func (r *batchApplier) repeatedResult(rep *store.SyncReplica) (out *api.PushedSync, done bool, err error) {
	switch next := rep.Counter + 1; {
	case r.batch.Counter == next:
		return nil, false, nil
	case r.batch.Counter == rep.Counter && r.sha256Hex == rep.LastSum:
		out = &api.PushedSync{}
		return out, true, json.Unmarshal(rep.LastResult, out)
	case r.batch.Counter <= rep.Counter:
		return nil, false, api.Conflict(
			"batch %d from this clone was already applied with different content, so the clone was restored from a backup; %s",
			r.batch.Counter,
			cloneRestoredAdvice,
		)
	default:
		return nil, false, api.Conflict("the remote has no record of changes that this clone sent: %s", remoteRestoredAdvice)
	}
}

// loadReplicaAndSetHold returns the clone that sent the batch. A batch submitted by somebody other than the clone's
// user is put on hold, but only if the clone's user may no longer push. Otherwise, loadReplicaAndSetHold returns an
// error.
func (r *batchApplier) loadReplicaAndSetHold(tx *store.Tx) (store.SyncReplica, error) {
	org := r.by.OrganizationID
	if _, err := linkWithRole(tx, org, r.batch.AssessmentID, store.SyncRoleRemote); err != nil {
		return store.SyncReplica{}, err
	}
	rep, err := store.SyncReplicas.Get(tx, org, r.batch.AssessmentID, r.batch.ReplicaID)
	if err != nil {
		return rep, store.ToNotFound(err, "clone", r.batch.ReplicaID)
	}
	if rep.UserID == r.by.UserID {
		return rep, nil
	}
	m, err := store.Memberships.Get(tx, rep.UserID, org)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return rep, err
	}
	if err == nil && m.Status == "active" && m.Role.May("sync:write") {
		return rep, api.Forbidden("the clone belongs to %s; sign in as that user to push its changes", rep.UserName)
	}
	r.onHold = true
	return rep, nil
}

// parseUploadedDocuments parses the documents of the batch from their files, because the sender is not
// trusted to say what they contain. A document whose file was not uploaded is skipped.
func (r *batchApplier) parseUploadedDocuments(ctx context.Context) error {
	r.docs, r.foreignPassages = map[string]*evidence.ImportedDocument{}, map[string]int{}
	n := 0
	for i := range r.batch.lines {
		l := &r.batch.lines[i]
		if l.Table != store.Documents.Name() || l.Op != opInsert && (l.Op != opEdit || l.Record["sha256"] == nil) {
			continue
		}
		if err := r.by.Require("document:write"); err != nil {
			return err
		}
		if n++; n > maxDocuments {
			return api.Invalid("file", "a batch can contain up to %d documents", maxDocuments)
		}
		doc, err := r.target.decodeDocument(l.Record)
		if err != nil {
			return err
		}
		have := false
		err = r.service.DB.View(ctx, func(tx *store.Tx) (err error) {
			have, err = hasFile(tx, r.by.OrganizationID, r.batch.AssessmentID, doc.SHA256)
			return err
		})
		switch {
		case err != nil:
			return err
		case have:
			r.docs[doc.ID], r.foreignPassages[doc.ID], err = r.service.Evidence.ReparseForImport(
				ctx,
				r.by.OrganizationID,
				r.target.catalogVersionID,
				doc,
				l.Chunks,
			)
		case r.dryRun: // files are not uploaded for a dry run
			r.docs[doc.ID], err = r.service.Evidence.EmbedForImport(ctx, r.by.OrganizationID, r.target.catalogVersionID, doc, l.Chunks)
		}
		if err != nil {
			return err
		}
		r.prepared = append(r.prepared, r.docs[doc.ID])
	}
	return nil
}

// decodeDocument decodes and validates the record of a document.
func (p *importTarget) decodeDocument(f fields) (store.Document, error) {
	t := tableByName(store.Documents.Name())
	if !t.belongsToAssessment(f, p.assessment) {
		return store.Document{}, api.Invalid("file", "a document belongs to another assessment")
	}
	var doc store.Document
	if err := decodeRecord(f, &doc); err != nil {
		return doc, err
	}
	if doc.ID == "" || doc.Filename == "" {
		return doc, api.Invalid("file", "a document has no name")
	}
	switch doc.Status {
	case api.DocumentIngested, api.DocumentFailed:
	default:
		return doc, api.Invalid("file", "%s is %s: wait until the document has been processed, then sync again", doc.Filename, doc.Status)
	}
	return doc, nil
}

func decodeRecord(f fields, r any) error {
	b, err := encodeFields(f)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return api.Invalid("file", "a field has a value of the wrong type: %v", err)
	}
	return nil
}

// apply applies the batch in one transaction.
func (r *batchApplier) apply(tx *store.Tx) error {
	tx.SetActorIfUnset(r.by.Actor.Name)
	org := r.by.OrganizationID
	rep, err := r.loadReplicaAndSetHold(tx)
	if err != nil {
		return err
	}
	if out, done, err := r.repeatedResult(&rep); done || err != nil {
		r.out = out
		return err
	}
	if r.onHold {
		err = r.holdBatch(tx, &rep)
	} else {
		err = r.applyLines(tx)
	}
	if err != nil {
		return err
	}
	if r.dryRun {
		return errDryRun
	}
	// The clone has to read these records again, whatever the outcome.
	for i := range r.batch.lines {
		if l := &r.batch.lines[i]; l.Table != "" {
			tx.MarkChangedForSync(org, r.batch.AssessmentID, l.Table, l.Key)
		}
	}
	rep.Counter, rep.LastSum, rep.SeenAt = r.batch.Counter, r.sha256Hex, tx.Now()
	if rep.LastResult, err = json.Marshal(r.out); err != nil {
		return err
	}
	return errors.Join(store.SyncReplicas.Put(tx, org, &rep),
		audit.Append(tx, r.by, audit.Entry{Action: "sync.pushed", ResourceType: "sync_replica", ResourceID: rep.ID, Changes: map[string]any{
			"assessment_id": r.batch.AssessmentID, "counter": r.batch.Counter,
			"sha256": r.sha256Hex, "applied": r.out.Applied, "conflicts": r.out.Conflicts,
			"clone_audit_sequence": r.batch.AnchorSequence, "clone_audit_hash": r.batch.AnchorHash,
		}}))
}

// applyLines applies the batch's changes in order.
func (r *batchApplier) applyLines(tx *store.Tx) error {
	sealed := map[string]api.Gate{}
	r.drafts = map[string]int{}
	var err error
	if r.lastSequence, err = tx.LastSyncSequence(r.by.OrganizationID, r.batch.AssessmentID); err != nil {
		return err
	}
	for i := range r.batch.lines {
		l := &r.batch.lines[i]
		if l.Table != "" {
			if err := checkLineKey(l); err != nil {
				return err
			}
		}
		if l.Op == opSubmit || l.Op == opDecide || l.Op == opTransition {
			if err := errors.Join(r.addItemsFromHere(tx, sealed), r.rehashVersionsAndRecordArtifacts(tx, sealed)); err != nil {
				return err
			}
		}
		err := r.applyLine(tx, l, sealed)
		var apiErr *api.Error
		if errors.As(err, &apiErr) && apiErr.Code != api.CodeInternal {
			err = r.storeRefusedChange(tx, l, apiErr)
		}
		if err != nil {
			return fmt.Errorf("change %d of batch %d: %w", i+1, r.batch.Counter, err)
		}
	}
	if !r.batch.More { // otherwise, items of the last version may follow
		if err := r.addItemsFromHere(tx, sealed); err != nil {
			return err
		}
	}
	return r.rehashVersionsAndRecordArtifacts(tx, sealed)
}

// checkLineKey returns an error if a change has an unknown table or an invalid key.
func checkLineKey(l *changeLine) error {
	t := tableByName(l.Table)
	if t == nil {
		return api.Invalid("file", "unknown table %.40q", l.Table)
	}
	if err := store.KeyFromBytes(l.Key).Err(); err != nil || len(l.Key) == 0 || len(l.Key) > 300 {
		return api.Invalid("file", "a change to %s has no valid record key", l.Table)
	}
	return nil
}

// holdBatch stores a batch until an authorized user decides what to do with it.
func (r *batchApplier) holdBatch(tx *store.Tx, rep *store.SyncReplica) error {
	r.addNote("%s is no longer a member with sync rights: their offline work is on hold until an owner or admin decides on it", rep.UserName)
	return r.storeAndPublishConflict(tx, &api.SyncConflict{
		Kind: api.ConflictReplica, Label: rep.Name, RecordID: rep.ID, Table: store.SyncReplicas.Name(),
		Message: fmt.Sprintf(
			"%s, who made these changes offline (%d), is no longer a member with sync rights",
			rep.UserName,
			len(r.batch.lines),
		),
		Clone: api.SyncSide{By: rep.UserName},
	}, true)
}

func (r *batchApplier) addNote(format string, args ...any) {
	if len(r.out.Notes) < 100 {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
	}
}

// storeAndPublishConflict stores a conflict and publishes an event. If keepBatch is set, it also stores the whole
// batch.
func (r *batchApplier) storeAndPublishConflict(tx *store.Tx, c *api.SyncConflict, keepBatch bool) error {
	r.out.Conflicts++
	org := r.by.OrganizationID
	c.TenantRecord = api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: org}
	c.AssessmentID, c.Status, c.ReplicaID = r.batch.AssessmentID, "open", r.batch.ReplicaID
	if r.by.Peer != nil {
		c.BundleKey = r.by.Peer.BundleKey()
	}
	if c.Clone.By == "" {
		c.Clone.By = r.by.Actor.Name
	}
	if keepBatch && !r.dryRun {
		blob, err := r.service.DB.Blobs().Put(tx.Context(), bytes.NewReader(r.data), maxFileBytes)
		if err != nil {
			return err
		}
		c.FileSHA256 = blob.SHA256
	}
	return errors.Join(store.SyncConflicts.Insert(tx, org, c),
		audit.RecordAndPublishEvent(tx, r.by, audit.Event{
			Type: "sync.conflict", AssessmentID: c.AssessmentID, Summary: "conflict: " + c.Message,
			ResourceType: "sync_conflict", ResourceID: c.ID,
			Data: map[string]any{"kind": c.Kind, "table": c.Table, "record_id": c.RecordID, "label": c.Label, "field": c.Field},
		}))
}

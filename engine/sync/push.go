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

// errDryRun undoes what a dry run did.
var errDryRun = errors.New("a dry run")

// Push brings a batch of a clone's changes home: all of it or, where it is not to be taken
// as a batch, nothing. The same batch again is answered as before.
func (s *Service) Push(ctx context.Context, by api.Caller, in *api.PushSyncInput) (*api.PushedSync, error) {
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, api.Invalid("file", "a batch is at most %d MiB", maxFileBytes>>20)
	}
	f, err := decodeFile(bytes.NewReader(data), kindBatch)
	if err != nil {
		return nil, err
	}
	if f.AssessmentID != in.AssessmentID {
		return nil, api.Invalid("file", "the batch is of another assessment")
	}
	sum := sha256.Sum256(data)
	r := &batchApplier{service: s, by: by, batch: f, data: data, sha256Hex: hex.EncodeToString(sum[:]), dryRun: in.Dry == "true"}
	if in.Dry != "" && in.Dry != "true" && in.Dry != "false" {
		return nil, api.Invalid("dry_run", "dry_run is true or false")
	}
	if out, done, err := r.findRepeated(ctx); done || err != nil {
		return out, err
	}
	if r.target, err = s.loadImportTarget(ctx, by, f.AssessmentID, f.CatalogSHA256, f.OwnSHA256); err != nil {
		return nil, err
	}
	if !r.onHold {
		if err := r.prepareDocuments(ctx); err != nil {
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
		s.Evidence.RefreshSearch(f.AssessmentID)
	}
	return r.out, nil
}

// batchApplier is a batch on its way into the home.
type batchApplier struct {
	service   *Service
	by        api.Caller
	batch     *exchangeFile
	data      []byte
	sha256Hex string
	dryRun    bool
	target    *importTarget
	// onHold: the batch is of a person who may not bring it any more.
	onHold bool
	docs   map[string]*evidence.ImportedDocument
	// foreignPassages is how many passages came that do not stand in a document's file.
	foreignPassages map[string]int
	quotes          *quoteChecker

	out *api.PushedSync
	// voidApprovals are approvals, and refused versions, that did not come through.
	voidApprovals, refusedVersions map[string]bool
}

// findRepeated looks whether the batch is the next one of its clone; done where it was taken before.
func (r *batchApplier) findRepeated(ctx context.Context) (out *api.PushedSync, done bool, err error) {
	err = r.service.DB.View(ctx, func(tx *store.Tx) error {
		rep, err := r.loadReplica(tx)
		if err != nil {
			return err
		}
		out, done, err = r.repeatedResult(&rep)
		return err
	})
	return out, done, err
}

// repeatedResult answers a batch that was taken before.
func (r *batchApplier) repeatedResult(rep *store.SyncReplica) (out *api.PushedSync, done bool, err error) {
	switch next := rep.Counter + 1; {
	case r.batch.Counter == next:
		return nil, false, nil
	case r.batch.Counter == rep.Counter && r.sha256Hex == rep.LastSum:
		out = &api.PushedSync{}
		return out, true, json.Unmarshal(rep.LastResult, out)
	case r.batch.Counter <= rep.Counter:
		return nil, false, api.Conflict(
			"batch %d of this clone was taken with other content: the clone was restored from a backup; %s",
			r.batch.Counter,
			cloneRestoredAdvice,
		)
	default:
		return nil, false, api.Conflict("the home does not know of changes that this clone sent before: %s", remoteRestoredAdvice)
	}
}

// loadReplica is the clone the batch is from. One of a person who may not bring it any more is
// held: another who may brought it.
func (r *batchApplier) loadReplica(tx *store.Tx) (store.SyncReplica, error) {
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
		return rep, api.Forbidden("the clone is %s's; sign in as them to bring its changes", rep.UserName)
	}
	r.onHold = true
	return rep, nil
}

// prepareDocuments readies the documents of the batch. Their files are read here: what they say is
// not for who brings them to tell. A file that was not brought makes no document.
func (r *batchApplier) prepareDocuments(ctx context.Context) error {
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
			return api.Invalid("file", "a batch brings at most %d documents", maxDocuments)
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
		case r.dryRun: // files need not be there
			r.docs[doc.ID], err = r.service.Evidence.PrepareImport(ctx, r.by.OrganizationID, r.target.catalogVersionID, doc, l.Chunks)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeDocument reads a document's record.
func (p *importTarget) decodeDocument(f fields) (store.Document, error) {
	t := tableByName(store.Documents.Name())
	if !t.belongsTo(f, p.assessment) {
		return store.Document{}, api.Invalid("file", "a document of another assessment")
	}
	var doc store.Document
	if err := decodeRecord(f, &doc); err != nil {
		return doc, err
	}
	if doc.ID == "" || doc.Filename == "" {
		return doc, api.Invalid("file", "a document without a name")
	}
	switch doc.Status {
	case api.DocumentIngested, api.DocumentFailed:
	default:
		return doc, api.Invalid("file", "%s is %s: a document comes when it is read", doc.Filename, doc.Status)
	}
	return doc, nil
}

func decodeRecord(f fields, r any) error {
	b, err := encodeFields(f)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return api.Invalid("file", "a field has a value of the wrong kind: %v", err)
	}
	return nil
}

// apply does the batch, in one transaction.
func (r *batchApplier) apply(tx *store.Tx) error {
	tx.SetActor(r.by.Actor.Name)
	org := r.by.OrganizationID
	rep, err := r.loadReplica(tx)
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
	// Whatever came of them, the clone reads these records again.
	for i := range r.batch.lines {
		if l := &r.batch.lines[i]; l.Table != "" {
			tx.MarkChanged(org, r.batch.AssessmentID, l.Table, l.Key)
		}
	}
	rep.Counter, rep.LastSum, rep.SeenAt = r.batch.Counter, r.sha256Hex, tx.Now()
	if rep.LastResult, err = json.Marshal(r.out); err != nil {
		return err
	}
	return errors.Join(store.SyncReplicas.Put(tx, org, &rep),
		audit.Append(tx, r.by, audit.Entry{Action: "sync.pushed", ResourceType: "sync_replica", ResourceID: rep.ID, Changes: map[string]any{
			"assessment_id": r.batch.AssessmentID, "counter": r.batch.Counter,
			"sha256": r.sha256Hex, "applied": r.out.Applied, "conflicts": r.out.Conflicts, "clone_audit_sequence": r.batch.AnchorSequence, "clone_audit_hash": r.batch.AnchorHash,
		}}))
}

// applyLines does what the batch tells, in its order.
func (r *batchApplier) applyLines(tx *store.Tx) error {
	sealed := map[string]api.Gate{}
	for i := range r.batch.lines {
		l := &r.batch.lines[i]
		if l.Table != "" {
			if err := checkLineKey(l); err != nil {
				return err
			}
		}
		if l.Op == opSubmit || l.Op == opDecide || l.Op == opTransition {
			if err := r.sealVersions(tx, sealed); err != nil {
				return err
			}
		}
		err := r.applyLine(tx, l, sealed)
		var apiErr *api.Error
		if errors.As(err, &apiErr) && apiErr.Code != api.CodeInternal {
			err = r.recordRefusal(tx, l, apiErr)
		}
		if err != nil {
			return fmt.Errorf("change %d of batch %d: %w", i+1, r.batch.Counter, err)
		}
	}
	return r.sealVersions(tx, sealed)
}

func checkLineKey(l *changeLine) error {
	t := tableByName(l.Table)
	if t == nil {
		return api.Invalid("file", "there is no table %.40q to synchronise", l.Table)
	}
	if err := store.KeyFromBytes(l.Key).Err(); err != nil || len(l.Key) == 0 || len(l.Key) > 300 {
		return api.Invalid("file", "a change of %s names no record", l.Table)
	}
	return nil
}

// holdBatch keeps a batch for somebody who may decide on it.
func (r *batchApplier) holdBatch(tx *store.Tx, rep *store.SyncReplica) error {
	r.addNote("%s is no member with that right any more: what they did offline is held back until somebody decides on it", rep.UserName)
	return r.recordConflict(tx, &api.SyncConflict{
		Kind: api.ConflictReplica, Label: rep.Name, RecordID: rep.ID, Table: store.SyncReplicas.Name(),
		Message: fmt.Sprintf(
			"%s, who made these %d changes offline, is no member with that right any more",
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

// recordConflict keeps a conflict and tells of it; with the whole batch where whole.
func (r *batchApplier) recordConflict(tx *store.Tx, c *api.SyncConflict, keepBatch bool) error {
	r.out.Conflicts++
	org := r.by.OrganizationID
	c.TenantRecord = api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: org}
	c.AssessmentID, c.Status, c.ReplicaID = r.batch.AssessmentID, "open", r.batch.ReplicaID
	if c.Clone.By == "" {
		c.Clone.By = r.by.Actor.Name
	}
	if keepBatch && !r.dryRun {
		blob, err := r.service.DB.Blobs().Put(tx.Context(), bytes.NewReader(r.data), maxFileBytes)
		if err != nil {
			return err
		}
		c.KeptSHA256 = blob.SHA256
	}
	return errors.Join(store.SyncConflicts.Insert(tx, org, c),
		audit.PublishEvent(tx, r.by, audit.Event{
			Type: "sync.conflict", AssessmentID: c.AssessmentID, Summary: "a conflict: " + c.Message, ResourceType: "sync_conflict", ResourceID: c.ID,
			Data: map[string]any{"kind": c.Kind, "table": c.Table, "record_id": c.RecordID, "label": c.Label, "field": c.Field},
		}))
}

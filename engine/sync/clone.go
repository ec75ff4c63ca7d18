package sync

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// Attach turns a local assessment into a clone, either of an existing remote that it is about to
// pull from, or of a new one that is about to be published.
func (s *Service) Attach(ctx context.Context, by api.Caller, in *api.AttachSyncInput) (*api.SyncStatus, error) {
	return s.linkAsClone(ctx, by, in, "")
}

// linkAsClone implements Attach. bundlePeerID is set if the clone and its remote exchange bundles.
func (s *Service) linkAsClone(ctx context.Context, by api.Caller, in *api.AttachSyncInput, bundlePeerID string) (*api.SyncStatus, error) {
	b := in.Body
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		org := by.OrganizationID
		if err := requireNotDiscarded(tx, org, b.AssessmentID); err != nil {
			return err
		}
		if _, _, err := requireCatalog(tx, org, b.CatalogSHA256, b.CustomSHA256); err != nil {
			return err
		}
		a, err := store.Assessments.Get(tx, org, b.AssessmentID)
		exists := err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return store.ToNotFound(err, "assessment", b.AssessmentID)
		}
		old, err := store.SyncLinks.Get(tx, org, b.AssessmentID)
		switch {
		case err == nil && old.Role == store.SyncRoleClone && old.ReplicaID == b.ReplicaID && (b.Server == "" || b.Server == old.Server):
			return nil // nothing to change
		case err == nil && old.Role == store.SyncRoleClone && old.ReplicaID == b.ReplicaID: // the remote has moved
			old.Server, old.RemoteOrganization, old.Account = b.Server, cmp.Or(
				b.RemoteOrganization,
				old.RemoteOrganization,
			), cmp.Or(
				b.Account,
				old.Account,
			)
			return errors.Join(store.SyncLinks.Put(tx, org, &old), recordAttachmentInAudit(tx, by, b.AssessmentID, b.Server, b.ReplicaID))
		case err == nil && old.Role == store.SyncRoleClone:
			return api.Conflict(
				"the assessment is already a clone of %s; run `service sync` to sync it or `service sync detach` to detach it",
				remoteAddressText(&old),
			)
		case err == nil:
			return api.Conflict("the assessment has clones of its own, so it cannot become a clone")
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		if exists {
			if have, err := loadAssessmentCatalog(tx, &a); err != nil || have.SnapshotBlob != b.CatalogSHA256 ||
				have.customSHA256 != b.CustomSHA256 {
				return firstError(err, api.Conflict("the local assessment uses a different catalog version"))
			}
		}
		l := store.SyncLink{
			OrganizationID: org, AssessmentID: b.AssessmentID, Role: store.SyncRoleClone, CreatedAt: tx.Now(),
			Server: b.Server, RemoteOrganization: b.RemoteOrganization,
			ReplicaID: b.ReplicaID, Account: b.Account, PeerID: bundlePeerID,
		}
		return errors.Join(
			store.SyncLinks.Insert(tx, org, &l),
			markAllChanged(tx, org, b.AssessmentID, exists),
			recordAttachmentInAudit(tx, by, b.AssessmentID, b.Server, b.ReplicaID),
		)
	})
	if err != nil {
		return nil, err
	}
	return s.Status(ctx, by, &api.SyncInput{AssessmentID: b.AssessmentID})
}

func recordAttachmentInAudit(tx *store.Tx, by api.Caller, id, server, replica string) error {
	return audit.Append(
		tx,
		by,
		audit.Entry{
			Action:       "sync.attached",
			ResourceType: "assessment",
			ResourceID:   id,
			Changes:      map[string]any{"server": server, "replica_id": replica},
		},
	)
}

// firstError returns err, or other if err is nil.
func firstError(err error, other error) error {
	if err != nil {
		return err
	}
	return other
}

// Detach stops syncing an assessment. Its records are kept.
func (s *Service) Detach(ctx context.Context, by api.Caller, in *api.SyncInput) (*api.None, error) {
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		l, err := syncLink(tx, by.OrganizationID, in.AssessmentID)
		if err != nil {
			return err
		}
		if l.Role == store.SyncRoleRemote {
			if err := by.Require(api.ApprovalDecide); err != nil {
				return api.Forbidden("only an owner or admin can detach an assessment that others have cloned")
			}
		}
		if l.Role == store.SyncRoleClone { // corrections of the remote's other assessments don't outlast the link
			err := tx.WithoutSyncLog(func() error { return assessment.RemoveCopiedCorrections(tx, by.OrganizationID, in.AssessmentID) })
			if err != nil {
				return err
			}
		}
		return errors.Join(
			store.DiscardSyncData(tx, by.OrganizationID, in.AssessmentID),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "sync.detached",
					ResourceType: "assessment",
					ResourceID:   in.AssessmentID,
					Changes:      map[string]any{"role": l.Role},
				},
			),
		)
	})
	if err != nil {
		return nil, err
	}
	return &api.None{}, s.DB.DeleteDiscarded(context.WithoutCancel(ctx))
}

// requireNotDiscarded returns an error while records of a deleted assessment with the same ID are still
// being removed.
func requireNotDiscarded(tx *store.Tx, org, assessment string) error {
	is, err := store.Discarded.Has(tx, org, assessment)
	if err == nil && is {
		err = api.Conflict("the previous copy of the assessment is still being deleted; try again in a moment")
	}
	return err
}

// PrepareBatch returns a batch of the clone's changes. It returns the same batch until the remote is
// known to have received it.
func (s *Service) PrepareBatch(ctx context.Context, by api.Caller, in *api.PrepareSyncInput) (*api.SyncBatch, error) {
	return s.prepareBatch(ctx, by, in.AssessmentID, in.DryRun == "true", pageBudget)
}

// prepareBatch returns the batch that is waiting to be sent, or else collects and encodes a new one. If
// records change while it does so, it starts again.
func (s *Service) prepareBatch(
	ctx context.Context,
	by api.Caller,
	id string,
	dryRun bool,
	budget fileBudget,
) (out *api.SyncBatch, err error) {
	org := by.OrganizationID
	for done := false; !done; {
		var l store.SyncLink
		var b *changeset
		var head int64
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			if l, err = linkWithRole(tx, org, id, store.SyncRoleClone); err != nil {
				return err
			}
			waiting, err := store.SyncBatches.Get(tx, org, id)
			if err == nil {
				f, err := decodeFile(bytes.NewReader(waiting.Data), kindBatch)
				if err == nil {
					out = f.newSyncBatch(waiting.Data)
				}
				return err
			}
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if b, err = collectChanges(tx, org, &l, budget); err != nil {
				return err
			}
			if head, err = tx.LastSyncSequence(org, id); err != nil {
				return err
			}
			out, err = b.file.encodeSyncBatch()
			return err
		})
		if err != nil || b == nil || dryRun {
			return out, err
		}
		err = s.DB.Update(ctx, func(tx *store.Tx) error {
			now, err := linkWithRole(tx, org, id, store.SyncRoleClone)
			if err != nil {
				return err
			}
			there, err := store.SyncBatches.Has(tx, org, id)
			if err != nil {
				return err
			}
			last, err := tx.LastSyncSequence(org, id)
			if done = !there && last == head && now.Counter == l.Counter && now.Since == l.Since; !done || err != nil {
				return err
			}
			if len(b.file.lines) == 0 { // nothing the remote needs to know
				return tx.WithoutSyncLog(func() error { return saveSentAsBaseAndClearChanges(tx, org, id, b.entries) })
			}
			return store.SyncBatches.Put(
				tx,
				org,
				&store.SyncBatch{OrganizationID: org, AssessmentID: id, Counter: l.Counter + 1, Data: out.Data, Entries: b.entries},
			)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RecordBatchReceived records that the remote has received the batch. Until the clone pulls the result, the batch's
// records serve as the base for merging.
func (s *Service) RecordBatchReceived(ctx context.Context, by api.Caller, in *api.AcknowledgeSyncInput) (*api.SyncStatus, error) {
	org, id := by.OrganizationID, in.AssessmentID
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		l, err := linkWithRole(tx, org, id, store.SyncRoleClone)
		if err != nil {
			return err
		}
		b, err := store.SyncBatches.Get(tx, org, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && in.Body.Counter != b.Counter {
			if in.Body.Counter <= l.Counter {
				return nil // already acknowledged
			}
			return api.Conflict("batch %d was not created by this clone", in.Body.Counter)
		}
		if err != nil {
			return err
		}
		if err := tx.WithoutSyncLog(func() error { return saveSentAsBaseAndClearChanges(tx, org, id, b.Entries) }); err != nil {
			return err
		}
		l.Counter = b.Counter
		return errors.Join(
			store.SyncBatches.Delete(tx, org, id),
			store.SyncLinks.Put(tx, org, &l),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "sync.sent",
					ResourceType: "assessment",
					ResourceID:   id,
					Changes:      map[string]any{"counter": b.Counter, "records": len(b.Entries)},
				},
			),
		)
	})
	if err != nil {
		return nil, err
	}
	return s.Status(ctx, by, &api.SyncInput{AssessmentID: id})
}

// saveSentAsBaseAndClearChanges saves the records of a sent batch as the base for merging the next pull. It also marks
// the records as unchanged, except those that have changed again. Unchanged records that exist only in the clone are
// removed, because the remote writes its own versions of them.
func saveSentAsBaseAndClearChanges(tx *store.Tx, org, id string, entries []store.SyncBatchEntry) error {
	for _, c := range entries {
		row, err := store.SyncLogEntries.Get(tx, org, id, c.Table, c.Key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		unchanged := err == nil && row.Sequence == c.Sequence
		if unchanged {
			if err := store.SyncLogEntries.Delete(tx, org, id, c.Table, c.Key); err != nil {
				return err
			}
		}
		t := tableByName(c.Table)
		if c.CloneOnly {
			if unchanged {
				if err := t.remove(tx, org, c.Key); err != nil {
					return err
				}
			}
			continue
		}
		f, err := decodeFields(c.Record)
		if err != nil {
			return err
		}
		if err := saveOrDeleteBase(tx, org, id, c.Table, c.Key, f); err != nil {
			return err
		}
	}
	return nil
}

// ApplyRemoteChanges applies a file of the remote's changes to the clone. A file that was already
// applied has no effect.
func (s *Service) ApplyRemoteChanges(ctx context.Context, by api.Caller, in *api.UploadSyncInput) (*api.ImportedSync, error) {
	f, err := decodeFile(io.LimitReader(in.File.Content, maxFileBytes), kindChanges)
	if err != nil {
		return nil, err
	}
	if f.AssessmentID != in.AssessmentID {
		return nil, api.Invalid("file", "the file contains changes to a different assessment")
	}
	return s.applyRemoteFile(ctx, by, in.AssessmentID, f, nil)
}

// applyRemoteFile applies changes to the clone. peer is the signer of the bundle that contained the changes, or nil. A
// bundle may repeat changes that were already read. This is harmless, because a bundle contains complete records, which
// can be applied twice.
func (s *Service) applyRemoteFile(
	ctx context.Context,
	by api.Caller,
	id string,
	f *exchangeFile,
	peer *api.SyncPeer,
) (out *api.ImportedSync, err error) {
	org := by.OrganizationID
	p, err := s.loadImportTarget(ctx, by, id, f.CatalogSHA256, f.CustomSHA256)
	if err != nil {
		return nil, err
	}
	out = &api.ImportedSync{}
	t := &pullApplier{service: s, by: by, file: f, target: p, peer: peer, docs: map[string]*evidence.ImportedDocument{}}
	done := false
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		l, err := linkWithRole(tx, org, id, store.SyncRoleClone)
		if err == nil {
			done, err = t.checkOrder(tx, &l)
		}
		out.Since, out.More = l.Since, f.More
		return err
	})
	if err != nil || done {
		return out, err
	}
	var prepared []*evidence.ImportedDocument
	defer func() { s.Evidence.ReleaseImports(ctx, prepared) }()
	for i := range f.lines {
		l := &f.lines[i]
		if l.Op != opPut || l.Table != store.Documents.Name() {
			continue
		}
		doc, err := p.decodeDocument(l.Record)
		if err != nil {
			return nil, err
		}
		if t.docs[doc.ID], err = s.Evidence.EmbedForImport(ctx, org, p.catalogVersionID, doc, l.Chunks); err != nil {
			return nil, err
		}
		prepared = append(prepared, t.docs[doc.ID])
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		l, err := linkWithRole(tx, org, id, store.SyncRoleClone)
		if err != nil {
			return err
		}
		out = &api.ImportedSync{Since: l.Since, More: f.More}
		if done, err := t.checkOrder(tx, &l); done || err != nil {
			return err
		}
		t.readSequence = l.Since
		if err := tx.WithoutSyncLog(func() error { return t.applyLines(tx, out) }); err != nil {
			return err
		}
		moved := f.Next > l.Since
		l.Since, l.AnchorSequence, l.AnchorHash, l.SyncedAt = f.Next, f.AnchorSequence, f.AnchorHash, tx.Now()
		out.Since = l.Since
		if err := store.SyncLinks.Put(tx, org, &l); err != nil || !moved {
			return err
		}
		return audit.Append(tx, by, audit.Entry{Action: "sync.applied", ResourceType: "assessment", ResourceID: id, Changes: map[string]any{
			"since": f.Since, "next": f.Next, "records": out.Imported,
			"remote_audit_sequence": f.AnchorSequence, "remote_audit_hash": f.AnchorHash,
		}})
	})
	if err != nil {
		return nil, err
	}
	if len(t.docs) > 0 {
		s.Evidence.DropCachedIndexAndWakeEmbedder(id)
	}
	return out, nil
}

// pullApplier applies one file of the remote's changes to a clone.
type pullApplier struct {
	service *Service
	by      api.Caller
	file    *exchangeFile
	target  *importTarget
	docs    map[string]*evidence.ImportedDocument
	// peer is the signer of the bundle that contained the file, or nil; readSequence is how far the
	// clone had read before.
	peer         *api.SyncPeer
	readSequence int64
}

// checkOrder returns an error if the file is not the next in sequence. done reports whether the file was
// already applied.
func (t *pullApplier) checkOrder(tx *store.Tx, l *store.SyncLink) (done bool, err error) {
	if l.ReplicaID != t.file.ReplicaID {
		return false, api.Invalid("file", "the changes were prepared for another clone")
	}
	waiting, err := store.SyncBatches.Has(tx, l.OrganizationID, l.AssessmentID)
	overlaps := t.peer != nil && t.file.Since < l.Since && l.Since < t.file.Next
	switch {
	case err != nil:
		return false, err
	case t.file.Next < t.file.Since:
		return false, damagedFileError("the end precedes the start")
	case (t.file.Since == l.Since || overlaps) && waiting:
		return false, api.Conflict("a batch has not reached the remote yet; push it before pulling")
	case t.file.Since == l.Since, overlaps:
		return false, nil
	case t.file.Next <= l.Since:
		return true, nil
	}
	return false, api.Conflict("the changes start at %d, but this clone has read up to %d; pull again from that point", t.file.Since, l.Since)
}

func (t *pullApplier) applyLines(tx *store.Tx, out *api.ImportedSync) error {
	written := map[string]api.Gate{}
	for i, last := 0, t.file.Since; i < len(t.file.lines); i++ {
		l := &t.file.lines[i]
		if err := checkLineKey(l); err != nil {
			return err
		}
		if l.Sequence <= last || l.Sequence > t.file.Next {
			return damagedFileError(
				"change %d has number %d, outside the range %d to %d",
				i+1,
				l.Sequence,
				t.file.Since+1,
				t.file.Next,
			)
		}
		last = l.Sequence
		tab := tableByName(l.Table)
		err := t.checkRepeatedRecord(tx, tab, l)
		if err != nil {
			return err
		}
		switch l.Op {
		case opPut:
			err = t.applyPut(tx, tab, l)
			if tab.kind == versionTable {
				written[recordIDFromKey(l.Key)] = tab.gate
			}
		case opDelete:
			err = t.applyDelete(tx, tab, l)
		default:
			err = damagedFileError("unknown operation %.20q", l.Op)
		}
		if err != nil {
			return err
		}
		out.Imported++
	}
	for _, id := range slices.Sorted(mapKeys(written)) {
		if err := assessment.Synced(written[id]).RecordArtifact(tx, t.by, id); err != nil {
			return err
		}
	}
	return nil
}

// checkRepeatedRecord compares a record that a bundle repeats with the copy that was read earlier. If they differ
// although the record hasn't changed since then, it returns an error, because the remote's history must have changed.
func (t *pullApplier) checkRepeatedRecord(tx *store.Tx, tab *table, l *changeLine) error {
	if l.Op != opPut || l.Sequence > t.readSequence {
		return nil
	}
	local, exists, err := tab.read(tx, t.target.org, l.Key)
	if err != nil {
		return err
	}
	was, err := loadBase(tx, t.target.org, t.file.AssessmentID, tab.name, l.Key)
	if err != nil {
		return err
	}
	if exists && (was == nil || !equalFields(tab.withoutLocalFields(local), was)) {
		return nil // changed locally; its base may still await the result of a push
	}
	same := was != nil
	for name, v := range l.Record {
		if w, ok := was[name]; ok && !bytes.Equal(v, w) {
			same = false
		}
	}
	if !same {
		return api.Conflict("the history in the bundle differs from the history that this clone has read: %s", remoteRestoredAdvice)
	}
	return nil
}

// applyPut stores the remote's version of a record, preserving local changes that have not been pushed.
func (t *pullApplier) applyPut(tx *store.Tx, tab *table, l *changeLine) error {
	org, id := t.target.org, t.file.AssessmentID
	key, err := tab.key(org, copyFields(l.Record))
	if err != nil {
		return err
	}
	if string(key) != string(l.Key) || !tab.belongsToAssessment(l.Record, id) {
		return damagedFileError("a record of %s belongs to another assessment or does not match its key", tab.name)
	}
	local, exists, err := tab.read(tx, org, l.Key)
	if err != nil {
		return err
	}
	if exists && !tab.belongsToAssessment(local, id) {
		return api.Conflict("a local record of another assessment has the same ID as a record of %s, so the assessment can't be cloned here",
			tab.name)
	}
	was, err := loadBase(tx, org, id, tab.name, l.Key)
	if err != nil {
		return err
	}
	if err := t.resolveCollision(tx, tab, l, &local, &was, &exists); err != nil {
		return err
	}
	next, nextBase := mergeRecord(tab, l.Record, local, was, exists)
	if err := tab.fillLocalFields(t.target, next, local); err != nil {
		return err
	}
	if tab.name == store.Approvals.Name() {
		if err := t.recordDecisionSigner(tab, next, local); err != nil {
			return err
		}
	}
	if tab.name == store.Documents.Name() {
		err = t.applyDocument(tx, next, local, l)
	} else {
		err = tab.put(tx, org, next)
	}
	if err != nil {
		return err
	}
	// The stored form may differ from the received one: the base has to match what is read back.
	if kept, _, err := tab.read(tx, org, l.Key); err != nil {
		return err
	} else if kept = tab.withoutLocalFields(kept); equalWithoutLocalFields(next, l.Record, tab) {
		nextBase = kept
	}
	return saveOrDeleteBase(tx, org, id, tab.name, l.Key, nextBase)
}

// recordDecisionSigner stores in an approval which key signed the bundle that contained the decision, unless the
// decision was already known here.
func (t *pullApplier) recordDecisionSigner(tab *table, approval, local fields) (err error) {
	if d := tab.describeDecision(approval); d != "" && d != tab.describeDecision(local) {
		delete(approval, "remote_key")
		if t.peer != nil {
			approval["remote_key"], err = json.Marshal(t.peer.BundleKey())
		}
	}
	return err
}

// mergeRecord returns the record to store and its new base for later merges. A field that was
// changed locally but not yet pushed keeps its value. If the remote has changed the same field, the
// field's old base is also kept, so that pushing it causes a conflict.
func mergeRecord(tab *table, remote, local, base fields, exists bool) (next, nextBase fields) {
	next, nextBase = copyFields(remote), copyFields(remote)
	if !exists {
		return next, nextBase
	}
	for name, mine := range tab.withoutLocalFields(local) {
		before, theirs := base[name], remote[name]
		if string(mine) == string(before) || string(mine) == string(theirs) || base == nil {
			continue
		}
		next[name] = mine
		if string(theirs) != string(before) {
			nextBase[name] = before
			if before == nil {
				delete(nextBase, name)
			}
		}
	}
	return next, nextBase
}

func equalWithoutLocalFields(next, remote fields, tab *table) bool {
	return equalFields(tab.withoutLocalFields(next), remote)
}

// applyDocument stores a document. It uses the remote's content and passages, unless there is a new
// local version that has not been pushed.
func (t *pullApplier) applyDocument(tx *store.Tx, next, local fields, l *changeLine) error {
	if local != nil && stringFromJSON(next["sha256"]) != stringFromJSON(l.Record["sha256"]) {
		return tableByName(store.Documents.Name()).put(tx, t.target.org, next)
	}
	arrival := t.docs[stringFromJSON(l.Record["id"])]
	var doc store.Document
	next["organization_id"] = stringToJSON(t.target.org)
	if err := merge.FillRecord(next, &doc); err != nil {
		return err
	}
	doc.Embedder, doc.Stage = arrival.Document.Embedder, "done"
	arrival.Document = doc
	uploaded, err := hasFile(tx, t.target.org, doc.AssessmentID, doc.SHA256)
	if err != nil {
		return err
	}
	if !uploaded {
		return api.Conflict("the file %s has not been received yet; fetch it first", doc.Filename)
	}
	if err := t.service.Evidence.SaveImport(tx, t.by, arrival, false); err != nil {
		return err
	}
	err = store.SyncFiles.Delete(tx, t.target.org, doc.AssessmentID, doc.SHA256)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// resolveCollision handles a local record that was not pushed and that can't coexist with the remote's record, because
// both have the same version number or document content, or because both are the assessment's scope.
func (t *pullApplier) resolveCollision(tx *store.Tx, tab *table, l *changeLine, local, base *fields, exists *bool) error {
	org, id := t.target.org, t.file.AssessmentID
	switch {
	case tab.kind == versionTable:
		return t.renumberCollidingVersion(tx, tab, l)
	case tab.name == store.Documents.Name():
		old, err := store.Documents.By("content").Get(tx, org, id, stringFromJSON(l.Record["sha256"]))
		if err != nil || old.ID == stringFromJSON(l.Record["id"]) {
			return ignoreNotFound(err)
		}
		// Same file: its passages have the same IDs under the other document.
		if err := t.service.Evidence.DeleteDocument(tx, t.by, &old, false); err != nil {
			return err
		}
		if err := saveOrDeleteBase(tx, org, id, tab.name, store.K(old.ID).Bytes(), nil); err != nil {
			return err
		}
		return store.SyncFiles.Put(tx, org, &store.SyncFile{OrganizationID: org, AssessmentID: id, SHA256: old.SHA256, At: tx.Now()})
	case tab.name == store.Scopes.Name() && !*exists:
		old, err := store.Scopes.By("assessment").Get(tx, org, id)
		if err != nil {
			return ignoreNotFound(err)
		}
		key := store.K(old.ID).Bytes()
		sent, err := loadBase(tx, org, id, tab.name, key)
		if err != nil {
			return err
		}
		if err := errors.Join(tab.remove(tx, org, key), saveOrDeleteBase(tx, org, id, tab.name, key, nil)); err != nil {
			return err
		}
		f, err := merge.FieldsFromRecord(&old)
		if err != nil {
			return err
		}
		// What was pushed is already merged into the remote's scope; only the rest hasn't been sent yet.
		if sent == nil {
			sent = fields{}
		}
		f["id"], sent["id"] = l.Record["id"], l.Record["id"]
		*local, *exists, *base = f, true, sent
		for _, name := range tab.readOnlyFields {
			(*local)[name], (*base)[name] = l.Record[name], l.Record[name]
		}
		tx.MarkChangedForSync(org, id, tab.name, l.Key)
	}
	return nil
}

// renumberCollidingVersion gives a local version a new number if the remote has used its number for
// another version.
func (t *pullApplier) renumberCollidingVersion(tx *store.Tx, tab *table, l *changeLine) error {
	org, id := t.target.org, t.file.AssessmentID
	last := 0
	var holder []byte
	var held fields
	for key, err := range tab.keys(tx, org, id) {
		if err != nil {
			return err
		}
		f, _, err := tab.read(tx, org, key)
		if err != nil {
			return err
		}
		last = max(last, intFromJSON(f["version_number"]))
		if string(key) != string(l.Key) && string(f["version_number"]) == string(l.Record["version_number"]) {
			holder, held = slices.Clone(key), f
		}
	}
	if holder == nil {
		return nil
	}
	to := intToJSON(max(last, intFromJSON(l.Record["version_number"])) + 1)
	held["version_number"] = to
	if err := tab.put(tx, org, held); err != nil {
		return err
	}
	was, err := loadBase(tx, org, id, tab.name, holder)
	if err != nil || was == nil {
		return err
	}
	was["version_number"] = to
	return saveOrDeleteBase(tx, org, id, tab.name, holder, was)
}

// applyDelete deletes a record that the remote has deleted. A record that has unsent local changes
// is kept, and pushing it causes a conflict at the remote.
func (t *pullApplier) applyDelete(tx *store.Tx, tab *table, l *changeLine) error {
	org, id := t.target.org, t.file.AssessmentID
	if tab.name == store.Assessments.Name() {
		return damagedFileError("a change cannot delete the assessment")
	}
	local, exists, err := tab.read(tx, org, l.Key)
	if err != nil {
		return err
	}
	was, err := loadBase(tx, org, id, tab.name, l.Key)
	if err != nil {
		return err
	}
	if exists && !tab.belongsToAssessment(local, id) || exists && was == nil {
		return nil // the remote never had it
	}
	if exists && !equalFields(tab.withoutLocalFields(local), was) {
		return nil
	}
	if exists && tab.name == store.Documents.Name() {
		doc, err := store.Documents.Get(tx, org, store.KeyFromBytes(l.Key))
		if err != nil {
			return err
		}
		err = t.service.Evidence.DeleteDocument(tx, t.by, &doc, false)
		if err != nil {
			return err
		}
		t.docs[doc.ID] = nil
	} else if err := tab.remove(tx, org, l.Key); err != nil {
		return err
	}
	return saveOrDeleteBase(tx, org, id, tab.name, l.Key, nil)
}

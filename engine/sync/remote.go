package sync

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/store"
)

// maxReplicas is the maximum number of clones of an assessment.
const maxReplicas = 1_000

// Join registers the caller's clone with the assessment, which becomes its remote.
func (s *Service) Join(ctx context.Context, by api.Caller, in *api.JoinSyncInput) (*api.JoinedSync, error) {
	return s.join(ctx, by, in, "")
}

// join implements Join. If the clone and the remote exchange bundles, peer identifies the other
// side, and the clone may already have an ID.
func (s *Service) join(ctx context.Context, by api.Caller, in *api.JoinSyncInput, peer string) (*api.JoinedSync, error) {
	b := in.Body
	if err := by.Require("assessment:read"); err != nil {
		return nil, err
	}
	var out *api.JoinedSync
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		out = &api.JoinedSync{AssessmentID: b.AssessmentID, OrganizationID: by.OrganizationID, Account: by.Actor.Name}
		org := by.OrganizationID
		if err := requireNotDiscarded(tx, org, b.AssessmentID); err != nil {
			return err
		}
		a, err := store.Assessments.Get(tx, org, b.AssessmentID)
		switch {
		case errors.Is(err, store.ErrNotFound) && b.Publish:
			if err := by.Require("assessment:write"); err != nil {
				return err
			}
		case err != nil:
			return store.ToNotFound(err, "assessment", b.AssessmentID)
		default:
			v, err := loadAssessmentCatalog(tx, &a)
			if err != nil {
				return err
			}
			out.Name, out.CatalogSHA256, out.CatalogLabel, out.CustomSHA256 = a.Name, v.SnapshotBlob, v.Label, v.customSHA256
		}
		l, err := store.SyncLinks.Get(tx, org, b.AssessmentID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			l = store.SyncLink{OrganizationID: org, AssessmentID: b.AssessmentID, Role: store.SyncRoleRemote, CreatedAt: tx.Now()}
			if err := errors.Join(store.SyncLinks.Insert(tx, org, &l), markAllChanged(tx, org, b.AssessmentID, out.Name != "")); err != nil {
				return err
			}
		case err != nil:
			return err
		case l.Role != store.SyncRoleRemote:
			return api.Conflict("this copy is itself a clone; clone the assessment from its remote (%s)", remoteAddressText(&l))
		}
		rep, err := store.SyncReplicas.Get(tx, org, b.AssessmentID, b.ReplicaID)
		if b.ReplicaID == "" || errors.Is(err, store.ErrNotFound) {
			n, failed := store.SyncReplicas.Count(tx, org, b.AssessmentID)
			if failed != nil {
				return failed
			}
			if n >= maxReplicas {
				return api.Conflict("the assessment already has %d clones; remove clones that are no longer used", n)
			}
			rep = store.SyncReplica{
				OrganizationID: org,
				AssessmentID:   b.AssessmentID,
				ID:             tx.NewID(),
				UserID:         by.UserID,
				UserName:       by.Actor.Name,
				JoinedAt:       tx.Now(),
			}
			if peer != "" && b.ReplicaID != "" {
				rep.ID = b.ReplicaID
			}
			err = audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "sync.joined",
					ResourceType: "sync_replica",
					ResourceID:   rep.ID,
					Changes:      map[string]any{"assessment_id": b.AssessmentID, "name": b.Name},
				},
			)
		}
		if err != nil {
			return err
		}
		if rep.UserID != by.UserID {
			return api.Forbidden("clone %s belongs to someone else; create your own clone", rep.ID)
		}
		rep.Name, rep.SeenAt, rep.PeerID = cmp.Or(b.Name, rep.Name), tx.Now(), cmp.Or(peer, rep.PeerID)
		out.ReplicaID = rep.ID
		return store.SyncReplicas.Put(tx, org, &rep)
	})
	if err != nil {
		return nil, err
	}
	return out, s.DB.View(ctx, func(tx *store.Tx) (err error) {
		out.Head, err = tx.LastSyncSequence(by.OrganizationID, b.AssessmentID)
		return err
	})
}

// markAllChanged marks every record of an assessment as changed, so that a new clone reads all of them.
func markAllChanged(tx *store.Tx, org, id string, exists bool) error {
	if !exists {
		return nil
	}
	for _, t := range tables {
		for key, err := range t.keys(tx, org, id) {
			if err != nil {
				return err
			}
			tx.MarkChangedForSync(org, id, t.name, key)
		}
	}
	return nil
}

// ReadChanges returns a file of the records that changed at the remote since the clone last read.
func (s *Service) ReadChanges(ctx context.Context, by api.Caller, in *api.ChangesSyncInput) (*api.SyncBatch, error) {
	var out *api.SyncBatch
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		left := fileBudget{lines: pageSize, documents: math.MaxInt, files: math.MaxInt64}
		f, err := readChanges(tx, by, in, &left)
		if err == nil {
			out, err = f.encodeSyncBatch()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if in.DryRun == "true" {
		return out, nil
	}
	return out, s.recordCloneProgress(ctx, by, in)
}

// progressInterval is the minimum time between two updates of a clone's SeenAt if it has read
// nothing new.
const progressInterval = time.Minute

// recordCloneProgress stores how far a clone has read, and prunes log entries of deletions that all clones
// have read.
func (s *Service) recordCloneProgress(ctx context.Context, by api.Caller, in *api.ChangesSyncInput) error {
	org := by.OrganizationID
	var rep store.SyncReplica
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		rep, err = store.SyncReplicas.Get(tx, org, in.AssessmentID, in.ReplicaID)
		return err
	})
	if err != nil || rep.UserID != by.UserID || rep.Since == int64(in.Since) && s.Clock().Sub(rep.SeenAt) < progressInterval {
		return err
	}
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		rep, err := store.SyncReplicas.Get(tx, org, in.AssessmentID, in.ReplicaID)
		if err != nil {
			return err
		}
		rep.Since, rep.SeenAt = int64(in.Since), tx.Now()
		return errors.Join(store.SyncReplicas.Put(tx, org, &rep), pruneReadDeletions(tx, org, in.AssessmentID))
	})
}

// pruneReadDeletions removes log entries of deleted records if every clone has read them.
func pruneReadDeletions(tx *store.Tx, org, id string) error {
	least := int64(-1)
	for r, err := range store.SyncReplicas.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return err
		}
		if least < 0 || r.Since < least {
			least = r.Since
		}
	}
	if least <= 0 {
		return nil
	}
	l, err := syncLink(tx, org, id)
	if err != nil || l.Since >= least { // at a remote, Since marks how far the log was pruned
		return err
	}
	var gone []store.SyncLogEntry
	seen := 0
	for row, err := range store.SyncLogEntries.By("sequence").Scan(tx, org, store.Prefix(id), store.From(l.Since+1), store.Through(least)) {
		if err != nil {
			return err
		}
		if seen++; seen > maxPruned {
			least = row.Sequence - 1
			break
		}
		t := tableByName(row.Table)
		if t == nil {
			continue
		}
		_, exists, err := t.read(tx, org, row.Key)
		if err != nil {
			return err
		}
		if !exists {
			gone = append(gone, row)
		}
	}
	for _, row := range gone {
		if err := store.SyncLogEntries.Delete(tx, org, id, row.Table, row.Key); err != nil {
			return err
		}
	}
	l.Since = least
	return store.SyncLinks.Put(tx, org, &l)
}

// maxPruned is the maximum number of rows examined in one transaction.
const maxPruned = 2_000

// readChanges returns a file of changed records and subtracts their size from the budget.
func readChanges(tx *store.Tx, by api.Caller, in *api.ChangesSyncInput, budget *fileBudget) (*exchangeFile, error) {
	org, id := by.OrganizationID, in.AssessmentID
	if _, err := linkWithRole(tx, org, id, store.SyncRoleRemote); err != nil {
		return nil, err
	}
	a, err := store.Assessments.Get(tx, org, id)
	if err != nil {
		return nil, store.ToNotFound(err, "assessment", id)
	}
	v, err := loadAssessmentCatalog(tx, &a)
	if err != nil {
		return nil, err
	}
	if _, err := callerReplica(tx, by, id, in.ReplicaID); err != nil {
		return nil, err
	}
	since := int64(in.Since)
	if err := verifyHistory(tx, org, id, since, uint64(max(0, in.AnchorSequence)), in.AnchorHash); err != nil {
		return nil, err
	}
	head, err := tx.LastSyncSequence(org, id)
	if err != nil {
		return nil, err
	}
	f := &exchangeFile{
		fileHeader: fileHeader{
			Format:        Format,
			Kind:          kindChanges,
			AssessmentID:  id,
			ReplicaID:     in.ReplicaID,
			CatalogSHA256: v.SnapshotBlob,
			CustomSHA256:  v.customSHA256,
			Since:         since,
			Next:          head,
		},
	}
	if f.AnchorSequence, f.AnchorHash, err = lastAuditRecord(tx, org); err != nil {
		return nil, err
	}
	f.Next = since
	for row, err := range store.SyncLogEntries.By("sequence").Scan(tx, org, store.Prefix(id), store.From(since+1)) {
		if err != nil {
			return nil, err
		}
		t := tableByName(row.Table)
		if t == nil {
			continue
		}
		l, n, err := newStateLine(tx, org, t, &row)
		if err != nil {
			return nil, err
		}
		if l != nil {
			if !budget.reserveLine(l, n) {
				f.More = true
				break
			}
			f.lines = append(f.lines, *l)
		}
		f.Next = row.Sequence
	}
	if !f.More {
		f.Next = head
	}
	return f, nil
}

// remoteRestoredAdvice explains what to do if a clone has read a different history than the remote's.
const remoteRestoredAdvice = "the remote was restored from a backup. Nothing in the clone is lost: keep the clone's folder, " +
	"create another clone in a new folder (`service --data FOLDER sync clone`, or from a bundle), " +
	"and repeat the changes that the remote lost in the new clone"

// cloneRestoredAdvice explains what to do with a clone that was restored to an older state than the remote expects.
const cloneRestoredAdvice = "keep the clone's folder, create another clone in a new folder " +
	"(`service --data FOLDER sync clone`, or from a bundle), " +
	"and repeat in the new clone the changes that `service sync status` lists as not sent in the old one"

// historyMismatchError returns the error for a remote whose history differs from the one a clone has
// read.
func historyMismatchError() error {
	return api.Conflict("the history here differs from the history that this clone has read: %s", remoteRestoredAdvice)
}

// lastAuditRecord returns the sequence number and hash of the organization's last audit record.
func lastAuditRecord(tx *store.Tx, org string) (sequence uint64, hash string, _ error) {
	for rec, err := range store.Audit.Scan(tx, org, store.Reverse) {
		return rec.Sequence, rec.Hash, err
	}
	return 0, "", nil
}

// newStateLine returns a change line with a record's current state, or nil for a document that is still
// being processed.
func newStateLine(tx *store.Tx, org string, t *table, row *store.SyncLogEntry) (line *changeLine, lineSize int, _ error) {
	l := &changeLine{Op: opPut, Table: t.name, Key: row.Key, Sequence: row.Sequence, By: row.By, At: row.At}
	f, exists, err := t.read(tx, org, row.Key)
	if err != nil {
		return nil, 0, err
	}
	if !exists {
		l.Op = opDelete
		return l, 100, nil
	}
	l.Record = t.withoutLocalFields(f)
	size := 200
	for _, v := range l.Record {
		size += len(v)
	}
	if t.name == store.Documents.Name() {
		var read bool
		var n int
		if l.Chunks, n, read, err = documentPassages(tx, org, f); err != nil || !read {
			return nil, 0, err
		}
		size += n
	}
	return l, size, nil
}

// documentPassages returns a document's passages and their size. processed is false if the document is still being
// processed.
func documentPassages(tx *store.Tx, org string, f fields) (out []api.Chunk, size int, processed bool, err error) {
	if s := api.DocumentState(stringFromJSON(f["status"])); s == api.DocumentUploaded || s == api.DocumentProcessing {
		return nil, 0, false, nil
	}
	doc, err := store.Documents.Get(tx, org, stringFromJSON(f["id"]))
	if err != nil {
		return nil, 0, false, err
	}
	passages, err := evidence.DocumentPassages(tx, &doc)
	if err != nil {
		return nil, 0, false, err
	}
	for _, c := range passages {
		c.OrganizationID = ""
		size += 300 + len(c.Text)
		out = append(out, c)
	}
	return out, size, true, nil
}

// callerReplica returns a clone, or a FORBIDDEN error if it belongs to another user.
func callerReplica(tx *store.Tx, by api.Caller, assessmentID, replicaID string) (store.SyncReplica, error) {
	rep, err := store.SyncReplicas.Get(tx, by.OrganizationID, assessmentID, replicaID)
	if err != nil {
		return rep, store.ToNotFound(err, "clone", replicaID)
	}
	if rep.UserID != by.UserID {
		return rep, api.Forbidden("the clone belongs to %s; sign in as that user or create your own clone", rep.UserName)
	}
	return rep, nil
}

// requireLinkAndPermission returns an error if the assessment is not synced, or if the caller doesn't
// have the permission that the operation requires in addition to sync access.
func (s *Service) requireLinkAndPermission(ctx context.Context, by api.Caller, assessmentID string, permission api.Permission) error {
	err := s.DB.View(ctx, func(tx *store.Tx) error { _, err := syncLink(tx, by.OrganizationID, assessmentID); return err })
	if err != nil {
		return err
	}
	return by.Require(permission)
}

// ListMissingFiles returns which of the given files the assessment doesn't have. It doesn't
// consider other assessments' files, so that it reveals nothing about them.
func (s *Service) ListMissingFiles(ctx context.Context, by api.Caller, in *api.MissingSyncInput) (*api.SyncFiles, error) {
	out := &api.SyncFiles{SHA256: []string{}}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		if _, err := syncLink(tx, by.OrganizationID, in.AssessmentID); err != nil {
			return err
		}
		for _, sha := range in.Body.SHA256 {
			have, err := hasFile(tx, by.OrganizationID, in.AssessmentID, sha)
			if err != nil {
				return err
			}
			if !have {
				out.SHA256 = append(out.SHA256, sha)
			}
		}
		return nil
	})
	return out, err
}

// hasFile reports whether a document of the assessment has this file, or whether the file was uploaded ahead of its
// document.
func hasFile(tx *store.Tx, org, assessmentID, sha string) (bool, error) {
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != 32 {
		return false, api.Invalid("sha256", "%.80q is not a SHA-256", sha)
	}
	_, err := store.Documents.By("content").Get(tx, org, assessmentID, sha)
	if errors.Is(err, store.ErrNotFound) {
		return store.SyncFiles.Has(tx, org, assessmentID, sha)
	}
	return err == nil, err
}

// DownloadFiles returns a tar of the requested files, provided that they belong to the assessment's documents.
func (s *Service) DownloadFiles(ctx context.Context, by api.Caller, in *api.MissingSyncInput) (*api.File, error) {
	if err := s.requireLinkAndPermission(ctx, by, in.AssessmentID, "document:read"); err != nil {
		return nil, err
	}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for _, sha := range in.Body.SHA256 {
			if have, err := hasFile(tx, by.OrganizationID, in.AssessmentID, sha); err != nil || !have {
				return errors.Join(err, api.NotFound("file", sha))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.verifyFiles(ctx, by.OrganizationID, in.AssessmentID, in.Body.SHA256); err != nil {
		return nil, err
	}
	return api.StreamFile(ctx, "files.tar", "application/x-tar", func(ctx context.Context, w io.Writer) error {
		t := tar.NewWriter(w)
		for _, sha := range in.Body.SHA256 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.addBlobToTar(ctx, t, sha); err != nil {
				return err
			}
		}
		return t.Close()
	}), nil
}

// verifyFiles verifies files of an assessment before a response starts to send them, so that an
// error can name the document.
func (s *Service) verifyFiles(ctx context.Context, org, assessmentID string, files []string) error {
	records := map[string]string{}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for _, sha := range files {
			d, err := store.Documents.By("content").Get(tx, org, assessmentID, sha)
			if ignoreNotFound(err) != nil {
				return err
			}
			if records[sha] = "synced file"; err == nil {
				records[sha] = fmt.Sprintf("document %q", d.Filename)
			}
		}
		return nil
	})
	for _, sha := range files {
		if err == nil {
			err = s.DB.Blobs().VerifyFileOf(ctx, records[sha], sha)
		}
	}
	return err
}

func (s *Service) addBlobToTar(ctx context.Context, t *tar.Writer, sha string) error {
	f, size, err := s.DB.Blobs().Open(ctx, sha)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.WriteHeader(&tar.Header{Name: sha, Mode: 0o600, Size: size, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

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
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// ListConflicts lists conflicts, newest first.
func (s *Service) ListConflicts(ctx context.Context, by api.Caller, in *api.SyncConflictsInput) (*api.List[api.SyncConflict], error) {
	q := store.PageQuery[api.SyncConflict]{
		Reverse: true,
		Filter:  store.FilterIf(in.Status != "", func(c *api.SyncConflict) bool { return c.Status == in.Status }),
	}
	if in.AssessmentID != "" {
		q.Index, q.Prefix = "assessment", store.K(in.AssessmentID)
	}
	return store.List(ctx, s.DB, store.SyncConflicts, by.OrganizationID, in.Paging, q)
}

// GetConflict returns a conflict by ID.
func (s *Service) GetConflict(ctx context.Context, by api.Caller, in *api.SyncConflictInput) (*api.SyncConflict, error) {
	var c api.SyncConflict
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) { c, err = getConflict(tx, by, in.ConflictID); return err })
	return &c, err
}

func getConflict(tx *store.Tx, by api.Caller, id string) (api.SyncConflict, error) {
	c, err := store.SyncConflicts.Get(tx, by.OrganizationID, id)
	return c, store.ToNotFound(err, "conflict", id)
}

// ResolveConflict resolves a conflict as if the caller had edited the record.
func (s *Service) ResolveConflict(ctx context.Context, by api.Caller, in *api.ResolveSyncInput) (*api.SyncConflict, error) {
	if in.Body.Choice == "value" && len(in.Body.Value) == 0 {
		return nil, api.Invalid("value", `"value" must be set if the choice is "value"`)
	}
	if in.Body.Choice != "value" && len(in.Body.Value) > 0 {
		return nil, api.Invalid("value", "\"value\" can be set only if the choice is \"value\"")
	}
	c, err := s.GetConflict(ctx, by, &in.SyncConflictInput)
	if err != nil {
		return nil, err
	}
	var held *batchApplier
	if c.Kind == api.ConflictReplica {
		if err := by.Require(api.ApprovalDecide); err != nil {
			return nil, api.Forbidden("only an owner or admin can decide on the work of a former member")
		}
		if in.Body.Choice == "clone" {
			held, err = s.loadHeldBatch(ctx, by, c)
			if held != nil {
				defer s.Evidence.ReleaseImports(ctx, held.prepared)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	var out api.SyncConflict
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		tx.SetActorIfUnset(by.Actor.Name)
		if out, err = getConflict(tx, by, in.ConflictID); err != nil {
			return err
		}
		if out.Status != "open" {
			return api.Conflict("this conflict has already been resolved")
		}
		if _, err := linkWithRole(tx, by.OrganizationID, out.AssessmentID, store.SyncRoleRemote); err != nil {
			return err
		}
		if held != nil {
			held.out, held.voidApprovals, held.refusedVersions = &api.PushedSync{Notes: []string{}}, map[string]bool{}, map[string]bool{}
			err = held.applyLines(tx)
		} else {
			err = applyChoice(tx, by, &out, in)
		}
		if err != nil {
			return err
		}
		now := tx.Now()
		out.Status, out.Choice, out.ResolvedBy, out.ResolvedAt, out.UpdatedAt = "resolved", in.Body.Choice, &by.Actor.Name, &now, now
		return errors.Join(store.SyncConflicts.Put(tx, by.OrganizationID, &out),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "sync.resolved", AssessmentID: out.AssessmentID,
				Summary:      fmt.Sprintf("resolved a conflict: %s (%s)", out.Message, in.Body.Choice),
				ResourceType: "sync_conflict", ResourceID: out.ID,
				Data: map[string]any{"choice": in.Body.Choice, "field": out.Field, "record_id": out.RecordID},
			}))
	})
	if err != nil {
		return nil, err
	}
	if held != nil {
		s.Evidence.DropCachedIndexAndWakeEmbedder(out.AssessmentID)
	}
	return &out, nil
}

// loadHeldBatch loads a batch that was put on hold, so that it can be applied on behalf of the caller.
func (s *Service) loadHeldBatch(ctx context.Context, by api.Caller, c *api.SyncConflict) (*batchApplier, error) {
	b, _, err := s.DB.Blobs().Open(ctx, c.FileSHA256)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	data, err := io.ReadAll(b)
	if err != nil {
		return nil, err
	}
	f, err := decodeFile(bytes.NewReader(data), kindBatch)
	if err != nil {
		return nil, err
	}
	if c.BundleKey != nil {
		if by.Peer, err = s.heldBatchPeer(ctx, by, c.BundleKey); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(data)
	r := &batchApplier{service: s, by: by, batch: f, data: data, sha256Hex: hex.EncodeToString(sum[:])}
	if r.target, err = s.loadImportTarget(ctx, by, f.AssessmentID, f.CatalogSHA256, f.CustomSHA256); err != nil {
		return nil, err
	}
	return r, r.parseUploadedDocuments(ctx)
}

// heldBatchPeer returns the peer whose key signed the bundle of a held batch, with its current rights. A
// key that is no longer trusted, or whose trust has expired, may not submit decisions.
func (s *Service) heldBatchPeer(ctx context.Context, by api.Caller, k *api.BundleKey) (*api.SyncPeer, error) {
	p := api.SyncPeer{Name: k.Name, Fingerprint: k.Fingerprint}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		trusted, err := store.SyncPeers.By("fingerprint").Get(tx, by.OrganizationID, k.Fingerprint)
		if err == nil {
			if err = requireTrustNotExpired(tx, &trusted); err == nil {
				p = trusted
			}
		}
		if api.IsCode(err, api.CodeInvalidState) {
			return nil
		}
		return ignoreNotFound(err)
	})
	return &p, err
}

// applyChoice applies the side of a conflict that the user chose.
func applyChoice(tx *store.Tx, by api.Caller, c *api.SyncConflict, in *api.ResolveSyncInput) error {
	t := tableByName(c.Table)
	if in.Body.Choice == "remote" {
		return nil
	}
	if t == nil || c.Kind != api.ConflictField && c.Kind != api.ConflictDelete {
		return api.Conflict("the clone's change can't be applied as it is; choose \"remote\", then repeat the changes that you want to keep")
	}
	if err := by.Require(t.writePermission()); err != nil {
		return err
	}
	if c.Kind == api.ConflictDelete {
		return applyDeletion(tx, by, t, c, in.Body.Choice)
	}
	if t.name == store.Documents.Name() && c.Field == "sha256" {
		return api.Conflict("upload the other file as the new version of %s, then choose \"remote\"", c.Label)
	}
	key := store.K(c.RecordID).Bytes()
	f, exists, err := t.read(tx, by.OrganizationID, key)
	if err != nil {
		return err
	}
	if !exists {
		return api.Conflict("%s no longer exists; choose \"remote\"", c.Label)
	}
	to, from := c.Clone.Value, c.Remote.Value
	if in.Body.Choice == "value" {
		var canonical any
		if err := json.Unmarshal(in.Body.Value, &canonical); err != nil {
			return api.Invalid("value", "the value is not valid JSON: %v", err)
		}
		to, from = in.Body.Value, f[c.Field]
	}
	changes := map[string]merge.Change{c.Field: {From: from, To: to}}
	var left []merge.Conflict
	switch {
	case t.kind == itemTable:
		left, err = assessment.Synced(t.gate).ApplyChanges(tx, by, c.AssessmentID, c.RecordID, changes)
	case t.name == store.Corrections.Name():
		return assessment.DecideCorrectionConflict(tx, by, c.RecordID, stringFromJSON(to))
	case t.name == store.Scopes.Name():
		left, _, err = assessment.ApplyScopeChanges(tx, by, c.AssessmentID, c.RecordID, changes, t.readOnlyFields)
	default:
		var merged []string
		if merged, left = merge.ApplyChanges(f, changes, t.readOnlyFields); len(merged) > 0 {
			err = t.put(tx, by.OrganizationID, f)
			if err == nil && slices.Contains(merged, "client_name") {
				err = assessment.MarkCopiedCorrections(tx, by.OrganizationID, c.AssessmentID)
			}
		}
	}
	if err == nil && len(left) > 0 {
		err = api.Conflict(
			"%s of %s has since been changed to %.200s; choose \"remote\" to keep the new value, or set another one",
			prose.Humanize(c.Field),
			c.Label,
			left[0].Here,
		)
	}
	return err
}

// applyDeletion carries out the user's choice about a deletion that was made offline.
func applyDeletion(tx *store.Tx, by api.Caller, t *table, c *api.SyncConflict, choice string) error {
	if choice != "clone" || t.kind != itemTable || string(c.Clone.Value) != "null" {
		return api.Conflict("choose \"remote\", then delete or recreate %s here", c.Label)
	}
	f, exists, err := t.read(tx, by.OrganizationID, store.K(c.RecordID).Bytes())
	if err != nil || !exists {
		return err
	}
	_, err = assessment.Synced(t.gate).DeleteItem(tx, by, c.AssessmentID, c.RecordID, f)
	return err
}

// maxUnsent is the maximum number of unsent records listed in a status.
const maxUnsent = 100

// Status returns an assessment's sync status.
func (s *Service) Status(ctx context.Context, by api.Caller, in *api.SyncInput) (*api.SyncStatus, error) {
	out := &api.SyncStatus{AssessmentID: in.AssessmentID, Role: "none"}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		org, id := by.OrganizationID, in.AssessmentID
		l, err := store.SyncLinks.Get(tx, org, id)
		linked := err == nil
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return store.ToNotFound(err, "assessment", id)
		}
		a, err := store.Assessments.Get(tx, org, id)
		switch {
		case err == nil:
			v, err := loadAssessmentCatalog(tx, &a)
			if err != nil {
				return err
			}
			out.CatalogSHA256, out.CatalogLabel, out.CustomSHA256 = v.SnapshotBlob, v.Label, v.customSHA256
		case !linked || !errors.Is(err, store.ErrNotFound):
			return store.ToNotFound(err, "assessment", id)
		}
		if !linked {
			return nil
		}
		out.Role = l.Role
		if out.Head, err = tx.LastSyncSequence(org, id); err != nil {
			return err
		}
		for c, err := range store.SyncConflicts.By("assessment").Scan(tx, org, store.Prefix(id)) {
			if err != nil {
				return err
			}
			if c.Status == "open" {
				out.OpenConflicts++
			}
		}
		if l.Role == store.SyncRoleRemote {
			return addReplicasToStatus(tx, org, id, out)
		}
		out.Server, out.OrganizationID, out.ReplicaID, out.Account, out.Since = l.Server, l.RemoteOrganization, l.ReplicaID, l.Account, l.Since
		out.AnchorSequence, out.AnchorHash = l.AnchorSequence, l.AnchorHash
		if l.PeerID != "" {
			peer, err := store.SyncPeers.Get(tx, org, l.PeerID)
			if ignoreNotFound(err) != nil {
				return err
			}
			out.PeerName = peer.Name
		}
		if !l.SyncedAt.IsZero() {
			out.SyncedAt = &l.SyncedAt
		}
		return addUnsentToStatus(tx, org, id, out)
	})
	return out, err
}

func addReplicasToStatus(tx *store.Tx, org, id string, out *api.SyncStatus) error {
	for r, err := range store.SyncReplicas.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return err
		}
		out.Replicas = append(
			out.Replicas,
			api.SyncReplica{
				ID:       r.ID,
				Name:     r.Name,
				UserID:   r.UserID,
				UserName: r.UserName,
				JoinedAt: r.JoinedAt,
				SeenAt:   r.SeenAt,
				Behind:   max(0, out.Head-r.Since),
			},
		)
	}
	return nil
}

// addUnsentToStatus adds to the status the number of unsent changes in the clone, and a list of them.
func addUnsentToStatus(tx *store.Tx, org, id string, out *api.SyncStatus) error {
	for row, err := range store.SyncLogEntries.Scan(tx, org, store.Prefix(id)) {
		if err != nil {
			return err
		}
		t := tableByName(row.Table)
		if t == nil || t.kind == remoteTable || t.kind == remoteIssuedTable {
			continue
		}
		f, exists, err := t.read(tx, org, row.Key)
		if err != nil {
			return err
		}
		was, err := loadBase(tx, org, id, row.Table, row.Key)
		if err != nil {
			return err
		}
		if !exists && was == nil || exists && equalFields(t.withoutLocalFields(f), was) {
			continue
		}
		if out.Ahead++; len(out.Unpushed) < maxUnsent {
			if !exists {
				f = was
			}
			out.Unpushed = append(out.Unpushed, api.UnpushedRecord{Table: t.name, Label: t.displayName(f), By: row.By, At: row.At})
		}
	}
	return nil
}

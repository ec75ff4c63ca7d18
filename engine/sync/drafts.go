package sync

import (
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/store"
)

// findDraftBase returns the number of the version that a version was drafted from, for a version added by an earlier batch.
func (r *batchApplier) findDraftBase(tx *store.Tx, gate api.Gate, version string) (int, error) {
	for c, err := range store.SyncConflicts.By("assessment").Scan(tx, r.target.org, store.Prefix(r.batch.AssessmentID)) {
		if err != nil {
			return 0, err
		}
		if c.Kind == api.ConflictVersion && c.RecordID == version {
			return intFromJSON(c.Base.Value), nil
		}
	}
	f, _, err := tableForGate(gate, versionTable).read(tx, r.target.org, store.K(version).Bytes())
	return intFromJSON(f["version_number"]) - 1, err
}

// addItemsFromHere adds to the versions drafted offline the items that users added here or decided on since the clone's
// last sync.
func (r *batchApplier) addItemsFromHere(tx *store.Tx, versions map[string]api.Gate) error {
	org := r.target.org
	replica, err := store.SyncReplicas.Get(tx, org, r.batch.AssessmentID, r.batch.ReplicaID)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(versions)) {
		base, drafted := r.drafts[id]
		if !drafted {
			continue
		}
		delete(r.drafts, id)
		t := tableForGate(versions[id], itemTable)
		omitted, err := assessment.Synced(t.gate).AddItemsFromHere(tx, r.by, id, base, func(item string) (bool, error) {
			row, err := store.SyncLogEntries.Get(tx, org, r.batch.AssessmentID, t.name, store.K(item).Bytes())
			return err == nil && row.Sequence > replica.Since && row.Sequence <= r.lastSequence, ignoreNotFound(err)
		})
		if err != nil {
			return err
		}
		for _, code := range omitted {
			if err := r.storeAndPublishConflict(tx, &api.SyncConflict{
				Kind: api.ConflictRefused, Table: t.name, Label: code,
				Base: newConflictSide(nil), Remote: newConflictSide(nil), Clone: newConflictSide(nil),
				Message: fmt.Sprintf("an item for %s was changed here, but the %s drafted offline doesn't have it; "+
					"its previous version keeps the change", code, t.gate.Title()),
			}, false); err != nil {
				return err
			}
		}
	}
	return nil
}

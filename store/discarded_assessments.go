package store

import (
	"context"
	"errors"
)

// DiscardedRecords describes records that nothing refers to anymore: those of a deleted assessment, or the sync
// data of one that is no longer synced. They are deleted in short transactions, if necessary after a restart.
type DiscardedRecords struct {
	OrganizationID string `json:"organization_id"`
	AssessmentID   string `json:"assessment_id"`
	// Deleted is true if the assessment was deleted. VersionIDs are its versions whose items still exist.
	Deleted    bool     `json:"deleted,omitempty"`
	VersionIDs []string `json:"version_ids,omitempty"`
}

// discardBatch is the number of records deleted in one transaction.
const discardBatch = 1_000

// DiscardAssessmentData ends the syncing of an assessment, and schedules its items, history and packs for deletion by
// DB.DeleteDiscarded. The caller must delete the assessment, its versions and everything else that appears in lists.
func DiscardAssessmentData(tx *Tx, org, assessment string, versionIDs []string) error {
	return discardRecords(tx, &DiscardedRecords{OrganizationID: org, AssessmentID: assessment, Deleted: true, VersionIDs: versionIDs})
}

// DiscardSyncData ends the syncing of an assessment, and schedules its sync data for deletion by
// DB.DeleteDiscarded.
func DiscardSyncData(tx *Tx, org, assessment string) error {
	return discardRecords(tx, &DiscardedRecords{OrganizationID: org, AssessmentID: assessment})
}

// discardRecords removes an assessment's sync link, and schedules the described records for deletion.
func discardRecords(tx *Tx, d *DiscardedRecords) error {
	err := SyncLinks.Delete(tx, d.OrganizationID, d.AssessmentID)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return errors.Join(err, Discarded.Put(tx, d.OrganizationID, d))
}

// DeleteDiscarded deletes all discarded records, in transactions of at most discardBatch records.
func (db *DB) DeleteDiscarded(ctx context.Context) error {
	for {
		var next *DiscardedRecords
		err := db.View(ctx, func(tx *Tx) error {
			next = nil
			for d, err := range Discarded.AcrossTenants().Scan(tx) {
				next = &d
				return err
			}
			return nil
		})
		if err != nil || next == nil {
			return err
		}
		if err := db.Update(ctx, func(tx *Tx) error { return tx.WithoutSyncLog(func() error { return next.deleteSome(tx) }) }); err != nil {
			return err
		}
	}
}

// deleteSome deletes some of the described records or, if there are none left, the description itself.
func (d *DiscardedRecords) deleteSome(tx *Tx) error {
	org, id := d.OrganizationID, d.AssessmentID
	for _, remove := range []func(tx *Tx, org string, limit int, prefix ...any) (int, error){
		SyncLogEntries.DeleteSome, SyncBases.DeleteSome, SyncReplicas.DeleteSome, SyncBatches.DeleteSome, SyncFiles.DeleteSome,
	} {
		if n, err := remove(tx, org, discardBatch, id); n > 0 || err != nil {
			return err
		}
	}
	if d.Deleted {
		for _, version := range d.VersionIDs {
			for _, remove := range []func(*Tx, string, string) (int, error){
				newItemDeleter(SoAItems), newItemDeleter(Findings), newItemDeleter(MaturityScores), newItemDeleter(POAMItems),
			} {
				if n, err := remove(tx, org, version); n > 0 || err != nil {
					return err
				}
			}
		}
		if n, err := Timeline.DeleteSome(tx, org, discardBatch, id); n > 0 || err != nil {
			return err
		}
		if n, err := LifecycleEvents.DeleteSome(tx, org, discardBatch, id); n > 0 || err != nil {
			return err
		}
		if n, err := DeletePacks(tx, org, discardBatch, id); n > 0 || err != nil {
			return err
		}
	}
	err := Discarded.Delete(tx, org, id)
	if errors.Is(err, ErrNotFound) { // deleted by a concurrent call
		return nil
	}
	return err
}

// newItemDeleter returns a function that deletes up to discardBatch items of a version and returns the number of items
// it deleted.
func newItemDeleter[R any](t *TenantTable[R]) func(tx *Tx, org, version string) (int, error) {
	return func(tx *Tx, org, version string) (int, error) {
		var keys []Key
		for r, err := range t.By("version").Scan(tx, org, Prefix(version)) {
			if err != nil {
				return 0, err
			}
			k, err := t.KeyWithinTenant(&r)
			if err != nil {
				return 0, err
			}
			if keys = append(keys, k); len(keys) == discardBatch {
				break
			}
		}
		for _, k := range keys {
			if err := t.Delete(tx, org, k); err != nil {
				return 0, err
			}
		}
		return len(keys), nil
	}
}

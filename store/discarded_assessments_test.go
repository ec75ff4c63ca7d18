package store

import (
	"fmt"
	"testing"
)

// TestDeleteDiscarded checks that the data of a deleted assessment is deleted in transactions of limited size, and
// that nothing else is deleted.
func TestDeleteDiscarded(t *testing.T) {
	db := openTables(t)
	var most UpdateStats
	db.checkUpdate = func(s UpdateStats) error {
		most.Records = max(most.Records, s.Records)
		return nil
	}
	const n = 2*discardBatch + 10
	for _, assessment := range []string{"gone", "stays"} {
		for from := 0; from < n; from += discardBatch {
			update(t, db, func(tx *Tx) error {
				for i := from; i < min(from+discardBatch, n); i++ {
					e := TimelineEvent{OrganizationID: "one", AssessmentID: assessment}
					e.ID = fmt.Sprint(i)
					f := line("one", "version of "+assessment, fmt.Sprint(assessment, i), "words")
					r := SyncLogEntry{OrganizationID: "one", AssessmentID: assessment, Table: "findings", Key: K(fmt.Sprint(i)).Bytes(), Sequence: int64(i)}
					if err := Timeline.Insert(tx, "one", &e); err != nil {
						return err
					}
					if err := SyncLogEntries.Insert(tx, "one", &r); err != nil {
						return err
					}
					if err := Findings.Insert(tx, "one", &f); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	count := func(assessment string) (timeline, log, items int) {
		view(t, db, func(tx *Tx) (err error) {
			timeline, _ = Timeline.Count(tx, "one", assessment)
			log, _ = SyncLogEntries.Count(tx, "one", assessment)
			items, err = Findings.By("version").Count(tx, "one", "version of "+assessment)
			return err
		})
		return timeline, log, items
	}
	most = UpdateStats{}
	update(t, db, func(tx *Tx) error { return DiscardSyncData(tx, "one", "stays") })
	if err := db.DeleteDiscarded(t.Context()); err != nil {
		t.Fatal(err)
	}
	if timeline, log, items := count("stays"); timeline != n || log != 0 || items != n {
		t.Errorf("without sync it has %d, %d, %d records", timeline, log, items)
	}
	update(t, db, func(tx *Tx) error { return DiscardAssessmentData(tx, "one", "gone", []string{"version of gone"}) })
	if err := db.DeleteDiscarded(t.Context()); err != nil {
		t.Fatal(err)
	}
	if timeline, log, items := count("gone"); timeline != 0 || log != 0 || items != 0 {
		t.Errorf("%d, %d, %d records are left", timeline, log, items)
	}
	if timeline, _, items := count("stays"); timeline != n || items != n {
		t.Errorf("the other has %d, %d", timeline, items)
	}
	if most.Records > discardBatch {
		t.Errorf("a transaction deletes %d records", most.Records)
	}
}

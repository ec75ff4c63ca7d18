package postgres

import (
	"fmt"
	"testing"

	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/kv"
)

// TestPointInTimeRecovery restores the database to a moment after its base backup, as docs/postgresql.md describes it.
// It must contain what was committed by then, nothing later, and accept new changes.
func TestPointInTimeRecovery(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	s := postgrestest.NewServer(t)
	s.Stop(t, "fast")
	s.Start(t, s.ArchiveArguments()...)
	url := s.URL("service")
	put := func(db *DB, from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			if err := db.Update(t.Context(), func(k kv.KV) error { return k.Put("t", fmt.Append(nil, n), []byte("value")) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	count := func(db *DB) (n int) {
		t.Helper()
		err := db.View(t.Context(), func(k kv.KV) error {
			n = 0
			for _, err := range k.Scan("t", kv.Range{}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	db := open(t, url)
	put(db, 0, 10)
	s.BaseBackup(t)
	put(db, 10, 20)
	if err := db.compareClocks(t.Context()); err != nil {
		t.Fatal(err)
	}
	moment := db.Now()
	put(db, 20, 30)
	err := db.Update(t.Context(), func(k kv.KV) error { return k.Drop("t") })
	if err != nil || count(db) != 0 {
		t.Fatal(err)
	}
	_ = db.Close()
	s.Stop(t, "fast") // archives the rest
	s.Recover(t, moment)
	db = open(t, url)
	// The transaction that was committed at the moment itself may be restored too.
	if n := count(db); n < 20 || n > 21 {
		t.Errorf("%d records after the recovery, expected 20", n)
	}
	put(db, 100, 101)
	if n := count(db); n < 21 || n > 22 {
		t.Errorf("%d records after another change", n)
	}
}

package store

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/scf-service/service/internal/testutil/fulldisktest"
)

func TestDiskFull(t *testing.T) {
	if fulldisktest.RunInSubprocess(t) {
		return
	}
	dir := t.TempDir()
	db := open(t, options(dir))
	fillControls(t, db, 100)
	noise := make([]byte, maxValue)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(noise)
	kept, err := db.Blobs().Put(t.Context(), bytes.NewReader(noise[:5000]), 1<<20)
	is(t, "Put", err, nil)
	write := func() error {
		return db.Update(t.Context(), func(tx *Tx) error {
			for i := range 3 {
				if err := tx.kv.Put("controls", K("noise", i).b, noise); err != nil {
					return err
				}
			}
			return nil
		})
	}

	undo := fulldisktest.LimitFileSize(t, 20<<20)
	for range 3 {
		is(t, "Update", write(), ErrDiskFull)
	}
	_, err = db.Blobs().Put(t.Context(), bytes.NewReader(bytes.Repeat(noise, 2)), 1<<30)
	is(t, "Put", err, ErrDiskFull)
	undo()
	// This limit is smaller than the snapshot of the database.
	undo = fulldisktest.LimitFileSize(t, 4<<10)
	is(t, "Backup", backUp(t.Context(), db, filepath.Join(dir, dirBackups, "full.backup")), ErrDiskFull)
	undo()
	backup := filepath.Join(t.TempDir(), "b")
	is(t, "Backup", backUp(t.Context(), db, backup), nil)
	// A restore fails both because of the database and because of the blob.
	other := options(t.TempDir())
	for _, limit := range []uint64{100, 4 << 10, 20 << 10} {
		undo = fulldisktest.LimitFileSize(t, limit)
		_, err = Restore(t.Context(), backup, other, ReadOptions{})
		is(t, "Restore", err, ErrDiskFull)
		_, err = VerifyBackup(t.Context(), backup, other, ReadOptions{})
		is(t, "VerifyBackup", err, ErrDiskFull)
		undo()
		if left := state(t, other.Dir); len(left) > 0 {
			t.Fatalf("left behind: %q", left)
		}
	}
	undo = fulldisktest.LimitFileSize(t, 4<<10)
	same(t, "tmp", files(t, db, dirTemp))
	same(t, "backups", files(t, db, dirBackups))
	same(t, "blobs", files(t, db, dirBlobs), kept.SHA256[2:])
	view(t, db, func(tx *Tx) error {
		n, err := controls.Count(tx)
		if n != 100 {
			t.Errorf("%d controls", n)
		}
		checkIndexes(t, tx, controls)
		return err
	})
	undo()

	// With free space again, everything works, in the open store and after reopening.
	update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "after"}) })
	is(t, "Update", write(), nil)
	is(t, "Close", db.Close(), nil)
	db = open(t, options(dir))
	view(t, db, func(tx *Tx) error {
		has, err := controls.Has(tx, "after")
		if !has {
			t.Error("what was written after the disk was full is gone")
		}
		return err
	})
}

package store

import (
	"bytes"
	"math/rand/v2"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scf-service/service/store/kv"
)

// fileLimit makes every file of this process stop growing at n bytes, which is
// what a full disk looks like from here, until undo.
func fileLimit(t *testing.T, n uint64) (undo func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	is(t, "Getrlimit", syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old), nil)
	is(t, "Setrlimit", syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: old.Max}), nil)
	undo = func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }
	t.Cleanup(undo)
	return undo
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	db := open(t, options(dir))
	fillControls(t, db, 100)
	noise := make([]byte, kv.MaxValue)
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

	undo := fileLimit(t, 20<<20)
	for range 3 {
		is(t, "Update", write(), ErrDiskFull)
	}
	_, err = db.Blobs().Put(t.Context(), bytes.NewReader(bytes.Repeat(noise, 2)), 1<<30)
	is(t, "Put", err, ErrDiskFull)
	undo()
	// Smaller than the snapshot of the database.
	undo = fileLimit(t, 20<<10)
	is(t, "Backup", db.Backup(t.Context(), filepath.Join(dir, dirBackups, "full.backup")), ErrDiskFull)
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

	// With room again, everything goes on, here and after reopening.
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

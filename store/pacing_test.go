package store

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// TestPacedWriter checks that a backup pauses only after a part during which the store was written to, and that the
// pause ends with its context.
func TestPacedWriter(t *testing.T) {
	db := openNew(t)
	now := day
	db.clock = func() time.Time { return now }
	ctx, cancel := context.WithCancel(t.Context())
	p := newPacedWriter(ctx, io.Discard, db)
	part := make([]byte, pacedSize/2)
	write := func() error {
		now = now.Add(time.Hour) // any pause would be as long as possible
		n, err := p.Write(part)
		if n != len(part) {
			t.Errorf("%d bytes written", n)
		}
		return err
	}
	cancel()
	for range 4 {
		is(t, "without other writes", write(), nil)
	}
	update(t, db, func(tx *Tx) error { return nil })
	is(t, "an Update that changes nothing", write(), nil)
	is(t, "an Update that changes nothing", write(), nil)
	update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "C"}) })
	is(t, "the first half of a part", write(), nil)
	is(t, "a part during an Update", write(), context.Canceled)
	is(t, "after it", write(), nil)
	is(t, "after it", write(), nil)
}

// TestBackupBesideWrites checks a backup of several parts while the store is being written to.
func TestBackupBesideWrites(t *testing.T) {
	o := options(t.TempDir())
	o.Clock = time.Now
	db := open(t, o)
	content := incompressible(3*pacedSize + 5)
	for i := range 2 {
		_, err := db.Blobs().Put(t.Context(), bytes.NewReader(content[i:]), 1<<30)
		is(t, "Put", err, nil)
	}
	done := make(chan error, 1)
	path := t.TempDir() + "/b"
	go func() { done <- backUp(t.Context(), db, path) }()
	for n := 0; ; n++ {
		select {
		case err := <-done:
			is(t, "Backup", err, nil)
			_, err = VerifyBackup(t.Context(), path, options(t.TempDir()), ReadOptions{})
			is(t, "VerifyBackup", err, nil)
			return
		default:
			update(t, db, func(tx *Tx) error { return controls.Put(tx, &control{Code: "C", Weight: n}) })
		}
	}
}

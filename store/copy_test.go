package store

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/store/bolt"
	"github.com/scf-service/service/store/kv"
	"github.com/scf-service/service/store/postgres"
)

func TestCopy(t *testing.T) {
	from := options(t.TempDir())
	db := open(t, from)
	fillControls(t, db, 12_000) // enough for several batches
	blob, err := db.Blobs().Put(t.Context(), bytes.NewReader(bytes.Repeat([]byte("evidence "), 9000)), 1<<20)
	is(t, "Put", err, nil)
	url := postgrestest.NewURL(t)
	connect := func() Driver {
		driver, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		is(t, "postgres.Open", err, nil)
		t.Cleanup(func() { _ = driver.Close() })
		return driver
	}
	shared := Place{Dir: t.TempDir(), Driver: connect()}
	o := CopyOptions{From: Place{Dir: from.Dir}, To: shared, Clock: from.Clock, NewID: from.NewID}
	_, err = Copy(t.Context(), o)
	is(t, "while it is open", err, ErrLocked)
	is(t, "Close", db.Close(), nil)

	s, err := Copy(t.Context(), o)
	is(t, "Copy", err, nil)
	if s.Files != 1 || s.Records < 12_000 {
		t.Errorf("copied: %+v", s)
	}
	_, err = Copy(t.Context(), o)
	is(t, "again", err, ErrExists)

	there := options(shared.Dir)
	there.Driver, there.NewID = connect(), counter("there")
	db = open(t, there)
	checkCopied := func(db *DB) {
		t.Helper()
		view(t, db, func(tx *Tx) error {
			n, err := controls.Count(tx)
			if n != 12_000 {
				t.Errorf("%d controls", n)
			}
			return err
		})
		is(t, "Verify", db.Blobs().Verify(t.Context(), blob.SHA256), nil)
	}
	checkCopied(db)
	back := CopyOptions{
		From: Place{Dir: shared.Dir, Driver: connect()}, To: Place{Dir: filepath.Join(t.TempDir(), "back")},
		Clock: from.Clock, NewID: from.NewID,
	}
	_, err = Copy(t.Context(), back)
	is(t, "while a process uses it", err, ErrLocked)
	is(t, "Close", db.Close(), nil)

	again, err := Copy(t.Context(), back)
	is(t, "back", err, nil)
	if again != s {
		t.Errorf("copied back: %+v, before: %+v", again, s)
	}
	_, err = Copy(t.Context(), back)
	is(t, "back again", err, ErrExists)
	in := options(back.To.Dir)
	db = open(t, in)
	checkCopied(db)
	is(t, "Close", db.Close(), nil)
	_, err = Copy(t.Context(), CopyOptions{From: Place{Dir: t.TempDir()}, To: Place{Dir: t.TempDir()}, Clock: from.Clock, NewID: from.NewID})
	is(t, "of nothing", err, ErrNotFound)
}

// failingDriver fails in the nth Update.
type failingDriver struct {
	Driver
	left int
}

var errFailing = errors.New("the connection broke")

func (d *failingDriver) Update(ctx context.Context, fn func(kv.KV) error) error {
	if d.left--; d.left < 0 {
		return errFailing
	}
	return d.Driver.Update(ctx, fn)
}

// TestInterruptedCopy checks that an incomplete copy can't be used by mistake.
func TestInterruptedCopy(t *testing.T) {
	from := options(t.TempDir())
	db := open(t, from)
	fillControls(t, db, 12_000)
	is(t, "Close", db.Close(), nil)
	path := filepath.Join(t.TempDir(), "target")
	connect := func() Driver {
		d, err := bolt.Open(t.Context(), path, bolt.Options{})
		is(t, "bolt.Open", err, nil)
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	target := connect()
	o := CopyOptions{
		From: Place{Dir: from.Dir}, To: Place{Dir: t.TempDir(), Driver: &failingDriver{target, 2}},
		Clock: from.Clock, NewID: from.NewID,
	}
	_, err := Copy(t.Context(), o)
	is(t, "Copy", err, errFailing)
	o.To.Driver = target
	_, err = Copy(t.Context(), o)
	is(t, "again", err, ErrExists)
	there := options(o.To.Dir)
	there.Driver = target
	_, err = Open(t.Context(), there)
	is(t, "Open", err, ErrUnknownTable)
}

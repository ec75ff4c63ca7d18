package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"github.com/scf-service/service/store/kv"
)

// group is a transaction of the file that several Updates share, because syncing the file to disk takes longer than
// most Updates.
//
// Each Update runs its function in its own goroutine while it holds the token, one after the other. If others
// are waiting for the token by then, the Update passes it on and queues for it again, behind them. The first
// Update that gets the token a second time commits, and all Updates return. If no others are waiting, an Update
// commits on its own immediately.
//
// Each function sees what those before it wrote. If one fails, its writes are undone and the others are not affected.
// All Updates return only after the commit, even those that failed, because their error may be the result of what
// others wrote. If the commit fails, all return its error.
type group struct {
	bolt    *bbolt.Tx
	tables  map[string]*table
	members int // Updates that succeeded and wrote something
	began   time.Time
	done    chan struct{} // closed after the commit or rollback
	err     error         // valid once done is closed
}

const (
	// maxGroup limits the number of Updates in a group. maxGroupTime limits the time until a group with members
	// is committed.
	maxGroup     = 256
	maxGroupTime = 20 * time.Millisecond
)

// Update implements kv.Driver.
func (db *DB) Update(ctx context.Context, fn func(kv.KV) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// Unlike waiting for bbolt's own lock, waiting for the token can be canceled.
	db.waiting.Add(1)
	select {
	case <-db.writeToken:
		db.waiting.Add(-1)
	case <-db.closed:
		db.waiting.Add(-1)
		return kv.ErrClosed
	case <-ctx.Done():
		db.waiting.Add(-1)
		return ctx.Err()
	}
	g, err := db.runInGroup(ctx, fn) // returns holding the token unless it panics
	if g == nil {
		db.writeToken <- struct{}{}
		return err
	}
	if db.waiting.Load() == 0 || g.members >= maxGroup || time.Since(g.began) > maxGroupTime { //nolint:forbidigo // the disk's time
		db.commitGroup(ctx)
		db.writeToken <- struct{}{}
		return cmp.Or(g.err, err)
	}
	db.writeToken <- struct{}{}
	select {
	case <-g.done:
	case <-db.writeToken:
		if db.group == g {
			db.commitGroup(ctx)
		}
		db.writeToken <- struct{}{}
	}
	return cmp.Or(g.err, err)
}

// runInGroup runs fn in the open group, or in a new one. It returns the group if there is something to commit, even if
// fn fails. The caller must hold the token, which is released if fn panics.
func (db *DB) runInGroup(ctx context.Context, fn func(kv.KV) error) (_ *group, err error) {
	if err := db.checkNotTruncated(); err != nil {
		db.endGroup(err)
		return nil, err
	}
	g := db.group
	if g == nil {
		btx, err := db.bolt.Begin(true)
		if err != nil {
			return nil, toKVError(db.path, err)
		}
		began := time.Now() //nolint:forbidigo // the disk's time, not the records'
		g = &group{bolt: btx, tables: map[string]*table{}, began: began, done: make(chan struct{})}
		db.group = g
	}
	t := newTx(ctx, g.bolt)
	t.tables = g.tables
	if g.members > 0 {
		t.journal = &journal{}
	}
	err = db.runMember(t, fn)
	switch {
	case err == nil && t.changed:
		g.members++
		return g, nil
	case g.members == 0:
		db.endGroup(nil) // nothing to commit: roll back
		return nil, err
	case t.damaged:
		db.endGroup(err)
		return nil, err
	case err != nil && t.changed:
		if undoErr := t.undo(); undoErr != nil {
			db.endGroup(undoErr)
			return nil, err
		}
	}
	return g, err // fn may have read uncommitted writes
}

// runMember runs fn. If fn panics because the file is damaged, runMember returns an error. If fn panics for any other
// reason, runMember undoes fn's writes and releases the token.
func (db *DB) runMember(t *tx, fn func(kv.KV) error) (err error) {
	returned := false
	defer func() {
		t.end()
		if returned {
			return
		}
		// There was a panic, or the goroutine ended, for example by testing.T.FailNow.
		if db.group.members == 0 {
			db.endGroup(nil)
		} else if undoErr := t.undo(); undoErr != nil {
			db.endGroup(undoErr)
		}
		db.writeToken <- struct{}{}
	}()
	err = db.callConvertingDamage(t, fn)
	if err == nil {
		err = t.ctx.Err()
	}
	returned = true
	return err
}

// callConvertingDamage calls fn and converts a panic caused by a damaged file to an error.
func (db *DB) callConvertingDamage(t *tx, fn func(kv.KV) error) (err error) {
	finished := false
	defer func() { t.damaged = !finished }()
	defer catchDamage(db.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err = fn(t)
	finished = true
	return err
}

// commitGroup commits the open group. The caller must hold the token.
func (db *DB) commitGroup(ctx context.Context) {
	g := db.group
	err := db.commit(g.bolt)
	if err != nil {
		db.log.ErrorContext(ctx, "commit failed", "path", db.path, "error", err)
	}
	g.err, db.group = err, nil
	close(g.done)
}

func (db *DB) commit(btx *bbolt.Tx) (err error) {
	defer btx.Rollback() // has no effect after a commit
	defer catchDamage(db.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return toKVError(db.path, btx.Commit())
}

// endGroup rolls back the open group, if there is one, and sets its members' error. The caller must hold the token.
func (db *DB) endGroup(err error) {
	g := db.group
	if g == nil {
		return
	}
	_ = g.bolt.Rollback()
	g.err, db.group = err, nil
	close(g.done)
}

// journal records what an Update in a group replaced, so that it can be undone.
type journal struct{ entries []journalEntry }

// journalEntry is the state of a key or table before a change.
type journalEntry struct {
	table      string
	key, value []byte // nil key: the table was created; nil value: the key was new
}

// rememberForUndo records the value of a key before it is changed.
func (t *tx) rememberForUndo(tb *table, key []byte) {
	if t.journal == nil {
		return
	}
	e := journalEntry{table: tb.name, key: append([]byte{}, key...)}
	if tb.bucket != nil {
		if old := tb.get(key); old != nil {
			e.value = append([]byte{}, old...)
		}
	}
	t.journal.entries = append(t.journal.entries, e)
}

// undo reverts the writes of the transaction.
func (t *tx) undo() (err error) {
	if t.journal == nil {
		return errors.New("the writes of a failed transaction can't be undone") // can't happen, because the transaction is rolled back
	}
	defer func() {
		if p := recover(); p != nil { // a panic of bbolt
			err = fmt.Errorf("%w: undoing a change: %v", kv.ErrCorrupt, p)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for i := len(t.journal.entries) - 1; i >= 0 && err == nil; i-- {
		e := t.journal.entries[i]
		tb := t.table(e.table)
		tb.changes++
		switch {
		case e.key == nil:
			if tb.bucket != nil {
				tb.bucket, tb.deleted = nil, false
				err = t.bolt.DeleteBucket([]byte(e.table))
			}
		case e.value == nil:
			if tb.bucket != nil {
				tb.deleted = true
				err = tb.bucket.Delete(e.key)
			}
		default:
			if tb.bucket == nil {
				if tb.bucket, err = t.bolt.CreateBucket([]byte(e.table)); err != nil {
					return err
				}
			}
			err = tb.bucket.Put(e.key, e.value)
		}
	}
	return err
}

package store

import (
	"sync"
	"sync/atomic"
)

// changes counts, per table, the transactions that wrote to it.
type changes map[string]*atomic.Uint64

func newChanges(tables map[string]*definition) changes {
	c := changes{}
	for name := range tables {
		c[name] = &atomic.Uint64{}
	}
	return c
}

func (c changes) note(touched map[string]bool) {
	for name := range touched {
		if n := c[name]; n != nil {
			n.Add(1)
		}
	}
}

// Changes is a number that rises whenever a transaction has written to one of the
// tables, for whoever keeps something made from them, as a Memo does: ask before reading,
// keep the number beside what was made, and make it again once it has risen. An
// Update has raised it when it returns. known is false where others may write to
// the database too: then nothing may be kept.
func (db *DB) Changes(tables ...AnyTable) (n uint64, known bool) {
	if !db.alone {
		return 0, false
	}
	for _, t := range tables {
		if count := db.changes[t.Name()]; count != nil {
			n += count.Load()
		}
	}
	return n, true
}

// Alone tells whether nobody else writes to this database while it is open.
func (db *DB) Alone() bool { return db.alone }

// Changed is closed once a transaction of this process has written something: for who
// waits for a change and then looks whether it is the one. Ask before looking.
func (db *DB) Changed() <-chan struct{} { return db.written.next() }

// written tells those who wait that something was written.
type written struct {
	mu   sync.Mutex
	wait chan struct{}
}

func (w *written) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait == nil {
		w.wait = make(chan struct{})
	}
	return w.wait
}

func (w *written) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait != nil {
		close(w.wait)
		w.wait = nil
	}
}

package store

import (
	"sync"
	"sync/atomic"
)

// changeCounters counts, per table, the transactions that wrote to it.
type changeCounters map[string]*atomic.Uint64

func newChangeCounters(tables map[string]*tableDefinition) changeCounters {
	c := changeCounters{}
	for name := range tables {
		c[name] = &atomic.Uint64{}
	}
	return c
}

func (c changeCounters) increment(touched map[string]bool) {
	for name := range touched {
		if n := c[name]; n != nil {
			n.Add(1)
		}
	}
}

// ChangeCount returns a number that increases with every transaction that writes to one of the tables. The number has
// increased by the time Update returns. To cache a value computed from the tables, get the number before reading, and
// compute the value again once the number has increased. known is false if other processes may also write to the
// database. In that case, nothing may be cached.
func (db *DB) ChangeCount(tables ...AnyTable) (n uint64, known bool) {
	if !db.soleWriter {
		return 0, false
	}
	for _, t := range tables {
		if count := db.changes[t.Name()]; count != nil {
			n += count.Load()
		}
	}
	return n, true
}

// IsSoleWriter reports whether no other process writes to this database while it is open.
func (db *DB) IsSoleWriter() bool { return db.soleWriter }

// Changed returns a channel that is closed as soon as a transaction of this process has written something. Call
// it before checking whether the expected change has happened.
func (db *DB) Changed() <-chan struct{} { return db.notifier.subscribe() }

// changeNotifier notifies goroutines that are waiting for writes.
type changeNotifier struct {
	mu   sync.Mutex
	wait chan struct{}
}

func (w *changeNotifier) subscribe() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait == nil {
		w.wait = make(chan struct{})
	}
	return w.wait
}

func (w *changeNotifier) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait != nil {
		close(w.wait)
		w.wait = nil
	}
}

package postgres

import (
	"bytes"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// tableWrites are the writes of a transaction to one table that have not been sent yet.
type tableWrites struct {
	dropped bool // dropped before the writes below
	created bool // created by a Put after that
	byKey   map[string]*write
	sorted  []*write // sorted by key
	added   []*write // not sorted yet
}

type write struct {
	key, value []byte // a nil value deletes the key
}

// set replaces the unsent write for a key, and returns the number of additional bytes held in memory.
func (w *tableWrites) set(key, value []byte) (addedBytes int) {
	if old := w.byKey[string(key)]; old != nil {
		grown := len(value) - len(old.value)
		old.value = value
		return grown
	}
	added := &write{key: bytes.Clone(key), value: value}
	w.byKey[string(added.key)] = added
	w.added = append(w.added, added)
	return len(key) + len(value)
}

func compareWrites(a, b *write) int { return bytes.Compare(a.key, b.key) }

// inOrder returns all writes in key order.
func (w *tableWrites) inOrder() []*write {
	if len(w.added) < 16 { // as in a loop that both scans and writes
		for _, a := range w.added {
			at, _ := slices.BinarySearchFunc(w.sorted, a, compareWrites)
			w.sorted = slices.Insert(w.sorted, at, a)
		}
	} else {
		w.sorted = append(w.sorted, w.added...)
		slices.SortFunc(w.sorted, compareWrites)
	}
	w.added = w.added[:0]
	return w.sorted
}

// next returns the first write after the position of a scan, or nil if there is none. The write may lie past the end of
// the scan's range. If the scan has no position yet, it starts at the beginning of the range.
func (w *tableWrites) next(s *scan) *write {
	all := w.inOrder()
	if s.Reverse {
		bound := s.last
		if bound == nil {
			bound = s.End
		}
		at := len(all)
		if bound != nil {
			at, _ = slices.BinarySearchFunc(all, bound, compareWithKey)
		}
		if at == 0 {
			return nil
		}
		return all[at-1]
	}
	at, found := 0, false
	if s.last != nil {
		if at, found = slices.BinarySearchFunc(all, s.last, compareWithKey); found {
			at++
		}
	} else {
		at, _ = slices.BinarySearchFunc(all, s.Start, compareWithKey)
	}
	if at == len(all) {
		return nil
	}
	return all[at]
}

func compareWithKey(w *write, key []byte) int { return bytes.Compare(w.key, key) }

// queueWrites adds the statements for all unsent writes to a batch. The order is the same in every process, so
// that processes wait for one another instead of deadlocking.
func (t *tx) queueWrites(b *pgx.Batch) {
	var created, tables, keys, values [][]byte
	for _, name := range slices.Sorted(maps.Keys(t.writes)) {
		w := t.writes[name]
		table := []byte(name)
		if w.dropped {
			b.Queue(deleteTable, table)
			b.Queue(deleteEntry, []byte{}, tableKey(name))
		}
		if w.created {
			created = append(created, tableKey(name))
		}
		var deleted [][]byte
		for _, a := range w.inOrder() {
			if a.value == nil {
				deleted = append(deleted, a.key)
				continue
			}
			tables, keys, values = append(tables, table), append(keys, a.key), append(values, a.value)
		}
		if len(deleted) > 0 && !w.dropped {
			b.Queue(deleteKeys, table, deleted)
		}
	}
	if len(created) > 0 {
		b.Queue(insertTables, created)
	}
	if len(keys) > 0 {
		b.Queue(insertOrUpdate, tables, keys, values)
	}
}

// tableKey returns the key of a table in the list of tables.
func tableKey(name string) []byte { return append([]byte("t"), name...) }

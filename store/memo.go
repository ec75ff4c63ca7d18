package store

import "sync"

// Memo keeps what was read from some tables until one of them changes. What is kept
// is shared: whoever gets it may not write to it.
type Memo[V any] struct {
	db     *DB
	limit  int
	tables []AnyTable

	mu   sync.Mutex
	at   uint64
	kept map[string]V
}

// NewMemo makes an empty memo of what is read from the tables. It keeps up to limit
// values; a full one begins anew.
func NewMemo[V any](db *DB, limit int, tables ...AnyTable) *Memo[V] {
	return &Memo[V]{db: db, limit: limit, tables: tables, kept: map[string]V{}}
}

// Get is what is kept under a name, or what read returns; an error is not kept.
func (m *Memo[V]) Get(name string, read func() (V, error)) (V, error) {
	at, known := m.db.Changes(m.tables...)
	if !known {
		return read()
	}
	m.mu.Lock()
	v, ok := m.kept[name]
	ok = ok && m.at == at
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at > at { // it is older than what is kept
		return v, nil
	}
	if m.at < at || len(m.kept) >= m.limit {
		m.at, m.kept = at, map[string]V{}
	}
	m.kept[name] = v
	return v, nil
}

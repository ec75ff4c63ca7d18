package store

import "sync"

// Cache keeps what was read from some tables until one of them changes. What is kept
// is shared: whoever gets it may not write to it.
type Cache[V any] struct {
	db     *DB
	limit  int
	tables []AnyTable

	mu      sync.Mutex
	version uint64
	values  map[string]V
}

// NewCache makes an empty memo of what is read from the tables. It keeps up to limit
// values; a full one begins anew.
func NewCache[V any](db *DB, limit int, tables ...AnyTable) *Cache[V] {
	return &Cache[V]{db: db, limit: limit, tables: tables, values: map[string]V{}}
}

// Get is what is kept under a name, or what read returns; an error is not kept.
func (m *Cache[V]) Get(name string, read func() (V, error)) (V, error) {
	at, known := m.db.ChangeCount(m.tables...)
	if !known {
		return read()
	}
	m.mu.Lock()
	v, ok := m.values[name]
	ok = ok && m.version == at
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
	if m.version > at { // it is older than what is kept
		return v, nil
	}
	if m.version < at || len(m.values) >= m.limit {
		m.version, m.values = at, map[string]V{}
	}
	m.values[name] = v
	return v, nil
}

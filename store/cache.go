package store

import "sync"

// Cache keeps values computed from tables until one of the tables changes. Values are shared and must
// not be modified.
type Cache[V any] struct {
	db     *DB
	limit  int
	tables []AnyTable

	mu      sync.Mutex
	version uint64
	values  map[string]V
}

// NewCache returns a cache of up to limit values computed from the tables. When it is full, it is
// cleared.
func NewCache[V any](db *DB, limit int, tables ...AnyTable) *Cache[V] {
	return &Cache[V]{db: db, limit: limit, tables: tables, values: map[string]V{}}
}

// GetOrCompute returns the cached value with the given name, or calls compute and caches its result. Errors are not
// cached. Nothing is cached if other processes can write to the database.
func (m *Cache[V]) GetOrCompute(name string, compute func() (V, error)) (V, error) {
	at, known := m.db.ChangeCount(m.tables...)
	if !known {
		return compute()
	}
	m.mu.Lock()
	v, ok := m.values[name]
	ok = ok && m.version == at
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := compute()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.version > at { // a newer version is cached
		return v, nil
	}
	if m.version < at || len(m.values) >= m.limit {
		m.version, m.values = at, map[string]V{}
	}
	m.values[name] = v
	return v, nil
}

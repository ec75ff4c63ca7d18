package store

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scf-service/service/store/kv"
)

// UpdateStats counts the writes of one Update.
type UpdateStats struct {
	Records int // records inserted, replaced or deleted, not including index entries and counters
	Bytes   int // size of all keys and values written
}

// countingKV is a kv.KV that counts what a transaction writes.
type countingKV struct {
	kv.KV
	stats UpdateStats
}

func (c *countingKV) Put(table string, key, value []byte) error {
	c.countRecord(table)
	c.stats.Bytes += len(key) + len(value)
	return c.KV.Put(table, key, value)
}

func (c *countingKV) Delete(table string, key []byte) error {
	c.countRecord(table)
	c.stats.Bytes += len(key)
	return c.KV.Delete(table, key)
}

func (c *countingKV) countRecord(table string) {
	if table != sequencesTable && table != metaTable && !strings.Contains(table, indexSeparator) {
		c.stats.Records++
	}
}

// ObserveUpdates calls f after each Update with the length of time for which the Update blocked other Updates. f must
// be fast.
func (db *DB) ObserveUpdates(f func(time.Duration)) { db.observeUpdate.Store(&f) }

type readsKey struct{}

// WithReadCounter returns a context with which View and Update add the number of their reads to n. Reads are values read
// by key, and pairs returned by scans. It is for tests, and nothing is read ahead then.
func WithReadCounter(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, readsKey{}, n)
}

// countReads returns k, or a wrapper that counts its reads if the context is one of WithReadCounter.
func countReads(ctx context.Context, k kv.KV) kv.KV {
	if n, ok := ctx.Value(readsKey{}).(*atomic.Int64); ok {
		return readCounter{k, n}
	}
	return k
}

// readCounter is a kv.KV that counts what a transaction reads.
type readCounter struct {
	kv.KV
	n *atomic.Int64
}

func (c readCounter) Get(table string, key []byte) ([]byte, error) {
	c.n.Add(1)
	return c.KV.Get(table, key)
}

func (c readCounter) Scan(table string, r kv.Range) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		for p, err := range c.KV.Scan(table, r) {
			if c.n.Add(1); !yield(p, err) {
				return
			}
		}
	}
}

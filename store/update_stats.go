package store

import (
	"strings"
	"time"

	"github.com/scf-service/service/store/kv"
)

// UpdateStats counts what one Update writes.
type UpdateStats struct {
	Records int // inserted, replaced or deleted, without index entries and counters
	Bytes   int // of all keys and values written
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

// ObserveUpdates calls f after each Update with its duration, during which other Updates wait. f must be fast.
func (db *DB) ObserveUpdates(f func(time.Duration)) { db.observeUpdate.Store(&f) }

// Package kv is the seam between the store and what keeps its bytes: ordered
// tables of keys and values under transactions. A driver implements it and
// passes storetest.Run; nothing above package store may use it.
//
// It must not know records, tenants or indexes.
package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Limits every driver keeps, so that data moves between them.
const (
	MaxTable = 128      // bytes of a table's name
	MaxKey   = 2048     // bytes of a key; PostgreSQL indexes no more than about 2,700
	MaxValue = 16 << 20 // bytes of a value; what is larger is a blob
)

var (
	ErrLocked     = errors.New("the database is in use by another process")
	ErrDiskFull   = errors.New("the disk is full")
	ErrReadOnly   = errors.New("the data folder is not writable")
	ErrCorrupt    = errors.New("the data is damaged")
	ErrClosed     = errors.New("the database is closed")
	ErrTxDone     = errors.New("the transaction has ended")
	ErrReadOnlyTx = errors.New("a view can't write")
	ErrBadKey     = errors.New("the key is not valid")
	ErrTooLarge   = errors.New("too large")
)

// Driver stores tables. It is safe for concurrent use.
//
// A function passed to View sees a snapshot of the database, one passed to Update that snapshot and
// its own writes. Neither may start another transaction, wait for the network, or retain data read
// from KV.
type Driver interface {
	// View runs fn over an unchanging snapshot.
	View(ctx context.Context, fn func(KV) error) error

	// Update runs fn and commits what it wrote, durably, or nothing of it where
	// fn fails, panics, or ctx ends before the commit. Updates follow one
	// another as if they ran alone. A driver may run fn again after a conflict,
	// so fn changes nothing but the KV and what it assigns anew each time.
	Update(ctx context.Context, fn func(KV) error) error

	// Backup writes a snapshot of the database in the driver's own format.
	Backup(ctx context.Context, w io.Writer) error

	// Close waits for running transactions. A second call does nothing.
	Close() error
}

// KV is a transaction. It is not safe for concurrent use. A table is created by its first Put; a
// table never written is empty.
type KV interface {
	// Get returns nil if the key does not exist, and an empty slice for an empty value. The bytes
	// belong to the driver: they are valid until the next write or the end of the transaction and
	// must not be changed.
	Get(table string, key []byte) ([]byte, error)

	// Put inserts or replaces. The driver keeps value until the transaction
	// ends; the caller must not change it.
	Put(table string, key, value []byte) error

	// Delete removes a key; a missing one is not an error.
	Delete(table string, key []byte) error

	// Scan goes through a range in byte order of the keys. The loop may stop
	// early and may write, also to the same table: keys that lie ahead are met
	// as they are when they are reached. After an error there is no more.
	Scan(table string, r Range) iter.Seq2[Pair, error]

	// Tables returns the names of the tables that were ever written and not
	// dropped, sorted.
	Tables() ([]string, error)

	// Drop removes a table with all its keys; a missing one is not an error.
	Drop(table string) error
}

// Pair is a key with its value, under the rules of KV.Get.
type Pair struct {
	Key, Value []byte
}

// Range is the keys from Start (inclusive; nil is the first) to End (exclusive;
// nil is behind the last), from the end backwards where Reverse is set.
type Range struct {
	Start, End []byte
	Reverse    bool
}

// CheckTable returns an error for a name that drivers don't support.
func CheckTable(table string) error {
	if table == "" || len(table) > MaxTable {
		return fmt.Errorf("%w: a table name must have 1 to %d bytes, %q has %d", ErrBadKey, MaxTable, truncate(table), len(table))
	}
	return nil
}

// CheckKey returns an error for a key that drivers don't support.
func CheckKey(table string, key []byte) error {
	if err := CheckTable(table); err != nil {
		return err
	}
	if len(key) == 0 {
		return fmt.Errorf("%w: empty key in table %s", ErrBadKey, table)
	}
	if len(key) > MaxKey {
		return fmt.Errorf("%w: a key of %d bytes in table %s, at most %d", ErrTooLarge, len(key), table, MaxKey)
	}
	return nil
}

// CheckPut returns an error for a key or value that drivers don't support.
func CheckPut(table string, key, value []byte) error {
	if err := CheckKey(table, key); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("%w: a value of %d bytes in table %s, at most %d", ErrTooLarge, len(value), table, MaxValue)
	}
	return nil
}

func truncate(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

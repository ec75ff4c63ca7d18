// Package kv is the interface between the store and its drivers: ordered tables of keys and
// values with transactions. A driver must pass storetest.Run. Only package store and the drivers may
// use it.
package kv

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Limits of every driver, so that data can be moved between drivers.
const (
	MaxTable = 128      // maximum length of a table's name in bytes
	MaxKey   = 2048     // maximum length of a key in bytes; PostgreSQL can index about 2,700
	MaxValue = 16 << 20 // maximum length of a value in bytes; larger content belongs in a blob
)

var (
	ErrNotFound   = errors.New("not found") // a file is missing; a missing key is not an error
	ErrLocked     = errors.New("the database is in use by another process")
	ErrDiskFull   = errors.New("the disk is full")
	ErrReadOnly   = errors.New("the data is not writable")
	ErrCorrupt    = errors.New("the data is damaged")
	ErrClosed     = errors.New("the database is closed")
	ErrTxDone     = errors.New("the transaction has ended")
	ErrReadOnlyTx = errors.New("a read-only transaction can't write")
	ErrBadKey     = errors.New("the key is not valid")
	ErrTooLarge   = errors.New("too large")
	// ErrUnavailable means that the database can't be reached, or that it could not complete a transaction
	// because of concurrent ones.
	ErrUnavailable = errors.New("the database is not available; try again")
)

// Driver stores tables. It is safe for concurrent use.
//
// A function passed to View sees a snapshot of the database. A function passed to Update sees a snapshot
// and its own writes. Neither may start another transaction, wait for the network, or retain data read
// from KV.
type Driver interface {
	// View runs fn on a snapshot.
	View(ctx context.Context, fn func(KV) error) error

	// Update runs fn and commits its writes durably, or none of them if fn fails or panics, or if ctx ends
	// before fn returns. If ctx ends later, they may be committed. Updates are serializable. A driver may run
	// fn again after a conflict, so fn must have no side effects other than setting variables, which it must
	// initialize itself.
	Update(ctx context.Context, fn func(KV) error) error

	// Close waits for running transactions. A second call has no effect.
	Close() error
}

// KV is a transaction. It is not safe for concurrent use. A table is created by the first Put into it; a
// table that was never written to is empty.
type KV interface {
	// Get returns nil if the key does not exist, and an empty slice for an empty value. The bytes belong to the
	// driver: they are valid until the next write or the end of the transaction, and must not be changed.
	Get(table string, key []byte) ([]byte, error)

	// Put inserts or replaces a value. The driver retains value until the transaction ends; the caller
	// must not change it.
	Put(table string, key, value []byte) error

	// Delete removes a key. It is not an error if the key does not exist.
	Delete(table string, key []byte) error

	// Scan iterates over a range in byte order of the keys. The loop may stop early and may write, even to the
	// same table: the scan sees keys as they are when it reaches them. It ends after an error.
	Scan(table string, r Range) iter.Seq2[Pair, error]

	// Tables returns the sorted names of the tables that have been written to and not dropped since.
	Tables() ([]string, error)

	// Drop removes a table with all its keys. It is not an error if the table does not exist.
	Drop(table string) error
}

// Remote is implemented by a KV for which each read is a round trip.
type Remote interface {
	// Prefetch reads the values of many keys at once, for subsequent calls of Get.
	Prefetch(refs ...Ref) error

	// Expect works like Prefetch, but reads the values together with whatever is read next.
	Expect(refs ...Ref)

	// AssumeMissing tells the driver that the database has no such key, because the key contains an ID that was
	// issued in this transaction. A subsequent Get returns what the transaction itself has written.
	AssumeMissing(table string, key []byte)

	// ReadAhead tells the driver that the Update will probably read, from now on, what the last one read that called
	// ReadAhead with the same name. It is read together with whatever is read next.
	ReadAhead(name string)

	// ScanAhead works like Scan, and passes pairs that will follow to ahead, in groups, so that ahead can prefetch
	// what belongs to them. If first is not 0, it is the expected number of pairs.
	ScanAhead(table string, r Range, first int, ahead func([]Pair) error) iter.Seq2[Pair, error]
}

// Ref is a key of a table.
type Ref struct {
	Table string
	Key   []byte
}

// Pair is a key with its value. Both remain valid only as long as a result of KV.Get does.
type Pair struct {
	Key, Value []byte
}

// Record is a key with its value and table.
type Record struct {
	Table string
	Pair
}

// Range is the range of keys from Start (inclusive; nil is before the first key) to End (exclusive;
// nil is after the last key), in descending order if Reverse is set.
type Range struct {
	Start, End []byte
	Reverse    bool
}

// CheckTableName returns an error for a name that drivers don't support.
func CheckTableName(table string) error {
	if table == "" || len(table) > MaxTable {
		return fmt.Errorf("%w: a table name must have 1 to %d bytes, but %q has %d", ErrBadKey, MaxTable, truncate(table), len(table))
	}
	return nil
}

// CheckKey returns an error for a key that drivers don't support.
func CheckKey(table string, key []byte) error {
	if err := CheckTableName(table); err != nil {
		return err
	}
	if len(key) == 0 {
		return fmt.Errorf("%w: empty key in table %s", ErrBadKey, table)
	}
	if len(key) > MaxKey {
		return fmt.Errorf("%w: a key of %d bytes can't be stored in table %s; the maximum is %d", ErrTooLarge, len(key), table, MaxKey)
	}
	return nil
}

// CheckPut returns an error for a key or value that drivers don't support.
func CheckPut(table string, key, value []byte) error {
	if err := CheckKey(table, key); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("%w: a value of %d bytes can't be stored in table %s; the maximum is %d", ErrTooLarge, len(value), table, MaxValue)
	}
	return nil
}

func truncate(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

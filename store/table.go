package store

import (
	"fmt"
	"iter"
	"slices"
)

// Table stores records of type R under a primary key, with indexes that are always consistent. Declare a table
// with NewTable and list it in a Schema. Methods take the transaction that they are part of. R should be a
// struct that survives a round trip through encoding/json.
type Table[R any] struct {
	untyped *untypedTable
	// equal reports whether two records have equal content; see WithSharedBody.
	equal func(a, b *R) bool
}

// Option is an option of a table of R, such as an index or a codec.
type Option[R any] func(*Table[R])

// NewTable declares a table with its name in the database, a function that returns a record's primary key, and
// options. Open reports errors in the declaration.
func NewTable[R any](name string, key func(*R) Key, options ...Option[R]) *Table[R] {
	s := &untypedTable{
		def:       tableDefinition{name: name},
		codec:     jsonCodec,
		newRecord: func() any { return new(R) },
		key:       func(r any) Key { return key(r.(*R)) },
	}
	s.def.reindex = s.fillIndexes
	if key == nil {
		s.def.err = fmt.Errorf("the table has no primary key")
	}
	t := &Table[R]{untyped: s}
	for _, o := range options {
		o(t)
	}
	for _, ix := range s.indexes {
		description := ix.name
		if ix.unique {
			description += " unique"
		}
		s.def.indexes = append(s.def.indexes, description)
	}
	for _, y := range s.tallies {
		if y.order != "" && s.index(y.order) == nil {
			s.def.err = fmt.Errorf("%s counts an index that is not declared", y.name)
		}
		s.def.indexes = append(s.def.indexes, y.describe())
	}
	slices.Sort(s.def.indexes)
	return t
}

// Index adds an index, which finds records by keys other than the primary key. keys returns any number of keys for a
// record and must depend only on the record. If the function changes, rename the index, so that Open rebuilds it.
func Index[R any](name string, keys func(*R) []Key) Option[R] {
	return newIndexOption(name, keys, false)
}

// Unique is like Index, but each key belongs to at most one record.
func Unique[R any](name string, keys func(*R) []Key) Option[R] {
	return newIndexOption(name, keys, true)
}

func newIndexOption[R any](name string, keys func(*R) []Key, unique bool) Option[R] {
	return func(t *Table[R]) {
		untypedKeys := func(r any) []Key { return keys(r.(*R)) }
		if keys == nil {
			untypedKeys = nil // Open reports the error
		}
		t.untyped.addIndex(name, untypedKeys, unique)
	}
}

// Codec replaces JSON as the encoding of this table's records, for example for vectors. decode receives a zero record
// and must copy the bytes it retains. Existing JSON records remain readable.
func Codec[R any](encode func(*R) ([]byte, error), decode func([]byte, *R) error) Option[R] {
	return func(t *Table[R]) {
		t.untyped.codec = codec{
			mark: markCustomCodec, encode: func(r any) ([]byte, error) { return encode(r.(*R)) },
			decode: func(b []byte, r any) error { return decode(b, r.(*R)) },
		}
	}
}

// Name returns the table's name in the database.
func (t *Table[R]) Name() string { return t.untyped.def.name }

func (t *Table[R]) definition() *tableDefinition { return &t.untyped.def }

// typedRecord converts a record to its type. It returns a zero record for nil.
func typedRecord[R any](record any, err error) (r R, _ error) {
	if p, ok := record.(*R); ok && err == nil {
		r = *p
	}
	return r, err
}

// typedRecords converts scanned records to their type.
func typedRecords[R any](pairs iter.Seq2[scannedRecord, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for p, err := range pairs {
			if !yield(typedRecord[R](p.record, err)) {
				return
			}
		}
	}
}

// Get returns the record with this primary key, or ErrNotFound.
func (t *Table[R]) Get(tx *Tx, key ...any) (R, error) {
	return typedRecord[R](t.untyped.get(tx, K(key...)))
}

// Has reports whether there is a record with this primary key.
func (t *Table[R]) Has(tx *Tx, key ...any) (bool, error) {
	return t.untyped.has(tx, K(key...))
}

// Insert adds a record, or returns ErrExists (an *ExistsError) if its primary key or a key of a
// unique index is in use.
func (t *Table[R]) Insert(tx *Tx, r *R) error { return t.untyped.insert(tx, r) }

// Update replaces the record with the same primary key. It returns ErrNotFound if there is none,
// and ErrExists if it conflicts with a unique index.
func (t *Table[R]) Update(tx *Tx, r *R) error { return t.untyped.update(tx, r) }

// Put inserts or replaces a record, or returns ErrExists if it conflicts with a unique index.
func (t *Table[R]) Put(tx *Tx, r *R) error { return t.untyped.put(tx, r) }

// Delete removes the record with this primary key, or returns ErrNotFound.
func (t *Table[R]) Delete(tx *Tx, key ...any) error { return t.untyped.delete(tx, K(key...)) }

// DeleteAll removes the records whose primary key begins with prefix and returns their number. An
// empty prefix is an error: use tx.DropTable.
func (t *Table[R]) DeleteAll(tx *Tx, prefix ...any) (int, error) {
	return t.untyped.deleteAll(tx, prefix, 0)
}

// Scan iterates over the records in primary key order. The loop may stop early and may write to the
// table. Iteration ends after an error.
func (t *Table[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](t.untyped.inPrimaryOrder().scanRecords(tx, options...))
}

// Count returns the number of records whose primary key begins with prefix, without reading them.
func (t *Table[R]) Count(tx *Tx, prefix ...any) (int, error) {
	return t.untyped.inPrimaryOrder().count(tx, prefix)
}

// Page returns a page of the table. It returns ErrBadCursor if the cursor was modified or belongs
// to another database or list.
func (t *Table[R]) Page(tx *Tx, q PageQuery[R]) (Page[R], error) {
	return typedPage[R](t.untyped.page(tx, q.untyped()))
}

// IndexView is the view of a table through one of its indexes.
type IndexView[R any] struct{ order orderedTable }

// By selects an index. If the index is not declared, using the result returns ErrUnknownTable.
func (t *Table[R]) By(index string) IndexView[R] { return IndexView[R]{t.untyped.inIndexOrder(index)} }

// Scan iterates over the records in index order; a record with several keys appears several times.
func (b IndexView[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](b.order.scanRecords(tx, options...))
}

// Get returns the record with this complete key in a Unique index, or ErrNotFound.
func (b IndexView[R]) Get(tx *Tx, key ...any) (R, error) {
	return typedRecord[R](b.order.getUnique(tx, K(key...)))
}

// Count returns the number of index entries that begin with prefix.
func (b IndexView[R]) Count(tx *Tx, prefix ...any) (int, error) { return b.order.count(tx, prefix) }

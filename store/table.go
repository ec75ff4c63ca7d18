package store

import (
	"fmt"
	"iter"
	"slices"
)

// Table keeps records of type R under a primary key, with indexes that are
// always right. Declare one with NewTable and list it in a Schema. Methods take
// the transaction they act in. R should be a struct that encoding/json reads
// back as it was written.
type Table[R any] struct {
	untyped *untypedTable
	// equal tells whether two records say the same; see Headed.
	equal func(a, b *R) bool
}

// Option is an index or a codec of a table of R.
type Option[R any] func(*Table[R])

// NewTable declares a table: its name in the database, the primary key of a
// record, indexes. A fault in it is reported by Open.
func NewTable[R any](name string, key func(*R) Key, options ...Option[R]) *Table[R] {
	s := &untypedTable{
		def:       tableDefinition{name: name},
		codec:     jsonCodec,
		newRecord: func() any { return new(R) },
		key:       func(r any) Key { return key(r.(*R)) },
	}
	s.def.reindex = s.reindex
	if key == nil {
		s.def.err = fmt.Errorf("it has no primary key")
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
	slices.Sort(s.def.indexes)
	return t
}

// Index finds records by other keys than the primary: none, one or many for a
// record. The keys must depend on the record alone. Give a changed index a new
// name; Open then builds it.
func Index[R any](name string, keys func(*R) []Key) Option[R] {
	return newIndexOption(name, keys, false)
}

// Unique is an Index in which a key belongs to one record at most.
func Unique[R any](name string, keys func(*R) []Key) Option[R] {
	return newIndexOption(name, keys, true)
}

func newIndexOption[R any](name string, keys func(*R) []Key, unique bool) Option[R] {
	return func(t *Table[R]) {
		untypedKeys := func(r any) []Key { return keys(r.(*R)) }
		if keys == nil {
			untypedKeys = nil // reported by Open
		}
		t.untyped.addIndex(name, untypedKeys, unique)
	}
}

// Codec replaces JSON for this table's records, for instance for vectors. decode
// gets a zero record and must copy what it keeps of the bytes. Records that were
// written as JSON before are still read as JSON.
func Codec[R any](encode func(*R) ([]byte, error), decode func([]byte, *R) error) Option[R] {
	return func(t *Table[R]) {
		t.untyped.codec = codec{
			mark: markCustomCodec, encode: func(r any) ([]byte, error) { return encode(r.(*R)) },
			decode: func(b []byte, r any) error { return decode(b, r.(*R)) },
		}
	}
}

// Name is the table's name in the database.
func (t *Table[R]) Name() string { return t.untyped.def.name }

func (t *Table[R]) definition() *tableDefinition { return &t.untyped.def }

// typedRecord is a record with its type; an empty one if there is none.
func typedRecord[R any](record any, err error) (r R, _ error) {
	if p, ok := record.(*R); ok && err == nil {
		r = *p
	}
	return r, err
}

// typedRecords are scanned records with their type.
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

// Insert adds a record; ErrExists (an *ExistsError) where its primary key or a
// key of a unique index is taken.
func (t *Table[R]) Insert(tx *Tx, r *R) error { return t.untyped.insert(tx, r) }

// Update replaces the record with the same primary key; ErrNotFound where there
// is none, ErrExists where a unique index is in the way.
func (t *Table[R]) Update(tx *Tx, r *R) error { return t.untyped.update(tx, r) }

// Put inserts or replaces; ErrExists where a unique index is in the way.
func (t *Table[R]) Put(tx *Tx, r *R) error { return t.untyped.put(tx, r) }

// Delete removes the record with this primary key, or says ErrNotFound.
func (t *Table[R]) Delete(tx *Tx, key ...any) error { return t.untyped.delete(tx, K(key...)) }

// DeleteAll removes the records whose primary key begins with prefix and returns
// how many they were. An empty prefix is refused: use tx.DropTable.
func (t *Table[R]) DeleteAll(tx *Tx, prefix ...any) (int, error) {
	return t.untyped.deleteAll(tx, prefix)
}

// Scan goes through the records in the order of their primary keys. The loop may
// stop early and may write to the table. After an error there is no more.
func (t *Table[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](t.untyped.inPrimaryOrder().scanRecords(tx, options...))
}

// Count returns how many records have a primary key that begins with prefix,
// without reading them.
func (t *Table[R]) Count(tx *Tx, prefix ...any) (int, error) {
	return t.untyped.inPrimaryOrder().count(tx, prefix)
}

// Page returns a page of the table. ErrBadCursor where the cursor was changed,
// is another database's, or belongs to another list.
func (t *Table[R]) Page(tx *Tx, q PageQuery[R]) (Page[R], error) {
	return typedPage[R](t.untyped.page(tx, q.untyped()))
}

// IndexView is the view of a table through one of its indexes.
type IndexView[R any] struct{ order orderedTable }

// By names an index. One that was not declared gives ErrUnknownTable when it is used.
func (t *Table[R]) By(index string) IndexView[R] { return IndexView[R]{t.untyped.inIndexOrder(index)} }

// Scan goes through the records in the order of the index; a record with several
// keys in it comes several times.
func (b IndexView[R]) Scan(tx *Tx, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](b.order.scanRecords(tx, options...))
}

// Get returns the one record with this whole key in a Unique index, or
// ErrNotFound.
func (b IndexView[R]) Get(tx *Tx, key ...any) (R, error) {
	return typedRecord[R](b.order.get(tx, K(key...)))
}

// Count returns how many entries of the index begin with prefix.
func (b IndexView[R]) Count(tx *Tx, prefix ...any) (int, error) { return b.order.count(tx, prefix) }

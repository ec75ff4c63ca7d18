package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// Table keeps records of type R under a primary key, with indexes that are
// always right. Declare one with NewTable and list it in a Schema. Methods take
// the transaction they act in. R should be a struct that encoding/json reads
// back as it was written.
type Table[R any] struct {
	def     definition
	key     func(*R) Key
	codec   codec[R]
	indexes []*indexOf[R]
	// head and alike tell records apart that say the same; see Headed.
	head   func(*R) any
	alike  func(a, b *R) bool
	within func(*R) string
	// synced says with which record a change is logged; nil: it isn't.
	synced func(*R) SyncedAs
}

type indexOf[R any] struct {
	name   string
	table  string // the driver's
	keys   func(*R) []Key
	unique bool
}

// Option is an index or a codec of a table of R.
type Option[R any] func(*Table[R])

// NewTable declares a table: its name in the database, the primary key of a
// record, indexes. A fault in it is reported by Open.
func NewTable[R any](name string, key func(*R) Key, options ...Option[R]) *Table[R] {
	t := &Table[R]{def: definition{name: name}, key: key, codec: jsonCodec[R]()}
	t.def.reindex = t.reindex
	if key == nil {
		t.def.err = fmt.Errorf("it has no primary key")
	}
	for _, o := range options {
		o(t)
	}
	for _, ix := range t.indexes {
		s := ix.name
		if ix.unique {
			s += " unique"
		}
		t.def.indexes = append(t.def.indexes, s)
	}
	slices.Sort(t.def.indexes)
	return t
}

// Index finds records by other keys than the primary: none, one or many for a
// record. The keys must depend on the record alone. Give a changed index a new
// name; Open then builds it.
func Index[R any](name string, keys func(*R) []Key) Option[R] {
	return func(t *Table[R]) { t.addIndex(name, keys, false) }
}

// Unique is an Index in which a key belongs to one record at most.
func Unique[R any](name string, keys func(*R) []Key) Option[R] {
	return func(t *Table[R]) { t.addIndex(name, keys, true) }
}

// Codec replaces JSON for this table's records, for instance for vectors. decode
// gets a zero record and must copy what it keeps of the bytes. Records that were
// written as JSON before are still read as JSON.
func Codec[R any](encode func(*R) ([]byte, error), decode func([]byte, *R) error) Option[R] {
	return func(t *Table[R]) { t.codec = codec[R]{mark: markOwn, encode: encode, decode: decode} }
}

func (t *Table[R]) addIndex(name string, keys func(*R) []Key, unique bool) {
	switch {
	case !indexName.MatchString(name):
		t.def.err = fmt.Errorf("index name %q: small letters, digits and _, at most 63", name)
	case keys == nil:
		t.def.err = fmt.Errorf("index %s has no keys", name)
	case t.index(name) != nil:
		t.def.err = fmt.Errorf("two indexes are named %s", name)
	}
	t.indexes = append(t.indexes, &indexOf[R]{name: name, table: indexTable(t.def.name, name), keys: keys, unique: unique})
}

func (t *Table[R]) index(name string) *indexOf[R] {
	for _, ix := range t.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// Name is the table's name in the database.
func (t *Table[R]) Name() string { return t.def.name }

func (t *Table[R]) definition() *definition { return &t.def }

// Get returns the record with this primary key, or ErrNotFound.
func (t *Table[R]) Get(tx *Tx, key ...any) (R, error) {
	r, found, err := t.find(tx, K(key...))
	if err == nil && !found {
		err = fmt.Errorf("%s %s: %w", t.def.name, K(key...), ErrNotFound)
	}
	return r, err
}

// Has tells whether there is a record with this primary key.
func (t *Table[R]) Has(tx *Tx, key ...any) (bool, error) {
	b, err := t.raw(tx, K(key...))
	return b != nil, err
}

// Insert adds a record; ErrExists (an *ExistsError) where its primary key or a
// key of a unique index is taken.
func (t *Table[R]) Insert(tx *Tx, r *R) error {
	return t.write(tx, r, mustBeNew(t.def.name))
}

func mustBeNew(table string) func(exists bool) error {
	return func(exists bool) error {
		if exists {
			return &ExistsError{Table: table}
		}
		return nil
	}
}

// Update replaces the record with the same primary key; ErrNotFound where there
// is none, ErrExists where a unique index is in the way.
func (t *Table[R]) Update(tx *Tx, r *R) error {
	return t.write(tx, r, func(exists bool) error {
		if !exists {
			return fmt.Errorf("%s %s: %w", t.def.name, t.key(r), ErrNotFound)
		}
		return nil
	})
}

// Put inserts or replaces; ErrExists where a unique index is in the way.
func (t *Table[R]) Put(tx *Tx, r *R) error {
	return t.write(tx, r, func(bool) error { return nil })
}

// Delete removes the record with this primary key, or says ErrNotFound.
func (t *Table[R]) Delete(tx *Tx, key ...any) error {
	if err := tx.use(&t.def, true); err != nil {
		return err
	}
	k := K(key...)
	r, found, err := t.find(tx, k)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s %s: %w", t.def.name, k, ErrNotFound)
	}
	return t.remove(tx, k.b, &r)
}

// DeleteAll removes the records whose primary key begins with prefix and returns
// how many they were. An empty prefix is refused: use tx.DropTable.
func (t *Table[R]) DeleteAll(tx *Tx, prefix ...any) (int, error) {
	if err := tx.use(&t.def, true); err != nil {
		return 0, err
	}
	if len(prefix) == 0 {
		return 0, fmt.Errorf("%s: %w: deleting everything needs a prefix", t.def.name, ErrBadKey)
	}
	n := 0
	for p, err := range t.pairs(tx, newScan([]ScanOption{Prefix(prefix...)})) {
		if err != nil {
			return n, err
		}
		if err := t.remove(tx, p.primary, &p.record); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// raw returns the stored bytes, nil where there are none.
func (t *Table[R]) raw(tx *Tx, k Key) ([]byte, error) {
	if err := tx.use(&t.def, false); err != nil {
		return nil, err
	}
	if err := t.checkKey(k); err != nil {
		return nil, err
	}
	if len(k.b) > kv.MaxKey {
		return nil, nil // no record can have it
	}
	b, err := tx.kv.Get(t.def.name, k.b)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", t.def.name, k, err)
	}
	return b, nil
}

func (t *Table[R]) find(tx *Tx, k Key) (r R, found bool, err error) {
	b, err := t.raw(tx, k)
	if err != nil || b == nil {
		return r, false, err
	}
	if err := t.decodeInto(tx, b, &r); err != nil {
		return r, false, fmt.Errorf("%s %s: %w", t.def.name, k, err)
	}
	return r, true, nil
}

// decodeInto reads a stored record, wherever its body stands.
func (t *Table[R]) decodeInto(tx *Tx, b []byte, r *R) error {
	b, err := tx.joined(b)
	if err != nil {
		return err
	}
	return t.codec.unmarshal(b, r)
}

func (t *Table[R]) checkKey(k Key) error {
	switch {
	case k.err != nil:
		return fmt.Errorf("%s: %w", t.def.name, k.err)
	case len(k.b) == 0:
		return fmt.Errorf("%s: %w: it has no parts", t.def.name, ErrBadKey)
	}
	return nil
}

// write stores r and its index entries, after allowed has seen whether its
// primary key is taken. A refusal writes nothing.
func (t *Table[R]) write(tx *Tx, r *R, allowed func(exists bool) error) error {
	return t.writeAs(tx, r, allowed, func() ([]byte, error) { return t.codec.marshal(r) })
}

// writeAs is write of the bytes that encode gives for r.
func (t *Table[R]) writeAs(tx *Tx, r *R, allowed func(exists bool) error, encode func() ([]byte, error)) error {
	if err := tx.use(&t.def, true); err != nil {
		return err
	}
	k := t.key(r)
	old, exists, err := t.find(tx, k)
	if err != nil {
		return err
	}
	if err := allowed(exists); err != nil {
		return err
	}
	fresh, err := t.entries(r, k.b)
	if err != nil {
		return err
	}
	var gone []entry
	if exists {
		if gone, err = t.entries(&old, k.b); err != nil {
			return err
		}
		gone, fresh = differing(gone, fresh)
	}
	if err := t.free(tx, fresh, k.b); err != nil {
		return err
	}
	b, err := encode()
	if err != nil {
		return fmt.Errorf("%s %s: %w", t.def.name, k, err)
	}
	for _, e := range gone {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.touched[t.def.name] = true
	if err := tx.kv.Put(t.def.name, k.b, b); err != nil {
		return err
	}
	if err := t.putEntries(tx, fresh, k.b); err != nil || t.synced == nil {
		return err
	}
	if !exists {
		return t.noteSync(tx, k.b, nil, r)
	}
	return t.noteSync(tx, k.b, &old, r)
}

func (t *Table[R]) remove(tx *Tx, primary []byte, r *R) error {
	entries, err := t.entries(r, primary)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.touched[t.def.name] = true
	if err := tx.kv.Delete(t.def.name, primary); err != nil || t.synced == nil {
		return err
	}
	return t.noteSync(tx, primary, r, nil)
}

// entry is one key in one index.
type entry struct {
	table  string // the driver's
	index  string
	key    []byte
	unique bool
}

func (e entry) compare(o entry) int {
	if c := strings.Compare(e.table, o.table); c != 0 {
		return c
	}
	return bytes.Compare(e.key, o.key)
}

// entries of a record, sorted, each once.
func (t *Table[R]) entries(r *R, primary []byte) ([]entry, error) {
	var all []entry
	for _, ix := range t.indexes {
		for _, k := range ix.keys(r) {
			if err := t.checkKey(k); err != nil {
				return nil, fmt.Errorf("index %s: %w", ix.name, err)
			}
			key := k.b
			if !ix.unique {
				key = append(k.b[:len(k.b):len(k.b)], primary...)
			}
			all = append(all, entry{table: ix.table, index: ix.name, key: key, unique: ix.unique})
		}
	}
	slices.SortFunc(all, entry.compare)
	return slices.CompactFunc(all, func(a, b entry) bool { return a.compare(b) == 0 }), nil
}

// differing drops what both sorted lists have.
func differing(a, b []entry) (onlyA, onlyB []entry) {
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].compare(b[0]); {
		case c < 0:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case c > 0:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}

// free refuses entries of unique indexes that another record holds.
func (t *Table[R]) free(tx *Tx, entries []entry, primary []byte) error {
	for _, e := range entries {
		if !e.unique {
			continue
		}
		holder, err := tx.kv.Get(e.table, e.key)
		if err != nil {
			return err
		}
		if holder != nil && !bytes.Equal(holder, primary) {
			return &ExistsError{Table: t.def.name, Index: e.index}
		}
	}
	return nil
}

func (t *Table[R]) putEntries(tx *Tx, entries []entry, primary []byte) error {
	for _, e := range entries {
		if err := tx.kv.Put(e.table, e.key, primary); err != nil {
			return err
		}
	}
	return nil
}

// reindex fills empty indexes from the records.
func (t *Table[R]) reindex(tx *Tx) error {
	if len(t.indexes) == 0 {
		return nil
	}
	for p, err := range t.pairs(tx, newScan(nil)) {
		if err != nil {
			return err
		}
		entries, err := t.entries(&p.record, p.primary)
		if err == nil {
			err = t.free(tx, entries, p.primary)
		}
		if err == nil {
			err = t.putEntries(tx, entries, p.primary)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", Key{b: p.primary}, err)
		}
	}
	return nil
}

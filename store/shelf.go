package store

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// shelf is a table apart from the type of its records: what is done with keys and bytes is
// compiled once, not again for each of sixty types. In an any a record is the *R of its Table.
type shelf struct {
	def     definition
	key     func(any) Key
	fresh   func() any // a record with nothing in it
	codec   codec
	indexes []*indexOf
	// head and within tell records apart that say the same; see Headed.
	head   func(any) any
	within func(any) string
	// synced says with which record a change is logged; nil: it isn't.
	synced func(any) SyncedAs
}

type indexOf struct {
	name   string
	table  string // the driver's
	keys   func(any) []Key
	unique bool
}

func (s *shelf) addIndex(name string, keys func(any) []Key, unique bool) {
	switch {
	case !indexName.MatchString(name):
		s.def.err = fmt.Errorf("index name %q: small letters, digits and _, at most 63", name)
	case keys == nil:
		s.def.err = fmt.Errorf("index %s has no keys", name)
	case s.index(name) != nil:
		s.def.err = fmt.Errorf("two indexes are named %s", name)
	}
	s.indexes = append(s.indexes, &indexOf{name: name, table: indexTable(s.def.name, name), keys: keys, unique: unique})
}

func (s *shelf) index(name string) *indexOf {
	for _, ix := range s.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// ordered is a shelf in one order: that of an index, or where ix is nil of the primary key.
type ordered struct {
	*shelf
	ix  *indexOf
	err error // there is no such index
}

// byPrimary is the shelf in the order of its primary key.
func (s *shelf) byPrimary() ordered { return ordered{shelf: s} }

// by is the shelf in the order of an index; ErrUnknown where it was not declared.
func (s *shelf) by(name string) ordered {
	if ix := s.index(name); ix != nil {
		return ordered{shelf: s, ix: ix}
	}
	return ordered{shelf: s, err: fmt.Errorf("%w: %s has no index %s", ErrUnknown, s.def.name, name)}
}

func (s *shelf) get(tx *Tx, k Key) (any, error) {
	r, err := s.find(tx, k)
	if err == nil && r == nil {
		err = s.missing(k)
	}
	return r, err
}

func (s *shelf) has(tx *Tx, k Key) (bool, error) {
	b, err := s.raw(tx, k)
	return b != nil, err
}

func (s *shelf) missing(k Key) error { return fmt.Errorf("%s %s: %w", s.def.name, k, ErrNotFound) }

// get is the one record with this whole key in a unique index.
func (o ordered) get(tx *Tx, k Key) (any, error) {
	if o.err != nil {
		return nil, o.err
	}
	if !o.ix.unique {
		return nil, fmt.Errorf("%w: index %s of %s is not unique, scan it", ErrUnknown, o.ix.name, o.def.name)
	}
	if err := tx.use(&o.def, false); err != nil {
		return nil, err
	}
	if err := o.checkKey(k); err != nil {
		return nil, err
	}
	primary, err := tx.kv.Get(o.ix.table, k.b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.ix.table, err)
	}
	if primary == nil {
		return nil, fmt.Errorf("%s by %s %s: %w", o.def.name, o.ix.name, k, ErrNotFound)
	}
	p, err := o.decode(tx, kv.Pair{Key: k.b, Value: primary})
	return p.record, err
}

func (s *shelf) insert(tx *Tx, r any) error { return s.write(tx, r, s.mustBeNew) }

func (s *shelf) mustBeNew(exists bool) error {
	if exists {
		return &ExistsError{Table: s.def.name}
	}
	return nil
}

func (s *shelf) update(tx *Tx, r any) error {
	return s.write(tx, r, func(exists bool) error {
		if !exists {
			return s.missing(s.key(r))
		}
		return nil
	})
}

func (s *shelf) put(tx *Tx, r any) error {
	return s.write(tx, r, func(bool) error { return nil })
}

func (s *shelf) delete(tx *Tx, k Key) error {
	if err := tx.use(&s.def, true); err != nil {
		return err
	}
	r, err := s.get(tx, k)
	if err != nil {
		return err
	}
	return s.remove(tx, k.b, r)
}

func (s *shelf) deleteAll(tx *Tx, prefix []any) (int, error) {
	if err := tx.use(&s.def, true); err != nil {
		return 0, err
	}
	if len(prefix) == 0 {
		return 0, fmt.Errorf("%s: %w: deleting everything needs a prefix", s.def.name, ErrBadKey)
	}
	n := 0
	for p, err := range s.byPrimary().pairs(tx, Prefix(prefix...)) {
		if err != nil {
			return n, err
		}
		if err := s.remove(tx, p.primary, p.record); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// raw returns the stored bytes, nil where there are none.
func (s *shelf) raw(tx *Tx, k Key) ([]byte, error) {
	if err := tx.use(&s.def, false); err != nil {
		return nil, err
	}
	if err := s.checkKey(k); err != nil {
		return nil, err
	}
	if len(k.b) > kv.MaxKey {
		return nil, nil // no record can have it
	}
	b, err := tx.kv.Get(s.def.name, k.b)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	return b, nil
}

// find is the record under a key, nil where there is none.
func (s *shelf) find(tx *Tx, k Key) (any, error) {
	b, err := s.raw(tx, k)
	if err != nil || b == nil {
		return nil, err
	}
	r, err := s.read(tx, b)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	return r, nil
}

// read is a stored record, wherever its body stands.
func (s *shelf) read(tx *Tx, b []byte) (any, error) {
	b, err := tx.joined(b)
	if err != nil {
		return nil, err
	}
	r := s.fresh()
	return r, s.codec.unmarshal(b, r)
}

func (s *shelf) checkKey(k Key) error {
	switch {
	case k.err != nil:
		return fmt.Errorf("%s: %w", s.def.name, k.err)
	case len(k.b) == 0:
		return fmt.Errorf("%s: %w: it has no parts", s.def.name, ErrBadKey)
	}
	return nil
}

// write stores r and its index entries, after allowed has seen whether its
// primary key is taken. A refusal writes nothing.
func (s *shelf) write(tx *Tx, r any, allowed func(exists bool) error) error {
	return s.writeAs(tx, r, allowed, func() ([]byte, error) { return s.codec.marshal(r) })
}

// writeAs is write of the bytes that encode gives for r.
func (s *shelf) writeAs(tx *Tx, r any, allowed func(exists bool) error, encode func() ([]byte, error)) error {
	if err := tx.use(&s.def, true); err != nil {
		return err
	}
	k := s.key(r)
	old, err := s.find(tx, k)
	if err != nil {
		return err
	}
	if err := allowed(old != nil); err != nil {
		return err
	}
	fresh, err := s.entries(r, k.b)
	if err != nil {
		return err
	}
	var gone []entry
	if old != nil {
		if gone, err = s.entries(old, k.b); err != nil {
			return err
		}
		gone, fresh = differing(gone, fresh)
	}
	if err := s.free(tx, fresh, k.b); err != nil {
		return err
	}
	b, err := encode()
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	for _, e := range gone {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.touched[s.def.name] = true
	if err := tx.kv.Put(s.def.name, k.b, b); err != nil {
		return err
	}
	if err := putEntries(tx, fresh, k.b); err != nil || s.synced == nil {
		return err
	}
	return s.noteSync(tx, k.b, old, r)
}

func (s *shelf) remove(tx *Tx, primary []byte, r any) error {
	entries, err := s.entries(r, primary)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.touched[s.def.name] = true
	if err := tx.kv.Delete(s.def.name, primary); err != nil || s.synced == nil {
		return err
	}
	return s.noteSync(tx, primary, r, nil)
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
func (s *shelf) entries(r any, primary []byte) ([]entry, error) {
	var all []entry
	for _, ix := range s.indexes {
		for _, k := range ix.keys(r) {
			if err := s.checkKey(k); err != nil {
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
func (s *shelf) free(tx *Tx, entries []entry, primary []byte) error {
	for _, e := range entries {
		if !e.unique {
			continue
		}
		holder, err := tx.kv.Get(e.table, e.key)
		if err != nil {
			return err
		}
		if holder != nil && !bytes.Equal(holder, primary) {
			return &ExistsError{Table: s.def.name, Index: e.index}
		}
	}
	return nil
}

func putEntries(tx *Tx, entries []entry, primary []byte) error {
	for _, e := range entries {
		if err := tx.kv.Put(e.table, e.key, primary); err != nil {
			return err
		}
	}
	return nil
}

// reindex fills empty indexes from the records.
func (s *shelf) reindex(tx *Tx) error {
	if len(s.indexes) == 0 {
		return nil
	}
	for p, err := range s.byPrimary().pairs(tx) {
		if err != nil {
			return err
		}
		entries, err := s.entries(p.record, p.primary)
		if err == nil {
			err = s.free(tx, entries, p.primary)
		}
		if err == nil {
			err = putEntries(tx, entries, p.primary)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", Key{b: p.primary}, err)
		}
	}
	return nil
}

// pair is a record with the keys it was met under.
type pair struct {
	at      []byte // in the scanned table or index; valid in the loop only
	primary []byte // our own
	record  any    // nil beside an error
}

// pairs scans in its order. After an error there is no more.
//
//go:noinline // else it is compiled for each table again
func (o ordered) pairs(tx *Tx, options ...ScanOption) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		for p, err := range o.raws(tx, newScan(options)) {
			var out pair
			if err == nil {
				out, err = o.decode(tx, p)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// raws yields the driver's pairs of the table, or of one of its indexes.
func (o ordered) raws(tx *Tx, in scan) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		name := o.def.name
		if o.ix != nil {
			name = o.ix.table
		}
		err := o.err
		if err == nil {
			err = tx.use(&o.def, false)
		}
		var r kv.Range
		if err == nil {
			if r, err = in.span(); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil {
			yield(kv.Pair{}, err)
			return
		}
		for p, err := range tx.kv.Scan(name, r) {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// decode turns what raws yielded into the record.
func (o ordered) decode(tx *Tx, p kv.Pair) (pair, error) {
	if o.ix == nil {
		out := pair{at: p.Key, primary: slices.Clone(p.Key)}
		r, err := o.read(tx, p.Value)
		if err != nil {
			return out, fmt.Errorf("%s %s: %w", o.def.name, Key{b: out.primary}, err)
		}
		out.record = r
		return out, nil
	}
	out := pair{at: p.Key, primary: slices.Clone(p.Value)}
	r, err := o.find(tx, Key{b: out.primary})
	if err == nil && r == nil {
		err = fmt.Errorf("%w: index %s names %s, which is missing", ErrCorrupt, o.ix.table, Key{b: out.primary})
	}
	out.record = r
	return out, err
}

// count counts what begins with prefix, without reading records.
func (o ordered) count(tx *Tx, prefix []any) (int, error) {
	n := 0
	for _, err := range o.raws(tx, newScan([]ScanOption{Prefix(prefix...)})) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

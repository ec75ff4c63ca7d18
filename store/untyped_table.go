package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// untypedTable holds the non-generic part of Table, so that it is compiled only once. A value of type any holds
// the *R of the Table.
type untypedTable struct {
	def       tableDefinition
	key       func(any) Key
	newRecord func() any // returns a zero record
	codec     codec
	indexes   []*tableIndex
	tallies   []*tally
	// companions returns keys that are read in most Updates that read the record with a given key.
	companions func(Key) []kv.Ref
	// header is the function given to WithSharedBody, packScope the one given to WithPacks.
	header    func(any) any
	packScope func(any) Key
	// figures returns the assessment and the parts of its figures that a change affects; nil if there are none.
	figures func(old, fresh any) (assessment string, parts figureParts)
	// syncTarget returns the record under which a change is logged; nil disables logging.
	syncTarget func(any) SyncTarget
	// relatedSyncTargets returns further records, virtual ones included, that change with the record; nil means none.
	relatedSyncTargets func(tx *Tx, org string, record any) ([]SyncTarget, error)
}

// tableIndex is an index of a table.
type tableIndex struct {
	name   string
	table  string // name of the driver's table
	keys   func(any) []Key
	unique bool
}

func (s *untypedTable) addIndex(name string, keys func(any) []Key, unique bool) {
	switch {
	case !indexNamePattern.MatchString(name):
		s.def.err = fmt.Errorf("index name %q must consist of at most 63 lowercase letters, digits and underscores", name)
	case keys == nil:
		s.def.err = fmt.Errorf("index %s has no keys", name)
	case s.index(name) != nil:
		s.def.err = fmt.Errorf("two indexes are named %s", name)
	}
	s.indexes = append(s.indexes, &tableIndex{name: name, table: indexTableName(s.def.name, name), keys: keys, unique: unique})
}

func (s *untypedTable) index(name string) *tableIndex {
	for _, ix := range s.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// orderedTable is a table in a certain order: that of an index, or that of the primary key if ix is nil.
type orderedTable struct {
	*untypedTable
	ix  *tableIndex
	err error // set if the index doesn't exist
}

// inPrimaryOrder returns the table in primary key order.
func (s *untypedTable) inPrimaryOrder() orderedTable { return orderedTable{untypedTable: s} }

// inIndexOrder returns the table in the order of an index. If the index was not declared, using the result
// returns ErrUnknownTable.
func (s *untypedTable) inIndexOrder(name string) orderedTable {
	if ix := s.index(name); ix != nil {
		return orderedTable{untypedTable: s, ix: ix}
	}
	return orderedTable{untypedTable: s, err: fmt.Errorf("%w: %s has no index %s", ErrUnknownTable, s.def.name, name)}
}

func (s *untypedTable) get(tx *Tx, k Key) (any, error) {
	r, err := s.getOrNil(tx, k)
	if err == nil && r == nil {
		err = s.notFoundError(k)
	}
	return r, err
}

func (s *untypedTable) has(tx *Tx, k Key) (bool, error) {
	b, err := s.readBytes(tx, k)
	return b != nil, err
}

func (s *untypedTable) notFoundError(k Key) error {
	return fmt.Errorf("%s %s: %w", s.def.name, k, ErrNotFound)
}

// getUnique returns the one record with this complete key in a unique index.
func (o orderedTable) getUnique(tx *Tx, k Key) (any, error) {
	if o.err != nil {
		return nil, o.err
	}
	if !o.ix.unique {
		return nil, fmt.Errorf("%w: index %s of %s is not unique; scan the index instead", ErrUnknownTable, o.ix.name, o.def.name)
	}
	if err := tx.checkTable(&o.def, false); err != nil {
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
	p, err := o.decode(tx, k.b, primary)
	return p.record, err
}

func (s *untypedTable) insert(tx *Tx, r any) error { return s.write(tx, r, s.requireNew) }

// requireNew returns ErrExists if a record already exists.
func (s *untypedTable) requireNew(exists bool) error {
	if exists {
		return &ExistsError{Table: s.def.name}
	}
	return nil
}

func (s *untypedTable) update(tx *Tx, r any) error {
	return s.write(tx, r, func(exists bool) error {
		if !exists {
			return s.notFoundError(s.key(r))
		}
		return nil
	})
}

func (s *untypedTable) put(tx *Tx, r any) error {
	return s.write(tx, r, func(bool) error { return nil })
}

func (s *untypedTable) delete(tx *Tx, k Key) error {
	if err := tx.checkTable(&s.def, true); err != nil {
		return err
	}
	r, err := s.get(tx, k)
	if err != nil {
		return err
	}
	return s.deleteRecord(tx, k.b, r)
}

// deleteAll deletes the records whose key begins with prefix, up to limit if it is not 0.
func (s *untypedTable) deleteAll(tx *Tx, prefix []any, limit int) (int, error) {
	if err := tx.checkTable(&s.def, true); err != nil {
		return 0, err
	}
	if len(prefix) == 0 {
		return 0, fmt.Errorf("%s: %w: deleting several records requires a key prefix", s.def.name, ErrBadKey)
	}
	n := 0
	for p, err := range s.inPrimaryOrder().scanRecords(tx, Prefix(prefix...)) {
		if err != nil {
			return n, err
		}
		if err := s.deleteRecord(tx, slices.Clone(p.primary), p.record); err != nil {
			return n, err
		}
		if n++; n == limit {
			break
		}
	}
	return n, nil
}

// readBytes returns the stored bytes of the record with the given key, or nil if there is no such record.
func (s *untypedTable) readBytes(tx *Tx, k Key) ([]byte, error) {
	if err := tx.checkTable(&s.def, false); err != nil {
		return nil, err
	}
	if err := s.checkKey(k); err != nil {
		return nil, err
	}
	if len(k.b) > kv.MaxKey {
		return nil, nil // no record can have this key
	}
	if tx.writable && s.companions != nil {
		tx.kv.remote.Expect(s.companions(k)...)
	}
	b, err := tx.kv.Get(s.def.name, k.b)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	return b, nil
}

// getOrNil returns the record under a key, or nil if there is none.
func (s *untypedTable) getOrNil(tx *Tx, k Key) (any, error) {
	b, err := s.readBytes(tx, k)
	if err != nil || b == nil {
		return nil, err
	}
	r, err := s.decodeStored(tx, k.b, b)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	return r, nil
}

// decodeStored decodes a stored record, regardless of where its content is stored.
func (s *untypedTable) decodeStored(tx *Tx, primary, b []byte) (any, error) {
	b, err := tx.joinRecord(primary, b)
	if err != nil {
		return nil, err
	}
	r := s.newRecord()
	return r, s.codec.unmarshal(b, r)
}

// checkKey returns an error if the key is invalid or empty.
func (s *untypedTable) checkKey(k Key) error {
	switch {
	case k.err != nil:
		return fmt.Errorf("%s: %w", s.def.name, k.err)
	case len(k.b) == 0:
		return fmt.Errorf("%s: %w: the key has no parts", s.def.name, ErrBadKey)
	}
	return nil
}

// write stores r and its index entries. Before that, it tells checkExisting whether a record with this primary key
// exists. If checkExisting returns an error, nothing is written.
func (s *untypedTable) write(tx *Tx, r any, checkExisting func(exists bool) error) error {
	return s.writeEncoded(tx, r, checkExisting, func() ([]byte, error) { return s.codec.marshal(r) })
}

// writeEncoded works like write, but stores the bytes that encode returns.
func (s *untypedTable) writeEncoded(tx *Tx, r any, checkExisting func(exists bool) error, encode func() ([]byte, error)) error {
	if err := tx.checkTable(&s.def, true); err != nil {
		return err
	}
	k := s.key(r)
	tx.assumeMissingIfNew(s.def.name, k)
	old, err := s.getOrNil(tx, k)
	if err != nil {
		return err
	}
	if err := checkExisting(old != nil); err != nil {
		return err
	}
	added, err := s.indexEntries(r, k.b)
	if err != nil {
		return err
	}
	var removed []indexEntry
	if old != nil {
		if removed, err = s.indexEntries(old, k.b); err != nil {
			return err
		}
		removed, added = diffEntries(removed, added)
	}
	if err := s.checkUnique(tx, added, k.b); err != nil {
		return err
	}
	b, err := encode()
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.def.name, k, err)
	}
	for _, e := range removed {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.changedTables[s.def.name] = true
	if err := tx.kv.Put(s.def.name, k.b, b); err != nil {
		return err
	}
	if err := putIndexEntries(tx, added); err != nil {
		return err
	}
	return s.updateDerivedData(tx, k.b, old, r, added, removed)
}

// updateDerivedData updates the data derived from a changed record. old is nil for a new record, and fresh is
// nil for a deleted one.
func (s *untypedTable) updateDerivedData(tx *Tx, primary []byte, old, fresh any, added, removed []indexEntry) error {
	if err := s.tallyChange(tx, primary, old, fresh, added, removed); err != nil {
		return err
	}
	s.markFiguresStale(tx, primary, old, fresh)
	return s.recordSyncChange(tx, primary, old, fresh)
}

func (s *untypedTable) deleteRecord(tx *Tx, primary []byte, r any) error {
	entries, err := s.indexEntries(r, primary)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := tx.kv.Delete(e.table, e.key); err != nil {
			return err
		}
	}
	tx.changedTables[s.def.name] = true
	if err := tx.kv.Delete(s.def.name, primary); err != nil {
		return err
	}
	return s.updateDerivedData(tx, primary, r, nil, nil, entries)
}

// indexEntry is a key in an index.
type indexEntry struct {
	table   string // name of the driver's table
	index   string
	key     []byte
	primary []byte // key of the record
	unique  bool
}

// value returns the entry's stored value. In a unique index, it is the primary key. In any other index, the key ends
// with the primary key, and the value is a zero byte followed by the length of the primary key. No key begins with a
// zero byte.
func (e indexEntry) value() []byte {
	if e.unique {
		return e.primary
	}
	return binary.AppendUvarint([]byte{0}, uint64(len(e.primary)))
}

// primaryOfEntry returns the primary key of the record that an index entry refers to. In databases up to format 5, the
// value of the entry contains the primary key.
func primaryOfEntry(key, value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != 0 {
		return value, nil
	}
	n, size := binary.Uvarint(value[1:])
	if size <= 0 || n > uint64(len(key)) {
		return nil, fmt.Errorf("%w: an index entry does not refer to a record", ErrCorrupt)
	}
	return key[len(key)-int(n):], nil
}

func (e indexEntry) compare(o indexEntry) int {
	if c := strings.Compare(e.table, o.table); c != 0 {
		return c
	}
	return bytes.Compare(e.key, o.key)
}

// indexEntries returns the index entries of a record, sorted and without duplicates.
func (s *untypedTable) indexEntries(r any, primary []byte) ([]indexEntry, error) {
	var all []indexEntry
	for _, ix := range s.indexes {
		for _, k := range ix.keys(r) {
			if err := s.checkKey(k); err != nil {
				return nil, fmt.Errorf("index %s: %w", ix.name, err)
			}
			key := k.b
			if !ix.unique {
				key = append(k.b[:len(k.b):len(k.b)], primary...)
			}
			all = append(all, indexEntry{table: ix.table, index: ix.name, key: key, primary: primary, unique: ix.unique})
		}
	}
	slices.SortFunc(all, indexEntry.compare)
	return slices.CompactFunc(all, func(a, b indexEntry) bool { return a.compare(b) == 0 }), nil
}

// diffEntries returns the entries that only one of two sorted lists contains.
func diffEntries(a, b []indexEntry) (onlyA, onlyB []indexEntry) {
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

// checkUnique returns an error if another record already has one of the given entries in a unique index.
func (s *untypedTable) checkUnique(tx *Tx, entries []indexEntry, primary []byte) error {
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

func putIndexEntries(tx *Tx, entries []indexEntry) error {
	for _, e := range entries {
		if err := tx.kv.Put(e.table, e.key, e.value()); err != nil {
			return err
		}
	}
	return nil
}

// fillIndexes fills empty indexes from the records.
func (s *untypedTable) fillIndexes(tx *Tx) error {
	if len(s.indexes) == 0 && len(s.tallies) == 0 {
		return nil
	}
	for p, err := range s.inPrimaryOrder().scanRecords(tx) {
		if err != nil {
			return err
		}
		primary := slices.Clone(p.primary)
		entries, err := s.indexEntries(p.record, primary)
		if err == nil {
			err = s.checkUnique(tx, entries, primary)
		}
		if err == nil {
			err = putIndexEntries(tx, entries)
		}
		if err == nil {
			err = s.tallyChange(tx, primary, nil, p.record, entries, nil)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", Key{b: primary}, err)
		}
	}
	return tx.flushTallies()
}

// scannedRecord is a record with its keys.
type scannedRecord struct {
	primary []byte // valid until the transaction writes or ends
	record  any    // nil if there is an error
}

// scanRecords yields the records in the order of o. It ends after an error.
//
//go:noinline // else it is compiled for each table again
func (o orderedTable) scanRecords(tx *Tx, options ...ScanOption) iter.Seq2[scannedRecord, error] {
	return func(yield func(scannedRecord, error) bool) {
		for p, err := range o.scanPairsOfRecords(tx, newScanOptions(options), true) {
			var out scannedRecord
			if err == nil {
				out, err = o.decodePair(tx, p)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// tableName returns the name of the driver's table for this order, which is the table of the records or that of an
// index.
func (o orderedTable) tableName() string {
	if o.ix != nil {
		return o.ix.table
	}
	return o.def.name
}

// scanPairs yields the driver's pairs of the table, or of one of its indexes.
func (o orderedTable) scanPairs(tx *Tx, in scanOptions) iter.Seq2[kv.Pair, error] {
	return o.scanPairsAhead(tx, in, nil)
}

// scanPairsOfRecords works like scanPairs, but also prefetches the records that the pairs refer to. If withPacks is
// set, it prefetches the records' packs as well.
func (o orderedTable) scanPairsOfRecords(tx *Tx, in scanOptions, withPacks bool) iter.Seq2[kv.Pair, error] {
	return o.scanPairsAhead(tx, in, func(pairs []kv.Pair) error { return o.prefetch(tx, pairs, withPacks) })
}

func (o orderedTable) scanPairsAhead(tx *Tx, in scanOptions, ahead func([]kv.Pair) error) iter.Seq2[kv.Pair, error] {
	return func(yield func(kv.Pair, error) bool) {
		name := o.tableName()
		err := o.err
		if err == nil {
			err = tx.checkTable(&o.def, false)
		}
		var r kv.Range
		if err == nil {
			if r, err = in.toRange(); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil {
			yield(kv.Pair{}, err)
			return
		}
		for p, err := range tx.kv.scanAhead(name, r, in.expected, ahead) {
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// prefetch reads the records that pairs of this order refer to, and the packs that contain them if withPacks is set.
// It ignores pairs that it can't decode, because the code that decodes the pairs reports them.
func (o orderedTable) prefetch(tx *Tx, pairs []kv.Pair, withPacks bool) error {
	if o.ix == nil && (!withPacks || o.packScope == nil) {
		return nil
	}
	var stored []kv.Pair
	if o.ix == nil {
		for _, p := range pairs {
			if value, err := tx.kv.verifiedValue(o.def.name, p); err == nil {
				stored = append(stored, kv.Pair{Key: p.Key, Value: value})
			}
		}
	} else {
		var refs []kv.Ref
		for _, p := range pairs {
			value, err := tx.kv.verifiedValue(o.tableName(), p)
			if err == nil {
				value, err = primaryOfEntry(p.Key, value)
			}
			if err == nil && len(value) > 0 && len(value) <= kv.MaxKey {
				refs = append(refs, kv.Ref{Table: o.def.name, Key: value})
			}
		}
		if err := tx.kv.remote.Prefetch(refs...); err != nil || !withPacks || o.packScope == nil {
			return err
		}
		for _, r := range refs {
			if value, err := tx.kv.Get(r.Table, r.Key); err == nil { // without a round trip
				stored = append(stored, kv.Pair{Key: r.Key, Value: value})
			}
		}
	}
	var packs []kv.Ref
	for _, p := range stored {
		ref, _, isEntry, err := decodeEntryRecord(p.Value)
		if err != nil || !isEntry {
			continue
		}
		key, err := packKey(p.Key, ref.pack)
		known := func(r kv.Ref) bool { return bytes.Equal(r.Key, key) }
		if err == nil && !slices.ContainsFunc(packs, known) &&
			!slices.ContainsFunc(tx.packs, func(p cachedPack) bool { return bytes.Equal(p.key, key) }) {
			packs = append(packs, kv.Ref{Table: packsTable, Key: key})
		}
	}
	return tx.kv.remote.Prefetch(packs...)
}

// decodePair decodes a pair from scanPairs into its record.
func (o orderedTable) decodePair(tx *Tx, p kv.Pair) (scannedRecord, error) {
	value, err := tx.kv.verifiedValue(o.tableName(), p)
	if err != nil {
		return scannedRecord{}, err
	}
	return o.decode(tx, p.Key, value)
}

// decode returns the record that a pair contains or, if o is the order of an index, the record that the pair refers to.
func (o orderedTable) decode(tx *Tx, key, value []byte) (scannedRecord, error) {
	if o.ix == nil {
		r, err := o.decodeStored(tx, key, value)
		if err != nil {
			return scannedRecord{}, fmt.Errorf("%s %s: %w", o.def.name, Key{b: key}, err)
		}
		return scannedRecord{primary: key, record: r}, nil
	}
	primary, err := primaryOfEntry(key, value)
	if err != nil {
		return scannedRecord{}, fmt.Errorf("%s %s: %w", o.ix.table, Key{b: key}, err)
	}
	r, err := o.getOrNil(tx, Key{b: primary})
	if err == nil && r == nil {
		err = fmt.Errorf("%w: index %s refers to %s, which is missing", ErrCorrupt, o.ix.table, Key{b: primary})
	}
	return scannedRecord{primary: primary, record: r}, err
}

// count returns the number of keys that begin with prefix. If no tally counts them, it counts them without
// reading records.
func (o orderedTable) count(tx *Tx, prefix []any) (int, error) {
	n, kept, err := o.countFromTally(tx, K(prefix...))
	if kept || err != nil {
		return n, err
	}
	for _, err := range o.scanPairs(tx, newScanOptions([]ScanOption{Prefix(prefix...)})) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/scf-service/service/internal/bytereader"
	"github.com/scf-service/service/store/kv"
)

// packsTable holds packs. A pack is a set of records that were inserted and compressed together, because the
// items of a deliverable or the passages of a document have much in common:
//
//	findings   organization, id           → mark, entry of a pack (see entryRef); or the record itself
//	_packs     organization, pack         → size, zstd frame of: number of entries, their sizes, the entries
//	_packs     organization, scope, pack  → nothing; lists the packs of an assessment or a set of passages
//
// An entry is the JSON of a record. A record with the same content as an older one, such as an item of the
// previous version, refers to the older record's entry and stores only its own header, which replaces the
// beginning of the entry.
//
// Packs never change. A record that is changed later is written without a pack; its entry remains until its
// scope is deleted. Records written by earlier versions of this program aren't in packs (shared_bodies.go).
const packsTable = "_packs"

// markEntry is the flag of a record that is an entry of a pack.
const markEntry = 0x10

const (
	packIDSize = 8
	// packSize is the maximum total size of the entries in a pack. A pack with a single entry may be larger. Larger
	// packs would take less space in total, but reading one record requires decompressing its whole pack.
	packSize = 64 << 10
	// maxCachedPacks is the number of packs that a transaction caches. Scans need the last few.
	maxCachedPacks = 8
)

// builtinDefinition registers one of the store's own tables, which has no typed records.
type builtinDefinition struct{ def tableDefinition }

func (b *builtinDefinition) Name() string                 { return b.def.name }
func (b *builtinDefinition) definition() *tableDefinition { return &b.def }

func newBuiltinDefinition(name string) *builtinDefinition {
	return &builtinDefinition{tableDefinition{name: name, reindex: func(*Tx) error { return nil }}}
}

var (
	packsDefinition  = newBuiltinDefinition(packsTable)
	bodiesDefinition = newBuiltinDefinition(bodiesTable)
)

// WithPacks makes InsertPrepared compress records together, in packs. scope returns the key of whatever a record
// belongs to, such as its assessment. The key doesn't include the organization. DeletePacks deletes all packs with that
// key.
func WithPacks[R any](scope func(*R) Key) Option[R] {
	return func(t *Table[R]) { t.untyped.packScope = func(r any) Key { return scope(r.(*R)) } }
}

// entryRef refers to an entry in a pack of the organization.
type entryRef struct {
	pack  string // the pack's ID; "" if the record isn't in a pack
	index int
	// bodyAt is the length of the header at the beginning of the entry; 0 if it can't be replaced.
	bodyAt int
}

// encodeEntryRecord returns the stored bytes of a record in a pack: the ID of the pack and the number of the entry. If
// header is not nil, these are followed by the length of the header that it replaces, and by the packed header.
func encodeEntryRecord(mark byte, ref entryRef, header []byte) ([]byte, error) {
	b := append([]byte{mark | markEntry}, ref.pack...)
	b = binary.AppendUvarint(b, uint64(ref.index))
	if header == nil {
		return b, nil
	}
	packed, err := packRecord(mark, header)
	return append(binary.AppendUvarint(b, uint64(ref.bodyAt)), packed...), err
}

// decodeEntryRecord is the inverse of encodeEntryRecord. isEntry is false if the record isn't in a pack.
func decodeEntryRecord(stored []byte) (ref entryRef, header []byte, isEntry bool, err error) {
	if len(stored) == 0 || stored[0]&markEntry == 0 {
		return ref, nil, false, nil
	}
	r := bytereader.Reader{Data: stored[1:]}
	ref.pack, ref.index = string(r.Bytes(packIDSize)), r.Uvarint(maxRecordSize)
	if len(r.Data) > 0 {
		ref.bodyAt = r.Uvarint(maxRecordSize)
		if _, header, err = unpackRecord(r.Data); err != nil {
			return ref, nil, true, err
		}
	}
	if r.Failed {
		return ref, nil, true, fmt.Errorf("%w: a reference to a pack is truncated", ErrCorrupt)
	}
	return ref, header, true, nil
}

// joinRecord returns a stored record as it would be stored without a pack or a separate body. It returns the
// given bytes if they are already in that form.
func (tx *Tx) joinRecord(primary, stored []byte) ([]byte, error) {
	ref, header, isEntry, err := decodeEntryRecord(stored)
	if !isEntry {
		return tx.joinSharedBody(stored)
	}
	if err != nil {
		return nil, err
	}
	entry, err := tx.readEntry(primary, ref)
	if err != nil {
		return nil, err
	}
	body := entry[ref.bodyAt:]
	out := append(make([]byte, 0, 1+len(header)+len(body)), stored[0]&^markEntry)
	return append(append(out, header...), body...), nil
}

// readEntry returns an entry of a pack, given the primary key of a record that refers to it.
func (tx *Tx) readEntry(primary []byte, ref entryRef) ([]byte, error) {
	key, err := packKey(primary, ref.pack)
	if err != nil {
		return nil, err
	}
	entries, err := tx.readPack(key)
	if err != nil {
		return nil, err
	}
	if ref.index >= len(entries) || ref.bodyAt > len(entries[ref.index]) {
		return nil, fmt.Errorf("%w: the pack %s has no entry %d", ErrCorrupt, Key{b: key}, ref.index)
	}
	return entries[ref.index], nil
}

// packKey returns the key of a pack that belongs to the organization of a record or scope.
func packKey(primary []byte, id string) ([]byte, error) {
	org, _, err := splitKey(primary)
	return slices.Concat(org, K([]byte(id)).b), err
}

// splitKey splits a key after its first part.
func splitKey(key []byte) (first, rest []byte, err error) {
	if len(key) == 0 {
		return nil, nil, fmt.Errorf("%w: the key has no parts", ErrBadKey)
	}
	_, rest, err = decodePart(key)
	n := len(key) - len(rest)
	return key[:n:n], rest, err
}

// cachedPack is a decompressed pack.
type cachedPack struct {
	key     []byte
	entries [][]byte
}

// readPack returns the entries of a pack, which must not be modified.
func (tx *Tx) readPack(key []byte) ([][]byte, error) {
	at := slices.IndexFunc(tx.packs, func(p cachedPack) bool { return bytes.Equal(p.key, key) })
	var pack cachedPack
	if at >= 0 {
		pack = tx.packs[at]
	} else {
		value, err := tx.kv.Get(packsTable, key)
		if err != nil {
			return nil, err
		}
		if value == nil {
			return nil, fmt.Errorf("%w: the pack %s of a record is missing", ErrCorrupt, Key{b: key})
		}
		if pack, err = decodePack(key, value); err != nil {
			return nil, err
		}
		if at = len(tx.packs) - maxCachedPacks; at < 0 {
			tx.packs = append(tx.packs, pack)
			return pack.entries, nil
		}
	}
	copy(tx.packs[at:], tx.packs[at+1:]) // the most recently used pack comes last
	tx.packs[len(tx.packs)-1] = pack
	return pack.entries, nil
}

// encodePack returns the stored form of a pack.
func encodePack(entries [][]byte) []byte {
	plain := binary.AppendUvarint(nil, uint64(len(entries)))
	for _, e := range entries {
		plain = binary.AppendUvarint(plain, uint64(len(e)))
	}
	for _, e := range entries {
		plain = append(plain, e...)
	}
	z := packEncoders.Get().(*zstd.Encoder)
	defer packEncoders.Put(z)
	return z.EncodeAll(plain, binary.AppendUvarint(nil, uint64(len(plain))))
}

// decodePack is the inverse of encodePack.
func decodePack(key, value []byte) (cachedPack, error) {
	damaged := fmt.Errorf("%w: the pack %s can't be decompressed", ErrCorrupt, Key{b: key})
	r := bytereader.Reader{Data: value}
	size := r.Uvarint(2 * maxRecordSize)
	z := blobDecoders.Get().(*zstd.Decoder)
	defer blobDecoders.Put(z)
	plain, err := z.DecodeAll(r.Data, make([]byte, 0, size))
	if err != nil || len(plain) != size {
		return cachedPack{}, damaged
	}
	r = bytereader.Reader{Data: plain}
	sizes := make([]int, r.Uvarint(len(plain)))
	for i := range sizes {
		sizes[i] = r.Uvarint(len(plain))
	}
	pack := cachedPack{key: slices.Clone(key), entries: make([][]byte, len(sizes))}
	for i, n := range sizes {
		pack.entries[i] = r.Bytes(n)
	}
	if r.Failed || len(r.Data) > 0 {
		return cachedPack{}, damaged
	}
	return pack, nil
}

// newPack is a pack to be stored.
type newPack struct {
	scope   []byte // includes the organization
	entries [][]byte
	size    int
	id      string
	value   []byte
}

// encode sets the pack's value and its ID, which identifies its content and scope.
func (p *newPack) encode() {
	p.value = encodePack(p.entries)
	sum := sha256.Sum256(slices.Concat(binary.AppendUvarint(nil, uint64(len(p.scope))), p.scope, p.value))
	p.id = string(sum[:packIDSize])
}

// putPacks encodes packs and stores them.
func (tx *Tx) putPacks(packs []*newPack) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(packs), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(packs)); i = next.Add(1) - 1 {
				packs[i].encode()
			}
		})
	}
	workers.Wait()
	refs := make([]kv.Ref, len(packs))
	for i, p := range packs {
		key, err := packKey(p.scope, p.id)
		if err != nil {
			return err
		}
		refs[i] = kv.Ref{Table: packsTable, Key: key}
	}
	if err := tx.kv.remote.Prefetch(refs...); err != nil {
		return err
	}
	for _, p := range packs {
		if len(p.value) >= maxValue {
			return fmt.Errorf("%w: a record of %d bytes can't be compressed; store the record as a blob", ErrTooLarge, p.size)
		}
		key, err := packKey(p.scope, p.id)
		if err != nil {
			return err
		}
		existing, err := tx.kv.Get(packsTable, key)
		if err != nil {
			return err
		}
		if existing != nil && !bytes.Equal(existing, p.value) {
			return fmt.Errorf("%w: two packs have the ID %s", ErrCorrupt, Key{b: key})
		}
		if err := tx.kv.Put(packsTable, key, p.value); err != nil {
			return err
		}
		if err := tx.kv.Put(packsTable, slices.Concat(p.scope, K([]byte(p.id)).b), nil); err != nil {
			return err
		}
	}
	return nil
}

// DeletePacks deletes up to limit packs of a scope, after their records have been deleted, and returns the number of
// packs it deleted.
func DeletePacks(tx *Tx, org string, limit int, scope ...any) (n int, err error) {
	if err := tx.checkUsable(true); err != nil {
		return 0, err
	}
	within := K(scope...)
	switch {
	case org == "":
		return 0, fmt.Errorf("%s: %w", packsTable, ErrNoTenant)
	case within.err != nil || within.IsZero():
		return 0, fmt.Errorf("%s: %w: no scope", packsTable, ErrBadKey)
	}
	span, err := newScanOptions([]ScanOption{Prefix(org, within)}).toRange()
	if err != nil {
		return 0, err
	}
	for _, table := range []string{packsTable, bodiesTable} {
		for p, err := range tx.kv.Scan(table, span) {
			if err != nil || n == limit {
				return n, err
			}
			key := slices.Clone(p.Key)
			if table == packsTable {
				pack, err := packKey(key, string(lastPart(key)))
				if err != nil {
					return n, err
				}
				if err := tx.kv.Delete(table, pack); err != nil {
					return n, err
				}
			}
			if err := tx.kv.Delete(table, key); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// lastPart returns the last part of a key if it consists of bytes.
func lastPart(key []byte) []byte {
	parts, err := Key{b: key}.Parts()
	if err != nil || len(parts) == 0 {
		return nil
	}
	b, _ := parts[len(parts)-1].([]byte)
	return b
}

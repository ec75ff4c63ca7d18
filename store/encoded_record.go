package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// EncodedRecord is a record with its stored bytes. It makes it unnecessary to decode an unchanged record again or to
// encode equal content again. It is shared and must not be modified.
type EncodedRecord[R any] struct {
	Record R
	// Extra is data attached when the record was written; nil if the record was read.
	Extra []byte

	primary, stored []byte
	entry           entryRef
	size            int // size of the record's JSON
	// isLossy is true if the decoded record differs from the encoded one, because a text is not valid UTF-8.
	isLossy bool
}

// MemorySize returns the approximate memory size in bytes.
func (w *EncodedRecord[R]) MemorySize() int {
	return len(w.primary) + len(w.stored) + len(w.Extra) + max(w.size, 2*len(w.stored))
}

// WithSharedBody stores content only once if several records in the same scope (see WithPacks) have it in common. A
// record's JSON consists of a header, whose fields differ between records with equal content, and the body. header
// returns a struct that encodes to the beginning of the record's JSON. equal reports whether two records differ at most
// in the header.
func WithSharedBody[R any](header func(*R) any, equal func(a, b *R) bool) Option[R] {
	return func(t *Table[R]) {
		t.equal = equal
		t.untyped.header = func(r any) any { return header(r.(*R)) }
	}
}

// PreparedRecord is a record to be inserted, encoded as far as possible before the transaction.
type PreparedRecord[R any] struct {
	Record *R
	// SameAs is the record whose content it shares, or nil if it has its own.
	SameAs *EncodedRecord[R]
	// Extra is attached to the written record.
	Extra []byte
	body  []byte // the JSON after the header; nil if the record is encoded in the transaction
}

// PrepareInsert encodes a record before the transaction that inserts it. Until the record is inserted, only its
// header may change. If its content equals that of one of candidates, the candidate's content is shared.
func PrepareInsert[R any](t *TenantTable[R], r *R, candidates ...*EncodedRecord[R]) (PreparedRecord[R], error) {
	for _, w := range candidates {
		if w.entry.bodyAt > 0 && t.table.equal(&w.Record, r) {
			return PreparedRecord[R]{Record: r, SameAs: w, Extra: w.Extra}, nil
		}
	}
	b, err := t.table.untyped.encodeBody(r)
	return PreparedRecord[R]{Record: r, body: b}, err
}

// encodeBody returns the part of a record's JSON that follows the header, or nil if the record can only be encoded as a
// whole.
func (s *untypedTable) encodeBody(r any) ([]byte, error) {
	if s.header == nil {
		return nil, nil
	}
	plain, err := s.codec.encode(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.def.name, err)
	}
	n, err := s.headerSize(r, plain)
	if n == 0 || err != nil {
		return nil, err
	}
	return plain[n:], nil
}

// replacementEscape is the escape that encoding/json writes for invalid UTF-8.
var replacementEscape = []byte(`\ufffd`)

// encodeHeader returns the beginning of a record's JSON, up to its body.
func (s *untypedTable) encodeHeader(r any) ([]byte, error) {
	b, err := json.Marshal(s.header(r))
	if err != nil || len(b) < 2 {
		return nil, err
	}
	return b[:len(b)-1], nil
}

// headerSize returns the size of the header at the beginning of a record's JSON, or 0 if it has none.
func (s *untypedTable) headerSize(r any, plain []byte) (int, error) {
	if s.header == nil || s.codec.mark != markJSON {
		return 0, nil
	}
	head, err := s.encodeHeader(r)
	if err != nil || !bytes.HasPrefix(plain, head) || len(plain) == len(head) || plain[len(head)] != ',' {
		return 0, err
	}
	return len(head), nil
}

// insertion is a record that is inserted together with others.
type insertion struct {
	record  any
	primary []byte
	body    []byte // see PreparedRecord
	// shared is the entry that the record may share, and the scope of its pack.
	shared      entryRef
	sharedScope []byte

	entry   entryRef
	pack    *newPack // the pack whose ID is to be inserted into entry; nil if stored is complete
	stored  []byte
	size    int
	isLossy bool
}

// scopeKey returns the organization and scope of a record's pack, or nil if the record isn't stored in a pack.
func (s *untypedTable) scopeKey(primary []byte, r any) ([]byte, error) {
	if s.packScope == nil {
		return nil, nil
	}
	within := s.packScope(r)
	org, _, err := splitKey(primary)
	return slices.Concat(org, within.b), cmp.Or(err, within.err)
}

// encodeInsertions stores the records' packs and sets each record's stored bytes.
func (s *untypedTable) encodeInsertions(tx *Tx, all []*insertion) error {
	if err := tx.checkTable(&s.def, true); err != nil {
		return err
	}
	var packs []*newPack
	for _, in := range all {
		if err := s.encodeInsertion(tx, in, &packs); err != nil {
			return fmt.Errorf("%s %s: %w", s.def.name, Key{b: in.primary}, err)
		}
	}
	if err := tx.putPacks(packs); err != nil {
		return fmt.Errorf("%s: %w", s.def.name, err)
	}
	for _, in := range all {
		if in.pack == nil {
			continue
		}
		var err error
		in.entry.pack = in.pack.id
		if in.stored, err = encodeEntryRecord(s.codec.mark, in.entry, nil); err != nil {
			return err
		}
	}
	return nil
}

// encodeInsertion sets a record's stored bytes, or adds the record to the last of packs or to a new one.
func (s *untypedTable) encodeInsertion(tx *Tx, in *insertion, packs *[]*newPack) error {
	scope, err := s.scopeKey(in.primary, in.record)
	if err != nil {
		return err
	}
	if in.shared.pack != "" && bytes.Equal(scope, in.sharedScope) {
		if isShared, err := s.encodeShared(tx, in); isShared || err != nil {
			return err
		}
	}
	plain, err := s.encodeWhole(in)
	if err != nil {
		return err
	}
	in.size, in.isLossy = len(plain), bytes.Contains(plain, replacementEscape)
	if scope == nil || len(plain) > maxRecordSize {
		in.stored, err = packRecord(s.codec.mark, plain)
		return err
	}
	last := len(*packs) - 1
	if last < 0 || !bytes.Equal((*packs)[last].scope, scope) || (*packs)[last].size+len(plain) > packSize {
		*packs = append(*packs, &newPack{scope: scope})
		last++
	}
	in.pack = (*packs)[last]
	in.entry.index = len(in.pack.entries)
	in.pack.entries, in.pack.size = append(in.pack.entries, plain), in.pack.size+len(plain)
	return nil
}

// encodeShared encodes a record that shares another record's entry in a pack. It returns false if the entry's pack
// doesn't exist, for example because the transaction that wrote it failed.
func (s *untypedTable) encodeShared(tx *Tx, in *insertion) (isEncoded bool, _ error) {
	key, err := packKey(in.primary, in.shared.pack)
	if err != nil {
		return false, err
	}
	if existing, err := tx.kv.Get(packsTable, key); existing == nil || err != nil {
		return false, err
	}
	head, err := s.encodeHeader(in.record)
	if err != nil {
		return false, err
	}
	in.entry, in.isLossy = in.shared, in.isLossy || bytes.Contains(head, replacementEscape)
	in.stored, err = encodeEntryRecord(s.codec.mark, in.shared, head)
	return true, err
}

// encodeWhole returns the JSON of a record, and sets the position where its body begins.
func (s *untypedTable) encodeWhole(in *insertion) ([]byte, error) {
	in.entry = entryRef{}
	if in.body == nil {
		plain, err := s.codec.encode(in.record)
		if err == nil {
			in.entry.bodyAt, err = s.headerSize(in.record, plain)
		}
		return plain, err
	}
	head, err := s.encodeHeader(in.record)
	in.entry.bodyAt = len(head)
	return append(head[:len(head):len(head)], in.body...), err
}

// findEntry returns the entry that a stored record refers to, if any, and the size of the record's JSON.
func (s *untypedTable) findEntry(tx *Tx, primary, stored []byte, r any) (ref entryRef, size int, err error) {
	ref, header, isEntry, err := decodeEntryRecord(stored)
	if !isEntry || err != nil {
		return entryRef{}, 2 * len(stored), err
	}
	entry, err := tx.readEntry(primary, ref)
	if err == nil && header == nil {
		ref.bodyAt, err = s.headerSize(r, entry)
	}
	return ref, len(header) + len(entry) - ref.bodyAt, err
}

// InsertPrepared inserts the records in order.
func InsertPrepared[R any](tx *Tx, t *TenantTable[R], org string, all []PreparedRecord[R]) ([]*EncodedRecord[R], error) {
	s, rows := t.table.untyped, make([]*insertion, len(all))
	for i, p := range all {
		if err := t.checkTenant(org, p.Record); err != nil {
			return nil, err
		}
		k := s.key(p.Record)
		if err := s.checkKey(k); err != nil {
			return nil, err
		}
		rows[i] = &insertion{record: p.Record, primary: k.b, body: p.body}
		if w := p.SameAs; w != nil {
			rows[i].shared, rows[i].size, rows[i].isLossy = w.entry, w.size, w.isLossy
			var err error
			if rows[i].sharedScope, err = s.scopeKey(w.primary, &w.Record); err != nil {
				return nil, err
			}
		}
	}
	if err := s.encodeInsertions(tx, rows); err != nil {
		return nil, err
	}
	out := make([]*EncodedRecord[R], len(all))
	for i, in := range rows {
		if err := s.writeEncoded(tx, in.record, s.requireNew, func() ([]byte, error) { return in.stored, nil }); err != nil {
			return nil, err
		}
		out[i] = &EncodedRecord[R]{
			Record: *all[i].Record, Extra: all[i].Extra,
			primary: in.primary, stored: in.stored, entry: in.entry, size: in.size, isLossy: in.isLossy,
		}
	}
	return out, nil
}

// ScanEncoded reads all records with a prefix. A record whose stored form is in cached is not decoded again. If cached
// contains exactly these records, cached itself is returned.
func ScanEncoded[R any](tx *Tx, b TenantIndexView[R], org string, cached []*EncodedRecord[R], prefix ...any) ([]*EncodedRecord[R], error) {
	in := b.order
	within, err := in.prependTenant(org, prefix)
	if err != nil {
		return nil, err
	}
	var byKey map[string]*EncodedRecord[R]
	find := func(at int, primary []byte) *EncodedRecord[R] {
		if at < len(cached) && bytes.Equal(cached[at].primary, primary) {
			return cached[at]
		}
		if byKey == nil {
			byKey = make(map[string]*EncodedRecord[R], len(cached))
			for _, w := range cached {
				byKey[string(w.primary)] = w
			}
		}
		return byKey[string(primary)]
	}
	out, same := make([]*EncodedRecord[R], 0, len(cached)), true
	for p, err := range in.scanPairsOfRecords(tx, newScanOptions([]ScanOption{Prefix(within...)}), len(cached) == 0) {
		if err != nil {
			return nil, err
		}
		value, err := tx.kv.verifiedValue(in.tableName(), p)
		if err != nil {
			return nil, err
		}
		primary, err := primaryOfEntry(p.Key, value)
		if err != nil {
			return nil, err
		}
		stored, err := in.readBytes(tx, Key{b: primary})
		if err != nil {
			return nil, err
		}
		w := find(len(out), primary)
		if w == nil || stored == nil || !bytes.Equal(w.stored, stored) || w.isLossy {
			got, err := in.decodePair(tx, p)
			if err != nil {
				return nil, err
			}
			w = &EncodedRecord[R]{Record: *got.record.(*R), primary: bytes.Clone(primary), stored: bytes.Clone(stored)}
			if w.entry, w.size, err = in.findEntry(tx, w.primary, w.stored, got.record); err != nil {
				return nil, err
			}
		}
		same = same && len(out) < len(cached) && cached[len(out)] == w
		out = append(out, w)
	}
	if same && len(out) == len(cached) {
		return cached, nil
	}
	return out, nil
}

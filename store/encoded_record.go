package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// EncodedRecord is a record with its stored bytes. It saves decoding an unchanged record again and
// encoding equal content again. It is shared and must not be modified.
type EncodedRecord[R any] struct {
	Record R
	// Extra is data attached by its writer; nil if the record was read.
	Extra []byte

	primary, stored []byte
	body            recordBody
}

// MemorySize returns the approximate memory size in bytes.
func (w *EncodedRecord[R]) MemorySize() int {
	return len(w.primary) + len(w.stored) + len(w.Extra) + len(w.body.packed) + max(w.body.rawSize, 2*len(w.stored))
}

// recordBody is the JSON of a record after its header.
type recordBody struct {
	packed  []byte // by packRecord
	rawSize int
	sum     [sha256.Size]byte // of packed
	// lossless is false if decoding would give another record, because a text is not valid UTF-8.
	lossless bool
}

// WithSharedBody stores the bodies of records with equal content once. A record's JSON consists of a
// header, whose fields differ between records with equal content, and the body. header returns a
// struct that encodes to the beginning of the record's JSON; equal reports whether two records
// differ at most in the header. Records share bodies if scope returns the same, unless it returns "".
func WithSharedBody[R any](header func(*R) any, equal func(a, b *R) bool, scope func(*R) string) Option[R] {
	return func(t *Table[R]) {
		t.equal = equal
		t.untyped.header, t.untyped.bodyScope = func(r any) any { return header(r.(*R)) }, func(r any) string { return scope(r.(*R)) }
	}
}

// PreparedRecord is a record to be inserted, encoded as far as possible before the transaction.
type PreparedRecord[R any] struct {
	Record *R
	// SameAs is the record whose bytes it reuses, or nil if it has its own.
	SameAs *EncodedRecord[R]
	// Extra is attached to the written record.
	Extra []byte
	body  recordBody
}

// PrepareInsert encodes a record before the transaction that inserts it. Until then, only the record's
// header may change. If the content equals that of one of bodyCandidates, the bytes of that record are
// reused.
func PrepareInsert[R any](t *TenantTable[R], r *R, bodyCandidates ...*EncodedRecord[R]) (PreparedRecord[R], error) {
	for _, w := range bodyCandidates {
		if w.body.packed != nil && t.table.equal(&w.Record, r) {
			return PreparedRecord[R]{Record: r, SameAs: w, Extra: w.Extra, body: w.body}, nil
		}
	}
	b, err := t.table.untyped.encodeBody(r)
	return PreparedRecord[R]{Record: r, body: b}, err
}

// encodeBody returns the encoded body of a record, or an empty one if the record can only be encoded as a
// whole.
func (s *untypedTable) encodeBody(r any) (recordBody, error) {
	if s.header == nil || s.codec.mark != markJSON {
		return recordBody{}, nil
	}
	plain, err := s.codec.encode(r)
	if err != nil {
		return recordBody{}, fmt.Errorf("%s: %w", s.def.name, err)
	}
	head, err := s.encodeHeader(r)
	if err != nil || len(plain) > maxRecordSize || !bytes.HasPrefix(plain, head) || plain[len(head)] != ',' {
		return recordBody{}, err
	}
	rest := plain[len(head):]
	packed, err := packRecord(s.codec.mark, rest)
	if err != nil {
		return recordBody{}, nil //nolint:nilerr // encoding the whole record returns a better error
	}
	return recordBody{packed: packed, rawSize: len(rest), sum: sha256.Sum256(packed), lossless: !bytes.Contains(rest, replacementEscape)}, nil
}

// replacementEscape is how encoding/json encodes invalid UTF-8.
var replacementEscape = []byte(`\ufffd`)

// encodeHeader returns the beginning of a record's JSON, up to its body.
func (s *untypedTable) encodeHeader(r any) ([]byte, error) {
	b, err := json.Marshal(s.header(r))
	if err != nil || len(b) < 2 {
		return nil, err
	}
	return b[:len(b)-1], nil
}

// marshalWithBody returns the stored bytes of a record with an encoded body: a reference to the body
// if it is stored under bodyKey, else the whole record.
func (s *untypedTable) marshalWithBody(r any, b recordBody, bodyKey []byte) ([]byte, error) {
	if b.packed == nil {
		return s.codec.marshal(r)
	}
	head, err := s.encodeHeader(r)
	if err != nil {
		return nil, err
	}
	if bodyKey == nil || len(head)+b.rawSize > maxRecordSize {
		return s.codec.marshal(r)
	}
	return encodeSharedRecord(s.codec.mark, bodyKey, head)
}

// InsertPrepared inserts the records in order.
func InsertPrepared[R any](tx *Tx, t *TenantTable[R], org string, all []PreparedRecord[R]) ([]*EncodedRecord[R], error) {
	s, out := t.table.untyped, make([]*EncodedRecord[R], len(all))
	for i := range all {
		r := all[i].Record
		if err := t.checkTenant(org, r); err != nil {
			return nil, err
		}
		w := &EncodedRecord[R]{Record: *r, Extra: all[i].Extra, body: all[i].body}
		w.primary = s.key(r).b
		err := s.writeEncoded(tx, r, s.requireNew, func() (b []byte, err error) {
			var key []byte
			if w.body.packed != nil {
				if key, err = s.sharedBodyKey(w.primary, r, w.body); err != nil {
					return nil, err
				}
			}
			if w.stored, err = s.marshalWithBody(r, w.body, key); err == nil && key != nil && w.stored[0]&markShared != 0 {
				err = tx.putSharedBody(key, w.body)
			}
			return w.stored, err
		})
		if err != nil {
			return nil, err
		}
		out[i] = w
	}
	return out, nil
}

// ScanEncoded reads all records with a prefix. A record whose stored form is in cached is not decoded
// again; if that is true of all records, cached itself is returned.
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
	for p, err := range in.scanPairs(tx, newScanOptions([]ScanOption{Prefix(within...)})) {
		if err != nil {
			return nil, err
		}
		primary, err := tx.kv.value(in.tableName(), p)
		if err != nil {
			return nil, err
		}
		stored, err := in.readBytes(tx, Key{b: primary})
		if err != nil {
			return nil, err
		}
		w := find(len(out), primary)
		if w == nil || stored == nil || !bytes.Equal(w.stored, stored) || w.body.packed != nil && !w.body.lossless {
			got, err := in.decodePair(tx, p)
			if err != nil {
				return nil, err
			}
			w = &EncodedRecord[R]{Record: *got.record.(*R), primary: bytes.Clone(primary), stored: bytes.Clone(stored)}
		}
		same = same && len(out) < len(cached) && cached[len(out)] == w
		out = append(out, w)
	}
	if same && len(out) == len(cached) {
		return cached, nil
	}
	return out, nil
}

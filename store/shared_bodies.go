package store

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// bodiesTable holds the content of items of deliverables, once for all versions with the same
// content:
//
//	soa_items   organization, id                → mark, key of the body, header (JSON)
//	_bodies     organization, assessment, sum   → the rest of the JSON, as an s2 block
//
// An item that is changed later is written whole; its body remains until the assessment is deleted.
const bodiesTable = "_bodies"

// markShared is the flag of a record whose body is stored separately.
const markShared = 0x40

// bodiesTableDefinition registers bodiesTable with the store. It has no typed records.
type bodiesTableDefinition struct{ def tableDefinition }

func (b *bodiesTableDefinition) Name() string                 { return b.def.name }
func (b *bodiesTableDefinition) definition() *tableDefinition { return &b.def }

var bodiesDefinition = &bodiesTableDefinition{tableDefinition{name: bodiesTable, reindex: func(*Tx) error { return nil }}}

// sharedBodyKey returns the key of a separately stored body, or nil if the body is stored in its record.
func (s *untypedTable) sharedBodyKey(primary []byte, r any, b recordBody) ([]byte, error) {
	within := s.bodyScope(r)
	if within == "" || len(b.block) >= maxValue {
		return nil, nil
	}
	org, _, err := decodePart(primary)
	if err != nil {
		return nil, err
	}
	k := K(org, within, b.sum[:])
	return k.b, k.err
}

// encodeSharedRecord returns the bytes of a record whose body is stored under bodyKey.
func encodeSharedRecord(mark byte, bodyKey, header []byte) []byte {
	out := make([]byte, 0, 1+binary.MaxVarintLen16+len(bodyKey)+len(header))
	out = binary.AppendUvarint(append(out, mark|markShared), uint64(len(bodyKey)))
	return append(append(out, bodyKey...), header...)
}

// putSharedBody stores a body unless it already exists.
func (tx *Tx) putSharedBody(key []byte, b recordBody) error {
	there, err := tx.kv.Get(bodiesTable, key)
	if err != nil || there != nil {
		return err
	}
	return tx.kv.Put(bodiesTable, key, b.block)
}

// joinSharedBody returns a stored record with its body, as it would be stored without sharing, or the
// given bytes if it is complete already.
func (tx *Tx) joinSharedBody(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0]&markShared == 0 {
		return stored, nil
	}
	n, size := binary.Uvarint(stored[1:])
	if size <= 0 || n > uint64(len(stored)-1-size) {
		return nil, fmt.Errorf("%w: a truncated record with a shared body", ErrCorrupt)
	}
	key, head := stored[1+size:1+size+int(n)], stored[1+size+int(n):]
	block, err := tx.kv.Get(bodiesTable, key)
	if err != nil {
		return nil, err
	}
	if block == nil {
		return nil, fmt.Errorf("%w: the body %s of a record is missing", ErrCorrupt, Key{b: key})
	}
	long, err := s2.DecodedLen(block)
	if err != nil || long > maxRecordSize {
		return nil, fmt.Errorf("%w: a body with an invalid length", ErrCorrupt)
	}
	out := make([]byte, 1+len(head)+long)
	out[0] = stored[0] &^ markShared
	copy(out[1:], head)
	if _, err := s2.Decode(out[1+len(head):], block); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return out, nil
}

// DeleteSharedBodies deletes up to limit shared bodies of an assessment, after its records, and returns their
// number.
func DeleteSharedBodies(tx *Tx, org, assessment string, limit int) (n int, err error) {
	if err := tx.checkUsable(true); err != nil {
		return 0, err
	}
	if org == "" || assessment == "" {
		return 0, fmt.Errorf("%s: %w", bodiesTable, ErrNoTenant)
	}
	span, err := newScanOptions([]ScanOption{Prefix(org, assessment)}).toRange()
	if err != nil {
		return 0, err
	}
	for p, err := range tx.kv.Scan(bodiesTable, span) {
		if err != nil || n == limit {
			return n, err
		}
		if err := tx.kv.Delete(bodiesTable, slices.Clone(p.Key)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

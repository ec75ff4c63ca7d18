package store

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// bodiesTable holds the content of items of deliverables, once for all versions with the same
// content:
//
//	soa_items   organization, id                → mark, packed record of: key of the body, header (JSON)
//	_bodies     organization, assessment, table, sum   → packed record of the rest of the JSON
//
// Before markPacked, neither was a packed record: the first was not compressed, the second always an s2 block,
// and its key had no table.
//
// An item that is changed later is written whole; its body remains until the assessment is deleted.
const bodiesTable = "_bodies"

// markShared is the flag of a record whose body is stored separately.
const markShared = 0x40

// markPacked is the flag of a record with markShared that is stored as a packed record, like its body.
const markPacked = 0x20

// bodiesTableDefinition registers bodiesTable with the store. It has no typed records.
type bodiesTableDefinition struct{ def tableDefinition }

func (b *bodiesTableDefinition) Name() string                 { return b.def.name }
func (b *bodiesTableDefinition) definition() *tableDefinition { return &b.def }

var bodiesDefinition = &bodiesTableDefinition{tableDefinition{name: bodiesTable, reindex: func(*Tx) error { return nil }}}

// sharedBodyKey returns the key of a separately stored body, or nil if the body is stored in its record.
func (s *untypedTable) sharedBodyKey(primary []byte, r any, b recordBody) ([]byte, error) {
	within := s.bodyScope(r)
	if within == "" || len(b.packed) >= maxValue {
		return nil, nil
	}
	org, _, err := decodePart(primary)
	if err != nil {
		return nil, err
	}
	// The table's name keeps bodies that are written together beside each other, so that they fill their pages.
	k := K(org, within, s.def.name, b.sum[:])
	return k.b, k.err
}

// encodeSharedRecord returns the bytes of a record whose body is stored under bodyKey.
func encodeSharedRecord(mark byte, bodyKey, header []byte) ([]byte, error) {
	plain := make([]byte, 0, binary.MaxVarintLen16+len(bodyKey)+len(header))
	plain = append(append(binary.AppendUvarint(plain, uint64(len(bodyKey))), bodyKey...), header...)
	packed, err := packRecord(mark, plain)
	return append([]byte{mark | markShared | markPacked}, packed...), err
}

// putSharedBody stores a body unless it already exists.
func (tx *Tx) putSharedBody(key []byte, b recordBody) error {
	there, err := tx.kv.Get(bodiesTable, key)
	if err != nil || there != nil {
		return err
	}
	return tx.kv.Put(bodiesTable, key, b.packed)
}

// joinSharedBody returns a stored record with its body, as it would be stored without sharing, or the
// given bytes if it is complete already.
func (tx *Tx) joinSharedBody(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0]&markShared == 0 {
		return stored, nil
	}
	isPacked, plain := stored[0]&markPacked != 0, stored[1:]
	if isPacked {
		var err error
		if _, plain, err = unpackRecord(plain); err != nil {
			return nil, err
		}
	}
	n, size := binary.Uvarint(plain)
	if size <= 0 || n > uint64(len(plain)-size) {
		return nil, fmt.Errorf("%w: a truncated record with a shared body", ErrCorrupt)
	}
	key, head := plain[size:size+int(n)], plain[size+int(n):]
	body, err := tx.kv.Get(bodiesTable, key)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fmt.Errorf("%w: the body %s of a record is missing", ErrCorrupt, Key{b: key})
	}
	if !isPacked {
		body = append([]byte{markJSON | markCompressed}, body...)
	}
	long, err := unpackedSize(body)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, 1+len(head)+long), stored[0]&^(markShared|markPacked))
	return appendUnpacked(append(out, head...), body)
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

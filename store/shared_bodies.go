package store

import (
	"fmt"

	"github.com/scf-service/service/internal/bytereader"
)

// bodiesTable holds the content of deliverable items written by earlier versions of this program; it is now
// stored in packs (packs.go). Versions with the same content share it:
//
//	soa_items   organization, id                → mark, packed record of: key of the body, header (JSON)
//	_bodies     organization, assessment, table, sum   → packed record of the rest of the JSON
//
// Before markPacked was introduced, neither of the two was a packed record: the first was not compressed, and the
// second was always an s2 block whose key did not include the table.
const bodiesTable = "_bodies"

// markShared is the flag of a record whose body is stored separately.
const markShared = 0x40

// markPacked is a flag used along with markShared. It means that the record is stored as a packed record, like its
// body.
const markPacked = 0x20

// joinSharedBody returns a stored record with its body, as it would be stored without sharing. It returns the
// given bytes if they are already complete.
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
	in := bytereader.Reader{Data: plain}
	key := in.PrefixedBytes()
	if in.Failed {
		return nil, fmt.Errorf("%w: a record with a shared body is truncated", ErrCorrupt)
	}
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
	out := append(make([]byte, 0, 1+len(in.Data)+long), stored[0]&^(markShared|markPacked))
	return appendUnpacked(append(out, in.Data...), body)
}

package scf

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// idKind is the kind of record that an ID belongs to. The number of the kind is part of every ID, so numbers must
// never be reused.
type idKind byte

const (
	kindDomain idKind = iota + 1
	kindControl
	kindFramework
	kindRequirement
	kindMapping
)

// recordID returns the version's own UUIDv7 with its random part replaced:
//
//	bits   0–47   the version's timestamp
//	bits  48–51   7
//	bits  52–55   the kind of record
//	bits  56–63   first byte of H
//	bits  64–65   the variant, 10
//	bits  66–127  the next 62 bits of H
//
// H is the SHA-256 of the version's 16 bytes, the kind, and the parts of the record's natural key, each
// prefixed with its length in four bytes, big endian. The natural key of a domain, control or framework
// is its code. The key of a requirement consists of the framework's code and its own code, and the key
// of a mapping consists of the codes of the control, the framework and the requirement. So an ID can be
// computed from the version, and it doesn't change when mappings are added later.
func (s *Snapshot) recordID(k idKind, key ...string) uuid.UUID {
	buf := make([]byte, 0, 128)
	buf = append(buf, s.rootUUID[:]...)
	buf = append(buf, byte(k))
	for _, part := range key {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(part)))
		buf = append(buf, part...)
	}
	h := sha256.Sum256(buf)
	id := s.rootUUID
	id[6] = 0x70 | byte(k)
	copy(id[7:], h[:9])
	id[8] = id[8]&0x3f | 0x80
	return id
}

// parseIDKind returns the kind of record that an ID belongs to, or false if the ID is not from this catalog
// version.
func (s *Snapshot) parseIDKind(id uuid.UUID) (idKind, bool) {
	if [6]byte(id[:6]) != [6]byte(s.rootUUID[:6]) || id[6]>>4 != 7 {
		return 0, false
	}
	return idKind(id[6] & 0x0f), true
}

// parseVersionID parses the UUIDv7 of a version record.
func parseVersionID(s string) (uuid.UUID, error) {
	id, err := uuid.Parse(s)
	if err != nil || id.Version() != 7 || len(s) != 36 {
		return uuid.UUID{}, fmt.Errorf("catalog: version id %q is not a UUIDv7", s)
	}
	return id, nil
}

// Version holds the facts about an imported catalog that are not part of its content.
type Version struct {
	ID         string // a UUIDv7
	RootID     string // the version that the record IDs are derived from, if it is not this one
	Status     string // api.CatalogActive or api.CatalogSuperseded; empty means active
	ImportedAt time.Time
}

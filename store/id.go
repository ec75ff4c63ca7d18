package store

import (
	"sync"

	"github.com/scf-service/service/store/kv"
)

// Ids begin with the time, and records that tell of one another, as the events of an
// assessment, stand in their order. A clock that jumps back must not turn it round: an id
// is never smaller than the last one that was given, by an earlier process too.
type idGenerator struct {
	mu       sync.Mutex
	generate func() string
	lastID   string
}

var lastIDKey = K("last id")

// next is a fresh id; one above the last where the clock gives a smaller one.
func (i *idGenerator) next() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := i.generate()
	if id <= i.lastID {
		if above, ok := incrementUUID(i.lastID); ok && len(id) == len(i.lastID) {
			id = above
		}
	}
	i.lastID = max(i.lastID, id)
	return id
}

// current is the last id that was given.
func (i *idGenerator) current() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lastID
}

// counterDigits is how many of a UUID's last hexadecimal digits count on: those after the variant.
const counterDigits = 12

// incrementUUID is the next UUID; false for what is none.
func incrementUUID(id string) (string, bool) {
	if len(id) != 36 || id[14] != '7' {
		return "", false
	}
	const digits = "0123456789abcdef"
	b := []byte(id)
	for n := len(b) - 1; n >= len(b)-counterDigits; n-- {
		for d := range digits {
			if b[n] != digits[d] {
				continue
			}
			if d < len(digits)-1 {
				b[n] = digits[d+1]
				return string(b), true
			}
			b[n] = digits[0]
			break
		}
	}
	return "", false
}

// saveLastID writes down the last id, with what has it.
func (tx *Tx) saveLastID() error {
	if !tx.idIssued {
		return nil
	}
	return tx.putMeta(lastIDKey, tx.db.idGenerator.current())
}

// loadLastID goes on from the last id of an earlier process.
func (db *DB) loadLastID(k kv.KV) error {
	tx := &Tx{kv: k, db: db}
	_, err := tx.getMeta(lastIDKey, &db.idGenerator.lastID)
	return err
}

package store

import "sync"

// idGenerator issues IDs that begin with the time, so that records that refer to one another, such as the events of an
// assessment, stay in order. An ID is never smaller than the last one issued, even if the clock is set back or an
// earlier process issued the last one.
type idGenerator struct {
	mu       sync.Mutex
	generate func() string
	lastID   string
}

var lastIDKey = K("last id")

// next returns a new ID. If the clock would result in a smaller ID than the last one issued, next increments the last
// one instead.
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

// follow makes subsequent IDs greater than id.
func (i *idGenerator) follow(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lastID = max(i.lastID, id)
}

// lastIssued returns the last ID issued.
func (i *idGenerator) lastIssued() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lastID
}

// counterDigits is the number of hexadecimal digits at the end of a UUID that are used as a counter. These are the
// digits after the variant.
const counterDigits = 12

// incrementUUID returns the next UUID, or false if id is not a UUID.
func incrementUUID(id string) (next string, ok bool) {
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

// saveLastID stores the last issued ID if this transaction issued one.
func (tx *Tx) saveLastID() error {
	if !tx.idIssued || !tx.db.soleWriter { // several writers would conflict over it, and they all use the database's clock
		return nil
	}
	return tx.putMeta(lastIDKey, tx.db.idGenerator.lastIssued())
}

// loadLastID loads the last ID issued by an earlier process, so that new IDs follow it.
func (db *DB) loadLastID(tx *Tx) error {
	_, err := tx.getMeta(lastIDKey, &db.idGenerator.lastID)
	return err
}

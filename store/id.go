package store

import (
	"sync"

	"github.com/scf-service/service/store/kv"
)

// Ids begin with the time, and records that tell of one another, as the events of an
// assessment, stand in their order. A clock that jumps back must not turn it round: an id
// is never smaller than the last one that was given, by an earlier process too.
type ids struct {
	mu   sync.Mutex
	make func() string
	last string
}

var lastIDKey = K("last id")

// next is a fresh id; one above the last where the clock gives a smaller one.
func (i *ids) next() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := i.make()
	if id <= i.last {
		if above, ok := nextUUID(i.last); ok && len(id) == len(i.last) {
			id = above
		}
	}
	i.last = max(i.last, id)
	return id
}

// now is the last id that was given.
func (i *ids) now() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.last
}

// tail is how many of a UUID's last hexadecimal digits count on: those after the variant.
const tail = 12

// nextUUID is the next UUID; false for what is none.
func nextUUID(id string) (string, bool) {
	if len(id) != 36 || id[14] != '7' {
		return "", false
	}
	const digits = "0123456789abcdef"
	b := []byte(id)
	for n := len(b) - 1; n >= len(b)-tail; n-- {
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

// keepLastID writes down the last id, with what has it.
func (tx *Tx) keepLastID() error {
	if !tx.named {
		return nil
	}
	return tx.putMeta(lastIDKey, tx.db.ids.now())
}

// loadLastID goes on from the last id of an earlier process.
func (db *DB) loadLastID(k kv.KV) error {
	tx := &Tx{kv: k, db: db}
	_, err := tx.getMeta(lastIDKey, &db.ids.last)
	return err
}

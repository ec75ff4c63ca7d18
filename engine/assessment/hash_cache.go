package assessment

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// hashCache caches the items of the versions that were edited last, with the encodings that are hashed, so that
// the next edit of a version reads and encodes only what it changes. An entry is only used if the version is
// stored exactly as it was when the entry was made, because whatever changes an item also saves its version.
type hashCache struct {
	mu        sync.Mutex
	entries   []*hashedVersion // most recently used last
	size      int
	idleTrims int // since last use
}

// hashedVersion holds the items of a version.
type hashedVersion struct {
	id, stored string // the version's ID and its JSON
	items      any    // the gate's items, in order
	canonical  [][]byte
	// states are the states of the hash before every itemsPerState items.
	states [][]byte
	size   int
}

const (
	// maxHashCacheBytes limits the size of the cached encodings. The cached items take about the same amount of
	// memory again.
	maxHashCacheBytes = 32 << 20
	itemsPerState     = 32
)

// takeEntry removes and returns the entry of a version, or returns nil if there is none for the given JSON.
func (c *hashCache) takeEntry(id, stored string) *hashedVersion {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idleTrims = 0
	at := slices.IndexFunc(c.entries, func(h *hashedVersion) bool { return h.id == id })
	if at < 0 {
		return nil
	}
	h := c.evictEntry(at)
	if h.stored != stored {
		return nil
	}
	return h
}

func (c *hashCache) evictEntry(at int) *hashedVersion {
	h := c.entries[at]
	c.entries, c.size = slices.Delete(c.entries, at, at+1), c.size-h.size
	return h
}

func (c *hashCache) putEntry(h *hashedVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.IndexFunc(c.entries, func(old *hashedVersion) bool { return old.id == h.id }); at >= 0 {
		c.evictEntry(at)
	}
	c.entries, c.size = append(c.entries, h), c.size+h.size
	for c.size > maxHashCacheBytes {
		c.evictEntry(0)
	}
}

// trim clears the cache if it has not been used recently.
func (c *hashCache) trim() (trimmed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleTrims++; c.idleTrims <= maxIdleTrims || len(c.entries) == 0 {
		return false
	}
	c.entries, c.size = nil, 0
	return true
}

// saveEdited recomputes the item count and the hash of a version of which only the given items have changed, and saves
// it. stored is the JSON of the version as it was before.
func (k deliverableType[V, I]) saveEdited(tx *store.Tx, cache *hashCache, by api.Caller, v *V, stored string, changed []I) error {
	head := k.version(v)
	h := cache.takeEntry(head.ID, stored)
	var items []I
	first := 0 // the first item to hash
	if h != nil {
		items = h.items.([]I)
		first = len(items)
		for n := range changed {
			id := k.item(&changed[n]).ID
			at := slices.IndexFunc(items, func(i I) bool { return k.item(&i).ID == id })
			if at < 0 {
				h = nil
				break
			}
			h.size -= len(h.canonical[at])
			items[at], h.canonical[at] = changed[n], nil
			first = min(first, at)
		}
	}
	if h == nil {
		var err error
		if items, err = k.readItems(tx, by.OrganizationID, head.ID); err != nil {
			return err
		}
		h, first = &hashedVersion{id: head.ID, items: items, canonical: make([][]byte, len(items))}, 0
	}
	sum, err := k.hashFrom(h, items, first)
	if err != nil {
		return err
	}
	head.ItemCount, head.ContentSHA256 = len(items), sum
	if k.summarize != nil {
		k.summarize(v, items)
	}
	head.UpdatedAt = tx.Now()
	if err := k.saveVersionAndArtifact(tx, by, v); err != nil {
		return err
	}
	saved, err := k.getVersion(tx, by.OrganizationID, head.ID) // as the next edit will read it
	if err != nil {
		return err
	}
	b, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	h.stored = string(b)
	tx.AfterCommit(func() { cache.putEntry(h) })
	return nil
}

// hashFrom returns the content hash of the items of h, of which those before first have not changed since the last
// call.
func (k deliverableType[V, I]) hashFrom(h *hashedVersion, items []I, first int) (string, error) {
	hash := sha256.New()
	at := min(first/itemsPerState, max(0, len(h.states)-1)) * itemsPerState
	if at > 0 {
		if err := hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(h.states[at/itemsPerState]); err != nil {
			return "", err
		}
	}
	h.states = h.states[:at/itemsPerState]
	for ; at < len(items); at++ {
		if at%itemsPerState == 0 {
			state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
			if err != nil {
				return "", err
			}
			h.states = append(h.states, state)
		}
		if h.canonical[at] == nil {
			b, err := k.canonicalJSON(items[at])
			if err != nil {
				return "", err
			}
			h.canonical[at] = b
			h.size += len(b)
		}
		hash.Write(h.canonical[at])
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

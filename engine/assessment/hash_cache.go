package assessment

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

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

// takeEntryWith removes and returns the entry that matches, or returns nil if there is none.
func (c *hashCache) takeEntryWith(match func(*hashedVersion) bool) *hashedVersion {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, match)
	if at < 0 {
		return nil
	}
	return c.evictEntry(at)
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

// editedHash is the hash of an edited version. It is computed while the edit is being stored, because hashing a large
// version takes about as long.
type editedHash[I any] struct {
	cached *hashedVersion
	items  []I
	done   chan struct{} // closed once sum and err are set
	sum    string
	err    error

	// The rest is for an expected edit: the position of its item, and what is replaced there.
	at        int
	item      I
	canonical []byte
}

// startHash starts to compute the hash of h, of which the items before first have not changed.
func (k deliverableType[V, I]) startHash(h *hashedVersion, items []I, first int) *editedHash[I] {
	e := &editedHash[I]{cached: h, items: items, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.sum, e.err = k.hashFrom(h, items, first)
	}()
	return e
}

// positionOf returns the index of the item with this ID, or -1.
func (k deliverableType[V, I]) positionOf(items []I, id string) int {
	for n := range items {
		if k.item(&items[n]).ID == id {
			return n
		}
	}
	return -1
}

// expectEdit starts to compute the hash that a version will have if the cached state of an item is the stored one and
// nothing prevents the change, before anything is read. It returns nil if the item is not cached or would not change. The
// result must be passed to hashEdited or cancelExpected.
func (k deliverableType[V, I]) expectEdit(cache *hashCache, by api.Caller, id string, change func(*I) ([]string, error)) *editedHash[I] {
	at := -1
	h := cache.takeEntryWith(func(h *hashedVersion) bool {
		items, ok := h.items.([]I)
		if ok {
			at = k.positionOf(items, id)
		}
		return ok && at >= 0 && k.item(&items[at]).OrganizationID == by.OrganizationID
	})
	if h == nil {
		return nil
	}
	items := h.items.([]I)
	var changed I // shares nothing with the cached item
	var fields []string
	b, err := json.Marshal(items[at])
	if err == nil {
		err = json.Unmarshal(b, &changed)
	}
	if err == nil {
		fields, err = change(&changed)
	}
	if err == nil {
		markEdited(time.Time{}, by, k.item(&changed), fields)
		b, err = k.canonicalJSON(changed)
	}
	if err != nil || len(fields) == 0 {
		cache.putEntry(h)
		return nil
	}
	before, canonical := items[at], h.canonical[at]
	items[at], h.canonical[at] = changed, b
	e := k.startHash(h, items, at)
	e.at, e.item, e.canonical = at, before, canonical
	return e
}

// cancelExpected returns the entry of an edit that was not made as expected to the cache.
func (k deliverableType[V, I]) cancelExpected(cache *hashCache, e *editedHash[I]) {
	<-e.done
	h := e.cached
	e.items[e.at], h.canonical[e.at] = e.item, e.canonical
	h.states = h.states[:min(len(h.states), e.at/itemsPerState+1)]
	cache.putEntry(h)
}

// hashEdited starts to compute the hash of a version of which only the given items have changed, unless expected is
// computing it. stored is the JSON of the version as it was before.
func (k deliverableType[V, I]) hashEdited(
	tx *store.Tx, cache *hashCache, org, version, stored string, changed []I, expected *editedHash[I],
) (*editedHash[I], error) {
	if expected != nil {
		b, err := k.canonicalJSON(changed[0])
		if err == nil && len(changed) == 1 && expected.cached.stored == stored && bytes.Equal(b, expected.cached.canonical[expected.at]) {
			expected.items[expected.at] = changed[0]
			expected.cached.size += len(b) - len(expected.canonical)
			return expected, nil
		}
		k.cancelExpected(cache, expected)
	}
	h := cache.takeEntry(version, stored)
	if h == nil {
		items, err := k.readItems(tx, org, version)
		if err != nil {
			return nil, err
		}
		h = &hashedVersion{id: version, items: items, canonical: make([][]byte, len(items))}
	}
	items := h.items.([]I)
	first := len(items) // the first changed item
	for n := range changed {
		id := k.item(&changed[n]).ID
		at := k.positionOf(items, id)
		if at < 0 {
			return nil, fmt.Errorf("hashing the %s: item %s: %w", k.gate.Title(), id, store.ErrNotFound)
		}
		b, err := k.canonicalJSON(changed[n])
		if err != nil {
			return nil, err
		}
		h.size += len(b) - len(h.canonical[at])
		items[at], h.canonical[at] = changed[n], b
		first = min(first, at)
	}
	return k.startHash(h, items, first), nil
}

// saveEdited saves a version with the hash and the counts that follow from its edited items.
func (k deliverableType[V, I]) saveEdited(tx *store.Tx, cache *hashCache, by api.Caller, v *V, edited *editedHash[I]) error {
	head, h := k.version(v), edited.cached
	if k.summarize != nil {
		k.summarize(v, edited.items)
	}
	if <-edited.done; edited.err != nil {
		return edited.err
	}
	head.ItemCount, head.ContentSHA256 = len(edited.items), edited.sum
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

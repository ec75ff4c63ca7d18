package assessment

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// hashCache caches the items of the versions that were edited last, with their hashes, so that the next edit of a
// version reads and hashes only what it changes. An entry is only used if the version is stored exactly as it was when
// the entry was made, because whatever changes an item also saves its version.
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
	hashes     []itemHash
	size       int // bytes of the items' JSON when they were read
}

// maxHashCacheBytes limits the size of the cached items.
const maxHashCacheBytes = 32 << 20

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

// positionOf returns the index of the item with this ID, or -1.
func (k deliverableType[V, I]) positionOf(items []I, id string) int {
	for n := range items {
		if k.item(&items[n]).ID == id {
			return n
		}
	}
	return -1
}

// cachedVersionOf returns the ID of the cached version of an organization that an item belongs to, or "" if there is
// none.
func (k deliverableType[V, I]) cachedVersionOf(cache *hashCache, org, item string) string {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	for _, h := range cache.entries {
		items, _ := h.items.([]I)
		if at := k.positionOf(items, item); at >= 0 && k.item(&items[at]).OrganizationID == org {
			return h.id
		}
	}
	return ""
}

// hashEdited returns the items of a version of which only the given items have changed, with their hashes. stored is the
// JSON of the version as it was before.
func (k deliverableType[V, I]) hashEdited(
	tx *store.Tx, cache *hashCache, org, version, stored string, changed []I,
) (*hashedVersion, error) {
	h := cache.takeEntry(version, stored)
	if h == nil {
		items, err := k.readItems(tx, org, version)
		if err != nil {
			return nil, err
		}
		h = &hashedVersion{id: version, items: items}
		if h.hashes, h.size, err = k.hashItems(items); err != nil {
			return nil, err
		}
	}
	items := h.items.([]I)
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
		items[at], h.hashes[at] = changed[n], sha256.Sum256(b)
	}
	return h, nil
}

// saveEdited saves a version with the hash and the counts that follow from its edited items.
func (k deliverableType[V, I]) saveEdited(tx *store.Tx, cache *hashCache, by api.Caller, v *V, h *hashedVersion) error {
	head, items := k.version(v), h.items.([]I)
	if k.summarize != nil {
		k.summarize(v, items)
	}
	hash, err := k.contentHash(tx, items, h.hashes)
	if err != nil {
		return err
	}
	head.ItemCount, head.ContentSHA256 = len(items), hash
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

package assessment

import (
	"context"
	"slices"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// versionCache are versions of an assessment's deliverables as they were read or written last, so
// that the next draft decodes and encodes what changed alone. They are held against what is
// stored each time: nothing that changed meanwhile is taken from here.
type versionCache struct {
	mu      sync.Mutex
	entries []cachedVersion // the one used last at the end
	size    int
}

type cachedVersion struct {
	gate  api.Gate
	id    string
	lines any // []*store.Written of the gate's lines
	size  int
}

const (
	// maxVersionCacheBytes bounds the versions of one assessment that are kept, in bytes: those of 1,468
	// controls over 200 documents are some 70 MB, of which 55 are not held elsewhere.
	maxVersionCacheBytes = 96 << 20
	// maxCachedPerGate: the newest, and the approved one that the next deliverable builds on.
	maxCachedPerGate = 2
)

func (k *versionCache) put(v cachedVersion) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.evictFirst(func(at int) bool { return k.entries[at].id == v.id })
	sameGate := 0
	for _, one := range k.entries {
		if one.gate == v.gate {
			sameGate++
		}
	}
	if sameGate >= maxCachedPerGate {
		k.evictFirst(func(at int) bool { return k.entries[at].gate == v.gate })
	}
	k.entries, k.size = append(k.entries, v), k.size+v.size
	for k.size > maxVersionCacheBytes {
		k.evictFirst(func(int) bool { return true })
	}
}

// evictFirst forgets the first for which it is so.
func (k *versionCache) evictFirst(matches func(at int) bool) {
	for at, one := range k.entries {
		if matches(at) {
			k.entries, k.size = slices.Delete(k.entries, at, at+1), k.size-one.size
			return
		}
	}
}

func (k *versionCache) remove(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.evictFirst(func(at int) bool { return k.entries[at].id == id })
}

// latestLines is the one of a gate that was used last and, with an id, is that version.
func (k *versionCache) latestLines(gate api.Gate, id string) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range slices.Backward(k.entries) {
		if one.gate == gate && (id == "" || one.id == id) {
			return one.lines
		}
	}
	return nil
}

// cacheLines keeps a version's lines, in their order.
func (k deliverableType[V, I]) cacheLines(cache *versionCache, version string, lines []*store.EncodedRecord[I]) {
	size := 0
	for _, l := range lines {
		size += l.Size()
	}
	cache.put(cachedVersion{gate: k.gate, id: version, lines: lines, size: size})
}

// cachedLines are the lines of a version as they are remembered, in their order; with "" those of
// the version used last. None where nothing is.
func (k deliverableType[V, I]) cachedLines(cache *versionCache, version string) []*store.EncodedRecord[I] {
	lines, _ := cache.latestLines(k.gate, version).([]*store.EncodedRecord[I])
	return lines
}

// readItemsCached lists a version's items by control code, as itemsOf does, and decodes what was not
// remembered. The items are shared: nobody may write to what they point to.
func (k deliverableType[V, I]) readItemsCached(tx *store.Tx, s *Service, a *api.Assessment, version string) ([]I, error) {
	cache := &s.draftCaches.get(a.ID).versions
	lines, err := store.ScanEncoded(tx, k.items.By("version"), a.OrganizationID, k.cachedLines(cache, version), version)
	if err != nil {
		return nil, err
	}
	k.cacheLines(cache, version, lines)
	items := make([]I, len(lines))
	for n, l := range lines {
		items[n] = l.Record
	}
	return items, nil
}

// encodeItems encodes items ahead of their transaction, on all cores. Where one says what an item
// of the same control said before, it takes the bytes of that.
func (k deliverableType[V, I]) encodeItems(
	ctx context.Context,
	items []I,
	previous []*store.EncodedRecord[I],
) ([]store.PreparedRecord[I], error) {
	previousByCode := make(map[string][]*store.EncodedRecord[I], len(previous))
	for _, w := range previous {
		code := k.item(&w.Record).ControlCode
		previousByCode[code] = append(previousByCode[code], w)
	}
	out := make([]store.PreparedRecord[I], len(items))
	err := forEachParallel(ctx, len(items), func(_ context.Context, n int) (err error) {
		if out[n], err = store.PrepareInsert(k.items, &items[n], previousByCode[k.item(&items[n]).ControlCode]...); err == nil &&
			out[n].SameAs == nil {
			out[n].Extra, err = k.canonicalJSON(items[n])
		}
		return err
	})
	return out, err
}

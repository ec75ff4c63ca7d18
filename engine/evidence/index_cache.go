package evidence

import (
	"sync"

	"github.com/scf-service/service/engine/evidence/search"
)

// indexCache caches search indexes by assessment, loading them from the store on first use. Their total size is
// limited, and TrimCaches evicts unused indexes. Evicted indexes can always be rebuilt.
type indexCache struct {
	mu         sync.Mutex
	byKey      map[string]*assessmentIndex
	useCounter int // total uses of all indexes so far
}

// assessmentIndex is the search index of an assessment.
type assessmentIndex struct {
	mu    sync.Mutex
	index *search.Index

	// These fields are guarded by indexCache.mu.
	lastUse   int // value of useCounter at the last use
	idleTrims int // calls of trim since the last use
	passages  int // 0 until the index is loaded
}

const (
	// maxIndexSize limits the memory of all indexes together, in passages. The index in use is kept even if it is
	// larger. A thousand passages take about 6 MB.
	maxIndexSize = 60_000
	// minIndexSize is what an index takes in addition to its passages, about 20 kB, in passages.
	minIndexSize = 4
	// maxIdleTrims is the number of trims that an unused index survives.
	maxIdleTrims = 60
)

func (x *indexCache) getOrAddEntry(assessment string) *assessmentIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.byKey[assessment]
	if a == nil {
		a = &assessmentIndex{}
		x.byKey[assessment] = a
	}
	x.useCounter++
	a.lastUse, a.idleTrims = x.useCounter, 0
	return a
}

func (x *indexCache) remove(assessment string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byKey, assessment)
	delete(x.byKey, remoteIndexKey(assessment))
}

// recordSizeAndEvict records the size of an index and evicts the least recently used other indexes while the
// limit is exceeded. Searches running on an evicted index continue.
func (x *indexCache) recordSizeAndEvict(a *assessmentIndex, passages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.passages = passages
	for {
		total, oldest := 0, ""
		for place, other := range x.byKey {
			total += other.passages + minIndexSize
			if other != a && (oldest == "" || other.lastUse < x.byKey[oldest].lastUse) {
				oldest = place
			}
		}
		if total <= maxIndexSize || oldest == "" {
			return
		}
		delete(x.byKey, oldest)
	}
}

// evictIdle evicts indexes that have not been used for more than maxIdleTrims calls and returns the number of
// passages in them.
func (x *indexCache) evictIdle() (evicted int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for place, a := range x.byKey {
		if a.idleTrims++; a.idleTrims > maxIdleTrims {
			evicted += a.passages
			delete(x.byKey, place)
		}
	}
	return evicted
}

// TrimCaches evicts indexes that have not been used recently and returns the number of passages in them. It is
// meant to be called at a fixed interval; an index is evicted after more than maxIdleTrims calls without use.
func (s *Service) TrimCaches() (evictedPassages int) { return s.indexes.evictIdle() }

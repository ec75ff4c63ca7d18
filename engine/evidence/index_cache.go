package evidence

import (
	"sync"

	"github.com/scf-service/service/engine/evidence/search"
)

// indexCache are the search indexes by assessment, filled from the store when first needed.
// They can always be rebuilt: together they hold a bounded number of passages, and one that
// nobody asks for goes at a rest.
type indexCache struct {
	mu         sync.Mutex
	byKey      map[string]*assessmentIndex
	useCounter int // ever
}

type assessmentIndex struct {
	mu    sync.Mutex
	index *search.Index

	// These are of indexes.mu.
	lastUse   int // the use at which it was asked for last
	idleTrims int // since
	passages  int
}

const (
	// maxIndexedPassages is how many passages all indexes hold together; the one in use is kept
	// however many it holds. A thousand take about six megabytes.
	maxIndexedPassages = 60_000
	// maxIdleTrims is how many rests an index outlives.
	maxIdleTrims = 60
)

func (x *indexCache) entry(assessment string) *assessmentIndex {
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

// recordSize notes what an index holds, and lets those go that were not used longest where it is
// too much. Who searches one goes on with it.
func (x *indexCache) recordSize(a *assessmentIndex, passages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.passages = passages
	for {
		total, oldest := 0, ""
		for place, other := range x.byKey {
			total += other.passages
			if other != a && other.passages > 0 && (oldest == "" || other.lastUse < x.byKey[oldest].lastUse) {
				oldest = place
			}
		}
		if total <= maxIndexedPassages || oldest == "" {
			return
		}
		delete(x.byKey, oldest)
	}
}

// trim lets go what was not asked for since long, and tells how many passages that were.
func (x *indexCache) trim() (evicted int) {
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

// TrimCaches is told again and again at the same distance of time. It lets go indexes that were not
// asked for since maxIdleTrims of these, and tells how many passages they held.
func (s *Service) TrimCaches() int { return s.indexes.trim() }

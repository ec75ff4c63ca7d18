package evidence

import (
	"sync"

	"github.com/scf-service/service/engine/evidence/search"
)

// indexes are the search indexes by assessment, filled from the store when first needed.
// They can always be rebuilt: together they hold a bounded number of passages, and one that
// nobody asks for goes at a rest.
type indexes struct {
	mu   sync.Mutex
	of   map[string]*assessmentIndex
	uses int // ever
}

type assessmentIndex struct {
	mu    sync.Mutex
	index *search.Index

	// These are of indexes.mu.
	used     int // the use at which it was asked for last
	rests    int // since
	passages int
}

const (
	// maxIndexed is how many passages all indexes hold together; the one in use is kept
	// however many it holds. A thousand take about six megabytes.
	maxIndexed = 60_000
	// restsKept is how many rests an index outlives.
	restsKept = 60
)

func (x *indexes) slot(assessment string) *assessmentIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.of[assessment]
	if a == nil {
		a = &assessmentIndex{}
		x.of[assessment] = a
	}
	x.uses++
	a.used, a.rests = x.uses, 0
	return a
}

func (x *indexes) drop(assessment string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, assessment)
	delete(x.of, outsideIndex(assessment))
}

// filled notes what an index holds, and lets those go that were not used longest where it is
// too much. Who searches one goes on with it.
func (x *indexes) filled(a *assessmentIndex, passages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.passages = passages
	for {
		held, oldest := 0, ""
		for place, other := range x.of {
			held += other.passages
			if other != a && other.passages > 0 && (oldest == "" || other.used < x.of[oldest].used) {
				oldest = place
			}
		}
		if held <= maxIndexed || oldest == "" {
			return
		}
		delete(x.of, oldest)
	}
}

// rest lets go what was not asked for since long, and tells how many passages that were.
func (x *indexes) rest() (gone int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for place, a := range x.of {
		if a.rests++; a.rests > restsKept {
			gone += a.passages
			delete(x.of, place)
		}
	}
	return gone
}

// Rest is told again and again at the same distance of time. It lets go indexes that were not
// asked for since restsKept of these, and tells how many passages they held.
func (s *Service) Rest() int { return s.indexes.rest() }

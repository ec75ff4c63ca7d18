package assessment

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// draftCaches are what drafts read of the evidence of the last few assessments, so that the
// next draft of one reads what changed. All of it can be made again, and gives the same.
type draftCaches struct {
	mu           sync.Mutex
	byAssessment map[string]*draftCache // by assessment
	recent       []string               // the one used last at the end
}

type draftCache struct {
	mu         sync.Mutex
	key        string
	evaluation *Evaluation // nil: nothing is remembered
	idleTrims  int         // since it was last asked for; of memories.mu

	versions versionCache
}

const (
	maxDraftCaches = 2
	// maxConcurrentEvaluations is how many assessments are judged at once, each on all cores: a first draft of
	// thousands of documents takes hundreds of megabytes while it is made.
	maxConcurrentEvaluations = 2
	// maxIdleTrims is how many rests a memory outlives.
	maxIdleTrims = 60
	// maxCachedPassages bounds what one memory holds, in passages; more are read anew each time.
	maxCachedPassages = 20_000
)

// get is the memory of an assessment; a full house forgets the one not used longest.
func (m *draftCaches) get(assessment string) *draftCache {
	m.mu.Lock()
	defer m.mu.Unlock()
	cache := m.byAssessment[assessment]
	if cache == nil {
		cache = &draftCache{}
		m.byAssessment[assessment] = cache
	}
	cache.idleTrims = 0
	others := m.recent[:0]
	for _, id := range m.recent {
		if id != assessment {
			others = append(others, id)
		}
	}
	if m.recent = append(others, assessment); len(m.recent) > maxDraftCaches {
		delete(m.byAssessment, m.recent[0])
		m.recent = m.recent[1:]
	}
	return cache
}

func (m *draftCaches) remove(assessment string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byAssessment, assessment)
}

// TrimCaches is told again and again at the same distance of time. It forgets what no draft asked
// for since maxIdleTrims of these, and tells whether there was any.
func (s *Service) TrimCaches() (trimmed bool) { return s.draftCaches.trim() }

func (m *draftCaches) trim() (trimmed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, cache := range m.byAssessment {
		if cache.idleTrims++; cache.idleTrims > maxIdleTrims {
			delete(m.byAssessment, id)
			trimmed = true
		}
	}
	return trimmed
}

// DropCaches has the next draft of an assessment read all of its evidence anew, and encode all of
// its lines. It changes nothing but the time that takes.
func (s *Service) DropCaches(assessment string) { s.draftCaches.remove(assessment) }

// evaluateStored judges controls of an assessment by the evidence that is stored for it, and
// reads what it has not read before. It also tells which documents there are.
func (s *Service) evaluateStored(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	snap *scf.Snapshot,
	controls []api.Control,
	use func(*Evaluation, map[string]api.Document) error,
) error {
	m := s.draftCaches.get(a.ID)
	m.mu.Lock()
	defer m.mu.Unlock()
	embedder, err := s.evidence.Embedder(ctx, by, a.ID)
	if err != nil {
		return err
	}
	codes := make([]string, len(controls))
	for i, c := range controls {
		codes[i] = c.ID + " " + c.Code
	}
	key, err := hashJSON([]any{a.OrganizationID, snap.Version().ID, a.CustomRevision, embedder.Name(), s.today(), codes})
	if err != nil {
		return err
	}
	j := m.evaluation
	m.evaluation = nil // whatever fails below leaves nothing half read
	if j == nil || m.key != key || j.query.RemovedLen() > max(1000, j.query.Len()) {
		all, err := snap.Controls(scf.ControlFilter{})
		if err != nil {
			return err
		}
		prepared, err := PrepareControls(ctx, embedder, all, controls)
		if err != nil {
			return err
		}
		if j, err = prepared.newEvaluation(s.today()); err != nil {
			return err
		}
	}
	if err := s.evidence.RefreshQuery(ctx, by, a.ID, j.query); err != nil {
		return err
	}
	if err := j.Refresh(ctx, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	if err := use(j, j.query.Documents()); err != nil {
		return err
	}
	if j.query.Len() <= maxCachedPassages {
		j.TrimCaches()
		m.key, m.evaluation = strings.Clone(key), j
	}
	return nil
}

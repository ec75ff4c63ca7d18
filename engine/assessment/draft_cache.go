package assessment

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/leangc"
)

// draftCaches caches the analyzed evidence of the most recently drafted assessments, so that the
// next draft only has to analyze what has changed. Everything in the caches can be recomputed.
type draftCaches struct {
	mu           sync.Mutex
	byAssessment map[string]*draftCache // by assessment
	recent       []string               // most recently used last
}

// draftCache caches the evaluation and the versions of an assessment.
type draftCache struct {
	mu         sync.Mutex
	key        string
	evaluation *Evaluation // nil if nothing is cached
	idleTrims  int         // since last use; guarded by draftCaches.mu

	versions versionCache
}

const (
	maxDraftCaches = 2
	// maxConcurrentEvaluations is the number of assessments that may be evaluated at once. Each uses all
	// cores, and a first draft of thousands of documents takes hundreds of megabytes.
	maxConcurrentEvaluations = 2
	// maxIdleTrims is the number of calls of TrimCaches after which an unused cache is evicted.
	maxIdleTrims = 60
	// maxCachedPassages is the maximum number of passages per cache; passages beyond it are not cached.
	maxCachedPassages = 20_000
)

// getOrCreate returns the cache of an assessment. If it creates one and there are then too many, it
// evicts the least recently used one.
func (m *draftCaches) getOrCreate(assessment string) *draftCache {
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

// TrimCaches evicts the caches that have not been used during the last maxIdleTrims calls, and
// reports whether it evicted any. It has to be called at regular intervals.
func (s *Service) TrimCaches() (trimmed bool) {
	draftsTrimmed, hashesTrimmed := s.draftCaches.evictIdle(), s.hashes.trim()
	return draftsTrimmed || hashesTrimmed
}

// evictIdle evicts the caches that have not been used recently.
func (m *draftCaches) evictIdle() (trimmed bool) {
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

// DropCaches clears an assessment's cache, so that its next draft reads all evidence again. This
// only affects speed.
func (s *Service) DropCaches(assessment string) { s.draftCaches.remove(assessment) }

// hasEvaluation reports whether the analyzed evidence of an assessment is cached.
func (m *draftCaches) hasEvaluation(assessment string) bool {
	m.mu.Lock()
	c := m.byAssessment[assessment]
	m.mu.Unlock()
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evaluation != nil
}

// evaluateStoredEvidence evaluates controls against the stored evidence of an assessment and calls
// use with the Evaluation and the documents. resetItemID is passed to readCorrections. Only
// evidence that isn't cached is analyzed.
func (s *Service) evaluateStoredEvidence(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	snap *scf.Snapshot,
	controls []api.Control,
	reader *storedReader,
	resetItemID string,
	use func(*Evaluation, map[string]api.Document) error,
) error {
	m := s.draftCaches.getOrCreate(a.ID)
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
	translated, err := s.readTranslations(ctx, a)
	if err != nil {
		return err
	}
	key, err := hashJSON(
		[]any{a.OrganizationID, snap.Version().ID, a.CustomRevision, embedder.Name(), s.today(), codes, translated},
	)
	if err != nil {
		return err
	}
	corrections, err := s.readCorrections(ctx, a, resetItemID)
	if err != nil {
		return err
	}
	j := m.evaluation
	m.evaluation = nil // if anything below fails, no partial state is cached
	if j == nil || m.key != key || j.query.RemovedCount() > max(1000, j.query.PassageCount()) {
		defer leangc.Begin()()
		all, err := snap.Controls(scf.ControlFilter{})
		if err != nil {
			return err
		}
		prepared, err := PrepareControlsForEvaluation(ctx, embedder, all, controls)
		if err != nil {
			return err
		}
		if j, err = prepared.newEvaluation(s.judgeOptions(reader, prepared), translated); err != nil {
			return err
		}
	} else if j.reader.identity() != reader.identity() {
		j.SetReader(s.judgeOptions(reader, j.prepared).Reader)
	}
	j.SetCorrections(corrections)
	if err := s.evidence.RefreshQuery(ctx, by, a.ID, j.query); err != nil {
		return err
	}
	if err := j.Refresh(ctx, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	j.reader = reader
	if err := use(j, j.query.Documents()); err != nil {
		return err
	}
	if j.query.PassageCount() <= maxCachedPassages {
		j.ReleaseAnalyses()
		m.key, m.evaluation = strings.Clone(key), j
	}
	return nil
}

package assessment

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// memories are what drafts read of the evidence of the last few assessments, so that the
// next draft of one reads what changed. All of it can be made again, and gives the same.
type memories struct {
	mu     sync.Mutex
	of     map[string]*memory // by assessment
	recent []string           // the one used last at the end
}

type memory struct {
	mu      sync.Mutex
	key     string
	judging *Judging // nil: nothing is remembered
	rests   int      // since it was last asked for; of memories.mu

	keeps keeps
}

const (
	maxMemories = 2
	// maxJudging is how many assessments are judged at once, each on all cores: a first draft of
	// thousands of documents takes hundreds of megabytes while it is made.
	maxJudging = 2
	// restsKept is how many rests a memory outlives.
	restsKept = 60
	// maxRemembered bounds what one memory holds, in passages; more are read anew each time.
	maxRemembered = 20_000
)

// get is the memory of an assessment; a full house forgets the one not used longest.
func (m *memories) get(assessment string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.of[assessment]
	if one == nil {
		one = &memory{}
		m.of[assessment] = one
	}
	one.rests = 0
	kept := m.recent[:0]
	for _, id := range m.recent {
		if id != assessment {
			kept = append(kept, id)
		}
	}
	if m.recent = append(kept, assessment); len(m.recent) > maxMemories {
		delete(m.of, m.recent[0])
		m.recent = m.recent[1:]
	}
	return one
}

func (m *memories) drop(assessment string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, assessment)
}

// Rest is told again and again at the same distance of time. It forgets what no draft asked
// for since restsKept of these, and tells whether there was any.
func (s *Service) Rest() (forgot bool) { return s.memories.rest() }

func (m *memories) rest() (forgot bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, one := range m.of {
		if one.rests++; one.rests > restsKept {
			delete(m.of, id)
			forgot = true
		}
	}
	return forgot
}

// Forget has the next draft of an assessment read all of its evidence anew, and encode all of
// its lines. It changes nothing but the time that takes.
func (s *Service) Forget(assessment string) { s.memories.drop(assessment) }

// judgeStored judges controls of an assessment by the evidence that is stored for it, and
// reads what it has not read before. It also tells which documents there are.
func (s *Service) judgeStored(ctx context.Context, by api.Caller, a *api.Assessment, snap *scf.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error {
	m := s.memories.get(a.ID)
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
	j := m.judging
	m.judging = nil // whatever fails below leaves nothing half read
	if j == nil || m.key != key || j.standing.Gone() > max(1000, j.standing.Len()) {
		all, err := snap.Controls(scf.ControlFilter{})
		if err != nil {
			return err
		}
		asked, err := Ask(ctx, embedder, all, controls)
		if err != nil {
			return err
		}
		if j, err = asked.judge(s.today()); err != nil {
			return err
		}
	}
	if err := s.evidence.Refresh(ctx, by, a.ID, j.standing); err != nil {
		return err
	}
	if err := j.Begin(ctx, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	if err := use(j, j.standing.Documents()); err != nil {
		return err
	}
	if j.standing.Len() <= maxRemembered {
		j.Rest()
		m.key, m.judging = strings.Clone(key), j
	}
	return nil
}

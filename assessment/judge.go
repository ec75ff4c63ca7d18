package assessment

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scf-service/service/analyst"
	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence"
)

// finder lets the analyst search one assessment.
type finder struct{ session *evidence.Session }

func (f finder) Find(ctx context.Context, query string, topK int) ([]analyst.Passage, error) {
	hits, err := f.session.Find(ctx, query, topK)
	if err != nil {
		return nil, err
	}
	out := make([]analyst.Passage, len(hits))
	for i, h := range hits {
		out[i] = passageOf(&h.Chunk, &h.Document)
		out[i].Score, out[i].Semantic, out[i].Keyword = h.Score, h.Semantic, h.Keyword
	}
	return out, nil
}

func passageOf(c *api.Chunk, d *api.Document) analyst.Passage {
	return analyst.Passage{
		ChunkID: c.ID, DocumentID: d.ID, DocumentTitle: d.Title, Filename: d.Filename, Category: d.Category, HeadingPath: c.HeadingPath,
		Kind: c.Kind, Locator: c.Locator, Text: c.Text, SHA256: c.SHA256, Effective: d.EffectiveDate,
	}
}

// Asked is what controls ask of evidence, made ready for one embedder. It knows no evidence.
type Asked struct {
	docket *analyst.Docket
	scale  *evidence.Scale
}

// Ask makes some controls ready. What a word is worth comes from all controls of their
// catalog, so that a control is judged the same whichever others are.
func Ask(ctx context.Context, m *evidence.Model, catalog, some []api.Control) (*Asked, error) {
	ground := m.Background()
	docket, err := analyst.NewDocket(ctx, some, &analyst.Meaning{Embed: m.Embed, Mean: float64(ground.Mean), Deviation: float64(ground.Deviation)}, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	texts, err := docket.Asks(ctx, catalog, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	return &Asked{docket, evidence.NewScale(m, texts)}, nil
}

// Judging judges the controls that were asked for by the evidence of one collection.
type Judging struct {
	*analyst.Ledger
	standing *evidence.Standing
}

// judged is how many passages are looked at for each statement.
const judged = 20

// judge returns a Judging without evidence.
func (a *Asked) judge(today api.Date) (*Judging, error) {
	questions := make([]evidence.Question, len(a.docket.Questions()))
	for i, q := range a.docket.Questions() {
		questions[i] = evidence.Question(q)
	}
	standing, err := evidence.NewStanding(a.scale, questions, judged)
	if err != nil {
		return nil, err
	}
	return &Judging{analyst.NewLedger(a.docket, source{standing}, analyst.Options{Today: today}), standing}, nil
}

// Over returns a Judging by the evidence of a session that is not an assessment's as stored.
func (a *Asked) Over(ctx context.Context, session *evidence.Session, today api.Date) (*Judging, error) {
	j, err := a.judge(today)
	if err != nil {
		return nil, err
	}
	if err := session.Stand(j.standing); err != nil {
		return nil, err
	}
	return j, j.Begin(ctx, runtime.GOMAXPROCS(0))
}

// source lets the analyst ask a Standing.
type source struct{ *evidence.Standing }

func (s source) Best(question int) []analyst.Found {
	best := s.Standing.Best(question)
	out := make([]analyst.Found, len(best))
	for i, b := range best {
		out[i] = analyst.Found{Number: b.Slot, Score: b.Score}
	}
	return out
}

func (s source) Passage(number int) analyst.Passage {
	c, d := s.At(number)
	return passageOf(&c, &d)
}

func (s source) Documents() []string { return slices.Sorted(maps.Keys(s.Standing.Documents())) }

func (s source) PassagesOf(document string) []int { return s.Slots(document) }

// today is the day the rules judge by.
func (s *Service) today() api.Date { return api.DateOf(s.clock()) }

// snapshot is the catalog version an assessment began with, with the organization's own
// frameworks and controls as they were then.
func (s *Service) snapshot(ctx context.Context, a *api.Assessment) (*catalog.Snapshot, error) {
	return s.catalog.For(ctx, a.OrganizationID, a.SCFVersionID, a.CustomRevision)
}

// eachControl runs work for every control on all cores, in no order; the first error ends it.
func eachControl(ctx context.Context, controls []api.Control, work func(ctx context.Context, n int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(controls)) {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(controls) || ctx.Err() != nil {
					return
				}
				if err := work(ctx, n); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

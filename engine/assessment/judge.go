package assessment

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
)

// finder lets the analyst search one assessment.
type finder struct{ session *evidence.Session }

func (f finder) Find(ctx context.Context, query string, topK int) ([]judge.Passage, error) {
	hits, err := f.session.Find(ctx, query, topK)
	if err != nil {
		return nil, err
	}
	out := make([]judge.Passage, len(hits))
	for i, h := range hits {
		out[i] = passageOf(&h.Chunk, &h.Document)
		out[i].Score, out[i].Semantic, out[i].Keyword = h.Score, h.Semantic, h.Keyword
	}
	return out, nil
}

func passageOf(c *api.Chunk, d *api.Document) judge.Passage {
	return judge.Passage{
		ChunkID: c.ID, DocumentID: d.ID, DocumentTitle: d.Title, Filename: d.Filename, Category: d.Category, HeadingPath: c.HeadingPath,
		Kind: c.Kind, Locator: c.Locator, Text: c.Text, SHA256: c.SHA256, Effective: d.EffectiveDate,
	}
}

// Asked is what controls ask of evidence, made ready for one embedder. It knows no evidence.
type Asked struct {
	docket *judge.Docket
	scale  *evidence.Scale
}

// Ask makes some controls ready. What a word is worth comes from all controls of their
// catalog, so that a control is judged the same whichever others are.
func Ask(ctx context.Context, m *evidence.Model, catalog, some []api.Control) (*Asked, error) {
	ground := m.Background()
	docket, err := judge.NewDocket(ctx, some, &judge.Meaning{Embed: m.Embed, Mean: float64(ground.Mean), Deviation: float64(ground.Deviation)}, runtime.GOMAXPROCS(0))
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
	*judge.Ledger
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
	return &Judging{judge.NewLedger(a.docket, source{standing}, judge.Options{Today: today}), standing}, nil
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

func (s source) Best(question int) []judge.Found {
	best := s.Standing.Best(question)
	out := make([]judge.Found, len(best))
	for i, b := range best {
		out[i] = judge.Found{Number: b.Slot, Score: b.Score}
	}
	return out
}

func (s source) Passage(number int) judge.Passage {
	c, d := s.At(number)
	return passageOf(&c, &d)
}

func (s source) Documents() []string { return slices.Sorted(maps.Keys(s.Standing.Documents())) }

func (s source) PassagesOf(document string) []int { return s.Slots(document) }

// today is the day the rules judge by.
func (s *Service) today() api.Date { return api.DateOf(s.clock()) }

// snapshot is the catalog version an assessment began with, with the organization's own
// frameworks and controls as they were then.
func (s *Service) snapshot(ctx context.Context, a *api.Assessment) (*scf.Snapshot, error) {
	return s.catalog.For(ctx, a.OrganizationID, a.SCFVersionID, a.CustomRevision)
}

// ofEach is what draft makes of each, in their order and without those of which it makes
// nothing; the error is that of the first that has one.
func ofEach[A, B any](ctx context.Context, all []A, draft func(*A) (B, bool, error)) ([]B, error) {
	type one struct {
		made bool
		err  error
	}
	out, is := make([]B, len(all)), make([]one, len(all))
	err := each(ctx, len(all), func(_ context.Context, n int) error {
		out[n], is[n].made, is[n].err = draft(&all[n])
		return nil
	})
	kept := out[:0]
	for n := range out {
		err = cmp.Or(err, is[n].err)
		if is[n].made {
			kept = append(kept, out[n])
		}
	}
	return kept, err
}

// each runs work for every number below many on all cores, in no order; the first error ends it.
func each(ctx context.Context, many int, work func(ctx context.Context, n int) error) error {
	return judge.Each(ctx, many, runtime.GOMAXPROCS(0), work)
}

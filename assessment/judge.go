package assessment

import (
	"context"
	"runtime"
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
		out[i] = analyst.Passage{
			ChunkID: h.Chunk.ID, DocumentID: h.Document.ID, DocumentTitle: h.Document.Title, Filename: h.Document.Filename,
			Category: h.Document.Category, HeadingPath: h.Chunk.HeadingPath, Kind: h.Chunk.Kind, Locator: h.Chunk.Locator, Text: h.Chunk.Text,
			SHA256: h.Chunk.SHA256, Effective: h.Document.EffectiveDate, Score: h.Score, Semantic: h.Semantic, Keyword: h.Keyword,
		}
	}
	return out, nil
}

// meaning lets the analyst compare sentences by the embedder of the assessment.
func meaning(session *evidence.Session) *analyst.Meaning {
	g := session.Background()
	return &analyst.Meaning{Embed: session.Embed, Mean: float64(g.Mean), Deviation: float64(g.Deviation)}
}

// Judging is a session of the rules over the documents of an evidence session.
func Judging(session *evidence.Session, today api.Date) *analyst.Session {
	return analyst.NewSession(finder{session}, analyst.Options{Today: today, Meaning: meaning(session)})
}

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

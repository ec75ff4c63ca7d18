package evidence

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// outside is the embedder of a model elsewhere, where one is chosen. Documents are read
// with the built-in one, always; the other's vectors come after, in the background:
//
//	document read ──▶ wake ──▶ embed what has none ──▶ store ──▶ index of the other embedder
//	                              │ away: again after a while
//
// It serves a search where all passages of the assessment have its vectors and it answers;
// otherwise the built-in one does.
type outside struct {
	embedder embed.Embedder // nil: none is chosen
	retry    time.Duration
	wake     chan struct{}

	mu   sync.Mutex
	away error // why it could not be asked the last time
}

const (
	outsideRetry    = time.Minute
	outsideBatch    = 64
	outsidePatience = 5 * time.Second // for a search; then the built-in embedder answers
)

func newOutside(e embed.Embedder, retry time.Duration) *outside {
	if retry <= 0 {
		retry = outsideRetry
	}
	return &outside{embedder: e, retry: retry, wake: make(chan struct{}, 1)}
}

func (o *outside) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = err
}

func (o *outside) trouble() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.away
}

// embedNow has what is without vectors embedded soon.
func (o *outside) embedNow() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// embedOutside embeds what has no vector of the outside embedder, until ctx ends.
func (s *Service) embedOutside(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.embedMissing(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && s.outside.trouble() == nil {
			s.log.Warn("the embedding model can't be used now; the built-in embedder serves meanwhile", "embedder", s.outside.embedder.Name(), "error", err)
		}
		s.outside.note(err)
		again := time.NewTimer(s.outside.retry)
		if err == nil {
			again.Stop()
		}
		select {
		case <-ctx.Done():
		case <-s.outside.wake:
		case <-again.C:
		}
		again.Stop()
	}
}

// embedMissing goes through the documents that lack vectors. One whose text the model
// refuses doesn't keep the others; the first trouble is returned.
func (s *Service) embedMissing(ctx context.Context) error {
	if err := s.forgetOthers(ctx); err != nil {
		return err
	}
	var todo []store.Document
	err := s.db.View(ctx, func(tx *store.Tx) error {
		for d, err := range store.Documents.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			n, err := store.OutsideVectors.Count(tx, d.OrganizationID, d.AssessmentID, d.ID)
			if err != nil {
				return err
			}
			if d.Status == api.DocumentIngested && n < d.ChunkCount {
				todo = append(todo, d)
			}
		}
		return nil
	})
	for _, d := range todo {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one := s.embedDocument(ctx, d); one != nil && err == nil {
			err = one
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
	}
	return err
}

// forgetOthers removes the vectors of an embedder that was chosen before: questions can't
// be put to them any more.
func (s *Service) forgetOthers(ctx context.Context) error {
	for {
		left := false
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var stale []store.Vector
			for v, err := range store.OutsideVectors.AcrossTenants().Scan(tx) {
				if err != nil {
					return err
				}
				if v.Embedder == s.outside.embedder.Name() {
					break // they go by whole tables: one of the new ones means that all are
				}
				if stale = append(stale, v); len(stale) == 1000 {
					left = true
					break
				}
			}
			for _, v := range stale {
				if err := store.OutsideVectors.Delete(tx, v.OrganizationID, v.AssessmentID, v.DocumentID, v.ChunkID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !left {
			return err
		}
	}
}

// embedDocument gives the passages of a document that have none a vector.
func (s *Service) embedDocument(ctx context.Context, d store.Document) error {
	var chunks []api.Chunk
	err := s.db.View(ctx, func(tx *store.Tx) error {
		for c, err := range store.Chunks.By("document").Scan(tx, d.OrganizationID, store.Prefix(d.ID)) {
			if err != nil {
				return err
			}
			has, err := store.OutsideVectors.Has(tx, d.OrganizationID, d.AssessmentID, d.ID, c.ID)
			if err != nil {
				return err
			}
			if !has {
				chunks = append(chunks, c)
			}
		}
		return nil
	})
	n := len(chunks)
	for err == nil && len(chunks) > 0 {
		some := chunks[:min(outsideBatch, len(chunks))]
		chunks = chunks[len(some):]
		err = s.embedSome(ctx, some)
	}
	s.indexes.drop(d.AssessmentID)
	if err != nil {
		return fmt.Errorf("embedding %s: %w", d.Filename, err)
	}
	s.log.Info("embedded a document", "embedder", s.outside.embedder.Name(), "document", d.ID, "passages", n)
	return nil
}

func (s *Service) embedSome(ctx context.Context, some []api.Chunk) error {
	texts := make([]string, len(some))
	for i, c := range some {
		texts[i] = c.Text
	}
	vectors, err := s.outside.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for i, c := range some {
			// The document may have been replaced or removed meanwhile.
			now, err := store.Chunks.Get(tx, c.OrganizationID, c.ID)
			if errors.Is(err, store.ErrNotFound) || err == nil && now.SHA256 != c.SHA256 {
				continue
			}
			if err != nil {
				return err
			}
			v := store.Vector{OrganizationID: c.OrganizationID, AssessmentID: c.AssessmentID, DocumentID: c.DocumentID, ChunkID: c.ID,
				Embedder: s.outside.embedder.Name(), Values: vectors[i]}
			if err := store.OutsideVectors.Put(tx, c.OrganizationID, &v); err != nil {
				return err
			}
		}
		return nil
	})
}

// asked is a question with the index that answers it.
type asked struct {
	index    *search.Index
	vector   []float32
	embedder string
}

// ask puts a question to the outside embedder where it serves, else to the built-in one.
func (s *Service) ask(ctx context.Context, org, assessment string, builtin *embed.Model, question string) (asked, error) {
	if a, ok, err := s.askOutside(ctx, org, assessment, builtin, question); ok || err != nil {
		return a, err
	}
	ix, err := s.index(ctx, org, assessment, builtin)
	if err != nil {
		return asked{}, err
	}
	vectors, err := builtin.Embed(ctx, []string{question})
	if err != nil {
		return asked{}, err
	}
	return asked{ix, vectors[0], builtin.Name()}, nil
}

func (s *Service) askOutside(ctx context.Context, org, assessment string, builtin *embed.Model, question string) (asked, bool, error) {
	o := s.outside
	if o.embedder == nil || o.trouble() != nil {
		return asked{}, false, nil
	}
	var whole bool
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		whole, err = s.wholeOutside(tx, org, assessment)
		return err
	})
	if err != nil || !whole {
		return asked{}, false, err
	}
	limited, cancel := context.WithTimeout(ctx, outsidePatience)
	defer cancel()
	vectors, err := o.embedder.Embed(limited, []string{question})
	if err != nil {
		if ctx.Err() != nil {
			return asked{}, false, ctx.Err()
		}
		s.log.Warn("the embedding model does not answer; the built-in embedder does", "embedder", o.embedder.Name(), "error", err)
		o.note(err)
		o.embedNow() // looks whether it is back
		return asked{}, false, nil
	}
	ix, err := s.fill(ctx, org, assessment, outsideIndex(assessment), search.Options{Weight: builtin.Weight}, store.OutsideVectors)
	if errors.Is(err, search.ErrPassage) { // vectors of two lengths: the model of this name is another one now
		s.log.Warn("the passages' vectors don't fit each other; the built-in embedder answers", "embedder", o.embedder.Name(), "error", err)
		return asked{}, false, nil
	}
	if err != nil {
		return asked{}, false, err
	}
	return asked{ix, vectors[0], o.embedder.Name()}, true, nil
}

// wholeOutside reports that all passages of an assessment have vectors of the outside embedder.
func (s *Service) wholeOutside(tx *store.Tx, org, assessment string) (bool, error) {
	passages, err := store.Chunks.By("assessment").Count(tx, org, assessment)
	if err != nil || passages == 0 {
		return false, err
	}
	embedded, err := store.OutsideVectors.Count(tx, org, assessment)
	if err != nil || embedded != passages {
		return false, err
	}
	for v, err := range store.OutsideVectors.Scan(tx, org, store.Prefix(assessment)) {
		return err == nil && v.Embedder == s.outside.embedder.Name(), err
	}
	return false, nil
}

// outsideIndex is where the index of the outside embedder stands.
func outsideIndex(assessment string) string { return assessment + " outside" }

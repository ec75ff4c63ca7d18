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

// remoteEmbedder embeds with a remote model, if one is configured. Documents are always embedded
// with the built-in embedder; the remote vectors follow in the background:
//
//	document read ──▶ wake ──▶ test the model ──▶ embed missing vectors ──▶ store ──▶ index of the remote embedder
//	                              │ unavailable: retry later
//	                              │ refused: not used
//
// It serves a search if the model is available and all passages of the assessment have its vectors; otherwise the
// built-in embedder does. If the model is on another machine, it receives nothing from assessments that forbid this.
type remoteEmbedder struct {
	embedder embed.Embedder // nil if none is configured
	retry    time.Duration
	wake     chan struct{}
	testing  chan struct{} // capacity 1: held while the model is tested

	mu         sync.Mutex
	lastErr    error        // why the last request failed, or why the model was rejected
	acceptedAt time.Time    // when the model was last confirmed to be the one with this score
	score      *embed.Score // the model's score in the test; nil if unknown
}

const (
	defaultRemoteRetry = time.Minute
	remoteBatchSize    = 64
	remoteQueryTimeout = 5 * time.Second // for a search; after that, the built-in embedder is used
)

func newRemoteEmbedder(e embed.Embedder, retry time.Duration) *remoteEmbedder {
	if retry <= 0 {
		retry = defaultRemoteRetry
	}
	return &remoteEmbedder{embedder: e, retry: retry, wake: make(chan struct{}, 1), testing: make(chan struct{}, 1)}
}

func (o *remoteEmbedder) setError(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lastErr = err
}

func (o *remoteEmbedder) lastError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastErr
}

// wakeWorker wakes the worker that embeds passages without remote vectors.
func (o *remoteEmbedder) wakeWorker() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// runRemoteEmbedding embeds passages that have no remote vector until ctx is done.
func (s *Service) runRemoteEmbedding(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.refreshRemoteVectors(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && s.remote.lastError() == nil {
			s.log.Warn(
				"the embedding model can't be used; using the built-in model instead",
				"embedder",
				s.remote.embedder.Name(),
				"error",
				err,
			)
		}
		s.remote.setError(err)
		again := time.NewTimer(s.remote.retry)
		if err == nil {
			again.Stop()
		}
		select {
		case <-ctx.Done():
		case <-s.remote.wake:
		case <-again.C:
		}
		again.Stop()
	}
}

// refreshRemoteVectors embeds the documents that lack remote vectors. If the model rejects a document, it
// continues with the others and returns the first error.
func (s *Service) refreshRemoteVectors(ctx context.Context) error {
	// Delete the vectors of a previously configured embedder, because questions
	// can no longer be embedded with it.
	if err := s.deleteRemoteVectors(ctx, func(v *store.Vector) bool { return v.Embedder != s.remote.embedder.Name() }); err != nil {
		return err
	}
	if err := s.testRemoteEmbedderIfNeeded(ctx); err != nil {
		return err
	}
	s.remote.setError(nil)
	var todo []store.Document
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		for d, err := range store.Documents.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			n, err := store.ExternalVectors.Count(tx, d.OrganizationID, d.AssessmentID, d.Passages().Key())
			if err != nil {
				return err
			}
			if d.Status == api.DocumentIngested && n < d.ChunkCount {
				todo = append(todo, d)
			}
		}
		todo, _, err = s.remote.splitBanned(tx, todo)
		return err
	})
	for _, d := range todo {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one := s.embedDocumentRemotely(ctx, d); one != nil && err == nil {
			err = one
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
	}
	return err
}

// deleteRemoteVectors deletes all remote vectors if the first one is stale, because all vectors in
// the table come from the same embedder.
func (s *Service) deleteRemoteVectors(ctx context.Context, isStale func(*store.Vector) bool) error {
	for {
		more, assessments := false, map[string]bool{}
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var stale []store.Vector
			for v, err := range store.ExternalVectors.AcrossTenants().Scan(tx) {
				if err != nil {
					return err
				}
				if !isStale(&v) {
					break
				}
				if stale = append(stale, v); len(stale) == 1000 {
					more = true
					break
				}
			}
			for _, v := range stale {
				if err := store.ExternalVectors.Delete(tx, v.OrganizationID, v.AssessmentID, v.DocumentID, v.ChunkID); err != nil {
					return err
				}
				assessments[v.AssessmentID] = true
			}
			return nil
		})
		for a := range assessments {
			s.indexes.remove(a)
		}
		if err != nil || !more {
			return err
		}
	}
}

// embedDocumentRemotely embeds the passages of a document that have no remote vector yet.
func (s *Service) embedDocumentRemotely(ctx context.Context, d store.Document) error {
	var chunks []api.Chunk
	err := s.db.View(ctx, func(tx *store.Tx) error {
		all, err := readPassages(tx, &d)
		if err != nil {
			return err
		}
		for _, c := range all {
			has, err := store.ExternalVectors.Has(tx, d.OrganizationID, d.AssessmentID, d.Passages().Key(), c.ID)
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
		some := chunks[:min(remoteBatchSize, len(chunks))]
		chunks = chunks[len(some):]
		err = s.embedBatchRemotely(ctx, some)
	}
	s.indexes.remove(d.AssessmentID)
	if err != nil {
		return fmt.Errorf("embedding %s: %w", d.Filename, err)
	}
	s.log.Info("embedded a document", "embedder", s.remote.embedder.Name(), "document", d.ID, "passages", n)
	return nil
}

// embedBatchRemotely embeds passages of one assessment, unless that has been forbidden in the meantime.
func (s *Service) embedBatchRemotely(ctx context.Context, batch []api.Chunk) error {
	isBanned := false
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		isBanned, err = s.remote.isBanned(tx, batch[0].OrganizationID, batch[0].AssessmentID)
		return err
	})
	if err != nil || isBanned {
		return err
	}
	texts := make([]string, len(batch))
	for i, c := range batch {
		texts[i] = c.Text
	}
	vectors, err := s.remote.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for i, c := range batch {
			// The document may have been replaced or removed in the meantime.
			now, err := readStoredPassage(tx, c.OrganizationID, c.ID)
			if errors.Is(err, store.ErrNotFound) || err == nil && now.SHA256 != c.SHA256 {
				continue
			}
			if err != nil {
				return err
			}
			set := now.PassageSet()
			v := store.Vector{
				OrganizationID: c.OrganizationID, AssessmentID: c.AssessmentID, DocumentID: set.Key(), ChunkID: c.ID,
				Embedder: s.remote.embedder.Name(), Values: vectors[i],
			}
			if err := store.ExternalVectors.Put(tx, c.OrganizationID, &v); err != nil {
				return err
			}
		}
		return nil
	})
}

// preparedQuery is an embedded question and the index in which to search for it.
type preparedQuery struct {
	index    *search.Index
	vector   []float32
	embedder string
}

// prepareQuery embeds a question with the remote embedder if possible, and otherwise with the built-in one.
func (s *Service) prepareQuery(ctx context.Context, org, assessment string, builtin *embed.Model, question string) (preparedQuery, error) {
	if a, ok, err := s.prepareRemoteQuery(ctx, org, assessment, builtin, question); ok || err != nil {
		return a, err
	}
	ix, err := s.loadIndex(ctx, org, assessment, builtin)
	if err != nil {
		return preparedQuery{}, err
	}
	vectors, err := builtin.Embed(ctx, []string{question})
	if err != nil {
		return preparedQuery{}, err
	}
	return preparedQuery{index: ix, vector: vectors[0], embedder: builtin.Name()}, nil
}

// prepareRemoteQuery embeds a question with the remote embedder. If isPrepared is false, the
// built-in embedder must be used instead.
func (s *Service) prepareRemoteQuery(
	ctx context.Context,
	org, assessment string,
	builtin *embed.Model,
	question string,
) (query preparedQuery, isPrepared bool, _ error) {
	o := s.remote
	if o.embedder == nil || o.lastError() != nil {
		return preparedQuery{}, false, nil
	}
	complete, isBanned := false, false
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if isBanned, err = o.isBanned(tx, org, assessment); err != nil || isBanned {
			return err
		}
		complete, err = s.hasAllRemoteVectors(tx, org, assessment)
		return err
	})
	if err != nil || !complete {
		if err == nil && !isBanned {
			o.wakeWorker() // a ban may have been lifted
		}
		return preparedQuery{}, false, err
	}
	limited, cancel := context.WithTimeout(ctx, remoteQueryTimeout)
	defer cancel()
	var vectors [][]float32
	if err = s.testRemoteEmbedderIfNeeded(limited); err == nil {
		vectors, err = o.embedder.Embed(limited, []string{question})
	}
	if err != nil {
		if ctx.Err() != nil {
			return preparedQuery{}, false, ctx.Err()
		}
		s.log.Warn("the embedding model can't be used; using the built-in model instead", "embedder", o.embedder.Name(), "error", err)
		o.setError(err)
		o.wakeWorker() // check whether it is available again
		return preparedQuery{}, false, nil
	}
	// The model may turn out to be a different one, for which there are no vectors yet.
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		complete, err = s.hasAllRemoteVectors(tx, org, assessment)
		return err
	})
	if err != nil || !complete {
		o.wakeWorker()
		return preparedQuery{}, false, err
	}
	ix, err := s.loadIndexFrom(
		ctx,
		org,
		assessment,
		remoteIndexKey(assessment),
		search.Options{Weight: builtin.StemImportance},
		store.ExternalVectors,
	)
	if errors.Is(err, search.ErrPassage) { // different vector lengths: the model behind this name has changed
		s.log.Warn("the stored vectors have different lengths; using the built-in embedding model instead",
			"embedder", o.embedder.Name(), "error", err)
		return preparedQuery{}, false, nil
	}
	if err != nil {
		return preparedQuery{}, false, err
	}
	return preparedQuery{index: ix, vector: vectors[0], embedder: o.embedder.Name()}, true, nil
}

// hasAllRemoteVectors reports whether all passages of an assessment have vectors of the remote
// embedder.
func (s *Service) hasAllRemoteVectors(tx *store.Tx, org, assessment string) (bool, error) {
	var documents []store.Document
	passages := 0
	for d, err := range store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return false, err
		}
		documents, passages = append(documents, d), passages+d.ChunkCount
	}
	_, embedded, err := countVectors(tx, documents, store.ExternalVectors, s.remote.embedder.Name())
	return passages > 0 && embedded == passages, err
}

// remoteIndexKey returns the cache key of the remote embedder's index.
func remoteIndexKey(assessment string) string { return assessment + " outside" }

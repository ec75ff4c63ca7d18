package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/internal/vecmath"
	"github.com/scf-service/service/store"
)

// acceptance is the stored result of testing the remote embedder. The test is repeated if another
// model may be using its name, or if the test has changed.
type acceptance struct {
	Embedder string
	Digest   string    // of the model's weights; "" if the server doesn't report it
	Sample   []float32 // vector of the first question of the test
	Test     string    // hash of its questions
	Score    embed.Score
}

const (
	// acceptanceSetting is the name of the setting that holds the acceptance.
	acceptanceSetting = "embedder_acceptance"
	// acceptanceTTL is how long the model behind the remote embedder's name is assumed to be unchanged.
	acceptanceTTL = time.Minute
	// acceptanceWait is how long the status request waits for the test to finish.
	acceptanceWait = 2 * time.Second
	// minSampleCosine is the minimum similarity of two vectors of the same text from the same
	// model, which may differ because of rounding.
	minSampleCosine = 0.99
)

// errRefused is wrapped by the error for a remote embedder that failed the test.
var errRefused = errors.New("the embedding model was rejected")

// digester is implemented by embedders that know the digest of their model's weights.
type digester interface {
	Digest(ctx context.Context) (string, error)
}

// testRemoteEmbedderIfNeeded tests the remote embedder unless the stored result still applies. The
// error wraps errRefused if the embedder failed the test; otherwise, it comes from the embedder or
// the store. If the model behind the name has changed, the old model's vectors are deleted.
func (s *Service) testRemoteEmbedderIfNeeded(ctx context.Context) error {
	o := s.remote
	select {
	case o.testing <- struct{}{}:
		defer func() { <-o.testing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if at, score := o.acceptedScore(); score != nil && s.clock().Sub(at) < acceptanceTTL {
		return refusalIfTooWeak(o.embedder, *score)
	}
	now, err := s.identifyRemoteModel(ctx)
	if err != nil {
		return err
	}
	old, err := s.readAcceptance(ctx)
	if err != nil {
		return err
	}
	isSameModel := old.Embedder == now.Embedder && len(old.Sample) == len(now.Sample) &&
		vecmath.Dot(old.Sample, now.Sample) >= minSampleCosine
	if now.Score = old.Score; !isSameModel || old.Digest != now.Digest || old.Test != now.Test {
		if now.Score, err = embed.Test(ctx, o.embedder); err != nil {
			return err
		}
		if !isSameModel {
			err = s.deleteRemoteVectors(ctx, func(*store.Vector) bool { return true })
		}
		if err = errors.Join(err, s.writeAcceptance(ctx, &now)); err != nil {
			return err
		}
		s.log.Info("tested the embedding model", "embedder", now.Embedder, "digest", now.Digest, "score", float64(now.Score))
	}
	o.setAcceptedScore(s.clock(), now.Score)
	return refusalIfTooWeak(o.embedder, now.Score)
}

// testRemoteEmbedderOrWait tests the remote embedder if it hasn't been tested since the start, or waits a moment for a
// running test.
func (s *Service) testRemoteEmbedderOrWait(ctx context.Context) {
	if _, score := s.remote.acceptedScore(); score != nil || s.remote.lastError() != nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, acceptanceWait)
	defer cancel()
	if err := s.testRemoteEmbedderIfNeeded(limited); err != nil && limited.Err() == nil {
		s.remote.setError(err)
	}
}

// refusalIfTooWeak returns an error if the embedder's score is too low, and nil otherwise.
func refusalIfTooWeak(e embed.Embedder, score embed.Score) error {
	if score >= embed.MinScore {
		return nil
	}
	return fmt.Errorf("%w: %s scored %s in a test of %d questions, but at least %s is required (random vectors score about 50%%); "+
		"choose a model trained for search, such as ollama/nomic-embed-text, or the built-in model",
		errRefused, e.Name(), score, len(embed.Questions()), embed.MinScore)
}

// identifyRemoteModel returns an acceptance without a score, which identifies the model currently in use.
func (s *Service) identifyRemoteModel(ctx context.Context) (acceptance, error) {
	questions := embed.Questions()
	hash := sha256.New()
	for _, q := range questions {
		hash.Write([]byte(q.Text + "\t" + q.Answer + "\n"))
	}
	now := acceptance{Embedder: s.remote.embedder.Name(), Test: hex.EncodeToString(hash.Sum(nil))}
	var err error
	if d, ok := s.remote.embedder.(digester); ok {
		if now.Digest, err = d.Digest(ctx); err != nil {
			return now, err
		}
	}
	vectors, err := s.remote.embedder.Embed(ctx, []string{questions[0].Text})
	if err != nil {
		return now, err
	}
	now.Sample = vectors[0]
	return now, nil
}

// readAcceptance returns the stored acceptance, or an empty one if there is none.
func (s *Service) readAcceptance(ctx context.Context) (out acceptance, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		setting, err := store.Settings.Get(tx, acceptanceSetting)
		if err != nil {
			return ignoreMissing(err)
		}
		if json.Unmarshal([]byte(setting.Value), &out) != nil {
			out = acceptance{} // stored by another version, so the test is repeated
		}
		return nil
	})
	return out, err
}

func (s *Service) writeAcceptance(ctx context.Context, a *acceptance) error {
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return store.Settings.Put(tx, &store.Setting{Name: acceptanceSetting, Value: string(value)})
	})
}

func (o *remoteEmbedder) acceptedScore() (at time.Time, score *embed.Score) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acceptedAt, o.score
}

func (o *remoteEmbedder) setAcceptedScore(at time.Time, score embed.Score) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acceptedAt, o.score = at, &score
}

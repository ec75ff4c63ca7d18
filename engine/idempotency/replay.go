// Package replay keeps the answers to requests that carry an idempotency key, so that
// a request which is sent again, because its answer was lost, is done once.
//
// An answer may hold a secret that is shown once. It is sealed with a key made from
// the idempotency key, of which only a hash is kept: the store can't open it, and
// whoever sends the request again can.
package idempotency

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const (
	// kept is how long an answer can be had again.
	kept = 24 * time.Hour
	// maxKey bounds an idempotency key.
	maxKey = 255
)

// Request names a request that must be done once.
type Request struct {
	OrganizationID string
	Operation      string
	Key            string
	// Fingerprint is the hash of all that makes the request what it is: who sends it, path, query, body.
	Fingerprint string
}

// Answer is what was answered to it.
type Answer struct {
	Status   int    `json:"status"`
	Location string `json:"location"`
	Type     string `json:"type"`
	Body     []byte `json:"body"`
}

// Service keeps answers.
type Service struct {
	db *store.DB

	mu sync.Mutex
	// busy are the requests at work in this process; each channel closes when its request is done.
	busy map[string]chan struct{}
}

// New makes the service.
func New(db *store.DB) *Service { return &Service{db: db, busy: map[string]chan struct{}{}} }

// CheckKey refuses what is no idempotency key.
func CheckKey(key string) error {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return api.Invalid(api.IdempotencyHeader, "an idempotency key is visible ASCII")
		}
	}
	if len(key) == 0 || len(key) > maxKey {
		return api.Invalid(api.IdempotencyHeader, "an idempotency key has 1 to %d characters", maxKey)
	}
	return nil
}

// Begin says what to do with a request. With an answer, it was done before: answer
// that. Without, do it, and call done with what came of it: nil forgets the request,
// so that it can be tried again. The same request that is at work is waited for.
func (s *Service) Begin(ctx context.Context, r Request) (before *Answer, done func(*Answer) error, err error) {
	if err := CheckKey(r.Key); err != nil {
		return nil, nil, err
	}
	name := r.OrganizationID + "\x00" + r.Operation + "\x00" + r.Key
	for {
		s.mu.Lock()
		other := s.busy[name]
		if other == nil {
			s.busy[name] = make(chan struct{})
			s.mu.Unlock()
			break
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	release := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.busy[name])
		delete(s.busy, name)
	}
	before, err = s.claim(ctx, r)
	if err != nil || before != nil {
		release()
		return before, nil, err
	}
	return nil, func(a *Answer) error {
		defer release()
		return s.finish(context.WithoutCancel(ctx), r, a)
	}, nil
}

// claim writes down that the request is at work, or finds what was written before.
func (s *Service) claim(ctx context.Context, r Request) (before *Answer, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		have, err := store.Replays.Get(tx, r.OrganizationID, r.Operation, hashOf(r.Key))
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !tx.Now().Before(have.ExpiresAt):
			return store.Replays.Put(tx, &store.Replay{OrganizationID: r.OrganizationID, Operation: r.Operation, Secret: hashOf(r.Key),
				Fingerprint: r.Fingerprint, ExpiresAt: tx.Now().Add(kept)})
		case err != nil:
			return err
		case have.Fingerprint != r.Fingerprint:
			return api.Invalid(api.IdempotencyHeader, "this idempotency key was used for another request; take a fresh one")
		case !have.Done:
			return api.Conflict("a request with this idempotency key was begun and its end is not known: look whether it was done, and send it again with a fresh key if not")
		}
		before, err = open(have.Sealed, r.Key)
		return err
	})
	return before, err
}

func (s *Service) finish(ctx context.Context, r Request, a *Answer) error {
	var sealed []byte
	if a != nil {
		var err error
		if sealed, err = seal(*a, r.Key); err != nil {
			return err
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		have, err := store.Replays.Get(tx, r.OrganizationID, r.Operation, hashOf(r.Key))
		if err != nil {
			return fmt.Errorf("the request's own record: %w", err)
		}
		if a == nil {
			return store.Replays.Delete(tx, r.OrganizationID, r.Operation, hashOf(r.Key))
		}
		have.Done, have.Sealed = true, sealed
		return store.Replays.Update(tx, &have)
	})
}

// Sweep deletes the answers that are too old.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for r, err := range store.Replays.By("expiry").Scan(tx) {
			if err != nil {
				return err
			}
			if tx.Now().Before(r.ExpiresAt) {
				break
			}
			if err := store.Replays.Delete(tx, r.OrganizationID, r.Operation, r.Secret); err != nil {
				return err
			}
		}
		return nil
	})
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte("name of " + key))
	return hex.EncodeToString(sum[:])
}

func sealer(key string) (cipher.AEAD, error) {
	sum := sha256.Sum256([]byte("seal of " + key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func seal(a Answer, key string) ([]byte, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, b, nil), nil
}

func open(sealed []byte, key string) (*Answer, error) {
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	b, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("opening a kept answer: %w", err)
	}
	a := &Answer{}
	return a, json.Unmarshal(b, a)
}

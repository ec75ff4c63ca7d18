// Package idempotency keeps the answers to requests that carry an idempotency key, so that
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
	// retention is how long an answer can be had again.
	retention = 24 * time.Hour
	// maxKeyLength bounds an idempotency key.
	maxKeyLength = 255
)

// Request names a request that must be done once.
type Request struct {
	OrganizationID string
	Operation      string
	Key            string
	// Fingerprint is the hash of all that makes the request what it is: who sends it, path, query, body.
	Fingerprint string
}

// Response is what was answered to it.
type Response struct {
	Status   int    `json:"status"`
	Location string `json:"location"`
	Type     string `json:"type"`
	Body     []byte `json:"body"`
}

// Service keeps answers.
type Service struct {
	db *store.DB

	mu sync.Mutex
	// inProgress are the requests at work in this process; each channel closes when its request is done.
	inProgress map[string]chan struct{}
}

// New makes the service.
func New(db *store.DB) *Service { return &Service{db: db, inProgress: map[string]chan struct{}{}} }

// CheckKey refuses what is no idempotency key.
func CheckKey(key string) error {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return api.Invalid(api.IdempotencyHeader, "an idempotency key is visible ASCII")
		}
	}
	if len(key) == 0 || len(key) > maxKeyLength {
		return api.Invalid(api.IdempotencyHeader, "an idempotency key has 1 to %d characters", maxKeyLength)
	}
	return nil
}

// Begin says what to do with a request. With an answer, it was done before: answer
// that. Without, do it, and call done with what came of it: nil forgets the request,
// so that it can be tried again. The same request that is at work is waited for.
func (s *Service) Begin(ctx context.Context, r Request) (recorded *Response, finish func(*Response) error, err error) {
	if err := CheckKey(r.Key); err != nil {
		return nil, nil, err
	}
	name := r.OrganizationID + "\x00" + r.Operation + "\x00" + r.Key
	for {
		s.mu.Lock()
		other := s.inProgress[name]
		if other == nil {
			s.inProgress[name] = make(chan struct{})
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
		close(s.inProgress[name])
		delete(s.inProgress, name)
	}
	recorded, err = s.claim(ctx, r)
	if err != nil || recorded != nil {
		release()
		return recorded, nil, err
	}
	return nil, func(a *Response) error {
		defer release()
		return s.finish(context.WithoutCancel(ctx), r, a)
	}, nil
}

// claim writes down that the request is at work, or finds what was written before.
func (s *Service) claim(ctx context.Context, r Request) (recorded *Response, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		have, err := store.IdempotentReplies.Get(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !tx.Now().Before(have.ExpiresAt):
			return store.IdempotentReplies.Put(tx, &store.IdempotentReply{
				OrganizationID: r.OrganizationID, Operation: r.Operation, Secret: hashKey(r.Key),
				Fingerprint: r.Fingerprint, ExpiresAt: tx.Now().Add(retention),
			})
		case err != nil:
			return err
		case have.Fingerprint != r.Fingerprint:
			return api.Invalid(api.IdempotencyHeader, "this idempotency key was used for another request; take a fresh one")
		case !have.Done:
			return api.Conflict(
				"a request with this idempotency key was begun and its end is not known: look whether it was done, and send it again with a fresh key if not",
			)
		}
		recorded, err = openResponse(have.Sealed, r.Key)
		return err
	})
	return recorded, err
}

func (s *Service) finish(ctx context.Context, r Request, a *Response) error {
	var sealed []byte
	if a != nil {
		var err error
		if sealed, err = sealResponse(*a, r.Key); err != nil {
			return err
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		have, err := store.IdempotentReplies.Get(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		if err != nil {
			return fmt.Errorf("the request's own record: %w", err)
		}
		if a == nil {
			return store.IdempotentReplies.Delete(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		}
		have.Done, have.Sealed = true, sealed
		return store.IdempotentReplies.Update(tx, &have)
	})
}

// Sweep deletes the answers that are too old.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for r, err := range store.IdempotentReplies.By("expiry").Scan(tx) {
			if err != nil {
				return err
			}
			if tx.Now().Before(r.ExpiresAt) {
				break
			}
			if err := store.IdempotentReplies.Delete(tx, r.OrganizationID, r.Operation, r.Secret); err != nil {
				return err
			}
		}
		return nil
	})
}

func hashKey(key string) string {
	sum := sha256.Sum256([]byte("name of " + key))
	return hex.EncodeToString(sum[:])
}

func newAEAD(key string) (cipher.AEAD, error) {
	sum := sha256.Sum256([]byte("seal of " + key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func sealResponse(a Response, key string) ([]byte, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, b, nil), nil
}

func openResponse(sealed []byte, key string) (*Response, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	b, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("opening a kept answer: %w", err)
	}
	a := &Response{}
	return a, json.Unmarshal(b, a)
}

// Package idempotency stores the responses to requests with an idempotency key, so that a request
// that is repeated because its response was lost is executed only once.
//
// A response may contain a secret that is shown once. It is encrypted with a key derived from the
// idempotency key, of which only a hash is stored: the store can't decrypt it, but whoever repeats
// the request can.
package idempotency

import (
	"cmp"
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
	// retention is how long a response is stored, counted from the start of the request.
	retention = 24 * time.Hour
	// maxKeyLength is the maximum length of an idempotency key.
	maxKeyLength = 255
)

// Request identifies a request that must be executed at most once.
type Request struct {
	OrganizationID string
	Operation      string
	Key            string
	// Fingerprint is the hash of everything that defines the request: its sender, path, query and
	// body.
	Fingerprint string
}

// Response is the stored response to a request.
type Response struct {
	Status   int    `json:"status"`
	Location string `json:"location"`
	Type     string `json:"type"`
	Body     []byte `json:"body"`
}

// Service stores the responses to requests with idempotency keys, so that a repeated request gets the same
// response.
type Service struct {
	db *store.DB

	mu sync.Mutex
	// inProgress holds the requests running in this process; each channel is closed when its request is done.
	inProgress map[string]chan struct{}
}

// New returns a Service.
func New(db *store.DB) *Service { return &Service{db: db, inProgress: map[string]chan struct{}{}} }

// CheckKey returns an error for an invalid idempotency key.
func CheckKey(key string) error {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return api.Invalid(api.IdempotencyHeader, "an idempotency key must consist of visible ASCII characters")
		}
	}
	if len(key) == 0 || len(key) > maxKeyLength {
		return api.Invalid(api.IdempotencyHeader, "an idempotency key must have 1 to %d characters", maxKeyLength)
	}
	return nil
}

// Begin starts a request or finds its recorded response. If recorded is not nil, the caller must
// return it to the client. Otherwise, the caller must execute the request and call finish with its
// response, or with nil to forget the request so that it can be retried. Begin waits for an
// identical request in progress.
func (s *Service) Begin(ctx context.Context, r Request) (recorded *Response, finish func(*Response) error, err error) {
	if err := CheckKey(r.Key); err != nil {
		return nil, nil, err
	}
	name := r.OrganizationID + "\x00" + r.Operation + "\x00" + r.Key
	for {
		s.mu.Lock()
		running := s.inProgress[name]
		if running == nil {
			s.inProgress[name] = make(chan struct{})
			s.mu.Unlock()
			break
		}
		s.mu.Unlock()
		select {
		case <-running:
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
	recorded, err = s.claimOrGetRecorded(ctx, r)
	for errors.Is(err, errInProgressElsewhere) {
		if err = s.waitForOthers(ctx); err == nil {
			recorded, err = s.claimOrGetRecorded(ctx, r)
		}
	}
	if err != nil || recorded != nil {
		release()
		return recorded, nil, err
	}
	return nil, func(a *Response) error {
		defer release()
		return s.storeOrForgetResponse(context.WithoutCancel(ctx), r, a)
	}, nil
}

// errInProgressElsewhere is the error of claimOrGetRecorded if another process is executing the same request.
var errInProgressElsewhere = errors.New("another process is executing this request")

// inProgressKey returns the key by which processes that share a database detect that one of them is already
// executing the request.
func (r Request) inProgressKey() string {
	return "request " + hashKey(r.OrganizationID+"\x00"+r.Operation+"\x00"+r.Key)
}

// waitForOthers waits until another process has changed the database, but for no longer than a
// second.
func (s *Service) waitForOthers(ctx context.Context) error {
	select {
	case <-s.db.Changed():
		return nil
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// claimOrGetRecorded records that a request is in progress, or returns its response if it was already
// executed.
func (s *Service) claimOrGetRecorded(ctx context.Context, r Request) (recorded *Response, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		stored, err := store.IdempotentReplies.Get(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !tx.Now().Before(stored.ExpiresAt):
			if _, err := tx.Claim(r.inProgressKey()); err != nil {
				return err
			}
			return store.IdempotentReplies.Put(tx, &store.IdempotentReply{
				OrganizationID: r.OrganizationID, Operation: r.Operation, Secret: hashKey(r.Key),
				Fingerprint: r.Fingerprint, ExpiresAt: tx.Now().Add(retention),
			})
		case err != nil:
			return err
		case stored.Fingerprint != r.Fingerprint:
			return api.Invalid(api.IdempotencyHeader, "this idempotency key was used for another request; use a new one")
		case !stored.Done:
			if elsewhere, err := tx.IsClaimedElsewhere(r.inProgressKey()); err != nil || elsewhere {
				return cmp.Or(err, errInProgressElsewhere)
			}
			return api.Conflict(
				"a request with this idempotency key was started, but its outcome is unknown: check whether it was executed; if " +
					"not, send it again with a new key",
			)
		}
		recorded, err = openResponse(stored.Sealed, r.Key)
		return err
	})
	return recorded, err
}

// storeOrForgetResponse stores the encrypted response to a request or, if a is nil, deletes the
// request's record, so that it can be retried.
func (s *Service) storeOrForgetResponse(ctx context.Context, r Request, a *Response) error {
	var sealed []byte
	if a != nil {
		var err error
		if sealed, err = sealResponse(*a, r.Key); err != nil {
			return err
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		stored, err := store.IdempotentReplies.Get(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		if err != nil {
			return fmt.Errorf("reading the request's record: %w", err)
		}
		if err := tx.Release(r.inProgressKey()); err != nil {
			return err
		}
		if a == nil {
			return store.IdempotentReplies.Delete(tx, r.OrganizationID, r.Operation, hashKey(r.Key))
		}
		stored.Done, stored.Sealed = true, sealed
		return store.IdempotentReplies.Update(tx, &stored)
	})
}

// DeleteExpired deletes expired responses.
func (s *Service) DeleteExpired(ctx context.Context) error {
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
		return nil, fmt.Errorf("decrypting a stored response: %w", err)
	}
	a := &Response{}
	return a, json.Unmarshal(b, a)
}

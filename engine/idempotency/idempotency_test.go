package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/idempotency"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

type fixture struct {
	*idempotency.Service
	db  *store.DB
	dir string
	now time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{dir: t.TempDir(), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	db, err := store.Open(t.Context(), store.Options{
		Dir: b.dir, Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check, Clock: func() time.Time { return b.now },
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b.db, b.Service = db, idempotency.New(db)
	return b
}

var request = idempotency.Request{OrganizationID: "o", Operation: "create", Key: "k-1", Fingerprint: "f"}

// TestRequestRunsOnce checks that a request is executed once and its response is repeated for a
// day.
func TestRequestRunsOnce(t *testing.T) {
	b := newFixture(t)
	before, done, err := b.Begin(t.Context(), request)
	if err != nil || before != nil {
		t.Fatal(before, err)
	}
	answer := &idempotency.Response{
		Status:   201,
		Location: "/x",
		Type:     "application/json",
		Body:     []byte(`{"key":"a secret that is shown once"}`),
	}
	if err := done(answer); err != nil {
		t.Fatal(err)
	}
	before, _, err = b.Begin(t.Context(), request)
	if err != nil || before == nil || before.Status != 201 || before.Location != "/x" || !bytes.Equal(before.Body, answer.Body) {
		t.Fatalf("%+v, %v", before, err)
	}
	other := request
	other.Fingerprint = "g"
	if _, _, err := b.Begin(t.Context(), other); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("another request with the key: %v", err)
	}
	for _, free := range []idempotency.Request{
		{OrganizationID: "p", Operation: "create", Key: "k-1"},
		{OrganizationID: "o", Operation: "delete", Key: "k-1"},
	} {
		if before, done, err := b.Begin(t.Context(), free); err != nil || before != nil || done(nil) != nil {
			t.Errorf("%+v: %v, %v", free, before, err)
		}
	}
	// No file of the store contains the secret.
	err = filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		bytesOf, err := os.ReadFile(path)
		if bytes.Contains(bytesOf, []byte("a secret that is shown once")) || bytes.Contains(bytesOf, []byte("k-1")) {
			t.Errorf("%s holds the answer or its key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(24 * time.Hour)
	if before, done, err := b.Begin(t.Context(), other); err != nil || before != nil || done(nil) != nil {
		t.Errorf("a day later: %+v, %v", before, err)
	}
}

// TestFailedAndInterruptedRequests checks that a failed request can be retried and that an
// interrupted one is reported as such.
func TestFailedAndInterruptedRequests(t *testing.T) {
	b := newFixture(t)
	for range 2 {
		before, done, err := b.Begin(t.Context(), request)
		if err != nil || before != nil {
			t.Fatal(before, err)
		}
		if err := done(nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := b.Begin(t.Context(), request); err != nil { // the process dies here
		t.Fatal(err)
	}
	again := idempotency.New(b.db)
	if _, _, err := again.Begin(t.Context(), request); !api.IsCode(err, api.CodeInvalidState) {
		t.Errorf("after a crash: %v", err)
	}
	b.now = b.now.Add(25 * time.Hour)
	if err := again.DeleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = b.db.View(t.Context(), func(tx *store.Tx) error {
		if n, err := store.IdempotentReplies.Count(tx); n != 0 || err != nil {
			t.Errorf("%d are left, %v", n, err)
		}
		return nil
	})
}

// TestConcurrentRequestWaits checks that a request waits for an identical one in progress until its
// context ends.
func TestConcurrentRequestWaits(t *testing.T) {
	b := newFixture(t)
	_, done, err := b.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.Begin(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away: %v", err)
	}
	got := make(chan *idempotency.Response)
	go func() {
		before, _, err := b.Begin(context.Background(), request)
		if err != nil {
			t.Error(err)
		}
		got <- before
	}()
	if err := done(&idempotency.Response{Status: 200}); err != nil {
		t.Fatal(err)
	}
	if before := <-got; before == nil || before.Status != 200 {
		t.Errorf("%+v", before)
	}
}

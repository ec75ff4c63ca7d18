// Package enginetest opens an engine on an empty folder for tests, with the real store and real
// files, not fakes.
package enginetest

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/smtptest"
	"github.com/scf-service/service/store"
)

// NewID returns an ID of the kind the program uses.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Logger returns a logger that writes warnings and errors to standard error.
func Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// New returns a started engine that is closed at the end of the test; change can modify its
// options.
func New(t testing.TB, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	db, err := store.Open(
		ctx,
		store.Options{Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: time.Now, NewID: NewID, Logger: Logger()},
	)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{
		DB:         db,
		Logger:     Logger(),
		Clock:      time.Now,
		Version:    "test",
		CacheDir:   CacheDir(t),
		LocalName:  "Ada Auditor",
		LocalEmail: "ada@local",
		Box:        secretbox.NewInMemory(secretbox.Key{}),
		MailServer: MailServer(t),
		Networks:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
	for _, c := range change {
		c(&o)
	}
	e, err := engine.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// sharedMailServer is a mail server shared by all tests of a process; it discards all mails.
var sharedMailServer = sync.OnceValues(func() (*smtptest.Server, error) { return smtptest.Start(smtptest.Options{NoTLS: true}) })

// MailServer returns the shared mail server as an engine option.
func MailServer(t testing.TB) *mail.Server {
	t.Helper()
	s, err := sharedMailServer()
	if err != nil {
		t.Fatal(err)
	}
	server, err := mail.ParseServer("smtp://"+s.Addr+"?tls=none", "grc@acme.example", "")
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// CacheDir returns a folder that keeps the compiled PDF reader between tests.
func CacheDir(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "scf-service-test")
}

// Package enginetest opens an engine on an empty folder for tests, with the real store and real
// files, not fakes.
package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/smtptest"
	"github.com/scf-service/service/internal/testutil/testdir"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	"github.com/scf-service/service/store/postgres"
)

// NewID returns an ID of the kind the program uses.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// WarningLogger returns a logger that writes warnings and errors to standard error.
func WarningLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// StoreVariable is the environment variable that makes tests use a PostgreSQL database if it is "postgres".
const StoreVariable = "SERVICE_TEST_STORE"

// OnPostgres reports whether tests use a PostgreSQL database, so that those of the files in a data folder can skip.
func OnPostgres() bool { return os.Getenv(StoreVariable) == "postgres" }

// NewDatabaseURL returns the URL of a new PostgreSQL database, or "" if tests use data folders.
func NewDatabaseURL(t testing.TB) string {
	t.Helper()
	if !OnPostgres() {
		return ""
	}
	return postgrestest.NewURL(t)
}

// New returns a started engine that is closed at the end of the test; change can modify its
// options.
func New(t testing.TB, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	return NewOn(t, OnPostgres(), change...)
}

// NewOn works like New on a new schema of a PostgreSQL database, or on a data folder.
func NewOn(t testing.TB, onPostgres bool, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	o := store.Options{
		Dir:         t.TempDir(),
		Schema:      store.ServiceSchema,
		CheckUpdate: updatelimit.Check,
		Clock:       time.Now,
		NewID:       NewID,
		Logger:      WarningLogger(),
	}
	if err := writePreparedFiles(o.Dir); err != nil {
		t.Fatal(err)
	}
	if onPostgres {
		moveToPostgres(t, &o)
	}
	db, err := store.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, db, change...)
}

// moveToPostgres changes the options to use a copy of their data folder on PostgreSQL. Updates
// aren't counted there, because the wrapper that counts them would hide the driver's ability to
// read ahead from the store.
func moveToPostgres(t testing.TB, o *store.Options) (url string) {
	t.Helper()
	url = postgrestest.NewURL(t)
	driver, err := postgres.Open(t.Context(), postgres.Options{URL: url, Logger: o.Logger})
	if err != nil {
		t.Fatal(err)
	}
	from := o.Dir
	o.Dir, o.Driver, o.CheckUpdate = t.TempDir(), driver, nil
	_, err = store.Copy(t.Context(), store.CopyOptions{
		From: store.Place{Dir: from}, To: store.Place{Dir: o.Dir, Driver: driver}, Clock: o.Clock, NewID: o.NewID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// NewPair returns two engines on one PostgreSQL database and one folder of files, like two daemons
// that share them, on machines whose clocks are 5 minutes apart.
func NewPair(t testing.TB) (first, second *engine.Engine) {
	t.Helper()
	all := NewGroup(t, 2)
	return all[0], all[1]
}

// NewGroup works like NewPair for n engines. Each machine's clock is 5 minutes ahead of the previous one's.
func NewGroup(t testing.TB, n int) []*engine.Engine {
	t.Helper()
	o := store.Options{Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: time.Now, NewID: NewID, Logger: WarningLogger()}
	if err := writePreparedFiles(o.Dir); err != nil {
		t.Fatal(err)
	}
	url := moveToPostgres(t, &o)
	if err := o.Driver.Close(); err != nil {
		t.Fatal(err)
	}
	engines := make([]*engine.Engine, n)
	for i := range engines {
		ahead := time.Duration(i) * 5 * time.Minute
		driver, err := postgres.Open(t.Context(), postgres.Options{
			URL: url, Logger: o.Logger, Clock: func() time.Time { return time.Now().Add(ahead) },
		})
		if err != nil {
			t.Fatal(err)
		}
		o.Driver, o.Clock = driver, driver.Now
		db, err := store.Open(context.WithoutCancel(t.Context()), o)
		if err != nil {
			t.Fatal(err)
		}
		engines[i] = start(t, db, func(o *engine.Options) { o.Clock = driver.Now })
	}
	return engines
}

func start(t testing.TB, db *store.DB, change ...func(*engine.Options)) *engine.Engine {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	o := engine.Options{
		DB:         db,
		Logger:     WarningLogger(),
		Clock:      time.Now,
		Version:    "test",
		CacheDir:   CacheDir(t),
		Build:      EmbedderSourceHash(t),
		LocalName:  "Ada Auditor",
		LocalEmail: "ada@local",
		WeakHashes: true,
		Box:        secretboxtest.New(secretbox.Key{}),
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

// prepared holds the files of a data folder with nothing but the starter catalog imported, by their
// path in it. It is created once per process, because importing the catalog takes most of the time
// of opening an engine on an empty folder.
var prepared = sync.OnceValues(func() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "service-prepared-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx := context.Background()
	db, err := store.Open(
		ctx,
		store.Options{
			Dir:         dir,
			Schema:      store.ServiceSchema,
			CheckUpdate: updatelimit.Check,
			Clock:       time.Now,
			NewID:       NewID,
			Logger:      WarningLogger(),
		},
	)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, engine.Options{DB: db, Logger: WarningLogger(), Clock: time.Now, Version: "test"}) // imports it
	if err == nil {
		err = e.Close()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	files = map[string][]byte{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name], err = os.ReadFile(path)
		}
		return err
	})
	return files, err
})

// writePreparedFiles writes the prepared files into an empty data folder.
func writePreparedFiles(dir string) error {
	files, err := prepared()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600))
	}
	return err
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

// EmbedderSourceHash returns a hash of the source code that trains the embedder. It is used to train the
// embedder of the starter catalog only once per machine, and again when that code changes.
func EmbedderSourceHash(t testing.TB) string {
	t.Helper()
	build, err := trainerHash()
	if err != nil {
		t.Fatal(err)
	}
	return build
}

var trainerHash = sync.OnceValues(func() (string, error) {
	root, err := testdir.ModuleRoot()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOARCH)
	for _, part := range []string{"go.sum", "internal/controltext", "engine/evidence/embed"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			fmt.Fprintf(h, "%s %d\n%s", d.Name(), len(b), b)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// CacheDir returns a folder in which the compiled PDF reader and the trained embedder are kept between tests.
func CacheDir(t testing.TB) string {
	t.Helper()
	return testdir.CacheFolder(t.TempDir())
}

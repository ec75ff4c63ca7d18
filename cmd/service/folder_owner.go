package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
	"github.com/scf-service/service/web"
)

// checkUpdate is set by tests to limit how much a transaction may write.
var checkUpdate func(store.UpdateStats) error

// folderOwner gives this process and, over the folder's socket, other commands access to the data folder that this
// process has opened.
type folderOwner struct {
	handler http.Handler
	server  *daemon.Server
	db      *store.DB
	engine  *engine.Engine
	socket  *socketServer // nil if no socket could be created

	// requests is read-locked by each request and locked permanently by Close, so that the store is
	// never closed during a request.
	requests sync.RWMutex
	closed   bool

	// process is the information other commands get about this process.
	process atomic.Pointer[cli.Process]
	// logLevel is the adjustable log level of a daemon; nil in other commands.
	logLevel atomic.Pointer[slog.LevelVar]
	log      *slog.Logger
}

// openFolder opens the store, starts the engine on it, and serves it on the socket for other
// commands on the same folder. It uses only the network-related fields of web.
func openFolder(
	ctx context.Context,
	dir, socket string,
	at storage,
	log *slog.Logger,
	embedder embedderConfig,
	web daemon.Options,
) (*folderOwner, error) {
	ocrEngine, err := newOCR()
	if err != nil {
		return nil, err
	}
	db, clock, err := at.open(ctx, dir, log)
	if err != nil {
		return nil, err
	}
	mind, limits, err := loadAgentModel(dir)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	networks, err := allowedWebhookNetworks()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	server, err := mailServer(os.Getenv)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	name, email := systemUser()
	// The engine outlives the command's context, so that running work ends cleanly on Ctrl-C.
	lasting := context.WithoutCancel(ctx)
	chosen, err := embedder.newEmbedder(os.Getenv)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	eng, err := engine.New(
		lasting,
		engine.Options{
			DB:             db,
			Logger:         log,
			Clock:          clock,
			Version:        programVersion(),
			CacheDir:       cacheDir(),
			Build:          buildID(),
			OCR:            ocrEngine,
			Embedder:       chosen,
			Box:            secretbox.New(&secretKeys{dir: dir, env: os.Getenv, keyring: contexts.SystemKeyring(os.Getenv)}),
			Networks:       networks,
			MailServer:     server,
			PublicURL:      cmp.Or(web.PublicURL, os.Getenv("SERVICE_PUBLIC_URL")),
			ReportFont:     loadReportFont,
			InstalledFonts: installedFonts,
			Model:          mind,
			ModelLimits:    limits,
			Network:        loadNetwork,
			Tracer:         web.Tracer,
			LocalName:      name,
			LocalEmail:     email,
		},
	)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	o := &folderOwner{db: db, engine: eng, log: log}
	o.process.Store(&cli.Process{PID: os.Getpid(), Version: programVersion(), Data: dir, Listen: []string{}, StartedAt: time.Now().UTC()})
	web.Engine, web.Logger, web.Clock, web.NewID = eng, log, clock, newID
	o.server, err = daemon.New(web)
	if err == nil {
		err = eng.Start(lasting)
	}
	if err != nil {
		return nil, errors.Join(err, eng.Close(), db.Close())
	}
	o.handler = o.rejectWhenClosed(o.server.LocalHandler())
	// This process works without a socket, too; others then wait for the folder.
	if o.socket, err = serveSocket(socket, o.withProcessEndpoints(o.handler), log); err != nil {
		log.Warn("other commands can't connect to this process", "error", err)
	}
	return o, nil
}

// storeOptions returns the options of a store in dir.
func storeOptions(dir string, log *slog.Logger) store.Options {
	return store.Options{
		Dir: dir, Schema: store.ServiceSchema, Clock: time.Now, NewID: newID, LockTimeout: time.Millisecond, Logger: log,
		CheckUpdate: checkUpdate,
	}
}

// rejectWhenClosed rejects requests once the folder is closed.
func (o *folderOwner) rejectWhenClosed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.requests.RLock()
		defer o.requests.RUnlock()
		if o.closed {
			w.Header().Set("Retry-After", "5")
			if strings.Contains(r.Header.Get("Accept"), "text/html") {
				web.WriteStopping(w, r)
				return
			}
			http.Error(w, "the program is shutting down", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// newID returns a new UUID of version 7, which begins with the current time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// Close waits for other commands' requests, and then closes the engine and the store.
func (o *folderOwner) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), maxRequestWait)
	defer cancel()
	return o.close(ctx)
}

// close works like Close, but aborts requests when ctx ends.
func (o *folderOwner) close(ctx context.Context) error {
	var err error
	o.engine.StopStreams()
	if o.socket != nil {
		err = o.socket.close(ctx)
	}
	o.requests.Lock()
	o.closed = true
	o.requests.Unlock()
	return errors.Join(err, o.engine.Close(), o.db.Close())
}

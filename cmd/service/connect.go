package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/client"
	"github.com/scf-service/service/store"
)

// connect decides how a command reaches an engine: the server it names; else the
// process that has this data folder open, over its socket; else a store of its own.
func connect(ctx context.Context, target cli.Target) (*client.Client, func() error, error) {
	if target.Server != "" {
		c, err := client.New(client.Options{BaseURL: target.Server, Token: target.Token, Organization: target.Organization})
		return c, func() error { return nil }, err
	}
	dir := target.Data
	if dir == "" {
		dir = dataDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	local := &localEngine{dir: dir, log: logger()}
	if err := local.attach(ctx); err != nil {
		return nil, nil, err
	}
	c, err := client.New(client.Options{Transport: local, Organization: target.Organization})
	if err != nil {
		return nil, nil, errors.Join(err, local.Close())
	}
	return c, local.Close, nil
}

func logger() *slog.Logger {
	level := slog.LevelError
	if v := os.Getenv("SERVICE_LOG"); v != "" {
		_ = level.UnmarshalText([]byte(v)) // an unknown level keeps the default
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// localEngine carries requests to whoever has the data folder open: another
// process over its socket, or this one in memory. When the other process ends,
// this one takes over and the request goes on.
type localEngine struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	through http.RoundTripper
	close   func() error
}

// openTimeout is how long to wait for a process that holds the folder but does not answer yet.
const openTimeout = 15 * time.Second

// attach finds the process that has the folder open, or opens it.
func (l *localEngine) attach(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attachLocked(ctx)
}

func (l *localEngine) attachLocked(ctx context.Context) error {
	deadline := time.Now().Add(openTimeout)
	socket := socketPath(l.dir)
	for {
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket); err == nil {
			_ = conn.Close()
			l.through, l.close = client.Socket(socket), func() error { return nil }
			return nil
		}
		own, err := openOwn(ctx, l.dir, socket, l.log)
		if err == nil {
			l.through, l.close = client.InMemory(own.handler), own.Close
			return nil
		}
		if !errors.Is(err, store.ErrLocked) || time.Now().After(deadline) {
			return explainOpen(l.dir, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func explainOpen(dir string, err error) error {
	switch {
	case errors.Is(err, store.ErrLocked):
		return fmt.Errorf("another process has the data folder %s open and does not answer; end it, or choose another folder with --data: %w", dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, store.ErrReadOnly):
		return fmt.Errorf("the data folder %s can't be written; choose another with --data or SERVICE_DATA: %w", dir, err)
	}
	return fmt.Errorf("opening the data folder %s: %w", dir, err)
}

// RoundTrip sends a request. One that met nobody was not sent, and is sent again
// once the folder is attached anew.
func (l *localEngine) RoundTrip(req *http.Request) (*http.Response, error) {
	l.mu.Lock()
	through := l.through
	l.mu.Unlock()
	resp, err := through.RoundTrip(req)
	if err == nil || !nobodyThere(err) || (req.Body != nil && req.GetBody == nil) {
		return resp, err
	}
	l.mu.Lock()
	if l.through == through {
		err = l.attachLocked(req.Context())
	} else {
		err = nil
	}
	through = l.through
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return through.RoundTrip(again)
}

func nobodyThere(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// Close lets go of the folder.
func (l *localEngine) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.close == nil {
		return nil
	}
	return l.close()
}

// own is the folder opened by this process.
type own struct {
	handler http.Handler
	db      *store.DB
	engine  *engine.Engine
	server  *http.Server
	served  chan struct{}

	// requests is held by each request, and by Close for good: the store closes under none.
	requests sync.RWMutex
	closed   bool
}

// openOwn opens the store, starts the engine on it, and serves it on the socket
// meanwhile, for other commands on the same folder.
func openOwn(ctx context.Context, dir, socket string, log *slog.Logger) (*own, error) {
	db, err := store.Open(ctx, store.Options{Dir: dir, Schema: store.Tables, Clock: time.Now, NewID: newID, LockTimeout: 200 * time.Millisecond, Logger: log})
	if err != nil {
		return nil, err
	}
	name, email := localPerson()
	// The engine outlives the command's context: what was begun ends well on Ctrl-C.
	lasting := context.WithoutCancel(ctx)
	eng, err := engine.New(lasting, engine.Options{DB: db, Logger: log, Clock: time.Now, Version: programVersion(), CacheDir: cacheDir(), LocalName: name, LocalEmail: email})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	o := &own{db: db, engine: eng, served: make(chan struct{})}
	srv, err := daemon.New(daemon.Options{Engine: eng, Logger: log, Clock: time.Now, NewID: newID})
	if err == nil {
		err = eng.Start(lasting)
	}
	if err != nil {
		return nil, errors.Join(err, eng.Close(), db.Close())
	}
	o.handler = o.guard(srv.LocalHandler())
	o.listen(socket, log)
	return o, nil
}

// guard refuses requests once the folder is let go of.
func (o *own) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.requests.RLock()
		defer o.requests.RUnlock()
		if o.closed {
			http.Error(w, "the program is ending", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// listen serves the socket. Without one this process still works; others then wait for the file lock.
func (o *own) listen(socket string, log *slog.Logger) {
	_ = os.Remove(socket) // left by a process that was killed: the store's lock says nobody is there
	old := umask(0o177)
	l, err := net.Listen("unix", socket)
	umask(old)
	if err != nil {
		log.Warn("other commands can't join this one", "error", err)
		close(o.served)
		return
	}
	o.server = &http.Server{Handler: o.handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(o.served)
		if err := o.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the socket stopped", "error", err)
		}
	}()
}

// Close finishes the requests of other commands, then the engine, then the store.
func (o *own) Close() error {
	var err error
	if o.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err = o.server.Shutdown(ctx); err != nil {
			err = errors.Join(err, o.server.Close())
		}
	}
	<-o.served
	o.requests.Lock()
	o.closed = true
	o.requests.Unlock()
	return errors.Join(err, o.engine.Close(), o.db.Close())
}

// localPerson is the person whose machine it is, as the operating system knows them.
func localPerson() (name, email string) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	u, err := user.Current()
	if err != nil {
		return "local user", "local@" + host
	}
	name = strings.TrimSpace(strings.TrimRight(u.Name, ","))
	if name == "" {
		name = u.Username
	}
	return name, u.Username + "@" + host
}

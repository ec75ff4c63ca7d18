package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/engine/client"
	"github.com/scf-service/service/store"
)

// own is the folder opened by this process.
type own struct {
	handler http.Handler
	db      *store.DB
	engine  *engine.Engine
	server  *http.Server
	served  chan struct{}
	socket  string

	// requests is held by each request, and by Close for good: the store closes under none.
	requests sync.RWMutex
	closed   bool
}

// openOwn opens the store, starts the engine on it, and serves it on the socket
// meanwhile, for other commands on the same folder.
func openOwn(ctx context.Context, dir, socket string, log *slog.Logger) (*own, error) {
	db, err := store.Open(ctx, store.Options{Dir: dir, Schema: store.Tables, Clock: time.Now, NewID: newID, LockTimeout: time.Millisecond, Logger: log})
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
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then it may be another's
	o.socket = socket
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
		o.drain()
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

// drain takes the socket away, so that no more connections are made, and waits until
// those that were made are accepted. They are accepted in the order they were made:
// once a last one of our own is answered, none is left that closing would break.
func (o *own) drain() {
	gone := o.socket + "~"
	if err := os.Rename(o.socket, gone); err != nil {
		return
	}
	defer os.Remove(gone)
	conn, err := net.DialTimeout("unix", gone, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	last, err := http.NewRequest(http.MethodGet, "http://service.local"+api.GetHealth.Path, nil)
	if err != nil {
		return
	}
	if resp, err := client.Over(conn).RoundTrip(last); err == nil {
		_ = resp.Body.Close()
	}
}

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
	"sync"
	"time"

	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/store"
)

// localEngine carries requests to whoever has the data folder open: another
// process over its socket, or this one in memory. Each request to another process
// has a connection of its own: one that stands is answered before that process
// ends. Where none can be had any more, this process takes the folder over.
type localEngine struct {
	dir string
	log *slog.Logger
	// model is for the case that this process opens the folder.
	model outside

	mu  sync.Mutex
	own *own // nil while another process has the folder open
}

const (
	// openTimeout is how long to wait for a process that holds the folder but does not answer.
	openTimeout = 15 * time.Second
	// crowdTimeout is how long to wait where the folder goes from hand to hand meanwhile.
	crowdTimeout = 2 * time.Minute
	// openPause is the time between two tries. A command may hold the folder very shortly.
	openPause = 20 * time.Millisecond
)

// attach finds the process that has the folder open, or opens it.
func (l *localEngine) attach(ctx context.Context) error {
	conn, _, err := l.reach(ctx)
	if conn != nil {
		_ = conn.Close()
	}
	return err
}

// reach is a connection to the process that has the folder open, or this one.
func (l *localEngine) reach(ctx context.Context) (net.Conn, *own, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own != nil {
		return nil, l.own, nil
	}
	socket := socketPath(l.dir)
	began := time.Now()
	deadline := began.Add(openTimeout)
	var holder os.FileInfo
	for {
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket); err == nil {
			return conn, nil, nil
		}
		err := store.ErrLocked
		if giveBack, ok := takeTurn(l.dir); ok {
			l.own, err = openOwn(ctx, l.dir, socket, l.log, l.model, daemon.Options{})
			giveBack()
		}
		if err == nil {
			return nil, l.own, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, nil, explainOpen(l.dir, err)
		}
		now := time.Now()
		if next, err := os.Stat(socket); err == nil && !sameFile(holder, next) {
			holder, deadline = next, now.Add(openTimeout) // another one has it by now
		}
		if now.After(deadline) || now.After(began.Add(crowdTimeout)) {
			return nil, nil, explainOpen(l.dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(openPause):
		}
	}
}

func sameFile(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
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

// maxTries bounds how often a request is sent whose answer broke off.
const maxTries = 5

// RoundTrip sends a request. One that only reads is sent again where the process
// that had it was killed.
func (l *localEngine) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		conn, own, err := l.reach(req.Context())
		if err != nil {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return nil, err
		}
		if own != nil {
			return client.InMemory(own.handler).RoundTrip(req)
		}
		resp, err := client.Over(conn).RoundTrip(req)
		reads := req.Method == http.MethodGet && (req.Body == nil || req.Body == http.NoBody)
		if err == nil || !reads || try == maxTries || req.Context().Err() != nil {
			return resp, err
		}
	}
}

// Close lets go of the folder.
func (l *localEngine) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		return nil
	}
	return l.own.Close()
}

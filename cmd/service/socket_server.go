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

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// socketServer is the socket at which other commands come in while this process has the
// folder open. Closing it loses nobody: who has a connection gets an answer.
type socketServer struct {
	path   string
	server *http.Server
	served chan struct{}

	mu sync.Mutex
	// pendingConns are the connections whose request has not reached the handler.
	pendingConns map[net.Conn]bool
	// connHandled is signalled when one of them has gone on.
	connHandled chan struct{}
}

type connKey struct{}

// listenSocket opens the door; it needs the store's lock.
func listenSocket(path string, h http.Handler, log *slog.Logger) (*socketServer, error) {
	_ = os.Remove(path) // left by a process that was killed: the lock says nobody is there
	old := umask(0o177)
	l, err := net.Listen("unix", path)
	umask(old)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then it may be another's
	d := &socketServer{path: path, served: make(chan struct{}), pendingConns: map[net.Conn]bool{}, connHandled: make(chan struct{}, 1)}
	d.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.pendingConns[c] = true
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(c net.Conn, s http.ConnState) {
			if s == http.StateClosed || s == http.StateHijacked {
				d.markHandled(c)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
				d.markHandled(c)
			}
			h.ServeHTTP(w, r)
		}),
	}
	go func() {
		defer close(d.served)
		if err := d.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the socket stopped", "error", err)
		}
	}()
	return d, nil
}

func (d *socketServer) markHandled(c net.Conn) {
	d.mu.Lock()
	delete(d.pendingConns, c)
	d.mu.Unlock()
	select {
	case d.connHandled <- struct{}{}:
	default:
	}
}

// maxRequestWait bounds how long closing waits for the requests of others.
const maxRequestWait = 10 * time.Minute

// close lets nobody in any more and waits, while ctx lasts, until all who are in have their answers.
func (d *socketServer) close(ctx context.Context) error {
	d.drain()
	err := d.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, d.server.Close())
	}
	<-d.served
	return err
}

// drain takes the socket away, so that no more connections are made, and waits until
// the requests of those that were made are at work: a server that is shutting down
// drops the others. Connections are accepted in the order they were made: once a last
// one of our own is answered, none is left behind it.
func (d *socketServer) drain() {
	gone := d.path + "~"
	if err := os.Rename(d.path, gone); err != nil {
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
	if resp, err := client.ConnTransport(conn).RoundTrip(last); err == nil {
		_ = resp.Body.Close()
	}
	patience := time.After(5 * time.Second) // one that sends nothing is not waited for longer
	for {
		d.mu.Lock()
		waiting := len(d.pendingConns)
		d.mu.Unlock()
		if waiting == 0 {
			return
		}
		select {
		case <-d.connHandled:
		case <-patience:
			return
		}
	}
}

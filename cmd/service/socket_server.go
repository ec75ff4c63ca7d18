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

// socketServer is the socket through which other commands communicate with this process while it is using the folder.
// Closing it drops no connection: every accepted connection receives a response.
type socketServer struct {
	path   string
	server *http.Server
	served chan struct{}

	mu sync.Mutex
	// pendingConns are the connections whose request has not reached the handler.
	pendingConns map[net.Conn]bool
	// connHandled is signaled when one of them has reached the handler.
	connHandled chan struct{}
}

type connKey struct{}

// serveSocket creates the data folder's socket and serves it. The caller must hold the store's lock.
func serveSocket(path string, h http.Handler, log *slog.Logger) (*socketServer, error) {
	_ = os.Remove(path) // the socket is stale: holding the lock proves that its process has ended
	old := umask(0o177)
	l, err := net.Listen("unix", path)
	umask(old)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then it may belong to another process
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

// markHandled records that a connection's request has reached the handler.
func (d *socketServer) markHandled(c net.Conn) {
	d.mu.Lock()
	delete(d.pendingConns, c)
	d.mu.Unlock()
	select {
	case d.connHandled <- struct{}{}:
	default:
	}
}

// maxRequestWait is the maximum time to wait, when the socket is closed, for the requests of other commands.
const maxRequestWait = 10 * time.Minute

// close stops accepting connections and waits until all accepted requests have been answered or ctx ends.
func (d *socketServer) close(ctx context.Context) error {
	d.stopAcceptingAndAwaitRequests()
	err := d.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, d.server.Close())
	}
	<-d.served
	return err
}

// stopAcceptingAndAwaitRequests removes the socket, so that no new connections are made, and waits until the requests
// of existing connections are being handled, because a server that is shutting down drops connections without a
// request. Connections are accepted in order, so once a final connection made by this process has been answered, all
// earlier ones have been accepted.
func (d *socketServer) stopAcceptingAndAwaitRequests() {
	movedPath := d.path + "~"
	if err := os.Rename(d.path, movedPath); err != nil {
		return
	}
	defer os.Remove(movedPath)
	conn, err := net.DialTimeout("unix", movedPath, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	last, err := http.NewRequest(http.MethodGet, "http://service.local"+api.GetHealth.Path, nil)
	if err != nil {
		return
	}
	if resp, err := client.OneRequestTransport(conn).RoundTrip(last); err == nil {
		_ = resp.Body.Close()
	}
	patience := time.After(5 * time.Second) // don't wait longer for a connection that sends nothing
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

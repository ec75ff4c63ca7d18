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

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/store"
)

// localTransport sends requests to the process that is using the data folder: either another process, over its socket,
// or this process, in memory. Each request to another process uses a new connection, which is served before that
// process ends. If no connection can be made, this process opens the folder itself.
type localTransport struct {
	dir     string
	log     *slog.Logger
	storage storage
	// embedder is used if this process opens the folder.
	embedder embedderConfig
	// allowShared is true if the folder may be one that other users can change.
	allowShared bool

	mu    sync.Mutex
	owner *folderOwner // nil while another process has the folder open
}

const (
	// openTimeout is the maximum time to wait for a process that has locked the folder but does not respond.
	openTimeout = 15 * time.Second
	// contentionTimeout is the maximum time to wait while several processes take turns opening the folder.
	contentionTimeout = 2 * time.Minute
	// openRetryInterval is the time between two attempts to open the folder. It is short, because a command may use
	// the folder only briefly.
	openRetryInterval = 20 * time.Millisecond
)

// newLocalTransport returns a transport for the target's data folder. The folder is opened on first use.
func newLocalTransport(target cli.Target) (*localTransport, error) {
	dir, err := resolveDataDir(target.Data)
	if err != nil {
		return nil, err
	}
	return &localTransport{
		dir: dir, storage: storage{target.Store, target.Blobs}, log: newCommandLogger(target.FullScreen),
		embedder:    embedderConfig{target.Embedder, target.EmbedderURL},
		allowShared: target.AllowSharedData,
	}, nil
}

// openOrConnect connects to the process that is using the folder or, if there is none, opens the folder.
func (l *localTransport) openOrConnect(ctx context.Context) error {
	conn, _, err := l.dialOrOpen(ctx)
	if conn != nil {
		_ = conn.Close()
	}
	return err
}

// dialOrOpen returns a connection to the process that is using the folder. If there is none, this process opens the
// folder, and the new folder owner is returned.
func (l *localTransport) dialOrOpen(ctx context.Context) (connection net.Conn, owner *folderOwner, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner != nil {
		return nil, l.owner, nil
	}
	if !l.allowShared { // before connecting, because another user could be listening on the socket
		if err := checkNotShared(l.dir); err != nil {
			return nil, nil, err
		}
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
		if release, lockErr := filelock.TryLock(l.dir); !errors.Is(lockErr, filelock.ErrLocked) {
			l.owner, err = openFolder(ctx, l.dir, socket, l.storage, l.log, l.embedder, daemon.Options{})
			release()
		}
		if err == nil {
			return nil, l.owner, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, nil, l.storage.explainOpenError(l.dir, err)
		}
		now := time.Now()
		if next, err := os.Stat(socket); err == nil && !isFileUnchanged(holder, next) {
			holder, deadline = next, now.Add(openTimeout) // another process has the folder open by now
		}
		if now.After(deadline) || now.After(began.Add(contentionTimeout)) {
			return nil, nil, l.storage.explainOpenError(l.dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(openRetryInterval):
		}
	}
}

// isFileUnchanged reports whether two file infos describe the same file with the same modification time.
func isFileUnchanged(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// maxAttempts is the maximum number of times that a request is sent if its response is cut off.
const maxAttempts = 5

// RoundTrip sends a request. A read-only request is retried if the process that was handling it was
// killed.
func (l *localTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		conn, own, err := l.dialOrOpen(req.Context())
		if err != nil {
			if req.Body != nil {
				_ = req.Body.Close()
			}
			return nil, err
		}
		if own != nil {
			return client.InMemoryTransport(own.handler).RoundTrip(req)
		}
		resp, err := client.OneRequestTransport(conn).RoundTrip(req)
		reads := req.Method == http.MethodGet && (req.Body == nil || req.Body == http.NoBody)
		if err == nil || !reads || try == maxAttempts || req.Context().Err() != nil {
			return resp, err
		}
	}
}

// Close releases the folder.
func (l *localTransport) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == nil {
		return nil
	}
	return l.owner.Close()
}

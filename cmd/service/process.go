package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine/client"
)

// processPath is answered on the data folder's socket only, and is no part of the
// contract: it is about this process, not about the service.
const processPath = "/process"

// profiles are what goes on in the process. They are on the folder's socket alone, which
// only its user reaches.
var profiles = func() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}()

// tell answers who has the folder open.
func (o *own) tell(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/debug/pprof/") {
			profiles.ServeHTTP(w, r)
			return
		}
		if r.URL.Path != processPath {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o.process.Load())
	})
}

// whoHas asks who has a data folder open; nil where nobody answers.
func whoHas(ctx context.Context, dir string) (*cli.Process, error) {
	dir, err := folder(dir)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socketPath(dir))
	if err != nil {
		return nil, ctx.Err() // nobody is there
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://service.local"+processPath, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	resp, err := client.Over(conn).RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("a process has the data folder %s open and does not answer: %w", dir, err)
		}
		return nil, nil // it ended just now
	}
	defer resp.Body.Close()
	var p cli.Process
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the process that has the data folder %s open is of another version of this program (%s)", dir, resp.Status)
	}
	return &p, nil
}

// folder is the data folder as an absolute path; the usual one where dir is empty.
func folder(dir string) (string, error) {
	if dir == "" {
		dir = dataDir()
	}
	return filepath.Abs(dir)
}

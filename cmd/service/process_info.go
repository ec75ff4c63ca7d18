package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
)

// These paths are served only on the data folder's socket. They are not part of the API, because they concern this
// process rather than the service.
const (
	processPath  = "/process"
	logLevelPath = "/process/log-level"
)

// pprofHandler serves the process's profiling data. It is available only on the data folder's socket, which only the
// folder's user can access.
var pprofHandler = func() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}()

// withProcessEndpoints adds the process paths to h.
func (o *folderOwner) withProcessEndpoints(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/debug/pprof/") {
			pprofHandler.ServeHTTP(w, r)
			return
		}
		switch {
		case r.URL.Path == logLevelPath && r.Method == http.MethodPut:
			if !o.handleSetLogLevel(w, r) {
				return
			}
		case r.URL.Path == backupPath && r.Method == http.MethodPost:
			o.handleBackup(w, r)
			return
		case r.URL.Path != processPath:
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o.processInfo())
	})
}

// processInfo returns the information that other commands get about this process.
func (o *folderOwner) processInfo() cli.Process {
	p := *o.process.Load()
	if level := o.logLevel.Load(); level != nil {
		p.LogLevel = strings.ToLower(level.Level().String())
	}
	return p
}

// handleSetLogLevel changes the log level of a daemon until it is changed again or the daemon stops.
func (o *folderOwner) handleSetLogLevel(w http.ResponseWriter, r *http.Request) bool {
	b, err := io.ReadAll(io.LimitReader(r.Body, 100))
	var to slog.Level
	if err == nil {
		err = to.UnmarshalText(b)
	}
	level := o.logLevel.Load()
	switch {
	case level == nil:
		http.Error(w, "this process is not a daemon", http.StatusConflict)
		return false
	case err != nil:
		http.Error(w, "the log level must be debug, info, warn or error", http.StatusBadRequest)
		return false
	}
	before := level.Level()
	level.Set(to)
	// Log at the new level itself, so that the message is always logged.
	o.log.Log(
		r.Context(),
		max(to, before, slog.LevelInfo),
		"log level changed",
		"from",
		strings.ToLower(before.String()),
		"to",
		strings.ToLower(to.String()),
	)
	return true
}

// findFolderProcess returns information about the process that has a data folder open, or nil if no process responds.
func findFolderProcess(ctx context.Context, dir string) (*cli.Process, error) {
	dir, err := resolveDataDir(dir)
	if err != nil {
		return nil, err
	}
	return sendProcessRequest(ctx, dir, http.MethodGet, processPath, nil)
}

// setDaemonLogLevel changes the log level of the daemon that serves a data folder. It returns nil if no process
// responds.
func setDaemonLogLevel(ctx context.Context, dir, level string) (*cli.Process, error) {
	dir, err := resolveDataDir(dir)
	if err != nil {
		return nil, err
	}
	return sendProcessRequest(ctx, dir, http.MethodPut, logLevelPath, strings.NewReader(level))
}

// sendProcessRequest sends a request to the process that is using a data folder.
func sendProcessRequest(ctx context.Context, dir, method, path string, body io.Reader) (*cli.Process, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socketPath(dir))
	if err != nil {
		return nil, ctx.Err() // no process has the folder open
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://service.local"+path, body)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	resp, err := client.OneRequestTransport(conn).RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("a process is using the data folder %s but doesn't respond: %w", dir, err)
		}
		return nil, nil // the process has just ended
	}
	defer resp.Body.Close()
	var p cli.Process
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the process that is using the data folder %s is a different version of this program (%s)", dir, resp.Status)
	}
	return &p, nil
}

// resolveDataDir returns the absolute path of the data folder, or the path of the default folder if dir is empty.
func resolveDataDir(dir string) (string, error) {
	if dir == "" {
		dir = defaultDataDir()
	}
	return filepath.Abs(dir)
}

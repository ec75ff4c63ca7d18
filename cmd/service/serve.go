package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/filelock"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// developmentOrigins lists the origins of web pages in development, which may call a daemon that only this
// machine can reach.
var developmentOrigins = []string{"http://localhost:3000", "http://127.0.0.1:3000"}

// runDaemon runs the daemon: this process owns the data folder and listens on the network in addition
// to the folder's own socket. It shuts down gracefully when ctx ends.
func runDaemon(ctx context.Context, o cli.ServeOptions, ready func(cli.DaemonInfo)) (err error) {
	level := new(slog.LevelVar)
	level.Set(o.LogLevel)
	log := daemonLogger(o, level)
	dir, err := resolveDataDir(o.Data)
	if err != nil {
		return err
	}
	if err := checkNoDaemonServes(ctx, dir); err != nil {
		return err
	}
	if !o.AllowSharedData {
		if err := checkNotShared(dir); err != nil {
			return err
		}
	}
	// Address errors are reported before the folder is opened.
	var cert *certificate
	if o.TLSCert != "" {
		if cert, err = loadCertificate(o.TLSCert, o.TLSKey, log); err != nil {
			return err
		}
	}
	endpoints, err := listenAll(o.Listen, cli.DefaultListen, cert != nil)
	if err != nil {
		return err
	}
	defer closeEndpoints(endpoints)
	schedule, err := backupSchedule(o.Backups)
	if err != nil {
		return err
	}
	var figures net.Listener
	if o.MetricsListen != "" {
		if figures, err = listenOn(o.MetricsListen); err != nil {
			return err
		}
		defer figures.Close()
	}
	web := daemon.Options{
		PublicURL: o.PublicURL, Origins: o.WebOrigins, Proxies: o.TrustedProxies, RateLimits: o.RateLimits, OrgRateLimits: o.OrgRateLimits,
		Hosts: append(listenHosts(o.Listen), o.AllowedHosts...),
	}
	web.SetupCode = rand.Text()
	if cert != nil {
		web.IsCertified = cert.isForHost
	}
	if areAllLoopback(endpoints) {
		web.Origins = append(web.Origins, developmentOrigins...)
	}
	if web.Tracer, err = tracing.New(
		ctx,
		tracing.Options{Endpoint: o.TraceEndpoint, Env: os.Getenv, Logger: log, Version: programVersion()},
	); err != nil {
		return err
	}
	defer flushTraces(web.Tracer)
	own, err := openFolderWhenFree(ctx, dir, storage{o.Store, o.Blobs}, log, embedderConfig{o.Embedder, o.EmbedderURL}, web)
	if err != nil {
		return err
	}
	d := &daemonServer{owner: own, log: log, shutdownTimeout: o.ShutdownTimeout, failures: make(chan error, len(endpoints)+1)}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.createFirstAdmin(ctx, o.Admin); err != nil {
		return err
	}
	hasAccounts, err := own.engine.HasPasswordAccounts(ctx)
	if err != nil {
		return err
	}
	if err := own.engine.Backups.Start(ctx, schedule); err != nil {
		return err
	}
	if err := own.engine.PretrainEmbedders(ctx); err != nil {
		return err
	}
	for _, e := range endpoints {
		d.serveEndpoint(e, own.rejectWhenClosed(own.server.Handler()), cert)
	}
	if figures != nil {
		d.serveEndpoint(endpoint{Listener: figures}, own.server.MetricsHandler(), nil)
	}
	process := *own.process.Load()
	process.Daemon, process.Listen = true, endpointAddresses(endpoints)
	own.process.Store(&process)
	own.logLevel.Store(level)
	warnUnencrypted(log, endpoints, o.PublicURL)
	log.Info("serving", "listen", process.Listen, "data", dir, "version", process.Version, "pid", process.PID)
	info := cli.DaemonInfo{Process: process, SignIn: loginURL(endpoints, o.PublicURL), HasAccounts: hasAccounts}
	if !hasAccounts {
		info.FirstRun = info.SignIn + "/first-run#" + web.SetupCode
	}
	ready(info)
	notifySystemd("READY=1", "STATUS=listening on "+strings.Join(process.Listen, ", "))
	go releaseMemoryPeriodically(ctx, own.engine.TrimCaches)
	go notifyWatchdogWhileHealthy(ctx, func(ctx context.Context) error { _, err := own.engine.HasPasswordAccounts(ctx); return err })

	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-hangups:
			if cert != nil {
				cert.reload()
			}
		case err := <-d.failures:
			return err
		case <-ctx.Done():
			log.Info("stopping", "timeout", o.ShutdownTimeout)
			notifySystemd("STOPPING=1")
			return nil
		}
	}
}

// daemonLogger returns a logger that uses the daemon's configured log format.
func daemonLogger(o cli.ServeOptions, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if o.LogJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// flushTraces sends the remaining traces after all work has ended. It waits only briefly for an unavailable collector.
func flushTraces(t *tracing.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), abortGrace)
	defer cancel()
	_ = t.Close(ctx) // losses have already been logged
}

// checkNoDaemonServes returns an error if a daemon is already serving the folder.
func checkNoDaemonServes(ctx context.Context, dir string) error {
	p, err := findFolderProcess(ctx, dir)
	if err == nil && p != nil && p.Daemon {
		return servedByError(dir, p)
	}
	return err
}

// servedByError returns the error for a data folder that is already served by a daemon.
func servedByError(dir string, p *cli.Process) error {
	return fmt.Errorf("a daemon is already running on the data folder %s: process %d, listening on %s",
		dir, p.PID, strings.Join(p.Listen, ", "))
}

// openFolderWhenFree opens the data folder. If a command is using the folder, it waits until the command ends.
func openFolderWhenFree(
	ctx context.Context,
	dir string,
	at storage,
	log *slog.Logger,
	embedder embedderConfig,
	web daemon.Options,
) (*folderOwner, error) {
	deadline, waitLogged := time.Now().Add(openTimeout), false
	for {
		err := store.ErrLocked
		var o *folderOwner
		if release, lockErr := filelock.TryLock(dir); !errors.Is(lockErr, filelock.ErrLocked) {
			o, err = openFolder(ctx, dir, socketPath(dir), at, log, embedder, web)
			release()
		}
		if err == nil {
			return o, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, at.explainOpenError(dir, err)
		}
		p, queryErr := findFolderProcess(ctx, dir)
		if queryErr == nil && p != nil {
			if p.Daemon {
				return nil, servedByError(dir, p)
			}
			deadline = time.Now().Add(openTimeout) // the process is responding, so keep waiting
			if !waitLogged {
				log.Info("waiting for another command to end", "data", dir, "pid", p.PID)
				waitLogged = true
			}
		}
		if time.Now().After(deadline) {
			return nil, at.explainOpenError(dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(openRetryInterval):
		}
	}
}

// daemonServer is the running daemon.
type daemonServer struct {
	owner           *folderOwner
	log             *slog.Logger
	shutdownTimeout time.Duration
	servers         []*http.Server
	running         sync.WaitGroup
	// failures receives the error of a listener that ended unexpectedly.
	failures chan error
}

// createFirstAdmin creates the user and organization that the environment specifies.
func (d *daemonServer) createFirstAdmin(ctx context.Context, a *cli.FirstAdmin) error {
	if a == nil {
		return nil
	}
	made, err := d.owner.engine.Identity.EnsureAdminWithEmail(ctx, a.Organization, a.Email, a.Password)
	if err != nil {
		return fmt.Errorf("can't create the first admin: %w", err)
	}
	if made {
		d.log.Info("created the first admin", "email", a.Email, "organization", a.Organization)
	}
	return nil
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader is the maximum size of request headers. It is large enough that requests with too many headers reach
	// the code that rejects them with a message.
	maxHeader = 1 << 20
)

// serveEndpoint serves requests at an endpoint. There is no time limit for a whole request, because uploads and
// responses may take long as long as they make progress.
func (d *daemonServer) serveEndpoint(e endpoint, h http.Handler, cert *certificate) {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// Log failed handshakes of arbitrary clients only at debug level.
		ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	s.RegisterOnShutdown(d.owner.engine.StopStreams)
	d.servers = append(d.servers, s)
	d.running.Add(1)
	go func() {
		defer d.running.Done()
		var err error
		if e.secure {
			s.TLSConfig = cert.tlsConfig()
			err = s.ServeTLS(e, "", "")
		} else {
			err = s.Serve(e)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			d.failures <- fmt.Errorf("listening on %s ended: %w", e.address, err)
		}
	}()
}

// abortGrace is the time that aborted requests have to end.
const abortGrace = 3 * time.Second

// stop stops accepting requests, waits for running ones and aborts those that take too long.
// Background work continues at the next start.
func (d *daemonServer) stop() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), d.shutdownTimeout)
	defer cancel()
	var wait sync.WaitGroup
	for _, s := range d.servers {
		wait.Go(func() {
			if err := s.Shutdown(ctx); err != nil {
				d.log.Warn("requests were aborted", "error", err)
				_ = s.Close()
			}
		})
	}
	wait.Wait()
	d.running.Wait()
	closed := make(chan error, 1)
	go func() { closed <- d.owner.close(ctx) }()
	select {
	case err := <-closed:
		d.log.Info("stopped", "took", time.Since(began).Round(time.Millisecond))
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // or the error was caused by a local command; everything is closed
		}
		return err
	case <-time.After(d.shutdownTimeout - time.Since(began) + abortGrace):
		return fmt.Errorf("some operations did not finish within %s and were aborted; the results of completed operations are kept",
			d.shutdownTimeout)
	}
}

// warnUnencrypted warns if passwords would be sent unencrypted over a network.
func warnUnencrypted(log *slog.Logger, endpoints []endpoint, publicURL string) {
	if strings.HasPrefix(publicURL, "https://") {
		return // a proxy in front of the service provides TLS
	}
	for _, e := range endpoints {
		if !e.loopback && !e.secure {
			log.Warn("this address is reachable from other machines, and passwords, keys and evidence are sent unencrypted: "+
				"use --tls-cert and --tls-key, or listen on 127.0.0.1 behind a TLS proxy and set the proxy's address with --public-url", "listen", e.address)
		}
	}
}

// loginURL returns the URL for `service login`.
func loginURL(endpoints []endpoint, publicURL string) string {
	if publicURL != "" {
		return publicURL
	}
	for _, e := range endpoints {
		if strings.HasPrefix(e.address, "http") {
			return e.displayAddress()
		}
	}
	return endpoints[0].address
}

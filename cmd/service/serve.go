package main

import (
	"context"
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
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Pages in development run at these addresses; they may call a daemon that only
// this machine reaches.
var developmentOrigins = []string{"http://localhost:3000", "http://127.0.0.1:3000"}

// serve runs the daemon: this process as the owner of the data folder, and listeners
// for the network besides the folder's own socket. It ends well when ctx ends.
func serve(ctx context.Context, o cli.ServeOptions, ready func(cli.DaemonInfo)) (err error) {
	level := new(slog.LevelVar)
	level.Set(o.LogLevel)
	log := daemonLogger(o, level)
	dir, err := resolveDataDir(o.Data)
	if err != nil {
		return err
	}
	if err := checkNotServed(ctx, dir); err != nil {
		return err
	}
	// What can be wrong with the addresses is told before the folder is opened.
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
	defer closeAll(endpoints)
	var figures net.Listener
	if o.MetricsListen != "" {
		if figures, err = listenOn(o.MetricsListen); err != nil {
			return err
		}
		defer figures.Close()
	}
	web := daemon.Options{PublicURL: o.PublicURL, Origins: o.WebOrigins, Proxies: o.TrustedProxies, RateLimits: o.RateLimits}
	if allLoopback(endpoints) {
		web.Origins = append(web.Origins, developmentOrigins...)
	}
	if web.Tracer, err = tracing.New(ctx, tracing.Options{Endpoint: o.TraceEndpoint, Env: os.Getenv, Logger: log, Version: programVersion()}); err != nil {
		return err
	}
	defer flushTraces(web.Tracer)
	own, err := openExclusively(ctx, dir, log, embedderConfig{o.Embedder, o.EmbedderURL}, web)
	if err != nil {
		return err
	}
	d := &daemonServer{owner: own, log: log, shutdownTimeout: o.ShutdownTimeout, failures: make(chan error, len(endpoints)+1)}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.firstAdmin(ctx, o.Admin); err != nil {
		return err
	}
	known, err := own.engine.HasAccounts(ctx)
	if err != nil {
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
	ready(cli.DaemonInfo{Process: process, SignIn: loginURL(endpoints, o.PublicURL), HasAccounts: known})
	notifySystemd("READY=1", "STATUS=listening on "+strings.Join(process.Listen, ", "))
	go releaseMemory(ctx, own.engine.TrimCaches)
	go runWatchdog(ctx, func(ctx context.Context) error { _, err := own.engine.HasAccounts(ctx); return err })

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

func daemonLogger(o cli.ServeOptions, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if o.LogJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// flushTraces sends what is left of traces, when everything has ended; a collector that is
// away is not waited for long.
func flushTraces(t *tracing.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), abortGrace)
	defer cancel()
	_ = t.Close(ctx) // what is lost was told of
}

// checkNotServed is an error where a daemon has the folder.
func checkNotServed(ctx context.Context, dir string) error {
	p, err := queryProcess(ctx, dir)
	if err == nil && p != nil && p.Daemon {
		return servedByError(dir, p)
	}
	return err
}

func servedByError(dir string, p *cli.Process) error {
	return fmt.Errorf("a daemon serves the data folder %s already: process %d, listening on %s", dir, p.PID, strings.Join(p.Listen, ", "))
}

// openExclusively opens the folder; a command that has it open is waited for.
func openExclusively(ctx context.Context, dir string, log *slog.Logger, embedder embedderConfig, web daemon.Options) (*folderOwner, error) {
	deadline, waitLogged := time.Now().Add(openTimeout), false
	for {
		err := store.ErrLocked
		var o *folderOwner
		if giveBack, ok := acquireOpenLock(dir); ok {
			o, err = openFolder(ctx, dir, socketPath(dir), log, embedder, web)
			giveBack()
		}
		if err == nil {
			return o, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, explainOpenError(dir, err)
		}
		p, asked := queryProcess(ctx, dir)
		if asked == nil && p != nil {
			if p.Daemon {
				return nil, servedByError(dir, p)
			}
			deadline = time.Now().Add(openTimeout) // it is at work
			if !waitLogged {
				log.Info("waiting for another command to end", "data", dir, "pid", p.PID)
				waitLogged = true
			}
		}
		if time.Now().After(deadline) {
			return nil, explainOpenError(dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(openRetryInterval):
		}
	}
}

// daemonServer is the daemon at work.
type daemonServer struct {
	owner           *folderOwner
	log             *slog.Logger
	shutdownTimeout time.Duration
	servers         []*http.Server
	running         sync.WaitGroup
	// failures gets what ended a listener that should go on.
	failures chan error
}

// firstAdmin makes the person and organization that the environment names.
func (d *daemonServer) firstAdmin(ctx context.Context, a *cli.FirstAdmin) error {
	if a == nil {
		return nil
	}
	made, err := d.owner.engine.Identity.Bootstrap(ctx, a.Organization, a.Email, a.Password)
	if err != nil {
		return fmt.Errorf("making the first admin: %w", err)
	}
	if made {
		d.log.Info("made the first admin", "email", a.Email, "organization", a.Organization)
	}
	return nil
}

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader lets requests with too many headers come to where they are refused in words.
	maxHeader = 1 << 20
)

// serveEndpoint answers what comes in at an endpoint. There is no time limit for a whole
// request: uploads and answers may take long as long as they go on.
func (d *daemonServer) serveEndpoint(e endpoint, h http.Handler, cert *certificate) {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// Handshakes that strangers break off are no trouble of ours.
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

// abortGrace is how long what was broken off may take to notice.
const abortGrace = 3 * time.Second

// stop lets nobody in any more, waits for the requests that are in and breaks off
// those that take too long; what workers had begun they go on with at the next start.
func (d *daemonServer) stop() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), d.shutdownTimeout)
	defer cancel()
	var wait sync.WaitGroup
	for _, s := range d.servers {
		wait.Go(func() {
			if err := s.Shutdown(ctx); err != nil {
				d.log.Warn("requests were broken off", "error", err)
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
			return nil // told already, or a local command's; all is closed
		}
		return err
	case <-time.After(d.shutdownTimeout - time.Since(began) + abortGrace):
		return fmt.Errorf("some work did not end within %s and was broken off; what was finished is kept", d.shutdownTimeout)
	}
}

// warnUnencrypted reports where passwords would go over a network as they are.
func warnUnencrypted(log *slog.Logger, endpoints []endpoint, publicURL string) {
	if strings.HasPrefix(publicURL, "https://") {
		return // a proxy before us talks TLS
	}
	for _, e := range endpoints {
		if !e.loopback && !e.secure {
			log.Warn("other machines reach this address, and passwords, keys and evidence travel over it without encryption: "+
				"give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that talks TLS and name it with --public-url", "listen", e.address)
		}
	}
}

// loginURL is the address for `service login`.
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

package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
)

// openCheckInterval is the time between two checks of whether the pages are still in use.
const openCheckInterval = 5 * time.Second

// openPages opens the web pages of a server. For a local data folder, it serves the pages until nobody is using them
// and no work is in progress.
func openPages(ctx context.Context, target cli.Target, browser bool, ready func(cli.OpenInfo) error) error {
	if target.Server != "" {
		return ready(cli.OpenInfo{Link: target.Server, Opened: browser && startBrowser(target.Server)})
	}
	local, err := newLocalTransport(target)
	if err != nil {
		return err
	}
	if err := local.openOrConnect(ctx); err != nil {
		return err
	}
	return errors.Join(servePages(ctx, local, target.Organization, browser, ready), local.Close())
}

// servePages serves the pages of the local data folder until they are no longer in use.
func servePages(ctx context.Context, local *localTransport, organization string, browser bool, ready func(cli.OpenInfo) error) error {
	c, err := client.New(client.Options{Transport: local, Organization: organization})
	if err != nil {
		return err
	}
	if organization != "" { // the pages act in the active organization
		id, err := c.OrganizationID(ctx)
		if err == nil {
			_, err = client.Do(ctx, c, api.ActivateOrganization, &api.OrgInput{OrgID: id})
		}
		if err != nil {
			return err
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stopping := make(chan struct{})
	pages := daemon.NewLocalPages(daemon.LocalPagesOptions{
		Logger: local.log, Clock: time.Now, Transport: local, Host: l.Addr().String(), Stopping: stopping,
	})
	s := &http.Server{
		Handler: pages, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(local.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(writeTimeoutListener{l}) }()
	defer func() {
		close(stopping)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortGrace)
		defer cancel()
		if s.Shutdown(grace) != nil {
			_ = s.Close()
		}
	}()
	link := pages.Link()
	if err := ready(cli.OpenInfo{Link: link, Opened: browser && startBrowser(link), Local: true}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-time.After(openCheckInterval):
			if pages.IsUnused() && !local.isWorking(ctx, c) {
				return nil
			}
		}
	}
}

// isWorking reports whether this process is processing documents or executing workflows, which another process would
// otherwise have to continue.
func (l *localTransport) isWorking(ctx context.Context, c *client.Client) bool {
	l.mu.Lock()
	own := l.owner != nil
	l.mu.Unlock()
	if !own {
		return false
	}
	mine, err := c.MyOrganizations(ctx)
	if err != nil {
		return false
	}
	for _, o := range mine {
		in, err := client.New(client.Options{Transport: l, Organization: o.ID})
		if err != nil {
			return false
		}
		if isWorkingIn(ctx, in) {
			return true
		}
	}
	return false
}

// isWorkingIn reports whether a document is being read or a workflow is running in the client's organization.
func isWorkingIn(ctx context.Context, c *client.Client) bool {
	stats, err := client.Do(ctx, c, api.GetKBStats, &api.None{})
	if err == nil && stats.DocumentsByStatus[api.DocumentUploaded]+stats.DocumentsByStatus[api.DocumentProcessing] > 0 {
		return true
	}
	list, err := client.Do(ctx, c, api.ListAssessments,
		&api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}, Sort: "-updated_at"})
	if err != nil {
		return false
	}
	for _, a := range list.Data {
		runs, err := client.Do(ctx, c, api.ListWorkflows, &api.WorkflowsInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Status: api.RunRunning, Paging: api.Paging{Limit: 1},
		})
		if err == nil && len(runs.Data) > 0 {
			return true
		}
	}
	return false
}

// startBrowser opens a URL in the user's browser, and reports whether there is one.
func startBrowser(address string) (started bool) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case "darwin":
		name = "open"
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
			return false
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	cmd := exec.Command(path, args...)
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }()
	return true
}

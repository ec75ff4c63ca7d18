package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// daemonStatus is the status of a daemon, local or remote.
type daemonStatus struct {
	Running bool `json:"running"`
	// Server is the address that was queried; empty for the data folder.
	Server string `json:"server"`
	// Process is null for a server.
	Process *Process `json:"process"`
	// Health is null if the credential lacks the permission.
	Health  *api.HealthDetail     `json:"health"`
	Catalog *api.InstalledCatalog `json:"catalog"`
	// Reason says why no daemon is running; empty if one is.
	Reason string `json:"reason"`

	hint string // what to do if no daemon is running
	// otherContextNote says which context other commands use, if not this data folder.
	otherContextNote string
}

var errNoDaemon = errors.New("no daemon is running on this data folder")

// daemonTimeout is the maximum time to wait for a daemon.
const daemonTimeout = 10 * time.Second

func (a *app) daemonStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show whether a daemon is running, and its health",
		Long: `Shows whether a daemon is running on the data folder, or at the address of --server, and
the results of its health checks. The exit code is 0 if it is running, otherwise 1. A
server shows more details to an authenticated client.`,
		Example: `  service daemon status
  service daemon status --server https://grc.acme.example
  service daemon status -o json --jq .process.pid`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), daemonTimeout)
			defer cancel()
			var s *daemonStatus
			var err error
			// An explicit --data takes precedence over the server that other commands use.
			if pf := cmd.Root().PersistentFlags(); a.flags.Server == "" || (pf.Changed("data") && !pf.Changed("server")) {
				if s, err = a.fetchLocalDaemonStatus(ctx); err == nil && !pf.Changed("data") {
					s.otherContextNote = a.describeOtherContext()
				}
			} else {
				s, err = a.fetchServerDaemonStatus(ctx)
			}
			if err != nil {
				return err
			}
			if err := a.out.Print(s, func(p *print.Page) { renderDaemonStatus(p, s) }); err != nil || s.Running {
				return err
			}
			return &exitError{code: exitVerdict, err: errors.New(s.Reason), hint: strings.Trim(s.hint+"; "+s.otherContextNote, "; ")}
		},
	}
}

func (a *app) fetchLocalDaemonStatus(ctx context.Context) (*daemonStatus, error) {
	a.flags.Server, a.flags.Token, a.flags.Organization = "", "", ""
	p, err := a.findDataFolderProcess(ctx)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return &daemonStatus{Reason: errNoDaemon.Error(), hint: "start a daemon with `" + a.suggestedCommandLine("daemon") + "`"}, nil
	case !p.Daemon:
		return &daemonStatus{
			Process: p, Reason: errNoDaemon.Error() + fmt.Sprintf("; another command is using the folder (process %d)", p.PID),
		}, nil
	}
	s := &daemonStatus{Running: true, Process: p}
	return s, a.fetchHealthDetails(ctx, s)
}

// describeOtherContext returns a note about the context that other commands use, or "" if they use the data folder.
func (a *app) describeOtherContext() string {
	b, err := a.readContexts()
	if err != nil || b.Current == "" {
		return ""
	}
	c := b.Find(b.Current)
	if c == nil {
		return ""
	}
	return fmt.Sprintf(
		"this is the status of the local data folder, but other commands use the context %s; for the status of that server, "+
			"run `service daemon status --server %s`",
		c.Name,
		c.Server,
	)
}

func (a *app) fetchServerDaemonStatus(ctx context.Context) (*daemonStatus, error) {
	s := &daemonStatus{Server: a.flags.Server}
	if _, err := call(ctx, a, api.GetHealth, &api.None{}); err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, err
		}
		s.Reason, s.hint = fmt.Sprintf("no service responds at %s: %v", s.Server, err), a.hintFor(err)
		return s, nil
	}
	s.Running = true
	return s, a.fetchHealthDetails(ctx, s)
}

// fetchHealthDetails fetches the health details, which require a credential. Without a credential, they remain empty.
func (a *app) fetchHealthDetails(ctx context.Context, s *daemonStatus) error {
	health, err := call(ctx, a, api.GetHealthDetailed, &api.HealthDetailInput{})
	if api.IsCode(err, api.CodeUnauthorized) || api.IsCode(err, api.CodeForbidden) {
		return nil
	}
	if err != nil {
		return err
	}
	s.Health = health
	s.Catalog, err = call(ctx, a, api.GetLatestVersion, &api.None{})
	if api.IsCode(err, api.CodeForbidden) || api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeTenantRequired) {
		return nil
	}
	return err
}

func renderDaemonStatus(p *print.Page, s *daemonStatus) {
	if !s.Running {
		return // the error explains that
	}
	var fields []print.Field
	add := func(name, value string) { fields = append(fields, field(name, value)) }
	if s.Process != nil {
		add("listening on", strings.Join(s.Process.Listen, ", "))
		add("process", strconv.Itoa(s.Process.PID))
		add("since", print.FormatTime(s.Process.StartedAt))
		add("version", s.Process.Version)
		add("data", s.Process.Data)
		add("log level", s.Process.LogLevel)
	} else {
		add("server", s.Server)
		if s.Health != nil {
			add("version", s.Health.Version)
			add("running for", print.FormatElapsed(time.Duration(s.Health.UptimeSeconds)*time.Second))
		}
	}
	if c := s.Catalog; c != nil {
		add("catalog", joinNonEmpty(c.Label, "with", prose.Count(c.Counts.Controls, "control", "controls")))
	}
	p.Title("The daemon is running.")
	p.Fields(fields...)
	if s.otherContextNote != "" {
		p.Blank()
		p.Text("Note: %s.", s.otherContextNote)
	}
	if s.Health == nil {
		p.Text("To see more details, sign in or pass a token.")
		return
	}
	p.Blank()
	renderTable(
		p,
		s.Health.Checks,
		[]print.Column{fixed("check"), fixed("state"), column("detail")},
		func(c api.HealthCheck) []string {
			state := "ok"
			if !c.OK {
				state = "FAILED"
			}
			return []string{c.Name, state, c.Detail}
		},
	)
}

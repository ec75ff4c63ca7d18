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
)

// daemonStatus is what can be learned of a daemon.
type daemonStatus struct {
	Running bool `json:"running"`
	// Server is the address that was asked; empty where the data folder was.
	Server string `json:"server"`
	// Process is null where a server was asked.
	Process *Process `json:"process"`
	// Health is null where the credential does not reach that far.
	Health  *api.HealthDetail   `json:"health"`
	Catalog *api.CatalogVersion `json:"catalog"`
	// Reason is why it does not run; empty where it does.
	Reason string `json:"reason"`

	hint string // what to do where it does not run
	// otherContextNote says where other commands work, where that is not this data folder.
	otherContextNote string
}

var errNoDaemon = errors.New("no daemon runs on this data folder")

// daemonTimeout bounds the wait for a daemon that does not answer.
const daemonTimeout = 10 * time.Second

func (a *app) daemonStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell whether a daemon runs, and how it is", Args: requireArgs(0, 0),
		Long: `Tells whether a daemon runs on the data folder, or at the address of --server, and
what its checks say. The exit code is 0 where it runs and 1 where it does not. A
server tells more to who has a credential.`,
		Example: `  service daemon status
  service daemon status --server https://grc.acme.example
  service daemon status -o json --jq .process.pid`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), daemonTimeout)
			defer cancel()
			var s *daemonStatus
			var err error
			// Who names a folder means that, whatever server other commands use.
			if pf := cmd.Root().PersistentFlags(); a.flags.Server == "" || (pf.Changed("data") && !pf.Changed("server")) {
				if s, err = a.checkLocalDaemon(ctx); err == nil && !pf.Changed("data") {
					s.otherContextNote = a.describeOtherContext()
				}
			} else {
				s, err = a.checkServerDaemon(ctx)
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

func (a *app) checkLocalDaemon(ctx context.Context) (*daemonStatus, error) {
	a.flags.Server, a.flags.Token, a.flags.Organization = "", "", ""
	p, err := a.findProcess(ctx)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return &daemonStatus{Reason: errNoDaemon.Error(), hint: "`" + a.commandLine("daemon") + "` starts one"}, nil
	case !p.Daemon:
		return &daemonStatus{Process: p, Reason: errNoDaemon.Error() + "; another command has it open, process " + strconv.Itoa(p.PID)}, nil
	}
	s := &daemonStatus{Running: true, Process: p}
	return s, a.fetchHealthDetails(ctx, s)
}

// describeOtherContext says which context other commands use; empty where they work on the data folder.
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
		"this is of the data folder on this machine, and other commands work in the context %s: `service daemon status --server %s` tells of that one",
		c.Name,
		c.Server,
	)
}

func (a *app) checkServerDaemon(ctx context.Context) (*daemonStatus, error) {
	s := &daemonStatus{Server: a.flags.Server}
	if _, err := call(ctx, a, api.GetHealth, &api.None{}); err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, err
		}
		s.Reason, s.hint = "no service answers at "+s.Server+": "+err.Error(), a.hintFor(err)
		return s, nil
	}
	s.Running = true
	return s, a.fetchHealthDetails(ctx, s)
}

// fetchHealthDetails asks what needs a credential; without one it stays unknown.
func (a *app) fetchHealthDetails(ctx context.Context, s *daemonStatus) error {
	health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
	if api.IsCode(err, api.CodeUnauthorized) || api.IsCode(err, api.CodeForbidden) {
		return nil
	}
	if err != nil {
		return err
	}
	s.Health = health
	s.Catalog, err = call(ctx, a, api.GetLatestVersion, &api.None{})
	if api.IsCode(err, api.CodeForbidden) || api.IsCode(err, api.CodeNotFound) {
		return nil
	}
	return err
}

func renderDaemonStatus(p *print.Page, s *daemonStatus) {
	if !s.Running {
		return // the error says why
	}
	var fields []print.Field
	add := func(name, value string) { fields = append(fields, print.Field{Name: name, Value: value}) }
	if s.Process != nil {
		add("listening on", strings.Join(s.Process.Listen, ", "))
		add("process", strconv.Itoa(s.Process.PID))
		add("since", formatTime(s.Process.StartedAt))
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
		add("catalog", joinNonEmpty(c.Label, "with", pluralize(c.Counts.Controls, "control", "controls")))
	}
	p.Title("The daemon runs")
	p.Fields(fields...)
	if s.otherContextNote != "" {
		p.Blank()
		p.Text("Note: %s.", s.otherContextNote)
	}
	if s.Health == nil {
		p.Text("With a credential, there is more to see.")
		return
	}
	p.Blank()
	var rows [][]string
	for _, c := range s.Health.Checks {
		state := "fine"
		if !c.OK {
			state = "FAILED"
		}
		rows = append(rows, []string{c.Name, state, c.Detail})
	}
	p.Table([]print.Column{{Title: "check", NoShrink: true}, {Title: "state", NoShrink: true}, {Title: "detail"}}, rows)
}

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// logLevels are those there are.
var logLevels = []string{"debug", "info", "warn", "error"}

// logLevelStatus is what a daemon tells in its log.
type logLevelStatus struct {
	Level string `json:"log_level"`
	PID   int    `json:"pid"`
}

func (a *app) daemonLogLevel() *cobra.Command {
	return &cobra.Command{
		Use: "log-level [LEVEL]", Short: "Show or change what a running daemon logs", Args: requireArgs(0, 1),
		ValidArgs: logLevels,
		Long: `Shows what the daemon on the data folder logs, or changes it at once: debug, info,
warn or error. The change goes over the folder's own socket, which only its user
reaches, and holds until the daemon ends; --log-level says how it begins.`,
		Example: `  service daemon log-level
  service daemon log-level debug`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), daemonTimeout)
			defer cancel()
			var p *Process
			var err error
			if len(args) == 0 {
				p, err = a.findProcess(ctx)
			} else {
				if err := checkOneOf("log level", args[0], logLevels); err != nil {
					return err
				}
				// Who else has the folder open is told first: a command has no level to change.
				if p, err = a.findProcess(ctx); err == nil && p != nil && p.Daemon && a.SetLogLevel != nil {
					p, err = a.SetLogLevel(ctx, a.flags.Data, args[0])
				}
			}
			if err != nil {
				return err
			}
			if p == nil || !p.Daemon {
				return &exitError{code: exitRuntime, err: errNoDaemon, hint: "`service daemon` starts one"}
			}
			return a.out.Print(
				logLevelStatus{p.LogLevel, p.PID},
				func(page *print.Page) { page.Text("The daemon logs from %s on.", p.LogLevel) },
			)
		},
	}
}

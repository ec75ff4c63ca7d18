package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// logLevels lists the valid log levels.
var logLevels = []string{"debug", "info", "warn", "error"}

// logLevelStatus is a daemon's log level.
type logLevelStatus struct {
	Level string `json:"log_level"`
	PID   int    `json:"pid"`
}

func (a *app) daemonLogLevel() *cobra.Command {
	return &cobra.Command{
		Use: "log-level [LEVEL]", Short: "Show or change a running daemon's log level",
		ValidArgs: logLevels,
		Long: `Shows the log level of the daemon on the data folder, or changes the level immediately to
debug, info, warn or error. The change lasts until the daemon stops; --log-level of
"service daemon" sets the initial level. The command uses the data folder's socket, which
only the user who owns the folder can access.`,
		Example: `  service daemon log-level
  service daemon log-level debug`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), daemonTimeout)
			defer cancel()
			var p *Process
			var err error
			if len(args) == 0 {
				p, err = a.findDataFolderProcess(ctx)
			} else {
				if err := checkOneOfOrEmpty("log level", args[0], logLevels); err != nil {
					return err
				}
				// Check first that the process is a daemon: other commands have no log level.
				if p, err = a.findDataFolderProcess(ctx); err == nil && p != nil && p.Daemon && a.SetLogLevel != nil {
					p, err = a.SetLogLevel(ctx, a.flags.Data, args[0])
				}
			}
			if err != nil {
				return err
			}
			if p == nil || !p.Daemon {
				return &exitError{code: exitRuntime, err: errNoDaemon, hint: "start a daemon with `service daemon`"}
			}
			return a.out.Print(
				logLevelStatus{p.LogLevel, p.PID},
				func(page *print.Page) { page.Text("The daemon's log level is %s.", p.LogLevel) },
			)
		},
	}
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// OpenInfo describes pages that were opened in a browser.
type OpenInfo struct {
	// Link is the URL to open. For the local data folder, it can be used only once.
	Link string `json:"link"`
	// Opened is set if a browser was started.
	Opened bool `json:"opened"`
	// Local is set if the pages are served by this process.
	Local bool `json:"local"`
}

func (a *app) openCommand() *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use: "open", Short: "Work with assessments in the browser",
		Long: `Opens the web interface of the current server in your browser. If no server is selected, it
opens that of the local data folder, which needs no account and is available only on this
machine, to the browser that opens the single-use link. In that case, the command ends a minute
after the last page is closed and nothing is running. Other commands keep working in the meantime.`,
		Example: "  service open\n  service open --data ./acme --no-browser",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.OpenPages == nil {
				return runtimeError("this build of the program does not include the web interface")
			}
			t := a.flags.Target
			return a.OpenPages(cmd.Context(), t, !noBrowser, func(o OpenInfo) error {
				return a.out.Print(o, func(p *print.Page) { renderOpened(p, o) })
			})
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the link")
	return cmd
}

func renderOpened(p *print.Page, o OpenInfo) {
	switch {
	case o.Opened:
		p.Text("Opened this link in your browser: %s", o.Link)
	default:
		p.Text("Open this link in your browser: %s", o.Link)
	}
	if o.Local {
		p.Text("The link works only once, on this machine. This command ends a minute after the last page is closed; to stop it now, press Ctrl-C")
	}
}

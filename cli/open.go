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
		Use: "open", Short: "Work in the browser",
		Long: `Opens the pages in your browser: those of the current server or, without one, those of
the local data folder, without an account. For the local folder it serves the pages on
this machine only, to the browser that opens the single-use link. It ends a minute after
the last page is closed, once nothing is running. Other commands keep working in the meantime.`,
		Example: "  service open\n  service open --data ./acme --no-browser",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.OpenPages == nil {
				return runtimeError("this build does not include the pages")
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
		p.Text("Opened in your browser: %s", o.Link)
	default:
		p.Text("Open this link in your browser: %s", o.Link)
	}
	if o.Local {
		p.Text("The link works once, on this machine. This command ends a minute after the last page is closed; Ctrl-C stops it")
	}
}

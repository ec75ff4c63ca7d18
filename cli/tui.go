package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// TerminalOptions are what the terminal interface is made of.
type TerminalOptions struct {
	Client *client.Client
	// Location says where the data is.
	Location string
	// Assessment is the one to begin with; nil begins with the list.
	Assessment *api.Assessment
	// OnOpen is told which assessment is looked at.
	OnOpen func(id string)
	// Resolve decides a conflict at the assessment's home, Together brings a clone and its
	// home together and says what came of it.
	Resolve func(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error)
	Sync    func(ctx context.Context, assessment string) (string, error)
	// Notices are words on the side.
	Notices <-chan string
	Mouse   bool
	Color   bool
	Clock   func() time.Time
	// Editor is the command for long texts; empty where there is none.
	Editor string
}

func (a *app) terminalCommand() *cobra.Command {
	var mouse bool
	cmd := &cobra.Command{
		Use: "tui [ID|NAME]", Short: "Look through and review in the terminal", Args: requireArgs(0, 1), ValidArgsFunction: a.completeAssessments(),
		Long: `Shows the terminal interface: where an assessment stands, and the review of its
Statement of Applicability, gaps, maturity and plan, item by item or many at once.
? shows every key. ` + "`service`" + ` alone does the same.`,
		Example: "  service tui\n  service tui \"Acme 2026\" --mouse\n  service tui --context work",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.RunTerminal == nil {
				return withHint(
					usageError("this is no terminal: input and output have to be one"),
					"other commands work anywhere; `service --help` lists them",
				)
			}
			return a.showTerminal(cmd.Context(), args, mouse)
		},
	}
	cmd.Flags().BoolVar(&mouse, "mouse", false, "listen to clicks and the wheel; the terminal then selects text with Shift")
	return cmd
}

// showTerminal shows the terminal interface, beginning with the assessment that was
// named, or the one that was used last.
func (a *app) showTerminal(ctx context.Context, args []string, mouse bool) error {
	t, err := a.target()
	if err != nil {
		return err
	}
	notices := make(chan string, 1)
	t.FullScreen = true
	t.OnThrottled = func(d time.Duration) {
		select {
		case notices <- fmt.Sprintf("the server asks to slow down; going on in %d s", int(d.Seconds())):
		default: // one is told already
		}
	}
	c, err := a.connectTo(ctx, t)
	if err != nil {
		return err
	}
	o := TerminalOptions{
		Client:   c,
		Location: a.dataLocation(),
		OnOpen:   a.rememberAssessment,
		Notices:  notices,
		Mouse:    mouse,
		Color:    a.Color,
		Clock:    a.Clock,
		Editor:   a.Env("VISUAL"),
	}
	aside := *a // nothing is said on the side while a screen is shown
	aside.progress = nil
	o.Resolve, o.Sync = aside.resolveAtRemote, aside.syncAndSummarize
	if o.Editor == "" {
		o.Editor = a.Env("EDITOR")
	}
	switch {
	case len(args) > 0:
		o.Assessment, err = a.findAssessment(ctx, args[0])
	case a.flags.assessment != "":
		o.Assessment, err = a.findAssessment(ctx, a.flags.assessment)
	default:
		if id := a.readState().LastAssessments[a.dataKey()]; id != "" {
			if o.Assessment, err = call(ctx, a, api.GetAssessment, &api.AssessmentInput{AssessmentID: id}); api.IsCode(
				err,
				api.CodeNotFound,
			) {
				o.Assessment, err = nil, nil
			}
		}
	}
	if err != nil {
		return err
	}
	return a.RunTerminal(ctx, o)
}

// dataLocation says where the data is, in a few words.
func (a *app) dataLocation() string {
	switch t := a.flags.Target; {
	case a.context != nil && t.Server == a.context.Server:
		return a.context.Name
	case t.Server != "":
		return t.Server
	case t.Data != "":
		return t.Data
	}
	return "local"
}

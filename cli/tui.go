package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// TerminalOptions holds the options of the terminal interface.
type TerminalOptions struct {
	Client *client.Client
	// Location describes where the data is stored.
	Location string
	// Assessment is the one to open first, or nil to start with the list.
	Assessment *api.Assessment
	// OnOpen is called with each assessment that is opened.
	OnOpen func(id string)
	// Resolve resolves a conflict on the assessment's remote. The second function syncs a clone
	// with its remote and returns a summary.
	Resolve func(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error)
	Sync    func(ctx context.Context, assessment string) (string, error)
	// Notices receives messages to show in the status line.
	Notices <-chan string
	Mouse   bool
	Color   bool
	Clock   func() time.Time
	// Editor is the editor command, or empty if there is none.
	Editor string
}

func (a *app) tuiCommand() *cobra.Command {
	var mouse bool
	cmd := &cobra.Command{
		Use: "tui [ID|NAME]", Short: "Browse and review assessments in the terminal", ValidArgsFunction: a.completeAssessments(),
		Long: `Opens the terminal interface, which shows the status of an assessment. In it, you can review the
Statement of Applicability, gaps, maturity and plan, one item at a time or many at once. Press ?
to see all keys. ` + "`service`" + ` without a command also opens the terminal interface.`,
		Example: "  service tui\n  service tui \"Acme 2026\" --mouse\n  service tui --context work",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.RunTerminal == nil {
				return withHint(
					usageError("the terminal interface requires a terminal for input and output"),
					"use the other commands; `service --help` lists them",
				)
			}
			return a.runTerminalInterface(cmd.Context(), args, mouse)
		},
	}
	cmd.Flags().BoolVar(&mouse, "mouse", false, "enable the mouse; to select text, hold down Shift")
	return cmd
}

// runTerminalInterface opens the terminal interface with the given assessment, or the one used last.
func (a *app) runTerminalInterface(ctx context.Context, args []string, mouse bool) error {
	t, err := a.targetWithCredential()
	if err != nil {
		return err
	}
	notices := make(chan string, 1)
	t.FullScreen = true
	t.OnThrottled = func(d time.Duration) {
		select {
		case notices <- fmt.Sprintf("the server's request limit was reached; continuing in %d s", int(d.Seconds())):
		default: // a notice is already pending
		}
	}
	c, err := a.connectAndKeep(ctx, t)
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
	aside := *a // no side output while a screen is shown
	aside.progress = nil
	o.Resolve, o.Sync = aside.resolveSyncConflict, aside.syncAndSummarize
	if o.Editor == "" {
		o.Editor = a.Env("EDITOR")
	}
	switch {
	case len(args) > 0:
		o.Assessment, err = a.findAssessment(ctx, args[0])
	case a.flags.assessment != "":
		o.Assessment, err = a.findAssessment(ctx, a.flags.assessment)
	default:
		if id := a.readSavedState().LastAssessments[a.savedStateKey()]; id != "" {
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

// dataLocation returns a short description of where the data is stored.
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

// Package tui is the terminal interface: assessments, and a fast review of what was drafted.
//
// It reaches the engine only through the client, like the command line, and contains no domain
// rules. Update never blocks: work runs in the background and comes back as a function that Update
// applies. The package reads neither clock nor environment; everything is passed in Options.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
)

// Caller calls API operations. It is implemented by *client.Client.
type Caller interface {
	Call(ctx context.Context, op *api.Operation, in, out any) error
}

// Options configures the interface.
type Options struct {
	Caller Caller
	// Location describes where the data is, for the header.
	Location string
	// Assessment is the one to open first; nil starts with the list.
	Assessment *api.Assessment
	// OnOpen is called with each assessment opened, which becomes the default of commands.
	OnOpen func(id string)
	// Resolve resolves a conflict at the assessment's remote; nil means that Caller resolves it.
	// Sync syncs a clone with its remote and returns a summary; nil means that syncing is not
	// available here.
	Resolve func(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error)
	Sync    func(ctx context.Context, assessment string) (string, error)
	// Notices receives messages to show, e.g. that the server asked to slow down.
	Notices <-chan string
	// Color enables colors, Mouse clicks and the wheel.
	Color, Mouse bool
	Clock        func() time.Time
	// RequestTimeout is the timeout of requests that need no work; 0 means 30 seconds.
	RequestTimeout time.Duration
	// Editor is the editor command, or empty if there is none.
	Editor string
	// ExportFolder is the folder for exports, or empty for the current one.
	ExportFolder string
}

// Run shows the interface until the user quits or ctx ends.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a := newApp(ctx, o)
	a.terminal = out
	settings := []tea.ProgramOption{
		tea.WithContext(ctx),
		tea.WithInput(in),
		tea.WithOutput(out),
		tea.WithAltScreen(),
		tea.WithoutSignalHandler(),
	}
	if o.Mouse {
		settings = append(settings, tea.WithMouseCellMotion())
	}
	_, err := tea.NewProgram(a, settings...).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// call calls an operation.
func call[I, O any](ctx context.Context, c Caller, op api.Op[I, O], in *I) (*O, error) {
	var out O
	if err := c.Call(ctx, op.Operation, in, &out); err != nil {
		return nil, err
	}
	if !isCompleteResponse(&out) {
		return nil, fmt.Errorf("the response to %s %s is invalid; check that the address is that of a server running this program",
			op.Method, op.Path)
	}
	return &out, nil
}

// isCompleteResponse reports whether a response is complete: a list needs rows, which may be empty, and a record needs
// an ID. Other JSON has neither.
func isCompleteResponse(out any) bool {
	v := reflect.ValueOf(out).Elem()
	if v.Kind() != reflect.Struct {
		return true
	}
	if rows := v.FieldByName("Data"); rows.IsValid() && rows.Kind() == reflect.Slice && rows.IsNil() {
		return false
	}
	id := v.FieldByName("ID")
	return !id.IsValid() || id.Kind() != reflect.String || id.String() != ""
}

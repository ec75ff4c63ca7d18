// Package tui is the terminal interface: assessments, and the review of what was
// drafted, at the speed of a good mail program.
//
// It reaches the engine through client alone, like the command line, and holds
// no rule of the domain. Nothing waits in Update: what takes time runs beside it and
// comes back as a function that Update applies. It reads neither the clock nor the
// environment by itself: all that arrives in Options.
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

// Caller calls operations; *client.Client is one.
type Caller interface {
	Call(ctx context.Context, op *api.Operation, in, out any) error
}

// Options are what the interface is made of.
type Options struct {
	Caller Caller
	// Location says where the data is, for the first line.
	Location string
	// Assessment is the one to begin with; nil begins with the list.
	Assessment *api.Assessment
	// OnOpen is told which assessment is looked at, so that commands mean it too.
	OnOpen func(id string)
	// Resolve decides a conflict where that is done: at the home of the assessment. Nil: where
	// Caller calls. Together brings a clone and its home together, and says what came of it;
	// nil where that can't be done from here.
	Resolve func(ctx context.Context, in *api.ResolveSyncInput) (*api.SyncConflict, error)
	Sync    func(ctx context.Context, assessment string) (string, error)
	// Notices are words on the side, such as that the server asks to slow down.
	Notices <-chan string
	// Color: colours are welcome. Mouse: clicks and the wheel are listened to.
	Color, Mouse bool
	Clock        func() time.Time
	// RequestTimeout is how long an answer may take that needs no work; half a minute where 0.
	RequestTimeout time.Duration
	// Editor is the command for long texts; empty where there is none.
	Editor string
	// ExportFolder is where exports are written; empty for the folder it was started in.
	ExportFolder string
}

// Run shows the interface until it is left, or ctx ends.
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
	if !isComplete(&out) {
		return nil, fmt.Errorf("what came as the answer of %s %s is none: is a server of this program there?", op.Method, op.Path)
	}
	return &out, nil
}

// isComplete tells whether a list has its rows, if none, and a record its id: JSON of another
// kind decodes to neither, and would show as nothing at all.
func isComplete(out any) bool {
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

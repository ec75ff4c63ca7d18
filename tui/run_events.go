package tui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
)

const (
	// maxEventBytes is the maximum size of an event line.
	maxEventBytes = 4 << 20
	// silenceTimeout is how long a stream may be silent; engines send a keep-alive four times as
	// often.
	silenceTimeout = time.Minute
)

// errRunEnded is returned after the last event of a run.
var errRunEnded = errors.New("the run has ended")

// followRun reports a workflow run's changes from its events until the screen is left. onEnd is
// called at the end, with errRunEnded or the error.
func (a *App) followRun(runID string, onChange func(*api.WorkflowRun) tea.Cmd, onEnd func(err error) tea.Cmd) tea.Cmd {
	a.stopFollowingRun()
	ctx, stop := context.WithCancel(a.ctx)
	left := false
	a.stopFollowing = func() { left = true; stop() }
	var events *bufio.Scanner
	var next tea.Cmd
	next = func() tea.Msg {
		var one *api.WorkflowRun
		var err error
		if events == nil {
			events, err = a.openRunEvents(ctx, runID, stop)
		}
		if err == nil {
			one, err = readEvent(events)
		}
		if err != nil {
			stop()
		}
		return completedWork{apply: func() tea.Cmd {
			var cmds []tea.Cmd
			if one != nil && !left {
				cmds = append(cmds, onChange(one))
			}
			switch {
			case left || a.ctx.Err() != nil:
			case err != nil:
				cmds = append(cmds, onEnd(err))
			default:
				cmds = append(cmds, next)
			}
			return tea.Batch(cmds...)
		}}
	}
	return next
}

// stopFollowingRun stops following the run, if one is being followed.
func (a *App) stopFollowingRun() {
	if a.stopFollowing != nil {
		a.stopFollowing()
		a.stopFollowing = nil
	}
}

// openRunEvents opens a run's event stream, which is closed when ctx ends. If nothing arrives for silenceTimeout, it calls stop,
// which must cancel ctx.
func (a *App) openRunEvents(ctx context.Context, runID string, stop func()) (*bufio.Scanner, error) {
	quiet := time.AfterFunc(silenceTimeout, stop)
	context.AfterFunc(ctx, func() { quiet.Stop() })
	var f api.File
	in := &api.WorkflowEventsInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: runID}}
	if err := a.Caller.Call(ctx, api.WatchWorkflow.Operation, in, &f); err != nil {
		return nil, err
	}
	if f.Content == nil {
		return nil, io.ErrUnexpectedEOF
	}
	context.AfterFunc(ctx, func() { _ = f.Content.Close() })
	s := bufio.NewScanner(activityReader{f.Content, quiet})
	s.Buffer(nil, maxEventBytes)
	return s, nil
}

// activityReader resets the silence timeout on each read.
type activityReader struct {
	io.Reader
	timer *time.Timer
}

func (s activityReader) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if n > 0 {
		s.timer.Reset(silenceTimeout)
	}
	return n, err
}

// readEvent reads the next event of a run and returns the run's state at that time.
func readEvent(s *bufio.Scanner) (*api.WorkflowRun, error) {
	kind, data := "", ""
	for s.Scan() {
		name, value, _ := strings.Cut(s.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "event":
			kind = value
		case name == "data":
			data = value
		case name == "" && value == "" && data != "":
			var run api.WorkflowRun
			if err := json.Unmarshal([]byte(data), &run); err != nil {
				return nil, err
			}
			if kind == "end" {
				return &run, errRunEnded
			}
			return &run, nil
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

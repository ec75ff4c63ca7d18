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
	// mostEvent bounds a line of a run's events.
	mostEvent = 4 << 20
	// silence is how long a stream may say nothing; an engine gives a sign of life four times as often.
	silence = time.Minute
)

// errEnded comes with the last event of a run.
var errEnded = errors.New("the run has ended")

// follow tells of a workflow run's changes as its events come, for as long as the screen
// stays. over is called where they end: with errEnded, or why no more come.
func (a *App) follow(run string, changed func(*api.WorkflowRun) tea.Cmd, over func(err error) tea.Cmd) tea.Cmd {
	a.leave()
	ctx, stop := context.WithCancel(a.ctx)
	left := false
	a.unfollow = func() { left = true; stop() }
	var events *bufio.Scanner
	var next tea.Cmd
	next = func() tea.Msg {
		var one *api.WorkflowRun
		var err error
		if events == nil {
			events, err = a.events(ctx, run, stop)
		}
		if err == nil {
			one, err = readEvent(events)
		}
		if err != nil {
			stop()
		}
		return applied{f: func() tea.Cmd {
			var cmds []tea.Cmd
			if one != nil && !left {
				cmds = append(cmds, changed(one))
			}
			switch {
			case left || a.ctx.Err() != nil:
			case err != nil:
				cmds = append(cmds, over(err))
			default:
				cmds = append(cmds, next)
			}
			return tea.Batch(cmds...)
		}}
	}
	return next
}

// leave ends what is followed, if anything is.
func (a *App) leave() {
	if a.unfollow != nil {
		a.unfollow()
		a.unfollow = nil
	}
}

// events opens a run's events; stop ends them.
func (a *App) events(ctx context.Context, run string, stop func()) (*bufio.Scanner, error) {
	quiet := time.AfterFunc(silence, stop)
	context.AfterFunc(ctx, func() { quiet.Stop() })
	var f api.File
	in := &api.WorkflowEventsInput{WorkflowInput: api.WorkflowInput{WorkflowRunID: run}}
	if err := a.Caller.Call(ctx, api.WatchWorkflow.Operation, in, &f); err != nil {
		return nil, err
	}
	if f.Content == nil {
		return nil, io.ErrUnexpectedEOF
	}
	context.AfterFunc(ctx, func() { _ = f.Content.Close() })
	s := bufio.NewScanner(signsOfLife{f.Content, quiet})
	s.Buffer(nil, mostEvent)
	return s, nil
}

// signsOfLife puts the end for silence off with each read.
type signsOfLife struct {
	io.Reader
	quiet *time.Timer
}

func (s signsOfLife) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if n > 0 {
		s.quiet.Reset(silence)
	}
	return n, err
}

// readEvent reads the next event of a run.
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
				return &run, errEnded
			}
			return &run, nil
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

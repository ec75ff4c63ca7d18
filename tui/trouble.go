package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// lost is where no engine answers: what is to be done waits, and is tried again.
type lost struct {
	since bool
	why   string
	tries int
	in    time.Duration
	// turn counts the waits, so that one that was overtaken does nothing.
	turn int
}

// gone tells whether an error is of the connection, not of what was asked.
func gone(err error) bool {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code == api.CodeRateLimit || e.Code == api.CodeUnauthorized || e.Hidden()
	}
	return err != nil && !errors.Is(err, context.Canceled)
}

// explain says an error in one line, with what to do where that is known.
func explain(err error) string {
	var e *api.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, client.ErrBrokeOff):
		return client.ErrBrokeOff.Error()
	case !errors.As(err, &e):
		return err.Error()
	}
	text := e.Message
	for _, d := range e.Details {
		if d.Message != "" && !strings.Contains(text, d.Message) {
			text += "; " + strings.TrimPrefix(d.Field+": ", ": ") + d.Message
		}
	}
	switch {
	case e.Code == api.CodeUnauthorized:
		text += "; sign in with `service login` and start again"
	case e.Hidden() && e.TraceID != "":
		text += ": " + e.TraceID
	}
	return text
}

// fail tells what went wrong. What is of the connection is tried again by itself.
func (a *App) fail(err error) tea.Cmd {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case gone(err):
		return a.lose(err)
	}
	a.said, a.trouble = explain(err), true
	return nil
}

// longestWait is how long at most passes between two tries.
const longestWait = 30 * time.Second

// lose notes that nobody answers, and comes back to it after a while.
func (a *App) lose(err error) tea.Cmd {
	l := &a.lost
	l.since, l.why = true, explain(err)
	l.in = min(longestWait, time.Second<<min(l.tries, 10))
	var e *api.Error
	if errors.As(err, &e) && e.RetryAfter() > 0 {
		l.in = time.Duration(e.RetryAfter()) * time.Second
	}
	l.tries++
	l.turn++
	turn := l.turn
	return a.after(l.in, func() tea.Cmd {
		if turn != a.lost.turn || !a.lost.since {
			return nil
		}
		return a.again()
	})
}

// found notes that somebody answers.
func (a *App) found() { a.lost = lost{turn: a.lost.turn} }

func (l *lost) words(a *App) string {
	kept := ""
	if n := a.saver.waiting(); n > 0 {
		kept = print.Count(n, "change is kept, ", "changes are kept, ")
	}
	return fmt.Sprintf("%strying again in %d s (Ctrl-R: now): %s", kept, int(l.in.Seconds()), l.why)
}

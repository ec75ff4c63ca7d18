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

// connectionLoss is where no engine answers: what is to be done waits, and is tried again.
type connectionLoss struct {
	active   bool
	reason   string
	attempts int
	retryIn  time.Duration
	// waitSeq counts the waits, so that one that was overtaken does nothing.
	waitSeq int
}

// isConnectionError tells whether an error is of the connection, not of what was asked.
func isConnectionError(err error) bool {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code == api.CodeRateLimit || e.Code == api.CodeUnauthorized || e.IsHidden()
	}
	return err != nil && !errors.Is(err, context.Canceled)
}

// explainError says an error in one line, with what to do where that is known.
func explainError(err error) string {
	var e *api.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, client.ErrConnectionLost):
		return client.ErrConnectionLost.Error()
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
	case e.IsHidden() && e.TraceID != "":
		text += ": " + e.TraceID
	}
	return text
}

// showError tells what went wrong. What is of the connection is tried again by itself.
func (a *App) showError(err error) tea.Cmd {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case isConnectionError(err):
		return a.scheduleReconnect(err)
	}
	a.statusText, a.isError = explainError(err), true
	return nil
}

// maxRetryDelay is how long at most passes between two tries.
const maxRetryDelay = 30 * time.Second

// scheduleReconnect notes that nobody answers, and comes back to it after a while.
func (a *App) scheduleReconnect(err error) tea.Cmd {
	l := &a.connection
	l.active, l.reason = true, explainError(err)
	l.retryIn = min(maxRetryDelay, time.Second<<min(l.attempts, 10))
	var e *api.Error
	if errors.As(err, &e) && e.RetryAfter() > 0 {
		l.retryIn = time.Duration(e.RetryAfter()) * time.Second
	}
	l.attempts++
	l.waitSeq++
	turn := l.waitSeq
	return a.schedule(l.retryIn, func() tea.Cmd {
		if turn != a.connection.waitSeq || !a.connection.active {
			return nil
		}
		return a.retryAndReload()
	})
}

// markConnected notes that somebody answers.
func (a *App) markConnected() { a.connection = connectionLoss{waitSeq: a.connection.waitSeq} }

func (l *connectionLoss) message(a *App) string {
	kept := ""
	if n := a.saver.unsavedCount(); n > 0 {
		kept = print.Pluralize(n, "change is kept, ", "changes are kept, ")
	}
	return fmt.Sprintf("%strying again in %d s (Ctrl-R: now): %s", kept, int(l.retryIn.Seconds()), l.reason)
}

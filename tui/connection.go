package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/internal/prose"
)

// connectionLoss is the state while the engine is unreachable: pending work is kept and retried.
type connectionLoss struct {
	active   bool
	reason   string
	attempts int
	retryIn  time.Duration
	// waitSeq numbers the waits, so that an outdated one does nothing.
	waitSeq int
}

// isRetryableError reports whether an error is caused by the connection rather than the request.
func isRetryableError(err error) bool {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code == api.CodeRateLimit || e.Code == api.CodeUnauthorized || e.IsCauseHidden()
	}
	return err != nil && !errors.Is(err, context.Canceled)
}

// explainError returns an error as one line, with advice if there is any.
func explainError(err error) string {
	var e *api.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the server did not respond in time"
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
		text += "; sign in with `service login`, then start the program again"
	case e.IsCauseHidden() && e.TraceID != "":
		text += ": " + e.TraceID
	}
	return text
}

// showErrorOrReconnect shows an error, or schedules a new attempt if the connection caused it.
func (a *App) showErrorOrReconnect(err error) tea.Cmd {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case isRetryableError(err):
		return a.scheduleReconnect(err)
	}
	a.statusText, a.isError = explainError(err), true
	return nil
}

// maxRetryDelay is the maximum delay between retries.
const maxRetryDelay = 30 * time.Second

// scheduleReconnect records that the connection is lost and schedules a retry.
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

// markConnected records that the engine responded.
func (a *App) markConnected() { a.connection = connectionLoss{waitSeq: a.connection.waitSeq} }

// message returns the status line while the connection is lost.
func (l *connectionLoss) message(a *App) string {
	note := ""
	if n := a.saver.unsavedCount(); n > 0 {
		note = prose.Count(n, "change is kept, ", "changes are kept, ")
	}
	return fmt.Sprintf("%sretrying in %d s (Ctrl-R: now): %s", note, int(l.retryIn.Seconds()), l.reason)
}

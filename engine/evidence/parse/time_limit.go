package parse

import (
	"context"
	"time"
)

// timeLimit ends a context when the time allowed to a document is over.
type timeLimit struct {
	ctx     context.Context
	stop    context.CancelFunc
	allowed time.Duration
	waited  time.Duration // before the limit started anew
	timer   *time.Timer
	clock   func() time.Time
	began   time.Time
}

func newTimeLimit(ctx context.Context, allowed time.Duration, clock func() time.Time) *timeLimit {
	if clock == nil {
		clock = func() time.Time { return time.Time{} }
	}
	l := &timeLimit{allowed: allowed, clock: clock, began: clock()}
	l.ctx, l.stop = context.WithCancel(ctx)
	l.timer = time.AfterFunc(allowed, l.stop)
	context.AfterFunc(l.ctx, func() { l.timer.Stop() })
	return l
}

// extend starts a longer limit.
func (l *timeLimit) extend(allowed time.Duration) {
	if allowed > l.allowed && l.timer.Stop() {
		l.allowed = allowed
		l.timer.Reset(allowed)
	}
}

// waitFor takes the slot, waiting while another document has it; if it had to wait, the time limit restarts.
func (l *timeLimit) waitFor(slot chan<- struct{}) error {
	select {
	case slot <- struct{}{}:
		return nil
	default:
	}
	stopped := l.timer.Stop()
	select {
	case slot <- struct{}{}:
		if stopped {
			l.waited = l.clock().Sub(l.began)
			l.timer.Reset(l.allowed)
		}
		return nil
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
}

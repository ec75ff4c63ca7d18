package parse

import (
	"context"
	"time"
)

// timeLimit cancels a context when the time allowed for a document is over.
type timeLimit struct {
	ctx     context.Context
	stop    context.CancelFunc
	allowed time.Duration
	before  time.Duration // time used before the last restart
	timer   *time.Timer
	clock   func() time.Time
	began   time.Time
}

func newTimeLimit(ctx context.Context, allowed time.Duration, clock func() time.Time) *timeLimit {
	if clock == nil {
		clock = func() time.Time { return time.Time{} }
	}
	ctx, cancel := context.WithCancel(ctx)
	l := &timeLimit{ctx: ctx, allowed: allowed, clock: clock, began: clock()}
	l.timer = time.AfterFunc(allowed, cancel)
	l.stop = func() { l.timer.Stop(); cancel() }
	return l
}

// total returns how long the document may take in total, including the time before the last restart.
func (l *timeLimit) total() time.Duration { return l.before + l.allowed }

// restart restarts the timer, which must be stopped, with the full time limit.
func (l *timeLimit) restart() {
	l.before = l.clock().Sub(l.began)
	l.timer.Reset(l.allowed)
}

// extend raises the time limit and restarts the timer, unless the limit is already at least that long.
func (l *timeLimit) extend(allowed time.Duration) {
	if allowed > l.allowed && l.timer.Stop() {
		l.allowed = allowed
		l.restart()
	}
}

// waitFor acquires the slot, after waiting for other documents to release it if necessary. If it had to wait, it
// restarts the time limit.
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
			l.restart()
		}
		return nil
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
}

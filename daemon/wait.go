package daemon

import (
	"context"
	"time"

	"github.com/scf-service/service/api"
)

// settling is implemented by records that change in the background until they reach a final or waiting state.
type settling interface{ Settled() bool }

const (
	// waitPause is the minimum time between two reads of the record that a request is waiting for.
	waitPause = 100 * time.Millisecond
	// waitPoll is the maximum time between two reads. Changes by other processes on the same database are
	// noticed only then.
	waitPoll = time.Second
)

// waitUntilSettled returns a method that rereads a record after each change, until it is settled or the time
// limit set by the request has passed. The rate limiter counts all this as one request.
func (s *Server) waitUntilSettled(read operationFunc) operationFunc {
	return func(ctx context.Context, in any) (any, error) {
		limit, err := in.(interface{ WaitTime() (time.Duration, error) }).WaitTime()
		if err != nil {
			return nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		for {
			changed := s.engine.Changed()
			out, err := read(ctx, in)
			if err != nil || out.(settling).Settled() || waiting.Err() != nil {
				return out, err
			}
			select {
			case <-waiting.Done():
			case <-s.engine.StreamsClosed():
				return out, nil
			case <-time.After(waitPoll):
			case <-changed:
				pause, stop := context.WithTimeout(waiting, waitPause)
				<-pause.Done()
				stop()
			}
		}
	}
}

// bindSettling binds an operation that reads a record which changes in the background. part converts the
// operation's input to that of the method that reads the record.
func bindSettling[I, J, O any](s *Server, op api.Op[I, O], part func(*I) *J, read operationMethod[J, O]) {
	s.bind(op.Operation, s.waitUntilSettled(func(ctx context.Context, in any) (any, error) {
		return read(ctx, callerFrom(ctx), part(in.(*I)))
	}))
}

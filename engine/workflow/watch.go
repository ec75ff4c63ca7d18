package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/scf-service/service/api"
)

const (
	// maxStreams bounds how many follow runs at once in this process.
	maxStreams = 256
	// streamLife is how long one stream lasts; who follows asks again, and is checked again.
	streamLife = 10 * time.Minute
	// beat is the time between two signs of life while nothing happens.
	beat = 15 * time.Second
)

// Watch follows a run: server-sent events, one for each change of the run, and an end.
func (s *Service) Watch(ctx context.Context, by api.Caller, in *api.WorkflowEventsInput) (*api.File, error) {
	last := 0
	if in.LastEventID != "" {
		n, err := strconv.Atoi(in.LastEventID)
		if err != nil {
			return nil, api.Invalid("Last-Event-ID", "the id of an event is a number, not %q", in.LastEventID)
		}
		last = n
	}
	if _, err := s.shown(ctx, by, in.WorkflowRunID); err != nil {
		return nil, err
	}
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, api.RateLimited(int(beat / time.Second))
	}
	return api.StreamFile(ctx, "events", "text/event-stream", func(ctx context.Context, w io.Writer) error {
		defer func() { <-s.streams }()
		return s.follow(ctx, by, in.WorkflowRunID, last, w)
	}), nil
}

// StopWatching ends all streams, so that a server that stops does not wait for them.
func (s *Service) StopWatching() { s.unwatch.Do(func() { close(s.watching) }) }

// follow writes the run after each of its changes, until it has ended.
func (s *Service) follow(ctx context.Context, by api.Caller, id string, last int, w io.Writer) error {
	beats, stopBeats := s.every(beat)
	defer stopBeats()
	ends, stopEnds := s.every(streamLife)
	defer stopEnds()
	looks, stopLooks := s.every(lookEvery)
	defer stopLooks()
	said := ""
	for {
		changed := s.db.Changed()
		run, err := s.shown(ctx, by, id)
		if api.IsCode(err, api.CodeNotFound) {
			return nil // deleted with its assessment
		}
		if err != nil {
			return err
		}
		detail := ""
		if run.Detail != nil {
			detail = *run.Detail
		}
		if run.Revision > last || detail != said {
			if err := send(w, "progress", run); err != nil {
				return err
			}
			last, said = run.Revision, detail
		}
		if !run.Status.Live() {
			return send(w, "end", run)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.watching:
			return nil
		case <-ends:
			return nil
		case <-changed:
		case <-looks:
		case <-beats:
			if _, err := io.WriteString(w, ": still here\n\n"); err != nil {
				return err
			}
		}
	}
}

func send(w io.Writer, kind string, run *api.WorkflowRun) error {
	api.NeverNull(run)
	b, err := json.Marshal(run)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: %s\nid: %d\ndata: %s\n\n", kind, run.Revision, b)
	return err
}

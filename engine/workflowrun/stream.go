package workflowrun

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
	// maxStreams is the maximum number of concurrent streams in this process.
	maxStreams = 256
	// streamLifetime is how long a stream lasts. Clients reconnect and are authorized again.
	streamLifetime = 10 * time.Minute
	// heartbeat is the interval between keep-alive comments.
	heartbeat = 15 * time.Second
)

// Watch returns a stream of server-sent events: one for each change of the run, until the run has ended.
func (s *Service) Watch(ctx context.Context, by api.Caller, in *api.WorkflowEventsInput) (*api.File, error) {
	last := 0
	if in.LastEventID != "" {
		n, err := strconv.Atoi(in.LastEventID)
		if err != nil {
			return nil, api.Invalid("Last-Event-ID", "an event ID must be a number, not %q", in.LastEventID)
		}
		last = n
	}
	if _, err := s.readRun(ctx, by, in.WorkflowRunID); err != nil {
		return nil, err
	}
	select {
	case s.streamSlots <- struct{}{}:
	default:
		return nil, api.RateLimited(int(heartbeat / time.Second))
	}
	return api.StreamFile(ctx, "events", "text/event-stream", func(ctx context.Context, w io.Writer) error {
		defer func() { <-s.streamSlots }()
		return s.streamRun(ctx, by, in.WorkflowRunID, last, w)
	}), nil
}

// CloseStreams ends all streams, so that they do not delay a server's shutdown.
func (s *Service) CloseStreams() { s.closeOnce.Do(func() { close(s.streamsClosed) }) }

// StreamsClosed returns a channel that is closed when streams have to end.
func (s *Service) StreamsClosed() <-chan struct{} { return s.streamsClosed }

// streamRun writes the run after each change until it has ended.
func (s *Service) streamRun(ctx context.Context, by api.Caller, id string, last int, w io.Writer) error {
	beats, stopBeats := s.newTicker(heartbeat)
	defer stopBeats()
	ends, stopEnds := s.newTicker(streamLifetime)
	defer stopEnds()
	looks, stopLooks := s.newTicker(pollInterval)
	defer stopLooks()
	lastDetail := ""
	for {
		changed := s.db.Changed()
		run, err := s.readRun(ctx, by, id)
		if api.IsCode(err, api.CodeNotFound) {
			return nil // deleted together with its assessment
		}
		if err != nil {
			return err
		}
		detail := ""
		if run.Detail != nil {
			detail = *run.Detail
		}
		if run.Revision > last || detail != lastDetail {
			if err := sendEvent(w, "progress", run); err != nil {
				return err
			}
			last, lastDetail = run.Revision, detail
		}
		if !run.Status.IsLive() {
			return sendEvent(w, "end", run)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.streamsClosed:
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

func sendEvent(w io.Writer, eventType string, run *api.WorkflowRun) error {
	api.ReplaceNilCollections(run)
	b, err := json.Marshal(run)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: %s\nid: %d\ndata: %s\n\n", eventType, run.Revision, b)
	return err
}

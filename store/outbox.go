package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scf-service/service/internal/tracing"
)

// Event describes the effect of a transaction, to be processed later.
type Event struct {
	Sequence       int64           `json:"sequence"` // ascending, without gaps; 0 until the event has been numbered
	ID             string          `json:"id"`       // set by Append if empty; the same in every delivery
	Topic          string          `json:"topic"`
	OrganizationID string          `json:"organization_id,omitempty"` // empty if it concerns no organization
	Time           time.Time       `json:"time"`                      // set by Append if zero
	Payload        json.RawMessage `json:"payload,omitempty"`
	// Trace is the trace context of the event as a traceparent header; empty if tracing is off.
	Trace string `json:"trace,omitempty"` // set by Append
}

// Outbox holds events from the transaction that created them until every consumer has processed them. A
// consumer calls Next, does its work outside the transaction, and then calls Ack. After a crash in between, it
// receives the same events again.
//
// If there is a sole writer, each Update numbers its events. If several processes write, all of their Updates would
// conflict over the number, so events are stored without one. Events that have been committed are numbered by the
// first Next in an Update, which runs in the one process that processes events. An event that is committed late gets a
// higher number than those that were committed before, so none is skipped. The events of one organization are numbered
// in the order in which they were committed: their IDs are in that order (see Tx.FollowID).
var Outbox outbox

type outbox struct{}

// outboxConsumer is the progress of a consumer.
type outboxConsumer struct {
	Consumer string `json:"consumer"`
	Done     int64  `json:"done"` // sequence of the last event that it has acknowledged
}

const outboxSequence = "_outbox"

var (
	outboxEvents     = NewTable("_outbox", func(e *Event) Key { return K(e.Sequence) })
	outboxUnnumbered = NewTable("_outbox_new", func(e *Event) Key { return K(e.ID) })
	outboxConsumers  = NewTable("_outbox_readers", func(r *outboxConsumer) Key { return K(r.Consumer) })
)

// Append adds the event to the transaction and returns it as stored.
func (outbox) Append(tx *Tx, e Event) (Event, error) {
	if e.Topic == "" {
		return Event{}, errors.New("outbox: an event needs a topic")
	}
	if err := tx.checkUsable(true); err != nil {
		return Event{}, fmt.Errorf("outbox: %w", err)
	}
	if e.ID == "" {
		e.ID = tx.NewID()
	}
	if e.Time.IsZero() {
		e.Time = tx.Now()
	}
	e.Trace = tracing.Current(tx.Context()).String()
	if !tx.db.soleWriter {
		return e, outboxUnnumbered.Insert(tx, &e)
	}
	return numberEvent(tx, e)
}

// numberEvent stores an event with the next number.
func numberEvent(tx *Tx, e Event) (Event, error) {
	var err error
	if e.Sequence, err = tx.NextSequence(outboxSequence); err != nil {
		return Event{}, fmt.Errorf("outbox: %w", err)
	}
	return e, outboxEvents.Insert(tx, &e)
}

// numberEvents numbers up to limit events that were stored without a number, in the order of their IDs.
func numberEvents(tx *Tx, limit int) error {
	var events []Event
	for e, err := range outboxUnnumbered.Scan(tx) {
		if err != nil {
			return err
		}
		if events = append(events, e); len(events) == limit {
			break
		}
	}
	for _, e := range events {
		if err := outboxUnnumbered.Delete(tx, e.ID); err != nil {
			return err
		}
		if _, err := numberEvent(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// Next returns up to limit events that the consumer has not acknowledged, in order. A new consumer starts with the
// oldest event. In a View, the last events may not have a number yet.
func (outbox) Next(tx *Tx, consumer string, limit int) ([]Event, error) {
	done, err := lastAcked(tx, consumer)
	if err != nil {
		return nil, err
	}
	var events []Event
	if limit <= 0 {
		return nil, nil
	}
	if tx.writable {
		if err := numberEvents(tx, limit); err != nil {
			return nil, err
		}
	}
	for e, err := range outboxEvents.Scan(tx, From(done+1)) {
		if err != nil {
			return nil, err
		}
		if events = append(events, e); len(events) == limit {
			return events, nil
		}
	}
	if tx.writable { // all events have been numbered
		return events, nil
	}
	for e, err := range outboxUnnumbered.Scan(tx) {
		if err != nil {
			return nil, err
		}
		if events = append(events, e); len(events) == limit {
			break
		}
	}
	return events, nil
}

// Ack acknowledges all events up to sequence for the consumer. A sequence lower than the last one acknowledged
// has no effect; one that has not been written yet is an error.
func (outbox) Ack(tx *Tx, consumer string, sequence int64) error {
	done, err := lastAcked(tx, consumer)
	if err != nil || sequence <= done {
		return err
	}
	last, err := tx.lastSequence(outboxSequence)
	if err != nil {
		return err
	}
	if sequence > last {
		return fmt.Errorf("outbox: %w: event %d; the last event is %d", ErrNotFound, sequence, last)
	}
	return outboxConsumers.Put(tx, &outboxConsumer{Consumer: consumer, Done: sequence})
}

// Prune deletes up to limit events that are older than before and that all given consumers have acknowledged,
// oldest first, and returns their number. consumers must include all consumers; any other consumer would lose
// events.
func (outbox) Prune(tx *Tx, before time.Time, limit int, consumers ...string) (int, error) {
	if len(consumers) == 0 {
		return 0, errors.New("outbox: pruning needs the names of all consumers")
	}
	through := int64(-1)
	for _, c := range consumers {
		done, err := lastAcked(tx, c)
		if err != nil {
			return 0, err
		}
		if through < 0 || done < through {
			through = done
		}
	}
	n := 0
	for e, err := range outboxEvents.Scan(tx, Through(through)) {
		if err != nil {
			return n, err
		}
		if n >= limit || !e.Time.Before(before) {
			break
		}
		if err := outboxEvents.Delete(tx, e.Sequence); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func lastAcked(tx *Tx, consumer string) (int64, error) {
	if consumer == "" {
		return 0, errors.New("outbox: a consumer needs a name")
	}
	r, err := outboxConsumers.Get(tx, consumer)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return r.Done, err
}

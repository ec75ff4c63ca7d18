// Package delivery delivers events from the outbox to their subscribers.
//
//	a change ─▶ outbox (in its transaction) ─▶ fan-out: one delivery per receiver
//	due deliveries ─▶ one lane per receiver ─▶ send, record the attempt
//
// A lane sends the deliveries of its receiver in order, and waits for no other lane. Organizations take turns when
// there are more lanes than may send at once.
//
// A delivery exists if and only if the change does. It is sent at least once, always with the
// same ID; after a crash between sending and recording it is sent again. How it is sent is up to
// the receiver's kind; no decisions are made here.
package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// States of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Retrying  = "retrying"
	Failed    = "failed"
)

const (
	outboxConsumer     = "webhooks"      // of the outbox
	eventBatch         = 200             // events fanned out in one transaction
	skipBatch          = 32              // events without subscribers skipped together
	maxPerTurn         = 20              // maximum number of deliveries of a lane per turn
	pauseAfterFailures = 10              // consecutive failed deliveries
	pollInterval       = 2 * time.Second // for retries; new events wake the loop
	retention          = 30 * 24 * time.Hour
	pruneBatch         = 500 // deliveries checked for expiry in a round
	pruneInterval      = time.Hour
	maxRetryAfter      = 8 * time.Hour // longest Retry-After that is honored
)

// retryDelays are the times between delivery attempts, about 24 hours in total.
var retryDelays = []time.Duration{
	5 * time.Second,
	30 * time.Second,
	2 * time.Minute,
	10 * time.Minute,
	30 * time.Minute,
	time.Hour,
	2 * time.Hour,
	4 * time.Hour,
	8 * time.Hour,
	8 * time.Hour,
}

// EventTypes lists the event types that can be subscribed to.
var EventTypes = []string{
	"agent_run.completed", "agent_run.failed", "alert.firing", "alert.resolved", "approval.decided", "approval.requested",
	"assessment.closed", "assessment.created", "assessment.deleted", "assessment.state_changed",
	"document.failed", "document.ingested",
	"gap_analysis.approved", "gap_analysis.drafted", "gap_analysis.rejected", "gap_analysis.submitted",
	"maturity.approved", "maturity.drafted", "maturity.rejected", "maturity.submitted",
	"poam.approved", "poam.drafted", "poam.rejected", "poam.submitted",
	"reader.imported", "reader.read", "report.ready", "scope.approved",
	"soa.approved", "soa.drafted", "soa.rejected", "soa.submitted",
	"sync.conflict", "workflow.completed", "workflow.failed",
}

// NormalizeEventTypes returns the event types sorted and without duplicates, or an error if one is
// unknown.
func NormalizeEventTypes(events []string) ([]string, error) {
	out := slices.Clone(events)
	slices.Sort(out)
	out = slices.Compact(out)
	for _, e := range out {
		if !slices.Contains(EventTypes, e) {
			return nil, api.Invalid("events", "unknown event %q; choose from %s", e, strings.Join(EventTypes, ", "))
		}
	}
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// Payload is an event in the form in which it is sent to a receiver.
type Payload struct {
	ID             string    `json:"id"`
	Type           string    `json:"type"`
	CreatedAt      time.Time `json:"created_at"`
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Data           any       `json:"data"`
}

// Receiver is a subscriber to events.
type Receiver struct {
	ID, OrganizationID string
	CreatedAt          time.Time
	Enabled            bool
	// SubscribesTo reports whether the receiver subscribes to events of the given type.
	SubscribesTo func(event string) bool
}

// State is a receiver's delivery state.
type State struct {
	Enabled     bool
	FailedInRow int // consecutive deliveries that were given up
	// AuditDetails identifies the receiver in the audit trail, without secrets.
	AuditDetails map[string]any
}

// ReceiverKind implements one kind of receiver, such as webhooks.
type ReceiverKind interface {
	// Name returns the kind's name, such as "webhook".
	Name() string
	// Receivers returns the receivers of an organization, or of all organizations if org is "".
	Receivers(tx *store.Tx, org string) ([]Receiver, error)
	// Send makes one attempt. The error is shown to users and says why the delivery was not
	// accepted.
	Send(ctx context.Context, d *store.Delivery) (status int, err error)
	// State and SaveState load and store a receiver's delivery state; last is the latest attempt.
	State(tx *store.Tx, org, id string) (State, error)
	SaveState(tx *store.Tx, org, id string, now State, last api.DeliveryAttempt) error
}

// SendError is an error that also determines whether and when to retry.
type SendError struct {
	Reason string
	// RetryAfter is the minimum time until the next attempt; Permanent means that there is no next attempt.
	RetryAfter time.Duration
	Permanent  bool
}

func (r *SendError) Error() string { return r.Reason }

// New returns a delivery of an event to a receiver, due now.
func New(tx *store.Tx, org, receiver, eventID, eventType string, body any) (store.Delivery, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return store.Delivery{}, err
	}
	now := tx.Now()
	return store.Delivery{WebhookID: receiver, Payload: b, Delivery: api.Delivery{
		TenantRecord: api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: now, UpdatedAt: now}, OrganizationID: org},
		EventID:      eventID, EventType: eventType, Status: Pending, Attempts: []api.DeliveryAttempt{}, NextAttemptAt: &now,
	}}, nil
}

// Options holds the dependencies of a Dispatcher.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	Kinds     []ReceiverKind
	// Tracer traces deliveries. It may be nil.
	Tracer *tracing.Tracer
}

// Dispatcher creates a delivery for each receiver of an event, and sends the deliveries.
type Dispatcher struct {
	Options
	lanes    lanes
	stop     context.CancelFunc
	working  sync.WaitGroup
	recorder attemptRecorder
	// nextPrune is the time of the next deletion of old deliveries; nextSearch is when lanes are
	// next read from the store.
	nextPrune, nextSearch time.Time
}

// NewDispatcher returns a Dispatcher. It sends nothing before Start.
func NewDispatcher(o Options) *Dispatcher {
	l := &Dispatcher{Options: o}
	l.lanes.init()
	return l
}

// Start starts sending, including what an earlier process left unsent, until Close is called.
func (l *Dispatcher) Start(ctx context.Context) {
	ctx, l.stop = context.WithCancel(ctx)
	ticks, stopTicks := l.NewTicker(pollInterval)
	l.working.Go(func() {
		defer stopTicks()
		for {
			changed := l.DB.Changed()
			if !l.DB.IsLeader() {
				// another process sends
			} else if err := l.work(ctx); err != nil && ctx.Err() == nil {
				l.Logger.Warn("delivering events failed", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			case <-l.lanes.ready:
			case <-ticks:
			}
		}
	})
}

// Close aborts requests in progress and waits for them to end; aborted deliveries are retried
// later.
func (l *Dispatcher) Close() {
	if l.stop != nil {
		l.stop()
	}
	l.working.Wait()
}

// Wake makes the dispatcher look for due deliveries of a receiver. Call it when a delivery becomes due for a reason
// other than a new event.
func (l *Dispatcher) Wake(organizationID, receiverID string) {
	if l.DB.IsLeader() { // else the process that sends finds it in the store
		l.lanes.wake(laneKey{organizationID, receiverID}, l.Clock())
	}
}

// LaneStats counts the receivers with unfinished deliveries, by the state of their lanes.
func (l *Dispatcher) LaneStats() LaneStats { return l.lanes.stats(l.Clock()) }

// RunOnce creates the deliveries of new events, sends those that are due and waits until they have
// been sent, and deletes old ones.
func (l *Dispatcher) RunOnce(ctx context.Context) error {
	l.nextSearch = time.Time{}
	err := l.work(ctx)
	l.working.Wait()
	return errors.Join(err, ctx.Err())
}

// work creates the deliveries of new events, starts the lanes with due deliveries and deletes old ones.
func (l *Dispatcher) work(ctx context.Context) error {
	for {
		more, err := l.createDeliveries(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := l.findLanes(ctx); err != nil {
		return err
	}
	for _, k := range l.lanes.start(l.Clock()) {
		l.working.Go(func() { l.serveLane(ctx, k) })
	}
	return l.deleteOldDeliveries(ctx)
}

// createDeliveries creates the deliveries of the oldest unprocessed events. hasMore reports whether
// unprocessed events remain.
func (l *Dispatcher) createDeliveries(ctx context.Context) (hasMore bool, err error) {
	waiting, wanted := 0, false
	if err := l.DB.View(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, outboxConsumer, eventBatch)
		waiting, wanted = len(events), false
		known := map[string][]Receiver{}
		for i := 0; i < len(events) && err == nil && !wanted; i++ {
			var all []Receiver
			all, err = l.subscribers(tx, &events[i], known)
			wanted = len(all) > 0
		}
		return err
	}); err != nil || waiting == 0 || !wanted && waiting < skipBatch {
		return false, err
	}
	var to []laneKey
	err = l.DB.Update(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, outboxConsumer, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		to = nil
		hasMore = len(events) == eventBatch
		known := map[string][]Receiver{}
		for _, e := range events {
			some, err := l.createEventDeliveries(tx, &e, known)
			if err != nil {
				return err
			}
			to = append(to, some...)
		}
		last := events[len(events)-1].Sequence
		if _, err := store.Outbox.Prune(tx, tx.Now().Add(-retention), eventBatch, outboxConsumer); err != nil {
			return err
		}
		return store.Outbox.Ack(tx, outboxConsumer, last)
	})
	if err != nil {
		return false, err
	}
	for _, k := range to {
		l.lanes.wake(k, l.Clock())
	}
	return hasMore, nil
}

// subscribers returns the receivers that subscribe to an event.
func (l *Dispatcher) subscribers(tx *store.Tx, e *store.Event, receivers map[string][]Receiver) (out []Receiver, err error) {
	if e.OrganizationID == "" || !slices.Contains(EventTypes, e.Topic) {
		return nil, nil
	}
	all, seen := receivers[e.OrganizationID]
	if !seen {
		for _, k := range l.Kinds {
			some, err := k.Receivers(tx, e.OrganizationID)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		receivers[e.OrganizationID] = all
	}
	for _, r := range all {
		if r.Enabled && r.SubscribesTo(e.Topic) && !e.Time.Before(r.CreatedAt) {
			out = append(out, r)
		}
	}
	return out, nil
}

// createEventDeliveries creates the deliveries of an event and returns the lanes of these deliveries.
func (l *Dispatcher) createEventDeliveries(tx *store.Tx, e *store.Event, receivers map[string][]Receiver) (to []laneKey, err error) {
	all, err := l.subscribers(tx, e, receivers)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var payload Payload
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return nil, fmt.Errorf("event %d in the outbox: %w", e.Sequence, err)
	}
	for _, r := range all {
		d, err := New(tx, e.OrganizationID, r.ID, payload.ID, e.Topic, payload)
		if err != nil {
			return nil, err
		}
		d.Trace = e.Trace
		if err := store.Deliveries.Insert(tx, e.OrganizationID, &d); err != nil {
			return nil, err
		}
		to = append(to, laneKey{e.OrganizationID, r.ID})
	}
	return to, nil
}

// attemptDelivery tries once to deliver and records the result. It returns true if the delivery
// succeeded and the result was recorded.
func (l *Dispatcher) attemptDelivery(ctx context.Context, k ReceiverKind, d *store.Delivery) (delivered bool) {
	began := l.Clock()
	// The trace ID is not sent to the receiver, which is not trusted; the event ID links the two.
	ctx, span := l.Tracer.Start(
		ctx,
		"deliver to "+k.Name(),
		tracing.StartOptions{Kind: tracing.Client, FollowsFrom: tracing.ParseTraceparent(d.Trace), Attrs: []tracing.Attr{
			{
				Key:   "service.event",
				Value: d.EventType,
			}, {Key: "service.event_id", Value: d.EventID}, {Key: "service.attempt", Value: d.Tries + 1},
		}},
	)
	status, err := k.Send(ctx, d)
	if status != 0 {
		span.SetAttributes(tracing.Attr{Key: "http.response.status_code", Value: status})
	}
	span.End(err)
	if ctx.Err() != nil {
		return false // aborted: not counted as an attempt
	}
	attempt := api.DeliveryAttempt{At: began.UTC(), HTTPStatus: status, DurationMS: l.Clock().Sub(began).Milliseconds()}
	if err != nil {
		message := err.Error()
		attempt.Error = &message
	}
	if noted := l.recordAttempt(ctx, k, d, attempt, err); noted != nil {
		l.Logger.Warn("the result of a delivery could not be stored; the delivery will be sent again", "delivery", d.ID, "error", noted)
		return false
	}
	return err == nil
}

// retryDelay returns the delay after the given number of attempts. To spread retries out, it varies
// by up to 10% between deliveries, but it is always the same for the same delivery and number of
// attempts.
func retryDelay(id string, tries int) time.Duration {
	d := retryDelays[min(tries, len(retryDelays))-1]
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, tries)
	return d + time.Duration(float64(d)*0.2*(float64(h.Sum32())/(1<<32)-0.5))
}

// Package delivery carries events from the outbox to whoever asked for them.
//
//	a change ─▶ outbox (in its transaction) ─▶ spread: a delivery for each receiver
//	deliveries that are due ─▶ one lane for each receiver ─▶ send, note the attempt
//
// A delivery exists if and only if the change does. It is sent at least once, with the same
// id each time; what crashed between sending and noting is sent again. How it is sent is the
// business of the receiver's kind; nothing is decided here.
package delivery

import (
	"context"
	"encoding/json"
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

// The states of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Retrying  = "retrying"
	Failed    = "failed"
)

const (
	outboxConsumer     = "webhooks"      // of the outbox
	eventBatch         = 200             // events that are spread in one transaction
	skipBatch          = 32              // events that nobody asked for are passed over together
	maxParallel        = 8               // receivers that are sent to at once
	maxPerRound        = 20              // deliveries of one receiver in a round
	pauseAfterFailures = 10              // failed deliveries in a row
	pollInterval       = 2 * time.Second // for retries; what is new is seen at once
	retention          = 30 * 24 * time.Hour
	pruneBatch         = 500 // deliveries that are looked at for their age in a round
	pruneInterval      = time.Hour
	maxRetryAfter      = 8 * time.Hour // that a receiver may ask for
)

// retryDelays are the times between attempts, about 24 hours together.
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

// EventTypes are the types that can be asked for.
var EventTypes = []string{
	"agent_run.completed", "agent_run.failed", "alert.firing", "alert.resolved", "approval.decided", "approval.requested",
	"assessment.closed", "assessment.created", "assessment.deleted", "assessment.state_changed",
	"document.failed", "document.ingested",
	"gap_analysis.approved", "gap_analysis.drafted", "gap_analysis.rejected", "gap_analysis.submitted",
	"maturity.approved", "maturity.drafted", "maturity.rejected", "maturity.submitted",
	"poam.approved", "poam.drafted", "poam.rejected", "poam.submitted",
	"report.ready", "scope.approved",
	"soa.approved", "soa.drafted", "soa.rejected", "soa.submitted",
	"sync.conflict", "workflow.completed", "workflow.failed",
}

// CheckEvents are events in order, each once; an unknown one is refused.
func CheckEvents(events []string) ([]string, error) {
	out := slices.Clone(events)
	slices.Sort(out)
	out = slices.Compact(out)
	for _, e := range out {
		if !slices.Contains(EventTypes, e) {
			return nil, api.Invalid("events", "there is no event %q; known are %s", e, strings.Join(EventTypes, ", "))
		}
	}
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// Payload is what a receiver is told.
type Payload struct {
	ID             string    `json:"id"`
	Type           string    `json:"type"`
	CreatedAt      time.Time `json:"created_at"`
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Data           any       `json:"data"`
}

// Receiver is somebody who is told of events.
type Receiver struct {
	ID, OrganizationID string
	CreatedAt          time.Time
	Enabled            bool
	// SubscribesTo tells whether it asks for events of a type.
	SubscribesTo func(event string) bool
}

// State is what deliveries make of a receiver.
type State struct {
	Enabled     bool
	FailedInRow int // deliveries that were given up, one after the other
	// AuditDetails tells it apart in the audit chain, without a secret.
	AuditDetails map[string]any
}

// ReceiverKind is one sort of receiver.
type ReceiverKind interface {
	// Name is what one is called: "webhook".
	Name() string
	// Receivers are those of an organization; of all where it is "".
	Receivers(tx *store.Tx, org string) ([]Receiver, error)
	// Send sends once. An error says why it was not taken, as far as people may read it.
	Send(ctx context.Context, d *store.Delivery) (status int, err error)
	// State and Noted read and write what deliveries make of a receiver; last is the
	// attempt that was made.
	State(tx *store.Tx, org, id string) (State, error)
	SaveState(tx *store.Tx, org, id string, now State, last api.DeliveryAttempt) error
}

// SendError is an error that says more of when to try again.
type SendError struct {
	Reason string
	// RetryAfter is the least time before the next attempt; Final: there is no sense in one.
	RetryAfter time.Duration
	Permanent  bool
}

func (r *SendError) Error() string { return r.Reason }

// New is a delivery that is due now.
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

// Options are what a loop is made of.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// NewTicker gives a tick in each such time until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	Kinds     []ReceiverKind
	// Tracer tells where deliveries take their time; nil: nothing is traced.
	Tracer *tracing.Tracer
}

// Dispatcher spreads and sends.
type Dispatcher struct {
	Options
	stop     context.CancelFunc
	working  sync.WaitGroup
	recorder attemptRecorder
	// nextPrune is when old deliveries are looked for again.
	nextPrune time.Time
}

// NewDispatcher makes a loop; Start begins to send.
func NewDispatcher(o Options) *Dispatcher { return &Dispatcher{Options: o} }

// Start begins to send, also what an earlier process left. Close ends it.
func (l *Dispatcher) Start(ctx context.Context) {
	ctx, l.stop = context.WithCancel(ctx)
	ticks, stopTicks := l.NewTicker(pollInterval)
	l.working.Go(func() {
		defer stopTicks()
		for {
			changed := l.DB.Changed()
			if err := l.RunOnce(ctx); err != nil && ctx.Err() == nil {
				l.Logger.Warn("events can't be delivered", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			case <-ticks:
			}
		}
	})
}

// Close breaks off what is being sent and waits for its end; it is sent again later.
func (l *Dispatcher) Close() {
	if l.stop != nil {
		l.stop()
	}
	l.working.Wait()
}

// RunOnce spreads new events, sends what is due and deletes what is old.
func (l *Dispatcher) RunOnce(ctx context.Context) error {
	for {
		more, err := l.fanOut(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := l.sendDue(ctx); err != nil {
		return err
	}
	return l.pruneOld(ctx)
}

// fanOut makes deliveries of the oldest events that were not looked at.
func (l *Dispatcher) fanOut(ctx context.Context) (hasMore bool, err error) {
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
	err = l.DB.Update(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, outboxConsumer, eventBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		hasMore = len(events) == eventBatch
		known := map[string][]Receiver{}
		for _, e := range events {
			if err := l.fanOutEvent(tx, &e, known); err != nil {
				return err
			}
		}
		last := events[len(events)-1].Sequence
		if _, err := store.Outbox.Prune(tx, tx.Now().Add(-retention), eventBatch, outboxConsumer); err != nil {
			return err
		}
		return store.Outbox.Ack(tx, outboxConsumer, last)
	})
	return hasMore, err
}

// subscribers are the receivers who are told of an event.
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

func (l *Dispatcher) fanOutEvent(tx *store.Tx, e *store.Event, receivers map[string][]Receiver) error {
	all, err := l.subscribers(tx, e, receivers)
	if err != nil || len(all) == 0 {
		return err
	}
	var payload Payload
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return fmt.Errorf("event %d of the outbox: %w", e.Sequence, err)
	}
	for _, r := range all {
		d, err := New(tx, e.OrganizationID, r.ID, payload.ID, e.Topic, payload)
		if err != nil {
			return err
		}
		d.Trace = e.Trace
		if err := store.Deliveries.Insert(tx, e.OrganizationID, &d); err != nil {
			return err
		}
	}
	return nil
}

// receiverQueue is a receiver with what is due for it, oldest first.
type receiverQueue struct {
	kind ReceiverKind
	due  []store.Delivery
}

// sendDue sends what is due: to receivers beside each other, to each one delivery after the other.
func (l *Dispatcher) sendDue(ctx context.Context) error {
	var ready []receiverQueue
	err := l.DB.View(ctx, func(tx *store.Tx) error {
		ready = nil
		for _, k := range l.Kinds {
			all, err := k.Receivers(tx, "")
			if err != nil {
				return err
			}
			for _, r := range all {
				one, err := l.dueDeliveries(tx, &r)
				if err != nil {
					return err
				}
				if len(one) > 0 {
					ready = append(ready, receiverQueue{k, one})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, maxParallel)
	for _, one := range ready {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			for i := range one.due {
				if ctx.Err() != nil || !l.deliver(ctx, one.kind, &one.due[i]) {
					return // what comes after waits for the next round
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (l *Dispatcher) dueDeliveries(tx *store.Tx, r *Receiver) (due []store.Delivery, err error) {
	for d, err := range store.Deliveries.By("due").Scan(tx, r.OrganizationID, store.Prefix(r.ID)) {
		if err != nil {
			return nil, err
		}
		if d.NextAttemptAt == nil || d.NextAttemptAt.After(l.Clock()) || len(due) == maxPerRound {
			break
		}
		if r.Enabled || d.SingleAttempt {
			due = append(due, d)
		}
	}
	return due, nil
}

// deliver sends once and notes what came of it; false where the receiver can't be reached now.
func (l *Dispatcher) deliver(ctx context.Context, k ReceiverKind, d *store.Delivery) bool {
	began := l.Clock()
	// The receiver is a stranger: which trace it is of it is not told; the id of the event
	// brings both together.
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
		return false // broken off: as if it had not been tried
	}
	attempt := api.DeliveryAttempt{At: began.UTC(), HTTPStatus: status, DurationMS: l.Clock().Sub(began).Milliseconds()}
	if err != nil {
		message := err.Error()
		attempt.Error = &message
	}
	if noted := l.recordAttempt(ctx, k, d, attempt, err); noted != nil {
		l.Logger.Warn("what came of a delivery can't be noted; it will be sent again", "delivery", d.ID, "error", noted)
		return false
	}
	return err == nil
}

// retryDelay is the time before the next attempt after so many, spread by up to a tenth so that
// not all come at once; the same for the same delivery.
func retryDelay(id string, tries int) time.Duration {
	d := retryDelays[min(tries, len(retryDelays))-1]
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, tries)
	return d + time.Duration(float64(d)*0.2*(float64(h.Sum32())/(1<<32)-0.5))
}

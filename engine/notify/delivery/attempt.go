package delivery

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// attemptResult is the result of one delivery attempt, still to be stored.
type attemptResult struct {
	kind    ReceiverKind
	sent    *store.Delivery
	attempt api.DeliveryAttempt
	sendErr error
	done    chan error
}

// attemptRecorder stores the results of delivery attempts. Results that arrive during a transaction are stored together
// in the next one, because the database has a single writer: an event with ten receivers should not take ten
// transactions.
type attemptRecorder struct {
	mu      sync.Mutex
	waiting []*attemptResult
	writing bool
}

// recordAttempt stores the result of an attempt in the next transaction, and pauses a receiver that
// keeps failing.
func (l *Dispatcher) recordAttempt(
	ctx context.Context,
	k ReceiverKind,
	sent *store.Delivery,
	attempt api.DeliveryAttempt,
	sendErr error,
) error {
	o := &attemptResult{kind: k, sent: sent, attempt: attempt, sendErr: sendErr, done: make(chan error, 1)}
	n := &l.recorder
	n.mu.Lock()
	n.waiting = append(n.waiting, o)
	if n.writing {
		n.mu.Unlock()
		return <-o.done // the goroutine that is writing stores this result, too
	}
	n.writing = true
	for len(n.waiting) > 0 {
		some := n.waiting
		n.waiting = nil
		n.mu.Unlock()
		l.writeAttemptResults(ctx, some)
		n.mu.Lock()
	}
	n.writing = false
	n.mu.Unlock()
	return <-o.done
}

// writeAttemptResults stores several results in one transaction. If that fails, it stores each one
// separately, so that one failure doesn't affect the others.
func (l *Dispatcher) writeAttemptResults(ctx context.Context, results []*attemptResult) {
	err := l.DB.Update(ctx, func(tx *store.Tx) error {
		for _, o := range results {
			if err := writeAttemptResult(tx, o); err != nil {
				return err
			}
		}
		return nil
	})
	for _, o := range results {
		if err != nil && len(results) > 1 {
			o.done <- l.DB.Update(ctx, func(tx *store.Tx) error { return writeAttemptResult(tx, o) })
		} else {
			o.done <- err
		}
	}
}

// writeAttemptResult stores the result of an attempt and schedules a retry if needed. It pauses a
// receiver that keeps failing or responded 410 Gone. If the delivery was deleted, it does nothing.
func writeAttemptResult(tx *store.Tx, o *attemptResult) error {
	k, sent, attempt := o.kind, o.sent, o.attempt
	var refused SendError
	if r := (*SendError)(nil); errors.As(o.sendErr, &r) {
		refused = *r
	}
	org := sent.OrganizationID
	d, err := store.Deliveries.Get(tx, org, sent.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted in the meantime
	}
	if err != nil {
		return err
	}
	now, err := k.State(tx, org, d.WebhookID)
	if err != nil {
		return err
	}
	d.Attempts, d.UpdatedAt = append(d.Attempts, attempt), tx.Now()
	d.Tries++
	isGone := attempt.HTTPStatus == http.StatusGone
	switch {
	case attempt.Error == nil:
		d.Status, d.NextAttemptAt, now.FailedInRow = Delivered, nil, 0
	case d.SingleAttempt || d.Tries > len(retryDelays) || isGone || refused.Permanent:
		d.Status, d.NextAttemptAt = Failed, nil
		if !d.SingleAttempt {
			now.FailedInRow++
		}
	default:
		next := tx.Now().Add(max(retryDelay(d.ID, d.Tries), min(refused.RetryAfter, maxRetryAfter)))
		d.Status, d.NextAttemptAt = Retrying, &next
	}
	if err := store.Deliveries.Update(tx, org, &d); err != nil {
		return err
	}
	if now.Enabled && !d.SingleAttempt && (isGone || now.FailedInRow >= pauseAfterFailures) {
		now.Enabled = false
		by := api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorWorkflow, Name: k.Name() + "s"}}
		shown := map[string]any{"failed_in_row": now.FailedInRow}
		for name, v := range now.AuditDetails {
			shown[name] = v
		}
		entry := audit.Entry{
			Action: k.Name() + ".paused", ResourceType: k.Name(), ResourceID: d.WebhookID, Outcome: audit.Failure, Changes: shown,
		}
		if err := audit.Append(tx, by, entry); err != nil {
			return err
		}
	}
	return k.SaveState(tx, org, d.WebhookID, now, attempt)
}

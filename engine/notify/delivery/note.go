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

// outcome is what came of an attempt, to be written down.
type outcome struct {
	kind    Kind
	sent    *store.Delivery
	attempt api.DeliveryAttempt
	why     error
	done    chan error
}

// noting writes outcomes down: what lanes bring while one transaction is being written goes
// into the next together. There is one writer for the whole program; ten receivers must not
// make it wait ten times for each event.
type noting struct {
	mu      sync.Mutex
	waiting []*outcome
	writing bool
}

// note writes an attempt down, when the next one is, and pauses a receiver that keeps failing.
func (l *Loop) note(ctx context.Context, k Kind, sent *store.Delivery, attempt api.DeliveryAttempt, why error) error {
	o := &outcome{k, sent, attempt, why, make(chan error, 1)}
	n := &l.noting
	n.mu.Lock()
	n.waiting = append(n.waiting, o)
	if n.writing {
		n.mu.Unlock()
		return <-o.done // who writes takes it along
	}
	n.writing = true
	for len(n.waiting) > 0 {
		some := n.waiting
		n.waiting = nil
		n.mu.Unlock()
		l.write(ctx, some)
		n.mu.Lock()
	}
	n.writing = false
	n.mu.Unlock()
	return <-o.done
}

// write writes outcomes down together; where that fails, each alone, so that one's trouble is
// not another's.
func (l *Loop) write(ctx context.Context, some []*outcome) {
	err := l.DB.Update(ctx, func(tx *store.Tx) error {
		for _, o := range some {
			if err := noteOne(tx, o); err != nil {
				return err
			}
		}
		return nil
	})
	for _, o := range some {
		if err != nil && len(some) > 1 {
			o.done <- l.DB.Update(ctx, func(tx *store.Tx) error { return noteOne(tx, o) })
		} else {
			o.done <- err
		}
	}
}

func noteOne(tx *store.Tx, o *outcome) error {
	k, sent, attempt := o.kind, o.sent, o.attempt
	var refused Refused
	if r := (*Refused)(nil); errors.As(o.why, &r) {
		refused = *r
	}
	org := sent.OrganizationID
	d, err := store.Deliveries.Get(tx, org, sent.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted meanwhile
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
	gone := attempt.HTTPStatus == http.StatusGone
	switch {
	case attempt.Error == nil:
		d.Status, d.NextAttemptAt, now.FailedInRow = Delivered, nil, 0
	case d.Once || d.Tries > len(waits) || gone || refused.Final:
		d.Status, d.NextAttemptAt = Failed, nil
		if !d.Once {
			now.FailedInRow++
		}
	default:
		next := tx.Now().Add(max(wait(d.ID, d.Tries), min(refused.Wait, maxWait)))
		d.Status, d.NextAttemptAt = Retrying, &next
	}
	if err := store.Deliveries.Update(tx, org, &d); err != nil {
		return err
	}
	if now.Enabled && !d.Once && (gone || now.FailedInRow >= pauseFrom) {
		now.Enabled = false
		by := api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorWorkflow, Name: k.Name() + "s"}}
		shown := map[string]any{"failed_in_row": now.FailedInRow}
		for name, v := range now.Shown {
			shown[name] = v
		}
		if err := audit.Append(tx, by, audit.Entry{Action: k.Name() + ".paused", ResourceType: k.Name(), ResourceID: d.WebhookID, Outcome: audit.Failure, Changes: shown}); err != nil {
			return err
		}
	}
	return k.Noted(tx, org, d.WebhookID, now, attempt)
}

package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/audit"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// The states of a delivery.
const (
	pending   = "pending"
	delivered = "delivered"
	retrying  = "retrying"
	failed    = "failed"
)

const (
	consumer  = "webhooks"      // of the outbox
	batch     = 200             // events that are spread in one transaction
	lanes     = 8               // webhooks that are sent to at once
	ofALane   = 20              // deliveries of one webhook in a round
	pauseFrom = 10              // failed deliveries in a row
	lookEvery = 2 * time.Second // for retries; what is new is seen at once
	keptFor   = 30 * 24 * time.Hour
)

// waits are the times between attempts, about 24 hours together.
var waits = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour}

// payload is what a webhook is told.
type payload struct {
	ID             string    `json:"id"`
	Type           string    `json:"type"`
	CreatedAt      time.Time `json:"created_at"`
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Data           any       `json:"data"`
}

func newDelivery(tx *store.Tx, w *store.Webhook, eventID, eventType string, body any) (store.Delivery, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return store.Delivery{}, err
	}
	now := tx.Now()
	return store.Delivery{WebhookID: w.ID, Payload: b, Delivery: api.Delivery{
		TenantRecord: api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: now, UpdatedAt: now}, OrganizationID: w.OrganizationID},
		EventID:      eventID, EventType: eventType, Status: pending, Attempts: []api.DeliveryAttempt{}, NextAttemptAt: &now,
	}}, nil
}

// Start begins to send, also what an earlier process left. Close ends it.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	ticks, stopTicks := s.Every(lookEvery)
	s.working.Go(func() {
		defer stopTicks()
		for {
			changed := s.DB.Changed()
			if err := s.Round(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("webhooks can't be served", "error", err)
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
func (s *Service) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.working.Wait()
	s.client.CloseIdleConnections()
}

// Round spreads new events and sends what is due.
func (s *Service) Round(ctx context.Context) error {
	for {
		more, err := s.spread(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return s.sendDue(ctx)
}

// spread makes deliveries of the oldest events that were not looked at.
func (s *Service) spread(ctx context.Context) (more bool, err error) {
	waiting := false
	if err := s.DB.View(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, consumer, 1)
		waiting = len(events) > 0
		return err
	}); err != nil || !waiting {
		return false, err
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		events, err := store.Outbox.Next(tx, consumer, batch)
		if err != nil || len(events) == 0 {
			return err
		}
		more = len(events) == batch
		hooks := map[string][]store.Webhook{}
		for _, e := range events {
			if err := s.spreadOne(tx, &e, hooks); err != nil {
				return err
			}
		}
		last := events[len(events)-1].Sequence
		if _, err := store.Outbox.Prune(tx, tx.Now().Add(-keptFor), batch, consumer); err != nil {
			return err
		}
		return store.Outbox.Ack(tx, consumer, last)
	})
	return more, err
}

func (s *Service) spreadOne(tx *store.Tx, e *store.Event, hooks map[string][]store.Webhook) error {
	if e.OrganizationID == "" || !slices.Contains(Events, e.Topic) {
		return nil
	}
	all, seen := hooks[e.OrganizationID]
	if !seen {
		for w, err := range store.Webhooks.Scan(tx, e.OrganizationID) {
			if err != nil {
				return err
			}
			all = append(all, w)
		}
		hooks[e.OrganizationID] = all
	}
	var told payload
	for i := range all {
		w := &all[i]
		if !w.Enabled || !w.Wants(e.Topic) || e.Time.Before(w.CreatedAt) {
			continue
		}
		if told.ID == "" {
			if err := json.Unmarshal(e.Payload, &told); err != nil {
				return fmt.Errorf("event %d of the outbox: %w", e.Sequence, err)
			}
		}
		d, err := newDelivery(tx, w, told.ID, e.Topic, told)
		if err != nil {
			return err
		}
		if err := store.Deliveries.Insert(tx, e.OrganizationID, &d); err != nil {
			return err
		}
	}
	return nil
}

// lane is a webhook with what is due for it, oldest first.
type lane struct {
	hook store.Webhook
	due  []store.Delivery
}

// sendDue sends what is due: webhooks beside each other, of each one delivery after the other.
func (s *Service) sendDue(ctx context.Context) error {
	var ready []lane
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		ready = nil
		for w, err := range store.Webhooks.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			l := lane{hook: w}
			for d, err := range store.Deliveries.By("due").Scan(tx, w.OrganizationID, store.Prefix(w.ID)) {
				if err != nil {
					return err
				}
				if d.NextAttemptAt == nil || d.NextAttemptAt.After(s.Clock()) || len(l.due) == ofALane {
					break
				}
				if w.Enabled || d.Once {
					l.due = append(l.due, d)
				}
			}
			if len(l.due) > 0 {
				ready = append(ready, l)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, lanes)
	for _, l := range ready {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			for i := range l.due {
				if ctx.Err() != nil || !s.deliver(ctx, &l.hook, &l.due[i]) {
					return // what comes after waits for the next round
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// deliver sends once and notes what came of it; false where the webhook can't be reached now.
func (s *Service) deliver(ctx context.Context, w *store.Webhook, d *store.Delivery) bool {
	began := s.Clock()
	status, err := s.post(ctx, w, d)
	if ctx.Err() != nil {
		return false // broken off: as if it had not been tried
	}
	attempt := api.DeliveryAttempt{At: began.UTC(), HTTPStatus: status, DurationMS: s.Clock().Sub(began).Milliseconds()}
	if err != nil {
		said := err.Error()
		attempt.Error = &said
	}
	if noted := s.note(ctx, d, attempt); noted != nil {
		s.Logger.Warn("what came of a delivery can't be noted; it will be sent again", "delivery", d.ID, "error", noted)
		return false
	}
	return err == nil
}

// note writes an attempt down, when the next one is, and pauses a webhook that keeps failing.
func (s *Service) note(ctx context.Context, sent *store.Delivery, attempt api.DeliveryAttempt) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		d, err := store.Deliveries.Get(tx, sent.OrganizationID, sent.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		w, err := store.Webhooks.Get(tx, sent.OrganizationID, sent.WebhookID)
		if err != nil {
			return err
		}
		d.Attempts, d.UpdatedAt = append(d.Attempts, attempt), tx.Now()
		d.Tries++
		before := w.FailedInRow
		switch {
		case attempt.Error == nil:
			d.Status, d.NextAttemptAt, w.FailedInRow = delivered, nil, 0
		case d.Once || d.Tries > len(waits) || attempt.HTTPStatus == http.StatusGone:
			d.Status, d.NextAttemptAt = failed, nil
			if !d.Once {
				w.FailedInRow++
			}
		default:
			next := tx.Now().Add(wait(d.ID, d.Tries))
			d.Status, d.NextAttemptAt = retrying, &next
		}
		if err := store.Deliveries.Update(tx, d.OrganizationID, &d); err != nil {
			return err
		}
		if gone := attempt.HTTPStatus == http.StatusGone && !d.Once; w.Enabled && (gone || w.FailedInRow >= pauseFrom) {
			w.Enabled, w.UpdatedAt = false, tx.Now()
			by := api.Caller{OrganizationID: w.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, Name: "webhooks"}}
			if err := audit.Append(tx, by, audit.Entry{Action: "webhook.paused", ResourceType: "webhook", ResourceID: w.ID, Outcome: audit.Failure,
				Changes: map[string]any{"host": hostOf(w.URL), "failed_in_row": w.FailedInRow}}); err != nil {
				return err
			}
		} else if w.FailedInRow == before {
			return nil
		}
		return store.Webhooks.Update(tx, w.OrganizationID, &w)
	})
}

// wait is the time before the next attempt after so many, spread by up to a tenth so that
// not all come at once; the same for the same delivery.
func wait(id string, tries int) time.Duration {
	d := waits[min(tries, len(waits))-1]
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, tries)
	return d + time.Duration(float64(d)*0.2*(float64(h.Sum32())/(1<<32)-0.5))
}

// post sends a delivery; an error says why it was not taken.
func (s *Service) post(ctx context.Context, w *store.Webhook, d *store.Delivery) (status int, err error) {
	signature, err := s.signature(w, d)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", s.Agent)
	req.Header.Set("webhook-id", d.EventID)
	req.Header.Set("webhook-timestamp", signature.at)
	req.Header.Set("webhook-signature", signature.text)
	answer, err := s.client.Do(req)
	if err != nil {
		return 0, reason(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // so that the connection can be used again
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer.StatusCode, fmt.Errorf("it answered %s", answer.Status)
	}
	return answer.StatusCode, nil
}

// reason leaves the address out of an error: its path may be a secret.
func reason(err error) error {
	var inner interface{ Unwrap() error }
	if errors.As(err, &inner) && inner.Unwrap() != nil {
		err = inner.Unwrap()
	}
	s := err.Error()
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return errors.New(s)
}

type signed struct{ at, text string }

// signature is by the Standard Webhooks scheme: HMAC-SHA256 over id, time and body, by each
// secret that is good now.
func (s *Service) signature(w *store.Webhook, d *store.Delivery) (signed, error) {
	now := s.Clock()
	out := signed{at: strconv.FormatInt(now.Unix(), 10)}
	sealed := [][]byte{w.Sealed}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) {
		sealed = append(sealed, w.Previous)
	}
	var all []string
	for _, b := range sealed {
		secret, err := s.open(b)
		if err != nil {
			return out, err
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return out, errSealed
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", d.EventID, out.at)
		mac.Write(d.Payload)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	out.text = strings.Join(all, " ")
	return out, nil
}

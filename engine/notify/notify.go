// Package notify sends events to webhooks. Its subpackage delivery contains the delivery loop, and its subpackage
// integration contains the connectors to other tools.
package notify

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// Options holds the dependencies of a Service.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// Box encrypts the webhook secrets.
	Box *secretbox.Box
	// Guard decides which private networks webhooks may reach.
	Guard netguard.Guard
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	// Agent is the User-Agent of requests, such as "service/0.1.0".
	Agent string
	// Tracer traces deliveries. It may be nil.
	Tracer *tracing.Tracer
	// ExtraKinds are further kinds of event receivers besides webhooks.
	ExtraKinds []delivery.ReceiverKind
}

// Service implements the operations on webhooks and sends events to them.
type Service struct {
	Options
	*delivery.Dispatcher
	client *http.Client
}

// clientLimits are the limits of one delivery request.
var clientLimits = netguard.Limits{Timeout: 15 * time.Second, HeaderTimeout: 10 * time.Second, MaxBodyBytes: maxResponseBytes}

// New returns a Service. It sends nothing before Start.
func New(o Options) *Service {
	s := &Service{Options: o, client: o.Guard.Client(clientLimits)}
	s.Dispatcher = delivery.NewDispatcher(
		delivery.Options{
			DB:        o.DB,
			Clock:     o.Clock,
			Logger:    o.Logger,
			NewTicker: o.NewTicker,
			Tracer:    o.Tracer,
			Kinds:     append([]delivery.ReceiverKind{webhookKind{s}}, o.ExtraKinds...),
		},
	)
	return s
}

// Close aborts requests in progress and waits for them to end; aborted deliveries are retried
// later.
func (s *Service) Close() {
	s.Dispatcher.Close()
	s.client.CloseIdleConnections()
}

const (
	maxWebhooks   = 50 // per organization
	secretOverlap = 24 * time.Hour
)

// testEvent is the type of the event sent by Test.
const testEvent = "webhook.test"

// newWebhookSecret returns a random 24-byte secret in the format of the Standard Webhooks specification.
func newWebhookSecret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) //nolint:forbidigo // secrets are random; Read never fails, it crashes the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

const secretPrefix = "whsec_"

// List lists an organization's webhooks.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.OrgListInput) (*api.List[api.Webhook], error) {
	all, err := store.List(ctx, s.DB, store.Webhooks, by.OrganizationID, in.Paging, store.PageQuery[store.Webhook]{})
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(w *store.Webhook) api.Webhook { return w.Webhook }), nil
}

// Create creates a webhook. The webhook receives only events that happen from then on.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateWebhookInput) (*api.NewWebhook, error) {
	address, err := s.Guard.CheckURL("url", in.Body.URL)
	if err != nil {
		return nil, err
	}
	events, err := delivery.NormalizeEventTypes(in.Body.Events)
	if err != nil {
		return nil, err
	}
	secret := newWebhookSecret()
	sealed, err := s.Box.Seal([]byte(secret))
	if err != nil {
		return nil, err
	}
	out := &api.NewWebhook{Secret: secret}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		n, err := store.Webhooks.Count(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		if n >= maxWebhooks {
			return api.Conflict("an organization can have up to %d webhooks; delete one you no longer need", maxWebhooks)
		}
		w := store.Webhook{Sealed: sealed, Webhook: api.Webhook{
			TenantRecord: api.TenantRecord{
				Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
				OrganizationID: by.OrganizationID,
			},
			URL: address, Events: events, Description: strings.TrimSpace(in.Body.Description), Enabled: in.Body.Enabled == nil || *in.Body.Enabled,
		}}
		out.Webhook = w.Webhook
		return errors.Join(store.Webhooks.Insert(tx, by.OrganizationID, &w), recordChangeInAudit(tx, by, "webhook.created", &w))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// recordChangeInAudit writes an audit record of a change. It records only the host of the URL,
// because the path may contain a secret.
func recordChangeInAudit(tx *store.Tx, by api.Caller, action string, w *store.Webhook) error {
	return audit.Append(tx, by, audit.Entry{
		Action: action, ResourceType: "webhook", ResourceID: w.ID,
		Changes: map[string]any{"host": urlHost(w.URL), "events": w.Events, "enabled": w.Enabled},
	})
}

func getWebhook(tx *store.Tx, org, id string) (store.Webhook, error) {
	w, err := store.Webhooks.Get(tx, org, id)
	return w, store.ToNotFound(err, "webhook", id)
}

// Get returns a webhook.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.WebhookInput) (*api.Webhook, error) {
	var w store.Webhook
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		w, err = getWebhook(tx, by.OrganizationID, in.WebhookID)
		return err
	})
	return &w.Webhook, err
}

// Update changes a webhook. If the webhook is enabled again, its pending deliveries are resumed.
func (s *Service) Update(ctx context.Context, by api.Caller, in *api.UpdateWebhookInput) (*api.Webhook, error) {
	var address *string
	if in.Body.URL != nil {
		checked, err := s.Guard.CheckURL("url", *in.Body.URL)
		if err != nil {
			return nil, err
		}
		address = &checked
	}
	var events *[]string
	if in.Body.Events != nil {
		checked, err := delivery.NormalizeEventTypes(*in.Body.Events)
		if err != nil {
			return nil, err
		}
		events = &checked
	}
	var w store.Webhook
	err := s.DB.Update(ctx, func(tx *store.Tx) (err error) {
		if w, err = getWebhook(tx, by.OrganizationID, in.WebhookID); err != nil {
			return err
		}
		if err := in.Match.Check(w.Revision); err != nil {
			return err
		}
		w.Revision++
		if address != nil {
			w.URL = *address
		}
		if events != nil {
			w.Events = *events
		}
		if in.Body.Description != nil {
			w.Description = strings.TrimSpace(*in.Body.Description)
		}
		if in.Body.Enabled != nil {
			w.Enabled, w.FailedInRow = *in.Body.Enabled, 0
		}
		w.UpdatedAt = tx.Now()
		return errors.Join(store.Webhooks.Update(tx, by.OrganizationID, &w), recordChangeInAudit(tx, by, "webhook.updated", &w))
	})
	s.Wake(by.OrganizationID, in.WebhookID)
	return &w.Webhook, err
}

// Delete deletes a webhook and its pending deliveries.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.DeleteWebhookInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		w, err := getWebhook(tx, by.OrganizationID, in.WebhookID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(w.Revision); err != nil {
			return err
		}
		return errors.Join(
			delivery.DeleteReceiverDeliveries(tx, by.OrganizationID, w.ID),
			store.Webhooks.Delete(tx, by.OrganizationID, w.ID),
			recordChangeInAudit(tx, by, "webhook.deleted", &w),
		)
	})
}

// RotateSecret replaces a webhook's secret. For a day, deliveries are signed with both secrets, so that
// the receiver has time to switch.
func (s *Service) RotateSecret(ctx context.Context, by api.Caller, in *api.WebhookInput) (*api.NewWebhook, error) {
	secret := newWebhookSecret()
	sealed, err := s.Box.Seal([]byte(secret))
	if err != nil {
		return nil, err
	}
	out := &api.NewWebhook{Secret: secret}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		w, err := getWebhook(tx, by.OrganizationID, in.WebhookID)
		if err != nil {
			return err
		}
		until := tx.Now().Add(secretOverlap)
		w.PreviousSealed, w.PreviousUntil, w.Sealed, w.UpdatedAt = w.Sealed, &until, sealed, tx.Now()
		out.Webhook = w.Webhook
		return errors.Join(store.Webhooks.Update(tx, by.OrganizationID, &w), recordChangeInAudit(tx, by, "webhook.rotated", &w))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Test sends a test event to a webhook, even if it is disabled.
func (s *Service) Test(ctx context.Context, by api.Caller, in *api.WebhookInput) (*api.Delivery, error) {
	var d store.Delivery
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		w, err := getWebhook(tx, by.OrganizationID, in.WebhookID)
		if err != nil {
			return err
		}
		id := tx.NewID()
		d, err = delivery.New(
			tx,
			w.OrganizationID,
			w.ID,
			id,
			testEvent,
			delivery.Payload{
				ID:             id,
				Type:           testEvent,
				CreatedAt:      tx.Now(),
				OrganizationID: w.OrganizationID,
				Data:           map[string]any{"webhook_id": w.ID},
			},
		)
		if err != nil {
			return err
		}
		d.SingleAttempt = true
		return errors.Join(store.Deliveries.Insert(tx, by.OrganizationID, &d), recordChangeInAudit(tx, by, "webhook.tested", &w))
	})
	s.Wake(by.OrganizationID, in.WebhookID)
	return &d.Delivery, err
}

// ListWebhookDeliveries lists the deliveries of a webhook, newest first.
func (s *Service) ListWebhookDeliveries(ctx context.Context, by api.Caller, in *api.DeliveriesInput) (*api.List[api.Delivery], error) {
	if _, err := s.Get(ctx, by, &in.WebhookInput); err != nil {
		return nil, err
	}
	return delivery.List(ctx, s.DB, by.OrganizationID, in.WebhookID, in.Status, in.Paging)
}

// Redeliver sends an event again, with the same ID.
func (s *Service) Redeliver(ctx context.Context, by api.Caller, in *api.DeliveryInput) (*api.Delivery, error) {
	var d store.Delivery
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		w, err := getWebhook(tx, by.OrganizationID, in.WebhookID)
		if err != nil {
			return err
		}
		if d, err = delivery.Requeue(tx, by.OrganizationID, w.ID, in.DeliveryID); err != nil {
			return err
		}
		return recordChangeInAudit(tx, by, "webhook.redelivered", &w)
	})
	s.Wake(by.OrganizationID, in.WebhookID)
	return &d.Delivery, err
}

func urlHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // stored URLs have been validated
	}
	return u.Host
}

// errSecretUnreadable is returned if a secret can't be decrypted with any known key.
var errSecretUnreadable = fmt.Errorf("%w; rotate it", secretbox.ErrUnknownKey)

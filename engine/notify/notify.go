// Package notify carries word of what happened out of the service: to webhooks. What they
// share with integrations is below it: delivery has the loop that sends, guard the addresses
// that may be reached, seal the keys of secrets, integration the tools that are spoken to in
// their own words.
//
// It must not decide anything.
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

// Options are what the service is made of.
type Options struct {
	DB     *store.DB
	Clock  func() time.Time
	Logger *slog.Logger
	// Box seals the secrets.
	Box *secretbox.Box
	// Guard knows the private networks that webhooks may reach.
	Guard netguard.Guard
	// NewTicker gives a tick in each such time until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	// Agent names the program in requests: "service/0.1.0".
	Agent string
	// Tracer tells where deliveries take their time; nil: nothing is traced.
	Tracer *tracing.Tracer
	// ExtraKinds are told of events beside webhooks.
	ExtraKinds []delivery.ReceiverKind
}

// Service answers the operations on webhooks and sends their deliveries.
type Service struct {
	Options
	*delivery.Dispatcher
	client *http.Client
}

// clientLimits are those of a delivery.
var clientLimits = netguard.Limits{Timeout: 15 * time.Second, HeaderTimeout: 10 * time.Second, MaxBodyBytes: maxResponseBytes}

// New makes the service; Start begins to send.
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

// Close breaks off what is being sent and waits for its end; it is sent again later.
func (s *Service) Close() {
	s.Dispatcher.Close()
	s.client.CloseIdleConnections()
}

const (
	maxWebhooks   = 50 // of an organization
	secretOverlap = 24 * time.Hour
)

// testEvent is sent on demand, to see whether a webhook works.
const testEvent = "webhook.test"

// newWebhookSecret is a secret as the Standard Webhooks scheme writes it, 24 bytes of chance.
func newWebhookSecret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) //nolint:forbidigo // a secret is chance; it never fails, the runtime ends the program first
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

// Create makes a webhook. It hears of what happens from then on.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateWebhookInput) (*api.NewWebhook, error) {
	address, err := s.Guard.CheckURL("url", in.Body.URL)
	if err != nil {
		return nil, err
	}
	events, err := delivery.CheckEvents(in.Body.Events)
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
			return api.Conflict("an organization has up to %d webhooks; delete one that is no longer needed", maxWebhooks)
		}
		w := store.Webhook{Sealed: sealed, Webhook: api.Webhook{
			TenantRecord: api.TenantRecord{
				Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
				OrganizationID: by.OrganizationID,
			},
			URL: address, Events: events, Description: strings.TrimSpace(in.Body.Description), Enabled: in.Body.Enabled == nil || *in.Body.Enabled,
		}}
		out.Webhook = w.Webhook
		return errors.Join(store.Webhooks.Insert(tx, by.OrganizationID, &w), auditChange(tx, by, "webhook.created", &w))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// auditChange writes to the audit chain; of the address only the host, which holds no secret.
func auditChange(tx *store.Tx, by api.Caller, action string, w *store.Webhook) error {
	return audit.Append(tx, by, audit.Entry{
		Action: action, ResourceType: "webhook", ResourceID: w.ID,
		Changes: map[string]any{"host": urlHost(w.URL), "events": w.Events, "enabled": w.Enabled},
	})
}

func getWebhook(tx *store.Tx, org, id string) (store.Webhook, error) {
	w, err := store.Webhooks.Get(tx, org, id)
	return w, store.ToNotFound(err, "webhook", id)
}

// Get is one webhook.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.WebhookInput) (*api.Webhook, error) {
	var w store.Webhook
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		w, err = getWebhook(tx, by.OrganizationID, in.WebhookID)
		return err
	})
	return &w.Webhook, err
}

// Update changes a webhook. One that is enabled again goes on with what waits for it.
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
		checked, err := delivery.CheckEvents(*in.Body.Events)
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
		return errors.Join(store.Webhooks.Update(tx, by.OrganizationID, &w), auditChange(tx, by, "webhook.updated", &w))
	})
	return &w.Webhook, err
}

// Delete ends a webhook and what waits for it.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.WebhookInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		w, err := getWebhook(tx, by.OrganizationID, in.WebhookID)
		if err != nil {
			return err
		}
		return errors.Join(
			delivery.PurgeReceiver(tx, by.OrganizationID, w.ID),
			store.Webhooks.Delete(tx, by.OrganizationID, w.ID),
			auditChange(tx, by, "webhook.deleted", &w),
		)
	})
}

// RotateSecret gives a webhook a new secret. For a day, deliveries are signed with both, so that
// the receiver can change over.
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
		return errors.Join(store.Webhooks.Update(tx, by.OrganizationID, &w), auditChange(tx, by, "webhook.rotated", &w))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Test sends an event that says nothing, also to a webhook that is not enabled.
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
		return errors.Join(store.Deliveries.Insert(tx, by.OrganizationID, &d), auditChange(tx, by, "webhook.tested", &w))
	})
	return &d.Delivery, err
}

// ListDeliveries lists deliveries, newest first.
func (s *Service) ListDeliveries(ctx context.Context, by api.Caller, in *api.DeliveriesInput) (*api.List[api.Delivery], error) {
	if _, err := s.Get(ctx, by, &in.WebhookInput); err != nil {
		return nil, err
	}
	return delivery.List(ctx, s.DB, by.OrganizationID, in.WebhookID, in.Status, in.Paging)
}

// Redeliver sends an event again, under the id it had.
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
		return auditChange(tx, by, "webhook.redelivered", &w)
	})
	return &d.Delivery, err
}

func urlHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // none is kept that was not parsed before
	}
	return u.Host
}

// errSecretUnreadable says what to do about a secret that no key opens.
var errSecretUnreadable = fmt.Errorf("%w; rotate it", secretbox.ErrUnknownKey)

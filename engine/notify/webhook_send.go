package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
)

// maxResponseBytes is the maximum number of response bytes read; the content is ignored.
const maxResponseBytes = 64 << 10

// webhookKind implements delivery.ReceiverKind for webhooks.
type webhookKind struct{ s *Service }

func (webhookKind) Name() string { return "webhook" }

func (webhookKind) Receivers(tx *store.Tx, org string) (out []delivery.Receiver, err error) {
	scan := store.Webhooks.AcrossTenants().Scan(tx)
	if org != "" {
		scan = store.Webhooks.Scan(tx, org)
	}
	for w, err := range scan {
		if err != nil {
			return nil, err
		}
		out = append(
			out,
			delivery.Receiver{
				ID:             w.ID,
				OrganizationID: w.OrganizationID,
				CreatedAt:      w.CreatedAt,
				Enabled:        w.Enabled,
				SubscribesTo:   w.SubscribesTo,
			},
		)
	}
	return out, nil
}

func (webhookKind) State(tx *store.Tx, org, id string) (delivery.State, error) {
	w, err := store.Webhooks.Get(tx, org, id)
	return delivery.State{Enabled: w.Enabled, FailedInRow: w.FailedInRow, AuditDetails: map[string]any{"host": urlHost(w.URL)}}, err
}

func (webhookKind) SaveState(tx *store.Tx, org, id string, now delivery.State, _ api.DeliveryAttempt) error {
	w, err := store.Webhooks.Get(tx, org, id)
	if err != nil || w.Enabled == now.Enabled && w.FailedInRow == now.FailedInRow {
		return err
	}
	if w.Enabled != now.Enabled {
		w.UpdatedAt = tx.Now()
	}
	w.Enabled, w.FailedInRow = now.Enabled, now.FailedInRow
	return store.Webhooks.Update(tx, org, &w)
}

// Send sends a delivery with its signatures.
func (k webhookKind) Send(ctx context.Context, d *store.Delivery) (status int, err error) {
	var w store.Webhook
	if err := k.s.DB.View(ctx, func(tx *store.Tx) (err error) {
		w, err = store.Webhooks.Get(tx, d.OrganizationID, d.WebhookID)
		return err
	}); err != nil {
		return 0, err
	}
	return k.s.postDelivery(ctx, &w, d)
}

// postDelivery sends a delivery by HTTP POST. The error states why the receiver did not accept it.
func (s *Service) postDelivery(ctx context.Context, w *store.Webhook, d *store.Delivery) (status int, err error) {
	signature, err := s.sign(w, d)
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
		return 0, netguard.RedactError(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // allows the connection to be reused
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer.StatusCode, &delivery.SendError{
			Reason:     "the server responded " + netguard.SanitizeLine(answer.Status),
			RetryAfter: netguard.RetryAfter(answer.Header, s.Clock()),
		}
	}
	return answer.StatusCode, nil
}

type signatureHeaders struct{ at, text string }

// sign computes the signatures required by the Standard Webhooks specification: an HMAC-SHA256 over ID, time and body
// with each secret that is currently valid.
func (s *Service) sign(w *store.Webhook, d *store.Delivery) (signatureHeaders, error) {
	now := s.Clock()
	out := signatureHeaders{at: strconv.FormatInt(now.Unix(), 10)}
	sealed := [][]byte{w.Sealed}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) {
		sealed = append(sealed, w.PreviousSealed)
	}
	var all []string
	for _, b := range sealed {
		secret, err := s.Box.Open(b)
		if errors.Is(err, secretbox.ErrUnknownKey) {
			return out, errSecretUnreadable
		}
		if err != nil {
			return out, err
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), secretPrefix))
		if err != nil {
			return out, errSecretUnreadable
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", d.EventID, out.at)
		mac.Write(d.Payload)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	out.text = strings.Join(all, " ")
	return out, nil
}

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// Name returns the receiver kind's name.
func (*Service) Name() string { return "integration" }

// planEvents lists the events that cause plans and issues to be synced at once.
var planEvents = []string{"poam.approved", "poam.drafted"}

// eventFilter returns a function that reports whether an integration subscribes to an event type.
func eventFilter(r *store.Integration) func(string) bool {
	t, _ := api.FindIntegrationType(r.Type)
	known := t.Events
	if t.Tracks {
		known = planEvents
	}
	asked := r.Events
	return func(event string) bool {
		return (known == nil || slices.Contains(known, event)) && (len(asked) == 0 || slices.Contains(asked, event))
	}
}

// Receivers returns the integrations that receive events.
func (*Service) Receivers(tx *store.Tx, org string) (out []delivery.Receiver, err error) {
	scan := store.Integrations.AcrossTenants().Scan(tx)
	if org != "" {
		scan = store.Integrations.Scan(tx, org)
	}
	for r, err := range scan {
		if err != nil {
			return nil, err
		}
		out = append(
			out,
			delivery.Receiver{
				ID:             r.ID,
				OrganizationID: r.OrganizationID,
				CreatedAt:      r.CreatedAt,
				Enabled:        r.Enabled,
				SubscribesTo:   eventFilter(&r),
			},
		)
	}
	return out, nil
}

// State returns an integration's delivery state.
func (*Service) State(tx *store.Tx, org, id string) (delivery.State, error) {
	r, err := store.Integrations.Get(tx, org, id)
	return delivery.State{Enabled: r.Enabled, FailedInRow: r.FailedInRow, AuditDetails: map[string]any{"type": r.Type, "name": r.Name}}, err
}

// SaveState stores an integration's delivery state and, except for issue trackers, the result of the
// last attempt.
func (*Service) SaveState(tx *store.Tx, org, id string, now delivery.State, last api.DeliveryAttempt) error {
	r, err := store.Integrations.Get(tx, org, id)
	if err != nil {
		return err
	}
	if t, _ := api.FindIntegrationType(r.Type); !t.Tracks { // a tracker's status is that of its syncs
		message := ""
		if last.Error != nil {
			message = *last.Error
		}
		setLastStatus(&r, last.At, last.Error == nil, message)
	}
	r.Enabled, r.FailedInRow = now.Enabled, now.FailedInRow
	return store.Integrations.Update(tx, org, &r)
}

// Send delivers an event to an integration.
func (s *Service) Send(ctx context.Context, d *store.Delivery) (int, error) {
	r, err := s.loadIntegration(ctx, d.OrganizationID, d.WebhookID)
	if err != nil {
		return 0, err
	}
	set, err := s.loadSettings(&r)
	if err != nil {
		return 0, err
	}
	var payload delivery.Payload
	if err := json.Unmarshal(d.Payload, &payload); err != nil {
		return 0, err
	}
	switch {
	case set.Tracks:
		return http.StatusOK, s.scheduleSyncUnlessFailing(ctx, &r)
	case r.Type == "generic":
		return s.sendGenericEvent(ctx, set, d.EventID, d.Payload)
	case r.Type == "s3":
		return s.uploadExport(ctx, set, &r, &payload)
	}
	m, err := s.composeMessage(ctx, &payload)
	if err != nil {
		return 0, err
	}
	return s.sendChatMessage(ctx, set, m)
}

// runTest runs an integration's test and returns the result as text.
func (s *Service) runTest(ctx context.Context, r *store.Integration) (string, error) {
	set, err := s.loadSettings(r)
	if err != nil {
		return "", err
	}
	now := s.Clock().UTC().Truncate(time.Second)
	switch {
	case set.Tracks:
		t, err := s.newTracker(set)
		if err != nil {
			return "", err
		}
		return t.checkAccess(ctx)
	case r.Type == "smtp":
		return s.testMailServer(ctx, set)
	case r.Type == "s3":
		return s.testBucket(ctx, set, r)
	case r.Type == "generic":
		b, err := json.Marshal(
			delivery.Payload{
				ID:             r.ID,
				Type:           "integration.test",
				CreatedAt:      now,
				OrganizationID: r.OrganizationID,
				Data:           map[string]any{"integration_id": r.ID},
			},
		)
		if err != nil {
			return "", err
		}
		status, err := s.sendGenericEvent(ctx, set, r.ID, b)
		return fmt.Sprintf("test event accepted with status %d", status), err
	}
	_, err = s.sendChatMessage(
		ctx,
		set,
		&message{
			ID:    r.ID,
			Type:  "integration.test",
			At:    now,
			Title: "A test",
			Text:  fmt.Sprintf("The integration %q can post messages here.", r.Name),
		},
	)
	return "test message sent", err
}

// message is an event described in text.
type message struct {
	ID, Type    string
	At          time.Time
	Title, Text string
}

// composeMessage describes an event in the same words as the assessment's timeline.
func (s *Service) composeMessage(ctx context.Context, payload *delivery.Payload) (*message, error) {
	m := &message{
		ID:   payload.ID,
		Type: payload.Type,
		At:   payload.CreatedAt.UTC(),
		Text: strings.NewReplacer(".", " ", "_", " ").Replace(payload.Type),
	}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		org, err := store.Organizations.Get(tx, payload.OrganizationID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		m.Title = org.Name
		a, err := store.Assessments.Get(tx, payload.OrganizationID, payload.AssessmentID)
		if err != nil {
			return ignoreNotFound(err)
		}
		m.Title = a.Name
		line, err := store.Timeline.Get(tx, payload.OrganizationID, payload.AssessmentID, payload.ID)
		if err != nil {
			return ignoreNotFound(err)
		}
		m.Text = strings.TrimSpace(line.Actor.Name + " " + line.Summary)
		return nil
	})
	data, _ := payload.Data.(map[string]any)
	if name, is := data["name"].(string); is && payload.AssessmentID == "" {
		m.Text += ": " + name
	}
	m.Title, m.Text = truncateLine(m.Title, 150), truncateLine(m.Text, 1000)
	return m, err
}

// ignoreNotFound returns nil if err reports that a record doesn't exist, because it was deleted in the meantime. Other
// errors are returned unchanged.
func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func truncateLine(s string, maxRunes int) string {
	return prose.Truncate(strings.Join(strings.Fields(s), " "), maxRunes)
}

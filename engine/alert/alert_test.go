package alert_test

import (
	"context"
	"log/slog"
	"math"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/alert"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	_ "github.com/scf-service/service/store/bolt"
)

const ours = "018f0000-0000-7000-8000-00000000000a"

// fixture is a service with a fixed clock and metric values set by the test.
type fixture struct {
	*alert.Service
	t       testing.TB
	db      *store.DB
	mu      sync.Mutex
	time    time.Time
	by      api.Caller
	figures []api.Metric
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	h := &fixture{
		t:    t,
		time: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		by:   api.Caller{OrganizationID: ours, Actor: api.Actor{Type: api.ActorUser, Name: "Ada"}},
	}
	var err error
	now := func() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.time }
	h.db, err = store.Open(
		t.Context(),
		store.Options{
			Dir:    t.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock:  now,
			NewID:  func() string { return uuid.Must(uuid.NewV7()).String() },
			Logger: slog.New(slog.DiscardHandler),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close() })
	err = h.db.Update(t.Context(), func(tx *store.Tx) error {
		if err := store.Organizations.Insert(
			tx,
			&api.Organization{Record: api.Record{ID: ours}, Name: "Acme", Slug: "acme", Status: "active"},
		); err != nil {
			return err
		}
		if err := store.Users.Insert(tx, &api.User{Record: api.Record{ID: "u-ada"}, Email: "ada@acme.example", Status: "active"}); err != nil {
			return err
		}
		return store.Memberships.Insert(
			tx,
			&store.Membership{UserID: "u-ada", OrganizationID: ours, Role: api.RoleOwner, Status: "active", ID: "m-ada"},
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	post := mail.New(mail.Options{
		DB:     h.db,
		Clock:  now,
		Logger: slog.New(slog.DiscardHandler),
		Server: &mail.Server{Host: "127.0.0.1", Port: 1, From: netmail.Address{Address: "grc@acme.example"}},
		Seal:   func(s string) ([]byte, error) { return []byte(s), nil },
		Open:   func(b []byte) (string, error) { return string(b), nil },
	})
	h.Service = alert.New(alert.Options{
		DB: h.db, Logger: slog.New(slog.DiscardHandler), Mail: post, ZeroWhenAbsent: []string{"organization_open_findings"},
		Metrics: func(_ context.Context, org string) ([]api.Metric, error) {
			if org != ours {
				return nil, nil
			}
			return h.figures, nil
		},
	})
	return h
}

func (h *fixture) gaps(n float64) {
	h.figures = []api.Metric{
		{Name: "organization_open_findings", Labels: map[string]string{"severity": "critical"}, Value: n},
		{Name: "organization_open_findings", Labels: map[string]string{"severity": "low"}, Value: 100},
		{Name: "service_emails_queued", Value: 1},
	}
}

// advance advances the clock, sets the gap count and evaluates the rules.
func (h *fixture) advance(d time.Duration, gaps float64) {
	h.t.Helper()
	h.mu.Lock()
	h.time = h.time.Add(d)
	h.mu.Unlock()
	h.gaps(gaps)
	if err := h.EvaluateAll(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) rule(metric, operator string, threshold float64, window int, channels ...string) (*api.AlertRule, error) {
	in := &api.CreateAlertInput{}
	in.Body.Name = "Gaps"
	in.Body.Metric = metric
	in.Body.Operator = operator
	in.Body.Threshold = threshold
	in.Body.WindowSeconds = window
	in.Body.Channels = channels
	return h.Create(h.t.Context(), h.by, in)
}

func (h *fixture) state(id string) *api.AlertRule {
	h.t.Helper()
	r, err := h.Get(h.t.Context(), h.by, &api.AlertInput{AlertID: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// sentMailsAndEvents returns the subjects of the emails sent and the events queued for webhooks.
func (h *fixture) sentMailsAndEvents() (mails, events []string) {
	h.t.Helper()
	err := h.db.View(h.t.Context(), func(tx *store.Tx) error {
		for e, err := range store.Emails.Scan(tx, ours) {
			if err != nil {
				return err
			}
			mails = append(mails, strings.Join(e.To, ",")+" "+e.Subject)
		}
		all, err := store.Outbox.Next(tx, "test", 100)
		for _, e := range all {
			events = append(events, e.Topic)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return mails, events
}

// TestWindow checks that a rule fires when the value has exceeded the threshold for the window and
// resolves when it has been within it for as long; changes in between notify nobody.
func TestWindow(t *testing.T) {
	h := newFixture(t)
	h.gaps(0)
	r, err := h.rule(`organization_open_findings{ severity="critical" }`, "gt", 0, 60, "email", "webhook", "email:soc@acme.example")
	if err != nil || r.Metric != "organization_open_findings{severity=critical}" || r.State != "ok" || r.LastEvaluatedAt != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, step := range []struct {
		after time.Duration
		gaps  float64
		want  string
	}{
		{30 * time.Second, 2, "ok"},
		{30 * time.Second, 0, "ok"},
		{30 * time.Second, 1, "ok"},
		{30 * time.Second, 1, "ok"}, // back and forth
		{30 * time.Second, 3, "firing"},
		{30 * time.Second, 0, "firing"},
		{30 * time.Second, 1, "firing"},
		{time.Hour, 0, "firing"},
		{59 * time.Second, 0, "firing"},
		{time.Second, 0, "ok"},
		{time.Hour, 0, "ok"},
		{30 * time.Second, 1, "ok"},
		{-time.Hour, 1, "ok"},
		{time.Minute, 1, "firing"},
	} {
		h.advance(step.after, step.gaps)
		got := h.state(r.ID)
		if got.State != step.want || got.Value == nil || *got.Value != step.gaps || got.LastEvaluatedAt == nil {
			t.Fatalf("%+v: %+v", step, got)
		}
	}
	mails, events := h.sentMailsAndEvents()
	slices.Sort(mails)
	want := []string{
		"ada@acme.example Acme: Firing: Gaps", "ada@acme.example Acme: Firing: Gaps", "ada@acme.example Acme: Resolved: Gaps",
		"soc@acme.example Acme: Firing: Gaps", "soc@acme.example Acme: Firing: Gaps", "soc@acme.example Acme: Resolved: Gaps",
	}
	if !slices.Equal(mails, want) || !slices.Equal(events, []string{"alert.firing", "alert.resolved", "alert.firing"}) {
		t.Errorf("%q\n%q", mails, events)
	}
}

// TestAbsent checks that a missing value changes nothing, unless the metric is omitted because it
// is 0.
func TestAbsent(t *testing.T) {
	h := newFixture(t)
	h.gaps(5)
	known, err := h.rule("organization_open_findings{severity=high}", "lt", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	process, err := h.rule("service_emails_queued", "gte", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	h.advance(time.Minute, 5)
	h.advance(time.Minute, 5)
	if a, b := h.state(known.ID), h.state(process.ID); a.State != "firing" || b.State != "firing" {
		t.Errorf("%+v %+v", a, b)
	}
	h.figures = nil
	if err := h.EvaluateAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b := h.state(process.ID); b.State != "firing" || b.Value != nil {
		t.Errorf("%+v", b)
	}
}

// TestRefused checks that unknown metrics and rules that would notify nobody are rejected with a suggestion.
func TestRefused(t *testing.T) {
	h := newFixture(t)
	h.gaps(0)
	for metric, want := range map[string]string{
		"organization_open_finding":                         "did you mean organization_open_findings",
		"organization_open_findings{sevrity=low}":           "did you mean severity",
		"organization_open_findings{severity}":              "severity=critical",
		"organization_open_findings{severity=a,severity=b}": "without duplicates",
		"organization_open_findings{severity=low":           "no closing brace }",
		"{severity=low}":                                    "is not a valid metric",
		" ":                                                 "is not a valid metric",
		"a b":                                               "is not a valid metric",
	} {
		if _, err := h.rule(metric, "gt", 0, 60); !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", metric, err)
		}
	}
	for _, channel := range []string{"", "slack", "email:", "email:ben", "email:a@b.example\r\nBcc: x@y.example", "webhook:https://x"} {
		if _, err := h.rule("service_emails_queued", "gt", 0, 60, channel); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q: %v", channel, err)
		}
	}
	r, err := h.rule("service_emails_queued", "gt", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	other := h.by
	other.OrganizationID = "018f0000-0000-7000-8000-00000000000c"
	if _, err := h.Get(t.Context(), other, &api.AlertInput{AlertID: r.ID}); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("another organization reads it: %v", err)
	}
	// A changed threshold restarts the window.
	h.advance(time.Minute, 0)
	h.advance(time.Minute, 0)
	up := &api.UpdateAlertInput{AlertInput: api.AlertInput{AlertID: r.ID}}
	ten := 10.0
	up.Body.Threshold = &ten
	if got, err := h.Update(t.Context(), h.by, up); err != nil || got.State != "ok" || got.Threshold != 10 || got.Value != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := h.Delete(t.Context(), h.by, &api.DeleteAlertInput{AlertInput: api.AlertInput{AlertID: r.ID}}); err != nil {
		t.Error(err)
	}
}

// TestHostile checks that rule names with header lines or terminal sequences and extreme values do
// no harm.
func TestHostile(t *testing.T) {
	h := newFixture(t)
	h.gaps(0)
	for _, threshold := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := h.rule("service_emails_queued", "gt", threshold, 1); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%v: %v", threshold, err)
		}
	}
	in := &api.CreateAlertInput{}
	in.Body.Name = "Gaps\r\nBcc: x@y.example\x1b[2J {{title}}"
	in.Body.Metric = "service_emails_queued"
	in.Body.Operator = "lt"
	in.Body.Threshold = math.MaxFloat64
	in.Body.WindowSeconds = 1
	if _, err := h.Create(t.Context(), h.by, in); err != nil {
		t.Fatal(err)
	}
	h.advance(time.Minute, 0)
	h.advance(time.Minute, 0)
	mails, events := h.sentMailsAndEvents()
	if len(mails) != 1 || len(events) != 1 || strings.ContainsAny(mails[0], "\r\n\x1b") || !strings.Contains(mails[0], "{{title}}") {
		t.Errorf("%q, %q", mails, events)
	}
}

// TestNews checks that, for metrics where each increase matters, only lasting increases above the
// last reported value are reported, and that another process continues from the stored state.
func TestNews(t *testing.T) {
	h := newFixture(t)
	h.AlertOnIncrease = []string{"organization_open_findings"}
	h.Details = func(_ *store.Tx, org, metric string, labels map[string]string) ([]string, error) {
		return []string{"IAC-01 of " + metric + labels["severity"]}, nil
	}
	h.gaps(0)
	r, err := h.rule("organization_open_findings{severity=critical}", "gt", 0, 60, "email", "webhook")
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		gaps float64
		told int
	}{{1, 0}, {1, 1}, {1, 1}, {3, 1}, {1, 1}, {3, 1}, {2, 2}, {3, 2}, {3, 3}, {3, 3}, {1, 3}, {0, 3}, {0, 4}, {2, 4}, {2, 5}} {
		if i == 6 || i == 8 || i == 12 { // restarted in the middle of the window
			h.Service = alert.New(h.Options)
		}
		h.advance(time.Minute, step.gaps)
		if _, events := h.sentMailsAndEvents(); len(events) != step.told {
			t.Fatalf("step %d %+v: %d are told", i, step, len(events))
		}
	}
	if got := h.state(r.ID); got.State != api.AlertFiring {
		t.Errorf("%+v", got)
	}
	if _, events := h.sentMailsAndEvents(); !slices.Equal(
		events,
		[]string{"alert.firing", "alert.firing", "alert.firing", "alert.resolved", "alert.firing"},
	) {
		t.Errorf("%q", events)
	}
}

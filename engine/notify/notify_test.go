package notify_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	_ "github.com/scf-service/service/store/bolt"
)

// fixture is a service with a fixed clock and a receiver.
type fixture struct {
	*notify.Service
	t    testing.TB
	db   *store.DB
	mu   sync.Mutex
	time time.Time
	by   api.Caller

	server   *httptest.Server
	answer   func(n int) int // the status of the n-th request
	requests []request
}

type request struct {
	header http.Header
	body   []byte
}

func newFixture(t testing.TB) *fixture {
	h := &fixture{
		t: t, time: time.Now().UTC().Truncate(time.Second), answer: func(int) int { return 204 },
		by: api.Caller{OrganizationID: "018f0000-0000-7000-8000-00000000000a", Actor: api.Actor{Type: api.ActorUser, Name: "Ada"}},
	}
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.requests = append(h.requests, request{r.Header, b})
		w.WriteHeader(h.answer(len(h.requests)))
	}))
	t.Cleanup(h.server.Close)
	var err error
	h.db, err = store.Open(
		t.Context(),
		store.Options{
			Dir:    t.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock:  h.now,
			NewID:  func() string { return uuid.Must(uuid.NewV7()).String() },
			Logger: slog.New(slog.DiscardHandler),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close() })
	h.Service = h.service()
	return h
}

// service returns a new service, as at the start of the program.
func (h *fixture) service() *notify.Service {
	return notify.New(notify.Options{
		DB: h.db, Clock: h.now, Logger: slog.New(slog.DiscardHandler), Box: secretboxtest.New(secretbox.Key{}),
		Guard: netguard.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Agent: "service/test",
	})
}

func (h *fixture) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.time
}

func (h *fixture) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.time = h.time.Add(d)
}

func (h *fixture) createWebhook(events ...string) *api.NewWebhook {
	h.t.Helper()
	in := &api.CreateWebhookInput{OrgInput: api.OrgInput{OrgID: h.by.OrganizationID}}
	in.Body.URL, in.Body.Events = h.server.URL+"/in?token=secret-path", events
	w, err := h.Create(h.t.Context(), h.by, in)
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

// writeEvent writes an event in a transaction as a change does; with fail, the transaction is rolled
// back.
func (h *fixture) writeEvent(event string, fail bool) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		if err := audit.RecordAndPublishEvent(
			tx,
			h.by,
			audit.Event{Type: event, AssessmentID: "018f0000-0000-7000-8000-00000000000b", Summary: event, Data: map[string]any{"n": 1}},
		); err != nil ||
			!fail {
			return err
		}
		return io.ErrUnexpectedEOF
	})
	if (err != nil) != fail {
		h.t.Fatal(err)
	}
}

func (h *fixture) round() {
	h.t.Helper()
	if err := h.RunOnce(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) deliveries(id string) []api.Delivery {
	h.t.Helper()
	l, err := h.ListWebhookDeliveries(h.t.Context(), h.by, &api.DeliveriesInput{WebhookInput: api.WebhookInput{WebhookID: id}})
	if err != nil {
		h.t.Fatal(err)
	}
	return l.Data
}

// TestDelivery checks that events are sent once, with a signature that the Standard Webhooks
// library accepts, and that events that were rolled back, not subscribed to or older than the
// webhook are not sent.
func TestDelivery(t *testing.T) {
	h := newFixture(t)
	h.writeEvent("soa.approved", false)
	h.advance(time.Second)
	w := h.createWebhook("soa.approved", "report.ready")
	h.advance(time.Second)
	h.writeEvent("report.ready", false)
	h.writeEvent("soa.approved", true)
	h.writeEvent("soa.drafted", false)
	h.writeEvent("document.renamed", false)
	h.round()
	h.round()
	if len(h.requests) != 1 {
		t.Fatalf("%d requests", len(h.requests))
	}
	got := h.requests[0]
	var told struct {
		ID, Type       string
		OrganizationID string `json:"organization_id"`
		AssessmentID   string `json:"assessment_id"`
		Data           map[string]any
	}
	if err := json.Unmarshal(got.body, &told); err != nil || told.Type != "report.ready" || told.OrganizationID != h.by.OrganizationID ||
		told.AssessmentID == "" ||
		told.Data["n"] != 1.0 {
		t.Errorf("%s, %v", got.body, err)
	}
	verifier, err := standardwebhooks.NewWebhook(w.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(got.body, got.header); err != nil {
		t.Errorf("the signature: %v", err)
	}
	if err := verifier.Verify(append(got.body, ' '), got.header); err == nil {
		t.Error("a changed body passes")
	}
	d := h.deliveries(w.ID)
	if len(d) != 1 || d[0].Status != "delivered" || d[0].EventID != told.ID || got.header.Get("webhook-id") != told.ID ||
		d[0].Attempts[0].HTTPStatus != 204 {
		t.Errorf("%+v", d)
	}
}

// TestRotation checks that both secrets are valid for a day after a rotation.
func TestRotation(t *testing.T) {
	h := newFixture(t)
	w := h.createWebhook()
	next, err := h.RotateSecret(t.Context(), h.by, &api.WebhookInput{WebhookID: w.ID})
	if err != nil || next.Secret == w.Secret {
		t.Fatal(next, err)
	}
	good := func(secret string) bool {
		v, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		last := h.requests[len(h.requests)-1]
		return v.VerifyIgnoringTimestamp(last.body, last.header) == nil
	}
	h.writeEvent("report.ready", false)
	h.round()
	if !good(w.Secret) || !good(next.Secret) {
		t.Error("not both secrets are good after a rotation")
	}
	h.advance(25 * time.Hour)
	h.writeEvent("report.ready", false)
	h.round()
	if good(w.Secret) || !good(next.Secret) {
		t.Error("the old secret is good after a day, or the new one isn't")
	}
}

// TestRetries checks that failed deliveries are retried for about a day with the same ID, also
// after a restart, and that a webhook that keeps failing is paused until it is resumed.
func TestRetries(t *testing.T) {
	h := newFixture(t)
	h.answer = func(n int) int { return 503 }
	w := h.createWebhook()
	h.writeEvent("report.ready", false)
	h.round()
	began := h.now()
	for range 400 {
		d := h.deliveries(w.ID)[0]
		if d.Status == "failed" {
			break
		}
		if d.Status != "retrying" || !d.NextAttemptAt.After(h.now()) {
			t.Fatalf("%+v", d)
		}
		h.advance(d.NextAttemptAt.Sub(h.now()))
		h.Service = h.service() // another start
		h.round()
	}
	d := h.deliveries(w.ID)[0]
	if span := h.now().Sub(began); d.Status != "failed" || len(d.Attempts) != 11 || span < 20*time.Hour || span > 28*time.Hour {
		t.Errorf("%s after %d attempts in %s", d.Status, len(d.Attempts), span)
	}
	for _, r := range h.requests {
		if r.header.Get("webhook-id") != d.EventID {
			t.Error("an attempt has another id")
		}
	}
	if e := *d.Attempts[0].Error; !strings.Contains(e, "503") || strings.Contains(e, "secret-path") {
		t.Errorf("the error %q", e)
	}
	again, err := h.Redeliver(t.Context(), h.by, &api.DeliveryInput{WebhookInput: api.WebhookInput{WebhookID: w.ID}, DeliveryID: d.ID})
	if err != nil || again.Status != "pending" {
		t.Fatal(again, err)
	}
	h.answer = func(int) int { return 200 }
	h.round()
	if d := h.deliveries(w.ID)[0]; d.Status != "delivered" || len(d.Attempts) != 12 {
		t.Errorf("asked for again: %+v", d)
	}
	h.answer = func(int) int { return http.StatusGone }
	h.writeEvent("report.ready", false)
	h.round()
	if now, err := h.Get(t.Context(), h.by, &api.WebhookInput{WebhookID: w.ID}); err != nil || now.Enabled {
		t.Errorf("a receiver that is gone is not paused: %+v, %v", now, err)
	}
	sent := len(h.requests)
	h.writeEvent("report.ready", false)
	h.round()
	if len(h.requests) != sent {
		t.Error("a paused webhook was sent to")
	}
	test, err := h.Test(t.Context(), h.by, &api.WebhookInput{WebhookID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.round()
	if len(h.requests) != sent+1 || h.deliveries(w.ID)[0].ID != test.ID || h.deliveries(w.ID)[0].Status != "failed" {
		t.Errorf("the test of a paused webhook: %+v", h.deliveries(w.ID)[0])
	}
}

// TestOrder checks that deliveries of one lane are sent in order, without delaying other webhooks.
func TestOrder(t *testing.T) {
	h := newFixture(t)
	h.answer = func(n int) int {
		if n == 1 {
			return 500
		}
		return 200
	}
	w := h.createWebhook()
	for range 5 {
		h.writeEvent("report.ready", false)
	}
	h.round()
	if len(h.requests) != 1 {
		t.Errorf("%d requests after the first failed", len(h.requests))
	}
	h.round()
	h.advance(time.Minute)
	h.round()
	done := 0
	for _, d := range h.deliveries(w.ID) {
		if d.Status == "delivered" {
			done++
		}
	}
	if done != 5 {
		t.Errorf("%d of 5 delivered", done)
	}
}

// TestAddresses checks that webhooks can't reach loopback or private networks, in any notation of
// the address.
func TestAddresses(t *testing.T) {
	h := newFixture(t)
	for _, address := range []string{
		"https://10.0.0.1/", "https://192.168.1.1", "https://172.16.0.1",
		"https://169.254.169.254/latest/meta-data", "https://100.64.0.1", "https://0.0.0.0",
		"https://[::1]/", "https://[::]/",
		"https://[fe80::1%25eth0]/", "https://[fc00::1]", "https://[::ffff:10.0.0.1]/",
		"https://[64:ff9b::a00:1]/", "https://[2002:a00:1::]/", "https://[2001:0:1::]/", "https://224.0.0.1",
		"https://255.255.255.255",
		"https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://127.1/",
		"http://example.com/", "ftp://example.com", "https://", "https:///x", "javascript:alert(1)",
		"https://user:pass@example.com/", "https://example.com/#x", "example.com", "https://exa mple.com",
		"",
	} {
		in := &api.CreateWebhookInput{}
		in.Body.URL = address
		if _, err := h.Create(t.Context(), h.by, in); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{
		"https://example.com/hook?x=1",
		"https://8.8.8.8:8443/",
		"https://[2606:4700::1111]/",
		"http://127.0.0.1:8080/x",
	} {
		in := &api.CreateWebhookInput{}
		in.Body.URL = address
		if _, err := h.Create(t.Context(), h.by, in); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestNamesAndRedirects checks that the resolved address is checked when connecting, and that
// redirects are not followed.
func TestNamesAndRedirects(t *testing.T) {
	h := newFixture(t)
	strict := notify.New(
		notify.Options{
			DB:     h.db,
			Clock:  h.now,
			Logger: slog.New(slog.DiscardHandler),
			Box:    secretboxtest.New(secretbox.Key{}),
			Agent:  "service/test",
		},
	)
	in := &api.CreateWebhookInput{}
	in.Body.URL = strings.Replace(h.server.URL, "http://127.0.0.1", "https://localhost", 1)
	w, err := strict.Create(t.Context(), h.by, in)
	if err != nil {
		t.Fatal(err)
	}
	h.writeEvent("report.ready", false)
	if err := strict.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := h.deliveries(w.ID)[0]; len(h.requests) != 0 || d.Attempts[0].Error == nil ||
		!strings.Contains(*d.Attempts[0].Error, "private network") {
		t.Errorf("%d requests, %+v", len(h.requests), d)
	}
	redirecting := httptest.NewServer(http.RedirectHandler(h.server.URL, http.StatusTemporaryRedirect))
	defer redirecting.Close()
	in.Body.URL = redirecting.URL
	w, err = h.Create(t.Context(), h.by, in)
	if err != nil {
		t.Fatal(err)
	}
	h.writeEvent("report.ready", false)
	h.round()
	if d := h.deliveries(w.ID)[0]; len(h.requests) != 0 || d.Status != "retrying" || d.Attempts[0].HTTPStatus != 307 {
		t.Errorf("%d requests, %+v", len(h.requests), d)
	}
}

// TestHostile checks that an endless response is cut off, and that a secret encrypted with another
// key is reported.
func TestHostile(t *testing.T) {
	h := newFixture(t)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	in := &api.CreateWebhookInput{}
	in.Body.URL = endless.URL
	w, err := h.Create(t.Context(), h.by, in)
	if err != nil {
		t.Fatal(err)
	}
	h.writeEvent("report.ready", false)
	h.round()
	if d := h.deliveries(w.ID)[0]; d.Status != "delivered" {
		t.Errorf("%+v", d)
	}
	other := notify.New(
		notify.Options{DB: h.db, Clock: h.now, Logger: slog.New(slog.DiscardHandler), Box: secretboxtest.New(secretbox.Key{1})},
	)
	h.writeEvent("report.ready", false)
	if err := other.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := h.deliveries(w.ID)[0]; d.Attempts[0].Error == nil || !strings.Contains(*d.Attempts[0].Error, "rotate") {
		t.Errorf("%+v", d)
	}
	in.Body.Events = []string{"soa.approved", "no.such"}
	if _, err := h.Create(t.Context(), h.by, in); err == nil || !strings.Contains(err.Error(), `"no.such"`) {
		t.Error(err)
	}
}

// TestTenants checks that other organizations can neither see nor change webhooks.
func TestTenants(t *testing.T) {
	h := newFixture(t)
	w := h.createWebhook()
	stranger := h.by
	stranger.OrganizationID = "018f0000-0000-7000-8000-00000000000c"
	id := api.WebhookInput{WebhookID: w.ID}
	_, e1 := h.Get(t.Context(), stranger, &id)
	_, e2 := h.RotateSecret(t.Context(), stranger, &id)
	_, e3 := h.Delete(t.Context(), stranger, &api.DeleteWebhookInput{WebhookInput: id})
	_, e4 := h.Test(t.Context(), stranger, &id)
	_, e5 := h.ListWebhookDeliveries(t.Context(), stranger, &api.DeliveriesInput{WebhookInput: id})
	_, e6 := h.Update(t.Context(), stranger, &api.UpdateWebhookInput{WebhookInput: id})
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if !api.IsCode(err, api.CodeNotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	l, err := h.List(t.Context(), stranger, &api.OrgListInput{})
	if err != nil || len(l.Data) != 0 {
		t.Error(l, err)
	}
	if _, err := h.Delete(t.Context(), h.by, &api.DeleteWebhookInput{WebhookInput: id}); err != nil {
		t.Error(err)
	}
	h.writeEvent("report.ready", false)
	h.round()
	if len(h.requests) != 0 {
		t.Error("a deleted webhook was sent to")
	}
}

// BenchmarkDelivery measures one event from the change to the recorded response of a local
// receiver.
func BenchmarkDelivery(b *testing.B) {
	h := newFixture(b)
	h.createWebhook()
	for b.Loop() {
		h.writeEvent("report.ready", false)
		h.round()
	}
}

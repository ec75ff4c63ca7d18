package integration_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/engine/notify/integration"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
	_ "github.com/scf-service/service/store/bolt"
)

// fixture is an organization with an approved plan, a fixed clock and the store.
type fixture struct {
	*integration.Service
	t     testing.TB
	db    *store.DB
	box   *secretbox.Box
	hooks *notify.Service
	by    api.Caller
	log   bytes.Buffer

	mu   sync.Mutex
	time time.Time
	plan api.POAMVersion
}

const (
	org    = "018f0000-0000-7000-8000-00000000000a"
	harbor = "018f0000-0000-7000-8000-00000000000b"
)

func newFixture(t testing.TB) *fixture {
	h := &fixture{
		t:    t,
		time: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		box:  secretboxtest.New(secretbox.NewKey()),
		by:   api.Caller{OrganizationID: org, Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, Name: "Ada"}},
	}
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
	h.start()
	h.must(h.db.Update(t.Context(), func(tx *store.Tx) error {
		o := api.Organization{Name: "Acme", Slug: "acme"}
		o.ID = org
		a := api.Assessment{
			Name:         "Harbor 2026",
			TenantRecord: api.TenantRecord{Record: api.Record{ID: harbor, CreatedAt: tx.Now()}, OrganizationID: org},
		}
		if err := store.Organizations.Insert(tx, &o); err != nil {
			return err
		}
		return store.Assessments.Insert(tx, org, &a)
	}))
	return h
}

// start sets up the services as at the start of the program.
func (h *fixture) start() {
	logger := slog.New(slog.NewTextHandler(&h.log, nil))
	reach := netguard.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	h.Service = integration.New(
		integration.Options{DB: h.db, Clock: h.now, Logger: logger, Box: h.box, Guard: reach, Plans: h, Archives: h, Agent: "service/test"},
	)
	h.hooks = notify.New(
		notify.Options{
			DB:         h.db,
			Clock:      h.now,
			Logger:     logger,
			Box:        h.box,
			Guard:      reach,
			Agent:      "service/test",
			ExtraKinds: []delivery.ReceiverKind{h.Service},
		},
	)
}

func (h *fixture) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
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

// approved creates an approved plan with this number of items.
func (h *fixture) approved(items int) {
	h.t.Helper()
	h.must(h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		h.plan.VersionNumber++
		h.plan.ID = tx.NewID()
		h.plan.AssessmentID = harbor
		h.plan.OrganizationID = org
		h.plan.Status = api.VersionApproved
		h.plan.CreatedAt = tx.Now()
		if err := store.POAMVersions.Insert(tx, org, &h.plan); err != nil {
			return err
		}
		for n := range items {
			i := api.POAMItem{
				POAMCode: fmt.Sprintf(
					"POAM-%03d",
					n+1,
				),
				Weakness:           fmt.Sprintf("No second factor <%d>", n),
				CorrectiveAction:   "Turn on the second factor, @all *now*",
				Severity:           api.SeverityHigh,
				Effort:             "small",
				DueDate:            "2027-01-31",
				Status:             "open",
				AcceptanceCriteria: []string{"It is on"},
			}
			i.ID, i.OrganizationID, i.AssessmentID, i.VersionID, i.ControlCode, i.Revision = tx.NewID(), org, harbor, h.plan.ID, fmt.Sprintf(
				"IAC-%02d",
				n+1,
			), 1
			if err := store.POAMItems.Insert(tx, org, &i); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (h *fixture) items() (out []api.POAMItem) {
	h.must(h.db.View(context.Background(), func(tx *store.Tx) error {
		for i, err := range store.POAMItems.By("version").Scan(tx, org, store.Prefix(h.plan.ID)) {
			if err != nil {
				return err
			}
			out = append(out, i)
		}
		return nil
	}))
	return out
}

// edit changes an item as a user does.
func (h *fixture) edit(n int, change func(*api.POAMItem)) {
	h.t.Helper()
	i := h.items()[n]
	h.must(h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		change(&i)
		i.Revision++
		return store.POAMItems.Put(tx, org, &i)
	}))
}

// UpdatePOAMItem changes an item as the assessment service does: it rejects outdated revisions and dates in the past.
func (h *fixture) UpdatePOAMItem(ctx context.Context, by api.Caller, in *api.UpdatePOAMItemInput) (*api.POAMItem, error) {
	var i api.POAMItem
	err := h.db.Update(ctx, func(tx *store.Tx) (err error) {
		if i, err = store.POAMItems.Get(tx, by.OrganizationID, in.POAMItemID); err != nil {
			return store.ToNotFound(err, "item", in.POAMItemID)
		}
		if in.IfMatch != fmt.Sprintf("%q", fmt.Sprint(i.Revision)) {
			return api.Invalid("If-Match", "it has moved on")
		}
		if in.Body.DueDate != nil {
			if *in.Body.DueDate < api.DateOf(h.now()) {
				return api.Invalid("due_date", "it has passed")
			}
			i.DueDate = *in.Body.DueDate
		}
		if in.Body.Status != nil {
			i.Status = *in.Body.Status
		}
		i.EditedBy = &by.Actor.Name
		i.Revision++
		return store.POAMItems.Put(tx, by.OrganizationID, &i)
	})
	return &i, err
}

// Export returns an archive of an assessment.
func (h *fixture) Export(context.Context, api.Caller, *api.AssessmentInput) (*api.File, error) {
	return &api.File{
		Filename:    "harbor.zip",
		ContentType: "application/zip",
		Size:        -1,
		Content:     io.NopCloser(strings.NewReader("PK of " + h.now().String())),
	}, nil
}

func (h *fixture) make(kind string, config map[string]any, secrets map[string]string, events ...string) (*api.Integration, error) {
	in := &api.CreateIntegrationInput{}
	in.Body.Type, in.Body.Name, in.Body.Config, in.Body.Secrets, in.Body.Events = kind, "The "+kind, config, secrets, events
	return h.Create(h.t.Context(), h.by, in)
}

func (h *fixture) made(kind string, config map[string]any, secrets map[string]string, events ...string) string {
	h.t.Helper()
	r, err := h.make(kind, config, secrets, events...)
	h.must(err)
	h.advance(time.Second)
	return r.ID
}

func (h *fixture) writeEvent(event, assessment string, data map[string]any) {
	h.t.Helper()
	h.must(h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		return audit.RecordAndPublishEvent(
			tx,
			h.by,
			audit.Event{Type: event, AssessmentID: assessment, Summary: "approved <!channel> the plan", Data: data},
		)
	}))
	h.must(h.hooks.RunOnce(h.t.Context()))
}

func (h *fixture) deliveries(id string) []api.Delivery {
	h.t.Helper()
	l, err := h.ListDeliveries(
		h.t.Context(),
		h.by,
		&api.IntegrationDeliveriesInput{IntegrationInput: api.IntegrationInput{IntegrationID: id}},
	)
	h.must(err)
	return l.Data
}

func (h *fixture) read(id string) *api.Integration {
	h.t.Helper()
	r, err := h.Get(h.t.Context(), h.by, &api.IntegrationInput{IntegrationID: id})
	h.must(err)
	return r
}

func (h *fixture) runTest(id string) *api.IntegrationTest {
	h.t.Helper()
	got, err := h.Test(h.t.Context(), h.by, &api.IntegrationInput{IntegrationID: id})
	h.must(err)
	return got
}

func (h *fixture) sync(id string) *api.IntegrationSync {
	h.t.Helper()
	got, err := h.Sync(h.t.Context(), h.by, &api.IntegrationInput{IntegrationID: id})
	h.must(err)
	return got
}

func (h *fixture) links(id string) []api.IssueLink {
	h.t.Helper()
	l, err := h.ListLinks(h.t.Context(), h.by, &api.IssueLinksInput{IntegrationInput: api.IntegrationInput{IntegrationID: id}})
	h.must(err)
	return l.Data
}

// receiver records requests; answer writes the responses.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []got
	answer func(w http.ResponseWriter, r *http.Request, body string)
}

type got struct {
	method, path string
	header       http.Header
	body         string
}

func receive(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, body string)) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, got{q.Method, q.URL.RequestURI(), q.Header, string(b)})
		r.answer(w, q, string(b))
	}))
	t.Cleanup(r.Close)
	return r
}

func says(status int, body string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// strict restarts the services without allowed private networks.
func (h *fixture) strict() {
	h.Service = integration.New(
		integration.Options{
			DB:       h.db,
			Clock:    h.now,
			Logger:   slog.New(slog.DiscardHandler),
			Box:      h.box,
			Plans:    h,
			Archives: h,
			Agent:    "service/test",
		},
	)
}

func integrationInput(id string) api.IntegrationInput { return api.IntegrationInput{IntegrationID: id} }

// selfSigned returns a self-signed certificate.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

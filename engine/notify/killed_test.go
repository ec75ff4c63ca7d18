package notify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

var (
	manyEvents = flag.Int("events", 120, "events in TestKilledLosesNothing")
	manyKills  = flag.Int("kills", 4, "how often the engine is killed in TestKilledLosesNothing")
)

// faster is the speed of the killed process's clock relative to real time, so that retries after
// minutes happen within a second.
const faster = 240

const childVariable = "NOTIFY_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		os.Exit(child(dir))
	}
	flag.Parse()
	os.Exit(m.Run())
}

var killedBy = api.Caller{OrganizationID: "018f0000-0000-7000-8000-00000000000a", Actor: api.Actor{Type: api.ActorUser, Name: "Ada"}}

// child creates an event for each line of stdin, prints which were committed, and delivers them
// until it is killed or stdin ends.
func child(dir string) int {
	started, err := time.Parse(time.RFC3339Nano, os.Getenv("NOTIFY_TEST_CLOCK"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	clock := func() time.Time { return started.Add(time.Since(started) * faster).UTC() }
	logger := slog.New(slog.DiscardHandler)
	fail := func(err error) int { fmt.Fprintln(os.Stderr, err); return 1 }
	ctx := context.Background()
	db, err := store.Open(
		ctx,
		store.Options{
			Dir:    dir,
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock:       clock,
			NewID:       func() string { return uuid.Must(uuid.NewV7()).String() },
			LockTimeout: 30 * time.Second,
			Logger:      logger,
		},
	)
	if err != nil {
		return fail(err)
	}
	s := notify.New(notify.Options{
		DB: db, Clock: clock, Logger: logger, Box: secretboxtest.New(secretbox.Key{}), Agent: "service/test",
		Guard: netguard.Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		NewTicker: func(d time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(d / 20)
			return t.C, t.Stop
		},
	})
	all, err := s.List(ctx, killedBy, &api.OrgListInput{})
	if err == nil && len(all.Data) == 0 {
		in := &api.CreateWebhookInput{}
		in.Body.URL = os.Getenv("NOTIFY_TEST_URL")
		_, err = s.Create(ctx, killedBy, in)
	}
	if err != nil {
		return fail(err)
	}
	s.Start(ctx)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n := lines.Text()
		err := db.Update(ctx, func(tx *store.Tx) error {
			return audit.RecordAndPublishEvent(
				tx,
				killedBy,
				audit.Event{
					Type:         "report.ready",
					AssessmentID: "018f0000-0000-7000-8000-00000000000b",
					Summary:      n,
					Data:         map[string]any{"n": n},
				},
			)
		})
		if err != nil {
			return fail(err)
		}
		fmt.Println(n)
	}
	s.Close()
	if err := db.Close(); err != nil {
		return fail(err)
	}
	return 0
}

// flakyEndpoint is an endpoint that randomly fails, hangs and restarts.
type flakyEndpoint struct {
	mu     sync.Mutex
	random *rand.Rand
	server *httptest.Server
	// ids counts the arrivals by the text of the change and the event ID.
	ids  map[string]map[string]int
	good bool
	bad  int
}

func (k *flakyEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var told struct {
		ID   string
		Data struct{ N string }
	}
	_ = json.Unmarshal(b, &told)
	k.mu.Lock()
	at := k.random.Float64()
	if k.good {
		at = 1
	}
	if at >= 0.02 && told.ID == r.Header.Get("webhook-id") { // 1 in 100 is accepted, but not answered
		if k.ids[told.Data.N] == nil {
			k.ids[told.Data.N] = map[string]int{}
		}
		k.ids[told.Data.N][told.ID]++
	}
	if at < 0.03 {
		k.bad++
	}
	k.mu.Unlock()
	switch {
	case at < 0.02:
		w.WriteHeader(http.StatusServiceUnavailable)
	case at < 0.026:
		panic(http.ErrAbortHandler)
	case at < 0.027: // hangs until the client gives up
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	case at < 0.03: // restarts: all connections end
		k.server.CloseClientConnections()
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// TestKilledLosesNothing checks that no event is lost if the process is killed at random moments
// and the endpoint fails, hangs and restarts, and that repeated deliveries have the same ID.
func TestKilledLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	k := &flakyEndpoint{random: rand.New(rand.NewPCG(20261122, 10000)), ids: map[string]map[string]int{}}
	k.server = httptest.NewServer(k)
	defer k.server.Close()
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	random := rand.New(rand.NewPCG(20261122, 50))
	committed := map[string]bool{}
	next, kills := 0, 0
	// run starts a process and sends it lines until it has created this many events or ends.
	run := func(most int, kill bool) {
		cmd := exec.Command(program)
		cmd.Env = append(
			os.Environ(),
			childVariable+"="+dir,
			"NOTIFY_TEST_URL="+k.server.URL+"/hook",
			"NOTIFY_TEST_CLOCK="+started.Format(time.RFC3339Nano),
		)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		for range most {
			fmt.Fprintln(in, next)
			next++
			if !said.Scan() {
				t.Fatalf("the process ended by itself at event %d", next)
			}
			committed[said.Text()] = true
		}
		if kill {
			// Also kill during a change: request one more and don't wait for it.
			fmt.Fprintln(in, next)
			next++
			timer := time.AfterFunc(time.Duration(random.Int64N(int64(20*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			for said.Scan() {
				committed[said.Text()] = true
			}
			_ = cmd.Wait()
			kills++
			return
		}
		k.mu.Lock()
		k.good = true // let the remaining deliveries succeed
		k.mu.Unlock()
		deadline := time.After(2*time.Minute + time.Duration(*manyEvents)*20*time.Millisecond)
		for !k.has(committed) {
			select {
			case <-deadline:
				t.Errorf("%d of %d events came in the time there was", len(k.ids), len(committed))
				committed = map[string]bool{}
			case <-time.After(50 * time.Millisecond):
			}
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	each := *manyEvents / (*manyKills + 1)
	for range *manyKills {
		run(each, true)
	}
	run(*manyEvents-each*(*manyKills), false)
	twice := 0
	for n, ids := range k.ids {
		if len(ids) != 1 {
			t.Errorf("event %s came under %d ids", n, len(ids))
		}
		for _, times := range ids {
			twice += times - 1
		}
	}
	t.Logf(
		"%d events, %d kills, %d answers that were bad: %d committed, all came, %d came again, in %s",
		next,
		kills,
		k.bad,
		len(committed),
		twice,
		time.Since(started).Round(time.Second),
	)
}

func (k *flakyEndpoint) has(all map[string]bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := range all {
		if k.ids[n] == nil {
			return false
		}
	}
	return true
}

// BenchmarkWrite alternates between changes without and with an event, so that both see the same
// machine load: with no webhook, with one and with ten, and ("beside") with the delivery loop
// running, which competes for the writer.
func BenchmarkWrite(b *testing.B) {
	for _, beside := range []string{"alone", "beside"} {
		for _, hooks := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("%s/hooks=%d", beside, hooks), func(b *testing.B) {
				h := newFixture(b)
				h.answer = func(int) int { return 204 }
				for range hooks {
					h.createWebhook()
				}
				h.advance(time.Second)
				if beside == "beside" {
					h.Service = h.service()
					h.Service.Dispatcher.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return make(chan time.Time), func() {} }
					h.Start(b.Context())
					defer h.Close()
				}
				var took [2][]time.Duration
				n := 0
				for b.Loop() {
					for with := range took {
						n++
						began := time.Now()
						err := h.db.Update(b.Context(), func(tx *store.Tx) error {
							s := store.Setting{Name: "n", Value: fmt.Sprint(n)}
							if err := store.Settings.Put(tx, &s); err != nil || with == 0 {
								return err
							}
							return audit.RecordAndPublishEvent(
								tx,
								h.by,
								audit.Event{
									Type:         "report.ready",
									AssessmentID: "018f0000-0000-7000-8000-00000000000b",
									Summary:      "x",
									Data:         map[string]any{"n": n},
								},
							)
						})
						if err != nil {
							b.Fatal(err)
						}
						took[with] = append(took[with], time.Since(began))
					}
				}
				for with, name := range []string{"without", "with"} {
					slices.Sort(took[with])
					b.ReportMetric(float64(took[with][len(took[with])/2])/1e6, name+"-p50-ms")
				}
			})
		}
	}
}

// BenchmarkLatency measures the time from the commit of a change until the receiver has the event,
// with the delivery loop running.
func BenchmarkLatency(b *testing.B) {
	h := newFixture(b)
	came := make(chan time.Time, 1)
	h.answer = func(int) int { came <- time.Now(); return 204 }
	h.createWebhook()
	h.advance(time.Second)
	h.Service = h.service()
	h.Service.Dispatcher.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return make(chan time.Time), func() {} }
	h.Start(b.Context())
	defer h.Close()
	var took []time.Duration
	for b.Loop() {
		h.writeEvent("report.ready", false)
		committed := time.Now()
		took = append(took, (<-came).Sub(committed))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// TestOldDeliveries checks that deliveries older than 30 days are deleted in steps, except those
// requested again.
func TestOldDeliveries(t *testing.T) {
	h := newFixture(t)
	w := h.createWebhook()
	for range 3 {
		h.writeEvent("report.ready", false)
	}
	h.round()
	h.advance(29 * 24 * time.Hour)
	h.round()
	old := h.deliveries(w.ID)
	if len(old) != 3 {
		t.Fatalf("%d deliveries after 29 days", len(old))
	}
	if _, err := h.Redeliver(
		t.Context(),
		h.by,
		&api.DeliveryInput{WebhookInput: api.WebhookInput{WebhookID: w.ID}, DeliveryID: old[0].ID},
	); err != nil {
		t.Fatal(err)
	}
	h.writeEvent("report.ready", false)
	h.round()
	h.advance(2 * 24 * time.Hour)
	h.round()
	left := h.deliveries(w.ID)
	if len(left) != 2 || !slices.ContainsFunc(left, func(d api.Delivery) bool { return d.ID == old[0].ID }) {
		t.Errorf("%d deliveries are left: %+v", len(left), left)
	}
	// There is more than one step's work; the next round continues.
	if err := h.db.Update(t.Context(), func(tx *store.Tx) error {
		for range 700 {
			d := store.Delivery{
				WebhookID: w.ID,
				Delivery: api.Delivery{
					TenantRecord: api.TenantRecord{
						Record: api.Record{
							ID:        "00000000-0000-7000-8000-" + tx.NewID()[24:],
							CreatedAt: tx.Now().AddDate(0, -2, 0),
							UpdatedAt: tx.Now().AddDate(0, -2, 0),
						},
						OrganizationID: h.by.OrganizationID,
					},
					Status: "delivered",
				},
			}
			if err := store.Deliveries.Insert(tx, h.by.OrganizationID, &d); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h.advance(2 * time.Hour)
	count := func() (n int) {
		_ = h.db.View(t.Context(), func(tx *store.Tx) (err error) {
			n, err = store.Deliveries.Count(tx, h.by.OrganizationID)
			return err
		})
		return n
	}
	h.round()
	if n := count(); n != 202 {
		t.Errorf("%d are left after one step", n)
	}
	h.round()
	if n := count(); n != 2 {
		t.Errorf("%d are left after two", n)
	}
}

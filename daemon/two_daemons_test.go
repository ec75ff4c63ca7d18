package daemon_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// waitUntil waits until a condition is met, and fails the test if that takes longer than a minute.
func waitUntil(t *testing.T, what string, isMet func() bool) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(time.Minute); !isMet(); <-ticks.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for this: %s", what)
		}
	}
}

// at returns the same caller at another daemon.
func (c testCaller) at(w *testServer) testCaller {
	c.w = w
	return c
}

// TestTwoDaemons checks that what one daemon changes or counts holds at another one on the same database.
func TestTwoDaemons(t *testing.T) {
	postgrestest.NewURL(t) // or skips the test
	first, second := enginetest.NewPair(t)
	var clock atomic.Int64
	clock.Store(time.Date(2026, 11, 20, 9, 0, 1, 0, time.UTC).UnixNano())
	limits := maps.Clone(unlimited)
	limits[api.RateSearch] = 100
	o := daemon.Options{RateLimits: limits, Clock: func() time.Time { return time.Unix(0, clock.Load()) }}
	one, two := serve(t, o, first), serve(t, o, second)
	ada, key := one.createOrganization("Acme", "ada@acme.example")

	t.Run("sessions", func(t *testing.T) {
		session := one.signIn("ada@acme.example", ada.org)
		session.at(two).must("GET", assessments, nil)
		session.at(two).must("POST", api.SignOut.Path, nil)
		if a := session.do("GET", assessments, nil); a.status != 401 {
			t.Errorf("after signing out at the other daemon: %d %s", a.status, a.text)
		}
	})
	t.Run("API keys", func(t *testing.T) {
		made := ada.must("POST", api.CreateAPIKey.Path, map[string]any{"name": "k", "scopes": []string{"assessment:read"}})
		k := testCaller{w: two, bearer: made.str("key"), org: ada.org}
		k.must("GET", assessments, nil)
		ada.must("DELETE", strings.Replace(api.RevokeAPIKey.Path, "{keyId}", made.str("id"), 1), nil)
		if a := k.do("GET", assessments, nil); a.status != 401 {
			t.Errorf("a key revoked at the other daemon: %d %s", a.status, a.text)
		}
	})
	t.Run("roles and bans", func(t *testing.T) {
		bob := ada.addMember("bob@acme.example", api.RoleMember).at(two)
		bob.must("POST", assessments, map[string]any{"name": "Bob's"})
		ada.must("PATCH", "/api/v1/organizations/"+ada.org+"/members/"+bob.userID(), map[string]any{"role": api.RoleViewer})
		if a := bob.do("POST", assessments, map[string]any{"name": "Not Bob's"}); a.status != 403 {
			t.Errorf("a viewer since the change at the other daemon: %d %s", a.status, a.text)
		}
		ban := strings.Replace(api.BanUser.Path, "{userId}", bob.userID(), 1)
		one.localUser().must("POST", ban, map[string]string{"reason": "shared"})
		if a := bob.do("GET", assessments, nil); a.status != 401 {
			t.Errorf("banned at the other daemon: %d %s", a.status, a.text)
		}
	})
	t.Run("wrong passwords", func(t *testing.T) {
		guess := func(w *testServer) int {
			body := map[string]string{"email": "nobody@acme.example", "password": "not this one at all"}
			return testCaller{w: w}.do("POST", api.SignIn.Path, body).status
		}
		for i := range 5 {
			if status := guess([]*testServer{one, two}[i%2]); status != 401 {
				t.Fatalf("guess %d: %d", i, status)
			}
		}
		if status := guess(two); status != 429 {
			t.Errorf("the sixth guess, alternating between the daemons: %d", status)
		}
	})
	t.Run("rate limits", func(t *testing.T) {
		search := func(w *testServer) int {
			return key.at(w).do("POST", "/api/v1/kb/search", map[string]string{"query": "keys"}).status
		}
		used := 0
		for range limits[api.RateSearch] - 10 {
			used++
			search(one)
		}
		atSecond := 0
		waitUntil(t, "the second daemon counts the requests at the first one", func() bool {
			clock.Add(int64(time.Second / 10)) // the daemons exchange their counts each second
			search(one)
			atSecond++
			return search(two) == 429
		})
		if atSecond >= limits[api.RateSearch] {
			t.Errorf("the second daemon served %d requests, as if it were alone", atSecond)
		}
	})
	t.Run("idempotency keys", func(t *testing.T) {
		var replies [6]reply
		var sent sync.WaitGroup
		for i := range replies {
			sent.Go(func() {
				w := []*testServer{one, two}[i%2]
				replies[i] = key.at(w).do("POST", assessments, map[string]string{"name": "Once"}, "Idempotency-Key", "k-1")
			})
		}
		sent.Wait()
		for _, a := range replies {
			if a.status != 201 || a.text != replies[0].text {
				t.Errorf("%d %s, and the first reply is %s", a.status, a.text, replies[0].text)
			}
		}
	})

	a := key.must("POST", assessments, map[string]any{"name": "Harbor", "framework_ids": []string{"iso-27001-2022"}}).str("id")
	t.Run("documents and search", func(t *testing.T) {
		search := func(w *testServer, query string) string {
			return key.at(w).must("POST", "/api/v1/kb/search", map[string]any{"query": query, "assessment_id": a}).text
		}
		clock.Add(int64(time.Minute)) // a new window of the rate limit
		for i, c := range []struct{ name, text, query string }{
			{"access.md", "# Access\n\nManagers review all access rights every quarter.", "review of access rights"},
			{"backup.md", "# Backup\n\nOperations restores a backup each month as a test.", "restoring backups"},
		} {
			from, to := []*testServer{one, two}[i%2], []*testServer{two, one}[i%2]
			made := key.at(from).must("POST", assessments+"/"+a+"/documents", form{filename: c.name, content: c.text})
			key.at(to).must("GET", strings.Replace(api.GetDocument.Path, "{documentId}", made.str("id"), 1)+"?wait=60s", nil)
			if found := search(to, c.query); !strings.Contains(found, c.name) {
				t.Errorf("the other daemon does not find %s: %s", c.name, found)
			}
		}
	})
	t.Run("events of another's run", func(t *testing.T) {
		run := ada.must("POST", strings.Replace(api.StartWorkflow.Path, "{assessmentId}", a, 1),
			map[string]any{"workflow_type": "report", "start_at": "2099-01-01T00:00:00Z"}).str("id")
		watched := make(chan reply, 1)
		go func() {
			watched <- ada.at(two).do("GET", strings.Replace(api.WatchWorkflow.Path, "{workflowRunId}", run, 1), nil)
		}()
		ada.must("POST", strings.Replace(api.CancelWorkflow.Path, "{workflowRunId}", run, 1), nil)
		if events := <-watched; !strings.Contains(events.text, "event: end\n") {
			t.Errorf("the events are %s", events.text)
		}
	})
	t.Run("one sender for each event", func(t *testing.T) {
		var mu sync.Mutex
		received := map[string]int{}
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			for _, name := range []string{"sent by one", "sent by two"} {
				if strings.Contains(string(text), name) {
					received[name]++
				}
			}
		}))
		defer receiver.Close()
		ada.at(two).must("POST", api.CreateIntegration.Path, map[string]any{
			"type": "slack", "name": "Chat", "events": []string{"assessment.created"}, "secrets": map[string]string{"webhook_url": receiver.URL},
		})
		key.at(one).must("POST", assessments, map[string]string{"name": "sent by one"})
		key.at(two).must("POST", assessments, map[string]string{"name": "sent by two"})
		count := func(name string) int { mu.Lock(); defer mu.Unlock(); return received[name] }
		waitUntil(t, "both events are sent", func() bool { return count("sent by one") > 0 && count("sent by two") > 0 })
		waitUntil(t, "no delivery is left", func() bool {
			return first.Stats().WaitingDeliveries == 0
		})
		if count("sent by one") != 1 || count("sent by two") != 1 {
			t.Errorf("received: %v", received)
		}
	})
	t.Run("active catalog", func(t *testing.T) {
		workbook := form{filename: "scf.xlsx", content: string(smallWorkbook(t)), fields: map[string]string{"label": "2030.1"}}
		one.localUser().must("POST", api.ImportWorkbook.Path, workbook)
		if a := key.at(two).must("GET", api.GetLatestVersion.Path, nil); a.str("label") != "2030.1" {
			t.Errorf("the other daemon has the catalog %s", a.text)
		}
	})
}

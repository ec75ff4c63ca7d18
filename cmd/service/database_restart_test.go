package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/postgrestest"
)

// TestDatabaseRestart stops the database of a daemon as in a crash, and starts it again. In the meantime, requests
// must be answered with 503 and the time to wait; afterwards, they must succeed as usual.
func TestDatabaseRestart(t *testing.T) {
	server := postgrestest.NewServer(t)
	u := newTestUser(t)
	u.env = append(u.env, "SERVICE_STORE="+server.URL("grc"),
		"SERVICE_ADMIN_EMAIL=ada@acme.example", "SERVICE_ADMIN_PASSWORD=four words make one", "SERVICE_ORG=Acme")
	daemon, url := u.startDaemon()
	signIn := func() *http.Response {
		t.Helper()
		body := strings.NewReader(`{"email": "ada@acme.example", "password": "four words make one"}`)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/auth/sign-in/email", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	if resp := signIn(); resp.StatusCode != http.StatusOK {
		t.Fatalf("signing in: %s", resp.Status)
	}
	server.Stop(t, "immediate")
	if resp := signIn(); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("without a database: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	server.Start(t)
	if resp := signIn(); resp.StatusCode != http.StatusOK {
		t.Errorf("after the restart: %s", resp.Status)
	}
	daemon.stopDaemon()
}

package daemon_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
)

// TestLocalPages starts a session with the single-use link, and checks that everyone else is rejected.
func TestLocalPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	const host = "127.0.0.1:4321"
	p := daemon.NewLocalPages(daemon.LocalPagesOptions{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: func() time.Time { return now },
		Transport: client.InMemoryTransport(w.local), Host: host,
	})
	var cookies []*http.Cookie
	send := func(method, path, origin string, fields url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Accept", "text/html")
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
		}
		for _, c := range cookies {
			r.AddCookie(c)
		}
		rec := httptest.NewRecorder()
		p.ServeHTTP(rec, r)
		return rec
	}
	link := strings.TrimPrefix(p.Link(), "http://"+host)
	for _, path := range []string{"/", "/settings", "/open?key=wrong", "/open"} {
		if rec := send("GET", path, "", nil); rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), "service open") {
			t.Errorf("without the link, %s answers %d %s", path, rec.Code, rec.Body)
		}
	}
	started := send("GET", link, "", nil)
	if cookies = started.Result().Cookies(); started.Code != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].HttpOnly {
		t.Fatalf("the link answers %d %v", started.Code, started.Header())
	}
	home := send("GET", "/", "", nil)
	if text := home.Body.String(); home.Code != http.StatusOK || !strings.Contains(text, "There is no assessment yet") ||
		strings.Contains(text, "Sign out") {
		t.Errorf("the start page: %d %s", home.Code, home.Body)
	}
	if rec := send("GET", daemon.OpenAPIPath, "", nil); rec.Code != http.StatusOK || !json.Valid(rec.Body.Bytes()) {
		t.Errorf("the document of the API reference: %d %.300s", rec.Code, rec.Body)
	}
	if rec := send("GET", "/api/v1/assessments", "", nil); rec.Code != http.StatusForbidden ||
		!strings.Contains(rec.Body.String(), "service daemon") {
		t.Errorf("the API: %d %.300s", rec.Code, rec.Body)
	}
	token := formTokenPattern.FindStringSubmatch(send("GET", "/new", "", nil).Body.String())[1]
	form := url.Values{"csrf": {token}, "do": {"create"}, "name": {"Acme"}, "framework": {"lgpd"}}
	if rec := send("POST", "/new", "http://127.0.0.1:8080", form); rec.Code != http.StatusForbidden {
		t.Errorf("a form from another port: %d", rec.Code)
	}
	if rec := send("POST", "/new", "http://"+host, form); rec.Code != http.StatusSeeOther {
		t.Errorf("creating an assessment: %d %s", rec.Code, rec.Body)
	}
	mine := cookies
	if cookies = nil; send("GET", link, "", nil).Code != http.StatusUnauthorized {
		t.Error("the link works twice")
	}
	cookies = mine
	rebound := httptest.NewRequest("GET", "http://evil.example/", nil)
	rec := httptest.NewRecorder()
	if p.ServeHTTP(rec, rebound); rec.Code != http.StatusForbidden {
		t.Errorf("under another name: %d", rec.Code)
	}
	// A page that reports is open until it reports that it was closed, or stops reporting.
	unused := func(after time.Duration, want bool) {
		t.Helper()
		if now = now.Add(after); p.IsUnused() != want {
			t.Errorf("%s later, unused is %t", after, !want)
		}
	}
	unused(20*time.Minute, false) // the browser may run no script
	send("POST", "/open/page?id=a", "http://"+host, nil)
	unused(2*time.Minute, false)
	send("POST", "/open/page?id=a&closed", "http://"+host, nil)
	unused(50*time.Second, false)
	unused(20*time.Second, true)
	send("POST", "/open/page?id=b", "http://"+host, nil)
	unused(time.Minute, false)
	unused(10*time.Minute, true)
}

package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func newClient(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSessionsTravel checks that the session cookie is sent, and updated when the server starts,
// renews or ends the session.
func TestSessionsTravel(t *testing.T) {
	ends := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	cookie, url := &http.Cookie{}, ""
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		origin := "none"
		if o := r.Header.Get("Origin"); o != "" {
			origin = fmt.Sprint(o == url)
		}
		if cookie.Name != "" {
			http.SetCookie(w, cookie)
		}
		answer(w, 200, map[string]any{"email": r.Header.Get("Cookie") + " " + origin + " " + r.Header.Get("Authorization")})
	})
	var told []string
	changed := func(token string, e time.Time) { told = append(told, token+" "+e.UTC().Format(time.RFC3339)) }
	c := newClient(t, client.Options{BaseURL: url, SessionChanged: changed})
	ask := func(c *client.Client, want string) {
		t.Helper()
		in := &api.LinkInput{}
		in.Body.Token = "x"
		got, err := client.Do(t.Context(), c, api.GetLink, in)
		if err != nil || got.Email != want {
			t.Errorf("sent %+v, %v, want %q", got, err, want)
		}
	}
	ask(c, " none ")
	cookie = &http.Cookie{Name: api.SessionCookie, Value: "one", Expires: ends}
	ask(c, " none ")
	cookie = &http.Cookie{Name: "another", Value: "x"}
	ask(c, api.SessionCookie+"=one true ")
	cookie = &http.Cookie{Name: api.SessionCookie, Value: "", Expires: time.Unix(0, 0)}
	ask(c, api.SessionCookie+"=one true ")
	ask(c, " none ")
	if got := strings.Join(told, "|"); got != "one 2027-01-02T03:04:05Z| 1970-01-01T00:00:00Z| 1970-01-01T00:00:00Z" {
		t.Errorf("told %s", got)
	}
	// An API key takes precedence over a session, and session cookies received are then ignored.
	ask(newClient(t, client.Options{BaseURL: url, Token: "k", Session: "s", SessionChanged: changed}), " none Bearer k")
	if len(told) != 3 {
		t.Errorf("told %q", told)
	}
}

func TestAddresses(t *testing.T) {
	for address, plain := range map[string]bool{
		"https://service.example": false, "https://service.example/below/": false, "http://localhost:8080": false,
		"http://127.0.0.1": false, "http://[::1]:8080": false,
		"http://grc.localhost": false, "http://service.example": true, "http://10.0.0.1": true,
		"http://127.0.0.1.example": true, "http://localhost.example": true,
	} {
		_, err := client.New(client.Options{BaseURL: address})
		if errors.Is(err, client.ErrPlainHTTP) != plain || (err != nil) != plain {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := client.New(client.Options{BaseURL: address, PlainHTTP: true}); err != nil {
			t.Errorf("%s, allowed: %v", address, err)
		}
	}
	for _, bad := range []string{
		"https://ada:pw@service.example",
		"https://service.example/?x=1",
		"https://service.example/#x",
		"https://:8080",
	} {
		if _, err := client.New(client.Options{BaseURL: bad}); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestCredentialsAreNotTakenElsewhere checks that redirects are reported and not followed.
func TestCredentialsAreNotTakenElsewhere(t *testing.T) {
	var asked atomic.Int32
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for name, o := range map[string]client.Options{"session": {Session: "s"}, "key": {Token: "k"}} {
		o.BaseURL = serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		})
		_, err := client.Do(t.Context(), newClient(t, o), api.GetHealth, &api.None{})
		if err == nil || !strings.Contains(err.Error(), "redirects to "+elsewhere) || asked.Load() != 0 {
			t.Errorf("%s: %v, asked %d times", name, err, asked.Load())
		}
	}
}

// TestPatience checks that a rate-limited request is repeated with the same body if the client has
// retries enabled.
func TestPatience(t *testing.T) {
	var refusals atomic.Int32
	var after atomic.Pointer[string]
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if refusals.Add(-1) >= 0 {
			if s := *after.Load(); s != "" {
				w.Header().Set("Retry-After", s)
			}
			answer(w, 429, api.ErrorEnvelope{Error: api.RateLimited(1)})
			return
		}
		answer(w, 200, map[string]any{"email": string(b)})
	})
	for _, c := range []struct {
		after    string
		refusals int32
		patience time.Duration
		waits    int
		fine     bool
	}{
		{"1", 1, 0, 0, false},
		{"1", 1, 10 * time.Second, 1, true},
		{"1", 3, 2 * time.Second, 2, false},
		{"9", 1, 8 * time.Second, 0, false},
		{"", 1, time.Minute, 0, false},
		{"soon", 1, time.Minute, 0, false},
	} {
		refusals.Store(c.refusals)
		after.Store(&c.after)
		waits := 0
		cl := newClient(t, client.Options{BaseURL: url, MaxWait: c.patience, OnWait: func(time.Duration) { waits++ }})
		in := &api.LinkInput{}
		in.Body.Token = "x"
		got, err := client.Do(t.Context(), cl, api.GetLink, in)
		if (err == nil) != c.fine || waits != c.waits || (c.fine && got.Email != `{"token":"x"}`) {
			t.Errorf("%+v: %+v, %v, %d waits", c, got, err, waits)
		}
		if !c.fine && !api.IsCode(err, api.CodeRateLimit) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestOrganizationsByWord(t *testing.T) {
	org := func(n int, name, slug string, active bool) api.MyOrganization {
		o := api.MyOrganization{Active: active}
		o.ID, o.Name, o.Slug = fmt.Sprintf("0190a000-0000-7000-8000-%012d", n), name, slug
		return o
	}
	all := []api.MyOrganization{
		org(1, "Acme", "acme", false),
		org(2, "Beta", "beta", true),
		org(3, "Twin", "twin", false),
		org(4, "twin", "twin-2", false),
		org(5, "twin-2", "five", false),
	}
	asked := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.ListMyOrganizations.Path {
			asked++
			answer(w, 200, api.List[api.MyOrganization]{Data: all})
			return
		}
		answer(w, 200, map[string]any{"id": r.Header.Get(api.TenantHeader)})
	})
	for word, want := range map[string]string{
		"":        all[1].ID,
		"ACME":    all[0].ID,
		"beta":    all[1].ID,
		"twin-2":  all[3].ID,
		all[2].ID: all[2].ID,
		orgID:     orgID,
	} {
		asked = 0
		c := newClient(t, client.Options{Transport: client.InMemoryTransport(h), Organization: word})
		for range 2 {
			got, err := client.Do(t.Context(), c, api.GetAssessment, &api.AssessmentInput{AssessmentID: "x"})
			if err != nil || got.ID != want {
				t.Errorf("%q is %+v, %v", word, got, err)
			}
		}
		if asked > 1 {
			t.Errorf("%q was asked for %d times", word, asked)
		}
	}
	for word, want := range map[string]string{"gamma": "acme, beta, twin, twin-2, five"} {
		c := newClient(t, client.Options{Transport: client.InMemoryTransport(h), Organization: word})
		if _, err := c.OrganizationID(t.Context()); !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", word, err)
		}
		if _, err := c.SendRaw(t.Context(), "GET", "/assessments", nil, nil); err == nil {
			t.Errorf("%q: a raw request went out without its organization", word)
		}
	}
	if _, err := client.FindOrganization([]api.MyOrganization{org(1, "Same", "a", false), org(2, "same", "b", false)}, "SAME"); err == nil ||
		!strings.Contains(err.Error(), "a, b") {
		t.Errorf("%v", err)
	}
}

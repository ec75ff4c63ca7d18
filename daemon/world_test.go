package daemon_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
)

// unlimited disables the rate limits, for tests with many requests.
var unlimited = map[api.RateCategory]int{
	api.RateDefault:   0,
	api.RateDocuments: 0,
	api.RateSearch:    0,
	api.RateAgents:    0,
	api.RateRender:    0,
	api.RateAdmin:     0,
	api.RateHealth:    0,
	api.RateSignIn:    0,
}

// testServer is a daemon on an empty folder, with its network and local handlers.
type testServer struct {
	t      testing.TB
	engine *engine.Engine
	net    http.Handler
	local  http.Handler
}

func newTestServer(t testing.TB, o daemon.Options, change ...func(*engine.Options)) *testServer {
	t.Helper()
	return serve(t, o, enginetest.New(t, append(change, func(e *engine.Options) { e.Tracer = o.Tracer })...))
}

// serve returns a daemon on an engine.
func serve(t testing.TB, o daemon.Options, e *engine.Engine) *testServer {
	t.Helper()
	o.Hosts = append(o.Hosts, testHosts...)
	o.Engine, o.Logger, o.NewID = e, enginetest.WarningLogger(), enginetest.NewID
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.RateLimits == nil {
		o.RateLimits = unlimited
	}
	s, err := daemon.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{t, o.Engine, s.Handler(), s.LocalHandler()}
}

// testCaller calls the server with a credential, in an organization.
type testCaller struct {
	w              *testServer
	bearer, cookie string
	org            string
	// noOrigin omits the Origin header, unlike browsers.
	noOrigin bool
}

// localUser returns a caller as the local user, who may administer the platform.
func (w *testServer) localUser() testCaller {
	return testCaller{w: &testServer{w.t, w.engine, w.local, w.local}}
}

const origin = "http://service.example"

// testHosts are the hosts by which tests call the server: that of origin, and httptest's own.
var testHosts = []string{"service.example", "example.com"}

// reply is a response, decoded if it is JSON.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

func (a reply) code() string {
	e, _ := a.body["error"].(map[string]any)
	c, _ := e["code"].(string)
	return c
}

func (a reply) str(path ...string) string {
	var v any = a.body
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

func (c testCaller) do(method, path string, body any, header ...string) reply {
	c.w.t.Helper()
	var r io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case form:
		r, kind = b.encode()
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.w.t.Fatal(err)
		}
		r = bytes.NewReader(text)
	}
	req := httptest.NewRequest(method, origin+path, r)
	if r != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	if c.cookie != "" {
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: c.cookie})
		if !c.noOrigin {
			req.Header.Set("Origin", origin)
		}
	}
	if c.org != "" {
		req.Header.Set("x-service-tenant-id", c.org)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	c.w.net.ServeHTTP(rec, req)
	a := reply{status: rec.Code, header: rec.Header(), text: rec.Body.String()}
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(rec.Body.Bytes(), &a.body); err != nil {
			c.w.t.Fatalf("%s %s answers no JSON: %v\n%.200s", method, path, err, a.text)
		}
	}
	return a
}

// must calls do and fails the test unless it succeeds.
func (c testCaller) must(method, path string, body any, header ...string) reply {
	c.w.t.Helper()
	a := c.do(method, path, body, header...)
	if a.status < 200 || a.status > 299 {
		c.w.t.Fatalf("%s %s answers %d %s", method, path, a.status, a.text)
	}
	return a
}

// form is a multipart upload.
type form struct {
	filename, content string
	fields            map[string]string
}

func (f form) encode() (io.Reader, string) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for k, v := range f.fields {
		_ = m.WriteField(k, v)
	}
	part, _ := m.CreateFormFile("file", f.filename)
	_, _ = io.WriteString(part, f.content)
	_ = m.Close()
	return &b, m.FormDataContentType()
}

const goodPassword = "four words are enough"

// createOrganization creates an organization and returns its owner, signed in, and its first API
// key.
func (w *testServer) createOrganization(name, email string) (owner, key testCaller) {
	w.t.Helper()
	return w.createOrganizationWithOwner(name, map[string]any{"email": email, "password": goodPassword})
}

func (w *testServer) createOrganizationWithOwner(name string, by map[string]any) (owner, key testCaller) {
	w.t.Helper()
	body := map[string]any{"name": name, "owner": by, "api_key_name": "first"}
	req := httptest.NewRequest("POST", api.CreateOrganization.Path, strings.NewReader(mustString(json.Marshal(body))))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	w.local.ServeHTTP(rec, req)
	var org api.NewOrganization
	if err := json.Unmarshal(rec.Body.Bytes(), &org); err != nil || rec.Code != http.StatusCreated {
		w.t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
	}
	return w.signIn(by["email"].(string), org.ID), testCaller{w: w, bearer: org.APIKey.Key, org: org.ID}
}

func mustString(b []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(b)
}

// signIn signs in a user with the usual password, by cookie.
func (w *testServer) signIn(email, org string) testCaller {
	w.t.Helper()
	a := testCaller{w: w}.must("POST", api.SignIn.Path, map[string]string{"email": email, "password": goodPassword})
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == api.SessionCookie {
			return testCaller{w: w, cookie: c.Value, org: org}
		}
	}
	w.t.Fatalf("no cookie: %v", a.header)
	return testCaller{}
}

// addMember invites a user, accepts the invitation and signs in.
func (c testCaller) addMember(email string, role api.Role) testCaller {
	c.w.t.Helper()
	m := c.must("POST", "/api/v1/organizations/"+c.org+"/members/invite", map[string]any{"email": email, "role": role})
	testCaller{w: c.w}.must("POST", api.AcceptLink.Path, map[string]any{"token": m.str("invite_token"), "password": goodPassword})
	return c.w.signIn(email, c.org)
}

// createKey creates an API key with the given scopes.
func (c testCaller) createKey(scopes ...string) testCaller {
	c.w.t.Helper()
	a := c.must("POST", api.CreateAPIKey.Path, map[string]any{"name": "k", "scopes": scopes})
	return testCaller{w: c.w, bearer: a.str("key"), org: c.org}
}

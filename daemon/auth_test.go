package daemon_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
)

const assessments = "/api/v1/assessments"

// TestSession signs in, works with the session and signs out.
func TestSession(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, _ := w.createOrganization("Acme", "ada@acme.example")
	a := testCaller{w: w}.must("POST", api.SignIn.Path, map[string]string{"email": "ada@acme.example", "password": goodPassword})
	if a.str("user", "email") != "ada@acme.example" || a.str("session", "active_organization_id") != ada.org ||
		a.str("session", "expires_at") == "" {
		t.Errorf("signing in answers %s", a.text)
	}
	set := a.header.Get("Set-Cookie")
	for _, part := range []string{"service-native-auth.session_token=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(set, part) {
			t.Errorf("the cookie %q lacks %s", set, part)
		}
	}
	if strings.Contains(set, "Secure") {
		t.Error("a cookie over plain http is marked Secure: it would never come back")
	}
	if strings.Contains(a.text, ada.cookie) || strings.Contains(a.text, "token") {
		t.Errorf("the session's secret is in the body: %s", a.text)
	}
	if got := ada.must("GET", api.GetSession.Path, nil); got.str("user", "email") != "ada@acme.example" {
		t.Errorf("the session is %s", got.text)
	}
	mine := ada.must("GET", api.ListMyOrganizations.Path, nil)
	if first := mine.body["data"].([]any)[0].(map[string]any); first["id"] != ada.org || first["role"] != "owner" ||
		first["active"] != true {
		t.Errorf("my organizations are %s", mine.text)
	}
	ada.must("POST", "/api/v1/users/me/orgs/"+ada.org+"/activate", nil)
	if a := ada.do("POST", "/api/v1/users/me/orgs/01890000-0000-7000-8000-000000000000/activate", nil); a.status != 404 {
		t.Errorf("activating nobody's organization: %d %s", a.status, a.text)
	}
	ada.must("POST", assessments, map[string]string{"name": "First"})
	if a := ada.must("POST", api.SignOut.Path, nil); !strings.Contains(a.header.Get("Set-Cookie"), "Expires=Thu, 01 Jan 1970") {
		t.Errorf("signing out leaves the cookie: %v", a.header)
	}
	for _, path := range []string{api.GetSession.Path, assessments} {
		if a := ada.do("GET", path, nil); a.status != 401 || a.code() != "UNAUTHORIZED" {
			t.Errorf("%s after signing out: %d %s", path, a.status, a.text)
		}
	}
	// With TLS, including at a trusted proxy, the cookie is Secure.
	w = newTestServer(t, daemon.Options{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	w.createOrganization("Acme", "ada@acme.example")
	a = testCaller{
		w: w,
	}.must(
		"POST",
		api.SignIn.Path,
		map[string]string{"email": "ada@acme.example", "password": goodPassword},
		"X-Forwarded-Proto",
		"https",
	)
	if !strings.Contains(a.header.Get("Set-Cookie"), "Secure") {
		t.Error("the cookie is not Secure behind a TLS proxy")
	}
}

// TestForgedRequests checks that a foreign page cannot use the browser's cookie; API keys need no
// origin.
func TestForgedRequests(t *testing.T) {
	w := newTestServer(t, daemon.Options{Origins: []string{"https://app.example"}})
	ada, key := w.createOrganization("Acme", "ada@acme.example")
	ada.noOrigin = true
	body := map[string]string{"name": "First"}
	for header, want := range map[string]int{
		"Origin: https://evil.example":         403,
		"Origin: null":                         403,
		"Origin: http://service.example.evil":  403,
		"Sec-Fetch-Site: cross-site":           403,
		"Sec-Fetch-Site: same-site":            403,
		"X-Nothing: 1":                         403,
		"Origin: https://app.example":          201,
		"Origin: " + origin:                    201,
		"Sec-Fetch-Site: same-origin":          201,
		"origin: HTTPS://APP.EXAMPLE":          201,
		"Origin: https://app.example.evil:443": 403,
	} {
		name, value, _ := strings.Cut(header, ": ")
		if a := ada.do("POST", assessments, body, name, value); a.status != want || (want == 403 && a.code() != "FORBIDDEN") {
			t.Errorf("a change with %s: %d %s", header, a.status, a.text)
		}
	}
	if a := ada.do("GET", assessments, nil, "Origin", "https://evil.example"); a.status != 200 ||
		a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a read is answered, but no page of a stranger is shown it: %d %v", a.status, a.header)
	}
	key.must("POST", assessments, body)
	if a := key.do("POST", assessments, body, "Origin", "https://evil.example"); a.status != 201 {
		t.Errorf("a key needs no origin: %d %s", a.status, a.text)
	}
}

// TestCORS checks that pages of the configured origins may call the API with its headers.
func TestCORS(t *testing.T) {
	w := newTestServer(t, daemon.Options{Origins: []string{"https://app.example"}})
	pre := func(origin string) reply {
		return testCaller{
			w: w,
		}.do(
			"OPTIONS",
			assessments,
			nil,
			"Origin",
			origin,
			"Access-Control-Request-Method",
			"POST",
			"Access-Control-Request-Headers",
			"content-type",
		)
	}
	a := pre("https://app.example")
	if a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
		a.header.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	for _, h := range []string{"Content-Type", "Authorization", "X-Trace-Id", "X-Tenant-Id", "x-service-tenant-id"} {
		if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), h) {
			t.Errorf("the header %s is not allowed: %v", h, a.header)
		}
	}
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), m) {
			t.Errorf("the method %s is not allowed", m)
		}
	}
	if a := pre("https://evil.example"); a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a stranger's preflight: %d %v", a.status, a.header)
	}
	if a := (testCaller{w: w}).do("GET", api.GetHealth.Path, nil, "Origin", "https://app.example"); a.header.Get(
		"Access-Control-Allow-Origin",
	) != "https://app.example" ||
		!strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "X-Trace-Id") ||
		a.header.Get("Vary") != "Origin" {
		t.Errorf("a read: %v", a.header)
	}
	if _, err := daemon.ParseOrigin("app.example"); err == nil {
		t.Error("an origin without its scheme was taken")
	}
}

// TestRateLimits checks the fixed windows per category and credential; the local socket has no
// limit.
func TestRateLimits(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 10, 0, time.UTC)
	w := newTestServer(t, daemon.Options{Clock: func() time.Time { return now }, RateLimits: map[api.RateCategory]int{api.RateSearch: 3}})
	_, a := w.createOrganization("Acme", "ada@acme.example")
	_, b := w.createOrganization("Beta", "bea@beta.example")
	search := func(c testCaller) reply { return c.do("POST", "/api/v1/kb/search", map[string]string{"query": "keys"}) }
	for i := range 3 {
		got := search(a)
		if got.status != 200 || got.header.Get("RateLimit-Limit") != "3" || got.header.Get("RateLimit-Remaining") != fmt.Sprint(2-i) ||
			got.header.Get("RateLimit-Reset") != "50" {
			t.Fatalf("search %d: %d %v", i, got.status, got.header)
		}
	}
	if got := search(a); got.status != 429 || got.code() != "RATE_LIMIT_EXCEEDED" || got.header.Get("Retry-After") != "50" {
		t.Errorf("the fourth: %d %v %s", got.status, got.header, got.text)
	}
	if got := a.do("GET", assessments, nil); got.status != 200 || got.header.Get("RateLimit-Limit") != "120" {
		t.Errorf("another category: %d %v", got.status, got.header)
	}
	if got := search(b); got.status != 200 {
		t.Errorf("another credential: %d", got.status)
	}
	now = now.Add(50 * time.Second)
	if got := search(a); got.status != 200 || got.header.Get("RateLimit-Remaining") != "2" {
		t.Errorf("the next window: %d %v", got.status, got.header)
	}
	for range 200 {
		status, _, _ := operationFunc(t, w.local, "GET", api.ListMyOrganizations.Path, "", nil)
		if status != 200 {
			t.Fatalf("the local socket is limited: %d", status)
		}
	}
	var last reply
	for range 121 {
		last = testCaller{w: w}.do("GET", api.GetHealth.Path, nil)
	}
	if last.status != 429 {
		t.Errorf("an address without a credential is not limited: %d", last.status)
	}
	// An invalid credential always gives the same error, however often it is sent.
	for range 130 {
		last = testCaller{w: w, bearer: "service_live_0"}.do("GET", assessments, nil)
	}
	if last.status != 401 || last.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("a wrong key, again and again: %d %v", last.status, last.header)
	}
	// Requests without a credential can't exhaust the budget for health checks or sign-ins from the same
	// address.
	wrong := map[string]string{"email": "a@b.example", "password": "wrong wrong"}
	if last := (testCaller{w: w}).do("POST", api.SignIn.Path, wrong); last.status != 401 {
		t.Errorf("sign-in from that address: %d %s", last.status, last.text)
	}
	for _, path := range []string{"/api/v1/assessments?a=%zz", "/api/v1/moon"} {
		if got := a.do("GET", path, nil); got.header.Get("RateLimit-Limit") != "120" || got.header.Get("RateLimit-Reset") == "" {
			t.Errorf("%s: no limit in %v", path, got.header)
		}
	}
}

// TestOrganizationBudget checks that all keys of an organization share a budget, beside that of each key.
func TestOrganizationBudget(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 10, 0, time.UTC)
	w := newTestServer(t, daemon.Options{
		Clock:      func() time.Time { return now },
		RateLimits: map[api.RateCategory]int{api.RateSearch: 3, api.RateDefault: 0}, OrgRateLimits: map[api.RateCategory]int{api.RateSearch: 5},
	})
	session, key := w.createOrganization("Acme", "ada@acme.example")
	_, other := w.createOrganization("Beta", "bea@beta.example")
	search := func(c testCaller) reply { return c.do("POST", "/api/v1/kb/search", map[string]string{"query": "keys"}) }
	for i := range 5 {
		if got := search([]testCaller{key, session}[i%2]); got.status != 200 {
			t.Fatalf("search %d: %d %s", i, got.status, got.text)
		}
	}
	got := search(session)
	if got.status != 429 || !strings.Contains(got.text, `"budget":"organization"`) ||
		!strings.Contains(got.text, "the organization has reached its limit of 5") ||
		got.header.Get("RateLimit-Limit") != "5" || got.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("beyond the organization's budget: %d %v %s", got.status, got.header, got.text)
	}
	if got := search(key); got.status != 429 || !strings.Contains(got.text, `"budget":"key"`) {
		t.Errorf("beyond the key's budget: %d %s", got.status, got.text)
	}
	if got := search(other); got.status != 200 || got.header.Get("RateLimit-Limit") != "3" {
		t.Errorf("another organization: %d %v", got.status, got.header)
	}
	figures := func() string {
		_, body := w.scrapeMetrics("127.0.0.1:1", "localhost")
		return body
	}
	for _, want := range []string{
		"service_throttled_organizations 1", `service_rate_limited_total{budget="organization",category="search"} 1`,
		`service_rate_limited_total{budget="key",category="search"} 1`, `service_delivery_lanes{state="paused"} 0`,
	} {
		if !strings.Contains(figures(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if now = now.Add(2 * time.Minute); !strings.Contains(figures(), "service_throttled_organizations 0") {
		t.Error("an organization stays throttled")
	}
}

// TestWaitForDocument checks that a request can wait until a document has been read, but no longer than
// requested.
func TestWaitForDocument(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	a := owner.must("POST", api.CreateAssessment.Path, map[string]any{"name": "A"}).str("id")
	upload := strings.Replace(api.UploadDocument.Path, "{assessmentId}", a, 1)
	d := owner.must("POST", upload, form{filename: "a.txt", content: "Keys rotate."}).str("id")
	path := strings.Replace(api.GetDocument.Path, "{documentId}", d, 1)
	if got := owner.must("GET", path+"?wait=30s", nil); got.str("status") != "ingested" {
		t.Errorf("a document that is being read: %s", got.text)
	}
	for _, bad := range []string{"61s", "0s", "soon", "-1s"} {
		if got := owner.do("GET", path+"?wait="+bad, nil); got.status != 400 || !strings.Contains(got.text, "wait") {
			t.Errorf("wait=%s: %d %s", bad, got.status, got.text)
		}
	}
	later := map[string]any{"workflow_type": "ingest", "start_at": "2099-01-01T00:00:00Z"}
	run := owner.must("POST", strings.Replace(api.StartWorkflow.Path, "{assessmentId}", a, 1), later).str("id")
	waiting := strings.Replace(api.GetWorkflow.Path, "{workflowRunId}", run, 1) + "?wait=20ms"
	if got := owner.must("GET", waiting, nil); got.str("status") != "pending" {
		t.Errorf("a run that starts later: %s", got.text)
	}
}

// TestIdempotency checks that a POST repeated with its idempotency key is executed once.
func TestIdempotency(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, key := w.createOrganization("Acme", "ada@acme.example")
	_, beta := w.createOrganization("Beta", "bea@beta.example")
	body := map[string]string{"name": "Once"}
	first := key.must("POST", assessments, body, "Idempotency-Key", "k-1")
	again := key.must("POST", assessments, body, "Idempotency-Key", "k-1")
	if first.text != again.text || again.status != 201 || again.header.Get("Idempotent-Replayed") != "true" ||
		first.header.Get("Idempotent-Replayed") != "" ||
		again.header.Get("Location") != first.header.Get("Location") ||
		first.header.Get("Location") == "" {
		t.Errorf("%d %v %s\n%d %v %s", first.status, first.header, first.text, again.status, again.header, again.text)
	}
	if n := key.must("GET", assessments, nil).body["pagination"].(map[string]any)["total"]; n != 1.0 {
		t.Errorf("%v assessments were made", n)
	}
	if a := key.do("POST", assessments, map[string]string{"name": "Other"}, "Idempotency-Key", "k-1"); a.status != 400 ||
		a.code() != "VALIDATION_ERROR" {
		t.Errorf("the same key with another body: %d %s", a.status, a.text)
	}
	if a := beta.must("POST", assessments, body, "Idempotency-Key", "k-1"); a.str("organization_id") != beta.org {
		t.Errorf("another organization's key: %s", a.text)
	}
	// Another member cannot get the response, which may contain a secret.
	made := ada.must(
		"POST",
		api.CreateAPIKey.Path,
		map[string]any{"name": "n", "scopes": []string{"scf:read"}},
		"Idempotency-Key",
		"secret",
	)
	if a := ada.must(
		"POST",
		api.CreateAPIKey.Path,
		map[string]any{"name": "n", "scopes": []string{"scf:read"}},
		"Idempotency-Key",
		"secret",
	); a.str(
		"key",
	) != made.str(
		"key",
	) {
		t.Error("the same person is not answered alike")
	}
	newKey := map[string]any{"name": "n", "scopes": []string{"scf:read"}}
	bob := ada.addMember("bob@acme.example", api.RoleAdmin)
	if a := bob.must("POST", api.CreateAPIKey.Path, newKey, "Idempotency-Key", "secret"); a.header.Get("Idempotent-Replayed") != "" ||
		strings.Contains(a.text, made.str("key")) {
		t.Errorf("another person: %d %s", a.status, a.text)
	}
	// The same user may use another key or session, except for secrets.
	if a := ada.must("POST", assessments, body, "Idempotency-Key", "k-1"); a.text != first.text {
		t.Errorf("another credential of the same person: %s", a.text)
	}
	named := ada.createKey("apikey:write", "scf:read")
	if a := named.do("POST", api.CreateAPIKey.Path, newKey, "Idempotency-Key", "secret"); a.status != 400 || strings.Contains(a.text, made.str("key")) {
		t.Errorf("a secret for another credential: %d %s", a.status, a.text)
	}
	// Unsuccessful responses are not stored.
	if a := key.do("POST", assessments, map[string]any{"name": 7}, "Idempotency-Key", "k-2"); a.status != 400 {
		t.Fatal(a.text)
	}
	key.must("POST", assessments, body, "Idempotency-Key", "k-2")
	// Uploads support idempotency keys as well.
	id := first.str("id")
	file := form{filename: "policy.md", content: "# Access\n\nAccess is reviewed every quarter.\n"}
	up := key.must("POST", assessments+"/"+id+"/documents", file, "Idempotency-Key", "k-3")
	if a := key.must("POST", assessments+"/"+id+"/documents", file, "Idempotency-Key", "k-3"); a.str("id") != up.str("id") ||
		a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the upload again: %v %s", a.header, a.text)
	}
	file.content += "More.\n"
	if a := key.do("POST", assessments+"/"+id+"/documents", file, "Idempotency-Key", "k-3"); a.status != 400 {
		t.Errorf("another file: %d %s", a.status, a.text)
	}
	for _, bad := range []string{strings.Repeat("x", 256), "ünïcode"} {
		if a := key.do("POST", assessments, body, "Idempotency-Key", bad); a.status != 400 {
			t.Errorf("the key %.9q: %d", bad, a.status)
		}
	}
	// Of concurrent requests, one is executed and all get its response.
	texts := make(chan string, 8)
	for range 8 {
		go func() {
			texts <- key.do("POST", assessments, map[string]string{"name": "Crowd"}, "Idempotency-Key", "crowd").text
		}()
	}
	want := <-texts
	for range 7 {
		if got := <-texts; got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}

// TestStrictJSON checks that JSON that parsers interpret differently is rejected, with the
// position.
func TestStrictJSON(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	for body, want := range map[string]string{
		`{"name": "a", "name": "b"}`:            `the name \"name\" appears twice`,
		`{"name": "a"`:                          "the JSON is incomplete",
		"{\n \"name\": nope}":                   "line 2, column 11",
		`{"name": "a"} {"name": "b"}`:           "line 1, column 14: unexpected data after the JSON value",
		"{\"name\": \"\xff\"}":                  "UTF-8",
		`{"name": "\u0000"}`:                    "NUL",
		`{"name": "\ud800"}`:                    "surrogate",
		`{"a":` + strings.Repeat("[", 100):      "nested more than",
		`{"name": 1e999}`:                       "",
		`{"name": 123456789012345678901234567}`: "name",
		`[]`:                                    "",
		`null`:                                  "",
		`{"name": ["x"]}`:                       "name",
		`{"name": {"$gt": ""}}`:                 "name",
		`{"name": "x", "__proto__": {}}`:        "__proto__",
		`{"name": "x", "id": "mine"}`:           "unknown field",
	} {
		a := key.do("POST", assessments, body)
		if a.status != 400 || a.code() != "VALIDATION_ERROR" || !strings.Contains(a.text, want) {
			t.Errorf("%.40q: %d %s", body, a.status, a.text)
		}
	}
	for kind, want := range map[string]int{
		"text/plain":                        415,
		"application/x-www-form-urlencoded": 415,
		"application/json; charset=utf-8":   201,
		"application/merge-patch+json":      201,
		"":                                  415,
	} {
		if a := key.do("POST", assessments, `{"name": "x"}`, "Content-Type", kind); a.status != want {
			t.Errorf("the type %q: %d %s", kind, a.status, a.text)
		}
	}
	for path, want := range map[string]int{
		assessments + "?limit=0":                      400,
		assessments + "?limit=201":                    400,
		assessments + "?limit=many":                   400,
		assessments + "?colour=red":                   400,
		assessments + "?cursor=xyz":                   400,
		assessments + "?limit=%zz":                    400,
		assessments + "?q=%00":                        400,
		assessments + "/%ff":                          400,
		assessments + "/a%00b":                        400,
		assessments + "/..%2f..%2fetc%2fpasswd":       404,
		assessments + "/" + strings.Repeat("x", 5000): 404,
		"/api/v1/reports/../../../etc/passwd":         404,
	} {
		if a := key.do("GET", path, nil); a.status != want || a.status >= 500 || a.code() == "" {
			t.Errorf("%.60s: %d %s", path, a.status, a.text)
		}
	}
	many := []string{}
	for i := range 300 {
		many = append(many, fmt.Sprintf("X-Filler-%d", i), "1")
	}
	if a := key.do("GET", assessments, nil, many...); a.status != 400 || a.code() != "VALIDATION_ERROR" {
		t.Errorf("300 headers: %d %s", a.status, a.text)
	}
}

// TestUnsupportedAuthSchemes checks that an Authorization header without a bearer token is
// rejected, even if there is a cookie.
func TestUnsupportedAuthSchemes(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, key := w.createOrganization("Acme", "ada@acme.example")
	for _, header := range []string{"Basic YWRhOnB3", "Bearer", "Bearer ", key.bearer, "Token " + key.bearer, "Bearer " + key.bearer + "x"} {
		if a := ada.do("GET", assessments, nil, "Authorization", header); a.status != 401 {
			t.Errorf("%.20s…: %d", header, a.status)
		}
	}
	if a := key.do("GET", assessments, nil, "Authorization", "bearer  "+key.bearer); a.status != 200 {
		t.Errorf("small letters: %d %s", a.status, a.text)
	}
	if a := key.do("GET", api.GetSession.Path, nil); a.status != 401 {
		t.Errorf("a key has no session: %d", a.status)
	}
	me := key.must("GET", api.GetMe.Path, nil)
	if me.str("actor", "type") != "api_key" || me.str("organization_id") != key.org || me.str("user", "email") != "ada@acme.example" {
		t.Errorf("a key is %s", me.text)
	}
}

// TestKnownBrowser checks the cookie of a browser that has signed in. The browser can still sign in while an
// attacker on the same network guesses passwords.
func TestKnownBrowser(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	w := newTestServer(t, daemon.Options{PublicURL: "https://service.example", Clock: clock}, func(o *engine.Options) { o.Clock = clock })
	w.createOrganization("Acme", "ada@acme.example")
	right := map[string]string{"email": "ada@acme.example", "password": goodPassword}
	signedIn := testCaller{w: w}.must("POST", api.SignIn.Path, right)
	var device *http.Cookie
	for _, c := range (&http.Response{Header: signedIn.header}).Cookies() {
		if c.Name == api.DeviceCookie {
			device = c
		}
	}
	if device == nil || !device.HttpOnly || !device.Secure || device.SameSite != http.SameSiteStrictMode || device.Path != "/" ||
		!device.Expires.Equal(now.Add(90*24*time.Hour)) || strings.Contains(signedIn.text, device.Value) {
		t.Fatalf("%+v", device)
	}
	for range 6 {
		testCaller{w: w}.do("POST", api.SignIn.Path, map[string]string{"email": "ada@acme.example", "password": "not this one at all"})
	}
	if a := (testCaller{w: w}).do("POST", api.SignIn.Path, right); a.status != 429 {
		t.Errorf("an unknown browser: %d %s", a.status, a.text)
	}
	known := device.Name + "=" + device.Value
	if a := (testCaller{w: w}).do("POST", api.SignIn.Path, right, "Cookie", known); a.status != 200 {
		t.Errorf("the known browser: %d %s", a.status, a.text)
	}
	// The cookie is not a credential.
	if a := (testCaller{w: w}).do("GET", api.GetMe.Path, nil, "Cookie", known+"; "+api.SessionCookie+"="+device.Value); a.status != 401 {
		t.Errorf("the cookie as a session: %d %s", a.status, a.text)
	}
}

// TestKnownBrowserBelowAPath checks that the cookie is sent to a service that a proxy serves under a path.
func TestKnownBrowserBelowAPath(t *testing.T) {
	w := newTestServer(t, daemon.Options{PublicURL: "https://service.example/grc/"})
	w.createOrganization("Acme", "ada@acme.example")
	signedIn := testCaller{w: w}.must("POST", api.SignIn.Path, map[string]string{"email": "ada@acme.example", "password": goodPassword})
	if set := strings.Join(signedIn.header.Values("Set-Cookie"), "\n"); !strings.Contains(set, api.DeviceCookie+"=") ||
		!strings.Contains(set, "Path=/grc;") {
		t.Error(set)
	}
}

// TestPasswordGuessingIsThrottled checks that failed sign-ins are throttled, and that the error states how long
// to wait.
func TestPasswordGuessingIsThrottled(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	w.createOrganization("Acme", "ada@acme.example")
	guess := func() reply {
		return testCaller{w: w}.do("POST", api.SignIn.Path, map[string]string{"email": "ada@acme.example", "password": "not this one at all"})
	}
	for i := range 5 {
		if got := guess(); got.status != 401 || got.header.Get("Retry-After") != "" {
			t.Fatalf("guess %d: %d %v", i, got.status, got.header)
		}
	}
	if got := guess(); got.status != 429 || got.header.Get("Retry-After") != "1" {
		t.Errorf("one guess too many: %d %v", got.status, got.header)
	}
}

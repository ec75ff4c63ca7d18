package daemon_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// visitor uses the pages like a browser without scripts.
type visitor struct {
	w       *testServer
	cookies map[string]string
	// foreign is the origin of the pages from which the visitor submits forms; "" means the service's own.
	foreign string
}

var formTokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (v *visitor) send(method, path string, fields url.Values) *httptest.ResponseRecorder {
	v.w.t.Helper()
	req := httptest.NewRequest(method, origin+path, strings.NewReader(fields.Encode()))
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", origin)
		if v.foreign != "" {
			req.Header.Set("Origin", v.foreign)
		}
	}
	for name, value := range v.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	v.w.net.ServeHTTP(rec, req)
	for _, c := range rec.Result().Cookies() {
		if v.cookies == nil {
			v.cookies = map[string]string{}
		}
		v.cookies[c.Name] = c.Value
	}
	return rec
}

// page returns a page, and fails the test if its status differs.
func (v *visitor) page(path string, status int) string {
	v.w.t.Helper()
	rec := v.send("GET", path, nil)
	if rec.Code != status {
		v.w.t.Fatalf("GET %s answers %d %s", path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// post submits a form with the token of the page that contains it.
func (v *visitor) post(from, to string, fields url.Values) *httptest.ResponseRecorder {
	v.w.t.Helper()
	if m := formTokenPattern.FindStringSubmatch(v.page(from, http.StatusOK)); m != nil {
		fields.Set("csrf", m[1])
	}
	return v.send("POST", to, fields)
}

func (w *testServer) visitorSignedIn(email string) *visitor {
	w.t.Helper()
	v := &visitor{w: w}
	if rec := v.send("POST", "/sign-in", url.Values{"email": {email}, "password": {goodPassword}}); rec.Code != http.StatusSeeOther {
		w.t.Fatalf("signing in answers %d %s", rec.Code, rec.Body)
	}
	return v
}

// visitorAs returns a visitor with the session of a caller.
func (w *testServer) visitorAs(c testCaller) *visitor {
	return &visitor{w: w, cookies: map[string]string{api.SessionCookie: c.cookie}}
}

// TestSignInPages signs a visitor in, continues with the page that they requested, changes the password and
// signs out.
func TestSignInPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	w.createOrganization("Acme & <b>Sons</b>", "ada@acme.example")
	v := &visitor{w: w}
	if to := v.send("GET", "/account?x=1", nil).Header().Get("Location"); to != "./sign-in?next=account%3Fx%3D1" {
		t.Errorf("signed out, the account leads to %s", to)
	}
	wrong := v.send("POST", "/sign-in", url.Values{"email": {"ada@acme.example"}, "password": {"wrong"}, "next": {"account"}})
	if wrong.Code != http.StatusUnauthorized || !strings.Contains(wrong.Body.String(), `name="next" value="account"`) ||
		strings.Contains(wrong.Body.String(), "wrong\"") {
		t.Errorf("a wrong password: %d %s", wrong.Code, wrong.Body)
	}
	// A link must not lead to another site after signing in.
	for next, want := range map[string]string{
		"account": "./account", "https://evil.example/": "./", "//evil.example": "./", `\\evil.example`: "./", "javascript:alert(1)": "./",
		"/\\evil.example": "./", "../../evil": "./", "x\r\nSet-Cookie: a=b": "./",
	} {
		right := v.send("POST", "/sign-in", url.Values{"email": {"ada@acme.example"}, "password": {goodPassword}, "next": {next}})
		if to := right.Header().Get("Location"); right.Code != http.StatusSeeOther || to != want {
			t.Errorf("next %q leads to %q, not %q", next, to, want)
		}
	}
	home := v.page("/", http.StatusOK)
	if !strings.Contains(home, "Acme &amp; &lt;b&gt;Sons") || !strings.Contains(home, "There is no assessment yet") {
		t.Errorf("the start page is %s", home)
	}
	if again := formTokenPattern.FindString(v.page("/", http.StatusOK)); again == formTokenPattern.FindString(home) {
		t.Error("the form's token is the same on each page, which compression can disclose")
	}
	change := func(current, again string) *httptest.ResponseRecorder {
		return v.post("/account", "/account/password", url.Values{"current": {current}, "new": {"another four good words"}, "again": {again}})
	}
	if rec := change(goodPassword, "other"); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "don&#39;t match") {
		t.Errorf("two new passwords: %d %s", rec.Code, rec.Body)
	}
	if rec := change(goodPassword, "another four good words"); rec.Header().Get("Location") != "../account?changed" {
		t.Errorf("a new password: %d %v", rec.Code, rec.Header())
	}
	stolen := v.cookies[api.SessionCookie]
	if rec := v.post("/account", "/sign-out", url.Values{}); rec.Header().Get("Location") != "./sign-in" {
		t.Errorf("signing out: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	v.cookies[api.SessionCookie] = stolen
	if rec := v.send("GET", "/", nil); rec.Code != http.StatusSeeOther || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the start page after signing out: %d", rec.Code)
	}
}

// TestLinkPages accepts an invitation in a browser without scripts, and then signs out everywhere.
func TestLinkPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "a@acme.example")
	invited := owner.must("POST", "/api/v1/organizations/"+owner.org+"/members/invite", map[string]any{
		"email": "n@acme.example", "role": "member",
	})
	path, token, ok := strings.Cut(invited.str("invite_path"), "#")
	if !ok || path != "/link" || token != invited.str("invite_token") {
		t.Fatalf("the path of an invitation is %q", invited.str("invite_path"))
	}
	v := &visitor{w: w}
	if page := v.page("/link", http.StatusOK); !strings.Contains(page, `name="token"`) {
		t.Errorf("the page of a link: %s", page)
	}
	if rec := v.send("POST", "/link", url.Values{"token": {"nonsense"}}); rec.Code != http.StatusUnauthorized ||
		!strings.Contains(rec.Body.String(), `role="alert"`) {
		t.Errorf("an invalid link: %d %s", rec.Code, rec.Body)
	}
	if rec := v.send("POST", "/link", url.Values{"token": {origin + path + "#" + token}}); rec.Code != http.StatusOK ||
		!strings.Contains(rec.Body.String(), "<h1>Join Acme</h1>") || !strings.Contains(rec.Body.String(), "n@acme.example") {
		t.Errorf("the invitation: %d %s", rec.Code, rec.Body)
	}
	accept := func(password, again string) *httptest.ResponseRecorder {
		return v.send("POST", "/link/accept", url.Values{"token": {token}, "name": {"Nia"}, "password": {password}, "again": {again}})
	}
	if rec := accept(goodPassword, "other"); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `value="Nia"`) {
		t.Errorf("two passwords: %d %s", rec.Code, rec.Body)
	}
	if rec := accept("short", "short"); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "12") {
		t.Errorf("a short password: %d %s", rec.Code, rec.Body)
	}
	if rec := accept(goodPassword, goodPassword); rec.Header().Get("Location") != "../" {
		t.Errorf("accepting: %d %s", rec.Code, rec.Body)
	}
	if home := v.page("/", http.StatusOK); !strings.Contains(home, "Nia") {
		t.Errorf("the start page: %s", home)
	}
	if rec := accept(goodPassword, goodPassword); rec.Code != http.StatusUnauthorized {
		t.Errorf("using the link again: %d", rec.Code)
	}
	other := w.visitorSignedIn("n@acme.example")
	if rec := v.post("/account", "/sign-out-everywhere", url.Values{}); rec.Header().Get("Location") != "./sign-in" {
		t.Errorf("signing out everywhere: %d %s", rec.Code, rec.Body)
	}
	if rec := other.send("GET", "/", nil); rec.Code != http.StatusSeeOther {
		t.Errorf("the other session is still there: %d", rec.Code)
	}
	owner.must("GET", api.GetMe.Path, nil)
}

// TestFirstRunPage checks that the first organization can be created with the daemon's code, and only once.
func TestFirstRunPage(t *testing.T) {
	w := newTestServer(t, daemon.Options{SetupCode: "the code"})
	v := &visitor{w: w}
	if to := v.send("GET", "/sign-in", nil).Header().Get("Location"); to != "./first-run" {
		t.Errorf("without accounts, signing in leads to %q", to)
	}
	create := func(code string) *httptest.ResponseRecorder {
		return v.send("POST", "/first-run", url.Values{
			"code": {code}, "organization": {"Acme"}, "email": {"ada@acme.example"}, "password": {goodPassword}, "again": {goodPassword},
		})
	}
	for _, code := range []string{"", "another"} {
		if rec := create(code); rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), `value="Acme"`) {
			t.Errorf("with the code %q: %d %s", code, rec.Code, rec.Body)
		}
	}
	if rec := create(origin + "/first-run#the code"); rec.Header().Get("Location") != "./" {
		t.Fatalf("creating: %d %s", rec.Code, rec.Body)
	}
	if home := v.page("/", http.StatusOK); !strings.Contains(home, "<h1>Acme</h1>") {
		t.Errorf("the start page: %s", home)
	}
	if rec := create("the code"); rec.Header().Get("Location") != "./sign-in" {
		t.Errorf("creating a second one: %d %s", rec.Code, rec.Body)
	}
	v = &visitor{w: newTestServer(t, daemon.Options{})}
	if rec := create(""); rec.Header().Get("Location") != "./sign-in" {
		t.Errorf("without a code: %d %s", rec.Code, rec.Body)
	}
}

// TestForgedForms checks that forms require the session's token and the service's own origin.
func TestForgedForms(t *testing.T) {
	g := newGateFixture(t)
	v := g.w.visitorSignedIn("gate@example.com")
	other := g.w.visitorSignedIn("gate@example.com")
	path := "/approvals/" + g.ids["approvalId"]
	// The pages can't be shown in the frame of another site, in which a visitor could be led to press a button.
	if h := v.send("GET", path, nil).Header(); h.Get("X-Frame-Options") != "DENY" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("the page can be framed: %v", h)
	}
	theirs := formTokenPattern.FindStringSubmatch(other.page(path, http.StatusOK))[1]
	for name, token := range map[string]string{"none": "", "garbage": "AAAA", "that of another session": theirs} {
		if rec := v.send("POST", path, url.Values{"decision": {"approve"}, "csrf": {token}}); rec.Code != http.StatusForbidden {
			t.Errorf("a form with token %s: %d", name, rec.Code)
		}
	}
	v.foreign = "https://evil.example"
	if rec := v.post(path, path, url.Values{"decision": {"approve"}}); rec.Code != http.StatusForbidden ||
		!strings.Contains(rec.Body.String(), "<h1>Not allowed</h1>") {
		t.Errorf("a form from elsewhere: %d %s", rec.Code, rec.Body)
	}
	g.checkNotPassed(t, "forged forms")
}

// TestApprovalPages decides on an approval on its page, after making every mistake that the form allows.
func TestApprovalPages(t *testing.T) {
	g := newGateFixture(t)
	viewer := g.owner.addMember("vic@example.com", api.RoleViewer)
	path := "/approvals/" + g.ids["approvalId"]
	hash := g.owner.must("GET", g.path(api.GetApproval.Path), nil).str("target_sha256")
	v := g.w.visitorSignedIn("gate@example.com")
	if home := v.page("/", http.StatusOK); !strings.Contains(home, `href="approvals/`+g.ids["approvalId"]+`"`) ||
		!strings.Contains(home, "You can decide") {
		t.Errorf("the start page doesn't list the decision: %s", home)
	}
	if page := v.page(path, http.StatusOK); !strings.Contains(page, hash) || !strings.Contains(page, "No version was approved before") {
		t.Errorf("the page is %s", page)
	}
	v.page("/assessments/"+g.ids["assessmentId"], http.StatusOK)
	for _, c := range []struct {
		fields url.Values
		want   string
	}{
		{url.Values{"decision": {"reject"}, "content_sha256": {hash}}, "Enter a reason"},
		{url.Values{"content_sha256": {hash}}, "Choose whether to approve or reject"},
		{
			url.Values{"decision": {"approve"}, "content_sha256": {strings.Repeat("0", 64)}, "reason": {"<i>seen</i>"}},
			"&lt;i&gt;seen&lt;/i&gt;</textarea>",
		},
	} {
		if rec := v.post(path, path, c.fields); rec.Code < 400 || !strings.Contains(rec.Body.String(), c.want) {
			t.Errorf("%v answers %d %s", c.fields, rec.Code, rec.Body)
		}
	}
	reader := g.w.visitorAs(viewer)
	if page := reader.page(path, http.StatusOK); strings.Contains(page, `value="approve"`) {
		t.Error("a viewer is offered to decide")
	}
	if rec := reader.post(path, path, url.Values{"decision": {"approve"}, "content_sha256": {hash}}); rec.Code != http.StatusForbidden {
		t.Errorf("a viewer decides: %d %s", rec.Code, rec.Body)
	}
	g.checkNotPassed(t, "mistaken forms")
	// A session that ends before the form is submitted loses no input.
	token := v.cookies[api.SessionCookie]
	fields := url.Values{"decision": {"approve"}, "content_sha256": {hash}, "reason": {"Read & fine."}}
	v.cookies[api.SessionCookie] = "ended"
	ended := v.send("POST", path, fields)
	if ended.Code != http.StatusUnauthorized || !strings.Contains(ended.Body.String(), `name="kept.reason" value="Read &amp; fine."`) {
		t.Errorf("with a session that has ended: %d %s", ended.Code, ended.Body)
	}
	v.cookies[api.SessionCookie] = token
	again := v.send("POST", "/sign-in", url.Values{
		"email": {"gate@example.com"}, "password": {goodPassword}, "next": {path[1:]},
		"kept.reason": {"Read & fine."}, "kept.decision": {"approve"},
	})
	if again.Code != http.StatusOK || !strings.Contains(again.Body.String(), `name="reason" value="Read &amp; fine."`) ||
		!strings.Contains(again.Body.String(), `action="./`+path[1:]+`"`) {
		t.Errorf("signed in again: %d %s", again.Code, again.Body)
	}
	// An approver can decide, but not edit.
	approver := g.owner.addMember("app@example.com", api.RoleApprover)
	decider := g.w.visitorAs(approver)
	if rec := decider.post(path, path, fields); rec.Header().Get("Location") != "../"+path[1:]+"?decided" {
		t.Errorf("approving: %d %s", rec.Code, rec.Body)
	}
	if got := g.owner.must("GET", g.path(api.GetApproval.Path), nil); got.str("status") != "approved" || got.str("reason") != "Read & fine." {
		t.Errorf("the approval is %s", got.text)
	}
	if rec := v.post(path, path, fields); rec.Code != http.StatusConflict || !strings.Contains(rec.Body.String(), "class=\"notice bad\"") {
		t.Errorf("deciding twice: %d %s", rec.Code, rec.Body)
	}
	stranger, _ := g.w.createOrganization("Other", "eve@example.com")
	outsider := g.w.visitorAs(stranger)
	for _, other := range []string{path, "/assessments/" + g.ids["assessmentId"]} {
		outsider.page(other, http.StatusNotFound)
	}
}

// TestErrorPages checks that browsers get error pages and programs get JSON, and that page views are limited.
func TestErrorPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	w.createOrganization("Acme", "ada@acme.example")
	v := w.visitorSignedIn("ada@acme.example")
	for path, want := range map[string]int{"/nothing": 404, "/approvals/x": 404, "/a/b/c": 404, "/?a=%ff": 400} {
		rec := v.send("GET", path, nil)
		if rec.Code != want || !strings.Contains(rec.Body.String(), "<h1>") ||
			!strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s answers %d %s", path, rec.Code, rec.Body)
		}
	}
	large := url.Values{"new": {strings.Repeat("x", 1<<20)}}
	if rec := v.send("POST", "/account/password", large); rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form: %d", rec.Code)
	}
	if a := (testCaller{w: w}).do("GET", "/nothing", nil); a.code() != "NOT_FOUND" {
		t.Errorf("a program gets %d %s", a.status, a.text)
	}
	req := httptest.NewRequest("GET", origin+"/sign-in", nil)
	req.Header.Set("Accept-Encoding", "gzip")
	rec := httptest.NewRecorder()
	w.net.ServeHTTP(rec, req)
	if body, err := gzip.NewReader(rec.Body); err != nil || rec.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("the page is not compressed: %v %v", rec.Header(), err)
	} else if text, _ := io.ReadAll(body); !strings.Contains(string(text), "<h1>Sign in</h1>") {
		t.Errorf("the page is %s", text)
	}
	limited := 0
	for range 2000 { // some views are allowed again while the loop runs
		if limited = v.send("GET", "/account", nil).Code; limited != http.StatusOK {
			break
		}
	}
	if limited != http.StatusTooManyRequests {
		t.Errorf("2000 views answer %d", limited)
	}
}

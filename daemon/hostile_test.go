package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// expiredListener is a listener on whose connections every read deadline has already passed.
type expiredListener struct{ net.Listener }

func (h expiredListener) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	return expiredConn{c}, err
}

type expiredConn struct{ net.Conn }

func (c expiredConn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		t = time.Unix(1, 0)
	}
	return c.Conn.SetReadDeadline(t)
}

// TestStalledBodies checks that a client that does not send the announced body gets a response and
// is disconnected.
func TestStalledBodies(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	id := key.must("POST", assessments, map[string]string{"name": "First"}).str("id")
	web := httptest.NewUnstartedServer(w.net)
	web.Listener = expiredListener{web.Listener}
	web.Start()
	defer web.Close()
	known := "Authorization: Bearer " + key.bearer + "\r\nx-service-tenant-id: " + key.org + "\r\n"
	upload := "POST " + assessments + "/" + id + "/documents HTTP/1.1\r\nHost: x\r\n" + known
	for what, request := range map[string]string{
		"nobody":   "POST " + assessments + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
		"a read":   "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
		"chunks":   "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"no route": "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
		"half a record": "POST " + assessments + " HTTP/1.1\r\nHost: x\r\n" + known + "Content-Type: application/json\r\n" +
			"Content-Length: 1000\r\n\r\n{",
		"an upload of no form": upload + "Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n{",
		"half a file": upload + "Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 100000\r\n\r\n" +
			"--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc",
		"more behind a form": upload + "Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000\r\n\r\n" +
			"--X\r\nContent-Disposition: form-data; name=\"foo\"\r\n\r\nabc\r\n--X--\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			conn, err := net.Dial("tcp", web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // so that the test fails instead of hanging
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if err != nil && len(answer) == 0 || !bytes.HasPrefix(answer, []byte("HTTP/1.1 ")) ||
				!bytes.Contains(answer, []byte(`"trace_id"`)) {
				t.Errorf("answered %q and %v", answer, err)
			}
		})
	}
	if n := key.must("GET", assessments+"/"+id+"/documents", nil).body["pagination"].(map[string]any)["total"]; n != 0.0 {
		t.Errorf("%v documents came of it", n)
	}
}

// TestDownloadRefusals checks that download errors have the format of API errors.
func TestDownloadRefusals(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	id := key.must("POST", assessments, map[string]string{"name": "First"}).str("id")
	text := "All accounts are personal, and each has an owner."
	document := key.must("POST", assessments+"/"+id+"/documents", form{filename: "policy.txt", content: text}).str("id")
	path := "/api/v1/documents/" + document + "/download"
	for header, want := range map[string]string{
		"Range: bytes=0-2":                          "206 All",
		"Range: bytes=-6":                           "206 owner.",
		"Range: items=0-1":                          "200 " + text,
		"Range: bytes=9999-":                        "400",
		"Range: bytes=5-2":                          "400",
		"Range: bytes=--1":                          "400",
		"Range: bytes=a-b":                          "400",
		"Range: bytes=0-" + strings.Repeat("9", 40): "400",
		"If-Match: \"x\"":                           "400",
		"If-None-Match: *":                          "304 ",
		"Range: bytes=" + strings.Repeat("0-0,", 5000) + "0-0": "200 " + text,
	} {
		name, value, _ := strings.Cut(header, ": ")
		a := key.do("GET", path, nil, name, value)
		got := fmt.Sprint(a.status)
		if a.status != 400 {
			got += " " + a.text
		} else if a.code() != "VALIDATION_ERROR" || a.str("error", "trace_id") == "" ||
			strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%.40s: %v %s", header, a.header, a.text)
		}
		if got != want {
			t.Errorf("%.40s: %.100s, not %.100s", header, got, want)
		}
	}
}

// formPart returns one part of a multipart form, unescaped.
func formPart(disposition, content string) string {
	return "--X\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
}

// TestMalformedForms checks that malformed forms are rejected with the name of the field.
func TestMalformedForms(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	id := key.must("POST", assessments, map[string]string{"name": "First"}).str("id")
	file := formPart(`name="file"; filename="a.txt"`, "text")
	for what, body := range map[string]string{
		"a NUL":               formPart(`name="category"`, "a\x00b") + file,
		"no text":             formPart(`name="category"`, "\xff\xfe") + file,
		"a field twice":       formPart(`name="category"`, "policy") + formPart(`name="category"`, "record") + file,
		"ten thousand fields": strings.Repeat(formPart(`name="category"`, "policy"), 10_000) + file,
		"a long category":     formPart(`name="category"`, strings.Repeat("a", 60_000)) + file,
		"a long name":         formPart(`name="`+strings.Repeat("é", 60_000)+`"`, "a") + file,
	} {
		a := key.do("POST", assessments+"/"+id+"/documents", body+"--X--\r\n", "Content-Type", "multipart/form-data; boundary=X")
		if a.status != 400 || a.code() != "VALIDATION_ERROR" || len(a.text) > 1000 {
			t.Errorf("%s: %d %.300s", what, a.status, a.text)
		}
	}
}

// interruptedBody is a body that calls onEOF at the end of its first reader and continues with next.
type interruptedBody struct {
	io.Reader
	next  io.Reader
	onEOF func()
}

func (b *interruptedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF && b.onEOF != nil {
		b.onEOF()
		b.Reader, b.onEOF, err = b.next, nil, nil
	}
	return n, err
}

// TestUploadRechecksAuthorization checks that a ban, a revoked key and a lower role apply to an
// upload in progress.
func TestUploadRechecksAuthorization(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, _ := w.createOrganization("Acme", "ada@acme.example")
	id := ada.must("POST", assessments, map[string]string{"name": "First"}).str("id")
	orgPath := "/api/v1/organizations/" + ada.org
	for what, c := range map[string]struct {
		turn func(by testCaller, user string)
		want int
	}{
		"banned": {func(_ testCaller, user string) {
			w.localUser().must("POST", "/api/v1/admin/users/"+user+"/ban", map[string]string{"reason": "left"})
		}, 401},
		"removed": {func(_ testCaller, user string) { ada.must("DELETE", orgPath+"/members/"+user, nil) }, 403},
		"demoted": {func(_ testCaller, user string) {
			ada.must("PATCH", orgPath+"/members/"+user, map[string]string{"role": "viewer"})
		}, 403},
	} {
		by := ada.addMember(what+"@acme.example", api.RoleMember)
		user := by.must("GET", "/api/v1/users/me", nil).str("user", "id")
		whole := formPart(`name="file"; filename="a.txt"`, "text of "+what) + "--X--\r\n"
		body := &interruptedBody{Reader: strings.NewReader(whole[:60]), next: strings.NewReader(whole[60:]), onEOF: func() { c.turn(by, user) }}
		req := httptest.NewRequest("POST", origin+assessments+"/"+id+"/documents", body)
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: by.cookie})
		for name, value := range map[string]string{
			"Origin":              origin,
			"x-service-tenant-id": by.org,
			"Content-Type":        "multipart/form-data; boundary=X",
		} {
			req.Header.Set(name, value)
		}
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		if rec.Code != c.want {
			t.Errorf("%s while the file came: %d %s", what, rec.Code, rec.Body)
		}
	}
	if n := ada.must("GET", assessments+"/"+id+"/documents", nil).body["pagination"].(map[string]any)["total"]; n != 0.0 {
		t.Errorf("%v documents were taken", n)
	}
}

// TestDuplicateHeaders checks that duplicate identifying headers are rejected.
func TestDuplicateHeaders(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, key := w.createOrganization("Acme", "ada@acme.example")
	_, beta := w.createOrganization("Beta", "bea@beta.example")
	for name, values := range map[string][2]string{
		"Authorization":       {"Bearer " + key.bearer, "Bearer " + beta.bearer},
		"x-service-tenant-id": {key.org, beta.org},
		"Idempotency-Key":     {"a", "b"},
	} {
		req := httptest.NewRequest("POST", origin+assessments, strings.NewReader(`{"name":"Twice"}`))
		req.Header.Set("Authorization", "Bearer "+key.bearer)
		req.Header.Set("x-service-tenant-id", key.org)
		req.Header[http.CanonicalHeaderKey(name)] = values[:]
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		if rec.Code != 400 || !strings.Contains(strings.ToLower(rec.Body.String()), strings.ToLower(name)) {
			t.Errorf("%s twice: %d %s", name, rec.Code, rec.Body)
		}
	}
	bea := w.signIn("bea@beta.example", beta.org)
	for cookies, want := range map[string]int{
		api.SessionCookie + "=" + ada.cookie + "; " + api.SessionCookie + "=" + bea.cookie: 401,
		api.SessionCookie + "=" + ada.cookie + "; " + api.SessionCookie + "=" + ada.cookie: 200,
		strings.ToUpper(api.SessionCookie) + "=" + ada.cookie:                              401,
	} {
		req := httptest.NewRequest("GET", origin+assessments, nil)
		req.Header.Set("x-service-tenant-id", ada.org)
		req.Header.Set("Cookie", cookies)
		rec := httptest.NewRecorder()
		if w.net.ServeHTTP(rec, req); rec.Code != want {
			t.Errorf("%.50s: %d %s", cookies, rec.Code, rec.Body)
		}
	}
	if a := key.do("GET", assessments+"/"+strings.Repeat("a", 100_000), nil); a.status != 400 || len(a.text) > 1000 {
		t.Errorf("a long path: %d %.100s", a.status, a.text)
	}
}

// TestIdempotencyKeysArePersonal checks that users' idempotency keys do not collide, not even on paths without
// an organization.
func TestIdempotencyKeysArePersonal(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ada, _ := w.createOrganization("Acme", "ada@acme.example")
	bea, _ := w.createOrganization("Beta", "bea@beta.example")
	for _, by := range []testCaller{ada, bea, ada} {
		by.must("POST", "/api/v1/users/me/orgs/"+by.org+"/activate", nil, "Idempotency-Key", "1")
	}
}

// TestJSONSmuggling checks that JSON that parsers interpret differently is rejected, with the
// position.
func TestJSONSmuggling(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	for body, says := range map[string]string{
		`{"NAME":"a"}`:                "unknown field",
		`{"name":"a","Name":"b"}`:     "unknown field",
		`{"name":"a","weight":1e999}`: "line 1, column 27: the number is too large",
	} {
		if a := key.do("POST", assessments, body); a.status != 400 || !strings.Contains(a.text, says) {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
	}
}

// TestHTTPOriginUnderTLS checks that, with TLS, an http origin is foreign even if its host is the
// same.
func TestHTTPOriginUnderTLS(t *testing.T) {
	w := newTestServer(t, daemon.Options{PublicURL: "https://service.example"})
	ada, _ := w.createOrganization("Acme", "ada@acme.example")
	for from, want := range map[string]int{"http://service.example": 403, "https://service.example": 201, "https://x@service.example": 403} {
		if a := ada.do("POST", assessments, json.RawMessage(`{"name":"First"}`), "Origin", from); a.status != want {
			t.Errorf("from %s: %d %s", from, a.status, a.text)
		}
	}
}

// TestHiddenCharactersInNames checks that names must be a single line without control characters and
// without invisible ones, in every body.
func TestHiddenCharactersInNames(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	key, _ := w.createOrganization("Acme", "ada@acme.example")
	id := key.must("POST", assessments, map[string]string{"name": "Ångström של 👩\u200d💻 می\u200cخواهم"}).str("id")
	alert := map[string]any{"metric": "organization_overdue_poam_items", "operator": ">", "threshold": 1}
	for _, name := range []string{
		"a\x1b[31mb", "a\nb", "a\x7f", "a\u009b31m", "a\u202egpj.exe", "a\u2067b", "Ac\u200bme",
		"Acme\ufe0f", "Acme\u3164",
	} {
		alert["name"] = name
		for _, one := range []struct {
			method, path string
			body         any
		}{
			{"POST", assessments, map[string]string{"name": name}},
			{"PATCH", assessments + "/" + id, map[string]string{"name": name}},
			{"POST", "/api/v1/api-keys", map[string]any{"name": name, "scopes": []string{"assessment:read"}}},
			{"POST", "/api/v1/observability/alerts", alert},
			{"POST", "/api/v1/organizations/" + key.org + "/members/invite", map[string]string{"email": name + "@acme.example", "role": "viewer"}},
			{"POST", api.AcceptLink.Path, map[string]string{"token": "x", "name": name, "password": goodPassword}},
			{"PUT", "/api/v1/tenants/" + key.org, map[string]string{"name": name}},
			{"PATCH", "/api/v1/poam/items/x", map[string]any{"milestones": []any{map[string]string{"title": name, "due_date": "2027-01-29"}}}},
			{"POST", "/api/v1/sync/join", map[string]string{"assessment_id": "x", "name": name}},
		} {
			if a := key.do(one.method, one.path, one.body); a.status != 400 ||
				!strings.Contains(a.text, "names must be a single line without control characters") {
				t.Errorf("%s %s with the name %q answers %d %s", one.method, one.path, name, a.status, a.text)
			}
		}
		other := mustString(json.Marshal(map[string]any{"name": "Other", "owner": map[string]string{"email": "bo@acme.example", "name": name}}))
		req := httptest.NewRequest("POST", api.CreateOrganization.Path, strings.NewReader(other))
		req.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.local.ServeHTTP(rec, req)
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), `"owner.name"`) {
			t.Errorf("an owner of the name %q: %d %s", name, rec.Code, rec.Body)
		}
	}
	if got := key.must("GET", assessments+"?limit=5", nil).text; strings.Count(got, `"state"`) != 1 {
		t.Errorf("an assessment was made of a name that was refused: %s", got)
	}
}

// TestValidationMessages checks the messages of validation errors.
func TestValidationMessages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	for want, body := range map[string]any{
		"can't be empty":                    map[string]string{"name": ""},
		"must have at most 200 characters":  map[string]string{"name": strings.Repeat("x", 201)},
		"must be a date such as 2027-01-29": map[string]string{"name": "x", "due_date": "soon"},
		"unknown field":                     map[string]string{"name": "x", "colour": "red"},
	} {
		if a := key.do("POST", assessments, body); a.status != 400 || !strings.Contains(a.text, want) {
			t.Errorf("%v: %d %s, want %q", body, a.status, a.text, want)
		}
	}
	// A body that is large because of one text is validated too.
	large := strings.Repeat("A", 5<<20)
	for want, body := range map[string]any{
		"unknown field":                      map[string]any{"format": "docx", "layout": large, "more": []string{large[:9]}},
		"can't be an array":                  map[string]any{"format": "docx", "layout": []string{large}},
		"docx, pptx":                         map[string]any{"format": "pdf", "layout": large},
		"is not a Word document (.docx)":     map[string]any{"format": "docx", "layout": large},
		"the request body exceeds the limit": map[string]any{"format": "docx", "layout": strings.Repeat(large, 7)},
	} {
		if a := key.do("POST", "/api/v1/report-layouts/lint", body); a.status != 400 || !strings.Contains(a.text, want) {
			t.Errorf("a large body: %d %.300s, want %q", a.status, a.text, want)
		}
	}
	if a := key.do("POST", "/api/v1/kb/search", map[string]any{"query": "x", "top_k": 1000}); !strings.Contains(
		a.text,
		"must be at most 100",
	) {
		t.Error(a.text)
	}
}

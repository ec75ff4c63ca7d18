package daemon_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
)

// scrapeMetrics requests /metrics from a peer address, with a host name and headers.
func (w *testServer) scrapeMetrics(from, host string, header ...string) (int, string) {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/metrics", nil)
	r.RemoteAddr = from
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.net.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// TestMetricsAccess checks that local clients can read the metrics, and that others need the permission. A
// request through a proxy, or from a page under a foreign host name, is not local.
func TestMetricsAccess(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, key := w.createOrganization("Acme", "a@acme.example")
	other := owner.createKey("scf:read")
	reader := owner.createKey("metrics:read")
	for what, c := range map[string]struct {
		from, host string
		header     []string
		want       int
	}{
		"this machine":           {"127.0.0.1:999", "127.0.0.1:8080", nil, 200},
		"this machine, IPv6":     {"[::1]:999", "localhost", nil, 200},
		"a proxy on it":          {"127.0.0.1:999", "127.0.0.1:8080", []string{"X-Forwarded-For", "192.0.2.1"}, 401},
		"another kind of proxy":  {"127.0.0.1:999", "127.0.0.1:8080", []string{"Forwarded", "for=192.0.2.1"}, 401},
		"a page's borrowed name": {"127.0.0.1:999", "evil.example:8080", nil, 401},
		"another machine":        {"192.0.2.1:999", "127.0.0.1:8080", nil, 401},
		"a key for it":           {"192.0.2.1:999", "service.example", []string{"Authorization", "Bearer " + reader.bearer}, 200},
		"a key for all":          {"192.0.2.1:999", "service.example", []string{"Authorization", "Bearer " + key.bearer}, 200},
		"a key for other things": {"192.0.2.1:999", "service.example", []string{"Authorization", "Bearer " + other.bearer}, 403},
		"a wrong key":            {"192.0.2.1:999", "service.example", []string{"Authorization", "Bearer service_live_x"}, 401},
	} {
		status, body := w.scrapeMetrics(c.from, c.host, c.header...)
		if status != c.want || (status == 200) != strings.Contains(body, "service_build_info") {
			t.Errorf("%s: %d, not %d\n%.200s", what, status, c.want, body)
		}
	}
}

// TestMetricsCount checks that requests, rejections, rate limits and uploads are counted by operation, without
// names of users.
func TestMetricsCount(t *testing.T) {
	w := newTestServer(t, daemon.Options{RateLimits: map[api.RateCategory]int{api.RateDefault: 0, api.RateDocuments: 1}})
	owner, key := w.createOrganization("Acme", "a@acme.example")
	a := owner.must("POST", api.CreateAssessment.Path, map[string]any{"name": "A"}).str("id")
	upload := strings.Replace(api.UploadDocument.Path, "{assessmentId}", a, 1)
	key.must("POST", upload, form{filename: "a.txt", content: "0123456789"})
	if r := key.do("POST", upload, form{filename: "b.txt", content: "0"}); r.status != http.StatusTooManyRequests {
		t.Fatalf("%d %s", r.status, r.text)
	}
	testCaller{w: w}.do("GET", api.GetMe.Path, nil)
	testCaller{w: w}.do("GET", "/nothing", nil)
	_, body := w.scrapeMetrics("127.0.0.1:1", "localhost")
	for _, want := range append(storeMetrics(),
		`service_requests_total{operation="upload-document",status="2xx"} 1`,
		`service_requests_total{operation="upload-document",status="4xx"} 1`,
		`service_requests_total{operation="none",status="4xx"} 1`,
		`service_request_duration_seconds_count{operation="upload-document"} 2`,
		`service_requests_in_flight 1`,
		`service_upload_bytes_total 10`,
		`service_rate_limited_total{budget="key",category="documents"} 1`,
		`service_auth_failures_total 1`,
		`service_store_transaction_seconds_bucket{le="0.1"} `, `go_goroutines `, `service_documents_waiting `,
	) {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%s", want, serviceMetrics(body))
		}
	}
	if strings.Contains(body, owner.org) || strings.Contains(body, "acme") {
		t.Error("the metrics name an organization")
	}
}

// storeMetrics returns the names of metrics that depend on the store: PostgreSQL has no file whose size is known.
func storeMetrics() []string {
	if enginetest.OnPostgres() {
		return nil
	}
	return []string{"service_store_bytes"}
}

// serviceMetrics returns the lines about the service itself.
func serviceMetrics(body string) string {
	var out []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "service_") && !strings.Contains(line, "_bucket") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// TestListMetrics checks that the list has the same metrics as records, and those of the caller's
// organization only.
func TestListMetrics(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	acme, key := w.createOrganization("Acme", "a@acme.example")
	busy, _ := w.createOrganization("Busy", "b@busy.example")
	for range 3 {
		busy.must("POST", api.CreateAssessment.Path, map[string]any{"name": "B"})
	}
	acme.must("POST", api.CreateAssessment.Path, map[string]any{"name": "A"})
	var all []map[string]any
	cursor := ""
	for {
		page := key.must("GET", api.ListMetrics.Path+"?limit=20&cursor="+cursor, nil)
		for _, m := range page.body["data"].([]any) {
			all = append(all, m.(map[string]any))
		}
		if cursor = page.str("pagination", "next_cursor"); cursor == "" {
			break
		}
	}
	value := func(name, label, is string) (v float64, n int) {
		for _, m := range all {
			if m["name"] == name && (label == "" || m["labels"].(map[string]any)[label] == is) {
				v += m["value"].(float64)
				n++
			}
		}
		return v, n
	}
	if v, n := value("organization_assessments", "state", "draft"); v != 1 || n != 1 {
		t.Errorf("%v assessments in %d records", v, n)
	}
	if v, n := value("service_requests_total", "operation", api.CreateAssessment.ID); v != 4 || n != 1 {
		t.Errorf("%v requests in %d records", v, n)
	}
	if v, n := value("service_request_duration_seconds_count", "operation", api.CreateAssessment.ID); v != 4 || n != 1 {
		t.Errorf("%v requests were timed, in %d records", v, n)
	}
	if v, n := value("service_request_duration_seconds", "quantile", "0.5"); v <= 0 || n == 0 {
		t.Errorf("the median is %v in %d records", v, n)
	}
	for _, name := range append(storeMetrics(), "organization_open_poam_items", "go_goroutines") {
		if _, n := value(name, "", ""); n != 1 {
			t.Errorf("%s stands %d times", name, n)
		}
	}
}

// TestClientDisconnectIsNoServerError checks that a client that disconnects early is not counted as
// a server error.
func TestClientDisconnectIsNoServerError(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	w.local.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, api.GetMe.Path, nil).WithContext(ctx))
	_, page := w.scrapeMetrics("127.0.0.1:999", "localhost")
	if !strings.Contains(page, `{operation="`+api.GetMe.ID+`",status="4xx"} 1`) {
		t.Errorf("a request whose caller is gone is not counted as theirs:\n%s", page)
	}
}

package daemon_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// TestServedHosts checks which hosts are served. A host name that was made to resolve to the server (DNS
// rebinding) is not among them.
func TestServedHosts(t *testing.T) {
	w := newTestServer(t, daemon.Options{
		PublicURL: "https://GRC.acme.example:8443", Hosts: []string{"grc.internal", "192.0.2.80", "2001:db8::80"},
		IsCertified: func(host string) bool { return host == "certified.example" },
	})
	call := func(host, path string, local net.Addr) *httptest.ResponseRecorder {
		req := httptest.NewRequest("GET", path, nil)
		req.Host = host
		if local != nil {
			req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, local))
		}
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		return rec
	}
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080} }
	for _, c := range []struct {
		host  string
		local net.Addr
		want  int
	}{
		{"grc.acme.example", nil, 200},
		{"grc.acme.example:443", nil, 200},
		{"Grc.Acme.Example.", nil, 200},
		{"grc.internal.:8080", nil, 200},
		{"certified.example", nil, 200},
		{"localhost:8080", nil, 200},
		{"LOCALHOST.", nil, 200},
		{"127.0.0.1", nil, 200},
		{"127.8.8.8:8080", nil, 200},
		{"[::1]:8080", nil, 200},
		{"[::ffff:127.0.0.1]", nil, 200},
		{"192.0.2.80:1", nil, 200},
		{"[2001:DB8:0::80]:8080", nil, 200},
		// The address that the caller connected to is served, whatever the listener is bound to.
		{"10.0.0.7:8080", tcp("10.0.0.7"), 200},
		{"[fe80::7%25eth0]:8080", tcp("fe80::7"), 200},
		{"[2001:db8::7]", tcp("2001:db8::7"), 200},
		// Browsers can't connect to a socket.
		{"anything", &net.UnixAddr{Name: "/run/web.sock", Net: "unix"}, 200},

		{"evil.example", nil, 421},
		{"evil.example", tcp("127.0.0.1"), 421},
		{"", nil, 421},
		{"grc.acme.example.evil.example", nil, 421},
		{"localhost.evil.example", nil, 421},
		{"127.0.0.1.evil.example", nil, 421},
		{"evil.example:127.0.0.1", nil, 421},
		{"grc.acme.example..", nil, 421},
		{"10.0.0.8", tcp("10.0.0.7"), 421},
		{"2130706433", tcp("127.0.0.1"), 421},
		{"0x7f.1", tcp("127.0.0.1"), 421},
		{"internal", nil, 421},
		{"[::ffff:10.0.0.7]", nil, 421},
	} {
		for _, path := range []string{"/docs", daemon.OpenAPIPath, "/link"} {
			rec := call(c.host, path, c.local)
			if rec.Code != c.want || c.want == 421 &&
				(!strings.Contains(rec.Body.String(), "--allowed-host (SERVICE_ALLOWED_HOST)") || rec.Header().Get(api.TraceHeader) == "") {
				t.Errorf("host %q: %s answers %d %.200s", c.host, path, rec.Code, rec.Body)
			}
		}
		// No operation is available under another host, whatever its method.
		if rec := call(c.host, api.GetMe.Path, c.local); (rec.Code == 421) != (c.want == 421) {
			t.Errorf("host %q: get-me answers %d", c.host, rec.Code)
		}
	}
	for _, path := range []string{"/health", api.GetHealth.Path, "/metrics"} {
		if rec := call("10.99.0.1:8080", path, nil); rec.Code == 421 {
			t.Errorf("%s is not available to a load balancer", path)
		}
	}
	if rec := call("evil.example", "/health/../link", nil); rec.Code != 421 {
		t.Errorf("a path that begins like that of the health check: %d", rec.Code)
	}
	req := httptest.NewRequest("GET", api.GetMe.Path, nil)
	req.Host = "evil.example"
	rec := httptest.NewRecorder()
	if w.local.ServeHTTP(rec, req); rec.Code != 200 {
		t.Errorf("the data folder's own socket: %d %s", rec.Code, rec.Body)
	}
}

// TestForeignPagesCannotChangeAnything checks that operations that change something without a credential, and
// the page for unsubscribing, can only be used by programs and by the service's own pages. Otherwise, a foreign
// page could sign a user in to another user's account.
func TestForeignPagesCannotChangeAnything(t *testing.T) {
	w := newTestServer(t, daemon.Options{Origins: []string{"https://app.example"}})
	w.createOrganization("Acme", "ada@acme.example")
	paths := []string{"/unsubscribe?token=x"}
	for _, op := range api.Operations() {
		if op.Access == api.Public && op.Method != http.MethodGet {
			paths = append(paths, op.Path)
		}
	}
	if len(paths) < 4 {
		t.Fatalf("only %v are tried", paths)
	}
	for _, path := range paths {
		for header, allowed := range map[string]bool{
			"X-Nothing: 1":                        true, // sent by a program
			"Origin: " + origin:                   true,
			"Origin: https://app.example":         true,
			"Sec-Fetch-Site: same-origin":         true,
			"Sec-Fetch-Site: none":                true, // typed by the user
			"Origin: https://evil.example":        false,
			"Origin: null":                        false,
			"Origin: http://service.example:81":   false,
			"Origin: http://x@service.example":    false,
			"Origin: https://app.example.evil":    false,
			"Sec-Fetch-Site: cross-site":          false,
			"Sec-Fetch-Site: same-site":           false,
			"Sec-Fetch-Site: SAME-ORIGIN, forged": false,
		} {
			name, value, _ := strings.Cut(header, ": ")
			a := testCaller{w: w}.do("POST", path, map[string]string{}, name, value)
			if (a.status == 403) == allowed {
				t.Errorf("%s with %s: %d %s", path, header, a.status, a.text)
			}
		}
		// The two headers contradict each other: a proxy changed the host.
		if a := (testCaller{w: w}).do("POST", path, map[string]string{}, "Origin", origin, "Sec-Fetch-Site", "cross-site"); a.status != 403 {
			t.Errorf("%s from a page of another site with our host: %d %s", path, a.status, a.text)
		}
		// Our own page may be configured not to reveal its address.
		if a := (testCaller{w: w}).do("POST", path, map[string]string{}, "Origin", "null", "Sec-Fetch-Site", "same-origin"); a.status == 403 {
			t.Errorf("%s from our own page: %d %s", path, a.status, a.text)
		}
	}
	signIn := map[string]string{"email": "ada@acme.example", "password": goodPassword}
	a := testCaller{w: w}.do("POST", api.SignIn.Path, signIn, "Origin", "https://evil.example")
	if a.status != 403 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("signing in from a foreign page: %d %v", a.status, a.header)
	}
	if a := (testCaller{w: w}).do("POST", api.SignIn.Path, signIn, "Origin", origin); a.status != 200 {
		t.Errorf("signing in from our own page: %d %s", a.status, a.text)
	}
}

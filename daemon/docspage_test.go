package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/daemon"
)

// The page brings all it needs: every file it names is served, by this server,
// under a policy that allows nothing else.
func TestDocsPage(t *testing.T) {
	h := newServer(t).Handler()
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	page := get(daemon.DocsPath)
	policy := page.Header().Get("Content-Security-Policy")
	if page.Code != http.StatusOK || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("%d %v", page.Code, page.Header())
	}
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	body := page.Body.String()
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(body) || regexp.MustCompile(`\son\w+=|style=`).MatchString(body) {
		t.Error("there is script or style in the markup, which the policy would refuse")
	}
	named := regexp.MustCompile(`(?:src|href)="(/[^"]*)"`).FindAllStringSubmatch(body, -1)
	if len(named) < 4 {
		t.Fatalf("the page names only %v", named)
	}
	for _, m := range named {
		if w := get(m[1]); w.Code != http.StatusOK || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s answers %d %v", m[1], w.Code, w.Header())
		}
	}
	for _, path := range []string{daemon.DocsPath, daemon.DocsPath + "/page.js", daemon.DocsPath + "/page.css"} {
		if elsewhere := regexp.MustCompile(`https?://[^"' )]+`).FindString(get(path).Body.String()); elsewhere != "" {
			t.Errorf("%s names %s", path, elsewhere)
		}
	}
}

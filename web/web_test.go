package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/web"
)

var (
	loadedFile   = regexp.MustCompile(`(?:src|href)="([^"]+\.(?:css|js))"`)
	inlineScript = regexp.MustCompile(`<style|<script[^>]*>[^<]|\son\w+=|\sstyle=`)
	otherHost    = regexp.MustCompile(`https?://[^"' )]+`)
)

func noCalls(http.ResponseWriter, *http.Request) http.Handler { return http.NotFoundHandler() }

func serve(method, target string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	web.RegisterPages(mux, web.Options{Calls: noCalls, Unsubscribe: func(_ context.Context, token string) error {
		if token != "valid" {
			return api.Unauthorized("the link is invalid")
		}
		return nil
	}})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

// TestPages checks that a page loads files of this service only and contains no inline script or style, and
// that its policy makes browsers enforce that.
func TestPages(t *testing.T) {
	// The form of the page to unsubscribe is sent with its origin.
	policies := map[string]string{
		"/link": "same-origin", "/approval": "same-origin", web.DocsPath: "no-referrer", "/unsubscribe": "same-origin",
	}
	contentTypes := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	for path, loads := range map[string]int{"/link": 2, "/approval": 2, web.DocsPath: 2, "/unsubscribe": 2} {
		page := serve("GET", path)
		body, policy := page.Body.String(), page.Header().Get("Content-Security-Policy")
		if page.Code != http.StatusOK || page.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
			page.Header().Get("Referrer-Policy") != policies[path] {
			t.Errorf("GET %s: %d %v", path, page.Code, page.Header())
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action '"} {
			if !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: want %s in the policy %q", path, want, policy)
			}
		}
		if found := inlineScript.FindString(body); found != "" {
			t.Errorf("%s contains %q, which its policy forbids", path, found)
		}
		files := loadedFile.FindAllStringSubmatch(body, -1)
		if len(files) != loads {
			t.Errorf("%s loads %v, want %d files", path, files, loads)
		}
		for _, m := range files {
			// Relative addresses also work below a proxy's path; the reference is served at a fixed one.
			if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "/") && path != web.DocsPath {
				t.Errorf("%s loads %s, which is not below it", path, m[1])
			}
			file := serve("GET", "/"+strings.TrimLeft(m[1], "./"))
			if want := contentTypes[m[1][strings.LastIndex(m[1], "."):]]; file.Code != http.StatusOK ||
				file.Header().Get("Content-Type") != want || file.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s loads %s: %d %v", path, m[1], file.Code, file.Header())
			}
			body += file.Body.String()
		}
		if found := otherHost.FindString(body); found != "" {
			t.Errorf("%s or a file of it names %s", path, found)
		}
	}
}

func TestAssetNotModified(t *testing.T) {
	etag := serve("GET", "/static/pages.css").Header().Get("ETag")
	r := httptest.NewRequest(http.MethodGet, "/static/pages.css", nil)
	r.Header.Set("If-None-Match", etag)
	w := httptest.NewRecorder()
	mux := http.NewServeMux()
	web.RegisterPages(mux, web.Options{})
	if mux.ServeHTTP(w, r); etag == "" || w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("got %d with %d bytes for the ETag %q", w.Code, w.Body.Len(), etag)
	}
}

func TestUnsubscribe(t *testing.T) {
	if body := serve("GET", "/unsubscribe?token=%22%3E%3Cscript%3E").Body.String(); strings.Contains(body, "<script>") ||
		!strings.Contains(body, `action="unsubscribe?token=%22`) {
		t.Errorf("the page that asks to confirm is:\n%s", body)
	}
	for token, want := range map[string]struct {
		status int
		title  string
	}{
		"valid": {http.StatusOK, "<h1>Unsubscribed</h1>"},
		"other": {http.StatusUnauthorized, "<h1>Invalid link</h1>"},
	} {
		w := serve("POST", "/unsubscribe?token="+token)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.title) || strings.Contains(w.Body.String(), `action="unsubscribe`) {
			t.Errorf("token %s: %d\n%s", token, w.Code, w.Body)
		}
	}
}

func TestWriteStopping(t *testing.T) {
	for method, reloads := range map[string]bool{http.MethodGet: true, http.MethodPost: false} {
		w := httptest.NewRecorder()
		web.WriteStopping(w, httptest.NewRequest(method, "/assessments/x", nil))
		if body := w.Body.String(); w.Code != http.StatusServiceUnavailable || strings.Contains(body, `http-equiv="refresh"`) != reloads ||
			!strings.Contains(body, "<h1>Restarting</h1>") {
			t.Errorf("%s: %d %s", method, w.Code, body)
		}
	}
}

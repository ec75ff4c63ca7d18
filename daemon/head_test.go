package daemon_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/web"
)

// TestHead checks that HEAD returns the headers of GET without a body.
func TestHead(t *testing.T) {
	server := httptest.NewServer(newServer(t).Handler())
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask := func(method, path string) (*http.Response, int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		if err := a.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a, len(body)
	}
	for path, want := range map[string]int{
		"/":                   http.StatusSeeOther,
		"/health":             http.StatusTemporaryRedirect,
		"/api/v1/health":      http.StatusOK,
		daemon.OpenAPIPath:    http.StatusOK,
		web.DocsPath:          http.StatusOK,
		"/link":               http.StatusOK,
		"/api/v1/assessments": http.StatusUnauthorized,
		"/api/v1/nope":        http.StatusNotFound,
		"/api/auth/sign-out":  http.StatusNotFound, // sign-out only supports POST
	} {
		get, size := ask(http.MethodGet, path)
		head, none := ask(http.MethodHead, path)
		if get.StatusCode != want || head.StatusCode != want {
			t.Errorf("%s answers GET with %d and HEAD with %d, not %d", path, get.StatusCode, head.StatusCode, want)
		}
		if none != 0 || size == 0 {
			t.Errorf("%s answers GET with %d bytes and HEAD with %d", path, size, none)
		}
		if a, b := get.Header.Get("Content-Type"), head.Header.Get("Content-Type"); a != b {
			t.Errorf("%s is %q by GET and %q by HEAD", path, a, b)
		}
	}
	if root, _ := ask(http.MethodGet, "/"); root.Header.Get("Location") != "./sign-in" {
		t.Errorf("/ leads to %q", root.Header.Get("Location"))
	}
}

package daemon_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

var loaded = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

// The page loads its own files only, has no script or style of its own, and tells
// browsers to hold it to that.
func TestLinkPage(t *testing.T) {
	w := newWorld(t, daemon.Options{})
	page := who{w: w}.must("GET", "/link", nil)
	if page.header.Get("Content-Type") != "text/html; charset=utf-8" || page.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", page.header)
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(page.header.Get("Content-Security-Policy"), want) {
			t.Errorf("the policy has no %s: %s", want, page.header.Get("Content-Security-Policy"))
		}
	}
	if strings.Contains(page.text, "<style") || regexp.MustCompile(`<script[^>]*>[^<]|\son\w+=|\sstyle=`).MatchString(page.text) {
		t.Error("the page has script or style in it, which its policy forbids")
	}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	n := 0
	for _, m := range loaded.FindAllStringSubmatch(page.text, -1) {
		if m[1] == "data:," {
			continue
		}
		n++
		if strings.HasPrefix(m[1], "/") || strings.Contains(m[1], ":") {
			t.Errorf("the page loads %s, which is not below it", m[1])
		}
		file := who{w: w}.must("GET", "/"+m[1], nil)
		if want := kinds[m[1][strings.LastIndex(m[1], "."):]]; file.header.Get("Content-Type") != want ||
			file.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s comes as %v", m[1], file.header)
		}
	}
	if n != 2 {
		t.Errorf("the page loads %d files", n)
	}
	if status := (who{w: w}).do(http.MethodHead, "/link", nil).status; status != http.StatusOK {
		t.Errorf("HEAD answers %d", status)
	}
	if status := (who{w: w}).do(http.MethodPost, "/link", "{}").status; status != http.StatusNotFound {
		t.Errorf("POST answers %d", status)
	}
}

// What the page's script does: it looks at the link, and uses it up, at the addresses
// that the script names; the invitation's path leads to the page.
func TestLinkPageWorks(t *testing.T) {
	w := newWorld(t, daemon.Options{})
	owner, _ := w.organization("Acme", "a@acme.example")
	invited := owner.must(
		"POST",
		"/api/v1/organizations/"+owner.org+"/members/invite",
		map[string]any{"email": "n@acme.example", "role": "member"},
	)
	path, token, ok := strings.Cut(invited.str("invite_path"), "#")
	if !ok || path != "/link" || token != invited.str("invite_token") {
		t.Fatalf("the path of an invitation is %q", invited.str("invite_path"))
	}
	script := who{w: w}.must("GET", "/link/page.js", nil).text
	for _, op := range []*api.Operation{api.GetLink.Operation, api.AcceptLink.Operation} {
		if !strings.Contains(script, `"`+strings.TrimPrefix(op.Path, "/")+`"`) {
			t.Errorf("the script does not call %s", op.Path)
		}
	}
	seen := who{w: w}.must("POST", api.GetLink.Path, map[string]any{"token": token})
	for _, field := range []string{"purpose", "email", "organization", "role", "expires_at"} {
		if seen.str(field) == "" || !strings.Contains(script, "link."+field) {
			t.Errorf("%s is %q in the answer, or is not used by the script", field, seen.str(field))
		}
	}
	who{w: w}.must("POST", api.AcceptLink.Path, map[string]any{"token": token, "name": "Nia", "password": goodPassword})
	if again := (who{w: w}).do("POST", api.GetLink.Path, map[string]any{"token": token}); again.status != http.StatusUnauthorized {
		t.Errorf("a used link answers %d", again.status)
	}
}

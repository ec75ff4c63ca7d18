package daemon_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scf-service/service/daemon"
)

// The page of a decision loads its own files alone and calls operations that there are; the
// page that unsubscribes asks first, puts nothing of the address into its markup as it is,
// and refuses what is no link of ours.
func TestPagesOfMails(t *testing.T) {
	w := newWorld(t, daemon.Options{})
	page := who{w: w}.must("GET", "/approval", nil)
	if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
		!strings.Contains(page.text, `src="approval/page.js"`) {
		t.Errorf("%s\n%s", csp, page.text)
	}
	script := who{w: w}.must("GET", "/approval/page.js", nil).text
	for _, path := range []string{
		`"api/v1/organizations?limit=100"`,
		`"api/v1/approvals/"`,
		`"api/v1/assessments/"`,
		`"api/auth/sign-in/email"`,
	} {
		if !strings.Contains(script, path) {
			t.Errorf("the script does not call %s", path)
		}
	}
	asks := who{w: w}.must("GET", `/unsubscribe?token=%22%3E%3Cscript%3E`, nil)
	if strings.Contains(asks.text, "<script>") || !strings.Contains(asks.text, `method="post"`) {
		t.Error(asks.text)
	}
	if refused := (who{w: w}).do(
		"POST",
		"/unsubscribe?token=abc",
		"List-Unsubscribe=One-Click",
		"Content-Type",
		"application/x-www-form-urlencoded",
	); refused.status != http.StatusUnauthorized {
		t.Errorf("%d %s", refused.status, refused.text)
	}
}

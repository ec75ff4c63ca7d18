package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// panelPaths are the pages that list and change records, as seen by an owner.
var panelPaths = []string{
	"/account", "/settings", "/settings/members", "/settings/delegations", "/settings/keys", "/settings/webhooks", "/settings/integrations",
	"/settings/integrations?type=jira", "/settings/email", "/settings/alerts", "/activity", "/search?q=backup", "/catalog?q=backup",
	"/catalog/controls/IAC-06", "/catalog/frameworks", "/catalog/frameworks/lgpd", "/catalog/crosswalk?framework=iso-27001-2022&target=soc2-tsc",
	"/catalog/coverage?framework=iso-27001-2022&have=soc2-tsc", "/jobs", "/new",
}

var postForm = regexp.MustCompile(`(?s)<form method="post" action="([^"]+)"[^>]*>.*?</form>`)

// TestPanels changes an organization's settings on their pages, and checks that each role sees only the forms
// that it may submit.
func TestPanels(t *testing.T) {
	g := newGateFixture(t)
	v := g.w.visitorSignedIn("gate@example.com")
	assessment := "/assessments/" + g.ids["assessmentId"]
	paths := append([]string{assessment + "/scope", assessment + "/reports", assessment + "/activity", assessment}, panelPaths...)
	for _, path := range paths {
		v.page(path, http.StatusOK)
	}
	for _, path := range []string{"/admin/users", "/admin/organizations", "/admin/imports"} {
		v.page(path, http.StatusForbidden)
	}
	send := func(path string, fields ...string) *httptest.ResponseRecorder {
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return v.post(path, path, form)
	}
	ok := func(rec *httptest.ResponseRecorder, want string) string {
		t.Helper()
		if page := rec.Body.String(); rec.Code != http.StatusOK && rec.Code != http.StatusSeeOther || !strings.Contains(page, want) {
			t.Errorf("want %q: %d %s", want, rec.Code, page)
		}
		return rec.Body.String()
	}
	ok(send("/settings", "do", "rules", "second_person", "true"), "")
	if page := v.page("/settings", http.StatusOK); !strings.Contains(page, "<dd>Yes</dd>") {
		t.Errorf("the rule is not on: %s", page)
	}
	key := ok(send("/settings/keys", "do", "create", "name", "<i>nightly</i>", "scopes", "assessment:read, report:read"), api.APIKeyPrefix)
	if !strings.Contains(key, "&lt;i&gt;nightly") || strings.Contains(v.page("/settings/keys", http.StatusOK), api.APIKeyPrefix+"0") {
		t.Errorf("the new key: %s", key)
	}
	if rec := send("/settings/keys", "do", "create", "name", "kept", "scopes", "nonsense"); rec.Code != http.StatusBadRequest ||
		!strings.Contains(rec.Body.String(), `value="kept"`) || !strings.Contains(rec.Body.String(), "nonsense") {
		t.Errorf("a wrong scope: %d %s", rec.Code, rec.Body)
	}
	ok(send("/settings/webhooks", "do", "create", "url", "https://hooks.example/x", "events", "report.ready"), "not shown again")
	ok(send("/settings/alerts", "do", "create", "name", "open", "metric", "organization_open_findings", "operator", "gt",
		"threshold", "2.5"), "")
	ok(send("/settings/members", "do", "invite", "email", "new@example.com", "role", "auditor"), origin+"/link#")
	ok(send("/settings/integrations", "do", "create", "type", "jira", "name", "Board",
		"config.url", "https://jira.example", "config.project", "SEC",
		"secret.token", "hidden-token", "config.email", "bot@jira.example", "config.sync_minutes", "7", "config.labels", "a, b"), "")
	if page := v.page("/settings/integrations", http.StatusOK); !strings.Contains(page, "Board") || strings.Contains(page, "hidden-token") {
		t.Errorf("the integrations: %s", page)
	}
	ok(send(assessment+"/scope", "do", "save", "was.systems", "", "systems", "Shop\nCRM",
		"was.trait.uses_ai", "unknown", "trait.uses_ai", "false"), "")
	if page := v.page(assessment+"/scope", http.StatusOK); !strings.Contains(page, "Shop\nCRM") {
		t.Errorf("the scope: %s", page)
	}
	ok(send(assessment+"/reports", "do", "generate", "template", "executive_summary", "format", "html"), "")
	ok(send("/activity", "do", "verify"), "The audit trail is intact")
	if export := v.page("/activity/export?action=api_key.", http.StatusOK); !strings.Contains(export, `"api_key.created"`) {
		t.Errorf("the export: %s", export)
	}
	if rec := send("/settings", "do", "nothing"); rec.Code != http.StatusBadRequest {
		t.Errorf("an unknown action: %d", rec.Code)
	}
	rec := send("/new", "do", "create", "name", "<b>Next</b>", "framework", "lgpd", "framework2", "soc2-tsc", "due", "2027-03-31")
	if page := v.page(strings.TrimPrefix(rec.Header().Get("Location"), "."), http.StatusOK); !strings.Contains(page, "&lt;b&gt;Next") || !strings.Contains(page, `type="file"`) {
		t.Errorf("the new assessment: %s", page)
	}
	// Users see only forms that they may submit, and those of their own account.
	for _, role := range []api.Role{api.RoleViewer, api.RoleAuditor} {
		reader := g.w.visitorAs(g.owner.addMember(string(role)+"@example.com", role))
		settings := reader.page("/settings/members", http.StatusOK)
		for _, path := range paths {
			rec := reader.send("GET", path, nil)
			if linked := strings.Contains(settings, `href="../`+path[1:]+`"`); rec.Code != http.StatusOK &&
				(rec.Code != http.StatusForbidden || linked || role == api.RoleAuditor && path != "/new") {
				t.Errorf("%s gets %d at %s", role, rec.Code, path)
			}
			for _, form := range postForm.FindAllStringSubmatch(rec.Body.String(), -1) {
				if !strings.HasSuffix(form[1], "sign-out") && path != "/account" && !strings.Contains(form[0], `value="verify"`) {
					t.Errorf("%s is offered at %s: %s", role, path, form[0])
				}
			}
		}
	}
}

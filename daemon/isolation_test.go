package daemon_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// marker returns a text contained in everything that an organization writes in these tests. If it appears in a
// response to another organization, data has leaked.
func marker(name string) string { return "zzmark" + strings.ToLower(name) + "zz" }

// populate fills an organization with an assessment that has passed every gate, with documents, passages, all
// four deliverables, approvals, artifacts, reports, a member and a key. It returns the IDs by path parameter.
func (c testCaller) populate(name string) map[string]string {
	c.w.t.Helper()
	mark := marker(name)
	ids := map[string]string{"orgId": c.org, "organizationId": c.org, "tenantId": c.org, "versionNumber": "1"}
	list := func(path string) map[string]any {
		c.w.t.Helper()
		data := c.must("GET", path, nil).body["data"].([]any)
		if len(data) == 0 {
			c.w.t.Fatalf("%s is empty", path)
		}
		return data[0].(map[string]any)
	}
	a := c.must("POST", assessments, map[string]any{"name": mark, "framework_id": "cis-controls-8.1"}).str("id")
	ids["assessmentId"] = a
	base := assessments + "/" + a
	c.must(
		"POST",
		base+"/documents",
		form{filename: mark + ".md", fields: map[string]string{"category": "policy"}, content: "# " + mark + " access control policy\n\n" +
			"Version 2.0, approved on 2026-03-01. Owner: the head of security.\n\n## Accounts\n" +
			"\nThe " + mark + " security team reviews all privileged accounts every quarter and removes what is not needed. " +
			"Multi-factor authentication is required for all remote access and all administrators.\n\n## Backups\n\n" +
			"All systems are backed up daily; restores are tested twice a year and recorded.\n"},
	)
	for {
		st := c.must("GET", base+"/status", nil)
		next := st.body["next_states"].([]any)
		if len(next) == 0 || next[0] == "closed" {
			break
		}
		got := c.do("POST", base+"/lifecycle/transition", map[string]any{"target_state": next[0]})
		if got.code() == "APPROVAL_REQUIRED" {
			c.must("POST", "/api/v1/approvals/"+st.str("pending_approval_id")+"/approve", nil)
		} else if got.status != 200 {
			c.w.t.Fatalf("to %v: %s", next[0], got.text)
		}
	}
	c.must("POST", base+"/gaps", map[string]any{"control_id": "GOV-01", "status": "not_implemented", "severity": "high"})
	for param, path := range map[string]string{
		"documentId":        base + "/documents",
		"chunkId":           "/api/v1/kb/chunks",
		"soaVersionId":      base + "/soa",
		"gapVersionId":      base + "/gap-analysis",
		"maturityVersionId": base + "/maturity",
		"poamVersionId":     base + "/poam",
		"approvalId":        base + "/approvals",
		"artifactId":        base + "/artifacts",
		"reportId":          base + "/reports",
		"keyId":             "/api/v1/api-keys",
		"memberId":          "/api/v1/organizations/" + c.org + "/members",
	} {
		ids[param] = list(path)["id"].(string)
	}
	ids["userId"] = list("/api/v1/organizations/" + c.org + "/members")["user_id"].(string)
	ids["scopeId"] = c.must("GET", base+"/scope", nil).str("id")
	for param, path := range map[string]string{
		"soaItemId":       "/api/v1/soa/" + ids["soaVersionId"] + "/items",
		"findingId":       "/api/v1/gap-analysis/" + ids["gapVersionId"] + "/findings",
		"maturityScoreId": "/api/v1/maturity/" + ids["maturityVersionId"] + "/scores",
		"poamItemId":      "/api/v1/poam/" + ids["poamVersionId"] + "/items",
	} {
		ids[param] = list(path)["id"].(string)
	}
	return ids
}

// fillPath fills an operation's path with IDs; parameters without one get an ID that does not
// exist.
func fillPath(op *api.Operation, ids map[string]string) string {
	return parameter.ReplaceAllStringFunc(op.Path, func(p string) string {
		name := strings.Trim(p, "{}")
		if id := ids[name]; id != "" {
			return url.PathEscape(id)
		}
		if known := map[string]string{
			"controlCode":  "GOV-01",
			"controlId":    "GOV-01",
			"frameworkId":  "cis-controls-8.1",
			"scfVersionId": "latest",
			"templateId":   "welcome",
		}[name]; known != "" {
			return known
		}
		return "01890000-0000-7000-8000-000000000000"
	})
}

// candidateBodies returns the bodies to try on an operation: none, an empty one, and one with plausible values
// that refers to records of another organization.
func candidateBodies(op *api.Operation, ids map[string]string) []any {
	if op.Form == api.Upload {
		return []any{form{filename: "x.md", content: "# Other\n\nSomething else entirely.\n"}}
	}
	if op.Method == http.MethodGet || op.Method == http.MethodDelete {
		return []any{nil}
	}
	fits := map[string]any{}
	for name, v := range map[string]any{
		"assessment_id": ids["assessmentId"],
		"query":         "privileged accounts reviewed",
		"name":          "n",
		"reason":        "because",
		"target_state":  "closed",
		"control_id":    "GOV-01",
		"status":        "not_implemented",
		"severity":      "high",
		"format":        "json",
		"template":      "full",
		"rationale":     "changed",
		"title":         "changed",
		"owner":         "somebody",
		"email":         "x@y.example",
		"role":          "viewer",
		"scopes":        []string{"scf:read"},
	} {
		if strings.Contains(bodyFieldNames(op), " "+name+" ") {
			fits[name] = v
		}
	}
	return []any{nil, "{}", fits}
}

func TestIsolation(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	acme, _ := w.createOrganization("Acme", "ada@acme.example")
	beta, _ := w.createOrganization("Beta", "bea@beta.example")
	betaKey := beta.createKey("*", "approval:decide", "apikey:write")
	acme.addMember("mem@acme.example", api.RoleMember)
	ids := acme.populate("Acme")
	other := beta.populate("Beta")
	mark := marker("Acme")
	before := acme.readAll(ids)
	if !strings.Contains(fmt.Sprint(before), mark) {
		t.Fatal("the marker is in nothing that can be read: the test would prove nothing")
	}

	// Another organization's owner and key, with their own tenant header and Acme's record IDs.
	for _, c := range []testCaller{beta, betaKey} {
		for _, op := range api.Operations() {
			if op.Access == api.Public {
				continue
			}
			named := strings.Contains(op.Path, "{") && usesIDs(op, ids)
			for _, body := range candidateBodies(op, ids) {
				if op.ID == api.SignOut.ID || op.ID == api.SignOutEverywhere.ID || op.ID == api.ChangePassword.ID {
					continue
				}
				a := c.do(op.Method, fillPath(op, ids), body)
				checkNoLeak(t, op.ID+" with Acme's ids", a, mark)
				if named && a.status < 400 {
					t.Errorf("%s answers %d on a record of another organization: %.200s", op.ID, a.status, a.text)
				}
				if named && a.status == 403 && op.Access == api.Tenant {
					t.Errorf("%s answers 403 on a record of another organization: it should not be there: %.200s", op.ID, a.text)
				}
				// Acme's tenant header gives no access either, whatever the IDs.
				for _, mixed := range []map[string]string{ids, other} {
					a := testCaller{w: w, cookie: c.cookie, bearer: c.bearer, org: acme.org}.do(op.Method, fillPath(op, mixed), body)
					checkNoLeak(t, op.ID+" with Acme's header", a, mark)
					if op.Access == api.Tenant && (a.status != 403 || a.code() != "FORBIDDEN") {
						t.Errorf("%s with Acme's header answers %d: %.200s", op.ID, a.status, a.text)
					}
				}
			}
		}
	}
	if after := acme.readAll(ids); !maps.Equal(before, after) {
		for path, was := range before {
			if after[path] != was {
				t.Errorf("%s was %.300s\nand is %.300s", path, was, after[path])
			}
		}
	}
}

// TestPlatformAdminIsNoMember checks that a platform admin can't read the data of organizations.
func TestPlatformAdminIsNoMember(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	acme, _ := w.createOrganization("Acme", "ada@acme.example")
	beta, _ := w.createOrganization("Beta", "bea@beta.example")
	if a := beta.do("GET", "/api/v1/tenants/"+acme.org, nil); a.status != 404 {
		t.Errorf("the owner of another organization: %d %s", a.status, a.text)
	}
	ops, _ := w.createOrganizationWithOwner(
		"Operators",
		map[string]any{"email": "root@ops.example", "password": goodPassword, "platform_admin": true},
	)
	if a := ops.must("GET", "/api/v1/tenants/"+acme.org, nil); a.str("name") != "Acme" {
		t.Errorf("a platform admin reads an organization's name: %s", a.text)
	}
	ops.must("GET", api.ListUsers.Path, nil)
	for _, op := range api.Operations() {
		if op.Access != api.Tenant {
			continue
		}
		a := testCaller{
			w:      w,
			cookie: ops.cookie,
			org:    acme.org,
		}.do(
			op.Method,
			fillPath(op, map[string]string{"orgId": acme.org}),
			invalidBody(op),
		)
		if a.status != 403 {
			t.Errorf("a platform admin calls %s of an organization: %d %.200s", op.ID, a.status, a.text)
		}
	}
}

// checkNoLeak fails the test if the response is a server error or contains mark, a text of another
// organization.
func checkNoLeak(t *testing.T, what string, a reply, mark string) {
	t.Helper()
	if a.status >= 500 {
		t.Errorf("%s answers %d %s", what, a.status, a.text)
	}
	if strings.Contains(a.text, mark) {
		t.Errorf("%s leaks: %.300s", what, a.text)
	}
}

// usesIDs reports whether one of the operation's path parameters has an ID in ids.
func usesIDs(op *api.Operation, ids map[string]string) bool {
	for _, p := range parameter.FindAllString(op.Path, -1) {
		if name := strings.Trim(p, "{}"); ids[name] != "" && name != "versionNumber" {
			return true
		}
	}
	return false
}

// readAll returns everything that the caller can read, by path. It leaves out what changes by being read, such
// as the audit trail and the last use of keys.
func (c testCaller) readAll(ids map[string]string) map[string]string {
	out := map[string]string{}
	for _, op := range api.Operations() {
		volatile := []string{
			"list-audit-events",
			"verify-audit",
			"get-audit-head",
			"export-audit",
			"export-assessment",
			"render-report",
			"get-health-detailed",
			"get-service-health",
			"list-api-keys",
			"list-metrics",
			"get-session",
			"get-me",
			"list-tenants",
			"list-users",
			"list-organizations",
		}
		if op.Method != http.MethodGet || slices.Contains(volatile, op.ID) || op.Access == api.Public {
			continue
		}
		path := fillPath(op, ids)
		if a := c.do("GET", path, nil); a.status == 200 {
			out[path] = a.text
		}
	}
	return out
}

// TestEveryRole checks that each role can call exactly the operations its permissions allow.
func TestEveryRole(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	people := map[api.Role]testCaller{api.RoleOwner: owner}
	for _, r := range []api.Role{api.RoleAdmin, api.RoleMember, api.RoleViewer} {
		people[r] = owner.addMember(string(r)+"@acme.example", r)
	}
	for role, c := range people {
		for _, op := range api.Operations() {
			if op.Access == api.Public || op.ID == api.SignOut.ID {
				continue
			}
			a := c.do(op.Method, fillPath(op, map[string]string{"orgId": c.org, "organizationId": c.org, "tenantId": c.org}), invalidBody(op))
			checkNoLeak(t, op.ID, a, "\x00")
			allowed := op.Access != api.Platform && (op.Permission == "" || role.May(op.Permission))
			if denied := a.status == 403; denied == allowed {
				t.Errorf("the %s calls %s: %d %.200s", role, op.ID, a.status, a.text)
			}
		}
	}
}

// invalidBody returns a body that no operation accepts.
func invalidBody(op *api.Operation) any {
	switch {
	case op.Form == api.Upload:
		return form{filename: "x.md", content: ""}
	case op.Method == http.MethodGet || op.Method == http.MethodDelete:
		return nil
	}
	return `{"unknown field": 1}`
}

// TestEveryScope checks that each scope alone allows exactly the operations that require it.
func TestEveryScope(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	for _, scope := range api.RoleOwner.Permissions() {
		key := owner.createKey(string(scope))
		for _, op := range api.Operations() {
			if op.Access == api.Public || op.Permission == "" {
				continue
			}
			// One operation per permission is enough, because all share the same check.
			if op.Permission != scope && !isFirstWithPermission(op) {
				continue
			}
			a := key.do(
				op.Method,
				fillPath(op, map[string]string{"orgId": key.org, "organizationId": key.org, "tenantId": key.org}),
				invalidBody(op),
			)
			checkNoLeak(t, op.ID, a, "\x00")
			allowed := op.Access != api.Platform && slices.Contains(api.ExpandScopes([]string{string(scope)}), op.Permission)
			if denied := a.status == 403; denied == allowed {
				t.Errorf("a key with %s calls %s: %d %.200s", scope, op.ID, a.status, a.text)
			}
		}
	}
}

// isFirstWithPermission reports whether op is the first operation with its permission and access.
func isFirstWithPermission(op *api.Operation) bool {
	for _, o := range api.Operations() {
		if o.Permission == op.Permission && o.Access == op.Access {
			return o == op
		}
	}
	return false
}

// TestMissingAndEndedCredentials checks that a missing or ended credential gives no access.
func TestMissingAndEndedCredentials(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	w := newTestServer(t, daemon.Options{Clock: func() time.Time { return now }})
	owner, key := w.createOrganization("Acme", "ada@acme.example")
	ended := time.Now().Add(1500 * time.Millisecond)
	expired := testCaller{
		w:   w,
		org: owner.org,
		bearer: owner.must(
			"POST",
			api.CreateAPIKey.Path,
			map[string]any{"name": "short", "scopes": []string{"*"}, "expires_at": ended},
		).str(
			"key",
		),
	}
	revoked := owner.createKey("*")
	mine := owner.must("GET", api.ListAPIKeys.Path, nil).body["data"].([]any)
	owner.must("DELETE", api.Prefix+"/api-keys/"+mine[len(mine)-1].(map[string]any)["id"].(string), nil)
	bob := owner.addMember("bob@acme.example", api.RoleAdmin)
	bobs := bob.createKey("*")
	me := bob.must("GET", api.GetMe.Path, nil).str("user", "id")
	status, _, body := operationFunc(t, w.local, "POST", api.Prefix+"/admin/users/"+me+"/ban", `{"reason": "left"}`, nil)
	if status != 200 {
		t.Fatalf("%d %v", status, body)
	}
	gone := owner.addMember("eve@acme.example", api.RoleAdmin)
	gonesKey := gone.createKey("*")
	owner.must("DELETE", api.Prefix+"/organizations/"+owner.org+"/members/"+gone.must("GET", api.GetMe.Path, nil).str("user", "id"), nil)
	signedOut := owner.addMember("dan@acme.example", api.RoleAdmin)
	signedOut.must("POST", api.SignOut.Path, nil)
	for expired.do("GET", assessments, nil).status != http.StatusUnauthorized {
		if time.Now().After(ended.Add(time.Minute)) {
			t.Fatal("the key does not expire")
		}
	}
	for name, c := range map[string]testCaller{
		"nothing":                   {w: w, org: owner.org},
		"an expired key":            expired,
		"a revoked key":             revoked,
		"a banned person's session": bob,
		"a banned person's key":     bobs,
		"a former member's key":     gonesKey,
		"an ended session":          signedOut,
		"a key cut short":           {w: w, org: owner.org, bearer: key.bearer[:40]},
		"somebody's guess":          {w: w, org: owner.org, cookie: strings.Repeat("0", 64)},
	} {
		for _, op := range api.Operations() {
			if op.Access == api.Public {
				continue
			}
			a := c.do(op.Method, fillPath(op, map[string]string{"orgId": c.org}), invalidBody(op))
			if a.status != 401 || a.code() != "UNAUTHORIZED" {
				t.Errorf("%s calls %s: %d %.200s", name, op.ID, a.status, a.text)
			}
		}
	}
	// A former member's session is valid for their own data, but not for the organization.
	for _, op := range api.Operations() {
		if op.Access == api.Tenant {
			if a := gone.do(op.Method, fillPath(op, map[string]string{"orgId": owner.org}), invalidBody(op)); a.status != 403 {
				t.Errorf("a former member calls %s: %d %.200s", op.ID, a.status, a.text)
			}
		}
	}
}

// bodyFieldNames returns the names of an operation's body fields, each surrounded by spaces.
func bodyFieldNames(op *api.Operation) string {
	body, ok := op.In.FieldByName("Body")
	if !ok {
		return ""
	}
	t := body.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := " "
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out += name + " "
	}
	return out
}

package daemon_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// TestChangesHonorIfMatch changes each kind of organization setting with its current ETag, and with an outdated
// one.
func TestChangesHonorIfMatch(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganizationWithOwner("Acme", map[string]any{"email": "ada@acme.example", "password": goodPassword})
	org := owner.org
	member := owner.addMember("ben@acme.example", api.RoleMember)
	var memberID string
	for _, m := range owner.must("GET", "/api/v1/organizations/"+org+"/members", nil).body["data"].([]any) {
		if m.(map[string]any)["email"] == "ben@acme.example" {
			memberID = m.(map[string]any)["id"].(string)
		}
	}
	create := func(path string, body any) string {
		a := owner.must("POST", path, body)
		if at := a.header.Get("Location"); at != "" {
			return at
		}
		t.Fatalf("%s has no Location: %s", path, a.text)
		return ""
	}
	framework := map[string]any{"code": "acme-1", "name": "Acme rules", "requirements": []any{map[string]any{"code": "1", "title": "Keys"}}}
	control := map[string]any{"code": "YARD-01", "title": "Keys", "description": "Keys are rotated.", "domain_name": "Yard"}
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"PATCH", create("/api/v1/organizations/"+org+"/webhooks", map[string]any{"url": "https://hooks.acme.example/in"}), object{"description": "x"}},
		{"PATCH", create(api.CreateIntegration.Path, object{
			"type": "generic", "name": "g", "config": object{"url": "https://hooks.acme.example/in"},
		}), object{"name": "h"}},
		{"PATCH", create(api.CreateAlert.Path, object{
			"name": "a", "metric": "service_requests_in_flight", "operator": "gt", "threshold": 1000, "channels": []string{"webhook"},
		}), object{"name": "b"}},
		{"PUT", create(api.CreateCustomFramework.Path, framework), framework},
		{"PUT", create(api.CreateCustomControl.Path, control), control},
		{"PUT", "/api/v1/tenants/" + org, object{"name": "Acme Ltd"}},
		{"PATCH", "/api/v1/organizations/" + org + "/members/" + memberID, object{"role": "viewer"}},
		{"PUT", "/api/v1/organizations/" + org + "/report-branding", object{"footer": "Acme"}},
		{"PUT", "/api/v1/email/templates/welcome", object{"subject": "Welcome", "text": "Hello"}},
		{"PUT", "/api/v1/email/preferences", object{"digest": false}},
		{"PATCH", create(api.CreateAssessment.Path, object{"name": "A"}), object{"name": "B"}},
	} {
		seen := `"0"`
		if read := owner.do("GET", c.path, nil); read.status == 200 {
			if seen = read.header.Get("ETag"); seen != fmt.Sprintf(`"%v"`, read.body["revision"]) {
				t.Errorf("%s: the ETag is %s, the revision %v", c.path, seen, read.body["revision"])
			}
		} else if c.method == "PUT" {
			t.Errorf("%s can't be read: %s", c.path, read.text)
		}
		changed := owner.do(c.method, c.path, c.body, "If-Match", seen)
		if changed.status != 200 || changed.header.Get("ETag") == seen || changed.header.Get("ETag") == "" {
			t.Errorf("%s: %d with the ETag %s after %s: %s", c.path, changed.status, changed.header.Get("ETag"), seen, changed.text)
		}
		if again := owner.do(c.method, c.path, c.body, "If-Match", seen); again.status != 400 || !strings.Contains(again.text, "If-Match") {
			t.Errorf("%s with a stale revision: %d %s", c.path, again.status, again.text)
		}
		last := owner.must(c.method, c.path, c.body, "If-Match", changed.header.Get("ETag")).header.Get("ETag")
		if strings.HasPrefix(c.path, "/api/v1/tenants/") || strings.HasSuffix(c.path, "/preferences") || strings.Contains(c.path, "/members/") {
			continue // can't be deleted, or is needed below
		}
		if stale := owner.do("DELETE", c.path, nil, "If-Match", seen); stale.status != 400 || !strings.Contains(stale.text, "If-Match") {
			t.Errorf("deleting %s with a stale revision: %d %s", c.path, stale.status, stale.text)
		}
		owner.must("DELETE", c.path, nil, "If-Match", last)
	}
	if a := member.do("PUT", "/api/v1/email/preferences", object{"digest": true}, "If-Match", `"0"`); a.status != 200 {
		t.Errorf("another person's preferences have another revision: %s", a.text)
	}
	if a := owner.do("DELETE", "/api/v1/organizations/"+org+"/members/"+memberID, nil, "If-Match", `"0"`); a.status != 400 {
		t.Errorf("a member is removed with a stale revision: %d %s", a.status, a.text)
	}
}

// TestUnknownSettingsAreRefused checks that unknown settings of an organization are rejected by name, like
// unknown fields.
func TestUnknownSettingsAreRefused(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	for _, c := range []struct {
		settings any
		field    string
	}{
		{object{"require_second_persn": true}, "settings.require_second_persn"},
		{object{"no_remote_model": "yes"}, "settings.no_remote_model"},
	} {
		a := owner.do("PUT", "/api/v1/tenants/"+owner.org, object{"settings": c.settings})
		if a.status != 400 || !strings.Contains(a.text, `"field":"`+c.field+`"`) {
			t.Errorf("%v: %d %s", c.settings, a.status, a.text)
		}
	}
}

// TestNarrowKeyOfPlatformAdmin checks that a platform admin's key has the permissions of a platform admin only
// if it has the scope for them, except for importing catalogs.
func TestNarrowKeyOfPlatformAdmin(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	w.createOrganization("Beta", "bea@beta.example")
	owner, first := w.createOrganizationWithOwner("Acme", map[string]any{
		"email": "ada@acme.example", "password": goodPassword, "platform_admin": true,
	})
	users, tenants := api.ListUsers.Path, api.ListTenants.Path
	for _, c := range []struct {
		name    string
		by      testCaller
		users   int
		imports int
	}{
		{"session", owner, 200, 200},
		{"*", first, 200, 200},
		{"member:read", owner.createKey("member:read"), 403, 403},
		{"scf:import", owner.createKey("scf:import"), 403, 200},
		{"both", owner.createKey("member:read", "platform:admin"), 200, 403},
	} {
		if a := c.by.do("GET", users, nil); a.status != c.users {
			t.Errorf("%s lists all users: %d %s", c.name, a.status, a.text)
		}
		if a := c.by.do("GET", api.ListImportRuns.Path, nil); a.status != c.imports {
			t.Errorf("%s lists imports: %d %s", c.name, a.status, a.text)
		}
	}
	for _, path := range []string{api.ListOrganizations.Path, tenants} {
		if a := owner.createKey("member:read").do("GET", path, nil); strings.Contains(a.text, "Beta") {
			t.Errorf("%s shows other organizations: %s", path, a.text)
		}
	}
	plain, _ := w.createOrganization("Gamma", "gus@gamma.example")
	if a := plain.do("POST", api.CreateAPIKey.Path, object{"name": "k", "scopes": []string{"platform:admin"}}); a.status != 403 {
		t.Errorf("a key with a scope that its creator lacks: %d %s", a.status, a.text)
	}
}

// TestSecretsAreNotCached checks that responses with secrets forbid caching, and that the operations with such
// responses are marked.
func TestSecretsAreNotCached(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	a := owner.must("POST", api.CreateAPIKey.Path, object{"name": "k", "scopes": []string{"scf:read"}}, "Idempotency-Key", "k")
	again := owner.must("POST", api.CreateAPIKey.Path, object{"name": "k", "scopes": []string{"scf:read"}}, "Idempotency-Key", "k")
	for _, r := range []reply{a, again} {
		if r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a secret may be cached: %v", r.header)
		}
	}
	for _, op := range api.Operations() {
		shown := false
		if op.Out.Kind() == reflect.Struct {
			for _, f := range reflect.VisibleFields(op.Out) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				shown = shown || slices.Contains([]string{"secret", "invite_token", "token", "owner_password"}, name) ||
					name == "key" && op.Tag != api.GetOrCreateSyncKey.Tag // sync keys are public
			}
		}
		if shown && !op.ReturnsSecret() {
			t.Errorf("%s returns a secret that caches may keep", op.ID)
		}
	}
}

// TestJSONIsCompressed checks that sufficiently long JSON is compressed for clients that accept compression.
func TestJSONIsCompressed(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	get := func(path, accepts string) *httptest.ResponseRecorder {
		req := httptest.NewRequest("GET", origin+path, nil)
		req.Header.Set("Authorization", "Bearer "+key.bearer)
		req.Header.Set(api.TenantHeader, key.org)
		req.Header.Set("Accept-Encoding", accepts)
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		return rec
	}
	plain, packed := get(api.ListControls.Path, "identity"), get(api.ListControls.Path, "gzip, deflate")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" ||
		packed.Body.Len()*2 > plain.Body.Len() || !strings.Contains(strings.Join(packed.Header().Values("Vary"), ","), "Accept-Encoding") {
		t.Fatalf("%d bytes %v, %d bytes %v", plain.Body.Len(), plain.Header(), packed.Body.Len(), packed.Header())
	}
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !json.Valid(text) || string(text) != plain.Body.String() {
		t.Errorf("%v: other content: %.200s", err, text)
	}
	if small := get(api.GetHealth.Path, "gzip"); small.Header().Get("Content-Encoding") != "" {
		t.Errorf("a small response is compressed: %v", small.Header())
	}
	if e := get(api.GetAssessment.Path, "gzip"); e.Code != http.StatusNotFound || e.Header().Get("Content-Encoding") != "" {
		t.Errorf("an error: %d %v", e.Code, e.Header())
	}
}

// TestDocumentNamesHeaders checks the headers that the OpenAPI document describes for each operation: the
// idempotency key of every POST, the location of a created record, and the ETag of a record.
func TestDocumentNamesHeaders(t *testing.T) {
	doc := parse(t, openAPI(t, newServer(t)))
	for _, op := range api.Operations() {
		one := doc.at("paths", op.Path, strings.ToLower(op.Method))
		if text := fmt.Sprint(one["parameters"]); op.Method == http.MethodPost && op.Access != api.Public && !strings.Contains(text, "IdempotencyKey") {
			t.Errorf("%s reads an idempotency key, but the document doesn't say so", op.ID)
		}
		said, _ := one["description"].(string)
		_, hasLocation := one.at("responses", fmt.Sprint(op.Status))["headers"].(map[string]any)["Location"]
		if op.Status == http.StatusCreated && hasLocation == strings.Contains(said, "no `Location`") {
			t.Errorf("%s: a Location: %t; %s", op.ID, hasLocation, said)
		}
		if op.Method == http.MethodPatch {
			if _, has := one.at("responses", "200")["headers"].(map[string]any)["ETag"]; !has {
				t.Errorf("%s has no ETag", op.ID)
			}
		}
	}
}

// TestRecordsHaveTimes checks that all records that operations return state when they were created and changed, except
// agents, which are part of the program, and audit events, which never change.
func TestRecordsHaveTimes(t *testing.T) {
	checked := 0
	for _, op := range api.Operations() {
		if op.Out.Kind() != reflect.Struct {
			continue
		}
		record := op.Out
		if data, isList := record.FieldByName("Data"); isList && data.Type.Kind() == reflect.Slice {
			record = data.Type.Elem()
		}
		if record.Kind() != reflect.Struct || record == reflect.TypeFor[api.Agent]() || record == reflect.TypeFor[api.AuditEvent]() {
			continue
		}
		names := map[string]bool{}
		for _, f := range reflect.VisibleFields(record) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names[name] = true
		}
		if !names["id"] {
			continue
		}
		if checked++; !names["created_at"] || !names["updated_at"] {
			t.Errorf("%s: %s has no created_at or updated_at", op.ID, record)
		}
	}
	if checked < 50 {
		t.Errorf("only %d operations with records", checked)
	}
}

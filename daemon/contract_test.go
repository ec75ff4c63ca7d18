package daemon_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// operationFunc sends a request to a handler and decodes the response.
func operationFunc(t *testing.T, h http.Handler, method, path, body string, header map[string]string) (int, http.Header, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	sharedValidator(t).validate(t, r, []byte(body), w)
	var out map[string]any
	if w.Body.Len() > 0 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s %s answers no JSON: %v\n%s", method, path, err, w.Body)
		}
	}
	return w.Code, w.Header(), out
}

// wantError checks that a response is an error envelope with the given code.
func wantError(t *testing.T, what string, status int, body map[string]any, want api.ErrorCode) {
	t.Helper()
	e, _ := body["error"].(map[string]any)
	if e == nil || e["code"] != string(want) || e["message"] == "" || e["trace_id"] == "" || e["trace_id"] == nil {
		t.Errorf("%s: %d %v, not %s", what, status, body, want)
		return
	}
	if _, list := e["details"].([]any); !list {
		t.Errorf("%s: details is %v, not a list", what, e["details"])
	}
}

// pathWithUnknownIDs returns an operation's path with IDs that do not exist.
func pathWithUnknownIDs(op *api.Operation) string {
	return parameter.ReplaceAllStringFunc(op.Path, func(p string) string {
		if p == "{versionNumber}" {
			return "1"
		}
		return "01890000-0000-7000-8000-000000000000"
	})
}

func localOrganization(t *testing.T, local http.Handler) string {
	t.Helper()
	_, _, body := operationFunc(t, local, "GET", api.ListMyOrganizations.Path, "", nil)
	return body["data"].([]any)[0].(map[string]any)["id"].(string)
}

// TestEveryOperationWithoutCredential checks that only public operations are available over the
// network without a credential.
func TestEveryOperationWithoutCredential(t *testing.T) {
	h := newServer(t).Handler()
	for _, op := range api.Operations() {
		if op.Access == api.Public {
			continue
		}
		status, _, body := operationFunc(
			t,
			h,
			op.Method,
			pathWithUnknownIDs(op),
			"{}",
			map[string]string{api.TenantHeader: "x", "X-Forwarded-User": "root"},
		)
		if status != http.StatusUnauthorized {
			t.Errorf("%s answers %d", op.ID, status)
		}
		wantError(t, op.ID, status, body, api.CodeUnauthorized)
	}
}

// TestEveryOperationRequiresTenantHeader checks that operations of an organization require the
// tenant header and accept only the caller's own organizations.
func TestEveryOperationRequiresTenantHeader(t *testing.T) {
	h := newServer(t).LocalHandler()
	for _, op := range api.Operations() {
		if op.Access != api.Tenant {
			continue
		}
		status, _, body := operationFunc(t, h, op.Method, pathWithUnknownIDs(op), "{}", nil)
		wantError(t, op.ID+" without a tenant", status, body, api.CodeTenantRequired)
		status, _, body = operationFunc(
			t,
			h,
			op.Method,
			pathWithUnknownIDs(op),
			"{}",
			map[string]string{api.TenantHeader: "01890000-0000-7000-8000-000000000001"},
		)
		wantError(t, op.ID+" with another's tenant", status, body, api.CodeForbidden)
	}
}

// TestEveryOperationWithInvalidInput checks that unknown IDs and meaningless bodies never cause an
// internal error.
func TestEveryOperationWithInvalidInput(t *testing.T) {
	h := newServer(t).LocalHandler()
	org := map[string]string{api.TenantHeader: localOrganization(t, h)}
	for _, op := range api.Operations() {
		for _, body := range []string{"", "{}", `{"nonsense": 1}`, "{", `[1,2]`, `"text"`, "null", "\x00\xff", strings.Repeat(`{"a":`, 2000)} {
			status, header, out := operationFunc(t, h, op.Method, pathWithUnknownIDs(op), body, org)
			if status >= 500 {
				t.Errorf("%s on %.20q answers %d %v", op.ID, body, status, out)
			}
			if header.Get(api.TraceHeader) == "" {
				t.Errorf("%s on %.20q has no trace id", op.ID, body)
			}
			if status >= 400 {
				e := out["error"].(map[string]any)
				if e["trace_id"] != header.Get(api.TraceHeader) {
					t.Errorf("%s: trace id %v in the error, %v in the header", op.ID, e["trace_id"], header.Get(api.TraceHeader))
				}
			}
		}
	}
}

func TestBadBodiesAreExplained(t *testing.T) {
	h := newServer(t).LocalHandler()
	org := map[string]string{api.TenantHeader: localOrganization(t, h)}
	path := api.CreateAssessment.Path
	for body, field := range map[string]string{
		`{"name": "x", "colour": "red"}`:        "colour",
		`{}`:                                    "name",
		`{"name": 7}`:                           "name",
		`{"name": ""}`:                          "name",
		`{"name": "x", "due_date": "tomorrow"}`: "due_date",
		`{"name": "x", "framework_id": "iso-27001-2023"}`:         "framework_id",
		`{"name": "` + strings.Repeat("x", 300) + `"}`:            "name",
		`{"name": "x", "framework_ids": ["nist-csf-2.0", "nix"]}`: "framework_id",
	} {
		status, _, out := operationFunc(t, h, "POST", path, body, org)
		wantError(t, body, status, out, api.CodeValidation)
		if status != http.StatusBadRequest {
			t.Errorf("%s answers %d", body, status)
		}
		details, _ := out["error"].(map[string]any)["details"].([]any)
		if len(details) == 0 || details[0].(map[string]any)["field"] != field {
			t.Errorf("%s: details %v do not name %s", body, details, field)
		}
	}
	status, _, out := operationFunc(t, h, "POST", path, `{"name": "`+strings.Repeat("x", 2<<20)+`"}`, org)
	wantError(t, "2 MiB", status, out, api.CodeValidation)
}

func TestUnknownRoutes(t *testing.T) {
	h := newServer(t).Handler()
	for _, r := range [][2]string{
		{"POST", "/"},
		{"GET", "/moon"},
		{"GET", "/api/v1/moon"},
		{"PUT", "/api/v1/assessments"},
		{"GET", "/api/v1/assessments/../health"},
	} {
		status, _, body := operationFunc(t, h, r[0], r[1], "", nil)
		wantError(t, r[0]+" "+r[1], status, body, api.CodeNotFound)
		if status != http.StatusNotFound {
			t.Errorf("%v answers %d", r, status)
		}
	}
}

func TestTraceIDs(t *testing.T) {
	h := newServer(t).Handler()
	_, header, body := operationFunc(t, h, "GET", api.GetHealth.Path, "", map[string]string{api.TraceHeader: "my-trace-7"})
	if header.Get(api.TraceHeader) != "my-trace-7" || body["trace_id"] != "my-trace-7" {
		t.Errorf("the caller's trace id became %q, %v", header.Get(api.TraceHeader), body)
	}
	for _, bad := range []string{"has blank", strings.Repeat("x", 129), "ünïcode"} {
		if _, header, _ := operationFunc(t, h, "GET", api.GetHealth.Path, "", map[string]string{api.TraceHeader: bad}); header.Get(
			api.TraceHeader,
		) == bad {
			t.Errorf("the trace id %q was taken", bad)
		}
	}
}

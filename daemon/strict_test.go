package daemon_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// exampleBody returns the example of an operation's JSON body in the OpenAPI document, or nil if it has none.
func exampleBody(doc node, op *api.Operation) map[string]any {
	media := doc.at("paths", op.Path, strings.ToLower(op.Method), "requestBody", "content", "application/json")
	body, _ := media["example"].(map[string]any)
	return body
}

// withField returns every variant of a body that has one more field, either at the top or in a nested object,
// by the path of that field. Objects in which callers choose the fields are left out.
func withField(body map[string]any, path, name string, free map[string]bool) map[string]map[string]any {
	out := map[string]map[string]any{}
	more := maps.Clone(body)
	more[name] = "red"
	out[path+name] = more
	for key, v := range body {
		inner, ok := v.(map[string]any)
		list, isList := v.([]any)
		if isList && len(list) > 0 {
			inner, ok = list[0].(map[string]any)
		}
		if !ok || free[key] {
			continue
		}
		for at, changed := range withField(inner, path+key+".", name, free) {
			outer := maps.Clone(body)
			outer[key] = changed
			if isList {
				outer[key] = []any{changed}
			}
			out[at] = outer
		}
	}
	return out
}

// pathOfOrganization returns an operation's path with the ID of an organization; other IDs do not exist.
func pathOfOrganization(op *api.Operation, org string) string {
	own := *op
	own.Path = strings.NewReplacer("{orgId}", org, "{organizationId}", org, "{tenantId}", org).Replace(op.Path)
	return pathWithUnknownIDs(&own)
}

// freeFields are the fields whose values are objects in which callers choose the fields: variables, settings,
// texts by name.
var freeFields = map[string]bool{
	"input": true, "proposals": true, "maturity": true, "requirements": true, "variables": true, "config": true, "secrets": true,
	"evidenceContext": true, "ropaContext": true, "settings": true, "payload": true, "traits": true, "source": true,
}

// TestEveryOperationRefusesUnknownFields sends each operation its example with one more field at each level,
// and with a field whose name is capitalized differently.
func TestEveryOperationRefusesUnknownFields(t *testing.T) {
	s := newServer(t)
	h, doc := s.LocalHandler(), parse(t, openAPI(t, s))
	org := map[string]string{api.TenantHeader: localOrganization(t, h)}
	tried := 0
	for _, op := range api.Operations() {
		body := exampleBody(doc, op)
		if body == nil {
			if op.Method != http.MethodGet && op.Form == api.JSON {
				body = map[string]any{}
			} else {
				continue
			}
		}
		variants := withField(body, "", "colour", freeFields)
		for name := range body {
			if upper := strings.ToUpper(name); upper != name {
				changed := maps.Clone(body)
				changed[upper] = changed[name]
				delete(changed, name)
				variants[upper] = changed
			}
		}
		for field, changed := range variants {
			tried++
			status, _, out := operationFunc(t, h, op.Method, pathOfOrganization(op, org[api.TenantHeader]), mustString(json.Marshal(changed)), org)
			name := field[strings.LastIndex(field, ".")+1:]
			if text := fmt.Sprint(out); status != http.StatusBadRequest || !strings.Contains(text, name) ||
				!strings.Contains(text, "unknown field") {
				t.Errorf("%s with the field %s answers %d %.300s", op.ID, field, status, text)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d fields were tried", tried)
	}
}

// TestEmptyValuesAreNotAbsent checks that the hash or ID in an optional field can't be empty. If empty were
// treated as absent, everything would be selected, or whatever is current.
func TestEmptyValuesAreNotAbsent(t *testing.T) {
	s := newServer(t)
	h, doc := s.LocalHandler(), parse(t, openAPI(t, s))
	org := map[string]string{api.TenantHeader: localOrganization(t, h)}
	refuses := func(op *api.Operation, body map[string]any, field string, empty any) {
		t.Helper()
		changed := maps.Clone(body)
		changed[field] = empty
		status, _, out := operationFunc(t, h, op.Method, pathWithUnknownIDs(op), mustString(json.Marshal(changed)), org)
		if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(out), field) {
			t.Errorf("%s with the %s %#v answers %d %v", op.ID, field, empty, status, out)
		}
	}
	var fields []string
	for _, op := range api.Operations() {
		in, ok := op.In.FieldByName("Body")
		if !ok {
			continue
		}
		body, record := exampleBody(doc, op), in.Type
		if record.Kind() == reflect.Pointer {
			record = record.Elem()
		}
		if record.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(record) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			isHash := strings.HasSuffix(name, "_sha256")
			if !isHash && !strings.HasSuffix(name, "_id") || strings.HasSuffix(f.Type.Name(), "]") {
				continue
			}
			fields = append(fields, op.ID+"."+name)
			refuses(op, body, name, "")
			if isHash {
				refuses(op, body, name, nil)
			}
		}
	}
	for _, f := range []string{
		"approve.content_sha256", "approve-soa.content_sha256", "reject.content_sha256", "create-delegation.assessment_id",
	} {
		if !slices.Contains(fields, f) {
			t.Errorf("%s was not tried: %v", f, fields)
		}
	}
	refuses(api.CreateDelegation.Operation, exampleBody(doc, api.CreateDelegation.Operation), "gates", []any{})
	refuses(api.CreateOrganization.Operation, exampleBody(doc, api.CreateOrganization.Operation), "api_key_scopes", []any{})
	for _, query := range []string{"/api/v1/kb/chunks?document_id=", api.ListDelegations.Path + "?assessment_id="} {
		status, _, out := operationFunc(t, h, "GET", query, "", org)
		wantError(t, query, status, out, api.CodeValidation)
	}
	update := pathWithUnknownIDs(api.UpdateAssessment.Operation)
	status, _, out := operationFunc(
		t,
		h,
		"PATCH",
		update,
		`{"name":"x"}`,
		map[string]string{api.TenantHeader: org[api.TenantHeader], "If-Match": ""},
	)
	wantError(t, "an empty If-Match", status, out, api.CodeValidation)
}

// TestEveryBodyNeedsAType checks that each operation or page that accepts a body rejects one without a content
// type, because browsers send such bodies to other sites without a preflight request.
func TestEveryBodyNeedsAType(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	send := func(method, path, kind string, chunked bool) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, origin+path, strings.NewReader(`{"name":"x"}`))
		if chunked {
			req.ContentLength = -1
		}
		if kind != "" {
			req.Header.Set("Content-Type", kind)
		}
		req.Header.Set("Authorization", "Bearer "+key.bearer)
		req.Header.Set(api.TenantHeader, key.org)
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		return rec
	}
	for _, op := range api.Operations() {
		for _, chunked := range []bool{false, true} {
			if rec := send(op.Method, pathWithUnknownIDs(op), "", chunked); rec.Code != http.StatusUnsupportedMediaType ||
				!strings.Contains(rec.Body.String(), "application/json") {
				t.Errorf("%s (chunked: %t) without a type: %d %s", op.ID, chunked, rec.Code, rec.Body)
			}
		}
		if op.Access == api.Public && op.Method == http.MethodPost {
			for _, kind := range []string{
				"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=X", "application/json,text/plain",
			} {
				if rec := send(op.Method, op.Path, kind, false); rec.Code != http.StatusUnsupportedMediaType {
					t.Errorf("%s with the type %s: %d %s", op.ID, kind, rec.Code, rec.Body)
				}
			}
		}
	}
	if rec := send("POST", "/unsubscribe?token=x", "", false); rec.Code != http.StatusUnsupportedMediaType {
		t.Errorf("the page to unsubscribe: %d %s", rec.Code, rec.Body)
	}
}

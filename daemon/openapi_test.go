package daemon_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// openAPI returns the OpenAPI document of a server.
func openAPI(t testing.TB, s *daemon.Server) []byte {
	t.Helper()
	b, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// loadOpenAPI parses the document with an independent library.
func loadOpenAPI(t testing.TB, b []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestOpenAPIIsValid validates the document as OpenAPI 3.1 with an independent validator.
func TestOpenAPIIsValid(t *testing.T) {
	doc := loadOpenAPI(t, openAPI(t, newServer(t)))
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("it is OpenAPI %s", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableMultiError()); err != nil {
		t.Error(err)
	}
}

// TestOpenAPIIsDeterministic checks that a build always serves the same bytes.
func TestOpenAPIIsDeterministic(t *testing.T) {
	if !bytes.Equal(openAPI(t, newServer(t)), openAPI(t, newServer(t))) {
		t.Error("two servers of one build describe themselves differently")
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	h := newServer(t).Handler()
	for path, kind := range map[string]string{daemon.OpenAPIPath: "application/json", daemon.OpenAPIYAMLPath: "application/yaml"} {
		status, header, _ := operationFunc(t, h, "GET", path, "", nil)
		if status != http.StatusOK || header.Get("Content-Type") != kind || header.Get("ETag") == "" {
			t.Errorf("%s answers %d %v", path, status, header)
		}
		if status, _, _ := operationFunc(
			t,
			h,
			"GET",
			path,
			"",
			map[string]string{"If-None-Match": header.Get("ETag")},
		); status != http.StatusNotModified {
			t.Errorf("%s answers %d to who has it", path, status)
		}
	}
}

// node is a JSON object in the document.
type node map[string]any

func (n node) at(keys ...string) node {
	for _, k := range keys {
		next, _ := n[k].(map[string]any)
		n = next
	}
	return n
}

// resolve returns the target of a reference, or n itself if it is none.
func (n node) resolve(root node) node {
	if ref, ok := n["$ref"].(string); ok {
		return root.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return n
}

func parse(t testing.TB, b []byte) node {
	t.Helper()
	var n node
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOpenAPIMatchesOperations checks that the document describes everything that the operations
// declare.
func TestOpenAPIMatchesOperations(t *testing.T) {
	doc := parse(t, openAPI(t, newServer(t)))
	tags := map[any]bool{}
	for _, tag := range doc["tags"].([]any) {
		tags[tag.(map[string]any)["name"]] = true
	}
	seen := 0
	for _, item := range doc.at("paths") {
		seen += len(item.(map[string]any))
	}
	if seen != len(api.Operations()) {
		t.Errorf("%d operations are described, %d declared", seen, len(api.Operations()))
	}
	for _, op := range api.Operations() {
		o := doc.at("paths", op.Path, strings.ToLower(op.Method))
		if o == nil {
			t.Errorf("%s is missing", op.ID)
			continue
		}
		if o["operationId"] != op.ID || o["summary"] != op.Summary || !tags[o["tags"].([]any)[0]] {
			t.Errorf("%s: %v, %v, under %v", op.ID, o["operationId"], o["summary"], o["tags"])
		}
		if words, _ := o["description"].(string); !strings.Contains(words, op.Description) || len(words) < 20 {
			t.Errorf("%s: description %q", op.ID, words)
		}
		security, _ := o["security"].([]any)
		if (op.Access == api.Public) != (len(security) == 0) || o["security"] == nil {
			t.Errorf("%s: security %v", op.ID, o["security"])
		}
		if got, _ := o["x-service-permission"].(string); got != string(op.Permission) || o["x-service-rate-category"] != string(op.Rate) {
			t.Errorf("%s: permission %v, rate %v", op.ID, o["x-service-permission"], o["x-service-rate-category"])
		}
		has := map[string]bool{}
		params, _ := o["parameters"].([]any)
		for _, p := range params {
			param := node(p.(map[string]any)).resolve(doc)
			name := param["name"].(string)
			if has[name] {
				t.Errorf("%s has the parameter %s twice", op.ID, name)
			}
			has[name] = true
		}
		if !has[api.TraceHeader] || op.Access == api.Tenant && !has[api.TenantHeader] ||
			op.Method == "POST" && op.Form == api.JSON && op.Access != api.Public && !has[api.IdempotencyHeader] {
			t.Errorf("%s: parameters %v", op.ID, has)
		}
		for _, p := range parameter.FindAllString(op.Path, -1) {
			if !has[strings.Trim(p, "{}")] {
				t.Errorf("%s does not describe %s", op.ID, p)
			}
		}
		if o.at("responses", "429").resolve(doc).at("headers")["Retry-After"] == nil || o.at("responses", "500") == nil {
			t.Errorf("%s does not describe 429 and 500", op.ID)
		}
	}
}

// newSchemaCompiler returns a compiler for the schemas of a document by their position:
// "openapi.json#/…".
func newSchemaCompiler(t testing.TB, doc []byte) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err == nil {
		err = c.AddResource("openapi.json", resource)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pointerEscaper escapes a name for a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// TestOpenAPIExamplesAreValid checks that every example matches its schema and is not a
// placeholder.
func TestOpenAPIExamplesAreValid(t *testing.T) {
	b := openAPI(t, newServer(t))
	doc, c := parse(t, b), newSchemaCompiler(t, b)
	check := func(what, schema string, example any) {
		s, err := c.Compile("openapi.json#" + schema)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if err := s.Validate(example); err != nil {
			t.Errorf("the example of %s does not fit: %v", what, err)
		}
		if text, _ := json.Marshal(example); bytes.Contains(text, []byte(`"string"`)) {
			t.Errorf("the example of %s says only that it is a string: %s", what, text)
		}
	}
	content := func(what, at string, n node, asked bool) {
		for kind, m := range n.at("content") {
			media := node(m.(map[string]any))
			where := at + "/content/" + pointerEscaper.Replace(kind) + "/schema"
			if media["example"] != nil {
				check(what, where, media["example"])
			}
			for name, e := range media.at("examples") {
				check(what+" "+name, where, e.(map[string]any)["value"])
			}
			if asked && media["example"] == nil && media["examples"] == nil {
				t.Errorf("%s has no example", what)
			}
		}
	}
	for _, op := range api.Operations() {
		at := "/paths/" + pointerEscaper.Replace(op.Path) + "/" + strings.ToLower(op.Method)
		o := doc.at("paths", op.Path, strings.ToLower(op.Method))
		content(op.ID+"'s request", at+"/requestBody", o.at("requestBody"), true)
		for status := range o.at("responses") {
			asked := strings.HasPrefix(status, "20") && op.Form != api.Download
			content(op.ID+"'s "+status, at+"/responses/"+status, o.at("responses", status), asked)
		}
		for i, p := range o["parameters"].([]any) {
			if param := p.(map[string]any); param["example"] != nil {
				check(op.ID+"'s "+param["name"].(string), at+"/parameters/"+strconv.Itoa(i)+"/schema", param["example"])
			}
		}
	}
	for name := range doc.at("components", "responses") {
		content(name, "/components/responses/"+name, doc.at("components", "responses", name), true)
	}
}

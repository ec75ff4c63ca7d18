package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/api"
)

// exchangeValidator validates requests and responses against the OpenAPI document and records the
// exercised operations.
type exchangeValidator struct {
	doc    *openapi3.T
	routes []route

	mu      sync.Mutex
	tree    node
	schemas *jsonschema.Compiler
	seen    map[string][]int // statuses by operation
}

type route struct {
	op   *api.Operation
	path *regexp.Regexp
}

// sharedValidator returns the validator for this build's document, which all servers share.
func sharedValidator(t *testing.T) *exchangeValidator {
	t.Helper()
	validatorOnce.Do(func() {
		b := openAPI(t, newServer(t))
		validator = &exchangeValidator{doc: loadOpenAPI(t, b), tree: parse(t, b), schemas: newSchemaCompiler(t, b), seen: map[string][]int{}}
		for _, op := range api.Operations() {
			path := "^" + parameter.ReplaceAllStringFunc(
				op.Path,
				func(p string) string { return "(?P<" + strings.Trim(p, "{}") + ">[^/]+)" },
			) + "$"
			validator.routes = append(validator.routes, route{op, regexp.MustCompile(path)})
		}
		// Literal paths take precedence over paths with parameters.
		slices.SortStableFunc(validator.routes, func(a, b route) int {
			return strings.Count(a.op.Path, "{") - strings.Count(b.op.Path, "{")
		})
	})
	if validator == nil {
		t.Fatal("there is no document to judge by")
	}
	return validator
}

var (
	validatorOnce sync.Once
	validator     *exchangeValidator
)

// route returns the route of a request with its parameters, or nil if there is none.
func (j *exchangeValidator) route(method, path string) (*route, map[string]string) {
	for i := range j.routes {
		r := &j.routes[i]
		values := r.path.FindStringSubmatch(path)
		if r.op.Method != method || values == nil {
			continue
		}
		params := map[string]string{}
		for n, name := range r.path.SubexpNames() {
			if name != "" {
				params[name] = values[n]
			}
		}
		return r, params
	}
	return nil, nil
}

// validateBody validates a body against the schema for its media type. place is the schema's position relative
// to the operation in the document.
func (j *exchangeValidator) validateBody(op *api.Operation, place string, header http.Header, body []byte) error {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return err
	}
	at := "/paths/" + pointerEscaper.Replace(op.Path) + "/" + strings.ToLower(op.Method) + "/" + place
	j.mu.Lock()
	defer j.mu.Unlock()
	if ref := j.tree.at("paths", op.Path, strings.ToLower(op.Method)).at(strings.Split(place, "/")...)["$ref"]; ref != nil {
		at = strings.TrimPrefix(ref.(string), "#")
	}
	schema, err := j.schemas.Compile("openapi.json#" + at + "/content/" + pointerEscaper.Replace(kind) + "/schema")
	if err != nil {
		return fmt.Errorf("a body of %s: %w", kind, err)
	}
	if !strings.HasSuffix(kind, "json") {
		return nil // the schema only states that the body is text or binary
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// validate validates a response and, if it is successful, also the request.
func (j *exchangeValidator) validate(t *testing.T, r *http.Request, body []byte, w *httptest.ResponseRecorder) {
	t.Helper()
	route, params := j.route(r.Method, r.URL.Path)
	if route == nil {
		return
	}
	op, res := route.op, w.Result()
	j.mu.Lock()
	j.seen[op.ID] = append(j.seen[op.ID], res.StatusCode)
	j.mu.Unlock()

	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	item := j.doc.Paths.Value(op.Path)
	asked := &openapi3filter.RequestValidationInput{
		Request: again, PathParams: params,
		Route: &routers.Route{Spec: j.doc, Path: op.Path, PathItem: item, Method: op.Method, Operation: item.GetOperation(op.Method)},
		// The local handler requires no credential, which the document does not describe.
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true, IncludeResponseStatus: true,
			SkipSettingDefaults: true, ExcludeRequestBody: true, ExcludeResponseBody: true,
		},
	} // bodies are validated below
	report := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: the %s (%d) is not as the document says: %v", op.ID, what, res.StatusCode, err)
		}
	}
	if res.StatusCode < 300 {
		report("request", openapi3filter.ValidateRequest(r.Context(), asked))
		if wanted := item.GetOperation(op.Method).RequestBody; wanted != nil && (len(body) > 0 || wanted.Value.Required) {
			report("request", j.validateBody(op, "requestBody", r.Header, body))
		}
	}
	switch {
	case res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified:
	case op.Form == api.Download && res.StatusCode < 300: // its media type can be anything, and this validator can't read it from */*
		// A streamed file has neither length nor hash.
		if (res.Header.Get("ETag") == "" && res.Header.Get("Content-Length") != "") || res.Header.Get("Content-Disposition") == "" ||
			res.Header.Get("Content-Type") == "" {
			t.Errorf("%s: a file with the headers %v", op.ID, res.Header)
		}
	default:
		report("answer", openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: asked,
			Status:                 res.StatusCode, Header: res.Header, Options: asked.Options,
		}))
		report("answer", j.validateBody(op, "responses/"+strconv.Itoa(res.StatusCode), res.Header, w.Body.Bytes()))
		var answer any
		if (op.Form == api.JSON || op.Form == api.Upload) && res.StatusCode < 300 && json.Unmarshal(w.Body.Bytes(), &answer) == nil {
			for _, name := range absentFields(answer, op.Out) {
				t.Errorf("%s: the answer has no %s", op.ID, name)
			}
		}
	}
	if res.Header.Get(api.TraceHeader) == "" {
		t.Errorf("%s: the answer has no %s", op.ID, api.TraceHeader)
	}
	if made := api.CollectionPath(reflect.New(op.Out).Interface()); res.StatusCode == http.StatusCreated && made != "" &&
		!strings.HasPrefix(res.Header.Get("Location"), made) {
		t.Errorf("%s: Location is %q", op.ID, res.Header.Get("Location"))
	}
}

// absentFields returns the names of the fields of type t that the JSON value v lacks.
func absentFields(v any, t reflect.Type) (absent []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if t.Kind() == reflect.Slice {
				absent = append(absent, absentFields(e, t.Elem())...)
			}
		}
	case map[string]any:
		if t.Kind() == reflect.Map {
			for _, e := range v {
				absent = append(absent, absentFields(e, t.Elem())...)
			}
		}
		if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
			return absent
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || !f.IsExported() || name == "-" {
				continue
			}
			if e, has := v[name]; has {
				absent = append(absent, absentFields(e, f.Type)...)
			} else {
				absent = append(absent, t.Name()+"."+name)
			}
		}
	}
	return absent
}

// validateExchanges returns a handler that validates every exchange with h.
func validateExchanges(t *testing.T, h http.Handler) http.Handler {
	j := sharedValidator(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		j.validate(t, r, body, rec)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

package daemon_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/errors"

	"github.com/scf-service/service/engine/api"
)

// judge holds the document against what goes over the wire. What it is told of
// counts as exercised.
type judge struct {
	v      validator.Validator
	routes []route

	mu   sync.Mutex
	seen map[string][]int // statuses by operation
}

type route struct {
	op   *api.Operation
	path *regexp.Regexp
}

// judgeOf is the judge by the document of this build; all servers of a build have the same.
func judgeOf(t *testing.T) *judge {
	t.Helper()
	judgeOnce.Do(func() {
		doc, err := libopenapi.NewDocument(openAPI(t, newServer(t)))
		if err != nil {
			t.Fatal(err)
		}
		// The local handler wants no credential, which the document doesn't tell.
		v, errs := validator.NewValidator(doc, config.WithoutSecurityValidation(), config.WithFormatAssertions())
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		onlyJudge = &judge{v: v, seen: map[string][]int{}}
		for _, op := range api.Operations() {
			path := "^" + parameter.ReplaceAllString(op.Path, `[^/]+`) + "$"
			onlyJudge.routes = append(onlyJudge.routes, route{op, regexp.MustCompile(path)})
		}
		// A path written out goes before one with a parameter in the same place.
		slices.SortStableFunc(onlyJudge.routes, func(a, b route) int {
			return strings.Count(a.op.Path, "{") - strings.Count(b.op.Path, "{")
		})
	})
	if onlyJudge == nil {
		t.Fatal("there is no document to judge by")
	}
	return onlyJudge
}

var (
	judgeOnce sync.Once
	onlyJudge *judge
)

// operation is the one that answers a request; nil where none does.
func (j *judge) operation(method, path string) *api.Operation {
	for _, r := range j.routes {
		if r.op.Method == method && r.path.MatchString(path) {
			return r.op
		}
	}
	return nil
}

// exchange judges an answer, and where it says that all is well also the request.
func (j *judge) exchange(t *testing.T, r *http.Request, body []byte, w *httptest.ResponseRecorder) {
	t.Helper()
	op := j.operation(r.Method, r.URL.Path)
	if op == nil {
		return
	}
	res := w.Result()
	j.mu.Lock()
	j.seen[op.ID] = append(j.seen[op.ID], res.StatusCode)
	j.mu.Unlock()

	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	report := func(what string, errs []*errors.ValidationError) {
		for _, e := range errs {
			t.Errorf("%s: the %s (%d) is not as the document says: %s: %s", op.ID, what, res.StatusCode, e.Message, e.Reason)
			for _, s := range e.SchemaValidationErrors {
				t.Errorf("  %s: %s", s.FieldPath, s.Reason)
			}
		}
	}
	if res.StatusCode < 300 {
		if ok, errs := j.v.ValidateHttpRequestSync(again); !ok {
			report("request", errs)
		}
	}
	switch {
	case res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified:
	case op.Form == api.Download && res.StatusCode < 300: // of any type, which this validator can't read from */*
		// What is written as it goes has no length yet, and no hash.
		if (res.Header.Get("ETag") == "" && res.Header.Get("Content-Length") != "") || res.Header.Get("Content-Disposition") == "" || res.Header.Get("Content-Type") == "" {
			t.Errorf("%s: a file with the headers %v", op.ID, res.Header)
		}
	default:
		res.Body = io.NopCloser(bytes.NewReader(w.Body.Bytes()))
		if ok, errs := j.v.ValidateHttpResponse(again, res); !ok {
			report("answer", errs)
		}
	}
	if res.Header.Get(api.TraceHeader) == "" {
		t.Errorf("%s: the answer has no %s", op.ID, api.TraceHeader)
	}
	if made := api.LocationOf(reflect.New(op.Out).Interface()); res.StatusCode == http.StatusCreated && made != "" && !strings.HasPrefix(res.Header.Get("Location"), made) {
		t.Errorf("%s: Location is %q", op.ID, res.Header.Get("Location"))
	}
}

// judged has every exchange with h judged.
func judged(t *testing.T, h http.Handler) http.Handler {
	j := judgeOf(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		j.exchange(t, r, body, rec)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

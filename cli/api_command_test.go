package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestEveryOperationCanBeCalledByItsID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.txt")
	put(t, file, "x")
	for _, op := range api.Operations() {
		var words []string
		for _, name := range inputFieldsFromType(op.In).path {
			words = append(words, name+"=a/b")
		}
		if op.Form == api.Upload {
			words = append(words, "file=@"+file)
		}
		req, err := requestFromArgs(t.Context(), op, words, nil)
		if err != nil {
			t.Errorf("%s: %v", op.ID, err)
			continue
		}
		if strings.Contains(req.path, "{") || strings.Contains(req.path, "a/b") {
			t.Errorf("%s has the path %s", op.ID, req.path)
		}
		if op.Form == api.Upload {
			if b, err := io.ReadAll(req.body); err != nil || !strings.Contains(string(b), `filename="f.txt"`) {
				t.Errorf("%s sends %q, %v", op.ID, b, err)
			}
		}
	}
}

func TestRawCallByID(t *testing.T) {
	w := newWorld(t)
	var body map[string]any
	var query string
	w.fake.on["POST /kb/search"] = func(rw http.ResponseWriter, r *http.Request) bool {
		_ = json.NewDecoder(r.Body).Decode(&body)
		query = r.Header.Get(api.IdempotencyHeader)
		write(rw, 200, map[string]any{"data": []any{}})
		return true
	}
	w.want(w.run("api", "search-kb", "query=12", "top_k:=3", "-H", "Idempotency-Key: 42"), 0, `"data": []`)
	if body["query"] != "12" || body["top_k"] != 3.0 || query != "42" {
		t.Errorf("sent %v, %q", body, query)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"api", "get-assessment"}, "needs assessmentId"},
		{[]string{"api", "get-assessment", "assessmentID=1"}, `did you mean "assessmentId"`},
		{[]string{"api", "search-kb", "top_k:=x"}, "is not JSON"},
		{[]string{"api", "search-kb", "query"}, "must have the form key=value"},
		{[]string{"api", "search-kb", "query=1", "-d", "{}"}, "not both"},
		{[]string{"api", "GET"}, "followed by a single path that begins with /"},
		{[]string{"api", "GET", "assessments"}, "begins with /"},
		{[]string{"api", "GET", "/x", "-H", "nothing"}, "must have the form 'NAME: VALUE'"},
		{[]string{"api", "upload-document", "assessmentId=1"}, "file=@path"},
		{[]string{"api", "POST", "/x", "--data", "{}"}, "-d or --body"},
	} {
		w.want(w.run(c.args...), 2, c.says)
	}
}

func TestRawCallByPath(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateDraft)
	w.want(w.run("api", "GET", "/assessments", "--jq", ".data[0].name"), 0, "Acme")
	w.want(w.run("api", "GET", "/api/v1/assessments", "-o", "yaml"), 0, "name: Acme")
	w.want(w.run("api", "POST", "/assessments", "-d", `{"name": "Two"}`), 0, `"name": "Two"`)
	w.stdin = `{"name": "Three"}`
	w.want(w.run("api", "POST", "/assessments", "-d", "-"), 0, `"name": "Three"`)
	// An error is printed as the server sent it and as a message on stderr; the exit code depends on the error
	// code.
	w.want(w.run("api", "GET", "/nope"), 3, `"code": "NOT_FOUND"`, "service: there is no route")
	w.fake.on["GET /file"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = rw.Write([]byte("%PDF"))
		return true
	}
	if got := w.run("api", "GET", "/file"); got.out != "%PDF" {
		t.Errorf("stdout got %q", got.out)
	}
	out := filepath.Join(t.TempDir(), "f.pdf")
	w.want(w.run("api", "GET", "/file", "--out", out), 0)
	if b, _ := os.ReadFile(out); string(b) != "%PDF" {
		t.Errorf("the file got %q", b)
	}
}

func TestAPIList(t *testing.T) {
	w := newWorld(t)
	var all []operationInfo
	if err := json.Unmarshal([]byte(w.run("api", "list", "-o", "json").out), &all); err != nil || len(all) != len(api.Operations()) {
		t.Errorf("%d of %d operations, %v", len(all), len(api.Operations()), err)
	}
	w.want(w.run("api", "list", "--query", "zzz"), 0, "No operations match")
}

func FuzzScopeFile(f *testing.F) {
	f.Add("title: Head office\ntraits:\n  has_ot: false\n")
	f.Add(`{"traits": {"uses_ai": {"value": "unknown"}}, "systems": ["a"]}`)
	f.Add("traits: [1]\n? [a]: b")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "scope.yaml")
		put(t, path, text)
		var body api.ScopeBody
		if _, err := (&app{}).readScopeFile(path, &body); err != nil && exitCode(err) != exitUsage {
			t.Fatalf("%q gave %v", text, err)
		}
	})
}

func FuzzQuote(f *testing.F) {
	f.Add("it's")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		q := shellQuote(s)
		if q == s && strings.ContainsAny(s, " $`\"'\\;|&<>()*?[]{}#~!\n\t") {
			t.Fatalf("%q is not quoted", s)
		}
		if q != s && strings.ReplaceAll(q[1:len(q)-1], `'\''`, "'") != s {
			t.Fatalf("%q is quoted as %s", s, q)
		}
	})
}

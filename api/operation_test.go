package api_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// TestTableHoldsTheInterface checks that every route in the API specification is in the table, with its method and
// path.
func TestTableHoldsTheInterface(t *testing.T) {
	b, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(strings.ReplaceAll(string(b), " /", "·/"))
	if len(want) != 161 {
		t.Fatalf("the checked-in list has %d routes, not the interface's 161", len(want))
	}
	have := map[string]bool{}
	for _, op := range api.Operations() {
		have[op.Method+"·"+op.Path] = true
	}
	for _, route := range want {
		if !have[route] {
			t.Errorf("no operation serves %s", strings.Replace(route, "·", " ", 1))
		}
	}
}

// TestOperationsAreComplete checks that each operation declares everything that code is derived from, and that IDs
// and routes are unique.
func TestOperationsAreComplete(t *testing.T) {
	ids, routes := map[string]bool{}, map[string]string{}
	known := api.AllPermissions()
	for _, op := range api.Operations() {
		route := op.Method + " " + parameter.ReplaceAllString(op.Path, "{}")
		if ids[op.ID] || routes[route] != "" {
			t.Errorf("%s %s is declared twice (%s)", op.ID, route, routes[route])
		}
		ids[op.ID], routes[route] = true, op.ID
		if op.Summary == "" || op.Tag == "" || op.Status < 200 || op.Status > 299 {
			t.Errorf("%s lacks a summary, a tag or a status", op.ID)
		}
		if api.RateLimits[op.Rate] == 0 {
			t.Errorf("%s has no rate limit: category %q", op.ID, op.Rate)
		}
		if op.Access == api.Tenant && op.Permission == "" {
			t.Errorf("%s acts in an organization and asks for no permission", op.ID)
		}
		if op.Permission != "" && !slices.Contains(known, op.Permission) {
			t.Errorf("%s asks for %s, which no role has", op.ID, op.Permission)
		}
		checkInput(t, op)
	}
}

// checkInput checks that the path's parameters are exactly the input's path fields.
func checkInput(t *testing.T, op *api.Operation) {
	t.Helper()
	var fields []string
	var walk func(reflect.Type)
	walk = func(in reflect.Type) {
		for i := range in.NumField() {
			f := in.Field(i)
			if f.Anonymous {
				walk(f.Type)
			}
			if name := f.Tag.Get("path"); name != "" {
				fields = append(fields, "{"+name+"}")
			}
		}
	}
	walk(op.In)
	want := parameter.FindAllString(op.Path, -1)
	slices.Sort(fields)
	slices.Sort(want)
	if !slices.Equal(fields, want) {
		t.Errorf("%s has the path parameters %v and the path fields %v", op.ID, want, fields)
	}
}

func TestRateCategories(t *testing.T) {
	for id, want := range map[string]api.RateCategory{
		"upload-document": api.RateDocuments, "search-kb": api.RateSearch, "start-agent-run": api.RateAgents, "render-report": api.RateRender,
		"list-scf-import-runs": api.RateAdmin, "list-assessments": api.RateDefault, "get-health": api.RateHealth, "sign-in": api.RateSignIn, "sign-out": api.RateDefault, "download-report": api.RateDefault,
	} {
		op, ok := api.OperationByID(id)
		if !ok || op.Rate != want {
			t.Errorf("%s is counted as %q, not %q", id, op.Rate, want)
		}
	}
}

// TestDescriptionsAreOfOperations checks that every description belongs to an operation.
func TestDescriptionsAreOfOperations(t *testing.T) {
	source, err := os.ReadFile("descriptions.go")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`(?m)^\t"([a-z-]+)":`).FindAllStringSubmatch(string(source), -1)
	for _, id := range ids {
		if op, ok := api.OperationByID(id[1]); !ok || op.Description == "" {
			t.Errorf("%s is described, but is no operation", id[1])
		}
	}
	if len(ids) < 50 {
		t.Errorf("only %d descriptions were found", len(ids))
	}
}

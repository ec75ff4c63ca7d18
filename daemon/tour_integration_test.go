package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
)

// issues imitates the part of GitHub's API that one plan item needs.
func (r *tour) issues() *httptest.Server {
	var mu sync.Mutex
	all := map[string]node{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var in node
		_ = json.NewDecoder(q.Body).Decode(&in)
		id := strings.TrimPrefix(q.URL.Path, "/repos/acme/ops/issues/")
		var out any = all[id]
		switch {
		case q.URL.Path == "/repos/acme/ops":
			out = node{"full_name": "acme/ops", "has_issues": true}
		case q.Method == "POST":
			n := len(all) + 1
			in["number"], in["state"] = n, "open"
			all[fmt.Sprint(n)], out = in, in
			w.WriteHeader(http.StatusCreated)
		case q.Method == "GET" && strings.HasSuffix(q.URL.Path, "/issues"):
			list := []node{}
			for _, one := range all {
				list = append(list, one)
			}
			out = list
		case q.Method == "PATCH":
			for k, v := range in {
				all[id][k] = v
			}
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	r.t.Cleanup(s.Close)
	return s
}

// integrations links the plan to issues, makes changes on both sides and resolves the differences.
func (r *tour) integrations() {
	s := r.issues()
	r.expectError(
		api.CreateIntegration.Operation,
		"",
		`{"type": "github", "name": "Tickets", "config": {"repo": "acme/ops"}, "secrets": {"token": "t"}}`,
		api.CodeValidation,
	)
	r.saveID(
		"integrationId",
		r.call(
			api.CreateIntegration.Operation,
			"",
			`{"type": "github", "name": "Tickets", "config": {"repository": "acme/ops", "url": "`+s.URL+`"}, "secrets": {"token": "a-token"}}`,
		),
	)
	r.call(api.ListIntegrations.Operation, "", "")
	r.call(api.GetIntegration.Operation, "", "")
	r.call(api.UpdateIntegration.Operation, "", `{"name": "Tickets of operations", "config": {"sync_minutes": 1440}}`)
	if got := r.call(api.TestIntegration.Operation, "", ""); got["ok"] != true {
		r.t.Errorf("the test of an integration: %v", got)
	}
	if got := r.call(api.SyncIntegration.Operation, "", ""); got["links"].(float64) == 0 {
		r.t.Errorf("no issue of an approved plan: %v", got)
	}
	item := r.path["poamItemId"]
	var link node
	for _, one := range r.call(api.ListIssueLinks.Operation, "?limit=200", "")["data"].([]any) {
		if one.(map[string]any)["poam_item_id"] == item {
			link = one.(map[string]any)
		}
	}
	if link == nil {
		r.t.Fatal("the item has no issue")
	}
	r.saveID("linkId", link)
	number := strings.TrimPrefix(link["issue_key"].(string), "#")
	r.call(api.UpdatePOAMItem.Operation, "", `{"due_date": "2031-01-31"}`)
	there, err := http.NewRequestWithContext(
		r.t.Context(),
		"PATCH",
		s.URL+"/repos/acme/ops/issues/"+number,
		strings.NewReader(`{"body": "**Due date:** 2031-03-31"}`),
	)
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(there)
	if err != nil {
		r.t.Fatal(err)
	}
	answer.Body.Close()
	if got := r.call(api.SyncIntegration.Operation, "", ""); got["conflicts"].(float64) != 1 {
		r.t.Errorf("both sides changed: %v", got)
	}
	if got := r.call(api.ResolveIssueLink.Operation, "", `{"keep": "plan"}`); got["status"] != "linked" {
		r.t.Errorf("the plan holds: %v", got)
	}
	r.expectError(api.ResolveIssueLink.Operation, "", `{"keep": "issue"}`, api.CodeInvalidState)
	r.call(api.ListIntegrationDeliveries.Operation, "", "")
	r.call(api.GetSecretKey.Operation, "", "")
	r.call(api.RotateSecretKey.Operation, "", `{}`)
}

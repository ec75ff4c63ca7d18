package daemon_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestCreatedGapIsReadableAtLocation checks that a created gap can be read at the address in
// Location.
func TestCreatedGapIsReadableAtLocation(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	made := g.owner.must("POST", g.path(api.CreateGap.Path), object{"control_id": "PES-01", "status": "planned", "severity": "low"})
	at := made.header.Get("Location")
	if made.status != http.StatusCreated || at == "" {
		t.Fatalf("%d at %q", made.status, at)
	}
	read := g.owner.must("GET", at, nil)
	if read.str("id") != made.str("id") || read.str("control_code") != "PES-01" {
		t.Error(read.text)
	}
	if a := g.owner.do("GET", api.Prefix+"/soa/items/"+made.str("id"), nil); a.status != http.StatusNotFound {
		t.Error(a.text)
	}
}

// TestEmptyPlanItemListsAreNotNull checks that empty lists are returned as [], not null.
func TestEmptyPlanItemListsAreNotNull(t *testing.T) {
	g, items := newPlan(t, "IAC-06")
	g.ids["poamItemId"] = items[0].(object)["id"].(string)
	i := g.owner.must("GET", g.path(api.GetPOAMItem.Path), nil).body
	m := i["milestones"].([]any)[0].(object)
	for of, list := range map[string]any{"also_closes": i["also_closes"], "due_changes": i["due_changes"], "changes": m["changes"]} {
		if all, is := list.([]any); !is || len(all) != 0 {
			t.Errorf("%s is %v", of, list)
		}
	}
}

// TestPartialMilestoneUpdate checks that an update of a milestone needs only the changed fields,
// and that its author and time are recorded.
func TestPartialMilestoneUpdate(t *testing.T) {
	g, items := newPlan(t, "IAC-06")
	g.ids["poamItemId"] = items[0].(object)["id"].(string)
	a := g.owner.do(
		"PATCH",
		g.path(api.UpdatePOAMItem.Path),
		object{
			"milestones": []any{object{"title": "Bought", "due_date": "2099-01-15", "changes": []any{object{"due_date": "2099-02-15"}}}},
		},
	)
	if a.status != http.StatusOK {
		t.Fatal(a.text)
	}
	m := a.body["milestones"].([]any)[0].(object)
	change := m["changes"].([]any)[0].(object)
	if m["status"] != "open" || change["at"] == "" || change["by"] == "" || change["due_date"] != "2099-02-15" {
		t.Errorf("%v", m)
	}
	// Reopening an item restores the status of its milestones.
	set := func(status string) object {
		return g.owner.must("PATCH", g.path(api.UpdatePOAMItem.Path), object{"status": status}).body["milestones"].([]any)[0].(object)
	}
	m["status"] = "in_progress"
	g.owner.must("PATCH", g.path(api.UpdatePOAMItem.Path), object{"milestones": []any{m}})
	if done, open := set("completed"), set("in_progress"); done["status"] != "completed" || open["status"] != "in_progress" ||
		open["completed_at"] != nil {
		t.Errorf("completed: %v, then %v", done, open)
	}
}

// TestTraitsRoundTrip checks that traits can be sent as they were read, or as bare values;
// unchanged ones are not recorded as edited.
func TestTraitsRoundTrip(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	made := g.owner.must("POST", g.path(api.PutScope.Path), object{})
	if made.str("title") == "" {
		t.Error("a scope without a title")
	}
	g.ids["scopeId"] = made.str("id")
	patch := func(traits any) reply {
		return g.owner.do("PATCH", g.path(api.UpdateScope.Path), object{"traits": traits})
	}
	for _, as := range []any{
		true,
		"true",
		object{"value": "true"},
		object{"value": true, "source": "user", "reason": "r", "evidence": []any{}},
	} {
		a := patch(object{"has_ot": as})
		if a.status != http.StatusOK || a.str("traits", "has_ot", "value") != "true" || a.str("traits", "has_ot", "source") != "user" {
			t.Errorf("%v: %d %s", as, a.status, a.text)
		}
		patch(object{"has_ot": nil})
	}
	was := g.owner.must("GET", g.path(api.GetScope.Path), nil)
	again := patch(was.body["traits"])
	if again.status != http.StatusOK || again.body["revision"] != was.body["revision"] {
		t.Errorf("%d %s", again.status, again.text)
	}
	for _, wrong := range []any{"maybe", 1, object{}, object{"value": "on"}, []any{true}} {
		if a := patch(object{"has_ot": wrong}); a.status != http.StatusBadRequest || !strings.Contains(a.text, "traits") {
			t.Errorf("%v: %d %s", wrong, a.status, a.text)
		}
	}
}

// TestErrorsNameValidValues checks that errors name the valid values.
func TestErrorsNameValidValues(t *testing.T) {
	g, items := newPlan(t, "IAC-06")
	g.ids["poamItemId"] = items[0].(object)["id"].(string)
	g.ids["findingId"] = g.firstRecord(api.ListGaps.Path)["id"].(string)
	for want, a := range map[string]reply{
		"template: this field is required: one of client, executive_summary, full": g.owner.do(
			"POST",
			g.path(api.CreateReport.Path),
			object{"format": "md"},
		),
		"severity: this field can't be changed by this operation; fields that can be changed: comments,": g.owner.do(
			"PATCH",
			g.path(api.UpdatePOAMItem.Path),
			object{"severity": "low"},
		),
		"colour: unknown field":                   g.owner.do("PATCH", g.path(api.UpdatePOAMItem.Path), object{"colour": "red"}),
		"severity: given 2 times; give one value": g.owner.do("GET", g.path(api.ListGaps.Path)+"?severity=high&severity=low", nil),
		"a gap can't have the status not_assessed; if there is too little evidence to judge, use not_evidenced": g.owner.do(
			"PATCH",
			g.path(api.UpdateFinding.Path),
			object{"status": "not_assessed"},
		),
	} {
		if a.status != http.StatusBadRequest || !strings.Contains(a.text, want) {
			t.Errorf("%q: %d %s", want, a.status, a.text)
		}
	}
	if a := g.owner.do("POST", g.path(api.GenerateReport.Path), object{}); a.status != http.StatusCreated || a.str("format") != "html" ||
		a.str("template") != "full" {
		t.Error(a.text)
	}
}

// TestDecisionAcceptsCommentOrReason checks that a decision accepts its text as comment or reason.
func TestDecisionAcceptsCommentOrReason(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	v := g.firstRecord(api.ListPOAM.Path)
	g.ids["poamVersionId"] = v["id"].(string)
	g.ids["approvalId"] = g.owner.must("POST", g.path(api.SubmitPOAM.Path), nil).str("approval_id")
	a := g.owner.do("POST", g.path(api.Approve.Path), object{"reason": "Agreed with the board"})
	if a.status != http.StatusOK || a.str("reason") != "Agreed with the board" || a.body["void"] != false {
		t.Errorf("%d %s", a.status, a.text)
	}
	if list, is := a.body["warnings"].([]any); !is || len(list) == 0 {
		t.Errorf("it was decided on before its basis, and nothing says so: %s", a.text)
	}
}

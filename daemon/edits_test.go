package daemon_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// TestBlankReasonsAreRejected checks that a reason of white space or invisible characters counts as
// empty.
func TestBlankReasonsAreRejected(t *testing.T) {
	g := newGateFixture(t)
	for _, reason := range []string{"  \n ", "\u200b", "\u2800 \u3164"} {
		if a := g.owner.do("POST", g.path(api.RejectApproval.Path), map[string]any{"reason": reason}); a.status != 400 ||
			!strings.Contains(a.text, "give a reason for the rejection") {
			t.Errorf("%q: %d %s", reason, a.status, a.text)
		}
		edit := map[string]any{"applicability": "out_of_scope", "rationale": reason}
		if a := g.owner.do("PATCH", g.path(api.UpdateSoAItem.Path), edit); a.status != 400 || !strings.Contains(a.text, "state why") {
			t.Errorf("%q: %d %s", reason, a.status, a.text)
		}
		if a := g.owner.do("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": reason}); a.status != 400 {
			t.Errorf("an owner %q: %d %s", reason, a.status, a.text)
		}
	}
	g.owner.must("POST", g.path(api.RejectApproval.Path), map[string]any{"reason": "服务器"})
}

// newPlan returns an assessment with a plan for gaps added for the codes.
func newPlan(t *testing.T, codes ...string) (*gateFixture, []any) {
	g := &gateFixture{w: newTestServer(t, daemon.Options{}), ids: map[string]string{}}
	g.owner, g.key = g.w.createOrganization("Plan", "plan@example.com")
	g.ids["assessmentId"] = g.owner.must(
		"POST",
		api.CreateAssessment.Path,
		map[string]any{"name": "Plan", "framework_id": "lgpd"},
	).str(
		"id",
	)
	for _, c := range codes {
		g.owner.must("POST", g.path(api.CreateGap.Path), map[string]any{"control_id": c, "status": "not_implemented", "severity": "high"})
	}
	g.ids["poamVersionId"] = g.owner.must("POST", g.path(api.DraftPOAM.Path), nil).str("id")
	items := g.owner.must("GET", g.path(api.ListPOAMItems.Path), nil).body["data"].([]any)
	g.ids["poamItemId"] = items[0].(map[string]any)["id"].(string)
	return g, items
}

type object = map[string]any

func TestInconsistentPlansAreRejected(t *testing.T) {
	g, items := newPlan(t, "IAC-06")
	edit := func(body any) reply { return g.owner.do("PATCH", g.path(api.UpdatePOAMItem.Path), body) }
	step := func(day string, more ...any) object {
		return object{"milestones": append(more, object{"title": "Ordered", "due_date": day, "status": "open"})}
	}
	one := step("2099-01-15")["milestones"].([]any)[0]
	for want, body := range map[string]object{
		"describe the work to be done":                    {"corrective_action": " \u200b"},
		"only an accepted risk has an end date":           {"risk_accepted_until": "2099-03-31"},
		"is more than 100 years in the future":            {"status": "risk_accepted", "risk_accepted_until": "9999-12-31"},
		"9998-12-31 is more than 100 years in the future": {"due_date": "9998-12-31"},
		"2001-01-01 is in the past":                       step("2001-01-01"),
		"9997-12-31 is more than 100":                     step("9997-12-31"),
		"is listed 3 times for 2099-01-15":                step("2099-01-15", one, one),
		"9996-12-31 is more than 100 years in the future": {"milestones": []any{object{
			"title":    "x",
			"due_date": "2099-01-15",
			"status":   "open",
			"changes":  []any{object{"at": "", "by": "", "reason": "y", "due_date": "9996-12-31"}},
		}}},
		"2001-02-01 is earlier than the date of the decision": {"milestones": []any{object{
			"title":    "x",
			"due_date": "2099-01-15",
			"status":   "open",
			"changes":  []any{object{"at": "", "by": "", "reason": "y", "due_date": "2001-02-01"}},
		}}},
		"the maximum is 20000": {"vendor_dependency": strings.Repeat("x", 900_000)},
	} {
		if a := edit(body); a.status != 400 || !strings.Contains(a.text, want) {
			t.Errorf("%.200v: %d %s, want %q", body, a.status, a.text, want)
		}
	}
	// Existing dates stay valid, and completed work may have been done in the past.
	was := items[0].(object)["milestones"].([]any)
	done := object{"title": "Asked for", "due_date": "2025-01-15", "status": "completed"}
	if a := edit(object{"milestones": append(was, done, one), "due_date": "2099-03-31"}); a.status != 200 {
		t.Error(a.text)
	}
}

// TestDuplicateGapsAreRejected checks that an identical gap is added only once; another gap of the
// same control must differ.
func TestDuplicateGapsAreRejected(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	one := object{"control_id": "IAC-06", "status": "not_implemented", "severity": "high"}
	one["condition"] = "The VPN of the works asks for a password only."
	g.owner.must("POST", g.path(api.CreateGap.Path), one)
	if a := g.owner.do("POST", g.path(api.CreateGap.Path), one); a.status != 400 || !strings.Contains(a.text, "already exists as") {
		t.Errorf("%d %s", a.status, a.text)
	}
	one["owner"] = "The works"
	g.owner.must("POST", g.path(api.CreateGap.Path), one)
}

// TestUnchangedScopeStaysApproved checks that an update that changes nothing keeps the approval.
func TestUnchangedScopeStaysApproved(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	put := func(body any) reply { return g.owner.do("POST", g.path(api.PutScope.Path), body) }
	made := put(object{"title": "Head office", "systems": []string{"ERP"}, "traits": object{"has_ot": false}})
	if g.ids["scopeId"] = made.str("id"); made.status != 201 || made.header.Get("Location") != g.path(api.GetScope.Path) {
		t.Errorf("made with %d at %s", made.status, made.header.Get("Location"))
	}
	g.owner.must("POST", g.path(api.SubmitScope.Path), nil)
	approved := g.owner.must("POST", g.path(api.ApproveScope.Path), nil)
	for _, body := range []object{
		{},
		{"title": "Head office"},
		{"systems": []string{"ERP"}},
		{"locations": []string{}},
		{"traits": object{"has_ot": false}},
	} {
		for _, a := range []reply{put(body), g.owner.do("PATCH", g.path(api.UpdateScope.Path), body)} {
			if a.status != 200 || a.str("status") != "approved" || a.body["revision"] != approved.body["revision"] ||
				a.str("approved_by") == "" {
				t.Errorf("%v: %d %s", body, a.status, a.text)
			}
		}
	}
	for want, body := range map[string]object{
		"a scope needs a title":                                               {"title": " "},
		"title: names must be a single line":                                  {"title": "a\u001bb"},
		"blank entries are not allowed":                                       {"systems": []string{"ERP", "\u200b"}},
		"an entry must not contain control characters other than line breaks": {"exclusions": []string{"a\u202eb"}},
		"the list has 100000 entries": {"locations": strings.Split(
			strings.Repeat("x ", 99_999)+"x",
			" ",
		)},
		"a description must not contain control characters": {"description": "a\u001bb"},
		"an entry can have up to 2000":                      {"processes": []string{strings.Repeat("x", 2001)}},
	} {
		if a := put(body); a.status != 400 || !strings.Contains(a.text, want) {
			t.Errorf("%.100v: %d %.200s, want %q", body, a.status, a.text, want)
		}
	}
	if a := put(object{"systems": []string{"CRM"}, "description": "First line.\nSecond line."}); a.str("status") != "draft" ||
		a.body["version_number"] != 2.0 {
		t.Error(a.text)
	}
}

// TestNullAndUnknownFields checks that null and unknown fields in an update are rejected, not
// ignored.
func TestNullAndUnknownFields(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	g.ids["findingId"] = g.firstRecord(api.ListGaps.Path)["id"].(string)
	g.ids["gapVersionId"] = g.firstRecord(api.ListGap.Path)["id"].(string)
	g.ids["scopeId"] = g.owner.must("POST", g.path(api.PutScope.Path), object{"title": "x", "traits": object{"has_ot": nil}}).str("id")
	for _, c := range []struct {
		method, path string
		body         object
	}{
		{"PATCH", api.UpdatePOAMItem.Path, object{"due_date": nil}},
		{"PATCH", api.UpdateFinding.Path, object{"condition": nil}},
		{"PATCH", api.UpdateScope.Path, object{"title": nil}},
		{"POST", api.PutScope.Path, object{"systems": nil}},
		{"PATCH", api.UpdateMaturityScore.Path, object{"level": nil}},
	} {
		if a := g.owner.do(c.method, g.path(c.path), c.body); a.status != 400 || !strings.Contains(a.text, "can't be null") {
			t.Errorf("%s %v: %d %s", c.path, c.body, a.status, a.text)
		}
	}
	if a := g.owner.do("PATCH", g.path(api.UpdatePOAMItem.Path), object{"owner": nil}); a.status != 200 {
		t.Error(a.text)
	}
	again := g.path(api.SubmitGap.Path)
	if a := g.owner.do("POST", again, object{"foo": 1}); a.status != 400 || !strings.Contains(a.text, "unknown field") ||
		!strings.Contains(a.text, "foo") {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := g.owner.do("POST", again, "[1]"); a.status != 400 {
		t.Errorf("%d %s", a.status, a.text)
	}
	g.owner.must("POST", again, object{})
}

// TestGapControlCodes checks that a gap's code must be in the catalog or have the form of a code.
func TestGapControlCodes(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	add := func(code string) reply {
		return g.owner.do("POST", g.path(api.CreateGap.Path), object{"control_id": code, "status": "not_implemented", "severity": "high"})
	}
	for _, code := range []string{
		"=CMD|CALC",
		"<script>x</script>",
		"../../etc/passwd",
		"A\u001bB",
		"A\nB",
		" ",
		"\u200b",
		"-1",
		"A B",
		strings.Repeat("A", 65),
	} {
		if a := add(code); a.status != 400 {
			t.Errorf("%q: %d %s", code, a.status, a.text)
		}
	}
	for _, code := range []string{"SITE-1", "site_2.b", " gov-01 ", "Außen-1"} {
		if a := add(code); a.status != 201 {
			t.Errorf("%q: %d %s", code, a.status, a.text)
		}
	}
	// A manually closed gap is removed from the plan.
	closed := add("SITE-9").str("id")
	g.owner.must("PATCH", strings.Replace(api.UpdateFinding.Path, "{findingId}", closed, 1), object{"status": "implemented"})
	g.ids["poamVersionId"] = g.owner.must("POST", g.path(api.DraftPOAM.Path), nil).str("id")
	if l := g.owner.must("GET", g.path(api.ListPOAMItems.Path)+"?control_code=SITE-9", nil); len(l.body["data"].([]any)) > 0 {
		t.Error(l.text)
	}
}

// TestIntegerNotations checks that 3.0 and 1e1 are integers, as in JSON Schema, and that an error
// for other values names the field.
func TestIntegerNotations(t *testing.T) {
	g, _ := newPlan(t, "IAC-06")
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"priority":2.0}`:   {200, `"priority":2`},
		`{"priority":1e1}`:   {200, `"priority":10`},
		`{"priority":2.5}`:   {400, `priority`},
		`{"priority":1e30}`:  {400, `"field":"priority"`},
		`{"priority":"two"}`: {400, `"field":"priority"`},
	} {
		a := g.owner.do("PATCH", g.path(api.UpdatePOAMItem.Path), json.RawMessage(body))
		if a.status != want.status || !strings.Contains(a.text, want.text) || strings.Contains(a.text, "Go struct") {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
	}
}

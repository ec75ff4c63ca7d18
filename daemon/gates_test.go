package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

// gateFixture is an organization with an assessment whose SoA is pending approval.
type gateFixture struct {
	w          *testServer
	owner, key testCaller
	ids        map[string]string
}

func newGateFixture(t *testing.T) *gateFixture {
	g := &gateFixture{w: newTestServer(t, daemon.Options{}), ids: map[string]string{}}
	g.owner, _ = g.w.createOrganization("Gate", "gate@example.com")
	made := g.owner.must("POST", api.CreateAPIKey.Path, map[string]any{"name": "all but", "scopes": []string{"*"}})
	g.key = testCaller{w: g.w, bearer: made.str("key"), org: g.owner.org}
	a := g.owner.must("POST", api.CreateAssessment.Path, map[string]any{"name": "Gate", "framework_id": "lgpd"})
	g.ids["assessmentId"] = a.str("id")
	d := g.owner.must(
		"POST",
		strings.Replace(api.UploadDocument.Path, "{assessmentId}", a.str("id"), 1),
		form{filename: "policy.md", content: "# Policy\n\nPersonal data is processed on a legal basis.\n"},
	)
	g.ids["documentId"] = d.str("id")
	for _, s := range api.States()[1:] {
		g.owner.must("POST", g.path(api.Transition.Path), map[string]any{"target_state": s})
		if s == api.StateSoAUnderReview {
			break
		}
	}
	v := g.firstRecord(api.ListSoA.Path)
	g.ids["soaVersionId"] = v["id"].(string)
	g.ids["soaItemId"] = g.firstRecord(api.ListSoAItems.Path)["id"].(string)
	g.ids["approvalId"] = g.firstRecord(api.ListApprovals.Path)["id"].(string)
	g.ids["scopeId"] = g.owner.must("GET", g.path(api.GetAssessmentScope.Path), nil).str("id")
	g.ids["artifactId"] = g.firstRecord(api.ListArtifacts.Path)["id"].(string)
	g.ids["orgId"], g.ids["organizationId"], g.ids["versionNumber"] = g.owner.org, g.owner.org, "1"
	g.ids["workflowRunId"] = g.owner.must("POST", g.path(api.StartLifecycle.Path), nil).str("id")
	return g
}

func (g *gateFixture) firstRecord(path string) map[string]any {
	return g.owner.must("GET", g.path(path), nil).body["data"].([]any)[0].(map[string]any)
}

func (g *gateFixture) path(p string) string {
	return parameter.ReplaceAllStringFunc(p, func(name string) string {
		if id := g.ids[strings.Trim(name, "{}")]; id != "" {
			return id
		}
		return "01890000-0000-7000-8000-000000000000"
	})
}

// checkNotPassed fails the test if anything is approved or the assessment has passed the gate.
func (g *gateFixture) checkNotPassed(t *testing.T, what any) {
	t.Helper()
	st := g.owner.must("GET", g.path(api.GetAssessmentStatus.Path), nil)
	if api.State(st.str("state")).HasReached(api.StateSoAApproved) {
		t.Fatalf("after %v the assessment is %s", what, st.str("state"))
	}
	for _, p := range g.owner.must("GET", g.path(api.ListApprovals.Path), nil).body["data"].([]any) {
		if p.(map[string]any)["status"] == "approved" {
			t.Fatalf("after %v an approval is given: %v", what, p)
		}
	}
	for _, v := range g.owner.must("GET", g.path(api.ListSoA.Path), nil).body["data"].([]any) {
		if v.(map[string]any)["status"] == "approved" {
			t.Fatalf("after %v a version is approved: %v", what, v)
		}
	}
}

// gateBodies are request bodies that could pass a gate.
var gateBodies = []any{
	nil,
	map[string]any{},
	map[string]any{"comment": "fine"},
	map[string]any{"reason": "fine"},
	map[string]any{"target_state": "soa_approved"},
	map[string]any{"target_state": "soa_ingested"},
	map[string]any{"workflow_type": "full_assessment"},
	map[string]any{"workflow_type": "gap_refresh"},
	map[string]any{"name": "approved", "payload": map[string]any{"approved": true}},
	map[string]any{"status": "approved"},
	map[string]any{"agent_id": "scope-soa-architect"},
	map[string]any{"name": "mine", "scopes": []string{"approval:decide"}},
	map[string]any{"owner": "Zoë"},
}

// excludedOperations lists the operations that would remove what the test depends on.
var excludedOperations = map[string]bool{
	api.DeleteAssessment.ID: true,
	api.RevokeAPIKey.ID:     true,
	api.RemoveMember.ID:     true,
	api.UpdateTenant.ID:     true,
	api.SignOut.ID:          true,
}

// TestGatesCannotBeBypassed checks that nobody passes a gate without approval:decide: every
// operation, every body, and random sequences of them, with a key that has all other scopes, while
// a workflow runs.
func TestGatesCannotBeBypassed(t *testing.T) {
	g := newGateFixture(t)
	var ops []*api.Operation
	for _, op := range api.Operations() {
		if op.Method != http.MethodGet && op.Form == api.JSON && op.Access == api.Tenant && !excludedOperations[op.ID] {
			ops = append(ops, op)
		}
	}
	for _, op := range ops {
		for _, body := range gateBodies {
			if op.ID == api.CreateAssessment.ID {
				continue // the body would act on another assessment
			}
			a := g.key.do(op.Method, g.path(op.Path), body)
			if op.Permission == api.ApprovalDecide && a.status != http.StatusForbidden {
				t.Errorf("%s by a key without approval:decide answers %d %s", op.ID, a.status, a.text)
			}
			if a.status >= 500 {
				t.Errorf("%s with %v answers %d %s", op.ID, body, a.status, a.text)
			}
		}
		g.checkNotPassed(t, op.ID)
	}
	n := 120
	if testing.Short() {
		n = 20
	}
	random := rand.New(rand.NewPCG(20261120, 5))
	narrow := func() *api.Operation { // prefer operations related to the gate
		for {
			op := ops[random.IntN(len(ops))]
			if strings.Contains(op.Path, "soa") || strings.Contains(op.Path, "approval") || strings.Contains(op.Path, "lifecycle") ||
				strings.Contains(op.Path, "workflow") {
				return op
			}
		}
	}
	for range n {
		var order []string
		for range 6 {
			op, body := narrow(), gateBodies[random.IntN(len(gateBodies))]
			g.key.do(op.Method, g.path(op.Path), body)
			order = append(order, fmt.Sprintf("%s %v", op.ID, body))
			if versions := g.owner.must("GET", g.path(api.ListSoA.Path), nil).body["data"].([]any); len(versions) > 0 {
				g.ids["soaVersionId"] = versions[0].(map[string]any)["id"].(string)
				if id, ok := versions[0].(map[string]any)["approval_id"].(string); ok {
					g.ids["approvalId"] = id
				}
			}
		}
		g.checkNotPassed(t, order)
	}
}

// TestSecondPerson checks that, if a second person is required, whoever submitted or edited the
// content cannot approve it, not even with an API key.
func TestSecondPerson(t *testing.T) {
	g := newGateFixture(t)
	g.owner.must("POST", g.path(api.CancelWorkflow.Path), nil)
	g.owner.must(
		"PUT",
		strings.Replace(api.UpdateTenant.Path, "{tenantId}", g.owner.org, 1),
		map[string]any{"name": "Gate", "settings": map[string]any{"require_second_person": true}},
	)
	ben := g.owner.addMember("ben@example.com", api.RoleAdmin)
	own := g.owner.must("POST", api.CreateAPIKey.Path, map[string]any{"name": "decides", "scopes": []string{"approval:decide"}})
	key := testCaller{w: g.w, bearer: own.str("key"), org: g.owner.org}
	for name, c := range map[string]testCaller{"the submitter": g.owner, "the submitter's key": key} {
		if a := c.do("POST", g.path(api.Approve.Path), nil); a.code() != string(api.CodeForbidden) {
			t.Errorf("%s decides: %d %s", name, a.status, a.text)
		}
	}
	ben.must("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": "Ben"})
	g.owner.must("POST", g.path(api.SubmitSoA.Path), nil)
	g.ids["approvalId"] = g.firstRecord(api.ListApprovals.Path)["id"].(string)
	if a := ben.do("POST", g.path(api.Approve.Path), nil); a.code() != string(api.CodeForbidden) {
		t.Errorf("who edited decides: %d %s", a.status, a.text)
	}
	// An admin cannot disable the setting to decide afterwards.
	tenant := strings.Replace(api.UpdateTenant.Path, "{tenantId}", g.owner.org, 1)
	ben.do(
		"PUT",
		tenant,
		map[string]any{"name": "Gate", "settings": map[string]any{}},
	).wantError(
		t,
		"taking it back",
		api.CodeForbidden,
		"only an owner",
	)
	settings := map[string]any{"require_second_person": true, "no_remote_model": false}
	ben.must("PUT", tenant, map[string]any{"name": "Gate", "settings": settings})
	cleo := g.owner.addMember("cleo@example.com", api.RoleAdmin)
	cleo.must("POST", g.path(api.Approve.Path), map[string]any{"comment": "fine"})

	// The rejected attempts are in the audit chain.
	if l := g.owner.must("GET", api.ListAuditEvents.Path+"?outcome=denied&action=approve", nil).body["data"].([]any); len(l) != 3 {
		t.Errorf("%d refusals are noted: %v", len(l), l)
	}
}

// TestConcurrentDecisions checks that one of two concurrent decisions wins and the other gets an
// error.
func TestConcurrentDecisions(t *testing.T) {
	g := newGateFixture(t)
	ben := g.owner.addMember("ben@example.com", api.RoleAdmin)
	answers := make(chan reply, 2)
	go func() { answers <- g.owner.do("POST", g.path(api.Approve.Path), nil) }()
	go func() { answers <- ben.do("POST", g.path(api.RejectApproval.Path), map[string]any{"reason": "no"}) }()
	a, b := <-answers, <-answers
	if a.status > b.status {
		a, b = b, a
	}
	if a.status != http.StatusOK || b.code() != string(api.CodeInvalidState) {
		t.Errorf("%d %s and %d %s", a.status, a.text, b.status, b.text)
	}
}

// TestRefusalsAreAudited checks that requests rejected before the permission check are audited too: a foreign
// tenant header, a foreign origin, a suspended organization.
func TestRefusalsAreAudited(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, key := w.createOrganization("Acme", "ada@example.com")
	other, _ := w.createOrganization("Other", "zoe@example.com")
	stray := key
	stray.org = other.org
	for _, a := range []reply{
		stray.do("GET", api.ListAssessments.Path, nil),
		owner.do("POST", api.CreateAssessment.Path, map[string]any{"name": "x"}, "Origin", "https://evil.example"),
	} {
		if a.code() != string(api.CodeForbidden) {
			t.Fatalf("%d %s", a.status, a.text)
		}
	}
	l := owner.must("GET", api.ListAuditEvents.Path+"?outcome=denied", nil).body["data"].([]any)
	if len(l) != 2 || l[0].(map[string]any)["action"] != api.CreateAssessment.ID ||
		l[1].(map[string]any)["action"] != api.ListAssessments.ID {
		t.Errorf("%v", l)
	}
	if l := other.must("GET", api.ListAuditEvents.Path+"?outcome=denied", nil).body["data"].([]any); len(l) != 0 {
		t.Errorf("a stranger writes to the chain of another organization: %v", l)
	}
	if v := owner.must("GET", api.VerifyAudit.Path, nil); v.body["ok"] != true {
		t.Errorf("%v", v.body)
	}
}

// TestSuspendedOrganization checks that no credential can decide, export, run a workflow or do anything else in
// a suspended organization, and that everything is unchanged when the organization is active again.
func TestSuspendedOrganization(t *testing.T) {
	g := newGateFixture(t)
	ben := g.owner.addMember("ben@example.com", api.RoleMember)
	if a := g.owner.delegateTo(ben, time.Now().Add(time.Hour), nil); a.status != http.StatusCreated {
		t.Fatal(a.text)
	}
	decides := g.owner.createKey("approval:decide", "*")
	ops, _ := g.w.createOrganizationWithOwner(
		"Operators",
		map[string]any{"email": "root@ops.example", "password": goodPassword, "platform_admin": true},
	)
	status := func(s string) {
		ops.must("PUT", strings.Replace(api.UpdateTenant.Path, "{tenantId}", g.owner.org, 1), map[string]any{"name": "Gate", "status": s})
	}
	status("suspended")
	for _, c := range []testCaller{g.owner, decides, g.key, ben} {
		for _, op := range api.Operations() {
			if op.Access != api.Tenant {
				continue
			}
			if a := c.do(op.Method, g.path(op.Path), nil); a.status != http.StatusForbidden || !strings.Contains(a.text, "suspended") {
				t.Errorf("%s answers %d %.200s", op.ID, a.status, a.text)
			}
		}
	}
	status("active")
	g.checkNotPassed(t, "the suspension")
	g.owner.must("POST", g.path(api.Approve.Path), nil)
	if v := g.owner.must("GET", api.VerifyAudit.Path, nil); v.body["ok"] != true {
		t.Errorf("%v", v.body)
	}
}

// TestEditsDontTrapClients checks that a client that approves what is pending and otherwise moves on passes the gate, after
// an edit of the version under review and after one of the version just approved.
func TestEditsDontTrapClients(t *testing.T) {
	g := newGateFixture(t)
	status := func() reply { return g.owner.must("GET", g.path(api.GetAssessmentStatus.Path), nil) }
	// step approves what is pending, or makes the next move.
	step := func() {
		st := status()
		if pending := st.str("pending_approval_id"); pending != "" {
			g.owner.must("POST", "/api/v1/approvals/"+pending+"/approve", nil)
			return
		}
		moved := g.owner.do("POST", g.path(api.Transition.Path), object{"target_state": st.body["next_states"].([]any)[0]})
		switch {
		case moved.status == http.StatusOK, moved.code() == string(api.CodeApproval): // which submits the version
		case status().str("state") != st.str("state"): // the approval's run has moved on in the meantime
		default:
			t.Fatal(moved.text)
		}
	}
	edit := func(note string) { g.owner.must("PATCH", g.path(api.UpdateSoAItem.Path), object{"note": note}) }
	edit("while it is under review")
	step() // submits it again
	if status().str("pending_approval_id") == "" {
		t.Errorf("nothing is pending after submitting again: %s", status().text)
	}
	step()
	edit("after the approval")
	for range 4 { // submit, approve and move on
		if status().str("state") == string(api.StateSoAApproved) {
			return
		}
		step()
	}
	t.Errorf("the client is still at %s", status().text)
}

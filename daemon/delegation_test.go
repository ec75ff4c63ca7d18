package daemon_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// delegateTo creates a delegation from the caller to the given person.
func (c testCaller) delegateTo(person testCaller, until time.Time, more map[string]any) reply {
	c.w.t.Helper()
	body := map[string]any{"delegate_id": person.userID(), "expires_at": until.UTC().Format(time.RFC3339)}
	for k, v := range more {
		body[k] = v
	}
	return c.do("POST", api.CreateDelegation.Path, body)
}

// userID returns the caller's user ID.
func (c testCaller) userID() string { return c.must("GET", api.GetMe.Path, nil).str("user", "id") }

// wantError checks the error code of a response and part of its text.
func (a reply) wantError(t *testing.T, what string, code api.ErrorCode, words string) {
	t.Helper()
	if a.code() != string(code) || !strings.Contains(a.text, words) {
		t.Errorf("%s: %d %s, not %s %q", what, a.status, a.text, code, words)
	}
}

// TestDelegation checks that the delegate can decide only at the delegated gate, in the delegated assessment
// and until the delegation ends, and that it applies neither to the delegate's keys nor to other operations.
func TestDelegation(t *testing.T) {
	g := newGateFixture(t)
	soon := time.Now().Add(time.Hour)
	ben, vi := g.owner.addMember("ben@example.com", api.RoleMember), g.owner.addMember("vi@example.com", api.RoleViewer)
	approve := func(c testCaller) reply { return c.do("POST", g.path(api.Approve.Path), nil) }
	approve(ben).wantError(t, "a member", api.CodeForbidden, "doesn't include")

	g.owner.delegateTo(ben, soon, map[string]any{"gates": []string{"none"}}).wantError(t, "no gate", api.CodeValidation, "gates")
	g.owner.delegateTo(
		ben,
		soon,
		map[string]any{"assessment_id": "01890000-0000-7000-8000-000000000000"},
	).wantError(
		t,
		"no assessment",
		api.CodeNotFound,
		"assessment",
	)
	g.owner.delegateTo(ben, time.Now().Add(-time.Hour), nil).wantError(t, "a past end", api.CodeValidation, "the time is in the past")
	g.owner.delegateTo(ben, time.Now().AddDate(2, 0, 0), nil).wantError(t, "without an end worth the name", api.CodeValidation, "366 days")
	g.owner.delegateTo(g.owner, soon, nil).wantError(t, "oneself", api.CodeValidation, "yourself")
	ben.delegateTo(vi, soon, nil).wantError(t, "a member lets another", api.CodeForbidden, "")
	decides := g.owner.createKey("approval:decide")
	decides.delegateTo(ben, soon, nil).wantError(t, "a key lets another", api.CodeForbidden, "only a signed-in person")
	other, _ := g.w.createOrganization("Other", "zoe@example.com")
	other.delegateTo(ben, soon, nil).wantError(t, "another organization's member", api.CodeNotFound, "member")

	wrong := g.owner.delegateTo(ben, soon, map[string]any{"gates": []string{"poam", "gap_analysis", "poam"}})
	if gates := wrong.body["gates"].([]any); wrong.status != http.StatusCreated || len(gates) != 2 || gates[0] != "gap_analysis" {
		t.Fatalf("%d %s", wrong.status, wrong.text)
	}
	if at := wrong.header.Get("Location"); g.owner.must("GET", at, nil).str("id") != wrong.str("id") {
		t.Errorf("it is not at %s", at)
	}
	approve(ben).wantError(t, "at another gate", api.CodeForbidden, "doesn't cover this gate")
	right := g.owner.delegateTo(ben, soon, map[string]any{"assessment_id": g.ids["assessmentId"], "reason": "On leave"})
	if right.status != http.StatusCreated {
		t.Fatal(right.text)
	}

	// Pending decisions show the delegation.
	p := g.owner.must("GET", g.path(api.GetApproval.Path), nil)
	if l := p.body["delegates"].([]any); len(l) != 1 || l[0].(map[string]any)["delegation_id"] != right.str("id") {
		t.Errorf("%s", p.text)
	}
	if l := g.owner.must("GET", "/api/v1/organizations/"+g.owner.org+"/dashboard", nil); !strings.Contains(
		l.text,
		"or ben@example.com for",
	) {
		t.Errorf("%s", l.text)
	}

	// A delegation gives no other permission, and none to keys.
	ben.delegateTo(vi, soon, nil).wantError(t, "handing on", api.CodeForbidden, "")
	ben.do("POST", g.path(api.ApproveScope.Path), nil).wantError(t, "the scope", api.CodeForbidden, "")
	ben.do(
		"POST",
		api.CreateAPIKey.Path,
		map[string]any{"name": "k", "scopes": []string{"approval:decide"}},
	).wantError(
		t,
		"a key",
		api.CodeForbidden,
		"",
	)
	ben.do("DELETE", "/api/v1/approval-delegations/"+right.str("id"), nil).wantError(t, "revoking", api.CodeForbidden, "")

	// An admin's delegation ends with the admin's permission and does not return with it.
	cleo := g.owner.addMember("cleo@example.com", api.RoleAdmin)
	g.owner.delegateTo(cleo, soon, nil).wantError(t, "who decides anyway", api.CodeInvalidState, "already")
	keyOfCleo := cleo.createKey("approval:decide")
	voided := cleo.delegateTo(ben, soon, nil)
	role := func(r api.Role) {
		g.owner.must("PATCH", "/api/v1/organizations/"+g.owner.org+"/members/"+cleo.userID(), map[string]any{"role": r})
	}
	role(api.RoleMember)
	role(api.RoleAdmin)
	if d := g.owner.must("GET", "/api/v1/approval-delegations/"+voided.str("id"), nil); d.str("status") != "void" ||
		d.str("end_reason") == "" {
		t.Errorf("%s", d.text)
	}
	g.owner.must("DELETE", "/api/v1/approval-delegations/"+right.str("id"), nil)
	approve(ben).wantError(t, "what was revoked", api.CodeForbidden, "")
	if l := g.owner.must("GET", api.ListDelegations.Path+"?status=revoked", nil).body["data"].([]any); len(l) != 1 {
		t.Errorf("%v", l)
	}

	// A delegate's key gives no access to the decision.
	again := cleo.delegateTo(ben, soon, nil)
	role(api.RoleMember)
	g.owner.must("PATCH", "/api/v1/organizations/"+g.owner.org+"/members/"+ben.userID(), map[string]any{"role": "admin"})
	keyOfBen := ben.createKey("approval:decide", "approval:read")
	g.owner.must("PATCH", "/api/v1/organizations/"+g.owner.org+"/members/"+ben.userID(), map[string]any{"role": "member"})
	last := g.owner.delegateTo(ben, soon, nil)
	approve(keyOfBen).wantError(t, "a delegate's key", api.CodeForbidden, "")
	approve(keyOfCleo).wantError(t, "the key of who lost the right", api.CodeForbidden, "")
	approve(cleo).wantError(t, "who lost the right", api.CodeForbidden, "")
	g.checkNotPassed(t, "all this")

	decided := ben.must("POST", g.path(api.ApproveSoA.Path), map[string]any{"comment": "fine"})
	p = g.owner.must("GET", g.path(api.GetApproval.Path), nil)
	if p.str("delegation", "delegation_id") != last.str("id") || p.str("delegation", "delegator_id") != g.owner.userID() ||
		p.str("decided_by", "id") != ben.userID() ||
		len(p.body["delegates"].([]any)) != 0 {
		t.Errorf("%s (void: %s)", p.text, again.str("id"))
	}
	if by := decided.str("approved_by"); !strings.Contains(by, "ben@example.com for gate@example.com") {
		t.Errorf("approved by %q", by)
	}
	for action, n := range map[string]int{"approval.delegated": 5, "approval.delegation_revoked": 1, "delegation.voided": 2} {
		if l := g.owner.must("GET", api.ListAuditEvents.Path+"?action="+action, nil).body["data"].([]any); len(l) != n {
			t.Errorf("%d events %s, not %d", len(l), action, n)
		}
	}
	if l := g.owner.must("GET", api.ListAuditEvents.Path+"?action=approval.decided", nil); !strings.Contains(l.text, last.str("id")) {
		t.Errorf("the chain does not name the delegation: %s", l.text)
	}
}

// TestDelegationAndSecondPerson checks that, if a second person is required, neither the delegate
// nor the delegator may have written the content.
func TestDelegationAndSecondPerson(t *testing.T) {
	g := newGateFixture(t)
	g.owner.must("POST", g.path(api.CancelWorkflow.Path), nil)
	g.owner.must(
		"PUT",
		strings.Replace(api.UpdateTenant.Path, "{tenantId}", g.owner.org, 1),
		map[string]any{"name": "Gate", "settings": map[string]any{"require_second_person": true}},
	)
	soon := time.Now().Add(time.Hour)
	ben, cleo := g.owner.addMember("ben@example.com", api.RoleMember), g.owner.addMember("cleo@example.com", api.RoleAdmin)
	approve := func(c testCaller) reply { return c.do("POST", g.path(api.Approve.Path), nil) }
	submitted := func(c testCaller) {
		c.must("POST", g.path(api.SubmitSoA.Path), nil)
		g.ids["approvalId"] = g.firstRecord(api.ListApprovals.Path)["id"].(string)
	}
	g.owner.delegateTo(ben, soon, nil)
	approve(ben).wantError(t, "for who submitted it", api.CodeForbidden, "on whose behalf you would")
	cleo.delegateTo(ben, soon, nil)
	ben.must("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": "Ben"})
	submitted(g.owner)
	approve(ben).wantError(t, "who edited", api.CodeForbidden, "you edited this deliverable")
	if id := g.owner.must("POST", g.path(api.RegenerateSoA.Path), nil).str("id"); id != g.ids["soaVersionId"] {
		t.Errorf("nothing changed, and %s takes the place of what is under review", id)
	}
	g.owner.must("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": "Ada"})
	submitted(ben)
	approve(ben).wantError(t, "who submitted", api.CodeForbidden, "submitted this deliverable yourself")
	approve(cleo).wantError(t, "nothing", "", "approved")
}

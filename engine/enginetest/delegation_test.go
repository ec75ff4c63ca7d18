package enginetest_test

import (
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/identity"
)

// localUser returns the local user of an engine.
func localUser(t testing.TB, e *engine.Engine) api.Caller {
	t.Helper()
	p, err := e.Identity.Authenticate(t.Context(), identity.Credential{Local: true, CreateLocal: true})
	if err != nil {
		t.Fatal(err)
	}
	by, err := e.Identity.ResolveCaller(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	return by
}

// addMember returns a new signed-in member of the organization of by.
func addMember(t *testing.T, e *engine.Engine, by api.Caller, email string, role api.Role) api.Caller {
	t.Helper()
	invite := &api.InviteMemberInput{}
	invite.Body.Email, invite.Body.Role = email, role
	m, err := e.Identity.InviteMember(t.Context(), by, invite)
	if err != nil {
		t.Fatal(err)
	}
	accept := &api.AcceptLinkInput{}
	accept.Body.Token, accept.Body.Password = m.InviteToken, "four words make one"
	joined, err := e.Identity.AcceptLink(t.Context(), api.Caller{}, accept)
	if err != nil {
		t.Fatal(err)
	}
	return api.Caller{
		Actor:          api.Actor{Type: api.ActorUser, ID: joined.User.ID, Name: email},
		UserID:         joined.User.ID,
		OrganizationID: by.OrganizationID,
		Role:           role,
		Delegate:       true,
	}
}

// TestDelegationEnds checks that a delegation ends on time and is not valid before it was granted,
// even if the clock is set back.
func TestDelegationEnds(t *testing.T) {
	e, _, c := openEngine(t, engine.Options{})
	b := &bench{e, localUser(t, e)}
	a := b.assess(t, "lgpd", policy, api.StateSoAUnderReview)
	ben := addMember(t, e, b.by, "ben@example.com", api.RoleMember)
	in := &api.CreateDelegationInput{}
	in.Body.DelegateID, in.Body.ExpiresAt = ben.UserID, c.now().Add(time.Hour)
	d, err := e.Assessments.CreateDelegation(t.Context(), b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	asBen := &bench{e, ben}
	p := b.pending(t, a.ID)
	for _, jump := range []time.Duration{-2 * time.Hour, 3 * time.Hour} {
		c.pass(jump)
		wantCode(t, "outside of its time", asBen.approve(t, p.ID), api.CodeForbidden)
		if got, err := e.Assessments.GetDelegation(t.Context(), b.by, &api.DelegationInput{DelegationID: d.ID}); err != nil ||
			got.Status != api.DelegationExpired {
			t.Errorf("%+v, %v", got, err)
		}
		if got := b.pending(t, a.ID); len(got.Delegates) != 0 {
			t.Errorf("%+v", got)
		}
	}
	c.pass(-30 * time.Minute)
	for what, by := range map[string]func(*api.Caller){
		"a workflow": func(by *api.Caller) { by.Actor.Type = api.ActorWorkflow },
		"an agent":   func(by *api.Caller) { by.AgentRunID = "run" },
		"a key":      func(by *api.Caller) { by.Scopes = []api.Permission{api.ApprovalDecide} },
		"a stranger": func(by *api.Caller) { by.OrganizationID = "01890000-0000-7000-8000-000000000000" },
	} {
		other := ben
		by(&other)
		if err := (&bench{e, other}).approve(t, p.ID); err == nil {
			t.Errorf("%s decides", what)
		}
	}
	if err := asBen.approve(t, p.ID); err != nil {
		t.Error(err)
	}
}

// TestApprovingWhatWasSeen checks that an approval that names the content seen does not apply to
// content that replaced it.
func TestApprovingWhatWasSeen(t *testing.T) {
	b, a, p := atSoAReview(t)
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	if err := b.move(t, a.ID, api.StateSoAUnderReview); err != nil {
		t.Fatal(err)
	}
	now := b.pending(t, a.ID)
	seen := &api.VersionDecision{ContentSHA256: p.TargetSHA256}
	_, err := b.Assessments.ApproveSoA(t.Context(), b.by, &api.DecideSoAInput{SoAInput: api.SoAInput{SoAVersionID: p.TargetID}, Body: seen})
	wantCode(t, "approving the version", err, api.CodeApproval)
	_, err = b.Assessments.Approve(t.Context(), b.by, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: now.ID}, Body: seen})
	wantCode(t, "approving", err, api.CodeApproval)
	no := &api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: now.ID}}
	no.Body.Reason, no.Body.ContentSHA256 = "no", p.TargetSHA256
	_, err = b.Assessments.Reject(t.Context(), b.by, no)
	wantCode(t, "rejecting", err, api.CodeApproval)
	seen.ContentSHA256 = now.TargetSHA256
	if _, err := b.Assessments.ApproveSoA(
		t.Context(),
		b.by,
		&api.DecideSoAInput{SoAInput: api.SoAInput{SoAVersionID: p.TargetID}, Body: seen},
	); err != nil {
		t.Error(err)
	}
}

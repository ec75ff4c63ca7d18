package identity_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/api"
)

// TestRotationDoesNotEscalate checks that a key cannot rotate one with more scopes, and that nobody
// gets a key that acts as another user.
func TestRotationDoesNotEscalate(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	rotate := func(by api.Caller, id string) error {
		_, err := h.RotateAPIKey(t.Context(), by, &api.RotateAPIKeyInput{APIKeyInput: api.APIKeyInput{KeyID: id}})
		return err
	}
	strong, err := h.createKey(t, owner, "approval:decide", "apikey:write")
	if err != nil {
		t.Fatal(err)
	}
	weak, err := h.createKey(t, owner, "apikey:write")
	if err != nil {
		t.Fatal(err)
	}
	by := h.mustCaller(t, bearer(weak), org.ID)
	wantCode(t, "the secret of a key that may decide", rotate(by, strong.ID), api.CodeForbidden)
	wantCode(t, "the secret of the key with *", rotate(by, org.APIKey.ID), api.CodeForbidden)
	h.mustCaller(t, bearer(strong), org.ID)
	if err := rotate(by, weak.ID); err != nil {
		t.Errorf("its own secret: %v", err)
	}

	second := h.addMember(t, owner, "second@acme.example", api.RoleOwner)
	wantCode(t, "another owner's secret", rotate(second, strong.ID), api.CodeForbidden)
	if _, err := h.RevokeAPIKey(t.Context(), second, &api.APIKeyInput{KeyID: strong.ID}); err != nil {
		t.Errorf("an owner revokes any key: %v", err)
	}
}

// TestConcurrentGuessesAreThrottled checks that concurrent guesses are throttled like sequential
// ones.
func TestConcurrentGuessesAreThrottled(t *testing.T) {
	h := newTestService(t)
	h.createOrganization(t, "Acme", "owner@acme.example")
	var wait sync.WaitGroup
	var mu sync.Mutex
	compared := 0
	for range 60 {
		wait.Go(func() {
			if _, err := h.trySignIn(t, "owner@acme.example", "not the password", "192.0.2.7"); api.IsCode(err, api.CodeUnauthorized) {
				mu.Lock()
				compared++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if compared > 7 { // five guesses are free, and two may be in progress
		t.Errorf("%d passwords were tried at once", compared)
	}
}

// TestThrottleIsPerNetwork checks that failed link attempts do not block other networks, and that
// an IPv6 /64 counts as one.
func TestThrottleIsPerNetwork(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	guess := &api.AcceptLinkInput{}
	guess.Body.Token, guess.Body.Password = strings.Repeat("0", 64), password
	var err error
	for i := range 30 {
		_, err = h.AcceptLink(t.Context(), api.Caller{Address: fmt.Sprintf("2001:db8::%d", i+1)}, guess)
	}
	wantCode(t, "thirty tries from one network", err, api.CodeRateLimit)
	if _, err := h.accept(t, h.invite(t, owner, "new@acme.example", api.RoleViewer).InviteToken, password); err != nil {
		t.Errorf("somebody else meanwhile: %v", err)
	}
	for i := range 21 {
		_, err = h.trySignIn(t, fmt.Sprintf("a%d@acme.example", i), "guess", fmt.Sprintf("2001:db8:1::%d", i+1))
	}
	wantCode(t, "a network that guessed accounts", err, api.CodeRateLimit)
}

// TestAccessEndsWithMembership checks that keys and links from before a removal stay invalid when
// the user returns.
func TestAccessEndsWithMembership(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	admin := h.addMember(t, owner, "admin@acme.example", api.RoleAdmin)
	k, err := h.createKey(t, admin, "assessment:read")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RemoveMember(
		t.Context(),
		owner,
		&api.RemoveMemberInput{MemberInput: api.MemberInput{OrgInput: api.OrgInput{OrgID: org.ID}, MemberID: admin.UserID}},
	); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, bearer(k), org.ID)
	wantCode(t, "a removed member's key", err, api.CodeUnauthorized)
	if _, err := h.accept(t, h.invite(t, owner, "admin@acme.example", api.RoleViewer).InviteToken, password); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, bearer(k), org.ID)
	wantCode(t, "the old key of somebody who came back", err, api.CodeUnauthorized)
}

// TestBannedOwnerDoesNotCount checks that a banned owner does not count as an active owner.
func TestBannedOwnerDoesNotCount(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	ban := &api.BanUserInput{UserID: h.addMember(t, owner, "second@acme.example", api.RoleOwner).UserID}
	ban.Body.Reason = "left"
	if _, err := h.BanUser(t.Context(), h.mustCaller(t, localUser, ""), ban); err != nil {
		t.Fatal(err)
	}
	gone := api.RemoveMemberInput{MemberInput: api.MemberInput{OrgInput: api.OrgInput{OrgID: org.ID}, MemberID: owner.UserID}}
	_, err := h.RemoveMember(t.Context(), owner, &gone)
	wantCode(t, "the last owner who can sign in leaves", err, api.CodeInvalidState)
}

// TestSuspendedOrganizationIsRejected checks that omitting the organization does not bypass a
// suspension.
func TestSuspendedOrganizationIsRejected(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	s := h.signIn(t, "owner@acme.example", password)
	in := &api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: org.ID}}
	in.Body.Status = "suspended"
	if _, err := h.UpdateTenant(t.Context(), h.mustCaller(t, localUser, ""), in); err != nil {
		t.Fatal(err)
	}
	_, err := h.caller(t, cookie(s), org.ID)
	wantCode(t, "by its name", err, api.CodeForbidden)
	if by := h.mustCaller(t, cookie(s), ""); by.OrganizationID != "" || by.Role != "" {
		t.Errorf("without its name one is in %s as %s", by.OrganizationID, by.Role)
	}
	other := h.createOrganization(t, "Beta", "owner@acme.example")
	if by := h.mustCaller(t, cookie(s), ""); by.OrganizationID != other.ID {
		t.Errorf("the active organization is %q, not the other one", by.OrganizationID)
	}
}

// TestConcurrentOwnerDemotion checks that one of two owners who step down concurrently remains.
func TestConcurrentOwnerDemotion(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	second := h.addMember(t, owner, "second@acme.example", api.RoleOwner)
	results := make(chan error, 2)
	for by, of := range map[*api.Caller]string{&owner: second.UserID, &second: owner.UserID} {
		go func() {
			gone := api.RemoveMemberInput{MemberInput: api.MemberInput{OrgInput: api.OrgInput{OrgID: org.ID}, MemberID: of}}
			_, err := h.RemoveMember(t.Context(), *by, &gone)
			results <- err
		}()
	}
	if a, b := <-results, <-results; (a == nil) == (b == nil) {
		t.Errorf("%v and %v", a, b)
	}
}

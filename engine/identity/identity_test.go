package identity_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/identity"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

// testService is an identity service whose clock the test controls.
type testService struct {
	*identity.Service
	db  *store.DB
	now time.Time
	key secretbox.Key
}

// restart replaces the service by one on the same store, with the current key.
func (h *testService) restart() {
	h.Service = identity.New(identity.Options{
		DB: h.db, Clock: func() time.Time { return h.now }, LocalName: "Ada", LocalEmail: "ada@local", Box: secretboxtest.New(h.key),
		WeakHashes: true,
	})
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	h := &testService{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	db, err := store.Open(
		t.Context(),
		store.Options{
			Dir:    t.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock: clock,
			NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h.db = db
	h.key = secretbox.NewKey()
	h.restart()
	return h
}

const password = "four words are enough"

// createOrganization creates an organization whose owner has the given email address and the usual
// password.
func (h *testService) createOrganization(t *testing.T, name, email string) *api.NewOrganization {
	t.Helper()
	in := &api.NewOrganizationInput{}
	in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password, in.Body.APIKeyName = name, email, password, "first"
	org, err := h.CreateOrganization(t.Context(), api.Caller{PlatformAdmin: true}, in)
	if err != nil {
		t.Fatal(err)
	}
	return org
}

// signIn signs a user in and returns the session.
func (h *testService) signIn(t *testing.T, email, password string) *api.SignedInUser {
	t.Helper()
	out, err := h.trySignIn(t, email, password, "192.0.2.7")
	if err != nil {
		t.Fatalf("%s: %v", email, err)
	}
	return out
}

func (h *testService) trySignIn(t *testing.T, email, password, address string) (*api.SignedInUser, error) {
	t.Helper()
	in := &api.SignInInput{}
	in.Body.Email, in.Body.Password = email, password
	return h.SignIn(t.Context(), api.Caller{Address: address}, in)
}

// caller returns the caller of a credential in an organization.
func (h *testService) caller(t *testing.T, c identity.Credential, org string) (api.Caller, error) {
	t.Helper()
	p, err := h.Authenticate(t.Context(), c)
	if err != nil {
		return api.Caller{}, err
	}
	return h.ResolveCaller(t.Context(), p, org)
}

func (h *testService) mustCaller(t *testing.T, c identity.Credential, org string) api.Caller {
	t.Helper()
	by, err := h.caller(t, c, org)
	if err != nil {
		t.Fatal(err)
	}
	return by
}

// localUser is the credential of the local user, who is created with an organization if there is none.
var localUser = identity.Credential{Local: true, CreateLocal: true}

func cookie(s *api.SignedInUser) identity.Credential { return identity.Credential{Cookie: s.Token} }
func bearer(k *api.NewAPIKey) identity.Credential    { return identity.Credential{Bearer: k.Key} }

func wantCode(t *testing.T, what string, err error, code api.ErrorCode) {
	t.Helper()
	if !api.IsCode(err, code) {
		t.Errorf("%s: %v, not %s", what, err, code)
	}
}

// TestLocalUser checks that the local user is created once, owns an organization and is a platform
// admin.
func TestLocalUser(t *testing.T) {
	h := newTestService(t)
	by := h.mustCaller(t, localUser, "")
	again := h.mustCaller(t, localUser, "")
	if again.UserID != by.UserID || by.Role != api.RoleOwner || !by.PlatformAdmin || by.Actor.Name != "Ada" || by.OrganizationID == "" {
		t.Fatalf("%+v, then %+v", by, again)
	}
	mine, err := h.ListMyOrganizations(t.Context(), by, &api.Paging{Limit: 10})
	if err != nil || len(mine.Data) != 1 || !mine.Data[0].Active || mine.Data[0].Role != api.RoleOwner {
		t.Fatalf("%+v, %v", mine, err)
	}
}

// TestSessionIsExtended checks that a session lasts twelve hours and is extended by use.
func TestSessionIsExtended(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	s := h.signIn(t, " Owner@Acme.example ", password)
	if s.Session.ActiveOrganizationID == nil || *s.Session.ActiveOrganizationID != org.ID || s.User.LastSignInAt == nil {
		t.Fatalf("%+v", s)
	}
	for range 4 {
		h.now = h.now.Add(11 * time.Hour)
		by := h.mustCaller(t, cookie(s), org.ID)
		if by.Role != api.RoleOwner || by.SessionID == "" || by.Actor.Type != api.ActorUser {
			t.Fatalf("%+v", by)
		}
	}
	h.now = h.now.Add(12 * time.Hour)
	_, err := h.caller(t, cookie(s), org.ID)
	wantCode(t, "after twelve idle hours", err, api.CodeUnauthorized)
	if err := h.DeleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = h.db.View(t.Context(), func(tx *store.Tx) error {
		if n, err := store.Sessions.Count(tx); n != 0 || err != nil {
			t.Errorf("%d sessions are left, %v", n, err)
		}
		return nil
	})
}

// TestSignInRevealsNothing checks that a wrong password and an unknown account give the same error,
// and that failures are throttled.
func TestSignInRevealsNothing(t *testing.T) {
	h := newTestService(t)
	h.createOrganization(t, "Acme", "owner@acme.example")
	_, wrong := h.trySignIn(t, "owner@acme.example", "not the password", "192.0.2.7")
	_, unknown := h.trySignIn(t, "nobody@acme.example", "not the password", "192.0.2.8")
	if wrong == nil || unknown == nil || wrong.Error() != unknown.Error() {
		t.Errorf("%v, and %v", wrong, unknown)
	}
	for range 4 {
		_, err := h.trySignIn(t, "owner@acme.example", "not the password", "192.0.2.7")
		wantCode(t, "one more wrong password", err, api.CodeUnauthorized)
	}
	_, err := h.trySignIn(t, "owner@acme.example", password, "192.0.2.200")
	wantCode(t, "the right password after five wrong ones from the same network", err, api.CodeRateLimit)
	h.now = h.now.Add(time.Minute)
	h.signIn(t, "owner@acme.example", password)

	for i := range 20 {
		_, err := h.trySignIn(t, strings.Repeat("x", i+1)+"@acme.example", "guess", "203.0.113.5")
		wantCode(t, "guessing accounts", err, api.CodeUnauthorized)
	}
	_, err = h.trySignIn(t, "owner@acme.example", password, "203.0.113.5")
	wantCode(t, "an address that guessed twenty accounts", err, api.CodeRateLimit)
	h.signIn(t, "owner@acme.example", password)
}

// TestSecretsAreHashed checks that the store contains no password, session token, link or key in
// plain text.
func TestSecretsAreHashed(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	s := h.signIn(t, "owner@acme.example", password)
	by := h.mustCaller(t, cookie(s), org.ID)
	m := h.invite(t, by, "new@acme.example", api.RoleMember)
	secrets := []string{password, s.Token, m.InviteToken, strings.TrimPrefix(org.APIKey.Key, api.APIKeyPrefix)}
	_ = h.db.View(t.Context(), func(tx *store.Tx) error {
		var all []string
		for p, err := range store.Passwords.Scan(tx) {
			all = append(all, p.Hash)
			if err != nil || !strings.HasPrefix(p.Hash, "$argon2id$v=19$") {
				t.Errorf("a password is kept as %q, %v", p.Hash, err)
			}
		}
		for r := range store.Sessions.Scan(tx) {
			all = append(all, r.Secret)
		}
		for r := range store.OneTimeLinks.Scan(tx) {
			all = append(all, r.Secret)
		}
		for r := range store.KeySecrets.Scan(tx) {
			all = append(all, r.Secret)
		}
		if len(all) != 4 {
			t.Errorf("%d secrets are kept, not 4", len(all))
		}
		for _, secret := range secrets {
			if slices.ContainsFunc(all, func(kept string) bool { return strings.Contains(kept, secret) }) {
				t.Errorf("the secret %.6s… is kept", secret)
			}
		}
		return nil
	})
}

func (h *testService) invite(t *testing.T, by api.Caller, email string, role api.Role) *api.NewMember {
	t.Helper()
	m, err := h.tryInvite(t, by, email, role)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (h *testService) tryInvite(t *testing.T, by api.Caller, email string, role api.Role) (*api.NewMember, error) {
	t.Helper()
	in := &api.InviteMemberInput{OrgInput: api.OrgInput{OrgID: by.OrganizationID}}
	in.Body.Email, in.Body.Role = email, role
	return h.InviteMember(t.Context(), by, in)
}

func (h *testService) accept(t *testing.T, token, password string) (*api.SignedInUser, error) {
	t.Helper()
	in := &api.AcceptLinkInput{}
	in.Body.Token, in.Body.Password, in.Body.Name = token, password, "Newcomer"
	return h.AcceptLink(t.Context(), api.Caller{Address: "192.0.2.9"}, in)
}

// addMember invites a user, accepts the invitation and returns them as a caller.
func (h *testService) addMember(t *testing.T, by api.Caller, email string, role api.Role) api.Caller {
	t.Helper()
	s, err := h.accept(t, h.invite(t, by, email, role).InviteToken, password)
	if err != nil {
		t.Fatal(err)
	}
	return h.mustCaller(t, cookie(s), by.OrganizationID)
}

// TestInvitation checks that an invitation works once, is revoked by a new one, and gives the role
// it names.
func TestInvitation(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	first := h.invite(t, owner, "new@acme.example", api.RoleViewer)
	second := h.invite(t, owner, "new@acme.example", api.RoleMember)
	if first.ID != second.ID || second.Status != "invited" {
		t.Fatalf("%+v, then %+v", first, second)
	}
	_, err := h.accept(t, first.InviteToken, password)
	wantCode(t, "a link that was replaced", err, api.CodeUnauthorized)
	_, err = h.accept(t, second.InviteToken, "short")
	wantCode(t, "a short password", err, api.CodeValidation)

	in := &api.LinkInput{}
	in.Body.Token = second.InviteToken
	what, err := h.GetLink(t.Context(), api.Caller{}, in)
	if err != nil || what.Email != "new@acme.example" || *what.Organization != "Acme" || *what.Role != api.RoleMember ||
		!what.NeedsPassword {
		t.Fatalf("%+v, %v", what, err)
	}
	s, err := h.accept(t, second.InviteToken, password)
	if err != nil || s.User.Name != "Newcomer" || s.User.Status != "active" || *s.Session.ActiveOrganizationID != org.ID {
		t.Fatalf("%+v, %v", s, err)
	}
	if by := h.mustCaller(t, cookie(s), org.ID); by.Role != api.RoleMember {
		t.Errorf("the role is %s", by.Role)
	}
	_, err = h.accept(t, second.InviteToken, password)
	wantCode(t, "a link that was used", err, api.CodeUnauthorized)

	// A user with an existing account keeps their password and must enter it.
	other := h.createOrganization(t, "Beta", "boss@beta.example")
	boss := h.mustCaller(t, cookie(h.signIn(t, "boss@beta.example", password)), other.ID)
	again := h.invite(t, boss, "new@acme.example", api.RoleAdmin)
	if again.Name != "" || again.UserID != "" {
		t.Errorf("the invitation shows %q, %s", again.Name, again.UserID)
	}
	_, err = h.accept(t, again.InviteToken, "another password entirely")
	wantCode(t, "a stranger with the link", err, api.CodeUnauthorized)
	if s, err = h.accept(t, again.InviteToken, password); err != nil || *s.Session.ActiveOrganizationID != other.ID {
		t.Fatalf("%+v, %v", s, err)
	}

	late := h.invite(t, owner, "late@acme.example", api.RoleViewer)
	h.now = h.now.Add(8 * 24 * time.Hour)
	_, err = h.accept(t, late.InviteToken, password)
	wantCode(t, "after eight days", err, api.CodeUnauthorized)
}

// TestMembers checks that nobody can give a role above their own, and that an organization keeps an
// owner.
func TestMembers(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	s, err := h.accept(t, h.invite(t, owner, "admin@acme.example", api.RoleAdmin).InviteToken, password)
	if err != nil {
		t.Fatal(err)
	}
	admin := h.mustCaller(t, cookie(s), org.ID)
	_, err = h.tryInvite(t, admin, "friend@acme.example", api.RoleOwner)
	wantCode(t, "an admin invites an owner", err, api.CodeForbidden)
	_, err = h.tryInvite(t, admin, "owner@acme.example", api.RoleViewer)
	wantCode(t, "inviting a member", err, api.CodeInvalidState)

	change := func(by api.Caller, who string, role api.Role, status string) error {
		in := &api.UpdateMemberInput{MemberInput: api.MemberInput{OrgInput: api.OrgInput{OrgID: org.ID}, MemberID: who}}
		in.Body.Role, in.Body.Status = role, status
		_, err := h.UpdateMember(t.Context(), by, in)
		return err
	}
	wantCode(t, "an admin demotes the owner", change(admin, owner.UserID, api.RoleViewer, ""), api.CodeForbidden)
	wantCode(t, "an admin promotes themselves", change(admin, admin.UserID, api.RoleOwner, ""), api.CodeForbidden)
	wantCode(t, "the last owner steps down", change(owner, owner.UserID, api.RoleMember, ""), api.CodeInvalidState)
	wantCode(t, "the last owner is suspended", change(owner, owner.UserID, "", "suspended"), api.CodeInvalidState)
	if err := change(owner, admin.UserID, "", "suspended"); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, cookie(s), org.ID)
	wantCode(t, "a suspended member", err, api.CodeForbidden)

	list, err := h.ListMembers(t.Context(), owner, &api.OrgMembersInput{Paging: api.Paging{Limit: 1}})
	if err != nil || len(list.Data) != 1 || list.Pagination.Total != 2 || list.Data[0].Email != "admin@acme.example" {
		t.Fatalf("%+v, %v", list, err)
	}
	next, err := h.ListMembers(t.Context(), owner, &api.OrgMembersInput{Paging: api.Paging{Limit: 1, Cursor: *list.Pagination.NextCursor}})
	if err != nil || len(next.Data) != 1 || next.Data[0].Email != "owner@acme.example" || next.Pagination.HasMore {
		t.Fatalf("%+v, %v", next, err)
	}
	gone := api.RemoveMemberInput{MemberInput: api.MemberInput{MemberID: admin.UserID}}
	if _, err := h.RemoveMember(t.Context(), owner, &gone); err != nil {
		t.Fatal(err)
	}
	gone = api.RemoveMemberInput{MemberInput: api.MemberInput{MemberID: owner.UserID}}
	_, err = h.RemoveMember(t.Context(), owner, &gone)
	wantCode(t, "the last owner leaves", err, api.CodeInvalidState)
}

func (h *testService) createKey(t *testing.T, by api.Caller, scopes ...string) (*api.NewAPIKey, error) {
	t.Helper()
	return h.CreateAPIKey(t.Context(), by, &api.CreateAPIKeyInput{Body: api.APIKeyBody{Name: "ci", Scopes: scopes}})
}

// TestAPIKeys checks that a key has its scopes, limited by the current permissions of its user.
func TestAPIKeys(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	admin := h.addMember(t, owner, "admin@acme.example", api.RoleAdmin)

	_, err := h.createKey(t, admin, "assessments:read", "assessment:write", "policies:read")
	wantCode(t, "a scope that is none", err, api.CodeValidation)
	_, err = h.createKey(t, admin, "assessment:delete")
	wantCode(t, "a scope above one's own", err, api.CodeForbidden)
	k, err := h.createKey(t, admin, "assessments:read", "assessment:write", "assessment:read")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(k.Scopes, []string{"assessment:read", "assessment:write"}) || len(k.Key) != len(api.APIKeyPrefix)+64 ||
		k.MaskedKey != api.APIKeyPrefix+"…"+k.Key[len(k.Key)-4:] {
		t.Fatalf("%+v", k)
	}
	by := h.mustCaller(t, bearer(k), org.ID)
	if !by.May("assessment:write") || by.May("document:read") || by.Actor.Type != api.ActorAPIKey || by.UserID != admin.UserID {
		t.Errorf("%+v", by)
	}
	star := h.mustCaller(t, bearer(org.APIKey), org.ID)
	if star.May(api.ApprovalDecide) || star.May(api.APIKeyWrite) || !star.May("assessment:delete") {
		t.Errorf("the scope * gives %v", star.Scopes)
	}
	_, err = h.caller(t, bearer(k), h.createOrganization(t, "Beta", "boss@beta.example").ID)
	wantCode(t, "a key with another's header", err, api.CodeForbidden)

	role := &api.UpdateMemberInput{MemberInput: api.MemberInput{MemberID: admin.UserID}}
	role.Body.Role = api.RoleViewer
	if _, err := h.UpdateMember(t.Context(), owner, role); err != nil {
		t.Fatal(err)
	}
	if by := h.mustCaller(t, bearer(k), org.ID); by.May("assessment:write") || !by.May("assessment:read") {
		t.Error("the key may more than its person, who is a viewer now")
	}

	_, err = h.RotateAPIKey(t.Context(), owner, &api.RotateAPIKeyInput{APIKeyInput: api.APIKeyInput{KeyID: k.ID}})
	wantCode(t, "another person's secret", err, api.CodeForbidden)
	admin.Role = api.RoleAdmin
	rotated, err := h.RotateAPIKey(t.Context(), admin, &api.RotateAPIKeyInput{
		APIKeyInput: api.APIKeyInput{KeyID: k.ID},
		Body: &struct {
			GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"604800"`
		}{60},
	})
	if err != nil || rotated.ID != k.ID || rotated.Key == k.Key {
		t.Fatalf("%+v, %v", rotated, err)
	}
	h.mustCaller(t, bearer(k), org.ID)
	h.mustCaller(t, bearer(rotated), org.ID)
	h.now = h.now.Add(time.Minute)
	_, err = h.caller(t, bearer(k), org.ID)
	wantCode(t, "the old secret after the grace time", err, api.CodeUnauthorized)
	h.mustCaller(t, bearer(rotated), org.ID)

	if _, err := h.RevokeAPIKey(t.Context(), owner, &api.APIKeyInput{KeyID: k.ID}); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, bearer(rotated), org.ID)
	wantCode(t, "a revoked key", err, api.CodeUnauthorized)
	list, err := h.ListAPIKeys(t.Context(), owner, &api.Paging{Limit: 10})
	if err != nil || len(list.Data) != 2 || list.Data[1].Status != "revoked" || list.Data[1].LastUsedAt == nil {
		t.Errorf("%+v, %v", list, err)
	}

	end := h.now.Add(time.Hour)
	short, err := h.CreateAPIKey(
		t.Context(),
		owner,
		&api.CreateAPIKeyInput{Body: api.APIKeyBody{Name: "short", Scopes: []string{"scf:read"}, ExpiresAt: &end}},
	)
	if err != nil {
		t.Fatal(err)
	}
	h.now = end
	_, err = h.caller(t, bearer(short), org.ID)
	wantCode(t, "an expired key", err, api.CodeUnauthorized)
	for _, odd := range []string{
		"",
		"x",
		api.APIKeyPrefix,
		api.APIKeyPrefix + strings.Repeat("0", 64),
		api.APIKeyPrefix + strings.Repeat("Z", 64),
		short.Key + "0",
	} {
		_, err := h.caller(t, identity.Credential{Bearer: odd}, "")
		wantCode(t, "the token "+odd, err, api.CodeUnauthorized)
	}
}

// TestBan checks that a ban immediately ends sessions, links and keys in every organization.
func TestBan(t *testing.T) {
	h := newTestService(t)
	operator := h.mustCaller(t, localUser, "")
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	s := h.signIn(t, "owner@acme.example", password)
	owner := h.mustCaller(t, cookie(s), org.ID)
	in := &api.BanUserInput{UserID: owner.UserID}
	in.Body.Reason = "left with the laptop"
	_, err := h.BanUser(t.Context(), owner, in)
	wantCode(t, "banning oneself", err, api.CodeInvalidState)
	if u, err := h.BanUser(t.Context(), operator, in); err != nil || u.Status != "banned" || *u.BanReason != in.Body.Reason {
		t.Fatalf("%+v, %v", u, err)
	}
	for what, c := range map[string]identity.Credential{"session": cookie(s), "key": bearer(org.APIKey)} {
		_, err := h.caller(t, c, org.ID)
		wantCode(t, "the "+what+" of a banned person", err, api.CodeUnauthorized)
	}
	_, err = h.trySignIn(t, "owner@acme.example", password, "192.0.2.7")
	wantCode(t, "signing in", err, api.CodeUnauthorized)
	if _, err := h.UnbanUser(t.Context(), operator, &api.UserInput{UserID: owner.UserID}); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, bearer(org.APIKey), org.ID)
	wantCode(t, "the key after the ban was lifted", err, api.CodeUnauthorized)
	h.signIn(t, "owner@acme.example", password)

	self := &api.BanUserInput{UserID: operator.UserID}
	self.Body.Reason = "x"
	_, err = h.BanUser(t.Context(), owner, self)
	wantCode(t, "banning the person whose machine it is", err, api.CodeInvalidState)
}

// TestPasswords checks that changing a password ends other sessions, and that a lost password can
// be reset by a link.
func TestPasswords(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	here, there := h.signIn(t, "owner@acme.example", password), h.signIn(t, "owner@acme.example", password)
	by := h.mustCaller(t, cookie(here), org.ID)
	in := &api.ChangePasswordInput{}
	in.Body.Current, in.Body.New = "wrong", "another four words, longer"
	_, err := h.ChangePassword(t.Context(), by, in)
	wantCode(t, "without the old password", err, api.CodeValidation)
	in.Body.Current = password
	if _, err := h.ChangePassword(t.Context(), by, in); err != nil {
		t.Fatal(err)
	}
	h.mustCaller(t, cookie(here), org.ID)
	_, err = h.caller(t, cookie(there), org.ID)
	wantCode(t, "the other session", err, api.CodeUnauthorized)

	link, err := h.CreatePasswordLink(t.Context(), h.mustCaller(t, localUser, ""), &api.UserInput{UserID: by.UserID})
	if err != nil || !strings.HasSuffix(link.Path, "#"+link.Token) {
		t.Fatalf("%+v, %v", link, err)
	}
	if _, err := h.accept(t, link.Token, "a third one, set by the link"); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, cookie(here), org.ID)
	wantCode(t, "a session from before", err, api.CodeUnauthorized)
	h.signIn(t, "owner@acme.example", "a third one, set by the link")
}

// TestOrganizations checks names and slugs, and that other organizations are invisible.
func TestOrganizations(t *testing.T) {
	h := newTestService(t)
	acme, again := h.createOrganization(t, "Ácme & Söhne", "a@acme.example"), h.createOrganization(t, "Ácme & Söhne", "b@acme.example")
	if acme.Slug != "acme-sohne" || again.Slug != "acme-sohne-2" {
		t.Errorf("slugs %q, %q", acme.Slug, again.Slug)
	}
	by := h.mustCaller(t, cookie(h.signIn(t, "a@acme.example", password)), "")
	if _, err := h.GetOrganization(t.Context(), by, &api.OrganizationInput{OrganizationID: again.ID}); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("another's organization: %v", err)
	}
	in := &api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: acme.ID}}
	in.Body.Name, in.Body.Slug = "Acme", "acme-sohne-2"
	_, err := h.UpdateTenant(t.Context(), by, in)
	wantCode(t, "another's slug", err, api.CodeValidation)
	in.Body.Slug, in.Body.Status = "acme", "suspended"
	_, err = h.UpdateTenant(t.Context(), by, in)
	wantCode(t, "suspending oneself", err, api.CodeForbidden)
	in.Body.Status = ""
	if org, err := h.UpdateTenant(t.Context(), by, in); err != nil || org.Name != "Acme" || org.Slug != "acme" {
		t.Fatalf("%+v, %v", org, err)
	}
	in.Body.Status = "suspended"
	operator := h.mustCaller(t, localUser, "")
	if _, err := h.UpdateTenant(t.Context(), operator, in); err != nil {
		t.Fatal(err)
	}
	_, err = h.caller(t, bearer(acme.APIKey), "")
	wantCode(t, "a key of a suspended organization", err, api.CodeForbidden)

	made, err := h.EnsureAdminWithEmail(t.Context(), "Gamma", "g@gamma.example", password)
	if err != nil || !made {
		t.Fatal(made, err)
	}
	if made, err := h.EnsureAdminWithEmail(t.Context(), "Gamma", "g@gamma.example", "something else now"); err != nil || made {
		t.Errorf("a second start made it again: %v, %v", made, err)
	}
	if s := h.signIn(t, "g@gamma.example", password); !s.User.PlatformAdmin {
		t.Error("the first person is no platform admin")
	}
}

// TestActionsAreAudited checks that actions on users, organizations and keys are in the
// organization's audit chain, which is valid.
func TestActionsAreAudited(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	_, _ = h.trySignIn(t, "owner@acme.example", "wrong", "192.0.2.7")
	owner := h.mustCaller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
	h.invite(t, owner, "new@acme.example", api.RoleMember)
	if _, err := h.createKey(t, owner, "scf:read"); err != nil {
		t.Fatal(err)
	}
	if err := h.RecordDenied(t.Context(), owner, api.ListUsers.Operation); err != nil {
		t.Fatal(err)
	}
	var actions []string
	err := h.db.View(t.Context(), func(tx *store.Tx) error {
		for e, err := range store.Audit.Scan(tx, org.ID) {
			if err != nil {
				return err
			}
			actions = append(actions, e.Action+" "+e.Outcome)
		}
		_, _, err := audit.VerifyStored(tx, org.ID)
		return err
	})
	want := []string{
		"api_key.created success", "organization.created success", "session.refused failure", "session.started success",
		"member.invited success", "api_key.created success", "list-users denied",
	}
	if err != nil || !slices.Equal(actions, want) {
		t.Errorf("%v\n%s", err, strings.Join(actions, "\n"))
	}
}

// TestManyOrganizations checks that a page of the caller's organizations and the choice of the default organization
// don't read the other organizations.
func TestManyOrganizations(t *testing.T) {
	h := newTestService(t)
	h.createOrganization(t, "Acme", "owner@acme.example")
	none := h.mustCaller(t, localUser, "")
	member := api.Caller{UserID: "ada", Actor: api.Actor{Type: api.ActorUser, ID: "ada"}}
	const many = 60
	err := h.db.Update(t.Context(), func(tx *store.Tx) error {
		for n := range many {
			id := fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
			if err := store.Organizations.Insert(tx, &api.Organization{Record: api.Record{ID: id}, Slug: id, Status: "active"}); err != nil {
				return err
			}
			m := store.Membership{ID: tx.NewID(), OrganizationID: id, UserID: "ada", Role: api.RoleMember, Status: "active"}
			if n == 1 {
				m.Status = "suspended"
			}
			if err := store.Memberships.Insert(tx, &m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[*api.Caller]int{&none: many + 1, &member: many - 1} {
		var ids []string
		in := api.Paging{Limit: 7}
		for {
			var reads atomic.Int64
			list, err := h.ListMyOrganizations(store.WithReadCounter(t.Context(), &reads), *by, &in)
			if err != nil || list.Pagination.Total != want {
				t.Fatal(list, err)
			}
			if by.Local && reads.Load() > 20 {
				t.Errorf("a page of 7 organizations reads %d records", reads.Load())
			}
			for _, o := range list.Data {
				ids = append(ids, o.ID)
			}
			if !list.Pagination.HasMore {
				break
			}
			in.Cursor = *list.Pagination.NextCursor
		}
		if len(ids) != want || !slices.IsSorted(ids) || by.Local == (ids[1] != "00000000-0000-7000-8000-000000000001") {
			t.Errorf("%d of %d organizations: %v", len(ids), want, ids)
		}
	}
}

// TestLocalUserOfServer checks that the local user of a server's data folder is not created, can read each organization
// by name, and can change none.
func TestLocalUserOfServer(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	none := h.mustCaller(t, localUser, "")
	if none.OrganizationID != "" || none.UserID != "" || !none.Local || !none.PlatformAdmin || none.Actor.Name != "Ada" {
		t.Errorf("%+v", none)
	}
	by := h.mustCaller(t, localUser, org.ID)
	if by.OrganizationID != org.ID || !by.May("audit:read") || !by.May("soa:read") {
		t.Errorf("%+v", by)
	}
	for _, p := range api.AllPermissions() {
		if text := string(p); by.May(p) && !strings.HasSuffix(text, ":read") && text != "kb:search" {
			t.Errorf("the local user may %s", p)
		}
	}
	if by.IsPerson() {
		t.Error("the local user may decide by delegation")
	}
	_, err := h.caller(t, localUser, "another")
	wantCode(t, "an organization that doesn't exist", err, api.CodeForbidden)
	mine, err := h.ListMyOrganizations(t.Context(), none, &api.Paging{Limit: 10})
	if err != nil || len(mine.Data) != 1 || mine.Data[0].Active || mine.Data[0].Role != api.RoleViewer {
		t.Errorf("%+v, %v", mine, err)
	}
	if me, err := h.GetMe(t.Context(), none, nil); err != nil || me.OrganizationID != nil {
		t.Errorf("%+v, %v", me, err)
	}
	if one, err := h.ActivateOrganization(t.Context(), none, &api.OrgInput{OrgID: org.ID}); err != nil || one.Role != api.RoleViewer {
		t.Errorf("%+v, %v", one, err)
	}
	chosen := h.mustCaller(t, localUser, "")
	if chosen.OrganizationID != org.ID || !chosen.May("audit:read") || chosen.May("soa:write") || chosen.IsPerson() {
		t.Errorf("%+v", chosen)
	}
	if me, err := h.GetMe(t.Context(), chosen, nil); err != nil || *me.OrganizationID != org.ID || *me.Role != api.RoleViewer {
		t.Errorf("%+v, %v", me, err)
	}
	users, err := h.ListUsers(t.Context(), none, &api.UsersInput{Paging: api.Paging{Limit: 10}})
	if err != nil || len(users.Data) != 1 {
		t.Errorf("%+v, %v", users, err)
	}
}

// TestLocalUserIsCreatedOnRequest checks that a data folder without organizations stays empty until a local
// organization is needed.
func TestLocalUserIsCreatedOnRequest(t *testing.T) {
	h := newTestService(t)
	if by := h.mustCaller(t, identity.Credential{Local: true}, ""); by.UserID != "" || by.OrganizationID != "" {
		t.Errorf("%+v", by)
	}
	if by := h.mustCaller(t, localUser, ""); by.UserID == "" || by.OrganizationID == "" || by.Scopes != nil {
		t.Errorf("%+v", by)
	}
}

// TestSessionsArePaged reads a user's sessions one by one, the one used last first.
func TestSessionsArePaged(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", "owner@acme.example")
	var by api.Caller
	for range 4 {
		h.now = h.now.Add(time.Minute)
		var err error
		by, err = h.caller(t, cookie(h.signIn(t, "owner@acme.example", password)), org.ID)
		if err != nil {
			t.Fatal(err)
		}
	}
	var used []time.Time
	for page := (api.Paging{Limit: 1}); ; {
		l, err := h.ListMySessions(t.Context(), by, &page)
		if err != nil {
			t.Fatal(err)
		}
		for _, have := range l.Data {
			used = append(used, have.LastUsedAt)
		}
		if l.Pagination.NextCursor == nil {
			break
		}
		page.Cursor = *l.Pagination.NextCursor
	}
	if len(used) != 4 || !slices.IsSortedFunc(used, func(a, b time.Time) int { return b.Compare(a) }) {
		t.Errorf("%v", used)
	}
}

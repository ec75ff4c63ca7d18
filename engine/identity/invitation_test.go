package identity_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// TestInvitationsLookAlike checks that what an inviting organization sees is the same for an address
// without an account, with one, with one whose invitation is pending elsewhere, and with a banned one.
func TestInvitationsLookAlike(t *testing.T) {
	h := newTestService(t)
	acme := h.createOrganization(t, "Acme", owner)
	acmeOwner := h.mustCaller(t, cookie(h.signIn(t, owner, password)), acme.ID)
	beta := h.createOrganization(t, "Beta", "boss@beta.example")
	boss := h.mustCaller(t, cookie(h.signIn(t, "boss@beta.example", password)), beta.ID)
	h.addMember(t, acmeOwner, "known@acme.example", api.RoleMember)
	h.invite(t, acmeOwner, "asked@acme.example", api.RoleViewer)
	banned := &api.BanUserInput{UserID: h.addMember(t, acmeOwner, "banned@acme.example", api.RoleMember).UserID}
	banned.Body.Reason = "left"
	if _, err := h.BanUser(t.Context(), h.mustCaller(t, localUser, ""), banned); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(24 * time.Hour)

	// seen returns everything the organization gets, without the values that always differ.
	seen := func(email string) string {
		t.Helper()
		m := h.invite(t, boss, email, api.RoleViewer)
		link := &api.LinkInput{}
		link.Body.Token = m.InviteToken
		what, err := h.GetLink(t.Context(), api.Caller{}, link)
		if err != nil {
			t.Fatal(err)
		}
		var refused []string
		for _, short := range []string{"", "short"} {
			_, err := h.accept(t, m.InviteToken, short)
			refused = append(refused, api.AsError(err).Message)
		}
		members, err := h.ListMembers(t.Context(), boss, &api.OrgMembersInput{Q: email})
		if err != nil || len(members.Data) != 1 {
			t.Fatalf("%v, %v", members, err)
		}
		member := members.Data[0]
		if member.ID != m.ID || member.CreatedAt != h.now || member.Email != email {
			t.Errorf("%+v", member)
		}
		m.ID, m.Email, m.InviteToken, m.InvitePath, member.ID, member.Email, what.Email = "", "", "", "", "", "", ""
		out, err := json.Marshal([]any{m, member, what, refused})
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := seen("new@acme.example")
	for _, email := range []string{"known@acme.example", "asked@acme.example", "banned@acme.example", owner} {
		if got := seen(email); got != want {
			t.Errorf("inviting %s shows\n%s, not\n%s", email, got, want)
		}
	}
	fields := reflect.TypeFor[api.NewMember]() // every field is compared above
	if fields.NumField() != 5 {
		t.Errorf("an invitation has %d fields; compare the new ones", fields.NumField())
	}

	// A banned user can't accept, and sees what a user with another password sees.
	m := h.invite(t, boss, "banned@acme.example", api.RoleViewer)
	_, err := h.accept(t, m.InviteToken, password)
	wantCode(t, "a banned user's password", err, api.CodeUnauthorized)
	m = h.invite(t, boss, "known@acme.example", api.RoleViewer)
	if _, other := h.accept(t, m.InviteToken, "not the password"); api.AsError(err).Message != api.AsError(other).Message {
		t.Errorf("banned: %v; another password: %v", err, other)
	}

	// What invited people do elsewhere does not appear in the inviting organization's audit trail.
	_, _ = h.trySignIn(t, "known@acme.example", "not the password", "198.51.100.7")
	_ = h.db.View(t.Context(), func(tx *store.Tx) error {
		for r, err := range store.Audit.Scan(tx, beta.ID) {
			if err != nil {
				t.Error(err)
			}
			if r.IP == "198.51.100.7" || r.Action == "session.refused" {
				t.Errorf("Beta sees %+v", r)
			}
		}
		return nil
	})
}

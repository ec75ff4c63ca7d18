package identity_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/identity"
	"github.com/scf-service/service/store"
)

func newService(t *testing.T) (*identity.Service, *store.DB) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: store.Tables, Clock: time.Now, NewID: func() string { return uuid.Must(uuid.NewV7()).String() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return identity.New(identity.Options{DB: db, LocalName: "Ada", LocalEmail: "ada@local"}), db
}

// The person whose machine it is exists once, owns an organization and administers the platform.
func TestLocalPerson(t *testing.T) {
	s, _ := newService(t)
	p, err := s.Local(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Local(t.Context(), true)
	if err != nil || again.UserID != p.UserID {
		t.Fatalf("a second person %v, %v", again, err)
	}
	by, err := s.Caller(t.Context(), p, "")
	if err != nil || by.Role != api.RoleOwner || !by.PlatformAdmin || by.Actor.Name != "Ada" || by.OrganizationID == "" {
		t.Fatalf("%+v, %v", by, err)
	}
	mine, err := s.Mine(t.Context(), by, &api.Paging{Limit: 10})
	if err != nil || len(mine.Data) != 1 || !mine.Data[0].Active || mine.Data[0].Role != api.RoleOwner {
		t.Fatalf("%+v, %v", mine, err)
	}
}

// Only a listener can vouch for the local person, and nobody enters another's organization.
func TestNoWayIn(t *testing.T) {
	s, db := newService(t)
	if _, err := s.Local(t.Context(), false); !api.IsCode(err, api.CodeUnauthorized) {
		t.Errorf("without a voucher: %v", err)
	}
	p, err := s.Local(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	other := api.Organization{Record: api.Record{ID: "other"}, Name: "Other", Slug: "other", Status: "active"}
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return store.Organizations.Insert(tx, &other) }); err != nil {
		t.Fatal(err)
	}
	for _, org := range []string{"other", "nowhere"} {
		if by, err := s.Caller(t.Context(), p, org); !api.IsCode(err, api.CodeForbidden) {
			t.Errorf("%s: %+v, %v", org, by, err)
		}
	}
}

// A person who is banned is out at once.
func TestBanned(t *testing.T) {
	s, db := newService(t)
	p, err := s.Local(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, p.UserID)
		if err != nil {
			return err
		}
		u.Status = "banned"
		return store.Users.Put(tx, &u)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Caller(t.Context(), p, ""); !api.IsCode(err, api.CodeUnauthorized) {
		t.Errorf("banned: %v", err)
	}
}

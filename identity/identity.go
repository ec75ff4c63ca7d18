// Package identity knows people, their organizations and their roles, and turns
// a verified credential into the caller that the engine trusts.
//
// It knows nothing of assessments or catalogs.
package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB *store.DB
	// LocalName and LocalEmail are the person whose machine it is, as the operating system knows them.
	LocalName, LocalEmail string
}

// Service answers the operations on people and organizations.
type Service struct {
	db          *store.DB
	name, email string
}

// New makes the service.
func New(o Options) *Service { return &Service{db: o.DB, name: o.LocalName, email: o.LocalEmail} }

// Principal is who a credential stands for, before an organization is chosen.
type Principal struct {
	UserID string
	Local  bool
}

const localUser = "local_user"

// EnsureLocal makes sure that the person whose machine it is exists, with an
// organization of their own to work in. It is done once per store.
func (s *Service) EnsureLocal(ctx context.Context) (userID string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		setting, err := store.Settings.Get(tx, localUser)
		userID = setting.Value
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		return userID, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if setting, err := store.Settings.Get(tx, localUser); !errors.Is(err, store.ErrNotFound) {
			userID = setting.Value
			return err
		}
		userID = tx.NewID()
		user := api.User{Record: newRecord(tx, userID), Email: s.email, Name: s.name, PlatformAdmin: true, Status: "active"}
		org := api.Organization{Record: newRecord(tx, tx.NewID()), Name: "Local workspace", Slug: "local", Status: "active", Settings: map[string]any{}}
		member := store.Membership{ID: tx.NewID(), OrganizationID: org.ID, UserID: userID, Role: api.RoleOwner, Status: "active",
			CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		return errors.Join(
			store.Users.Insert(tx, &user), store.Organizations.Insert(tx, &org), store.Memberships.Insert(tx, &member),
			store.Settings.Insert(tx, &store.Setting{Name: localUser, Value: userID}))
	})
	return userID, err
}

func newRecord(tx *store.Tx, id string) api.Record {
	return api.Record{ID: id, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
}

// Local is the person whose machine it is, where the listener vouches for it.
func (s *Service) Local(ctx context.Context, vouched bool) (Principal, error) {
	if !vouched {
		return Principal{}, api.Unauthorized("sign in, or send an API key in the header Authorization: Bearer %s…", api.APIKeyPrefix)
	}
	id, err := s.EnsureLocal(ctx)
	return Principal{UserID: id, Local: true}, err
}

// Caller is the principal within an organization: the one named, or where none
// is named the first it belongs to. An organization it does not belong to is
// FORBIDDEN, whether it exists or not.
func (s *Service) Caller(ctx context.Context, p Principal, organizationID string) (api.Caller, error) {
	by := api.Caller{UserID: p.UserID}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		user, err := store.Users.Get(tx, p.UserID)
		if err != nil {
			return fmt.Errorf("the signed-in person: %w", err)
		}
		if user.Status != "active" {
			return api.Unauthorized("this account can't sign in")
		}
		by.Actor = api.Actor{Type: api.ActorUser, ID: user.ID, Name: user.Name}
		by.PlatformAdmin = user.PlatformAdmin
		for m, err := range store.Memberships.Scan(tx, store.Prefix(p.UserID)) {
			if err != nil {
				return err
			}
			if m.Status == "active" && (organizationID == "" || m.OrganizationID == organizationID) {
				by.OrganizationID, by.Role = m.OrganizationID, m.Role
				return nil
			}
		}
		if organizationID != "" {
			return api.Forbidden("you do not belong to the organization of the header %s", api.TenantHeader)
		}
		return nil
	})
	return by, err
}

// Mine lists the organizations the caller belongs to.
func (s *Service) Mine(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.MyOrganization], error) {
	out := &api.List[api.MyOrganization]{Data: []api.MyOrganization{}}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		for m, err := range store.Memberships.Scan(tx, store.Prefix(by.UserID)) {
			if err != nil {
				return err
			}
			org, err := store.Organizations.Get(tx, m.OrganizationID)
			if err != nil {
				return err
			}
			if m.Status == "active" {
				out.Data = append(out.Data, api.MyOrganization{Organization: org, Role: m.Role, Active: org.ID == by.OrganizationID})
			}
		}
		return nil
	})
	out.Pagination = api.Pagination{Total: len(out.Data), Limit: max(len(out.Data), in.Limit)}
	return out, err
}

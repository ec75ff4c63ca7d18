package identity

import (
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

const (
	localUser = "local_user"
	// localOrganization is the name of the setting that stores the local user's active organization.
	localOrganization = "local_organization"
)

// EnsureLocalUser makes sure that the local user of the machine exists, with an organization of their
// own to work in. It runs once per store.
func (s *Service) EnsureLocalUser(ctx context.Context) (userID string, err error) {
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
		user := api.User{Record: newRecord(tx, userID), Email: s.localEmail, Name: s.localName, PlatformAdmin: true, Status: statusActive}
		org := api.Organization{
			Record:   newRecord(tx, tx.NewID()),
			Name:     "Local workspace",
			Slug:     "local",
			Status:   statusActive,
			Settings: map[string]any{},
		}
		return errors.Join(
			store.Users.Insert(tx, &user), store.Organizations.Insert(tx, &org), addMember(tx, org.ID, userID, api.RoleOwner, statusActive),
			store.Settings.Insert(tx, &store.Setting{Name: localUser, Value: userID}))
	})
	return userID, err
}

// addMember adds a user to an organization.
func addMember(tx *store.Tx, org, user string, role api.Role, status string) error {
	return store.Memberships.Insert(tx, &store.Membership{
		ID: tx.NewID(), OrganizationID: org, UserID: user, Role: role, Status: status,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	})
}

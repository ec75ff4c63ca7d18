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

// localUserID returns the local user of the machine. If the store has no organization and create is
// set, it creates the user together with an organization. It returns "" if there is no local user.
func (s *Service) localUserID(ctx context.Context, create bool) (userID string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		setting, err := store.Settings.Get(tx, localUser)
		if !errors.Is(err, store.ErrNotFound) {
			userID, create = setting.Value, false
			return err
		}
		n, err := store.Organizations.Count(tx)
		create = create && n == 0
		return err
	})
	if err != nil || !create {
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
			Slug:     api.LocalOrganizationSlug,
			Status:   statusActive,
			Settings: map[string]any{},
		}
		return errors.Join(
			store.Users.Insert(tx, &user), store.Organizations.Insert(tx, &org), addMember(tx, org.ID, userID, api.RoleOwner, statusActive),
			store.Settings.Insert(tx, &store.Setting{Name: localUser, Value: userID}))
	})
	return userID, err
}

// FirstOrganization returns the ID of the oldest organization, or "" if there is none.
func (s *Service) FirstOrganization(ctx context.Context) (id string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		for o, err := range store.Organizations.Scan(tx) {
			id = o.ID
			return err
		}
		return nil
	})
	return id, err
}

// addMember adds a user to an organization.
func addMember(tx *store.Tx, org, user string, role api.Role, status string) error {
	return store.Memberships.Insert(tx, &store.Membership{
		ID: tx.NewID(), OrganizationID: org, UserID: user, Role: role, Status: status,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	})
}

package identity

import (
	"context"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// ListUsers lists all users, for the platform admin.
func (s *Service) ListUsers(ctx context.Context, _ api.Caller, in *api.UsersInput) (*api.List[api.User], error) {
	q := strings.ToLower(in.Q)
	filter := store.FilterIf(api.HasFilters(in), func(u *api.User) bool {
		return (in.Status == "" || u.Status == in.Status) && strings.Contains(strings.ToLower(u.Email+" "+u.Name), q)
	})
	return store.ListGlobal(ctx, s.db, store.Users, in.Paging, store.PageQuery[api.User]{Filter: filter})
}

func getUser(tx *store.Tx, id string) (api.User, error) {
	u, err := store.Users.Get(tx, id)
	return u, store.ToNotFound(err, "user", id)
}

// BanUser bans a user, and immediately ends the user's sessions, links and keys in every organization.
func (s *Service) BanUser(ctx context.Context, by api.Caller, in *api.BanUserInput) (*api.User, error) {
	var u api.User
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if u, err = getUser(tx, in.UserID); err != nil {
			return err
		}
		switch {
		case u.ID == by.UserID:
			return api.Conflict("you can't ban yourself")
		case u.Status == statusBanned:
			return nil
		}
		if local, err := store.Settings.Get(tx, localUser); err == nil && local.Value == u.ID {
			return api.Conflict("this is the local user of this machine; a ban would lock the user out of their own data folder")
		}
		reason := strings.TrimSpace(in.Body.Reason)
		if reason == "" {
			return api.Invalid("reason", "give a reason, which will be visible to the user's organizations")
		}
		u.Status, u.BanReason, u.UpdatedAt = statusBanned, &reason, tx.Now()
		if err := store.Users.Update(tx, &u); err != nil {
			return err
		}
		if _, err := deleteSessions(tx, u.ID, ""); err != nil {
			return err
		}
		if err := deleteMatchingOrExpiredLinks(tx, u.ID, func(store.OneTimeLink) bool { return true }); err != nil {
			return err
		}
		return forEachOrganization(tx, u.ID, by, func(here api.Caller) error {
			if err := revokeUserKeysInOrganization(tx, here, u.ID); err != nil {
				return err
			}
			if err := endDelegationsGivenBy(tx, here, u.ID, displayName(u)+" was banned", true); err != nil {
				return err
			}
			return appendAudit(tx, here, "user.banned", "user", u.ID, map[string]any{"reason": reason})
		})
	})
	return &u, err
}

// forEachOrganization calls visit for each organization that a user has joined. Organizations that have
// only invited the user are skipped, so that they learn nothing about the user.
func forEachOrganization(tx *store.Tx, userID string, by api.Caller, visit func(here api.Caller) error) error {
	places, err := listMemberships(tx, userID)
	if err != nil {
		return err
	}
	for _, m := range places {
		if m.Status == statusInvited {
			continue
		}
		by.OrganizationID = m.OrganizationID
		if err := visit(by); err != nil {
			return err
		}
	}
	return nil
}

// revokeUserKeysInOrganization revokes a user's keys in the caller's organization.
func revokeUserKeysInOrganization(tx *store.Tx, by api.Caller, userID string) error {
	for k, err := range store.APIKeys.Scan(tx, by.OrganizationID) {
		if err != nil {
			return err
		}
		if k.CreatedBy == userID && k.RevokedAt == nil {
			if err := revokeKey(tx, by, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnbanUser lets a user sign in again. Their sessions and keys are not restored.
func (s *Service) UnbanUser(ctx context.Context, by api.Caller, in *api.UserInput) (*api.User, error) {
	var u api.User
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if u, err = getUser(tx, in.UserID); err != nil || u.Status != statusBanned {
			return err
		}
		u.Status, u.BanReason, u.UpdatedAt = statusActive, nil, tx.Now()
		if hasPassword, err := store.Passwords.Has(tx, u.ID); err != nil {
			return err
		} else if !hasPassword {
			u.Status = statusInvited
		}
		if err := store.Users.Update(tx, &u); err != nil {
			return err
		}
		return forEachOrganization(tx, u.ID, by, func(here api.Caller) error {
			return appendAudit(tx, here, "user.unbanned", "user", u.ID, nil)
		})
	})
	return &u, err
}

// CreatePasswordLink creates a link for a user who has lost their password.
func (s *Service) CreatePasswordLink(ctx context.Context, by api.Caller, in *api.UserInput) (*api.PasswordLink, error) {
	var out *api.PasswordLink
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		u, err := getUser(tx, in.UserID)
		if err != nil {
			return err
		}
		if u.Status == statusBanned {
			return api.Conflict("%s is banned", u.Email)
		}
		token, expires, err := replaceOneTimeLink(
			tx,
			store.OneTimeLink{Purpose: purposePassword, UserID: u.ID, CreatedBy: by.UserID},
			passwordLinkLifetime,
		)
		if err != nil {
			return err
		}
		out = &api.PasswordLink{Token: token, Path: linkPath + token, ExpiresAt: expires}
		return appendAudit(tx, by, "password.link_created", "user", u.ID, nil)
	})
	return out, err
}

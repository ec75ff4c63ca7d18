package identity

import (
	"context"
	"errors"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// The purposes of single-use links, and how long they are valid.
const (
	purposeInvite        = "invite"
	purposePassword      = "password"
	inviteLifetime       = 7 * 24 * time.Hour
	passwordLinkLifetime = 24 * time.Hour
	// linkPath is the page that opens a link. The secret follows the #, which browsers do not send,
	// so it can't appear in logs.
	linkPath = "/link#"
)

// replaceOneTimeLink creates a link that is valid for life, and deletes the user's earlier links with the
// same purpose and organization.
func replaceOneTimeLink(tx *store.Tx, l store.OneTimeLink, life time.Duration) (token string, expires time.Time, err error) {
	same := func(o store.OneTimeLink) bool { return o.Purpose == l.Purpose && o.OrganizationID == l.OrganizationID }
	if err := deleteMatchingOrExpiredLinks(tx, l.UserID, same); err != nil {
		return "", time.Time{}, err
	}
	token, l.Secret = newSecret()
	l.ExpiresAt = tx.Now().Add(life)
	return token, l.ExpiresAt, store.OneTimeLinks.Insert(tx, &l)
}

func deleteMatchingOrExpiredLinks(tx *store.Tx, userID string, match func(store.OneTimeLink) bool) error {
	for l, err := range store.OneTimeLinks.By("user").Scan(tx, store.Prefix(userID)) {
		if err != nil {
			return err
		}
		if match(l) || hasPassed(&l.ExpiresAt, tx.Now()) {
			if err := store.OneTimeLinks.Delete(tx, l.Secret); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUpLink returns a link and its user. Every invalid link gives the same UNAUTHORIZED error.
func lookUpLink(tx *store.Tx, token string) (l store.OneTimeLink, user api.User, err error) {
	refused := api.Unauthorized("invalid link: it has been used or replaced, or has expired; ask for a new link")
	if !isWellFormedSecret(token) {
		return l, user, refused
	}
	l, err = store.OneTimeLinks.Get(tx, hashSecret(token))
	if ok, err := foundFromError(err); err != nil || !ok || hasPassed(&l.ExpiresAt, tx.Now()) {
		return l, user, storeErrorOr(err, refused)
	}
	if user, err = store.Users.Get(tx, l.UserID); err != nil {
		return l, user, err
	}
	// Banned users can open an invitation too, so that it reveals nothing about the account.
	if user.Status == statusBanned && l.Purpose != purposeInvite {
		return l, user, refused
	}
	return l, user, nil
}

// GetLink returns the purpose of a link without using it.
func (s *Service) GetLink(ctx context.Context, _ api.Caller, in *api.LinkInput) (*api.Link, error) {
	out := &api.Link{NeedsPassword: true}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		l, user, err := lookUpLink(tx, in.Body.Token)
		if err != nil {
			return err
		}
		out.Purpose, out.Email, out.ExpiresAt = l.Purpose, user.Email, l.ExpiresAt
		if l.Purpose != purposeInvite {
			return nil
		}
		org, err := store.Organizations.Get(tx, l.OrganizationID)
		if err != nil {
			return err
		}
		m, err := store.Memberships.Get(tx, user.ID, org.ID)
		out.Organization, out.Role = &org.Name, &m.Role
		return err
	})
	return out, err
}

// AcceptLink uses a single-use link and starts a session. Users who accept an invitation and
// already have a password must enter it: otherwise, anyone with the link could change it.
func (s *Service) AcceptLink(ctx context.Context, by api.Caller, in *api.AcceptLinkInput) (*api.SignedInUser, error) {
	tries := guesser{account: "links", address: by.Address} // links have no account to protect
	if err := s.throttle.refuseIfTooSoon(tries); err != nil {
		return nil, err
	}
	var link store.OneTimeLink
	var user api.User
	var password store.Password
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if link, user, err = lookUpLink(tx, in.Body.Token); err != nil {
			return err
		}
		password, err = getPassword(tx, user.ID)
		return err
	})
	if err != nil {
		if api.IsCode(err, api.CodeUnauthorized) {
			s.throttle.recordFailure(tries)
		}
		return nil, err
	}
	// The rules for new passwords are checked first: a password that breaks them reveals nothing about an
	// account.
	if err := validatePassword("password", in.Body.Password); err != nil {
		return nil, err
	}
	hash := ""
	switch {
	case user.Status == statusBanned:
		err = s.checkPassword(ctx, user, "", in.Body.Password, by) // no password matches
	case link.Purpose == purposePassword || password.Hash == "":
		hash, err = s.passwords.validateAndHash(ctx, "password", in.Body.Password)
	default:
		err = s.checkPassword(ctx, user, password.Hash, in.Body.Password, by)
	}
	if err != nil {
		return nil, err
	}
	var out *api.SignedInUser
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		l, user, err := lookUpLink(tx, in.Body.Token)
		if err != nil {
			return err
		}
		if err := store.OneTimeLinks.Delete(tx, l.Secret); err != nil {
			return err
		}
		if user.Status == statusBanned { // while the password was being checked
			return api.Unauthorized("this account can't sign in; ask the operator of this service")
		}
		if user.Name == "" && in.Body.Name != "" {
			user.Name = in.Body.Name
		}
		user.Status, user.UpdatedAt = statusActive, tx.Now()
		if err := store.Users.Update(tx, &user); err != nil {
			return err
		}
		if hash != "" {
			if err := setPasswordAndEndSessions(tx, user.ID, hash, ""); err != nil {
				return err
			}
		}
		if l.Purpose == purposeInvite {
			if err := activateMembership(tx, l, by); err != nil {
				return err
			}
		}
		if out, err = s.startSession(tx, user.ID, by); err != nil || l.Purpose != purposeInvite {
			return err
		}
		session, err := store.Sessions.Get(tx, hashSecret(out.Token))
		if err != nil {
			return err
		}
		session.OrganizationID = l.OrganizationID
		out.Session = toAPISession(session)
		return store.Sessions.Update(tx, &session)
	})
	if err != nil {
		return nil, err
	}
	s.addDeviceToken(out)
	return out, nil
}

// activateMembership turns an invitation into a membership.
func activateMembership(tx *store.Tx, l store.OneTimeLink, by api.Caller) error {
	m, err := store.Memberships.Get(tx, l.UserID, l.OrganizationID)
	if errors.Is(err, store.ErrNotFound) {
		return api.Unauthorized("the invitation was withdrawn; ask for a new invitation")
	}
	if err != nil {
		return err
	}
	m.Status, m.UpdatedAt = statusActive, tx.Now()
	if err := store.Memberships.Update(tx, &m); err != nil {
		return err
	}
	user, err := store.Users.Get(tx, l.UserID)
	if err != nil {
		return err
	}
	by.OrganizationID, by.UserID, by.Actor = l.OrganizationID, user.ID, api.Actor{Type: api.ActorUser, ID: user.ID, Name: displayName(user)}
	return appendAudit(tx, by, "member.joined", "member", m.ID, map[string]any{"role": string(m.Role)})
}

// checkPassword returns an error if the password doesn't match the user's hash.
func (s *Service) checkPassword(ctx context.Context, user api.User, hash, password string, by api.Caller) error {
	from := guesser{account: user.Email, address: by.Address, device: s.recognizeDevice(by.DeviceToken, user.ID)}
	right, err := s.verifyPassword(ctx, from, password, hash)
	if err != nil || right {
		return err
	}
	return api.Unauthorized("wrong password; enter the password of your existing account, so that nobody else can " +
		"accept the invitation in your name")
}

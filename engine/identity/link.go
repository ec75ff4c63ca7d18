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
	// so it appears in no log.
	linkPath = "/link#"
)

// replaceOneTimeLink creates a link and revokes earlier ones of the same purpose and organization.
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

// lookUpLink returns a link with its user; any invalid link gives the same UNAUTHORIZED error.
func lookUpLink(tx *store.Tx, token string) (l store.OneTimeLink, user api.User, err error) {
	refused := api.Unauthorized("invalid link: it was used, replaced, or has expired; ask for a new one")
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
	if user.Status == statusBanned {
		return l, user, refused
	}
	return l, user, nil
}

// GetLink returns the purpose of a link without using it.
func (s *Service) GetLink(ctx context.Context, _ api.Caller, in *api.LinkInput) (*api.Link, error) {
	return s.describeLink(ctx, in.Body.Token)
}

func (s *Service) describeLink(ctx context.Context, token string) (*api.Link, error) {
	out := &api.Link{}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		l, user, err := lookUpLink(tx, token)
		if err != nil {
			return err
		}
		out.Purpose, out.Email, out.ExpiresAt = l.Purpose, user.Email, l.ExpiresAt
		hasPassword, err := store.Passwords.Has(tx, user.ID)
		if err != nil {
			return err
		}
		out.NeedsPassword = l.Purpose == purposePassword || !hasPassword
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

// AcceptLink uses a link and starts a session. A user with a password keeps it on an invitation:
// the link alone does not let a stranger change it.
func (s *Service) AcceptLink(ctx context.Context, by api.Caller, in *api.AcceptLinkInput) (*api.SignedInUser, error) {
	// Links have no account to protect, so attempts are throttled per network only.
	tries := "links from " + NetworkKey(by.Address)
	if err := s.throttle.refuseIfTooSoon(tries, by.Address); err != nil {
		return nil, err
	}
	what, err := s.describeLink(ctx, in.Body.Token)
	if err != nil {
		if api.IsCode(err, api.CodeUnauthorized) {
			s.throttle.recordFailure(tries, by.Address)
		}
		return nil, err
	}
	hash := ""
	switch {
	case what.NeedsPassword:
		if hash, err = s.passwords.validateAndHash(ctx, "password", in.Body.Password); err != nil {
			return nil, err
		}
	case in.Body.Password != "":
		if err := s.checkPassword(ctx, what.Email, in.Body.Password, by); err != nil {
			return nil, err
		}
	default:
		return nil, api.Invalid("password", "you already have an account here: enter its password, so that nobody else can accept in your name")
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
	return out, err
}

// activateMembership turns an invitation into a membership.
func activateMembership(tx *store.Tx, l store.OneTimeLink, by api.Caller) error {
	m, err := store.Memberships.Get(tx, l.UserID, l.OrganizationID)
	if errors.Is(err, store.ErrNotFound) {
		return api.Unauthorized("the invitation was withdrawn; ask for a new one")
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

// checkPassword checks the password of a user who has one.
func (s *Service) checkPassword(ctx context.Context, email, password string, by api.Caller) error {
	var have store.Password
	err := s.db.View(ctx, func(tx *store.Tx) error {
		user, err := userByEmail(tx, email)
		if err != nil {
			return err
		}
		have, err = store.Passwords.Get(tx, user.ID)
		return err
	})
	if err != nil {
		return err
	}
	right, err := s.verifyPassword(ctx, email, by, password, have.Hash)
	if err != nil {
		return err
	}
	if !right {
		return api.Unauthorized("wrong password")
	}
	return nil
}

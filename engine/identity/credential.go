package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Credential is what a request brought to say who it is from.
type Credential struct {
	// Bearer is what followed "Bearer " in the Authorization header, Cookie the session cookie.
	Bearer, Cookie string
	// Local: the listener vouches for the person whose machine it is.
	Local bool
}

// Principal is who a credential stands for, before an organization is chosen.
type Principal struct {
	// ID names the credential, not the person: requests are counted by it.
	ID     string
	UserID string
	Local  bool
	// session is the one of a signed-in browser, key the API key; nil where it is the other.
	session *store.Session
	key     *store.APIKey
	// slid: this request has moved the session's end away.
	slid bool
}

// FromBrowser tells whether the credential is one that a browser sends by itself.
func (p Principal) FromBrowser() bool { return p.session != nil }

// openedKey is an API key with the end of the secret that opened it.
type openedKey struct {
	key   store.APIKey
	until *time.Time
}

const (
	// sessionLife is how long a session lasts without use.
	sessionLife = 12 * time.Hour
	// A use is written down at most this often.
	touchSession, touchKey = 5 * time.Minute, time.Minute
	// maxTouched bounds the memory of who was seen when.
	maxTouched = 50_000
)

// Identify verifies a credential. Whatever is wrong with it, the answer is the same UNAUTHORIZED.
func (s *Service) Identify(ctx context.Context, c Credential) (Principal, error) {
	switch {
	case c.Local:
		id, err := s.EnsureLocal(ctx)
		return Principal{ID: "local", UserID: id, Local: true}, err
	case c.Bearer != "":
		return s.identifyKey(ctx, c.Bearer)
	case c.Cookie != "":
		return s.identifySession(ctx, c.Cookie)
	}
	return Principal{}, api.Unauthorized("sign in, or send an API key in the header Authorization: Bearer %s…", api.APIKeyPrefix)
}

func (s *Service) identifyKey(ctx context.Context, token string) (Principal, error) {
	refused := api.Unauthorized("this API key is not valid here: it is unknown, revoked or expired")
	secret, ok := strings.CutPrefix(token, api.APIKeyPrefix)
	if !ok || !wellFormed(secret) {
		return Principal{}, refused
	}
	kept := keep(secret)
	k, err := s.keys.Get(kept, func() (k openedKey, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			have, err := store.KeySecrets.Get(tx, kept)
			if err != nil {
				return err
			}
			k.until = have.ValidUntil
			k.key, err = store.APIKeys.Get(tx, have.OrganizationID, have.KeyID)
			return err
		})
		return k, err
	})
	key, now := k.key, s.clock()
	if ok, err := found(err); err != nil || !ok || past(k.until, now) || key.RevokedAt != nil || past(key.ExpiresAt, now) {
		return Principal{}, orElse(err, refused)
	}
	if s.seen(key.ID, touchKey) {
		if err := s.touchKey(ctx, key.OrganizationID, key.ID); err != nil {
			return Principal{}, err
		}
	}
	return Principal{ID: "key " + key.ID, UserID: key.CreatedBy, key: &key}, nil
}

func (s *Service) identifySession(ctx context.Context, token string) (Principal, error) {
	refused := api.Unauthorized("the session has ended; sign in again")
	if !wellFormed(token) {
		return Principal{}, refused
	}
	kept := keep(token)
	have, err := s.sessions.Get(kept, func() (have store.Session, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) (err error) {
			have, err = store.Sessions.Get(tx, kept)
			return err
		})
		return have, err
	})
	if ok, err := found(err); err != nil || !ok || past(&have.ExpiresAt, s.clock()) {
		return Principal{}, orElse(err, refused)
	}
	slid := s.clock().Sub(have.SeenAt) >= touchSession && s.seen(have.ID, touchSession)
	if slid {
		if have, err = s.slide(ctx, have.Secret); err != nil {
			return Principal{}, orElse(err, refused)
		}
	}
	return Principal{ID: "session " + have.ID, UserID: have.UserID, session: &have, slid: slid}, nil
}

// past tells whether an end, if there is one, was reached.
func past(end *time.Time, now time.Time) bool { return end != nil && !now.Before(*end) }

// orElse is err where the store failed, else the refusal.
func orElse(err error, refused *api.Error) error {
	if ok, err := found(err); err != nil && !ok {
		return err
	}
	return refused
}

// seen tells whether a use should be written down now: not where this process did
// so a short while ago, so that many requests at once write once.
func (s *Service) seen(id string, every time.Duration) bool {
	now := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.touched[id]; ok && now.Sub(last) < every {
		return false
	}
	if len(s.touched) >= maxTouched {
		clear(s.touched)
	}
	s.touched[id] = now
	return true
}

func (s *Service) touchKey(ctx context.Context, org, id string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		key, err := store.APIKeys.Get(tx, org, id)
		if ok, err := found(err); err != nil || !ok {
			return err
		}
		now := tx.Now()
		key.LastUsedAt = &now
		return store.APIKeys.Update(tx, org, &key)
	})
}

// slide moves a session's end away; store.ErrNotFound where it has ended meanwhile.
func (s *Service) slide(ctx context.Context, secret string) (have store.Session, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if have, err = store.Sessions.Get(tx, secret); err != nil {
			return err
		}
		have.SeenAt, have.ExpiresAt = tx.Now(), tx.Now().Add(sessionLife)
		return store.Sessions.Update(tx, &have)
	})
	return have, err
}

// Slid is the end of a session that this request has moved away; false where it has not.
func (p Principal) Slid() (time.Time, bool) {
	if !p.slid {
		return time.Time{}, false
	}
	return p.session.ExpiresAt, true
}

// Caller is the principal within an organization: the one named, or where none is
// named the key's, the active one, or the first it belongs to. An organization it
// does not belong to is FORBIDDEN, whether it exists or not.
func (s *Service) Caller(ctx context.Context, p Principal, organizationID string) (api.Caller, error) {
	return s.callers.Get(p.ID+"\x00"+organizationID, func() (by api.Caller, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			by, err = callerIn(tx, p, organizationID)
			return err
		})
		return by, err
	})
}

func callerIn(tx *store.Tx, p Principal, organizationID string) (api.Caller, error) {
	user, err := store.Users.Get(tx, p.UserID)
	if err != nil {
		return api.Caller{}, fmt.Errorf("the person of the credential: %w", err)
	}
	if user.Status != active {
		return api.Caller{}, api.Unauthorized("this account can't sign in")
	}
	by := api.Caller{UserID: user.ID, Local: p.Local, PlatformAdmin: user.PlatformAdmin,
		Actor: api.Actor{Type: api.ActorUser, ID: user.ID, Name: nameOf(user)}}
	wanted, preferred := organizationID, ""
	switch {
	case p.key != nil:
		by.Actor = api.Actor{Type: api.ActorAPIKey, ID: p.key.ID, Name: p.key.Name}
		by.Scopes = api.ExpandScopes(p.key.Scopes)
		if wanted != "" && wanted != p.key.OrganizationID {
			return by, api.Forbidden("this API key belongs to another organization than the header %s names", api.TenantHeader)
		}
		wanted = p.key.OrganizationID
	case p.session != nil:
		by.SessionID, preferred = p.session.ID, p.session.OrganizationID
	case p.Local:
		setting, err := store.Settings.Get(tx, localOrganization)
		if _, err := found(err); err != nil {
			return by, err
		}
		preferred = setting.Value
	}
	places, err := memberships(tx, user.ID)
	if err != nil {
		return by, err
	}
	places = slices.DeleteFunc(places, func(m store.Membership) bool { return m.Status != active })
	place := slices.IndexFunc(places, func(m store.Membership) bool { return m.OrganizationID == wanted })
	switch {
	case place >= 0:
	case p.key != nil:
		return by, api.Unauthorized("the person whose key this is does not belong to its organization any more")
	case wanted != "":
		return by, api.Forbidden("you do not belong to the organization of the header %s", api.TenantHeader)
	default:
		return inAny(tx, by, places, preferred)
	}
	org, err := store.Organizations.Get(tx, places[place].OrganizationID)
	if err != nil {
		return by, err
	}
	if org.Status == suspended {
		by.OrganizationID = org.ID // for the note of the refusal
		return by, api.Forbidden("the organization %q is suspended; ask the operator of this service", org.Name)
	}
	by.OrganizationID, by.Role = org.ID, places[place].Role
	if p.key == nil {
		by.Delegate, err = isDelegate(tx, org.ID, user.ID)
	}
	return by, err
}

// inAny is the caller in the preferred one of their places, else the first. A suspended
// organization is none: nobody acts in it by not naming it.
func inAny(tx *store.Tx, by api.Caller, places []store.Membership, preferred string) (api.Caller, error) {
	for _, m := range places {
		org, err := store.Organizations.Get(tx, m.OrganizationID)
		if err != nil {
			return by, err
		}
		if org.Status != suspended && (by.OrganizationID == "" || org.ID == preferred) {
			by.OrganizationID, by.Role = org.ID, m.Role
		}
	}
	var err error
	if by.OrganizationID != "" {
		by.Delegate, err = isDelegate(tx, by.OrganizationID, by.UserID)
	}
	return by, err
}

func nameOf(u api.User) string {
	if u.Name != "" {
		return u.Name
	}
	return u.Email
}

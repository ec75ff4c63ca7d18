package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Credential holds the credentials of a request.
type Credential struct {
	// Bearer is the token after "Bearer " in the Authorization header, Cookie the session cookie.
	Bearer, Cookie string
	// Local is true if the listener guarantees that the request comes from the machine's local
	// user. CreateLocal creates that user, together with an organization, if the store has no
	// organization yet.
	Local, CreateLocal bool
}

// Principal is the owner of a verified credential, before an organization has been chosen.
type Principal struct {
	// ID identifies the credential, not the user; rate limits count by it.
	ID     string
	UserID string
	Local  bool
	// localName is the name of a local user who is not stored, as in the data folder of a server.
	localName string
	// session is set for a signed-in browser, key for an API key; the other is nil.
	session *store.Session
	key     *store.APIKey
	// extended is true if this request extended the session.
	extended bool
}

// IsFromBrowser reports whether the credential is one that browsers send automatically: a session's
// cookie.
func (p Principal) IsFromBrowser() bool { return p.session != nil }

// cachedKey is an API key with the expiry of the secret that authenticated it.
type cachedKey struct {
	key        store.APIKey
	validUntil *time.Time
}

const (
	// sessionLifetime is how long a session lasts without use.
	sessionLifetime = 12 * time.Hour
	// sessionUseInterval and keyUseInterval are the minimum times between two records of last use.
	sessionUseInterval, keyUseInterval = 5 * time.Minute, time.Minute
	// maxRecordedUses is the maximum number of last uses held in memory.
	maxRecordedUses = 50_000
)

// Authenticate verifies a credential. Every invalid credential gives an UNAUTHORIZED error that
// does not reveal the cause.
func (s *Service) Authenticate(ctx context.Context, c Credential) (Principal, error) {
	switch {
	case c.Local:
		id, err := s.localUserID(ctx, c.CreateLocal)
		return Principal{ID: "local", UserID: id, Local: true, localName: s.localName}, err
	case c.Bearer != "":
		return s.authenticateKey(ctx, c.Bearer)
	case c.Cookie != "":
		return s.authenticateSession(ctx, c.Cookie)
	}
	return Principal{}, api.Unauthorized("sign in, or send an API key in the Authorization header: Bearer %s…", api.APIKeyPrefix)
}

// authenticateKey verifies an API key and, if due, records its use.
func (s *Service) authenticateKey(ctx context.Context, token string) (Principal, error) {
	refused := api.Unauthorized("invalid API key: it is unknown, revoked or expired")
	secret, ok := strings.CutPrefix(token, api.APIKeyPrefix)
	if !ok || !isWellFormedSecret(secret) {
		return Principal{}, refused
	}
	hash := hashSecret(secret)
	k, err := s.keyCache.GetOrCompute(hash, func() (k cachedKey, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			keySecret, err := store.KeySecrets.Get(tx, hash)
			if err != nil {
				return err
			}
			k.validUntil = keySecret.ValidUntil
			k.key, err = store.APIKeys.Get(tx, keySecret.OrganizationID, keySecret.KeyID)
			return err
		})
		return k, err
	})
	key, now := k.key, s.clock()
	if ok, err := foundFromError(err); err != nil || !ok || hasPassed(k.validUntil, now) || key.RevokedAt != nil ||
		hasPassed(key.ExpiresAt, now) {
		return Principal{}, storeErrorOr(err, refused)
	}
	if s.markUseIfDue(key.ID, keyUseInterval) {
		if err := s.recordKeyUse(ctx, key.OrganizationID, key.ID); err != nil {
			return Principal{}, err
		}
	}
	return Principal{ID: "key " + key.ID, UserID: key.CreatedBy, key: &key}, nil
}

// authenticateSession verifies a session token. If the session was last extended some time ago, it
// extends the session.
func (s *Service) authenticateSession(ctx context.Context, token string) (Principal, error) {
	refused := api.Unauthorized("the session has ended; sign in again")
	if !isWellFormedSecret(token) {
		return Principal{}, refused
	}
	hash := hashSecret(token)
	have, err := s.sessionCache.GetOrCompute(hash, func() (have store.Session, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) (err error) {
			have, err = store.Sessions.Get(tx, hash)
			return err
		})
		return have, err
	})
	if ok, err := foundFromError(err); err != nil || !ok || hasPassed(&have.ExpiresAt, s.clock()) {
		return Principal{}, storeErrorOr(err, refused)
	}
	slid := s.clock().Sub(have.SeenAt) >= sessionUseInterval && s.markUseIfDue(have.ID, sessionUseInterval)
	if slid {
		if have, err = s.extendSession(ctx, have.Secret); err != nil {
			return Principal{}, storeErrorOr(err, refused)
		}
	}
	return Principal{ID: "session " + have.ID, UserID: have.UserID, session: &have, extended: slid}, nil
}

// hasPassed reports whether end is set and has been reached.
func hasPassed(end *time.Time, now time.Time) bool { return end != nil && !now.Before(*end) }

// storeErrorOr returns err if the store failed, or refused if the record merely doesn't exist.
func storeErrorOr(err error, refused *api.Error) error {
	if ok, err := foundFromError(err); err != nil && !ok {
		return err
	}
	return refused
}

// markUseIfDue reports whether a use should be recorded now. It returns false if this process
// recorded one recently, so that many concurrent requests cause only one write.
func (s *Service) markUseIfDue(id string, every time.Duration) (isDue bool) {
	now := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.lastRecorded[id]; ok && now.Sub(last) < every {
		return false
	}
	if len(s.lastRecorded) >= maxRecordedUses {
		clear(s.lastRecorded)
	}
	s.lastRecorded[id] = now
	return true
}

// recordKeyUse sets a key's last use to now. It does nothing if the key no longer exists.
func (s *Service) recordKeyUse(ctx context.Context, org, keyID string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		key, err := store.APIKeys.Get(tx, org, keyID)
		if ok, err := foundFromError(err); err != nil || !ok {
			return err
		}
		now := tx.Now()
		key.LastUsedAt = &now
		return store.APIKeys.Update(tx, org, &key)
	})
}

// extendSession extends a session, or returns store.ErrNotFound if it has ended.
func (s *Service) extendSession(ctx context.Context, secretHash string) (have store.Session, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if have, err = store.Sessions.Get(tx, secretHash); err != nil {
			return err
		}
		have.SeenAt, have.ExpiresAt = tx.Now(), tx.Now().Add(sessionLifetime)
		return store.Sessions.Update(tx, &have)
	})
	return have, err
}

// RenewedUntil returns the new expiry of the session and true if this request extended it.
func (p Principal) RenewedUntil() (expiry time.Time, wasRenewed bool) {
	if !p.extended {
		return time.Time{}, false
	}
	return p.session.ExpiresAt, true
}

// ResolveCaller returns the principal as a caller within an organization: the named one or, by
// default, the key's, the active one, or the first one the principal belongs to. If the principal
// doesn't belong to the named organization, the error is FORBIDDEN, whether the organization exists
// or not.
func (s *Service) ResolveCaller(ctx context.Context, p Principal, organizationID string) (api.Caller, error) {
	return s.callerCache.GetOrCompute(p.ID+"\x00"+organizationID, func() (by api.Caller, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			by, err = resolveCaller(tx, p, organizationID)
			return err
		})
		return by, err
	})
}

func resolveCaller(tx *store.Tx, p Principal, organizationID string) (api.Caller, error) {
	user, err := readUser(tx, p.UserID, p.Local, p.localName)
	if err != nil {
		return api.Caller{}, fmt.Errorf("reading the user that the credential belongs to: %w", err)
	}
	if user.Status != statusActive {
		return api.Caller{}, api.Unauthorized("this account can't sign in; ask the operator of this service")
	}
	by := api.Caller{
		UserID: user.ID, Local: p.Local, PlatformAdmin: user.PlatformAdmin,
		Actor: api.Actor{Type: api.ActorUser, ID: user.ID, Name: displayName(user)},
	}
	wanted, preferred := organizationID, ""
	switch {
	case p.key != nil:
		by.Actor = api.Actor{Type: api.ActorAPIKey, ID: p.key.ID, Name: p.key.Name}
		by.Scopes = api.ExpandScopes(p.key.Scopes)
		if by.PlatformAdmin && !slices.Contains(by.Scopes, api.PlatformAdmin) {
			by.PlatformAdmin, by.ImportsCatalogs = false, true
		}
		if wanted != "" && wanted != p.key.OrganizationID {
			return by, api.Forbidden("this API key belongs to a different organization than the one in the %s "+
				"header", api.TenantHeader)
		}
		wanted = p.key.OrganizationID
	case p.session != nil:
		by.SessionID, preferred = p.session.ID, p.session.OrganizationID
	case p.Local:
		setting, err := store.Settings.Get(tx, localOrganization)
		if _, err := foundFromError(err); err != nil {
			return by, err
		}
		preferred = setting.Value
	}
	if wanted == "" {
		return callerInDefaultOrganization(tx, by, preferred)
	}
	place, err := membershipIn(tx, by, wanted)
	switch {
	case err != nil:
		return by, err
	case place != nil && place.Status == statusActive:
	case p.key != nil:
		return by, api.Unauthorized("the owner of this key is no longer a member of its organization")
	default:
		return by, api.NotMember()
	}
	org, err := store.Organizations.Get(tx, place.OrganizationID)
	if err != nil {
		return by, err
	}
	if org.Status == statusSuspended {
		by.OrganizationID = org.ID // for the audit record of the denied request
		return by, api.Forbidden("the organization %q is suspended; ask the operator of this service", org.Name)
	}
	return callerWithMembership(tx, by, *place)
}

// readUser returns a user. A local user without an ID is not stored and has only a name.
func readUser(tx *store.Tx, id string, local bool, localName string) (api.User, error) {
	if local && id == "" {
		return api.User{Name: localName, PlatformAdmin: true, Status: statusActive}, nil
	}
	return store.Users.Get(tx, id)
}

// callerWithMembership returns the caller in the organization of a membership.
func callerWithMembership(tx *store.Tx, by api.Caller, m store.Membership) (_ api.Caller, err error) {
	by.OrganizationID, by.Role = m.OrganizationID, m.Role
	if isReadOnlyMembership(m) {
		by.Scopes = api.ReadPermissions()
	} else if by.Actor.Type == api.ActorUser {
		by.Delegate, err = hasUnrevokedDelegation(tx, by.OrganizationID, by.UserID)
	}
	return by, err
}

// membershipIn returns a caller's membership in an organization, or nil if there is none. The local user of a data folder
// can also read its other organizations, because whoever has the folder can; those memberships are not stored.
func membershipIn(tx *store.Tx, by api.Caller, org string) (*store.Membership, error) {
	if by.UserID != "" {
		m, err := store.Memberships.Get(tx, by.UserID, org)
		if err == nil {
			return &m, nil
		}
		if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrBadKey) { // it may be any text of a header
			return nil, err
		}
	}
	if !by.Local || org == "" {
		return nil, nil
	}
	exists, err := store.Organizations.Has(tx, org)
	if err != nil || !exists {
		if errors.Is(err, store.ErrBadKey) {
			err = nil
		}
		return nil, err
	}
	return readOnlyMembership(by, org), nil
}

// readOnlyMembership returns the local user's membership in an organization that it doesn't belong to.
func readOnlyMembership(by api.Caller, org string) *store.Membership {
	return &store.Membership{OrganizationID: org, UserID: by.UserID, Role: api.RoleOwner, Status: statusActive}
}

// isReadOnlyMembership reports whether a membership only lets the local user read an organization.
func isReadOnlyMembership(m store.Membership) bool { return m.ID == "" }

// displayedRole returns the role that users are shown for a membership.
func displayedRole(m store.Membership) api.Role {
	if isReadOnlyMembership(m) {
		return api.RoleViewer
	}
	return m.Role
}

// callerInDefaultOrganization returns the caller in the preferred organization, or in the first one
// if the caller is not a member of the preferred one. Suspended organizations are skipped, so that
// omitting the header does not bypass a suspension. Organizations that the local user can only read
// are never the default.
func callerInDefaultOrganization(tx *store.Tx, by api.Caller, preferred string) (api.Caller, error) {
	isUsable := func(m *store.Membership) (bool, error) {
		if m == nil || m.Status != statusActive {
			return false, nil
		}
		org, err := store.Organizations.Get(tx, m.OrganizationID)
		return org.Status != statusSuspended, err
	}
	chosen, err := membershipIn(tx, by, preferred)
	if err != nil {
		return by, err
	}
	usable, err := isUsable(chosen)
	if !usable && err == nil && by.UserID != "" {
		for m, scanErr := range store.Memberships.Scan(tx, store.Prefix(by.UserID)) {
			if scanErr != nil {
				return by, scanErr
			}
			chosen = &m
			if usable, err = isUsable(chosen); usable || err != nil {
				break
			}
		}
	}
	if err != nil || !usable {
		return by, err
	}
	return callerWithMembership(tx, by, *chosen)
}

func displayName(u api.User) string {
	if u.Name != "" {
		return u.Name
	}
	return u.Email
}

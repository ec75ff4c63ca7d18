package identity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// getPassword returns a user's password; its hash is empty if the user has none.
func getPassword(tx *store.Tx, userID string) (store.Password, error) {
	p, err := store.Passwords.Get(tx, userID)
	_, err = foundFromError(err)
	return p, err
}

// SignIn starts a session. Its error never reveals whether the account or the password was wrong.
func (s *Service) SignIn(ctx context.Context, by api.Caller, in *api.SignInInput) (*api.SignedInUser, error) {
	email := normalizeEmail(in.Body.Email)
	var user api.User
	var password store.Password
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		user, err = userByEmail(tx, email)
		if ok, err := foundFromError(err); err != nil || !ok {
			return err
		}
		password, err = getPassword(tx, user.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	if user.Status != statusActive {
		password.Hash = "" // no password matches
	}
	from := guesser{account: email, address: by.Address, device: s.recognizeDevice(by.DeviceToken, user.ID)}
	right, err := s.verifyPassword(ctx, from, in.Body.Password, password.Hash)
	if err != nil {
		return nil, err
	}
	if !right {
		if err := s.auditFailedSignIn(ctx, user, by); err != nil {
			return nil, err
		}
		return nil, api.Unauthorized("wrong email address or password")
	}
	var out *api.SignedInUser
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		out, err = s.startSession(tx, user.ID, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.addDeviceToken(out)
	return out, nil
}

// verifyPassword compares a password with an account's hash. After failures, it rejects further
// attempts by the same guesser that come too soon.
func (s *Service) verifyPassword(ctx context.Context, from guesser, password, hash string) (bool, error) {
	slow := func() error { return s.throttle.refuseIfTooSoon(from) }
	if err := slow(); err != nil { // before waiting for a hashing slot
		return false, err
	}
	right, err := s.passwords.compare(ctx, password, hash, slow, func() { s.throttle.recordFailure(from) })
	if right {
		s.throttle.clearFailures(from)
	}
	return right, err
}

// auditFailedSignIn records a failed sign-in in the audit chains of the user's organizations.
func (s *Service) auditFailedSignIn(ctx context.Context, user api.User, by api.Caller) error {
	if user.ID == "" {
		return nil
	}
	by.Actor = api.Actor{Type: api.ActorUser, ID: user.ID, Name: displayName(user)}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return forEachOrganization(tx, user.ID, by, func(here api.Caller) error {
			return audit.Append(
				tx,
				here,
				audit.Entry{Action: "session.refused", ResourceType: "user", ResourceID: user.ID, Outcome: audit.Failure},
			)
		})
	})
}

// startSession creates a session for an active user.
func (s *Service) startSession(tx *store.Tx, userID string, by api.Caller) (*api.SignedInUser, error) {
	user, err := store.Users.Get(tx, userID)
	if err != nil {
		return nil, err
	}
	if user.Status != statusActive {
		return nil, api.Unauthorized("this account can't sign in; ask the operator of this service")
	}
	now := tx.Now()
	user.LastSignInAt, user.UpdatedAt = &now, now
	if err := store.Users.Update(tx, &user); err != nil {
		return nil, err
	}
	if err := s.deleteExpiredAndExcessSessions(tx, user.ID); err != nil {
		return nil, err
	}
	token, hash := newSecret()
	session := store.Session{
		Secret:    hash,
		ID:        tx.NewID(),
		UserID:    user.ID,
		CreatedAt: now,
		SeenAt:    now,
		ExpiresAt: now.Add(sessionLifetime),
		Address:   by.Address,
	}
	caller, err := resolveCaller(tx, Principal{UserID: user.ID, session: &session}, "")
	if err != nil {
		return nil, err
	}
	session.OrganizationID = caller.OrganizationID
	if err := store.Sessions.Insert(tx, &session); err != nil {
		return nil, err
	}
	caller.TraceID, caller.Address = by.TraceID, by.Address
	if err := appendAudit(tx, caller, "session.started", "user", user.ID, nil); err != nil {
		return nil, err
	}
	return &api.SignedInUser{User: user, Session: toAPISession(session), Token: token}, nil
}

func toAPISession(have store.Session) api.Session {
	out := api.Session{ExpiresAt: have.ExpiresAt}
	if have.OrganizationID != "" {
		out.ActiveOrganizationID = &have.OrganizationID
	}
	return out
}

// maxSessions is the maximum number of sessions per user; the oldest ones are ended.
const maxSessions = 50

// deleteExpiredAndExcessSessions deletes a user's expired sessions, and the oldest if there are too many.
func (s *Service) deleteExpiredAndExcessSessions(tx *store.Tx, userID string) error {
	var live, removed []store.Session
	for session, err := range store.Sessions.By("user").Scan(tx, store.Prefix(userID)) {
		if err != nil {
			return err
		}
		if hasPassed(&session.ExpiresAt, tx.Now()) {
			removed = append(removed, session)
		} else {
			live = append(live, session)
		}
	}
	slices.SortFunc(live, func(a, b store.Session) int { return a.SeenAt.Compare(b.SeenAt) })
	if excess := len(live) - maxSessions + 1; excess > 0 {
		removed = append(removed, live[:excess]...)
	}
	for _, session := range removed {
		if err := store.Sessions.Delete(tx, session.Secret); err != nil {
			return err
		}
	}
	return nil
}

// deleteSessions ends a user's sessions, except the one with exceptID, and returns the number of ended
// sessions.
func deleteSessions(tx *store.Tx, userID, exceptID string) (n int, err error) {
	for session, err := range store.Sessions.By("user").Scan(tx, store.Prefix(userID)) {
		if err != nil {
			return n, err
		}
		if session.ID != exceptID {
			if err := store.Sessions.Delete(tx, session.Secret); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// currentSession finds the session of the request.
func currentSession(tx *store.Tx, by api.Caller) (store.Session, error) {
	for session, err := range store.Sessions.By("user").Scan(tx, store.Prefix(by.UserID)) {
		if err != nil || session.ID == by.SessionID {
			return session, err
		}
	}
	return store.Session{}, api.Unauthorized("the session has ended; sign in again")
}

func requireSession(by api.Caller) error {
	if by.SessionID == "" {
		return api.Unauthorized("this requires a browser session; sign in with email and password")
	}
	return nil
}

// GetSession returns the session of the request.
func (s *Service) GetSession(ctx context.Context, by api.Caller, _ *api.None) (*api.SignedInUser, error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	out := &api.SignedInUser{}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		session, err := currentSession(tx, by)
		if err != nil {
			return err
		}
		out.Session = toAPISession(session)
		out.User, err = store.Users.Get(tx, by.UserID)
		return err
	})
	return out, err
}

// SignOut ends the session of the request.
func (s *Service) SignOut(ctx context.Context, by api.Caller, _ *api.None) (*api.SignedOut, error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		session, err := currentSession(tx, by)
		if err != nil {
			return err
		}
		if err := store.Sessions.Delete(tx, session.Secret); err != nil {
			return err
		}
		return appendAudit(tx, by, "session.ended", "user", by.UserID, nil)
	})
	return &api.SignedOut{OK: true}, err
}

// SignOutEverywhere ends all sessions of the request's user.
func (s *Service) SignOutEverywhere(ctx context.Context, by api.Caller, _ *api.None) (*api.SignedOut, error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := deleteSessions(tx, by.UserID, ""); err != nil {
			return err
		}
		return appendAudit(tx, by, "session.ended_everywhere", "user", by.UserID, nil)
	})
	return &api.SignedOut{OK: true}, err
}

// ListMySessions returns the sessions of the request's user that have not expired, most recently used first.
func (s *Service) ListMySessions(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.UserSession], error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	var all []api.UserSession
	err := s.db.View(ctx, func(tx *store.Tx) error {
		all = nil
		for have, err := range store.Sessions.By("user").Scan(tx, store.Prefix(by.UserID)) {
			if err != nil {
				return err
			}
			if !hasPassed(&have.ExpiresAt, s.clock()) {
				all = append(all, api.UserSession{
					ID: have.ID, CreatedAt: have.CreatedAt, UpdatedAt: have.SeenAt, LastUsedAt: have.SeenAt,
					ExpiresAt: have.ExpiresAt, Address: have.Address,
					Current: have.ID == by.SessionID,
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	key := func(have *api.UserSession) string {
		return fmt.Sprintf("%019d %s", math.MaxInt64-have.LastUsedAt.UnixNano(), have.ID)
	}
	slices.SortFunc(all, func(a, b api.UserSession) int { return strings.Compare(key(&a), key(&b)) })
	return store.PageSlice(all, *in, key)
}

// EndMySession ends one of the sessions of the request's user.
func (s *Service) EndMySession(ctx context.Context, by api.Caller, in *api.UserSessionInput) (*api.None, error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		session, err := currentSession(tx, api.Caller{UserID: by.UserID, SessionID: in.SessionID})
		if api.IsCode(err, api.CodeUnauthorized) {
			return api.NotFound("session", in.SessionID)
		}
		if err != nil {
			return err
		}
		if err := store.Sessions.Delete(tx, session.Secret); err != nil {
			return err
		}
		return appendAudit(tx, by, "session.ended", "session", session.ID, nil)
	})
	return &api.None{}, err
}

// ChangePassword changes the password of the session's user and ends the user's other sessions.
func (s *Service) ChangePassword(ctx context.Context, by api.Caller, in *api.ChangePasswordInput) (*api.User, error) {
	if err := requireSession(by); err != nil {
		return nil, err
	}
	var old store.Password
	var user api.User
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if user, err = store.Users.Get(tx, by.UserID); err != nil {
			return err
		}
		old, err = getPassword(tx, by.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	from := guesser{account: user.Email, address: by.Address, device: "with session " + by.SessionID}
	right, err := s.verifyPassword(ctx, from, in.Body.Current, old.Hash)
	if err != nil {
		return nil, err
	}
	if !right {
		return nil, api.Invalid("current_password", "wrong current password")
	}
	hash, err := s.passwords.validateAndHash(ctx, "new_password", in.Body.New)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := setPasswordAndEndSessions(tx, by.UserID, hash, by.SessionID); err != nil {
			return err
		}
		return appendAudit(tx, by, "password.changed", "user", by.UserID, nil)
	})
	return &user, err
}

// setPasswordAndEndSessions replaces a user's password, deletes the user's password links and ends all the
// user's sessions except one.
func setPasswordAndEndSessions(tx *store.Tx, userID, hash, exceptSessionID string) error {
	if err := store.Passwords.Put(tx, &store.Password{UserID: userID, Hash: hash, ChangedAt: tx.Now()}); err != nil {
		return err
	}
	if _, err := deleteSessions(tx, userID, exceptSessionID); err != nil {
		return err
	}
	return deleteMatchingOrExpiredLinks(tx, userID, func(l store.OneTimeLink) bool { return l.Purpose == purposePassword })
}

// GetMe returns the caller and their permissions in the organization of the request.
func (s *Service) GetMe(ctx context.Context, by api.Caller, _ *api.None) (*api.Me, error) {
	out := &api.Me{Actor: by.Actor, Permissions: []api.Permission{}}
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if out.User, err = readUser(tx, by.UserID, by.Local, by.Actor.Name); err != nil {
			return err
		}
		for _, p := range api.AllPermissions() {
			if by.May(p) {
				out.Permissions = append(out.Permissions, p)
			}
		}
		switch by.Actor.Type {
		case api.ActorAPIKey:
			key, err := store.APIKeys.Get(tx, by.OrganizationID, by.Actor.ID)
			if err != nil {
				return err
			}
			out.ExpiresAt = key.ExpiresAt
		default:
			if by.SessionID != "" {
				session, err := currentSession(tx, by)
				if err != nil {
					return err
				}
				out.ExpiresAt = &session.ExpiresAt
			}
		}
		if by.OrganizationID == "" {
			return nil
		}
		org, err := store.Organizations.Get(tx, by.OrganizationID)
		out.OrganizationID, out.Organization, out.Role = &org.ID, &org.Name, &by.Role
		if by.Local && by.Scopes != nil {
			*out.Role = api.RoleViewer
		}
		return err
	})
	return out, err
}

// ListMyOrganizations lists the organizations the caller belongs to; an API key gets only its own organization.
func (s *Service) ListMyOrganizations(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.MyOrganization], error) {
	out := &api.List[api.MyOrganization]{}
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		switch {
		case by.Actor.Type == api.ActorAPIKey:
			out, err = listOrganizationOfKey(tx, by, in)
		case by.Local:
			out, err = listLocalOrganizations(tx, by, in)
		default:
			out, err = listOrganizationsOfMember(tx, by, in)
		}
		return err
	})
	return out, err
}

func listOrganizationOfKey(tx *store.Tx, by api.Caller, in *api.Paging) (*api.List[api.MyOrganization], error) {
	var all []api.MyOrganization
	m, err := membershipIn(tx, by, by.OrganizationID)
	if err != nil {
		return nil, err
	}
	if m != nil && m.Status == statusActive {
		org, err := store.Organizations.Get(tx, m.OrganizationID)
		if err != nil {
			return nil, err
		}
		all = append(all, myOrganization(by, org, m))
	}
	return store.PageSlice(all, *in, func(o *api.MyOrganization) string { return o.ID })
}

// listLocalOrganizations lists all organizations of the data folder, except those in which the local user's membership
// is not active.
func listLocalOrganizations(tx *store.Tx, by api.Caller, in *api.Paging) (*api.List[api.MyOrganization], error) {
	own, hidden := map[string]*store.Membership{}, map[string]bool{}
	if by.UserID != "" {
		memberships, err := listMemberships(tx, by.UserID)
		if err != nil {
			return nil, err
		}
		for i := range memberships {
			m := &memberships[i]
			if own[m.OrganizationID] = m; m.Status != statusActive {
				hidden[m.OrganizationID] = true
			}
		}
	}
	q := store.PageQuery[api.Organization]{Filter: store.FilterIf(len(hidden) > 0, func(o *api.Organization) bool { return !hidden[o.ID] })}
	list, err := store.ListGlobalInTx(tx, store.Organizations, *in, q)
	if err != nil {
		return nil, err
	}
	return api.MapList(list, func(o *api.Organization) api.MyOrganization {
		return myOrganization(by, *o, cmp.Or(own[o.ID], readOnlyMembership(by, o.ID)))
	}), nil
}

// listOrganizationsOfMember lists the organizations in which the caller's membership is active.
func listOrganizationsOfMember(tx *store.Tx, by api.Caller, in *api.Paging) (*api.List[api.MyOrganization], error) {
	list, err := store.ListGlobalInTx(tx, store.Memberships, *in, store.PageQuery[store.Membership]{
		Prefix: store.K(by.UserID), Filter: func(m *store.Membership) bool { return m.Status == statusActive },
	})
	if err != nil {
		return nil, err
	}
	out := &api.List[api.MyOrganization]{Data: make([]api.MyOrganization, 0, len(list.Data)), Pagination: list.Pagination}
	for i := range list.Data {
		org, err := store.Organizations.Get(tx, list.Data[i].OrganizationID)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, myOrganization(by, org, &list.Data[i]))
	}
	return out, nil
}

func myOrganization(by api.Caller, org api.Organization, m *store.Membership) api.MyOrganization {
	return api.MyOrganization{Organization: org, Role: displayedRole(*m), Active: org.ID == by.OrganizationID}
}

// ActivateOrganization makes an organization the active one of the session.
func (s *Service) ActivateOrganization(ctx context.Context, by api.Caller, in *api.OrgInput) (*api.MyOrganization, error) {
	var out *api.MyOrganization
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := membershipIn(tx, by, in.OrgID)
		if err != nil {
			return err
		}
		if m == nil || m.Status != statusActive || (by.Actor.Type == api.ActorAPIKey && in.OrgID != by.OrganizationID) {
			return api.NotFound("organization", in.OrgID)
		}
		org, err := store.Organizations.Get(tx, in.OrgID)
		if err != nil {
			return err
		}
		out = &api.MyOrganization{Organization: org, Role: displayedRole(*m), Active: true}
		switch {
		case by.Local:
			return store.Settings.Put(tx, &store.Setting{Name: localOrganization, Value: org.ID})
		case by.SessionID != "":
			session, err := currentSession(tx, by)
			if err != nil {
				return err
			}
			session.OrganizationID = org.ID
			return store.Sessions.Update(tx, &session)
		}
		return nil
	})
	return out, err
}

func normalizeEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

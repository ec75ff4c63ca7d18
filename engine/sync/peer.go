package sync

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/sync/bundle"
	"github.com/scf-service/service/store"
)

// maxPeers is the maximum number of peers an organization can trust.
const maxPeers = 1_000

// GetOrCreateKey returns the organization's key for bundles. It creates the key if there is none or
// the input requests a replacement.
func (s *Service) GetOrCreateKey(ctx context.Context, by api.Caller, in *api.CreateSyncKeyInput) (*api.SyncKey, error) {
	if in.Body.Replace {
		if err := by.Require(api.ApprovalDecide); err != nil {
			return nil, api.Forbidden("only an owner or admin can replace the key that others trust")
		}
	}
	rec, err := s.readStoredKey(ctx, by)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || in.Body.Replace {
		if rec, err = s.createKey(ctx, by, rec.Key); err != nil {
			return nil, err
		}
	}
	k, err := bundle.ParseKey(rec.Key)
	if err != nil {
		return nil, err
	}
	return &api.SyncKey{Name: k.Name, Key: rec.Key, Fingerprint: k.Fingerprint(), CreatedAt: rec.CreatedAt}, nil
}

func (s *Service) readStoredKey(ctx context.Context, by api.Caller) (rec store.SyncKey, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		rec, err = store.SyncKeys.Get(tx, by.OrganizationID, "key")
		return err
	})
	return rec, err
}

// createKey creates a key that replaces replacedKey. If another request has replaced that key in the
// meantime, it returns the other request's key.
func (s *Service) createKey(ctx context.Context, by api.Caller, replacedKey string) (rec store.SyncKey, err error) {
	org := by.OrganizationID
	var o api.Organization
	if err := s.DB.View(ctx, func(tx *store.Tx) (err error) { o, err = store.Organizations.Get(tx, org); return err }); err != nil {
		return rec, err
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, cmp.Or(o.Name, o.Slug, org))
	secret, err := bundle.NewSecretKey(org, strings.ToValidUTF8(name[:min(len(name), 200)], ""))
	if err != nil {
		return rec, err
	}
	sealed, err := secret.Seal(s.Seal)
	if err != nil {
		return rec, err
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err := store.SyncKeys.Get(tx, org, "key")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if now.Key != replacedKey {
			rec = now
			return nil
		}
		rec = store.SyncKey{OrganizationID: org, CreatedAt: tx.Now(), Key: secret.Text(), Sealed: sealed}
		return errors.Join(
			store.SyncKeys.Put(tx, org, &rec),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "sync.key_created",
					ResourceType: "sync_key",
					ResourceID:   secret.Fingerprint(),
					Changes:      map[string]any{"replaced": replacedKey != ""},
				},
			),
		)
	})
	return rec, err
}

// loadSecretKey returns the organization's secret key for bundles.
func (s *Service) loadSecretKey(ctx context.Context, by api.Caller) (*bundle.SecretKey, error) {
	rec, err := s.readStoredKey(ctx, by)
	if errors.Is(err, store.ErrNotFound) {
		return nil, api.Conflict(
			"the organization has no bundle key yet: create one with `service sync key` and send it to the other side, so that they can trust it",
		)
	}
	if err != nil {
		return nil, err
	}
	k, err := bundle.ParseKey(rec.Key)
	if err != nil {
		return nil, err
	}
	return bundle.Unseal(k, rec.Sealed, s.Open)
}

// ListPeers lists the peers whose bundles are accepted.
func (s *Service) ListPeers(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.SyncPeer], error) {
	l, err := store.List(ctx, s.DB, store.SyncPeers, by.OrganizationID, *in, store.PageQuery[api.SyncPeer]{})
	if err != nil {
		return nil, err
	}
	for i := range l.Data { // keys trusted by an earlier version have no stored expiry
		l.Data[i].May = cmp.Or(l.Data[i].May, api.PeerMayChanges)
	}
	return l, nil
}

// TrustPeer makes this organization accept bundles signed by a key for api.PeerTrustDays, on behalf of
// an account. Trusting a key again starts a new period. The key's name and account stay the same unless
// others are given, but decisions must be permitted each time.
func (s *Service) TrustPeer(ctx context.Context, by api.Caller, in *api.TrustSyncPeerInput) (*api.SyncPeer, error) {
	k, err := bundle.ParseKey(in.Body.Key)
	if err != nil {
		return nil, err
	}
	may := cmp.Or(in.Body.May, api.PeerMayChanges)
	if !by.IsPerson() {
		return nil, api.Forbidden("only a signed-in user can trust a key, because the key acts with all rights of that user's account")
	}
	if may == api.PeerMayApprove && !by.May(api.ApprovalDecide) {
		return nil, api.Forbidden("only an owner or admin can trust a key to sign decisions; trust the key for changes only, or ask an owner or admin")
	}
	var out api.SyncPeer
	return &out, s.DB.Update(ctx, func(tx *store.Tx) error {
		org := by.OrganizationID
		if own, err := store.SyncKeys.Get(tx, org, "key"); err == nil && own.Key == k.Text() {
			return api.Invalid("key", "this is your own organization's key; trust the other side's key")
		}
		out, err = store.SyncPeers.By("fingerprint").Get(tx, org, k.Fingerprint())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		known := err == nil
		if known && out.UserID != by.UserID {
			if err := by.Require("member:write"); err != nil {
				return api.Forbidden("the key is trusted for %s; only that user, an owner or an admin can change this", out.UserName)
			}
		}
		u, err := accountForKey(tx, by, in.Body.Email, out.UserID)
		if err != nil {
			return err
		}
		if !known {
			n, err := store.SyncPeers.Count(tx, org)
			if err != nil {
				return err
			}
			if n >= maxPeers {
				return api.Conflict("%d keys are already trusted; remove keys that are no longer used", n)
			}
			out = api.SyncPeer{
				TenantRecord: api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now()}, OrganizationID: org},
				Fingerprint:  k.Fingerprint(),
				Key:          k.Text(),
			}
		}
		out.Name, out.UserID, out.UserName = cmp.Or(in.Body.Name, out.Name, k.Name), u.ID, cmp.Or(u.Name, u.Email)
		out.TrustedBy, out.UpdatedAt, out.May, out.ExpiresAt = by.Actor.Name, tx.Now(), may, tx.Now().AddDate(0, 0, api.PeerTrustDays)
		return errors.Join(
			store.SyncPeers.Put(tx, org, &out),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       actionPeerTrusted,
					ResourceType: "sync_peer",
					ResourceID:   out.ID,
					Changes: map[string]any{
						"fingerprint": out.Fingerprint, "name": out.Name, "user_id": u.ID,
						"may": out.May, "expires_at": out.ExpiresAt,
					},
				},
			),
		)
	})
}

// accountForKey returns the account that a key acts as. The default is currentUserID or, if that is
// empty, the caller. Callers who may manage members can name another member by email. Only owners
// can let a key act as an owner.
func accountForKey(tx *store.Tx, by api.Caller, email, currentUserID string) (api.User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	u, err := store.Users.Get(tx, cmp.Or(currentUserID, by.UserID))
	if err == nil && email != "" && email != strings.ToLower(u.Email) {
		u, err = store.Users.By("email").Get(tx, email)
	}
	if err == nil && u.ID == by.UserID {
		return u, nil
	}
	if err := by.Require("member:write"); err != nil {
		return u, api.Forbidden("only an owner or admin can let a key act as another account")
	}
	if email = cmp.Or(email, u.Email); err != nil {
		return u, store.ToNotFound(err, "member", email)
	}
	m, err := store.Memberships.Get(tx, u.ID, by.OrganizationID)
	if err != nil || m.Status != "active" {
		return u, cmp.Or(store.ToNotFound(err, "member", email), error(api.NotFound("member", email)))
	}
	if m.Role == api.RoleOwner && by.Role != api.RoleOwner {
		return u, api.Forbidden("only an owner can let a key act as an owner")
	}
	return u, nil
}

const actionPeerTrusted = "sync.peer_trusted"

// maxAuditRecordsForClock limits the number of audit records that requireTrustNotExpired reads.
const maxAuditRecordsForClock = 1_000

// requireTrustNotExpired returns an error if the trust in the key has expired. It also considers the latest time in
// the audit trail, so that setting the clock back doesn't extend the trust.
func requireTrustNotExpired(tx *store.Tx, p *api.SyncPeer) error {
	now, n := tx.Now(), 0
	for rec, err := range store.Audit.Scan(tx, p.OrganizationID, store.Reverse) {
		if err != nil {
			return err
		}
		if n++; n > maxAuditRecordsForClock || rec.Action == actionPeerTrusted && rec.ResourceID == p.ID {
			break
		}
		if rec.At.After(now) {
			now = rec.At
		}
	}
	if now.Before(p.ExpiresAt) {
		return nil
	}
	when := "was trusted by an earlier version of this program, without an expiry date"
	if !p.ExpiresAt.IsZero() {
		when = "expired on " + p.ExpiresAt.Format(time.DateOnly)
	}
	return api.Conflict(
		"the trusted key %q (%s) %s; ask the key's owner whether the key is still in use, then renew it for %d days with `%s`",
		p.Name, p.Fingerprint, when, api.PeerTrustDays, p.TrustCommand(cmp.Or(p.May, api.PeerMayChanges)),
	)
}

// DistrustPeer makes this organization stop accepting bundles signed with a key, and stop writing bundles for that key.
func (s *Service) DistrustPeer(ctx context.Context, by api.Caller, in *api.SyncPeerInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		p, err := store.SyncPeers.Get(tx, by.OrganizationID, in.PeerID)
		if err != nil {
			return store.ToNotFound(err, "peer", in.PeerID)
		}
		if p.UserID != by.UserID {
			if err := by.Require("member:write"); err != nil {
				return api.Forbidden("the key is trusted for %s; only that user, an owner or an admin can revoke this", p.UserName)
			}
		}
		return errors.Join(
			store.SyncPeers.Delete(tx, by.OrganizationID, p.ID),
			audit.Append(
				tx,
				by,
				audit.Entry{
					Action:       "sync.peer_distrusted",
					ResourceType: "sync_peer",
					ResourceID:   p.ID,
					Changes:      map[string]any{"fingerprint": p.Fingerprint, "name": p.Name},
				},
			),
		)
	})
}

// peerCaller returns the account that the peer acts as, limited to what the peer's key may submit, with
// the trace ID and address of the importing request. If that account is no longer a member with the
// given permission, ok is false, and the importing user is returned with the same limits.
func peerCaller(tx *store.Tx, by api.Caller, p *api.SyncPeer, permission api.Permission) (as api.Caller, ok bool, err error) {
	by.Peer = p
	if p.UserID == by.UserID && by.Scopes == nil && by.Role.May(permission) {
		return by, true, nil
	}
	m, err := store.Memberships.Get(tx, p.UserID, by.OrganizationID)
	if errors.Is(err, store.ErrNotFound) || err == nil && (m.Status != "active" || !m.Role.May(permission)) {
		return by, false, nil
	}
	if err != nil {
		return by, false, err
	}
	u, err := store.Users.Get(tx, p.UserID)
	if err != nil {
		return by, false, err
	}
	if u.Status != "active" {
		return by, false, nil
	}
	return api.Caller{
		UserID: u.ID, OrganizationID: by.OrganizationID, Role: m.Role,
		Actor:   api.Actor{Type: api.ActorUser, ID: u.ID, Name: cmp.Or(u.Name, u.Email)},
		TraceID: by.TraceID, Address: by.Address, Peer: p,
	}, true, nil
}

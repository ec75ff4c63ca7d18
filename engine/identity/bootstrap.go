package identity

import (
	"context"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// EnsureAdminWithEmail creates the first platform admin with their organization if there is none yet. Later
// calls change nothing, so that changes made by users, such as a new password, outlive the
// configuration.
func (s *Service) EnsureAdminWithEmail(ctx context.Context, organization, email, password string) (made bool, err error) {
	isKnown := func() (known bool, err error) {
		err = s.db.View(ctx, func(tx *store.Tx) error {
			_, err := userByEmail(tx, normalizeEmail(email))
			known, err = foundFromError(err)
			return err
		})
		return known, err
	}
	if known, err := isKnown(); err != nil || known {
		return false, err
	}
	in := &api.NewOrganizationInput{}
	in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password, in.Body.Owner.PlatformAdmin = organization, email, password, true
	if err := validatePassword("SERVICE_ADMIN_PASSWORD", password); err != nil {
		return false, err
	}
	if _, err = s.CreateOrganization(ctx, api.Caller{Actor: api.Actor{Type: api.ActorUser, Name: "configuration"}}, in); err != nil {
		if known, _ := isKnown(); known { // another process on the same database was faster
			return false, nil
		}
	}
	return err == nil, err
}

// DeleteExpired deletes expired sessions, links and old secrets of rotated keys. It reads only these.
func (s *Service) DeleteExpired(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := deleteExpiredRecords(
			tx, store.Sessions, func(r *store.Session) (*time.Time, string) { return &r.ExpiresAt, r.Secret },
		); err != nil {
			return err
		}
		if err := deleteExpiredRecords(
			tx, store.OneTimeLinks, func(r *store.OneTimeLink) (*time.Time, string) { return &r.ExpiresAt, r.Secret },
		); err != nil {
			return err
		}
		return deleteExpiredRecords(tx, store.KeySecrets, func(r *store.KeySecret) (*time.Time, string) { return r.ValidUntil, r.Secret })
	})
}

// deleteExpiredRecords deletes the expired records of a table with an index of expiry times. of returns a record's expiry
// time and key.
func deleteExpiredRecords[R any](tx *store.Tx, t *store.Table[R], of func(*R) (expiry *time.Time, key string)) error {
	for r, err := range t.By("expiry").Scan(tx) {
		if err != nil {
			return err
		}
		expiry, key := of(&r)
		if !hasPassed(expiry, tx.Now()) {
			return nil
		}
		if err := t.Delete(tx, key); err != nil {
			return err
		}
	}
	return nil
}

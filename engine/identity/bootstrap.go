package identity

import (
	"context"

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

// DeleteExpired deletes expired sessions, links and old secrets of rotated keys.
func (s *Service) DeleteExpired(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := deleteEndedRecords(
			tx,
			store.Sessions,
			func(r *store.Session) (bool, string) { return hasPassed(&r.ExpiresAt, tx.Now()), r.Secret },
		); err != nil {
			return err
		}
		if err := deleteEndedRecords(
			tx,
			store.OneTimeLinks,
			func(r *store.OneTimeLink) (bool, string) { return hasPassed(&r.ExpiresAt, tx.Now()), r.Secret },
		); err != nil {
			return err
		}
		return deleteEndedRecords(
			tx,
			store.KeySecrets,
			func(r *store.KeySecret) (bool, string) { return hasPassed(r.ValidUntil, tx.Now()), r.Secret },
		)
	})
}

func deleteEndedRecords[R any](tx *store.Tx, t *store.Table[R], ended func(*R) (bool, string)) error {
	for r, err := range t.Scan(tx) {
		if err != nil {
			return err
		}
		if yes, key := ended(&r); yes {
			if err := t.Delete(tx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

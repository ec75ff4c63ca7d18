package identity

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Bootstrap creates the first platform admin with their organization if there is none yet. Later
// calls change nothing, so that changes made by users, such as a new password, outlive the
// configuration.
func (s *Service) Bootstrap(ctx context.Context, organization, email, password string) (made bool, err error) {
	known := false
	err = s.db.View(ctx, func(tx *store.Tx) error {
		_, err := userByEmail(tx, normalizeEmail(email))
		known, err = exists(err)
		return err
	})
	if err != nil || known {
		return false, err
	}
	in := &api.NewOrganizationInput{}
	in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password, in.Body.Owner.PlatformAdmin = organization, email, password, true
	if err := validatePassword("SERVICE_ADMIN_PASSWORD", password); err != nil {
		return false, err
	}
	_, err = s.CreateOrganization(ctx, api.Caller{Actor: api.Actor{Type: api.ActorUser, Name: "configuration"}}, in)
	return err == nil, err
}

// Sweep deletes expired sessions, links and old secrets of rotated keys.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := deleteEnded(
			tx,
			store.Sessions,
			func(r *store.Session) (bool, string) { return hasPassed(&r.ExpiresAt, tx.Now()), r.Secret },
		); err != nil {
			return err
		}
		if err := deleteEnded(
			tx,
			store.OneTimeLinks,
			func(r *store.OneTimeLink) (bool, string) { return hasPassed(&r.ExpiresAt, tx.Now()), r.Secret },
		); err != nil {
			return err
		}
		return deleteEnded(
			tx,
			store.KeySecrets,
			func(r *store.KeySecret) (bool, string) { return hasPassed(r.ValidUntil, tx.Now()), r.Secret },
		)
	})
}

func deleteEnded[R any](tx *store.Tx, t *store.Table[R], ended func(*R) (bool, string)) error {
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

package identity

import (
	"context"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// Bootstrap makes the first platform admin with their organization, where there is no
// such person yet. A later call changes nothing, whatever it says: what people did
// since, a changed password too, outlives the configuration.
func (s *Service) Bootstrap(ctx context.Context, organization, email, password string) (made bool, err error) {
	known := false
	err = s.db.View(ctx, func(tx *store.Tx) error {
		_, err := userByEmail(tx, plainEmail(email))
		known, err = found(err)
		return err
	})
	if err != nil || known {
		return false, err
	}
	in := &api.NewOrganizationInput{}
	in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Password, in.Body.Owner.PlatformAdmin = organization, email, password, true
	if err := formed("SERVICE_ADMIN_PASSWORD", password); err != nil {
		return false, err
	}
	_, err = s.CreateOrganization(ctx, api.Caller{Actor: api.Actor{Type: api.ActorUser, Name: "configuration"}}, in)
	return err == nil, err
}

// Sweep deletes what has ended: sessions, links, the old secrets of rotated keys.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := sweep(tx, store.Sessions, func(r *store.Session) (bool, string) { return past(&r.ExpiresAt, tx.Now()), r.Secret }); err != nil {
			return err
		}
		if err := sweep(tx, store.Links, func(r *store.Link) (bool, string) { return past(&r.ExpiresAt, tx.Now()), r.Secret }); err != nil {
			return err
		}
		return sweep(tx, store.KeySecrets, func(r *store.KeySecret) (bool, string) { return past(r.ValidUntil, tx.Now()), r.Secret })
	})
}

func sweep[R any](tx *store.Tx, t *store.Table[R], ended func(*R) (bool, string)) error {
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

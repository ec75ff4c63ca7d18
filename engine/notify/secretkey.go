package notify

import (
	"context"
	"errors"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
)

// resealBatch is the number of records re-encrypted in one transaction.
const resealBatch = 200

// GetSecretKey returns which keys the stored secrets are encrypted with, and whether all secrets can be
// decrypted.
func (s *Service) GetSecretKey(ctx context.Context, _ api.Caller, _ *api.None) (*api.SecretKey, error) {
	place, ids, err := s.Box.KeyLocationAndIDs()
	if err != nil {
		return nil, err
	}
	out := &api.SecretKey{Location: place, KeyID: ids[0], OldKeyIDs: ids[1:], Unreadable: []string{}}
	return out, s.DB.View(ctx, func(tx *store.Tx) error {
		out.Encrypted, out.EncryptedOld, out.Unreadable = 0, 0, []string{}
		return s.forEachSealedSecret(tx, func(what string, sealed *[]byte) error {
			_, old, err := s.Box.Reseal(*sealed)
			switch {
			case errors.Is(err, secretbox.ErrUnknownKey):
				out.Unreadable = append(out.Unreadable, what)
			case err != nil:
				return err
			case old:
				out.EncryptedOld++
			default:
				out.Encrypted++
			}
			return nil
		}, nil)
	})
}

// CheckSecrets returns the number of stored secrets, and the names of those that this installation's key can't decrypt.
func (s *Service) CheckSecrets(ctx context.Context) (n int, unreadable []string, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		n, unreadable = 0, nil
		return s.forEachSealedSecret(tx, func(what string, sealed *[]byte) error {
			n++
			_, err := s.Box.Open(*sealed)
			if errors.Is(err, secretbox.ErrUnknownKey) {
				unreadable = append(unreadable, what)
				return nil
			}
			return err
		}, nil)
	})
	return n, unreadable, err
}

// RotateSecretKey re-encrypts all secrets with a new key, which it creates unless the keys come
// from the environment. It deletes old keys only if that was requested and they are no longer
// needed. The next call continues an interrupted rotation.
func (s *Service) RotateSecretKey(ctx context.Context, by api.Caller, in *api.RotateSecretKeyInput) (*api.SecretKey, error) {
	before, err := s.GetSecretKey(ctx, by, nil)
	if err != nil {
		return nil, err
	}
	// A key from the environment has already been changed by the operator, so secrets only have to
	// be re-encrypted.
	if before.Location != secretbox.Environment {
		if err := s.Box.RotateKey(in.Body.Location); err != nil {
			return nil, api.Conflict("the key could not be rotated: %s", err)
		}
	} else if in.Body.Location != "" {
		return nil, api.Conflict("the keys come from the environment variable SERVICE_SECRET_KEY, so the program can't move them; remove the variable first")
	}
	for {
		more, err := s.resealOneBatch(ctx)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	now, err := s.GetSecretKey(ctx, by, nil)
	if err != nil {
		return nil, err
	}
	if in.Body.DeleteOldKeys && before.Location != secretbox.Environment && now.EncryptedOld == 0 {
		if err := s.Box.DropOldKeys(); err != nil {
			return nil, err
		}
		now.OldKeyIDs = []string{}
	}
	s.Logger.Info(
		"secrets were re-encrypted with a new key",
		"by",
		by.Actor.Name,
		"key",
		now.KeyID,
		"encrypted",
		now.Encrypted,
		"unreadable",
		len(now.Unreadable),
	)
	if by.OrganizationID == "" {
		return now, nil
	}
	return now, s.DB.Update(ctx, func(tx *store.Tx) error {
		return audit.Append(
			tx,
			by,
			audit.Entry{
				Action:       "secret_key.rotated",
				ResourceType: "secret_key",
				ResourceID:   now.KeyID,
				Changes:      map[string]any{"key_id": now.KeyID, "before": before.KeyID, "encrypted": now.Encrypted, "location": now.Location},
			},
		)
	})
}

// errBatchFull stops a re-encryption transaction once the batch is full.
var errBatchFull = errors.New("batch is full")

// resealOneBatch re-encrypts one batch of secrets with the active key. hasMore reports whether there may be more.
func (s *Service) resealOneBatch(ctx context.Context) (hasMore bool, err error) {
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		var hooks []store.Webhook
		var tools []store.Integration
		var mails []store.Email
		var keys []store.SyncKey
		done := 0
		hasMore = false
		again := func(_ string, sealed *[]byte) error {
			now, changed, err := s.Box.Reseal(*sealed)
			if errors.Is(err, secretbox.ErrUnknownKey) || !changed {
				if errors.Is(err, secretbox.ErrUnknownKey) {
					err = nil
				}
				return err
			}
			*sealed = now
			done++
			return nil
		}
		err := s.forEachSealedSecret(tx, again, func(record any) error {
			if done == 0 {
				return nil
			}
			switch r := record.(type) {
			case store.Webhook:
				hooks = append(hooks, r)
			case store.Integration:
				tools = append(tools, r)
			case store.Email:
				mails = append(mails, r)
			case store.SyncKey:
				keys = append(keys, r)
			}
			if len(hooks)+len(tools)+len(mails)+len(keys) >= resealBatch {
				hasMore = true
				return errBatchFull
			}
			done = 0
			return nil
		})
		if err != nil && !errors.Is(err, errBatchFull) {
			return err
		}
		for i := range hooks {
			if err := store.Webhooks.Update(tx, hooks[i].OrganizationID, &hooks[i]); err != nil {
				return err
			}
		}
		for i := range tools {
			if err := store.Integrations.Update(tx, tools[i].OrganizationID, &tools[i]); err != nil {
				return err
			}
		}
		for i := range mails {
			if err := store.Emails.Update(tx, mails[i].OrganizationID, &mails[i]); err != nil {
				return err
			}
		}
		for i := range keys {
			if err := store.SyncKeys.Update(tx, keys[i].OrganizationID, &keys[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return hasMore, err
}

// forEachSealedSecret calls visit for each encrypted secret, and then recordDone with the record that contains
// it. It must cover every table with encrypted secrets; otherwise, those secrets are lost with the old
// key.
func (s *Service) forEachSealedSecret(
	tx *store.Tx,
	visit func(what string, sealed *[]byte) error,
	recordDone func(record any) error,
) error {
	if recordDone == nil {
		recordDone = func(any) error { return nil }
	}
	for w, err := range store.Webhooks.AcrossTenants().Scan(tx) {
		if err != nil {
			return err
		}
		for _, sealed := range slices.DeleteFunc([]*[]byte{&w.Sealed, &w.PreviousSealed}, func(b *[]byte) bool { return len(*b) == 0 }) {
			if err := visit("webhook "+w.ID, sealed); err != nil {
				return err
			}
		}
		if err := recordDone(w); err != nil {
			return err
		}
	}
	for r, err := range store.Integrations.AcrossTenants().Scan(tx) {
		if err != nil {
			return err
		}
		if len(r.Sealed) > 0 {
			if err := visit("integration "+r.ID, &r.Sealed); err != nil {
				return err
			}
		}
		if err := recordDone(r); err != nil {
			return err
		}
	}
	for m, err := range store.Emails.AcrossTenants().Scan(tx) {
		if err != nil {
			return err
		}
		if len(m.Sealed) > 0 {
			if err := visit("mail "+m.ID, &m.Sealed); err != nil {
				return err
			}
		}
		if err := recordDone(m); err != nil {
			return err
		}
	}
	for k, err := range store.SyncKeys.AcrossTenants().Scan(tx) {
		if err != nil {
			return err
		}
		if err := visit("bundle key of organization "+k.OrganizationID, &k.Sealed); err != nil {
			return err
		}
		if err := recordDone(k); err != nil {
			return err
		}
	}
	return nil
}

// Seal encrypts any secret with the key that also encrypts webhook secrets.
func (s *Service) Seal(secret string) ([]byte, error) { return s.Box.Seal([]byte(secret)) }

// Open decrypts what Seal encrypted.
func (s *Service) Open(sealed []byte) (string, error) {
	secret, err := s.Box.Open(sealed)
	return string(secret), err
}

package identity

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// apiKeyWithStatus returns the API view of a key with its current status.
func apiKeyWithStatus(k store.APIKey, now time.Time) api.APIKey {
	out := k.APIKey
	switch {
	case k.RevokedAt != nil:
		out.Status = "revoked"
	case hasPassed(k.ExpiresAt, now):
		out.Status = "expired"
	default:
		out.Status = statusActive
	}
	return out
}

// ListAPIKeys lists an organization's keys, including revoked and expired ones.
func (s *Service) ListAPIKeys(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.APIKey], error) {
	all, err := store.List(ctx, s.db, store.APIKeys, by.OrganizationID, *in, store.PageQuery[store.APIKey]{})
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(k *store.APIKey) api.APIKey { return apiKeyWithStatus(*k, s.clock()) }), nil
}

// CreateAPIKey creates a key for the caller.
func (s *Service) CreateAPIKey(ctx context.Context, by api.Caller, in *api.CreateAPIKeyInput) (*api.NewAPIKey, error) {
	return s.createKey(ctx, by, in.Body)
}

// CreateOrgAPIKey works like CreateAPIKey, for the organization in the path.
func (s *Service) CreateOrgAPIKey(ctx context.Context, by api.Caller, in *api.CreateOrgAPIKeyInput) (*api.NewAPIKey, error) {
	return s.createKey(ctx, by, in.Body)
}

func (s *Service) createKey(ctx context.Context, by api.Caller, body api.APIKeyBody) (*api.NewAPIKey, error) {
	scopes, err := api.ParseScopes(body.Scopes)
	if err != nil {
		return nil, err
	}
	body.Scopes, body.Name = scopes, strings.TrimSpace(body.Name)
	if body.Name == "" {
		return nil, api.Invalid("name", "a key needs a name that describes its purpose")
	}
	if hasPassed(body.ExpiresAt, s.clock()) {
		return nil, api.Invalid("expires_at", "the expiry date is in the past")
	}
	if err := requireOwnScopes(by, scopes); err != nil {
		return nil, err
	}
	var out *api.NewAPIKey
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		out, err = insertKey(tx, by, by.UserID, body)
		return err
	})
	return out, err
}

// requireOwnScopes returns an error for scopes beyond the caller's own.
func requireOwnScopes(by api.Caller, scopes []string) error {
	for _, scope := range scopes {
		// "*" follows the user's permissions; a scope given by name must be the caller's.
		if p := api.Permission(scope); scope != api.AnyScope && !by.May(p) &&
			!(by.PlatformAdmin && by.Scopes == nil && (p == api.SCFImport || p == api.PlatformAdmin)) {
			return api.Forbidden("a key can't have the scope %s, because you don't have that permission yourself", p)
		}
	}
	if by.Scopes != nil && slices.Contains(scopes, api.AnyScope) {
		for _, p := range api.ExpandScopes([]string{api.AnyScope}) {
			if !slices.Contains(by.Scopes, p) {
				return api.Forbidden("a key can't create another key with the scope * unless it has all scopes; "+
					"this key doesn't have %s", p)
			}
		}
	}
	return nil
}

// insertKey creates a key for a user in the caller's organization. The scopes in body must already be
// parsed.
func insertKey(tx *store.Tx, by api.Caller, ownerID string, body api.APIKeyBody) (*api.NewAPIKey, error) {
	secret, hash := newSecret()
	key := store.APIKey{APIKey: api.APIKey{
		TenantRecord: api.TenantRecord{Record: newRecord(tx, tx.NewID()), OrganizationID: by.OrganizationID},
		Name:         body.Name,
		MaskedKey:    maskKey(secret),
		Scopes:       body.Scopes,
		CreatedBy:    ownerID,
		ExpiresAt:    body.ExpiresAt,
		Status:       statusActive,
	}}
	if err := store.APIKeys.Insert(tx, by.OrganizationID, &key); err != nil {
		return nil, err
	}
	if err := store.KeySecrets.Insert(tx, &store.KeySecret{Secret: hash, OrganizationID: by.OrganizationID, KeyID: key.ID}); err != nil {
		return nil, err
	}
	err := appendAudit(tx, by, "api_key.created", "api_key", key.ID, map[string]any{"name": key.Name, "scopes": key.Scopes})
	return &api.NewAPIKey{APIKey: key.APIKey, Key: api.APIKeyPrefix + secret}, err
}

// getRevocableKey returns a key that the caller may revoke: one of their own, or any key if the caller is an
// owner.
func getRevocableKey(tx *store.Tx, by api.Caller, id string) (store.APIKey, error) {
	key, err := store.APIKeys.Get(tx, by.OrganizationID, id)
	if err != nil {
		return key, store.ToNotFound(err, "API key", id)
	}
	if key.CreatedBy != by.UserID && by.Role != api.RoleOwner {
		return key, api.Forbidden("this key belongs to another user; only that user or an owner can revoke it")
	}
	return key, nil
}

// RevokeAPIKey revokes a key immediately. Revoking it again has no effect.
func (s *Service) RevokeAPIKey(ctx context.Context, by api.Caller, in *api.APIKeyInput) (*api.None, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		key, err := getRevocableKey(tx, by, in.KeyID)
		if err != nil || key.RevokedAt != nil {
			return err
		}
		return revokeKey(tx, by, key)
	})
	return &api.None{}, err
}

// revokeKey deletes a key's secrets, marks it as revoked and records that in its organization's audit chain.
func revokeKey(tx *store.Tx, by api.Caller, key store.APIKey) error {
	if err := deleteKeySecrets(tx, key, func(store.KeySecret) bool { return true }); err != nil {
		return err
	}
	now := tx.Now()
	key.RevokedAt, key.UpdatedAt = &now, now
	if err := store.APIKeys.Update(tx, key.OrganizationID, &key); err != nil {
		return err
	}
	by.OrganizationID = key.OrganizationID
	return appendAudit(tx, by, "api_key.revoked", "api_key", key.ID, map[string]any{"name": key.Name})
}

func deleteKeySecrets(tx *store.Tx, key store.APIKey, match func(store.KeySecret) bool) error {
	for sec, err := range store.KeySecrets.By("key").Scan(tx, store.Prefix(key.OrganizationID, key.ID)) {
		if err != nil {
			return err
		}
		if match(sec) {
			if err := store.KeySecrets.Delete(tx, sec.Secret); err != nil {
				return err
			}
		}
	}
	return nil
}

// RotateAPIKey gives a key a new secret. The old secret stays valid for a grace period, which is
// zero by default; after two rotations, only the most recently replaced secret can still be valid.
// Because rotating a key reveals a secret that acts as the key's owner, only the owner can rotate
// it. If the request is authenticated with another key, that key must have all scopes of the
// rotated one.
func (s *Service) RotateAPIKey(ctx context.Context, by api.Caller, in *api.RotateAPIKeyInput) (*api.NewAPIKey, error) {
	grace := 0
	if in.Body != nil {
		grace = in.Body.GraceSeconds
	}
	var out *api.NewAPIKey
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		key, err := getRevocableKey(tx, by, in.KeyID)
		if err != nil {
			return err
		}
		if key.CreatedBy != by.UserID {
			return api.Forbidden("this key belongs to another user, so you can't get its new secret; revoke the key and create your own")
		}
		if key.RevokedAt != nil {
			return api.Conflict("the key %q has been revoked; create a new key", key.Name)
		}
		if by.Scopes != nil { // the owner's current permissions limit the key in addition
			if err := requireOwnScopes(by, key.Scopes); err != nil {
				return err
			}
		}
		current := func(sec store.KeySecret) bool { return sec.ValidUntil == nil }
		if err := deleteKeySecrets(tx, key, func(sec store.KeySecret) bool { return grace == 0 || !current(sec) }); err != nil {
			return err
		}
		until := tx.Now().Add(time.Duration(grace) * time.Second)
		var old []store.KeySecret
		for sec, err := range store.KeySecrets.By("key").Scan(tx, store.Prefix(key.OrganizationID, key.ID)) {
			if err != nil {
				return err
			}
			old = append(old, sec)
		}
		for _, sec := range old {
			sec.ValidUntil = &until
			if err := store.KeySecrets.Update(tx, &sec); err != nil {
				return err
			}
		}
		secret, hash := newSecret()
		if err := store.KeySecrets.Insert(tx, &store.KeySecret{Secret: hash, OrganizationID: key.OrganizationID, KeyID: key.ID}); err != nil {
			return err
		}
		key.MaskedKey, key.UpdatedAt = maskKey(secret), tx.Now()
		if err := store.APIKeys.Update(tx, key.OrganizationID, &key); err != nil {
			return err
		}
		out = &api.NewAPIKey{APIKey: apiKeyWithStatus(key, tx.Now()), Key: api.APIKeyPrefix + secret}
		return appendAudit(tx, by, "api_key.rotated", "api_key", key.ID, map[string]any{"name": key.Name, "grace_seconds": grace})
	})
	return out, err
}

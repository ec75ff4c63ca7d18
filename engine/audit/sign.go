package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// installationKey is the name of the setting that contains the installation's signing key. The key is in
// the database, so that every daemon using the database signs with the same key, and a restored backup
// includes it. Anyone who can write to the database can therefore sign, too; only heads stored elsewhere
// can prove that the records have not been replaced.
const installationKey = "installation_key"

// Signer signs for the installation.
type Signer struct{ key ed25519.PrivateKey }

// LoadSigner returns the installation's signer; its key is created when first needed.
func LoadSigner(ctx context.Context, db *store.DB) (*Signer, error) {
	var kept store.Setting
	read := func(tx *store.Tx) (err error) {
		kept, err = store.Settings.Get(tx, installationKey)
		return err
	}
	err := db.View(ctx, read)
	if errors.Is(err, store.ErrNotFound) {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(seed) //nolint:forbidigo // a key must be random; Read never returns an error
		err = db.Update(ctx, func(tx *store.Tx) error {
			if err := read(tx); !errors.Is(err, store.ErrNotFound) {
				return err // another process was faster
			}
			kept = store.Setting{Name: installationKey, Value: base64.StdEncoding.EncodeToString(seed)}
			return store.Settings.Put(tx, &kept)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("reading the installation's key: %w", err)
	}
	seed, err := base64.StdEncoding.DecodeString(kept.Value)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("the installation's key is damaged")
	}
	return &Signer{ed25519.NewKeyFromSeed(seed)}, nil
}

// PublicKey returns the key that verifies signatures, in base64.
func (s *Signer) PublicKey() string {
	return base64.StdEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// Sign returns the signature of a text, in base64.
func (s *Signer) Sign(text []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, text))
}

// Fingerprint returns the fingerprint of a public key, for comparison by users.
func Fingerprint(publicKey string) string {
	sum := sha256.Sum256([]byte(publicKey))
	return hex.EncodeToString(sum[:8])
}

// VerifySignature returns an error unless signature is the key's signature of the text.
func VerifySignature(publicKey, signature string, text []byte) error {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("the public key is not a base64-encoded Ed25519 key")
	}
	sig, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || !ed25519.Verify(key, text, sig) {
		return fmt.Errorf("the signature does not match this text and the key %s", Fingerprint(publicKey))
	}
	return nil
}

// headTextToSign returns the signed text of a head.
func headTextToSign(h *api.AuditHead) []byte {
	return fmt.Appendf(nil, "service audit head\n%s\n%d\n%s\n", h.OrganizationID, h.Sequence, h.Hash)
}

// VerifyHead returns an error unless a head was signed by the key it names.
func VerifyHead(h *api.AuditHead) error {
	return VerifySignature(h.PublicKey, h.Signature, headTextToSign(h))
}

// SignedHead returns the signed head of an organization's chain.
func SignedHead(tx *store.Tx, signer *Signer, org string) (*api.AuditHead, error) {
	return signedHeadWithout(tx, signer, org)
}

// signedHeadWithout is like SignedHead, but ignores the records about resources of the given types at the end of the
// chain.
func signedHeadWithout(tx *store.Tx, signer *Signer, org string, resourceTypes ...string) (*api.AuditHead, error) {
	h := &api.AuditHead{OrganizationID: org}
	for rec, err := range store.Audit.Scan(tx, org, store.Reverse) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(resourceTypes, rec.ResourceType) {
			continue
		}
		h.Sequence, h.Hash, h.At = rec.Sequence, rec.Hash, rec.At
		break
	}
	return signHead(h, signer), nil
}

func signHead(h *api.AuditHead, signer *Signer) *api.AuditHead {
	h.PublicKey = signer.PublicKey()
	h.KeyID, h.Signature = Fingerprint(h.PublicKey), signer.Sign(headTextToSign(h))
	return h
}

// SignedHeadAt returns the head of the caller's audit chain as it was right after a record, signed now, or
// nil if there is no such record.
func (s *Service) SignedHeadAt(ctx context.Context, by api.Caller, sequence uint64) (h *api.AuditHead, err error) {
	signer, err := LoadSigner(ctx, s.db)
	if err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		rec, err := store.Audit.Get(tx, by.OrganizationID, int64(sequence))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		h = signHead(&api.AuditHead{OrganizationID: by.OrganizationID, Sequence: rec.Sequence, Hash: rec.Hash, At: rec.At}, signer)
		return err
	})
	return h, err
}

// HeadWithout returns the signed head of the caller's audit chain as it was right after its last record about a
// resource of none of the given types.
func (s *Service) HeadWithout(ctx context.Context, by api.Caller, resourceTypes ...string) (h *api.AuditHead, err error) {
	signer, err := LoadSigner(ctx, s.db)
	if err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		h, err = signedHeadWithout(tx, signer, by.OrganizationID, resourceTypes...)
		return err
	})
	return h, err
}

// Head returns the signed head of the audit chain of the caller's organization: its last record's number
// and hash.
func (s *Service) Head(ctx context.Context, by api.Caller, _ *api.None) (h *api.AuditHead, err error) {
	signer, err := LoadSigner(ctx, s.db)
	if err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		h, err = SignedHead(tx, signer, by.OrganizationID)
		return err
	})
	return h, err
}

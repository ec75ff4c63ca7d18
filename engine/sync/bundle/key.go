package bundle

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"

	"github.com/scf-service/service/api"
)

// maxKeyLength is the maximum length of an encoded key.
const maxKeyLength = 2_000

// publicKey is the encoded form of a public key. The order of its fields affects the fingerprint.
type publicKey struct {
	Organization string `json:"organization"`
	Name         string `json:"name"`
	Sign         []byte `json:"sign"`
	Seal         string `json:"seal"`
}

// Key is an organization's public key for verifying its signatures and encrypting bundles for it.
type Key struct {
	publicKey
	verifyKey ed25519.PublicKey
	recipient *age.X25519Recipient
}

// ParseKey parses a public key in the form returned by Text.
func ParseKey(text string) (*Key, error) {
	text = strings.Join(strings.Fields(text), "") // terminals wrap it
	wrong := func(format string, args ...any) error {
		return api.Invalid("key", "this is not a key printed by `service sync key`: "+format, args...)
	}
	head, rest, _ := strings.Cut(text, ".")
	body, check, whole := strings.Cut(rest, ".")
	switch {
	case len(text) > maxKeyLength:
		return nil, wrong("the key is longer than %d characters", maxKeyLength)
	case head != api.SyncKeyPrefix:
		return nil, wrong("the key does not start with %s", api.SyncKeyPrefix)
	case !whole:
		return nil, wrong("the end of the key is missing")
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return nil, wrong("%v", err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:4]) != check {
		return nil, wrong("the checksum is wrong; copy the whole key again")
	}
	k := &Key{}
	if err := json.Unmarshal(b, &k.publicKey); err != nil {
		return nil, wrong("%v", err)
	}
	if k.Text() != text {
		return nil, wrong("the key is not in canonical form")
	}
	if k.recipient, err = age.ParseX25519Recipient(k.Seal); err != nil {
		return nil, wrong("%v", err)
	}
	if k.verifyKey = k.Sign; len(k.verifyKey) != ed25519.PublicKeySize {
		return nil, wrong("the signing key has the wrong length (%d bytes)", len(k.Sign))
	}
	if k.Organization == "" || k.Name == "" || len(k.Name) > 300 || api.CheckName("name", k.Name+k.Organization) != nil {
		return nil, wrong("the owner is missing or invalid")
	}
	return k, nil
}

// canonicalBytes returns the encoding over which the fingerprint is computed.
func (k *Key) canonicalBytes() []byte {
	b, _ := json.Marshal(k.publicKey) //nolint:errchkjson // strings and bytes can always be encoded
	return b
}

// Text returns the key in the text form that users exchange.
func (k *Key) Text() string {
	b := k.canonicalBytes()
	sum := sha256.Sum256(b)
	return api.SyncKeyPrefix + "." + base64.RawURLEncoding.EncodeToString(b) + "." + hex.EncodeToString(sum[:4])
}

// Fingerprint returns a short form of the key, which two users compare before they trust the key.
func (k *Key) Fingerprint() string { return api.SyncKeyFingerprint(k.Text()) }

// SecretKey is an organization's key pair.
type SecretKey struct {
	Key
	signer   ed25519.PrivateKey
	identity *age.X25519Identity
}

// NewSecretKey generates a key pair for an organization.
func NewSecretKey(organization, name string) (*SecretKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) //nolint:forbidigo // keys are random; Read never fails, it crashes the program instead
	opener, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return newSecretKey(organization, name, seed, opener), nil
}

func newSecretKey(organization, name string, seed []byte, opener *age.X25519Identity) *SecretKey {
	s := &SecretKey{signer: ed25519.NewKeyFromSeed(seed), identity: opener}
	s.verifyKey, _ = s.signer.Public().(ed25519.PublicKey)
	s.recipient = opener.Recipient()
	s.publicKey = publicKey{Organization: organization, Name: name, Sign: s.verifyKey, Seal: s.recipient.String()}
	return s
}

// String returns the fingerprint, so that printing a SecretKey does not reveal the secret.
func (s *SecretKey) String() string { return "key " + s.Fingerprint() }

// GoString returns the same as String.
func (s *SecretKey) GoString() string { return s.String() }

// MarshalJSON always returns an error, because the secret must be written only by Seal.
func (s *SecretKey) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a secret key must not be encoded as JSON")
}

// Seal returns the secret key, encrypted with the given function.
func (s *SecretKey) Seal(encrypt func(string) ([]byte, error)) ([]byte, error) {
	return encrypt(s.identity.String() + " " + base64.StdEncoding.EncodeToString(s.signer.Seed()))
}

// Unseal decrypts a secret key that Seal encrypted and combines it with its public key.
func Unseal(k *Key, sealed []byte, decrypt func([]byte) (string, error)) (*SecretKey, error) {
	text, err := decrypt(sealed)
	if err != nil {
		return nil, err
	}
	opener, seed, _ := strings.Cut(text, " ")
	i, err := age.ParseX25519Identity(opener)
	if err != nil {
		return nil, errors.New("the organization's bundle key cannot be decoded") // the error may contain the secret
	}
	b, err := base64.StdEncoding.DecodeString(seed)
	if err != nil || len(b) != ed25519.SeedSize {
		return nil, errors.New("the organization's bundle key cannot be decoded")
	}
	s := newSecretKey(k.Organization, k.Name, b, i)
	if s.Fingerprint() != k.Fingerprint() {
		return nil, errors.New("the organization's secret bundle key does not match its public key")
	}
	return s, nil
}

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
	"unicode"

	"filippo.io/age"

	"github.com/scf-service/service/api"
)

// maxKeyLength bounds such a text.
const maxKeyLength = 2_000

// publicKey is what a public key says, in this order of fields.
type publicKey struct {
	Organization string `json:"organization"`
	Name         string `json:"name"`
	Sign         []byte `json:"sign"`
	Seal         string `json:"seal"`
}

// Key is the public half of an organization's key: what it signs with, and what is sealed for it.
type Key struct {
	publicKey
	verifyKey ed25519.PublicKey
	recipient *age.X25519Recipient
}

// ParseKey reads a public key as Text writes it.
func ParseKey(text string) (*Key, error) {
	text = strings.Join(strings.Fields(text), "") // a terminal breaks it into lines
	wrong := func(format string, args ...any) error {
		return api.Invalid("key", "this is no key as `service sync key` shows it: "+format, args...)
	}
	head, rest, _ := strings.Cut(text, ".")
	body, check, whole := strings.Cut(rest, ".")
	switch {
	case len(text) > maxKeyLength:
		return nil, wrong("it is longer than %d characters", maxKeyLength)
	case head != api.SyncKeyPrefix:
		return nil, wrong("it does not begin with %s", api.SyncKeyPrefix)
	case !whole:
		return nil, wrong("its end is missing")
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return nil, wrong("%v", err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:4]) != check {
		return nil, wrong("a character of it was lost or changed on the way")
	}
	k := &Key{}
	if err := json.Unmarshal(b, &k.publicKey); err != nil {
		return nil, wrong("%v", err)
	}
	if k.Text() != text {
		return nil, wrong("it is written in another way than keys are")
	}
	if k.recipient, err = age.ParseX25519Recipient(k.Seal); err != nil {
		return nil, wrong("%v", err)
	}
	if k.verifyKey = k.Sign; len(k.verifyKey) != ed25519.PublicKeySize {
		return nil, wrong("its part for signatures has %d bytes", len(k.Sign))
	}
	if k.Organization == "" || k.Name == "" || len(k.Name) > 300 || strings.ContainsFunc(k.Name+k.Organization, unicode.IsControl) {
		return nil, wrong("it does not say whose it is")
	}
	return k, nil
}

// canonicalBytes are what the fingerprint is of: always the same for the same key.
func (k *Key) canonicalBytes() []byte {
	b, _ := json.Marshal(k.publicKey) //nolint:errchkjson // texts and bytes always have a form
	return b
}

// Text is the key as people give it to each other.
func (k *Key) Text() string {
	b := k.canonicalBytes()
	sum := sha256.Sum256(b)
	return api.SyncKeyPrefix + "." + base64.RawURLEncoding.EncodeToString(b) + "." + hex.EncodeToString(sum[:4])
}

// Fingerprint is what two people compare before they trust a key.
func (k *Key) Fingerprint() string { return api.SyncFingerprint(k.Text()) }

// SecretKey is an organization's whole key.
type SecretKey struct {
	Key
	signer   ed25519.PrivateKey
	identity *age.X25519Identity
}

// NewSecretKey makes a key of chance for an organization.
func NewSecretKey(organization, name string) (*SecretKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) //nolint:forbidigo // a key is chance; it never fails, the runtime ends the program first
	opener, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
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

// String keeps a secret out of whatever prints it.
func (s *SecretKey) String() string { return "key " + s.Fingerprint() }

// GoString is String.
func (s *SecretKey) GoString() string { return s.String() }

// MarshalJSON refuses: a secret is written by Seal alone.
func (s *SecretKey) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a secret key is not to be written here")
}

// Seal writes the secret by a function that encrypts it.
func (s *SecretKey) Seal(encrypt func(string) ([]byte, error)) ([]byte, error) {
	return encrypt(s.identity.String() + " " + base64.StdEncoding.EncodeToString(s.signer.Seed()))
}

// Unseal reads the secret of a public key that Seal wrote.
func Unseal(k *Key, sealed []byte, decrypt func([]byte) (string, error)) (*SecretKey, error) {
	text, err := decrypt(sealed)
	if err != nil {
		return nil, err
	}
	opener, seed, _ := strings.Cut(text, " ")
	i, err := age.ParseX25519Identity(opener)
	if err != nil {
		return nil, errors.New("the key of this organization for bundles can't be read") // the error may tell of the secret
	}
	b, err := base64.StdEncoding.DecodeString(seed)
	if err != nil || len(b) != ed25519.SeedSize {
		return nil, errors.New("the key of this organization for bundles can't be read")
	}
	s := newSecretKey(k.Organization, k.Name, b, i)
	if s.Fingerprint() != k.Fingerprint() {
		return nil, errors.New("the key of this organization for bundles is not the one that its public half names")
	}
	return s, nil
}

// Package secretbox encrypts the secrets of organizations (AES-256-GCM) with keys that are stored outside the
// database. Several keys can be loaded at once, so that a key rotation can be interrupted: the first key encrypts,
// and all of them can decrypt.
package secretbox

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// KeyStore loads and saves the keys that encrypt secrets.
type KeyStore interface {
	// LoadOrCreate returns the keys, the current one first. It creates a key if there is none.
	LoadOrCreate() ([]Key, error)
	// Save replaces the keys at a location, or at the current one if place is empty. It fails if the keys are in the
	// environment, which the program can't change.
	Save(keys []Key, place string) error
	// Location returns where the keys are stored: environment, file or keyring.
	Location() string
}

// Locations of keys.
const (
	Environment = "environment"
	File        = "file"
	Keyring     = "keyring"
)

// Key is an AES-256 key.
type Key [32]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) //nolint:forbidigo // keys are random; Read never fails, it crashes the program instead
	return k
}

// ID returns an identifier that doesn't reveal the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("service secret key\n"), k[:]...))
	return hex.EncodeToString(sum[:6])
}

// String returns the key's ID, so that printing a key doesn't reveal it.
func (k Key) String() string { return "key " + k.ID() }

// GoString returns the same text as String.
func (k Key) GoString() string { return k.String() }

// MarshalText always fails, so that a key is not serialized by accident. Use Text instead.
func (k Key) MarshalText() ([]byte, error) { return nil, errors.New("keys must not be serialized") }

// Text returns the key in base64, as it is stored.
func (k Key) Text() string { return base64.StdEncoding.EncodeToString(k[:]) }

// maxKeys is the maximum number of keys loaded at once.
const maxKeys = 8

// ParseKeys parses base64 keys separated by spaces, commas or line breaks, without duplicates. Errors mention from, the
// origin of the text.
func ParseKeys(text, from string) ([]Key, error) {
	var out []Key
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }) {
		b, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(b) != len(Key{}) {
			return nil, fmt.Errorf("%s is not a valid key: a key has 32 bytes in base64, as printed by `openssl rand -base64 32`", from)
		}
		if k := Key(b); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("%s does not contain a key", from)
	case len(out) > maxKeys:
		return nil, fmt.Errorf("%s contains more than %d keys; remove the oldest ones", from, maxKeys)
	}
	return out, nil
}

// FormatKeys returns the keys in the form that ParseKeys reads, one per line.
func FormatKeys(keys []Key) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.Text() + "\n")
	}
	return b.String()
}

// ErrUnknownKey is returned if no key decrypts a secret.
var ErrUnknownKey = errors.New("the secret can't be decrypted with this installation's key")

// Box encrypts and decrypts secrets.
type Box struct {
	keys   KeyStore
	mu     sync.RWMutex
	loaded []Key
	aeads  []cipher.AEAD
}

// New returns a Box that loads its keys on first use.
func New(keys KeyStore) *Box { return &Box{keys: keys} }

// loadCiphers returns the ciphers of all keys, the current one first.
func (b *Box) loadCiphers() ([]cipher.AEAD, error) {
	b.mu.RLock()
	boxes := b.aeads
	b.mu.RUnlock()
	if boxes != nil {
		return boxes, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.loadKeys()
	return b.aeads, err
}

// loadKeys loads the keys unless they are already loaded. mu must be held.
func (b *Box) loadKeys() error {
	if b.aeads != nil {
		return nil
	}
	if b.keys == nil {
		return errors.New("there is no key for encrypting secrets")
	}
	keys, err := b.keys.LoadOrCreate()
	if err != nil {
		return err
	}
	return b.setKeys(keys)
}

func (b *Box) setKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("there is no key for encrypting secrets")
	}
	var boxes []cipher.AEAD
	for _, k := range keys {
		block, err := aes.NewCipher(k[:])
		if err != nil {
			return fmt.Errorf("the encryption key for secrets can't be used: %w", err)
		}
		box, err := cipher.NewGCM(block)
		if err != nil {
			return fmt.Errorf("the encryption key for secrets can't be used: %w", err)
		}
		boxes = append(boxes, box)
	}
	b.loaded, b.aeads = keys, boxes
	return nil
}

// Seal encrypts a secret with the current key. The result starts with the nonce.
func (b *Box) Seal(secret []byte) ([]byte, error) {
	boxes, err := b.loadCiphers()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, boxes[0].NonceSize())
	_, _ = rand.Read(nonce) //nolint:forbidigo // nonces are random; Read never fails, it crashes the program instead
	return boxes[0].Seal(nonce, nonce, secret, nil), nil
}

// Open decrypts a secret with the key that it was encrypted with.
func (b *Box) Open(sealed []byte) ([]byte, error) {
	secret, _, err := b.openWithIndex(sealed)
	return secret, err
}

// openWithIndex decrypts a secret and returns the index of its key; 0 is the current key.
func (b *Box) openWithIndex(sealed []byte) (plain []byte, keyIndex int, _ error) {
	boxes, err := b.loadCiphers()
	if err != nil {
		return nil, 0, err
	}
	for i, box := range boxes {
		if n := box.NonceSize(); len(sealed) >= n {
			if secret, err := box.Open(nil, sealed[:n], sealed[n:], nil); err == nil {
				return secret, i, nil
			}
		}
	}
	return nil, 0, ErrUnknownKey
}

// Reseal encrypts a secret again with the current key. It returns false if the secret was already encrypted with that
// key.
func (b *Box) Reseal(sealed []byte) (resealed []byte, changed bool, _ error) {
	secret, by, err := b.openWithIndex(sealed)
	if err != nil || by == 0 {
		return sealed, false, err
	}
	out, err := b.Seal(secret)
	return out, err == nil, err
}

// KeyLocationAndIDs returns the location of the keys and their IDs, the current one first.
func (b *Box) KeyLocationAndIDs() (place string, ids []string, err error) {
	if _, err := b.loadCiphers(); err != nil {
		return "", nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, k := range b.loaded {
		ids = append(ids, k.ID())
	}
	return b.keys.Location(), ids, nil
}

// RotateKey adds a new current key and keeps the earlier ones. The key is stored before it is used, so that a crash
// can't lose a key that has been used for encryption.
func (b *Box) RotateKey(place string) error {
	return b.replaceKeys(place, func(keys []Key) []Key {
		return append([]Key{NewKey()}, keys[:min(len(keys), maxKeys-1)]...)
	})
}

// DropOldKeys deletes all keys except the current one.
func (b *Box) DropOldKeys() error {
	return b.replaceKeys("", func(keys []Key) []Key { return keys[:1] })
}

// replaceKeys saves the keys that next returns, and uses them from then on.
func (b *Box) replaceKeys(place string, next func([]Key) []Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.loadKeys(); err != nil {
		return err
	}
	keys := next(slices.Clone(b.loaded))
	if err := b.keys.Save(keys, place); err != nil {
		return err
	}
	return b.setKeys(keys)
}

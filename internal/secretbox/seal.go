// Package secretbox encrypts the secrets that organizations give, with keys that are kept
// outside the database (AES-256-GCM). Several keys can be known at once, so that a change of
// the key may stop half way: the first seals, all of them open.
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

// KeyStore is where the keys are kept.
type KeyStore interface {
	// Load reads the keys, the one in use first. It makes the first where there is none.
	Load() ([]Key, error)
	// Save replaces them, at that place; "" is where they are. Keys of the environment are not
	// the program's to change.
	Save(keys []Key, place string) error
	// Location says where they are: environment, file or keyring.
	Location() string
}

// The places of keys.
const (
	Environment = "environment"
	File        = "file"
	Keyring     = "keyring"
	Memory      = "memory"
)

// Key is 32 bytes.
type Key [32]byte

// NewKey is a key of chance.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) //nolint:forbidigo // a key is chance; it never fails, the runtime ends the program first
	return k
}

// ID names a key without telling it.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("service secret key\n"), k[:]...))
	return hex.EncodeToString(sum[:6])
}

// String keeps a key out of whatever prints it.
func (k Key) String() string { return "key " + k.ID() }

// GoString is String.
func (k Key) GoString() string { return k.String() }

// MarshalText refuses: a key is written by Text alone.
func (k Key) MarshalText() ([]byte, error) { return nil, errors.New("keys must not be serialized") }

// Text is the key in base64, as it is kept.
func (k Key) Text() string { return base64.StdEncoding.EncodeToString(k[:]) }

// maxKeys are known at once.
const maxKeys = 8

// ParseKeys reads keys in base64, one a line or separated by commas; from names them in errors.
func ParseKeys(text, from string) ([]Key, error) {
	var out []Key
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }) {
		b, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(b) != len(Key{}) {
			return nil, fmt.Errorf("%s is not a key: expected 32 bytes in base64, as printed by `openssl rand -base64 32`", from)
		}
		if k := Key(b); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("%s is not a key: it is empty", from)
	case len(out) > maxKeys:
		return nil, fmt.Errorf("%s contains more than %d keys; remove the oldest", from, maxKeys)
	}
	return out, nil
}

// FormatKeys is keys as Parse reads them, one a line.
func FormatKeys(keys []Key) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.Text() + "\n")
	}
	return b.String()
}

// ErrUnknownKey is the error of what no key opens.
var ErrUnknownKey = errors.New("the secret can't be decrypted with this installation's key")

// Box seals and opens.
type Box struct {
	keys   KeyStore
	mu     sync.RWMutex
	loaded []Key
	aeads  []cipher.AEAD
}

// New is a box over keys. They are read when first needed.
func New(keys KeyStore) *Box { return &Box{keys: keys} }

// memoryKeys are keys in memory.
type memoryKeys struct {
	keys []Key
}

// NewInMemory is a box with keys in memory, for tests and for what need not outlive the process.
func NewInMemory(keys ...Key) *Box { return New(&memoryKeys{keys}) }

func (f *memoryKeys) Load() ([]Key, error)         { return f.keys, nil }
func (f *memoryKeys) Save(k []Key, _ string) error { f.keys = k; return nil }
func (f *memoryKeys) Location() string             { return Memory }

func (b *Box) ciphers() ([]cipher.AEAD, error) {
	b.mu.RLock()
	boxes := b.aeads
	b.mu.RUnlock()
	if boxes != nil {
		return boxes, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.aeads, b.load()
}

// load reads the keys; mu is held.
func (b *Box) load() error {
	if b.aeads != nil {
		return nil
	}
	if b.keys == nil {
		return errors.New("there is no key to encrypt secrets with")
	}
	keys, err := b.keys.Load()
	if err != nil {
		return err
	}
	return b.setKeys(keys)
}

func (b *Box) setKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("there is no key to encrypt secrets with")
	}
	var boxes []cipher.AEAD
	for _, k := range keys {
		block, err := aes.NewCipher(k[:])
		if err != nil {
			return fmt.Errorf("the encryption key for secrets: %w", err)
		}
		box, err := cipher.NewGCM(block)
		if err != nil {
			return fmt.Errorf("the encryption key for secrets: %w", err)
		}
		boxes = append(boxes, box)
	}
	b.loaded, b.aeads = keys, boxes
	return nil
}

// Seal encrypts a secret with the key in use, a nonce before it.
func (b *Box) Seal(secret []byte) ([]byte, error) {
	boxes, err := b.ciphers()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, boxes[0].NonceSize())
	_, _ = rand.Read(nonce) //nolint:forbidigo // a nonce is chance; it never fails, the runtime ends the program first
	return boxes[0].Seal(nonce, nonce, secret, nil), nil
}

// Open is what was sealed, by whichever key.
func (b *Box) Open(sealed []byte) ([]byte, error) {
	secret, _, err := b.openWithIndex(sealed)
	return secret, err
}

// openWithIndex also tells by which key, counted from the one in use.
func (b *Box) openWithIndex(sealed []byte) ([]byte, int, error) {
	boxes, err := b.ciphers()
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

// Reseal is what was sealed, sealed by the key in use; false where it was already.
func (b *Box) Reseal(sealed []byte) ([]byte, bool, error) {
	secret, by, err := b.openWithIndex(sealed)
	if err != nil || by == 0 {
		return sealed, false, err
	}
	out, err := b.Seal(secret)
	return out, err == nil, err
}

// KeyInfo tells where the keys are and which they are, the one in use first.
func (b *Box) KeyInfo() (place string, ids []string, err error) {
	if _, err := b.ciphers(); err != nil {
		return "", nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, k := range b.loaded {
		ids = append(ids, k.ID())
	}
	return b.keys.Location(), ids, nil
}

// RotateKey puts a new key in use and keeps those before it. It is kept before it is used:
// nothing is ever sealed with a key that a crash could take away.
func (b *Box) RotateKey(place string) error {
	return b.replaceKeys(place, func(keys []Key) []Key {
		return append([]Key{NewKey()}, keys[:min(len(keys), maxKeys-1)]...)
	})
}

// DropOldKeys leaves the key in use alone.
func (b *Box) DropOldKeys() error {
	return b.replaceKeys("", func(keys []Key) []Key { return keys[:1] })
}

func (b *Box) replaceKeys(place string, next func([]Key) []Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return err
	}
	keys := next(slices.Clone(b.loaded))
	if err := b.keys.Save(keys, place); err != nil {
		return err
	}
	return b.setKeys(keys)
}

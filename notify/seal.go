package notify

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
)

// seal encrypts a secret with the installation's key (AES-256-GCM, a nonce before it).
func (s *Service) seal(secret string) ([]byte, error) {
	box, err := s.box()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) //nolint:forbidigo // a nonce is chance; it never fails, the runtime ends the program first
	return box.Seal(nonce, nonce, []byte(secret), nil), nil
}

// open is what was sealed.
func (s *Service) open(sealed []byte) (string, error) {
	box, err := s.box()
	if err != nil {
		return "", err
	}
	if len(sealed) < box.NonceSize() {
		return "", errSealed
	}
	secret, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], nil)
	if err != nil {
		return "", errSealed
	}
	return string(secret), nil
}

func (s *Service) box() (cipher.AEAD, error) {
	if s.Key == nil {
		return nil, fmt.Errorf("there is no key to seal secrets with")
	}
	key, err := s.Key()
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key that seals secrets: %w", err)
	}
	return cipher.NewGCM(block)
}

// Seal encrypts another secret of the installation as those of webhooks are.
func (s *Service) Seal(secret string) ([]byte, error) { return s.seal(secret) }

// Open is what was sealed.
func (s *Service) Open(sealed []byte) (string, error) { return s.open(sealed) }

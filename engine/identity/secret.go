package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// secretBytes is the length of every generated secret, which is written as 64 hex digits.
const secretBytes = 32

// newSecret returns a new secret and the hash to store.
func newSecret() (secret, hash string) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) //nolint:forbidigo // a secret must be random; Read never returns an error
	secret = hex.EncodeToString(b)
	return secret, hashSecret(secret)
}

// hashSecret returns the stored form of a secret. It needs no salt: a secret of 256 random bits
// can't be guessed from its hash.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// isWellFormedSecret reports whether a string has the form of a secret, which is checked before any lookup.
func isWellFormedSecret(secret string) bool {
	return len(secret) == 2*secretBytes && strings.Trim(secret, "0123456789abcdef") == ""
}

func maskKey(secret string) string {
	return fmt.Sprintf("%s…%s", api.APIKeyPrefix, secret[len(secret)-4:])
}

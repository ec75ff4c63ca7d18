package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/scf-service/service/api"
)

const (
	minPassword = 12
	maxPassword = 128
	// maxConcurrentHashes is the maximum number of passwords hashed at once: each takes hashMemory.
	maxConcurrentHashes = 2
	hashMemory          = 19 * 1024 // KiB
)

// passwordCost follows the OWASP recommendation for argon2id for little memory.
var passwordCost = &argon2id.Params{Memory: hashMemory, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// passwordHasher hashes and compares passwords, a few at a time.
type passwordHasher struct {
	slots chan struct{}
	// dummyHash returns a hash that no password has. It is used for the comparison if there is no
	// account, so that the response time does not reveal this.
	dummyHash func() string
	cost      *argon2id.Params
}

func newPasswordHasher(weak bool) *passwordHasher {
	cost := passwordCost
	if weak {
		cost = &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	}
	return &passwordHasher{cost: cost, slots: make(chan struct{}, maxConcurrentHashes), dummyHash: sync.OnceValue(func() string {
		secret, _ := newSecret()
		hash, _ := argon2id.CreateHash(secret, cost)
		return hash
	})}
}

func (p *passwordHasher) acquireSlot(ctx context.Context) (done func(), err error) {
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// validatePassword returns an error for an unacceptable password.
func validatePassword(field, password string) error {
	if n := utf8.RuneCountInString(password); n < minPassword || n > maxPassword || !utf8.ValidString(password) {
		return api.Invalid(field, "passwords need %d to %d characters; four random words are easy to remember", minPassword, maxPassword)
	}
	return nil
}

// validateAndHash checks the password's form and hashes it.
func (p *passwordHasher) validateAndHash(ctx context.Context, field, password string) (string, error) {
	if err := validatePassword(field, password); err != nil {
		return "", err
	}
	done, err := p.acquireSlot(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	h, err := argon2id.CreateHash(password, p.cost)
	if err != nil {
		return "", fmt.Errorf("hashing a password: %w", err)
	}
	return h, nil
}

// compare reports whether a password matches a hash. If the hash is empty, it returns false after the same amount of
// time. Only a few comparisons run at once; beforeCompare and onMismatch are called while this one holds its slot, so
// that a thousand concurrent attempts are slowed down like sequential ones.
func (p *passwordHasher) compare(
	ctx context.Context,
	password, hash string,
	beforeCompare func() error,
	onMismatch func(),
) (right bool, err error) {
	done, err := p.acquireSlot(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	if err := beforeCompare(); err != nil {
		return false, err
	}
	defer func() {
		if err == nil && !right {
			onMismatch()
		}
	}()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, p.dummyHash())
		return false, err
	}
	ok, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("comparing a password: %w", err)
	}
	return ok, nil
}

// generatePassword returns a password that can be read aloud: five groups of four, without
// similar-looking characters; about 98 bits.
func generatePassword() string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	groups := make([]string, 5)
	for i := range groups {
		for range 4 {
			n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters)))) //nolint:forbidigo // a password must be random
			groups[i] += letters[n.Int64() : n.Int64()+1]
		}
	}
	return strings.Join(groups, "-")
}

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
	// hashing bounds how many passwords are hashed at once: each takes hashMemory.
	hashing    = 2
	hashMemory = 19 * 1024 // KiB
)

// passwordCost follows the OWASP recommendation for argon2id with little memory.
var passwordCost = &argon2id.Params{Memory: hashMemory, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// passwords hashes and compares, a few at a time.
type passwords struct {
	turn chan struct{}
	// nobody is a hash that no password has: it is compared with where there is no
	// account, so that the time of an answer does not tell.
	nobody func() string
}

func newPasswords() *passwords {
	return &passwords{turn: make(chan struct{}, hashing), nobody: sync.OnceValue(func() string {
		secret, _ := newSecret()
		hash, _ := argon2id.CreateHash(secret, passwordCost)
		return hash
	})}
}

func (p *passwords) wait(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// formed refuses what can't be a password.
func formed(field, password string) error {
	if n := utf8.RuneCountInString(password); n < minPassword || n > maxPassword || !utf8.ValidString(password) {
		return api.Invalid(field, "a password has %d to %d characters; a sentence of four words is easy to keep", minPassword, maxPassword)
	}
	return nil
}

// hash checks the password's form and hashes it.
func (p *passwords) hash(ctx context.Context, field, password string) (string, error) {
	if err := formed(field, password); err != nil {
		return "", err
	}
	done, err := p.wait(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	h, err := argon2id.CreateHash(password, passwordCost)
	if err != nil {
		return "", fmt.Errorf("hashing a password: %w", err)
	}
	return h, nil
}

// matches compares with a hash; with none it takes as long and says no. It asks first
// and tells of a wrong password last, within its turn: so a thousand tries at once are
// slowed as those one after the other are.
func (p *passwords) matches(ctx context.Context, password, hash string, first func() error, wrong func()) (right bool, err error) {
	done, err := p.wait(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	if err := first(); err != nil {
		return false, err
	}
	defer func() {
		if err == nil && !right {
			wrong()
		}
	}()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, p.nobody())
		return false, err
	}
	ok, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("comparing a password: %w", err)
	}
	return ok, nil
}

// newPassword is one that can be read aloud: five groups of four, without letters that
// look alike; about 98 bits.
func newPassword() string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	groups := make([]string, 5)
	for i := range groups {
		for range 4 {
			n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters)))) //nolint:forbidigo // a secret is chance
			groups[i] += letters[n.Int64() : n.Int64()+1]
		}
	}
	return strings.Join(groups, "-")
}

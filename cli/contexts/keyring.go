package contexts

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// Keyring is a keyring: secrets by account.
type Keyring interface {
	Set(account, secret string) error
	// Get and Delete answer ErrNoSecret where the account has none.
	Get(account string) (string, error)
	Delete(account string) error
}

// ErrNoSecret is the answer of a keyring without that account.
var ErrNoSecret = errors.New("no such secret")

// errNoAnswer is the answer of a keyring that does not come.
var errNoAnswer = errors.New("it does not answer; unlock it, or sign in again")

const (
	// keyringService is the name secrets stand under in the keyring.
	keyringService = "service (SCF assessments)"
	// storeTimeout is how long a keyring may take to store; unlockTimeout how long to read, where
	// a person may have to type its password first.
	storeTimeout, unlockTimeout = 5 * time.Second, time.Minute
)

// SystemKeyring is the keyring of the operating system; nil where SERVICE_KEYRING is off,
// or where there can be none: asking then could start a bus of its own and leave it running.
func SystemKeyring(env func(string) string) Keyring {
	if strings.EqualFold(env("SERVICE_KEYRING"), "off") {
		return nil
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return systemKeyring{}
	}
	if bus := env("DBUS_SESSION_BUS_ADDRESS"); bus != "" && bus != "autolaunch:" {
		return systemKeyring{}
	}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
			return systemKeyring{}
		}
	}
	return nil
}

// CheckKeyring tells whether a keyring does, within a few seconds; an error says why not.
func CheckKeyring(r Keyring) error {
	_, err := withTimeout(storeTimeout, func() (string, error) { return r.Get("whether it answers") })
	if errors.Is(err, ErrNoSecret) {
		return nil
	}
	return err
}

type systemKeyring struct{}

func (systemKeyring) Set(account, secret string) error {
	_, err := withTimeout(storeTimeout, func() (string, error) { return "", keyring.Set(keyringService, account, secret) })
	return err
}

func (systemKeyring) Get(account string) (string, error) {
	return withTimeout(unlockTimeout, func() (string, error) { return keyring.Get(keyringService, account) })
}

func (systemKeyring) Delete(account string) error {
	_, err := withTimeout(storeTimeout, func() (string, error) { return "", keyring.Delete(keyringService, account) })
	return err
}

// withTimeout asks a keyring, and gives up on one that is silent. Its errors say nothing secret.
func withTimeout(limit time.Duration, call func() (string, error)) (string, error) {
	type answer struct {
		secret string
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		secret, err := call()
		done <- answer{secret, err}
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case a := <-done:
		if errors.Is(a.err, keyring.ErrNotFound) {
			return "", ErrNoSecret
		}
		return a.secret, a.err
	case <-t.C:
		return "", errNoAnswer
	}
}

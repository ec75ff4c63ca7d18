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

// Keyring stores secrets by account.
type Keyring interface {
	Set(account, secret string) error
	// Get and Delete return ErrNoSecret if the account has no secret.
	Get(account string) (string, error)
	Delete(account string) error
}

// ErrNoSecret is returned by a keyring for an unknown account.
var ErrNoSecret = errors.New("no such secret")

// errNoAnswer is returned if a keyring does not respond.
var errNoAnswer = errors.New("the keyring does not respond; unlock it, or sign in again")

const (
	// keyringService is the service name under which the keyring stores our secrets.
	keyringService = "service (SCF assessments)"
	// storeTimeout is the timeout for storing a secret. unlockTimeout is the timeout for reading one, which
	// is longer because the user may have to enter the keyring's password.
	storeTimeout, unlockTimeout = 5 * time.Second, time.Minute
)

// SystemKeyring returns the operating system's keyring. It returns nil if SERVICE_KEYRING is off. It also
// returns nil if there is no session bus, because connecting could start a D-Bus daemon and leave it running.
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

// CheckKeyring returns an error if a keyring doesn't work. The check takes at most a few seconds.
func CheckKeyring(r Keyring) error {
	_, err := callKeyringWithTimeout(storeTimeout, func() (string, error) { return r.Get("whether it answers") })
	if errors.Is(err, ErrNoSecret) {
		return nil
	}
	return err
}

// systemKeyring is the keyring of the operating system.
type systemKeyring struct{}

func (systemKeyring) Set(account, secret string) error {
	_, err := callKeyringWithTimeout(storeTimeout, func() (string, error) { return "", keyring.Set(keyringService, account, secret) })
	return err
}

func (systemKeyring) Get(account string) (string, error) {
	return callKeyringWithTimeout(unlockTimeout, func() (string, error) { return keyring.Get(keyringService, account) })
}

func (systemKeyring) Delete(account string) error {
	_, err := callKeyringWithTimeout(storeTimeout, func() (string, error) { return "", keyring.Delete(keyringService, account) })
	return err
}

// callKeyringWithTimeout calls a keyring with a timeout. Its errors contain no secrets.
func callKeyringWithTimeout(limit time.Duration, call func() (string, error)) (string, error) {
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

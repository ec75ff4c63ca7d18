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

// Ring is a keyring: secrets by account.
type Ring interface {
	Set(account, secret string) error
	// Get and Delete answer ErrNoSecret where the account has none.
	Get(account string) (string, error)
	Delete(account string) error
}

// ErrNoSecret is the answer of a keyring without that account.
var ErrNoSecret = errors.New("no such secret")

// errSilent is the answer of a keyring that does not come.
var errSilent = errors.New("it does not answer; unlock it, or sign in again")

const (
	// ringService is the name secrets stand under in the keyring.
	ringService = "service (SCF assessments)"
	// toKeep is how long a keyring may take to store; toUnlock how long to read, where
	// a person may have to type its password first.
	toKeep, toUnlock = 5 * time.Second, time.Minute
)

// SystemRing is the keyring of the operating system; nil where SERVICE_KEYRING is off,
// or where there can be none: asking then could start a bus of its own and leave it running.
func SystemRing(env func(string) string) Ring {
	if strings.EqualFold(env("SERVICE_KEYRING"), "off") {
		return nil
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return systemRing{}
	}
	if bus := env("DBUS_SESSION_BUS_ADDRESS"); bus != "" && bus != "autolaunch:" {
		return systemRing{}
	}
	if dir := env("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
			return systemRing{}
		}
	}
	return nil
}

// Answers tells whether a keyring does, within a few seconds; an error says why not.
func Answers(r Ring) error {
	_, err := within(toKeep, func() (string, error) { return r.Get("whether it answers") })
	if errors.Is(err, ErrNoSecret) {
		return nil
	}
	return err
}

type systemRing struct{}

func (systemRing) Set(account, secret string) error {
	_, err := within(toKeep, func() (string, error) { return "", keyring.Set(ringService, account, secret) })
	return err
}

func (systemRing) Get(account string) (string, error) {
	return within(toUnlock, func() (string, error) { return keyring.Get(ringService, account) })
}

func (systemRing) Delete(account string) error {
	_, err := within(toKeep, func() (string, error) { return "", keyring.Delete(ringService, account) })
	return err
}

// within asks a keyring, and gives up on one that is silent. Its errors say nothing secret.
func within(limit time.Duration, ask func() (string, error)) (string, error) {
	type answer struct {
		secret string
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		secret, err := ask()
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
		return "", errSilent
	}
}

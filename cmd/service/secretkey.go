package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/internal/secretbox"
)

// secretKeys are the keys that secrets of webhooks and integrations are sealed with: those
// of SERVICE_SECRET_KEY, else of a file in the data folder, made when first needed, or of
// the system's keyring, where the file says so. They are not in the database, so that a copy
// of that alone opens nothing.
type secretKeys struct {
	dir     string
	env     func(string) string
	keyring contexts.Keyring // nil: none
}

const (
	secretKeyVariable = "SERVICE_SECRET_KEY"
	keyringPrefix     = "keyring:" // begins the file where the keys are elsewhere
)

func (s *secretKeys) file() string { return filepath.Join(s.dir, "secret.key") }

// Location says where the keys are.
func (s *secretKeys) Location() string {
	if s.env(secretKeyVariable) != "" {
		return secretbox.Environment
	}
	if b, err := os.ReadFile(s.file()); err == nil && strings.HasPrefix(string(b), keyringPrefix) {
		return secretbox.Keyring
	}
	return secretbox.File
}

// Load reads the keys, and makes the first.
func (s *secretKeys) Load() ([]secretbox.Key, error) {
	if text := s.env(secretKeyVariable); text != "" {
		return secretbox.ParseKeys(text, secretKeyVariable)
	}
	b, err := os.ReadFile(s.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		keys := []secretbox.Key{secretbox.NewKey()}
		return keys, s.replaceFile(secretbox.FormatKeys(keys))
	case err != nil:
		return nil, err
	}
	account, elsewhere := strings.CutPrefix(strings.TrimSpace(string(b)), keyringPrefix)
	if !elsewhere {
		return secretbox.ParseKeys(string(b), s.file())
	}
	if s.keyring == nil {
		return nil, fmt.Errorf(
			"the key that seals secrets is in a keyring, and there is none here; run as whoever put it there, or give it in %s",
			secretKeyVariable,
		)
	}
	text, err := s.keyring.Get(account)
	if err != nil {
		return nil, fmt.Errorf("the key that seals secrets, from the keyring: %w", err)
	}
	return secretbox.ParseKeys(text, "the key in the keyring")
}

// Save replaces the keys. At each moment what a start finds opens all that is sealed.
func (s *secretKeys) Save(keys []secretbox.Key, place string) error {
	now := s.Location()
	if place == "" {
		place = now
	}
	old := ""
	if now == secretbox.Keyring {
		b, err := os.ReadFile(s.file())
		if err != nil {
			return err
		}
		old = strings.TrimPrefix(strings.TrimSpace(string(b)), keyringPrefix)
	}
	switch {
	case now == secretbox.Environment || place == secretbox.Environment:
		return fmt.Errorf(
			"the keys are those of %s, which the program can't change: put a new one before them, as NEW,OLD, and start again",
			secretKeyVariable,
		)
	case place == secretbox.File:
		if err := s.replaceFile(secretbox.FormatKeys(keys)); err != nil {
			return err
		}
		if old != "" && s.keyring != nil {
			if err := s.keyring.Delete(old); err != nil && !errors.Is(err, contexts.ErrNoSecret) {
				return fmt.Errorf("the keys are in the file now, but the keyring keeps its copy: %w", err)
			}
		}
		return nil
	case s.keyring == nil:
		return errors.New("there is no keyring that answers here; keep the key in the file")
	}
	account := old
	if account == "" {
		account = "secret-key-" + keys[0].ID()
	}
	if err := s.keyring.Set(account, strings.ReplaceAll(strings.TrimSpace(secretbox.FormatKeys(keys)), "\n", ",")); err != nil {
		return fmt.Errorf("the keyring does not take the key: %w", err)
	}
	if account == old {
		return nil
	}
	return s.replaceFile(keyringPrefix + account + "\n")
}

// replaceFile replaces the file whole, or leaves it.
func (s *secretKeys) replaceFile(text string) (err error) {
	f, err := os.CreateTemp(s.dir, ".secret-*.part") // 0600, as CreateTemp makes files
	if err != nil {
		return fmt.Errorf("keeping the key that secrets are sealed with: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("keeping the key that secrets are sealed with: %w", err), os.Remove(f.Name()))
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.file())
}

// webhookNetworks are the private networks that webhooks and integrations may reach, from
// SERVICE_WEBHOOK_ALLOW.
func webhookNetworks() (out []netip.Prefix, err error) {
	for s := range strings.SplitSeq(os.Getenv("SERVICE_WEBHOOK_ALLOW"), ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			if a, single := netip.ParseAddr(s); single == nil {
				p, err = netip.PrefixFrom(a, a.BitLen()), nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("SERVICE_WEBHOOK_ALLOW: %q is no network, as 10.0.0.0/8 or 127.0.0.1", s)
		}
		out = append(out, p)
	}
	return out, nil
}

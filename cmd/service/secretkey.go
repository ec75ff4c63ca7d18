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
	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/internal/secretbox"
)

// secretKeys manages the keys that encrypt the secrets of webhooks and integrations. The keys are in
// SERVICE_SECRET_KEY, if set. Otherwise, they are in a file in the data folder, which is created when first needed, or
// in the system's keyring if that file says so. They are not in the database, so that a copy of the database alone
// doesn't reveal any secrets.
type secretKeys struct {
	dir     string
	env     func(string) string
	keyring contexts.Keyring // nil if there is none
}

const (
	secretKeyVariable = "SERVICE_SECRET_KEY"
	secretKeyFile     = "secret.key"
	keyringPrefix     = "keyring:" // prefix of the file's content if the keys are in the keyring
)

func (s *secretKeys) filePath() string { return filepath.Join(s.dir, secretKeyFile) }

// Location returns where the keys are stored: in the environment, in the file or in the keyring.
func (s *secretKeys) Location() string {
	if s.env(secretKeyVariable) != "" {
		return secretbox.Environment
	}
	if b, err := regularfile.Read(s.filePath(), maxConfigFile); err == nil && strings.HasPrefix(string(b), keyringPrefix) {
		return secretbox.Keyring
	}
	return secretbox.File
}

// LoadOrCreate returns the keys. If there are none, it creates the first key.
func (s *secretKeys) LoadOrCreate() ([]secretbox.Key, error) {
	if text := s.env(secretKeyVariable); text != "" {
		return secretbox.ParseKeys(text, secretKeyVariable)
	}
	b, err := regularfile.Read(s.filePath(), maxConfigFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		keys := []secretbox.Key{secretbox.NewKey()}
		return keys, s.replaceFile(secretbox.FormatKeys(keys))
	case err != nil:
		return nil, err
	}
	account, elsewhere := strings.CutPrefix(strings.TrimSpace(string(b)), keyringPrefix)
	if !elsewhere {
		return secretbox.ParseKeys(string(b), s.filePath())
	}
	if s.keyring == nil {
		return nil, fmt.Errorf(
			"the encryption key for secrets is in a keyring that isn't available; run the program as the user who stored the key, or set %s",
			secretKeyVariable,
		)
	}
	text, err := s.keyring.Get(account)
	if err != nil {
		return nil, fmt.Errorf("can't read the encryption key for secrets from the keyring: %w", err)
	}
	return secretbox.ParseKeys(text, "the key in the keyring")
}

// Save replaces the keys and stores them at place, or at their current location if place is empty. At every moment, a
// restarted program would find keys that decrypt all secrets.
func (s *secretKeys) Save(keys []secretbox.Key, place string) error {
	now := s.Location()
	if place == "" {
		place = now
	}
	old := ""
	if now == secretbox.Keyring {
		b, err := regularfile.Read(s.filePath(), maxConfigFile)
		if err != nil {
			return err
		}
		old = strings.TrimPrefix(strings.TrimSpace(string(b)), keyringPrefix)
	}
	switch {
	case now == secretbox.Environment || place == secretbox.Environment:
		return fmt.Errorf(
			"the keys are set in %s, which the program can't change; add the new key before the old keys, in the form NEW,OLD, and restart",
			secretKeyVariable,
		)
	case place == secretbox.File:
		if err := s.replaceFile(secretbox.FormatKeys(keys)); err != nil {
			return err
		}
		if old != "" && s.keyring != nil {
			if err := s.keyring.Delete(old); err != nil && !errors.Is(err, contexts.ErrNoSecret) {
				return fmt.Errorf("the keys are now in the file, but their copy in the keyring could not be deleted: %w", err)
			}
		}
		return nil
	case s.keyring == nil:
		return errors.New("no keyring is available on this machine; keep the key in the file")
	}
	account := old
	if account == "" {
		account = "secret-key-" + keys[0].ID()
	}
	if err := s.keyring.Set(account, strings.ReplaceAll(strings.TrimSpace(secretbox.FormatKeys(keys)), "\n", ",")); err != nil {
		return fmt.Errorf("can't store the encryption key in the keyring: %w", err)
	}
	if account == old {
		return nil
	}
	return s.replaceFile(keyringPrefix + account + "\n")
}

// replaceFile atomically replaces the key file.
func (s *secretKeys) replaceFile(text string) (err error) {
	f, err := os.CreateTemp(s.dir, ".secret-*.part") // CreateTemp creates files with mode 0600
	if err != nil {
		return fmt.Errorf("can't save the encryption key for secrets: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("can't save the encryption key for secrets: %w", err), os.Remove(f.Name()))
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.filePath())
}

// allowedWebhookNetworks returns the private networks that webhooks and integrations are allowed to reach, from
// SERVICE_WEBHOOK_ALLOW.
func allowedWebhookNetworks() (out []netip.Prefix, err error) {
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
			return nil, fmt.Errorf("SERVICE_WEBHOOK_ALLOW: %q is not a network; use a value such as 10.0.0.0/8 or 127.0.0.1", s)
		}
		out = append(out, p)
	}
	return out, nil
}

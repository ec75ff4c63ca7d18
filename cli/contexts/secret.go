package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/scf-service/service/internal/regularfile"
)

// ErrSignedOut is returned if a context has no secret.
var ErrSignedOut = errors.New("not signed in")

// keyringAccount returns the keyring account of a context's secret.
func keyringAccount(c *Context) string { return strings.ToLower(c.Name) + " on " + c.Server }

// secretFile returns the path of a context's secret file.
func (s *Store) secretFile(c *Context) string {
	return filepath.Join(s.dir, "secrets", url.QueryEscape(strings.ToLower(c.Name)))
}

// SaveSecret stores a context's secret, in the keyring if available or else in a file, and records
// the location in c.
func (s *Store) SaveSecret(c *Context, secret string) error {
	before := *c
	if s.keyring != nil && s.keyring.Set(keyringAccount(c), secret) == nil {
		c.SecretLocation = SecretInKeyring
		if before.SecretLocation != SecretInKeyring {
			_ = os.Remove(s.secretFile(c))
		}
		return nil
	}
	if err := s.makePrivateDir(filepath.Join(s.dir, "secrets")); err != nil {
		return err
	}
	if err := s.restrictToOwner(filepath.Join(s.dir, "secrets")); err != nil {
		return err
	}
	if err := s.replaceFile(s.secretFile(c), []byte(secret+"\n")); err != nil {
		return err
	}
	c.SecretLocation = SecretInFile
	return nil
}

// maxSecretBytes is the maximum size of a secret file.
const maxSecretBytes = 4096

// Secret returns a context's secret. The error wraps ErrSignedOut if there is none.
func (s *Store) Secret(c *Context) (string, error) {
	switch c.SecretLocation {
	case SecretInKeyring:
		if s.keyring == nil {
			return "", fmt.Errorf("the secret of %s is in a keyring, but no keyring is available: %w", c.Name, ErrSignedOut)
		}
		secret, err := s.keyring.Get(keyringAccount(c))
		if errors.Is(err, ErrNoSecret) {
			return "", fmt.Errorf("the secret of %s is no longer in the keyring: %w", c.Name, ErrSignedOut)
		}
		if err != nil {
			return "", fmt.Errorf("can't read the secret of %s from the keyring: %w", c.Name, err)
		}
		return secret, nil
	case SecretInFile:
		return s.readSecretFile(c)
	}
	return "", fmt.Errorf("the context %s: %w", c.Name, ErrSignedOut)
}

func (s *Store) readSecretFile(c *Context) (string, error) {
	path := s.secretFile(c)
	if err := s.restrictToOwner(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the secret of %s no longer exists: %w", c.Name, ErrSignedOut)
	} else if err != nil {
		return "", err
	}
	text, err := regularfile.Read(path, maxSecretBytes)
	if err != nil {
		return "", fmt.Errorf("the secret of %s can't be read: %w", c.Name, err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s does not contain a valid secret: %w", path, ErrSignedOut)
	}
	return secret, nil
}

// restrictToOwner removes other users' permissions from a file or folder, with a warning. It returns an error
// if path is anything else, such as a symbolic link.
func (s *Store) restrictToOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s is not a regular file, so it can't be used to store a secret; delete the file and sign in again", path)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 { // on Windows, the folder's access control list applies
		return nil
	}
	if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
		return fmt.Errorf("the secret in %s is not used, because other users can read the file and its permissions can't be changed: %w",
			path, err)
	}
	s.warn("other users were able to read %s; now only you can read it. If other people use this machine, sign out and sign in again", path)
	return nil
}

// DeleteSecret deletes the secret of a context, if it exists, and records in c that the user has signed out.
func (s *Store) DeleteSecret(c *Context) error {
	kept := c.SecretLocation
	c.SecretLocation, c.ExpiresAt = SecretNowhere, nil
	switch {
	case kept == SecretInKeyring && s.keyring != nil:
		if err := s.keyring.Delete(keyringAccount(c)); err != nil && !errors.Is(err, ErrNoSecret) {
			return fmt.Errorf("the secret of %s could not be deleted from the keyring: %w", c.Name, err)
		}
	case kept == SecretInFile:
		if err := os.Remove(s.secretFile(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the secret of %s could not be deleted: %w", c.Name, err)
		}
	}
	return nil
}

package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/lockedfile"
	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/internal/regularfile"
)

// Store holds a user's contexts and secrets in a folder. Several processes may use it at once.
type Store struct {
	dir     string
	keyring Keyring
	warn    func(format string, args ...any)
}

// New returns a store that keeps its files in dir, which need not exist. kr is nil if there is no keyring. warn is
// called when the store has found and repaired a problem.
func New(dir string, kr Keyring, warn func(format string, args ...any)) *Store {
	return &Store{dir: dir, keyring: kr, warn: warn}
}

// ConfigFilePath returns the path of the contexts file.
func (s *Store) ConfigFilePath() string { return filepath.Join(s.dir, "contexts.yaml") }

// UnknownKeyError is returned if the contexts file has an unknown key.
type UnknownKeyError struct {
	Path  string
	Line  int
	Key   string
	Known []string
}

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("%s, line %d: unknown key %q", e.Path, e.Line, e.Key)
}

// maxConfigBytes is the maximum size of the contexts file.
const maxConfigBytes = 1 << 20

// Read returns the contexts, or an empty configuration if the contexts file doesn't exist.
func (s *Store) Read() (*Config, error) {
	text, err := regularfile.Read(s.ConfigFilePath(), maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &Config{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the contexts: %w", err)
	}
	return parseConfig(s.ConfigFilePath(), text)
}

var configKeys, contextKeys = []string{"current", "contexts"},
	[]string{"name", "server", "organization_id", "organization", "user", "credential", "secret_location", "expires_at", "ca", "insecure_http"}

// parseConfig parses the contents of the contexts file. It uses path only in errors.
func parseConfig(path string, text []byte) (*Config, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%s is not valid YAML: %w", path, err)
	}
	if len(root.Content) == 0 { // empty, or only comments
		return &Config{}, nil
	}
	if err := rejectUnknownKeys(path, root.Content[0], configKeys); err != nil {
		return nil, err
	}
	book := &Config{}
	if err := root.Decode(book); err != nil {
		return nil, fmt.Errorf("%s is not a list of contexts: %w", path, err)
	}
	for i, c := range book.Contexts {
		if err := checkContext(book, i); err != nil {
			return nil, fmt.Errorf("%s: context %d, %q: %w", path, i+1, c.Name, err)
		}
	}
	return book, nil
}

// rejectUnknownKeys returns an error for unknown keys, so that typos are not silently ignored.
func rejectUnknownKeys(path string, n *yaml.Node, known []string) error {
	if n.Kind != yaml.MappingNode {
		return nil // the decoder reports the error
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !slices.Contains(known, key.Value) {
			return &UnknownKeyError{Path: path, Line: key.Line, Key: key.Value, Known: known}
		}
		if key.Value != "contexts" {
			continue
		}
		for _, c := range value.Content {
			if err := rejectUnknownKeys(path, c, contextKeys); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkContext returns an error if the context with the given index is invalid, or if its name is used twice.
func checkContext(b *Config, index int) error {
	c := &b.Contexts[index]
	switch {
	case b.Find(c.Name) != c:
		return errors.New("two contexts have this name")
	case c.Server == "":
		return errors.New("the context has no server")
	case c.Credential != Session && c.Credential != APIKey:
		return fmt.Errorf("unknown credential %q; use %s or %s", c.Credential, Session, APIKey)
	case c.SecretLocation != SecretNowhere && c.SecretLocation != SecretInKeyring && c.SecretLocation != SecretInFile:
		return fmt.Errorf("unknown secret location %q; use %s or %s", c.SecretLocation, SecretInKeyring, SecretInFile)
	}
	return CheckName(c.Name)
}

// Update applies change under a lock and replaces the file atomically. If change fails, nothing is
// written.
func (s *Store) Update(change func(*Config) error) error {
	if err := s.makePrivateDir(s.dir); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(s.dir, ".contexts.lock")).Lock()
	if err != nil {
		return fmt.Errorf("changing the contexts: %w", err)
	}
	defer unlock()
	book, err := s.Read()
	if err != nil {
		return err
	}
	if err := change(book); err != nil {
		return err
	}
	for i := range book.Contexts {
		if err := checkContext(book, i); err != nil {
			return fmt.Errorf("context %q: %w", book.Contexts[i].Name, err)
		}
	}
	var text bytes.Buffer
	text.WriteString("# Written by `service login`, `service use` and `service context`. It contains no secrets.\n")
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(book), enc.Close()); err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	return s.replaceFile(s.ConfigFilePath(), text.Bytes())
}

// makePrivateDir creates a folder that only its owner can access.
func (s *Store) makePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("can't create the contexts folder: %w", err)
	}
	return nil
}

// replaceFile atomically writes a file that only its owner can read.
func (s *Store) replaceFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".service-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("%s can't be written: %w", path, err)
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

package contexts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeRing is an in-memory keyring. If broken is set, it does not respond.
type fakeRing struct {
	mu      sync.Mutex
	secrets map[string]string
	broken  bool
}

func newRing() *fakeRing { return &fakeRing{secrets: map[string]string{}} }

func (r *fakeRing) Set(account, secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return errNoAnswer
	}
	r.secrets[account] = secret
	return nil
}

func (r *fakeRing) Get(account string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return "", errNoAnswer
	}
	if s, ok := r.secrets[account]; ok {
		return s, nil
	}
	return "", ErrNoSecret
}

func (r *fakeRing) Delete(account string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.secrets[account]; !ok {
		return ErrNoSecret
	}
	delete(r.secrets, account)
	return nil
}

func newStore(t *testing.T, ring Keyring) (*Store, *[]string) {
	t.Helper()
	var said []string
	return New(
		filepath.Join(t.TempDir(), "service"),
		ring,
		func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
	), &said
}

func work() Context {
	end := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	return Context{
		Name:           "work",
		Server:         "https://grc.acme.example",
		OrganizationID: "o-1",
		Organization:   "Acme",
		User:           "ada@acme.example",
		Credential:     Session,
		ExpiresAt:      &end,
	}
}

// secret must only appear where secrets are stored.
const secret = "SECRET-4711"

func keep(t *testing.T, s *Store, c Context) *Context {
	t.Helper()
	if err := s.Update(func(b *Config) error {
		kept := b.Put(c)
		b.Current = kept.Name
		return s.SaveSecret(kept, secret)
	}); err != nil {
		t.Fatal(err)
	}
	b, err := s.Read()
	if err != nil || b.Find(c.Name) == nil {
		t.Fatalf("%+v, %v", b, err)
	}
	return b.Find(c.Name)
}

func TestSecretsAreKeptApart(t *testing.T) {
	for name, c := range map[string]struct {
		ring *fakeRing
		want SecretLocation
	}{
		"keyring":              {newRing(), SecretInKeyring},
		"no keyring":           {nil, SecretInFile},
		"keyring that is mute": {&fakeRing{broken: true}, SecretInFile},
	} {
		t.Run(name, func(t *testing.T) {
			var ring Keyring
			if c.ring != nil {
				ring = c.ring
			}
			s, _ := newStore(t, ring)
			got := keep(t, s, work())
			if got.SecretLocation != c.want || got.ExpiresAt.Year() != 2027 || got.Organization != "Acme" {
				t.Errorf("read back as %+v", got)
			}
			text, err := os.ReadFile(s.ConfigFilePath())
			if err != nil || strings.Contains(string(text), secret) || strings.Contains(fmt.Sprintf("%+v", got), secret) {
				t.Errorf("the contexts hold the secret (%v):\n%s", err, text)
			}
			if found, err := s.Secret(got); err != nil || found != secret {
				t.Errorf("the secret is %q, %v", found, err)
			}
			for _, path := range []string{s.ConfigFilePath(), s.secretFile(got)} {
				if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
					t.Errorf("%s has the mode %v", path, info.Mode())
				}
			}
			if err := s.DeleteSecret(got); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Secret(got); !errors.Is(err, ErrSignedOut) {
				t.Errorf("forgotten, it answers %v", err)
			}
			if c.ring != nil && len(c.ring.secrets) > 0 {
				t.Error("the keyring still has it")
			}
			if _, err := os.Stat(s.secretFile(got)); err == nil {
				t.Error("the file is still there")
			}
		})
	}
}

func TestSecretFilesOthersCanRead(t *testing.T) {
	s, said := newStore(t, nil)
	c := keep(t, s, work())
	path := s.secretFile(c)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Secret(c); err != nil || got != secret {
		t.Errorf("%q, %v", got, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 || len(*said) != 1 || strings.Contains((*said)[0], secret) {
		t.Errorf("mode %v, said %q", info.Mode(), *said)
	}
	// A symbolic link is rejected, because it could lead anywhere.
	if err := errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Secret(c); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a link gives %v", err)
	}
	for _, bad := range []string{"", "\x00", "two words", "line\nline"} {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte(bad), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Secret(c); !errors.Is(err, ErrSignedOut) {
			t.Errorf("%q is taken as the secret %q, %v", bad, got, err)
		}
	}
}

func TestBookIsReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"currnt: x\n": `line 1: unknown key "currnt"`,
		"contexts:\n  - name: a\n    server: https://x\n    credential: key\n    tokn: x\n":                 `line 5: unknown key "tokn"`,
		"contexts:\n  - name: a\n    credential: key\n":                                                     "no server",
		"contexts:\n  - {name: a, server: x, credential: key}\n  - {name: A, server: y, credential: key}\n": "two contexts have this name",
		"contexts:\n  - {name: local, server: x, credential: key}\n":                                        "is reserved",
		"contexts:\n  - {name: ../x, server: x, credential: key}\n":                                         "is not a valid context name",
		"contexts:\n  - {name: a, server: x, credential: password}\n":                                       `unknown credential "password"`,
		"contexts:\n  - {name: a, server: x, credential: key, secret_location: cloud}\n":                    `unknown secret location "cloud"`,
		"contexts: 3\n": "is not a list of contexts",
		"- a\n":         "is not a list of contexts",
		"a: [\n":        "is not valid YAML",
		strings.Repeat("# long\n", maxConfigBytes/6): "larger than",
	} {
		s, _ := newStore(t, nil)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(s.ConfigFilePath()), 0o700),
			os.WriteFile(s.ConfigFilePath(), []byte(text), 0o600),
		); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gives %v, want %q", text, err, want)
		}
	}
	for _, fine := range []string{"", "# nothing yet\n", "current: local\n", "current: gone\ncontexts: []\n"} {
		if _, err := parseConfig("x", []byte(fine)); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

// TestChangesAtOnce checks that no concurrent change is lost.
func TestChangesAtOnce(t *testing.T) {
	s, _ := newStore(t, nil)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			one := New(s.dir, nil, t.Logf)
			c := work()
			c.Name = fmt.Sprintf("context-%d", i)
			if err := one.Update(func(b *Config) error { return one.SaveSecret(b.Put(c), secret) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b, err := s.Read(); err != nil || len(b.Contexts) != 12 {
		t.Errorf("%d contexts are left, %v", len(b.Contexts), err)
	}
}

func TestFailedChangeChangesNothing(t *testing.T) {
	s, _ := newStore(t, nil)
	keep(t, s, work())
	before, _ := os.ReadFile(s.ConfigFilePath())
	for name, change := range map[string]func(*Config) error{
		"refused": func(b *Config) error { b.Current = "x"; return errors.New("no") },
		"invalid": func(b *Config) error { b.Contexts[0].Name = "a b"; return nil },
	} {
		if err := s.Update(change); err == nil {
			t.Errorf("%s: no error", name)
		}
		if after, _ := os.ReadFile(s.ConfigFilePath()); string(after) != string(before) {
			t.Errorf("%s: it was written\n%s", name, after)
		}
	}
}

func TestWithinGivesUp(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	if _, err := callKeyringWithTimeout(time.Millisecond, func() (string, error) { <-never; return "", nil }); !errors.Is(err, errNoAnswer) {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(
		"current: work\ncontexts:\n  - name: work\n    server: https://x\n    credential: session\n    expires_at: 2027-01-02T03:04:05Z\n",
	)
	f.Add("contexts: &a\n  - *a\n")
	f.Add("a: [\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseConfig("contexts.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, c := range b.Contexts {
			if CheckName(c.Name) != nil || c.Server == "" {
				t.Errorf("%q was taken: %+v", text, c)
			}
		}
	})
}

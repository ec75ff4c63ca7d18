// Package contexts keeps the servers a person works with: where each is, as whom and
// in which organization, and which one commands mean. Their secrets are kept apart,
// in the keyring of the operating system where there is one that answers, else in a
// file of their owner alone.
//
// It talks to no server, prints nothing, and never puts a secret where a context,
// an error or a log could show it.
package contexts

import (
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Local is the name that stands for the data folder of this machine; no context has it.
const Local = "local"

// Credential says what kind of secret a context has.
type Credential string

// The kinds of credential.
const (
	Session Credential = "session"
	APIKey  Credential = "key"
)

// SecretLocation says where a secret is.
type SecretLocation string

// Where secrets are; SecretNowhere where a person has signed out.
const (
	SecretNowhere   SecretLocation = ""
	SecretInKeyring SecretLocation = "keyring"
	SecretInFile    SecretLocation = "file"
)

// Context is a server with who a person is there. It holds no secret.
type Context struct {
	Name string `yaml:"name" json:"name"`
	// Server is its address, https://…, without a slash at the end.
	Server string `yaml:"server" json:"server"`
	// OrganizationID is the organization commands act in; empty for the one the server takes.
	OrganizationID string `yaml:"organization_id,omitempty" json:"organization_id"`
	Organization   string `yaml:"organization,omitempty" json:"organization"`
	// User is the person's e-mail address.
	User           string         `yaml:"user,omitempty" json:"user"`
	Credential     Credential     `yaml:"credential" json:"credential"`
	SecretLocation SecretLocation `yaml:"kept_in,omitempty" json:"kept_in"`
	// ExpiresAt is when the credential ends, where that is known.
	ExpiresAt *time.Time `yaml:"expires_at,omitempty" json:"expires_at"`
	// CA is the file of a private certificate authority that the server's certificate is from.
	CA string `yaml:"ca,omitempty" json:"ca"`
	// InsecureHTTP: the person has agreed to http:// over the network.
	InsecureHTTP bool `yaml:"insecure_http,omitempty" json:"insecure_http"`
}

// SignedIn reports whether the context has a secret. Only the server knows whether it is still valid.
func (c *Context) SignedIn() bool { return c.SecretLocation != SecretNowhere }

// Config is all contexts, and the name of the one commands mean: Local for the data
// folder, empty where nothing was chosen yet.
type Config struct {
	Current  string    `yaml:"current,omitempty"`
	Contexts []Context `yaml:"contexts"`
}

// Find returns the context with a name, ignoring case, or nil if there is none.
func (b *Config) Find(name string) *Context {
	for i := range b.Contexts {
		if strings.EqualFold(b.Contexts[i].Name, name) {
			return &b.Contexts[i]
		}
	}
	return nil
}

// Names returns the names of all contexts.
func (b *Config) Names() []string {
	out := make([]string, len(b.Contexts))
	for i := range out {
		out[i] = b.Contexts[i].Name
	}
	return out
}

// Put adds a context or replaces the one with its name, and returns a pointer to the stored context.
func (b *Config) Put(c Context) *Context {
	if old := b.Find(c.Name); old != nil {
		*old = c
		return old
	}
	b.Contexts = append(b.Contexts, c)
	return &b.Contexts[len(b.Contexts)-1]
}

// Remove removes a context. If it was the current one, no context is selected afterwards.
func (b *Config) Remove(name string) {
	for i := range b.Contexts {
		if strings.EqualFold(b.Contexts[i].Name, name) {
			b.Contexts = append(b.Contexts[:i], b.Contexts[i+1:]...)
			break
		}
	}
	if strings.EqualFold(b.Current, name) {
		b.Current = ""
	}
}

var namePattern = lazyregexp.New(`^[A-Za-z0-9\[][A-Za-z0-9._:@\[\]-]{0,99}$`)

// CheckName returns an error if name is not valid for a context.
func CheckName(name string) error {
	switch {
	case strings.EqualFold(name, Local):
		return fmt.Errorf("%q stands for the data folder of this machine; choose another name", name)
	case !namePattern.MatchString(name):
		return fmt.Errorf("%q can't be a context's name; take up to 100 letters, digits and . _ - : @, without spaces", name)
	}
	return nil
}

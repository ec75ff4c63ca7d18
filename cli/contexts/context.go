// Package contexts stores the servers that a user works with: address, user, organization, and which one is current.
// Secrets are stored separately, in the operating system's keyring if available, otherwise in a file that only the
// user can read.
//
// It contacts no server, prints nothing, and never puts a secret in a context, error or log.
package contexts

import (
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Local is the reserved name of the local data folder; no context can have it.
const Local = "local"

// Credential is the kind of secret a context has.
type Credential string

// Kinds of credential.
const (
	Session Credential = "session"
	APIKey  Credential = "key"
)

// SecretLocation is where a secret is stored.
type SecretLocation string

// Secret locations. SecretNowhere means that the user has signed out.
const (
	SecretNowhere   SecretLocation = ""
	SecretInKeyring SecretLocation = "keyring"
	SecretInFile    SecretLocation = "file"
)

// Context is a server and the user's identity on it. It does not contain a secret.
type Context struct {
	Name string `yaml:"name" json:"name"`
	// Server is the server's address, https://…, without a trailing slash.
	Server string `yaml:"server" json:"server"`
	// OrganizationID is the organization that commands act in, or empty for the server's default.
	OrganizationID string `yaml:"organization_id,omitempty" json:"organization_id"`
	Organization   string `yaml:"organization,omitempty" json:"organization"`
	// User is the user's email address.
	User           string         `yaml:"user,omitempty" json:"user"`
	Credential     Credential     `yaml:"credential" json:"credential"`
	SecretLocation SecretLocation `yaml:"secret_location,omitempty" json:"secret_location"`
	// ExpiresAt is when the credential expires, if known.
	ExpiresAt *time.Time `yaml:"expires_at,omitempty" json:"expires_at"`
	// CA is the file of the private certificate authority that issued the server's certificate.
	CA string `yaml:"ca,omitempty" json:"ca"`
	// InsecureHTTP is set if the user has agreed to http:// over the network.
	InsecureHTTP bool `yaml:"insecure_http,omitempty" json:"insecure_http"`
}

// HasSecret reports whether the context has a secret. Only the server knows whether it is still
// valid.
func (c *Context) HasSecret() bool { return c.SecretLocation != SecretNowhere }

// Config holds all contexts and the name of the current one: Local for the data folder, or empty if
// none has been chosen.
type Config struct {
	Current  string    `yaml:"current,omitempty"`
	Contexts []Context `yaml:"contexts"`
}

// Find returns the context with the given name, ignoring case, or nil if there is none.
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

// Put adds a context, or replaces the context that has the same name. It returns a pointer to the stored
// context.
func (b *Config) Put(c Context) *Context {
	if old := b.Find(c.Name); old != nil {
		*old = c
		return old
	}
	b.Contexts = append(b.Contexts, c)
	return &b.Contexts[len(b.Contexts)-1]
}

// Remove removes a context. If it was current, no context is current afterwards.
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

// CheckName returns an error if name is not a valid context name.
func CheckName(name string) error {
	switch {
	case strings.EqualFold(name, Local):
		return fmt.Errorf("%q is reserved for this machine's data folder; choose another name", name)
	case !namePattern.MatchString(name):
		return fmt.Errorf("%q is not a valid context name; use up to 100 letters, digits and . _ - : @, without spaces", name)
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// loginOptions are the flags of `service login`.
type loginOptions struct {
	name, email, link, fullName string
	passwordStdin, tokenStdin   bool
}

func (a *app) loginCommand() *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Sign in to a server", Args: requireArgs(0, 1),
		Long: `Signs in to a server and makes it the one that commands use: all of them then work
there as they do offline. Asks for e-mail address and password; or takes an API key
(--token-stdin), or the link of an invitation, or one to set a new password (--link).

What it learns is kept as a context; ` + "`service use`" + ` lists and switches them. The secret
goes into the keyring of the operating system where there is one that answers, else
into a file that only you can read. Without URL it signs in again at the context in use.`,
		Example: `  service login https://grc.acme.example
  service login https://grc.acme.example --org acme-europe --name work
  service login --link 'https://grc.acme.example/link#THE-LINK-YOU-GOT'
  service login https://grc.acme.example --token-stdin < key.txt`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runLogin(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.email, "email", "", "e-mail address to sign in with (default: asked for)")
	f.BoolVar(&o.passwordStdin, "password-stdin", false, "read the password from the first line of stdin")
	f.BoolVar(&o.tokenStdin, "token-stdin", false, "sign in with the API key on the first line of stdin")
	f.StringVar(&o.link, "link", "", "a one-time link: an invitation, or one to set a new password")
	f.StringVar(&o.fullName, "full-name", "", "with an invitation: how you want to be called")
	f.StringVar(&o.name, "name", "", "name of the context (default: the server's host)")
	return cmd
}

// loginResult is what `service login` and `service use` print.
type loginResult struct {
	Context        string     `json:"context"`
	Server         string     `json:"server"`
	User           string     `json:"user"`
	Organization   *string    `json:"organization"`
	Role           *api.Role  `json:"role"`
	Credential     string     `json:"credential"`
	ExpiresAt      *time.Time `json:"expires_at"`
	SecretLocation string     `json:"kept_in"`
}

func (a *app) runLogin(cmd *cobra.Command, args []string, o loginOptions) error {
	ctx := cmd.Context()
	if len(args) == 1 && o.link == "" && strings.Contains(args[0], "/link#") {
		args, o.link = nil, args[0] // a link is pasted where an address is expected
	}
	token, err := a.readLoginKey(cmd, o)
	if err != nil {
		return err
	}
	c, link, err := a.buildLoginContext(args, o)
	if err != nil {
		return err
	}
	t := targetFromContext(&c)
	t.Organization = ""
	var session string
	if token != "" {
		c.Credential, t.Token = contexts.APIKey, token
	} else {
		t.OnSessionChange = func(token string, ends time.Time) {
			ends = ends.UTC()
			session, c.ExpiresAt = token, &ends
		}
	}
	if _, err := a.connectTo(ctx, t); err != nil {
		return err
	}
	switch {
	case token != "":
	case link != "":
		err = a.acceptLink(ctx, link, o)
	default:
		err = a.signIn(ctx, &c, o)
	}
	if err != nil {
		return explainLoginError(err, link != "")
	}
	if token == "" {
		if token = session; token == "" {
			return runtimeError("%s began no session; is it this program's server?", c.Server)
		}
	}
	role, err := a.resolveUserAndOrganization(ctx, &c, a.requestedOrganization(cmd))
	if err != nil {
		return explainLoginError(err, link != "")
	}
	if err := a.saveContext(ctx, &c, token); err != nil {
		return err
	}
	out := loginResult{
		Context:        c.Name,
		Server:         c.Server,
		User:           c.User,
		Role:           role,
		Credential:     string(c.Credential),
		ExpiresAt:      c.ExpiresAt,
		SecretLocation: string(c.SecretLocation),
	}
	if c.Organization != "" {
		out.Organization = &c.Organization
	}
	return a.out.Print(out, func(p *print.Page) { a.renderLogin(p, &c, role) })
}

func (a *app) renderLogin(p *print.Page, c *contexts.Context, role *api.Role) {
	p.Text("Signed in to %s as %s.", c.Server, c.User)
	until := formatTimePtr(c.ExpiresAt)
	if until != "" && c.Credential == contexts.Session {
		until += ", later with each use"
	}
	p.Fields(
		print.Field{Name: "context", Value: c.Name},
		print.Field{Name: "organization", Value: formatOrganization(c.Organization, role)},
		print.Field{Name: "until", Value: until},
		print.Field{Name: "secret kept", Value: secretLocationNames[c.SecretLocation]},
	)
	if c.Organization == "" {
		p.Text("You belong to no organization there yet; an owner or admin can invite you.")
		return
	}
	p.Text("Commands now work there; `service use local` goes back to the data folder of this machine.")
}

var secretLocationNames = map[contexts.SecretLocation]string{
	contexts.SecretNowhere:   "nowhere: signed out",
	contexts.SecretInKeyring: "in the keyring of the system",
	contexts.SecretInFile:    "in a file that only you can read",
}

func formatOrganization(name string, role *api.Role) string {
	if role == nil || *role == "" {
		return name
	}
	return fmt.Sprintf("%s, as %s", name, *role)
}

// readLoginKey is the API key to sign in with, empty where it is not by key.
func (a *app) readLoginKey(cmd *cobra.Command, o loginOptions) (string, error) {
	typed := cmd.Flags().Changed("token")
	other := o.email != "" || o.passwordStdin || o.link != ""
	switch {
	case (typed || o.tokenStdin) && other, typed && o.tokenStdin:
		return "", withHint(usageError("there is more than one way to sign in here"), "give a key, or a link, or an e-mail address")
	case o.tokenStdin:
		token, err := a.readStdinLine("the API key")
		if err == nil && !strings.HasPrefix(token, api.APIKeyPrefix) {
			err = usageError("what is on stdin is no API key: they begin with %s", api.APIKeyPrefix)
		}
		return token, err
	case other:
		return "", nil
	}
	return a.flags.Token, nil
}

// buildLoginContext is the context to be made: where, and what is known of the one before.
func (a *app) buildLoginContext(args []string, o loginOptions) (c contexts.Context, link string, err error) {
	address, link := "", strings.TrimSpace(o.link)
	if before, after, ok := strings.Cut(link, "#"); ok {
		address, link = strings.TrimSuffix(strings.TrimSuffix(before, "/"), "/link"), after
	}
	switch {
	case len(args) == 1:
		address = args[0]
	case address != "":
	case a.context != nil:
		c, address = *a.context, a.context.Server
	case a.targetErr != nil:
		return c, "", a.targetErr
	default:
		address = a.flags.Server
	}
	if address == "" {
		return c, "", withHint(usageError("which server?"), "`service login https://grc.acme.example`")
	}
	server, err := parseServerAddress(address)
	if err != nil {
		return c, "", err
	}
	c.Server, c.Credential, c.SecretLocation, c.ExpiresAt = server, contexts.Session, contexts.SecretNowhere, nil
	if o.name != "" {
		c.Name = o.name
	}
	if c.Name == "" {
		u, err := url.Parse(server)
		if err != nil {
			return c, "", err
		}
		c.Name = u.Host
	}
	if err := contexts.CheckName(c.Name); err != nil {
		return c, "", usageError("%w", err)
	}
	if a.flags.CA != "" {
		if c.CA, err = filepath.Abs(a.flags.CA); err != nil {
			return c, "", err
		}
	}
	c.InsecureHTTP = a.flags.InsecureHTTP
	return c, link, a.mergeExistingContext(&c)
}

// mergeExistingContext refuses to make a context of a name that another server has, and takes
// over what is known of the same one.
func (a *app) mergeExistingContext(c *contexts.Context) error {
	b, err := a.readContexts()
	if err != nil {
		return err
	}
	old := b.Find(c.Name)
	if old == nil {
		return nil
	}
	if old.Server != c.Server {
		return withHint(
			usageError("the context %s is for %s", old.Name, old.Server),
			"give another name with --name, or remove that one with `service context delete %s`",
			shellQuote(old.Name),
		)
	}
	c.Name, c.OrganizationID, c.User = old.Name, old.OrganizationID, old.User
	if c.CA == "" {
		c.CA = old.CA
	}
	return nil
}

// parseServerAddress reads an address as people write it; without a scheme it is https, on
// this machine http.
func parseServerAddress(s string) (string, error) {
	s = strings.TrimRight(strings.TrimSpace(s), "/")
	if !strings.Contains(s, "://") {
		host, _, _ := strings.Cut(s, "/")
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		scheme := "https://"
		if client.IsLoopback(strings.Trim(host, "[]")) {
			scheme = "http://"
		}
		s = scheme + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", usageError("%q is no server address; write it as https://grc.acme.example", s)
	}
	u.Host = strings.ToLower(u.Host)
	return u.String(), nil
}

// signIn asks for what was not given and begins a session.
func (a *app) signIn(ctx context.Context, c *contexts.Context, o loginOptions) error {
	in := &api.SignInInput{}
	in.Body.Email = o.email
	if in.Body.Email == "" && o.passwordStdin {
		if in.Body.Email = c.User; in.Body.Email == "" {
			return withHint(usageError("with --password-stdin the e-mail address has to be given"), "as --email you@acme.example")
		}
	}
	if in.Body.Email == "" {
		email, err := a.promptLine("e-mail address", c.User)
		if err != nil {
			return err
		}
		in.Body.Email = email
	}
	password, err := a.readPassword(ctx, o.passwordStdin, "password: ")
	if err != nil {
		return err
	}
	in.Body.Password = password
	_, err = call(ctx, a, api.SignIn, in)
	return err
}

// acceptLink tells what a link is for, asks for a password, and uses it.
func (a *app) acceptLink(ctx context.Context, token string, o loginOptions) error {
	input := &api.LinkInput{}
	input.Body.Token = token
	link, err := call(ctx, a, api.GetLink, input)
	if err != nil {
		return err
	}
	prompt, purpose := "password: ", "a new password for "+link.Email
	if link.Purpose == "invite" {
		purpose = fmt.Sprintf("invitation of %s to %s, as %s", link.Email, orEmpty(link.Organization), orEmpty(link.Role))
	}
	a.progress.Notice("%s; good until %s", purpose, formatTime(link.ExpiresAt))
	if link.NeedsPassword {
		prompt = "new password, at least 12 characters: "
	} else {
		a.progress.Notice("%s has an account already; sign in with its password", link.Email)
	}
	in := &api.AcceptLinkInput{}
	in.Body.Token, in.Body.Name = token, o.fullName
	if in.Body.Password, err = a.readPassword(ctx, o.passwordStdin, prompt); err != nil {
		return err
	}
	if link.NeedsPassword && !o.passwordStdin {
		if err := a.confirmPassword(ctx, in.Body.Password); err != nil {
			return err
		}
	}
	_, err = call(ctx, a, api.AcceptLink, in)
	return err
}

// explainLoginError tells more of what stands in the way of signing in.
func explainLoginError(err error, byLink bool) error {
	var f *exitError
	if errors.As(err, &f) {
		return err
	}
	if api.IsCode(err, api.CodeUnauthorized) {
		hint := "nothing was changed here; try again, or ask an admin of the service for a password link"
		if byLink {
			hint = "nothing was changed here; who has set a password before signs in with `service login URL`"
		}
		return &exitError{err: err, hint: hint}
	}
	if errors.Is(err, client.ErrUnreachable) {
		return &exitError{err: err, hint: "nothing was changed here; see that the address is right and that the server runs"}
	}
	return err
}

// requestedOrganization is the organization that flags or variables name.
func (a *app) requestedOrganization(cmd *cobra.Command) string {
	if cmd.Flags().Changed("org") || a.Env(envName("org")) != "" {
		return a.flags.Organization
	}
	return ""
}

// resolveUserAndOrganization asks the server who signed in, chooses the organization, and notes both in c.
func (a *app) resolveUserAndOrganization(ctx context.Context, c *contexts.Context, organization string) (*api.Role, error) {
	me, err := call(ctx, a, api.GetMe, &api.None{})
	if err != nil {
		return nil, err
	}
	if c.User = me.User.Email; me.ExpiresAt != nil {
		c.ExpiresAt = me.ExpiresAt
	}
	role, had := me.Role, c.OrganizationID
	c.OrganizationID, c.Organization = orEmpty(me.OrganizationID), orEmpty(me.Organization)
	if organization == "" && (had == "" || had == c.OrganizationID || c.Credential == contexts.APIKey) {
		return role, nil
	}
	mine, err := a.engine.MyOrganizations(ctx)
	if err != nil {
		return nil, err
	}
	if organization == "" { // as before, where it is still one of theirs
		organization = had
		if _, err := client.FindOrganization(mine, had); err != nil {
			return role, nil
		}
	}
	one, err := client.FindOrganization(mine, organization)
	if err != nil {
		return nil, err
	}
	if _, err := call(ctx, a, api.ActivateOrganization, &api.OrgInput{OrgID: one.ID}); err != nil {
		return nil, err
	}
	c.OrganizationID, c.Organization = one.ID, one.Name
	return &one.Role, nil
}

// saveContext keeps a context with its secret and makes it the current one. A session
// that it had before ends.
func (a *app) saveContext(ctx context.Context, c *contexts.Context, secret string) error {
	b, err := a.readContexts()
	if err != nil {
		return err
	}
	if old := b.Find(c.Name); old != nil {
		if old.User != c.User && old.User != "" {
			a.printNotice("the context %s was for %s; it is for %s now", c.Name, old.User, c.User)
		}
		if err := a.endSession(ctx, old); err != nil {
			a.progress.Notice("the session of before could not be ended: %v", err)
		}
	}
	return a.changeContexts(func(b *contexts.Config) error {
		if old := b.Find(c.Name); old != nil {
			c.SecretLocation = old.SecretLocation
		}
		kept := b.Put(*c)
		if err := a.contextStore().SaveSecret(kept, secret); err != nil {
			return err
		}
		b.Current, *c = kept.Name, *kept
		return nil
	})
}

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

// loginOptions holds the flags of `service login`.
type loginOptions struct {
	name, email, link, fullName string
	passwordStdin, tokenStdin   bool
}

func (a *app) loginCommand() *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Sign in to a server",
		Long: `Signs in to a server. All commands then work on that server as they do on the local data
folder. Prompts for your email address and password, or uses an API key (--token-stdin) or an
invitation or password link (--link).

The connection is saved as a context; ` + "`service use`" + ` lists and switches contexts. The secret
is stored in the operating system's keyring if available, otherwise in a file that only you
can read. Without a URL, you sign in again to the server of the current context.`,
		Example: `  service login https://grc.acme.example
  service login https://grc.acme.example --org acme-europe --name work
  service login --link 'https://grc.acme.example/link#THE-LINK-YOU-GOT'
  service login https://grc.acme.example --token-stdin < key.txt`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runLogin(cmd, args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.email, "email", "", "email address to sign in with (prompted for by default)")
	f.BoolVar(&o.passwordStdin, "password-stdin", false, "read the password from the first line of stdin")
	f.BoolVar(&o.tokenStdin, "token-stdin", false, "sign in with the API key on the first line of stdin")
	f.StringVar(&o.link, "link", "", "one-time link from an invitation, or for setting a new password")
	f.StringVar(&o.fullName, "full-name", "", "your full name, if you sign in with an invitation")
	f.StringVar(&o.name, "name", "", "name of the context (default: the server's host name)")
	return cmd
}

// loginResult is the output of `service login` and `service use`.
type loginResult struct {
	Context        string     `json:"context"`
	Server         string     `json:"server"`
	User           string     `json:"user"`
	Organization   *string    `json:"organization"`
	Role           *api.Role  `json:"role"`
	Credential     string     `json:"credential"`
	ExpiresAt      *time.Time `json:"expires_at"`
	SecretLocation string     `json:"secret_location"`
}

func (a *app) runLogin(cmd *cobra.Command, args []string, o loginOptions) error {
	ctx := cmd.Context()
	if len(args) == 1 && o.link == "" && strings.Contains(args[0], "/link#") {
		args, o.link = nil, args[0] // the user pasted a link instead of an address
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
	if _, err := a.connectAndKeep(ctx, t); err != nil {
		return err
	}
	switch {
	case token != "":
	case link != "":
		err = a.acceptOneTimeLink(ctx, link, o)
	default:
		err = a.signIn(ctx, &c, o)
	}
	if err != nil {
		return withLoginHint(err, link != "")
	}
	if token == "" {
		if token = session; token == "" {
			return runtimeError("%s did not start a session; check that the address is that of a server running this program", c.Server)
		}
	}
	role, err := a.setUserAndOrganization(ctx, &c, a.requestedOrganization(cmd))
	if err != nil {
		return withLoginHint(err, link != "")
	}
	if err := a.saveAsCurrentContext(ctx, &c, token); err != nil {
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
		until += ", extended each time it is used"
	}
	p.Fields(
		field("context", c.Name),
		field("organization", formatOrganization(c.Organization, role)),
		field("until", until),
		field("secret stored", secretLocationNames[c.SecretLocation]),
	)
	if c.Organization == "" {
		p.Text("You don't belong to an organization on this server yet; ask an owner or admin for an invitation.")
		return
	}
	if a.Env("SERVICE_DATA") != "" {
		p.Text("Commands still use the local data folder, because SERVICE_DATA is set; to use the server, unset SERVICE_DATA.")
		return
	}
	p.Text("Commands now use this server; switch back to the local data folder with `service use local`.")
}

var secretLocationNames = map[contexts.SecretLocation]string{
	contexts.SecretNowhere:   "not stored (signed out)",
	contexts.SecretInKeyring: "in the system keyring",
	contexts.SecretInFile:    "in a file only you can read",
}

func formatOrganization(name string, role *api.Role) string {
	if role == nil || *role == "" {
		return name
	}
	return fmt.Sprintf("%s, as %s", name, *role)
}

// readLoginKey returns the API key to sign in with, or "" if the user signs in by another method.
func (a *app) readLoginKey(cmd *cobra.Command, o loginOptions) (string, error) {
	typed := cmd.Flags().Changed("token")
	other := o.email != "" || o.passwordStdin || o.link != ""
	switch {
	case (typed || o.tokenStdin) && other, typed && o.tokenStdin:
		return "", withHint(usageError("more than one sign-in method given"), "use only an API key, only a link, or only an email address")
	case o.tokenStdin:
		token, err := a.readStdinLine("the API key")
		if err == nil && !strings.HasPrefix(token, api.APIKeyPrefix) {
			err = usageError("stdin does not contain an API key; API keys begin with %s", api.APIKeyPrefix)
		}
		return token, err
	case other:
		return "", nil
	}
	return a.flags.Token, nil
}

// buildLoginContext returns the context to save, based on the current one if no address is given. If the user
// gave a one-time link, it also returns the token of the link.
func (a *app) buildLoginContext(args []string, o loginOptions) (c contexts.Context, linkToken string, err error) {
	address, linkToken := "", strings.TrimSpace(o.link)
	if before, after, ok := strings.Cut(linkToken, "#"); ok {
		address, linkToken = strings.TrimSuffix(strings.TrimSuffix(before, "/"), "/link"), after
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
		return c, "", withHint(usageError("no server given"), "`service login https://grc.acme.example`")
	}
	server, err := normalizeServerAddress(address)
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
	return c, linkToken, a.mergeExistingContext(&c)
}

// mergeExistingContext copies the details of an existing context with the same name into c. It returns an error
// if that context is for another server.
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
			usageError("the context %s already exists for the server %s", old.Name, old.Server),
			"choose another name with --name, or delete the existing context with `service context delete %s`",
			shellQuote(old.Name),
		)
	}
	c.Name, c.OrganizationID, c.User = old.Name, old.OrganizationID, old.User
	if c.CA == "" {
		c.CA = old.CA
	}
	return nil
}

// normalizeServerAddress normalizes a server address. Without a scheme it uses https, or http for a
// loopback address.
func normalizeServerAddress(s string) (string, error) {
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
		return "", usageError("%q is not a server address; use the form https://grc.acme.example", s)
	}
	u.Host = strings.ToLower(u.Host)
	return u.String(), nil
}

// signIn prompts for missing credentials and starts a session.
func (a *app) signIn(ctx context.Context, c *contexts.Context, o loginOptions) error {
	in := &api.SignInInput{}
	in.Body.Email = o.email
	if in.Body.Email == "" && o.passwordStdin {
		if in.Body.Email = c.User; in.Body.Email == "" {
			return withHint(usageError("--password-stdin requires an email address"), "add --email you@acme.example")
		}
	}
	if in.Body.Email == "" {
		email, err := a.promptLine("email address", c.User)
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

// acceptOneTimeLink shows the purpose of a one-time link, prompts for a password, and redeems the link.
func (a *app) acceptOneTimeLink(ctx context.Context, token string, o loginOptions) error {
	input := &api.LinkInput{}
	input.Body.Token = token
	link, err := call(ctx, a, api.GetLink, input)
	if err != nil {
		return err
	}
	purpose := "a new password for " + link.Email
	if link.Purpose == "invite" {
		purpose = fmt.Sprintf("invitation for %s to %s, as %s", link.Email, orZero(link.Organization), orZero(link.Role))
	}
	a.progress.Notice("%s; valid until %s", purpose, print.FormatTime(link.ExpiresAt))
	prompt := "new password, at least 12 characters: "
	if link.Purpose == "invite" {
		prompt = "password of your account on this server, or a new password of at least 12 characters: "
	}
	in := &api.AcceptLinkInput{}
	in.Body.Token, in.Body.Name = token, o.fullName
	if in.Body.Password, err = a.readPassword(ctx, o.passwordStdin, prompt); err != nil {
		return err
	}
	if !o.passwordStdin {
		if err := a.confirmPassword(ctx, in.Body.Password); err != nil {
			return err
		}
	}
	_, err = call(ctx, a, api.AcceptLink, in)
	return err
}

// withLoginHint adds a hint to an error from signing in.
func withLoginHint(err error, byLink bool) error {
	var f *exitError
	if errors.As(err, &f) {
		return err
	}
	if api.IsCode(err, api.CodeUnauthorized) {
		hint := "nothing was changed; try again, or ask an admin of the service for a password link"
		if byLink {
			hint = "nothing was changed; if you already have a password, sign in with `service login URL`"
		}
		return &exitError{err: err, hint: hint}
	}
	if errors.Is(err, client.ErrUnreachable) {
		return &exitError{err: err, hint: "nothing was changed; check that the address is correct and the server is running"}
	}
	return err
}

// requestedOrganization returns the organization given by flag or environment variable, or "".
func (a *app) requestedOrganization(cmd *cobra.Command) string {
	if cmd.Flags().Changed("org") || a.Env(envName("org")) != "" {
		return a.flags.Organization
	}
	return ""
}

// setUserAndOrganization fetches the signed-in user and determines the organization to work in. It
// records both in c.
func (a *app) setUserAndOrganization(ctx context.Context, c *contexts.Context, organization string) (*api.Role, error) {
	me, err := call(ctx, a, api.GetMe, &api.None{})
	if err != nil {
		return nil, err
	}
	if c.User = me.User.Email; me.ExpiresAt != nil {
		c.ExpiresAt = me.ExpiresAt
	}
	role, had := me.Role, c.OrganizationID
	c.OrganizationID, c.Organization = orZero(me.OrganizationID), orZero(me.Organization)
	if organization == "" && (had == "" || had == c.OrganizationID || c.Credential == contexts.APIKey) {
		return role, nil
	}
	mine, err := a.engine.MyOrganizations(ctx)
	if err != nil {
		return nil, err
	}
	if organization == "" { // keep the previous organization if the user still belongs to it
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

// saveAsCurrentContext saves a context with its secret and makes it the current one. It ends the session that
// the context had before.
func (a *app) saveAsCurrentContext(ctx context.Context, c *contexts.Context, secret string) error {
	b, err := a.readContexts()
	if err != nil {
		return err
	}
	if old := b.Find(c.Name); old != nil {
		if old.User != c.User && old.User != "" {
			a.printNotice("the context %s was signed in as %s; it is now signed in as %s", c.Name, old.User, c.User)
		}
		if err := a.endSession(ctx, old); err != nil {
			a.progress.Notice("the previous session could not be ended: %v", err)
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

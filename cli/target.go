package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/client"
)

// contextStore returns the store of the contexts.
func (a *app) contextStore() *contexts.Store {
	return contexts.New(a.configDir(), a.Keyring, func(format string, args ...any) { a.printNotice("service: "+format, args...) })
}

// readContexts reads the stored contexts. Its errors tell the user what to do.
func (a *app) readContexts() (*contexts.Config, error) {
	if a.configDir() == "" {
		return &contexts.Config{}, nil
	}
	b, err := a.contextStore().Read()
	return b, a.explainContextsError(err)
}

// changeContexts applies change to the stored contexts.
func (a *app) changeContexts(change func(*contexts.Config) error) error {
	if a.configDir() == "" {
		return withHint(runtimeError("there is no folder to store contexts in"), "set the environment variable HOME or XDG_CONFIG_HOME")
	}
	return a.explainContextsError(a.contextStore().Update(change))
}

func (a *app) explainContextsError(err error) error {
	var unknown *contexts.UnknownKeyError
	var known *exitError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &unknown):
		return usageError("%w%s", err, didYouMean(unknown.Key, unknown.Known))
	}
	return runtimeError("%w", err)
}

// contextNotFoundError returns the error for an unknown context.
func (a *app) contextNotFoundError(b *contexts.Config, name string) error {
	f := usageError("unknown context %q%s", name, didYouMean(name, append(b.Names(), contexts.Local)))
	f.hint = "list contexts with `service use`; create one with `service login URL`"
	return f
}

// chooseTarget decides whether the command uses a context, a server or the data folder. Flags take precedence
// over environment variables, the selected context and the configuration file, in that order. A broken
// context is an error only if it is needed, so that the commands that repair it still work.
func (a *app) chooseTarget(contextName string, origins map[string]origin) error {
	t := &a.flags.Target
	targetOrigin, contextOrigin := max(origins["server"], origins["data"]), origins["context"]
	if contextOrigin == originFlag && targetOrigin == originFlag {
		return withHint(usageError("--context can't be combined with --server or --data"), "use only one of these flags")
	}
	if origins["data"] > origins["server"] {
		t.Server = ""
	}
	if targetOrigin >= originEnvironment && targetOrigin >= contextOrigin {
		return nil
	}
	b, err := a.readContexts()
	if err != nil {
		a.targetErr = err
		return nil
	}
	if contextOrigin < originContext && b.Current != "" {
		contextName, contextOrigin = b.Current, originContext
	}
	if contextName == "" || contextOrigin < targetOrigin {
		return nil
	}
	if strings.EqualFold(contextName, contexts.Local) {
		t.Server = ""
		return nil
	}
	if a.context = b.Find(contextName); a.context == nil {
		a.targetErr = a.contextNotFoundError(b, contextName)
		return nil
	}
	ownToken := origins["token"] >= originEnvironment
	t.Server = a.context.Server
	if !ownToken {
		t.Token = ""
	}
	if origins["org"] < originEnvironment {
		t.Organization = a.context.OrganizationID
		if ownToken { // a key belongs to a single organization
			t.Organization = ""
		}
	}
	if origins["ca"] < originEnvironment {
		t.CA = a.context.CA
	}
	t.InsecureHTTP = t.InsecureHTTP || a.context.InsecureHTTP
	return nil
}

// targetWithCredential returns the command's target, including the credential.
func (a *app) targetWithCredential() (Target, error) {
	if a.targetErr != nil {
		return Target{}, a.targetErr
	}
	if a.context == nil || a.flags.Server == "" || a.flags.Token != "" {
		return a.flags.Target, nil
	}
	return a.withCredential(a.flags.Target, a.context)
}

// withCredential adds a context's credential to a target.
func (a *app) withCredential(t Target, c *contexts.Context) (Target, error) {
	secret, err := a.contextStore().Secret(c)
	switch {
	case errors.Is(err, contexts.ErrSignedOut):
		return t, &exitError{code: exitUnauthorized, err: err, hint: "sign in with `" + a.loginCommandLineFor(c) + "`"}
	case err != nil:
		return t, runtimeError("%w", err)
	case c.Credential == contexts.APIKey:
		t.Token = secret
	default:
		t.Session = secret
		name := c.Name
		t.OnSessionChange = func(token string, ends time.Time) { a.saveRenewedSession(name, secret, token, ends) }
	}
	return t, nil
}

// saveRenewedSession saves a session's new secret and expiry. It ignores errors, because the next command
// then renews the session again.
func (a *app) saveRenewedSession(name, secret, token string, ends time.Time) {
	if token == "" {
		return
	}
	store := a.contextStore()
	_ = store.Update(func(b *contexts.Config) error {
		c := b.Find(name)
		if c == nil || !c.HasSecret() {
			return errors.New("the context was signed out in the meantime")
		}
		if !ends.IsZero() {
			ends = ends.UTC()
			c.ExpiresAt = &ends
		}
		if token != secret {
			return store.SaveSecret(c, token)
		}
		return nil
	})
}

// targetFromContext returns the server of a context as a target, without a credential.
func targetFromContext(c *contexts.Context) Target {
	return Target{Server: c.Server, Organization: c.OrganizationID, CA: c.CA, InsecureHTTP: c.InsecureHTTP}
}

// loginCommandLineFor returns the command that signs in to a context.
func (a *app) loginCommandLineFor(c *contexts.Context) string {
	if c.Credential == contexts.APIKey {
		return "service login --token-stdin --context " + shellQuote(c.Name)
	}
	return "service login --context " + shellQuote(c.Name)
}

// endSession ends a context's session on its server, if the server is reachable.
func (a *app) endSession(ctx context.Context, c *contexts.Context) error {
	if c.Credential != contexts.Session {
		return nil
	}
	t, err := a.withCredential(targetFromContext(c), c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	one, disconnect, err := a.Connect(ctx, t)
	if err != nil {
		return err
	}
	_, err = client.Do(ctx, one, api.SignOut, &api.None{})
	if api.IsCode(err, api.CodeUnauthorized) { // the session has already ended
		err = nil
	}
	return errors.Join(err, disconnect())
}

// requireServer returns an error if the command uses the local data folder rather than a server.
func (a *app) requireServer(subject string) error {
	if a.targetErr != nil {
		return a.targetErr
	}
	if a.flags.Server != "" {
		return nil
	}
	return withHint(
		usageError("%s requires a server, but this command would use the local data folder", subject),
		"sign in with `service login URL`, or choose a context with `service use NAME`",
	)
}

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

// book is where the contexts are kept.
func (a *app) book() *contexts.Store {
	return contexts.New(a.configDir(), a.Keyring, func(format string, args ...any) { a.say("service: "+format, args...) })
}

// readBook reads the contexts; the error says what to do.
func (a *app) readBook() (*contexts.Book, error) {
	if a.configDir() == "" {
		return &contexts.Book{}, nil
	}
	b, err := a.book().Read()
	return b, a.explainBook(err)
}

// changeBook changes the contexts.
func (a *app) changeBook(change func(*contexts.Book) error) error {
	if a.configDir() == "" {
		return advise(stopped("there is no folder to keep contexts in"), "set HOME or XDG_CONFIG_HOME")
	}
	return a.explainBook(a.book().Change(change))
}

func (a *app) explainBook(err error) error {
	var unknown *contexts.UnknownKeyError
	var known *failure
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &unknown):
		return usage("%w%s", err, didYouMean(unknown.Key, unknown.Known))
	}
	return stopped("%w", err)
}

// noContext says that there is none of that name.
func (a *app) noContext(b *contexts.Book, name string) error {
	f := usage("there is no context %q%s", name, didYouMean(name, append(b.Names(), contexts.Local)))
	f.hint = "`service use` lists them; `service login URL` makes one"
	return f
}

// chooseTarget decides between a context, a server and the data folder: what was said
// last in flags, variables, choice and file counts. What is wrong with a context is told
// when it is needed, so that commands which mend it still work.
func (a *app) chooseTarget(named string, from map[string]origin) error {
	t := &a.flags.Target
	place, said := max(from["server"], from["data"]), from["context"]
	if said == saidInFlag && place == saidInFlag {
		return advise(usage("--context says where to work, and so do --server and --data"), "give one of them")
	}
	if from["data"] > from["server"] {
		t.Server = ""
	}
	if place >= saidInVariable && place >= said {
		return nil
	}
	b, err := a.readBook()
	if err != nil {
		a.lost = err
		return nil
	}
	if said < saidByChoice && b.Current != "" {
		named, said = b.Current, saidByChoice
	}
	if named == "" || said < place {
		return nil
	}
	if strings.EqualFold(named, contexts.Local) {
		t.Server = ""
		return nil
	}
	if a.context = b.Find(named); a.context == nil {
		a.lost = a.noContext(b, named)
		return nil
	}
	ownToken := from["token"] >= saidInVariable
	t.Server = a.context.Server
	if !ownToken {
		t.Token = ""
	}
	if from["org"] < saidInVariable {
		t.Organization = a.context.OrganizationID
		if ownToken { // a key has an organization of its own
			t.Organization = ""
		}
	}
	if from["ca"] < saidInVariable {
		t.CA = a.context.CA
	}
	t.InsecureHTTP = t.InsecureHTTP || a.context.InsecureHTTP
	return nil
}

// target is where the command works, with its credential.
func (a *app) target() (Target, error) {
	if a.lost != nil {
		return Target{}, a.lost
	}
	if a.context == nil || a.flags.Server == "" || a.flags.Token != "" {
		return a.flags.Target, nil
	}
	return a.withSecret(a.flags.Target, a.context)
}

// withSecret puts a context's credential on a target.
func (a *app) withSecret(t Target, c *contexts.Context) (Target, error) {
	secret, err := a.book().Secret(c)
	switch {
	case errors.Is(err, contexts.ErrSignedOut):
		return t, &failure{code: exitUnauthorised, err: err, hint: "sign in with `" + a.loginTo(c) + "`"}
	case err != nil:
		return t, stopped("%w", err)
	case c.Credential == contexts.Key:
		t.Token = secret
	default:
		t.Session = secret
		name := c.Name
		t.SessionChanged = func(token string, ends time.Time) { a.renewed(name, secret, token, ends) }
	}
	return t, nil
}

// renewed notes that a session lasts longer now. Where that fails the next command
// asks the server again: it is no reason for this one to fail.
func (a *app) renewed(name, secret, token string, ends time.Time) {
	if token == "" {
		return
	}
	store := a.book()
	_ = store.Change(func(b *contexts.Book) error {
		c := b.Find(name)
		if c == nil || !c.SignedIn() {
			return errors.New("it was signed out meanwhile")
		}
		if !ends.IsZero() {
			ends = ends.UTC()
			c.ExpiresAt = &ends
		}
		if token != secret {
			return store.Keep(c, token)
		}
		return nil
	})
}

// targetOf is the server of a context without a credential.
func targetOf(c *contexts.Context) Target {
	return Target{Server: c.Server, Organization: c.OrganizationID, CA: c.CA, InsecureHTTP: c.InsecureHTTP}
}

// loginTo is the command that signs in at a context.
func (a *app) loginTo(c *contexts.Context) string {
	if c.Credential == contexts.Key {
		return "service login --token-stdin --context " + quote(c.Name)
	}
	return "service login --context " + quote(c.Name)
}

// signOff ends a context's session on its server, where it can be reached.
func (a *app) signOff(ctx context.Context, c *contexts.Context) error {
	if c.Credential != contexts.Session {
		return nil
	}
	t, err := a.withSecret(targetOf(c), c)
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
	if api.IsCode(err, api.CodeUnauthorized) { // it has ended already
		err = nil
	}
	return errors.Join(err, disconnect())
}

// remote refuses what only a server has.
func (a *app) remote(what string) error {
	if a.lost != nil {
		return a.lost
	}
	if a.flags.Server != "" {
		return nil
	}
	return advise(usage("%s is about a server, and this is the local data folder", what), "sign in with `service login URL`, or choose a context with `service use NAME`")
}

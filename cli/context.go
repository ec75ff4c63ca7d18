package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// shownContext is a context as it is printed.
type shownContext struct {
	contexts.Context
	Current  bool `json:"current"`
	SignedIn bool `json:"signed_in"`
}

func shown(c *contexts.Context, current string) shownContext {
	return shownContext{*c, strings.EqualFold(c.Name, current), c.SignedIn()}
}

func (a *app) useCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use [NAME]", Short: "Switch the server or the organization that commands use", Args: takes(0, 1), ValidArgsFunction: a.completeContexts(),
		Long: `Makes a context the one that commands use; ` + "`local`" + ` is the data folder of this machine.
With --org, switches the organization within a context, by id, slug or name. Without
either, lists the contexts and marks the one in use.

For one command only, --context NAME or SERVICE_CONTEXT does the same.`,
		Example: "  service use\n  service use work\n  service use --org acme-europe\n  service use local",
		RunE: func(cmd *cobra.Command, args []string) error {
			org := cmd.Flags().Changed("org")
			if len(args) == 0 && !org {
				return a.listContexts()
			}
			if len(args) == 1 && strings.EqualFold(args[0], contexts.Local) {
				if org {
					return advise(usage("`service use local` takes no --org"), "`service use local`, then `service org use NAME`")
				}
				return a.useLocal()
			}
			if len(args) == 0 && a.context == nil && a.lost == nil {
				return a.useOrganization(cmd.Context(), a.flags.Organization)
			}
			c, err := a.contextNamed(args)
			if err != nil {
				return err
			}
			if org {
				if err := a.switchOrganization(cmd.Context(), c, a.flags.Organization); err != nil {
					return err
				}
			}
			if err := a.changeBook(func(b *contexts.Book) error {
				have := b.Find(c.Name)
				if have == nil {
					return a.noContext(b, c.Name)
				}
				have.OrganizationID, have.Organization = c.OrganizationID, c.Organization
				b.Current = have.Name
				return nil
			}); err != nil {
				return err
			}
			return a.out.Print(shown(c, c.Name), func(p *print.Page) {
				p.Text("Commands now use %s at %s%s.", c.Name, c.Server, in(c.Organization))
				if !c.SignedIn() {
					p.Text("You are signed out there; sign in with `%s`.", a.loginTo(c))
				}
			})
		},
	}
}

func in(organization string) string {
	if organization == "" {
		return ""
	}
	return ", in " + organization
}

func (a *app) useLocal() error {
	if err := a.changeBook(func(b *contexts.Book) error { b.Current = contexts.Local; return nil }); err != nil {
		return err
	}
	return a.out.Print(struct {
		Name    string `json:"name"`
		Current bool   `json:"current"`
	}{contexts.Local, true}, func(p *print.Page) { p.Text("Commands now use the data folder of this machine.") })
}

// switchOrganization makes an organization the active one of a context, and notes it in c.
func (a *app) switchOrganization(ctx context.Context, c *contexts.Context, word string) error {
	t, err := a.withSecret(targetOf(c), c)
	if err != nil {
		return err
	}
	t.Organization = ""
	if _, err := a.connectTo(ctx, t); err != nil {
		return err
	}
	one, err := a.activate(ctx, word)
	if err == nil {
		c.OrganizationID, c.Organization = one.ID, one.Name
	}
	return err
}

// activate makes one of the caller's organizations the active one.
func (a *app) activate(ctx context.Context, word string) (*api.MyOrganization, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	mine, err := c.Mine(ctx)
	if err != nil {
		return nil, err
	}
	one, err := client.OrganizationNamed(mine, word)
	if err != nil {
		return nil, err
	}
	return call(ctx, a, api.ActivateOrganization, &api.OrgInput{OrgID: one.ID})
}

// contextNamed is the context that the argument names, else the one in use.
func (a *app) contextNamed(args []string) (*contexts.Context, error) {
	if len(args) == 0 {
		if a.lost != nil {
			return nil, a.lost
		}
		if a.context == nil {
			return nil, advise(usage("no context is in use"), "name one; `service use` lists them")
		}
		return a.context, nil
	}
	b, err := a.readBook()
	if err != nil {
		return nil, err
	}
	if c := b.Find(args[0]); c != nil {
		return c, nil
	}
	return nil, a.noContext(b, args[0])
}

func (a *app) completeContexts() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		if b, err := a.readBook(); err == nil && len(args) == 0 {
			for _, c := range b.Contexts {
				names = append(names, cobra.CompletionWithDesc(c.Name, print.Line(c.Server)))
			}
			if cmd.Name() == "use" {
				names = append(names, cobra.CompletionWithDesc(contexts.Local, "the data folder of this machine"))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) contextCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "context", Short: "The servers you have signed in to",
		Long: `A context is a server with who you are there and in which organization you work.
` + "`service login`" + ` makes them, ` + "`service use`" + ` switches between them. They are kept in
contexts.yaml beside the configuration file, without secrets.`,
		Example: "  service context list\n  service context show work\n  service context rename grc.acme.example work\n  service context delete work --yes",
	}, a.contextList(), a.contextShow(), a.contextRename(), a.contextDelete())
}

func (a *app) contextList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the contexts and mark the one in use", Args: takes(0, 0), Long: "Lists the contexts; * marks the one in use.", Example: "  service context list\n  service context list -o json --jq '.data[].name'",
		RunE: func(*cobra.Command, []string) error { return a.listContexts() },
	}
}

func (a *app) listContexts() error {
	b, err := a.readBook()
	if err != nil {
		return err
	}
	used := contexts.Local
	if a.context != nil {
		used = a.context.Name
	}
	all := &api.List[shownContext]{Data: []shownContext{}, Pagination: api.Pagination{Total: len(b.Contexts), Limit: len(b.Contexts)}}
	for i := range b.Contexts {
		all.Data = append(all.Data, shown(&b.Contexts[i], used))
	}
	return a.out.Print(all, func(p *print.Page) {
		var rows [][]string
		for _, c := range all.Data {
			rows = append(rows, []string{mark(c.Current), c.Name, c.Server, c.Organization, c.User, a.state(&c.Context)})
		}
		rows = append(rows, []string{mark(used == contexts.Local), contexts.Local, a.localWords(), "", "", ""})
		p.Table([]print.Column{{Title: ""}, {Title: "context", Keep: true}, {Title: "server"}, {Title: "organization"}, {Title: "user", Spare: true}, {Title: "signed in", Keep: true}}, rows)
		if a.lost != nil {
			p.Text("%v", a.lost)
		}
	})
}

// localWords are what stands for the server where there is none.
func (a *app) localWords() string {
	if a.context == nil && a.flags.Server != "" {
		return a.flags.Server + " (from settings)"
	}
	if a.flags.Data != "" {
		return "the data folder " + a.flags.Data
	}
	return "the data folder of this machine"
}

func mark(current bool) string {
	if current {
		return "*"
	}
	return ""
}

// state tells whether a context's credential can still be good.
func (a *app) state(c *contexts.Context) string {
	switch {
	case !c.SignedIn():
		return "no"
	case c.ExpiresAt == nil:
		return "by key"
	case a.Clock().After(*c.ExpiresAt):
		return "ended " + moment(*c.ExpiresAt)
	}
	return "until " + c.ExpiresAt.UTC().Format(time.DateOnly+" 15:04 UTC")
}

func (a *app) contextShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show a context", Args: takes(0, 1), ValidArgsFunction: a.completeContexts(),
		Long: "Shows a context, without NAME the one in use. `service whoami` asks its server.", Example: "  service context show\n  service context show work",
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.contextNamed(args)
			if err != nil {
				return err
			}
			used := ""
			if a.context != nil {
				used = a.context.Name
			}
			return a.out.Print(shown(c, used), func(p *print.Page) {
				p.Title("%s", c.Name)
				http := ""
				if c.InsecureHTTP {
					http = "allowed, for everyone on the way to read"
				}
				p.Fields(print.Field{Name: "server", Value: c.Server}, print.Field{Name: "organization", Value: joinWords(c.Organization, "("+c.OrganizationID+")")},
					print.Field{Name: "user", Value: c.User}, print.Field{Name: "credential", Value: string(c.Credential)}, print.Field{Name: "signed in", Value: a.state(c)},
					print.Field{Name: "secret kept", Value: keptWords[c.KeptIn]}, print.Field{Name: "authority", Value: c.CA}, print.Field{Name: "plain http", Value: http})
			})
		},
	}
}

func (a *app) contextRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME NEW-NAME", Short: "Give a context another name", Args: takes(2, 2), ValidArgsFunction: a.completeContexts(),
		Long: "Gives a context another name; its secret goes with it.", Example: "  service context rename grc.acme.example work",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := contexts.CheckName(args[1]); err != nil {
				return usage("%w", err)
			}
			c, err := a.contextNamed(args[:1])
			if err != nil {
				return err
			}
			if err := a.changeBook(func(b *contexts.Book) error { return a.rename(b, c, args[1]) }); err != nil {
				return err
			}
			return a.out.Print(shown(c, ""), func(p *print.Page) { p.Text("The context is now %s.", c.Name) })
		},
	}
}

// rename moves a context and its secret to another name.
func (a *app) rename(b *contexts.Book, c *contexts.Context, name string) error {
	have := b.Find(c.Name)
	if have == nil {
		return a.noContext(b, c.Name)
	}
	if other := b.Find(name); other != nil && other != have {
		return usage("there is a context %s already", other.Name)
	}
	old := *have
	have.Name = name
	if old.SignedIn() && !strings.EqualFold(old.Name, name) {
		secret, err := a.book().Secret(&old)
		if err != nil {
			return err
		}
		have.KeptIn = contexts.InNone
		if err := a.book().Keep(have, secret); err != nil {
			return err
		}
	}
	if strings.EqualFold(b.Current, old.Name) {
		b.Current = name
	}
	*c = *have
	if strings.EqualFold(old.Name, name) {
		return nil
	}
	return a.book().Forget(&old)
}

func (a *app) contextDelete() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Sign out and forget a context", Args: takes(1, 1), ValidArgsFunction: a.completeContexts(),
		Long: "Ends the context's session on the server and forgets all about it here.", Example: "  service context delete work --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.contextNamed(args)
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "forget the context "+c.Name+" for "+c.Server); err != nil {
				return err
			}
			if c.SignedIn() {
				if err := a.signOff(cmd.Context(), c); err != nil {
					a.say("the session could not be ended on the server, where it ends by itself within hours: %v", err)
				}
			}
			name := c.Name
			if err := a.forget(c); err != nil {
				return err
			}
			if err := a.changeBook(func(b *contexts.Book) error { b.Drop(name); return nil }); err != nil {
				return err
			}
			return a.out.Print(shown(c, ""), func(p *print.Page) { p.Text("The context %s is forgotten.", name) })
		},
	}
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

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

// contextView is a context as printed, with its status.
type contextView struct {
	contexts.Context
	Current  bool `json:"current"`
	SignedIn bool `json:"signed_in"`
}

func newContextView(c *contexts.Context, current string) contextView {
	return contextView{Context: *c, Current: strings.EqualFold(c.Name, current), SignedIn: c.HasSecret()}
}

func (a *app) useContextCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use [NAME]", Short: "Select the server or organization for later commands",
		ValidArgsFunction: a.completeContexts(),
		Long: `Selects the context that commands use; ` + "`local`" + ` is the data folder on this machine. With
--org, switches the organization within a context, by id, slug or name. Without
arguments, lists the contexts and marks the selected one.

To use a context for a single command, pass --context NAME or set SERVICE_CONTEXT.`,
		Example: "  service use\n  service use work\n  service use --org acme-europe\n  service use local",
		RunE: func(cmd *cobra.Command, args []string) error {
			org := cmd.Flags().Changed("org")
			if len(args) == 0 && !org {
				return a.printContexts()
			}
			if len(args) == 1 && strings.EqualFold(args[0], contexts.Local) {
				if org {
					return withHint(usageError("`service use local` does not accept --org"), "run `service use local`, then `service org use NAME`")
				}
				return a.selectLocalAndPrint()
			}
			if len(args) == 0 && a.context == nil && a.targetErr == nil {
				return a.useOrganization(cmd.Context(), a.flags.Organization)
			}
			c, err := a.contextFromArgs(args)
			if err != nil {
				return err
			}
			if org {
				if err := a.switchOrganization(cmd.Context(), c, a.flags.Organization); err != nil {
					return err
				}
			}
			if err := a.changeContexts(func(b *contexts.Config) error {
				existing := b.Find(c.Name)
				if existing == nil {
					return a.contextNotFoundError(b, c.Name)
				}
				existing.OrganizationID, existing.Organization = c.OrganizationID, c.Organization
				b.Current = existing.Name
				return nil
			}); err != nil {
				return err
			}
			return a.out.Print(newContextView(c, c.Name), func(p *print.Page) {
				p.Text("Commands now use %s at %s%s.", c.Name, c.Server, formatOrganizationSuffix(c.Organization))
				if !c.HasSecret() {
					p.Text("You are signed out; sign in with `%s`.", a.loginCommandLineFor(c))
				}
			})
		},
	}
}

func formatOrganizationSuffix(organization string) string {
	if organization == "" {
		return ""
	}
	return ", in " + organization
}

func (a *app) selectLocalAndPrint() error {
	if err := a.changeContexts(func(b *contexts.Config) error { b.Current = contexts.Local; return nil }); err != nil {
		return err
	}
	return a.out.Print(struct {
		Name    string `json:"name"`
		Current bool   `json:"current"`
	}{contexts.Local, true}, func(p *print.Page) { p.Text("Commands now use the data folder on this machine.") })
}

// switchOrganization activates an organization on a context's server and records it in c.
func (a *app) switchOrganization(ctx context.Context, c *contexts.Context, ref string) error {
	t, err := a.withCredential(targetFromContext(c), c)
	if err != nil {
		return err
	}
	t.Organization = ""
	if _, err := a.connectAndKeep(ctx, t); err != nil {
		return err
	}
	one, err := a.activateOrganization(ctx, ref)
	if err == nil {
		c.OrganizationID, c.Organization = one.ID, one.Name
	}
	return err
}

// activateOrganization activates one of the user's organizations, given by id, slug or name.
func (a *app) activateOrganization(ctx context.Context, ref string) (*api.MyOrganization, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	mine, err := c.MyOrganizations(ctx)
	if err != nil {
		return nil, err
	}
	one, err := client.FindOrganization(mine, ref)
	if err != nil {
		return nil, err
	}
	return call(ctx, a, api.ActivateOrganization, &api.OrgInput{OrgID: one.ID})
}

// contextFromArgs returns the context that args specifies, or the selected one if args is empty.
func (a *app) contextFromArgs(args []string) (*contexts.Context, error) {
	if len(args) == 0 {
		if a.targetErr != nil {
			return nil, a.targetErr
		}
		if a.context == nil {
			return nil, withHint(usageError("no context is selected"), "specify a context; `service use` lists all contexts")
		}
		return a.context, nil
	}
	b, err := a.readContexts()
	if err != nil {
		return nil, err
	}
	if c := b.Find(args[0]); c != nil {
		return c, nil
	}
	return nil, a.contextNotFoundError(b, args[0])
}

func (a *app) completeContexts() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		if b, err := a.readContexts(); err == nil && len(args) == 0 {
			for _, c := range b.Contexts {
				names = append(names, cobra.CompletionWithDesc(c.Name, print.SafeLine(c.Server)))
			}
			if cmd.Name() == "use" {
				names = append(names, cobra.CompletionWithDesc(contexts.Local, "the data folder on this machine"))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) contextCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "context", Short: "Manage contexts, the servers that you have signed in to",
		Long: `A context is a server with your account and organization there. ` + "`service login`" + ` creates
contexts, and ` + "`service use`" + ` switches between them. Contexts are stored without secrets in
contexts.yaml, next to the configuration file.`,
		Example: "  service context list\n  service context show work\n" +
			"  service context rename grc.acme.example work\n  service context delete work --yes",
	}, a.contextList(), a.contextShow(), a.contextRename(), a.contextDelete())
}

func (a *app) contextList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the contexts and mark the selected one",

		Long:    "Lists the contexts; * marks the selected one.",
		Example: "  service context list\n  service context list -o json --jq '.data[].name'",
		RunE:    func(*cobra.Command, []string) error { return a.printContexts() },
	}
}

func (a *app) printContexts() error {
	b, err := a.readContexts()
	if err != nil {
		return err
	}
	used := contexts.Local
	if a.context != nil {
		used = a.context.Name
	}
	all := &api.List[contextView]{Data: []contextView{}, Pagination: api.Pagination{Total: len(b.Contexts), Limit: len(b.Contexts)}}
	for i := range b.Contexts {
		all.Data = append(all.Data, newContextView(&b.Contexts[i], used))
	}
	return a.out.Print(all, func(p *print.Page) {
		var rows [][]string
		for _, c := range all.Data {
			rows = append(
				rows,
				[]string{formatCurrentMark(c.Current), c.Name, c.Server, c.Organization, c.User, a.describeSignIn(&c.Context)},
			)
		}
		rows = append(rows, []string{formatCurrentMark(used == contexts.Local), contexts.Local, a.describeLocalTarget(), "", "", ""})
		p.Table(
			[]print.Column{
				column(""),
				fixed("context"),
				column("server"),
				column("organization"),
				optional(column("user")),
				fixed("signed in"),
			},
			rows,
		)
		if a.targetErr != nil {
			p.Text("%v", a.targetErr)
		}
	})
}

// describeLocalTarget describes the server or data folder that commands use if no context is selected.
func (a *app) describeLocalTarget() string {
	if a.context == nil && a.flags.Server != "" {
		return a.flags.Server + " (from settings)"
	}
	if a.flags.Data != "" {
		return "the data folder " + a.flags.Data
	}
	return "the data folder on this machine"
}

func formatCurrentMark(current bool) string {
	if current {
		return "*"
	}
	return ""
}

// describeSignIn describes how a user is signed in to a context: not at all, with an API key, or until a given time.
func (a *app) describeSignIn(c *contexts.Context) string {
	switch {
	case !c.HasSecret():
		return "no"
	case c.ExpiresAt == nil:
		return "by key"
	case a.Clock().After(*c.ExpiresAt):
		return "ended " + print.FormatTime(*c.ExpiresAt)
	}
	return "until " + c.ExpiresAt.UTC().Format(time.DateOnly+" 15:04 UTC")
}

func (a *app) contextShow() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show a context", ValidArgsFunction: a.completeContexts(),
		Long:    "Shows a context, by default the selected one. `service whoami` queries its server.",
		Example: "  service context show\n  service context show work",
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.contextFromArgs(args)
			if err != nil {
				return err
			}
			used := ""
			if a.context != nil {
				used = a.context.Name
			}
			return a.out.Print(newContextView(c, used), func(p *print.Page) {
				p.Title("%s", c.Name)
				http := ""
				if c.InsecureHTTP {
					http = "allowed, unencrypted"
				}
				p.Fields(
					field("server", c.Server),
					field("organization", joinNonEmpty(c.Organization, "("+c.OrganizationID+")")),
					field("user", c.User),
					field("credential", string(c.Credential)),
					field("signed in", a.describeSignIn(c)),
					field("secret stored in", secretLocationNames[c.SecretLocation]),
					field("authority", c.CA),
					field("plain http", http),
				)
			})
		},
	}
}

func (a *app) contextRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME NEW-NAME", Short: "Rename a context",
		ValidArgsFunction: a.completeContexts(),
		Long:              "Renames a context and moves its secret.", Example: "  service context rename grc.acme.example work",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := contexts.CheckName(args[1]); err != nil {
				return usageError("%w", err)
			}
			c, err := a.contextFromArgs(args[:1])
			if err != nil {
				return err
			}
			if err := a.changeContexts(func(b *contexts.Config) error { return a.renameContext(b, c, args[1]) }); err != nil {
				return err
			}
			return a.out.Print(newContextView(c, ""), func(p *print.Page) { p.Text("The context was renamed to %s.", c.Name) })
		},
	}
}

// renameContext renames the context c and its stored secret, and updates c.
func (a *app) renameContext(b *contexts.Config, c *contexts.Context, name string) error {
	existing := b.Find(c.Name)
	if existing == nil {
		return a.contextNotFoundError(b, c.Name)
	}
	if other := b.Find(name); other != nil && other != existing {
		return usageError("a context named %s already exists", other.Name)
	}
	old := *existing
	existing.Name = name
	if old.HasSecret() && !strings.EqualFold(old.Name, name) {
		secret, err := a.contextStore().Secret(&old)
		if err != nil {
			return err
		}
		existing.SecretLocation = contexts.SecretNowhere
		if err := a.contextStore().SaveSecret(existing, secret); err != nil {
			return err
		}
	}
	if strings.EqualFold(b.Current, old.Name) {
		b.Current = name
	}
	*c = *existing
	if strings.EqualFold(old.Name, name) {
		return nil
	}
	return a.contextStore().DeleteSecret(&old)
}

func (a *app) contextDelete() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Sign out and delete a context", ValidArgsFunction: a.completeContexts(),
		Long: "Ends the context's session on the server and deletes the context locally.", Example: "  service context delete work --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.contextFromArgs(args)
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "delete the context "+c.Name+" for "+c.Server); err != nil {
				return err
			}
			if c.HasSecret() {
				if err := a.endSession(cmd.Context(), c); err != nil {
					a.printNotice("the session could not be ended on the server, where it will expire within hours: %v", err)
				}
			}
			name := c.Name
			if err := a.removeSecret(c); err != nil {
				return err
			}
			if err := a.changeContexts(func(b *contexts.Config) error { b.Remove(name); return nil }); err != nil {
				return err
			}
			return a.out.Print(newContextView(c, ""), func(p *print.Page) { p.Text("Deleted the context %s.", name) })
		},
	}
	addYesFlag(cmd, &sure)
	return cmd
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

func (a *app) organizationCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "org", Short: "Organizations (tenants)",
		Long: `Everything but the catalog belongs to an organization and is invisible to others. A
platform admin creates organizations; owners and admins invite members (` + "`service member`" + `).`,
		Example: "  service org list\n  service org use acme-europe\n  service org create 'Acme Europe' --owner ada@acme.example",
	}, a.orgList(), a.orgShow(), a.orgCreate(), a.orgUpdate(), a.orgUse())
}

func (a *app) orgList() *cobra.Command {
	var everyone bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your organizations and mark the active one",

		Long: "Lists the organizations you belong to, with your role; * marks the current one.\n" +
			"With --all, a platform admin sees every organization on the server.",
		Example: "  service org list\n  service org list --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if everyone {
				return a.printAllOrganizations(cmd.Context())
			}
			all, err := fetchAll(cmd.Context(), a, api.ListMyOrganizations, &api.Paging{})
			if err != nil {
				return err
			}
			here, err := a.engine.OrganizationID(cmd.Context())
			if err != nil && !api.IsCode(err, api.CodeTenantRequired) {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					column(""), column("organization"), fixed("slug"), fixed("your role"), optional(column("status")),
					optional(fixed("id")),
				}, func(o api.MyOrganization) []string {
					return []string{formatCurrentMark(o.ID == here), o.Name, o.Slug, string(o.Role), o.Status, o.ID}
				})
				renderTextIfEmpty(
					p,
					len(all.Data),
					"You don't belong to an organization; ask an owner or admin to invite you.",
				)
			})
		},
	}
	cmd.Flags().BoolVar(&everyone, "all", false, "list every organization on the server (platform admins only)")
	return cmd
}

func (a *app) printAllOrganizations(ctx context.Context) error {
	all, err := fetchAll(ctx, a, api.ListTenants, &api.Paging{})
	if err != nil {
		return err
	}
	return printList(a, all, []print.Column{
		column("organization"), fixed("slug"), fixed("status"), optional(column("created")), fixed("id"),
	}, func(o api.Organization) []string {
		return []string{o.Name, o.Slug, o.Status, print.FormatDay(o.CreatedAt), o.ID}
	}, "")
}

// organizationFromArgs returns the organization given as argument, or the current one if there is none.
func (a *app) organizationFromArgs(ctx context.Context, args []string) (*api.Organization, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		id, err := c.OrganizationID(ctx)
		if err != nil {
			return nil, err
		}
		return call(ctx, a, api.GetOrganization, &api.OrganizationInput{OrganizationID: id})
	}
	if uuidPattern.MatchString(args[0]) {
		return call(ctx, a, api.GetOrganization, &api.OrganizationInput{OrganizationID: args[0]})
	}
	all, err := fetchAll(ctx, a, api.ListOrganizations, &api.Paging{})
	if err != nil {
		return nil, err
	}
	visible := make([]api.MyOrganization, len(all.Data))
	for i, o := range all.Data {
		visible[i].Organization = o
	}
	one, err := client.FindOrganization(visible, args[0])
	if err != nil {
		return nil, err
	}
	return &one.Organization, nil
}

func renderOrganization(p *print.Page, o *api.Organization) {
	p.Title("%s", o.Name)
	p.Fields(
		field("slug", o.Slug),
		field("status", o.Status),
		field("second person decides", yesNo(o.RequiresSecondPerson())),
		field("created", print.FormatTime(o.CreatedAt)),
		field("id", o.ID),
	)
}

func (a *app) orgShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [ORG]",
		Short: "Show an organization",

		Long:    "Shows an organization by id, slug or name; default: the current one.",
		Example: "  service org show\n  service org show acme-europe",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := a.organizationFromArgs(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) { renderOrganization(p, one) })
		},
	}
}

func (a *app) orgCreate() *cobra.Command {
	in := &api.NewOrganizationInput{}
	owner := &in.Body.Owner
	cmd := &cobra.Command{
		Use: "create NAME --owner EMAIL", Short: "Create an organization with its owner",
		Long: `Creates an organization. An owner who is new to the server gets a password, which is
shown only once; they change it with ` + "`service password`" + `. Requires a platform admin.`,
		Example: "  service org create 'Acme Europe' --owner ada@acme.example --owner-name 'Ada Lovelace'\n" +
			"  service org create Trial --owner ci@acme.example --api-key ci -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if owner.Email == "" {
				return withHint(usageError("no owner given"), "give the owner's email address with --owner")
			}
			in.Body.Name = args[0]
			return callAndPrint(cmd.Context(), a, api.CreateOrganization, in, func(p *print.Page, made *api.NewOrganization) {
				renderOrganization(p, &made.Organization)
				key := ""
				if made.APIKey != nil {
					key = made.APIKey.Key
				}
				p.Fields(
					field("owner", made.Owner.Email),
					field("password", orZero(made.OwnerPassword)),
					field("api key", key),
				)
				if key != "" || made.OwnerPassword != nil {
					p.Text("These secrets won't be shown again.")
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&owner.Email, "owner", "", "email address of the owner")
	f.StringVar(&owner.Name, "owner-name", "", "the owner's name, if new to the server")
	f.BoolVar(&owner.PlatformAdmin, "platform-admin", false, "also make the owner a platform admin")
	f.StringVar(&in.Body.Slug, "slug", "", "short name for URLs, e.g. acme-europe (default: derived from the name)")
	f.StringVar(&in.Body.APIKeyName, "api-key", "", "create an API key with this name and scope * for the owner")
	return cmd
}

func (a *app) orgUpdate() *cobra.Command {
	var name, slug, status string
	var secondPerson, noRemoteModel bool
	cmd := &cobra.Command{
		Use: "update [ORG]", Short: "Change an organization's name, slug, status or rules",
		Long: `Changes an organization (default: the current one). With --second-person, whoever
submitted or edited a version can't decide on it. With --no-remote-model, no text of
its documents goes to a language model on another machine. Only an owner can turn
these off.
Only a platform admin can suspend and reactivate an organization.`,
		Example: "  service org update --name 'Acme Europe SE'\n  service org update --second-person\n" +
			"  service org update acme-europe --status suspended",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			one, err := a.organizationFromArgs(cmd.Context(), args)
			if err != nil {
				return err
			}
			in := &api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: one.ID}}
			in.Body.Name, in.Body.Slug, in.Body.Status = strings.TrimSpace(name), slug, status
			if in.Body.Name == "" && cmd.Flags().Changed("name") {
				return usageError("--name is empty")
			}
			in.Body.RequireSecondPerson = flagIfChanged(cmd, "second-person", secondPerson)
			in.Body.NoRemoteModel = flagIfChanged(cmd, "no-remote-model", noRemoteModel)
			if one, err = call(cmd.Context(), a, api.UpdateTenant, in); err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) { renderOrganization(p, one) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the new name")
	f.StringVar(&slug, "slug", "", "the new slug: lowercase letters, digits and hyphens")
	f.BoolVar(&secondPerson, "second-person", false, "require someone other than a version's authors to decide on it")
	f.BoolVar(&noRemoteModel, "no-remote-model", false, "don't let language models on other machines read the documents")
	addChoiceFlag(f, &status, "status", []string{"active", "suspended"}, "active or suspended")
	return cmd
}

func (a *app) orgUse() *cobra.Command {
	return &cobra.Command{
		Use:   "use ORG",
		Short: "Choose the current organization",

		Long: "Makes one of your organizations current, by id, slug or name; same as `service use --org`.\n" +
			"To override it for a single command, use --org.",
		Example: "  service org use acme-europe",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.useOrganization(cmd.Context(), args[0]) },
	}
}

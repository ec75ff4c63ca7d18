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
		Long: `All data except the catalog belongs to an organization and is invisible to other organizations.
A platform admin creates organizations; owners and admins invite members (` + "`service member`" + `).`,
		Example: "  service org list\n  service org use acme-europe\n  service org create 'Acme Europe' --owner ada@acme.example",
	}, a.orgList(), a.orgShow(), a.orgCreate(), a.orgUpdate(), a.orgUse())
}

func (a *app) orgList() *cobra.Command {
	var everyone bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List your organizations and mark the active one",

		Long: "Lists the organizations that you belong to, with your role in each; * marks the current one.\n" +
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
					optional(idColumn()),
				}, func(o api.MyOrganization) []string {
					return []string{formatCurrentMark(o.ID == here), o.Name, o.Slug, string(o.Role), o.Status, o.ID}
				})
				renderTextIfEmpty(
					p,
					len(all.Data),
					"You don't belong to any organization; ask an owner or admin for an invitation.",
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
		column("organization"), fixed("slug"), fixed("status"), optional(column("created")), idColumn(),
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

		Long:    "Shows an organization, specified by id, slug or name (default: the current one).",
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
		Use: "create NAME --owner EMAIL", Short: "Create an organization and its owner",
		Long: `Creates an organization. If the owner is new to the server, a password is created and shown only
once; the owner can change it with ` + "`service password`" + `. Requires the platform admin role.`,
		Example: "  service org create 'Acme Europe' --owner ada@acme.example --owner-name 'Ada Lovelace'\n" +
			"  service org create Trial --owner ci@acme.example --api-key ci -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if owner.Email == "" {
				return withHint(usageError("no owner given"), "pass the owner's email address with --owner")
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
	f.StringVar(&owner.Name, "owner-name", "", "name of the owner, if the owner is new to the server")
	f.BoolVar(&owner.PlatformAdmin, "platform-admin", false, "also make the owner a platform admin")
	f.StringVar(&in.Body.Slug, "slug", "", "short name for URLs, e.g. acme-europe (default: derived from the name)")
	f.StringVar(&in.Body.APIKeyName, "api-key", "", "also create an API key for the owner, with this name and the scope *")
	return cmd
}

func (a *app) orgUpdate() *cobra.Command {
	var name, slug, status string
	var secondPerson, noRemoteModel bool
	cmd := &cobra.Command{
		Use: "update [ORG]", Short: "Change an organization's name, slug, status or rules",
		Long: `Changes an organization (default: the current one). With --second-person, whoever submitted or
edited a version can't approve or reject it. With --no-remote-model, no text from the documents
is sent to a language model on another machine. Only an owner can turn off these two rules.
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
	f.StringVar(&name, "name", "", "new name of the organization")
	f.StringVar(&slug, "slug", "", "new short name for URLs (slug): lowercase letters, digits and hyphens")
	f.BoolVar(&secondPerson, "second-person", false, "require each version to be approved or rejected by someone who didn't edit or submit it")
	f.BoolVar(&noRemoteModel, "no-remote-model", false, "don't send text of the documents to language models on other machines")
	addChoiceFlag(f, &status, "status", []string{"active", "suspended"}, "active or suspended")
	return cmd
}

func (a *app) orgUse() *cobra.Command {
	return &cobra.Command{
		Use:   "use ORG",
		Short: "Choose the current organization",

		Long: "Makes one of your organizations, specified by id, slug or name, the current one. Does the same as\n" +
			"`service use --org`. To use another organization for a single command, pass --org.",
		Example: "  service org use acme-europe",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.useOrganization(cmd.Context(), args[0]) },
	}
}

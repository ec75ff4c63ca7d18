package cli

import (
	"context"
	"net/mail"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// initResult is the result of `daemon init`.
type initResult struct {
	Created bool `json:"created"`
	// Organization, Owner and the secrets are null if nothing was created.
	Organization  *api.Organization `json:"organization"`
	Owner         *api.Member       `json:"owner"`
	OwnerPassword *string           `json:"owner_password"`
	APIKey        *string           `json:"api_key"`
	// Organizations and Admins list all existing ones, except the local user and workspace.
	Organizations []api.Organization `json:"organizations"`
	Admins        []string           `json:"admins"`
	// SignIn is the address of the running daemon, or empty if there is none.
	SignIn string `json:"sign_in"`
}

const (
	// localSlug is the slug of the local user's workspace.
	localSlug = "local"
	// initKeyName is the name of the API key that init creates.
	initKeyName = "init"
)

func (a *app) daemonInit() *cobra.Command {
	var in api.NewOrganizationInput
	cmd := &cobra.Command{
		Use: "init", Short: "Create the first organization, its owner and an API key",
		Long: `Creates the first organization, its owner, who is also the platform admin, and an API key
with all the owner's permissions, including approvals. The password and the key are shown
only once. The command uses the local data folder, whether or not a daemon is running.

If an organization already exists, it is shown and nothing is changed; the exit code is 0
if the organization matches the request, otherwise 1.`,
		Example: `  service daemon init --org "Acme" --email a@acme.example
  service daemon init --org "Acme" --email a@acme.example -o json --jq .api_key`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in.Body.Name = strings.TrimSpace(in.Body.Name)
			if in.Body.Name == "" || in.Body.Owner.Email == "" {
				return withHint(
					usageError("the organization and its owner's email address are required"),
					"for example, run `service daemon init --org \"Acme\" --email a@acme.example`",
				)
			}
			at, err := mail.ParseAddress(in.Body.Owner.Email)
			if err != nil || at.Name != "" {
				return usageError("--email %q is not an email address", in.Body.Owner.Email)
			}
			in.Body.Owner.Email = strings.ToLower(at.Address)
			if cmd.Root().PersistentFlags().Changed("server") {
				return usageError("`%s` changes a local data folder and can't be used with a server; run the command on the daemon's machine",
					cmd.CommandPath())
			}
			// Variables may select a server for other commands; this one uses the data folder.
			a.flags.Server, a.flags.Token, a.flags.Organization = "", "", ""
			return a.createFirstOrganization(cmd.Context(), &in)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Body.Name, "org", "", "name of the organization")
	f.StringVar(&in.Body.Slug, "slug", "", "short name of the organization (default: derived from the name)")
	f.StringVar(&in.Body.Owner.Email, "email", "", "email address of the owner")
	f.StringVar(&in.Body.Owner.Name, "name", "", "the owner's name")
	return cmd
}

func (a *app) createFirstOrganization(ctx context.Context, in *api.NewOrganizationInput) error {
	out, err := a.readOrganizationsAndAdmins(ctx)
	if err != nil {
		return err
	}
	if len(out.Organizations) > 0 {
		if err := a.out.Print(out, func(p *print.Page) { renderInitResult(p, out) }); err != nil {
			return err
		}
		if out.matchesRequest(in) {
			return nil
		}
		return withHint(
			&exitError{code: exitVerdict, err: runtimeError("the data folder was already initialized with different values; nothing was changed")},
			"a platform admin can create more organizations with `service org create`",
		)
	}
	in.Body.Owner.PlatformAdmin, in.Body.APIKeyName = true, initKeyName
	// The first key has all its owner's permissions, so that it can run an assessment end to end.
	in.Body.APIKeyScopes = []string{api.AnyScope, string(api.ApprovalDecide), string(api.APIKeyWrite)}
	made, err := call(ctx, a, api.CreateOrganization, in)
	if err != nil {
		return err
	}
	out.Created, out.Organization, out.Owner, out.OwnerPassword = true, &made.Organization, &made.Owner, made.OwnerPassword
	if made.APIKey != nil {
		out.APIKey = &made.APIKey.Key
	}
	out.Organizations = append(out.Organizations, made.Organization)
	out.Admins = append(out.Admins, made.Owner.Email)
	return a.out.Print(out, func(p *print.Page) { renderInitResult(p, out) })
}

// readOrganizationsAndAdmins returns the organizations and admins that the data folder already has.
func (a *app) readOrganizationsAndAdmins(ctx context.Context) (*initResult, error) {
	out := &initResult{Organizations: []api.Organization{}, Admins: []string{}}
	organizations, err := fetchAll(ctx, a, api.ListTenants, &api.Paging{})
	if err != nil {
		return nil, err
	}
	for _, o := range organizations.Data {
		if o.Slug != localSlug {
			out.Organizations = append(out.Organizations, o)
		}
	}
	me := &api.Me{}
	if len(organizations.Data) > 0 { // otherwise there is no local user either, and asking would create them
		if me, err = call(ctx, a, api.GetMe, &api.None{}); err != nil {
			return nil, err
		}
	}
	users, err := fetchAll(ctx, a, api.ListUsers, &api.UsersInput{})
	if err != nil {
		return nil, err
	}
	for _, u := range users.Data {
		if u.PlatformAdmin && u.ID != me.User.ID {
			out.Admins = append(out.Admins, u.Email)
		}
	}
	if p, err := a.findDataFolderProcess(ctx); err == nil && p != nil && p.Daemon && len(p.Listen) > 0 {
		out.SignIn = p.Listen[0]
	}
	return out, nil
}

// matchesRequest reports whether the organization and admin requested by in already exist.
func (i *initResult) matchesRequest(in *api.NewOrganizationInput) bool {
	return slices.Contains(i.Admins, in.Body.Owner.Email) && slices.ContainsFunc(i.Organizations, func(o api.Organization) bool {
		return o.Name == in.Body.Name && (in.Body.Slug == "" || o.Slug == in.Body.Slug)
	})
}

func renderInitResult(p *print.Page, i *initResult) {
	if !i.Created {
		p.Title("Already initialized")
		for _, o := range i.Organizations {
			p.Text("organization %s (%s), %s", o.Name, o.Slug, o.ID)
		}
		for _, email := range i.Admins {
			p.Text("platform admin %s", email)
		}
		p.Text("Nothing was changed. To reset a lost password, create a link with `service user password-link EMAIL`.")
		return
	}
	p.Title("Organization %s", i.Organization.Name)
	p.Fields(field("id", i.Organization.ID), field("slug", i.Organization.Slug),
		field("owner", i.Owner.Email), field("password", secretOrUnchanged(i.OwnerPassword)),
		field("API key", secretOrUnchanged(i.APIKey)))
	p.Blank()
	p.Text("Save the password and the key now; they won't be shown again.")
	where := i.SignIn
	if where == "" {
		where = "http://" + DefaultListen
		p.Text("To start the service, and then sign in:")
		p.Command("service daemon")
	} else {
		p.Text("To sign in:")
	}
	p.Command("service login " + where)
}

// secretOrUnchanged returns a secret, or "unchanged" if it is nil because it already existed.
func secretOrUnchanged(s *string) string {
	if s == nil {
		return "unchanged"
	}
	return *s
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// whoamiResult describes the signed-in user or key, and the server or data folder that commands use.
type whoamiResult struct {
	api.Me
	// Server and Context are null on the local data folder.
	Server  *string `json:"server"`
	Context *string `json:"context"`
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Show your identity, server and permissions",

		Long:    "Shows your identity on the server or local data folder: user, organization, role,\npermissions and expiry.",
		Example: "  service whoami\n  service whoami --jq .role",
		RunE: func(cmd *cobra.Command, _ []string) error {
			me, err := call(cmd.Context(), a, api.GetMe, &api.None{})
			if err != nil {
				return err
			}
			if err := a.applyOrganizationOverride(cmd.Context(), me); err != nil {
				return err
			}
			out := whoamiResult{Me: *me}
			if a.flags.Server != "" {
				out.Server = &a.flags.Server
			}
			if a.context != nil {
				out.Context = &a.context.Name
			}
			return a.out.Print(out, func(p *print.Page) { a.renderWhoami(p, &out) })
		},
	}
}

// applyOrganizationOverride changes me to show the organization that commands work in, if it differs from the
// session's active organization.
func (a *app) applyOrganizationOverride(ctx context.Context, me *api.Me) error {
	if a.flags.Organization == "" || a.flags.Organization == orEmpty(me.OrganizationID) {
		return nil
	}
	mine, err := a.engine.MyOrganizations(ctx)
	if err != nil {
		return err
	}
	one, err := client.FindOrganization(mine, a.flags.Organization)
	if err != nil {
		return err
	}
	me.OrganizationID, me.Organization, me.Role = &one.ID, &one.Name, &one.Role
	if me.Actor.Type == api.ActorUser {
		me.Permissions = one.Role.Permissions()
	}
	return nil
}

func (a *app) renderWhoami(p *print.Page, w *whoamiResult) {
	name := w.User.Email
	if w.User.Name != "" {
		name = w.User.Name + " <" + w.User.Email + ">"
	}
	if w.Actor.Type == api.ActorAPIKey {
		name = "the API key " + w.Actor.Name + ", of " + name
	}
	admin := ""
	if w.User.PlatformAdmin {
		admin = "yes: manages organizations and users of the whole server"
	}
	where, until := "the local data folder", formatTimePtr(w.ExpiresAt)
	if w.Server != nil {
		where = *w.Server
	}
	if until != "" && w.Actor.Type != api.ActorAPIKey {
		until += ", extended with each use"
	}
	var permissions []string
	for _, one := range w.Permissions {
		permissions = append(permissions, string(one))
	}
	p.Fields(
		field("user", name),
		field("at", where),
		field("context", orEmpty(w.Context)),
		field("organization", formatOrganization(orEmpty(w.Organization), w.Role)),
		field("platform admin", admin),
		field("until", until),
		field("permissions", strings.Join(permissions, ", ")),
	)
	if w.Organization == nil {
		p.Text("You don't belong to an organization here; ask an owner or admin to invite you.")
	}
}

// useOrganization makes an organization the one that commands work in, either in the selected context or in
// the local data folder, and prints it.
func (a *app) useOrganization(ctx context.Context, word string) error {
	one, err := a.activateOrganization(ctx, word)
	if err != nil {
		return err
	}
	if a.context != nil {
		if err := a.changeContexts(func(b *contexts.Config) error {
			if c := b.Find(a.context.Name); c != nil {
				c.OrganizationID, c.Organization = one.ID, one.Name
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return a.out.Print(one, func(p *print.Page) { p.Text("Commands now act in %s, where your role is %s.", one.Name, one.Role) })
}

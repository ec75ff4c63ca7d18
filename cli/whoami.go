package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
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

		Long:    "Shows your identity on the server or in the local data folder: user, organization, role, permissions\nand expiry date.",
		Example: "  service whoami\n  service whoami --jq .role",
		RunE: func(cmd *cobra.Command, _ []string) error {
			me, err := a.fetchMe(cmd.Context())
			if err != nil {
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

// fetchMe returns the caller, with role and permissions in the organization that commands work in.
func (a *app) fetchMe(ctx context.Context) (*api.Me, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.Me(ctx)
}

func (a *app) renderWhoami(p *print.Page, w *whoamiResult) {
	name := cmp.Or(w.User.Email, w.User.Name) // the local user of a server's data folder has no address
	if w.User.Name != "" && w.User.Email != "" {
		name = w.User.Name + " <" + w.User.Email + ">"
	}
	if w.Actor.Type == api.ActorAPIKey {
		name = "the API key " + w.Actor.Name + ", of " + name
	}
	admin := ""
	if w.User.PlatformAdmin {
		admin = "yes (can manage all organizations and users of the server)"
	}
	where, until := "the local data folder", formatTimePtr(w.ExpiresAt)
	if w.Server != nil {
		where = *w.Server
	}
	if until != "" && w.Actor.Type != api.ActorAPIKey {
		until += ", extended each time it is used"
	}
	var permissions []string
	for _, one := range w.Permissions {
		permissions = append(permissions, string(one))
	}
	p.Fields(
		field("user", name),
		field("at", where),
		field("context", orZero(w.Context)),
		field("organization", formatOrganization(orZero(w.Organization), w.Role)),
		field("platform admin", admin),
		field("until", until),
		field("permissions", strings.Join(permissions, ", ")),
	)
	switch {
	case w.Organization != nil:
	case w.Server == nil:
		p.Text("No organization is selected. To list the organizations in the data folder, run `service org list`. To select one, " +
			"use --org or run `service org use ORG`.")
	default:
		p.Text("You don't belong to any organization here; ask an owner or admin for an invitation.")
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
	return a.out.Print(one, func(p *print.Page) {
		p.Text("Commands now work in the organization %s, where your role is %s.", one.Name, one.Role)
	})
}

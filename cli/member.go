package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

var roles = api.Roles

func (a *app) memberCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "member", Short: "Members of an organization and their roles",
		Long: `Manages the members of the current organization. A viewer can read. A member can also change
drafts and evidence. An admin can also approve, import catalogs, and manage members and keys.
An owner can also delete assessments and appoint owners.`,
		Example: "  service member list\n  service member invite bo@acme.example --role admin\n" +
			"  service member update bo@acme.example --role member",
	}, a.memberList(), a.memberInvite(), a.memberUpdate(), a.memberRemove())
}

// currentOrganization returns the organization that commands work in, as the path parameter of an operation.
func (a *app) currentOrganization(ctx context.Context) (api.OrgInput, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return api.OrgInput{}, err
	}
	id, err := c.OrganizationID(ctx)
	return api.OrgInput{OrgID: id}, err
}

func (a *app) listMembers(ctx context.Context, in api.OrgMembersInput, l listFlags) (*api.List[api.Member], error) {
	var err error
	if in.OrgInput, err = a.currentOrganization(ctx); err != nil {
		return nil, err
	}
	return fetchList(ctx, a, api.ListMembers, &in, l)
}

func (a *app) memberList() *cobra.Command {
	var in api.OrgMembersInput
	var l listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the members",

		Long:    "Lists the organization's members and pending invitations by email address.",
		Example: "  service member list\n  service member list --status invited",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.listMembers(cmd.Context(), in, l)
			if err != nil {
				return err
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed("email"), column("name"), fixed("role"), fixed("status"), optional(column("since")),
					optional(idColumn()),
				}, func(m api.Member) []string {
					return []string{m.Email, m.Name, string(m.Role), m.Status, print.FormatDay(m.CreatedAt), m.ID}
				})
				renderTextIfEmpty(p, len(all.Data), "No matching members.")
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Role, "role", roles, "only members with this role: owner, admin, approver, member, auditor or viewer")
	addChoiceFlag(f, &in.Status, "status", []string{"invited", "active", "suspended"},
		"only members with this status: invited, active or suspended")
	f.StringVar(&in.Q, "query", "", "only members whose email address or name contains this text")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) memberInvite() *cobra.Command {
	role := api.RoleMember
	cmd := &cobra.Command{
		Use: "invite EMAIL", Short: "Invite a user and print a one-time link to send to that person",
		Long: `Invites a user to the organization and prints a single-use link that is valid for a week. The
link won't be shown again; send it over a private channel. The user opens the link in a browser
or runs ` + "`service login --link LINK`" + `. Inviting the same user again creates a new link and revokes the
old one.`,
		Example: "  service member invite bo@acme.example --role admin\n  service member invite bo@acme.example --jq .invite_token",
		RunE: func(cmd *cobra.Command, args []string) error {
			org, err := a.currentOrganization(cmd.Context())
			if err != nil {
				return err
			}
			in := &api.InviteMemberInput{OrgInput: org}
			in.Body.Email, in.Body.Role = args[0], role
			return callAndPrint(cmd.Context(), a, api.InviteMember, in, func(p *print.Page, made *api.NewMember) {
				if made.Emailed {
					p.Text("An email with the link is being sent to %s.", made.Email)
				}
				p.Text(
					"%s was invited as %s. This single-use link expires %s and won't be shown again:",
					made.Email,
					made.Role,
					print.FormatTime(made.InviteExpiresAt),
				)
				a.renderOneTimeLink(p, made.InvitePath)
			})
		},
	}
	addChoiceFlag(cmd.Flags(), &role, "role", roles, "owner, admin, approver, member, auditor or viewer")
	return cmd
}

// renderOneTimeLink prints a one-time link on a line of its own.
func (a *app) renderOneTimeLink(p *print.Page, path string) {
	p.Command(a.flags.Server + path)
	if a.flags.Server == "" {
		p.Text("Add the address of the server that will serve this data folder in front of the link.")
	}
}

// findMember returns the member with the given id, email address or name.
func (a *app) findMember(ctx context.Context, ref string) (input api.MemberInput, member *api.Member, _ error) {
	org, err := a.currentOrganization(ctx)
	if err != nil {
		return api.MemberInput{}, nil, err
	}
	m, err := a.findPerson(ctx, ref)
	if err != nil {
		return api.MemberInput{}, nil, err
	}
	return api.MemberInput{OrgInput: org, MemberID: m.ID}, m, nil
}

func (a *app) memberUpdate() *cobra.Command {
	in := &api.UpdateMemberInput{}
	cmd := &cobra.Command{
		Use: "update MEMBER", Short: "Change a member's role, or suspend or restore a member",
		Long:    "Changes the role or status of a member, specified by email address, name or id. A suspended member\nstays in the organization but has no access.",
		Example: "  service member update bo@acme.example --role admin\n  service member update bo@acme.example --status suspended",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			which, _, err := a.findMember(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.MemberInput = which
			return callAndPrint(
				cmd.Context(),
				a,
				api.UpdateMember,
				in,
				func(p *print.Page, m *api.Member) { p.Text("%s is now %s, %s.", m.Email, m.Role, m.Status) },
			)
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Body.Role, "role", roles, "owner, admin, approver, member, auditor or viewer")
	addChoiceFlag(cmd.Flags(), &in.Body.Status, "status", []string{"active", "suspended"}, "active or suspended")
	return cmd
}

func (a *app) memberRemove() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use:   "remove MEMBER",
		Short: "Remove a member or withdraw an invitation",

		Long:    "Removes a member, specified by email address, name or id. The member's past actions stay recorded\nunder that person's name.",
		Example: "  service member remove bo@acme.example --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			which, m, err := a.findMember(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "remove "+m.Email+" from the organization"); err != nil {
				return err
			}
			if _, err := call(cmd.Context(), a, api.RemoveMember, &api.RemoveMemberInput{MemberInput: which}); err != nil {
				return err
			}
			return a.out.Print(m, func(p *print.Page) {
				p.Text("%s has been removed. Decisions made by this person stay recorded under the same name.", m.Email)
				if m.Status != "invited" {
					p.Text("Items owned by the removed member need a new owner. To set one, run this command for each assessment:")
					filter := fmt.Sprintf("owner == %q", cmp.Or(m.Name, m.Email))
					p.Command(a.suggestedCommandLine("soa edit --where " + shellQuote(filter) + " --owner NEW"))
				}
			})
		},
	}
	addYesFlag(cmd, &sure)
	return cmd
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) userCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "user", Short: "Manage all users of a server (platform admins only)",
		Long: `Manages the users of all organizations on a server. Only a platform admin can list and ban
users. To manage the users of a single organization, use ` + "`service member`" + `.`,
		Example: "  service user list --query acme\n  service user ban bo@acme.example --reason 'left the company' --yes\n" +
			"  service user password-link bo@acme.example",
	}, a.userList(), a.userBan(), a.userUnban(), a.userPasswordLink())
}

func (a *app) userList() *cobra.Command {
	var in api.UsersInput
	var l listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all users",

		Long:    "Lists the users of all organizations on the server.",
		Example: "  service user list\n  service user list --status banned",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(cmd.Context(), a, api.ListUsers, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("email"), column("name"), fixed("status"), fixed("platform admin"),
				optional(column("signed in")), optional(column("reason")), optional(idColumn()),
			}, func(u api.User) []string {
				admin := ""
				if u.PlatformAdmin {
					admin = "yes"
				}
				return []string{
					u.Email,
					u.Name,
					u.Status,
					admin,
					formatTimePtr(u.LastSignInAt),
					orZero(u.BanReason),
					u.ID,
				}
			}, "No matching users.")
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Status, "status", []string{"active", "banned", "invited"},
		"only users with this status: active, banned or invited")
	cmd.Flags().StringVar(&in.Q, "query", "", "only users whose email address or name contains this text")
	l.addFlags(cmd, 0)
	return cmd
}

// findUser returns the user with the given ID or email address.
func (a *app) findUser(ctx context.Context, ref string) (*api.User, error) {
	in := api.UsersInput{Q: ref}
	if uuidPattern.MatchString(ref) {
		in.Q = ""
	}
	all, err := fetchAll(ctx, a, api.ListUsers, &in)
	if err != nil {
		return nil, err
	}
	for i := range all.Data {
		if u := &all.Data[i]; u.ID == ref || strings.EqualFold(u.Email, ref) {
			return u, nil
		}
	}
	return nil, withHint(
		runtimeError("there is no user with the email address or id %q", ref),
		"list users with `%s`",
		a.suggestedCommandLine("user list"),
	)
}

func (a *app) userBan() *cobra.Command {
	var in api.BanUserInput
	var sure bool
	cmd := &cobra.Command{
		Use: "ban USER --reason REASON", Short: "Ban a user from the whole server",
		Long: "Immediately ends a user's sessions, links and API keys in all organizations. The ban can be lifted,\n" +
			"but ended sessions and keys are not restored.",
		Example: "  service user ban bo@acme.example --reason 'left the company' --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Body.Reason == "" {
				return withHint(usageError("a ban requires a reason"), "specify the reason with --reason '…'; the user's organizations can read it")
			}
			u, err := a.findUser(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.confirm(sure, "ban "+u.Email+" and end all their sessions and API keys"); err != nil {
				return err
			}
			in.UserID = u.ID
			if u, err = call(cmd.Context(), a, api.BanUser, &in); err != nil {
				return err
			}
			return a.out.Print(u, func(p *print.Page) { p.Text("%s is banned.", u.Email) })
		},
	}
	cmd.Flags().StringVar(&in.Body.Reason, "reason", "", "reason for the ban")
	addYesFlag(cmd, &sure)
	return cmd
}

func (a *app) userUnban() *cobra.Command {
	return &cobra.Command{
		Use: "unban USER", Short: "Lift a user's ban",
		Long: "Allows a banned user to sign in again. Ended sessions and API keys are not restored.", Example: "  service user unban bo@acme.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := a.findUser(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if u, err = call(cmd.Context(), a, api.UnbanUser, &api.UserInput{UserID: u.ID}); err != nil {
				return err
			}
			return a.out.Print(u, func(p *print.Page) { p.Text("%s can sign in again.", u.Email) })
		},
	}
}

func (a *app) userPasswordLink() *cobra.Command {
	return &cobra.Command{
		Use: "password-link USER", Short: "Create a one-time link for a user to set a new password",
		Long: `Creates a single-use link for a user who lost the password. The link is valid for a day and
won't be shown again. The user opens it in a browser or runs ` + "`service login --link LINK`" + `.`,
		Example: "  service user password-link bo@acme.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := a.findUser(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.CreatePasswordLink,
				&api.UserInput{UserID: u.ID},
				func(p *print.Page, made *api.PasswordLink) {
					p.Text(
						"With this single-use link, %s can set a new password. The link expires on %s and won't be shown again:",
						u.Email,
						print.FormatTime(made.ExpiresAt),
					)
					a.renderOneTimeLink(p, made.Path)
				},
			)
		},
	}
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) userCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "user", Short: "All people of a server, for its platform admin",
		Long: `The people of all organizations of a server. Only a platform admin lists and bans
them; the people of one organization are ` + "`service member`" + `.`,
		Example: "  service user list --query acme\n  service user ban bo@acme.example --reason 'left the company' --yes\n  service user password-link bo@acme.example",
	}, a.userList(), a.userBan(), a.userUnban(), a.userLink())
}

func (a *app) userList() *cobra.Command {
	var in api.UsersInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List all people", Args: requireArgs(0, 0), Long: "Lists the people of all organizations.", Example: "  service user list\n  service user list --status banned",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOneOf("status", in.Status, []string{"active", "banned", "invited"}); err != nil {
				return err
			}
			all, err := collectPages(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.User], error) {
				in.Paging = p
				return call(cmd.Context(), a, api.ListUsers, &in)
			})
			if err != nil {
				return err
			}
			defer a.noteMoreResults(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, u := range all.Data {
					admin := ""
					if u.PlatformAdmin {
						admin = "yes"
					}
					rows = append(
						rows,
						[]string{u.Email, u.Name, u.Status, admin, formatTimePtr(u.LastSignInAt), orEmpty(u.BanReason), u.ID},
					)
				}
				p.Table([]print.Column{
					{Title: "e-mail", NoShrink: true},
					{Title: "name"},
					{Title: "status", NoShrink: true},
					{Title: "platform admin", NoShrink: true},
					{Title: "signed in", Optional: true},
					{Title: "reason", Optional: true},
					{Title: "id", NoShrink: true, Optional: true},
				}, rows)
				a.textIfEmpty(p, len(rows), "Nobody is like that.")
			})
		},
	}
	cmd.Flags().StringVar(&in.Status, "status", "", "only active, banned or invited ones")
	cmd.Flags().StringVar(&in.Q, "query", "", "only with this in the e-mail address or name")
	l.register(cmd, 0)
	return cmd
}

// findUser finds a person by id or e-mail address.
func (a *app) findUser(ctx context.Context, ref string) (*api.User, error) {
	in := api.UsersInput{Q: ref}
	if uuidPattern.MatchString(ref) {
		in.Q = ""
	}
	all, err := collectPages(ctx, 0, "", func(p api.Paging) (*api.List[api.User], error) {
		in.Paging = p
		return call(ctx, a, api.ListUsers, &in)
	})
	if err != nil {
		return nil, err
	}
	for i := range all.Data {
		if u := &all.Data[i]; u.ID == ref || strings.EqualFold(u.Email, ref) {
			return u, nil
		}
	}
	return nil, withHint(
		runtimeError("there is nobody with the e-mail address or id %q", ref),
		"`%s` lists all",
		a.commandLine("user list"),
	)
}

func (a *app) userBan() *cobra.Command {
	var in api.BanUserInput
	var sure bool
	cmd := &cobra.Command{
		Use: "ban USER --reason REASON", Short: "Lock a person out of the whole service", Args: requireArgs(1, 1),
		Long:    "Ends a person's sessions, links and API keys at once, in every organization. They can be\nlet in again; what was ended stays ended.",
		Example: "  service user ban bo@acme.example --reason 'left the company' --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Body.Reason == "" {
				return withHint(usageError("a ban needs a reason"), "say why: --reason '…'; the person's organizations can read it")
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
	cmd.Flags().StringVar(&in.Body.Reason, "reason", "", "why")
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) userUnban() *cobra.Command {
	return &cobra.Command{
		Use: "unban USER", Short: "Let a banned person sign in again", Args: requireArgs(1, 1),
		Long: "Lets a banned person sign in again. Their sessions and API keys stay ended.", Example: "  service user unban bo@acme.example",
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

func (a *app) userLink() *cobra.Command {
	return &cobra.Command{
		Use: "password-link USER", Short: "Make a one-time link with which a person sets a new password", Args: requireArgs(1, 1),
		Long: `Makes a link for somebody who has lost their password, good once and for a day. It is
shown this once. They open it in a browser, or run ` + "`service login --link LINK`" + `.`,
		Example: "  service user password-link bo@acme.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := a.findUser(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			made, err := call(cmd.Context(), a, api.CreatePasswordLink, &api.UserInput{UserID: u.ID})
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) {
				p.Text(
					"With this link, %s sets a new password. It is good once, until %s, and shown this once:",
					u.Email,
					formatTime(made.ExpiresAt),
				)
				a.renderOneTimeLink(p, made.Path)
			})
		},
	}
}

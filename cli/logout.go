package cli

import (
	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
)

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout [NAME]", Short: "Sign out of a server", ValidArgsFunction: a.completeContexts(),
		Long: `Ends a context's session on its server and deletes its secret from this machine. The context
is kept, so that you can sign in again with ` + "`service login`" + `. An API key is deleted only from this
machine; it remains valid until you revoke it with ` + "`service key revoke`" + `.`,
		Example: "  service logout\n  service logout work",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.contextFromArgs(args)
			if err != nil {
				return err
			}
			if !c.HasSecret() {
				return a.out.Print(newContextView(c, ""), func(p *print.Page) { p.Text("You are already signed out of %s.", c.Name) })
			}
			if err := a.endSession(cmd.Context(), c); err != nil {
				a.printNotice("the session could not be ended on the server, where it will expire within hours: %v", err)
			}
			if err := a.removeSecret(c); err != nil {
				return err
			}
			return a.out.Print(newContextView(c, ""), func(p *print.Page) {
				p.Text("Signed out of %s.", c.Name)
				if c.Credential == contexts.APIKey {
					p.Text("The API key was deleted from this machine but is still valid; revoke it with `service key revoke`.")
				}
			})
		},
	}
}

// removeSecret deletes a context's secret.
func (a *app) removeSecret(c *contexts.Context) error {
	return a.changeContexts(func(b *contexts.Config) error {
		have := b.Find(c.Name)
		if have == nil {
			return nil
		}
		err := a.contextStore().DeleteSecret(have)
		*c = *have
		return err
	})
}

func (a *app) changePasswordCommand() *cobra.Command {
	var fromStdin bool
	cmd := &cobra.Command{
		Use: "password", Short: "Change your password on the server",
		Long: `Changes the password that you sign in with (at least 12 characters). All your other sessions
end. With --password-stdin, the first line of stdin is the current password,
and the second line is the new one.`,
		Example: "  service password",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.requireServer("a password"); err != nil {
				return err
			}
			in := &api.ChangePasswordInput{}
			var err error
			if in.Body.Current, err = a.readPassword(cmd.Context(), fromStdin, "current password:"); err != nil {
				return err
			}
			if in.Body.New, err = a.readPassword(cmd.Context(), fromStdin, "new password, at least 12 characters: "); err != nil {
				return err
			}
			if !fromStdin {
				if err := a.confirmPassword(cmd.Context(), in.Body.New); err != nil {
					return err
				}
			}
			return callAndPrint(cmd.Context(), a, api.ChangePassword, in, func(p *print.Page, who *api.User) {
				p.Text("The password of %s has been changed. Your other sessions have ended.", who.Email)
			})
		},
	}
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the current and the new password from the first two lines of stdin")
	return cmd
}

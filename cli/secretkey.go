package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) secretKeyCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "secret", Short: "Manage the encryption key for webhook and integration secrets",
		Long: `Secrets are encrypted in the database. The key is stored in SERVICE_SECRET_KEY, in the file
secret.key of the data folder, or in the system's keyring.`,
		Example: "  service secret show\n  service secret rotate",
	}, a.secretKeyShow(), a.secretKeyRotate())
}

func (a *app) printSecretKeyStatus(k *api.SecretKey) error {
	return a.out.Print(k, func(p *print.Page) {
		old := "none"
		if len(k.OldKeyIDs) > 0 {
			old = strings.Join(k.OldKeyIDs, ", ")
		}
		p.Fields(
			field("stored in", k.Location),
			field("key", k.KeyID),
			field("old keys", old),
			field("secrets using it", fmt.Sprint(k.Encrypted)),
			field("secrets using old keys", fmt.Sprint(k.EncryptedOld)),
			field("can't be decrypted", fmt.Sprint(len(k.Unreadable))),
		)
		for _, what := range k.Unreadable {
			p.Text("The secret of %s can't be decrypted; set it again.", what)
		}
	})
}

func (a *app) secretKeyShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show where the key is stored and whether all secrets can be decrypted",
		Long:    "Shows where the keys are stored and how many secrets use them, but never the keys themselves.\nRequires the platform admin role.",
		Example: "  service secret show",
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := call(cmd.Context(), a, api.GetSecretKey, &api.None{})
			if err != nil {
				return err
			}
			return a.printSecretKeyStatus(k)
		},
	}
}

func (a *app) secretKeyRotate() *cobra.Command {
	in := &api.RotateSecretKeyInput{}
	var sure bool
	cmd := &cobra.Command{
		Use: "rotate", Short: "Re-encrypt all secrets with a new key",
		Long: `Creates a new key and re-encrypts the secrets of all webhooks and integrations. The old key
is kept, so that an interrupted rotation can continue and older copies of the database remain
readable; --delete-old deletes the old key. To change a key in SERVICE_SECRET_KEY, set the
variable to NEW,OLD, restart the program, and run this command. Requires the platform admin role.`,
		Example: "  service secret rotate\n  service secret rotate --location keyring\n  service secret rotate --delete-old --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Body.DeleteOldKeys {
				if err := a.confirm(sure, "delete the old keys; older copies of the database will be unreadable"); err != nil {
					return err
				}
			}
			k, err := call(cmd.Context(), a, api.RotateSecretKey, in)
			if err != nil {
				return err
			}
			return a.printSecretKeyStatus(k)
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Body.Location, "location", []string{"file", "keyring"}, "where to store the keys from now on: file or keyring")
	cmd.Flags().BoolVar(&in.Body.DeleteOldKeys, "delete-old", false, "delete the old keys")
	addYesFlag(cmd, &sure)
	return cmd
}

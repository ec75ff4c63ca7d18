package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) secretCommand() *cobra.Command {
	return group(&cobra.Command{
		Use: "secret", Short: "The key that secrets of webhooks and integrations are sealed with",
		Long: `Secrets lie in the database encrypted. Their key is in SERVICE_SECRET_KEY, in the file
secret.key of the data folder, or in the system's keyring.`,
		Example: "  service secret show\n  service secret rotate",
	}, a.secretShow(), a.secretRotate())
}

func (a *app) printSecretKey(k *api.SecretKey) error {
	return a.out.Print(k, func(p *print.Page) {
		old := "none"
		if len(k.OldKeyIDs) > 0 {
			old = strings.Join(k.OldKeyIDs, ", ")
		}
		p.Fields(
			print.Field{Name: "kept in", Value: k.Place},
			print.Field{Name: "key", Value: k.KeyID},
			print.Field{Name: "old keys", Value: old},
			print.Field{Name: "sealed with it", Value: fmt.Sprint(k.Sealed)},
			print.Field{
				Name:  "with an old one",
				Value: fmt.Sprint(k.SealedOld),
			},
			print.Field{Name: "can't be opened", Value: fmt.Sprint(len(k.Unreadable))},
		)
		for _, what := range k.Unreadable {
			p.Text("%s: give it a new secret", what)
		}
	})
}

func (a *app) secretShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Tell where the key is, and whether it opens all", Args: requireArgs(0, 0),
		Long: "Tells where the keys are and what they open. Never shows one; for a platform admin.", Example: "  service secret show",
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := call(cmd.Context(), a, api.GetSecretKey, &api.None{})
			if err != nil {
				return err
			}
			return a.printSecretKey(k)
		},
	}
}

func (a *app) secretRotate() *cobra.Command {
	in := &api.RotateSecretKeyInput{}
	var sure bool
	cmd := &cobra.Command{
		Use: "rotate", Short: "Seal all secrets with a new key", Args: requireArgs(0, 0),
		Long: `Makes a new key and seals the secrets of all webhooks and integrations with it. The old key
stays known, so that what stops half way goes on the next time and copies of the database
from before can be opened; --forget forgets it. A key in SERVICE_SECRET_KEY is changed by you:
put the new one before the old, as NEW,OLD, start again, and rotate. For a platform admin.`,
		Example: "  service secret rotate\n  service secret rotate --keep-in keyring\n  service secret rotate --forget --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Body.KeepIn != "" {
				if err := checkOneOf("keep-in", in.Body.KeepIn, []string{"file", "keyring"}); err != nil {
					return err
				}
			}
			if in.Body.Forget {
				if err := a.confirm(sure, "forget the old keys; copies of the database from before can't be opened then"); err != nil {
					return err
				}
			}
			k, err := call(cmd.Context(), a, api.RotateSecretKey, in)
			if err != nil {
				return err
			}
			return a.printSecretKey(k)
		},
	}
	cmd.Flags().StringVar(&in.Body.KeepIn, "keep-in", "", "where to keep the keys from now on: file or keyring")
	cmd.Flags().BoolVar(&in.Body.Forget, "forget", false, "forget the old keys")
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
)

// Verification is the result of checking an archive without a server.
type Verification struct {
	OK bool `json:"ok"`
	// Properties describe the file, as pairs of name and value.
	Properties [][2]string `json:"properties"`
	// KeyID is the fingerprint of the signing key, or empty if the file is unsigned.
	KeyID    string        `json:"key_id"`
	Findings []CheckedItem `json:"findings"`
}

// CheckedItem is the result of a single check.
type CheckedItem struct {
	OK      bool   `json:"ok"`
	Subject string `json:"subject"`
	Message string `json:"message"`
}

func (a *app) verifyArchiveCommand() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use: "verify ARCHIVE", Short: "Verify an exported archive, without a server or data folder",
		Long: `Verifies an archive created by ` + "`service assess export`" + `: the signature, the hash of each file, the
audit chain, and that each approval applies to exactly the archived content. This command needs
no server or data folder, so anyone who receives the archive can run it.

Because anyone can create a key and sign with it, compare the printed key with the key that you
were given, or pass the expected key with --key. The exit code is 1 if any check fails.`,
		Example: "  service verify acme-2026.zip\n  service verify acme-2026.zip --key 3f9a0c1d2b4e5f60",
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := a.VerifyArchive(cmd.Context(), args[0])
			if err != nil {
				return runtimeError("%s: %w", args[0], errorWithoutPath(err))
			}
			return a.printVerification(v, key)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "fingerprint of the expected signing key")
	return cmd
}

// printVerification prints a verification and returns an error if it failed.
func (a *app) printVerification(v *Verification, expectedKeyID string) error {
	if expectedKeyID != "" && expectedKeyID != v.KeyID {
		v.OK = false
		v.Findings = append(
			v.Findings,
			CheckedItem{OK: false, Subject: "key", Message: fmt.Sprintf("the archive is signed with key %s, not with %s", v.KeyID, expectedKeyID)},
		)
	}
	err := a.out.Print(v, func(p *print.Page) {
		var fields []print.Field
		for _, one := range v.Properties {
			fields = append(fields, field(one[0], one[1]))
		}
		p.Fields(append(fields, field("signed by key", v.KeyID))...)
		p.Blank()
		for _, c := range v.Findings {
			mark := "✗"
			if c.OK {
				mark = "✓"
			}
			p.Text("%s %s: %s", mark, c.Subject, c.Message)
		}
	})
	if err != nil || v.OK {
		return err
	}
	return &exitError{code: exitVerdict, err: fmt.Errorf("verification failed; see the items marked ✗")}
}

package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) apiKeyCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "key", Short: "Manage API keys, which are credentials for scripts and machines",
		Long: `An API key belongs to the user who created it and to one organization. It grants its
scopes, but never more than that user's own permissions. Scopes are permissions such as
assessment:read; * grants all except approval:decide and apikey:write, which must be
listed explicitly.`,
		Example: "  service key create ci --scope '*' --expires 90d > key.txt\n  service key list\n" +
			"  service key rotate ci --grace 24h > key.txt\n  service key revoke ci --yes",
	}, a.apiKeyList(), a.apiKeyCreate(), a.apiKeyRotate(), a.apiKeyRevoke())
}

func (a *app) listKeys(ctx context.Context) (*api.List[api.APIKey], error) {
	return fetchAll(ctx, a, api.ListAPIKeys, &api.Paging{})
}

func (a *app) apiKeyList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the API keys, without their secrets",
		Long: "Lists the organization's API keys, including revoked and expired ones.",
		Example: "  service key list\n" +
			"  service key list --jq '.data[] | select(.status == \"active\") | .name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.listKeys(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all.Data, []print.Column{
					fixed("key"), fixed("status"), column("scopes"), optional(column("last used")),
					optional(column("expires")), optional(column("secret")), optional(idColumn()),
				}, func(k api.APIKey) []string {
					return []string{
						k.Name, k.Status, strings.Join(k.Scopes, ", "), formatTimePtr(k.LastUsedAt),
						formatTimePtr(k.ExpiresAt), k.MaskedKey, k.ID,
					}
				})
				renderTextIfEmpty(
					p,
					len(all.Data),
					"No API keys yet. Create one with `%s`.",
					a.suggestedCommandLine("key create NAME --scope '*'"),
				)
			})
		},
	}
}

// printNewKey prints the secret of a new key to stdout and the notice to stderr, so that stdout can be
// redirected to a file. In machine-readable formats, it prints the whole record instead.
func (a *app) printNewKey(k *api.NewAPIKey, notice string) error {
	if !a.out.IsHumanReadable() {
		return a.out.PrintRecord(k)
	}
	a.printNotice("%s The secret won't be shown again. Store it where your program can read it, for example in SERVICE_TOKEN.", notice)
	return a.out.PrintPage(func(p *print.Page) { p.Text("%s", k.Key) })
}

func (a *app) apiKeyCreate() *cobra.Command {
	var scopes []string
	var expires string
	cmd := &cobra.Command{
		Use: "create NAME --scope SCOPE", Short: "Create an API key; its secret is printed once",
		Long: `Creates an API key for you in the current organization and prints its secret to stdout.
The secret is not shown again. Scopes are permissions; ` + "`service whoami`" + ` lists yours.`,
		Example: "  service key create ci --scope '*' --expires 90d > key.txt\n" +
			"  service key create reader --scope assessment:read,report:read\n" +
			"  service key create approver --scope approval:decide --scope approval:read --expires 2027-06-30",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(scopes) == 0 {
				return withHint(
					usageError("a key needs at least one scope"),
					"pass, for example, --scope assessment:read, or --scope '*' for everything except approvals and API keys",
				)
			}
			in := &api.CreateAPIKeyInput{}
			in.Body.Name, in.Body.Scopes = args[0], scopes
			if expires != "" {
				end, err := parseExpiry(expires, a.Clock())
				if err != nil {
					return err
				}
				in.Body.ExpiresAt = &end
			}
			made, err := call(cmd.Context(), a, api.CreateAPIKey, in)
			if api.IsCode(err, api.CodeValidation) {
				err = withHint(err, "scopes have the form assessment:read; `%s` lists yours", a.suggestedCommandLine("whoami"))
			}
			if err != nil {
				return err
			}
			return a.printNewKey(made, fmt.Sprintf("Key %q has the scopes %s.", made.Name, strings.Join(made.Scopes, ", ")))
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "permission to grant, such as assessment:read, or *; can be repeated")
	cmd.Flags().StringVar(&expires, "expires", "", "expiry as a date (2027-06-30) or a duration (90d, 12h); default: never")
	return cmd
}

// parseDuration parses a positive duration, either in Go's format, such as 12h or 30m, or in days, such as
// 90d. The maximum is 36500 days.
func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, usageError("%q is not a duration; use a value such as 90d or 12h", s)
}

// parseExpiry parses an expiry time, given either as a date, which means the end of that day in UTC, or as a
// duration from now.
func parseExpiry(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.Add(24 * time.Hour), nil
	}
	d, err := parseDuration(s)
	if err != nil {
		return time.Time{}, usageError("%q is neither a date nor a duration; use a value such as 2027-06-30, 90d or 12h", s)
	}
	return now.UTC().Add(d).Truncate(time.Second), nil
}

// findKey returns the key with the given id, or the active key with the given name.
func (a *app) findKey(ctx context.Context, ref string) (*api.APIKey, error) {
	all, err := a.listKeys(ctx)
	if err != nil {
		return nil, err
	}
	var named []*api.APIKey
	for i := range all.Data {
		k := &all.Data[i]
		if k.ID == ref {
			return k, nil
		}
		if strings.EqualFold(k.Name, ref) && k.Status == "active" {
			named = append(named, k)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return nil, withHint(
			runtimeError("there is no active API key with the ID or name %q", ref),
			"`%s` lists all keys",
			a.suggestedCommandLine("key list"),
		)
	}
	return nil, withHint(
		usageError("%d API keys have the name %q", len(named), ref),
		"specify the key by its ID; `%s` lists all keys",
		a.suggestedCommandLine("key list"),
	)
}

func (a *app) apiKeyRotate() *cobra.Command {
	var grace string
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Replace a key's secret and print the new one once",
		Long: `Replaces the secret of a key, specified by ID or name, and prints the new secret to stdout
once. The old secret stops working immediately, or after the --grace period of up to
seven days.`,
		Example: "  service key rotate ci > key.txt\n  service key rotate ci --grace 24h > key.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds := 0
			if grace != "" {
				d, err := parseDuration(grace)
				if err != nil {
					return err
				}
				seconds = int(d.Seconds())
			}
			k, err := a.findKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in := &api.RotateAPIKeyInput{APIKeyInput: api.APIKeyInput{KeyID: k.ID}}
			in.Body = &struct {
				GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"604800"`
			}{seconds}
			made, err := call(cmd.Context(), a, api.RotateAPIKey, in)
			if err != nil {
				return err
			}
			old := "The old secret no longer works."
			if seconds > 0 {
				old = fmt.Sprintf("The old secret will keep working for %s.", grace)
			}
			return a.printNewKey(made, old)
		},
	}
	cmd.Flags().StringVar(&grace, "grace", "", "how long the old secret keeps working, such as 24h (default: it stops working immediately)")
	return cmd
}

func (a *app) apiKeyRevoke() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "revoke KEY", Short: "Revoke a key immediately",
		Long:    "Revokes a key, specified by ID or name. Programs that use the key stop working. This cannot be undone.",
		Example: "  service key revoke ci --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := a.findKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.confirm(sure, fmt.Sprintf("permanently revoke the key %q", k.Name)); err != nil {
				return err
			}
			if _, err := call(cmd.Context(), a, api.RevokeAPIKey, &api.APIKeyInput{KeyID: k.ID}); err != nil {
				return err
			}
			k.Status = "revoked"
			return a.out.Print(k, func(p *print.Page) { p.Text("The API key %q has been revoked.", k.Name) })
		},
	}
	addYesFlag(cmd, &sure)
	return cmd
}

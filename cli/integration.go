package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) integrationCommand() *cobra.Command {
	return makeCommandGroup(
		&cobra.Command{
			Use: "integration", Short: "Integrations: chat, storage, issue trackers and mail servers",
			Long: `An integration connects to another tool through its native API. It can post messages to Slack or
Teams, store files in an S3-compatible bucket, send events to an HTTP endpoint, sync POA&M items
with issues in Jira, GitHub or ServiceNow, or send emails through the organization's own mail server.`,
			Example: "  service integration types jira\n  service integration create slack --name Chat --secret webhook_url\n" +
				"  service integration test ID",
		},
		a.integrationTypes(),
		a.integrationList(),
		a.integrationShow(),
		a.integrationCreate(),
		a.integrationUpdate(),
		a.integrationDelete(),
		a.integrationTest(),
		a.integrationDeliveries(),
		a.integrationSyncIssues(),
		a.integrationIssueLinks(),
		a.integrationResolveConflict(),
	)
}

func integrationTypeNames() (out []string) {
	for _, t := range api.IntegrationTypes {
		out = append(out, t.Type)
	}
	return out
}

func (a *app) integrationTypes() *cobra.Command {
	return &cobra.Command{
		Use:   "types [TYPE]",
		Short: "List the integration types, or the settings of one",

		Long:    "Lists the supported integration types. With TYPE, lists the settings and secrets of that type.",
		Example: "  service integration types\n  service integration types jira",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.out.PrintPage(func(p *print.Page) {
					renderTable(
						p,
						api.IntegrationTypes,
						[]print.Column{fixed("type"), column("description")},
						func(t api.IntegrationType) []string {
							return []string{t.Type, t.Doc}
						},
					)
				})
			}
			if err := checkOneOfOrEmpty("type", args[0], integrationTypeNames()); err != nil {
				return err
			}
			t, _ := api.FindIntegrationType(args[0])
			return a.out.PrintPage(func(p *print.Page) {
				var rows [][]string
				for _, part := range []struct {
					flag   string
					fields []api.IntegrationField
				}{{"--set ", t.Config}, {"--secret ", t.Secrets}} {
					for _, f := range part.fields {
						need := ""
						if f.Required {
							need = "required"
						} else if f.Default != nil {
							need = fmt.Sprintf("default %v", f.Default)
						}
						kind := f.Kind
						if len(f.Choices) > 0 {
							kind = strings.Join(f.Choices, "|")
						}
						rows = append(rows, []string{part.flag + f.Name, kind, need, f.Doc})
					}
				}
				if t.FreeSecrets {
					rows = append(rows, []string{"--secret HEADER", "text", "", "name of an HTTP header with a secret value, e.g. Authorization"})
				}
				p.Table([]print.Column{fixed("flag"), column("kind"), column("required"), column("description")}, rows)
			})
		},
	}
}

func (a *app) integrationList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List integrations, without their secrets",

		Long:    "Lists the organization's integrations and the result of each one's last delivery attempt.",
		Example: "  service integration list\n  service integration list -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListIntegrations, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("name"), fixed("type"), fixed("enabled"), column("last status"), optional(column("at")),
				idColumn(),
			}, func(r api.Integration) []string {
				return []string{
					r.Name,
					r.Type,
					yesNo(r.Enabled),
					orZero(r.LastStatus),
					formatTimePtr(r.LastStatusAt),
					r.ID,
				}
			}, "No integrations yet; create one with `%s`.", a.suggestedCommandLine("integration create TYPE"))
		},
	}
}

func (a *app) printIntegration(r *api.Integration) error {
	return a.out.Print(r, func(p *print.Page) {
		fields := []print.Field{field("name", r.Name), field("type", r.Type), field("enabled", yesNo(r.Enabled))}
		for _, name := range sortedKeys(r.Config) {
			fields = append(fields, field(name, formatSetting(r.Config[name])))
		}
		secrets := "none"
		if len(r.SecretsSet) > 0 {
			secrets = strings.Join(r.SecretsSet, ", ")
		}
		fields = append(fields, field("secrets", secrets))
		if t, _ := api.FindIntegrationType(r.Type); t.Events == nil || len(t.Events) > 0 {
			fields = append(fields, field("events", formatEvents(r.Events)))
		}
		if r.SyncedAt != nil {
			fields = append(fields, field("synced", formatTimePtr(r.SyncedAt)))
		}
		if r.LastStatus != nil {
			fields = append(fields, field("last status", *r.LastStatus+", "+formatTimePtr(r.LastStatusAt)))
		}
		p.Fields(append(fields, field("id", r.ID))...)
	})
}

// formatSetting formats a config value for display.
func formatSetting(v any) string {
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, fmt.Sprint(one))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var parts []string
		for _, name := range sortedKeys(v) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v[name]))
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

func (a *app) integrationShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show an integration, without its secrets",

		Long:    "Shows an integration's settings and the names of its secrets.",
		Example: "  service integration show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := call(cmd.Context(), a, api.GetIntegration, &api.IntegrationInput{IntegrationID: args[0]})
			if err != nil {
				return err
			}
			return a.printIntegration(r)
		},
	}
}

// integrationFlags holds the flags shared by create and update.
type integrationFlags struct {
	set, secret, secretFile, unset []string
}

func (f *integrationFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.set, "set", nil,
		"setting as NAME=VALUE, e.g. project=OPS; for a list labels=a,b; for a map headers.X-Team=sec")
	cmd.Flags().StringArrayVar(
		&f.secret,
		"secret",
		nil,
		"name of a secret to set, e.g. token; you are prompted for the value, or it is read from stdin (one line per secret)",
	)
	cmd.Flags().StringArrayVar(&f.secretFile, "secret-file", nil, "read a secret from a file, e.g. token=FILE")
}

// parseConfig parses the --set and --unset flags. It converts each value to the kind that the integration
// type requires for the field.
func (f *integrationFlags) parseConfig(t api.IntegrationType) (map[string]any, error) {
	out := map[string]any{}
	for _, one := range f.set {
		name, text, ok := strings.Cut(one, "=")
		if !ok {
			return nil, withHint(usageError("--set %q has no value", one), "use the form NAME=VALUE")
		}
		name, inner, nested := strings.Cut(name, ".")
		kind := ""
		for _, field := range t.Config {
			if field.Name == name {
				kind = field.Kind
			}
		}
		switch {
		case nested && kind == "map":
			pairs, _ := out[name].(map[string]any)
			if pairs == nil {
				pairs = map[string]any{}
			}
			pairs[inner] = text
			out[name] = pairs
		case nested:
			return nil, usageError("setting %s of %s is not a map", name, t.Type)
		default:
			out[name] = parseSetting(kind, text)
		}
	}
	for _, name := range f.unset {
		out[name] = nil
	}
	return out, nil
}

// parseSetting converts text to the given kind. Text that can't be converted is returned unchanged, so that the
// server rejects it.
func parseSetting(kind, text string) any {
	switch kind {
	case "number":
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	case "bool":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case "list":
		out := []any{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out
	}
	return text
}

// maxSecretFile is the maximum size of a secret file.
const maxSecretFile = 64 << 10

// readIntegrationSecrets reads the secrets named by --secret and --secret-file.
func (a *app) readIntegrationSecrets(ctx context.Context, f *integrationFlags) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range f.secret {
		if name, _, given := strings.Cut(name, "="); given {
			return nil, withHint(
				usageError("secrets on the command line are visible to other users of this machine"),
				"use `--secret %s` and enter the value at the prompt or pass it on stdin, or use `--secret-file %s=FILE`",
				name,
				name,
			)
		}
		secret, err := a.readPassword(ctx, a.ReadPassword == nil || !a.Interactive, name+": ")
		if err != nil {
			return nil, err
		}
		out[name] = secret
	}
	for _, one := range f.secretFile {
		name, path, ok := strings.Cut(one, "=")
		if !ok {
			return nil, withHint(usageError("--secret-file %q has no file name", one), "use the form NAME=FILE")
		}
		b, err := a.readFile(path, maxSecretFile)
		if err != nil {
			return nil, err
		}
		out[name] = strings.TrimRight(string(b), "\r\n")
	}
	return out, nil
}

func (a *app) integrationCreate() *cobra.Command {
	in := &api.CreateIntegrationInput{}
	var f integrationFlags
	var paused bool
	cmd := &cobra.Command{
		Use: "create TYPE --name NAME", Short: "Create an integration",
		Long: `Creates an integration of the type slack, teams, jira, github, servicenow, s3, smtp or generic. To see
the settings of a type, run "service integration types TYPE". Secrets are entered at a prompt, or read
from stdin (one per line) or from files. Secrets can't be displayed again.`,
		Example: "  service integration create slack --name Chat --secret webhook_url --event report.ready\n" +
			"  service integration create github --set repository=acme/ops --secret-file token=token.txt",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkOneOfOrEmpty("type", args[0], integrationTypeNames()); err != nil {
				return err
			}
			t, _ := api.FindIntegrationType(args[0])
			in.Body.Type = t.Type
			if in.Body.Name == "" {
				in.Body.Name = t.Type
			}
			if in.Body.Config, err = f.parseConfig(t); err != nil {
				return err
			}
			if in.Body.Secrets, err = a.readIntegrationSecrets(cmd.Context(), &f); err != nil {
				return err
			}
			if enabled := !paused; paused {
				in.Body.Enabled = &enabled
			}
			made, err := call(cmd.Context(), a, api.CreateIntegration, in)
			if err != nil {
				return err
			}
			a.printNotice("Integration created; test it with `%s`.", a.suggestedCommandLine("integration test "+made.ID))
			return a.printIntegration(made)
		},
	}
	cmd.Flags().StringVar(&in.Body.Name, "name", "", "name of the integration (default: its type)")
	cmd.Flags().StringSliceVar(
		&in.Body.Events,
		"event",
		nil,
		"type of event to send to the integration; repeatable (default: every event that its type supports)",
	)
	cmd.Flags().BoolVar(&paused, "paused", false, "create it paused")
	f.addFlags(cmd)
	return cmd
}

func (a *app) integrationUpdate() *cobra.Command {
	var f integrationFlags
	in := &api.UpdateIntegrationInput{}
	var events []string
	var all bool
	cmd := &cobra.Command{
		Use: "update ID", Short: "Change, pause or resume an integration",
		Long: "Changes only the settings that you specify. Secrets are kept as well, but must be set again if the\n" +
			"address changes. --enable resumes a paused integration and sends its queued deliveries.",
		Example: "  service integration update ID --enable\n  service integration update ID --secret token\n" +
			"  service integration update ID --set project=SEC --unset labels",
		RunE: func(cmd *cobra.Command, args []string) error {
			was, err := call(cmd.Context(), a, api.GetIntegration, &api.IntegrationInput{IntegrationID: args[0]})
			if err != nil {
				return err
			}
			t, _ := api.FindIntegrationType(was.Type)
			in.IntegrationID = args[0]
			if in.Body.Config, err = f.parseConfig(t); err != nil {
				return err
			}
			if in.Body.Secrets, err = a.readIntegrationSecrets(cmd.Context(), &f); err != nil {
				return err
			}
			switch {
			case all:
				in.Body.Events = &[]string{}
			case cmd.Flags().Changed("event"):
				in.Body.Events = &events
			}
			r, err := call(cmd.Context(), a, api.UpdateIntegration, in)
			if err != nil {
				return err
			}
			return a.printIntegration(r)
		},
	}
	addOptionalFlag(cmd.Flags(), &in.Body.Name, "name", "new name of the integration")
	cmd.Flags().StringSliceVar(&events, "event", nil, "send only these events")
	cmd.Flags().BoolVar(&all, "all-events", false, "send every event that the integration's type supports")
	addEnableFlags(cmd, &in.Body.Enabled, "resume it", "pause it")
	cmd.Flags().StringArrayVar(&f.unset, "unset", nil, "name of a setting to remove")
	f.addFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("event", "all-events")
	return cmd
}

func (a *app) integrationDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an integration; issues in the other tool are kept",

		Long: "Deletes an integration together with its secrets, its queued deliveries, and the links between plan\n" +
			"items and issues. Issues and files in the other tool are kept.",
		Example: "  service integration delete ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.DeleteIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: args[0]}}
			if _, err := call(cmd.Context(), a, api.DeleteIntegration, &in); err != nil {
				return err
			}
			a.printNotice("Integration deleted.")
			return nil
		},
	}
}

func (a *app) integrationTest() *cobra.Command {
	return &cobra.Command{
		Use: "test ID", Short: "Test an integration",
		Long: "Signs in to the other tool and, depending on the integration's type, sends a test message or writes\n" +
			"a test file. This can take 20 seconds.",
		Example: "  service integration test ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			got, err := call(cmd.Context(), a, api.TestIntegration, &api.IntegrationInput{IntegrationID: args[0]})
			if err != nil {
				return err
			}
			if err := a.out.Print(got, func(p *print.Page) {
				p.Fields(
					field("works", yesNo(got.OK)),
					field("result", got.Message),
					field("took", fmt.Sprintf("%d ms", got.DurationMS)),
				)
			}); err != nil || got.OK {
				return err
			}
			return withHint(
				runtimeError("the test of the integration failed: %s", got.Message),
				"check the integration's settings with `%s`",
				a.suggestedCommandLine("integration show "+args[0]),
			)
		},
	}
}

func (a *app) integrationDeliveries() *cobra.Command {
	var in api.IntegrationDeliveriesInput
	var l listFlags
	cmd := &cobra.Command{
		Use:   "deliveries ID",
		Short: "List deliveries, newest first",

		Long:    "Lists the deliveries of the last 30 days. Use -o json to see each attempt.",
		Example: "  service integration deliveries ID --status failed",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.IntegrationID = args[0]
			all, err := fetchList(cmd.Context(), a, api.ListIntegrationDeliveries, &in, l)
			if err != nil {
				return err
			}
			return a.printDeliveries(all)
		},
	}
	cmd.Flags().StringVar(&in.Status, "status", "", "only deliveries with this status: pending, delivered, retrying or failed")
	l.addFlags(cmd, defaultEventLimit)
	return cmd
}

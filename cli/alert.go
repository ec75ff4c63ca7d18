package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) alertCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "alert", Short: "Manage alert rules, which send a notification when a metric crosses a threshold",
		Long: `A rule watches a metric; run "service api list-metrics" for a list of metrics. The rule
sends an email and a webhook event when the metric has crossed a threshold for a given
time, and again when the metric has recovered.`,
		Example: "  service alert create \"Critical gaps\" --when 'organization_open_findings{severity=critical} > 0'\n  service alert list",
	}, a.alertList(), a.alertCreate(), a.alertUpdate(), a.alertDelete())
}

// comparisons lists the comparison signs that users write, each with its API operator. Longer signs come first, so
// that >= is not parsed as >.
var comparisons = []struct{ sign, operator string }{
	{">=", "gte"}, {"<=", "lte"}, {"==", "eq"}, {">", "gt"}, {"<", "lt"}, {"=", "eq"},
}

// parseCondition parses an alert condition of the form METRIC SIGN NUMBER.
func parseCondition(text string) (metric, operator string, threshold float64, err error) {
	// Labels may contain =, so look for the sign after the closing brace.
	start := strings.LastIndex(text, "}") + 1
	for _, c := range comparisons {
		i := strings.Index(text[start:], c.sign)
		if i < 0 {
			continue
		}
		metric, operator = strings.TrimSpace(text[:start+i]), c.operator
		threshold, err = strconv.ParseFloat(strings.TrimSpace(text[start+i+len(c.sign):]), 64)
		if err == nil && metric != "" {
			return metric, operator, threshold, nil
		}
		break
	}
	return "", "", 0, usageError("--when %q is not of the form 'METRIC > NUMBER'; the operators are >, >=, <, <= and ==", text)
}

func formatCondition(r *api.AlertRule) string {
	for _, c := range comparisons {
		if c.operator == r.Operator {
			return fmt.Sprintf("%s %s %s", r.Metric, c.sign, strconv.FormatFloat(r.Threshold, 'f', -1, 64))
		}
	}
	return r.Metric
}

// windowToSeconds converts the value of --for to seconds. It returns a usage error unless it is 0 or between one
// second and seven days.
func windowToSeconds(d time.Duration) (int, error) {
	if d != 0 && (d < time.Second || d > 7*24*time.Hour) {
		return 0, usageError("--for must be between one second and seven days (168h)")
	}
	return int(d / time.Second), nil
}

func (a *app) printAlertRule(r *api.AlertRule) error {
	return a.out.Print(r, func(p *print.Page) {
		value := ""
		if r.Value != nil {
			value = strconv.FormatFloat(*r.Value, 'f', -1, 64)
		}
		p.Fields(
			field("name", r.Name),
			field("when", formatCondition(r)),
			field("for", (time.Duration(r.WindowSeconds)*time.Second).String()),
			field("notifies", strings.Join(r.Channels, ", ")),
			field("enabled", yesNo(r.Enabled)),
			field("state", r.State),
			field("value", value),
			field("evaluated", formatTimePtr(r.LastEvaluatedAt)),
			field("id", r.ID),
		)
	})
}

func (a *app) alertList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the alert rules and their states",
		Long:    "Lists the rules. A running daemon evaluates each rule every 30 seconds.",
		Example: "  service alert list\n  service alert list --jq '.data[] | select(.state==\"firing\")'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListAlerts, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				column("name"), fixed("state"), column("when"), number("value"), optional(column("notifies")),
				optional(idColumn()),
			}, func(r api.AlertRule) []string {
				value := ""
				if r.Value != nil {
					value = strconv.FormatFloat(*r.Value, 'f', -1, 64)
				}
				state := r.State
				if !r.Enabled {
					state = "off"
				}
				return []string{r.Name, state, formatCondition(&r), value, strings.Join(r.Channels, ", "), r.ID}
			}, "No alert rules yet. Create one with `%s`.", a.suggestedCommandLine("alert create NAME --when 'METRIC > NUMBER'"))
		},
	}
}

func (a *app) alertCreate() *cobra.Command {
	in := &api.CreateAlertInput{}
	var when string
	var window time.Duration
	cmd := &cobra.Command{
		Use: "create NAME --when 'METRIC > NUMBER'", Short: "Create an alert rule",
		Long: `Creates a rule. Useful metrics: organization_overdue_poam_items, organization_stale_documents,
organization_open_findings{severity=critical}, organization_failed_workflows,
organization_pending_approvals. Channels: email (owners and admins), email:ADDRESS, webhook.`,
		Example: "  service alert create \"Overdue\" --for 1h --when 'organization_overdue_poam_items > 0'\n" +
			"  service alert create \"Gaps\" --channel webhook --when 'organization_open_findings{severity=critical} > 0'",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Body.Name = args[0]
			if in.Body.Metric, in.Body.Operator, in.Body.Threshold, err = parseCondition(when); err != nil {
				return err
			}
			if in.Body.WindowSeconds, err = windowToSeconds(window); err != nil {
				return err
			}
			r, err := call(cmd.Context(), a, api.CreateAlert, in)
			if api.IsCode(err, api.CodeValidation) {
				err = withHint(err, "`%s` lists the metrics", a.suggestedCommandLine("api list-metrics --jq '.data[].name'"))
			}
			if err != nil {
				return err
			}
			return a.printAlertRule(r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&when, "when", "", "condition, such as 'METRIC > NUMBER'")
	f.DurationVar(&window, "for", 0, "how long the condition must hold before anyone is notified (default 1m)")
	f.StringSliceVar(&in.Body.Channels, "channel", nil, "channel for notifications; can be repeated (default: email and webhook)")
	return cmd
}

func (a *app) alertUpdate() *cobra.Command {
	in := &api.UpdateAlertInput{}
	var when string
	var window time.Duration
	var channels []string
	cmd := &cobra.Command{
		Use: "update ID", Short: "Change, disable or enable an alert rule",
		Long:    "Changes only the settings given as flags. A new --when resets the state to ok.",
		Example: "  service alert update ID --when 'organization_overdue_poam_items > 5'\n  service alert update ID --disable",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.AlertID = args[0]
			f := cmd.Flags()
			if f.Changed("when") {
				metric, operator, threshold, err := parseCondition(when)
				if err != nil {
					return err
				}
				in.Body.Metric, in.Body.Operator, in.Body.Threshold = &metric, &operator, &threshold
			}
			if f.Changed("for") {
				seconds, err := windowToSeconds(window)
				if err != nil {
					return err
				}
				in.Body.WindowSeconds = &seconds
			}
			in.Body.Channels = flagIfChanged(cmd, "channel", channels)
			r, err := call(cmd.Context(), a, api.UpdateAlert, in)
			if err != nil {
				return err
			}
			return a.printAlertRule(r)
		},
	}
	f := cmd.Flags()
	addOptionalFlag(f, &in.Body.Name, "name", "the new name")
	f.StringVar(&when, "when", "", "condition, such as 'METRIC > NUMBER'")
	f.DurationVar(&window, "for", 0, "how long the condition must hold before anyone is notified")
	f.StringSliceVar(&channels, "channel", nil, "channel for notifications; replaces the current channels")
	addEnableFlags(cmd, &in.Body.Enabled, "enable the rule", "disable the rule")
	return cmd
}

func (a *app) alertDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Short: "Delete an alert rule",
		Long: "Deletes a rule. To disable it temporarily, use `service alert update ID --disable`.", Example: "  service alert delete ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := call(cmd.Context(), a, api.DeleteAlert, &api.DeleteAlertInput{AlertInput: api.AlertInput{AlertID: args[0]}}); err != nil {
				return err
			}
			a.printNotice("Deleted the alert rule.")
			return nil
		},
	}
}

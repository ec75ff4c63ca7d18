package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) webhookCommand() *cobra.Command {
	return makeCommandGroup(
		&cobra.Command{
			Use: "webhook", Short: "Webhooks: URLs that receive events",
			Long: `A webhook is an https:// URL that receives events. Events are signed according to the
Standard Webhooks specification. Failed deliveries are retried for about a day.`,
			Example: "  service webhook create https://hooks.acme.example/service --event soa.approved > secret.txt\n" +
				"  service webhook test ID\n  service webhook deliveries ID",
		},
		a.webhookList(),
		a.webhookCreate(),
		a.webhookUpdate(),
		a.webhookDelete(),
		a.webhookRotateSecret(),
		a.webhookTest(),
		a.webhookDeliveries(),
		a.webhookRedeliver(),
	)
}

func (a *app) webhookList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the webhooks, without their secrets",

		Long:    "Lists the organization's webhooks. A webhook that keeps failing is paused (shown as not enabled).",
		Example: "  service webhook list\n  service webhook list -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			org, err := a.currentOrganization(cmd.Context())
			if err != nil {
				return err
			}
			all, err := fetchAll(cmd.Context(), a, api.ListWebhooks, &api.OrgListInput{OrgInput: org})
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				column("url"), fixed("enabled"), column("events"), optional(column("description")), idColumn(),
			}, func(w api.Webhook) []string {
				return []string{w.URL, yesNo(w.Enabled), formatEvents(w.Events), w.Description, w.ID}
			}, "No webhooks yet; create one with `%s`.", a.suggestedCommandLine("webhook create URL"))
		},
	}
}

func formatEvents(events []string) string {
	if len(events) == 0 {
		return "all"
	}
	return strings.Join(events, ", ")
}

func (a *app) printWebhookSecret(w *api.NewWebhook, words string) error {
	if !a.out.IsHumanReadable() {
		return a.out.PrintRecord(w)
	}
	a.printNotice("%s %s. Its secret, which receivers use to verify signatures, won't be shown again.", words, w.ID)
	return a.out.PrintPage(func(p *print.Page) { p.Text("%s", w.Secret) })
}

func (a *app) webhookCreate() *cobra.Command {
	in := &api.CreateWebhookInput{}
	cmd := &cobra.Command{
		Use: "create URL", Short: "Create a webhook and print its secret",
		Long: "Creates a webhook and prints its secret to stdout. The secret can't be shown again. Without --event,\nthe webhook receives all events.",
		Example: "  service webhook create https://hooks.acme.example/service > secret.txt\n" +
			"  service webhook create https://hooks.acme.example/soa --event soa.approved,soa.rejected",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.OrgInput, err = a.currentOrganization(cmd.Context()); err != nil {
				return err
			}
			in.Body.URL = args[0]
			made, err := call(cmd.Context(), a, api.CreateWebhook, in)
			if err != nil {
				return err
			}
			return a.printWebhookSecret(made, "Created webhook")
		},
	}
	cmd.Flags().StringSliceVar(&in.Body.Events, "event", nil,
		"type of event to send to the webhook, e.g. soa.approved; repeatable (default: all events)")
	cmd.Flags().StringVar(&in.Body.Description, "description", "", "description")
	return cmd
}

func (a *app) webhookUpdate() *cobra.Command {
	in := &api.UpdateWebhookInput{}
	var events []string
	var all bool
	cmd := &cobra.Command{
		Use: "update ID", Short: "Change, pause or resume a webhook",
		Long:    "Changes only the settings that you specify. --enable resumes a paused webhook and sends its queued\ndeliveries.",
		Example: "  service webhook update ID --enable\n  service webhook update ID --url https://hooks.acme.example/v2 --event report.ready",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.WebhookID = args[0]
			switch {
			case all:
				in.Body.Events = &[]string{}
			case cmd.Flags().Changed("event"):
				in.Body.Events = &events
			}
			return callAndPrint(cmd.Context(), a, api.UpdateWebhook, in, func(p *print.Page, w *api.Webhook) {
				p.Fields(
					field("url", w.URL),
					field("enabled", yesNo(w.Enabled)),
					field("events", formatEvents(w.Events)),
				)
			})
		},
	}
	addOptionalFlag(cmd.Flags(), &in.Body.URL, "url", "new address of the webhook")
	addOptionalFlag(cmd.Flags(), &in.Body.Description, "description", "description")
	cmd.Flags().StringSliceVar(&events, "event", nil, "send only these events")
	cmd.Flags().BoolVar(&all, "all-events", false, "send all events")
	addEnableFlags(cmd, &in.Body.Enabled, "resume it", "pause it")
	cmd.MarkFlagsMutuallyExclusive("event", "all-events")
	return cmd
}

func (a *app) webhookDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a webhook and its queued deliveries",

		Long:    "Deletes a webhook together with its deliveries. To pause a webhook instead, use\n`service webhook update ID --disable`.",
		Example: "  service webhook delete ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.DeleteWebhookInput{WebhookInput: api.WebhookInput{WebhookID: args[0]}}
			if _, err := call(cmd.Context(), a, api.DeleteWebhook, &in); err != nil {
				return err
			}
			a.printNotice("Webhook deleted.")
			return nil
		},
	}
}

func (a *app) webhookRotateSecret() *cobra.Command {
	return &cobra.Command{
		Use: "rotate ID", Short: "Rotate a webhook's secret; the old secret stays valid for a day",
		Long:    "Prints a new secret to stdout. For a day, deliveries are signed with both the old and the new secret.",
		Example: "  service webhook rotate ID > secret.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			made, err := call(cmd.Context(), a, api.RotateWebhook, &api.WebhookInput{WebhookID: args[0]})
			if err != nil {
				return err
			}
			return a.printWebhookSecret(made, "New secret for webhook")
		},
	}
}

func (a *app) webhookTest() *cobra.Command {
	return &cobra.Command{
		Use: "test ID", Short: "Send a test event",
		Long:    "Sends a single event of the type webhook.test, even if the webhook is paused, and shows the response\nif it arrives within 20 seconds.",
		Example: "  service webhook test ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := call(cmd.Context(), a, api.TestWebhook, &api.WebhookInput{WebhookID: args[0]})
			if err != nil {
				return err
			}
			done, err := a.waitForDelivery(cmd.Context(), args[0], d.ID)
			if err != nil {
				return err
			}
			if err := a.printDeliveries(&api.List[api.Delivery]{Data: []api.Delivery{*done}}); err != nil {
				return err
			}
			if done.Status == "failed" {
				return withHint(
					fmt.Errorf("the webhook's receiver did not accept the test event: %s", lastAttemptError(done)),
					"check the URL and the receiver; to check that secrets can be read, run `service doctor`",
				)
			}
			return nil
		},
	}
}

// waitForDelivery waits until a delivery has finished, for at most 20 seconds.
func (a *app) waitForDelivery(ctx context.Context, webhookID, deliveryID string) (*api.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		list, err := call(
			ctx,
			a,
			api.ListDeliveries,
			&api.DeliveriesInput{WebhookInput: api.WebhookInput{WebhookID: webhookID}, Paging: api.Paging{Limit: 20}},
		)
		if err != nil {
			return nil, err
		}
		for i := range list.Data {
			if d := &list.Data[i]; d.ID == deliveryID && d.Status != "pending" {
				return d, nil
			}
		}
		if err := sleep(ctx, a.pollInterval()); err != nil {
			return nil, withHint(
				fmt.Errorf("the test event was not sent within 20 seconds"),
				"check the status of the delivery with `service webhook deliveries %s`",
				webhookID,
			)
		}
	}
}

func lastAttemptError(d *api.Delivery) string {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].Error != nil {
		return *d.Attempts[n-1].Error
	}
	return ""
}

func (a *app) printDeliveries(list *api.List[api.Delivery]) error {
	columns := []print.Column{
		fixed("event"), fixed("status"), column("attempts"), column("answer"), column("error"),
		optional(column("next")), optional(idColumn()),
	}
	return printList(a, list, columns, func(d api.Delivery) []string {
		code := ""
		if n := len(d.Attempts); n > 0 && d.Attempts[n-1].HTTPStatus > 0 {
			code = fmt.Sprint(d.Attempts[n-1].HTTPStatus)
		}
		return []string{
			d.EventType, d.Status, fmt.Sprint(len(d.Attempts)), code, lastAttemptError(&d),
			formatTimePtr(d.NextAttemptAt), d.ID,
		}
	}, "No deliveries yet.")
}

func (a *app) webhookDeliveries() *cobra.Command {
	var in api.DeliveriesInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "deliveries ID", Short: "List deliveries, newest first",
		Long: "Lists the deliveries of a webhook. Use -o json to see each attempt.", Example: "  service webhook deliveries ID --status failed",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.WebhookID = args[0]
			all, err := fetchList(cmd.Context(), a, api.ListDeliveries, &in, l)
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

func (a *app) webhookRedeliver() *cobra.Command {
	return &cobra.Command{
		Use: "redeliver ID DELIVERY", Short: "Redeliver an event with its original id",
		Long: "Sends an event again, with a new series of delivery attempts.", Example: "  service webhook redeliver ID DELIVERY",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := call(
				cmd.Context(),
				a,
				api.Redeliver,
				&api.DeliveryInput{WebhookInput: api.WebhookInput{WebhookID: args[0]}, DeliveryID: args[1]},
			)
			if err != nil {
				return err
			}
			return a.printDeliveries(&api.List[api.Delivery]{Data: []api.Delivery{*d}})
		},
	}
}

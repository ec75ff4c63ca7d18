package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

var issueLinkStatuses = []string{"creating", "linked", "conflict", "failed", "issue_deleted", "item_removed"}

func (a *app) integrationSyncIssues() *cobra.Command {
	return &cobra.Command{
		Use: "sync ID", Short: "Sync the plan and its issues now",
		Long: "Creates issues for plan items that have none, syncs changes in both directions, and reports items\n" +
			"that were changed on both sides. The daemon also syncs automatically every few minutes.",
		Example: "  service integration sync ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			got, err := call(cmd.Context(), a, api.SyncIntegration, &api.IntegrationInput{IntegrationID: args[0]})
			if err != nil {
				return err
			}
			if err := a.out.Print(got, func(p *print.Page) {
				p.Fields(
					field("items with an issue", fmt.Sprint(got.Links)),
					field("issues created", fmt.Sprint(got.Created)),
					field("issues changed", fmt.Sprint(got.Pushed)),
					field("items changed", fmt.Sprint(got.Pulled)),
					field("conflicts", fmt.Sprint(got.Conflicts)),
					field("failed", fmt.Sprint(got.Failed)),
				)
			}); err != nil {
				return err
			}
			switch {
			case got.WaitsUntil != nil:
				a.printNotice("The other tool's request limit was reached; the remaining items will be synced after %s.", formatTimePtr(got.WaitsUntil))
			case got.Conflicts+got.Failed > 0:
				a.printNotice("To list the affected items and the reasons, run `%s`.", a.suggestedCommandLine("integration links "+args[0]))
			}
			return nil
		},
	}
}

func formatIssueState(s *api.IssueSide) string {
	text := "open"
	if s.Closed {
		text = "closed"
	}
	if s.DueDate != nil {
		text += ", due " + string(*s.DueDate)
	}
	return text
}

func (a *app) printIssueLinks(list *api.List[api.IssueLink]) error {
	columns := []print.Column{
		fixed("item"), fixed("control"), fixed("issue"), fixed("status"), wrapped("plan and tracker"), idColumn(),
	}
	return printList(a, list, columns, func(l api.IssueLink) []string {
		// A message of a conflict names both sides.
		sides := formatIssueState(&l.Item)
		if l.Issue != nil {
			sides += "; in the tracker " + formatIssueState(l.Issue)
		}
		return []string{l.POAMCode, l.ControlCode, l.IssueKey, prose.Humanize(l.Status), cmp.Or(orZero(l.Message), sides), l.ID}
	}, "No plan items have issues.")
}

func (a *app) integrationIssueLinks() *cobra.Command {
	var in api.IssueLinksInput
	var l listFlags
	cmd := &cobra.Command{
		Use:   "links ID",
		Short: "List plan items with their issues",

		Long:    "Lists plan items with their issues, the state of both, and the reason for any difference.",
		Example: "  service integration links ID --status conflict",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.IntegrationID = args[0]
			all, err := fetchList(cmd.Context(), a, api.ListIssueLinks, &in, l)
			if err != nil {
				return err
			}
			return a.printIssueLinks(all)
		},
	}
	addChoiceFlag(
		cmd.Flags(), &in.Status, "status", issueLinkStatuses,
		"only items with this status: "+strings.Join(issueLinkStatuses, ", "))
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) integrationResolveConflict() *cobra.Command {
	in := &api.ResolveIssueLinkInput{}
	cmd := &cobra.Command{
		Use:   "resolve ID LINK --keep plan|issue",
		Short: "Resolve a conflict by choosing a side",

		Long:    "Resolves a conflict between a plan item and its issue if both were changed. The side that is not\nkept is updated immediately.",
		Example: "  service integration resolve ID LINK --keep plan",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.IntegrationID, in.LinkID = args[0], args[1]
			l, err := call(cmd.Context(), a, api.ResolveIssueLink, in)
			if err != nil {
				return err
			}
			return a.printIssueLinks(&api.List[api.IssueLink]{Data: []api.IssueLink{*l}})
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Body.Keep, "keep", []string{"plan", "issue"}, "side to keep: plan or issue")
	return cmd
}

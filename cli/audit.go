package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/api"
)

func (a *app) audit() *cobra.Command {
	return group(&cobra.Command{
		Use: "audit", Short: "The audit trail: who did what",
		Long: "The audit trail is a chain of events per organization; each carries the hash of the\none before, so that none can be taken out unseen.", Example: "  service audit list\n  service audit list --outcome denied",
	}, a.auditList())
}

func (a *app) auditList() *cobra.Command {
	var in api.AuditInput
	var l limits
	cmd := &cobra.Command{
		Use: "list", Short: "List audit events, newest first", Args: takes(0, 0), Long: "Lists audit events of the organization, newest first. Filters are joined.", Example: "  service audit list --limit 20\n  service audit list --resource-type approval -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("outcome", in.Outcome, []string{"success", "denied", "failure"}); err != nil {
				return err
			}
			all, err := collect(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.AuditEvent], error) {
				in.Paging = p
				return call(cmd.Context(), a, api.ListAuditEvents, &in)
			})
			if err != nil {
				return err
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, e := range all.Data {
					rows = append(rows, []string{fmt.Sprint(e.Sequence), moment(e.At), e.Actor.Name, e.Action, joinWords(e.ResourceType, e.ResourceID), e.Outcome})
				}
				p.Table([]print.Column{{Title: "no", Right: true, Keep: true}, {Title: "at", Keep: true}, {Title: "who"}, {Title: "action"}, {Title: "what"}, {Title: "outcome", Keep: true}}, rows)
				a.none(p, len(rows), "No event is like that.")
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Action, "action", "", "only this action")
	f.StringVar(&in.ResourceType, "resource-type", "", "only about this kind of record")
	f.StringVar(&in.ResourceID, "resource", "", "only about the record with this id")
	f.StringVar(&in.ActorID, "actor", "", "only by the actor with this id")
	f.StringVar(&in.Outcome, "outcome", "", "only success, denied or failure")
	l.add(cmd, eventsShown)
	return cmd
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// decider is who decided, and for whom.
func decider(p *api.Approval) string {
	if p.Delegation != nil {
		return p.DecidedBy.Name + " for " + p.Delegation.DelegatorName
	}
	return p.DecidedBy.Name
}

// delegates are who may decide for whom until when, besides owners and admins.
func delegates(p *api.Approval) (out []string) {
	for _, d := range p.Delegates {
		out = append(out, fmt.Sprintf("%s for %s until %s", d.Name, d.DelegatorName, moment(d.Until)))
	}
	return out
}

// person finds a member by e-mail address, name or id.
func (a *app) person(ctx context.Context, word string) (*api.Member, error) {
	all, err := a.members(ctx, api.OrgMembersInput{}, limits{})
	if err != nil {
		return nil, err
	}
	var found []*api.Member
	for i := range all.Data {
		m := &all.Data[i]
		if m.ID == word || m.UserID == word || strings.EqualFold(m.Email, word) {
			return m, nil
		}
		if m.Name != "" && strings.EqualFold(m.Name, word) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, advise(stopped("there is no member %q", word), "`%s` lists them", a.command("member list"))
	}
	return nil, advise(usage("%d members have the name %q", len(found), word), "name one by the e-mail address")
}

func (a *app) approvalDelegate() *cobra.Command {
	var until, reason string
	var gates []string
	var everywhere bool
	cmd := &cobra.Command{
		Use: "delegate PERSON --until WHEN", Short: "Let a member decide for you until a date", Args: takes(1, 1),
		Long: `Lets a member, named by e-mail address or name, decide for you at the gates of the
assessment, or with --everywhere of every assessment. It ends at --until, with
` + "`service approval revoke`" + `, and when you may not decide any more. The decision names both.`,
		Example: "  service approval delegate ben@acme.example --until 2026-12-31 --reason 'On leave'\n  service approval delegate ben@acme.example --until 14d --gate soa,gap_analysis\n  service approval delegate ben@acme.example --until 14d --everywhere",
		RunE: func(cmd *cobra.Command, args []string) error {
			if until == "" {
				return advise(usage("a delegation needs an end"), "as --until 2026-12-31 or --until 14d")
			}
			end, err := endOf(until, a.Clock())
			if err != nil {
				return err
			}
			in := &api.CreateDelegationInput{}
			in.Body.ExpiresAt, in.Body.Reason = end, reason
			for _, g := range gates {
				if err := oneOf("gate", g, api.Gates); err != nil {
					return err
				}
				in.Body.Gates = append(in.Body.Gates, api.Gate(g))
			}
			if !everywhere {
				one, err := a.assessment(cmd.Context())
				if err != nil {
					return err
				}
				in.Body.AssessmentID = &one.ID
			}
			who, err := a.person(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in.Body.DelegateID = who.UserID
			made, err := call(cmd.Context(), a, api.CreateDelegation, in)
			if err != nil {
				return err
			}
			return a.out.Print(made, func(p *print.Page) {
				where := "of this assessment"
				if made.AssessmentID == nil {
					where = "of every assessment"
				}
				p.Text("%s decides for you at the gates %s %s, until %s. To end it before:", made.DelegateName, titles(made.Gates), where, moment(made.ExpiresAt))
				p.Command(a.command("approval revoke " + made.ID))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&until, "until", "", "when it ends: a day as 2026-12-31, or in how long, as 14d")
	f.StringSliceVar(&gates, "gate", nil, "only at these gates: soa, gap_analysis, maturity, poam (default: all)")
	f.BoolVar(&everywhere, "everywhere", false, "in every assessment of the organization, not only this one")
	f.StringVar(&reason, "reason", "", "why, to keep with it")
	return cmd
}

func titles(gates []api.Gate) string {
	var out []string
	for _, g := range gates {
		out = append(out, string(g))
	}
	return strings.Join(out, ", ")
}

func (a *app) approvalDelegations() *cobra.Command {
	var status string
	var l limits
	cmd := &cobra.Command{
		Use: "delegations", Short: "List who decides for whom, newest first", Args: takes(0, 0),
		Long: "Lists what people of the organization let others decide, ended ones too.", Example: "  service approval delegations\n  service approval delegations --status active",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("status", status, api.DelegationStatus("").Values()); err != nil {
				return err
			}
			all, err := collect(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.Delegation], error) {
				return call(cmd.Context(), a, api.ListDelegations, &api.DelegationsInput{Paging: p, Status: api.DelegationStatus(status)})
			})
			if err != nil {
				return err
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, d := range all.Data {
					where := "every assessment"
					if d.AssessmentID != nil {
						where = *d.AssessmentID
					}
					why := d.Reason
					if d.EndReason != nil {
						why = *d.EndReason
					}
					rows = append(rows, []string{d.DelegateName, d.DelegatorName, string(d.Status), titles(d.Gates), where, moment(d.ExpiresAt), why, d.ID})
				}
				p.Table([]print.Column{{Title: "who decides", Keep: true}, {Title: "for", Keep: true}, {Title: "status", Keep: true}, {Title: "gates"}, {Title: "in", Spare: true}, {Title: "until"},
					{Title: "reason", Spare: true}, {Title: "id", Keep: true}}, rows)
				a.none(p, len(rows), "Nobody decides for another.")
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only active, expired, revoked or void ones")
	l.add(cmd, 0)
	return cmd
}

func (a *app) approvalRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a delegation at once", Args: takes(1, 1),
		Long: "Ends a delegation. What was decided by it stays decided.", Example: "  service approval delegations --status active\n  service approval revoke ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.DelegationInput{DelegationID: args[0]}
			if _, err := call(cmd.Context(), a, api.RevokeDelegation, in); err != nil {
				return err
			}
			one, err := call(cmd.Context(), a, api.GetDelegation, in)
			if err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) {
				p.Text("%s does not decide for %s: it is %s.", one.DelegateName, one.DelegatorName, one.Status)
			})
		},
	}
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// formatDelegates returns the users to whom the decision has been delegated, each with the delegator and the end of
// the delegation.
func formatDelegates(p *api.Approval) (out []string) {
	for _, d := range p.Delegates {
		out = append(out, fmt.Sprintf("%s for %s until %s", d.Name, d.DelegatorName, print.FormatTime(d.Until)))
	}
	return out
}

// isMemberID reports whether ref is the ID of a membership or of its user. An invited user has no user ID until the
// invitation is accepted.
func isMemberID(m *api.Member, ref string) bool {
	return m.ID == ref || m.UserID != "" && m.UserID == ref
}

// findPerson returns the member whose email address, unique name or ID is ref.
func (a *app) findPerson(ctx context.Context, ref string) (*api.Member, error) {
	in := api.OrgMembersInput{Q: ref}
	if uuidPattern.MatchString(ref) {
		in.Q = ""
	}
	all, err := a.listMembers(ctx, in, listFlags{})
	if err != nil {
		return nil, err
	}
	var found []*api.Member
	for i := range all.Data {
		m := &all.Data[i]
		if isMemberID(m, ref) || strings.EqualFold(m.Email, ref) {
			return m, nil
		}
		if m.Name != "" && strings.EqualFold(m.Name, ref) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, withHint(
			runtimeError("there is no member with the email address, name or ID %q", ref),
			"list members with `%s`",
			a.suggestedCommandLine("member list"),
		)
	}
	return nil, withHint(usageError("%d members have the name %q", len(found), ref), "specify the member by email address")
}

func (a *app) approvalDelegate() *cobra.Command {
	var until, reason string
	var gates []string
	var everywhere bool
	cmd := &cobra.Command{
		Use: "delegate PERSON --until WHEN", Short: "Let a member decide on approvals for you until a date",
		Long: `Lets a member, specified by email address or name, decide for you at the gates of the
assessment or, with --all-assessments, of every assessment. The delegation ends at the time
given with --until, or earlier if you run ` + "`service approval revoke`" + ` or lose the right to
decide. Decisions record both names.`,
		Example: "  service approval delegate ben@acme.example --until 2026-12-31 --reason 'On leave'\n" +
			"  service approval delegate ben@acme.example --until 14d --gate soa,gap_analysis\n" +
			"  service approval delegate ben@acme.example --until 14d --all-assessments",
		RunE: func(cmd *cobra.Command, args []string) error {
			if until == "" {
				return withHint(usageError("a delegation needs an expiry date"), "pass, for example, --until 2026-12-31 or --until 14d")
			}
			end, err := parseExpiry(until, a.Clock())
			if err != nil {
				return err
			}
			in := &api.CreateDelegationInput{}
			in.Body.ExpiresAt, in.Body.Reason = end, reason
			for _, g := range gates {
				if err := checkOneOfOrEmpty("gate", g, api.Gates); err != nil {
					return err
				}
				in.Body.Gates = append(in.Body.Gates, api.Gate(g))
			}
			if !everywhere {
				one, err := a.currentAssessment(cmd.Context())
				if err != nil {
					return err
				}
				in.Body.AssessmentID = &one.ID
			}
			who, err := a.findPerson(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if who.UserID == "" {
				return runtimeError("%s has not accepted the invitation yet; choose an active member", who.Email)
			}
			in.Body.DelegateID = who.UserID
			return callAndPrint(cmd.Context(), a, api.CreateDelegation, in, func(p *print.Page, made *api.Delegation) {
				where := "of this assessment"
				if made.AssessmentID == nil {
					where = "of every assessment"
				}
				p.Text(
					"%s can decide for you at the gates %s %s until %s. To end the delegation earlier, run:",
					made.DelegateName,
					joinGates(made.Gates),
					where,
					print.FormatTime(made.ExpiresAt),
				)
				p.Command(a.suggestedCommandLine("approval revoke " + made.ID))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&until, "until", "", "expiry as a date (2026-12-31) or a duration (14d)")
	f.StringSliceVar(&gates, "gate", nil, "delegate approvals only at these gates: soa, gap_analysis, maturity, poam (default: all)")
	f.BoolVar(&everywhere, "all-assessments", false, "delegate approvals in every assessment of the organization, not only in this one")
	f.StringVar(&reason, "reason", "", "reason to record")
	return cmd
}

// joinGates joins gates with commas.
func joinGates(gates []api.Gate) string {
	var out []string
	for _, g := range gates {
		out = append(out, string(g))
	}
	return strings.Join(out, ", ")
}

func (a *app) approvalDelegations() *cobra.Command {
	var in api.DelegationsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "delegations", Short: "List the approval delegations, newest first",
		Long:    "Lists the organization's approval delegations, including ended ones.",
		Example: "  service approval delegations\n  service approval delegations --status active",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(
				cmd.Context(),
				a,
				api.ListDelegations,
				&in,
				l,
			)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				fixed("who decides"), fixed("for"), fixed("status"), column("gates"), optional(column("in")),
				column("until"), optional(column("reason")), idColumn(),
			}, func(d api.Delegation) []string {
				where := "every assessment"
				if d.AssessmentID != nil {
					where = *d.AssessmentID
				}
				why := d.Reason
				if d.EndReason != nil {
					why = *d.EndReason
				}
				return []string{
					d.DelegateName, d.DelegatorName, string(d.Status), joinGates(d.Gates), where,
					print.FormatTime(d.ExpiresAt), why, d.ID,
				}
			}, "No delegations.")
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Status, "status", in.Status.Values(),
		"show only delegations with this status: active, expired, revoked or void")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) approvalRevokeDelegation() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a delegation immediately",

		Long:    "Ends a delegation. Decisions already made remain valid.",
		Example: "  service approval delegations --status active\n  service approval revoke ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.DelegationInput{DelegationID: args[0]}
			if _, err := call(cmd.Context(), a, api.RevokeDelegation, in); err != nil {
				return err
			}
			return callAndPrint(cmd.Context(), a, api.GetDelegation, in, func(p *print.Page, one *api.Delegation) {
				p.Text("%s can no longer decide for %s; the delegation's status is now %s.", one.DelegateName, one.DelegatorName, one.Status)
			})
		},
	}
}

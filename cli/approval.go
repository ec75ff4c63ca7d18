package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) approval() *cobra.Command {
	return group(&cobra.Command{
		Use: "approval", Short: "Decisions at the gates: what waits, and who decided what",
		Long: `An approval is a person's decision on exactly the content it was asked for. Each of
the four deliverables needs one. Owners and admins of the organization decide, and whom
they let decide for them until a date.`,
		Example: "  service approval list --status pending\n  service approval approve ID --comment 'Reviewed with IT'\n  service soa reject --reason 'PES-01 is in scope'",
	}, a.approvalList(), a.approvalShow(), a.approvalApprove(), a.approvalReject(), a.approvalDelegate(), a.approvalDelegations(), a.approvalRevoke())
}

var approvalStatuses = []api.ApprovalStatus{api.ApprovalPending, api.ApprovalApproved, api.ApprovalRejected}

func (a *app) approvalList() *cobra.Command {
	var status, gate string
	var l limits
	cmd := &cobra.Command{
		Use: "list", Short: "List the approvals of the assessment, newest first", Args: takes(0, 0),
		Long: "Lists approvals that were asked for or decided, newest first.", Example: "  service approval list\n  service approval list --status pending --gate soa",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status == "void" {
				return advise(usage("--status can't be void"), "an approval is rejected by what it was asked for changing; `%s` lists them", a.command("approval list --status rejected"))
			}
			if err := oneOf("status", status, approvalStatuses); err != nil {
				return err
			}
			if err := oneOf("gate", gate, api.Gates); err != nil {
				return err
			}
			one, err := a.assessment(cmd.Context())
			if err != nil {
				return err
			}
			all, err := collect(cmd.Context(), l.limit, l.cursor, func(p api.Paging) (*api.List[api.Approval], error) {
				return call(cmd.Context(), a, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: p,
					Status: api.ApprovalStatus(status), Gate: api.Gate(gate)})
			})
			if err != nil {
				return err
			}
			defer a.more(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				var rows [][]string
				for _, one := range all.Data {
					decided := ""
					if one.DecidedBy != nil {
						decided = decider(&one)
					} else if may := delegates(&one); len(may) > 0 {
						decided = "(may: " + joinSome(may, 5) + ")"
					}
					rows = append(rows, []string{string(one.Gate), fmt.Sprint(one.VersionNumber), one.Told(), moment(one.RequestedAt), decided, momentOf(one.DecidedAt), orEmpty(one.Reason), one.ID})
				}
				p.Table([]print.Column{{Title: "gate", Keep: true}, {Title: "version", Right: true}, {Title: "status", Keep: true}, {Title: "asked", Spare: true}, {Title: "decided by"}, {Title: "decided", Spare: true},
					{Title: "reason", Spare: true}, {Title: "id", Keep: true}}, rows)
				a.none(p, len(rows), "There is no such approval.")
			})
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only pending, approved or rejected ones")
	cmd.Flags().StringVar(&gate, "gate", "", "only of this gate: soa, gap_analysis, maturity or poam")
	l.add(cmd, 0)
	return cmd
}

func (a *app) approvalShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an approval", Args: takes(1, 1),
		Long: "Shows an approval: what it is for, by which content's hash, and who decided what.", Example: "  service approval show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := call(cmd.Context(), a, api.GetApproval, &api.ApprovalInput{ApprovalID: args[0]})
			if err != nil {
				return err
			}
			talk, err := a.talk(cmd.Context(), one.AssessmentID, one.Gate, func(c *api.Comment) bool {
				return c.Item == nil && (c.ApprovalID == nil || *c.ApprovalID == one.ID)
			})
			if err != nil {
				return err
			}
			return a.out.Print(one, func(p *print.Page) { approvalPage(p, one); talk(p) })
		},
	}
}

func approvalPage(p *print.Page, one *api.Approval) {
	p.Title("Approval of the %s, version %d: %s", one.Gate.Title(), one.VersionNumber, one.Told())
	decided := ""
	if one.DecidedBy != nil {
		decided = decider(one) + ", " + momentOf(one.DecidedAt)
	}
	may := ""
	if one.Status == api.ApprovalPending {
		may = joinSome(append([]string{"owners", "admins"}, delegates(one)...), 12)
	}
	p.Fields(print.Field{Name: "asked by", Value: one.RequestedBy.Name + ", " + moment(one.RequestedAt)}, print.Field{Name: "decided by", Value: decided}, print.Field{Name: "may decide", Value: may},
		print.Field{Name: "reason", Value: orEmpty(one.Reason)}, print.Field{Name: "content", Value: "sha256 " + one.TargetSHA256},
		print.Field{Name: "version", Value: one.TargetID}, print.Field{Name: "id", Value: one.ID})
	for _, w := range one.Warnings {
		p.Item(0, "%s", w)
	}
}

func (a *app) approvalApprove() *cobra.Command {
	var comment, content string
	cmd := &cobra.Command{
		Use: "approve ID", Short: "Approve what waits", Args: takes(1, 1),
		Long: "Approves what the approval is for, as you. It is recorded with your name.", Example: "  service approval approve ID --comment 'Reviewed with IT'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.approveAndTell(cmd.Context(), args[0], comment, content)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "a comment to keep with the decision")
	cmd.Flags().StringVar(&content, "content", "", "the SHA-256 of what you looked at: what changed since is not approved")
	return cmd
}

func (a *app) approvalReject() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "reject ID --reason REASON", Short: "Reject what waits, with a reason", Args: takes(1, 1),
		Long: "Rejects what the approval is for; an assessment that stands at this gate goes back to\nthe draft. The reason is for whoever has to mend it.", Example: "  service approval reject ID --reason 'The server room is missing'",
		RunE: func(cmd *cobra.Command, args []string) error { return a.rejectAndTell(cmd.Context(), args[0], reason) },
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever has to mend it")
	return cmd
}

// gateApprove approves what waits at a gate of the assessment.
func (a *app) gateApprove(g api.Gate) *cobra.Command {
	var comment, content string
	cmd := &cobra.Command{
		Use: "approve", Short: "Approve the version under review", Args: takes(0, 0),
		Long:    fmt.Sprintf("Approves the %s that is under review, as you: exactly the content there is now.\nOwners and admins may decide.", g.Title()),
		Example: fmt.Sprintf("  service %s show\n  service %s approve --comment 'Reviewed with IT'\n  service assess run", nounOf(g), nounOf(g)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			id, err := a.pending(cmd.Context(), g)
			if err != nil {
				return err
			}
			return a.approveAndTell(cmd.Context(), id, comment, content)
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "a comment to keep with the decision")
	cmd.Flags().StringVar(&content, "content", "", "the SHA-256 of what you looked at: what changed since is not approved")
	return cmd
}

func (a *app) gateReject(g api.Gate) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "reject --reason REASON", Short: "Reject the version under review, with a reason", Args: takes(0, 0),
		Long:    fmt.Sprintf("Rejects the %s that is under review. An assessment\nthat stands at this gate goes back to the draft; one that is past it stays where it is.", g.Title()),
		Example: fmt.Sprintf("  service %s reject --reason 'The owner of IAC-06 is wrong'", nounOf(g)),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if api.Blank(reason) {
				return needReason()
			}
			id, err := a.pending(cmd.Context(), g)
			if err != nil {
				return err
			}
			return a.rejectAndTell(cmd.Context(), id, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever has to mend it")
	return cmd
}

func needReason() error {
	return advise(usage("a rejection needs a reason"), "say what has to change: --reason '…'")
}

// pending finds the approval that waits at a gate of the assessment.
func (a *app) pending(ctx context.Context, g api.Gate) (string, error) {
	one, err := a.assessment(ctx)
	if err != nil {
		return "", err
	}
	l, err := call(ctx, a, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID},
		Paging: api.Paging{Limit: 1}, Status: api.ApprovalPending, Gate: g})
	if err != nil {
		return "", err
	}
	if len(l.Data) == 0 {
		all, err := call(ctx, a, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: api.Paging{Limit: 1}, Gate: g})
		if err == nil && len(all.Data) == 1 && all.Data[0].Status == api.ApprovalApproved {
			return "", advise(stopped("version %d of the %s of %q is approved already", all.Data[0].VersionNumber, g.Title(), one.Name),
				"`%s` tells what comes next", a.command("assess status"))
		}
		return "", advise(stopped("nothing waits for approval: the %s of %q is not under review (the assessment is %s)", g.Title(), one.Name, one.State),
			"after a change it has to be submitted again, with `%s`; `%s` tells what comes next", a.command(nouns[g]+" submit"), a.command("assess status"))
	}
	return l.Data[0].ID, nil
}

func approveWith(ctx context.Context, a *app, id, comment, content string) (*api.Approval, error) {
	return call(ctx, a, api.Approve, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: id}, Body: &api.VersionDecision{Comment: comment, ContentSHA256: content}})
}

func (a *app) approveAndTell(ctx context.Context, id, comment, content string) error {
	one, err := approveWith(ctx, a, id, comment, content)
	if err != nil {
		return err
	}
	doubts := a.doubts(ctx, one.AssessmentID, one.TargetID, one.Gate)
	return a.decided(one, func(p *print.Page) {
		if doubts != nil {
			doubts(p)
			p.Blank()
		}
		p.Text("Go on with:")
		p.Command(a.command("assess run"))
	})
}

func (a *app) rejectAndTell(ctx context.Context, id, reason string) error {
	if api.Blank(reason) {
		return needReason()
	}
	in := api.RejectInput{ApprovalInput: api.ApprovalInput{ApprovalID: id}}
	in.Body.Reason = reason
	one, err := call(ctx, a, api.RejectApproval, &in)
	if err != nil {
		return err
	}
	st, err := call(ctx, a, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: one.AssessmentID})
	if err != nil {
		return err
	}
	noun, back := nounOf(one.Gate), "The assessment stays "+plain(st.State)+"."
	if len(st.NextStates) > 0 && gateAfter(st.NextStates[0]) == one.Gate {
		back = "The assessment went back to the draft."
	}
	return a.decided(one, func(p *print.Page) {
		p.Text("%s Change lines with `%s` or draft again with `%s`, then:", back, a.command(noun+" edit"), a.command(noun+" regenerate"))
		p.Command(a.command(noun + " submit"))
	})
}

func (a *app) decided(one *api.Approval, next func(*print.Page)) error {
	return a.out.Print(one, func(p *print.Page) {
		by := "you"
		if one.DecidedBy != nil {
			by = decider(one)
		}
		p.Text("The %s, version %d, is %s by %s.", one.Gate.Title(), one.VersionNumber, one.Status, by)
		next(p)
	})
}
